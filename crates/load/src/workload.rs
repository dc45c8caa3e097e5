//! The workload of a load: its operations and their times.

use lanetwin_units::Span;
use std::fmt;

/// The alignment of transfers in a DMA benchmark \[B\]: a cache line.
const CELL: u32 = 64;

/// The operations of a load, and their times.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Workload {
    /// Reads, writes, or a mix of them.
    pub mix: Mix,
    /// The size of each \[B\].
    pub bytes: u32,
    /// Addresses are multiples of this \[B\].
    pub unit: u32,
    /// Size of the address range, which begins at 0 \[B\]; at least one unit is used.
    pub span: u64,
    /// The order of addresses.
    pub pattern: Pattern,
    /// When operations are sent.
    pub arrivals: Arrivals,
    /// Total number of operations; `None` if there is no end.
    pub count: Option<u64>,
}

/// The types of operations, and their order.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Mix {
    /// Reads only.
    Reads,
    /// Writes only.
    Writes,
    /// A read, a write, a read, and so on.
    Alternating,
    /// Each operation is a read with this probability, otherwise a write.
    Share {
        /// The probability, from 0 to 1.
        reads: f64,
    },
}

/// The order of addresses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Pattern {
    /// Random; each unit of the span is equally likely.
    Random,
    /// One unit after the other; after the last one, the first again.
    Sequential,
}

/// When operations are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrivals {
    /// A closed loop: the next operation is sent as soon as fewer than `outstanding` are outstanding.
    Closed {
        /// Maximum number of operations outstanding.
        outstanding: u32,
    },
    /// An open loop with constant intervals, whatever is outstanding.
    Fixed {
        /// The time from one operation to the next.
        interval: Span,
    },
    /// An open loop with exponentially distributed intervals, whatever is outstanding.
    Poisson {
        /// The mean interval.
        mean: Span,
    },
}

/// Why a workload cannot be run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadWorkload {
    /// The size of operations is 0.
    NoBytes,
    /// The unit of addresses is 0.
    NoUnit,
    /// A closed loop has 0 operations outstanding.
    NothingOutstanding,
    /// The interval of an open loop is 0.
    NoInterval,
    /// The share of reads is not between 0 and 1.
    NoShare,
}

impl fmt::Display for BadWorkload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoBytes => "an operation moves at least one byte",
            Self::NoUnit => "addresses are multiples of at least one byte",
            Self::NothingOutstanding => "a closed loop has at least one operation outstanding",
            Self::NoInterval => "an open loop has an interval",
            Self::NoShare => "the share of reads is from 0 to 1",
        })
    }
}
impl std::error::Error for BadWorkload {}

impl Workload {
    /// The unit of a DMA benchmark: the size of a transfer rounded up to whole cells of 64 B, so that no two transfers
    /// share a cell (pcie-bench, with offset 0).
    #[must_use]
    pub const fn dma_unit(bytes: u32) -> u32 {
        bytes.next_multiple_of(CELL)
    }
    /// Number of different addresses.
    #[must_use]
    pub fn places(&self) -> u64 {
        (self.span / u64::from(self.unit)).max(1)
    }
    /// Checks whether it can be run.
    ///
    /// # Errors
    /// The first reason why it cannot.
    pub fn check(&self) -> Result<(), BadWorkload> {
        let never = match self.arrivals {
            Arrivals::Closed { outstanding } => (outstanding == 0).then_some(BadWorkload::NothingOutstanding),
            Arrivals::Fixed { interval: time } | Arrivals::Poisson { mean: time } => {
                (time == Span::ZERO).then_some(BadWorkload::NoInterval)
            }
        };
        match (self.bytes, self.unit, self.mix) {
            (0, ..) => Err(BadWorkload::NoBytes),
            (_, 0, _) => Err(BadWorkload::NoUnit),
            (_, _, Mix::Share { reads }) if !(0.0..=1.0).contains(&reads) => Err(BadWorkload::NoShare),
            _ => never.map_or(Ok(()), Err),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Workload = Workload {
        mix: Mix::Reads,
        bytes: 64,
        unit: 64,
        span: 8192,
        pattern: Pattern::Random,
        arrivals: Arrivals::Closed { outstanding: 1 },
        count: None,
    };

    #[test]
    fn a_transfer_of_a_dma_benchmark_has_its_cells_for_itself() {
        let units = [1, 63, 64, 65, 128, 2047].map(Workload::dma_unit);
        assert_eq!(units, [64, 64, 64, 128, 128, 2048]);
    }

    #[test]
    fn a_span_smaller_than_a_unit_has_one_place() {
        assert_eq!(GOOD.places(), 128);
        assert_eq!(Workload { unit: 3000, ..GOOD }.places(), 2);
        assert_eq!(Workload { span: 0, ..GOOD }.places(), 1);
    }

    #[test]
    fn what_cannot_be_run_is_said() {
        assert_eq!(GOOD.check(), Ok(()));
        let bad = [
            (Workload { bytes: 0, ..GOOD }, BadWorkload::NoBytes),
            (Workload { unit: 0, ..GOOD }, BadWorkload::NoUnit),
            (Workload { mix: Mix::Share { reads: 1.5 }, ..GOOD }, BadWorkload::NoShare),
            (Workload { mix: Mix::Share { reads: f64::NAN }, ..GOOD }, BadWorkload::NoShare),
            (
                Workload { arrivals: Arrivals::Closed { outstanding: 0 }, ..GOOD },
                BadWorkload::NothingOutstanding,
            ),
            (Workload { arrivals: Arrivals::Poisson { mean: Span::ZERO }, ..GOOD }, BadWorkload::NoInterval),
            (
                Workload { arrivals: Arrivals::Fixed { interval: Span::ZERO }, ..GOOD },
                BadWorkload::NoInterval,
            ),
        ];
        for (workload, wrong) in bad {
            assert_eq!(workload.check(), Err(wrong));
            assert!(wrong.to_string().len() > 10);
        }
    }
}
