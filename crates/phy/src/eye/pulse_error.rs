//! Why a transfer function has no pulse.

/// Why no pulse can be had of a transfer function.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum PulseError {
    /// A step that is no frequency, or fewer than four points.
    #[error(
        "a transfer function needs a step above 0 Hz and four points, not {step_hz} Hz and {points} points"
    )]
    NoGrid {
        /// The step \[Hz\].
        step_hz: f64,
        /// The points.
        points: usize,
    },
    /// A point that is not a number.
    #[error("point {index} of the transfer function is not finite")]
    NotFinite {
        /// Its number from 0.
        index: usize,
    },
    /// It stops before the Nyquist frequency: there is no telling what the channel does to the signal.
    #[error("the transfer function ends at {highest_hz} Hz, below the Nyquist frequency of {nyquist_hz} Hz")]
    BandTooNarrow {
        /// Its last frequency \[Hz\].
        highest_hz: f64,
        /// Half the symbol rate \[Hz\].
        nyquist_hz: f64,
    },
    /// Nothing arrives.
    #[error("the channel lets nothing through")]
    Silent,
}
