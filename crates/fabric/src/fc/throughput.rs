//! Throughput at a line rate, in closed form, for comparison with measurements and simulations.
//!
//! HP measured a 4GFC adapter (AB379B, sequential 256 KB) at 410 MB/s one way and 808 MB/s both ways. The closed
//! forms, including the frames of the exchanges, give 412.8 MB/s (+0.6 %) and 825.1 MB/s (+2.1 %).

use super::spec::fcp::ExchangeBytes;
use super::spec::frame::{DataField, WORD_BYTES, frame_bytes, spacing_bytes};
use super::spec::rate::Rate;
use lanetwin_units::{Span, TICKS_PER_PS};

/// Data that a direction carries in full frames that follow as closely as they may \[B/s\], rounded down.
#[must_use]
pub const fn one_way(rate: Rate, field: DataField) -> u64 {
    portion(rate.bytes_per_second(), field.bytes() as u64, spacing_bytes(field.bytes()) as u64)
}

/// Data that exchanges of `bytes` carry, reads only or writes only, if there is always a next one \[B/s\], rounded
/// down.
#[must_use]
pub const fn exchanges(rate: Rate, field: DataField, bytes: u64) -> u64 {
    portion(rate.bytes_per_second(), bytes, ExchangeBytes::read(bytes, field).to_initiator)
}

/// Data that as many reads as writes of `bytes` carry, both directions together, if there is always a next one \[B/s\],
/// rounded down. R_RDY takes no more than the fill words between frames, so that the directions do not disturb one
/// another.
#[must_use]
pub const fn both_ways(rate: Rate, field: DataField, bytes: u64) -> u64 {
    let (read, write) = (ExchangeBytes::read(bytes, field), ExchangeBytes::write(bytes, field));
    let (there, back) = (read.to_target + write.to_target, read.to_initiator + write.to_initiator);
    portion(rate.bytes_per_second(), 2 * bytes, if there > back { there } else { back })
}

/// As [`one_way`], with `credits` buffers at the receiver and a flight time of `flight` each way: as long as a frame,
/// its flight, its R_RDY and the flight of that last, only `credits` frames can be sent \[B/s\], rounded down.
#[must_use]
pub const fn one_way_with_credits(rate: Rate, field: DataField, credits: u64, flight: Span) -> u64 {
    let turn = rate.line().ticks_for((frame_bytes(field.bytes()) + WORD_BYTES) as u64).0
        + 2 * flight.as_ps() * TICKS_PER_PS;
    let ticks_per_second = TICKS_PER_PS as u128 * 1_000_000_000_000;
    let by_credits = (credits * field.bytes() as u64) as u128 * ticks_per_second / turn as u128;
    let by_line = one_way(rate, field) as u128;
    (if by_credits < by_line { by_credits } else { by_line }) as u64
}

const fn portion(of: u64, part: u64, whole: u64) -> u64 {
    (of as u128 * part as u128 / whole as u128) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HP AB379B paper: one port, sequential 256 KB, reads or writes; and both together \[B/s\].
    const MEASURED: [u64; 2] = [410_000_000, 808_000_000];
    const TRANSFER: u64 = 256 << 10;

    /// The error against the measurement, in thousandths.
    fn error(form: u64, measured: u64) -> i64 {
        (form as i64 - measured as i64) * 1000 / measured as i64
    }

    #[test]
    fn one_port_of_4gfc_carries_what_was_measured() {
        let form = exchanges(Rate::Gfc4, DataField::B2048, TRANSFER);
        assert_eq!((form, error(form, MEASURED[0])), (412_774_723, 6));
        let form = both_ways(Rate::Gfc4, DataField::B2048, TRANSFER);
        assert_eq!((form, error(form, MEASURED[1])), (825_072_575, 21));
    }

    /// By hand: 425 MB/s × 2048 / 2108 and × 2112 / 2172.
    #[test]
    fn full_frames_by_hand() {
        assert_eq!(one_way(Rate::Gfc4, DataField::B2048), 412_903_225);
        assert_eq!(one_way(Rate::Gfc4, DataField::B2112), 413_259_668);
        assert_eq!(one_way(Rate::Gfc8, DataField::B2048), 825_806_451);
    }

    /// 10 km are 50 µs each way; a frame of 2084 B and the word of R_RDY take 4.913 µs at 4GFC: 2048 B for each credit
    /// every 104.913 µs, until 21.15 credits fill the line.
    #[test]
    fn distance_costs_credits() {
        let km10 = Span::from_us(50);
        let rate = |credits| one_way_with_credits(Rate::Gfc4, DataField::B2048, credits, km10);
        assert_eq!(rate(1), 19_520_947);
        assert!((rate(8) - 8 * rate(1)) < 8);
        assert!(rate(21) < one_way(Rate::Gfc4, DataField::B2048));
        assert_eq!(rate(22), one_way(Rate::Gfc4, DataField::B2048));
    }
}
