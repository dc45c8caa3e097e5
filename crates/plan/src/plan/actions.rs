//! Commands that a workload issues at given times.

use lanetwin_models::roles::nvme::ScheduledCommand;
use lanetwin_units::Span;

/// A command at a given time.
#[derive(Clone, PartialEq, Debug)]
pub struct ActionPlan {
    /// Time from the start of the run.
    pub at: Span,
    /// Its name in the scenario.
    pub name: &'static str,
    /// The command.
    pub ask: ScheduledCommand,
    /// Index in the machine of the host that issues it.
    pub host: usize,
    /// Index in the machine of the drive that receives it.
    pub drive: usize,
}
