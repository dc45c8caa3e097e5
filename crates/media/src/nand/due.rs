//! What a machine does next, and how soon anybody outside can hear of something.
//!
//! Most of what a machine does is nobody's business but its own: when a page is sensed, its data still have to cross
//! the bus. So whoever owns a machine need not look at every step, only soon enough for the next that can matter
//! ([`Due::soonest`]); the steps before it are then made up for, in their order.

use crate::timers::{NEVER, Timers};

/// What is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// An operation ends, and something may follow at once.
    End = 0,
    /// An operation ends of which nobody hears at once ([`Op::heard_after`](super::op::Op::heard_after)).
    LateEnd = 1,
    /// A page is sensed: no operation ends.
    Sensed = 2,
    /// The bus falls idle after a command: no operation ends.
    Idle = 3,
}

/// The alarms of channels and servers, by what is due then. Each has one at most.
#[derive(Clone, Debug)]
pub(super) struct Due {
    timers: [Timers; 4],
    /// The earliest of each kind [ps]: most questions are answered by these.
    fronts: [u64; 4],
    /// The least time from a step that ends nothing to an end [ps].
    least_inner: u64,
    /// The least time from an end to its being heard of, of those of which nobody hears at once [ps].
    least_late: u64,
}

impl Due {
    /// No alarms, for so many channels, which come first, and servers: data are sent by channels alone.
    pub(super) fn new(channels: usize, servers: usize) -> Self {
        let timers = [channels + servers, channels, channels + servers, channels].map(Timers::new);
        Self { timers, fronts: [NEVER; 4], least_inner: NEVER, least_late: NEVER }
    }

    /// Sets the alarm of a part; [`NEVER`] clears it. It has none of another kind.
    #[inline]
    pub(super) fn set(&mut self, step: Step, part: usize, at: u64) {
        let timers = &mut self.timers[step as usize];
        if timers.of(part) == at {
            return;
        }
        timers.set(part, at);
        self.fronts[step as usize] = timers.first().0;
    }
    /// The alarm of a part, if it is of this kind.
    #[inline]
    pub(super) fn of(&self, step: Step, part: usize) -> u64 {
        self.timers[step as usize].of(part)
    }

    /// From now on there is an operation that ends no sooner than `inner` after any step before its last, and is heard
    /// of `late` after that.
    #[inline]
    pub(super) fn bound(&mut self, inner: u64, late: u64) {
        self.least_inner = self.least_inner.min(inner);
        if late > 0 {
            self.least_late = self.least_late.min(late);
        }
    }

    /// Takes out the earliest alarm, if it is not after `limit`: when, and whose it is. Among equals the part with the
    /// lower number comes first.
    #[inline]
    pub(super) fn take(&mut self, limit: u64) -> Option<(u64, usize)> {
        let [end, late, sensed, idle] = self.fronts;
        let at = end.min(late).min(sensed.min(idle));
        if at > limit || at == NEVER {
            return None;
        }
        let (mut kind, mut part) = (0, usize::MAX);
        for (i, timers) in self.timers.iter().enumerate().filter(|(i, _)| self.fronts[*i] == at) {
            let other = timers.first().1;
            if other < part {
                (kind, part) = (i, other);
            }
        }
        let timers = &mut self.timers[kind];
        timers.clear_first();
        self.fronts[kind] = timers.first().0;
        Some((at, part))
    }
    /// Nobody hears of anything before [ps]. With something in suspense, an end that is heard of late may be what
    /// resumes it, so that it counts like any other.
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
