//! What a page cache is made of, and every mistake in it at once.

use crate::mistakes::Mistake;
use core::fmt;
use lanetwin_units::{Bytes, Span};

/// What the medium behind the cache is read and written in \[B\].
pub const PAGE: u64 = 4096;
/// What the host reads and writes \[B\].
pub const LINE: u64 = 64;
/// Lines of a page.
pub const LINES: u32 = (PAGE / LINE) as u32;

/// A cache of pages.
#[derive(Clone, PartialEq, Debug)]
pub struct CacheConfig {
    /// What the host sees: the capacity of the medium behind.
    pub device: Bytes,
    /// How much of the cache's memory holds pages.
    pub capacity: Bytes,
    /// Which pages can be where.
    pub placement: Placement,
    /// Who has to go.
    pub policy: Policy,
    /// How pages come in.
    pub fill: Fill,
    /// What becomes of writes.
    pub write: Write,
    /// The miss-status holding registers (MSHR).
    pub registers: Registers,
    /// How many pages can be on their way to the medium at once, evicted and cleaned ones together.
    pub write_backs: u32,
    /// Writing dirty pages back before they have to go; not at all if absent.
    pub cleaning: Option<Cleaning>,
    /// Bringing pages in before they are asked for; not at all if absent.
    pub prefetch: Option<Prefetch>,
    /// How many pages that the host has announced can wait for a register; what is more is forgotten.
    pub announced: u32,
    /// After how long without use the temperature of a page is half of what it was.
    pub half_life: Span,
    /// What is in the cache at the start.
    pub initial: Initial,
}

/// Which pages can be where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placement {
    /// How many pages a set has; as many as the cache has pages makes it fully associative.
    pub ways: u32,
    /// Whether pages are strewn over the sets; if not, page *n* is in set *n* mod sets.
    pub hashed: bool,
}

/// Who has to go when a set is full.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Policy {
    /// The page whose last use is the longest ago.
    Lru,
    /// The oldest page that has not been used since the hand came by (second chance).
    Clock,
    /// The page that was used least often, with all counts halved now and then; among equals the one whose last use is
    /// the longest ago.
    Lfu,
    /// Adaptive replacement: recency and frequency in a balance that misses shift (Megiddo and Modha, FAST 2003, figure
    /// 4).
    Arc,
    /// Any page.
    Random,
}

impl Policy {
    /// Every policy, by the name that a user writes.
    pub const ALL: [(&'static str, Self); 5] = [
        ("lru", Self::Lru),
        ("clock", Self::Clock),
        ("lfu", Self::Lfu),
        ("arc", Self::Arc),
        ("random", Self::Random),
    ];
}

/// How pages come in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fill {
    /// What is fetched at a time \[B\]: a page, or 512 B, 1 KiB or 2 KiB of it.
    pub sector: Bytes,
    /// Whether the lines that are waited for are answered as soon as the sector has come from the medium; if not, when
    /// they have been read from the cache.
    pub forward: bool,
}

/// What becomes of writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Write {
    /// Whether a write that misses fetches the rest of its page at once; if not, the rest is fetched when it is read or
    /// when the page goes.
    pub fetch: bool,
    /// Whether a write is answered when it has been accepted; if not, when it is in the cache's memory.
    pub early: bool,
}

/// The miss-status holding registers (MSHR).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Registers {
    /// How many there are: how many sectors can be on their way in.
    pub count: u32,
    /// How many reads one answers as soon as its sector has come. Further reads of the sector are read from the cache
    /// after that, or wait in front of everybody else where nothing passes.
    pub targets: u32,
    /// Whether requests that need no register of their own, hits and reads of what is on its way, go on while others
    /// wait for one; if not, everybody waits behind them.
    pub hits_pass: bool,
}

/// Writing dirty pages back before they have to go.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cleaning {
    /// Above this share of dirty pages it begins. Zero: as soon as anything is dirty.
    pub high: f64,
    /// At this share it ends.
    pub low: f64,
    /// How many pages are cleaned at once.
    pub at_once: u32,
}

/// Bringing pages in before they are asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Prefetch {
    /// How many runs of consecutive pages are followed at once.
    pub streams: u32,
    /// After how many pages in a row a run is believed.
    pub trigger: u32,
    /// How many pages ahead of a run are brought in.
    pub degree: u32,
}

/// What is in the cache at the start.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Initial {
    /// Nothing.
    Empty,
    /// What random visits to a working set leave, drawn instead of lived through: see [`super::PageCache`].
    Warm {
        /// Where the working set begins; a multiple of [`PAGE`].
        first: u64,
        /// Its size.
        size: Bytes,
        /// The share of the cached pages that are dirty: [`dirty_share`].
        dirty: f64,
        /// How much of its end is visited so often that it is always there, and never written to: page tables.
        tables: Bytes,
    },
}

/// The probability that a page is dirty that came clean and has been touched so often since, each time with a share
/// `writes` of writes.
#[must_use]
pub fn dirty_after(writes: f64, touches: f64) -> f64 {
    1.0 - libm::pow(1.0 - writes, touches)
}

/// The share of dirty pages that a cache without cleaning has in the long run, if a share `writes` of the visits to
/// pages write and a share `hits` of them hit.
///
/// A page is dirty after a visit if that wrote, or if it hit a page that was dirty: p = w + (1 − w) · h · p. A visit
/// hits with the same probability whatever was done before, which is so for random visits under LRU and under random
/// replacement.
#[must_use]
pub fn dirty_share(writes: f64, hits: f64) -> f64 {
    let kept = (1.0 - writes) * hits;
    if kept >= 1.0 { 0.0 } else { (writes / (1.0 - kept)).min(1.0) }
}

/// A mistake in a [`CacheConfig`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct BadCache {
    /// Which field, as a path: `placement.ways`.
    pub field: &'static str,
    /// What is wrong with it.
    pub problem: String,
    /// What to do.
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

/// The most frames that there can be: a place in the directory has 32 bits.
const MOST_FRAMES: u64 = 1 << 30;

impl CacheConfig {
    /// How many sets there are.
    #[must_use]
    pub const fn sets(&self) -> u64 {
        self.capacity.0 / PAGE / self.placement.ways as u64
    }
    /// How many pages fit; what does not make a whole set is not used.
    #[must_use]
    pub const fn frames(&self) -> u64 {
        self.sets() * self.placement.ways as u64
    }
    /// How many pages the host sees.
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
