//! The words of a scenario: every section, every key, declared once.
//!
//! Checking, defaults and the JSON Schema come from these tables; a component's parameters come from its model.

mod drives;
mod memory;

pub(crate) use drives::{ACTION, PTS};
pub(crate) use memory::{MEMORY, PAGES, PART, PLACEMENT, PROGRAM};

use lanetwin_document::declaration::{Field, Holds};
use lanetwin_ports::Dimension;

const fn field(name: &'static str, holds: Holds, default: &'static str, about: &'static str) -> Field {
    Field { name, holds, default: Some(default), required: false, about }
}
const fn required(name: &'static str, holds: Holds, about: &'static str) -> Field {
    Field { name, holds, default: None, required: true, about }
}
const fn optional(name: &'static str, holds: Holds, about: &'static str) -> Field {
    Field { name, holds, default: None, required: false, about }
}

const fn one_of(words: &'static [&'static str]) -> Holds {
    Holds::One(Dimension::Choice(words))
}
const fn count(least: u64, most: u64) -> Dimension {
    Dimension::Count { least, most }
}

/// The document.
pub(crate) const DOCUMENT: &[Field] = &[
    required("about", Holds::Text, "the question, in a sentence"),
    required("machine", Holds::Named(COMPONENT), "the components: names and their parts"),
    optional("links", Holds::Named(LINK), "the links: names and what they join"),
    optional(
        "interleave",
        Holds::Named(INTERLEAVE),
        "CXL memory that is spread over several devices: names and the devices; every other device is a node of its own",
    ),
    required("workloads", Holds::Named(WORKLOAD), "the workloads: names and what is asked of what"),
    optional(
        "variants",
        Holds::Variants,
        "the variants: names and, for each, paths and the values they change to",
    ),
    optional("compare", Holds::Section(COMPARE), "how the variants are compared"),
    optional("run", Holds::Section(RUN), "how often and for how long"),
    optional(
        "files",
        Holds::Texts,
        "the texts of files that workloads and links name, by these names; a complete plan has them, otherwise they are read",
    ),
    optional("origins", Holds::Ignored, "who set each value of a complete plan; not read"),
];

/// A component, beside its parameters.
pub(crate) const COMPONENT: &[Field] = &[
    optional("part", Holds::Text, "the part it is, by the name of its file"),
    optional("model", Holds::Text, "the model it is, instead of a part"),
];

/// A link.
pub(crate) const LINK: &[Field] = &[
    required("from", Holds::Text, "one end: a component, or a port of it as in `host.slot1`"),
    required("to", Holds::Text, "the other end"),
    optional(
        "gen",
        Holds::Generation,
        "the generation it runs at: 1 to 5, of CXL 3 to 6; otherwise the best both ends reach",
    ),
    optional("width", Holds::Width, "the number of its lanes: x1 to x32; otherwise the most both ends have"),
    optional(
        "mps",
        Holds::One(Dimension::Size),
        "the Maximum Payload Size; otherwise the largest that all ports of the hierarchy support",
    ),
    field(
        "clocking",
        one_of(&["common", "srns", "sris"]),
        "common",
        "one reference clock, or separate ones without or with spread spectrum: how often SKP is sent",
    ),
    field("propagation", Holds::One(Dimension::Time), "1ns", "the time of flight, one way"),
    field(
        "ber",
        Holds::Many(Dimension::Ratio),
        "0",
        "the bit error ratio of each direction; a list has one for each segment between retimers, from the root on",
    ),
    optional(
        "channel",
        Holds::Text,
        "the description of its channel, as a path from the folder of the scenario, instead of `ber`: bit errors are those of its eyes",
    ),
    optional("channel-variant", Holds::Text, "which variant of the channel it is; otherwise the first"),
    optional(
        "eyes",
        Holds::Ignored,
        "what a complete plan says of the segments of its channel: loss, margin, bit error ratio; not read",
    ),
    optional(
        "nak",
        Holds::One(Dimension::Time),
        "from a corrupted TLP to its NAK leaving the receiver; otherwise the ACK latency limit",
    ),
    field(
        "recovery",
        Holds::One(Dimension::Time),
        "20us",
        "how long a Recovery takes that bit errors cause: a corrupted sync header, or one TLP four times in a row",
    ),
    field(
        "dllp",
        one_of(&["lump", "each", "off"]),
        "lump",
        "how ACK and UpdateFC pay for the wire: in a lump, one by one, or not at all",
    ),
    field("skp", one_of(&["on", "off"]), "on", "whether SKP ordered sets are sent"),
    field(
        "via",
        Holds::Stages,
        "",
        "what stands in it: the parts of retimers and redrivers, or plain latencies, one way each",
    ),
    field(
        "weight",
        Holds::One(count(1, 128)),
        "1",
        "how often what comes in over it has its turn, at a switch whose arbitration is `weighted`",
    ),
    field(
        "down",
        Holds::List(DOWN),
        "",
        "when it is down, as while a port is hot-plugged: from when on, for how long",
    ),
    field(
        "io",
        Holds::One(Dimension::Rate),
        "0GB/s",
        "of CXL: what CXL.io moves beside memory, in each direction",
    ),
    optional(
        "flit",
        one_of(FLITS),
        "of CXL: its flits; otherwise those of 68 B up to 32 GT/s and standard ones of 256 B at 64 GT/s",
    ),
];

