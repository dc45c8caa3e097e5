//! When a case counts as steady.

use lanetwin_units::Span;

/// The rule for rounds, which continue until the last five are steady by the SNIA Performance Test Specification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SteadyRule {
    /// The tracked quantity.
    pub of: Tracked,
    /// Length of a round, in virtual time.
    pub round: Span,
    /// Maximum number of rounds.
    pub rounds: u32,
    /// Minimum number of rounds.
    pub least: u32,
}

/// The dependent variable that the rule tracks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tracked {
    /// I/Os per second: tests IOPS and WSAT.
    Iops,
    /// Bytes per second: test TP.
    Throughput,
    /// The mean latency: test LAT.
    Latency,
}

impl Tracked {
    /// Its name in scenarios and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::Throughput => "throughput",
            Self::Latency => "latency",
        }
    }
}
