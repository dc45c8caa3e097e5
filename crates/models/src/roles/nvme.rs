//! The host's end of NVMe queues: the software that submits commands.

pub use lanetwin_nvme::spec::admin::QueuePriority;
use lanetwin_nvme::spec::admin::{SanitizeAction, SecureErase};
use lanetwin_nvme::spec::{Nsid, Status};
use lanetwin_units::Instant;

/// What a path says on its block ports, as the handle of a signal: that nothing can be asked of it.
pub const PATH_LOST: u32 = 0;
/// What it says when it can be asked.
pub const PATH_WORKS: u32 = 1;
/// What it says of the state of Asymmetric Namespace Access that it has now: optimized.
pub const PATH_OPTIMIZED: u32 = 2;
/// The same: non-optimized.
pub const PATH_NON_OPTIMIZED: u32 = 3;
/// The same: inaccessible.
pub const PATH_INACCESSIBLE: u32 = 4;
/// What it says when it is not to be waited for: it was lost for too long.
pub const PATH_EXPIRED: u32 = 5;

/// The software of a host that submits commands to a drive.
pub trait NvmeHost {
    /// Says which class the queue of each load is of; those that are left out are medium. To be said before the run
    /// starts.
    fn prioritise(&mut self, priorities: &[QueuePriority]);
    /// Makes it one of several paths; the link that it leads over is down then. To be said before the run starts.
    fn become_path(&mut self, outages: Vec<Outage>);
    /// Schedules a command; returns the number of its answer. To be called before the run starts.
    fn schedule_command(&mut self, at: Instant, ask: ScheduledCommand) -> usize;
    /// The answer to each scheduled command, in the order of scheduling.
    fn answers(&self) -> Vec<Answer>;
    /// Whether a scheduled command has no answer yet, or has begun an operation that has not ended.
    fn has_scheduled(&self) -> bool;
}

/// When a link is down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outage {
    /// From then …
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
    /// Of which namespace.
    pub nsid: Nsid,
    /// The first byte.
    pub first: u64,
    /// How many bytes.
    pub bytes: u64,
}

/// What has become of something that was asked.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// When it was to be asked.
    pub at: Instant,
    /// When it was submitted; none if the controller was not ready since.
    pub submitted: Option<Instant>,
    /// When its completion was known.
    pub ended: Option<Instant>,
    /// How it ended; none if it has not.
    pub status: Option<Status>,
    /// Whether the path was lost before a completion came.
    pub lost: bool,
    /// When the host knew that the operation had ended that the command had only begun, and whether it was successful:
    /// of a sanitize.
    pub finished: Option<(Instant, bool)>,
    /// What came with it: the log.
    pub content: Vec<u8>,
}
