//! Interface of a link that is common to both flit modes.

use super::activity::Activity;
use super::clock::Grid;
use super::effects::Environment;
use super::link::Link;
use super::packer::Class;
use super::spec::LinkSpec;
use crate::spec::Direction;
use crate::spec::constants::FLIT_SLOTS;
use lanetwin_units::{Instant, Span};

/// A link of either flit mode.
pub trait LinkLayer<U> {
    /// Slots per flit.
    const SLOTS: u64;

    /// A link at rest.
    fn build(spec: LinkSpec) -> Self;
    /// Specification that the link was built from.
    fn spec(&self) -> &LinkSpec;
    /// Number of flits that start before tick `at`.
    fn flits_before(&self, at: u64) -> u64;
    /// Duration of a flit \[ticks\].
    fn flit_ticks(&self) -> u64;
    /// Duration of the part of a flit that must be sent before its first messages can arrive \[ticks\].
    fn part_ticks(&self) -> u64;
    /// Latency of error correction at the receiver, in every flit.
    fn correction(&self) -> Span;
    /// Counters of a direction.
    fn activity(&self, direction: Direction) -> Activity;
    /// Number of messages of a class that have been submitted but not sent.
    fn waiting(&self, direction: Direction, class: Class) -> usize;
    /// Number of credits that a transmitter has; `u32::MAX` is infinite.
    fn credits(&self, direction: Direction, class: Class) -> u32;
    /// Number of credits of a direction that are free at the receiver or on their way back.
    fn credits_returning(&self, direction: Direction, class: Class) -> u32;
    /// Submits a message at `at`. Returns the latest time at which the link must be pumped because of this message.
    fn submit(&mut self, direction: Direction, class: Class, at: Instant, message: &U) -> Instant;
    /// As [`Self::submit`], for a message that takes one flit of CXL.io.
    fn submit_io(&mut self, direction: Direction, at: Instant, message: &U) -> Instant;
    /// Latest time at which the link must be pumped; `None` if no known flit has an effect outside the link.
    fn deadline(&self) -> Option<Instant>;
    /// Decides all flits that start before `now`.
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
