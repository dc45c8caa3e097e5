//! The parameters of a CXL memory with a medium behind a cache, and the cache that they describe.

use crate::dram_params::{self, DRAM, PAGE_TIME};
use lanetwin_media::page_cache::{
    CacheConfig, Cleaning, Fill, Initial, Placement, Policy, Prefetch, RegisterConfig, Write,
};
use lanetwin_ports::{Condition, Dimension, Mistake, Param, Params, Setting};
use lanetwin_units::Bytes;

const POLICIES: &[&str] = &["lru", "clock", "lfu", "arc", "random"];
const SECTORS: &[&str] = &["512B", "1KiB", "2KiB", "4KiB"];

const fn count(least: u64, most: u64) -> Dimension {
    Dimension::Count { least, most }
}

pub(super) const CONDITIONS: &[Condition] = &[
    Condition { of: &["clean.high", "clean.low"], on: "clean.at-once", must_be: Setting::Above0 },
    Condition { of: &["prefetch."], on: "prefetch.degree", must_be: Setting::Above0 },
    Condition { of: &["initial."], on: "initial", must_be: Setting::Word("warm") },
    PAGE_TIME,
];

#[rustfmt::skip]
pub(super) const PARAMS: &[Param] = &[
    Param { name: "capacity", dimension: Dimension::Size, default: Some("1024GiB"), about: "what the host sees: the capacity of the disk behind, or less" },
    Param { name: "endpoint.ingress", dimension: Dimension::Time, default: Some("60ns"), about: "from a request being out of its flit to the controller" },
    Param { name: "endpoint.egress", dimension: Dimension::Time, default: Some("60ns"), about: "from an answer being known to the link" },
    Param { name: "lookup.interval", dimension: Dimension::Time, default: Some("1250ps"), about: "the least time between two look-ups of the directory" },
    Param { name: "lookup.latency", dimension: Dimension::Time, default: Some("50ns"), about: "from the begin of a look-up to its result" },
    Param { name: "read.accesses", dimension: count(0, 16), default: Some("0"), about: "how many lines the controller reads from the cache's memory for each read, beside the line itself" },
    Param { name: "write.reads", dimension: count(0, 16), default: Some("0"), about: "how many lines the controller reads from the cache's memory before each write: the rest of a code word, an entry of the directory" },
    Param { name: "write.writes", dimension: count(0, 16), default: Some("0"), about: "how many lines the controller writes to the cache's memory with each write, beside the line itself" },
    Param { name: "cache.size", dimension: Dimension::Size, default: Some("48GiB"), about: "the memory of the cache" },
    Param { name: "cache.usable", dimension: Dimension::Size, default: Some("48GiB"), about: "how much of it holds pages; the rest is for the controller" },
    Param { name: "cache.ways", dimension: count(1, 1 << 30), default: Some("16"), about: "how many pages a set of the cache has; as many as there are pages makes it fully associative" },
    Param { name: "cache.hashed", dimension: Dimension::Flag, default: Some("true"), about: "whether pages are strewn over the sets; if not, neighbours are in neighbouring sets" },
    Param { name: "cache.policy", dimension: Dimension::Choice(POLICIES), default: Some("lru"), about: "which page goes when a set is full" },
    Param { name: "fill.sector", dimension: Dimension::Choice(SECTORS), default: Some("4KiB"), about: "what is fetched from the disk for a line that is not there" },
    Param { name: "fill.forward", dimension: Dimension::Flag, default: Some("true"), about: "whether a line that is waited for is answered when it has come from the disk; if not, when it has been read from the cache" },
    Param { name: "write.fetch", dimension: Dimension::Flag, default: Some("true"), about: "whether a write that misses fetches the rest of its page at once; if not, the rest is fetched when it is read or when the page goes" },
    Param { name: "write.early", dimension: Dimension::Flag, default: Some("true"), about: "whether a write is answered when it has been accepted; if not, when the cache's memory has taken it" },
    Param { name: "registers", dimension: count(1, 1 << 16), default: Some("64"), about: "how many sectors can be on their way in (miss-status holding registers)" },
    Param { name: "registers.targets", dimension: count(1, 1 << 16), default: Some("16"), about: "how many reads a register answers as soon as its sector has come; further ones of the sector are read from the cache after that, or hold up the line where nothing passes" },
    Param { name: "registers.hits-pass", dimension: Dimension::Flag, default: Some("true"), about: "whether hits, and reads of what is on its way in, go on while others wait for a register" },
    Param { name: "write-backs", dimension: count(1, 1 << 16), default: Some("64"), about: "how many pages can be on their way to the disk" },
    Param { name: "clean.at-once", dimension: count(0, 1 << 16), default: Some("0"), about: "how many of them can be dirty pages that stay, written back before they have to go; 0 turns cleaning off" },
    Param { name: "clean.high", dimension: Dimension::Ratio, default: Some("0.5"), about: "above this share of dirty pages cleaning begins" },
    Param { name: "clean.low", dimension: Dimension::Ratio, default: Some("0.4"), about: "at this share of dirty pages cleaning ends" },
    Param { name: "prefetch.degree", dimension: count(0, 4096), default: Some("0"), about: "how many pages ahead of a run of pages are brought in; 0 turns prefetching off" },
    Param { name: "prefetch.trigger", dimension: count(1, 4096), default: Some("3"), about: "after how many pages in a row a run is believed" },
    Param { name: "prefetch.streams", dimension: count(1, 4096), default: Some("64"), about: "how many runs are followed at once" },
    Param { name: "hints.pages", dimension: count(0, 1 << 24), default: Some("65536"), about: "how many pages that the host has announced or dismissed can wait until something is done about them" },
    Param { name: "hints.latency", dimension: Dimension::Time, default: Some("2us"), about: "from a hint of the host to its answer: firmware" },
    Param { name: "temperature.half-life", dimension: Dimension::Time, default: Some("1s"), about: "after how long without use the temperature of a page is half of what it was" },
    Param { name: "initial", dimension: Dimension::Choice(&["empty", "warm"]), default: Some("empty"), about: "what is in the cache at the start: nothing, or what random visits to a working set leave, drawn" },
    Param { name: "initial.first", dimension: Dimension::Size, default: Some("0B"), about: "where that working set begins on the device" },
    Param { name: "initial.size", dimension: Dimension::Size, default: Some("1GiB"), about: "how large that working set is" },
    Param { name: "initial.dirty", dimension: Dimension::Ratio, default: Some("0"), about: "the share of cached pages that are dirty at the start" },
    Param { name: "initial.tables", dimension: Dimension::Size, default: Some("0B"), about: "how much of the end of that working set is page tables, which are visited so often that they are always there" },
];

