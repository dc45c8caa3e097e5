//! The eyes at the receivers of a channel at every rate up to its own, with the best equalisation and with each preset,
//! as training needs them.

use super::description::{Channel, Variant};
use super::equalised::{Answers, Equalised};
use super::problem::Problem;
use super::stress::Bench;
use lanetwin_document::problem::Diagnostic;
use lanetwin_phy::DataRate;
use lanetwin_phy::eye::{PRESETS, Search};

/// The eyes of a variant at a rate, in the order of its segments.
#[derive(Clone, PartialEq, Debug)]
pub struct RateEyes {
    /// The rate.
    pub rate: DataRate,
    /// The receivers at the ends of the segments.
    pub segments: Vec<ReceiverEye>,
}

/// The eye of a receiver.
#[derive(Clone, PartialEq, Debug)]
pub struct ReceiverEye {
    /// The first and the last element.
    pub between: (String, String),
    /// Height at the bit error ratio of the mask, with the best equalisation \[V\]; if negative, the height that is
    /// missing for an open eye.
    pub height_v: f64,
    /// The height with each preset.
    pub preset_height_v: [f64; PRESETS.len()],
    /// The mask's height \[V\].
    pub mask_height_v: f64,
    /// Whether it meets the mask, whether it operates, and the bit error ratio at the sampling point.
    pub answers: Answers,
    /// Width at the bit error ratio of the mask \[UI\].
    pub width_ui: f64,
    /// Standard deviation of the noise at the sampler \[V\].
    pub sigma_v: f64,
}

/// Rates with equalisation, ascending.
const EQUALISED: [DataRate; 3] = [DataRate::Gen3, DataRate::Gen4, DataRate::Gen5];

/// Noise and jitter of every rate up to that of the fastest variant, computed once for all variants.
pub struct Benches(Vec<(DataRate, Bench)>);

impl Benches {
    /// For all variants of a channel.
    ///
    /// # Errors
    /// `CH009` for a variant whose rate has no eye.
    pub fn of(channel: &Channel) -> Result<Self, Vec<Diagnostic>> {
        let at = |rate: DataRate| EQUALISED.iter().position(|known| *known == rate);
        let mut last = 0;
        for variant in &channel.variants {
            let rate = variant.rate.name();
            let found =
                at(variant.rate).ok_or_else(|| channel.refused_in(variant, Problem::NoEye { rate }))?;
            last = last.max(found);
        }
        let benches = EQUALISED[..=last].iter().filter_map(|rate| Some((*rate, Bench::of(channel, *rate)?)));
        Ok(Self(benches.collect()))
    }
}

/// The eyes at the receivers of a variant, at every rate up to its own.
///
/// # Errors
/// Errors in the elements or their data.
pub fn receivers(
    channel: &Channel,
    variant: &Variant,
    benches: &Benches,
) -> Result<Vec<RateEyes>, Vec<Diagnostic>> {
    let rates = benches.0.iter().filter(|(rate, _)| rate.baud() <= variant.rate.baud());
    let of_rate = |(rate, bench): &(DataRate, Bench)| {
        let segments = (0..variant.chain.segments().len()).map(|at| of_segment(channel, variant, at, bench));
        Ok(RateEyes { rate: *rate, segments: segments.collect::<Result<_, Vec<Diagnostic>>>()? })
    };
    rates.map(of_rate).collect()
}

fn of_segment(
    channel: &Channel,
    variant: &Variant,
    at: usize,
    bench: &Bench,
) -> Result<ReceiverEye, Vec<Diagnostic>> {
    let receiver = &bench.receiver;
    let Equalised { prepared, eye, answers, between, .. } = Equalised::of(channel, variant, at, bench)?;
    let with = |preset| {
        let wanted = Search { ffes: vec![preset], full_eyes: 1, phases_beside: 0 };
        receiver.search(&prepared, &bench.stress, &wanted).opening.height_v
    };
    Ok(ReceiverEye {
        between,
        height_v: eye.opening.height_v,
        preset_height_v: PRESETS.map(with),
        mask_height_v: receiver.mask().height_v,
        answers,
        width_ui: eye.opening.width_ui,
        sigma_v: eye.sigma_v,
    })
}
