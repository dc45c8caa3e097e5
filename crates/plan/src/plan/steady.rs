//! When a case counts as steady.

use lanetwin_units::Span;

/// Rounds that go on until the last five are steady by the rule of the SNIA Performance Test Specification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SteadyRule {
    /// What has to be steady.
    pub of: Tracked,
    /// How long a round is, in virtual time.
    pub round: Span,
    /// How many rounds there are at most.
    pub rounds: u32,
    /// How many there are at least.
    pub least: u32,
}

/// The dependent variable that the rule tracks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tracked {
    /// I/Os a second: tests IOPS and WSAT.
    Iops,
    /// Bytes a second: test TP.
    Throughput,
    /// The mean latency: test LAT.
    Latency,
}

impl Tracked {
    /// As a scenario and the results have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::Throughput => "throughput",
            Self::Latency => "latency",
        }
    }
}
