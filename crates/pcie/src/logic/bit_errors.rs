//! What bit errors cost a link that works: errors, replays, recoveries, and the time that they take.
//!
//! | quantity | closed form |
//! |---|---|
//! | bit errors in a second | lanes · rate · BER |
//! | Recoveries by sync header | bit errors · 2/130; none at 8b/10b |
//! | a TLP is bad | *p* = 1 − (1 − BER)^(8 · its bytes) |
//! | bad TLPs in a second | TLPs in a second · *p* |
//! | REPLAY_NUM rolls over | TLPs in a second · *p*⁴: four in a row |
//! | time lost | bit errors · replay + Recoveries · recovery, at most all of it |
//!
//! To first order: a replay is not lost twice, and errors are independent, which those after a decision feedback
//! equaliser are not. One direction of a link; both together have twice the errors.
//!
//! ```
//! use lanetwin_pcie::logic::bit_errors::{BitErrors, Costs};
//! use lanetwin_units::{Generation, Width};
//! let link = BitErrors::new(Generation::Gen5, Width::X4, 1e-8);
//! let full = link.of_traffic(1.0, 280);
//! assert!((link.per_second() - 1280.0).abs() < 1e-9);
//! assert!((full.lost(Costs::default()) - 0.0017).abs() < 0.0001); // 0.2 % of the throughput
//! ```

use crate::spec::constants::REPLAY_NUM_ROLLOVER;
use lanetwin_units::{Generation, LinkRate, Span, Width};

/// What a replay and a Recovery cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Costs {
    /// A NAK's round trip and the TLPs that are sent again.
    pub replay: Span,
    /// Recovery to L0 and back.
    pub recovery: Span,
}

impl Default for Costs {
    /// 1 µs and 20 µs (assumed: orders of magnitude for a Gen5 x4 link).
    fn default() -> Self {
        Self { replay: Span::from_us(1), recovery: Span::from_us(20) }
    }
}

/// The bit errors of one direction of a link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BitErrors {
    generation: Generation,
    width: Width,
    ber: f64,
}

/// The same, with traffic on it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ErrorRates {
    /// Bits that are wrong, in a second.
    pub bits: f64,
    /// Sync headers that are wrong, in a second: each leads to Recovery.
    pub sync_headers: f64,
    /// TLPs that are wrong, in a second: each is replayed.
    pub bad_tlps: f64,
    /// TLPs that were wrong as often as REPLAY_NUM counts, in a second: each leads to Recovery.
    pub rollovers: f64,
    /// Bits that are wrong outside of TLPs and of sync headers, in a second.
    pub others: f64,
}

impl BitErrors {
    /// Of a link with this bit error ratio, the mean of its lanes.
    ///
    /// # Panics
    /// If the ratio is not between 0 and 1.
    #[must_use]
    pub fn new(generation: Generation, width: Width, ber: f64) -> Self {
        assert!((0.0..=1.0).contains(&ber), "a bit error ratio between 0 and 1");
        Self { generation, width, ber }
    }
    /// Bit errors in a second.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        self.width.lanes() as f64 * self.generation.megatransfers() as f64 * 1e6 * self.ber
    }
    /// The chance that a TLP of so many bytes on the wire is wrong.
    #[must_use]
    pub fn bad_tlp(&self, bytes: u32) -> f64 {
        // 8b/10b sends ten bits for each byte, and a wrong one of them makes a wrong byte
        let bits = if self.generation.is_8b10b() { 10.0 } else { 8.0 };
        if self.ber >= 1.0 { 1.0 } else { -libm::expm1(bits * f64::from(bytes) * libm::log1p(-self.ber)) }
    }
    /// With TLPs of so many bytes on the wire for this share of the time.
    #[must_use]
    pub fn of_traffic(&self, utilisation: f64, tlp_bytes: u32) -> ErrorRates {
        let rate = LinkRate::pcie(self.generation, self.width);
        let bytes_per_second = rate.bytes_in(Span::from_us(1_000_000).as_ticks()) as f64;
        let tlps = utilisation * bytes_per_second / f64::from(tlp_bytes);
        let bad = self.bad_tlp(tlp_bytes);
        let bits = self.per_second();
        let sync_headers = if self.generation.is_8b10b() { 0.0 } else { bits * 2.0 / 130.0 };
        Self::rates(bits, sync_headers, tlps, bad, utilisation)
    }
    fn rates(bits: f64, sync_headers: f64, tlps: f64, bad: f64, utilisation: f64) -> ErrorRates {
        let in_a_row = (0..REPLAY_NUM_ROLLOVER).fold(1.0, |product, _| product * bad);
        ErrorRates {
            bits,
            sync_headers,
            bad_tlps: tlps * bad,
            rollovers: tlps * in_a_row,
            others: (bits - sync_headers) * (1.0 - utilisation),
        }
    }
}

