//! Costs of software between a program and an NVMe controller, by I/O engine: parameters of a driver, set by its
//! host. A drive that sets one sets it for its own drivers.
//!
//! ```text
//!  interrupts (libaio, io_uring)     submit ─► doorbell … MSI-X ─► interrupt ─► completion queue ─► complete, for each entry
//!  polling (io_uring-poll, spdk)     submit ─► doorbell … entry ─► poll ──────► completion queue ─► complete, for each entry
//! ```
//!
//! All of it is CPU time of the core that the queue pair belongs to, so it is latency at low rates and the limit of the
//! rate at high ones.

use lanetwin_nvme::spec::feature::Arbitration;
use lanetwin_pcie::link::EndpointId;
use lanetwin_ports::{Dimension, Param, Params};
use lanetwin_units::Span;

/// Purpose of the random numbers.
pub(crate) const SPREAD: &str = "submit and complete";

/// The engines, by their names.
const ENGINES: &[&str] = &["libaio", "io_uring", "io_uring-poll", "spdk"];

/// Arbitration bursts, the place of each being the number that stands for it (NVM Express Base 2.0 §5.27.1.1).
const BURSTS: &[&str] = &["1", "2", "4", "8", "16", "32", "64", "unlimited"];

/// The parameters. All begin with [`lanetwin_ports::HOST_SOFTWARE`].
pub(crate) const PARAMS: &[Param] = &[
    Param {
        name: "driver.engine",
        dimension: Dimension::Choice(ENGINES),
        default: Some("libaio"),
        about: "how programs talk to the kernel, or past it: `io_uring-poll` and `spdk` poll, the others wait for interrupts",
    },
    Param {
        name: "driver.libaio.submit",
        dimension: Dimension::Time,
        default: Some("2300ns"),
        about: "the CPU time of libaio from a request to its doorbell",
    },
    Param {
        name: "driver.libaio.complete",
        dimension: Dimension::Time,
        default: Some("1800ns"),
        about: "the CPU time of libaio for each completion entry, up to the program knowing",
    },
    Param {
        name: "driver.io_uring.submit",
        dimension: Dimension::Time,
        default: Some("900ns"),
        about: "the CPU time of io_uring from a request to its doorbell",
    },
    Param {
        name: "driver.io_uring.complete",
        dimension: Dimension::Time,
        default: Some("600ns"),
        about: "the CPU time of io_uring for each completion entry, up to the program knowing",
    },
    Param {
        name: "driver.io_uring-poll.submit",
        dimension: Dimension::Time,
        default: Some("160ns"),
        about: "the CPU time of io_uring-poll from a request to its doorbell",
    },
    Param {
        name: "driver.io_uring-poll.complete",
        dimension: Dimension::Time,
        default: Some("103ns"),
        about: "the CPU time of io_uring-poll for each completion entry, up to the program knowing",
    },
    Param {
        name: "driver.spdk.submit",
        dimension: Dimension::Time,
        default: Some("42ns"),
        about: "the CPU time of spdk from a request to its doorbell",
    },
    Param {
        name: "driver.spdk.complete",
        dimension: Dimension::Time,
        default: Some("30ns"),
        about: "the CPU time of spdk for each completion entry, up to the program knowing",
    },
    Param {
        name: "driver.interrupt",
        dimension: Dimension::Time,
        default: Some("1us"),
        about: "the CPU time from an interrupt to the first read of the completion queue",
    },
    Param {
        name: "driver.poll",
        dimension: Dimension::Time,
        default: Some("40ns"),
        about: "the time from one poll of a completion queue to the next",
    },
    Param {
        name: "driver.spread",
        dimension: Dimension::Ratio,
        default: Some("0"),
        about: "by what share of its mean each submission and each completion varies, evenly to both sides; 0 is none. Real software varies: a result that changes with `1%` rests on programs that stay in step",
    },
    Param {
        name: "driver.coalescing.entries",
        dimension: Dimension::Count { least: 0, most: 255 },
        default: Some("0"),
        about: "how many completion entries the controller may gather for an interrupt; 0 is no coalescing",
    },
    Param {
        name: "driver.coalescing.time",
        dimension: Dimension::Time,
        default: Some("100us"),
        about: "how long the controller may wait for them, in steps of 100us",
    },
    Param {
        name: "driver.arbitration",
        dimension: Dimension::Choice(&["round-robin", "weighted"]),
        default: Some("round-robin"),
        about: "how the controller chooses among queues: each in turn, or weighted round robin with urgent priority class, by what `prioclass` says of each job of fio",
    },
    Param {
        name: "driver.arbitration.high",
        dimension: Dimension::Count { least: 1, most: 256 },
        default: Some("8"),
        about: "of weighted arbitration: how many commands of queues of high priority are taken in a round",
    },
    Param {
        name: "driver.arbitration.medium",
        dimension: Dimension::Count { least: 1, most: 256 },
        default: Some("4"),
        about: "of weighted arbitration: how many of medium priority",
    },
    Param {
        name: "driver.arbitration.low",
        dimension: Dimension::Count { least: 1, most: 256 },
        default: Some("2"),
        about: "of weighted arbitration: how many of low priority",
    },
    Param {
        name: "driver.arbitration.burst",
        dimension: Dimension::Choice(BURSTS),
        default: Some("1"),
        about: "of weighted arbitration: how many commands of one queue are taken in its turn",
    },
    Param {
        name: "driver.shadow-doorbells",
        dimension: Dimension::Flag,
        default: Some("false"),
        about: "whether the driver writes doorbells to memory (shadow doorbells), and to the register only where the controller waits for it (Doorbell Buffer Config), as for virtual devices",
    },
    Param {
        name: "driver.queue-entries",
        dimension: Dimension::Count { least: 2, most: 65536 },
        default: Some("1024"),
        about: "the size of each submission and completion queue, if the controller allows it",
    },
    Param {
        name: "driver.numa",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "what each access to the drive, and to what it wrote, takes longer if the program runs on the other socket",
    },
    Param {
        name: "driver.ddio",
        dimension: Dimension::Flag,
        default: Some("true"),
        about: "whether completion entries are written into the last-level cache",
    },
    Param {
        name: "driver.cache-miss",
        dimension: Dimension::Time,
        default: Some("90ns"),
        about: "the extra time to read a completion entry from DRAM",
    },
    Param {
        name: "driver.iommu",
        dimension: Dimension::Choice(&["lazy", "strict"]),
        default: Some("lazy"),
        about: "with `iommu` of the host, what a kernel's driver does with a buffer that has been read or written: unmap it and invalidate translations later, many together, or wait for the invalidation of each; spdk maps its memory once",
    },
    Param {
        name: "driver.iommu.map",
        dimension: Dimension::Time,
        default: Some("235ns"),
        about: "the CPU time of mapping the buffer of a command",
    },
    Param {
        name: "driver.iommu.unmap",
        dimension: Dimension::Time,
        default: Some("300ns"),
        about: "the CPU time of unmapping it",
    },
    Param {
        name: "driver.iommu.invalidate",
        dimension: Dimension::Time,
        default: Some("690ns"),
        about: "the CPU time of waiting until its translations are invalid, if that is `strict`",
    },
    Param {
        name: "driver.multipath",
        dimension: Dimension::Choice(&["numa", "round-robin", "queue-depth"]),
        default: Some("numa"),
        about: "which path to a dual-port drive a request takes, by the names of Linux: the first that works, all that work in turn, the one with least in flight",
    },
    Param {
        name: "driver.link-events",
        dimension: Dimension::Flag,
        default: Some("true"),
        about: "whether the driver of a path is notified when its link goes down; if not, it waits for a time-out",
    },
    Param {
        name: "driver.link-loss",
        dimension: Dimension::Time,
        default: Some("100us"),
        about: "from a link going down, or up again, to the driver of the path having heard of it",
    },
    Param {
        name: "driver.timeout",
        dimension: Dimension::Time,
        default: Some("30s"),
        about: "a command of a path that has no completion after this time makes the driver give up the path and reset the controller",
    },
    Param {
        name: "driver.enable",
        dimension: Dimension::Time,
        default: Some("10us"),
        about: "from enabling the controller to its being ready: `CAP.TO` is a bound of it",
    },
];

