//! What can be said of an adapter.

use lanetwin_fabric::ethernet::spec::Tagging;
use lanetwin_fabric::roce::logic::requester::Limits;
use lanetwin_fabric::roce::spec::PathMtu;
use lanetwin_ports::{Dimension, Param, Params};
use lanetwin_units::Span;

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
];

/// The parameters, as the adapter uses them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) tagging: Tagging,
    pub(super) tx_latency: Span,
    pub(super) rx_latency: Span,
    pub(super) ahead: u32,
    pub(super) burst: u32,
    pub(super) wqe_bytes: u32,
    pub(super) wqe_latency: Span,
    pub(super) wqe_interval: Span,
    pub(super) wqe_in_doorbell: bool,
    pub(super) cqe_bytes: u32,
    registration_bytes: u32,
    registration_inline: u32,
    registration_interval: Span,
    limits: Limits,
}

/// An entry of a list of pages \[B\] (Linux, `drivers/infiniband/hw/mlx5`, MTT).
const PAGE_ENTRY_BYTES: u32 = 8;

/// A size that is small by its nature: what is more is as much as there can be.
fn small(params: &Params, name: &str) -> u32 {
    params.size(name).0.clamp(1, 1 << 24) as u32
}

impl Rules {
    pub(super) fn new(params: &Params) -> Self {
        let count = |name| params.count(name) as u32;
        let endless = params.count("roce.not-ready-retries") == 7;
        Self {
            tagging: if params.flag("ethernet.vlan") { Tagging::Tagged } else { Tagging::Untagged },
            tx_latency: params.time("tx.latency"),
            rx_latency: params.time("rx.latency"),
            ahead: small(params, "tx.ahead"),
            burst: small(params, "tx.burst"),
            wqe_bytes: small(params, "wqe.bytes"),
            wqe_latency: params.time("wqe.latency"),
            wqe_interval: params.time("wqe.interval"),
            wqe_in_doorbell: params.flag("wqe.in-doorbell"),
            cqe_bytes: small(params, "cqe.bytes"),
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
    /// What is read of a work request that registers so many pages \[B\], and how long that occupies the adapter.
    pub(super) fn registration(&self, pages: u32) -> (u32, Span) {
        let list = pages * PAGE_ENTRY_BYTES;
        match list {
            0 => (0, Span::ZERO),
            _ if list <= self.registration_inline => (self.registration_bytes + list, Span::ZERO),
            _ => (self.registration_bytes + list, self.registration_interval),
        }
    }
    /// How a connection with this MTU is set up.
    pub(super) const fn limits(&self, mtu: PathMtu) -> Limits {
        Limits { mtu, ..self.limits }
    }
}
