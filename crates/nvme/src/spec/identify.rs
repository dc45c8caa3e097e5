//! Identify structures (Base 2.0 §5.17.2, NVM Command Set 1.0 §4.1.5).

use super::registers::Version;
use lanetwin_wire::{open_enum, structure, wire};

/// Size of the data of Identify \[B\] (Base 2.0 §5.17).
pub const IDENTIFY_BYTES: usize = 4096;
/// Offset of the first of 64 [`LbaFormatWord`]s in [`IdentifyNamespace`] (NVM 1.0 §4.1.5.1).
pub const LBA_FORMATS_OFFSET: usize = 128;
/// Offset of the first of 32 [`PowerStateDescriptor`]s in [`IdentifyController`] (Base 2.0 §5.17.2.1).
pub const POWER_STATES_OFFSET: usize = 2048;
/// Maximum number of formats of a namespace (Base 2.0 §5.14, LBAFU and LBAFL).
pub const MOST_FORMATS: usize = 64;

open_enum! {
    /// Controller Type (CNTRLTYPE).
    pub struct ControllerType(u8) {
        /// Not reported.
        NOT_REPORTED = 0;
        /// I/O controller.
        IO = 1;
        /// Discovery controller.
        DISCOVERY = 2;
        /// Administrative controller.
        ADMINISTRATIVE = 3;
    }

    /// Namespace Identifier Type (NIDT, Base 2.0 §5.17.2.3).
    pub struct NamespaceIdentifierType(u8) {
        /// IEEE Extended Unique Identifier.
        EUI64 = 1;
        /// Namespace Globally Unique Identifier.
        NGUID = 2;
        /// Namespace UUID.
        UUID = 3;
        /// Command Set Identifier.
        COMMAND_SET = 4;
    }
}

