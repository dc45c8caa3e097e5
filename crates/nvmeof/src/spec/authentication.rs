//! In-band authentication: Authentication Send and Receive, and the messages of DH-HMAC-CHAP that they carry (Base 2.0
//! §6.2, §6.3, §8.13).
//!
//! ```text
//!   AUTH_Negotiate ──►          hashes and groups that the host can
//!                  ◄── Challenge          which are used, C1, S1, g^y
//!           Reply ──►          the host's response to C1; C2, S2, g^x
//!                  ◄── Success1           the controller's response to C2, if it was asked for
//!        Success2 ──►          only then
//!                  ◄── AUTH_Failure1, AUTH_Failure2 ──►          in the place of any of them
//! ```

use lanetwin_wire::{open_enum, structure, wire};

/// SPSP0 and SPSP1 of NVMe messages, and their Security Protocol (SECP).
pub const PROTOCOL: [u8; 3] = [0x01, 0x01, 0xe9];
/// DH-HMAC-CHAP Protocol Identifier, in a descriptor (AUTHID).
pub const DH_HMAC_CHAP: u8 = 1;
/// Maximum number of hash identifiers, and of group identifiers, in a descriptor.
pub const MOST_IDENTIFIERS: usize = 30;
/// AUTHREQ in the response to a Connect: Authentication Transaction Required (ATR).
pub const TRANSACTION_REQUIRED: u16 = 1 << 1;
/// AUTHREQ in the response to a Connect: Authentication and Secure Channel Required (ASCR).
pub const SECURE_CHANNEL_REQUIRED: u16 = 1 << 2;
/// The size of the fixed part of messages \[B\]; fields of variable length follow.
pub const HEAD_BYTES: usize = 16;
/// The size of [`NegotiateHead`] and of [`Failed`] \[B\].
pub const SHORT_HEAD_BYTES: usize = 8;
/// The size of [`Descriptor`] \[B\].
pub const DESCRIPTOR_BYTES: usize = 64;

open_enum! {
    /// Message type: AUTH_TYPE in the low byte, AUTH_ID in the high byte.
    pub struct MessageKind(u16) {
        /// AUTH_Negotiate.
        NEGOTIATE = 0x0000;
        /// DH-HMAC-CHAP_Challenge.
        CHALLENGE = 0x0101;
        /// DH-HMAC-CHAP_Reply.
        REPLY = 0x0201;
        /// DH-HMAC-CHAP_Success1.
        SUCCESS1 = 0x0301;
        /// DH-HMAC-CHAP_Success2.
        SUCCESS2 = 0x0401;
        /// AUTH_Failure2, sent by the host.
        FAILURE2 = 0xf000;
        /// AUTH_Failure1, sent by the controller.
        FAILURE1 = 0xf100;
    }

    /// Hash function (HashID).
    pub struct HashId(u8) {
        /// SHA-256.
        SHA256 = 1;
        /// SHA-384.
        SHA384 = 2;
        /// SHA-512.
        SHA512 = 3;
    }

    /// Diffie-Hellman group (DHgID); all but the first are those of RFC 7919.
    pub struct GroupId(u8) {
        /// None: no Diffie-Hellman exchange.
        NULL = 0;
        /// ffdhe2048.
        FFDHE2048 = 1;
        /// ffdhe3072.
        FFDHE3072 = 2;
        /// ffdhe4096.
        FFDHE4096 = 3;
        /// ffdhe6144.
        FFDHE6144 = 4;
        /// ffdhe8192.
        FFDHE8192 = 5;
    }

    /// Reason Code Explanation of Reason Code 1 (Authentication failure).
    pub struct Explanation(u8) {
        /// Authentication failed.
        FAILED = 0x01;
        /// Authentication protocol not usable.
        PROTOCOL_UNUSABLE = 0x02;
        /// Secure channel concatenation mismatch.
        CONCATENATION_MISMATCH = 0x03;
        /// Hash function not usable.
        HASH_UNUSABLE = 0x04;
        /// DH group not usable.
        GROUP_UNUSABLE = 0x05;
        /// Incorrect payload.
        INCORRECT_PAYLOAD = 0x06;
        /// Incorrect protocol message.
        INCORRECT_MESSAGE = 0x07;
    }
}

wire! {
    /// Flags of Reply (CVALID) and Success1 (RVALID).
    pub struct Validity(u8) {
        /// The challenge, or the response, is one
        is_valid / with_is_valid: bool = 0:0;
        /// Reserved
        reserved = 7:1;
    }
}

