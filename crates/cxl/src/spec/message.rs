//! Messages of CXL.mem, bit by bit.
//!
//! | message | bits | meaning | source of the fields |
//! |---|---|---|---|
//! | M2S Req | 87 | a request without data: `MemRd` | lengths: CXL §4.2.3, tables 4-7 and 4-8; fields: CXL §3.3, as laid out by open implementations |
//! | M2S RwD | 87 | a request with data: `MemWr` | the same |
//! | S2M NDR | 30 | a response without data: `Cmp` | the same |
//! | S2M DRS | 40 | a response with data: `MemData` | the same |
//!
//! The lengths are the standard's. The order of the fields inside a message comes from two public implementations of
//! the 68 B flit, not from the figures of the standard. It is `assumed`; only encoding and decoding depend on it.
//!
//! Not here: CXL.cache, back-invalidation (BISnp, BIRsp), opcodes of trusted execution.

use lanetwin_wire::{open_enum, wire};

open_enum! {
    /// MemOpcode of an M2S Req, a request without data (CXL §3.3.5).
    pub struct ReqOpcode(u8) {
        /// Invalidate the line.
        MEM_INV = 0;
        /// Read.
        MEM_RD = 1;
        /// Read; the metadata do not matter.
        MEM_RD_DATA = 2;
        /// Forward a read.
        MEM_RD_FWD = 3;
        /// Forward a write.
        MEM_WR_FWD = 4;
        /// Speculative read, without a response.
        MEM_SPEC_RD = 8;
        /// Invalidate the line, non-temporal.
        MEM_INV_NT = 9;
        /// A clean line was evicted.
        MEM_CLN_EVCT = 10;
    }

    /// MemOpcode of an M2S RwD, a request with data (CXL §3.3.6).
    pub struct RwdOpcode(u8) {
        /// Write a line.
        MEM_WR = 1;
        /// Write part of a line, with byte enables.
        MEM_WR_PTL = 2;
    }

    /// Opcode of an S2M NDR, a response without data (CXL §3.3.9).
    pub struct NdrOpcode(u8) {
        /// Completed.
        CMP = 0;
        /// Completed; the line is shared.
        CMP_S = 1;
        /// Completed; the line is exclusive.
        CMP_E = 2;
    }

    /// Opcode of an S2M DRS, a response with data (CXL §3.3.10).
    pub struct DrsOpcode(u8) {
        /// Data.
        MEM_DATA = 0;
        /// The address is not backed by memory (non-existent memory).
        MEM_DATA_NXM = 1;
    }

    /// Snoop type of a request (CXL §3.3.5).
    pub struct SnpType(u8) {
        /// Nothing.
        NO_OP = 0;
        /// The host requires a shared copy.
        SNP_DATA = 1;
        /// The host requires the current value only.
        SNP_CUR = 2;
        /// The host requires an exclusive copy.
        SNP_INV = 3;
    }

    /// Metadata field that a message refers to (CXL §3.3.5).
    pub struct MetaField(u8) {
        /// State of the line.
        META0_STATE = 0;
        /// None.
        NO_OP = 3;
    }

    /// Load that a device reports (CXL §3.3.4).
    pub struct DevLoad(u8) {
        /// Light load.
        LIGHT = 0;
        /// Optimal load.
        OPTIMAL = 1;
        /// Moderate overload: the host should send fewer requests.
        MODERATE = 2;
        /// Severe overload: the host should send far fewer requests.
        SEVERE = 3;
    }
}

wire! {
    /// M2S Req: 87 bits.
    pub struct M2sReq(u128) {
        /// Valid
        valid / with_valid: bool = 0:0;
        /// MemOpcode
        opcode / with_opcode: ReqOpcode = 4:1;
        /// SnpType
        snoop / with_snoop: SnpType = 7:5;
        /// MetaField
        meta_field / with_meta_field: MetaField = 9:8;
        /// MetaValue
        meta_value / with_meta_value: u8 = 11:10;
        /// Tag, which the response repeats
        tag / with_tag: u16 = 27:12;
        /// Address\[51:5\]
        address_5 / with_address_5: u64 = 74:28;
        /// Traffic class
        traffic_class / with_traffic_class: u8 = 76:75;
        /// Logical device (LD-ID)
        logical_device / with_logical_device: u8 = 80:77;
        /// Reserved
        reserved = 127:81;
    }

    /// M2S RwD: 87 bits.
    pub struct M2sRwd(u128) {
        /// Valid
        valid / with_valid: bool = 0:0;
        /// MemOpcode
        opcode / with_opcode: RwdOpcode = 4:1;
        /// SnpType
        snoop / with_snoop: SnpType = 7:5;
        /// MetaField
        meta_field / with_meta_field: MetaField = 9:8;
        /// MetaValue
        meta_value / with_meta_value: u8 = 11:10;
        /// Tag, which the response repeats
        tag / with_tag: u16 = 27:12;
        /// Address\[51:6\]
        address_6 / with_address_6: u64 = 73:28;
        /// Poison: the data are known to be corrupt
        poison / with_poison: bool = 74:74;
        /// Traffic class
        traffic_class / with_traffic_class: u8 = 76:75;
        /// Logical device (LD-ID)
        logical_device / with_logical_device: u8 = 80:77;
        /// Reserved
        reserved = 127:81;
    }

    /// S2M NDR: 30 bits. In a slot with two of them, the DevLoad bits follow both messages.
    pub struct S2mNdr(u32) {
        /// Valid
        valid / with_valid: bool = 0:0;
        /// Opcode
        opcode / with_opcode: NdrOpcode = 3:1;
        /// MetaField
        meta_field / with_meta_field: MetaField = 5:4;
        /// MetaValue
        meta_value / with_meta_value: u8 = 7:6;
        /// Tag of the request
        tag / with_tag: u16 = 23:8;
        /// Logical device (LD-ID)
        logical_device / with_logical_device: u8 = 27:24;
        /// DevLoad
        dev_load / with_dev_load: DevLoad = 29:28;
        /// Reserved
        reserved = 31:30;
    }

    /// S2M DRS: 40 bits.
    pub struct S2mDrs(u64) {
        /// Valid
        valid / with_valid: bool = 0:0;
        /// Opcode
        opcode / with_opcode: DrsOpcode = 3:1;
        /// MetaField
        meta_field / with_meta_field: MetaField = 5:4;
        /// MetaValue
        meta_value / with_meta_value: u8 = 7:6;
        /// Tag of the request
        tag / with_tag: u16 = 23:8;
        /// Poison: the data are known to be corrupt
        poison / with_poison: bool = 24:24;
        /// Logical device (LD-ID)
        logical_device / with_logical_device: u8 = 28:25;
        /// DevLoad
        dev_load / with_dev_load: DevLoad = 30:29;
        /// Reserved
        reserved = 63:31;
    }
}

/// Bits of an M2S Req or RwD in a slot (CXL §4.2.3, table 4-7).
pub const REQUEST_BITS: u32 = 87;
/// Bits of an S2M NDR (CXL §4.2.3, table 4-8: H4 holds two, 60 bits).
pub const NDR_BITS: u32 = 30;
/// Bits of an S2M NDR without DevLoad.
pub const NDR_SPLIT_BITS: u32 = 28;
/// Bits of an S2M DRS (CXL §4.2.3, table 4-8: H5 holds two, 80 bits).
pub const DRS_BITS: u32 = 40;
