//! What became of commands that a workload asks for at given times: logs, Format, Sanitize and others.

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
    /// The host that asked.
    pub host: String,
    /// The drive that was asked.
    pub drive: String,
    /// What was asked, as the scenario has it (`format`).
    pub action: String,
    /// When it was to be asked, from the start of the run \[s\].
    pub at_seconds: f64,
    /// How it ended: the name of the status in the specification, or that it did not.
    pub status: String,
    /// Status Code Type and Status Code, if there was a completion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_code: Option<u16>,
    /// Whether it did what was asked, to the end.
    pub success: bool,
    /// From submission to completion \[ns\], if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<f64>,
    /// From submission to the end of what the command only begins \[ns\]: of a sanitize.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_ns: Option<f64>,
    /// Whether it was over before the measurement began (`warm-up`), within it (`measurement`) or behind it
    /// (`afterwards`).
    pub during: String,
    /// What a log says: SMART / Health Information, Sanitize Status.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<LogValue>,
    /// The entries of the Error Information log, the latest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<LoggedError>,
}

/// A field of a log.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct LogValue {
    /// Its name in the specification.
    pub name: String,
    /// What it says.
    pub value: f64,
    /// Its unit there; empty for a number.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
}

/// An entry of the Error Information log.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct LoggedError {
    /// Error Count: how many there were up to this one.
    pub count: u64,
    /// Submission Queue ID; none if no command is to blame.
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
