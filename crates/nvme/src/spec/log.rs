//! Log pages (Base 2.0 §5.16.1) and asynchronous events (Base 2.0 §5.2).

use lanetwin_wire::{open_enum, structure, wire};

open_enum! {
    /// Log Page Identifier (LID).
    pub struct LogPage(u8) {
        /// Supported Log Pages.
        SUPPORTED = 0x00;
        /// Error Information: [`ErrorEntry`] × N.
        ERROR = 0x01;
        /// SMART / Health Information: [`SmartLog`].
        SMART = 0x02;
        /// Firmware Slot Information: [`FirmwareSlotLog`].
        FIRMWARE_SLOT = 0x03;
        /// Changed Namespace List: up to 1024 namespaces.
        CHANGED_NAMESPACES = 0x04;
        /// Commands Supported and Effects: [`CommandEffects`] × 512.
        COMMAND_EFFECTS = 0x05;
        /// Device Self-test.
        SELF_TEST = 0x06;
        /// Telemetry Host-Initiated: [`TelemetryHeader`], and blocks of 512 B.
        TELEMETRY_HOST = 0x07;
        /// Telemetry Controller-Initiated: [`TelemetryHeader`], and blocks of 512 B.
        TELEMETRY_CONTROLLER = 0x08;
        /// Sanitize Status: [`SanitizeLog`].
        SANITIZE_STATUS = 0x81;
    }

    /// Asynchronous Event Type.
    pub struct EventType(u8) {
        /// Error status.
        ERROR = 0b000;
        /// SMART / health status.
        SMART = 0b001;
        /// Notice.
        NOTICE = 0b010;
        /// I/O command specific status.
        IO_COMMAND_SET = 0b110;
    }

    /// Asynchronous Event Information of [`EventType::ERROR`].
    pub struct ErrorEvent(u8) {
        /// Write to Invalid Doorbell Register.
        INVALID_DOORBELL = 0x00;
        /// Invalid Doorbell Write Value.
        INVALID_DOORBELL_VALUE = 0x01;
    }

    /// Asynchronous Event Information of [`EventType::SMART`].
    pub struct SmartEvent(u8) {
        /// NVM subsystem reliability.
        RELIABILITY = 0x00;
        /// Temperature threshold.
        TEMPERATURE = 0x01;
        /// Spare below threshold.
        SPARE = 0x02;
    }

    /// Asynchronous Event Information of [`EventType::NOTICE`].
    pub struct NoticeEvent(u8) {
        /// Namespace Attribute Changed.
        NAMESPACE_CHANGED = 0x00;
        /// Telemetry Log Changed.
        TELEMETRY_CHANGED = 0x02;
    }

    /// Asynchronous Event Information of [`EventType::IO_COMMAND_SET`].
    pub struct IoEvent(u8) {
        /// Sanitize Operation Completed.
        SANITIZE_COMPLETED = 0x01;
    }

    /// Status of the last sanitize operation (Base 2.0 §5.16.1.25).
    pub struct SanitizeState(u8) {
        /// There has been no sanitize operation.
        NEVER = 0b000;
        /// Completed successfully.
        COMPLETED = 0b001;
        /// In progress.
        IN_PROGRESS = 0b010;
        /// Failed.
        FAILED = 0b011;
        /// Completed successfully, without deallocating.
        COMPLETED_NO_DEALLOCATE = 0b100;
    }
}

