//! Length and number of measurements of a case: given, or decided by a criterion.

use lanetwin_units::Span;

/// The rule for further repeats: until every compared metric is this precise, or its verdict is decided.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Until {
    /// Half the 95 % interval, as a share of the value: 0.02 is ±2 %.
    pub within: f64,
}

/// The length of a measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunLength {
    /// A given number of operations.
    Stated,
    /// At least a given number, and more until it is steady, ends by itself, or has used up the budget.
    UntilSteady,
}

impl RunLength {
    /// Describes when a case with this number of operations ends.
    pub(crate) fn ends_after(self, operations: u64) -> String {
        match self {
            Self::Stated => format!("after {operations} I/Os"),
            Self::UntilSteady => {
                format!("when it was steady, {operations} I/Os at least, or its budget was spent")
            }
        }
    }
}

/// Maximum cost of a case in every variant, all repeats together, if its length is not given. It is counted in events
/// instead of seconds, so that results do not depend on the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Time of one core, as in the scenario.
    pub cpu: Span,
}

impl Budget {
    /// Events of the kernel that count as a microsecond of a core (measured on a core of a server of 2020: 7 of mixed 4
    /// KiB at a depth of 128, 12 of writes of 128 KiB).
    const EVENTS_A_MICROSECOND: u64 = 10;

    /// The budget in events of the kernel.
    #[must_use]
    pub const fn events(self) -> u64 {
        (self.cpu.as_ps() / 1_000_000).saturating_mul(Self::EVENTS_A_MICROSECOND)
    }
}
