//! Configuration of a memory, with a check that reports all mistakes.

use super::spec::{Density, Speed, Timings, Width};
use core::fmt;
use lanetwin_units::{Bytes, Span};

/// Size of a line, the unit of requests \[B\].
pub const LINE: u64 = 64;

/// Largest number of banks of a data bus, over all ranks.
pub const MOST_BANKS: u32 = 64;

/// Largest number of requests of one direction among which the scheduler of a data bus chooses.
pub const MOST_PLACES: u32 = 48;

/// A memory: channels of ranks of banks, and the controller of each channel.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// Capacity \[B\].
    pub capacity: Bytes,
    /// The speed bin of the chips.
    pub speed: Speed,
    /// Timings that replace those of the speed bin, if given.
    pub timings: Option<Timings>,
    /// Channels, ranks, chips.
    pub geometry: Geometry,
    /// Mapping of addresses.
    pub mapping: Mapping,
    /// When rows are closed.
    pub page: PagePolicy,
    /// Queues, and when writes are written.
    pub queues: Queues,
    /// Behaviour when the direction of a data bus changes.
    pub turn: Turn,
    /// Refresh of the cells.
    pub refresh: Refresh,
    /// When a write is answered.
    pub answer: WriteAnswer,
}

/// Numbers of channels, ranks and chips.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// Channels of 64 data bits. A DDR5 channel has two sub-channels, each with a data bus and a controller of its
    /// own.
    pub channels: u32,
    /// Ranks of each channel.
    pub ranks: u32,
    /// Data pins of a chip, which determine bank groups and row size.
    pub width: Width,
    /// Capacity of a chip, which determines the refresh time.
    pub density: Density,
}

/// Mapping of addresses to buses, banks, rows and columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mapping {
    /// Number of bytes on one data bus before the next.
    pub interleave: Bytes,
    /// Order in which bank groups, banks, columns and rows change from line to line on a bus.
    pub order: Order,
    /// Whether the bank and its group are XORed with bits of the row, so that rows apart by a power of two are in
    /// different banks.
    pub hash: bool,
    /// Whether the data bus is XORed with all address bits above its own, so that granules apart by a power of two are
    /// on different buses; for a power of two of buses.
    pub hash_buses: bool,
}

/// Order in which bank groups, banks, columns and rows change from line to line on a bus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Bank group, column, bank, rank, row: a stream fills a row of every bank group, then those of the next bank.
    Rows,
    /// Bank group, bank, rank, column, row: a stream touches every bank before it comes back to a row.
    Banks,
    /// Column, bank group, bank, rank, row: a stream stays in one row until it is used up.
    Columns,
}

/// When a row without pending requests is closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PagePolicy {
    /// When another row of its bank is needed.
    Open,
    /// With the last pending access to it (an auto-precharge).
    Closed,
    /// When it has been unused for this time. The time adapts for each bank between 1/8 and 8 times this value: a row
    /// that is opened again after its time had expired doubles it, a request for another row that finds it open
    /// halves it.
    Adaptive(Span),
}

/// Queues of a data bus, and when its writes are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Queues {
    /// Reads among which the scheduler chooses.
    pub reads: u32,
    /// Writes among which the scheduler chooses.
    pub writes: u32,
    /// Number of writes from which on reads wait until only `low` writes are left.
    pub high: u32,
    /// See `high`.
    pub low: u32,
    /// Time without reads after which writes begin; they give way to the next read.
    pub idle: Span,
    /// Age from which on a write goes before further reads.
    pub age: Span,
    /// Number of requests for an open row that may pass an older request for another row of its bank (a cap of
    /// FR-FCFS, Mutlu and Moscibroda 2007).
    pub passes: u32,
    /// Number of reads, and as many writes, that may wait for the queues; further requests are refused.
    pub waiting: u32,
}

/// Behaviour when the direction of a data bus changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// Only requests of the new direction are served: the data bus is idle until their rows are open.
    Eager,
    /// Rows are opened for the new direction. Meanwhile requests of the previous direction whose rows are open
    /// continue, as long as they delay no other.
    Prepared,
}

/// Refresh of the cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refresh {
    /// None; real cells would lose their data.
    None,
    /// All banks of a rank at once, every tREFI.
    AllBank,
    /// One bank of every bank group at once, every tREFI2 / banks of a group (DDR5).
    SameBank,
}

/// When a write is answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WriteAnswer {
    /// When it has a place in the write queue, where later reads find it.
    Queued,
    /// When its last beat has been written.
    Written,
}

