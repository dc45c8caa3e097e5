//! Controller properties, as registers of a PCIe controller (Base 2.0 §3.1.3; PCIe Transport 1.0 §3.1).

use super::id::{CqId, SqId};
use lanetwin_wire::{open_enum, wire};

/// Offset of [`Capabilities`] (CAP, 8 B).
pub const CAP: u32 = 0x00;
/// Offset of [`Version`] (VS).
pub const VS: u32 = 0x08;
/// Interrupt Mask Set (INTMS); must not be used with MSI-X.
pub const INTMS: u32 = 0x0c;
/// Interrupt Mask Clear (INTMC); must not be used with MSI-X.
pub const INTMC: u32 = 0x10;
/// Offset of [`Configuration`] (CC).
pub const CC: u32 = 0x14;
/// Offset of [`ControllerStatus`] (CSTS).
pub const CSTS: u32 = 0x1c;
/// NVM Subsystem Reset (NSSR).
pub const NSSR: u32 = 0x20;
/// Offset of [`AdminQueueAttributes`] (AQA).
pub const AQA: u32 = 0x24;
/// Admin Submission Queue Base Address (ASQ, 8 B).
pub const ASQ: u32 = 0x28;
/// Admin Completion Queue Base Address (ACQ, 8 B).
pub const ACQ: u32 = 0x30;
/// Offset of [`MemoryBufferLocation`] (CMBLOC).
pub const CMBLOC: u32 = 0x38;
/// Offset of [`MemoryBufferSize`] (CMBSZ).
pub const CMBSZ: u32 = 0x3c;
/// Offset of [`MemoryBufferSpace`] (CMBMSC, 8 B).
pub const CMBMSC: u32 = 0x50;
/// Offset of [`MemoryBufferStatus`] (CMBSTS).
pub const CMBSTS: u32 = 0x58;
/// Offset of the first doorbell (PCIe Transport 1.0 §3.1.2).
pub const DOORBELLS: u32 = 0x1000;

/// Value that must be written to NSSR to reset the subsystem: "NVMe" (Base 2.0 §3.1.3.7).
pub const RESET_WORD: u32 = 0x4e56_4d65;
/// Minimum size of a queue \[entries\] (Base 2.0 §3.3.1).
pub const LEAST_QUEUE_ENTRIES: u32 = 2;
/// Maximum size of an I/O queue \[entries\] (Base 2.0 §3.3.1).
pub const LARGEST_QUEUE_ENTRIES: u32 = 65_536;
/// Maximum size of an admin queue \[entries\] (Base 2.0 §3.1.3.8).
pub const LARGEST_ADMIN_QUEUE_ENTRIES: u32 = 4096;
/// The version of the specification that this crate follows: 2.0.0.
pub const VERSION: u32 = 0x0002_0000;

/// A doorbell (Base 2.0 §3.1.4, SQyTDBL and CQyHDBL; PCIe transport 1.0 §3.1.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Doorbell {
    /// Submission Queue Tail Doorbell.
    SubmissionTail(SqId),
    /// Completion Queue Head Doorbell.
    CompletionHead(CqId),
}

open_enum! {
    /// Shutdown Notification (CC.SHN).
    pub struct ShutdownNotification(u8) {
        /// None.
        NONE = 0b00;
        /// Normal.
        NORMAL = 0b01;
        /// Abrupt.
        ABRUPT = 0b10;
    }

    /// Shutdown Status (CSTS.SHST).
    pub struct ShutdownStatus(u8) {
        /// Normal operation.
        NORMAL = 0b00;
        /// Shutdown processing occurring.
        OCCURRING = 0b01;
        /// Shutdown processing complete.
        COMPLETE = 0b10;
    }

    /// Arbitration Mechanism Selected (CC.AMS).
    pub struct ArbitrationMechanism(u8) {
        /// Round robin.
        ROUND_ROBIN = 0b000;
        /// Weighted round robin with urgent priority class.
        WEIGHTED_ROUND_ROBIN = 0b001;
        /// Vendor specific.
        VENDOR = 0b111;
    }
}

