//! Protocol data units of NVMe/TCP (TCP Transport 1.0, PDU Structure and PDU Definitions; NVMe-oF 1.1 §7.4).
//!
//! ```text
//!   ┌────────┬──────────────┬────────┬─────┬────────────┬────────┐
//!   │ common │ the type's   │ HDGST  │ pad │ data       │ DDGST  │
//!   │ 8 B    │ own header   │ 4 B    │     │            │ 4 B    │
//!   └────────┴──────────────┴────────┴─────┴────────────┴────────┘
//!   ◄───────── HLEN ───────►               ▲ PDO
//!   ◄──────────────────────────── PLEN ─────────────────────────►
//! ```

use lanetwin_wire::{open_enum, structure, wire};

/// TCP port number of subsystems (NVMe-oF 1.1 §7.4).
pub const TCP_PORT: u16 = 4420;
/// TCP port number of discovery services.
pub const TCP_DISCOVERY_PORT: u16 = 8009;
/// The size of the common header \[B\].
pub const COMMON_BYTES: usize = 8;
/// The size of a digest \[B\].
pub const DIGEST_BYTES: usize = 4;
/// The largest PDU data alignment (HPDA, CPDA), in dwords counted from 0.
pub const LARGEST_ALIGNMENT: u8 = 31;
/// Minimum MAXH2CDATA \[B\].
pub const LEAST_H2C_DATA: u32 = 4096;
/// In-capsule data that every admin queue supports \[B\] (TCP Transport 1.0, Capsules and Data Transfer).
pub const ADMIN_CAPSULE_DATA: u32 = 8192;
/// Maximum length of the faulty header in a terminate request \[B\].
pub const MOST_TERMINATE_DATA: usize = 128;
/// The size of ICReq and ICResp \[B\].
pub const INITIALIZE_BYTES: usize = 128;
/// The size of the header of CapsuleCmd \[B\].
pub const COMMAND_HEADER_BYTES: usize = 72;
/// The size of the headers of all other types \[B\].
pub const SHORT_HEADER_BYTES: usize = 24;

open_enum! {
    /// PDU-Type.
    pub struct PduType(u8) {
        /// Initialize Connection Request (ICReq).
        IC_REQ = 0x00;
        /// Initialize Connection Response (ICResp).
        IC_RESP = 0x01;
        /// Host to Controller Terminate Connection Request (H2CTermReq).
        H2C_TERM_REQ = 0x02;
        /// Controller to Host Terminate Connection Request (C2HTermReq).
        C2H_TERM_REQ = 0x03;
        /// Command Capsule (CapsuleCmd).
        CAPSULE_CMD = 0x04;
        /// Response Capsule (CapsuleResp).
        CAPSULE_RESP = 0x05;
        /// Host to Controller Data Transfer (H2CData).
        H2C_DATA = 0x06;
        /// Controller to Host Data Transfer (C2HData).
        C2H_DATA = 0x07;
        /// Ready to Transfer (R2T).
        R2T = 0x09;
    }

    /// Fatal Error Status (FES).
    pub struct FatalError(u16) {
        /// Invalid PDU Header Field; FEI is where the field is in the header.
        INVALID_HEADER_FIELD = 0x01;
        /// PDU Sequence Error.
        PDU_SEQUENCE = 0x02;
        /// Header Digest Error; FEI is the digest that came.
        HEADER_DIGEST = 0x03;
        /// Data Transfer Out of Range.
        OUT_OF_RANGE = 0x04;
        /// R2T Limit Exceeded, for a host; Data Transfer Limit Exceeded, for a controller.
        LIMIT_EXCEEDED = 0x05;
        /// Unsupported Parameter; FEI is where the parameter is in the header.
        UNSUPPORTED_PARAMETER = 0x06;
    }
}

wire! {
    /// FLAGS.
    pub struct PduFlags(u8) {
        /// HDGSTF: there is a header digest
        header_digest / with_header_digest: bool = 0:0;
        /// DDGSTF: there is a data digest
        data_digest / with_data_digest: bool = 1:1;
        /// LAST_PDU: the last of its command (C2HData), or of its R2T (H2CData)
        last / with_last: bool = 2:2;
        /// SUCCESS: the command has succeeded, and no CapsuleResp follows (C2HData)
        success / with_success: bool = 3:3;
        /// Reserved
        reserved = 7:4;
    }

    /// DGST: digests that a host asks for and a controller grants.
    pub struct DigestTypes(u8) {
        /// HDGST_ENABLE
        header / with_header: bool = 0:0;
        /// DDGST_ENABLE
        data / with_data: bool = 1:1;
        /// Reserved
        reserved = 7:2;
    }
}

