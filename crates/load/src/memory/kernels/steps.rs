//! Steps of a loop whose addresses are data: forward references and gathers, as they come about.

use super::walk::LINE;
use crate::memory::{Step, Touch};
use lanetwin_units::Span;

/// Writes steps, by the rule of [`super::walk`].
#[derive(Debug)]
pub(super) struct Writer<'a> {
    steps: &'a mut Vec<Step>,
    /// Computing time since the last step \[ps\].
    pub(super) computed_ps: u64,
}

impl<'a> Writer<'a> {
    pub(super) const fn new(steps: &'a mut Vec<Step>) -> Self {
        Self { steps, computed_ps: 0 }
    }
    /// A reference that moves forward touches an address; `last` is its last line. True if that is a step.
    pub(super) fn forward(
        &mut self,
        last: &mut Option<u64>,
        address: u64,
        touch: Touch,
        depends: bool,
    ) -> bool {
        let line = address / LINE;
        let is_new = last.is_none_or(|last| line > last);
        if is_new {
            *last = Some(line);
            self.step(address, touch, depends);
        }
        is_new
    }
    /// A step in any case.
    pub(super) fn step(&mut self, address: u64, touch: Touch, depends: bool) {
        let think = Span::from_ps(std::mem::take(&mut self.computed_ps));
        let address = address / LINE * LINE;
        self.steps.push(Step { think, address, touch, depends, ends: false, sets: false });
    }
    /// The last step ends an operation.
    pub(super) fn end(&mut self) {
        if let Some(last) = self.steps.last_mut() {
            last.ends = true;
        }
    }
}
