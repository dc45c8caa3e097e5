//! How long a case is measured, and how often: what is said, or what decides.

use lanetwin_units::Span;

/// Repeats are added until every metric that is compared is known so well, or its verdict is decided.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Until {
    /// Half the 95 % interval, as a share of the value: 0.02 is ±2 %.
    pub within: f64,
}

/// How long a case is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunLength {
    /// As many operations as somebody said.
    Stated,
    /// So many at least, and more until it is steady, it ends by itself, or the budget is spent.
    UntilSteady,
}

impl RunLength {
    /// When a case ends of which so many operations are asked for.
    pub(crate) fn ends_after(self, operations: u64) -> String {
        match self {
            Self::Stated => format!("after {operations} I/Os"),
            Self::UntilSteady => {
                format!("when it was steady, {operations} I/Os at least, or its budget was spent")
            }
        }
    }
}

/// What a case may cost in every variant where nobody says how long it is measured, all repeats together. Counting
/// events instead of seconds, every machine does the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Time of one core, as the scenario says it.
    pub cpu: Span,
}

impl Budget {
    /// So many events of the kernel are taken for a microsecond of a core (measured on a core of a server of 2020: 7 of
    /// mixed 4 KiB at a depth of 128, 12 of writes of 128 KiB).
    const EVENTS_A_MICROSECOND: u64 = 10;

    /// In events of the kernel.
    #[must_use]
    pub const fn events(self) -> u64 {
        (self.cpu.as_ps() / 1_000_000).saturating_mul(Self::EVENTS_A_MICROSECOND)
    }
}
