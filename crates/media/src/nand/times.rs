//! Times of commands on the bus and in the array.

use crate::config::{Nand, Program, Rules, SlcCache};
use crate::divisor::Divisor;
use lanetwin_units::Span;

/// Times that follow from a configuration \[ps\], by the number of planes where a command has several.
#[derive(Clone, Debug)]
pub struct Times {
    /// Command and addresses of a read of 1 to 8 planes.
    read_command: [u64; 9],
    /// The same of a program, without data.
    program_command: [u64; 9],
    /// The same of an erase.
    erase_command: [u64; 9],
    /// Time before the data of a page.
    data_out: u64,
    /// Transfer time of a megabyte: 10^6 ps·B / (bytes · MT/s); exact as a fraction.
    transfer: (u64, u64),
    /// Size of page plus spare, and of page; the spare crosses the bus in proportion to the data.
    frame: (u64, u64),
    /// Whether a bus cycle is a whole number of nanoseconds.
    whole_cycles: bool,
    bits: Divisor,
    read: [u64; 4],
    program: Program,
    /// Time to erase a block \[ps\].
    pub erase: u64,
    mqsim: bool,
    mlc: bool,
    tlc: bool,
}

impl Times {
    /// The times of `nand`.
    pub fn new(nand: &Nand) -> Self {
        let o = &nand.bus.overheads;
        let ps = |span: Span| span.as_ps();
        let (cs, wc, wb, dbsy) = (ps(o.cs), ps(o.wc), ps(o.wb), ps(o.dbsy));
        let by_planes = |each: u64, between: u64, last: u64| {
            core::array::from_fn(|planes| {
                let others = (planes as u64).saturating_sub(1);
                cs + others * (each + between) + last
            })
        };
        let load = ps(o.adl) + ps(o.wpst) + wb;
        let mqsim = nand.rules == Rules::Mqsim;
        let (width, rate) = (u64::from(nand.bus.width), u64::from(nand.bus.megatransfers));
        let page = nand.geometry.page.0;
        Self {
            read_command: by_planes(6 * wc, dbsy, 6 * wc + wb + ps(o.rr)),
            program_command: by_planes(5 * wc + load + ps(o.cals), dbsy, 6 * wc + load + ps(o.wpsth)),
            erase_command: by_planes(4 * wc + wb, dbsy, 4 * wc + wb),
            data_out: ps(o.data_out),
            transfer: if mqsim { (2 * (1000 / rate) * 1000, 2 * width) } else { (1_000_000, width * rate) },
            frame: if mqsim { (page, page) } else { (page + nand.geometry.spare.0, page) },
            whole_cycles: mqsim,
            bits: Divisor::new(nand.timing.cell.bits().into()),
            read: nand.timing.read.map(ps),
            program: nand.timing.program,
            erase: ps(nand.timing.erase),
            mqsim,
            mlc: nand.timing.cell.bits() == 2,
            tlc: nand.timing.cell.bits() == 3,
        }
    }

    /// The type of a page in its word line: 0 is LSB.
    ///
    /// Pages of a word line have consecutive numbers; MQSim has the order of an older part (Yaakobi et al. 2012).
    #[inline]
    pub fn page_type(&self, page: u32) -> usize {
        if !self.mqsim {
            return self.bits.split(page).1 as usize;
        }
        match page {
            _ if self.mlc => (page % 2) as usize,
            _ if !self.tlc => 0,
            0..=5 => 0,
            6..=7 => 1,
            _ => (((page - 8) >> 1) % 3) as usize,
        }
    }

    /// tR of a page.
    #[inline]
    pub fn read(&self, page: u32) -> u64 {
        self.read[self.page_type(page)]
    }
    /// The shortest time of a read, program or erase, including those of an SLC cache.
    pub fn shortest(&self, slc: Option<SlcCache>) -> u64 {
        let programs = match self.program {
            Program::ByPage(pages) => pages.map(Span::as_ps),
            Program::OneShot(word_line) => [word_line.as_ps(); 4],
        };
        let of_slc = slc.map(|slc| [slc.read, slc.program, slc.erase].map(Span::as_ps));
        let all =
            self.read.into_iter().chain(programs).chain([self.erase]).chain(of_slc.into_iter().flatten());
        all.min().unwrap_or(0)
    }
    /// tPROG of a page, or of a word line that is programmed in one shot.
    pub fn program(&self, page: u32) -> u64 {
        match self.program {
            Program::ByPage(times) => times[self.page_type(page)].as_ps(),
            Program::OneShot(time) => time.as_ps(),
        }
    }
    /// Time of command and addresses of a read.
    #[inline]
    pub fn read_command(&self, planes: usize) -> u64 {
        self.read_command[planes]
    }
    /// Time of command, addresses and data of a page in each of `planes` planes.
    pub fn program_in(&self, planes: usize, page_bytes: u64) -> u64 {
        self.program_command[planes] + planes as u64 * self.bytes(page_bytes)
    }
    /// Time of command and addresses of an erase.
    pub fn erase_in(&self, planes: usize) -> u64 {
        self.erase_command[planes]
    }
    /// Time of data out of a die's register.
    #[inline]
    pub fn data_out(&self, bytes: u64) -> u64 {
        self.data_out + self.bytes(bytes)
    }
    /// Time on the bus of data with their share of the spare area.
    #[inline]
    pub fn bytes(&self, bytes: u64) -> u64 {
        let framed = bytes * self.frame.0 / self.frame.1;
        if self.whole_cycles {
            framed / self.transfer.1 * self.transfer.0
        } else {
            (framed * self.transfer.0).div_ceil(self.transfer.1)
        }
    }
    /// Bytes on the bus for this many bytes of data \[B\].
    #[inline]
    pub fn framed(&self, bytes: u64) -> u64 {
        bytes * self.frame.0 / self.frame.1
    }
}
