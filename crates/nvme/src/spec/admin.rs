//! The dwords of admin commands (Base 2.0 §5).

use lanetwin_wire::{open_enum, wire};

open_enum! {
    /// Queue Priority (QPRIO) of a submission queue under weighted round robin (Base 2.0 §5.5).
    pub struct QueuePriority(u8) {
        /// Urgent: before all weighted ones.
        URGENT = 0b00;
        /// High.
        HIGH = 0b01;
        /// Medium.
        MEDIUM = 0b10;
        /// Low.
        LOW = 0b11;
    }

    /// Controller or Namespace Structure (CNS) of Identify (Base 2.0 §5.17).
    pub struct IdentifyStructure(u8) {
        /// Identify Namespace of an active namespace.
        NAMESPACE = 0x00;
        /// Identify Controller.
        CONTROLLER = 0x01;
        /// Active Namespace ID list.
        ACTIVE_NAMESPACES = 0x02;
        /// Namespace Identification Descriptor list.
        NAMESPACE_DESCRIPTORS = 0x03;
        /// Identify Namespace of the I/O command set.
        COMMAND_SET_NAMESPACE = 0x05;
        /// Identify Controller of the I/O command set.
        COMMAND_SET_CONTROLLER = 0x06;
        /// Allocated Namespace ID list.
        ALLOCATED_NAMESPACES = 0x10;
        /// Identify Namespace of an allocated namespace.
        ALLOCATED_NAMESPACE = 0x11;
        /// Controllers that a namespace is attached to.
        ATTACHED_CONTROLLERS = 0x12;
        /// Controllers of the subsystem.
        CONTROLLERS = 0x13;
    }

    /// Secure Erase Settings (SES) of Format NVM (Base 2.0 §5.14).
    pub struct SecureErase(u8) {
        /// No secure erase.
        NONE = 0b000;
        /// User Data Erase.
        USER_DATA = 0b001;
        /// Cryptographic Erase.
        CRYPTOGRAPHIC = 0b010;
    }

    /// Sanitize Action (SANACT, Base 2.0 §5.24).
    pub struct SanitizeAction(u8) {
        /// Exit Failure Mode.
        EXIT_FAILURE_MODE = 0b001;
        /// Start a Block Erase sanitize operation.
        BLOCK_ERASE = 0b010;
        /// Start an Overwrite sanitize operation.
        OVERWRITE = 0b011;
        /// Start a Crypto Erase sanitize operation.
        CRYPTO_ERASE = 0b100;
    }

    /// Select (SEL) of Get Features (Base 2.0 §5.15).
    pub struct FeatureSelect(u8) {
        /// Current.
        CURRENT = 0b000;
        /// Default.
        DEFAULT = 0b001;
        /// Saved.
        SAVED = 0b010;
        /// Supported capabilities.
        CAPABILITIES = 0b011;
    }
}

