//! The eyes of a channel: one for each segment of each variant, with data for figures.

use super::description::{Aggressor, Channel, Equalisation, Variant};
use super::equalised::{Equalised, Turned};
use super::problem::Problem;
use super::stress::Bench;
use super::transmitter::{EyeCoefficients, generation};
use lanetwin_document::problem::{Diagnostic, Reports};
use lanetwin_phy::DataRate;
use lanetwin_phy::budget::{End, Item};
use lanetwin_phy::element::Element;
use lanetwin_phy::eye::{Eye, Prepared, Reference};
use lanetwin_units::{Number, NumberKind};
use serde::Serialize;
use std::ops::ControlFlow;

/// Bit error ratios of contours, besides that of the mask.
const CONTOURS: [f64; 3] = [1e-4, 1e-8, 1e-16];
/// Number of sampling times of a contour, over a UI.
const TIMES: usize = 33;
/// Number of points of a bathtub.
const BATHTUB: usize = 65;
/// Samples per UI in a pulse response.
const SAMPLES_PER_UI: usize = 16;
/// UIs of a pulse in the document, before and after its sampling time.
const BEFORE_UI: usize = 4;
const AFTER_UI: usize = 20;

/// Progress of the computation.
#[derive(Clone, Debug, Serialize)]
pub struct Progress<'a> {
    /// Number of eyes done.
    pub done: usize,
    /// Number of eyes in total.
    pub total: usize,
    /// The variant.
    pub variant: &'a str,
    /// The current step.
    pub case: String,
}

/// Called after each eye; decides whether to continue.
pub type Watcher<'a> = dyn FnMut(&Progress<'_>) -> ControlFlow<()> + 'a;

/// The eyes of a channel.
#[derive(Clone, Debug, Serialize)]
pub struct EyeReport {
    /// `link-eye`.
    pub kind: &'static str,
    /// The name of the file.
    pub name: String,
    /// The description's question.
    pub about: String,
    /// The file.
    pub path: String,
    /// Whether the document is complete.
    pub complete: bool,
    /// Each variant.
    pub variants: Vec<EyeVariant>,
    /// Noise and jitter at each rate.
    pub stress: Vec<EyeStress>,
    /// The constants of transmitter and receiver that the eyes rely on.
    pub numbers: Vec<EyeNumber>,
    /// Warnings: what may not be as the author meant it.
    pub warnings: Vec<Diagnostic>,
}

/// A variant of a channel.
#[derive(Clone, Debug, Serialize)]
pub struct EyeVariant {
    /// Its name.
    pub name: String,
    /// The rate.
    pub rate: DataRate,
    /// Whether every segment meets the mask.
    pub passes: bool,
    /// Whether every segment has at most the bit error ratio of the standard.
    pub operates: bool,
    /// The segments, each from a transmitter to a receiver.
    pub segments: Vec<EyeSegment>,
}

/// An eye at a receiver.
#[derive(Clone, Debug, Serialize)]
pub struct EyeSegment {
    /// Index of the segment.
    pub segment: usize,
    /// The first element.
    pub from: String,
    /// The last element.
    pub to: String,
    /// Loss of the elements at the Nyquist frequency \[dB\].
    pub loss_db: f64,
    /// Whether height and width meet the mask.
    pub passes: bool,
    /// The smaller of height and width relative to the mask's.
    pub mask_ratio: f64,
    /// Height at the mask's bit error ratio \[V\]; if negative, the height that is missing for an open eye.
    pub height_v: f64,
    /// Width \[UI\].
    pub width_ui: f64,
    /// The same \[s\].
    pub width_s: f64,
    /// The mask's height \[V\].
    pub mask_height_v: f64,
    /// The mask's width \[UI\].
    pub mask_width_ui: f64,
    /// The mask's bit error ratio.
    pub mask_ber: f64,
    /// Bit error ratio at the sampling point, after decision feedback; never below 1e-40.
    pub ber: f64,
    /// Whether that is at most the bit error ratio of the standard.
    pub operates: bool,
    /// The assumptions that change an answer.
    pub turned: Vec<Turned>,
    /// The transmitter's preset: `P7`; `4/38/6` if it is set by coefficients.
    pub preset: String,
    /// The coefficients, if it is set by coefficients.
    pub coefficients: Option<EyeCoefficients>,
    /// Its taps before and after the main one.
    pub ffe: (f64, f64),
    /// Gain of the receiver's linear equaliser at 0 Hz \[dB\].
    pub ctle_db: f64,
    /// Taps of the decision feedback equaliser \[V\].
    pub dfe_v: Vec<f64>,
    /// Eye height without noise for the worst bits \[V\].
    pub peak_distortion_v: f64,
    /// Noise at the sampler \[V\], rms.
    pub noise_v: f64,
    /// Whether P and N are swapped, which links correct in Polling.
    pub inverted: bool,
    /// The redriver, if there is one.
    pub redriver: Option<EyeRedriver>,
    /// The neighbours, and their crosstalk at the sampler.
    pub aggressors: Vec<EyeAggressor>,
    /// The eye without its neighbours, if it has any, with the best equalisation for that case.
    pub alone: Option<EyeAlone>,
    /// The unit interval \[s\].
    pub ui_s: f64,
    /// The best sampling time \[UI\], in bathtubs and contours.
    pub centre_ui: f64,
    /// The pulse response at the sampler before the decision feedback: \[UI from the sampling time\], \[V\].
    pub pulse: Vec<(f64, f64)>,
    /// Bit error ratio over sampling time: \[UI\].
    pub bathtub_time: Vec<(f64, f64)>,
    /// Bit error ratio over threshold: \[V\].
    pub bathtub_voltage: Vec<(f64, f64)>,
    /// Half the height over sampling time, at some bit error ratios.
    pub contours: Vec<Contour>,
}

