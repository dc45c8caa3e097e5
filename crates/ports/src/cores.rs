//! CPU time shared by everything that runs on the same cores.
//!
//! ```text
//!  driver of drive 1 ─ queue pair 1 ─┬─► core 0   what is asked for first is done first
//!  driver of drive 2 ─ queue pair 1 ─┘
//!  driver of drive 2 ─ queue pair 2 ───► core 1
//! ```
//!
//! Components that share a core hold the same [`RunQueue`] and call it directly. Work is served in the order of
//! requests, so that its start is known at the request and no message has to come back. Requests come in the order in
//! which the kernel runs components, a function of time stamps and paths: neither slices nor the order of
//! construction have an effect.

use lanetwin_kernel::{Supply, SupplyKind};
use lanetwin_stats::Servers;
use lanetwin_units::{Instant, Span};
use std::cell::RefCell;
use std::rc::Rc;

/// Cores with one queue of work. Clones are the same cores.
#[derive(Clone, Debug)]
pub struct RunQueue(Rc<RefCell<Servers>>);

impl RunQueue {
    /// `cores` idle cores, at least one.
    #[must_use]
    pub fn new(cores: u64) -> Self {
        Self(Rc::new(RefCell::new(Servers::new(cores.max(1)))))
    }
    /// Asks at `now`, the present, for so much CPU time: the instant at which it begins.
    #[inline]
    pub fn serve(&self, now: Instant, service: Span) -> Instant {
        self.0.borrow_mut().serve(now, service)
    }
    /// Whether both are the same cores.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
    /// CPU time requested so far.
    #[must_use]
    pub fn busy(&self) -> Span {
        self.0.borrow().busy()
    }
    /// Use of the cores up to `now`, the present.
    #[must_use]
    pub fn used(&self, now: Instant) -> Supply {
        let cores = self.0.borrow();
        Supply { in_use_ps: cores.in_use_ps(now), supply: cores.count(), kind: SupplyKind::Server }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_holds_the_same_core_waits_for_the_other() {
        let ns = |ns| Instant::ZERO + Span::from_ns(ns);
        let (a, c) = (RunQueue::new(1), RunQueue::new(1));
        let b = a.clone();
        let work = Span::from_ns(30);
        assert_eq!(
            [a.serve(ns(0), work), b.serve(ns(10), work), c.serve(ns(10), work)],
            [ns(0), ns(30), ns(10)]
        );
        assert_eq!((a.busy(), c.busy()), (Span::from_ns(60), Span::from_ns(30)));
        assert_eq!(b.used(ns(45)).in_use_ps, 45_000);
    }
}
