//! The keys of a scenario: every section and every key, declared once.
//!
//! Checking, defaults and the JSON Schema come from these tables. The parameters of a component come from its model,
//! the keys of a load from its kind of workload.

mod drives;
mod machine;
mod search;
mod sweep;

pub(crate) use drives::ACTION;
pub(crate) use machine::{COMPONENT, FLITS, INTERLEAVE, LINK, PARTITION, SUBSYSTEM};
pub(crate) use search::{PRICE, PRICES, SEARCH};
pub(crate) use sweep::{AXIS, CHEAPEST, MOST_POINTS, SAMPLE, SWEEP};

use crate::kind::Kind;
use crate::kinds::{KINDS, memory};
use crate::words::{Field, Holds, count, field, one_of, optional, required};
use lanetwin_ports::Dimension;

/// The document.
pub(crate) const DOCUMENT: &[Field] = &[
    required("about", Holds::Text, "the question, in a sentence"),
    required("machine", Holds::Named(COMPONENT), "the components: names and their parts"),
    optional("links", Holds::Named(LINK), "the links: names and what they join"),
    optional(
        "partitions",
        Holds::Named(PARTITION),
        "the parts of PCIe switches that several hosts share: names and, for each, whose it is and what is in it",
    ),
    optional(
        "subsystems",
        Holds::Named(SUBSYSTEM),
        "the drives that hosts offer over a network (NVMe over Fabrics): names and, for each, which drives by which adapter",
    ),
    optional(
        "interleave",
        Holds::Named(INTERLEAVE),
        "CXL memory that is spread over several devices: names and the devices; every other device is a node of its own",
    ),
    optional(
        "workloads",
        Holds::Named(WORKLOAD),
        "the workloads: names and what is asked of what; without them the machine is checked, and nothing is run",
    ),
    optional(
        "variants",
        Holds::Variants,
        "the variants: names and, for each, paths and the values they change to",
    ),
    optional(
        "sweep",
        Holds::Swept(SWEEP),
        "what `lanetwin sweep` goes through: paths and the values that they take",
    ),
    optional(
        "search",
        Holds::Swept(SEARCH),
        "what `lanetwin search` looks for, and the paths that it varies if they are others than those of `sweep`",
    ),
    optional("prices", Holds::Section(PRICES), "what parts cost and draw, for `lanetwin search`"),
    optional("compare", Holds::Section(COMPARE), "how the variants are compared"),
    optional("run", Holds::Section(RUN), "how often and for how long"),
    optional(
        "files",
        Holds::Texts,
        "the texts of files that workloads and links name, by these names; a complete plan has them, otherwise they are read",
    ),
    optional("origins", Holds::Ignored, "who set each value of a complete plan; not read"),
];

/// A workload: initiators and targets, one of the kinds, and the keys common to all kinds.
pub(crate) const WORKLOAD: &[Field] = &with_kinds::<{ PAIR.len() + KINDS.len() + BESIDE.len() }>();

/// The keys of initiators and targets, of all kinds, and those common to all kinds.
const fn with_kinds<const N: usize>() -> [Field; N] {
    let mut all = [PAIR[0]; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < PAIR.len() {
            PAIR[at]
        } else if at < PAIR.len() + KINDS.len() {
            let Kind { name, about, keys, file, .. } = KINDS[at - PAIR.len()];
            let holds = if file.is_some() { Holds::SectionOfFile(keys) } else { Holds::Section(keys) };
            optional(name, holds, about)
        } else {
            BESIDE[at - PAIR.len() - KINDS.len()]
        };
        at += 1;
    }
    all
}

/// Initiators and targets.
const PAIR: [Field; 2] = [
    required(
        "on",
        Holds::Names,
        "the component that asks, or a list of them, which ask at once: cards for `dma`; for blocks hosts, each with a port of its own of the drives; for `network` and `rdma` hosts whose programs send; for `memory` the host whose cores load and store",
    ),
    optional(
        "target",
        Holds::Names,
        "the component that answers, or a logical unit of it as in `hba.lun1`; for blocks also a list of them, which are asked at once; for `network` and `rdma` other hosts, whose programs are sent to; for `dma` the only host of the machine if left out",
    ),
];

/// The keys common to all kinds of workload.
const BESIDE: [Field; 4] = [
    optional(
        "steady-state",
        Holds::Section(STEADY_STATE),
        "that each case goes in rounds until it is steady, instead of warm-up and `requests`",
    ),
    optional(
        "programs",
        Holds::Section(PROGRAMS),
        "programs that load and store on the cores of the host that asks, meanwhile: they take turns with its drivers",
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

/// Programs beside a load.
pub(crate) const PROGRAMS: &[Field] = &[
    required(
        "on",
        Holds::Names,
        "the `memory-host` that has the caches and the memory of the host that asks, and as many cores",
    ),
    required("memory", Holds::Section(memory::KIND.keys), memory::KIND.about),
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
    optional(
        "until",
        Holds::Text,
        "repeats are added until each metric that is compared is known so well (`±2%`), its verdict is decided, or the budget is spent",
    ),
    field(
        "budget",
        Holds::One(Dimension::Time),
        "15s",
        "CPU time that a case may cost in each variant until it is steady, if nobody says how long it is, and `until` is met, all repeats together; counted in events, ten million a second",
    ),
    field("seed", Holds::One(count(0, u64::MAX)), "1", "the seed of all random numbers"),
];
