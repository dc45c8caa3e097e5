//! The words of the transport headers, most significant byte first on the wire (IBTA volume 1, chapter 9).

use lanetwin_wire::{open_enum, wire};

open_enum! {
    /// What a packet of a reliable connection is (IBTA §9.2.1, table 38).
    pub struct Opcode(u8) {
        /// SEND, the first of several.
        SEND_FIRST = 0x00;
        /// SEND, neither first nor last.
        SEND_MIDDLE = 0x01;
        /// SEND, the last of several.
        SEND_LAST = 0x02;
        /// SEND in one packet.
        SEND_ONLY = 0x04;
        /// RDMA WRITE, the first of several.
        WRITE_FIRST = 0x06;
        /// RDMA WRITE, neither first nor last.
        WRITE_MIDDLE = 0x07;
        /// RDMA WRITE, the last of several.
        WRITE_LAST = 0x08;
        /// RDMA WRITE in one packet.
        WRITE_ONLY = 0x0a;
        /// RDMA READ request.
        READ_REQUEST = 0x0c;
        /// RDMA READ response, the first of several.
        READ_RESPONSE_FIRST = 0x0d;
        /// RDMA READ response, neither first nor last.
        READ_RESPONSE_MIDDLE = 0x0e;
        /// RDMA READ response, the last of several.
        READ_RESPONSE_LAST = 0x0f;
        /// RDMA READ response in one packet.
        READ_RESPONSE_ONLY = 0x10;
        /// Acknowledge, positive or negative.
        ACKNOWLEDGE = 0x11;
        /// SEND with invalidate, the last of several.
        SEND_LAST_INVALIDATE = 0x16;
        /// SEND with invalidate in one packet.
        SEND_ONLY_INVALIDATE = 0x17;
    }

    /// The kind of an acknowledgement (IBTA §9.7.5.2, AETH syndrome bits 6:5).
    pub struct AckKind(u8) {
        /// ACK.
        ACK = 0;
        /// Receiver not ready (RNR NAK).
        RECEIVER_NOT_READY = 1;
        /// NAK.
        NAK = 3;
    }
}

wire! {
    /// Word 0 of the Base Transport Header (BTH).
    pub struct BthWord0(u32) {
        /// What the packet is
        opcode / with_opcode: Opcode = 31:24;
        /// Solicited Event
        solicited / with_solicited: bool = 23:23;
        /// MigReq
        migration / with_migration: bool = 22:22;
        /// Bytes that fill up the last word of the payload
        pad / with_pad: u8 = 21:20;
        /// Transport header version: 0
        version / with_version: u8 = 19:16;
        /// Partition Key
        partition_key / with_partition_key: u16 = 15:0;
    }

    /// Word 1 of the Base Transport Header.
    pub struct BthWord1(u32) {
        /// Forward Explicit Congestion Notification
        fecn / with_fecn: bool = 31:31;
        /// Backward Explicit Congestion Notification
        becn / with_becn: bool = 30:30;
        /// Reserved
        reserved = 29:24;
        /// Destination Queue Pair
        destination / with_destination: u32 = 23:0;
    }

    /// Word 2 of the Base Transport Header.
    pub struct BthWord2(u32) {
        /// Acknowledge Request
        ack_request / with_ack_request: bool = 31:31;
        /// Reserved
        reserved = 30:24;
        /// Packet Sequence Number (PSN)
        psn / with_psn: u32 = 23:0;
    }

    /// The ACK Extended Transport Header (AETH).
    pub struct Aeth(u32) {
        /// Reserved
        reserved = 31:31;
        /// ACK, RNR NAK or NAK
        kind / with_kind: AckKind = 30:29;
        /// Credits of an ACK, the timer of an RNR NAK, the code of a NAK
        value / with_value: u8 = 28:24;
        /// Message Sequence Number (MSN)
        msn / with_msn: u32 = 23:0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_wire::{DoesNotFit, assert_fields_tile};

    #[test]
    fn every_word_tiles() {
        assert_fields_tile::<BthWord0>();
        assert_fields_tile::<BthWord1>();
        assert_fields_tile::<BthWord2>();
        assert_fields_tile::<Aeth>();
    }

    /// By hand: the last packet of a write to queue pair 0x11 with PSN 0x000203 that asks for an acknowledgement.
    #[test]
    fn a_header_by_hand() -> Result<(), DoesNotFit> {
        let word0 = BthWord0::ZERO
            .with_opcode(Opcode::WRITE_LAST)?
            .with_migration(true)?
            .with_partition_key(0xffff)?;
        let word2 = BthWord2::ZERO.with_ack_request(true)?.with_psn(0x203)?;
        assert_eq!((word0.raw(), word2.raw()), (0x0840_ffff, 0x8000_0203));
        let nak = Aeth::ZERO.with_kind(AckKind::NAK)?.with_msn(5)?;
        assert_eq!(nak.raw(), 0x6000_0005);
        Ok(())
    }
}
