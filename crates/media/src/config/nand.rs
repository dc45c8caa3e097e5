//! NAND flash: geometry, timings, bus.

use lanetwin_units::{Bytes, Span};

/// Number of bits per cell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CellType {
    /// One bit.
    Slc,
    /// Two bits: LSB and MSB pages.
    Mlc,
    /// Three bits: LSB, CSB and MSB pages.
    Tlc,
    /// Four bits.
    Qlc,
}

impl CellType {
    /// Bits of a cell, which is also the number of pages of a word line.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::Slc => 1,
            Self::Mlc => 2,
            Self::Tlc => 3,
            Self::Qlc => 4,
        }
    }
}

/// Geometry of the flash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// Channels of the drive.
    pub channels: u32,
    /// Chips (ways, chip enables) of a channel.
    pub chips: u32,
    /// Dies of a chip.
    pub dies: u32,
    /// Planes of a die.
    pub planes: u32,
    /// Blocks of a plane.
    pub blocks: u32,
    /// Pages of a block.
    pub pages: u32,
    /// Data of a page; a multiple of 4 KiB.
    pub page: Bytes,
    /// Spare area of a page, for parity and metadata. It crosses the bus with the data.
    pub spare: Bytes,
}

impl Geometry {
    /// Dies of the drive.
    #[must_use]
    pub const fn all_dies(&self) -> u32 {
        self.channels * self.chips * self.dies
    }
    /// Capacity of the flash for data.
    #[must_use]
    pub const fn capacity(&self) -> Bytes {
        Bytes(
            self.all_dies() as u64
                * self.planes as u64
                * self.blocks as u64
                * self.pages as u64
                * self.page.0,
        )
    }
}

/// Time that a program occupies a die.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Program {
    /// A page at a time, by page type (LSB first).
    ByPage([Span; 4]),
    /// All pages of a word line at once.
    OneShot(Span),
}

/// Suspension of programs and erases in favour of reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Suspend {
    /// Time from the suspend command of a program to the first read.
    pub program: Span,
    /// Time from the suspend command of an erase to the first read.
    pub erase: Span,
    /// Number of times that one operation can be suspended; after that it runs to its end.
    pub times: u32,
    /// An operation that ends within this time is not suspended.
    pub worth: Span,
}

/// Timings of a die, without the bus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// Bits of a cell.
    pub cell: CellType,
    /// tR by page type, LSB first; as many as the cell has bits.
    pub read: [Span; 4],
    /// tPROG.
    pub program: Program,
    /// tBERS.
    pub erase: Span,
    /// Suspension, if supported.
    pub suspend: Option<Suspend>,
    /// Cache read: a die senses the next page while the data of the previous page leave its register.
    pub cache_read: bool,
    /// Cache program: a die takes the data of the next program while it programs.
    pub cache_program: bool,
    /// Whether multi-plane reads need the same page number in every plane (as programs always do). Otherwise planes
    /// are read independently if their commands arrive together.
    pub same_page: bool,
}

impl Timing {
    /// Mean time of a program for each page of a word line.
    pub(crate) fn page_program(&self) -> Span {
        let bits = u64::from(self.cell.bits());
        let word_line = match self.program {
            Program::OneShot(all) => all.as_ps(),
            Program::ByPage(each) => each[..bits as usize].iter().map(|one| one.as_ps()).sum(),
        };
        Span::from_ps(word_line / bits)
    }
}

/// A flash bus: ONFI or Toggle, double data rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bus {
    /// Data transfers a second \[MT/s\].
    pub megatransfers: u32,
    /// Bytes of one transfer.
    pub width: u32,
    /// Commands, addresses, and waits between them.
    pub overheads: Overheads,
}

/// The bus cycles around data, by ONFI's names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overheads {
    /// tCS: chip enable set-up.
    pub cs: Span,
    /// tWC: a command or address cycle.
    pub wc: Span,
    /// tWB: from the last cycle to busy.
    pub wb: Span,
    /// tRR: from ready to the first data cycle.
    pub rr: Span,
    /// tADL: from address to data.
    pub adl: Span,
    /// tCALS: set-up of the latch enables.
    pub cals: Span,
    /// tDBSY: dummy busy between planes.
    pub dbsy: Span,
    /// tWPST: write postamble.
    pub wpst: Span,
    /// tWPSTH: hold of the write postamble.
    pub wpsth: Span,
    /// tRPRE and tDQSRE: from the read enable to the first data.
    pub data_out: Span,
}

impl Overheads {
    /// NV-DDR2 as MQSim has it: tCS 20 ns, tWC 25 ns, tWB 100 ns, tRR 20 ns, tADL 70 ns, tCALS 15 ns, tDBSY 500 ns,
    /// tWPST 6 ns, tWPSTH 15 ns, and no time from read enable to data (MQSim has constants for it and charges none).
    pub const NV_DDR2: Self = Self {
        cs: Span::from_ns(20),
        wc: Span::from_ns(25),
        wb: Span::from_ns(100),
        rr: Span::from_ns(20),
        adl: Span::from_ns(70),
        cals: Span::from_ns(15),
        dbsy: Span::from_ns(500),
        wpst: Span::from_ns(6),
        wpsth: Span::from_ns(15),
        data_out: Span::ZERO,
    };
}

/// Scheduling rules for commands.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Rules {
    /// Each die of a chip works independently; a channel serves data out first, then reads, programs and erases.
    #[default]
    Dies,
    /// Those of MQSim, for comparison only: one die of a chip works at a time; a page gets its place when it is first
    /// read (channel first); only the data requested cross the bus; and a bus cycle is a whole number of nanoseconds.
    Mqsim,
}

/// NAND flash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nand {
    /// Geometry.
    pub geometry: Geometry,
    /// Timings of a die.
    pub timing: Timing,
    /// Timings of a channel.
    pub bus: Bus,
    /// Reads for which a request waits (also those of GC for whose space writes of the host wait) go before programs,
    /// erases and other reads of GC at their die, but at most this many in a row.
    pub read_burst: u32,
    /// Scheduling rules for commands.
    pub rules: Rules,
}
