//! The closed form to beat: the link formula of pcie-model, and the same with a cap on transfers per second.
//!
//! Source: github.com/pcie-bench/pcie-model. RAW = 8 × 8 GT/s × 128/130; ACKs and flow control take 8 B in 203 each,
//! SKPs 4 in 1538. Writes have 24 B around each 256 B, reads 24 B for each request of 512 B and 20 B around each
//! completion of 256 B. The cap is calibrated on the 64 B cell of each system and direction.

use super::table::Quantity;

const RAW_GBPS: f64 = 8.0 * 8.0 * 128.0 / 130.0;
const FOR_TLPS: f64 = RAW_GBPS * (1.0 - 8.0 / 203.0 - 8.0 / 203.0 - 4.0 / 1538.0);

/// The payload rate that the link allows \[Gb/s\]; none for a latency.
pub fn link(quantity: Quantity, size: u32) -> Option<f64> {
    let payload = f64::from(size);
    let per = |unit: u32| f64::from(size.div_ceil(unit));
    let writes = payload + 24.0 * per(256);
    let requests = 24.0 * per(512);
    let completions = payload + 20.0 * per(256);
    let busiest = match quantity {
        Quantity::Write => writes,
        Quantity::Read => completions.max(requests),
        Quantity::Mixed => (writes + requests).max(completions),
        Quantity::LatencyMean | Quantity::LatencyMedian => return None,
    };
    Some(FOR_TLPS * payload / busiest)
}

/// As [`link`], and not more transfers than were measured at 64 B, where the payload rate was `at_64` \[Gb/s\].
pub fn capped(quantity: Quantity, size: u32, at_64: f64) -> Option<f64> {
    Some(link(quantity, size)?.min(at_64 / 64.0 * f64::from(size)))
}

#[cfg(test)]
mod tests {
    use super::super::table::{Key, System, published};
    use super::*;
    use crate::accuracy::{error_pct, mape};

    /// Recomputed by others from the same tables, over the 36 sizes above 64 B.
    #[test]
    fn the_errors_of_the_baseline_are_the_known_ones() {
        let all = published();
        let known = [
            (System::SandyBridge, [(8.6, 6.6), (15.3, 13.8), (18.1, 16.7)]),
            (System::Broadwell, [(8.8, 6.7), (8.0, 6.5), (14.3, 13.0)]),
        ];
        for (system, errors) in known {
            for (quantity, (link_only, with_cap)) in Quantity::RATES.into_iter().zip(errors) {
                let of = |key: &Key| key.system == system && key.quantity == quantity;
                let at_64 = all.iter().find(|p| of(&p.key) && p.key.size == 64).unwrap().value;
                let above = || all.iter().filter(|p| of(&p.key) && p.key.size > 64);
                assert_eq!(above().count(), 36);
                let link_error = above().map(|p| error_pct(link(quantity, p.key.size).unwrap(), p.value));
                let capped_error =
                    above().map(|p| error_pct(capped(quantity, p.key.size, at_64).unwrap(), p.value));
                let (link_error, capped_error) = (mape(link_error).unwrap(), mape(capped_error).unwrap());
                assert!((link_error - link_only).abs() < 0.06, "{system:?} {quantity:?}: {link_error}");
                assert!((capped_error - with_cap).abs() < 0.06, "{system:?} {quantity:?}: {capped_error}");
            }
        }
    }
}
