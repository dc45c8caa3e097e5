//! Timing state of banks, bank groups and ranks: the earliest clock of the next command of each kind.

use super::queue::NONE;
use super::spec::Timings;

/// No row is open.
pub(super) const CLOSED: u32 = u32::MAX;
pub(super) const READ: usize = 0;
pub(super) const WRITE: usize = 1;

/// A bank, in a cache line of its own.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Bank {
    /// The open row, or [`CLOSED`].
    pub row: u32,
    /// Requests for the open row that have passed an older request for another row.
    pub passed: u32,
    /// Earliest clocks of an activate, of a read or write, and of a precharge.
    pub act: u64,
    pub cas: u64,
    pub pre: u64,
    /// Clock of the last read or write.
    pub used: u64,
    /// Clock of the last precharge command.
    pub closed: u64,
    /// Time that an unused row stays open.
    pub patience: u64,
    /// The row that was closed after its time without use, or [`CLOSED`].
    pub left: u32,
    /// How the next access is counted: 0 a hit, 1 a miss, 2 a conflict.
    pub why: u8,
    /// Slot of the request that is served next, in the queue of the direction being served.
    pub pick: u8,
}

impl Bank {
    pub const fn new(patience: u64) -> Self {
        Self {
            row: CLOSED,
            passed: 0,
            act: 0,
            cas: 0,
            pre: 0,
            used: 0,
            closed: 0,
            patience,
            left: CLOSED,
            why: 1,
            pick: NONE,
        }
    }
    /// Clock at which its row has been unused for long enough.
    pub fn unused(&self) -> u64 {
        self.pre.max(self.used + self.patience)
    }
}

/// A bank group. The sizes of groups and of ranks are powers of two, so that indexing needs no multiplication.
#[derive(Clone, Copy, Default, Debug)]
#[repr(align(32))]
pub(super) struct Group {
    pub cas: [u64; 2],
    pub act: u64,
}

/// A rank.
#[derive(Clone, Copy, Default, Debug)]
#[repr(align(128))]
pub(super) struct Rank {
    pub cas: [u64; 2],
    pub act: u64,
    pub pre: u64,
    /// When each of the last four activates leaves the tFAW window.
    window: [u64; 4],
    oldest: u8,
}

impl Rank {
    /// Notes an activate, or a command that counts as one.
    #[inline]
    pub fn activated(&mut self, t: &Timings, at: u64) {
        self.window[usize::from(self.oldest) % 4] = at + t.faw;
        self.oldest = (self.oldest + 1) % 4;
        self.act = self.act.max(at + t.rrd_s).max(self.window[usize::from(self.oldest) % 4]);
    }
}

/// Minimum distances between reads and writes \[clocks\], by the directions of the earlier and the later one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gates {
    /// From a read or write to the end of its data, and to a precharge of its bank.
    pub data: [u64; 2],
    pub precharge: [u64; 2],
    group: [[u64; 2]; 2],
    rank: [[u64; 2]; 2],
    other_ranks: [[u64; 2]; 2],
}

impl Gates {
    pub const fn new(t: &Timings) -> Self {
        let same = if t.ccd_s > t.burst { t.ccd_s } else { t.burst };
        let other = t.burst + t.rtrs;
        Self {
            data: [t.read(), t.write()],
            precharge: [t.rtp, t.write() + t.wr],
            group: [[t.ccd_l, 0], [t.write() + t.wtr_l, t.ccd_l_wr]],
            rank: [[same, t.read_to_write()], [t.write() + t.wtr_s, same]],
            other_ranks: [[other, t.read_to_write()], [(t.write() + t.rtrs).saturating_sub(t.cl), other]],
        }
    }

    /// From the last access in one direction to the first in the other, anywhere in a rank \[clocks\].
    pub fn between(&self, before: usize) -> u64 {
        self.rank[before][1 - before].max(self.group[before][1 - before])
    }

    /// Raises the earliest clocks of accesses after a read or write of a bank group.
    #[inline]
    pub fn accessed(&self, ranks: &mut [Rank], group: &mut Group, rank: usize, direction: usize, at: u64) {
        let raise = |gates: &mut [u64; 2], to: &[u64; 2]| {
            gates[READ] = gates[READ].max(at + to[READ]);
            gates[WRITE] = gates[WRITE].max(at + to[WRITE]);
        };
        raise(&mut group.cas, &self.group[direction]);
        if let [only] = ranks {
            raise(&mut only.cas, &self.rank[direction]);
            return;
        }
        for (n, gate) in ranks.iter_mut().enumerate() {
            raise(&mut gate.cas, &(if n == rank { self.rank } else { self.other_ranks })[direction]);
        }
    }
}