wire! {
    /// Controller Multi-Path I/O and Namespace Sharing Capabilities (CMIC).
    pub struct MultiPath(u8) {
        /// The subsystem may have more than one port
        ports / with_ports: bool = 0:0;
        /// The subsystem may have more than one controller
        controllers / with_controllers: bool = 1:1;
        /// The controller is of an SR-IOV virtual function
        virtual_function / with_virtual_function: bool = 2:2;
        /// Asymmetric Namespace Access Reporting
        asymmetric_access / with_asymmetric_access: bool = 3:3;
        /// Reserved
        reserved = 7:4;
    }

    /// Optional Asynchronous Events Supported (OAES).
    pub struct OptionalEvents(u32) {
        /// Reserved
        reserved = 7:0;
        /// Namespace Attribute Notices
        namespace_attributes / with_namespace_attributes: bool = 8:8;
        /// Firmware Activation Notices
        firmware_activation / with_firmware_activation: bool = 9:9;
        /// Reserved
        reserved = 10:10;
        /// Asymmetric Namespace Access Change Notices
        asymmetric_access / with_asymmetric_access: bool = 11:11;
        /// Notices of later parts of the specification
        other / with_other: u32 = 31:12;
    }

    /// Optional Admin Command Support (OACS).
    pub struct OptionalAdminCommands(u16) {
        /// Security Send and Receive
        security / with_security: bool = 0:0;
        /// Format NVM
        format / with_format: bool = 1:1;
        /// Firmware Commit and Image Download
        firmware / with_firmware: bool = 2:2;
        /// Namespace Management and Attachment
        namespaces / with_namespaces: bool = 3:3;
        /// Device Self-test
        self_test / with_self_test: bool = 4:4;
        /// Directives
        directives / with_directives: bool = 5:5;
        /// NVMe-MI Send and Receive
        management_interface / with_management_interface: bool = 6:6;
        /// Virtualization Management
        virtualization / with_virtualization: bool = 7:7;
        /// Doorbell Buffer Config
        doorbell_buffers / with_doorbell_buffers: bool = 8:8;
        /// Get LBA Status
        lba_status / with_lba_status: bool = 9:9;
        /// Command and Feature Lockdown
        lockdown / with_lockdown: bool = 10:10;
        /// Reserved
        reserved = 15:11;
    }

    /// Log Page Attributes (LPA).
    pub struct LogAttributes(u8) {
        /// SMART log for each namespace
        namespace_smart / with_namespace_smart: bool = 0:0;
        /// Commands Supported and Effects
        command_effects / with_command_effects: bool = 1:1;
        /// Extended data: lengths of 32 bits, and offsets
        extended / with_extended: bool = 2:2;
        /// Telemetry
        telemetry / with_telemetry: bool = 3:3;
        /// Persistent Event
        persistent_events / with_persistent_events: bool = 4:4;
        /// Supported Log Pages and its relatives
        supported_pages / with_supported_pages: bool = 5:5;
        /// Telemetry Data Area 4
        telemetry_area_4 / with_telemetry_area_4: bool = 6:6;
        /// Reserved
        reserved = 7:7;
    }

    /// Firmware Updates (FRMW).
    pub struct FirmwareUpdates(u8) {
        /// The first slot is read only
        first_slot_read_only / with_first_slot_read_only: bool = 0:0;
        /// How many slots
        slots / with_slots: u8 = 3:1;
        /// Activation without a reset
        without_reset / with_without_reset: bool = 4:4;
        /// Overlaps of downloads are detected
        overlap_detection / with_overlap_detection: bool = 5:5;
        /// Reserved
        reserved = 7:6;
    }

    /// Sanitize Capabilities (SANICAP).
    pub struct SanitizeCapabilities(u32) {
        /// Crypto Erase Support (CES)
        crypto_erase / with_crypto_erase: bool = 0:0;
        /// Block Erase Support (BES)
        block_erase / with_block_erase: bool = 1:1;
        /// Overwrite Support (OWS)
        overwrite / with_overwrite: bool = 2:2;
        /// Reserved
        reserved = 28:3;
        /// No-Deallocate Inhibited (NDI)
        no_deallocate_inhibited / with_no_deallocate_inhibited: bool = 29:29;
        /// No-Deallocate Modifies Media After Sanitize (NODMMAS)
        no_deallocate_modifies / with_no_deallocate_modifies: u8 = 31:30;
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

    /// Sizes of entries (SQES and CQES) \[log2 of bytes\].
    pub struct EntrySizes(u8) {
        /// Required
        required / with_required: u8 = 3:0;
        /// Largest
        largest / with_largest: u8 = 7:4;
    }

    /// Optional NVM Command Support (ONCS).
    pub struct OptionalIoCommands(u16) {
        /// Compare
        compare / with_compare: bool = 0:0;
        /// Write Uncorrectable
        write_uncorrectable / with_write_uncorrectable: bool = 1:1;
        /// Dataset Management
        dataset_management / with_dataset_management: bool = 2:2;
        /// Write Zeroes
        write_zeroes / with_write_zeroes: bool = 3:3;
        /// Save of Set Features and Select of Get Features
        save_and_select / with_save_and_select: bool = 4:4;
        /// Reservations
        reservations / with_reservations: bool = 5:5;
        /// Timestamp
        timestamp / with_timestamp: bool = 6:6;
        /// Verify
        verify / with_verify: bool = 7:7;
        /// Copy
        copy / with_copy: bool = 8:8;
        /// Reserved
        reserved = 15:9;
    }

    /// Format NVM Attributes (FNA).
    pub struct FormatAttributes(u8) {
        /// A format is of all namespaces
        all_formatted / with_all_formatted: bool = 0:0;
        /// A secure erase is of all namespaces
        all_erased / with_all_erased: bool = 1:1;
        /// Cryptographic erase is supported
        cryptographic / with_cryptographic: bool = 2:2;
        /// NSID FFFFFFFFh is not supported
        no_broadcast / with_no_broadcast: bool = 3:3;
        /// Reserved
        reserved = 7:4;
    }

    /// Volatile Write Cache (VWC).
    pub struct WriteCacheAttributes(u8) {
        /// There is one
        present / with_present: bool = 0:0;
        /// Flush with NSID FFFFFFFFh: 2 not supported, 3 supported
        broadcast / with_broadcast: u8 = 2:1;
        /// Reserved
        reserved = 7:3;
    }

    /// Namespace Write Protection Capabilities (NWPC).
    pub struct WriteProtectionCapabilities(u8) {
        /// No Write Protect and Write Protect
        basic / with_basic: bool = 0:0;
        /// Write Protect Until Power Cycle
        until_power_cycle / with_until_power_cycle: bool = 1:1;
        /// Permanent Write Protect
        permanent / with_permanent: bool = 2:2;
        /// Reserved
        reserved = 7:3;
    }

    /// SGL Support (SGLS).
    pub struct SglSupport(u32) {
        /// 0 none, 1 of any alignment, 2 aligned to dwords
        supported / with_supported: u8 = 1:0;
        /// Keyed SGL Data Block
        keyed / with_keyed: bool = 2:2;
        /// Reserved
        reserved = 7:3;
        /// SGL Descriptor Threshold (SDT)
        threshold / with_threshold: u8 = 15:8;
        /// SGL Bit Bucket
        bit_bucket / with_bit_bucket: bool = 16:16;
        /// Metadata in bytes
        metadata_bytes / with_metadata_bytes: bool = 17:17;
        /// SGLs longer than the data
        longer / with_longer: bool = 18:18;
        /// Metadata SGL
        metadata_sgl / with_metadata_sgl: bool = 19:19;
        /// Offsets as addresses
        offsets / with_offsets: bool = 20:20;
        /// Transport SGL Data Block
        transport / with_transport: bool = 21:21;
        /// Reserved
        reserved = 31:22;
    }

    /// Formatted LBA Size (FLBAS).
    pub struct FormattedSize(u8) {
        /// The format's number, bits 3:0
        format_low / with_format_low: u8 = 3:0;
        /// Metadata are behind the data of each block
        extended / with_extended: bool = 4:4;
        /// The format's number, bits 5:4
        format_high / with_format_high: u8 = 6:5;
        /// Reserved
        reserved = 7:7;
    }

    /// Namespace Multi-path I/O and Namespace Sharing Capabilities (NMIC).
    pub struct Sharing(u8) {
        /// The namespace may be attached to more than one controller
        shared / with_shared: bool = 0:0;
        /// Reserved
        reserved = 7:1;
    }

    /// Format Progress Indicator (FPI).
    pub struct FormatProgress(u8) {
        /// What remains \[%\]
        remaining / with_remaining: u8 = 6:0;
        /// It is supported
        supported / with_supported: bool = 7:7;
    }

    /// Deallocate Logical Block Features (DLFEAT).
    pub struct DeallocateFeatures(u8) {
        /// What deallocated blocks read: 0 not reported, 1 zeroes, 2 ones
        read / with_read: u8 = 2:0;
        /// Write Zeroes can deallocate
        write_zeroes / with_write_zeroes: bool = 3:3;
        /// Guard of deallocated blocks
        guard / with_guard: bool = 4:4;
        /// Reserved
        reserved = 7:5;
    }

    /// Namespace Attributes (NSATTR).
    pub struct NamespaceAttributes(u8) {
        /// The namespace is write protected
        write_protected / with_write_protected: bool = 0:0;
        /// Reserved
        reserved = 7:1;
    }

    /// LBA Format (LBAF).
    pub struct LbaFormatWord(u32) {
        /// Metadata Size (MS) \[B\]
        metadata_bytes / with_metadata_bytes: u16 = 15:0;
        /// LBA Data Size (LBADS) \[log2 of bytes\]
        data_size_log2 / with_data_size_log2: u8 = 23:16;
        /// Relative Performance (RP): 0 best
        performance / with_performance: u8 = 25:24;
        /// Reserved
        reserved = 31:26;
    }
}

structure! {
    /// Identify Controller (Base 2.0 §5.17.2.1).
    pub struct IdentifyController(4096) {
        /// PCI Vendor ID (VID)
        vid / set_vid: u16 = 0;
        /// PCI Subsystem Vendor ID (SSVID)
        ssvid / set_ssvid: u16 = 2;
        /// Serial Number (SN), ASCII
        serial / set_serial: [u8; 20] = 4;
        /// Model Number (MN), ASCII
        model / set_model: [u8; 40] = 24;
        /// Firmware Revision (FR), ASCII
        firmware / set_firmware: [u8; 8] = 64;
        /// Recommended Arbitration Burst (RAB) \[log2 of commands\]
        recommended_burst / set_recommended_burst: u8 = 72;
        /// IEEE OUI Identifier (IEEE)
        oui / set_oui: [u8; 3] = 73;
        /// Controller Multi-Path I/O and Namespace Sharing Capabilities (CMIC)
        multi_path / set_multi_path: MultiPath = 76;
        /// Maximum Data Transfer Size (MDTS) \[log2 of the least memory page\]; 0 for no limit
        transfer_log2 / set_transfer_log2: u8 = 77;
        /// Controller ID (CNTLID)
        controller / set_controller: u16 = 78;
        /// Version (VER)
        version / set_version: Version = 80;
        /// RTD3 Resume Latency (RTD3R) \[µs\]
        rtd3_resume / set_rtd3_resume: u32 = 84;
        /// RTD3 Entry Latency (RTD3E) \[µs\]
        rtd3_entry / set_rtd3_entry: u32 = 88;
        /// Optional Asynchronous Events Supported (OAES)
        events / set_events: OptionalEvents = 92;
        /// Controller Attributes (CTRATT)
        attributes / set_attributes: u32 = 96;
        /// Controller Type (CNTRLTYPE)
        controller_type / set_controller_type: ControllerType = 111;
        /// Command Retry Delay Time 1 to 3 (CRDT) \[100 ms\]
        retry_delays / set_retry_delays: [u8; 6] = 128;
        /// Optional Admin Command Support (OACS)
        admin_commands / set_admin_commands: OptionalAdminCommands = 256;
        /// Abort Command Limit (ACL), counted from 0
        abort_limit_less_1 / set_abort_limit_less_1: u8 = 258;
        /// Asynchronous Event Request Limit (AERL), counted from 0
        event_limit_less_1 / set_event_limit_less_1: u8 = 259;
        /// Firmware Updates (FRMW)
        firmware_updates / set_firmware_updates: FirmwareUpdates = 260;
        /// Log Page Attributes (LPA)
        log_attributes / set_log_attributes: LogAttributes = 261;
        /// Error Log Page Entries (ELPE), counted from 0
        error_entries_less_1 / set_error_entries_less_1: u8 = 262;
        /// Number of Power States Support (NPSS), counted from 0
        power_states_less_1 / set_power_states_less_1: u8 = 263;
        /// Warning Composite Temperature Threshold (WCTEMP) \[K\]
        warning_temperature / set_warning_temperature: u16 = 266;
        /// Critical Composite Temperature Threshold (CCTEMP) \[K\]
        critical_temperature / set_critical_temperature: u16 = 268;
        /// Total NVM Capacity (TNVMCAP) \[B\]
        capacity / set_capacity: u128 = 280;
        /// Unallocated NVM Capacity (UNVMCAP) \[B\]
        unallocated / set_unallocated: u128 = 296;
        /// Keep Alive Support (KAS) \[100 ms\]
        keep_alive / set_keep_alive: u16 = 320;
        /// Sanitize Capabilities (SANICAP)
        sanitize / set_sanitize: SanitizeCapabilities = 328;
        /// ANA Transition Time (ANATT) \[s\]
        transition_seconds / set_transition_seconds: u8 = 342;
        /// Asymmetric Namespace Access Capabilities (ANACAP)
        asymmetric_access / set_asymmetric_access: AnaCapabilities = 343;
        /// ANA Group Identifier Maximum (ANAGRPMAX)
        highest_access_group / set_highest_access_group: u32 = 344;
        /// Number of ANA Group Identifiers (NANAGRPID)
        access_groups / set_access_groups: u32 = 348;
        /// Submission Queue Entry Size (SQES)
        sq_entry / set_sq_entry: EntrySizes = 512;
        /// Completion Queue Entry Size (CQES)
        cq_entry / set_cq_entry: EntrySizes = 513;
        /// Maximum Outstanding Commands (MAXCMD)
        outstanding / set_outstanding: u16 = 514;
        /// Number of Namespaces (NN): the highest NSID
        namespaces / set_namespaces: u32 = 516;
        /// Optional NVM Command Support (ONCS)
        io_commands / set_io_commands: OptionalIoCommands = 520;
        /// Fused Operation Support (FUSES)
        fused / set_fused: u16 = 522;
        /// Format NVM Attributes (FNA)
        format / set_format: FormatAttributes = 524;
        /// Volatile Write Cache (VWC)
        write_cache / set_write_cache: WriteCacheAttributes = 525;
        /// Atomic Write Unit Normal (AWUN) \[logical blocks\], counted from 0
        atomic_normal_less_1 / set_atomic_normal_less_1: u16 = 526;
        /// Atomic Write Unit Power Fail (AWUPF) \[logical blocks\], counted from 0
        atomic_power_fail_less_1 / set_atomic_power_fail_less_1: u16 = 528;
        /// Namespace Write Protection Capabilities (NWPC)
        write_protection / set_write_protection: WriteProtectionCapabilities = 531;
        /// SGL Support (SGLS)
        sgl / set_sgl: SglSupport = 536;
        /// Maximum Number of Allowed Namespaces (MNAN); 0 for as many as NN says
        most_namespaces / set_most_namespaces: u32 = 540;
        /// NVM Subsystem NVMe Qualified Name (SUBNQN), UTF-8
        nqn / set_nqn: [u8; 256] = 768;
        /// Power State 0 Descriptor (PSD0)
        power_state_0 / set_power_state_0: [u8; 32] = 2048;
    }

    /// A power state (Base 2.0 §5.17.2.1).
    pub struct PowerStateDescriptor(32) {
        /// Maximum Power (MP) \[10 mW\]
        maximum_power / set_maximum_power: u16 = 0;
        /// Entry Latency (ENLAT) \[µs\]
        entry_latency / set_entry_latency: u32 = 4;
        /// Exit Latency (EXLAT) \[µs\]
        exit_latency / set_exit_latency: u32 = 8;
    }

    /// Identify Namespace (NVM Command Set 1.0 §4.1.5.1).
    pub struct IdentifyNamespace(4096) {
        /// Namespace Size (NSZE) \[logical blocks\]
        size / set_size: u64 = 0;
        /// Namespace Capacity (NCAP) \[logical blocks\]
        capacity / set_capacity: u64 = 8;
        /// Namespace Utilization (NUSE) \[logical blocks\]
        utilization / set_utilization: u64 = 16;
        /// Namespace Features (NSFEAT)
        features / set_features: u8 = 24;
        /// Number of LBA Formats (NLBAF), counted from 0
        formats_less_1 / set_formats_less_1: u8 = 25;
        /// Formatted LBA Size (FLBAS)
        formatted_size / set_formatted_size: FormattedSize = 26;
        /// Metadata Capabilities (MC)
        metadata / set_metadata: u8 = 27;
        /// End-to-end Data Protection Capabilities (DPC)
        protection / set_protection: u8 = 28;
        /// End-to-end Data Protection Type Settings (DPS)
        protection_settings / set_protection_settings: u8 = 29;
        /// Namespace Multi-path I/O and Namespace Sharing Capabilities (NMIC)
        sharing / set_sharing: Sharing = 30;
        /// Reservation Capabilities (RESCAP)
        reservations / set_reservations: u8 = 31;
        /// Format Progress Indicator (FPI)
        format_progress / set_format_progress: FormatProgress = 32;
        /// Deallocate Logical Block Features (DLFEAT)
        deallocate / set_deallocate: DeallocateFeatures = 33;
        /// Namespace Atomic Write Unit Normal (NAWUN), counted from 0
        atomic_normal_less_1 / set_atomic_normal_less_1: u16 = 34;
        /// Namespace Atomic Write Unit Power Fail (NAWUPF), counted from 0
        atomic_power_fail_less_1 / set_atomic_power_fail_less_1: u16 = 36;
        /// NVM Capacity (NVMCAP) \[B\]
        bytes / set_bytes: u128 = 48;
        /// ANA Group Identifier (ANAGRPID); 0 if it is in none
        access_group / set_access_group: u32 = 92;
        /// Namespace Attributes (NSATTR)
        attributes / set_attributes: NamespaceAttributes = 99;
        /// Namespace Globally Unique Identifier (NGUID)
        nguid / set_nguid: [u8; 16] = 104;
        /// IEEE Extended Unique Identifier (EUI64)
        eui64 / set_eui64: [u8; 8] = 120;
        /// LBA Formats (LBAF), 64 of 4 B
        formats / set_formats: [u8; 256] = 128;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_wire::assert_fields_tile;

    #[test]
    fn every_word_tiles() {
        assert_fields_tile::<MultiPath>();
        assert_fields_tile::<OptionalEvents>();
        assert_fields_tile::<OptionalAdminCommands>();
        assert_fields_tile::<LogAttributes>();
        assert_fields_tile::<FirmwareUpdates>();
        assert_fields_tile::<SanitizeCapabilities>();
        assert_fields_tile::<AnaCapabilities>();
        assert_fields_tile::<EntrySizes>();
        assert_fields_tile::<OptionalIoCommands>();
        assert_fields_tile::<FormatAttributes>();
        assert_fields_tile::<WriteCacheAttributes>();
        assert_fields_tile::<WriteProtectionCapabilities>();
        assert_fields_tile::<SglSupport>();
        assert_fields_tile::<FormattedSize>();
        assert_fields_tile::<Sharing>();
        assert_fields_tile::<FormatProgress>();
        assert_fields_tile::<DeallocateFeatures>();
        assert_fields_tile::<NamespaceAttributes>();
        assert_fields_tile::<LbaFormatWord>();
    }
}
