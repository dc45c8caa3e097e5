//! Pause frames: what they weigh, what their times are counted in, how soon they have to be obeyed (IEEE 802.3 annexes
//! 31A, 31B and 31D; 802.1Qbb for the priorities).

use super::frame::{MIN_FRAME_BYTES, body_bytes};
use super::rate::Rate;
use lanetwin_units::Span;

/// A pause frame: the shortest there is \[B\] (802.3 annexes 31B and 31D: padded).
pub const PAUSE_BYTES: u32 = MIN_FRAME_BYTES;

/// Times are counted in so many bits (802.3 §31B.2, `pause_quantum`).
const QUANTUM_BITS: u64 = 512;

/// So many quanta at this rate: the longest time that a frame can ask for, 65535, is 335.5 us at 100 Gb/s.
#[must_use]
pub const fn pause_time(rate: Rate, quanta: u16) -> Span {
    Span::from_ps(quanta as u64 * QUANTUM_BITS / 8 * rate.byte_ps())
}

/// The longest that a port may take from a pause frame's last bit until it begins with no other frame (802.3 §31B.3.7,
/// in quanta; the values of ports with the most layers, as SONiC's calculation of headroom has them,
/// sonic-net/sonic-swss, `cfgmgr/buffer_headroom_barefoot.lua`).
#[must_use]
pub const fn slowest_response(rate: Rate) -> Span {
    let quanta = match rate {
        Rate::G1 => 2,
        Rate::G10 => 67,
        Rate::G25 => 80,
        Rate::G40 => 118,
        Rate::G50 => 147,
        Rate::G100 => 394,
        Rate::G200 => 453,
        Rate::G400 => 905,
    };
    pause_time(rate, quanta)
}

/// From the first bit of a pause frame to its last.
#[must_use]
pub const fn pause_frame_time(rate: Rate) -> Span {
    rate.time_for(body_bytes(PAUSE_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 65535 × 512 bit at 40 Gb/s are 838.85 us, and 394 × 512 bit at 100 Gb/s are 2017.28 ns.
    #[test]
    fn times_by_hand() {
        assert_eq!(pause_time(Rate::G40, 65_535).as_ps(), 838_848_000);
        assert_eq!(slowest_response(Rate::G100).as_ps(), 2_017_280);
        assert_eq!(pause_frame_time(Rate::G100).as_ps(), 72 * 80);
        assert_eq!(pause_time(Rate::G1, 1).as_ps(), 512_000);
    }
}
