//! Parameters of a memory host.

use super::cache::{Index, Replacement, Shape};
use super::clock::Following;
use super::translation::TranslationRules;
use super::uncore::Uncore;
use crate::dram_params::{DRAM_NAMES, PAGE_TIME};
use lanetwin_ports::{Condition, Dimension, Param, Params, Setting};
use lanetwin_units::Span;

macro_rules! param {
    ($name:literal, $dimension:expr, $default:literal, $about:literal) => {
        Param { name: $name, dimension: $dimension, default: Some($default), about: $about }
    };
}

const fn count(least: u64, most: u64) -> Dimension {
    Dimension::Count { least, most }
}

pub(super) const CORES: &[Param] = &[
    param!(
        "sockets",
        count(1, 2),
        "1",
        "how many sockets there are, each with its cores, last-level cache and DRAM"
    ),
    param!("cores", count(1, 1024), "8", "how many cores a socket has"),
    param!("threads", count(1, 8), "1", "how many hardware threads a core has"),
    param!(
        "core.slice",
        Dimension::Time,
        "0ns",
        "how long a thread runs before the next one of its hardware thread has its turn; 0 lets all run at once"
    ),
    param!("core.issue", Dimension::Time, "500ps", "the least time between two steps of a thread"),
    param!(
        "core.misses",
        count(1, 256),
        "16",
        "how many loads and stores of a core can be outstanding behind its first level: fill buffers"
    ),
    param!(
        "core.writes",
        count(0, 256),
        "16",
        "how many lines of a core can be on their way to memory: write-backs and streaming stores; 0: they take fill buffers"
    ),
    param!(
        "core.window",
        count(1, 128),
        "128",
        "how many steps a thread can be ahead of its oldest load without data: the reorder buffer, in steps"
    ),
    param!(
        "prefetch",
        Dimension::Choice(&["off", "next-line", "stream"]),
        "off",
        "what is asked for before it is needed: nothing, the next line, or the next lines of ascending or descending streams"
    ),
    param!(
        "prefetch.depth",
        count(1, 63),
        "16",
        "how many lines a stream is prefetched ahead, within a page of 4 KiB"
    ),
    param!(
        "prefetch.outstanding",
        count(1, 256),
        "32",
        "how many lines of a core's prefetcher can be outstanding"
    ),
];

pub(super) const CACHES: &[Param] = &[
    param!("l1.size", Dimension::Size, "48KiB", "the first-level data cache of a core; 0 is none"),
    param!("l1.ways", count(1, 64), "12", "the ways of the first-level cache"),
    param!("l1.latency", Dimension::Time, "2ns", "from the issue of a load to its data from there"),
    param!("l2.size", Dimension::Size, "2MiB", "a second-level cache; 0 is none"),
    param!("l2.ways", count(1, 64), "16", "the ways of the second-level cache"),
    param!("l2.latency", Dimension::Time, "6ns", "from the issue of a load to its data from there"),
    param!("l2.cores", count(1, 64), "1", "how many cores share a second-level cache"),
    param!("llc.size", Dimension::Size, "32MiB", "the last-level cache of a socket; 0 is none"),
    param!("llc.ways", count(1, 64), "16", "the ways of the last-level cache"),
    param!("llc.latency", Dimension::Time, "25ns", "from the issue of a load to its data from there"),
    param!(
        "llc.replacement",
        Dimension::Choice(&["lru", "random"]),
        "lru",
        "which of its lines goes when another comes"
    ),
    param!(
        "llc.index",
        Dimension::Choice(&["modulo", "hashed"]),
        "modulo",
        "which of its sets a line is in: consecutive lines fill all sets alike, or sets are filled at random"
    ),
    param!(
        "llc.filled-by",
        Dimension::Choice(&["memory", "evictions"]),
        "memory",
        "whether it takes in what comes from memory, or what the second level evicts (and gives up what that takes back)"
    ),
];

