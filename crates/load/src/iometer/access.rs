//! The meaning of an access specification: the operations of a worker, their addresses and their times.
//!
//! A worker of Iometer makes **bursts**. Before each burst it draws a line of its specification by the lines' shares,
//! waits for the line's transfer delay without starting anything, and then makes as many accesses as the line's burst
//! length, back to back. Each access is a read or a write by the line's percentage of reads, and random or sequential
//! by its percentage of random accesses (`IOGrunt.cpp`, `Do_IOs`; `IOAccess.cpp`). So a share is one of accesses only
//! if all lines have the same burst length; otherwise it is one of bursts.
//!
//! Each target has a position. A sequential access starts where the target's last access ended, whether that was random
//! or not; a random one starts at any byte of the region. Both are rounded up to the next multiple of the alignment,
//! and a request that would not fit before the end of the region starts over at its start (`IOTargetDisk.cpp`, `Seek`).
//!
//! Random numbers are not Iometer's: they come from streams by purpose, so that each can be repeated and changed alone.
//! Disks send no replies; a network target sends one after each access whose line has a reply.

use super::config::{AccessLine, DiskSettings};
use lanetwin_kernel::Stream;
use lanetwin_ports::Operation;
use lanetwin_units::Span;
use std::fmt;

/// The whole of a specification \[%\].
const WHOLE: u64 = 100;

/// The load of an access specification.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccessWorkload {
    /// The lines of the specification.
    pub lines: Vec<AccessLine>,
    /// The region of addresses.
    pub region: Region,
    /// Maximum number outstanding.
    pub outstanding: u32,
    /// Total number of operations; `None` for no limit.
    pub count: Option<u64>,
    /// Settings for closing and opening the target repeatedly, if that is tested.
    pub connections: Option<Connections>,
    /// Whether the target is a program of another host, over a connection, which sends replies.
    pub network: bool,
}

/// The connection rate test: a target is opened, used, and closed once nothing is outstanding (`IOGrunt.cpp`,
/// `Do_IOs`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Connections {
    /// Transactions per connection; at least one.
    pub transactions: u32,
    /// Time of the program for opening and closing a target, together.
    pub opening: Span,
}

/// The part of a disk that a worker uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// Its start \[B\].
    pub start: u64,
    /// Its size \[B\].
    pub bytes: u64,
    /// The sector size of the disk \[B\]: the alignment of lines that set none.
    pub sector: u32,
}

/// Why a workload cannot run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadAccesses {
    /// The shares of the lines do not sum to 100.
    Shares,
    /// The size of an operation is 0.
    NoBytes,
    /// The sector size of the disk is 0.
    NoSector,
    /// The number outstanding is 0.
    NothingOutstanding,
    /// An operation does not fit into the region at its alignment.
    TooSmall,
}

impl fmt::Display for BadAccesses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shares => "the shares of an access specification add to 100",
            Self::NoBytes => "an operation moves at least one byte",
            Self::NoSector => "a sector has at least one byte",
            Self::NothingOutstanding => "a worker has at least one operation outstanding",
            Self::TooSmall => "the region is smaller than an operation",
        })
    }
}
impl std::error::Error for BadAccesses {}

impl Region {
    /// The region that a worker's settings define on a disk of `capacity` bytes; a size of 0 sectors is the rest of the
    /// disk.
    #[must_use]
    pub fn of_disk(settings: &DiskSettings, capacity: u64, sector: u32) -> Self {
        let bytes = |sectors: u64| sectors.saturating_mul(sector.into());
        let start = bytes(settings.starting_sector).min(capacity);
        let rest = capacity - start;
        let most = if settings.maximum_size == 0 { rest } else { bytes(settings.maximum_size) };
        Self { start, bytes: most.min(rest), sector }
    }
    /// Its first byte that is a multiple of `alignment`; `None` if there is none.
    fn first(&self, alignment: u32) -> Option<u64> {
        self.start.checked_next_multiple_of(alignment.into())
    }
    /// Whether `bytes` bytes from `address` on lie before its end.
    fn holds(&self, address: u64, bytes: u32) -> bool {
        let end = u128::from(self.start) + u128::from(self.bytes);
        u128::from(address) + u128::from(bytes) <= end
    }
}

