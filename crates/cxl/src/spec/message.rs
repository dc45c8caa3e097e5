//! Messages of CXL.mem, bit by bit.
//!
//! | message | bits | is | source of the fields |
//! |---|---|---|---|
//! | M2S Req | 87 | a request without data: `MemRd` | lengths: CXL §4.2.3, tables 4-7 and 4-8; fields: CXL §3.3, as laid out by open implementations |
//! | M2S RwD | 87 | a request with data: `MemWr` | the same |
//! | S2M NDR | 30 | a response without data: `Cmp` | the same |
//! | S2M DRS | 40 | a response with data: `MemData` | the same |
//!
//! The lengths are the standard's. The order of the fields inside a message was read from two public implementations of
//! the 68 B flit, not from the figures of the standard: it is `assumed`, and nothing but encoding and decoding rests on
//! it.
//!
//! Not here: CXL.cache, back-invalidation (BISnp, BIRsp), opcodes of trusted execution.

use lanetwin_wire::{open_enum, wire};

open_enum! {
    /// What a request without data asks for (CXL §3.3.5).
    pub struct ReqOpcode(u8) {
        /// Give up the line.
        MEM_INV = 0;
        /// Read.
        MEM_RD = 1;
        /// Read, the metadata do not matter.
        MEM_RD_DATA = 2;
        /// Forward a read.
        MEM_RD_FWD = 3;
        /// Forward a write.
        MEM_WR_FWD = 4;
        /// Read ahead, without an answer.
        MEM_SPEC_RD = 8;
        /// Give up the line, non-temporal.
        MEM_INV_NT = 9;
        /// A clean line was dropped.
        MEM_CLN_EVCT = 10;
    }

    /// What a request with data asks for (CXL §3.3.6).
    pub struct RwdOpcode(u8) {
        /// Write a line.
        MEM_WR = 1;
        /// Write some bytes of a line.
        MEM_WR_PTL = 2;
    }

    /// What a response without data says (CXL §3.3.9).
    pub struct NdrOpcode(u8) {
        /// Done.
        CMP = 0;
        /// Done; the line is shared.
        CMP_S = 1;
        /// Done; the line is exclusive.
        CMP_E = 2;
    }

    /// What a response with data says (CXL §3.3.10).
    pub struct DrsOpcode(u8) {
        /// The data.
        MEM_DATA = 0;
        /// There is no memory at this address.
        MEM_DATA_NXM = 1;
    }

    /// What the host asks of caches on the way (CXL §3.3.5).
    pub struct SnpType(u8) {
        /// Nothing.
        NO_OP = 0;
        /// A shared copy.
        SNP_DATA = 1;
        /// The current value.
        SNP_CUR = 2;
        /// The only copy.
        SNP_INV = 3;
    }

    /// Which metadata are meant (CXL §3.3.5).
    pub struct MetaField(u8) {
        /// The state of the line.
        META0_STATE = 0;
        /// None.
        NO_OP = 3;
    }

    /// How busy a device is (CXL §3.3.4).
    pub struct DevLoad(u8) {
        /// There is room.
        LIGHT = 0;
        /// As it should be.
        OPTIMAL = 1;
        /// Fewer requests, please.
        MODERATE = 2;
        /// Far fewer.
        SEVERE = 3;
    }
}

wire! {
    /// M2S Req: 87 bits.
    pub struct M2sReq(u128) {
        /// Whether there is a message
        valid / with_valid: bool = 0:0;
        /// MemOpcode
        opcode / with_opcode: ReqOpcode = 4:1;
        /// SnpType
        snoop / with_snoop: SnpType = 7:5;
        /// MetaField
        meta_field / with_meta_field: MetaField = 9:8;
        /// MetaValue
        meta_value / with_meta_value: u8 = 11:10;
        /// Tag: what the answer will carry
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
        /// Whether there is a message
        valid / with_valid: bool = 0:0;
        /// MemOpcode
        opcode / with_opcode: RwdOpcode = 4:1;
        /// SnpType
        snoop / with_snoop: SnpType = 7:5;
        /// MetaField
        meta_field / with_meta_field: MetaField = 9:8;
        /// MetaValue
        meta_value / with_meta_value: u8 = 11:10;
        /// Tag: what the answer will carry
        tag / with_tag: u16 = 27:12;
        /// Address\[51:6\]
        address_6 / with_address_6: u64 = 73:28;
        /// The data are known to be bad
        poison / with_poison: bool = 74:74;
        /// Traffic class
        traffic_class / with_traffic_class: u8 = 76:75;
        /// Logical device (LD-ID)
        logical_device / with_logical_device: u8 = 80:77;
        /// Reserved
        reserved = 127:81;
    }

    /// S2M NDR: 30 bits. Where a slot has two, the two bits of DevLoad stand apart.
    pub struct S2mNdr(u32) {
        /// Whether there is a message
        valid / with_valid: bool = 0:0;
        /// Opcode
        opcode / with_opcode: NdrOpcode = 3:1;
        /// MetaField
        meta_field / with_meta_field: MetaField = 5:4;
        /// MetaValue
        meta_value / with_meta_value: u8 = 7:6;
        /// Tag: that of the request
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
        /// Whether there is a message
        valid / with_valid: bool = 0:0;
        /// Opcode
        opcode / with_opcode: DrsOpcode = 3:1;
        /// MetaField
        meta_field / with_meta_field: MetaField = 5:4;
        /// MetaValue
        meta_value / with_meta_value: u8 = 7:6;
        /// Tag: that of the request
        tag / with_tag: u16 = 23:8;
        /// The data are known to be bad
        poison / with_poison: bool = 24:24;
        /// Logical device (LD-ID)
        logical_device / with_logical_device: u8 = 28:25;
        /// DevLoad
        dev_load / with_dev_load: DevLoad = 30:29;
        /// Reserved
        reserved = 63:31;
    }
}

/// Bits of a M2S Req or RwD in a slot (CXL §4.2.3, table 4-7).
pub const REQUEST_BITS: u32 = 87;
/// Bits of a S2M NDR (CXL §4.2.3, table 4-8: H4 is two of them, 60 bits).
pub const NDR_BITS: u32 = 30;
/// Bits of a S2M NDR without DevLoad.
pub const NDR_SPLIT_BITS: u32 = 28;
/// Bits of a S2M DRS (CXL §4.2.3, table 4-8: H5 is two of them, 80 bits).
pub const DRS_BITS: u32 = 40;
