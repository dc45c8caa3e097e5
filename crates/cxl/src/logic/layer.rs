//! What those who drive a link need of it, whatever its flits.

use super::activity::Activity;
use super::clock::Grid;
use super::effects::Environment;
use super::link::Link;
use super::packer::Class;
use super::spec::LinkSpec;
use crate::spec::Direction;
use crate::spec::constants::FLIT_SLOTS;
use lanetwin_units::{Instant, Span};

/// A link of some flits.
pub trait LinkLayer<U> {
    /// Slots of a flit.
    const SLOTS: u64;

    /// A link at rest.
    fn build(spec: LinkSpec) -> Self;
    /// What it was built from.
    fn spec(&self) -> &LinkSpec;
    /// How many flits start before tick `at`.
    fn flits_before(&self, at: u64) -> u64;
    /// The length of a flit \[ticks\].
    fn flit_ticks(&self) -> u64;
    /// What of a flit has to be sent before the first messages of it can arrive \[ticks\].
    fn part_ticks(&self) -> u64;
    /// What error correction takes at the receiver, in every flit.
    fn correction(&self) -> Span;
    /// What a direction has done so far.
    fn activity(&self, direction: Direction) -> Activity;
    /// How many messages of a class have been handed in and not sent yet.
    fn waiting(&self, direction: Direction, class: Class) -> usize;
    /// How many credits a transmitter has in hand; `u32::MAX` is infinite.
    fn credits(&self, direction: Direction, class: Class) -> u32;
    /// How many credits of a direction are on their way back or owed.
    fn credits_returning(&self, direction: Direction, class: Class) -> u32;
    /// A message is handed to the link at `at`. The answer says when the link must be pumped at the latest, as far as
    /// this message goes.
    fn submit(&mut self, direction: Direction, class: Class, at: Instant, message: &U) -> Instant;
    /// As [`Self::submit`], for a message that takes one flit of CXL.io.
    fn submit_io(&mut self, direction: Direction, at: Instant, message: &U) -> Instant;
    /// When the link must be pumped at the latest; none if nothing is known that anybody waits for.
    fn deadline(&self) -> Option<Instant>;
    /// Decides every flit that starts before `now`.
    fn pump(&mut self, now: Instant, env: &mut impl Environment<U>);
}

impl<U: Copy> LinkLayer<U> for Link<U> {
    const SLOTS: u64 = FLIT_SLOTS as u64;

    fn build(spec: LinkSpec) -> Self {
        Self::new(spec)
    }
    fn spec(&self) -> &LinkSpec {
        Self::spec(self)
    }
    fn flits_before(&self, at: u64) -> u64 {
        Grid::flits_before(self.grid(), at)
    }
    fn flit_ticks(&self) -> u64 {
        self.grid().flit()
    }
    fn part_ticks(&self) -> u64 {
        self.grid().flit()
    }
    fn correction(&self) -> Span {
        Span::ZERO
    }
    fn activity(&self, direction: Direction) -> Activity {
        Self::activity(self, direction)
    }
    fn waiting(&self, direction: Direction, class: Class) -> usize {
        Self::waiting(self, direction, class)
    }
    fn credits(&self, direction: Direction, class: Class) -> u32 {
        Self::credits(self, direction, class)
    }
    fn credits_returning(&self, direction: Direction, class: Class) -> u32 {
        Self::credits_returning(self, direction, class)
    }
    #[inline(always)]
    fn submit(&mut self, direction: Direction, class: Class, at: Instant, message: &U) -> Instant {
        Self::submit(self, direction, class, at, message)
    }
    fn submit_io(&mut self, direction: Direction, at: Instant, message: &U) -> Instant {
        Self::submit_io(self, direction, at, message)
    }
    #[inline]
    fn deadline(&self) -> Option<Instant> {
        Self::deadline(self)
    }
    #[inline]
    fn pump(&mut self, now: Instant, env: &mut impl Environment<U>) {
        Self::pump(self, now, env);
    }
}
