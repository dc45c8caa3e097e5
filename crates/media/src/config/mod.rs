//! What a drive is made of, and every mistake in it at once.

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

/// A drive.
#[derive(Clone, PartialEq, Debug)]
pub struct DriveConfig {
    /// What the host sees; a multiple of [`UNIT`].
    pub capacity: Bytes,
    /// What the data lie on.
    pub medium: Medium,
    /// How the times of array operations vary around their means.
    pub spread: Spread,
    /// Where writes wait for the medium.
    pub buffer: WriteBuffer,
    /// Encryption of everything that passes; none if absent.
    pub encryption: Option<Encryption>,
    /// What work costs.
    pub energy: Energy,
}

/// What the data lie on.
#[derive(Clone, PartialEq, Debug)]
pub enum Medium {
    /// NAND flash behind an FTL.
    Nand(Box<Nand>, Box<Ftl>),
    /// A medium that is written in place.
    CrossPoint(CrossPoint),
}

/// When what a program takes from the write buffer leaves room for other data.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Frees {
    /// When it is in the registers of its die: parity across dies, or nothing, makes up for a program that fails.
    Loaded,
    /// When its program has ended: the controller can then write it elsewhere. So does a medium that is written in
    /// place, and so do [`Rules::Mqsim`].
    #[default]
    Programmed,
}

/// Where writes wait for the medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WriteBuffer {
    /// How much it holds. A request larger than this is taken in pieces.
    pub capacity: Bytes,
    /// When what is being programmed leaves it.
    pub frees: Frees,
    /// Whether the data survive a loss of power. If so, a write is acknowledged when it is in the buffer; if not, when
    /// it is on the medium, unless `volatile_cache` is set.
    pub power_loss_protected: bool,
    /// Acknowledge from a buffer that does not survive a loss of power (a client drive's volatile write cache); Flush
    /// then waits for the medium.
    pub volatile_cache: bool,
    /// From the arrival of data to their acknowledgement, and from a hit to the data.
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
    /// What each request takes longer.
    pub latency: Span,
    /// What the engine passes \[B/s\].
    pub bytes_per_second: u64,
}

/// What work costs \[pJ, mW\].
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
    /// What the drive takes when it does nothing \[mW\].
    pub idle_milliwatts: u64,
    /// What it may take as a mean \[mW\], more than when it does nothing: the limit of its form factor or power state.
    /// None if nothing holds it.
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

    /// What the limit leaves for work \[mW\]; none if nothing holds the drive.
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
    /// Which field, as a path: `nand.geometry.planes`.
    pub field: &'static str,
    /// What is wrong with it.
    pub problem: String,
    /// What to do.
    pub remedy: String,
}

impl fmt::Display for BadDrive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (help: {})", self.field, self.problem, self.remedy)
    }
}

impl core::error::Error for BadDrive {}

impl DriveConfig {
    /// How many units the host sees.
    #[must_use]
    pub const fn units(&self) -> u64 {
        self.capacity.0 / UNIT
    }
}
