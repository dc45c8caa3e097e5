//! Traits that a link calls: its environment, and the destination of a flit's content.

use super::packer::Class;
use crate::spec::Direction;
use lanetwin_units::Instant;

/// Environment of a link.
pub trait Environment<U> {
    /// A message arrives at `at`. Calls for one direction come in the order of time.
    fn deliver(&mut self, direction: Direction, at: Instant, message: &U);
    /// Number of correct bits of a direction before the next bit error; called again after each error.
    fn clean_bits(&mut self, direction: Direction, bit_error_ratio: f64) -> u64;
}

/// Destination of a flit's content: its receiver, or the retry buffer.
pub trait Unload<U> {
    /// Credits that the flit returns, by class.
    fn credits(&mut self, credits: [u32; 2]);
    /// A message that the flit completes.
    fn done(&mut self, class: Class, user: &U);
}
