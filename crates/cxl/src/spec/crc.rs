//! CRC of a flit of 68 B.

/// Generator polynomial without its highest term (CXL §4.2.8.7.1: 1F053h).
const POLYNOMIAL: u16 = 0xf053;

/// CRC of the 64 bytes of slots of a flit. Bit 511 is the highest power of the message polynomial; nothing is inverted
/// (CXL §4.2.8.7.2).
#[must_use]
pub fn crc(slots: &[u8; 64]) -> u16 {
    let bit = |crc: u16| if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ POLYNOMIAL };
    slots.iter().rev().fold(0, |crc, byte| (0..8).fold(crc ^ u16::from(*byte) << 8, |crc, _| bit(crc)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_bit(n: usize) -> u16 {
        let mut slots = [0; 64];
        slots[n / 8] = 1 << (n % 8);
        crc(&slots)
    }

    /// The first and the last bits of the data masks of the standard, read across the sixteen masks from DM\[15\] to
    /// DM\[0\].
    #[test]
    fn it_is_that_of_the_data_masks() {
        let first = [0xe, 0x9, 0x2, 0x7, 0x5, 0xa, 0x5, 0x2, 0x1, 0x8, 0xa, 0xd, 0x8, 0xc, 0x6, 0xd];
        let last = [0x1, 0x9, 0x5, 0x3, 0x0, 0x0, 0x8, 0xc, 0xe, 0xf, 0x6, 0xb, 0x4, 0xa, 0x5, 0x3];
        let column = |nibbles: [u16; 16], bit: u16| {
            nibbles.iter().fold(0_u16, |word, nibble| word << 1 | (nibble >> bit & 1))
        };
        for bit in 0..4 {
            assert_eq!(of_bit(508 + usize::from(bit)), column(first, bit), "bit {}", 508 + bit);
            assert_eq!(of_bit(usize::from(bit)), column(last, bit), "bit {bit}");
        }
    }

    #[test]
    fn three_wrong_bits_do_not_pass() {
        let all: Vec<u16> = (0..512).map(of_bit).collect();
        let mut pairs = std::collections::BTreeSet::new();
        for (n, a) in all.iter().enumerate() {
            assert_ne!(*a, 0);
            for b in &all[..n] {
                assert!(a != b);
                pairs.insert(a ^ b);
            }
        }
        assert!(all.iter().all(|c| !pairs.contains(c)));
    }
}
