//! When the host asks for nothing.

use crate::timers::NEVER;
use lanetwin_units::Span;

/// When the host has asked for nothing for so long that the cache is folded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Idle {
    /// How long \[ps\]; [`NEVER`] if idle time is not used.
    after: u64,
    /// When folding begins if nothing is asked for until then \[ps\]; [`NEVER`] while something is, or if it has begun.
    pub(super) begins: u64,
    /// Whether it has begun.
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

    /// The last request has ended.
    #[inline]
    pub(super) const fn begin(&mut self, at: u64) {
        self.begins = at.saturating_add(self.after);
    }

    /// Something is asked for.
    #[inline]
    pub(super) const fn end(&mut self) {
        (self.begins, self.folds) = (NEVER, false);
    }
}