/// A mistake in a [`Config`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct BadDram {
    /// The field, as a path: `geometry.ranks`.
    pub field: &'static str,
    /// The problem.
    pub problem: String,
    /// The remedy.
    pub remedy: String,
}

impl fmt::Display for BadDram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (help: {})", self.field, self.problem, self.remedy)
    }
}

impl core::error::Error for BadDram {}

impl Geometry {
    /// Banks of a bank group: 4; 2 in DDR5 chips of 8 Gbit.
    #[must_use]
    pub const fn banks(&self, speed: Speed) -> u32 {
        if speed.is_ddr5() && matches!(self.density, Density::Gb8) { 2 } else { 4 }
    }
    /// Bank groups of a rank: 4 and 8 (DDR4, DDR5), half of that for x16.
    #[must_use]
    pub const fn groups(&self, speed: Speed) -> u32 {
        let narrow = if speed.is_ddr5() { 8 } else { 4 };
        if matches!(self.width, Width::X16) { narrow / 2 } else { narrow }
    }
    /// Size of a row of a bank, over all chips of the bus \[B\]: 8 KiB; 4 KiB on a sub-channel with x8 or x16.
    #[must_use]
    pub const fn row_bytes(&self, speed: Speed) -> u64 {
        if speed.is_ddr5() && !matches!(self.width, Width::X4) { 4096 } else { 8192 }
    }
    /// Data buses: channels, or their sub-channels.
    #[must_use]
    pub const fn buses(&self, speed: Speed) -> u32 {
        self.channels * speed.sub_channels()
    }
}

