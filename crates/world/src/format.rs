//! What a format of results is: a writer that is told every case that has run whole, and adds what it has in the end.

use super::measure::Measured;
use lanetwin_plan::{Case, Variant, WorkloadPlan};
use lanetwin_stats::results::Results;

/// A case that has run whole.
#[derive(Clone, Copy)]
pub(super) struct FinishedCase<'a> {
    pub variant: &'a Variant,
    pub workload: &'a WorkloadPlan,
    pub case: &'a Case,
    /// What each repeat has shown; at least one.
    pub repeats: &'a [Measured],
}

/// What a format makes of a run.
pub(super) trait Writer {
    /// Another case has run; cases of other kinds of workload are passed over.
    fn add(&mut self, ran: &FinishedCase<'_>);
    /// Adds what it has to the document of a run of so many variants.
    fn finish(self: Box<Self>, variants: usize, results: &mut Results);
}

/// A format: begins a writer with nothing in it.
pub(super) type Format = fn() -> Box<dyn Writer>;
