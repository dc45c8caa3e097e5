//! Configuration of a page cache, with a check that reports all mistakes.

use crate::mistakes::Mistake;
use core::fmt;
use lanetwin_units::{Bytes, Span};

/// Unit of reads and writes of the medium behind the cache \[B\].
pub const PAGE: u64 = 4096;
/// Unit of reads and writes of the host \[B\].
pub const LINE: u64 = 64;
/// Lines of a page.
pub const LINES: u32 = (PAGE / LINE) as u32;

/// A cache of pages.
#[derive(Clone, PartialEq, Debug)]
pub struct CacheConfig {
    /// Capacity visible to the host: that of the medium behind.
    pub device: Bytes,
    /// Size of the cache's memory for pages.
    pub capacity: Bytes,
    /// Placement of pages.
    pub placement: Placement,
    /// Replacement policy.
    pub policy: Policy,
    /// Fetching of pages.
    pub fill: Fill,
    /// Handling of writes.
    pub write: Write,
    /// The miss-status holding registers (MSHR).
    pub registers: Registers,
    /// Largest number of pages being written to the medium, evicted and cleaned ones together.
    pub write_backs: u32,
    /// Cleaning of dirty pages before their eviction, if there is any.
    pub cleaning: Option<Cleaning>,
    /// Prefetching, if there is any.
    pub prefetch: Option<Prefetch>,
    /// Number of announced pages that can wait for a register; further ones are dropped.
    pub announced: u32,
    /// Time without use after which the temperature of a page is halved.
    pub half_life: Span,
    /// Initial contents.
    pub initial: Initial,
}

/// Placement of pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placement {
    /// Pages of a set; if as many as the cache has, the cache is fully associative.
    pub ways: u32,
    /// Whether pages are hashed to sets; if not, page *n* is in set *n* mod sets.
    pub hashed: bool,
}

/// Replacement policy of a full set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Policy {
    /// The least recently used page.
    Lru,
    /// The oldest page that has not been used since the clock hand passed it (second chance).
    Clock,
    /// The least frequently used page, with all counts halved from time to time; of equal ones the least recently
    /// used.
    Lfu,
    /// Adaptive replacement: a balance of recency and frequency that is shifted by misses (Megiddo and Modha, FAST
    /// 2003, figure 4).
    Arc,
    /// A random page.
    Random,
}

impl Policy {
    /// Every policy, with its name in a scenario.
    pub const ALL: [(&'static str, Self); 5] = [
        ("lru", Self::Lru),
        ("clock", Self::Clock),
        ("lfu", Self::Lfu),
        ("arc", Self::Arc),
        ("random", Self::Random),
    ];
}

/// Fetching of pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fill {
    /// Unit of fetches \[B\]: a page, or 512 B, 1 KiB or 2 KiB of it.
    pub sector: Bytes,
    /// Whether waiting lines are answered as soon as the sector has arrived from the medium; if not, when they have
    /// been read from the cache.
    pub forward: bool,
}

/// Handling of writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Write {
    /// Whether a write miss fetches the rest of its page at once; if not, the rest is fetched when it is read, or
    /// when the page is evicted.
    pub fetch: bool,
    /// Whether a write is answered when it has been accepted; if not, when it is in the cache's memory.
    pub early: bool,
}

/// The miss-status holding registers (MSHR).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Registers {
    /// Number of registers: of sectors being fetched at a time.
    pub count: u32,
    /// Number of reads that a register answers as soon as its sector arrives. Further reads of the sector are read
    /// from the cache afterwards, or wait at the front of the queue if hits do not pass.
    pub targets: u32,
    /// Whether requests that need no register of their own (hits, and reads of sectors being fetched) pass requests
    /// that wait for one; if not, all wait behind them.
    pub hits_pass: bool,
}

/// Cleaning of dirty pages before their eviction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cleaning {
    /// Share of dirty pages above which cleaning begins; 0: as soon as any page is dirty.
    pub high: f64,
    /// Share of dirty pages at which cleaning ends.
    pub low: f64,
    /// Number of pages cleaned at a time.
    pub at_once: u32,
}

/// Prefetching.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Prefetch {
    /// Number of runs of consecutive pages that are tracked.
    pub streams: u32,
    /// Length of a run from which on it is prefetched \[pages\].
    pub trigger: u32,
    /// Number of pages fetched ahead of a run.
    pub degree: u32,
}

/// Initial contents.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Initial {
    /// Empty.
    Empty,
    /// The result of random visits to a working set, drawn at random instead of simulated: see [`super::PageCache`].
    Warm {
        /// Start of the working set; a multiple of [`PAGE`].
        first: u64,
        /// Its size.
        size: Bytes,
        /// The share of the cached pages that are dirty: [`dirty_share`].
        dirty: f64,
        /// Size of the part at its end that is visited so often that it is always cached, and never written: page
        /// tables.
        tables: Bytes,
    },
}

/// Probability that a page is dirty after `touches` touches since it was fetched, each with a probability `writes` of
/// a write.
#[must_use]
pub fn dirty_after(writes: f64, touches: f64) -> f64 {
    1.0 - libm::pow(1.0 - writes, touches)
}

