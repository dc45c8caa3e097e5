//! Bit error ratios of the segments of a channel, at the rate of the link.

use super::description::{Channel, Variant};
use super::equalised::{Answers, Equalised};
use super::problem::Problem;
use super::stress::Bench;
use lanetwin_document::problem::Diagnostic;
use lanetwin_phy::DataRate;
use lanetwin_units::Generation;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Signal quality of a segment of a channel.
#[derive(Clone, PartialEq, Debug)]
pub struct SegmentEye {
    /// Its first element.
    pub from: String,
    /// Its last element.
    pub to: String,
    /// Loss of its elements at the Nyquist frequency \[dB\].
    pub loss_db: f64,
    /// Whether it meets the mask, whether it operates, and its bit error ratio.
    pub answers: Answers,
}

/// Judges segments of a channel; calibrates once per generation.
#[derive(Default)]
pub struct Judge {
    benches: BTreeMap<Generation, Bench>,
}

impl Judge {
    /// The eyes of a variant at a generation, from the root on, whatever rate the description names. Use one judge per
    /// channel.
    ///
    /// `CH009` for generations without an eye; otherwise errors in the elements or their data.
    /// `CH009` for generations without an eye; else as the elements and data have it.
    ///
    /// # Panics
    /// If the channel has no such variant.
    pub fn eyes(
        &mut self,
        channel: &Channel,
        variant: &str,
        generation: Generation,
    ) -> Result<Vec<SegmentEye>, Vec<Diagnostic>> {
        let found = channel.variants.iter().find(|known| known.name == variant);
        let rate = DataRate::from(generation);
        let variant = Variant { rate, ..found.expect("a variant of it").clone() };
        let bench = match self.benches.entry(generation) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => match Bench::of(channel, rate) {
                Some(bench) => unknown.insert(bench),
                None => return Err(channel.refused_in(&variant, Problem::NoEye { rate: rate.name() })),
            },
        };
        (0..variant.chain.segments().len()).map(|at| of_segment(channel, &variant, at, bench)).collect()
    }
}

fn of_segment(
    channel: &Channel,
    variant: &Variant,
    at: usize,
    bench: &Bench,
) -> Result<SegmentEye, Vec<Diagnostic>> {
    let Equalised { answers, between: (from, to), loss_db, .. } = Equalised::of(channel, variant, at, bench)?;
    Ok(SegmentEye { from, to, loss_db, answers })
}
