//! Requests to a drive, and their outcomes.

/// Kind of request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Fetch data; ends when they are in the controller.
    Read,
    /// Write data that have arrived in the controller; ends when they are acknowledged.
    Write,
    /// Discard data (Dataset Management with Deallocate). Parts of a unit of 4 KiB are left alone.
    Trim,
    /// Flush; ends when every write acknowledged before survives a loss of power.
    Flush,
    /// Write zeroes; unmaps whole units and writes the rest.
    WriteZeroes,
}

/// The range of the host's command, if a request is a part of one. Reading ahead uses it to detect sequences of
/// commands, however a controller divides them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CommandExtent {
    /// The first byte of the command on the drive.
    pub first: u64,
    /// Number of bytes of the command.
    pub bytes: u64,
}

/// A request, at the time at which the controller hands it to the medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Returned in [`Done`]; may be in use more than once.
    pub token: u32,
    /// Kind of request.
    pub kind: Kind,
    /// First byte on the drive.
    pub first: u64,
    /// Number of bytes; ignored for a flush. A request of zero bytes ends at once.
    pub bytes: u64,
    /// Tenant, which only selects the write stream. Dies of a tenant's own follow from addresses
    /// ([`Partition`](crate::config::Partition)).
    pub tenant: u16,
    /// The range of the command that this is a part of; `None` if it is a whole command. Parts may come in any order.
    pub part_of: Option<CommandExtent>,
}

/// Outcome of a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// Success.
    Success,
    /// It exceeds the capacity; nothing was done.
    OutOfRange,
}

/// The end of a request. Its time is that of [`Drive::advance`](crate::Drive::advance).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Done {
    /// Token of the request.
    pub token: u32,
    /// Outcome.
    pub outcome: Outcome,
}

/// The end of a request in the medium, before the rest of the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Finish {
    /// Time \[ps\].
    pub(crate) at: u64,
    pub(crate) token: u32,
    pub(crate) bytes: u64,
    pub(crate) kind: Kind,
}
