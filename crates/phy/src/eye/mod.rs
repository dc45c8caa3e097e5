//! Equalisation and eyes: eye opening of a channel, and its bit error ratio.
//!
//! ```text
//!  Channel ──► Waves ────────► candidates ─────────► triage ───────► StatisticalEye ──► Eye
//!  Transfer    pulse response  preset × CTLE × phase  bounds of the   full distribution  height, width,
//!  aggressors  after each CTLE with adapted DFE       error ratio     at 16 phases       margins, BER
//!  redriver
//! ```
//!
//! The entry point is [`Receiver`], the reference receiver of a generation, which evaluates channels. A [`Stress`] is
//! the noise and jitter of the evaluation; [`Receiver::calibrate`] finds the one with which a compliance channel just
//! meets the mask, so that a verdict does not depend on constants that only members of the PCI-SIG can confirm.
//!
//! Not modelled: clock recovery (the sampler stands at the best phase), propagation of decision errors through the DFE,
//! amplification of the transmitter's jitter by the channel, a receiver that is not linear, common mode, PAM4. Not
//! here: reading S-parameters, loss budgets, how a link trains.
//!
//! Every transcendental comes from the pinned `libm` and every sum has one order: results are equal on every machine.

mod bathtub;
mod ber;
mod calibrate;
mod channel;
mod characteristic;
mod constants;
mod convolution;
mod crosstalk;
mod ctle;
mod dfe;
mod ffe;
mod fft;
mod grid;
mod interference;
mod jitter;
mod mask;
mod normal;
mod pulse;
mod pulse_error;
mod receiver;
mod redriver;
mod saddle;
mod search;
mod statistical;
mod waves;

pub use bathtub::BathtubPoint;
pub use ber::{of_lanes, of_segments};
pub use calibrate::{Calibration, CalibrationError};
pub use channel::{Aggressor, Channel};
pub use characteristic::{TooDeep, tail_by_characteristic_function};
pub use constants::{Constants, ConstantsError, Reference};
pub use convolution::Distribution;
pub use ctle::{Ctle, CtleFamily};
pub use dfe::Dfe;
pub use ffe::{Coefficients, Ffe, IllegalCoefficients, PRESETS, coefficients};
pub use interference::Interference;
pub use jitter::{Jitter, Stress};
pub use mask::{Mask, Opening};
pub use pulse::Pulse;
pub use pulse_error::PulseError;
pub use receiver::Receiver;
pub use redriver::Redriver;
pub use saddle::tail_by_saddle_point;
pub use search::{Eye, Search};
pub use statistical::StatisticalEye;
pub use waves::Prepared;