impl AccessWorkload {
    /// Checks whether it can run.
    ///
    /// # Errors
    /// The first problem found.
    pub fn check(&self) -> Result<(), BadAccesses> {
        if self.lines.iter().map(|line| u64::from(line.share)).sum::<u64>() != WHOLE {
            return Err(BadAccesses::Shares);
        }
        if self.outstanding == 0 {
            return Err(BadAccesses::NothingOutstanding);
        }
        if self.region.sector == 0 {
            return Err(BadAccesses::NoSector);
        }
        self.lines.iter().filter(|line| line.share > 0).try_for_each(|line| {
            let first = self.region.first(line.alignment(self.region.sector));
            let fits = first.is_some_and(|address| self.region.holds(address, line.size));
            if line.size == 0 {
                Err(BadAccesses::NoBytes)
            } else {
                fits.then_some(()).ok_or(BadAccesses::TooSmall)
            }
        })
    }
}

/// One operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Read or write.
    pub operation: Operation,
    /// Its size \[B\].
    pub bytes: u32,
    /// Its first byte on the disk.
    pub address: u64,
    /// Size of the reply, over a network \[B\].
    pub reply: u32,
}

/// The accesses of one worker to its targets, one after the other.
#[derive(Clone, Debug)]
pub struct Accesses {
    lines: Vec<AccessLine>,
    draws: Stream,
    /// The line of the current burst, and the number of accesses left in it.
    burst: Option<(AccessLine, u32)>,
    targets: Vec<Target>,
}

/// A target and its position.
#[derive(Clone, Debug)]
struct Target {
    region: Region,
    /// End of its last access.
    position: u64,
    kinds: Stream,
    patterns: Stream,
    places: Stream,
}

impl Accesses {
    /// The accesses of a worker at `path`, in a run with this seed, to targets with these regions. The lines must pass
    /// [`AccessWorkload::check`] with each region.
    #[must_use]
    pub fn new(lines: Vec<AccessLine>, regions: &[Region], seed: u64, path: &str) -> Self {
        let target = |(nth, region): (usize, &Region)| {
            let stream = |purpose: &str| Stream::new(seed, path, &format!("{purpose} of target {nth}"));
            Target {
                region: *region,
                position: region.start,
                kinds: stream("operations"),
                patterns: stream("patterns"),
                places: stream("addresses"),
            }
        };
        let targets = regions.iter().enumerate().map(target).collect();
        Self { lines, draws: Stream::new(seed, path, "lines"), burst: None, targets }
    }

    /// Time to wait before the next access, without starting anything: the transfer delay of the next burst, which this
    /// call begins if the last one has ended. Zero within a burst.
    pub fn pause(&mut self) -> Span {
        if self.burst.is_some() {
            return Span::ZERO;
        }
        let line = self.draw();
        self.burst = Some((line, line.burst.max(1)));
        Span::from_us(u64::from(line.delay_ms) * 1000)
    }
    /// The next access to this target.
    ///
    /// # Panics
    /// If there is no such target.
    pub fn next(&mut self, target: usize) -> Access {
        let (line, left) = self.burst.take().unwrap_or_else(|| {
            let line = self.draw();
            (line, line.burst.max(1))
        });
        self.burst = (left > 1).then(|| (line, left - 1));
        self.targets[target].access(&line)
    }
    /// Draws a line by the shares.
    fn draw(&mut self) -> AccessLine {
        let mut drawn = self.draws.below(WHOLE);
        let line = self.lines.iter().find(|line| {
            let chosen = drawn < u64::from(line.share);
            drawn = drawn.saturating_sub(line.share.into());
            chosen
        });
        *line.expect("the shares of a checked specification add to 100")
    }
}

impl Target {
    fn access(&mut self, line: &AccessLine) -> Access {
        // every access draws from every stream, so that no percentage shifts the draws of another
        let is_read = self.kinds.below(WHOLE) < line.reads.into();
        let is_random = self.patterns.below(WHOLE) < line.random.into();
        let place = self.region.start.saturating_add(self.places.below(self.region.bytes));
        let alignment = line.alignment(self.region.sector);
        let wanted = if is_random { place } else { self.position };
        let aligned = wanted.checked_next_multiple_of(alignment.into());
        let address = aligned
            .filter(|address| self.region.holds(*address, line.size))
            .or_else(|| self.region.first(alignment))
            .expect("a checked region has an aligned first byte");
        self.position = address + u64::from(line.size);
        let operation = if is_read { Operation::Read } else { Operation::Write };
        Access { operation, bytes: line.size, address, reply: line.reply }
    }
}

#[cfg(test)]
mod tests;
