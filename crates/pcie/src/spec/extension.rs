//! Extension devices: what stands in a link and makes it reach farther (PCI Express Base 4.0, section 4.3).
//!
//! ```text
//!            segment 0               segment 1
//!  port ═══════════════► retimer ═══════════════► port      each segment is received, and its bits are sent anew
//!  port ═══════► redriver ═══════════════════════► port      an amplifier: one segment, whatever stands in it
//! ```
//!
//! A retimer has a clock on each side. What the two drift apart it takes up in an elasticity buffer, and makes good at
//! the next SKP ordered set, to which it adds four symbols or from which it takes four (66 to 194 bits at 128b/130b
//! instead of 130). TLPs are never held back for it: the transmitter sends them at its own clock and SKPs at its own
//! interval. So SKPs that grow or shrink cost no throughput; what is left is that a TLP stays in the buffer for a
//! little longer or shorter, by at most [`drift`].
//!
//! Not here: how well a segment carries its bits (the phy crate), how a retimer takes part in training.

use super::constants::{CLOCK_DIFFERENCE_PPM, SPREAD_PPM};
use super::size::Mps;
use super::timing::{Clocking, SkpSchedule, full_write_bytes};
use lanetwin_units::{Generation, LinkRate, Span, Width};

const MILLION: u64 = 1_000_000;

/// A device that stands in a link, at the generation that the link runs at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extension {
    /// How long a bit takes through it, each way.
    pub latency: Span,
    /// Whether it sends bits anew.
    pub kind: ExtensionKind,
}

/// Whether an extension device knows bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExtensionKind {
    /// An analogue amplifier: what comes in wrong goes out wrong, and louder.
    Redriver,
    /// It receives bits and sends them anew: a segment of the link ends here and another begins.
    Retimer {
        /// How far the clocks of its two sides may drift apart before SKPs make up for it \[bits a lane\].
        elasticity: u64,
    },
}

/// How far two clocks drift apart \[bits a lane\] from one SKP to the next, which may have to wait for a TLP of full
/// MPS.
///
/// 0 with a common clock: both sides count the same bits.
#[must_use]
pub const fn drift_bits(generation: Generation, width: Width, mps: Mps, clocking: Clocking) -> u64 {
    let ppm = match clocking {
        Clocking::Common => return 0,
        Clocking::Srns => CLOCK_DIFFERENCE_PPM,
        Clocking::Sris => CLOCK_DIFFERENCE_PPM + SPREAD_PPM,
    };
    let schedule = SkpSchedule::new(generation, clocking);
    // a byte of a packet and a symbol take the same bits of a lane: ten at 8b/10b, 130 for each 16 at 128b/130b
    let symbols = schedule.period_max_symbols + full_write_bytes(generation, mps).div_ceil(width.lanes());
    let (bits, per) = if generation.is_8b10b() { (symbols * 10, 1) } else { (symbols * 130, 16) };
    (bits * ppm).div_ceil(per * MILLION)
}

/// How much longer or shorter than its latency a TLP may take through a retimer: the time of [`drift_bits`] on a lane.
#[must_use]
pub fn drift(generation: Generation, width: Width, mps: Mps, clocking: Clocking) -> Span {
    let bits = drift_bits(generation, width, mps, clocking);
    Span::from_ps((bits * MILLION).div_ceil(generation.megatransfers()))
}

/// How often a bit that is wrong makes the link go through Recovery: the corrupted sync headers of both directions,
/// each of two bits for each block of 130 on each lane (PCI Express Base 3.0, section 4.2.2).
///
/// The mean time from one to the next; none if that is never, as at 8b/10b, which has no sync headers.
#[must_use]
pub fn recovery_interval(generation: Generation, width: Width, bit_error_ratio: f64) -> Option<Span> {
    if generation.is_8b10b() || bit_error_ratio <= 0.0 {
        return None;
    }
    let block = LinkRate::pcie(generation, Width::X1).ticks_for(16).0 as f64 / 1024.0;
    let headers = 2.0 * width.lanes() as f64;
    let mean = block / (headers * 2.0 * bit_error_ratio);
    (mean < u64::MAX as f64 / 2048.0).then(|| Span::from_ps(mean as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MPS_256: Mps = Mps::from_bytes(256).unwrap();
    const MPS_4096: Mps = Mps::from_bytes(4096).unwrap();

    /// 600 ppm are 29 bits of 375 blocks; 5600 ppm are 27 of 37 blocks, and 188 more of a TLP of 4 KiB on one lane.
    #[test]
    fn clocks_drift_apart_by_the_bits_that_are_published() {
        let drift = |width, mps, clocking| drift_bits(Generation::Gen5, width, mps, clocking);
        assert_eq!(drift(Width::X4, MPS_256, Clocking::Common), 0);
        assert_eq!(drift(Width::X16, MPS_256, Clocking::Srns), 30);
        assert_eq!(drift(Width::X16, MPS_256, Clocking::Sris), 28);
        assert_eq!(drift(Width::X1, MPS_4096, Clocking::Sris), 27 + 188);
    }

    #[test]
    fn drift_is_a_nanosecond_at_gen5_and_four_at_gen3() {
        let drift = |generation| drift(generation, Width::X4, MPS_256, Clocking::Srns).as_ps();
        assert_eq!([Generation::Gen3, Generation::Gen5].map(drift), [3_750, 938]);
    }

    /// Gen5 x4: 984.6 million blocks a second and direction; at 1e-8 a header of two bits is hit 19.7 times a second.
    #[test]
    fn sync_headers_are_hit_as_often_as_their_bits() {
        let interval = |ratio| recovery_interval(Generation::Gen5, Width::X4, ratio);
        let per_second = 1e12 / interval(1e-8).expect("a mean").as_ps() as f64;
        assert!((per_second / (2.0 * 19.69) - 1.0).abs() < 1e-3, "{per_second}");
        assert_eq!(interval(0.0), None);
        assert_eq!(interval(1e-40), None);
        assert_eq!(recovery_interval(Generation::Gen2, Width::X4, 1e-4), None);
    }
}
