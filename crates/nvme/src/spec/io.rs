//! The dwords of I/O commands of the NVM command set (NVM Command Set 1.0 §3.2).

use lanetwin_wire::wire;

/// The size of a range of Dataset Management \[B\] (NVM 1.0 §3.2.3).
pub const RANGE_BYTES: u32 = 16;
/// Maximum number of ranges of one Dataset Management (NVM 1.0 §3.2.3).
pub const MOST_RANGES: u32 = 256;

wire! {
    /// Dword 12 of Read, Write, Compare and Write Zeroes (NVM 1.0 §3.2.1, §3.2.4, §3.2.6, §3.2.8).
    pub struct BlocksDword12(u32) {
        /// Number of Logical Blocks (NLB), counted from 0
        blocks_less_1 / with_blocks_less_1: u16 = 15:0;
        /// Reserved
        reserved = 19:16;
        /// Directive Type (DTYPE) of Write
        directive / with_directive: u8 = 23:20;
        /// Storage Tag Check (STC)
        storage_tag_check / with_storage_tag_check: bool = 24:24;
        /// Deallocate (DEAC) of Write Zeroes
        deallocate / with_deallocate: bool = 25:25;
        /// Protection Information Field (PRINFO)
        protection / with_protection: u8 = 29:26;
        /// Force Unit Access (FUA)
        force_unit_access / with_force_unit_access: bool = 30:30;
        /// Limited Retry (LR)
        limited_retry / with_limited_retry: bool = 31:31;
    }

    /// Dword 10 of Dataset Management (NVM 1.0 §3.2.3).
    pub struct DatasetDword10(u32) {
        /// Number of Ranges (NR), counted from 0
        ranges_less_1 / with_ranges_less_1: u8 = 7:0;
        /// Reserved
        reserved = 31:8;
    }

    /// Dword 11 of Dataset Management (NVM 1.0 §3.2.3).
    pub struct DatasetDword11(u32) {
        /// Attribute – Integral Dataset for Read (IDR)
        integral_read / with_integral_read: bool = 0:0;
        /// Attribute – Integral Dataset for Write (IDW)
        integral_write / with_integral_write: bool = 1:1;
        /// Attribute – Deallocate (AD)
        deallocate / with_deallocate: bool = 2:2;
        /// Reserved
        reserved = 31:3;
    }

    /// A range of Dataset Management (NVM 1.0 §3.2.3).
    pub struct DatasetRange(u128) {
        /// Context Attributes
        attributes / with_attributes: u32 = 31:0;
        /// Length \[logical blocks\]
        blocks / with_blocks: u32 = 63:32;
        /// Starting LBA
        slba / with_slba: u64 = 127:64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_wire::assert_fields_tile;

    #[test]
    fn every_word_tiles() {
        assert_fields_tile::<BlocksDword12>();
        assert_fields_tile::<DatasetDword10>();
        assert_fields_tile::<DatasetDword11>();
        assert_fields_tile::<DatasetRange>();
    }
}
