//! Parameters of a controller that a DPU presents.

use lanetwin_nvme::logic::{ControllerConfig, LbaFormat, NamespaceConfig, Subsystem, SubsystemConfig};
use lanetwin_nvme::spec::{ControllerId, Nsid};
use lanetwin_ports::{Dimension, Mistake, Param, Params};

pub(super) const PARAMS: &[Param] = &[
    Param {
        name: "issue",
        dimension: Dimension::Time,
        default: Some("20ns"),
        about: "from a TLP being possible (its data ready, its tag free) to it being offered to the link",
    },
    Param {
        name: "posted.ahead",
        dimension: Dimension::Size,
        default: Some("32KiB"),
        about: "data of reads that are handed to the link before it has sent them, two transfers at least: requests for data of writes wait behind no more than that",
    },
    Param {
        name: "threads",
        dimension: Dimension::Count { least: 1, most: 64 },
        default: Some("8"),
        about: "the threads of the DPU that carry commands on, each on a core of the DPU in turn, with a queue of its own to the drive",
    },
    Param {
        name: "emulation.poll",
        dimension: Dimension::Time,
        default: Some("200ns"),
        about: "from a command, or its data, being in the DPU to a thread finding it: half a round of its polling, in the mean",
    },
    Param {
        name: "emulation.command",
        dimension: Dimension::Time,
        default: Some("400ns"),
        about: "the CPU time of the DPU from a command to a request for the drive, or for data of the host",
    },
    Param {
        name: "emulation.data",
        dimension: Dimension::Time,
        default: Some("150ns"),
        about: "the CPU time of the DPU from the data of a write to a request for the drive",
    },
    Param {
        name: "emulation.complete",
        dimension: Dimension::Time,
        default: Some("300ns"),
        about: "the CPU time of the DPU from the drive's answer to data and completion entry being posted",
    },
    Param {
        name: "dma.latency",
        dimension: Dimension::Time,
        default: Some("500ns"),
        about: "from a transfer between the memories of DPU and host having its turn to its first TLP",
    },
    Param {
        name: "dma.rate",
        dimension: Dimension::Rate,
        default: Some("12800MB/s"),
        about: "what the engine moves between the memories of DPU and host, in both directions together",
    },
    Param {
        name: "capacity",
        dimension: Dimension::Size,
        default: Some("64GiB"),
        about: "what the host sees: as much as the drive has that is shown, or less",
    },
    Param {
        name: "namespaces",
        dimension: Dimension::Count { least: 1, most: 1 },
        default: Some("1"),
        about: "how many namespaces there are: one is modelled",
    },
    Param {
        name: "block",
        dimension: Dimension::Choice(&["512B", "4KiB"]),
        default: Some("512B"),
        about: "the size of a logical block: that of the drive that is shown",
    },
    Param {
        name: "queues",
        dimension: Dimension::Count { least: 1, most: 2047 },
        default: Some("64"),
        about: "how many I/O queue pairs there can be",
    },
    Param {
        name: "commands",
        dimension: Dimension::Count { least: 1, most: 1 << 20 },
        default: Some("2048"),
        about: "how many commands can be in progress, fetched and not yet completed",
    },
    Param {
        name: "fetch.burst",
        dimension: Dimension::Count { least: 1, most: 1024 },
        default: Some("16"),
        about: "how many submission queue entries one fetch brings at most",
    },
    Param {
        name: "fetches",
        dimension: Dimension::Count { least: 1, most: 1024 },
        default: Some("8"),
        about: "how many fetches of submission queue entries can be under way",
    },
    Param {
        name: "transfer",
        dimension: Dimension::Choice(TRANSFERS),
        default: Some("128KiB"),
        about: "the most that a command can move (MDTS)",
    },
];

/// MDTS values: powers of two of 4 KiB pages, from two pages on; MDTS 0 would mean no limit.
const TRANSFERS: &[&str] = &["8KiB", "16KiB", "32KiB", "64KiB", "128KiB", "256KiB", "512KiB", "1MiB"];

/// Everything about these parameters that makes a controller impossible.
pub(super) fn mistakes(params: &Params) -> Vec<Mistake> {
    let fault = Subsystem::new(&subsystem(params)).err().map(|bad| Mistake {
        parameter: "capacity",
        problem: format!("{} does not fit", bad.field),
        remedy: format!("it must be {}", bad.must),
    });
    fault.into_iter().collect()
}

/// The subsystem that the parameters describe: a controller, and a namespace.
pub(super) fn subsystem(params: &Params) -> SubsystemConfig {
    let (id, queues) = (ControllerId(0), params.count("queues") as u16);
    let transfer = TRANSFERS.iter().position(|word| *word == params.choice("transfer")).unwrap_or(0);
    let commands = params.count("commands") as u32;
    let format = if params.choice("block") == "512B" { LbaFormat::B512 } else { LbaFormat::B4096 };
    let controller = ControllerConfig {
        queue_entries: params.count("queues.entries") as u32,
        io_queues: queues,
        transfer_log2: transfer as u8 + 1,
        commands_in_progress: commands,
        commands_per_queue: commands,
        fetch_burst: params.count("fetch.burst") as u16,
        fetches: params.count("fetches") as u16,
        vectors: queues + 1,
        chunk_bytes: None,
        ..ControllerConfig::new(id)
    };
    let namespace = NamespaceConfig {
        nsid: Nsid(1),
        bytes: params.size("capacity").0,
        formats: vec![format],
        format: 0,
        attached: vec![id],
        zero_after_deallocate: true,
    };
    SubsystemConfig {
        nqn: "nqn.2026-01.lanetwin:nvme-emulation".into(),
        serial: "0".into(),
        model: "lanetwin nvme-emulation".into(),
        firmware: "1".into(),
        vendor: 0,
        namespaces: vec![namespace],
        controllers: vec![controller],
        volatile_write_cache: false,
        atomic_write_blocks: 1,
        access_ports: 0,
    }
}
