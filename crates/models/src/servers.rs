//! Several equal servers with one queue, first come first served: engines, page walkers, cores.
//!
//! The time at which a customer will be served is known when it joins the queue, because nobody overtakes: no events are
//! needed, only the instants at which the servers will be free.

use lanetwin_units::{Instant, Span};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Servers, by the instant at which each will be free.
#[derive(Debug)]
pub(crate) struct Servers {
    free: BinaryHeap<Reverse<Instant>>,
    busy: Span,
}

impl Servers {
    /// `count` idle servers.
    pub(crate) fn new(count: u64) -> Self {
        Self { free: (0..count).map(|_| Reverse(Instant::ZERO)).collect(), busy: Span::ZERO }
    }
    /// Joins the queue as its last, ready at `ready`, to be served for `service`: the instant at which that begins.
    pub(crate) fn serve(&mut self, ready: Instant, service: Span) -> Instant {
        let Reverse(free) = self.free.pop().expect("there is at least one server");
        let start = ready.max(free);
        self.free.push(Reverse(start + service));
        self.busy += service;
        start
    }
    /// The time that all servers together have been given work for.
    pub(crate) fn busy(&self) -> Span {
        self.busy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