/// DRAM of an FPGA board: three channels of DDR4.
pub(super) const MEMORY: [Param; DRAM.len()] =
    Param::with_defaults(DRAM, &[("dram.speed", "ddr4-2666"), ("dram.channels", "3")]);

fn small(params: &Params, name: &str) -> u32 {
    u32::try_from(params.count(name)).expect("counts are declared with few bits")
}

fn sector(params: &Params) -> Bytes {
    let place = SECTORS.iter().position(|word| *word == params.choice("fill.sector"));
    Bytes(512 << place.expect("the choice is one of these words"))
}

fn policy(params: &Params) -> Policy {
    let named = Policy::ALL.iter().find(|policy| policy.0 == params.choice("cache.policy"));
    named.expect("the choice is one of these words").1
}

/// The cache described by the parameters; [`CacheConfig::mistakes`] says whether it is valid.
pub(super) fn cache(params: &Params) -> CacheConfig {
    let count = |name| small(params, name);
    let at_once = count("clean.at-once");
    let degree = count("prefetch.degree");
    CacheConfig {
        device: params.size("capacity"),
        capacity: params.size("cache.usable"),
        placement: Placement { ways: count("cache.ways"), hashed: params.flag("cache.hashed") },
        policy: policy(params),
        fill: Fill { sector: sector(params), forward: params.flag("fill.forward") },
        write: Write { fetch: params.flag("write.fetch"), early: params.flag("write.early") },
        registers: RegisterConfig {
            count: count("registers"),
            targets: count("registers.targets"),
            hits_pass: params.flag("registers.hits-pass"),
        },
        write_backs: count("write-backs"),
        cleaning: (at_once > 0).then(|| Cleaning {
            high: params.ratio("clean.high"),
            low: params.ratio("clean.low"),
            at_once,
        }),
        prefetch: (degree > 0).then(|| Prefetch {
            streams: count("prefetch.streams"),
            trigger: count("prefetch.trigger"),
            degree,
        }),
        announced: count("hints.pages"),
        half_life: params.time("temperature.half-life"),
        initial: if params.choice("initial") == "warm" {
            Initial::Warm {
                first: params.size("initial.first").0,
                size: params.size("initial.size"),
                dirty: params.ratio("initial.dirty"),
                tables: params.size("initial.tables"),
            }
        } else {
            Initial::Empty
        },
    }
}

/// Everything about these parameters that makes a device impossible.
pub(crate) fn mistakes(params: &Params) -> Vec<Mistake> {
    let cache = cache(params);
    let mut found: Vec<Mistake> = cache
        .mistakes()
        .into_iter()
        .map(|bad| Mistake { parameter: parameter(bad.field), problem: bad.problem, remedy: bad.remedy })
        .collect();
    let (size, usable) = (params.size("cache.size"), cache.capacity);
    if usable > size {
        found.push(Mistake {
            parameter: "cache.usable",
            problem: format!("{} B hold pages of a memory of {} B", usable.0, size.0),
            remedy: format!("at most {} B", size.0),
        });
    }
    found.extend(dram_params::mistakes(params, size, "cache.size"));
    found
}

/// The parameter that a field of the cache's configuration comes from.
fn parameter(field: &str) -> &'static str {
    match field {
        "device" => "capacity",
        "capacity" => "cache.usable",
        "placement.ways" => "cache.ways",
        "fill.sector" => "fill.sector",
        "registers.count" => "registers",
        "registers.targets" => "registers.targets",
        "write_backs" => "write-backs",
        "half_life" => "temperature.half-life",
        "cleaning.high" => "clean.high",
        "cleaning.low" => "clean.low",
        "cleaning.at_once" => "clean.at-once",
        "prefetch.streams" => "prefetch.streams",
        "prefetch.trigger" => "prefetch.trigger",
        "prefetch.degree" => "prefetch.degree",
        "initial.dirty" => "initial.dirty",
        "initial.tables" => "initial.tables",
        _ => "initial.size",
    }
}
