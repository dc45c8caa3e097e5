//! The object that a device model owns: requests go in, acknowledgements come out, both with their times.

use crate::config::{BadDrive, DriveConfig, Medium, Program};
use core::cmp::Reverse;
use lanetwin_units::{Instant, Span};
use std::collections::BinaryHeap;

/// What a request asks for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Data are to be fetched; done when they are in the controller.
    Read,
    /// Data have arrived in the controller; done when they are acknowledged.
    Write,
    /// The host no longer needs the data (Dataset Management with Deallocate). Parts of a unit of 4 KiB are left alone.
    Trim,
    /// Done when every write acknowledged before survives a loss of power.
    Flush,
    /// Zeroes are to be written; unmaps whole units and writes the rest.
    WriteZeroes,
}

/// A request, at the time at which the controller hands it to the medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Comes back in [`Done`]; may be in use more than once.
    pub token: u32,
    /// What is asked for.
    pub kind: Kind,
    /// The first byte of it on the drive.
    pub first: u64,
    /// How many bytes; without meaning for a flush. Zero is done at once.
    pub bytes: u64,
    /// Whose it is: selects the write stream, and nothing else. Dies of one's own are a matter of addresses
    /// ([`Partition`](crate::config::Partition)).
    pub tenant: u16,
}

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// It did what it asked for.
    Success,
    /// It reaches beyond the capacity; nothing was done.
    OutOfRange,
}

/// The end of a request. Its time is that of [`Drive::advance`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Done {
    /// Which request.
    pub token: u32,
    /// How it ended.
    pub outcome: Outcome,
}

/// What a drive has done since it was made. All of them only grow, wear and write amplification aside.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Counters {
    /// Requests of the host.
    pub host_reads: u64,
    /// Requests of the host.
    pub host_writes: u64,
    /// Bytes that the host read.
    pub host_bytes_read: u64,
    /// Bytes that the host wrote.
    pub host_bytes_written: u64,
    /// Units of 4 KiB that the host wrote to the medium; what was overwritten in the buffer is not among them.
    pub host_units_programmed: u64,
    /// Units of 4 KiB that the host unmapped.
    pub units_trimmed: u64,
    /// Units that GC moved.
    pub gc_units_moved: u64,
    /// Units that wear levelling moved.
    pub wear_units_moved: u64,
    /// Units that left the SLC cache.
    pub folded_units: u64,
    /// Units that were programmed only to fill a word line.
    pub padding_units: u64,
    /// Pages of one plane (or lines) that were read, for whatever reason.
    pub page_reads: u64,
    /// Pages of one plane (or lines) that were programmed.
    pub page_programs: u64,
    /// Blocks of one plane that were erased.
    pub block_erases: u64,
    /// Read commands; a multi-plane read is one.
    pub read_commands: u64,
    /// Programs and erases that were suspended.
    pub suspensions: u64,
    /// Units that were read from the write buffer.
    pub buffer_hits: u64,
    /// Units that were read from what was read ahead.
    pub read_ahead_hits: u64,
    /// Units that were read ahead.
    pub read_ahead_units: u64,
    /// Look-ups of the mapping cache that hit.
    pub mapping_hits: u64,
    /// Look-ups of the mapping cache that missed.
    pub mapping_misses: u64,
    /// Units that waited for room in the write buffer.
    pub buffer_waits: u64,
    /// Bytes on flash buses.
    pub bus_bytes: u64,
    /// How long channels were busy, summed over them \[ps\].
    pub channel_busy_ps: u64,
    /// How long dies were busy, summed over them \[ps\].
    pub die_busy_ps: u64,
    /// Energy, idle power aside \[nJ\].
    pub work_nanojoules: u64,
    /// Least erases of a block (writes of a line are not counted one by one).
    pub wear_min: u32,
    /// Most erases of a block.
    pub wear_max: u32,
    /// Mean erases of a block.
    pub wear_mean: f64,
    /// Share of [`Ftl::endurance`](crate::config::Ftl::endurance) that the mean block has used up.
    pub life_used: f64,
}

impl Counters {
    /// Units programmed for each unit that the host wrote to the medium; 1 if there was none.
    #[must_use]
    pub fn write_amplification(&self) -> f64 {
        let moved = self.gc_units_moved + self.wear_units_moved + self.folded_units + self.padding_units;
        match self.host_units_programmed {
            0 => 1.0,
            host => (host + moved) as f64 / host as f64,
        }
    }
}

/// A drive behind its controller.
pub struct Drive {
    units: u64,
    read: Span,
    write: Span,
    later: BinaryHeap<Reverse<(Instant, u32)>>,
    counters: Counters,
}

impl Drive {
    /// A drive. Equal configurations and seeds give equal drives.
    ///
    /// # Errors
    /// Every mistake in the configuration.
    pub fn new(config: &DriveConfig, _seed: u64) -> Result<Self, Vec<BadDrive>> {
        let mistakes = config.mistakes();
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let (read, write) = match &config.medium {
            Medium::Nand(nand, _) => (
                nand.timing.read[0],
                match nand.timing.program {
                    Program::ByPage(times) => times[0],
                    Program::OneShot(time) => time,
                },
            ),
            Medium::CrossPoint(medium) => (medium.read, medium.write),
        };
        let write = if config.buffer.acknowledges() { config.buffer.latency } else { write };
        Ok(Self {
            units: config.units(),
            read,
            write,
            later: BinaryHeap::new(),
            counters: Counters::default(),
        })
    }

    /// Takes a request.
    ///
    /// # Panics
    /// If `now` is before an earlier call's.
    pub fn submit(&mut self, now: Instant, request: Request) {
        let span = match request.kind {
            Kind::Read => self.read,
            Kind::Write => self.write,
            Kind::Trim | Kind::Flush | Kind::WriteZeroes => Span::ZERO,
        };
        self.later.push(Reverse((now + span, request.token)));
        debug_assert!(request.first / crate::config::UNIT <= self.units);
    }

    /// When [`advance`](Self::advance) must be called next: not later than the next end of a request, perhaps earlier. None
    /// if nothing will happen without another request.
    #[must_use]
    pub fn next_event(&self) -> Option<Instant> {
        self.later.peek().map(|Reverse((at, _))| *at)
    }

    /// Does everything up to and at `now`, and appends what has ended at `now`, in the order in which it ended.
    ///
    /// # Panics
    /// If `now` is before an earlier call's.
    pub fn advance(&mut self, now: Instant, done: &mut Vec<Done>) {
        while let Some(Reverse((at, token))) =
            self.later.peek().copied().filter(|Reverse((at, _))| *at <= now)
        {
            let _ = at;
            self.later.pop();
            done.push(Done { token, outcome: Outcome::Success });
        }
    }

    /// What it has done.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }
}
