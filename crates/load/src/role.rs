//! The role of all loads for the code that measures them.

use crate::results::Results;
use crate::tally::Tally;
use lanetwin_units::{Instant, Span};

/// Why a load stopped sending before its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GaveUp {
    /// An open loop is answered more slowly than it sends, so that its backlog grows without limit.
    Overloaded,
    /// The load is answered without any time passing, so that its rate has no limit, and the run would not end.
    NoTimePasses,
}

/// A component that sends operations, and counts their answers.
pub trait CountsOperations {
    /// Number of operations sent, and number answered, since the start of the run.
    fn progress(&self) -> (u64, u64);
    /// Starts counting at `at`, the present.
    ///
    /// # Panics
    /// If something was counted after `at`.
    fn reset(&mut self, at: Instant);
    /// The counts up to `at`, the present.
    ///
    /// # Panics
    /// If something was counted after `at`.
    fn results(&self, at: Instant) -> Results;
    /// The same without distributions, for frequent calls.
    ///
    /// # Panics
    /// If something was counted after `at`.
    fn tally(&self, at: Instant) -> Tally {
        self.results(at).tally()
    }
    /// Records the latency of each successful operation from now on. Stepped loads do not support it.
    fn note_latencies(&mut self) {}
    /// Takes the recorded latencies of reads and of writes since the last call, or since counting began.
    fn take_latencies(&mut self) -> [Vec<Span>; 2] {
        Default::default()
    }
    /// Stops sending.
    fn stop(&mut self);
    /// When it gave up, and why, if it did.
    fn gave_up(&self) -> Option<(Instant, GaveUp)> {
        None
    }
    /// Takes the results of the steps that have ended since the last call. Only stepped loads have any.
    fn take_ended(&mut self) -> Vec<Results> {
        Vec::new()
    }
}
