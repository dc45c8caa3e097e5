//! Several equal servers with one queue, reported as a supply.

use lanetwin_kernel::{Supply, SupplyKind};
use lanetwin_units::{Instant, Span};

/// Servers, by the instant at which each will be free.
#[derive(Debug)]
pub(crate) struct Servers(lanetwin_stats::Servers);

impl Servers {
    /// `count` idle servers.
    pub(crate) fn new(count: u64) -> Self {
        Self(lanetwin_stats::Servers::new(count))
    }
    /// Joins the queue as its last at `now`, the present, to be served for `service`: the instant at which that begins.
    #[inline]
    pub(crate) fn serve(&mut self, now: Instant, service: Span) -> Instant {
        self.0.serve(now, service)
    }
    /// As [`Servers::serve`], of a customer that will be ready only at `ready`, not before `now`.
    #[inline]
    pub(crate) fn serve_later(&mut self, now: Instant, ready: Instant, service: Span) -> Instant {
        self.0.serve_later(now, ready, service)
    }
    /// The time that all servers together have been given work for.
    pub(crate) fn busy(&self) -> Span {
        self.0.busy()
    }
    /// Use of the servers up to `now`, the present.
    pub(crate) fn used(&self, now: Instant) -> Supply {
        Supply { in_use_ps: self.0.in_use_ps(now), supply: self.0.count(), kind: SupplyKind::Server }
    }
}