structure! {
    /// The common header (CH).
    pub struct CommonHeader(8) {
        /// PDU-Type
        kind / set_kind: PduType = 0;
        /// FLAGS
        flags / set_flags: PduFlags = 1;
        /// Header Length (HLEN) \[B\], without the header digest
        header_bytes / set_header_bytes: u8 = 2;
        /// PDU Data Offset (PDO) \[B from the start of the PDU\]; 0 without data
        data_offset / set_data_offset: u8 = 3;
        /// PDU Length (PLEN) \[B\], with everything
        bytes / set_bytes: u32 = 4;
    }

    /// ICReq.
    pub struct InitializeRequest(128) {
        /// The common header
        common / set_common: [u8; 8] = 0;
        /// PDU Format Version (PFV): 0
        version / set_version: u16 = 8;
        /// Host PDU Data Alignment (HPDA) \[dwords, counted from 0\]: of data that come to the host
        alignment / set_alignment: u8 = 10;
        /// DGST: what the host asks for
        digests / set_digests: DigestTypes = 11;
        /// Maximum Number of Outstanding R2T (MAXR2T) of a command, counted from 0
        r2ts_less_1 / set_r2ts_less_1: u32 = 12;
    }

    /// ICResp.
    pub struct InitializeResponse(128) {
        /// The common header
        common / set_common: [u8; 8] = 0;
        /// PDU Format Version (PFV): 0
        version / set_version: u16 = 8;
        /// Controller PDU Data Alignment (CPDA) \[dwords, counted from 0\]: of data that come to the controller
        alignment / set_alignment: u8 = 10;
        /// DGST: what is used
        digests / set_digests: DigestTypes = 11;
        /// Maximum Host to Controller Data Length (MAXH2CDATA) \[B\] of one H2CData, a multiple of 4
        most_data / set_most_data: u32 = 12;
    }

    /// H2CTermReq and C2HTermReq; the header of the PDU at fault follows.
    pub struct TerminateRequest(24) {
        /// The common header
        common / set_common: [u8; 8] = 0;
        /// Fatal Error Status (FES)
        status / set_status: FatalError = 8;
        /// Fatal Error Information (FEI)
        information / set_information: u32 = 10;
    }

    /// H2CData and C2HData; the data follow.
    pub struct DataHeader(24) {
        /// The common header
        common / set_common: [u8; 8] = 0;
        /// Command Capsule CID (CCCID)
        cid_number / set_cid_number: u16 = 8;
        /// Transfer Tag (TTAG), of the R2T; reserved in C2HData
        tag / set_tag: u16 = 10;
        /// Data Offset (DATAO) \[B from the start of the command's data\]
        offset / set_offset: u32 = 12;
        /// Data Length (DATAL) \[B\]
        length / set_length: u32 = 16;
    }

    /// R2T.
    pub struct ReadyToTransfer(24) {
        /// The common header
        common / set_common: [u8; 8] = 0;
        /// Command Capsule CID (CCCID)
        cid_number / set_cid_number: u16 = 8;
        /// Transfer Tag (TTAG)
        tag / set_tag: u16 = 10;
        /// Requested Data Offset (R2TO) \[B from the start of the command's data\]
        offset / set_offset: u32 = 12;
        /// Requested Data Length (R2TL) \[B\]
        length / set_length: u32 = 16;
    }
}

impl PduType {
    /// Length of the header \[B\]; `None` if the type is not defined.
    #[must_use]
    pub const fn header_bytes(self) -> Option<usize> {
        Some(match self {
            Self::IC_REQ | Self::IC_RESP => INITIALIZE_BYTES,
            Self::CAPSULE_CMD => COMMAND_HEADER_BYTES,
            Self::H2C_TERM_REQ
            | Self::C2H_TERM_REQ
            | Self::CAPSULE_RESP
            | Self::H2C_DATA
            | Self::C2H_DATA
            | Self::R2T => SHORT_HEADER_BYTES,
            _ => return None,
        })
    }
    /// Whether hosts send this type.
    #[must_use]
    pub const fn is_from_host(self) -> bool {
        matches!(self, Self::IC_REQ | Self::H2C_TERM_REQ | Self::CAPSULE_CMD | Self::H2C_DATA)
    }
    /// Whether this type has digests when they are enabled: all do except those of the initialization and terminate
    /// requests.
    #[must_use]
    pub const fn has_digests(self) -> bool {
        !matches!(self, Self::IC_REQ | Self::IC_RESP | Self::H2C_TERM_REQ | Self::C2H_TERM_REQ)
    }
    /// Whether data of a command may follow the header.
    #[must_use]
    pub const fn may_have_data(self) -> bool {
        matches!(self, Self::CAPSULE_CMD | Self::H2C_DATA | Self::C2H_DATA)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_wire::assert_fields_tile;

    #[test]
    fn every_word_tiles() {
        assert_fields_tile::<PduFlags>();
        assert_fields_tile::<DigestTypes>();
    }

    /// By hand: C2HData of 512 B with both digests, LAST and SUCCESS, aligned to 32 B.
    #[test]
    fn a_header_by_hand() {
        let bytes = [7, 0x0f, 24, 32, 0x24, 0x02, 0, 0, 0x34, 0x12, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0];
        let header = DataHeader::from_bytes(bytes);
        let common = CommonHeader::from_bytes(header.common());
        assert_eq!((common.kind(), common.header_bytes()), (PduType::C2H_DATA, 24));
        assert_eq!((common.data_offset(), common.bytes()), (32, 32 + 512 + 4));
        assert!(common.flags().last() && common.flags().success() && common.flags().data_digest());
        assert_eq!((header.cid_number(), header.offset(), header.length()), (0x1234, 512, 512));
        let terminate = TerminateRequest::from_bytes([
            0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        ]);
        assert_eq!((terminate.status(), terminate.information()), (FatalError::HEADER_DIGEST, 0x0403_0201));
    }
}