structure! {
    /// Authentication Send and Authentication Receive (Base 2.0 §6.2, §6.3).
    pub struct AuthenticationCommand(64) {
        /// Opcode (OPC): 7Fh
        opcode / set_opcode: u8 = 0;
        /// PRP or SGL for Data Transfer, in bits 7:6
        flags / set_flags: u8 = 1;
        /// Command Identifier (CID)
        cid_number / set_cid_number: u16 = 2;
        /// Fabrics Command Type (FCTYPE)
        kind / set_kind: super::fabrics::FabricsType = 4;
        /// SGL Descriptor 1 (SGL1)
        sgl / set_sgl: u128 = 24;
        /// SPSP0, SPSP1 and Security Protocol (SECP)
        protocol / set_protocol: [u8; 3] = 41;
        /// Transfer Length (TL) of Send, Allocation Length (AL) of Receive \[B\]
        bytes / set_bytes: u32 = 44;
    }

    /// AUTH_Negotiate; descriptors follow.
    pub struct NegotiateHead(8) {
        /// AUTH_TYPE and AUTH_ID
        kind / set_kind: MessageKind = 0;
        /// Transaction Identifier (T_ID)
        transaction / set_transaction: u16 = 4;
        /// Secure Channel Concatenation (SC_C)
        secure_channel / set_secure_channel: u8 = 6;
        /// Number of Authentication Protocol Descriptors (NAPD)
        descriptors / set_descriptors: u8 = 7;
    }

    /// A descriptor of DH-HMAC-CHAP in AUTH_Negotiate.
    pub struct Descriptor(64) {
        /// AUTHID: 1 for DH-HMAC-CHAP
        protocol / set_protocol: u8 = 0;
        /// How many hashes there are (HALEN)
        hashes / set_hashes: u8 = 2;
        /// How many groups there are (DHLEN)
        groups / set_groups: u8 = 3;
        /// Identifiers of hashes, the preferred one first
        hash_list / set_hash_list: [u8; 30] = 4;
        /// Identifiers of groups, the preferred one first
        group_list / set_group_list: [u8; 30] = 34;
    }

    /// DH-HMAC-CHAP_Challenge; C1 and g^y follow.
    pub struct ChallengeHead(16) {
        /// AUTH_TYPE and AUTH_ID
        kind / set_kind: MessageKind = 0;
        /// Transaction Identifier (T_ID)
        transaction / set_transaction: u16 = 4;
        /// Length of the hash (HL) \[B\]
        hash_bytes / set_hash_bytes: u8 = 6;
        /// HashID
        hash / set_hash: HashId = 8;
        /// DHgID
        group / set_group: GroupId = 9;
        /// Length of the DH value (DHVLEN) \[B\]
        public_bytes / set_public_bytes: u16 = 10;
        /// Sequence Number (SEQNUM): S1
        sequence / set_sequence: u32 = 12;
    }

    /// DH-HMAC-CHAP_Reply; the response, C2 and g^x follow.
    pub struct ReplyHead(16) {
        /// AUTH_TYPE and AUTH_ID
        kind / set_kind: MessageKind = 0;
        /// Transaction Identifier (T_ID)
        transaction / set_transaction: u16 = 4;
        /// Length of the hash (HL) \[B\]
        hash_bytes / set_hash_bytes: u8 = 6;
        /// Whether C2 is a challenge (CVALID)
        validity / set_validity: Validity = 8;
        /// Length of the DH value (DHVLEN) \[B\]
        public_bytes / set_public_bytes: u16 = 10;
        /// Sequence Number (SEQNUM): S2; 0 without a challenge
        sequence / set_sequence: u32 = 12;
    }

    /// DH-HMAC-CHAP_Success1; the response follows.
    pub struct Success1Head(16) {
        /// AUTH_TYPE and AUTH_ID
        kind / set_kind: MessageKind = 0;
        /// Transaction Identifier (T_ID)
        transaction / set_transaction: u16 = 4;
        /// Length of the hash (HL) \[B\]
        hash_bytes / set_hash_bytes: u8 = 6;
        /// Whether the response is one (RVALID)
        validity / set_validity: Validity = 8;
    }

    /// DH-HMAC-CHAP_Success2.
    pub struct Success2(16) {
        /// AUTH_TYPE and AUTH_ID
        kind / set_kind: MessageKind = 0;
        /// Transaction Identifier (T_ID)
        transaction / set_transaction: u16 = 4;
    }

    /// AUTH_Failure1 and AUTH_Failure2.
    pub struct Failed(8) {
        /// AUTH_TYPE and AUTH_ID
        kind / set_kind: MessageKind = 0;
        /// Transaction Identifier (T_ID)
        transaction / set_transaction: u16 = 4;
        /// Reason Code: 1, authentication failure
        reason / set_reason: u8 = 6;
        /// Reason Code Explanation
        explanation / set_explanation: Explanation = 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, as Linux sends it: NVMe messages, 72 B.
    #[test]
    fn an_authentication_send_by_hand() {
        let mut bytes = [0; 64];
        bytes[..5].copy_from_slice(&[0x7f, 0x40, 0x34, 0x12, 0x05]);
        bytes[41..48].copy_from_slice(&[0x01, 0x01, 0xe9, 72, 0, 0, 0]);
        let command = AuthenticationCommand::from_bytes(bytes);
        assert_eq!((command.protocol(), command.bytes(), command.cid_number()), (PROTOCOL, 72, 0x1234));
        assert!(command.kind().is_authentication());
    }
}
