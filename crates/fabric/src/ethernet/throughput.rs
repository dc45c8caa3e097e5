//! Throughput left after overheads: closed forms, to compare with measurements and simulations.

use super::spec::{Rate, Tagging, frame_bytes, wire_bytes};

/// Payload rate of full frames sent as close together as allowed \[B/s\], rounded down.
///
/// ```
/// use lanetwin_fabric::ethernet::{spec::{Rate, Tagging}, throughput};
///
/// // 100 Gb/s in frames of 1500 B: 12.5 GB/s × 1500 / 1538.
/// assert_eq!(throughput::frames(Rate::G100, 1500, Tagging::Untagged), 12_191_157_347);
/// ```
#[must_use]
pub const fn frames(rate: Rate, payload: u32, tagging: Tagging) -> u64 {
    portion(rate, payload as u64, wire_bytes(frame_bytes(payload, tagging)) as u64)
}

/// The useful part of a rate if `part` of every `whole` bytes on the wire count \[B/s\], rounded down.
#[must_use]
pub const fn portion(rate: Rate, part: u64, whole: u64) -> u64 {
    (rate.bytes_per_second() as u128 * part as u128 / whole as u128) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 46/84, 1500/1538 and 9000/9038 of 1.25 GB/s.
    #[test]
    fn frames_by_hand() {
        let form = |payload| frames(Rate::G10, payload, Tagging::Untagged);
        assert_eq!([form(46), form(1500), form(9000)], [684_523_809, 1_219_115_734, 1_244_744_412]);
        assert_eq!(form(1), 1_250_000_000 / 84);
    }
}
