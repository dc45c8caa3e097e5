//! CPU costs of TCP, and of data units or program calls in its stream: parameters of hosts, equal on both sides.
//!
//! Q. Cai et al., "Understanding Host Network Stack Overheads" (SIGCOMM 2021): a core of Linux receives some 42 Gb/s of
//! one stream over 100 Gb/s with all offloads, and copies for half of its time. The defaults are of that order, but not
//! taken from its tables: assumed.

use lanetwin_fabric::tcp::logic::congestion::Algorithm;
use lanetwin_ports::{Dimension, Param, Params, Value};
use lanetwin_units::{Bytes, Span};

/// The parameters. They begin with [`lanetwin_ports::HOST_SOFTWARE`].
pub(crate) const PARAMS: &[Param] = &[
    Param {
        name: "driver.tcp.send",
        dimension: Dimension::Time,
        default: Some("1200ns"),
        about: "of TCP: the CPU time to hand the adapter a segment of up to 64KiB: socket, TCP, IP, the adapter's driver",
    },
    Param {
        name: "driver.tcp.receive",
        dimension: Dimension::Time,
        default: Some("1500ns"),
        about: "of TCP: the CPU time to take in a segment of up to 64KiB that the adapter has joined: the adapter's driver, IP, TCP",
    },
    Param {
        name: "driver.tcp.frame",
        dimension: Dimension::Time,
        default: Some("60ns"),
        about: "of TCP: the CPU time for each frame of a segment that comes: its descriptor, and room for another",
    },
    Param {
        name: "driver.tcp.acknowledge",
        dimension: Dimension::Time,
        default: Some("400ns"),
        about: "of TCP: the CPU time to send or take in a segment without data",
    },
    Param {
        name: "driver.tcp.worker",
        dimension: Dimension::Time,
        default: Some("1us"),
        about: "of TCP: from data being in the socket, or a response being there, to the worker of the queue running, or the program; none where software polls",
    },
    Param {
        name: "driver.tcp.copy",
        dimension: Dimension::Time,
        default: Some("100ns"),
        about: "of TCP: the CPU time to copy 1KiB of what has come to where it belongs; programs, and SPDK as an initiator, copy what they send, too",
    },
    Param {
        name: "driver.tcp.digest",
        dimension: Dimension::Time,
        default: Some("60ns"),
        about: "of NVMe/TCP: the CPU time of the digest (CRC-32C) over 1KiB, at both ends, where digests are used",
    },
    Param {
        name: "driver.tcp.unit",
        dimension: Dimension::Time,
        default: Some("300ns"),
        about: "of TCP: the CPU time to build a data unit of NVMe/TCP, or to take one apart; of programs, of a system call that sends or receives",
    },
    Param {
        name: "driver.tcp.buffer",
        dimension: Dimension::Size,
        default: Some("3MiB"),
        about: "of TCP: the most that may be on its way to this host over one connection (Linux: half of the 6MiB of tcp_rmem)",
    },
    Param {
        name: "driver.tcp.congestion",
        dimension: Dimension::Choice(&["cubic", "dctcp"]),
        default: Some("cubic"),
        about: "of TCP: who decides how much is on its way; dctcp wants switches that mark, and `ethernet.ecn` of the adapters",
    },
    Param {
        name: "driver.tcp.silence",
        dimension: Dimension::Time,
        default: Some("30s"),
        about: "of TCP: data without any answer for so long make the connection lost, and with it what was asked over it",
    },
];

/// CPU costs of TCP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TcpCosts {
    send: Span,
    receive: Span,
    frame: Span,
    acknowledge: Span,
    copy: Span,
    digest: Span,
    /// Whether sent data are copied.
    copies_sent: bool,
    /// The most messages that software sends together, if they wait for its core.
    pub(crate) together: usize,
    /// For each data unit.
    pub(crate) unit: Span,
    /// Time until the worker runs when there is work.
    pub(crate) worker: Span,
    /// Time without data from a peer after which a connection is given up.
    pub(crate) silence: Span,
}

impl TcpCosts {
    /// `polled` if software does not wait to be woken.
    pub(crate) fn new(params: &Params, polled: bool) -> Self {
        let of = |what: &str| params.time(&format!("driver.tcp.{what}"));
        Self {
            send: of("send"),
            receive: of("receive"),
            frame: of("frame"),
            acknowledge: of("acknowledge"),
            copy: of("copy"),
            digest: of("digest"),
            copies_sent: false,
            together: 1,
            unit: of("unit"),
            worker: if polled { Span::ZERO } else { of("worker") },
            silence: of("silence"),
        }
    }
    /// The same for software that copies sent data, or does not.
    pub(crate) fn copying_sent(self, copies_sent: bool) -> Self {
        Self { copies_sent, ..self }
    }
    /// The same for software that sends up to this many messages together.
    pub(crate) const fn sending_together(self, together: usize) -> Self {
        Self { together, ..self }
    }
    /// Cost of sending a segment of `bytes`.
    pub(crate) fn sending(&self, bytes: u32) -> Span {
        match bytes {
            0 => self.acknowledge,
            _ if self.copies_sent => self.send + self.copying(bytes.into()),
            _ => self.send,
        }
    }
    /// Cost of receiving `bytes` in frames of `segment` bytes.
    pub(crate) fn receiving(&self, bytes: u32, segment: u32) -> Span {
        let whole = if bytes == 0 { self.acknowledge } else { self.receive };
        whole + self.frame * u64::from(bytes.div_ceil(segment))
    }
    /// Cost of copying `bytes`.
    pub(crate) fn copying(&self, bytes: u64) -> Span {
        per_kib(self.copy, bytes)
    }
    /// Cost of a digest over `bytes`.
    pub(crate) fn digesting(&self, bytes: u64) -> Span {
        per_kib(self.digest, bytes)
    }
}

fn per_kib(each: Span, bytes: u64) -> Span {
    Span::from_ps(each.as_ps() * bytes / 1024)
}

/// Receive buffer \[B\] and congestion control algorithm of a host.
#[must_use]
pub fn limits(host: &Params) -> (u32, Algorithm) {
    let buffer = match host.0.get("driver.tcp.buffer") {
        Some(Value::Size(Bytes(bytes))) => (*bytes).clamp(1 << 16, 1 << 28) as u32,
        _ => 3 << 20,
    };
    let algorithm = match host.0.get("driver.tcp.congestion") {
        Some(Value::Choice("dctcp")) => Algorithm::Dctcp,
        _ => Algorithm::Cubic,
    };
    (buffer, algorithm)
}
