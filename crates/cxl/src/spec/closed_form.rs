//! How many slots an access takes, and the bandwidth that a link can have at most: arithmetic, beside which the machines of
//! [`logic`](crate::logic) must stand.
//!
//! | of each line | M2S slots | S2M slots |
//! |---|---|---|
//! | read | 1 (Req) | 4 of data + 1/2 (a header slot holds two DRS) |
//! | write | 1 + 4 of data (RwD) | 1/2 (a slot holds two NDR) |
//!
//! With a share *r* of reads a line takes 5 − 4*r* slots there and 1/2 + 4*r* back, and the busier direction decides.

use super::constants::{FLIT_BYTES, FLIT_SLOTS, LINE_BYTES};
use lanetwin_units::{Generation, LinkRate, Span, Width};

/// Slots per line there (M2S) and back (S2M), at this share of reads.
#[must_use]
pub fn slots_per_line(read_share: f64) -> [f64; 2] {
    [5.0 - 4.0 * read_share, 0.5 + 4.0 * read_share]
}

/// Slots that one direction has in a second; without ordered sets.
#[must_use]
pub fn slots_per_second(generation: Generation, width: Width, bypass: bool) -> f64 {
    let bytes = if bypass {
        generation.megatransfers() * 125_000 * width.lanes()
    } else {
        LinkRate::pcie(generation, width).bytes_in(Span::from_us(1_000_000).as_ticks())
    };
    bytes as f64 / FLIT_BYTES as f64 * FLIT_SLOTS as f64
}

/// The most bytes of lines in a second, both directions together.
#[must_use]
pub fn bandwidth(generation: Generation, width: Width, bypass: bool, read_share: f64) -> f64 {
    let [there, back] = slots_per_line(read_share);
    slots_per_second(generation, width, bypass) / there.max(back) * LINE_BYTES as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published: 26.76, 38.05 and 24.47 GB/s (detailed simulation of an x8 expander, curve set "cxl" of the Mess simulator).
    #[test]
    fn an_x8_link_of_32_gt_per_s() {
        let at = |share| bandwidth(Generation::Gen5, Width::X8, true, share) / 1e9;
        assert!((at(1.00) - 26.77).abs() < 0.005, "{}", at(1.0));
        assert!((at(0.46) - 38.12).abs() < 0.005, "{}", at(0.46));
        assert!((at(0.02) - 24.49).abs() < 0.005, "{}", at(0.02));
    }

    #[test]
    fn nine_reads_in_sixteen_use_both_directions_alike() {
        let [there, back] = slots_per_line(9.0 / 16.0);
        assert!((there - back).abs() < 1e-12);
    }
}
