//! Parameters of an adapter.

use lanetwin_fabric::ethernet::spec::Tagging;
use lanetwin_fabric::roce::logic::dcqcn;
use lanetwin_fabric::roce::logic::requester::Limits;
use lanetwin_fabric::roce::spec::PathMtu;
use lanetwin_ports::{Condition, Dimension, Mistake, Param, Params, Setting};
use lanetwin_units::{Instant, Span};

/// Parameters of congestion control, pauses and an internal target have no effect without it.
pub(super) const CONDITIONS: &[Condition] = &[
    Condition { of: &["dcqcn."], on: "roce.congestion", must_be: Setting::Word("dcqcn") },
    Condition { of: &["pause.response"], on: "pause", must_be: Setting::On },
    Condition { of: &["pause.storm.for"], on: "pause.storm.at", must_be: Setting::Above0 },
    Condition { of: &["offload."], on: "offload", must_be: Setting::On },
];

/// The largest payload of a frame that adapters of Ethernet carry \[B\]: jumbo frames have 9000 B to 9216 B.
const LARGEST_FRAME: u64 = 9216;

/// Everything about these parameters that makes an adapter impossible.
pub(super) fn mistakes(params: &Params) -> Vec<Mistake> {
    let mtu = params.size("ethernet.mtu").0;
    let too_large = (mtu > LARGEST_FRAME).then(|| Mistake {
        parameter: "ethernet.mtu",
        problem: format!("no frame carries {mtu} B"),
        remedy: format!("{LARGEST_FRAME}B at most; 1500B and 9000B are usual"),
    });
    too_large.into_iter().collect()
}

