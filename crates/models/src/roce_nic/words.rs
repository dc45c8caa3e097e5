//! Words of a frame that describe its packet.
//!
//! ```text
//!   word 0   Packet Sequence Number; counts on in a train
//!   word 1   the requester's name for the message
//!   word 2   15:0 destination queue pair, 18:16 what it is, 24 an acknowledgement is asked for
//! ```

use lanetwin_fabric::roce::logic::packet::Psn;
use lanetwin_ports::QueuePairId;

/// Kind of packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    Request {
        ack: bool,
    },
    Ack,
    OutOfSequence,
    NotReady,
    Data,
    /// Congestion Notification Packet (CNP).
    Congestion,
    /// A datagram of a connection manager.
    Datagram,
}

/// A packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Packet {
    pub(super) psn: Psn,
    pub(super) message: u32,
    pub(super) to: QueuePairId,
    pub(super) what: What,
}

/// What it is; 5 is a frame of TCP (`flow`).
const KIND: u32 = 16;
const ACK: u32 = 1 << 24;

impl Packet {
    pub(super) const fn words(&self) -> [u32; 3] {
        let what = match self.what {
            What::Request { ack: false } => 0,
            What::Request { ack: true } => ACK,
            What::Ack => 1 << KIND,
            What::OutOfSequence => 2 << KIND,
            What::NotReady => 3 << KIND,
            What::Data => 4 << KIND,
            What::Congestion => 6 << KIND,
            What::Datagram => 7 << KIND,
        };
        [self.psn.raw(), self.message, what | self.to.0 as u32]
    }
    /// The packet with these words. Returns `None` if they belong to no packet.
    pub(super) const fn from_words([psn, message, rest]: [u32; 3]) -> Option<Self> {
        let what = match rest >> KIND & 0xff {
            0 => What::Request { ack: rest & ACK != 0 },
            1 => What::Ack,
            2 => What::OutOfSequence,
            3 => What::NotReady,
            4 => What::Data,
            6 => What::Congestion,
            7 => What::Datagram,
            _ => return None,
        };
        Some(Self { psn: Psn::of(psn as u64), message, to: QueuePairId(rest as u16), what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_what_they_were_made_of() {
        let answers = [What::Ack, What::OutOfSequence, What::NotReady, What::Data];
        let whats = answers.into_iter().chain([What::Congestion, What::Datagram]);
        for what in whats.chain([false, true].map(|ack| What::Request { ack })) {
            let packet = Packet { psn: Psn::of(77), message: 5, to: QueuePairId(0xabcd), what };
            assert_eq!(Packet::from_words(packet.words()), Some(packet));
        }
        assert_eq!(Packet::from_words([0, 0, 9 << KIND]), None);
    }
}