/// A redriver in a segment.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct EyeRedriver {
    /// The element.
    pub name: String,
    /// Reduction of its gain at the highest voltage \[dB\]; an estimate that treats all voltages alike.
    pub compression_db: f64,
}

/// A neighbour.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct EyeAggressor {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: String,
    /// `far` or `near`.
    pub kind: &'static str,
    /// The element where it couples in.
    pub at: String,
    /// Its crosstalk at the sampler, rms over its bits, at the worst phase \[V\].
    pub rms_v: f64,
}

/// An eye without neighbours.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct EyeAlone {
    /// Height \[V\].
    pub height_v: f64,
    /// Width \[UI\].
    pub width_ui: f64,
    /// Whether both meet the mask.
    pub passes: bool,
}

/// The eye opening at a bit error ratio.
#[derive(Clone, Debug, Serialize)]
pub struct Contour {
    /// The bit error ratio.
    pub ber: f64,
    /// Sampling time \[UI\] and half the height \[V\], where the eye is open.
    pub points: Vec<(f64, f64)>,
}

/// Noise and jitter at a rate.
#[derive(Clone, Debug, Serialize)]
pub struct EyeStress {
    /// The rate.
    pub rate: DataRate,
    /// Whether they were calibrated.
    pub calibrated: bool,
    /// Noise at the receiver's input, rms \[V\].
    pub noise_v: f64,
    /// Deterministic jitter, peak to peak \[s\].
    pub deterministic_s: f64,
    /// Random jitter, rms \[s\].
    pub random_s: f64,
    /// The loss of the channel they were calibrated on \[dB\].
    pub compliance_loss_db: Option<f64>,
    /// Its height with them \[V\].
    pub compliance_height_v: Option<f64>,
    /// Its width \[UI\].
    pub compliance_width_ui: Option<f64>,
}

/// A constant of transmitter or receiver.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct EyeNumber {
    /// The rate.
    pub rate: DataRate,
    /// Its name in the file of constants.
    pub place: &'static str,
    /// Its value.
    pub value: String,
    /// Its kind.
    pub kind: NumberKind,
    /// Its source.
    pub source: String,
}

/// The eyes of every segment of every variant; `watch` is called after each and decides whether to continue.
///
/// # Errors
/// `CH009` for rates without an eye; otherwise errors in the elements or their data.
pub fn eye(channel: &Channel, watch: &mut Watcher<'_>) -> Result<EyeReport, Vec<Diagnostic>> {
    let rates = rates(channel)?;
    let total =
        channel.variants.iter().map(|variant| variant.chain.segments().len()).sum::<usize>() + rates.len();
    let mut report = EyeReport {
        kind: "link-eye",
        name: channel.name.clone(),
        about: channel.about.clone(),
        path: channel.path.clone(),
        complete: true,
        variants: Vec::new(),
        stress: Vec::new(),
        numbers: Vec::new(),
        warnings: channel.warnings.clone(),
    };
    let mut done = 0;
    let mut step = |variant: &str, case: String| {
        let told = watch(&Progress { done, total, variant, case });
        done += 1;
        told.is_continue()
    };
    let mut benches: Vec<(DataRate, Bench)> = Vec::new();
    for rate in rates {
        if !step("", format!("calibrating {}", rate.name())) {
            return Ok(EyeReport { complete: false, ..report });
        }
        let Some(bench) = Bench::of(channel, rate) else { continue };
        report.stress.push(stress(rate, &bench));
        report.numbers.extend(numbers(channel, rate));
        if let Some(said) = &bench.said {
            report.warnings.extend(warned(channel, said));
        }
        benches.push((rate, bench));
    }
    for variant in &channel.variants {
        let Some((_, bench)) = benches.iter().find(|(rate, _)| *rate == variant.rate) else { continue };
        let mut segments = Vec::new();
        for at in 0..variant.chain.segments().len() {
            if !step(&variant.name, format!("segment {}", at + 1)) {
                return Ok(EyeReport { complete: false, ..report });
            }
            segments.push(of_segment(channel, variant, at, bench)?);
        }
        let passes = segments.iter().all(|segment| segment.passes);
        let name = variant.name.clone();
        let operates = segments.iter().all(|segment| segment.operates);
        report.variants.push(EyeVariant { name, rate: variant.rate, passes, operates, segments });
    }
    Ok(report)
}