/// Share of dirty pages in the long run of a cache without cleaning, if a share `writes` of the visits to pages write
/// and a share `hits` of them hit.
///
/// A page is dirty after a visit if that wrote, or if it hit a dirty page: p = w + (1 − w) · h · p. The probability
/// of a hit does not depend on previous accesses, which holds for random visits under LRU and under random
/// replacement.
#[must_use]
pub fn dirty_share(writes: f64, hits: f64) -> f64 {
    let kept = (1.0 - writes) * hits;
    if kept >= 1.0 { 0.0 } else { (writes / (1.0 - kept)).min(1.0) }
}

/// A mistake in a [`CacheConfig`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct BadCache {
    /// The field, as a path: `placement.ways`.
    pub field: &'static str,
    /// The problem.
    pub problem: String,
    /// The remedy.
    pub remedy: String,
}

impl fmt::Display for BadCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (help: {})", self.field, self.problem, self.remedy)
    }
}

impl core::error::Error for BadCache {}

impl Mistake for BadCache {
    fn new(field: &'static str, problem: String, remedy: String) -> Self {
        Self { field, problem, remedy }
    }
}

type Mistakes = crate::mistakes::Mistakes<BadCache>;

/// Largest number of frames: an index in the directory has 32 bits.
const MOST_FRAMES: u64 = 1 << 30;

impl CacheConfig {
    /// Number of sets.
    #[must_use]
    pub const fn sets(&self) -> u64 {
        self.capacity.0 / PAGE / self.placement.ways as u64
    }
    /// Number of pages that fit; an incomplete set is not used.
    #[must_use]
    pub const fn frames(&self) -> u64 {
        self.sets() * self.placement.ways as u64
    }
    /// Number of pages visible to the host.
    #[must_use]
    pub const fn pages(&self) -> u64 {
        self.device.0 / PAGE
    }
    /// Every mistake in it; none if a [`super::PageCache`] can be built.
    #[must_use]
    pub fn mistakes(&self) -> Vec<BadCache> {
        let mut found = Mistakes::none();
        self.sizes(&mut found);
        self.bounds(&mut found);
        if let Initial::Warm { first, size, dirty, tables } = self.initial {
            let end = first.checked_add(size.0);
            found.unless(
                first.is_multiple_of(PAGE)
                    && size.0.is_multiple_of(PAGE)
                    && end.is_some_and(|end| end <= self.device.0),
                "initial.size",
                format!("{} B from {first} B on are no pages of the device", size.0),
                format!("multiples of {PAGE} B, at most {} B together", self.device.0),
            );
            found.share("initial.dirty", dirty);
            found.unless(
                tables <= size && tables.0.is_multiple_of(PAGE),
                "initial.tables",
                format!("{} B are no pages of a working set of {} B", tables.0, size.0),
                format!("a multiple of {PAGE} B, at most {} B", size.0),
            );
        }
        found.0
    }
    fn sizes(&self, found: &mut Mistakes) {
        let (device, capacity, ways) = (self.device.0, self.capacity.0, u64::from(self.placement.ways));
        found.unless(
            device > 0 && device.is_multiple_of(PAGE) && device / PAGE < u64::from(u32::MAX),
            "device",
            format!("{device} B is no number of pages that can be kept account of"),
            format!("a positive multiple of {PAGE} B below 16 TiB"),
        );
        found.unless(
            capacity <= device,
            "capacity",
            format!("a cache of {capacity} B is larger than the device of {device} B that it caches"),
            format!("at most {device} B"),
        );
        found.unless(
            capacity / PAGE <= MOST_FRAMES,
            "capacity",
            format!("a cache of {capacity} B has more pages than can be kept account of"),
            "at most 4 TiB",
        );
        found.unless(
            ways > 0 && capacity / PAGE >= ways,
            "placement.ways",
            format!("a cache of {capacity} B has no set of {ways} pages"),
            format!("1 to {}", capacity / PAGE),
        );
        let sector = self.fill.sector.0;
        found.unless(
            [512, 1024, 2048, PAGE].contains(&sector),
            "fill.sector",
            format!("{sector} B is no sector"),
            "512 B, 1 KiB, 2 KiB or 4 KiB",
        );
    }
    fn bounds(&self, found: &mut Mistakes) {
        found.within("registers.count", self.registers.count.into(), 1, 1 << 16);
        found.within("registers.targets", self.registers.targets.into(), 1, 1 << 16);
        found.within("write_backs", self.write_backs.into(), 1, 1 << 16);
        found.unless(
            self.half_life > Span::ZERO,
            "half_life",
            "temperatures would be forgotten at once",
            "a positive time",
        );
        if let Some(cleaning) = self.cleaning {
            found.share("cleaning.high", cleaning.high);
            found.share("cleaning.low", cleaning.low);
            found.unless(
                cleaning.low <= cleaning.high,
                "cleaning.low",
                format!("{} is above the high watermark {}", cleaning.low, cleaning.high),
                "at most the high watermark",
            );
            found.within("cleaning.at_once", cleaning.at_once.into(), 1, self.write_backs.into());
        }
        if let Some(prefetch) = self.prefetch {
            found.within("prefetch.streams", prefetch.streams.into(), 1, 4096);
            found.within("prefetch.trigger", prefetch.trigger.into(), 1, 4096);
            found.within("prefetch.degree", prefetch.degree.into(), 1, 4096);
        }
    }
}
