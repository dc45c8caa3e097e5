//! The bit error ratios that the segments of a channel leave a link.
//!
//! An eye that just meets the mask is what the standard allows, and has the mask's bit error ratio, 1e-12: what the
//! mask asks for beyond an open eye is for what the eye does not contain (the sampler's sensitivity, neighbours,
//! drift). So height and width of the mask are taken off the eye, one at a time, and the ratio is that of what is left:
//! the worse of the two.

use super::description::{Channel, Variant};
use super::problem::{Physical, Problem};
use super::stress::{Bench, path};
use lanetwin_document::problem::Diagnostic;
use lanetwin_phy::eye::{Lost, Search};
use lanetwin_phy::{DataRate, Finding};
use lanetwin_units::Generation;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// How well a segment of a channel carries bits.
#[derive(Clone, PartialEq, Debug)]
pub struct SegmentEye {
    /// Its first element.
    pub from: String,
    /// Its last element.
    pub to: String,
    /// What its elements lose at the Nyquist frequency \[dB\].
    pub loss_db: f64,
    /// The scarcer of height and width over the mask's; 1 is the mask.
    pub mask_ratio: f64,
    /// The share of bits that a lane loses, never below 1e-40.
    pub ber: f64,
}

/// Judges segments of a channel; what has to be calibrated for a generation is calibrated once.
#[derive(Default)]
pub struct Judge {
    benches: BTreeMap<Generation, Bench>,
}

impl Judge {
    /// The eyes of a variant of a channel at a generation, from the root on, whatever rate the description names. A
    /// judge is asked about one channel alone.
    ///
    /// # Errors
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
    let (receiver, refused) =
        (&bench.receiver, |finding: Finding| channel.refused_in(variant, Physical(finding)));
    let margins = variant.chain.margins(&channel.library, variant.corner, variant.rate).map_err(refused)?;
    let (path, _) = path(channel, variant, at, bench).map_err(refused)?;
    let prepared = receiver.prepare(&path).map_err(|error| {
        channel.refused_in(variant, Problem::NoPulse { segment: at + 1, said: error.to_string() })
    })?;
    let eye = receiver.search(&prepared, &bench.stress, &Search::thorough());
    let mask = receiver.mask();
    let low = eye.ber_after(Lost { height_v: mask.height_v, width_ui: 0.0 });
    let narrow = eye.ber_after(Lost { height_v: 0.0, width_ui: mask.width_ui });
    Ok(SegmentEye {
        from: margins[at].from.clone(),
        to: margins[at].to.clone(),
        loss_db: margins[at].loss_db,
        mask_ratio: mask.margin(eye.opening),
        ber: low.max(narrow),
    })
}
