//! The progress of a claim, and whether to continue.

use serde::Serialize;
use std::ops::ControlFlow;

/// The progress of a claim.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Progress {
    /// The claim.
    pub claim: &'static str,
    /// Steps done.
    pub done: usize,
    /// Steps in total.
    pub total: usize,
}

/// Counts the steps of one claim.
pub(crate) struct Watch<'a> {
    claim: &'static str,
    done: usize,
    /// Steps in total, as given to the last [`step`](Self::step).
    total: usize,
    is_stopped: bool,
    tell: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(claim: &'static str, tell: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Self {
        Self { claim, done: 0, total: 0, is_stopped: false, tell }
    }
    /// Counts one of `total` steps; `None` if the claim has to stop.
    pub(crate) fn step(&mut self, total: usize) -> Option<()> {
        self.total = total;
        self.settled(1).continue_value()
    }
    /// Counts `steps` steps; the total is that of the last [`step`](Self::step). Breaks if the claim has to stop.
    pub(crate) fn settled(&mut self, steps: usize) -> ControlFlow<()> {
        self.done += steps;
        let told = (self.tell)(&Progress { claim: self.claim, done: self.done, total: self.total });
        self.is_stopped |= told.is_break();
        told
    }
    /// Whether the caller has stopped the claim.
    pub(crate) const fn is_stopped(&self) -> bool {
        self.is_stopped
    }
}
