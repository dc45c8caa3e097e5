//! Size of a packet, and the MTU of a path.

use crate::ethernet::spec::header::{IPV4_BYTES, IPV6_BYTES, UDP_BYTES};
use crate::ethernet::spec::{Tagging, frame_bytes};

/// The Base Transport Header \[B\] (IBTA §9.2).
pub const BTH_BYTES: u32 = 12;
/// The Datagram Extended Transport Header \[B\] (IBTA §9.3.2).
pub const DETH_BYTES: u32 = 8;
/// The RDMA Extended Transport Header, of a write's first packet and of a read request \[B\] (IBTA §9.3.3).
pub const RETH_BYTES: u32 = 16;
/// The ACK Extended Transport Header \[B\] (IBTA §9.3.5).
pub const AETH_BYTES: u32 = 4;
/// The Invalidate Extended Transport Header \[B\] (IBTA §9.3.7).
pub const IETH_BYTES: u32 = 4;
/// The invariant CRC \[B\] (IBTA §7.8).
pub const ICRC_BYTES: u32 = 4;
/// The largest extended header, which the MTU of a path allows for in each packet: AtomicETH \[B\].
const LARGEST_EXTENDED_BYTES: u32 = 28;
/// The header of extended reliable connections, for which it does so too \[B\].
const XRC_BYTES: u32 = 4;
/// The UDP port of RoCEv2 (IANA).
pub const UDP_PORT: u16 = 4791;

/// Kind of a packet, as far as its size depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Of a SEND, of a WRITE behind its first, of a READ response between first and last: no extended header.
    Plain,
    /// The last of a SEND with invalidate.
    Invalidating,
    /// The first of a WRITE, or a READ request.
    Addressed,
    /// The first or last of a READ response, or an acknowledgement.
    Acknowledging,
    /// An unreliable datagram.
    Datagram,
}

impl Kind {
    const fn extended_bytes(self) -> u32 {
        match self {
            Self::Plain => 0,
            Self::Invalidating => IETH_BYTES,
            Self::Addressed => RETH_BYTES,
            Self::Acknowledging => AETH_BYTES,
            Self::Datagram => DETH_BYTES,
        }
    }
}

/// The frame of a packet over IPv4, from destination to check sequence \[B\]; the payload is padded to whole words.
#[must_use]
pub const fn packet_bytes(kind: Kind, payload: u32, tagging: Tagging) -> u32 {
    let headers = IPV4_BYTES + UDP_BYTES + BTH_BYTES + kind.extended_bytes();
    frame_bytes(headers + payload.next_multiple_of(4) + ICRC_BYTES, tagging)
}

/// Number of packets of a message: at least one.
#[must_use]
pub const fn packets(bytes: u32, mtu: PathMtu) -> u32 {
    let packets = bytes.div_ceil(mtu.bytes());
    if packets == 0 { 1 } else { packets }
}

/// The MTU of a path: the most payload of a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PathMtu {
    /// 256 B.
    B256 = 256,
    /// 512 B.
    B512 = 512,
    /// 1024 B.
    B1024 = 1024,
    /// 2048 B.
    B2048 = 2048,
    /// 4096 B.
    B4096 = 4096,
}

impl PathMtu {
    /// Every MTU, smallest first.
    pub const ALL: [Self; 5] = [Self::B256, Self::B512, Self::B1024, Self::B2048, Self::B4096];

    /// Its size \[B\].
    #[must_use]
    pub const fn bytes(self) -> u32 {
        self as u32
    }
    /// The one that the connection manager chooses where frames carry so much: the largest that leaves room for every
    /// header that any packet can have, which is 96 B (Linux, `include/rdma/ib_addr.h`, `iboe_get_mtu`): 1024 B where
    /// frames carry 1500 B, 4096 B from 4192 B on. None below 352 B.
    #[must_use]
    pub fn of_frames(payload: u32) -> Option<Self> {
        let headers = IPV6_BYTES + UDP_BYTES + BTH_BYTES + XRC_BYTES + LARGEST_EXTENDED_BYTES + ICRC_BYTES;
        let room = payload.checked_sub(headers)?;
        Self::ALL.into_iter().rev().find(|mtu| mtu.bytes() <= room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_connection_manager_leaves_96_bytes() {
        let mtu = |frames| PathMtu::of_frames(frames).map(PathMtu::bytes);
        assert_eq!([1500, 4191, 4192, 4200, 9000].map(mtu), [1024, 2048, 4096, 4096, 4096].map(Some));
        assert_eq!((mtu(351), mtu(352)), (None, Some(256)));
    }

    /// By hand: 14 + 20 + 8 + 12 + 1024 + 4 + 4 = 1086 B; an acknowledgement is 66 B.
    #[test]
    fn packets_by_hand() {
        let untagged = |kind, payload| packet_bytes(kind, payload, Tagging::Untagged);
        assert_eq!(untagged(Kind::Plain, 1024), 1086);
        assert_eq!(untagged(Kind::Addressed, 1024), 1102);
        assert_eq!((untagged(Kind::Acknowledging, 0), untagged(Kind::Plain, 0)), (66, 64));
        assert_eq!(untagged(Kind::Datagram, 256), 14 + 20 + 8 + 12 + 8 + 256 + 4 + 4);
        assert_eq!((untagged(Kind::Plain, 1021), untagged(Kind::Invalidating, 16)), (1086, 82));
        assert_eq!([0, 1, 1024, 1025].map(|bytes| packets(bytes, PathMtu::B1024)), [1, 1, 1, 2]);
    }
}