wire! {
    /// Controller Capabilities (CAP, Base 2.0 §3.1.3.1).
    pub struct Capabilities(u64) {
        /// Maximum Queue Entries Supported (MQES), counted from 0
        queue_entries_less_1 / with_queue_entries_less_1: u16 = 15:0;
        /// Contiguous Queues Required (CQR)
        contiguous_queues / with_contiguous_queues: bool = 16:16;
        /// Arbitration Mechanism Supported (AMS): weighted round robin with urgent priority class
        weighted_round_robin / with_weighted_round_robin: bool = 17:17;
        /// Arbitration Mechanism Supported: vendor specific
        vendor_arbitration / with_vendor_arbitration: bool = 18:18;
        /// Reserved
        reserved = 23:19;
        /// Timeout (TO): the longest that CSTS.RDY takes to follow CC.EN \[500 ms\]
        timeout / with_timeout: u8 = 31:24;
        /// Doorbell Stride (DSTRD): doorbells are 4 << DSTRD bytes apart
        doorbell_stride / with_doorbell_stride: u8 = 35:32;
        /// NVM Subsystem Reset Supported (NSSRS)
        subsystem_reset / with_subsystem_reset: bool = 36:36;
        /// Command Sets Supported (CSS): bit 0 is the NVM command set
        command_sets / with_command_sets: u8 = 44:37;
        /// Boot Partition Support (BPS)
        boot_partitions / with_boot_partitions: bool = 45:45;
        /// Controller Power Scope (CPS)
        power_scope / with_power_scope: u8 = 47:46;
        /// Memory Page Size Minimum (MPSMIN) \[log2 of 4 KiB\]
        least_page / with_least_page: u8 = 51:48;
        /// Memory Page Size Maximum (MPSMAX) \[log2 of 4 KiB\]
        largest_page / with_largest_page: u8 = 55:52;
        /// Persistent Memory Region Supported (PMRS)
        persistent_region / with_persistent_region: bool = 56:56;
        /// Controller Memory Buffer Supported (CMBS)
        memory_buffer / with_memory_buffer: bool = 57:57;
        /// NVM Subsystem Shutdown Supported (NSSS)
        subsystem_shutdown / with_subsystem_shutdown: bool = 58:58;
        /// Controller Ready Modes Supported (CRMS)
        ready_modes / with_ready_modes: u8 = 60:59;
        /// Reserved
        reserved = 63:61;
    }

    /// Version (VS, Base 2.0 §3.1.3.2).
    pub struct Version(u32) {
        /// Tertiary Version Number (TER)
        tertiary / with_tertiary: u8 = 7:0;
        /// Minor Version Number (MNR)
        minor / with_minor: u8 = 15:8;
        /// Major Version Number (MJR)
        major / with_major: u16 = 31:16;
    }

    /// Controller Configuration (CC, Base 2.0 §3.1.3.5).
    pub struct Configuration(u32) {
        /// Enable (EN)
        enable / with_enable: bool = 0:0;
        /// Reserved
        reserved = 3:1;
        /// I/O Command Set Selected (CSS): 0 is the NVM command set
        command_set / with_command_set: u8 = 6:4;
        /// Memory Page Size (MPS) \[log2 of 4 KiB\]
        page / with_page: u8 = 10:7;
        /// Arbitration Mechanism Selected (AMS)
        arbitration / with_arbitration: ArbitrationMechanism = 13:11;
        /// Shutdown Notification (SHN)
        shutdown / with_shutdown: ShutdownNotification = 15:14;
        /// I/O Submission Queue Entry Size (IOSQES) \[log2 of bytes\]
        sq_entry / with_sq_entry: u8 = 19:16;
        /// I/O Completion Queue Entry Size (IOCQES) \[log2 of bytes\]
        cq_entry / with_cq_entry: u8 = 23:20;
        /// Controller Ready Independent of Media Enable (CRIME)
        ready_without_media / with_ready_without_media: bool = 24:24;
        /// Reserved
        reserved = 31:25;
    }

    /// Controller Status (CSTS, Base 2.0 §3.1.3.6).
    pub struct ControllerStatus(u32) {
        /// Ready (RDY)
        ready / with_ready: bool = 0:0;
        /// Controller Fatal Status (CFS)
        fatal / with_fatal: bool = 1:1;
        /// Shutdown Status (SHST)
        shutdown / with_shutdown: ShutdownStatus = 3:2;
        /// NVM Subsystem Reset Occurred (NSSRO)
        subsystem_reset / with_subsystem_reset: bool = 4:4;
        /// Processing Paused (PP)
        paused / with_paused: bool = 5:5;
        /// Shutdown Type (ST)
        shutdown_type / with_shutdown_type: bool = 6:6;
        /// Reserved
        reserved = 31:7;
    }

    /// Admin Queue Attributes (AQA, Base 2.0 §3.1.3.8).
    pub struct AdminQueueAttributes(u32) {
        /// Admin Submission Queue Size (ASQS), counted from 0
        sq_entries_less_1 / with_sq_entries_less_1: u16 = 11:0;
        /// Reserved
        reserved = 15:12;
        /// Admin Completion Queue Size (ACQS), counted from 0
        cq_entries_less_1 / with_cq_entries_less_1: u16 = 27:16;
        /// Reserved
        reserved = 31:28;
    }

    /// Controller Memory Buffer Location (CMBLOC, Base 2.0 §3.1.3.11).
    pub struct MemoryBufferLocation(u32) {
        /// Base Indicator Register (BIR): which BAR
        bar / with_bar: u8 = 2:0;
        /// CMB Queue Mixed Memory Support (CQMMS)
        mixed_memory / with_mixed_memory: bool = 3:3;
        /// CMB Queue Physically Discontiguous Support (CQPDS)
        discontiguous_queues / with_discontiguous_queues: bool = 4:4;
        /// CMB Data Pointer Mixed Locations Support (CDPMLS)
        mixed_pointers / with_mixed_pointers: bool = 5:5;
        /// CMB Data Pointer and Command Independent Locations Support (CDPCILS)
        independent_pointers / with_independent_pointers: bool = 6:6;
        /// CMB Data Metadata Mixed Memory Support (CDMMMS)
        mixed_metadata / with_mixed_metadata: bool = 7:7;
        /// CMB Queue Dword Alignment (CQDA)
        queue_dword_alignment / with_queue_dword_alignment: bool = 8:8;
        /// Reserved
        reserved = 11:9;
        /// Offset (OFST) \[units of CMBSZ\]
        offset / with_offset: u32 = 31:12;
    }

    /// Controller Memory Buffer Size (CMBSZ, Base 2.0 §3.1.3.12).
    pub struct MemoryBufferSize(u32) {
        /// Submission Queue Support (SQS)
        submission_queues / with_submission_queues: bool = 0:0;
        /// Completion Queue Support (CQS)
        completion_queues / with_completion_queues: bool = 1:1;
        /// PRP SGL List Support (LISTS)
        lists / with_lists: bool = 2:2;
        /// Read Data Support (RDS)
        read_data / with_read_data: bool = 3:3;
        /// Write Data Support (WDS)
        write_data / with_write_data: bool = 4:4;
        /// Reserved
        reserved = 7:5;
        /// Size Units (SZU): 4 KiB << (4 × SZU)
        units / with_units: u8 = 11:8;
        /// Size (SZ) \[units\]
        size / with_size: u32 = 31:12;
    }

    /// Controller Memory Buffer Memory Space Control (CMBMSC, Base 2.0 §3.1.3.16).
    pub struct MemoryBufferSpace(u64) {
        /// Capabilities Registers Enabled (CRE)
        registers / with_registers: bool = 0:0;
        /// Controller Memory Space Enable (CMSE)
        enable / with_enable: bool = 1:1;
        /// Reserved
        reserved = 11:2;
        /// Controller Base Address (CBA) \[4 KiB\]
        address / with_address: u64 = 63:12;
    }

    /// Controller Memory Buffer Status (CMBSTS, Base 2.0 §3.1.3.17).
    pub struct MemoryBufferStatus(u32) {
        /// Controller Base Address Invalid (CBAI)
        address_invalid / with_address_invalid: bool = 0:0;
        /// Reserved
        reserved = 31:1;
    }
}