wire! {
    /// Dword 0 of the completion of an Asynchronous Event Request (Base 2.0 §5.2.1).
    pub struct EventResult(u32) {
        /// Asynchronous Event Type
        kind / with_kind: EventType = 2:0;
        /// Reserved
        reserved = 7:3;
        /// Asynchronous Event Information
        information / with_information: u8 = 15:8;
        /// Log Page Identifier: the log whose reading clears the event
        log / with_log: LogPage = 23:16;
        /// Reserved
        reserved = 31:24;
    }

    /// Critical Warning of the SMART log (Base 2.0 §5.16.1.3).
    pub struct CriticalWarning(u8) {
        /// Available spare is below its threshold
        spare / with_spare: bool = 0:0;
        /// A temperature is beyond a threshold
        temperature / with_temperature: bool = 1:1;
        /// Reliability is degraded
        degraded / with_degraded: bool = 2:2;
        /// The media are read only
        read_only / with_read_only: bool = 3:3;
        /// The backup of volatile memory has failed
        backup_failed / with_backup_failed: bool = 4:4;
        /// The persistent memory region is unreliable
        persistent_region / with_persistent_region: bool = 5:5;
        /// Reserved
        reserved = 7:6;
    }

    /// Status Field of an [`ErrorEntry`]: that of the completion, with the phase in the lowest bit (Base 2.0
    /// §5.16.1.2).
    pub struct LoggedStatus(u16) {
        /// Phase Tag; need not be valid
        phase / with_phase: bool = 0:0;
        /// Status Code Type and Status Code
        status / with_status: u16 = 11:1;
        /// Command Retry Delay (CRD): which of the controller's three delays, 0 for none
        retry_delay / with_retry_delay: u8 = 13:12;
        /// More (M): the error log has more about it
        more / with_more: bool = 14:14;
        /// Do Not Retry (DNR)
        do_not_retry / with_do_not_retry: bool = 15:15;
    }

    /// Parameter Error Location of an [`ErrorEntry`] (Base 2.0 §5.16.1.2).
    pub struct ErrorLocation(u16) {
        /// Byte in the command
        byte / with_byte: u8 = 7:0;
        /// Bit in the byte
        bit / with_bit: u8 = 10:8;
        /// Reserved
        reserved = 15:11;
    }

    /// Sanitize Status of the sanitize log (Base 2.0 §5.16.1.25).
    pub struct SanitizeStatus(u16) {
        /// How the last one ended
        state / with_state: SanitizeState = 2:0;
        /// Overwrite passes that are complete
        passes / with_passes: u8 = 7:3;
        /// Global Data Erased: nothing was written since
        erased / with_erased: bool = 8:8;
        /// Reserved
        reserved = 15:9;
    }

    /// Effects of a command, in the Commands Supported and Effects log (Base 2.0 §5.16.1.6).
    pub struct CommandEffects(u32) {
        /// Command Supported (CSUPP)
        supported / with_supported: bool = 0:0;
        /// Logical Block Content Change (LBCC)
        changes_blocks / with_changes_blocks: bool = 1:1;
        /// Namespace Capability Change (NCC)
        changes_namespace / with_changes_namespace: bool = 2:2;
        /// Namespace Inventory Change (NIC)
        changes_inventory / with_changes_inventory: bool = 3:3;
        /// Controller Capability Change (CCC)
        changes_controller / with_changes_controller: bool = 4:4;
        /// Reserved
        reserved = 15:5;
        /// Command Submission and Execution (CSE): 1 no other on the namespace, 2 no other at all
        alone / with_alone: u8 = 18:16;
        /// UUID Selection Supported
        uuid / with_uuid: bool = 19:19;
        /// Command Scope
        scope / with_scope: u16 = 31:20;
    }
}

