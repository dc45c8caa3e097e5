//! Requests to a memory and their answers, and the commands and counters that result.

use lanetwin_units::Instant;

/// A request for one line of 64 B.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// The caller's token for it.
    pub token: u32,
    /// Read or write.
    pub operation: Operation,
    /// Address from the start of the memory \[B\].
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
    /// The caller's token for the request.
    pub token: u32,
    /// When it is complete: for a read, the end of its last beat. It can be later than the time at which it is
    /// reported.
    pub at: Instant,
    /// Commands before its read command, for [`Machine::read_steps`](super::Machine::read_steps).
    pub before: Before,
}

/// Clocks between a read command and the activate before it, and between that and the precharge before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Before {
    /// \[clocks\]; [`Before::LONG`] for as many or more, 0 if there was no read command.
    pub(super) opened: u16,
    /// Before that \[clocks\]; [`Before::LONG`] for as many or more, or if none was.
    pub(super) closed: u16,
}

impl Before {
    /// Clocks at which the count saturates; no read waits this long for a row that is being opened.
    pub(super) const LONG: u16 = u16::MAX;
    /// The array was not read.
    pub const NO_READ: Self = Self { opened: 0, closed: 0 };

    /// Of a read command at `column`, with the clocks of the activate and of the precharge before it.
    #[inline]
    pub(super) fn a_read(column: u64, opened: u64, closed: u64) -> Self {
        let clocks = |from: u64, to: u64| u16::try_from(to - from).unwrap_or(Self::LONG);
        let closed = if closed == 0 { Self::LONG } else { clocks(closed, opened) };
        Self { opened: clocks(opened, column), closed }
    }
}

/// Result of an offer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offer {
    /// The request is accepted.
    Accepted,
    /// There is no room: offer it again after an answer.
    Full,
    /// The address is beyond the capacity.
    Beyond,
}

/// Counters of a memory.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counters {
    /// Reads and writes of the array.
    pub accesses: [u64; 2],
    /// Accesses that found their row open, no row open, and another row open.
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

/// Use of data buses, summed over them \[ps\].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct BusUse {
    /// Time that they carried data.
    pub busy_ps: u64,
    /// Time that they did not, although data of a waiting request could have been there by then if nothing had held it
    /// up: refreshes, rows to be opened, turns between reads and writes, gaps between ranks.
    pub lost_ps: u64,
}

impl BusUse {
    pub(super) const fn and(self, other: Self) -> Self {
        Self { busy_ps: self.busy_ps + other.busy_ps, lost_ps: self.lost_ps + other.lost_ps }
    }
}

/// An issued command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Command {
    /// Its last clock.
    pub clock: u64,
    /// The data bus.
    pub bus: u32,
    /// The kind of command.
    pub kind: CommandKind,
    /// The banks that it applies to, among all ranks of its bus: one bit each.
    pub banks: u64,
    /// The row; 0 for commands without a row.
    pub row: u32,
}

/// Kind of command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommandKind {
    /// ACT: opens a row.
    Activate,
    /// RD.
    Read,
    /// WR.
    Write,
    /// RDA: read with auto-precharge.
    ReadClose,
    /// WRA: write with auto-precharge.
    WriteClose,
    /// PRE of one bank.
    Precharge,
    /// PRE of all banks of the next refresh.
    PrechargeAll,
    /// REF: of all banks of a rank, or of one bank of every group.
    Refresh,
}

impl std::iter::Sum for Counters {
    fn sum<I: Iterator<Item = Self>>(each: I) -> Self {
        let mut sum = Self::default();
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
}
