//! The parameters of a root complex: as declared, and as numbers.

use super::memory::Latency;
use lanetwin_pcie::logic::split::CompletionCut;
use lanetwin_ports::{Condition, Dimension, Param, Params, Setting};
use lanetwin_units::Span;

/// An IOMMU that is off translates nothing.
pub(super) const CONDITIONS: &[Condition] = &[
    Condition { of: &["iommu.", "iotlb.", "driver.iommu."], on: "iommu", must_be: Setting::On },
    Condition {
        of: &["driver.arbitration.high", "driver.arbitration.medium", "driver.arbitration.low"],
        on: "driver.arbitration",
        must_be: Setting::Word("weighted"),
    },
    Condition { of: &["target.nvmet."], on: "target.software", must_be: Setting::Word("nvmet") },
    Condition { of: &["target.spdk."], on: "target.software", must_be: Setting::Word("spdk") },
    Condition { of: &["memory.slow-extra"], on: "memory.slow", must_be: Setting::Above0 },
    Condition { of: &["memory.tail-extra"], on: "memory.tail", must_be: Setting::Above0 },
];

pub(super) const PARAMS: &[Param] = &[
    Param {
        name: "cores",
        dimension: Dimension::Count { least: 0, most: 1024 },
        default: Some("0"),
        about: "how many cores the host's software shares, the loads of all its drives in turn; 0 gives each queue pair a core of its own",
    },
    Param {
        name: "ports",
        dimension: Dimension::Count { least: 1, most: 64 },
        default: Some("4"),
        about: "how many root ports there are",
    },
    Param {
        name: "issue",
        dimension: Dimension::Time,
        default: Some("20ns"),
        about: "the least time from a decision of the root complex to a TLP of it being offered to the link",
    },
    Param {
        name: "memory.llc-hit",
        dimension: Dimension::Time,
        default: Some("150ns"),
        about: "from a read request being taken up to its data, if they are in the last-level cache",
    },
    Param {
        name: "memory.dram",
        dimension: Dimension::Time,
        default: Some("220ns"),
        about: "from a read request being taken up to its data, if they are in DRAM",
    },
    Param {
        name: "memory.remote-extra",
        dimension: Dimension::Time,
        default: Some("80ns"),
        about: "what is added when the memory is on the other socket",
    },
    Param {
        name: "memory.remote",
        dimension: Dimension::Flag,
        default: Some("false"),
        about: "whether the memory is on the other socket",
    },
    Param {
        name: "memory.warm",
        dimension: Dimension::Size,
        default: Some("0B"),
        about: "addresses below this are in the last-level cache",
    },
    Param {
        name: "memory.jitter",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "the most that is added to each memory latency, uniformly at random",
    },
    Param {
        name: "memory.slow",
        dimension: Dimension::Ratio,
        default: Some("0"),
        about: "the share of reads, each by itself at random, that take `memory.slow-extra` longer: a second mode of the latency",
    },
    Param {
        name: "memory.slow-extra",
        dimension: Dimension::Time,
        default: Some("200ns"),
        about: "what a read of the second mode takes longer",
    },
    Param {
        name: "memory.tail",
        dimension: Dimension::Ratio,
        default: Some("0"),
        about: "the share of reads, each by itself at random, that are in the tail of the latency",
    },
    Param {
        name: "memory.tail-extra",
        dimension: Dimension::Time,
        default: Some("1us"),
        about: "what a read in the tail takes longer, in the mean of an exponential distribution",
    },
    Param {
        name: "completer.interval",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "the least time between two read requests that a root port takes up; 0 is no limit",
    },
    Param {
        name: "completion.split",
        dimension: Dimension::Choice(&["mps", "rcb-then-mps", "rcb"]),
        default: Some("mps"),
        about: "where the data of a read are cut: at multiples of MPS, once at the next RCB and then every MPS, at every RCB",
    },
    Param {
        name: "completion.order",
        dimension: Dimension::Choice(&["readiness", "fifo"]),
        default: Some("readiness"),
        about: "in which order the reads of a requester are answered: as the data become ready, or in the order of requests",
    },
    Param {
        name: "signal",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "from the arrival of a write that signals to the CPU seeing it",
    },
    Param {
        name: "iommu",
        dimension: Dimension::Flag,
        default: Some("false"),
        about: "whether the addresses of devices are translated; a kernel's drivers then map and unmap each buffer (`driver.iommu`)",
    },
    Param {
        name: "iotlb.entries",
        dimension: Dimension::Count { least: 1, most: 1 << 20 },
        default: Some("64"),
        about: "how many pages the translation cache holds",
    },
    Param {
        name: "iotlb.page",
        dimension: Dimension::Size,
        default: Some("4KiB"),
        about: "the size of a page that a translation is for; at least 4 KiB",
    },
    Param {
        name: "iommu.walk",
        dimension: Dimension::Time,
        default: Some("300ns"),
        about: "the time of a page walk",
    },
    Param {
        name: "iommu.walkers",
        dimension: Dimension::Count { least: 1, most: 1024 },
        default: Some("6"),
        about: "how many page walks can be under way",
    },
];

/// The parameters, as numbers.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) issue: Span,
    pub(super) memory: Latency,
    pub(super) interval: Span,
    pub(super) cut: CompletionCut,
    pub(super) fifo: bool,
    pub(super) signal: Span,
    pub(super) drain: Span,
    pub(super) ingest: Span,
    pub(super) ingest_rate: u64,
}

impl Rules {
    pub(super) fn new(params: &Params) -> Self {
        let time = |name| params.time(name);
        Self {
            issue: time("issue"),
            memory: Latency::new(params),
            interval: time("completer.interval"),
            cut: match params.choice("completion.split") {
                "rcb" => CompletionCut::Rcb,
                "rcb-then-mps" => CompletionCut::RcbThenMps,
                _ => CompletionCut::Mps,
            },
            fifo: params.choice("completion.order") == "fifo",
            signal: time("signal"),
            drain: time("port.drain"),
            ingest: time("port.ingest"),
            ingest_rate: params.rate("port.ingest-rate"),
        }
    }
    /// Time that a TLP with this payload occupies the receiver, as in a buffer drained by the links.
    pub(super) fn occupancy(&self, payload: u64) -> Span {
        let rated = (payload * PS_PER_SECOND).checked_div(self.ingest_rate).unwrap_or(0);
        self.ingest + Span::from_ps(rated)
    }
}

const PS_PER_SECOND: u64 = 1_000_000_000_000;
