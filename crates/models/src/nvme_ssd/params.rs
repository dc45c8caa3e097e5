//! Parameters of an NVMe drive's controller: firmware times and queue sizes.

use super::medium::{self, namespace_bytes};
use lanetwin_nvme::logic::{ControllerConfig, LbaFormat, NamespaceConfig, SubsystemConfig};
use lanetwin_nvme::spec::{ControllerId, Nsid};
use lanetwin_ports::{Condition, Dimension, Param, Params, Setting};
use lanetwin_ssd::{FirmwareConfig, SsdConfig};
use lanetwin_units::Span;

#[rustfmt::skip]
/// Parameters of a medium, cache or cipher have no effect without it.
pub(super) const CONDITIONS: &[Condition] = &[
    Condition { of: &["nand.", "ftl."], on: "medium", must_be: Setting::Word("nand") },
    Condition { of: &["cross-point."], on: "medium", must_be: Setting::Word("cross-point") },
    Condition { of: &["nand.suspend."], on: "nand.suspend", must_be: Setting::On },
    // 0 means that the load determines it
    Condition { of: &["ftl.initial.write-size"], on: "ftl.initial.write-size", must_be: Setting::Above0 },
    Condition { of: &["ftl.initial."], on: "ftl.initial", must_be: Setting::Not("empty") },
    Condition { of: &["ftl.initial."], on: "ftl.initial", must_be: Setting::Not("sequential") },
    Condition { of: &["ftl.slc."], on: "ftl.slc.blocks", must_be: Setting::Above0 },
    Condition { of: &["ftl.read-ahead."], on: "ftl.read-ahead.streams", must_be: Setting::Above0 },
    Condition { of: &["cmb."], on: "cmb", must_be: Setting::Above0 },
    Condition { of: &["encryption."], on: "encryption", must_be: Setting::On },
];

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
        name: "firmware.engines",
        dimension: Dimension::Count { least: 1, most: 4096 },
        default: Some("8"),
        about: "how many commands the firmware works on at once; others wait, first come first served",
    },
    Param {
        name: "firmware.read",
        dimension: Dimension::Time,
        default: Some("4us"),
        about: "the time that an engine is taken by a read of 4 KiB, or by each chunk of a larger one; with the engines it bounds the rate of small reads",
    },
    Param {
        name: "firmware.write",
        dimension: Dimension::Time,
        default: Some("4us"),
        about: "the time that an engine is taken by a write of 4 KiB, or by each chunk of a larger one",
    },
    Param {
        name: "firmware.read-small",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "the time that an engine is taken by a read of 512 B; one between this and 4 KiB takes a time between, in proportion; 0 is as long as `firmware.read`",
    },
    Param {
        name: "firmware.write-small",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "the time that an engine is taken by a write of 512 B; one between this and 4 KiB takes a time between, in proportion; 0 is as long as `firmware.write`",
    },
    Param {
        name: "firmware.read-unit",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "how much longer an engine is taken by each further 4 KiB of a read, or of a chunk of it: with the engines it bounds the rate of large reads; one alone is not slower",
    },
    Param {
        name: "firmware.write-unit",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "how much longer an engine is taken by each further 4 KiB of a write, or of a chunk of it",
    },
    Param {
        name: "firmware.other",
        dimension: Dimension::Time,
        default: Some("4us"),
        about: "the time that an engine is taken by any other command for the medium",
    },
    Param {
        name: "firmware.read-latency",
        dimension: Dimension::Time,
        default: Some("2us"),
        about: "what a read takes longer, on its way to the medium and back; not a limit of the rate",
    },
    Param {
        name: "firmware.write-latency",
        dimension: Dimension::Time,
        default: Some("2us"),
        about: "what a write takes longer; not a limit of the rate",
    },
    Param {
        name: "dual-port",
        dimension: Dimension::Flag,
        default: Some("false"),
        about: "whether there is a second port, `pcie2`, with a controller of its own for the same namespaces",
    },
    Param {
        name: "queues",
        dimension: Dimension::Count { least: 1, most: 2047 },
        default: Some("128"),
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
        default: Some("2MiB"),
        about: "the most that a command can move (MDTS)",
    },
    Param {
        name: "chunk",
        dimension: Dimension::Choice(CHUNKS),
        default: Some("16KiB"),
        about: "the part of a command that is requested from the medium at a time, so that the first data leave before the last are read",
    },
    Param {
        name: "block",
        dimension: Dimension::Choice(&["512B", "4KiB"]),
        default: Some("512B"),
        about: "the size of a logical block, in all namespaces",
    },
    Param {
        name: "cmb",
        dimension: Dimension::Size,
        default: Some("0B"),
        about: "the controller memory buffer: memory of the drive that other devices read and write; 0 if it has none",
    },
    Param {
        name: "cmb.latency",
        dimension: Dimension::Time,
        default: Some("300ns"),
        about: "from a read of it by a peer being taken up to its data",
    },
    Param {
        name: "cmb.interval",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "the least time between two reads of it that are taken up; 0 is no limit",
    },
];