/// The flits that a link of CXL can have.
pub(crate) const FLITS: &[&str] = &["68B", "256B", "256B-latency-optimised"];

/// Several devices of CXL that are one node.
pub(crate) const INTERLEAVE: &[Field] = &[
    required("targets", Holds::Names, "the devices, in the order of their turns: 2, 3, 4, 6, 8, 12 or 16"),
    field(
        "granularity",
        Holds::One(Dimension::Size),
        "4KiB",
        "how much goes to one device before the next has its turn: a power of two from 256B to 16KiB",
    ),
    optional(
        "base",
        Holds::One(Dimension::Size),
        "its first host physical address; otherwise behind what is before it",
    ),
];

/// An outage of a link.
pub(crate) const DOWN: &[Field] = &[
    required("at", Holds::One(Dimension::Time), "when it goes down"),
    required("for", Holds::One(Dimension::Time), "for how long"),
];

/// A workload.
pub(crate) const WORKLOAD: &[Field] = &[
    required(
        "on",
        Holds::Names,
        "the component that asks, or a list of them, which ask at once: cards for `dma`; for `block`, `fio` and `iometer` hosts, each with a port of its own of the drives",
    ),
    optional(
        "target",
        Holds::Names,
        "the component that answers, or a logical unit of it as in `hba.lun1`; for `block`, `fio` and `iometer` also a list of them, which are asked at once; for `dma` the only host of the machine if left out",
    ),
    optional("dma", Holds::Section(DMA), "direct memory accesses of a device"),
    optional("block", Holds::Section(BLOCK), "reads and writes of blocks"),
    optional(
        "fio",
        Holds::Section(FIO),
        "reads and writes of blocks, as a job file of fio has them, or as its options here say",
    ),
    optional("iometer", Holds::Section(IOMETER), "reads and writes of blocks, as a file of Iometer has them"),
    optional(
        "pts",
        Holds::Section(PTS),
        "a test of the SNIA Performance Test Specification through all sizes and mixes on one drive",
    ),
    optional("memory", Holds::Section(MEMORY), "loads and stores of the cores of a host"),
    optional(
        "steady-state",
        Holds::Section(STEADY_STATE),
        "that each case goes in rounds until it is steady, instead of warm-up and `requests`",
    ),
    optional(
        "actions",
        Holds::List(ACTION),
        "what is asked of the drives beside the load, at times of the run: logs, Format NVM, Sanitize, Compare and others",
    ),
    optional(
        "takeover",
        Holds::One(Dimension::Time),
        "of a workload on several hosts: how long after one has lost a drive another asks in its place; without it requests wait for the link",
    ),
];

/// The rule of the SNIA PTS.
pub(crate) const STEADY_STATE: &[Field] = &[
    required("round", Holds::One(Dimension::Time), "how long a round is, in virtual time"),
    field("of", one_of(&["iops", "throughput", "latency"]), "iops", "what has to be steady"),
    field(
        "rounds",
        Holds::One(count(5, 1000)),
        "25",
        "how many rounds there are at most, if it does not become steady before",
    ),
    field(
        "least",
        Holds::One(count(5, 1000)),
        "5",
        "how many rounds there are at least, even if it is steady before",
    ),
];

