//! Whether and when a run was steady: its rounds, and what a rule of the field says of them.

use serde::{Deserialize, Serialize};

/// The rounds of one repeat of a case, and what the rule says of the last five of them.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct SteadyState {
    /// The variant's name.
    pub variant: String,
    /// The workload's name.
    pub workload: String,
    /// The case's name.
    pub case: String,
    /// Which repeat, from 1.
    pub repeat: u32,
    /// Whose rule it is ("SNIA PTS 2.0.1").
    pub rule: String,
    /// What has to be steady: `iops`, `throughput` or `latency`.
    pub of: String,
    /// How long a round was, in virtual time \[s\].
    pub round_seconds: f64,
    /// What each round has shown, the first first.
    pub rounds: Vec<Round>,
    /// Whether the last five rounds are steady.
    pub attained: bool,
    /// Largest less least of them, as a share of their mean; none if there is no mean.
    pub range: Option<f64>,
    /// What the best line through them rises or falls by, as a share of their mean.
    pub slope: Option<f64>,
    /// The largest range that counts as steady.
    pub range_limit: f64,
    /// The largest slope that does.
    pub slope_limit: f64,
}

/// What one round has shown, reads and writes together.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Round {
    /// I/Os \[1/s\].
    pub iops: f64,
    /// What they moved \[B/s\].
    pub bytes_per_second: f64,
    /// Their mean latency \[ns\]; none if there was none.
    pub latency_ns: Option<f64>,
    /// The 99th percentile of it \[ns\].
    pub p99_ns: Option<f64>,
    /// Units programmed for each that the host wrote, in all drives together; none if it wrote nothing to a medium.
    pub write_amplification: Option<f64>,
}
