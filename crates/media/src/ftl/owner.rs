//! Owners of operations of the machine.

/// Owner of an operation of the machine: four bits of kind, the rest an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Owner {
    /// A read of a request.
    Read(u32),
    /// The read of a translation page: for a request.
    Translation(u32),
    /// A read of GC, by [`Write`](super::Write) record, which has the units.
    Collect(u32),
    /// A program or an erase, by [`Write`](super::Write) record.
    Write(u32),
    /// Notice that the data of a program are in the registers of its die, by [`Write`](super::Write) record.
    Loaded(u32),
    /// A read ahead, by entry.
    Ahead(u32),
    /// No owner: nothing waits for it.
    Nobody,
}

impl Owner {
    pub(super) const fn pack(self) -> u32 {
        match self {
            Self::Read(index) => index,
            Self::Translation(index) => 1 << 28 | index,
            Self::Collect(index) => 2 << 28 | index,
            Self::Write(index) => 3 << 28 | index,
            Self::Ahead(index) => 4 << 28 | index,
            Self::Nobody => 5 << 28,
            Self::Loaded(index) => 6 << 28 | index,
        }
    }
    pub(super) const fn unpack(word: u32) -> Self {
        let index = word & ((1 << 28) - 1);
        match word >> 28 {
            0 => Self::Read(index),
            1 => Self::Translation(index),
            2 => Self::Collect(index),
            3 => Self::Write(index),
            4 => Self::Ahead(index),
            6 => Self::Loaded(index),
            _ => Self::Nobody,
        }
    }
}