structure! {
    /// An entry of the Error Information log (Base 2.0 §5.16.1.2).
    pub struct ErrorEntry(64) {
        /// Error Count: how many there were up to this one
        count / set_count: u64 = 0;
        /// Submission Queue ID; FFFFh if no command is to blame
        sq_number / set_sq_number: u16 = 8;
        /// Command ID; FFFFh if no command is to blame
        cid_number / set_cid_number: u16 = 10;
        /// Status Field
        status / set_status: LoggedStatus = 12;
        /// Parameter Error Location; FFFFh if there is none
        location / set_location: u16 = 14;
        /// LBA: the first that failed
        lba / set_lba: u64 = 16;
        /// Namespace
        nsid_number / set_nsid_number: u32 = 24;
        /// Vendor Specific Information Available
        vendor / set_vendor: u8 = 28;
        /// Transport Type (TRTYPE)
        transport / set_transport: u8 = 29;
        /// Command Set Indicator (CSI)
        command_set / set_command_set: u8 = 30;
        /// Opcode
        opcode / set_opcode: u8 = 31;
        /// Command Specific Information
        command_specific / set_command_specific: u64 = 32;
        /// Transport Type Specific Information
        transport_specific / set_transport_specific: u16 = 40;
    }

    /// SMART / Health Information (Base 2.0 §5.16.1.3).
    pub struct SmartLog(512) {
        /// Critical Warning
        critical_warning / set_critical_warning: CriticalWarning = 0;
        /// Composite Temperature \[K\]
        temperature / set_temperature: u16 = 1;
        /// Available Spare \[%\]
        available_spare / set_available_spare: u8 = 3;
        /// Available Spare Threshold \[%\]
        spare_threshold / set_spare_threshold: u8 = 4;
        /// Percentage Used \[%\]
        percentage_used / set_percentage_used: u8 = 5;
        /// Endurance Group Critical Warning Summary
        group_warning / set_group_warning: u8 = 6;
        /// Data Units Read \[1000 × 512 B, rounded up\]
        data_units_read / set_data_units_read: u128 = 32;
        /// Data Units Written \[1000 × 512 B, rounded up\]
        data_units_written / set_data_units_written: u128 = 48;
        /// Host Read Commands
        host_reads / set_host_reads: u128 = 64;
        /// Host Write Commands
        host_writes / set_host_writes: u128 = 80;
        /// Controller Busy Time \[min\]
        busy_minutes / set_busy_minutes: u128 = 96;
        /// Power Cycles
        power_cycles / set_power_cycles: u128 = 112;
        /// Power On Hours
        power_on_hours / set_power_on_hours: u128 = 128;
        /// Unsafe Shutdowns
        unsafe_shutdowns / set_unsafe_shutdowns: u128 = 144;
        /// Media and Data Integrity Errors
        media_errors / set_media_errors: u128 = 160;
        /// Number of Error Information Log Entries
        error_entries / set_error_entries: u128 = 176;
        /// Warning Composite Temperature Time \[min\]
        warning_minutes / set_warning_minutes: u32 = 192;
        /// Critical Composite Temperature Time \[min\]
        critical_minutes / set_critical_minutes: u32 = 196;
    }

    /// Firmware Slot Information (Base 2.0 §5.16.1.4).
    pub struct FirmwareSlotLog(512) {
        /// Active Firmware Info (AFI): the active slot in bits 2:0
        active / set_active: u8 = 0;
        /// Firmware Revision for Slot 1 (FRS1), ASCII
        revision_1 / set_revision_1: [u8; 8] = 8;
    }

    /// Header of both Telemetry logs (Base 2.0 §5.16.1.8 and §5.16.1.9). Blocks of 512 B follow, numbered from 1. Each
    /// data area begins with block 1 and includes all blocks of the previous areas.
    pub struct TelemetryHeader(512) {
        /// Log Identifier
        log / set_log: u8 = 0;
        /// IEEE OUI Identifier (IEEE), the least significant byte first
        oui / set_oui: [u8; 3] = 5;
        /// Data Area 1 Last Block; 0 if there is none
        last_1 / set_last_1: u16 = 8;
        /// Data Area 2 Last Block
        last_2 / set_last_2: u16 = 10;
        /// Data Area 3 Last Block
        last_3 / set_last_3: u16 = 12;
        /// Data Area 4 Last Block
        last_4 / set_last_4: u32 = 16;
        /// Telemetry Host-Initiated Data Generation Number, in the log of that name
        host_generation / set_host_generation: u8 = 381;
        /// Telemetry Controller-Initiated Data Available: 1 until a host has read that log without retaining the event
        available / set_available: u8 = 382;
        /// Telemetry Controller-Initiated Data Generation Number
        generation / set_generation: u8 = 383;
        /// Reason Identifier: the vendor's; here a sentence in ASCII
        reason / set_reason: [u8; 128] = 384;
    }

    /// Sanitize Status (Base 2.0 §5.16.1.25).
    pub struct SanitizeLog(512) {
        /// Sanitize Progress (SPROG) \[1/65536\]; FFFFh if none is in progress
        progress / set_progress: u16 = 0;
        /// Sanitize Status (SSTAT)
        status / set_status: SanitizeStatus = 2;
        /// Sanitize Command Dword 10 Information (SCDW10)
        dword10 / set_dword10: u32 = 4;
        /// Estimated Time For Overwrite \[s\]; FFFFFFFFh if not said
        overwrite_seconds / set_overwrite_seconds: u32 = 8;
        /// Estimated Time For Block Erase \[s\]; FFFFFFFFh if not said
        block_erase_seconds / set_block_erase_seconds: u32 = 12;
        /// Estimated Time For Crypto Erase \[s\]; FFFFFFFFh if not said
        crypto_erase_seconds / set_crypto_erase_seconds: u32 = 16;
        /// Estimated Time For Overwrite With No-Deallocate \[s\]
        overwrite_kept_seconds / set_overwrite_kept_seconds: u32 = 20;
        /// Estimated Time For Block Erase With No-Deallocate \[s\]
        block_erase_kept_seconds / set_block_erase_kept_seconds: u32 = 24;
        /// Estimated Time For Crypto Erase With No-Deallocate \[s\]
        crypto_erase_kept_seconds / set_crypto_erase_kept_seconds: u32 = 28;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_wire::assert_fields_tile;

    #[test]
    fn every_word_tiles() {
        assert_fields_tile::<EventResult>();
        assert_fields_tile::<CriticalWarning>();
        assert_fields_tile::<LoggedStatus>();
        assert_fields_tile::<ErrorLocation>();
        assert_fields_tile::<SanitizeStatus>();
        assert_fields_tile::<CommandEffects>();
    }
}
