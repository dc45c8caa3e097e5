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
    tell: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(claim: &'static str, tell: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Self {
        Self { claim, done: 0, tell }
    }
    /// One more of `total` steps is done; none if the claim shall end here.
    pub(crate) fn step(&mut self, total: usize) -> Option<()> {
        self.done += 1;
        (self.tell)(&Progress { claim: self.claim, done: self.done, total }).continue_value()
    }
}
