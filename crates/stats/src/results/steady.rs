//! Whether a run became steady, and when: its rounds, and the result of a published rule.

use serde::{Deserialize, Serialize};

/// The rounds of one repeat of a case, and the result of the rule for the last five of them.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct SteadyState {
    /// The variant's name.
    pub variant: String,
    /// The workload's name.
    pub workload: String,
    /// The case's name.
    pub case: String,
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// The rule's source ("SNIA PTS 2.0.1").
    pub rule: String,
    /// The quantity that has to be steady: `iops`, `throughput` or `latency`.
    pub of: String,
    /// Length of a round, in virtual time \[s\].
    pub round_seconds: f64,
    /// The rounds, in order.
    pub rounds: Vec<Round>,
    /// Whether the last five rounds are steady.
    pub attained: bool,
    /// Largest less least of them, as a share of their mean; `None` if there is no mean.
    pub range: Option<f64>,
    /// Rise or fall of the best line through them, as a share of their mean.
    pub slope: Option<f64>,
    /// The largest range that counts as steady.
    pub range_limit: f64,
    /// The largest slope that counts as steady.
    pub slope_limit: f64,
}

/// Results of one round, reads and writes together.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Round {
    /// I/Os \[1/s\].
    pub iops: f64,
    /// Bytes that they moved \[B/s\].
    pub bytes_per_second: f64,
    /// Their mean latency \[ns\]; `None` if there were none.
    pub latency_ns: Option<f64>,
    /// The 99th percentile of their latency \[ns\].
    pub p99_ns: Option<f64>,
    /// Units programmed per unit that the host wrote, in all drives together; `None` if nothing was written to a
    /// medium.
    pub write_amplification: Option<f64>,
}
