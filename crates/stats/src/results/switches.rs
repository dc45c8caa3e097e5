//! How long packets were in the switches of a machine, beside what the switch is said to need.

use super::waterfall::nanoseconds;
use lanetwin_units::Span;
use serde::{Deserialize, Serialize};

/// How long packets of one kind and size were in a switch on their way from one of its links to another: from the first
/// bit coming in to the first bit going out. Of packets that were sent together, the last one is counted.
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
    /// The link that they came in through.
    pub from: String,
    /// The link that they left through.
    pub to: String,
    /// What is at the other ends of these links ("card → host").
    pub way: String,
    /// How wide these links are ("x4 → x4").
    pub widths: String,
    /// What they are ("MWr").
    pub tlp: String,
    /// What each takes on the wire \[B\].
    pub bytes: u32,
    /// How many were counted.
    pub packets: u64,
    /// The latency that the switch was given for this pair of links.
    pub latency: f64,
    /// The parameter that gives it ("latency.x4-x4").
    pub latency_parameter: String,
    /// What kind of number it is ("datasheet"); "scenario" if the scenario sets it.
    pub latency_kind: String,
    /// Where it comes from.
    #[serde(default)]
    pub latency_source: String,
    /// What it is said to be valid for: a pair of widths, in the words of its part, or "not said".
    #[serde(default)]
    pub valid_for: String,
    /// Always `ns`.
    pub unit: String,
    /// How long one is in the empty switch: the latency, and what has to be in before it can go out.
    pub idle: f64,
    /// The shortest time that one was in the switch.
    pub shortest: f64,
    /// Half of them were there no longer.
    pub median: f64,
    /// 99 % of them were there no longer.
    pub p99: f64,
    /// The longest: that of the last of those that came at once.
    pub longest: f64,
}

impl SwitchTransit {
    /// A time in the document's unit \[ns, three decimals\].
    #[must_use]
    pub fn nanoseconds(length: Span) -> f64 {
        nanoseconds(length)
    }
}
