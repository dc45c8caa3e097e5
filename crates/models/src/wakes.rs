//! The wakes that a component has asked for and that are still to come.
//!
//! Who asks for an earlier wake than it has asked for before will get both, and needs the later one not to be asked for
//! again when the earlier one has come: what waits is looked at once for each instant.

use lanetwin_ports::Context;
use lanetwin_units::Instant;

/// Wakes that are still to come, with one token.
#[derive(Debug, Default)]
pub(crate) struct Wakes {
    /// The earliest is the last: each was asked for when all others were later.
    asked: Vec<Instant>,
}

impl Wakes {
    /// None.
    pub(crate) const fn new() -> Self {
        Self { asked: Vec::new() }
    }
    /// Asks for a wake at `at`, unless an earlier one is still to come, or one at that time.
    #[inline]
    pub(crate) fn ask(&mut self, at: Instant, token: u32, cx: &mut Context<'_>) {
        if self.asked.last().is_none_or(|first| at < *first) {
            self.asked.push(at);
            cx.wake_at(at, token);
        }
    }
    /// It is `now`: wakes up to that have come.
    #[inline]
    pub(crate) fn come(&mut self, now: Instant) {
        while self.asked.last().is_some_and(|first| *first <= now) {
            self.asked.pop();
        }
    }
    /// The first that is still to come; [`Instant::NEVER`] if there is none.
    pub(crate) fn first(&self) -> Instant {
        self.asked.last().copied().unwrap_or(Instant::NEVER)
    }
}
