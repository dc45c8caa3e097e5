//! The tracker: places that requests hold from their arrival to their answer.
//!
//! An answer is known before it leaves, and a place is free when it has left. Times in it are summed up without a look
//! at the present: the integral of the places in use is the time from arrival to departure of each request, whoever
//! comes first.

use lanetwin_units::Instant;
use std::collections::VecDeque;

/// Places that requests hold.
pub(super) struct Tracker {
    places: u64,
    /// Entries in use at the last release.
    taken: u64,
    /// Requests whose departure is not yet known.
    unanswered: u64,
    /// Known times at which entries that have not been released become free, in order.
    leaving: VecDeque<Instant>,
    /// All known departures less all arrivals \[ps\].
    known_ps: i128,
}

impl Tracker {
    pub(super) const fn new(places: u64) -> Self {
        Self { places, taken: 0, unanswered: 0, leaving: VecDeque::new(), known_ps: 0 }
    }
    /// Whether there is a free entry.
    #[inline]
    pub(super) fn has_room(&mut self, now: Instant) -> bool {
        if self.taken == self.places {
            self.release(now);
        }
        self.taken < self.places
    }
    /// A request takes a place.
    #[inline]
    pub(super) fn take(&mut self, now: Instant) {
        self.taken += 1;
        self.unanswered += 1;
        self.known_ps -= i128::from(now.as_ps());
    }
    /// A request will leave its place.
    #[inline]
    pub(super) fn leave(&mut self, at: Instant) {
        self.unanswered -= 1;
        self.known_ps += i128::from(at.as_ps());
        // data buses do not report in the order of time, but nearly
        let mut place = self.leaving.len();
        self.leaving.push_back(at);
        while place > 0 && self.leaving[place - 1] > at {
            self.leaving.swap(place - 1, place);
            place -= 1;
        }
    }
    /// Releases the entries of requests that have left.
    pub(super) fn release(&mut self, now: Instant) {
        while self.leaving.front().is_some_and(|at| *at <= now) {
            self.leaving.pop_front();
            self.taken -= 1;
        }
    }
    /// When the next entry becomes free, if known.
    pub(super) fn next_free(&self) -> Option<Instant> {
        self.leaving.front().copied()
    }
    /// Entries in use at the last release.
    pub(super) const fn taken(&self) -> u64 {
        self.taken
    }
    pub(super) const fn places(&self) -> u64 {
        self.places
    }
    /// The integral of the entries in use up to `now`; later arrivals are not allowed \[requests · ps\].
    pub(super) fn integral_ps(&self, now: Instant) -> u128 {
        let inside = i128::from(self.unanswered) * i128::from(now.as_ps());
        let ahead: i128 = self.leaving.iter().map(|at| i128::from(at.since(now.min(*at)).as_ps())).sum();
        u128::try_from(self.known_ps + inside - ahead).expect("who has left had come")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_integral_is_exact_at_every_instant_whatever_is_known_ahead() {
        let ps = Instant::from_ps;
        let mut tracker = Tracker::new(2);
        tracker.take(ps(10));
        tracker.take(ps(14));
        assert_eq!((tracker.integral_ps(ps(14)), tracker.integral_ps(ps(20))), (4, 16));
        tracker.leave(ps(40));
        tracker.leave(ps(30));
        assert_eq!(tracker.integral_ps(ps(20)), 16);
        assert_eq!((tracker.integral_ps(ps(35)), tracker.integral_ps(ps(90))), (41, 46));
        assert!(!tracker.has_room(ps(29)) && tracker.has_room(ps(30)));
        assert_eq!((tracker.taken(), tracker.next_free()), (1, Some(ps(40))));
        tracker.release(ps(50));
        assert_eq!((tracker.taken(), tracker.next_free(), tracker.integral_ps(ps(99))), (0, None, 46));
    }
}