const PATTERN: Holds = one_of(&["random", "sequential"]);
const ARRIVALS: Holds = one_of(&["poisson", "fixed"]);

/// A DMA load.
pub(crate) const DMA: &[Field] = &[
    field(
        "operation",
        one_of(&["read", "write", "mixed"]),
        "read",
        "the device reads the memory of the target, writes it, or both in turn",
    ),
    required("size", Holds::Many(Dimension::Size), "bytes a transfer"),
    field("window", Holds::One(Dimension::Size), "8KiB", "the buffer that addresses are drawn from"),
    field("pattern", PATTERN, "random", "the order of the addresses"),
    field("cache", one_of(&["warm", "cold"]), "warm", "whether the buffer is in the last-level cache before"),
    field(
        "outstanding",
        Holds::Many(count(1, 65_536)),
        "64",
        "transfers in flight of each device, a new one for each that is done",
    ),
    optional(
        "rate",
        Holds::Many(Dimension::Rate),
        "payload offered by each device, whether or not it can be served; instead of `outstanding`",
    ),
    field("arrivals", ARRIVALS, "poisson", "how the transfers of a `rate` are spaced"),
    field(
        "transfers",
        Holds::One(count(1, 100_000_000)),
        "10000",
        "transfers that are measured in a case, of all devices together",
    ),
];

/// A block load.
pub(crate) const BLOCK: &[Field] = &[
    required("size", Holds::Many(Dimension::Size), "bytes a request"),
    field(
        "depth",
        Holds::Many(count(1, 65_536)),
        "1",
        "requests in flight at each device, a new one for each that is done",
    ),
    optional(
        "rate",
        Holds::Many(Dimension::Rate),
        "payload offered to each device, whether or not it can be served; instead of `depth`",
    ),
    field("arrivals", ARRIVALS, "poisson", "how the requests of a `rate` are spaced"),
    field("read", Holds::One(Dimension::Ratio), "100%", "the share of reads"),
    field("pattern", PATTERN, "random", "the order of the addresses"),
    field("span", Holds::One(Dimension::Size), "1GiB", "the part of the medium that is used"),
    field(
        "requests",
        Holds::One(count(1, 100_000_000)),
        "10000",
        "requests that are measured in a case, of all devices together",
    ),
];

