//! The timers of the flash machine, and a lower bound on when its next result can become visible.
//!
//! Most steps are internal: when a page has been sensed, its data still have to cross the bus. The owner therefore
//! need not wake at every step. It wakes no later than [`Due::soonest`], the earliest time at which a completion could
//! become visible, and the machine then works off all steps up to that time in their order.

use crate::timers::{NEVER, Timers};

/// What happens when a timer expires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// An operation ends, and its owner may react at once.
    End = 0,
    /// An operation ends whose completion is reported later ([`Op::heard_after`](super::op::Op::heard_after)).
    LateEnd = 1,
    /// A page has been sensed: no operation ends.
    Sensed = 2,
    /// The bus becomes idle after a command: no operation ends.
    Idle = 3,
}

/// The timers of channels and servers, by kind of step. Each channel or server has at most one.
#[derive(Clone, Debug)]
pub(super) struct Due {
    timers: [Timers; 4],
    /// The earliest timer of each kind [ps]: a cache that answers most calls.
    fronts: [u64; 4],
    /// The least time from an internal step to the end of an operation [ps].
    least_inner: u64,
    /// The least time from a late end to its report [ps].
    least_late: u64,
}

impl Due {
    /// No timer set. Channels are numbered before servers; only channels send data.
    pub(super) fn new(channels: usize, servers: usize) -> Self {
        let timers = [channels + servers, channels, channels + servers, channels].map(Timers::new);
        Self { timers, fronts: [NEVER; 4], least_inner: NEVER, least_late: NEVER }
    }

    /// Sets the timer of a channel or server; [`NEVER`] clears it. It must have no timer of another kind.
    #[inline]
    pub(super) fn set(&mut self, step: Step, part: usize, at: u64) {
        let timers = &mut self.timers[step as usize];
        if timers.of(part) == at {
            return;
        }
        timers.set(part, at);
        self.fronts[step as usize] = timers.first().0;
    }
    /// The timer of a channel or server of this kind; [`NEVER`] if it is not set.
    #[inline]
    pub(super) fn of(&self, step: Step, part: usize) -> u64 {
        self.timers[step as usize].of(part)
    }

    /// Registers an operation that ends no sooner than `inner` after any of its internal steps, and is reported `late`
    /// after its end.
    #[inline]
    pub(super) fn bound(&mut self, inner: u64, late: u64) {
        self.least_inner = self.least_inner.min(inner);
        if late > 0 {
            self.least_late = self.least_late.min(late);
        }
    }

    /// Removes and returns the earliest timer that is not after `limit`: its time and the number of its channel or
    /// server. Among equal times the lower number comes first.
    #[inline]
    pub(super) fn take(&mut self, limit: u64) -> Option<(u64, usize)> {
        let [end, late, sensed, idle] = self.fronts;
        let at = end.min(late).min(sensed.min(idle));
        if at > limit || at == NEVER {
            return None;
        }
        let (mut kind, mut part) = (0, usize::MAX);
        for (i, timers) in self.timers.iter().enumerate() {
            if self.fronts[i] == at {
                let other = timers.first().1;
                if other < part {
                    (kind, part) = (i, other);
                }
            }
        }
        let timers = &mut self.timers[kind];
        timers.clear_first();
        self.fronts[kind] = timers.first().0;
        Some((at, part))
    }
    /// A lower bound on the time of the next report [ps]. With `suspense` an operation is suspended, and even a late
    /// end may resume it at once, so that late ends count from their end and not from their report.
    #[inline]
    pub(super) fn soonest(&self, suspense: bool) -> u64 {
        let [end, late, sensed, idle] = self.fronts;
        let until_heard = if suspense { 0 } else { self.least_late.min(self.least_inner) };
        let heard = late.saturating_add(until_heard);
        end.min(heard).min(sensed.min(idle).saturating_add(self.least_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_comes_first_whatever_it_is_and_among_equals_the_lower() {
        let mut due = Due::new(4, 4);
        due.set(Step::Idle, 2, 10);
        due.set(Step::End, 3, 10);
        due.set(Step::LateEnd, 1, 20);
        assert_eq!(due.take(9), None);
        let order: Vec<_> = std::iter::from_fn(|| due.take(NEVER - 1)).collect();
        assert_eq!(order, [(10, 2), (10, 3), (20, 1)]);
        assert_eq!((due.soonest(false), due.take(NEVER)), (NEVER, None));
    }

    #[test]
    fn what_ends_nothing_is_heard_of_later() {
        let mut due = Due::new(4, 4);
        due.bound(300, 50);
        due.bound(400, 0);
        due.set(Step::Sensed, 0, 10);
        assert_eq!(due.soonest(false), 310);
        due.set(Step::LateEnd, 1, 200);
        assert_eq!((due.soonest(false), due.soonest(true)), (250, 200));
        due.set(Step::End, 2, 240);
        assert_eq!(due.soonest(false), 240);
    }
}
