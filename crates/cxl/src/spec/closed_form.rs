//! Slots per access, and maximum bandwidth of a link, as formulas with which the state machines of
//! [`logic`](crate::logic) are compared.
//!
//! Flits of 68 B:
//!
//! | per line | M2S slots | S2M slots |
//! |---|---|---|
//! | read | 1 (Req) | 4 of data + 1/2 (a header slot holds two DRS) |
//! | write | 1 + 4 of data (RwD) | 1/2 (a slot holds two NDR) |
//!
//! With a share *r* of reads, a line takes 5 − 4*r* slots in M2S and 1/2 + 4*r* in S2M on average; the busier direction
//! limits the bandwidth.
//!
//! Flits of 256 B, in which *h* slots never hold data (1, latency-optimised 2) and *g* = 15 − *h* can:
//!
//! | maximum number of lines per flit | reason |
//! |---|---|
//! | M2S: 15 / (5 − 4*r*) | every slot can hold a request |
//! | S2M: (2*h* + 3*g*) / (1 + 12*r*) | 2*h* headers in slots that never hold data, three in each other slot without data; each line takes 4*r* of the *g* slots for data |
//! | S2M: *g* / 4*r* | data slots alone |
//!
//! The limits on the number of messages in two groups are not included: where they apply, the bandwidth is lower.

use super::constants::{FLIT_BYTES, FLIT_SLOTS, LINE_BYTES, LINE_SLOTS};
use super::flit_256::{BYTES, Layout, SLOTS, SlotKind};
use lanetwin_units::{Generation, LinkRate, Span, Width};

/// Slots per line in M2S and in S2M, at this share of reads.
#[must_use]
pub fn slots_per_line(read_share: f64) -> [f64; 2] {
    [5.0 - 4.0 * read_share, 0.5 + 4.0 * read_share]
}

/// Slots per second of one direction, without ordered sets.
#[must_use]
pub fn slots_per_second(generation: Generation, width: Width, bypass: bool) -> f64 {
    wire_bytes_per_second(generation, width, bypass) / FLIT_BYTES as f64 * FLIT_SLOTS as f64
}

fn wire_bytes_per_second(generation: Generation, width: Width, bypass: bool) -> f64 {
    let bytes = if bypass {
        generation.megatransfers() * 125_000 * width.lanes()
    } else {
        LinkRate::pcie(generation, width).bytes_in(Span::from_us(1_000_000).as_ticks())
    };
    bytes as f64
}

/// Maximum bandwidth in bytes of lines per second, both directions together.
#[must_use]
pub fn bandwidth(generation: Generation, width: Width, bypass: bool, read_share: f64) -> f64 {
    let [there, back] = slots_per_line(read_share);
    slots_per_second(generation, width, bypass) / there.max(back) * LINE_BYTES as f64
}

/// Maximum number of lines per flit of 256 B in M2S and in S2M, at this share of reads.
#[must_use]
pub fn lines_per_flit_256(layout: Layout, read_share: f64) -> [f64; 2] {
    let never_data = (0..SLOTS).filter(|slot| layout.kind(*slot) != SlotKind::G).count() as f64;
    let others = SLOTS as f64 - never_data;
    let headers = 2.0 * never_data + 3.0 * others;
    let line = f64::from(LINE_SLOTS);
    [
        SLOTS as f64 / (1.0 + line * (1.0 - read_share)),
        (headers / (1.0 + 3.0 * line * read_share)).min(others / (line * read_share)),
    ]
}

/// Maximum bandwidth with flits of 256 B in bytes of lines per second, both directions together.
///
/// Without ordered sets, and with sync headers unless they are bypassed.
#[must_use]
pub fn bandwidth_256(
    generation: Generation,
    width: Width,
    bypass: bool,
    layout: Layout,
    read_share: f64,
) -> f64 {
    let [there, back] = lines_per_flit_256(layout, read_share);
    wire_bytes_per_second(generation, width, bypass) / BYTES as f64 * there.min(back) * LINE_BYTES as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three writes fill the fifteen slots of either flit; the data of reads leave no slot for headers where two slots
    /// are never data.
    #[test]
    fn a_flit_of_256_bytes_carries_three_lines_and_some() {
        assert_eq!(lines_per_flit_256(Layout::Standard, 0.0)[0], 3.0);
        assert_eq!(lines_per_flit_256(Layout::LatencyOptimised, 0.0)[0], 3.0);
        assert_eq!(lines_per_flit_256(Layout::Standard, 1.0)[1], 44.0 / 13.0);
        assert_eq!(lines_per_flit_256(Layout::LatencyOptimised, 1.0)[1], 13.0 / 4.0);
    }

    /// Published: 26.76, 38.05 and 24.47 GB/s (detailed simulation of an x8 expander, curve set "cxl" of the Mess
    /// simulator).
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