pub(super) const PARAMS: &[Param] = &[
    Param {
        name: "issue",
        dimension: Dimension::Time,
        default: Some("20ns"),
        about: "from a TLP being possible (its data ready, its tag free) to it being offered to the link",
    },
    Param {
        name: "ethernet.rate",
        dimension: Dimension::Choice(&["1", "10", "25", "40", "50", "100", "200", "400"]),
        default: Some("100"),
        about: "the highest rate of an Ethernet port, in Gb/s",
    },
    Param {
        name: "ethernet.mtu",
        dimension: Dimension::Size,
        default: Some("1500B"),
        about: "the largest payload of its frames; a connection takes the MTU of RoCE that fits those of both ends",
    },
    Param {
        name: "ethernet.vlan",
        dimension: Dimension::Flag,
        default: Some("false"),
        about: "whether frames have a VLAN tag",
    },
    Param {
        name: "ethernet.priority",
        dimension: Dimension::Count { least: 0, most: 7 },
        default: Some("3"),
        about: "the priority of its frames at switches; more goes first",
    },
    Param {
        name: "ethernet.ecn",
        dimension: Dimension::Flag,
        default: Some("true"),
        about: "whether its frames may be marked by switches with long queues",
    },
    Param {
        name: "pause",
        dimension: Dimension::Flag,
        default: Some("false"),
        about: "whether it obeys pause frames, 802.3x and PFC; switches send some where they are told to",
    },
    Param {
        name: "pause.response",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "from the last bit of a pause frame to no frame being begun with; 0 is the longest that IEEE 802.3 allows",
    },
    Param {
        name: "pause.storm.at",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "a fault: from then on it asks its switch for a pause of its priority (PFC) again and again, whatever it has to take in; 0 is never",
    },
    Param {
        name: "pause.storm.for",
        dimension: Dimension::Time,
        default: Some("10s"),
        about: "for how long; 10s is longer than most runs",
    },
    Param {
        name: "tx.latency",
        dimension: Dimension::Time,
        default: Some("150ns"),
        about: "from a packet's data being in the adapter to its first bit being on the line",
    },
    Param {
        name: "rx.latency",
        dimension: Dimension::Time,
        default: Some("150ns"),
        about: "from a packet's last bit to its data being offered to PCIe, or to its answer being ready",
    },
    Param {
        name: "fetch",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "what the adapter itself adds to each read of host memory, of data or work requests, beside PCIe and the memory",
    },
    Param {
        name: "rx-usecs",
        dimension: Dimension::Time,
        default: Some("0us"),
        about: "of TCP: how long no frame has to come until the adapter interrupts an idle core (ethtool -C rx-usecs); one at work on what came before finds frames without an interrupt",
    },
    Param {
        name: "rx-frames",
        dimension: Dimension::Count { least: 1, most: 65_535 },
        default: Some("128"),
        about: "of TCP: how many frames are enough for an interrupt at once (ethtool -C rx-frames)",
    },
    Param {
        name: "tx.ahead",
        dimension: Dimension::Size,
        default: Some("64KiB"),
        about: "how far the adapter reads data ahead of the line, for each queue pair",
    },
    Param {
        name: "tx.burst",
        dimension: Dimension::Size,
        default: Some("16KiB"),
        about: "how much a queue pair sends before it is another one's turn, if that has something",
    },
    Param {
        name: "wqe.bytes",
        dimension: Dimension::Size,
        default: Some("64B"),
        about: "the size of a work request in host memory",
    },
    Param {
        name: "wqe.latency",
        dimension: Dimension::Time,
        default: Some("100ns"),
        about: "from a work request being in the adapter to its data being asked for",
    },
    Param {
        name: "wqe.interval",
        dimension: Dimension::Time,
        default: Some("5ns"),
        about: "the least time between two work requests that the adapter begins with: its rate of messages",
    },
    Param {
        name: "wqe.in-doorbell",
        dimension: Dimension::Flag,
        default: Some("true"),
        about: "whether a doorbell that is as large as the only work request brings it, so that it need not be read from host memory",
    },
    Param {
        name: "registration.bytes",
        dimension: Dimension::Size,
        default: Some("192B"),
        about: "the size of the work request that registers memory, without its list of pages",
    },
    Param {
        name: "registration.inline",
        dimension: Dimension::Size,
        default: Some("64B"),
        about: "the longest list of pages (8B each) that stands in that work request; a longer one is read from host memory",
    },
    Param {
        name: "registration.interval",
        dimension: Dimension::Time,
        default: Some("770ns"),
        about: "how long a registration occupies the adapter whose list it has to read",
    },
    Param {
        name: "cqe.bytes",
        dimension: Dimension::Size,
        default: Some("64B"),
        about: "the size of a completion entry",
    },
    Param {
        name: "roce.reads",
        dimension: Dimension::Count { least: 1, most: 255 },
        default: Some("16"),
        about: "how many RDMA READs a queue pair may have outstanding",
    },
    Param {
        name: "roce.ack-every",
        dimension: Dimension::Count { least: 1, most: 32768 },
        default: Some("256"),
        about: "an acknowledgement is asked for every so many packets, and with the last of a message",
    },
    Param {
        name: "roce.window",
        dimension: Dimension::Count { least: 1, most: 1 << 22 },
        default: Some("32768"),
        about: "how many packets of a queue pair may be on their way without an acknowledgement",
    },
    Param {
        name: "roce.timeout",
        dimension: Dimension::Time,
        default: Some("1073741us"),
        about: "how long nothing may come through before packets are sent again (Local ACK Timeout)",
    },
    Param {
        name: "roce.retries",
        dimension: Dimension::Count { least: 0, most: 7 },
        default: Some("7"),
        about: "how often in a row, before the connection is lost",
    },
    Param {
        name: "roce.not-ready",
        dimension: Dimension::Time,
        default: Some("10us"),
        about: "how long to wait when the peer had no receive posted (RNR timer)",
    },
    Param {
        name: "roce.not-ready-retries",
        dimension: Dimension::Count { least: 0, most: 7 },
        default: Some("7"),
        about: "how often in a row, before the connection is lost; 7 is without end",
    },
    Param {
        name: "roce.congestion",
        dimension: Dimension::Choice(&["none", "dcqcn"]),
        default: Some("none"),
        about: "what it does about marked frames; dcqcn wants switches that mark, and `ethernet.ecn`, at both ends",
    },
    Param {
        name: "dcqcn.cnp-priority",
        dimension: Dimension::Count { least: 0, most: 7 },
        default: Some("6"),
        about: "the priority of the packets that tell of congestion (CNP)",
    },
    Param {
        name: "dcqcn.cnp-interval",
        dimension: Dimension::Time,
        default: Some("50us"),
        about: "the least time between two of them of a queue pair",
    },
    Param {
        name: "dcqcn.gain",
        dimension: Dimension::Choice(&["1/16", "1/32", "1/64", "1/128", "1/256", "1/512", "1/1024"]),
        default: Some("1/256"),
        about: "how fast alpha, the measure of congestion, follows (g)",
    },
    Param {
        name: "dcqcn.alpha-timer",
        dimension: Dimension::Time,
        default: Some("55us"),
        about: "alpha decays each time that so long no CNP came",
    },
    Param {
        name: "dcqcn.rate-timer",
        dimension: Dimension::Time,
        default: Some("55us"),
        about: "the rate of a queue pair is increased each time so long after a CNP",
    },
    Param {
        name: "dcqcn.byte-counter",
        dimension: Dimension::Size,
        default: Some("10MB"),
        about: "and each time that so much was sent",
    },
    Param {
        name: "dcqcn.fast-recovery",
        dimension: Dimension::Count { least: 1, most: 1000 },
        default: Some("5"),
        about: "so many increases of each kind go back towards the old rate, before they go beyond it (F)",
    },
    Param {
        name: "dcqcn.additive",
        dimension: Dimension::Rate,
        default: Some("5MB/s"),
        about: "what additive increase adds each time (40 Mb/s)",
    },
    Param {
        name: "dcqcn.hyper",
        dimension: Dimension::Rate,
        default: Some("50MB/s"),
        about: "what hyper increase adds, times how often there has been one (400 Mb/s)",
    },
    Param {
        name: "dcqcn.least",
        dimension: Dimension::Rate,
        default: Some("5MB/s"),
        about: "no queue pair is slower (40 Mb/s)",
    },
    Param {
        name: "offload",
        dimension: Dimension::Flag,
        default: Some("false"),
        about: "whether it can be a target by itself: it takes commands out of capsules and drives the queues of drives, without cores of the host",
    },
    Param {
        name: "offload.command",
        dimension: Dimension::Time,
        default: Some("150ns"),
        about: "of a target within: how long a capsule occupies it, up to the doorbell of the drive",
    },
    Param {
        name: "offload.data",
        dimension: Dimension::Time,
        default: Some("80ns"),
        about: "of a target within: how long the data of a write occupy it that do not come in the capsule: once for the RDMA READ, once when they are there",
    },
    Param {
        name: "offload.complete",
        dimension: Dimension::Time,
        default: Some("100ns"),
        about: "of a target within: how long a completion entry of a drive occupies it, up to data and response being posted",
    },
    Param {
        name: "offload.poll",
        dimension: Dimension::Time,
        default: Some("200ns"),
        about: "of a target within: from a completion entry having been read to the next look at its queue",
    },
];