/// The rates of the variants, without duplicates.
fn rates(channel: &Channel) -> Result<Vec<DataRate>, Vec<Diagnostic>> {
    let mut rates: Vec<DataRate> = Vec::new();
    for variant in &channel.variants {
        if !matches!(variant.rate, DataRate::Gen3 | DataRate::Gen4 | DataRate::Gen5) {
            return Err(channel.refused_in(variant, Problem::NoEye { rate: variant.rate.name() }));
        }
        if !rates.contains(&variant.rate) {
            rates.push(variant.rate);
        }
    }
    Ok(rates)
}

fn warned(channel: &Channel, said: &str) -> Vec<Diagnostic> {
    let mut reports = Reports::default();
    reports.add(
        Problem::NotCalibrated { said: said.to_owned() },
        lanetwin_document::node::Spot::default(),
        "stress",
    );
    reports.into_diagnostics(std::slice::from_ref(&channel.path))
}

fn of_segment(
    channel: &Channel,
    variant: &Variant,
    at: usize,
    bench: &Bench,
) -> Result<EyeSegment, Vec<Diagnostic>> {
    let receiver = &bench.receiver;
    let equalised = Equalised::of(channel, variant, at, bench)?;
    let Equalised { neighbours, prepared, transmitter, eye, answers, .. } = &equalised;
    let mask = receiver.mask();
    let alone = (!neighbours.is_empty()).then(|| {
        let opening = transmitter.best(bench, &prepared.alone()).opening;
        EyeAlone { height_v: opening.height_v, width_ui: opening.width_ui, passes: mask.passes(opening) }
    });
    let statistical = &eye.statistical;
    let reach = (1.5 * eye.opening.height_v.max(mask.height_v)).max(8.0 * eye.sigma_v);
    let points = |bathtub: Vec<lanetwin_phy::eye::BathtubPoint>| {
        bathtub.into_iter().map(|point| (point.at, point.ber)).collect()
    };
    Ok(EyeSegment {
        segment: at,
        from: equalised.between.0.clone(),
        to: equalised.between.1.clone(),
        loss_db: equalised.loss_db,
        passes: answers.meets_mask,
        mask_ratio: answers.mask_ratio,
        height_v: eye.opening.height_v,
        width_ui: eye.opening.width_ui,
        width_s: eye.opening.width_ui * receiver.ui_s(),
        mask_height_v: mask.height_v,
        mask_width_ui: mask.width_ui,
        mask_ber: mask.ber,
        ber: answers.ber,
        operates: answers.operates,
        turned: equalised.turned(channel, variant, at, bench)?,
        preset: transmitter.told(eye),
        coefficients: transmitter.coefficients(eye),
        ffe: (eye.ffe.before, eye.ffe.after),
        ctle_db: eye.ctle_db,
        dfe_v: eye.dfe_v.clone(),
        peak_distortion_v: eye.peak_distortion_v,
        noise_v: eye.sigma_v,
        inverted: prepared.inverted(),
        redriver: redriver(variant.chain.segments()[at], prepared),
        aggressors: aggressors(neighbours, &prepared.crosstalk_v(eye)),
        alone,
        ui_s: receiver.ui_s(),
        centre_ui: eye.centre_ui,
        pulse: pulse(prepared, eye),
        bathtub_time: points(statistical.bathtub_in_time(BATHTUB)),
        bathtub_voltage: points(statistical.bathtub_in_voltage(eye.centre_ui, BATHTUB, reach)),
        contours: contours(eye, mask.ber),
    })
}

fn redriver(segment: &[Item], prepared: &Prepared) -> Option<EyeRedriver> {
    let item = segment.iter().find(|item| matches!(item.element, Element::Redriver(_)))?;
    Some(EyeRedriver { name: item.name.clone(), compression_db: prepared.compression_db })
}

