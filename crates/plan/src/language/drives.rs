//! Commands to NVMe drives at given times, besides loads.

use crate::words::{Field, Holds, field, one_of, required};
use lanetwin_ports::Dimension;

/// A command to a drive, besides the load.
pub(crate) const ACTION: &[Field] = &[
    required("at", Holds::One(Dimension::Time), "when, from the start of the run on"),
    required("do", one_of(ACTIONS), "what: a log, a command that manages, or one about blocks"),
    field("on", Holds::Text, "", "the host that asks; otherwise the first of the workload"),
    field("target", Holds::Text, "", "the drive that is asked; otherwise the first of the workload"),
    field("namespace", Holds::Text, "1", "its number, the first being 1; for `format` also `all`"),
    field(
        "secure-erase",
        one_of(&["none", "user-data", "cryptographic"]),
        "none",
        "of `format`: whether everything is erased, or the key to it",
    ),
    field(
        "method",
        one_of(&["block-erase", "overwrite", "crypto-erase"]),
        "block-erase",
        "of `sanitize`: how it makes the data unrecoverable; an overwrite is one pass",
    ),
    field("address", Holds::One(Dimension::Size), "0B", "of a command about blocks: where they begin"),
    field("size", Holds::One(Dimension::Size), "4KiB", "of a command about blocks: how much it is about"),
];

const ACTIONS: &[&str] = &[
    "smart-log",
    "error-log",
    "sanitize-log",
    "telemetry-log",
    "format",
    "sanitize",
    "compare",
    "flush",
    "write-zeroes",
    "deallocate",
];
