//! The gate: checks of data before they are used as a channel.
//!
//! | check | finding |
//! |---|---|
//! | does it reach far enough for the rate? | `PH018`, or `PH103` |
//! | is it passive, reciprocal, causal? | `PH019`, or `PH106`, `PH107`, `PH108` |
//! | which ports are P and N, near and far? | `PH015`, `PH016`, or `PH105`, `PH112` |
//!
//! All checks are made, so that all errors are reported together.

use crate::network::{Network, Pairing};
use crate::problem::Finding;
use crate::quality::{Quality, check_range};
use crate::rate::DataRate;
use lanetwin_problems::Severity;

/// Data that passed the checks, with their pairing and quality.
#[derive(Clone, PartialEq, Debug)]
pub struct Admitted {
    /// The differential network: the near pairs of all lanes, then the far pairs.
    pub differential: Network,
    /// Assignment of ports to P and N, near and far.
    pub pairing: Pairing,
    /// Quality of the data.
    pub quality: Quality,
    /// Warnings.
    pub warnings: Vec<Finding>,
}

impl Admitted {
    /// A lane as a two-port, from near to far; the others are terminated.
    ///
    /// # Panics
    /// If there is no lane `index`.
    #[must_use]
    pub fn lane(&self, index: usize) -> Network {
        let lanes = self.pairing.lanes().len();
        assert!(index < lanes, "lanes count from 0");
        self.differential.picked(&[index, lanes + index]).expect("two ports of its own")
    }
}

/// Checks data for a rate; the pairing is detected if none is given.
///
/// # Errors
/// Every error that was found, with the warnings: see the table above; and `PH012` for a pair of unequal references.
pub fn admit(network: &Network, pairing: Option<Pairing>, rate: DataRate) -> Result<Admitted, Vec<Finding>> {
    let quality = Quality::of(network);
    let mut found: Vec<Finding> = check_range(network, rate).into_iter().chain(quality.findings()).collect();
    let pairing = pairing.map_or_else(|| Pairing::detect(network), |pairing| Ok((pairing, Vec::new())));
    let paired = pairing.and_then(|(pairing, said)| Ok((network.differential(&pairing)?, pairing, said)));
    match paired {
        Ok((differential, pairing, said)) => {
            found.extend(said);
            if found.iter().all(|finding| finding.severity == Severity::Warning) {
                return Ok(Admitted { differential, pairing, quality, warnings: found });
            }
        }
        Err(finding) => found.push(finding),
    }
    Err(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complex::{ZERO, magnitude, polar};

    /// Two lanes, 1–3 and 2–4, 5–7 and 6–8, the second with half the gain, to `last` \[Hz\].
    fn two_lanes(gain: f64, last: f64) -> Network {
        let frequencies: Vec<f64> = (0..=200).map(|k| f64::from(k) * last / 200.0).collect();
        let mut cells = vec![ZERO; frequencies.len() * 64];
        for (at, f) in frequencies.iter().enumerate() {
            for (a, b, share) in [(0, 2, 1.0), (1, 3, 1.0), (4, 6, 0.5), (5, 7, 0.5)] {
                let through = polar(gain * share, -core::f64::consts::TAU * f * 1e-9);
                cells[at * 64 + a * 8 + b] = through;
                cells[at * 64 + b * 8 + a] = through;
            }
        }
        Network::new(frequencies, vec![50.0; 8], cells).unwrap()
    }

    #[test]
    fn what_is_admitted_has_its_lanes_and_its_warnings() {
        let admitted = admit(&two_lanes(0.9, 20e9), None, DataRate::Gen5).unwrap();
        let codes: Vec<_> = admitted.warnings.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, ["PH103", "PH112"]);
        for (lane, gain) in [(0, 0.9), (1, 0.45)] {
            assert!((magnitude(admitted.lane(lane).at(7)[2]) - gain).abs() < 1e-12);
        }
        assert_eq!(admitted.lane(0).reference(), [100.0; 2]);
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once() {
        let found = admit(&two_lanes(1.5, 10e9), None, DataRate::Gen5).unwrap_err();
        let codes: Vec<_> = found.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, ["PH018", "PH019", "PH112"]);
        let dark = admit(&two_lanes(0.01, 10e9), None, DataRate::Gen5).unwrap_err();
        let codes: Vec<_> = dark.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, ["PH018", "PH015"]);
        // told who is who, the dark one is crosstalk
        let pairing = Some(Pairing::low_near());
        assert!(admit(&two_lanes(0.01, 40e9), pairing, DataRate::Gen5).is_ok());
    }
}
