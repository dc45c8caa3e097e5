//! A segment of a channel with the best equalisation of both its ends, and the two answers that it gives.
//!
//! | Answer | Question |
//! |---|---|
//! | meets the mask | is the eye as high and as wide as the standard asks of a channel, with what it leaves to receivers? |
//! | operates | does the sampler, after decision feedback, decide as many bits rightly as the standard asks of a link? |
//!
//! The mask is the stricter of the two: what it asks for beyond an open eye is for what the eye does not contain (the
//! sampler's sensitivity, drift). A channel can miss it and operate. Whoever asks about a channel asks here, so that
//! eyes, runs, trainings and cycles have the same answers.

use super::description::{Aggressor, Channel, Variant};
use super::problem::{Physical, Problem};
use super::stress::{Bench, path};
use super::transmitter::Transmitter;
use lanetwin_document::problem::Diagnostic;
use lanetwin_phy::element::Corner;
use lanetwin_phy::eye::{Eye, Mask, Prepared};
use serde::Serialize;

/// What a segment, or all of them, answer.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Answers {
    /// Whether height and width are what the mask asks for.
    pub meets_mask: bool,
    /// The scarcer of height and width over the mask's; 1 is the mask.
    pub mask_ratio: f64,
    /// Whether the bit error ratio is at most the standard's.
    pub operates: bool,
    /// The share of bits that the sampler decides wrongly, after decision feedback; never below 1e-40.
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
    /// The answers of a chain of segments: each is that of the worst. None of no segment.
    pub(crate) fn of_all(segments: impl Iterator<Item = Self>) -> Option<Self> {
        segments.reduce(|a, b| Self {
            meets_mask: a.meets_mask && b.meets_mask,
            mask_ratio: a.mask_ratio.min(b.mask_ratio),
            operates: a.operates && b.operates,
            ber: a.ber.max(b.ber),
        })
    }
}

/// A segment with the equalisation that leaves the widest margin to the mask.
pub(super) struct Equalised<'v> {
    /// Its neighbours.
    pub neighbours: Vec<&'v Aggressor>,
    /// What its receiver gets.
    pub prepared: Prepared,
    /// What its transmitter can be set to.
    pub transmitter: Transmitter,
    /// The eye.
    pub eye: Eye,
    /// What it says.
    pub answers: Answers,
    /// The first element and the last.
    pub between: (String, String),
    /// What the elements lose at the Nyquist frequency \[dB\].
    pub loss_db: f64,
}

/// An assumption that turns an answer.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Turned {
    /// What was assumed instead.
    pub instead: &'static str,
    /// The answers then.
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
    /// Which assumptions decide: without neighbours, with the least loss and with the most, where that turns an answer.
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
