//! Both ends of NVMe queues: the software of a host, and a controller.

pub use lanetwin_nvme::spec::admin::QueuePriority;
use lanetwin_nvme::spec::admin::{SanitizeAction, SecureErase};
use lanetwin_nvme::spec::{Nsid, Status};
use lanetwin_units::Instant;

/// What a path says on its block ports, as the handle of a signal: that nothing can be asked of it.
pub const PATH_LOST: u32 = 0;
/// What it says when it can be asked.
pub const PATH_WORKS: u32 = 1;

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
    /// Whether completions are polled for; if not, the drive interrupts.
    fn polls(&self) -> bool;
    /// Whether doorbells are shadowed in memory.
    fn shadows_doorbells(&self) -> bool;
    /// Where the tail doorbell of a submission queue is in the registers of the drive.
    fn tail_doorbell(&self, queue: u16) -> u32;
    /// Records from now on when each request is where, or stops recording.
    fn record(&mut self, on: bool);
    /// The requests that were answered since recording began, queue by queue; forgets them.
    fn take_record(&mut self) -> Vec<RequestRecord>;
}

/// A controller that takes commands from queues in host memory.
pub trait NvmeController {
    /// What a command that came in at a port, the first being 0, is called in [`CommandRecord::name`]: its driver calls
    /// it queue × 2^16 + command identifier.
    fn name_of(&self, port: u16, command: u32) -> u32;
    /// Records from now on when each command is where, or stops recording.
    fn record(&mut self, on: bool);
    /// The commands that ended since recording began, in the order of their ends; forgets them.
    fn take_record(&mut self) -> Vec<CommandRecord>;
}

/// When a link is down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outage {
    /// From then …
    pub from: Instant,
    /// … until then.
    pub until: Instant,
}

/// When a request was where, for a waterfall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestRecord {
    /// The asker's name for it.
    pub handle: u32,
    /// When it was asked for.
    pub asked: Instant,
    /// What the drive calls the command that ended last: queue × 2^16 + command identifier.
    pub command: u32,
    /// When the core began to submit it.
    pub begun: Instant,
    /// When it was submitted.
    pub submitted: Instant,
    /// When the core looked at its completion.
    pub looked: Instant,
    /// When the core took its completion up.
    pub completing: Instant,
    /// When the program knew.
    pub told: Instant,
}

/// When a command was where, for a waterfall. What a command had none of has the time of the stage before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommandRecord {
    /// What its TLPs are called on the link: [`NvmeController::name_of`].
    pub name: u32,
    /// What the TLPs of the fetch are called that brought its entry.
    pub fetch: u32,
    /// When the fetch was asked for.
    pub asked: Instant,
    /// When its entry had arrived.
    pub fetched: Instant,
    /// For a write: what the TLPs of its data are called, and when they were asked for.
    pub data: Option<(u32, Instant)>,
    /// When its data, the last of them, had arrived; `fetched`, if there are none.
    pub arrived: Instant,
    /// When a firmware engine took it up, or the last chunk of it.
    pub begun: Instant,
    /// When the engine was done with it.
    pub worked: Instant,
    /// When the medium was asked.
    pub submitted: Instant,
    /// When the medium was done.
    pub done: Instant,
    /// When its completion entry was made.
    pub answered: Instant,
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
