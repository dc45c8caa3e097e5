//! Time that packets spent in the switches of a machine, beside the latency that the switch was given.

use super::waterfall::nanoseconds;
use lanetwin_units::Span;
use serde::{Deserialize, Serialize};

/// Time that packets of one kind and size spent in a switch on the way between two of its links: from the first bit in
/// to the first bit out. Of packets that were sent together, the last one is counted.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct SwitchTransit {
    /// The variant's name.
    pub variant: String,
    /// The workload's name.
    pub workload: String,
    /// The case's name.
    pub case: String,
    /// The switch's name.
    pub switch: String,
    /// The link through which they came in.
    pub from: String,
    /// The link through which they left.
    pub to: String,
    /// What is at the other ends of these links ("card → host").
    pub way: String,
    /// The widths of these links ("x4 → x4").
    pub widths: String,
    /// Type of the packets ("MWr").
    pub tlp: String,
    /// Size of each packet on the wire \[B\].
    pub bytes: u32,
    /// Number of packets counted.
    pub packets: u64,
    /// The latency that the switch was given for this pair of links.
    pub latency: f64,
    /// The parameter that gives it ("latency.x4-x4").
    pub latency_parameter: String,
    /// Kind of this number ("datasheet"); "scenario" if the scenario sets it.
    pub latency_kind: String,
    /// Source of this number.
    #[serde(default)]
    pub latency_source: String,
    /// The pair of widths for which its part says that it holds, or "not said".
    #[serde(default)]
    pub valid_for: String,
    /// Always `ns`.
    pub unit: String,
    /// Time of one packet in the empty switch: the latency, and the time until enough of the packet has arrived.
    pub idle: f64,
    /// The shortest time of a packet in the switch.
    pub shortest: f64,
    /// The median time in the switch.
    pub median: f64,
    /// The 99th percentile of the time in the switch.
    pub p99: f64,
    /// The longest time: that of the last of packets that came at once.
    pub longest: f64,
}

impl SwitchTransit {
    /// A span in the document's unit \[ns, three decimals\].
    #[must_use]
    pub fn nanoseconds(length: Span) -> f64 {
        nanoseconds(length)
    }
}
