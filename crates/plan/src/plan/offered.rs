//! Load offered: a number in flight, or a rate.

use lanetwin_load as load;
use lanetwin_units::Span;

/// Load offered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offered {
    /// This many in flight: a new one for each that completes.
    Outstanding(u32),
    /// A rate of payload, whether or not it can be served.
    Rate {
        /// Bytes per second.
        bytes_per_second: u64,
        /// The spacing of arrivals.
        arrivals: Arrivals,
    },
}

/// The spacing of arrivals of an open load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrivals {
    /// Poisson: exponential gaps.
    Poisson,
    /// Equal gaps.
    Fixed,
}

impl Offered {
    /// Whether the times of requests are drawn at random.
    #[must_use]
    pub const fn is_drawn(&self) -> bool {
        matches!(self, Self::Rate { arrivals: Arrivals::Poisson, .. })
    }
    /// The arrival process of requests of `bytes` bytes.
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
