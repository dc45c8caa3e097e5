//! How far a claim is, and whether to go on.

use serde::Serialize;
use std::ops::ControlFlow;

/// How far a claim is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Progress {
    /// The claim.
    pub claim: &'static str,
    /// Steps done.
    pub done: usize,
    /// Steps in all.
    pub total: usize,
}

/// Counts the steps of one claim.
pub(crate) struct Watch<'a> {
    claim: &'static str,
    done: usize,
    /// As the last step has said.
    total: usize,
    is_stopped: bool,
    tell: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(claim: &'static str, tell: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Self {
        Self { claim, done: 0, total: 0, is_stopped: false, tell }
    }
    /// One more of `total` steps is done; none if the claim shall end here.
    pub(crate) fn step(&mut self, total: usize) -> Option<()> {
        self.total = total;
        self.settled(1).continue_value()
    }
    /// Some more of the steps that the last one has said are done; breaks if the claim shall end here.
    pub(crate) fn settled(&mut self, steps: usize) -> ControlFlow<()> {
        self.done += steps;
        let told = (self.tell)(&Progress { claim: self.claim, done: self.done, total: self.total });
        self.is_stopped |= told.is_break();
        told
    }
    /// Whether somebody has asked for an end.
    pub(crate) const fn is_stopped(&self) -> bool {
        self.is_stopped
    }
}