wire! {
    /// Dword 10 of Create and Delete I/O Submission or Completion Queue (Base 2.0 §5.4 to §5.7).
    pub struct QueueDword10(u32) {
        /// Queue Identifier (QID)
        queue / with_queue: u16 = 15:0;
        /// Queue Size (QSIZE), counted from 0; reserved in deletions
        entries_less_1 / with_entries_less_1: u16 = 31:16;
    }

    /// Dword 11 of Create I/O Completion Queue (Base 2.0 §5.4).
    pub struct CreateCqDword11(u32) {
        /// Physically Contiguous (PC)
        contiguous / with_contiguous: bool = 0:0;
        /// Interrupts Enabled (IEN)
        interrupts / with_interrupts: bool = 1:1;
        /// Reserved
        reserved = 15:2;
        /// Interrupt Vector (IV)
        vector / with_vector: u16 = 31:16;
    }

    /// Dword 11 of Create I/O Submission Queue (Base 2.0 §5.5).
    pub struct CreateSqDword11(u32) {
        /// Physically Contiguous (PC)
        contiguous / with_contiguous: bool = 0:0;
        /// Queue Priority (QPRIO)
        priority / with_priority: QueuePriority = 2:1;
        /// Reserved
        reserved = 15:3;
        /// Completion Queue Identifier (CQID)
        completion_queue / with_completion_queue: u16 = 31:16;
    }

    /// Dword 10 of Identify (Base 2.0 §5.17).
    pub struct IdentifyDword10(u32) {
        /// Controller or Namespace Structure (CNS)
        structure / with_structure: IdentifyStructure = 7:0;
        /// Reserved
        reserved = 15:8;
        /// Controller Identifier (CNTID)
        controller / with_controller: u16 = 31:16;
    }

    /// Dword 11 of Identify (Base 2.0 §5.17).
    pub struct IdentifyDword11(u32) {
        /// CNS Specific Identifier
        specific / with_specific: u16 = 15:0;
        /// Reserved
        reserved = 23:16;
        /// Command Set Identifier (CSI)
        command_set / with_command_set: u8 = 31:24;
    }

    /// Dword 10 of Abort (Base 2.0 §5.1).
    pub struct AbortDword10(u32) {
        /// Submission Queue Identifier (SQID)
        sq_number / with_sq_number: u16 = 15:0;
        /// Command Identifier (CID)
        cid_number / with_cid_number: u16 = 31:16;
    }

    /// Dword 10 of Get Features (Base 2.0 §5.15).
    pub struct GetFeaturesDword10(u32) {
        /// Feature Identifier (FID)
        feature / with_feature: u8 = 7:0;
        /// Select (SEL)
        select / with_select: FeatureSelect = 10:8;
        /// Reserved
        reserved = 31:11;
    }

    /// Dword 10 of Set Features (Base 2.0 §5.27).
    pub struct SetFeaturesDword10(u32) {
        /// Feature Identifier (FID)
        feature / with_feature: u8 = 7:0;
        /// Reserved
        reserved = 30:8;
        /// Save (SV)
        save / with_save: bool = 31:31;
    }

    /// Dword 10 of Get Log Page (Base 2.0 §5.16).
    pub struct LogDword10(u32) {
        /// Log Page Identifier (LID)
        log / with_log: u8 = 7:0;
        /// Log Specific Parameter (LSP)
        parameter / with_parameter: u8 = 14:8;
        /// Retain Asynchronous Event (RAE)
        retain_event / with_retain_event: bool = 15:15;
        /// Number of Dwords Lower (NUMDL), counted from 0 together with the upper half
        dwords_low / with_dwords_low: u16 = 31:16;
    }

    /// Dword 11 of Get Log Page (Base 2.0 §5.16).
    pub struct LogDword11(u32) {
        /// Number of Dwords Upper (NUMDU)
        dwords_high / with_dwords_high: u16 = 15:0;
        /// Log Specific Identifier
        specific / with_specific: u16 = 31:16;
    }

    /// Dword 14 of Get Log Page (Base 2.0 §5.16).
    pub struct LogDword14(u32) {
        /// UUID Index
        uuid_index / with_uuid_index: u8 = 6:0;
        /// Reserved
        reserved = 22:7;
        /// Offset Type (OT)
        offset_is_index / with_offset_is_index: bool = 23:23;
        /// Command Set Identifier (CSI)
        command_set / with_command_set: u8 = 31:24;
    }

    /// Dword 10 of Format NVM (Base 2.0 §5.14).
    pub struct FormatDword10(u32) {
        /// LBA Format Lower (LBAFL)
        format_low / with_format_low: u8 = 3:0;
        /// Metadata Settings (MSET)
        metadata_settings / with_metadata_settings: bool = 4:4;
        /// Protection Information (PI)
        protection / with_protection: u8 = 7:5;
        /// Protection Information Location (PIL)
        protection_location / with_protection_location: bool = 8:8;
        /// Secure Erase Settings (SES)
        secure_erase / with_secure_erase: SecureErase = 11:9;
        /// LBA Format Upper (LBAFU)
        format_high / with_format_high: u8 = 13:12;
        /// Reserved
        reserved = 31:14;
    }

    /// Dword 10 of Sanitize (Base 2.0 §5.24).
    pub struct SanitizeDword10(u32) {
        /// Sanitize Action (SANACT)
        action / with_action: SanitizeAction = 2:0;
        /// Allow Unrestricted Sanitize Exit (AUSE)
        unrestricted_exit / with_unrestricted_exit: bool = 3:3;
        /// Overwrite Pass Count (OWPASS)
        passes / with_passes: u8 = 7:4;
        /// Overwrite Invert Pattern Between Passes (OIPBP)
        invert / with_invert: bool = 8:8;
        /// No-Deallocate After Sanitize (NDAS)
        no_deallocate / with_no_deallocate: bool = 9:9;
        /// Reserved
        reserved = 31:10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_wire::assert_fields_tile;

    #[test]
    fn every_word_tiles() {
        assert_fields_tile::<QueueDword10>();
        assert_fields_tile::<CreateCqDword11>();
        assert_fields_tile::<CreateSqDword11>();
        assert_fields_tile::<IdentifyDword10>();
        assert_fields_tile::<IdentifyDword11>();
        assert_fields_tile::<AbortDword10>();
        assert_fields_tile::<GetFeaturesDword10>();
        assert_fields_tile::<SetFeaturesDword10>();
        assert_fields_tile::<LogDword10>();
        assert_fields_tile::<LogDword11>();
        assert_fields_tile::<LogDword14>();
        assert_fields_tile::<FormatDword10>();
        assert_fields_tile::<SanitizeDword10>();
    }
}
