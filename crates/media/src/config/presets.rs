//! Timings of typical parts, for drives without published timings.
//!
//! | cell | tR \[µs\] | tPROG \[µs\] | tBERS \[ms\] | kind |
//! |---|---|---|---|---|
//! | SLC | 25 | 200 | 2 | assumed: first-generation SLC parts; low-latency ones read in 3 µs |
//! | MLC | 50 | 600, 1200 | 4 | assumed |
//! | TLC | 45, 60, 75 | 1000, all pages of a word line at once | 5 | assumed: published parts of 64 to 176 layers read in 40 µs to 80 µs |
//! | QLC | 80, 100, 120, 140 | 3000, all pages at once | 10 | assumed |
//!
//! Suspension takes 20 µs (program) and 50 µs (erase), at most eight times, if 50 µs are left; assumed.

use super::nand::{Bus, CellType, Overheads, Program, Suspend, Timing};
use lanetwin_units::Span;

const fn us(us: u64) -> Span {
    Span::from_us(us)
}

const SUSPEND: Suspend = Suspend { program: us(20), erase: us(50), times: 8, worth: us(50) };

impl Timing {
    /// A typical part with one bit per cell.
    pub const SLC: Self = Self {
        cell: CellType::Slc,
        read: [us(25); 4],
        program: Program::ByPage([us(200); 4]),
        erase: us(2_000),
        ..Self::TLC
    };
    /// A typical part with two bits per cell.
    pub const MLC: Self = Self {
        cell: CellType::Mlc,
        read: [us(50); 4],
        program: Program::ByPage([us(600), us(1_200), us(1_200), us(1_200)]),
        erase: us(4_000),
        ..Self::TLC
    };
    /// A typical part with three bits per cell.
    pub const TLC: Self = Self {
        cell: CellType::Tlc,
        read: [us(45), us(60), us(75), us(75)],
        program: Program::OneShot(us(1_000)),
        erase: us(5_000),
        suspend: Some(SUSPEND),
        cache_read: true,
        cache_program: true,
        same_page: false,
    };
    /// A typical part with four bits per cell.
    pub const QLC: Self = Self {
        cell: CellType::Qlc,
        read: [us(80), us(100), us(120), us(140)],
        program: Program::OneShot(us(3_000)),
        erase: us(10_000),
        ..Self::TLC
    };
}

impl Bus {
    /// A bus of 8 bits with the cycles of NV-DDR2.
    #[must_use]
    pub const fn of(megatransfers: u32) -> Self {
        Self { megatransfers, width: 1, overheads: Overheads::NV_DDR2 }
    }
}