/// Parameters of the drive that the software reads.
pub(crate) const DRIVE_PARAMS: &[Param] = &[Param {
    name: "queues.entries",
    dimension: Dimension::Count { least: 2, most: 65536 },
    default: Some("1024"),
    about: "the largest queue that the controller allows (MQES + 1); the driver reads it",
}];

/// The parameters, as numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Software {
    pub(crate) submit: Span,
    pub(crate) complete: Span,
    /// Relative variation of the times of submit and complete.
    pub(crate) spread: f64,
    /// Time from an entry in a completion queue to the first look at it.
    pub(crate) notice: Span,
    /// Cost of buffers behind an IOMMU; `None` if memory is mapped permanently.
    pub(crate) mapping: Option<Mapping>,
    /// Time from an interrupt of the admin queue to its handling.
    pub(crate) admin: Span,
    /// Whether the queues are polled.
    pub(crate) polled: bool,
    /// Aggregation threshold and time; `None` if interrupts are not coalesced.
    pub(crate) coalescing: Option<(u8, u8)>,
    /// Weights and burst of weighted round robin; none for round robin.
    pub(crate) weighted: Option<Arbitration>,
    /// Whether doorbells are shadowed in memory.
    pub(crate) shadow_doorbells: bool,
    pub(crate) entries: u32,
    /// Additional time of a doorbell.
    pub(crate) far: Span,
    pub(crate) enable: Span,
    /// Rules of a driver that is one of several paths.
    pub(crate) path: PathRules,
    /// The device in whose memory data are, except writes of at most this many bytes; `None` if all are in host
    /// memory.
    pub(crate) staging: Option<(EndpointId, u32)>,
}

