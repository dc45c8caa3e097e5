//! `eye`: which links of the retimer paper hold their eye at 32 GT/s, and whether an unconfirmed number decides it.
//!
//! Samsung's and Montage's paper puts a drive behind more loss than Gen5 allows and says that a retimer makes it work;
//! the drive alone works as well. Three links are judged: processor, board, slot, passive card, cable, drive (41 dB
//! from die to die); the same with a retimer on the card, which is two channels; and a drive close to its processor.
//! For each, the published answer is a verdict.
//!
//! Noise and jitter are calibrated: the channel that takes the whole budget just meets the mask. Everything else that
//! nobody has confirmed is moved to both ends of a range, one number at a time, with a new calibration each time. A
//! number that turns a verdict is a free parameter of the claim; one that turns none is not, and stands in the table of
//! effects with what it does to the heights.

use crate::claim::{Cell, Outcome};
use crate::claim::{Effect, FreeParameter, Role};
use crate::declaration::{Claim, Run};
use crate::watch::Watch;
use lanetwin_kernel::mix;
use lanetwin_link_lab::channel::{Channel, EyeReport, EyeSegment, EyeStress, check, eye};
use lanetwin_phy::eye::{Constants, Reference};
use lanetwin_stats::results::Digest;
use lanetwin_units::Generation;
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::path::Path;

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "eye",
    about: "Eyes at 32 GT/s of the retimer paper's links: 41 dB without a retimer, both sides of it, and a drive close by.",
    cpu_seconds: 30,
    bar: "the first fails the mask, the others meet it, and no unconfirmed number within its range decides otherwise",
    run: Run::Own(run),
};

const SOURCE: &str = "Samsung and Montage, PM1743 with M88RT51632, sections 1 and 2.3 (more than 36 dB needs a retimer) and Table 5 (both work)";
const LONG: &str = include_str!("../../../scenarios/link/long-with-cable.yaml");
const SHORT: &str = include_str!("../../../scenarios/link/direct-drive.yaml");
/// The variant of the drive close by.
const CLOSE_BY: &str = "close-by";
const GENERATION: Generation = Generation::Gen5;

/// A link whose verdict is known.
struct Known {
    case: &'static str,
    variant: &'static str,
    segment: usize,
    meets: bool,
}

const LINKS: [Known; 4] = [
    Known { case: "41 dB, no retimer", variant: "as-is", segment: 0, meets: false },
    Known { case: "41 dB, processor to retimer", variant: "retimer", segment: 0, meets: true },
    Known { case: "41 dB, retimer to drive", variant: "retimer", segment: 1, meets: true },
    Known { case: "drive close by", variant: CLOSE_BY, segment: 0, meets: true },
];

/// An unconfirmed number at one end of its range.
struct Move {
    name: &'static str,
    end: &'static str,
    change: Change,
}

