//! The parameters that PCIe ports have, whatever they belong to.

use crate::model::{Dimension, Param};

/// Parameters of every PCIe port, of a device or of a switch. Credits are what the port advertises as a receiver; `0`
/// means infinite, as the standard has it for completions at a root complex or an endpoint.
pub const PCIE_PORT: [Param; 11] = [
    Param {
        name: "port.gen",
        dimension: Dimension::Count { least: 1, most: 5 },
        default: Some("5"),
        about: "the highest generation the port can train to",
    },
    Param {
        name: "port.width",
        dimension: Dimension::Count { least: 1, most: 32 },
        default: Some("16"),
        about: "the most lanes that the port can have",
    },
    Param {
        name: "port.mps",
        dimension: Dimension::Size,
        default: Some("512B"),
        about: "the largest Maximum Payload Size the port supports",
    },
    Param {
        name: "port.posted-header-credits",
        dimension: Dimension::Count { least: 0, most: 2047 },
        default: Some("64"),
        about: "posted header credits (PH) the port advertises; 0 is infinite",
    },
    Param {
        name: "port.posted-data-credits",
        dimension: Dimension::Count { least: 0, most: 32767 },
        default: Some("1024"),
        about: "posted data credits (PD, 16 B each) the port advertises; 0 is infinite",
    },
    Param {
        name: "port.non-posted-header-credits",
        dimension: Dimension::Count { least: 0, most: 2047 },
        default: Some("64"),
        about: "non-posted header credits (NPH) the port advertises; 0 is infinite",
    },
    Param {
        name: "port.non-posted-data-credits",
        dimension: Dimension::Count { least: 0, most: 32767 },
        default: Some("0"),
        about: "non-posted data credits (NPD, 16 B each) the port advertises; 0 is infinite",
    },
    Param {
        name: "port.completion-header-credits",
        dimension: Dimension::Count { least: 0, most: 2047 },
        default: Some("0"),
        about: "completion header credits (CPLH) the port advertises; 0 is infinite",
    },
    Param {
        name: "port.completion-data-credits",
        dimension: Dimension::Count { least: 0, most: 32767 },
        default: Some("0"),
        about: "completion data credits (CPLD, 16 B each) the port advertises; 0 is infinite",
    },
    Param {
        name: "port.credit-update",
        dimension: Dimension::Time,
        default: Some("60ns"),
        about: "the time from a freed buffer to the sender knowing, without the flight time: UpdateFC is coalesced",
    },
    Param {
        name: "port.replay-buffer",
        dimension: Dimension::Size,
        default: Some("16KiB"),
        about: "the replay buffer of the transmitter; TLPs stay in it until they are acknowledged",
    },
];

/// Parameters of a port at which TLPs begin and end: of a root complex or a device.
pub const PCIE_DEVICE: [Param; 7] = [
    Param {
        name: "port.mrrs",
        dimension: Dimension::Size,
        default: Some("512B"),
        about: "the Maximum Read Request Size the port uses as a requester",
    },
    Param {
        name: "port.rcb",
        dimension: Dimension::Choice(&["64B", "128B"]),
        default: Some("64B"),
        about: "the Read Completion Boundary of the port as a completer",
    },
    Param {
        name: "port.tags",
        dimension: Dimension::Count { least: 1, most: 768 },
        default: Some("256"),
        about: "how many read requests the port may have outstanding: 32 (5-bit tags), 256 (extended), 768 (10-bit)",
    },
    Param {
        name: "port.address-bits",
        dimension: Dimension::Choice(&["32", "64"]),
        default: Some("64"),
        about: "the width of the addresses the port uses as a requester: 64 needs headers of 4 DW",
    },
    Param {
        name: "port.drain",
        dimension: Dimension::Time,
        default: Some("20ns"),
        about: "the time from the last byte of a TLP to its receive buffer being free",
    },
    Param {
        name: "port.ingest",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "the least time between two TLPs that the receiver takes out of its buffer; 0 is no limit",
    },
    Param {
        name: "port.ingest-rate",
        dimension: Dimension::Rate,
        default: Some("0GB/s"),
        about: "the rate at which the receiver empties its buffer of payload; 0 is no limit",
    },
];
