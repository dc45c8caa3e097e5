//! Sending to connections, and the time that it takes the thread, because it wakes the peer.
//!
//! Waking a thread on an idle core takes microseconds, in a virtual machine tens of them, and other replies become
//! due meanwhile. Replies known to become due while the first is being sent would be sent after it, too late; so the
//! first waits for them, and they are sent together.

use lanetwin_units::Span;
use std::time::Duration;

/// Maximum time that a reply waits for others. `assumed`: less than the limit of lateness
/// ([`crate::lateness::LATE`]).
const MOST: Span = Span::from_us(8);
/// Weight of one sending in the moving average of the time of sending: one part of this many.
const MEMORY: u64 = 8;

/// Moving average of the time of sending.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Sending(Span);

impl Sending {
    /// Something was sent, which took so long.
    pub(super) fn took(&mut self, took: Duration) {
        let took = Span::from_ns(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
        self.0 = Span::from_ps((self.0.as_ps() * (MEMORY - 1) + took.as_ps()) / MEMORY);
    }
    /// Time that a reply waits for others, on any connection: usually there is one.
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