enum Change {
    /// Nothing.
    None,
    /// A number of transmitter, receiver, jitter or noise.
    Constants(fn(&mut Reference)),
    /// A key of the description.
    Set(&'static str),
}

/// What is moved, and how far. The ranges of losses are those of the parts (`corner`); the others are assumed: a fifth
/// of what is a corner frequency, a quarter of what is jitter, half of what is a limit or a bandwidth.
const MOVES: [Move; 20] = [
    Move { name: "losses of elements", end: "high corner", change: Change::Set("corner=high") },
    Move {
        name: "transmitter swing",
        end: "1.0 V",
        change: Change::Constants(|r| r.transmitter.swing_v.value = 1.0),
    },
    Move {
        name: "transmitter swing",
        end: "1.2 V",
        change: Change::Constants(|r| r.transmitter.swing_v.value = 1.2),
    },
    Move {
        name: "transmitter rise",
        end: "6 ps",
        change: Change::Constants(|r| r.transmitter.rise_s.value = 6e-12),
    },
    Move {
        name: "transmitter rise",
        end: "15 ps",
        change: Change::Constants(|r| r.transmitter.rise_s.value = 15e-12),
    },
    Move { name: "CTLE zero", end: "-20 %", change: Change::Constants(|r| *r.ctle.corners_mut()[0] *= 0.8) },
    Move { name: "CTLE zero", end: "+20 %", change: Change::Constants(|r| *r.ctle.corners_mut()[0] *= 1.2) },
    Move {
        name: "CTLE first pole",
        end: "-20 %",
        change: Change::Constants(|r| *r.ctle.corners_mut()[1] *= 0.8),
    },
    Move {
        name: "CTLE first pole",
        end: "+20 %",
        change: Change::Constants(|r| *r.ctle.corners_mut()[1] *= 1.2),
    },
    Move {
        name: "CTLE second pole",
        end: "-20 %",
        change: Change::Constants(|r| *r.ctle.corners_mut()[2] *= 0.8),
    },
    Move {
        name: "CTLE second pole",
        end: "+20 %",
        change: Change::Constants(|r| *r.ctle.corners_mut()[2] *= 1.2),
    },
    Move {
        name: "CTLE last poles",
        end: "-20 %",
        change: Change::Constants(|r| *r.ctle.corners_mut()[3] *= 0.8),
    },
    Move {
        name: "CTLE last poles",
        end: "+20 %",
        change: Change::Constants(|r| *r.ctle.corners_mut()[3] *= 1.2),
    },
    Move {
        name: "DFE limits",
        end: "half",
        change: Change::Constants(|r| scale(&mut r.dfe.limits_v.value, 0.5)),
    },
    Move {
        name: "DFE limits",
        end: "double",
        change: Change::Constants(|r| scale(&mut r.dfe.limits_v.value, 2.0)),
    },
    Move { name: "transmitter jitter", end: "-25 %", change: Change::Constants(|r| jitter(r, 0.75)) },
    Move { name: "transmitter jitter", end: "+25 %", change: Change::Constants(|r| jitter(r, 1.25)) },
    Move {
        name: "noise bandwidth",
        end: "30 GHz",
        change: Change::Constants(|r| r.noise.bandwidth_hz.value = 30e9),
    },
    Move {
        name: "noise bandwidth",
        end: "90 GHz",
        change: Change::Constants(|r| r.noise.bandwidth_hz.value = 90e9),
    },
    Move { name: "calibration", end: "none: the constants", change: Change::Set("stress=constants") },
];

fn scale(values: &mut [f64], factor: f64) {
    values.iter_mut().for_each(|value| *value *= factor);
}

fn jitter(reference: &mut Reference, factor: f64) {
    reference.jitter.total_s.value *= factor;
    reference.jitter.deterministic_s.value *= factor;
}

/// The links of both descriptions with a change, as variants of one, so that they share a calibration.
fn channel(change: &Change) -> Channel {
    let sets: Vec<String> = match change {
        Change::Set(text) => vec![(*text).to_owned()],
        _ => Vec::new(),
    };
    let read =
        |text| check(Path::new("link.yaml"), text, &sets).expect("a description that is shipped is right");
    let (mut channel, other) = (read(LONG), read(SHORT));
    channel.variants.extend(other.variants.into_iter().filter_map(|mut variant| {
        let wanted = variant.name == "as-is";
        variant.name = CLOSE_BY.into();
        wanted.then_some(variant)
    }));
    if let Change::Constants(change) = change {
        let mut reference = Constants::built_in().of(GENERATION).expect("Gen5 equalises").clone();
        change(&mut reference);
        channel.constants = channel.constants.with(GENERATION, reference).expect("a number in its range");
    }
    channel
}

/// What a change leaves of the four eyes, in the order of [`LINKS`], and the report they are from.
struct Judged {
    eyes: [EyeSegment; LINKS.len()],
    report: EyeReport,
}

impl Judged {
    fn of(change: &Change) -> Self {
        let report = eye(&channel(change), &mut |_| ControlFlow::Continue(()));
        let report = report.expect("a channel that is shipped has an eye");
        let eyes = LINKS.each_ref().map(|link| {
            let variant = report.variants.iter().find(|variant| variant.name == link.variant);
            variant.expect("the variant of the link").segments[link.segment].clone()
        });
        Self { eyes, report }
    }
    fn verdicts(&self) -> [bool; LINKS.len()] {
        self.eyes.each_ref().map(|eye| eye.passes)
    }
    fn stress(&self) -> &EyeStress {
        &self.report.stress[0]
    }
}

/// A calibration has hit what it is nearer to than this.
const AIMED: f64 = 0.01;

/// A verdict as a number: 1 fails the mask, 2 meets it.
const fn as_number(meets: bool) -> f64 {
    if meets { 2.0 } else { 1.0 }
}

fn digest(judged: &Judged) -> Digest {
    let bits = judged.eyes.iter().flat_map(|eye| [eye.height_v.to_bits(), eye.width_ui.to_bits()]);
    Digest(bits.fold(0, |hash, bits| mix(hash ^ bits)))
}

fn cells(base: &Judged, moved: &[Judged]) -> Vec<Cell> {
    let digest = digest(base);
    let verdict = |(place, link): (usize, &Known)| {
        let numbers = || moved.iter().chain([base]).map(|judged| as_number(judged.eyes[place].passes));
        Cell {
            case: link.case.into(),
            quantity: "mask at 1e-12: 1 fails, 2 meets it".into(),
            unit: "",
            published: as_number(link.meets),
            predicted: as_number(base.eyes[place].passes),
            interval: (numbers().fold(f64::INFINITY, f64::min), numbers().fold(0.0, f64::max)),
            role: Role::Predicted,
            baseline: None,
            source: SOURCE,
            digest,
        }
    };
    let stress = base.stress();
    let eye = &base.eyes[0];
    let calibrated = |quantity: &str, unit, published, got: Option<f64>| {
        got.map(|got| Cell {
            case: "channel of the whole budget, 36 dB".into(),
            quantity: quantity.into(),
            unit,
            published,
            predicted: got,
            interval: (got, got),
            role: Role::Calibrated,
            baseline: None,
            source: "pciutils lmr/lmr.h, citing PCIe Base 5.0 section 8.4.2",
            digest,
        })
    };
    let millivolts = |volts: Option<f64>| volts.map(|volts| volts * 1e3);
    calibrated("eye height", "mV", eye.mask_height_v * 1e3, millivolts(stress.compliance_height_v))
        .into_iter()
        .chain(calibrated("eye width", "UI", eye.mask_width_ui, width(base)))
        .chain(LINKS.iter().enumerate().map(verdict))
        .collect()
}

/// The width of the channel of the whole budget, if it was brought to the mask's: only where the height leaves
/// something to take.
fn width(base: &Judged) -> Option<f64> {
    let mask = base.eyes[0].mask_width_ui;
    base.stress().compliance_width_ui.filter(|width| (width / mask - 1.0).abs() < AIMED)
}

fn effects(base: &Judged, moved: &[Judged]) -> Vec<Effect> {
    let change = |(eye, base): (&EyeSegment, &EyeSegment)| 100.0 * (eye.mask_ratio / base.mask_ratio - 1.0);
    MOVES
        .iter()
        .zip(moved)
        .map(|(step, judged)| Effect {
            mechanism: step.name.into(),
            end: step.end.into(),
            changes_pct: judged.eyes.iter().zip(&base.eyes).map(change).collect(),
        })
        .collect()
}

/// What was calibrated, and whatever turned a verdict.
fn free_parameters(base: &Judged, moved: &[Judged]) -> Vec<FreeParameter> {
    let stress = base.stress();
    let to = || Some("the mask, by the channel of the whole budget".to_owned());
    let free = |name: &str, value: String, calibrated_to| FreeParameter {
        part: "receiver, Gen5".into(),
        name: name.into(),
        value,
        calibrated_to,
    };
    let mut found = vec![free("noise", format!("{:.2} mV rms", stress.noise_v * 1e3), to())];
    if width(base).is_some() {
        found.push(free("deterministic jitter", format!("{:.2} ps", stress.deterministic_s * 1e12), to()));
    }
    for (step, judged) in MOVES.iter().zip(moved) {
        if judged.verdicts() != base.verdicts() {
            found.push(free(step.name, step.end.into(), None));
        }
    }
    found
}

fn tell(base: &Judged, moved: &[Judged]) -> String {
    let mut lines: Vec<String> = LINKS
        .iter()
        .zip(&base.eyes)
        .map(|(link, eye)| {
            format!(
                "{}: {:.1} dB of 36 dB, {:.1} mV of {:.0} mV, {:.3} UI of {:.2} UI, preset {}, bit error ratio {:.0e} at the centre.",
                link.case,
                eye.loss_db,
                eye.height_v * 1e3,
                eye.mask_height_v * 1e3,
                eye.width_ui,
                eye.mask_width_ui,
                eye.preset,
                eye.ber,
            )
        })
        .collect();
    let turned: Vec<String> = MOVES
        .iter()
        .zip(moved)
        .filter(|(_, judged)| judged.verdicts() != base.verdicts())
        .map(|(step, _)| format!("{} ({})", step.name, step.end))
        .collect();
    lines.push(if turned.is_empty() {
        format!("None of {} ends of ranges turns a verdict; each comes with a new calibration.", MOVES.len())
    } else {
        format!("Verdicts are turned by {}.", turned.join(", "))
    });
    if let (Some(width), None) = (base.stress().compliance_width_ui, width(base)) {
        lines.push(format!(
            "The channel of the whole budget is brought to the mask's height; its width is {width:.2} UI, and jitter enough to take it to the mask's would \
             take the height as well."
        ));
    }
    lines.push("Losses are moved upwards only: with the low corner of every element the long link is one of 36 dB or less, and that one opens.".into());
    lines.push("The table of effects is of the scarcer of height and width over the mask's. Crosstalk is not in these channels.".into());
    lines.join(" ")
}

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    let total = MOVES.len() + 1;
    let base = Judged::of(&Change::None);
    watch.step(total)?;
    let mut moved = Vec::with_capacity(MOVES.len());
    // a few at a time, so that Ctrl-C is heard
    for some in MOVES.chunks(4) {
        let judged: Vec<Judged> = some.par_iter().map(|step| Judged::of(&step.change)).collect();
        for one in judged {
            moved.push(one);
            watch.step(total)?;
        }
    }
    let known = LINKS.each_ref().map(|link| link.meets);
    let met = base.verdicts() == known && moved.iter().all(|judged| judged.verdicts() == known);
    Some(Outcome {
        cells: cells(&base, &moved),
        free_parameters: free_parameters(&base, &moved),
        met,
        text: tell(&base, &moved),
        effects: effects(&base, &moved),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every change reaches the description, and none is the same as another.
    #[test]
    fn every_move_is_understood_and_differs() {
        let told = |change: &Change| {
            let channel = channel(change);
            format!("{:?} {:?} {}", channel.variants, channel.constants, channel.calibrated)
        };
        let mut all: Vec<_> =
            MOVES.iter().map(|step| told(&step.change)).chain([told(&Change::None)]).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), MOVES.len() + 1);
    }
}
