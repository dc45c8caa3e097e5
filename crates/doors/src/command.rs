//! What a door can ask of a drive, and how it ends.

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// Read.
    Read,
    /// Write.
    Write,
    /// Compare what is stored with what comes along. It takes as long as a read of the same blocks.
    Compare,
    /// Flush.
    Flush,
    /// Dataset Management: Deallocate.
    Deallocate,
    /// Write Zeroes.
    WriteZeroes,
}

/// What is asked for, without its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// What.
    pub kind: Kind,
    /// From this byte on.
    pub first: u64,
    /// So many bytes; 0 for a flush, which is about all.
    pub bytes: u32,
}

/// A request with everything that belongs to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Command {
    /// What is asked for.
    pub request: Request,
    /// Force Unit Access: a write is not acknowledged before it survives a loss of power.
    pub fua: bool,
    /// What is written or compared.
    pub data: Vec<u8>,
    /// By which connection it came; 0 where there is but one way in.
    pub asker: u32,
    /// Which of the drives that are served together is asked; 0 is the first.
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
    /// Something without data, or whose data are added.
    #[must_use]
    pub const fn of(kind: Kind, first: u64, bytes: u32) -> Self {
        Self { request: Request { kind, first, bytes }, fua: false, data: Vec::new(), asker: 0, unit: 0 }
    }
}

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// As asked.
    Well,
    /// Compare found something else (Compare Failure).
    Differs,
    /// The medium cannot give these bytes back (Unrecovered Read Error).
    ReadError,
    /// The medium did not take these bytes (Write Fault).
    WriteError,
    /// The drive has no room for these bytes (Capacity Exceeded).
    NoRoom,
    /// The drive refused it, or did not answer: what was asked is not known to be done.
    Aborted,
    /// The power is off.
    NoPower,
}

impl Ended {
    /// Whether it is as asked.
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
