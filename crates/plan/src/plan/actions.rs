//! Commands that a workload asks for at given times.

use lanetwin_models::roles::nvme::ScheduledCommand;
use lanetwin_units::Span;

/// A command at a time.
#[derive(Clone, PartialEq, Debug)]
pub struct ActionPlan {
    /// When, from the start of the run on.
    pub at: Span,
    /// What it is called in the scenario.
    pub name: &'static str,
    /// What is asked.
    pub ask: ScheduledCommand,
    /// The host that asks: its place in the machine.
    pub host: usize,
    /// The drive that is asked.
    pub drive: usize,
}
