//! The host's end of NVMe queues: the software that submits commands.

pub use lanetwin_nvme::spec::admin::QueuePriority;
use lanetwin_nvme::spec::admin::{SanitizeAction, SecureErase};
use lanetwin_nvme::spec::{Nsid, Status};
use lanetwin_units::Instant;

/// Handle of a signal on a path's block ports: the path is lost.
pub const PATH_LOST: u32 = 0;
/// The path works.
pub const PATH_WORKS: u32 = 1;
/// The path's present state of Asymmetric Namespace Access: optimized.
pub const PATH_OPTIMIZED: u32 = 2;
/// The same: non-optimized.
pub const PATH_NON_OPTIMIZED: u32 = 3;
/// The same: inaccessible.
pub const PATH_INACCESSIBLE: u32 = 4;
/// The path has been lost for too long; requests should not wait for it.
pub const PATH_EXPIRED: u32 = 5;

/// The software of a host that submits commands to a drive.
pub trait NvmeHost {
    /// Sets the priority of each load's queue; queues without one are medium. Must be called before the run starts.
    fn prioritise(&mut self, priorities: &[QueuePriority]);
    /// Makes the driver one of several paths, with these outages of its link. Must be called before the run starts.
    fn become_path(&mut self, outages: Vec<Outage>);
    /// Schedules a command; returns the number of its answer. To be called before the run starts.
    fn schedule_command(&mut self, at: Instant, ask: ScheduledCommand) -> usize;
    /// The answer to each scheduled command, in the order of scheduling.
    fn answers(&self) -> Vec<Answer>;
    /// Whether a scheduled command has no answer yet, or has begun an operation that has not ended.
    fn has_scheduled(&self) -> bool;
}

/// An outage of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outage {
    /// Begin.
    pub from: Instant,
    /// … until then.
    pub until: Instant,
}

/// A command that a workload schedules beside its requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScheduledCommand {
    /// Get Log Page: SMART / Health Information.
    SmartLog,
    /// Get Log Page: Error Information.
    ErrorLog,
    /// Get Log Page: Sanitize Status.
    SanitizeLog,
    /// Get Log Page: Telemetry Host-Initiated, with Create Telemetry Host-Initiated Data.
    TelemetryLog,
    /// Format NVM, in the format that the namespace has.
    Format(Nsid, SecureErase),
    /// Sanitize.
    Sanitize(SanitizeAction),
    /// Compare: all of these blocks.
    Compare(Blocks),
    /// Write Zeroes.
    WriteZeroes(Blocks),
    /// Dataset Management: Deallocate.
    Deallocate(Blocks),
    /// Flush.
    Flush(Nsid),
}

/// A range of a namespace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blocks {
    /// Namespace.
    pub nsid: Nsid,
    /// The first byte.
    pub first: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// The result of a scheduled command.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// Scheduled time.
    pub at: Instant,
    /// When it was submitted; `None` if the controller has not been ready since.
    pub submitted: Option<Instant>,
    /// When the host noticed its completion.
    pub ended: Option<Instant>,
    /// Its status; `None` if it has not completed.
    pub status: Option<Status>,
    /// Whether the path was lost before its completion.
    pub lost: bool,
    /// For a command that only begins an operation, a sanitize: when the host knew that the operation had ended, and
    /// whether it was successful.
    pub finished: Option<(Instant, bool)>,
    /// Data returned: the log.
    pub content: Vec<u8>,
}
