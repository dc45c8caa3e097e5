//! Requests to a drive, and how they end.

/// What a request asks for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Data are to be fetched; done when they are in the controller.
    Read,
    /// Data have arrived in the controller; done when they are acknowledged.
    Write,
    /// The host no longer needs the data (Dataset Management with Deallocate). Parts of a unit of 4 KiB are left alone.
    Trim,
    /// Done when every write acknowledged before survives a loss of power.
    Flush,
    /// Zeroes are to be written; unmaps whole units and writes the rest.
    WriteZeroes,
}

/// What a host's command is about, if a request is a part of it. Reading ahead tells sequences of commands by it,
/// whatever pieces a controller makes of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CommandExtent {
    /// The first byte of the command on the drive.
    pub first: u64,
    /// How many bytes the command is about.
    pub bytes: u64,
}

/// A request, at the time at which the controller hands it to the medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Comes back in [`Done`]; may be in use more than once.
    pub token: u32,
    /// What is asked for.
    pub kind: Kind,
    /// The first byte of it on the drive.
    pub first: u64,
    /// How many bytes; without meaning for a flush. Zero is done at once.
    pub bytes: u64,
    /// Whose it is: selects the write stream, and nothing else. Dies of one's own are a matter of addresses
    /// ([`Partition`](crate::config::Partition)).
    pub tenant: u16,
    /// The command that this is a part of; none if it is all of one. Parts may come in any order.
    pub part_of: Option<CommandExtent>,
}

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// It did what it asked for.
    Success,
    /// It reaches beyond the capacity; nothing was done.
    OutOfRange,
}

/// The end of a request. Its time is that of [`Drive::advance`](crate::Drive::advance).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Done {
    /// Which request.
    pub token: u32,
    /// How it ended.
    pub outcome: Outcome,
}

/// The end of a request, before it has passed the rest of the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Finish {
    /// When \[ps\].
    pub(crate) at: u64,
    pub(crate) token: u32,
    pub(crate) bytes: u64,
    pub(crate) kind: Kind,
}