/// Cost, per command, of making a buffer accessible to a device behind an IOMMU.
///
/// The defaults are the cycles of Linux's `intel-iommu` at 3.1 GHz with addresses from per-core caches, as kernels have
/// had them since 4.7: map 727, unmap without the invalidation 930, invalidation 2,135 (M. Malka et al., "rIOMMU:
/// Efficient IOMMU for I/O Devices that Employ Ring Buffers", ASPLOS 2015, table 1; as remembered, so assumed).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mapping {
    pub(crate) map: Span,
    /// With the invalidation, where that is waited for.
    pub(crate) unmap: Span,
}

/// How the driver of a path detects its loss.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathRules {
    /// Whether it is notified of link events.
    pub(crate) link_events: bool,
    /// Time until it is.
    pub(crate) link_loss: Span,
    /// Time limit of a command.
    pub(crate) timeout: Span,
}

impl Software {
    pub(crate) fn new(params: &Params) -> Self {
        let engine = params.choice("driver.engine");
        let of_engine = |what: &str| params.time(&format!("driver.{engine}.{what}"));
        let polled = matches!(engine, "io_uring-poll" | "spdk");
        let far = params.time("driver.numa");
        let miss = if params.flag("driver.ddio") { Span::ZERO } else { params.time("driver.cache-miss") };
        let entries = params.count("driver.coalescing.entries");
        let steps = params.time("driver.coalescing.time").as_ps().div_ceil(COALESCING_STEP.as_ps());
        Self {
            submit: of_engine("submit"),
            complete: of_engine("complete") + miss + far,
            spread: params.ratio("driver.spread"),
            notice: params.time(if polled { "driver.poll" } else { "driver.interrupt" }),
            mapping: (engine != "spdk").then(|| mapping(params)),
            admin: params.time("driver.interrupt"),
            polled,
            coalescing: (entries > 0 && !polled).then(|| (entries as u8, steps.min(255) as u8)),
            weighted: (params.choice("driver.arbitration") == "weighted").then(|| weights(params)),
            shadow_doorbells: params.flag("driver.shadow-doorbells"),
            entries: params.count("driver.queue-entries").min(params.count("queues.entries")) as u32,
            far,
            enable: params.time("driver.enable"),
            path: PathRules {
                link_events: params.flag("driver.link-events"),
                link_loss: params.time("driver.link-loss"),
                timeout: params.time("driver.timeout"),
            },
            staging: None,
        }
    }
}

fn mapping(params: &Params) -> Mapping {
    let is_strict = params.choice("driver.iommu") == "strict";
    let invalidate = if is_strict { params.time("driver.iommu.invalidate") } else { Span::ZERO };
    Mapping { map: params.time("driver.iommu.map"), unmap: params.time("driver.iommu.unmap") + invalidate }
}

/// The Arbitration feature; in its fields weights are counted from 0.
fn weights(params: &Params) -> Arbitration {
    let burst = params.choice("driver.arbitration.burst");
    let burst = BURSTS.iter().position(|word| *word == burst).expect("a choice is one of its words");
    let less_1 = |class: &str| (params.count(&format!("driver.arbitration.{class}")) - 1) as u8;
    Arbitration::ZERO
        .with_burst(burst as u8)
        .and_then(|word| word.with_high_less_1(less_1("high")))
        .and_then(|word| word.with_medium_less_1(less_1("medium")))
        .and_then(|word| word.with_low_less_1(less_1("low")))
        .expect("weights of 1 to 256 and a burst of three bits fill their fields")
}

/// Interrupt coalescing counts time in these (NVM Express Base 2.0, Interrupt Coalescing feature).
const COALESCING_STEP: Span = Span::from_us(100);