/// Offset of a doorbell: SQyTDBL at `1000h + 2y × (4 << DSTRD)`, CQyHDBL one stride after it (PCIe Transport 1.0
/// §3.1.2).
#[must_use]
pub const fn doorbell_offset(doorbell: Doorbell, stride: u8) -> u32 {
    let index = match doorbell {
        Doorbell::SubmissionTail(SqId(number)) => number as u32 * 2,
        Doorbell::CompletionHead(CqId(number)) => number as u32 * 2 + 1,
    };
    DOORBELLS + (index << (2 + stride))
}

/// The doorbell at an offset; `None` before the first doorbell, after the last, or between two.
#[must_use]
pub const fn doorbell_at(offset: u32, stride: u8) -> Option<Doorbell> {
    let Some(behind) = offset.checked_sub(DOORBELLS) else { return None };
    let index = behind >> (2 + stride);
    if index << (2 + stride) != behind || index > 2 * 0xffff + 1 {
        return None;
    }
    let number = (index / 2) as u16;
    Some(if index & 1 == 0 {
        Doorbell::SubmissionTail(SqId(number))
    } else {
        Doorbell::CompletionHead(CqId(number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_wire::assert_fields_tile;

    #[test]
    fn every_word_tiles() {
        assert_fields_tile::<Capabilities>();
        assert_fields_tile::<Version>();
        assert_fields_tile::<Configuration>();
        assert_fields_tile::<ControllerStatus>();
        assert_fields_tile::<AdminQueueAttributes>();
        assert_fields_tile::<MemoryBufferLocation>();
        assert_fields_tile::<MemoryBufferSize>();
        assert_fields_tile::<MemoryBufferSpace>();
        assert_fields_tile::<MemoryBufferStatus>();
    }

    #[test]
    fn every_doorbell_is_where_it_is_looked_for() {
        for stride in [0, 1, 8, 13] {
            for number in [0, 1, 2, 300, 1000] {
                for doorbell in
                    [Doorbell::SubmissionTail(SqId(number)), Doorbell::CompletionHead(CqId(number))]
                {
                    assert_eq!(doorbell_at(doorbell_offset(doorbell, stride), stride), Some(doorbell));
                }
            }
        }
        assert_eq!(doorbell_offset(Doorbell::CompletionHead(CqId(1)), 0), 0x100c);
        assert_eq!((doorbell_at(0x0ffc, 0), doorbell_at(0x1004, 1)), (None, None));
    }
}
