//! Idle times of the host.

use crate::timers::NEVER;
use lanetwin_units::Span;

/// Detects that the host has been idle for long enough to fold the cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Idle {
    /// Idle time before folding \[ps\]; [`NEVER`] if idle time is not used.
    after: u64,
    /// When folding begins without another request \[ps\]; [`NEVER`] while requests are in progress, or if it has
    /// begun.
    pub(super) begins: u64,
    /// Whether folding has begun.
    pub(super) folds: bool,
}

impl Idle {
    pub(super) fn new(after: Option<Span>) -> Self {
        Self { after: after.map_or(NEVER, Span::as_ps), begins: NEVER, folds: false }
    }

    /// Whether idle time is used.
    #[inline]
    pub(super) const fn is_used(&self) -> bool {
        self.after != NEVER
    }

    /// Begins an idle time when the last request has ended.
    #[inline]
    pub(super) const fn begin(&mut self, at: u64) {
        self.begins = at.saturating_add(self.after);
    }

    /// Ends an idle time at a new request.
    #[inline]
    pub(super) const fn end(&mut self) {
        (self.begins, self.folds) = (NEVER, false);
    }
}
