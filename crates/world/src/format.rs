//! Formats of results: writers that receive every completed case and at the end add their output to the document.

use super::measure::Measured;
use lanetwin_plan::{Case, Variant, WorkloadPlan};
use lanetwin_stats::results::Results;

/// A case of which all repeats have run.
#[derive(Clone, Copy)]
pub(super) struct FinishedCase<'a> {
    pub variant: &'a Variant,
    pub workload: &'a WorkloadPlan,
    pub case: &'a Case,
    /// Results of each repeat; at least one.
    pub repeats: &'a [Measured],
}

/// Writes a run in one format.
pub(super) trait Writer {
    /// Adds a completed case; ignores cases of other kinds of workload.
    fn add(&mut self, ran: &FinishedCase<'_>);
    /// Adds the output to the document of a run of `variants` variants.
    fn finish(self: Box<Self>, variants: usize, results: &mut Results);
}

/// A format: creates an empty writer.
pub(super) type Format = fn() -> Box<dyn Writer>;
