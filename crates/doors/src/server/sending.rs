//! Sending to connections, and what that takes of the thread: it wakes whoever waits at the other side.
//!
//! To wake a thread on a core that sleeps takes the waker microseconds, in a virtual machine tens of them, and
//! meanwhile other replies fall due. Those that are known to fall due while the first is sent would leave after it;
//! the first waits for them, and they leave together.

use lanetwin_units::Span;
use std::time::Duration;

/// A reply waits no longer for others. `assumed`: less than what is late ([`crate::lateness::LATE`]).
const MOST: Span = Span::from_us(8);
/// A sending counts for one part of so many of what sending takes.
const MEMORY: u64 = 8;

/// What sending takes, of late.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Sending(Span);

impl Sending {
    /// Something was sent, which took so long.
    pub(super) fn took(&mut self, took: Duration) {
        let took = Span::from_ns(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
        self.0 = Span::from_ps((self.0.as_ps() * (MEMORY - 1) + took.as_ps()) / MEMORY);
    }
    /// How long a reply waits for others, by whatever connection: mostly there is one.
    pub(super) fn wait(self) -> Span {
        self.0.min(MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sending_takes_is_learnt_and_waited_for_within_a_limit() {
        let mut sending = Sending::default();
        (0..100).for_each(|_| sending.took(Duration::from_micros(3)));
        assert!(sending.wait() > Span::from_ns(2_900) && sending.wait() <= Span::from_us(3));
        (0..100).for_each(|_| sending.took(Duration::from_micros(50)));
        assert_eq!(sending.wait(), MOST);
    }
}
