//! Fields of Identify Controller that only controllers behind a fabric have (Base 2.0 §5.17.2.1).

use lanetwin_wire::{structure, wire};

/// Offset of [`FabricsIdentity`] in Identify Controller \[B\].
pub const FABRICS_IDENTITY_OFFSET: usize = 1792;
/// Unit of capsule sizes and offsets \[B\].
pub const CAPSULE_UNIT: u32 = 16;

wire! {
    /// Fabrics Controller Attributes (FCATT).
    pub struct FabricsAttributes(u8) {
        /// The static controller model is used, else the dynamic one
        static_model / with_static_model: bool = 0:0;
        /// Reserved
        reserved = 7:1;
    }

    /// Optional Fabric Commands Support (OFCS).
    pub struct OptionalFabricsCommands(u16) {
        /// Disconnect
        disconnect / with_disconnect: bool = 0:0;
        /// Reserved
        reserved = 15:1;
    }
}

structure! {
    /// The fields for fabrics, from byte 1792 on.
    pub struct FabricsIdentity(256) {
        /// I/O Queue Command Capsule Supported Size (IOCCSZ) \[16 B\]
        command_capsule / set_command_capsule: u32 = 0;
        /// I/O Queue Response Capsule Supported Size (IORCSZ) \[16 B\]
        response_capsule / set_response_capsule: u32 = 4;
        /// In Capsule Data Offset (ICDOFF) \[16 B\]
        data_offset / set_data_offset: u16 = 8;
        /// Fabrics Controller Attributes (FCATT)
        attributes / set_attributes: FabricsAttributes = 10;
        /// Maximum SGL Data Block Descriptors (MSDBD); 0 for no limit
        descriptors / set_descriptors: u8 = 11;
        /// Optional Fabric Commands Support (OFCS)
        commands / set_commands: OptionalFabricsCommands = 12;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_wire::assert_fields_tile;

    #[test]
    fn every_word_tiles() {
        assert_fields_tile::<FabricsAttributes>();
        assert_fields_tile::<OptionalFabricsCommands>();
    }
}
