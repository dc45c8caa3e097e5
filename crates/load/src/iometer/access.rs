//! The meaning of an access specification: which operations a worker makes, where they go, and when.
//!
//! A worker of Iometer makes **bursts**. Before each it draws a line of its specification by the lines' shares, waits
//! for the line's transfer delay while it asks for nothing new, and then makes as many accesses as the line's burst
//! length, back to back. Each access is a read or a write by the line's percentage of reads, and random or sequential
//! by its percentage of random accesses (`IOGrunt.cpp`, `Do_IOs`; `IOAccess.cpp`). So a share is one of accesses only
//! if all lines have the same burst length; otherwise it is one of bursts.
//!
//! Each target has a position. A sequential access starts where the target's last access ended, be it random or not; a
//! random one at any byte of the region. Either goes up to the next multiple of the alignment, and a request that would
//! not fit before the end of the region goes to its start (`IOTargetDisk.cpp`, `Seek`).
//!
//! Random numbers are not Iometer's: they are drawn from streams by purpose, so that each can be repeated and changed
//! alone. A disk makes no replies; a network does, after each access whose line has one.

use super::config::{AccessLine, DiskSettings};
use lanetwin_kernel::Stream;
use lanetwin_ports::Operation;
use lanetwin_units::Span;
use std::fmt;

/// The whole of a specification \[%\].
const WHOLE: u64 = 100;

/// What a load makes of an access specification.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccessWorkload {
    /// The lines of the specification.
    pub lines: Vec<AccessLine>,
    /// Where operations go.
    pub region: Region,
    /// How many are outstanding at most.
    pub outstanding: u32,
    /// How many operations there are in all; no end if none.
    pub count: Option<u64>,
    /// Whether the target is closed and opened again and again.
    pub connections: Option<Connections>,
    /// Whether the target is the program of another host, which makes replies and is connected to.
    pub network: bool,
}

/// The connection rate test: a target is opened, used, and closed when nothing is outstanding any more
/// (`IOGrunt.cpp`, `Do_IOs`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Connections {
    /// How many transactions each connection has; at least one.
    pub transactions: u32,
    /// How long the program takes to open a target and to close it, together.
    pub opening: Span,
}

/// The part of a disk that a worker uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// Where it starts \[B\].
    pub start: u64,
    /// How long it is \[B\].
    pub bytes: u64,
    /// The sector of the disk: what addresses are multiples of where a line does not say \[B\].
    pub sector: u32,
}

/// What is wrong with a workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadAccesses {
    /// The shares of the lines do not add to 100.
    Shares,
    /// An operation of no bytes.
    NoBytes,
    /// A disk without a sector.
    NoSector,
    /// Nothing may be outstanding.
    NothingOutstanding,
    /// An operation that does not fit into the region, where its alignment lets it start.
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
    /// What a worker's settings leave of a disk of `capacity` bytes; a size of 0 sectors is the rest of the disk.
    #[must_use]
    pub fn of_disk(settings: &DiskSettings, capacity: u64, sector: u32) -> Self {
        let bytes = |sectors: u64| sectors.saturating_mul(sector.into());
        let start = bytes(settings.starting_sector).min(capacity);
        let rest = capacity - start;
        let most = if settings.maximum_size == 0 { rest } else { bytes(settings.maximum_size) };
        Self { start, bytes: most.min(rest), sector }
    }
    /// Its first byte that is a multiple of `alignment`; none if there is no such number.
    fn first(&self, alignment: u32) -> Option<u64> {
        self.start.checked_next_multiple_of(alignment.into())
    }
    /// Whether so many bytes from `address` on lie before its end.
    fn holds(&self, address: u64, bytes: u32) -> bool {
        let end = u128::from(self.start) + u128::from(self.bytes);
        u128::from(address) + u128::from(bytes) <= end
    }
}

impl AccessWorkload {
    /// Whether it can be run.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
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
    /// How many bytes.
    pub bytes: u32,
    /// From this byte of the disk on.
    pub address: u64,
    /// How many bytes come in reply, over a network.
    pub reply: u32,
}

/// The accesses of one worker to its targets, one after the other.
#[derive(Clone, Debug)]
pub struct Accesses {
    lines: Vec<AccessLine>,
    draws: Stream,
    /// The line of the present burst, and how many accesses it has left.
    burst: Option<(AccessLine, u32)>,
    targets: Vec<Target>,
}

/// A target and its position.
#[derive(Clone, Debug)]
struct Target {
    region: Region,
    /// Where its last access ended.
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

    /// How long to wait before the next access, with nothing asked for meanwhile: a burst is over, and the one that is
    /// begun hereby has a delay. Zero if a burst is under way.
    pub fn pause(&mut self) -> Span {
        if self.burst.is_some() {
            return Span::ZERO;
        }
        let line = self.draw();
        self.burst = Some((line, line.burst.max(1)));
        Span::from_us(u64::from(line.delay_ms) * 1000)
    }
    /// The next access, to this target.
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
    /// A line, by the shares of accesses.
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
        // every stream moves on with every access, so that no percentage shifts the draws of another
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
