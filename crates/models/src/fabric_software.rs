//! Costs of NVMe over Fabrics software on both sides: parameters of hosts.
//!
//! ```text
//!  host      submit (that of the engine, then register and post) ─► doorbell … interrupt ─► each entry ─► complete
//!  target    interrupt ─► command ─► the drive's driver ─► respond ─► doorbell     RDMA READ: interrupt ─► data ─► …
//! ```
//!
//! All of it is CPU time of a core: latency at low rates, and a limit of the rate at high ones.

use crate::nvme_software;
use crate::tcp_socket::TcpCosts;
use lanetwin_ports::{Dimension, Param, Params};
use lanetwin_units::Span;

/// Parameters of the host that connects, beside those of its engine. They begin with
/// [`lanetwin_ports::HOST_SOFTWARE`].
pub(crate) const HOST_PARAMS: &[Param] = &[
    Param {
        name: "driver.rdma.submit",
        dimension: Dimension::Time,
        default: Some("600ns"),
        about: "of NVMe/RDMA: the CPU time from a command to its doorbell beyond that of a drive at hand: mapping its memory, posting registration and SEND",
    },
    Param {
        name: "driver.rdma.complete",
        dimension: Dimension::Time,
        default: Some("300ns"),
        about: "of NVMe/RDMA: the CPU time for each completion entry of the adapter; a command has two, of its SEND and of its response",
    },
    Param {
        name: "driver.rdma.queue-entries",
        dimension: Dimension::Count { least: 16, most: 1024 },
        default: Some("128"),
        about: "of NVMe/RDMA: the size of each I/O queue, as far as the target allows it",
    },
    Param {
        name: "driver.rdma.disconnect-timeout",
        dimension: Dimension::Time,
        default: Some("4608ms"),
        about: "of NVMe/RDMA: how long a disconnect request (DREQ) waits for its reply before it is sent again (Linux, drivers/infiniband/core: 4096ms of response, twice 256ms of packet life)",
    },
    Param {
        name: "driver.rdma.disconnect-retries",
        dimension: Dimension::Count { least: 0, most: 15 },
        default: Some("15"),
        about: "of NVMe/RDMA: how often a disconnect request is sent again (Linux, CMA_MAX_CM_RETRIES)",
    },
    Param {
        name: "driver.keep-alive",
        dimension: Dimension::Time,
        default: Some("5s"),
        about: "of several paths over a network: the Keep Alive Timeout (KATO), after which a path that does not answer is lost; Linux has 5s",
    },
    Param {
        name: "driver.reconnect-delay",
        dimension: Dimension::Time,
        default: Some("10s"),
        about: "of several paths over a network: from the loss of a path to the first attempt to connect again, and from one that fails to the next (Linux, reconnect_delay)",
    },
    Param {
        name: "driver.connect-timeout",
        dimension: Dimension::Time,
        default: Some("3s"),
        about: "of several paths over a network: how long an attempt to connect again waits for its answer (Linux, NVME_RDMA_CM_TIMEOUT_MS; by TCP one SYN that is sent again)",
    },
    Param {
        name: "driver.ctrl-loss-timeout",
        dimension: Dimension::Time,
        default: Some("600s"),
        about: "of several paths over a network: how long it is tried to connect again before the path is given up, in attempts of driver.reconnect-delay (Linux, ctrl_loss_tmo)",
    },
    Param {
        name: "driver.fast-io-fail",
        dimension: Dimension::Time,
        default: Some("0s"),
        about: "of several paths over a network: how long after its loss a path is waited for by requests that no other path takes; then they end with an error (Linux, fast_io_fail_tmo); 0s is for ever, which Linux writes as -1",
    },
];

