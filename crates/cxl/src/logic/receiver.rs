//! Receiver of a flit's content.

use super::effects::{Environment, Unload};
use super::half::{Half, Returning, Wire};
use super::packer::Class;
use super::ring::NEVER;
use crate::spec::Direction;
use lanetwin_units::Ticks;

/// The end at which a flit arrives.
pub struct Receiver<'a, U, E> {
    direction: Direction,
    /// Arrival time \[ticks\].
    at: u64,
    /// Time from then until a buffer is free, by class \[ticks\].
    drain: [u64; 2],
    /// The transmitter of this end.
    other: &'a mut Half<U>,
    env: &'a mut E,
}

impl<'a, U, E> Receiver<'a, U, E> {
    /// Receiver of a flit of `wire` that starts at `now`.
    #[inline(always)]
    pub fn new(direction: Direction, wire: &Wire, now: u64, other: &'a mut Half<U>, env: &'a mut E) -> Self {
        Self { direction, at: now + wire.lag, drain: wire.drain, other, env }
    }
}

impl<U: Copy, E: Environment<U>> Unload<U> for Receiver<'_, U, E> {
    #[inline(always)]
    fn credits(&mut self, credits: [u32; 2]) {
        if credits != [0; 2] {
            self.other.expect_credits(Returning { at: self.at, credits });
        }
    }
    #[inline(always)]
    fn done(&mut self, class: Class, user: &U) {
        self.env.deliver(self.direction, Ticks(self.at).as_ps_ceil(), user);
        let drain = self.drain[class.index()];
        if drain != NEVER {
            self.other.free_credit(class, self.at + drain);
        }
    }
}
