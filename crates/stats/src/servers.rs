//! Several equal servers with one queue, first come first served: engines, page walkers, cores.
//!
//! The queue is first come, first served, so the start of a service is known when the customer joins: no events are
//! needed, only the times at which the servers become free.

use lanetwin_units::{Instant, Span};
use std::collections::VecDeque;

/// Servers, by the time at which each becomes free.
#[derive(Debug)]
pub struct Servers {
    /// In the order of time: a service that begins last mostly also ends last.
    free: VecDeque<Instant>,
    busy_ps: u128,
    /// Start and end of services that may lie in the future, at least in part.
    ahead: VecDeque<(Instant, Instant)>,
}

impl Servers {
    /// `count` idle servers.
    #[must_use]
    pub fn new(count: u64) -> Self {
        let free = (0..count).map(|_| Instant::ZERO).collect();
        Self { free, busy_ps: 0, ahead: VecDeque::new() }
    }
    /// Adds a customer to the queue at `now`, the present, for a service of length `service`; returns the start of the
    /// service.
    #[inline]
    pub fn serve(&mut self, now: Instant, service: Span) -> Instant {
        self.serve_later(now, now, service)
    }
    /// As [`Servers::serve`], for a customer that becomes ready only at `ready`, not before `now`.
    ///
    /// # Panics
    /// If there are no servers.
    #[inline]
    pub fn serve_later(&mut self, now: Instant, ready: Instant, service: Span) -> Instant {
        let first = *self.free.front().expect("there is at least one server");
        let start = ready.max(first);
        let end = start + service;
        self.first_is_free_at(end);
        if service > Span::ZERO {
            self.busy_ps += u128::from(service.as_ps());
            // drops past services instead of growing the queue
            if self.ahead.len() == self.ahead.capacity() {
                let past = self.ahead.iter().take_while(|ahead| ahead.1 <= now).count();
                self.ahead.drain(..past);
            }
            self.ahead.push_back((start, end));
        }
        start
    }
    /// Gives the server that becomes free first work up to `end`.
    #[inline]
    fn first_is_free_at(&mut self, end: Instant) {
        if self.free.len() == 1 {
            self.free[0] = end;
            return;
        }
        self.free.pop_front();
        let mut place = self.free.len();
        while place > 0 && self.free[place - 1] > end {
            place -= 1;
        }
        self.free.insert(place, end);
    }
    /// Total service time that was given to all servers.
    #[must_use]
    pub fn busy(&self) -> Span {
        Span::from_ps(u64::try_from(self.busy_ps).unwrap_or(u64::MAX))
    }
    /// Use of the servers up to `now`, the present: the integral over time of the number of busy servers \[number ·
    /// ps\].
    #[must_use]
    pub fn in_use_ps(&self, now: Instant) -> u128 {
        let to_come = |&(start, end): &(Instant, Instant)| u128::from(end.since(start.max(now)).as_ps());
        self.busy_ps - self.ahead.iter().map(to_come).sum::<u128>()
    }
    /// Number of servers.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.free.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn the_next_customer_waits_for_the_first_server_that_is_free() {
        let mut pair = Servers::new(2);
        let ps = Instant::from_ps;
        assert_eq!(pair.serve(ps(0), Span::from_ps(10)), ps(0));
        assert_eq!(pair.serve(ps(1), Span::from_ps(3)), ps(1));
        assert_eq!(pair.serve(ps(2), Span::from_ps(3)), ps(4));
        assert_eq!(pair.serve(ps(2), Span::from_ps(3)), ps(7));
        assert_eq!(pair.serve(ps(99), Span::from_ps(1)), ps(99));
        assert_eq!(pair.busy(), Span::from_ps(20));
    }

    /// The integral is what counting the busy servers picosecond by picosecond gives, at every instant from the last
    /// customer on.
    #[test]
    fn use_is_counted_up_to_the_present_and_no_further() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut below = |bound: u64| random.next_u64() % bound;
        for count in 1..=3 {
            let mut servers = Servers::new(count);
            assert_eq!(servers.count(), count);
            let (mut now, mut served) = (0, Vec::new());
            for _ in 0..200 {
                let (lead, service) = (below(8), below(12));
                let ready = Instant::from_ps(now + lead);
                let start = servers.serve_later(Instant::from_ps(now), ready, Span::from_ps(service)).as_ps();
                served.push((start, start + service));
                let next = now + below(9);
                for instant in now..=next {
                    let counted: u64 =
                        served.iter().map(|&(from, to)| to.min(instant).saturating_sub(from)).sum();
                    assert_eq!(servers.in_use_ps(Instant::from_ps(instant)), u128::from(counted));
                }
                now = next;
            }
            assert!(servers.ahead.len() < 200, "what is past is forgotten");
        }
    }
}