/// MDTS: sizes that are powers of two pages of 4 KiB.
const TRANSFERS: &[&str] =
    &["4KiB", "8KiB", "16KiB", "32KiB", "64KiB", "128KiB", "256KiB", "512KiB", "1MiB", "2MiB", "4MiB"];
const CHUNKS: &[&str] = &["all", "4KiB", "8KiB", "16KiB", "32KiB", "64KiB", "128KiB"];

/// The bytes of `64KiB`, `1MiB`. Returns `None` for another word.
fn bytes(word: &str) -> Option<u32> {
    let (number, scale) = match word.strip_suffix("KiB") {
        Some(number) => (number, 1 << 10),
        None => match word.strip_suffix("MiB") {
            Some(number) => (number, 1 << 20),
            None => (word.strip_suffix('B')?, 1),
        },
    };
    Some(number.parse::<u32>().ok()? * scale)
}

/// The drive described by the parameters; the `ssd` crate checks whether it is valid.
pub(super) fn ssd(params: &Params) -> SsdConfig {
    let small = |name: &str, of: &str| match params.time(name) {
        Span::ZERO => params.time(of),
        stated => stated,
    };
    SsdConfig {
        subsystem: subsystem(params),
        medium: medium::config(params),
        firmware: FirmwareConfig {
            engines: params.count("firmware.engines"),
            read: params.time("firmware.read"),
            read_small: small("firmware.read-small", "firmware.read"),
            write: params.time("firmware.write"),
            write_small: small("firmware.write-small", "firmware.write"),
            other: params.time("firmware.other"),
            read_unit: params.time("firmware.read-unit"),
            write_unit: params.time("firmware.write-unit"),
            read_latency: params.time("firmware.read-latency"),
            write_latency: params.time("firmware.write-latency"),
        },
    }
}

/// log2 of a page of 4 KiB.
const PAGE_LOG2: u32 = 12;

/// Number of ports of the drive, each with a controller.
pub(super) fn ports(params: &Params) -> u16 {
    if params.flag("dual-port") { 2 } else { 1 }
}

/// The subsystem described by the parameters: a controller for each port, and equal namespaces attached to all of
/// them.
pub(super) fn subsystem(params: &Params) -> SubsystemConfig {
    let ids: Vec<ControllerId> = (0..ports(params)).map(ControllerId).collect();
    let queues = params.count("queues") as u16;
    let transfer = bytes(params.choice("transfer")).expect("every choice is a size");
    let format = if params.choice("block") == "512B" { LbaFormat::B512 } else { LbaFormat::B4096 };
    let controller = |id: &ControllerId| ControllerConfig {
        queue_entries: params.count("queues.entries") as u32,
        io_queues: queues,
        transfer_log2: (transfer.ilog2() - PAGE_LOG2) as u8,
        commands_in_progress: params.count("commands") as u32,
        commands_per_queue: params.count("commands") as u32,
        fetch_burst: params.count("fetch.burst") as u16,
        fetches: params.count("fetches") as u16,
        vectors: queues + 1,
        chunk_bytes: bytes(params.choice("chunk")),
        ..ControllerConfig::new(*id)
    };
    let namespace = |number: u64| NamespaceConfig {
        nsid: Nsid(number as u32 + 1),
        bytes: namespace_bytes(params),
        formats: vec![format],
        format: 0,
        attached: ids.clone(),
        zero_after_deallocate: true,
    };
    SubsystemConfig {
        nqn: "nqn.2026-01.lanetwin:nvme-ssd".into(),
        serial: "0".into(),
        model: "lanetwin nvme-ssd".into(),
        firmware: "1".into(),
        vendor: 0,
        namespaces: (0..params.count("namespaces")).map(namespace).collect(),
        controllers: ids.iter().map(controller).collect(),
        volatile_write_cache: params.flag("buffer.volatile"),
        atomic_write_blocks: 1,
        access_ports: 0,
    }
}