/// Parameters of the host whose drives are exported.
///
/// SPDK's are calibrated as a sum: with those of its driver (42 ns, 30 ns) a read takes 722 ns of a core, 1.39 M/s,
/// beside nearly 1.2 M/s of one core of 2018 (spdk/spdk issue 321) and at least 1.37 M/s of each of eight cores that
/// filled their lines (SPDK 24.05 report). How it is divided is assumed.
pub(crate) const TARGET_PARAMS: &[Param] = &[
    Param {
        name: "target.software",
        dimension: Dimension::Choice(&["nvmet", "spdk"]),
        default: Some("nvmet"),
        about: "what offers drives over a fabric: the target of the Linux kernel, which waits for interrupts, or SPDK, which polls",
    },
    Param {
        name: "target.nvmet.interrupt",
        dimension: Dimension::Time,
        default: Some("2us"),
        about: "of nvmet: from a completion entry of the adapter to a worker handling it: interrupt, then work queue",
    },
    Param {
        name: "target.nvmet.command",
        dimension: Dimension::Time,
        default: Some("900ns"),
        about: "of nvmet: the CPU time from a command capsule to a request of the block layer",
    },
    Param {
        name: "target.nvmet.data",
        dimension: Dimension::Time,
        default: Some("500ns"),
        about: "of nvmet: the CPU time to post an RDMA READ, and again to go on when its data are there",
    },
    Param {
        name: "target.nvmet.respond",
        dimension: Dimension::Time,
        default: Some("600ns"),
        about: "of nvmet: the CPU time to post data and response of a command that is done",
    },
    Param {
        name: "target.nvmet.submit",
        dimension: Dimension::Time,
        default: Some("500ns"),
        about: "of nvmet: the CPU time of the block layer and the driver of a drive from a request to its doorbell",
    },
    Param {
        name: "target.nvmet.complete",
        dimension: Dimension::Time,
        default: Some("400ns"),
        about: "of nvmet: the same for each completion entry of a drive",
    },
    Param {
        name: "target.spdk.command",
        dimension: Dimension::Time,
        default: Some("390ns"),
        about: "of SPDK: the CPU time from a command capsule to a request for a drive",
    },
    Param {
        name: "target.spdk.data",
        dimension: Dimension::Time,
        default: Some("200ns"),
        about: "of SPDK: the CPU time to post an RDMA READ, and again to go on when its data are there",
    },
    Param {
        name: "target.spdk.respond",
        dimension: Dimension::Time,
        default: Some("260ns"),
        about: "of SPDK: the CPU time to post data and response of a command that is done",
    },
    Param {
        name: "target.in-capsule-data",
        dimension: Dimension::Size,
        default: Some("4KiB"),
        about: "how much data of a write may come in its capsule (IOCCSZ); one page in nvmet, 4KiB in SPDK",
    },
    Param {
        name: "target.queue-entries",
        dimension: Dimension::Count { least: 2, most: 1024 },
        default: Some("128"),
        about: "the largest queue that the target allows",
    },
];

/// Reconnection of a lost path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recovery {
    /// Time from the loss to the first attempt, and from a failed attempt to the next.
    pub(crate) delay: Span,
    /// Time that each attempt waits for its answer.
    pub(crate) answer: Span,
    /// Number of attempts.
    pub(crate) attempts: u64,
    /// Time that requests wait for the path; `None` if without limit.
    pub(crate) waited_for: Option<Span>,
}

impl Recovery {
    fn new(params: &Params) -> Self {
        let (delay, loss) = (params.time("driver.reconnect-delay"), params.time("driver.ctrl-loss-timeout"));
        let delay = delay.max(Span::from_ns(1));
        let fast = params.time("driver.fast-io-fail");
        Self {
            delay,
            answer: params.time("driver.connect-timeout"),
            // as Linux counts them (`drivers/nvme/host/fabrics.c`: max_reconnects)
            attempts: loss.as_ps().div_ceil(delay.as_ps()),
            waited_for: (fast > Span::ZERO).then_some(fast),
        }
    }
}

