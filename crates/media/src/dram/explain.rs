//! Breakdown of the time of one read.
//!
//! ```text
//!  offered        PRE            ACT             RD             first beat      last beat: answered
//!     ├── queue ───┼── precharge ──┼── activate ──┼── CAS latency ──┼── burst ──┤
//! ```

use super::command::{Before, Done};
use super::machine::Machine;
use lanetwin_units::Instant;

/// Times of the steps of a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadSteps {
    /// When the row in its way was closed; `None` if there was none, or if that was before the read came.
    pub precharged: Option<Instant>,
    /// When its row was opened; `None` if that was before the read came.
    pub activated: Option<Instant>,
    /// When its read command was issued.
    pub column: Instant,
    /// When its first beat was on the bus.
    pub burst: Instant,
}

impl Machine {
    /// Steps of a read that was offered at `offered`. Returns `None` if it was not read from the array (its line came
    /// from the write queue), or was not a read.
    #[must_use]
    pub fn read_steps(&self, done: &Done, offered: Instant) -> Option<ReadSteps> {
        let Before { opened, closed } = done.before;
        if opened == 0 {
            return None;
        }
        let at = |clock: u64| self.clock.instant(clock);
        // all buses have the same speed
        let (latency, burst) = self.channels.first()?.read_clocks();
        let column = self.clock.edge(done.at) - burst - latency;
        let since = |clock: u64| Some(at(clock)).filter(|at| *at >= offered);
        let known = |clocks: u16| (clocks < Before::LONG).then_some(u64::from(clocks));
        let opened = known(opened).map(|clocks| column - clocks);
        let closed = opened.zip(known(closed)).map(|(opened, clocks)| opened - clocks);
        let activated = opened.and_then(since);
        Some(ReadSteps {
            precharged: activated.and(closed).and_then(since),
            activated,
            column: at(column),
            burst: at(column + latency),
        })
    }
}
