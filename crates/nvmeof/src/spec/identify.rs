//! What a controller behind a fabric tells beside what every controller tells: fields of Identify Controller (Base 2.0
//! §5.17.2.1).

use lanetwin_wire::{structure, wire};

/// Where [`FabricsIdentity`] is in Identify Controller \[B\].
pub const FABRICS_IDENTITY_OFFSET: usize = 1792;
/// Where [`AnaIdentity`] is in Identify Controller \[B\].
pub const ANA_IDENTITY_OFFSET: usize = 342;
/// What capsule sizes and offsets are counted in \[B\].
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

    /// Asymmetric Namespace Access Capabilities (ANACAP).
    pub struct AnaCapabilities(u8) {
        /// ANA Optimized is reported
        optimized / with_optimized: bool = 0:0;
        /// ANA Non-Optimized is reported
        non_optimized / with_non_optimized: bool = 1:1;
        /// ANA Inaccessible is reported
        inaccessible / with_inaccessible: bool = 2:2;
        /// ANA Persistent Loss is reported
        persistent_loss / with_persistent_loss: bool = 3:3;
        /// ANA Change is reported
        change / with_change: bool = 4:4;
        /// Reserved
        reserved = 5:5;
        /// ANAGRPID of a namespace does not change while it is attached
        fixed_group / with_fixed_group: bool = 6:6;
        /// ANAGRPID is supported in Namespace Management
        group_in_management / with_group_in_management: bool = 7:7;
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

    /// The fields for Asymmetric Namespace Access, from byte 342 on.
    pub struct AnaIdentity(10) {
        /// ANA Transition Time (ANATT) \[s\]
        transition_seconds / set_transition_seconds: u8 = 0;
        /// Asymmetric Namespace Access Capabilities (ANACAP)
        capabilities / set_capabilities: AnaCapabilities = 1;
        /// ANA Group Identifier Maximum (ANAGRPMAX)
        highest_group / set_highest_group: u32 = 2;
        /// Number of ANA Group Identifiers (NANAGRPID)
        groups / set_groups: u32 = 6;
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
        assert_fields_tile::<AnaCapabilities>();
    }
}