/// A load from a job file of fio, or of its options.
pub(crate) const FIO: &[Field] = &[
    optional(
        "file",
        Holds::Text,
        "the job file, as a path from the folder of the scenario; instead of options here",
    ),
    optional("section", Holds::Names, "the sections of the file whose jobs run; otherwise all"),
    field("capacity", Holds::One(Dimension::Size), "64GiB", "the size of each target"),
    field(
        "requests",
        Holds::One(count(1, 100_000_000)),
        "10000",
        "I/Os that are measured in a phase, of all its jobs together; fewer if its jobs end before",
    ),
    optional("ba", Holds::Text, "what random addresses are multiples of"),
    optional("bs", Holds::Text, "the sizes of its blocks, as fio reads them (`4k`, `4k,8k`)"),
    optional("bsrange", Holds::Text, "ranges of block sizes"),
    optional("bssplit", Holds::Text, "block sizes with their shares"),
    optional("direct", Holds::Text, "whether it goes past the page cache; 1 if left out"),
    optional("group_reporting", Holds::Text, "1 to tell all its clones together"),
    optional("io_size", Holds::Text, "how many bytes it moves in all"),
    optional("iodepth", Holds::Text, "I/Os in flight of each clone"),
    optional("ioengine", Holds::Text, "the engine; not modelled"),
    optional(
        "latency_percentile",
        Holds::Text,
        "the share of I/Os that must keep `latency_target` in percent",
    ),
    optional("latency_target", Holds::Text, "the latency for which the largest depth is searched"),
    optional("latency_window", Holds::Text, "over which time it is looked at"),
    optional("norandommap", Holds::Text, "1 if random addresses may come again in a pass"),
    optional("number_ios", Holds::Text, "how many I/Os it makes in all"),
    optional("numjobs", Holds::Text, "how many clones of it run at once"),
    optional("offset", Holds::Text, "where it begins on the device"),
    optional("offset_increment", Holds::Text, "how far behind one clone the next begins"),
    optional("percentage_random", Holds::Text, "the share of random addresses in percent"),
    optional("percentile_list", Holds::Text, "the percentiles of its results"),
    optional("ramp_time", Holds::Text, "how long it runs before it is measured, at most"),
    optional(
        "random_distribution",
        Holds::Text,
        "how random addresses are spread: `zipf:1.2`, `pareto:0.2`, `normal`, `zoned:60/10:40/90`",
    ),
    optional("rate", Holds::Text, "bytes a second, at most"),
    optional("rate_iops", Holds::Text, "I/Os a second, at most"),
    optional("rate_process", Holds::Text, "`poisson` for random gaps"),
    optional("read_iolog", Holds::Text, "the log that it replays, as a path from the folder of the scenario"),
    optional("replay_no_stall", Holds::Text, "1 to replay as fast as possible"),
    optional("replay_time_scale", Holds::Text, "how fast time goes in a replay in percent"),
    optional("runtime", Holds::Text, "how long it is measured, at most"),
    optional("rw", Holds::Text, "which I/Os: `read`, `write`, `rw`, `randread`, `randwrite`, `randrw`"),
    optional("rwmixread", Holds::Text, "the share of reads in percent"),
    optional("rwmixwrite", Holds::Text, "the share of writes in percent"),
    optional("size", Holds::Text, "how much of the device it uses"),
    optional("ss", Holds::Text, "the rule of its steady state: `iops:10%`"),
    optional("ss_dur", Holds::Text, "over which time it must hold"),
    optional("thinktime", Holds::Text, "how long it waits after `thinktime_blocks`"),
    optional("thinktime_blocks", Holds::Text, "I/Os from one wait to the next"),
    optional("time_based", Holds::Text, "1 to run until `runtime` is over"),
    optional("understood", Holds::Ignored, "what the jobs of a complete plan say; not read"),
];
/// The keys of [`FIO`] that are no options of fio.
pub(crate) const NO_OPTIONS: [&str; 5] = ["file", "section", "capacity", "requests", "understood"];

/// A load from a configuration of Iometer.
pub(crate) const IOMETER: &[Field] = &[
    required("file", Holds::Text, "the configuration (`.icf`), as a path from the folder of the scenario"),
    optional(
        "spec",
        Holds::Names,
        "the access specification, a case for each of a list; otherwise those that the worker is assigned, or all disk workers if none is named",
    ),
    optional(
        "worker",
        Holds::Text,
        "the worker whose outstanding I/Os, maximum disk size and starting sector are used; otherwise the first disk worker",
    ),
    optional(
        "outstanding",
        Holds::Many(count(1, 65_536)),
        "I/Os in flight on each target; otherwise what the worker has, or 1 without a worker",
    ),
    field("capacity", Holds::One(Dimension::Size), "1GiB", "the size of each target"),
    field("sector", Holds::One(Dimension::Size), "512B", "the sector of each target"),
    field(
        "requests",
        Holds::One(count(1, 100_000_000)),
        "10000",
        "I/Os that are measured in a case, of all targets together; the run time of the file is not used",
    ),
    optional("understood", Holds::Ignored, "what the specifications of a complete plan say; not read"),
];

/// The comparison.
pub(crate) const COMPARE: &[Field] = &[
    optional("baseline", Holds::Text, "the variant the others are held against; otherwise the first"),
    field(
        "equivalent_within",
        Holds::One(Dimension::Ratio),
        "2%",
        "the difference below which two results are equivalent",
    ),
];

/// The run.
pub(crate) const RUN: &[Field] = &[
    field(
        "repeats",
        Holds::One(count(1, 10_000)),
        "5",
        "independent repetitions of every case, for the confidence intervals",
    ),
    field(
        "warm-up",
        Holds::Text,
        "auto",
        "transfers before measuring starts, or `auto`: until a steady state is seen",
    ),
    field("seed", Holds::One(count(0, u64::MAX)), "1", "the seed of all random numbers"),
];