/// Callback for a condition on a field, with the problem and the remedy if it does not hold.
type Unless<'a> = &'a mut dyn FnMut(bool, &'static str, String, &str);

impl Config {
    /// A memory of this capacity with chips of 16 Gbit (8 Gbit in DDR4), x8, one rank a channel, that leaves rows open
    /// and answers writes when they are queued.
    #[must_use]
    pub const fn new(speed: Speed, channels: u32, capacity: Bytes) -> Self {
        let density = if speed.is_ddr5() { Density::Gb16 } else { Density::Gb8 };
        Self {
            capacity,
            speed,
            timings: None,
            geometry: Geometry { channels, ranks: 1, width: Width::X8, density },
            mapping: Mapping { interleave: Bytes(256), order: Order::Rows, hash: true, hash_buses: false },
            page: PagePolicy::Open,
            queues: Queues {
                reads: 32,
                writes: 32,
                high: 24,
                low: 8,
                idle: Span::from_ns(50),
                age: Span::from_us(5),
                passes: 16,
                waiting: 4096,
            },
            turn: Turn::Eager,
            refresh: Refresh::AllBank,
            answer: WriteAnswer::Queued,
        }
    }
    /// The timings: those given, otherwise those of the bin.
    #[must_use]
    pub const fn timings(&self) -> Timings {
        let Geometry { width, density, .. } = self.geometry;
        match self.timings {
            Some(timings) => timings,
            None => Timings::of(self.speed, width, density, self.geometry.banks(self.speed) as u64),
        }
    }
    /// Peak rate of all data buses together \[B/s\].
    #[must_use]
    pub const fn peak(&self) -> u64 {
        self.timings().peak() * self.geometry.buses(self.speed) as u64
    }
    /// Every mistake in it; none if a [`Machine`](super::Machine) can be built.
    #[must_use]
    pub fn mistakes(&self) -> Vec<BadDram> {
        let mut found = Vec::new();
        let mut unless = |good: bool, field: &'static str, problem: String, remedy: &str| {
            if !good {
                found.push(BadDram { field, problem, remedy: remedy.to_owned() });
            }
        };
        self.check_geometry(&mut unless);
        self.check_queues(&mut unless);
        self.check_timings(&mut unless);
        found
    }
    fn check_geometry(&self, unless: Unless<'_>) {
        let g = &self.geometry;
        let ddr5 = self.speed.is_ddr5();
        let buses = u64::from(g.channels).saturating_mul(self.speed.sub_channels().into());
        unless(
            (1..=64).contains(&g.channels),
            "geometry.channels",
            format!("{} channels", g.channels),
            "1 to 64",
        );
        let banks = g.ranks.saturating_mul(g.groups(self.speed) * g.banks(self.speed));
        unless(
            g.ranks.is_power_of_two() && banks <= MOST_BANKS,
            "geometry.ranks",
            format!("{} ranks, which have {banks} banks", g.ranks),
            "1, 2 or 4 ranks, with at most 64 banks together",
        );
        unless(
            ddr5 || matches!(g.density, Density::Gb8 | Density::Gb16),
            "geometry.density",
            "DDR4 chips store at most 16 Gbit".to_owned(),
            "8Gb or 16Gb",
        );
        let step = self.mapping.interleave.0;
        unless(
            step.is_power_of_two() && (LINE..=g.row_bytes(self.speed)).contains(&step),
            "mapping.interleave",
            format!("{step} B"),
            "a power of two from 64 B to the bytes of a row",
        );
        unless(
            !self.mapping.hash_buses || buses.is_power_of_two(),
            "mapping.hash_buses",
            format!("{buses} data buses are no power of two"),
            "false, or 1, 2, 4, 8, 16, 32 or 64 channels",
        );
        let whole = buses.saturating_mul(banks.into()).saturating_mul(g.row_bytes(self.speed)).max(1);
        let rows = self.capacity.0 / whole;
        unless(
            self.capacity.0.is_multiple_of(whole) && (1..1 << 31).contains(&rows),
            "capacity",
            format!("{} B are no whole number of rows of {whole} B (a row of every bank)", self.capacity.0),
            &near_capacity(self.capacity.0, whole),
        );
    }
    fn check_queues(&self, unless: Unless<'_>) {
        let q = &self.queues;
        unless(
            (1..=MOST_PLACES).contains(&q.reads),
            "queues.reads",
            format!("{} places for reads", q.reads),
            "1 to 48",
        );
        unless(
            (1..=MOST_PLACES).contains(&q.writes),
            "queues.writes",
            format!("{} places for writes", q.writes),
            "1 to 48",
        );
        unless(
            q.high <= q.writes && q.high > 0,
            "queues.high",
            format!("a high mark of {} with {} places", q.high, q.writes),
            "from 1 to the places for writes",
        );
        unless(
            q.low < q.high,
            "queues.low",
            format!("a low mark of {} is not below the high mark of {}", q.low, q.high),
            "less than the high mark",
        );
        unless(q.waiting > 0, "queues.waiting", "nobody can wait".to_owned(), "at least 1");
    }
    fn check_timings(&self, unless: Unless<'_>) {
        unless(
            self.speed.is_ddr5() || self.refresh != Refresh::SameBank,
            "refresh",
            "DDR4 has no same-bank refresh".to_owned(),
            "all-bank",
        );
        let t = self.timings();
        let least = [t.burst, t.command, t.cl, t.cwl, t.rcd, t.rp, t.ras, t.ccd_s, t.rrd_s];
        unless(
            least.iter().all(|clocks| *clocks > 0)
                && t.refi > t.rfc
                && (self.refresh != Refresh::SameBank || t.refi_sb > t.rfc_sb),
            "timings",
            "a time is 0, or refreshes take longer than the time between them".to_owned(),
            "those of a speed bin",
        );
    }
}

/// The nearest capacity that can be built: a multiple of a row of every bank that is as round as the capacity allows,
/// as 128 GiB for 128 GB.
fn near_capacity(capacity: u64, whole: u64) -> String {
    let mut step = whole;
    while step <= capacity / 4 {
        step *= 2;
    }
    let near = (capacity.saturating_add(step / 2) / step).max(1).saturating_mul(step);
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let unit = units.into_iter().find(|(_, bits)| near.is_multiple_of(1 << bits));
    let written = unit.map_or_else(|| format!("{near}B"), |(name, bits)| format!("{}{name}", near >> bits));
    format!("{written} is near; any multiple of {whole} B, and 2^31 rows a bank at most")
}

#[cfg(test)]
mod tests {
    use super::near_capacity;

    #[test]
    fn what_is_near_is_as_round_as_what_was_written() {
        let near =
            |capacity, whole| near_capacity(capacity, whole).split(' ').next().unwrap_or_default().to_owned();
        let (two, three) = (512 << 10, 768 << 10);
        assert_eq!(near(128_000_000_000, two), "128GiB");
        assert_eq!(near(1_000_000_000, two), "1GiB");
        assert_eq!(near(100_000_001, two), "96MiB");
        assert_eq!(near(0, two), "512KiB");
        // three channels of one kind of module have no power of two
        assert_eq!(near(64 << 30, three), "72GiB");
        assert!(near_capacity(u64::MAX, 1).ends_with("at most"));
    }
}