/// The parameters, as the adapter uses them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) tagging: Tagging,
    pub(super) tx_latency: Span,
    pub(super) rx_latency: Span,
    /// Its own part of a read of host memory.
    pub(super) fetch: Span,
    /// Interrupt moderation of sockets: time without a frame, and number of frames.
    pub(super) moderation: (Span, u32),
    pub(super) ahead: u32,
    pub(super) burst: u32,
    pub(super) wqe_bytes: u32,
    pub(super) wqe_latency: Span,
    pub(super) wqe_interval: Span,
    pub(super) wqe_in_doorbell: bool,
    pub(super) cqe_bytes: u32,
    /// `None` without congestion control.
    pub(super) dcqcn: Option<dcqcn::Rules>,
    pub(super) cnp_priority: u8,
    /// Begin and end of a fault in which it asks for pauses.
    pub(super) storm: Option<(Instant, Instant)>,
    /// Response time to pause frames, 0 for the longest allowed; `None` if it ignores them.
    pub(super) pause_response: Option<Span>,
    registration_bytes: u32,
    registration_inline: u32,
    registration_interval: Span,
    limits: Limits,
}

/// An entry of a list of pages \[B\] (Linux, `drivers/infiniband/hw/mlx5`, MTT).
const PAGE_ENTRY_BYTES: u32 = 8;

