//! A segment of a channel with the best equalisation at both ends, and two answers about it.
//!
//! | Answer | Question |
//! |---|---|
//! | meets the mask | is the eye as high and as wide as the standard asks of a channel, with what it leaves to receivers? |
//! | operates | does the sampler, after decision feedback, decide as many bits rightly as the standard asks of a link? |
//!
//! The mask is the stricter of the two: it demands more than an open eye to cover effects that the eye does not contain
//! (the sampler's sensitivity, drift). A channel can miss it and operate. All analyses use this module, so that eyes,
//! runs, trainings and cycles have the same answers.

use super::description::{Aggressor, Channel, Variant};
use super::problem::{Physical, Problem};
use super::stress::{Bench, path};
use super::transmitter::Transmitter;
use lanetwin_document::problem::Diagnostic;
use lanetwin_phy::element::Corner;
use lanetwin_phy::eye::{Eye, Mask, Prepared};
use serde::Serialize;

/// The answers for a segment, or for all segments together.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Answers {
    /// Whether height and width meet the mask.
    pub meets_mask: bool,
    /// The smaller of height and width relative to the mask's; 1 is the mask.
    pub mask_ratio: f64,
    /// Whether the bit error ratio is at most that of the standard.
    pub operates: bool,
    /// Bit error ratio of the sampler, after decision feedback; never below 1e-40.
    pub ber: f64,
}

impl Answers {
    fn of(eye: &Eye, mask: Mask) -> Self {
        Self {
            meets_mask: mask.passes(eye.opening),
            mask_ratio: mask.margin(eye.opening),
            operates: eye.ber <= mask.ber,
            ber: eye.ber,
        }
    }
    /// The answers for a chain of segments: each is that of the worst segment. `None` without segments.
    pub(crate) fn of_all(segments: impl Iterator<Item = Self>) -> Option<Self> {
        segments.reduce(|a, b| Self {
            meets_mask: a.meets_mask && b.meets_mask,
            mask_ratio: a.mask_ratio.min(b.mask_ratio),
            operates: a.operates && b.operates,
            ber: a.ber.max(b.ber),
        })
    }
}

/// A segment with the equalisation that leaves the largest margin to the mask.
pub(super) struct Equalised<'v> {
    /// Its neighbours.
    pub neighbours: Vec<&'v Aggressor>,
    /// The signal at its receiver.
    pub prepared: Prepared,
    /// The settings of its transmitter.
    pub transmitter: Transmitter,
    /// The eye.
    pub eye: Eye,
    /// The answers for it.
    pub answers: Answers,
    /// The first and the last element.
    pub between: (String, String),
    /// Loss of the elements at the Nyquist frequency \[dB\].
    pub loss_db: f64,
}

/// An assumption that changes an answer.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Turned {
    /// The alternative assumption.
    pub instead: &'static str,
    /// The answers under it.
    #[serde(flatten)]
    pub answers: Answers,
}

impl<'v> Equalised<'v> {
    /// The segment number `at` of a variant, from the root on.
    pub(super) fn of(
        channel: &Channel,
        variant: &'v Variant,
        at: usize,
        bench: &Bench,
    ) -> Result<Self, Vec<Diagnostic>> {
        let refused = |finding| channel.refused_in(variant, Physical(finding));
        let margins =
            variant.chain.margins(&channel.library, variant.corner, variant.rate).map_err(refused)?;
        let (path, neighbours) = path(channel, variant, at, bench).map_err(refused)?;
        let prepared = bench.receiver.prepare(&path).map_err(|error| {
            channel.refused_in(variant, Problem::NoPulse { segment: at + 1, said: error.to_string() })
        })?;
        let transmitter = Transmitter::of(channel, variant);
        let eye = transmitter.best(bench, &prepared);
        let answers = Answers::of(&eye, bench.receiver.mask());
        let between = (margins[at].from.clone(), margins[at].to.clone());
        let loss_db = margins[at].loss_db;
        Ok(Self { neighbours, prepared, transmitter, eye, answers, between, loss_db })
    }
    /// The assumptions that change an answer: without neighbours, with the least loss, with the largest loss.
    pub(super) fn turned(
        &self,
        channel: &Channel,
        variant: &Variant,
        at: usize,
        bench: &Bench,
    ) -> Result<Vec<Turned>, Vec<Diagnostic>> {
        let mut tried = Vec::new();
        if !self.neighbours.is_empty() {
            let alone = self.transmitter.best(bench, &self.prepared.alone());
            tried.push(("no neighbours", Answers::of(&alone, bench.receiver.mask())));
        }
        let corners = [
            (Corner::Low, "the least loss of every element"),
            (Corner::High, "the most loss of every element"),
        ];
        for (corner, instead) in corners.into_iter().filter(|(corner, _)| *corner != variant.corner) {
            let there = Variant { corner, ..variant.clone() };
            tried.push((instead, Equalised::of(channel, &there, at, bench)?.answers));
        }
        let turns = |answers: &Answers| {
            (answers.meets_mask, answers.operates) != (self.answers.meets_mask, self.answers.operates)
        };
        let turned = tried.into_iter().filter(|(_, answers)| turns(answers));
        Ok(turned.map(|(instead, answers)| Turned { instead, answers }).collect())
    }
}
