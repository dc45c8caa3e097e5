//! Steps of a loop whose addresses depend on data: references that move forward, and gathers.

use super::walk::LINE;
use crate::memory::{Step, Touch};
use lanetwin_units::Span;

/// Writes steps, following the rule in [`super::walk`].
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
    /// A reference that moves forward accesses an address; `last` is the last line that it touched. Returns whether the
    /// access is a step.
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
    /// An access that is always a step.
    pub(super) fn step(&mut self, address: u64, touch: Touch, depends: bool) {
        let think = Span::from_ps(std::mem::take(&mut self.computed_ps));
        let address = address / LINE * LINE;
        self.steps.push(Step { think, address, touch, depends, ends: false, sets: false });
    }
    /// Marks the last step as the end of an operation.
    pub(super) fn end(&mut self) {
        if let Some(last) = self.steps.last_mut() {
            last.ends = true;
        }
    }
}
