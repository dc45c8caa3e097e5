//! From an eye to the bit error ratio of a link, the number that a scenario gives as `ber:`.
//!
//! [`Eye::ber`](super::Eye::ber) is the share of bits that the sampler decides wrongly. Lanes carry equal shares of the
//! bits of a link, so that its ratio is their mean ([`of_lanes`]); behind a retimer a bit must pass all segments
//! ([`of_segments`]).
//!
//! What the number is and is not:
//!
//! 1. Errors are taken as independent. The DFE makes bursts of them: the true ratio is somewhat higher, and there are
//!    fewer replays for as many errors.
//! 2. It says nothing of what is not in the channel: supply noise, a clock that wanders, a connector that is touched.
//! 3. No value below 1e-40 is told, and none below about 1e-15 can be measured.
//! 4. It follows the stress: a millivolt of noise moves it by many orders of magnitude. Calibrate, and give a scenario
//!    the order of magnitude, not the figures.

/// The bit error ratio of a link from those of its lanes, which carry equal shares of its bits; 0 of no lane.
#[must_use]
pub fn of_lanes(lanes: &[f64]) -> f64 {
    if lanes.is_empty() { 0.0 } else { lanes.iter().sum::<f64>() / lanes.len() as f64 }
}

/// The bit error ratio behind retimers, from those of the segments: a bit is wrong if an odd number of segments turned
/// it.
#[must_use]
pub fn of_segments(segments: &[f64]) -> f64 {
    segments.iter().fold(0.0, |wrong, ber| wrong + ber - 2.0 * wrong * ber)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_add_up_while_they_are_small_and_end_at_a_half() {
        assert!((of_segments(&[1e-12, 3e-12]) / 4e-12 - 1.0).abs() < 1e-9);
        assert_eq!(of_segments(&[0.5, 1e-3]), 0.5);
        assert_eq!(of_segments(&[]), 0.0);
        assert_eq!(of_segments(&[1.0, 1.0]), 0.0);
    }

    #[test]
    fn lanes_are_averaged() {
        assert!((of_lanes(&[1e-12, 3e-12]) / 2e-12 - 1.0).abs() < 1e-12);
        assert_eq!(of_lanes(&[]), 0.0);
    }
}