impl ErrorRates {
    /// How often the link goes to Recovery, in a second.
    #[must_use]
    pub fn recoveries(&self) -> f64 {
        self.sync_headers + self.rollovers
    }
    /// The share of the throughput that is lost, of a link that is always busy.
    #[must_use]
    pub fn lost(&self, costs: Costs) -> f64 {
        let seconds = |span: Span| span.as_ps() as f64 * 1e-12;
        (self.bits * seconds(costs.replay) + self.recoveries() * seconds(costs.recovery)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BER; bit errors, Recoveries by sync header, share lost, rollovers: x4 at 32 GT/s, MPS 256 B (280 B on the wire).
    const TABLE: &[(f64, f64, f64, f64)] = &[
        (1e-12, 0.13, 0.002, 2e-7),
        (1e-10, 13.0, 0.2, 2e-5),
        (1e-8, 1.3e3, 20.0, 0.002),
        (1e-7, 1.3e4, 200.0, 0.017),
        (1e-6, 1.3e5, 2e3, 0.17),
        (1e-5, 1.3e6, 2e4, 1.0),
    ];

    #[test]
    fn rates_and_losses_are_those_of_the_table() {
        // the table has one or two digits
        let near = |got: f64, told: f64| (got / told - 1.0).abs() < 0.17;
        for &(ber, bits, recoveries, lost) in TABLE {
            let rates = BitErrors::new(Generation::Gen5, Width::X4, ber).of_traffic(1.0, 280);
            assert!(near(rates.bits, bits), "{ber}: {}", rates.bits);
            assert!(near(rates.sync_headers, recoveries), "{ber}: {}", rates.sync_headers);
            assert!(near(rates.lost(Costs::default()), lost), "{ber}: {}", rates.lost(Costs::default()));
        }
    }

    /// About 5 in an hour at 1e-6, 14 in a second at 1e-5.
    #[test]
    fn rollovers_begin_where_links_fall() {
        let rollovers = |ber| BitErrors::new(Generation::Gen5, Width::X4, ber).of_traffic(1.0, 280).rollovers;
        assert!((rollovers(1e-6) * 3600.0 - 5.0).abs() < 0.5, "{}", rollovers(1e-6) * 3600.0);
        assert!((rollovers(1e-5) - 14.0).abs() < 0.7, "{}", rollovers(1e-5));
    }

    /// One retry in about 2 s on an x16 link at 1e-12, as Kandou states it: 512 Gbit/s are half an error in a second.
    #[test]
    fn an_x16_link_retries_every_other_second() {
        let link = BitErrors::new(Generation::Gen5, Width::X16, 1e-12);
        assert!((1.0 / link.per_second() - 2.0).abs() < 0.1);
    }

    #[test]
    fn nothing_is_lost_without_errors_and_no_more_than_everything_with_them() {
        let lost = |ber| {
            BitErrors::new(Generation::Gen3, Width::X1, ber).of_traffic(1.0, 280).lost(Costs::default())
        };
        assert_eq!(lost(0.0), 0.0);
        assert_eq!(lost(0.5), 1.0);
        let slow = BitErrors::new(Generation::Gen1, Width::X1, 1e-6).of_traffic(0.5, 280);
        assert_eq!(slow.sync_headers, 0.0);
        assert!(slow.others > 0.0 && slow.bad_tlps > 0.0);
    }
}