pub(super) const MEMORY: &[Param] = &[
    param!(
        "uncore.latency",
        Dimension::Time,
        "40ns",
        "from a core past its caches to memory or a CXL port and back, without those: the mean over lines"
    ),
    param!(
        "uncore.spread",
        Dimension::Time,
        "0ns",
        "by how much that is longer for the farthest line than for the nearest, as lines go by slices at different distances; every length between is as frequent"
    ),
    param!(
        "uncore.clock",
        Dimension::Choice(&["fixed", "follows-load"]),
        "fixed",
        "whether the uncore always has its greatest clock, or one that rises and falls with its traffic"
    ),
    param!(
        "uncore.slowest",
        Dimension::Ratio,
        "0.5",
        "of a clock that follows its load: the least, as a share of the greatest"
    ),
    param!(
        "uncore.busy",
        Dimension::Rate,
        "50GB/s",
        "of a clock that follows its load: what a socket's memory moves when it reaches the greatest"
    ),
    param!(
        "uncore.period",
        Dimension::Time,
        "10us",
        "of a clock that follows its load: how long traffic is counted before it changes; short enough here for a short run to see it settle"
    ),
    param!("dram.size", Dimension::Size, "64GiB", "the DRAM of a socket"),
    param!(
        "dram",
        Dimension::Choice(&["timed", "simple"]),
        "timed",
        "whether it is banks and controllers (`dram.speed` and all that follows it), or a latency and a bandwidth"
    ),
    param!(
        "dram.latency",
        Dimension::Time,
        "45ns",
        "of simple DRAM: from a line at the memory controller to its data"
    ),
    param!(
        "dram.bandwidth",
        Dimension::Rate,
        "200GB/s",
        "of simple DRAM: what that of a socket moves, reads and writes together"
    ),
    // `assumed`: three links of UPI 2.0, 24 lanes at 16 GT/s each, carry 144 GB/s each way, two thirds of it lines; two
    // sockets of Sapphire Rapids are some 77 ns apart (Liu et al., ASPLOS 2025, table 1, not looked up again)
    param!(
        "socket.latency",
        Dimension::Time,
        "77ns",
        "what the other socket's memory takes longer, there and back"
    ),
    param!("socket.bandwidth", Dimension::Rate, "96GB/s", "what goes from one socket to the other, each way"),
    param!(
        "ports",
        count(0, 64),
        "1",
        "how many CXL ports there are, in equal shares on the sockets in their order"
    ),
    param!(
        "cxl.latency",
        Dimension::Time,
        "0ns",
        "what a line takes in the host's CXL logic beside its link and the uncore"
    ),
    param!(
        "cxl.outstanding",
        count(1, 4096),
        "512",
        "how many lines the host keeps track of at a CXL port; others wait"
    ),
];

pub(super) const CONDITIONS: &[Condition] = &[
    Condition { of: &["l1."], on: "l1.size", must_be: Setting::Above0 },
    Condition { of: &["l2."], on: "l2.size", must_be: Setting::Above0 },
    Condition { of: &["llc."], on: "llc.size", must_be: Setting::Above0 },
    Condition { of: &["prefetch."], on: "prefetch", must_be: Setting::Not("off") },
    Condition { of: &["prefetch.depth"], on: "prefetch", must_be: Setting::Word("stream") },
    Condition { of: &["tlb."], on: "tlb.entries", must_be: Setting::Above0 },
    Condition { of: &["tlb.first.miss"], on: "tlb.first.entries", must_be: Setting::Above0 },
    Condition {
        of: &["uncore.slowest", "uncore.busy", "uncore.period"],
        on: "uncore.clock",
        must_be: Setting::Word("follows-load"),
    },
    Condition { of: &DRAM_NAMES, on: "dram", must_be: Setting::Word("timed") },
    PAGE_TIME,
    Condition { of: &["dram.latency", "dram.bandwidth"], on: "dram", must_be: Setting::Word("simple") },
    Condition { of: &["socket."], on: "sockets", must_be: Setting::Several },
    Condition { of: &["cxl.latency", "cxl.outstanding"], on: "ports", must_be: Setting::Above0 },
];

