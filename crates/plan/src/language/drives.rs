//! What is asked of NVMe drives beside loads: commands at given times, tests of the SNIA PTS.

use super::{Field, Holds, count, field, one_of, optional, required};
use lanetwin_ports::Dimension;

/// A test of the SNIA PTS.
pub(crate) const PTS: &[Field] = &[
    field(
        "test",
        one_of(&["iops", "throughput", "latency"]),
        "iops",
        "which: IOPS, throughput (TP) or latency (LAT)",
    ),
    optional("size", Holds::Many(Dimension::Size), "the block sizes; otherwise those of the test"),
    optional("read", Holds::Many(Dimension::Ratio), "the shares of reads; otherwise those of the test"),
    optional(
        "depth",
        Holds::One(count(1, 65_536)),
        "requests in flight; otherwise 32, for `latency` 1 (the specification leaves it to the operator)",
    ),
    required("span", Holds::One(Dimension::Size), "the active range: the part of the drive that is used"),
    field(
        "precondition",
        Holds::One(count(0, 100)),
        "2",
        "how many times the active range is written sequentially before the rounds",
    ),
    field(
        "step",
        Holds::One(Dimension::Time),
        "100ms",
        "how long each size and mix lasts in a round, in virtual time",
    ),
    field(
        "rounds",
        Holds::One(count(5, 1000)),
        "25",
        "how many rounds there are at most, if it does not become steady before",
    ),
];

/// What is asked of a drive beside a load.
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
    "format",
    "sanitize",
    "compare",
    "flush",
    "write-zeroes",
    "deallocate",
];