/// A size that is small by nature; larger values are limited.
fn small(params: &Params, name: &str) -> u32 {
    params.size(name).0.clamp(1, 1 << 24) as u32
}

/// The rules of DCQCN. Least values of the timer and the byte counter bound the cost of idle times.
fn congestion(params: &Params) -> dcqcn::Rules {
    let timer = |name| params.time(name).as_ps().max(1_000_000);
    let rate = |name| params.rate(name).saturating_mul(8);
    let gain = params.choice("dcqcn.gain").trim_start_matches("1/").parse::<u32>().unwrap_or(256);
    dcqcn::Rules {
        cnp_interval: params.time("dcqcn.cnp-interval").as_ps(),
        gain_shift: gain.ilog2(),
        alpha_timer: timer("dcqcn.alpha-timer"),
        rate_timer: timer("dcqcn.rate-timer"),
        byte_counter: params.size("dcqcn.byte-counter").0.max(1 << 12),
        fast: params.count("dcqcn.fast-recovery") as u32,
        additive: rate("dcqcn.additive").max(1_000_000),
        hyper: rate("dcqcn.hyper"),
        least: rate("dcqcn.least").max(1_000_000),
    }
}

impl Rules {
    pub(super) fn new(params: &Params) -> Self {
        let count = |name| params.count(name) as u32;
        let endless = params.count("roce.not-ready-retries") == 7;
        Self {
            tagging: if params.flag("ethernet.vlan") { Tagging::Tagged } else { Tagging::Untagged },
            tx_latency: params.time("tx.latency"),
            rx_latency: params.time("rx.latency"),
            fetch: params.time("fetch"),
            moderation: (params.time("rx-usecs"), count("rx-frames")),
            ahead: small(params, "tx.ahead"),
            burst: small(params, "tx.burst"),
            wqe_bytes: small(params, "wqe.bytes"),
            wqe_latency: params.time("wqe.latency"),
            wqe_interval: params.time("wqe.interval"),
            wqe_in_doorbell: params.flag("wqe.in-doorbell"),
            cqe_bytes: small(params, "cqe.bytes"),
            dcqcn: (params.choice("roce.congestion") == "dcqcn").then(|| congestion(params)),
            cnp_priority: params.count("dcqcn.cnp-priority") as u8,
            storm: storm(params),
            pause_response: params.flag("pause").then(|| params.time("pause.response")),
            registration_bytes: small(params, "registration.bytes"),
            registration_inline: small(params, "registration.inline"),
            registration_interval: params.time("registration.interval"),
            limits: Limits {
                mtu: PathMtu::B256,
                reads: count("roce.reads"),
                ack_every: count("roce.ack-every"),
                window: params.count("roce.window"),
                timeout: params.time("roce.timeout").as_ps().max(1),
                retries: count("roce.retries"),
                not_ready: params.time("roce.not-ready").as_ps(),
                not_ready_retries: (!endless).then_some(count("roce.not-ready-retries")),
            },
        }
    }
    /// Bytes read for a work request that registers `pages` pages \[B\], and the time that it occupies the adapter.
    pub(super) fn registration(&self, pages: u32) -> (u32, Span) {
        let list = pages * PAGE_ENTRY_BYTES;
        match list {
            0 => (0, Span::ZERO),
            _ if list <= self.registration_inline => (self.registration_bytes + list, Span::ZERO),
            _ => (self.registration_bytes + list, self.registration_interval),
        }
    }
    /// Limits of a connection with this MTU.
    pub(super) const fn limits(&self, mtu: PathMtu) -> Limits {
        Limits { mtu, ..self.limits }
    }
}

/// Begin and end of a fault in which an adapter asks for pauses; `None` without a fault.
fn storm(params: &Params) -> Option<(Instant, Instant)> {
    let at = params.time("pause.storm.at");
    let begins = Instant::ZERO + at;
    (at > Span::ZERO).then(|| (begins, begins + params.time("pause.storm.for")))
}