/// Kind of prefetcher.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Prefetch {
    Off,
    NextLine,
    Stream,
}

/// Parameters of a host that several of its parts need.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) sockets: u32,
    pub(super) cores: u32,
    pub(super) threads: u32,
    /// Time slice of a thread; 0 if threads of a hardware thread run simultaneously.
    pub(super) slice: Span,
    pub(super) issue: Span,
    pub(super) misses: u32,
    pub(super) writes: u32,
    pub(super) window: u32,
    pub(super) prefetch: Prefetch,
    pub(super) depth: u32,
    pub(super) prefetches: u32,
    pub(super) l1: Shape,
    pub(super) l2: Shape,
    pub(super) llc: Shape,
    pub(super) l1_latency: Span,
    pub(super) l2_latency: Span,
    pub(super) llc_latency: Span,
    /// Cores that share a second level.
    pub(super) sharing: u32,
    /// Whether evictions of the second level fill the last.
    pub(super) exclusive: bool,
    /// `None` if every translation is available at once.
    pub(super) translation: Option<TranslationRules>,
    pub(super) uncore: Uncore,
    /// `None` if the clock of the uncore is always at its maximum.
    pub(super) clock: Option<Following>,
    pub(super) socket_latency: Span,
    /// Time per line from one socket to the other \[ps\].
    pub(super) socket_line: Span,
    pub(super) cxl_latency: Span,
    pub(super) cxl_outstanding: u32,
}

impl Rules {
    pub(super) fn new(params: &Params) -> Self {
        let number = |name: &str| params.count(name) as u32;
        let shape = |level: &str, replacement, index| Shape {
            lines: params.size(&format!("{level}.size")).0 / 64,
            ways: params.count(&format!("{level}.ways")),
            replacement,
            index,
        };
        let lru = |level| shape(level, Replacement::Lru, Index::Modulo);
        let random = params.choice("llc.replacement") == "random";
        let hashed = params.choice("llc.index") == "hashed";
        let llc = shape(
            "llc",
            if random { Replacement::Random } else { Replacement::Lru },
            if hashed { Index::Hashed } else { Index::Modulo },
        );
        Self {
            sockets: number("sockets"),
            cores: number("cores"),
            threads: number("threads"),
            slice: params.time("core.slice"),
            issue: params.time("core.issue").max(Span::from_ps(1)),
            misses: number("core.misses"),
            writes: number("core.writes"),
            window: number("core.window"),
            prefetch: match params.choice("prefetch") {
                "next-line" => Prefetch::NextLine,
                "stream" => Prefetch::Stream,
                _ => Prefetch::Off,
            },
            depth: number("prefetch.depth"),
            prefetches: number("prefetch.outstanding"),
            l1: lru("l1"),
            l2: lru("l2"),
            llc,
            l1_latency: params.time("l1.latency"),
            l2_latency: params.time("l2.latency"),
            llc_latency: params.time("llc.latency"),
            sharing: number("l2.cores"),
            exclusive: params.choice("llc.filled-by") == "evictions",
            translation: TranslationRules::new(params),
            uncore: Uncore::new(params.time("uncore.latency"), params.time("uncore.spread")),
            clock: Following::new(params, per_line(params.rate("uncore.busy"))),
            socket_latency: params.time("socket.latency"),
            socket_line: per_line(params.rate("socket.bandwidth")),
            cxl_latency: params.time("cxl.latency"),
            cxl_outstanding: number("cxl.outstanding"),
        }
    }
    /// Hardware threads.
    pub(super) const fn cpus(&self) -> u32 {
        self.sockets * self.cores * self.threads
    }
}

/// Time of a line of 64 B at this rate, at least 1 ps if there is a rate.
pub(super) fn per_line(bytes_per_second: u64) -> Span {
    Span::from_ps(64_000_000_000_000_u64.checked_div(bytes_per_second).unwrap_or(0))
}
