//! How sure, and what may be said: from recorded latencies and repeats to intervals, verdicts and the results document.
//!
//! ```text
//!  one run ─┬─ Histogram      latencies, exact count and sum, percentiles within 0.1 %
//!           ├─ Gauge, Servers how much of something is in use over time, an integral of integers
//!           ├─ LittlesLaw     residence = area, an identity of integers
//!           └─ steady         warm-up cut (MSER-5), batch means
//!  repeats ─┬─ interval       mean, median, percentile
//!           ├─ tail           percentiles of all latencies of all repeats
//!           ├─ fairness       of several devices, by Jain's index
//!           ├─ proportion     what a count of passes and failures proves
//!           └─ bootstrap      paired ratio to the baseline (BCa)
//!                └─► verdict  better · worse · equivalent · inconclusive
//!  sweeps  ──► sweep        Pareto front, the cheapest that is good enough, what each parameter explains
//!  all of it ──► results      results.json
//! ```
//!
//! Deterministic to the last bit on every machine: integers where they suffice, sums in one order, square roots as IEEE
//! 754 demands them, every transcendental from a pinned pure-Rust libm (the platform's are forbidden by lint in this
//! crate).
//!
//! Not here: what a metric means and which direction of it is good (the scenario), utilisation and the name of a
//! bottleneck (the world that has links), the rule for the steady state of an SSD, drawing.

pub mod bootstrap;
mod confidence;
mod fairness;
mod gauge;
mod histogram;
pub mod interval;
mod little;
pub mod proportion;
mod quantile;
pub mod results;
mod sample;
mod servers;
pub mod steady;
pub mod sweep;
pub mod tail;
pub mod verdict;

pub use bootstrap::{Change, paired_ratio};
pub use confidence::{Confidence, Interval};
pub use fairness::jain;
pub use gauge::Gauge;
pub use histogram::{Bucket, Histogram, RELATIVE_ERROR};
pub use interval::OrderInterval;
pub use little::{LittleError, LittlesLaw};
pub use quantile::normal_quantile;
pub use results::Results;
pub use servers::Servers;
pub use verdict::{Direction, Margin, Verdict};
