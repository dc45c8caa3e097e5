//! Loads as whoever measures them knows them, whatever they ask for.

use crate::results::Results;
use crate::tally::Tally;
use lanetwin_units::{Instant, Span};

/// Why a load sends nothing more before its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GaveUp {
    /// An open loop is answered so much more slowly than it sends that its backlog only grows.
    Overloaded,
    /// A closed loop is answered without any time passing: its rate has no bound, and its end never comes.
    NoTimePasses,
}

/// Asks for operations, and counts what becomes of them.
pub trait CountsOperations {
    /// How many operations have been asked for and how many answered since the start of the run.
    fn progress(&self) -> (u64, u64);
    /// Counts from `at` on, the present.
    ///
    /// # Panics
    /// If something was counted after `at`.
    fn reset(&mut self, at: Instant);
    /// What was counted up to `at`, the present.
    ///
    /// # Panics
    /// If something was counted after `at`.
    fn results(&self, at: Instant) -> Results;
    /// The same without distributions: cheap enough to be looked at often.
    ///
    /// # Panics
    /// If something was counted after `at`.
    fn tally(&self, at: Instant) -> Tally {
        self.results(at).tally()
    }
    /// Notes from now on the latency of each operation that is answered as asked; not a load that goes in steps.
    fn note_latencies(&mut self) {}
    /// The latencies of reads and of writes that were noted since this was asked last, or counting began.
    fn take_latencies(&mut self) -> [Vec<Span>; 2] {
        Default::default()
    }
    /// Asks for nothing more.
    fn stop(&mut self);
    /// When it gave up, and why, if it did.
    fn gave_up(&self) -> Option<(Instant, GaveUp)> {
        None
    }
    /// What each step has counted that has ended since this was asked last; nothing of a load that does not go in
    /// steps.
    fn take_ended(&mut self) -> Vec<Results> {
        Vec::new()
    }
}