fn aggressors(neighbours: &[&Aggressor], rms_v: &[f64]) -> Vec<EyeAggressor> {
    let told = |(neighbour, rms_v): (&&Aggressor, &f64)| EyeAggressor {
        name: neighbour.name.clone(),
        file: neighbour.file.clone(),
        kind: match neighbour.coupling.end {
            End::Far => "far",
            End::Near => "near",
        },
        at: neighbour.coupling.at.clone(),
        rms_v: *rms_v,
    };
    neighbours.iter().zip(rms_v).map(told).collect()
}

fn pulse(prepared: &Prepared, eye: &Eye) -> Vec<(f64, f64)> {
    let samples = prepared.pulse(eye).samples;
    let length = samples.len();
    let (before, after) = (BEFORE_UI * SAMPLES_PER_UI, AFTER_UI * SAMPLES_PER_UI);
    let sample = |step: usize| {
        let at = (eye.sampled_at() + length + step - before) % length;
        ((step as f64 - before as f64) / SAMPLES_PER_UI as f64, samples[at])
    };
    (0..=before + after).map(sample).collect()
}

fn contours(eye: &Eye, mask_ber: f64) -> Vec<Contour> {
    let mut ratios = [&CONTOURS[..], &[mask_ber]].concat();
    ratios.sort_by(|a, b| b.total_cmp(a));
    ratios.dedup();
    let at = |number: usize| number as f64 / (TIMES - 1) as f64 - 0.5;
    let contour = |ber: f64| {
        let heights = (0..TIMES).map(|number| (at(number), 0.5 * eye.statistical.height_v(ber, at(number))));
        Contour { ber, points: heights.filter(|(_, height)| *height > 0.0).collect() }
    };
    ratios.into_iter().map(contour).collect()
}

fn stress(rate: DataRate, bench: &Bench) -> EyeStress {
    let (stress, compliance) = (bench.stress, bench.compliance);
    EyeStress {
        rate,
        calibrated: compliance.is_some(),
        noise_v: stress.noise_v,
        deterministic_s: stress.jitter.deterministic_s,
        random_s: stress.jitter.random_s,
        compliance_loss_db: compliance.map(|(loss, _)| loss),
        compliance_height_v: compliance.map(|(_, opening)| opening.height_v),
        compliance_width_ui: compliance.map(|(_, opening)| opening.width_ui),
    }
}

fn numbers(channel: &Channel, rate: DataRate) -> Vec<EyeNumber> {
    let Some(of) = generation(rate).and_then(|generation| channel.constants.of(generation)) else {
        return Vec::new();
    };
    let mut numbers = told(rate, of);
    let of_rate = || channel.variants.iter().filter(|variant| variant.rate == rate);
    if of_rate().any(|variant| variant.equalisation == Equalisation::Coefficients) {
        let (full, low) = (&of.transmitter.full_swing, &of.transmitter.low_frequency);
        numbers.extend([("transmitter.full-swing", full), ("transmitter.low-frequency", low)].map(
            |(place, number)| EyeNumber {
                rate,
                place,
                value: number.value.to_string(),
                kind: number.kind,
                source: number.source.clone(),
            },
        ));
    }
    if of_rate().any(|variant| !variant.aggressors.is_empty()) {
        numbers.push(EyeNumber {
            rate,
            place: "crosstalk.preset",
            value: "P4".into(),
            kind: NumberKind::Assumed,
            source: "neighbours send without de-emphasis: no setting sends more at any frequency".into(),
        });
    }
    numbers
}

fn told(rate: DataRate, of: &Reference) -> Vec<EyeNumber> {
    let number = |place: &'static str, number: &Number| EyeNumber {
        rate,
        place,
        value: format!("{:e}", number.value),
        kind: number.kind,
        source: number.source.clone(),
    };
    let limits = &of.dfe.limits_v;
    vec![
        number("transmitter.swing-v", &of.transmitter.swing_v),
        number("transmitter.rise-s", &of.transmitter.rise_s),
        EyeNumber {
            rate,
            place: "dfe.limits-v",
            value: format!("{:?}", limits.value),
            kind: limits.kind,
            source: limits.source.clone(),
        },
        number("mask.height-v", &of.mask.height_v),
        number("mask.width-ui", &of.mask.width_ui),
        number("mask.ber", &of.mask.ber),
        number("jitter.total-s", &of.jitter.total_s),
        number("jitter.deterministic-s", &of.jitter.deterministic_s),
        number("jitter.clock-s", &of.jitter.clock_s),
        number("noise.rms-v", &of.noise.rms_v),
        number("noise.bandwidth-hz", &of.noise.bandwidth_hz),
    ]
}
