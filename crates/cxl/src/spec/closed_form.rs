//! How many slots an access takes, and the bandwidth that a link can have at most: arithmetic, beside which the
//! machines of [`logic`](crate::logic) must stand.
//!
//! Flits of 68 B:
//!
//! | of each line | M2S slots | S2M slots |
//! |---|---|---|
//! | read | 1 (Req) | 4 of data + 1/2 (a header slot holds two DRS) |
//! | write | 1 + 4 of data (RwD) | 1/2 (a slot holds two NDR) |
//!
//! With a share *r* of reads a line takes 5 − 4*r* slots there and 1/2 + 4*r* back, and the busier direction decides.
//!
//! Flits of 256 B, of which *h* slots are never data (1, latency-optimised 2) and *g* = 15 − *h* can be:
//!
//! | lines of a flit, at most | why |
//! |---|---|
//! | there: 15 / (5 − 4*r*) | every slot can have a request |
//! | back: (2*h* + 3*g*) / (1 + 12*r*) | 2*h* headers in slots that are never data, three in each of the others that is not data, of which there are *g* − 4*r* for each line |
//! | back: *g* / 4*r* | the data alone |
//!
//! The numbers of messages that two groups may have are not in it: where they bind, it is less.

use super::constants::{FLIT_BYTES, FLIT_SLOTS, LINE_BYTES, LINE_SLOTS};
use super::flit_256::{BYTES, Layout, SLOTS, SlotKind};
use lanetwin_units::{Generation, LinkRate, Span, Width};

/// Slots per line there (M2S) and back (S2M), at this share of reads.
#[must_use]
pub fn slots_per_line(read_share: f64) -> [f64; 2] {
    [5.0 - 4.0 * read_share, 0.5 + 4.0 * read_share]
}

/// Slots that one direction has in a second; without ordered sets.
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

/// The most bytes of lines in a second, both directions together.
#[must_use]
pub fn bandwidth(generation: Generation, width: Width, bypass: bool, read_share: f64) -> f64 {
    let [there, back] = slots_per_line(read_share);
    slots_per_second(generation, width, bypass) / there.max(back) * LINE_BYTES as f64
}

/// Lines that a flit of 256 B carries at most, there (M2S) and back (S2M), at this share of reads.
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

/// The most bytes of lines in a second with flits of 256 B, both directions together; without ordered sets, and with
/// sync headers unless they are bypassed.
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
