//! Errors in the computation of a pulse from a transfer function.

/// Reasons why no pulse can be computed from a transfer function.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum PulseError {
    /// The step is not a valid frequency, or there are fewer than four points.
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
    /// The data end below the Nyquist frequency, so that the effect on the signal is unknown.
    #[error("the transfer function ends at {highest_hz} Hz, below the Nyquist frequency of {nyquist_hz} Hz")]
    BandTooNarrow {
        /// Its last frequency \[Hz\].
        highest_hz: f64,
        /// Half the symbol rate \[Hz\].
        nyquist_hz: f64,
    },
    /// The channel transmits no signal.
    #[error("the channel lets nothing through")]
    Silent,
}
