//! Configuration of a drive, with a check that reports all mistakes.

mod allocation;
mod check;
mod cross_point;
mod ftl;
mod nand;
mod presets;
mod unit;

use core::fmt;
use lanetwin_units::{Bytes, Span, Spread};

pub use allocation::{Allocation, Level, Order};
pub use cross_point::CrossPoint;
pub use ftl::{
    Ftl, Initial, MappingTable, Partition, ReadAhead, SlcCache, Victim, Watermarks, WearLevelling,
};
pub use nand::{Bus, CellType, Geometry, Nand, Overheads, Program, Rules, Suspend, Timing};
pub use unit::UNIT;

/// Configuration of a drive.
#[derive(Clone, PartialEq, Debug)]
pub struct DriveConfig {
    /// Capacity visible to the host; a multiple of [`UNIT`].
    pub capacity: Bytes,
    /// The medium.
    pub medium: Medium,
    /// Variation of the times of array operations about their means.
    pub spread: Spread,
    /// The write buffer.
    pub buffer: WriteBuffer,
    /// Encryption of all data, if there is any.
    pub encryption: Option<Encryption>,
    /// Energy of operations.
    pub energy: Energy,
}

/// The medium.
#[derive(Clone, PartialEq, Debug)]
pub enum Medium {
    /// NAND flash behind an FTL.
    Nand(Box<Nand>, Box<Ftl>),
    /// A medium that is written in place.
    CrossPoint(CrossPoint),
}

/// When the data of a program release their room in the write buffer.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Frees {
    /// When they are in the registers of the die: parity across dies, or nothing, covers a failed program.
    Loaded,
    /// When their program has ended, since until then the controller may have to write them elsewhere. This also
    /// holds for a medium that is written in place, and for [`Rules::Mqsim`].
    #[default]
    Programmed,
}

/// The write buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WriteBuffer {
    /// Capacity. A larger request is taken in pieces.
    pub capacity: Bytes,
    /// When the data of a program release their room.
    pub frees: Frees,
    /// Whether the data survive a loss of power. If so, a write is acknowledged when it is in the buffer; if not, when
    /// it is on the medium, unless `volatile_cache` is set.
    pub power_loss_protected: bool,
    /// Acknowledge from a buffer that does not survive a loss of power (a client drive's volatile write cache); Flush
    /// then waits for the medium.
    pub volatile_cache: bool,
    /// Time from the arrival of data to their acknowledgement, and from a hit to the data.
    pub latency: Span,
}

impl WriteBuffer {
    /// Whether a write is acknowledged from the buffer.
    #[must_use]
    pub const fn acknowledges(&self) -> bool {
        self.power_loss_protected || self.volatile_cache
    }
}

/// Encryption in the data path: a pipeline with a latency, and a rate that bounds all traffic together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Encryption {
    /// Additional latency of each request.
    pub latency: Span,
    /// Throughput of the engine \[B/s\].
    pub bytes_per_second: u64,
}

/// Energy of operations \[pJ\] and power \[mW\].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Energy {
    /// A page read of one plane \[pJ\].
    pub read: u64,
    /// A page program of one plane \[pJ\].
    pub program: u64,
    /// A block erase of one plane \[pJ\].
    pub erase: u64,
    /// A byte on a flash bus \[pJ\].
    pub bus_byte: u64,
    /// A byte through the controller, between link and buffer \[pJ\].
    pub host_byte: u64,
    /// Power when idle \[mW\].
    pub idle_milliwatts: u64,
    /// Limit of the mean power \[mW\], more than the idle power: that of the form factor or of the power state.
    /// `None` without a limit.
    pub limit_milliwatts: Option<u64>,
}

impl Energy {
    /// A TLC drive; every figure is assumed. At 2.5 V a die draws 25 mA while one plane reads and 50 mA while several
    /// planes are programmed or erased at once, the typical and the largest current of ONFI data sheets: 3 µJ a page
    /// read of 45 µs, 20 µJ a page if 12 (three of each of four planes) are programmed in 2 ms, 125 µJ a block if those
    /// of four planes are erased in 4 ms. 40 pJ and 100 pJ a byte on flash bus and through the controller, 5 W idle, no
    /// limit.
    pub const TLC: Self = Self {
        read: 3_000_000,
        program: 20_000_000,
        erase: 125_000_000,
        bus_byte: 40,
        host_byte: 100,
        idle_milliwatts: 5_000,
        limit_milliwatts: None,
    };

    /// Power that the limit leaves for work \[mW\]. Returns `None` without a limit.
    #[must_use]
    pub const fn allowed_milliwatts(&self) -> Option<u64> {
        match self.limit_milliwatts {
            Some(limit) => Some(limit.saturating_sub(self.idle_milliwatts)),
            None => None,
        }
    }
}

/// A mistake in a [`DriveConfig`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct BadDrive {
    /// The field, as a path: `nand.geometry.planes`.
    pub field: &'static str,
    /// The problem.
    pub problem: String,
    /// The remedy.
    pub remedy: String,
}

impl fmt::Display for BadDrive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (help: {})", self.field, self.problem, self.remedy)
    }
}

impl core::error::Error for BadDrive {}

impl DriveConfig {
    /// Number of units visible to the host.
    #[must_use]
    pub const fn units(&self) -> u64 {
        self.capacity.0 / UNIT
    }
}