/// The most data units that SPDK hands its socket at once: a call has 64 parts (`IOV_BATCH_SIZE`,
/// `include/spdk_internal/sock.h`), and a data unit is one, or two with its data.
const SPDK_TOGETHER: usize = 32;
/// The most responses that Linux sends together (`NVMET_TCP_SEND_BUDGET`, `drivers/nvme/target/tcp.c`).
const NVMET_TOGETHER: usize = 8;

/// Costs of the initiating host's software.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostCosts {
    /// Time from a request to its doorbell.
    pub(crate) submit: Span,
    /// For each completion entry of the adapter.
    pub(crate) entry: Span,
    /// Time from the end of a command until the program knows.
    pub(crate) complete: Span,
    /// Time from a completion entry to the first look.
    pub(crate) notice: Span,
    /// Relative variation of the time of each submission and completion.
    pub(crate) spread: f64,
    /// Whether completions are polled.
    pub(crate) polled: bool,
    /// Time from a request to a command over TCP.
    pub(crate) command: Span,
    /// The Keep Alive Timeout.
    pub(crate) keep_alive: Span,
    /// Reconnection of paths.
    pub(crate) recovery: Recovery,
    /// Time that a disconnect request waits for its reply, and the number of retries.
    pub(crate) disconnect: (Span, u64),
    /// Costs of TCP.
    pub(crate) tcp: TcpCosts,
}

impl HostCosts {
    pub(crate) fn new(params: &Params) -> Self {
        let engine = nvme_software::Software::new(params);
        // SPDK has its transport in user space, which costs as much again as its engine
        let own = |name: &str, user: Span| if is_spdk(params) { user } else { params.time(name) };
        Self {
            submit: engine.submit + own("driver.rdma.submit", engine.submit),
            entry: own("driver.rdma.complete", engine.complete),
            complete: engine.complete,
            notice: engine.notice,
            spread: engine.spread,
            polled: engine.polled,
            command: engine.submit,
            keep_alive: params.time("driver.keep-alive"),
            recovery: Recovery::new(params),
            disconnect: (
                params.time("driver.rdma.disconnect-timeout").max(Span::from_ns(1)),
                params.count("driver.rdma.disconnect-retries"),
            ),
            tcp: TcpCosts::new(params, engine.polled)
                .copying_sent(is_spdk(params))
                .sending_together(if is_spdk(params) { SPDK_TOGETHER } else { 1 }),
        }
    }
}

fn is_spdk(params: &Params) -> bool {
    params.choice("driver.engine") == "spdk"
}

/// Costs of a target's software.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TargetCosts {
    /// Time from a completion entry to the first look.
    pub(crate) notice: Span,
    pub(crate) polled: bool,
    pub(crate) command: Span,
    pub(crate) data: Span,
    pub(crate) respond: Span,
    /// Costs of TCP.
    pub(crate) tcp: TcpCosts,
}

impl TargetCosts {
    pub(crate) fn new(params: &Params) -> Self {
        let polled = params.choice("target.software") == "spdk";
        let of = |what: &str| {
            let software = if polled { "spdk" } else { "nvmet" };
            params.time(&format!("target.{software}.{what}"))
        };
        Self {
            notice: if polled { params.time("driver.poll") } else { of("interrupt") },
            polled,
            command: of("command"),
            data: of("data"),
            respond: of("respond"),
            tcp: TcpCosts::new(params, polled).sending_together(if polled {
                SPDK_TOGETHER
            } else {
                NVMET_TOGETHER
            }),
        }
    }
}

/// The size of the doorbell of software, and so whether it brings the work request: the kernel writes 8 B, and the
/// adapter reads the rest (Linux, `drivers/infiniband/hw/mlx5/wr.c`); libraries in user space push all of it
/// (rdma-core, `providers/mlx5`, BlueFlame).
pub(crate) const fn doorbell_bytes(polled: bool) -> u16 {
    if polled { 64 } else { 8 }
}
