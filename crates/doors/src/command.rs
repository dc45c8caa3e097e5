//! Commands from a door to a drive, and their outcomes.

/// Kind of command.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// Read.
    Read,
    /// Write.
    Write,
    /// Compare the stored data with those of the command. It takes as long as a read of the same blocks.
    Compare,
    /// Flush.
    Flush,
    /// Dataset Management: Deallocate.
    Deallocate,
    /// Write Zeroes.
    WriteZeroes,
}

/// A command without its data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Kind.
    pub kind: Kind,
    /// First byte.
    pub first: u64,
    /// Number of bytes; 0 for a flush, which applies to all.
    pub bytes: u32,
}

/// A request with everything that belongs to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Command {
    /// The request.
    pub request: Request,
    /// Force Unit Access: a write is not acknowledged before it survives a loss of power.
    pub fua: bool,
    /// Data to write or compare.
    pub data: Vec<u8>,
    /// By which connection it came; 0 where there is but one way in.
    pub asker: u32,
    /// Index of the drive, from 0, if several are served together.
    pub unit: u16,
}

impl Command {
    /// A read.
    #[must_use]
    pub const fn read(first: u64, bytes: u32) -> Self {
        Self::of(Kind::Read, first, bytes)
    }
    /// A write of this.
    #[must_use]
    pub fn write(first: u64, data: Vec<u8>) -> Self {
        let bytes = u32::try_from(data.len()).unwrap_or(u32::MAX);
        Self { data, ..Self::of(Kind::Write, first, bytes) }
    }
    /// A flush.
    #[must_use]
    pub const fn flush() -> Self {
        Self::of(Kind::Flush, 0, 0)
    }
    /// A request without data, or to which data are added.
    #[must_use]
    pub const fn of(kind: Kind, first: u64, bytes: u32) -> Self {
        Self { request: Request { kind, first, bytes }, fua: false, data: Vec::new(), asker: 0, unit: 0 }
    }
}

/// Outcome of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// Success.
    Well,
    /// Compare found something else (Compare Failure).
    Differs,
    /// The medium cannot give these bytes back (Unrecovered Read Error).
    ReadError,
    /// The medium did not take these bytes (Write Fault).
    WriteError,
    /// The drive has no room for these bytes (Capacity Exceeded).
    NoRoom,
    /// The drive refused it, or did not answer; whether it was executed is not known.
    Aborted,
    /// The power is off.
    NoPower,
}

impl Ended {
    /// Whether it succeeded.
    #[must_use]
    pub const fn is_well(self) -> bool {
        matches!(self, Self::Well)
    }
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Well => "ok",
            Self::Differs => "compare failure",
            Self::ReadError => "unrecovered read error",
            Self::WriteError => "write fault",
            Self::NoRoom => "capacity exceeded",
            Self::Aborted => "aborted",
            Self::NoPower => "no power",
        }
    }
}
