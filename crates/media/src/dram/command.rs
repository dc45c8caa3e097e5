//! What a memory is asked for and answers, and the commands and counts that this takes.

use lanetwin_units::Instant;

/// A request for one line of 64 B.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// The asker's name for it.
    pub token: u32,
    /// Read or write.
    pub operation: Operation,
    /// Where \[B\], from the start of the memory.
    pub address: u64,
}

/// Read or write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Operation {
    /// Out of the memory.
    Read,
    /// Into the memory.
    Write,
}

/// An answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Done {
    /// The asker's name for the request.
    pub token: u32,
    /// When: for a read, when its last beat is out. It can be later than the time at which it is told.
    pub at: Instant,
    /// What came before its read command: [`Machine::read_steps`](super::Machine::read_steps) tells.
    pub before: Before,
}

/// How long before a read command its row was opened, and how long before that the row in its way was closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Before {
    /// \[clocks\]; [`Before::LONG`] for as many or more, 0 if there was no read command.
    pub(super) opened: u16,
    /// Before that \[clocks\]; [`Before::LONG`] for as many or more, or if none was.
    pub(super) closed: u16,
}

impl Before {
    /// No read waits for so long for a row that is being opened.
    pub(super) const LONG: u16 = u16::MAX;
    /// The array was not read.
    pub const NO_READ: Self = Self { opened: 0, closed: 0 };

    /// Of a read command, where a row was opened and before that one closed at these clocks.
    #[inline]
    pub(super) fn a_read(column: u64, opened: u64, closed: u64) -> Self {
        let clocks = |from: u64, to: u64| u16::try_from(to - from).unwrap_or(Self::LONG);
        let closed = if closed == 0 { Self::LONG } else { clocks(closed, opened) };
        Self { opened: clocks(opened, column), closed }
    }
}

/// What became of an offer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offer {
    /// It is taken.
    Accepted,
    /// There is no room: offer it again when something has been answered.
    Full,
    /// The address is beyond the capacity.
    Beyond,
}

/// What a memory has done.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counters {
    /// Reads and writes of the array.
    pub accesses: [u64; 2],
    /// Accesses that found their row open, that found none open, that found another open.
    pub rows: [u64; 3],
    /// Activates.
    pub activates: u64,
    /// Precharge commands, automatic ones included.
    pub precharges: u64,
    /// Refresh commands.
    pub refreshes: u64,
    /// Changes between reads and writes.
    pub turnarounds: u64,
    /// Reads answered from the write queue.
    pub forwarded: u64,
    /// Writes that replaced one in the write queue.
    pub merged: u64,
}

/// A command, as it was issued.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Command {
    /// Its last clock.
    pub clock: u64,
    /// The data bus.
    pub bus: u32,
    /// What.
    pub kind: CommandKind,
    /// The banks that it is about, among all ranks of its bus: one bit each.
    pub banks: u64,
    /// The row; 0 where none is meant.
    pub row: u32,
}

/// What a command does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommandKind {
    /// ACT: opens a row.
    Activate,
    /// RD.
    Read,
    /// WR.
    Write,
    /// RDA: reads, and precharges by itself.
    ReadClose,
    /// WRA: writes, and precharges by itself.
    WriteClose,
    /// PRE of one bank.
    Precharge,
    /// PRE of all banks that the next refresh is about.
    PrechargeAll,
    /// REF: of all banks of a rank, or of one bank of every group.
    Refresh,
}

/// What several have done together.
pub(super) fn sum(each: impl Iterator<Item = Counters>) -> Counters {
    let mut sum = Counters::default();
    for c in each {
        (0..2).for_each(|n| sum.accesses[n] += c.accesses[n]);
        (0..3).for_each(|n| sum.rows[n] += c.rows[n]);
        sum.activates += c.activates;
        sum.precharges += c.precharges;
        sum.refreshes += c.refreshes;
        sum.turnarounds += c.turnarounds;
        sum.forwarded += c.forwarded;
        sum.merged += c.merged;
    }
    sum
}
