//! How much is asked at a time: so much in flight, or at a rate.

use lanetwin_load as load;
use lanetwin_units::Span;

/// How much is asked at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offered {
    /// So many in flight: a new one for each that is done.
    Outstanding(u32),
    /// So much payload, whether or not it can be served.
    Rate {
        /// Bytes per second.
        bytes_per_second: u64,
        /// How it is spaced.
        arrivals: Arrivals,
    },
}

/// How an open load is spaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrivals {
    /// At random: exponential gaps.
    Poisson,
    /// Equal gaps.
    Fixed,
}

impl Offered {
    /// Whether it is drawn when requests come.
    #[must_use]
    pub const fn is_drawn(&self) -> bool {
        matches!(self, Self::Rate { arrivals: Arrivals::Poisson, .. })
    }
    /// When requests of so many bytes are made.
    pub(crate) fn arrivals(self, bytes: u32) -> load::Arrivals {
        match self {
            Self::Outstanding(outstanding) => load::Arrivals::Closed { outstanding },
            Self::Rate { bytes_per_second, arrivals } => {
                const PS_PER_SECOND: u128 = 1_000_000_000_000;
                let ps = u128::from(bytes) * PS_PER_SECOND / u128::from(bytes_per_second.max(1));
                let interval = Span::from_ps((ps as u64).max(1));
                match arrivals {
                    Arrivals::Poisson => load::Arrivals::Poisson { mean: interval },
                    Arrivals::Fixed => load::Arrivals::Fixed { interval },
                }
            }
        }
    }
}
