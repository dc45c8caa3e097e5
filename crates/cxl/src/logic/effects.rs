//! What a link calls: its surroundings, and wherever a flit is unloaded.

use super::packer::Class;
use crate::spec::Direction;
use lanetwin_units::Instant;

/// What a link asks of its surroundings.
pub trait Environment<U> {
    /// This message arrives at `at`. Calls for one direction come in the order of time.
    fn deliver(&mut self, direction: Direction, at: Instant, message: &U);
    /// How many bits of a direction are right before the next wrong one; drawn anew after each error.
    fn clean_bits(&mut self, direction: Direction, bit_error_ratio: f64) -> u64;
}

/// Where what a flit brings goes: to its receiver, or into the retry buffer.
pub trait Unload<U> {
    /// Credits that it returns, by class.
    fn credits(&mut self, credits: [u32; 2]);
    /// A message that is complete with it.
    fn done(&mut self, class: Class, user: &U);
}
