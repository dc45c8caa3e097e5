//! Content of packets, as far as the two sides of a connection need it.

/// A Packet Sequence Number (PSN): 24 bits, half of them ahead and half behind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Psn(u32);

const PSN_BITS: u32 = 24;
const HALF: u64 = 1 << (PSN_BITS - 1);

impl Psn {
    /// The number on the wire of the packet that is counted as `count`.
    #[must_use]
    pub const fn of(count: u64) -> Self {
        Self((count & ((1 << PSN_BITS) - 1)) as u32)
    }
    /// As on the wire.
    #[must_use]
    pub const fn raw(self) -> u32 {
        self.0
    }
    /// The packet that has this number, of those the nearest to the one that is counted as `near`.
    #[must_use]
    pub const fn near(self, near: u64) -> u64 {
        let ahead = (self.0 as u64).wrapping_sub(near) & ((1 << PSN_BITS) - 1);
        if ahead < HALF { near + ahead } else { (near + ahead).saturating_sub(1 << PSN_BITS) }
    }
}

/// Operation of a work request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// SEND: to a receive that the other side has posted; whether it invalidates a key there.
    Send {
        /// SEND with invalidate.
        invalidate: bool,
    },
    /// RDMA WRITE: to memory of the other side.
    Write,
    /// RDMA READ: from memory of the other side.
    Read,
}

/// A part of a message that is in one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// The requester's name for the message.
    pub message: u32,
    /// Offset in the message \[B\].
    pub offset: u32,
    /// Size; for a READ request the size requested \[B\].
    pub bytes: u32,
    /// Whether it is the end of the message.
    pub last: bool,
}

/// A packet from requester to responder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Its number; of a READ request, that of the first response.
    pub psn: Psn,
    /// Operation of its message.
    pub operation: Operation,
    /// Its part of the message.
    pub part: Part,
    /// Whether it requests an acknowledgement.
    pub ack: bool,
}

/// A packet from responder to requester.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Response {
    /// Its number: of the packet that it answers.
    pub psn: Psn,
    /// Its content.
    pub says: Says,
}

/// Content of a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Says {
    /// Everything up to here has come.
    Ack,
    /// Something else has come than this, which is expected.
    OutOfSequence,
    /// This cannot be taken: nothing was posted to receive it.
    NotReady,
    /// Data of a READ.
    Data(Part),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap() {
        for near in [0_u64, 5, (1 << 24) - 1, 1 << 24, (1 << 40) + 77] {
            for count in [near, near + 1, near + HALF - 1, near.saturating_sub(1000)] {
                assert_eq!(Psn::of(count).near(near), count, "{count} near {near}");
            }
        }
        assert_eq!(Psn::of((1 << 24) + 3).raw(), 3);
    }
}
