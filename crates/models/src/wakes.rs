//! Pending wakes of a component.
//!
//! The kernel cannot cancel a wake. A component that asked for one at 20 ns and then needs one at 10 ns is woken at
//! both. This list keeps it from asking for 20 ns again when it checks its work at 10 ns.

use lanetwin_ports::Context;
use lanetwin_units::Instant;

/// Wakes that are still to come, with one token.
#[derive(Debug, Default)]
pub(crate) struct Wakes {
    /// Latest first: a wake is requested only if all pending ones are later.
    asked: Vec<Instant>,
}

impl Wakes {
    /// An empty list.
    pub(crate) const fn new() -> Self {
        Self { asked: Vec::new() }
    }
    /// Asks for a wake at `at`, unless an earlier one is still to come, or one at that time.
    #[inline(always)]
    pub(crate) fn ask(&mut self, at: Instant, token: u32, cx: &mut Context<'_>) {
        if self.asked.last().is_none_or(|first| at < *first) {
            self.add(at, token, cx);
        }
    }
    #[inline(never)]
    fn add(&mut self, at: Instant, token: u32, cx: &mut Context<'_>) {
        self.asked.push(at);
        cx.wake_at(at, token);
    }
    /// Forgets the wakes up to `now`: they have come.
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
