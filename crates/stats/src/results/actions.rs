//! Results of commands that a workload issues at given times: log pages, Format, Sanitize and others.

use serde::{Deserialize, Serialize};

/// One command, in the first repeat of a case.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct ActionOutcome {
    /// The variant's name.
    pub variant: String,
    /// The workload's name.
    pub workload: String,
    /// The case's name.
    pub case: String,
    /// The host that issued the command.
    pub host: String,
    /// The drive that received it.
    pub drive: String,
    /// The command, as the scenario names it (`format`).
    pub action: String,
    /// Time at which it was due, from the start of the run \[s\].
    pub at_seconds: f64,
    /// Name of the completion's status in the specification, or a note that the command did not complete.
    pub status: String,
    /// Status Code Type and Status Code, if there was a completion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_code: Option<u16>,
    /// Whether the command succeeded, including the operation that it started.
    pub success: bool,
    /// From submission to completion \[ns\], if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<f64>,
    /// From submission to the end of an operation that the command only starts, as Sanitize does \[ns\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_ns: Option<f64>,
    /// Whether it completed before the measurement began (`warm-up`), within it (`measurement`) or after it
    /// (`afterwards`).
    pub during: String,
    /// Fields of the log page: SMART / Health Information, Sanitize Status.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<LogValue>,
    /// The entries of the Error Information log, the latest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<LoggedError>,
}

/// A field of a log page.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct LogValue {
    /// Its name in the specification.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Its unit in the specification; empty for a number.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
}

/// An entry of the Error Information log.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct LoggedError {
    /// Error Count: the number of errors up to this one.
    pub count: u64,
    /// Submission Queue ID; `None` if the error belongs to no command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<u16>,
    /// The opcode.
    pub opcode: u8,
    /// The name of its status in the specification.
    pub status: String,
    /// The namespace.
    pub namespace: u32,
    /// The first logical block that failed.
    pub lba: u64,
}
