//! Size of a frame on the wire (IEEE 802.3 clauses 3 and 4, 802.1Q clause 9).

/// Preamble and start frame delimiter \[B\] (802.3 §3.2.1, §3.2.2).
pub const PREAMBLE_BYTES: u32 = 8;
/// Destination, source and type \[B\] (802.3 §3.2.3 to §3.2.6).
pub const HEADER_BYTES: u32 = 14;
/// A VLAN tag \[B\] (802.1Q §9.3).
pub const VLAN_BYTES: u32 = 4;
/// The frame check sequence \[B\] (802.3 §3.2.9).
pub const FCS_BYTES: u32 = 4;
/// The gap between two frames \[B\]: 96 bit times (802.3 §4.4.2, interPacketGap). Alignment markers of fast lines and
/// differences of clocks are made up for by idles of it, so that the rate of frames is that of the port.
pub const GAP_BYTES: u32 = 12;
/// The shortest frame, from destination to check sequence \[B\]; shorter ones are padded (802.3 §4.4.2, minFrameSize).
pub const MIN_FRAME_BYTES: u32 = 64;
/// The smallest Maximum Transmission Unit (MTU), which every IPv4 host accepts \[B\] (RFC 791, 68; RFC 894 has 1500
/// on Ethernet).
pub const MIN_MTU: u32 = 68;
/// The largest MTU \[B\]: a jumbo frame, which no standard has.
pub const MAX_MTU: u32 = 9000;

/// Whether frames have a VLAN tag, which priorities of 802.1Q need.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tagging {
    /// None.
    Untagged,
    /// One of 4 B.
    Tagged,
}

impl Tagging {
    /// Size of the tag \[B\].
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Untagged => 0,
            Self::Tagged => VLAN_BYTES,
        }
    }
}

/// A frame around `payload` bytes, from destination to check sequence, padded if it is too short \[B\].
#[must_use]
pub const fn frame_bytes(payload: u32, tagging: Tagging) -> u32 {
    let bytes = HEADER_BYTES + tagging.bytes() + payload + FCS_BYTES;
    if bytes < MIN_FRAME_BYTES { MIN_FRAME_BYTES } else { bytes }
}

/// Bytes from the first bit of the preamble of a frame of this size to its last bit \[B\].
#[must_use]
pub const fn body_bytes(frame: u32) -> u32 {
    PREAMBLE_BYTES + frame
}

/// Bytes of a line that a frame of this size occupies, with the least gap after it \[B\].
#[must_use]
pub const fn wire_bytes(frame: u32) -> u32 {
    body_bytes(frame) + GAP_BYTES
}

#[cfg(test)]
mod tests {
    use super::super::rate::Rate;
    use super::*;

    /// The rates of frames that every tester of switches knows (RFC 2544, appendix B): 14 880 952 frames of 64 B and
    /// 812 743 of 1518 B a second at 10 Gb/s.
    #[test]
    fn frames_a_second() {
        let rate = |frame| Rate::G10.bytes_per_second() / u64::from(wire_bytes(frame));
        assert_eq!((rate(64), rate(1518)), (14_880_952, 812_743));
    }

    #[test]
    fn short_frames_are_padded() {
        assert_eq!([1, 46, 47].map(|bytes| frame_bytes(bytes, Tagging::Untagged)), [64, 64, 65]);
        assert_eq!([1, 42, 43].map(|bytes| frame_bytes(bytes, Tagging::Tagged)), [64, 64, 65]);
        assert_eq!((frame_bytes(9000, Tagging::Tagged), wire_bytes(9022)), (9022, 9042));
    }
}
