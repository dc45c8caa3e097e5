//! Building submission queue entries. The queue pair adds the command identifier, the buffer the data pointer.

use crate::spec::admin::{
    CreateCqDword11, CreateSqDword11, IdentifyDword10, IdentifyStructure, LogDword10, LogDword11,
    QueueDword10, QueuePriority,
};
use crate::spec::feature::Feature;
use crate::spec::io::{BlocksDword12, DatasetDword10, DatasetDword11};
use crate::spec::log::LogPage;
use crate::spec::{AdminOpcode, Command, CommandDword0, CqId, IoOpcode, Nsid, SqId};

/// A command with only an opcode and a namespace.
#[inline]
#[must_use]
pub fn command(opcode: u8, nsid: Nsid) -> Command {
    let mut command = Command::ZERO;
    command.set_dword0(CommandDword0::from_raw(opcode.into()));
    command.set_nsid_number(nsid.0);
    command
}

/// A command on blocks: Read, Write, Compare, Write Zeroes.
///
/// # Panics
/// If `blocks` is not 1 to 65536.
#[inline]
#[must_use]
pub fn blocks(opcode: IoOpcode, nsid: Nsid, slba: u64, blocks: u32) -> Command {
    assert!((1..=65_536).contains(&blocks), "a command is about 1 to 65536 blocks");
    let mut command = command(opcode.0, nsid);
    command.set_cdw10(slba as u32);
    command.set_cdw11((slba >> 32) as u32);
    command.set_cdw12(BlocksDword12::from_raw(blocks - 1).raw());
    command
}

/// Read.
#[inline]
#[must_use]
pub fn read(nsid: Nsid, slba: u64, count: u32) -> Command {
    blocks(IoOpcode::READ, nsid, slba, count)
}
/// Write.
#[inline]
#[must_use]
pub fn write(nsid: Nsid, slba: u64, count: u32) -> Command {
    blocks(IoOpcode::WRITE, nsid, slba, count)
}
/// Flush.
#[must_use]
pub fn flush(nsid: Nsid) -> Command {
    command(IoOpcode::FLUSH.0, nsid)
}
/// Dataset Management that deallocates; the ranges are in the buffer.
///
/// # Panics
/// If there are not 1 to 256 ranges.
#[must_use]
pub fn deallocate(nsid: Nsid, ranges: u32) -> Command {
    let mut command = command(IoOpcode::DATASET_MANAGEMENT.0, nsid);
    let less_1 = u8::try_from(ranges - 1).expect("1 to 256 ranges");
    command.set_cdw10(DatasetDword10::ZERO.with_ranges_less_1(less_1).expect("a byte").raw());
    command.set_cdw11(DatasetDword11::ZERO.with_deallocate(true).expect("a bit").raw());
    command
}

/// Identify.
#[must_use]
pub fn identify(structure: IdentifyStructure, nsid: Nsid) -> Command {
    let mut command = command(AdminOpcode::IDENTIFY.0, nsid);
    command.set_cdw10(IdentifyDword10::ZERO.with_structure(structure).expect("a byte").raw());
    command
}
/// Get Log Page of the whole subsystem: `bytes` bytes, a multiple of 4, from an offset on.
#[must_use]
pub fn get_log_page(log: LogPage, offset: u64, bytes: u32) -> Command {
    let mut command = command(AdminOpcode::GET_LOG_PAGE.0, Nsid::ALL);
    let dwords = bytes / 4 - 1;
    command.set_cdw10(LogDword10::from_raw(u32::from(log.0) | dwords << 16).raw());
    command.set_cdw11(LogDword11::from_raw(dwords >> 16).raw());
    command.set_cdw12(offset as u32);
    command.set_cdw13((offset >> 32) as u32);
    command
}
/// Set Features, without saving.
#[must_use]
pub fn set_features(feature: Feature, value: u32) -> Command {
    let mut command = command(AdminOpcode::SET_FEATURES.0, Nsid::NONE);
    command.set_cdw10(feature.0.into());
    command.set_cdw11(value);
    command
}
/// Get Features: the current value.
#[must_use]
pub fn get_features(feature: Feature) -> Command {
    let mut command = command(AdminOpcode::GET_FEATURES.0, Nsid::NONE);
    command.set_cdw10(feature.0.into());
    command
}
/// Create I/O Completion Queue; without a vector it is polled.
///
/// # Panics
/// If `entries` is not 2 to 65536.
#[must_use]
pub fn create_cq(queue: CqId, entries: u32, address: u64, vector: Option<u16>) -> Command {
    let mut command = command(AdminOpcode::CREATE_IO_CQ.0, Nsid::NONE);
    command.set_prp1(address);
    command.set_cdw10(queue_dword(queue.0, entries));
    let interrupts = u32::from(vector.is_some()) << 1;
    let dword = CreateCqDword11::from_raw(1 | interrupts | u32::from(vector.unwrap_or(0)) << 16);
    command.set_cdw11(dword.raw());
    command
}
/// Create I/O Submission Queue.
///
/// # Panics
/// If `entries` is not 2 to 65536.
#[must_use]
pub fn create_sq(queue: SqId, entries: u32, address: u64, into: CqId, priority: QueuePriority) -> Command {
    let mut command = command(AdminOpcode::CREATE_IO_SQ.0, Nsid::NONE);
    command.set_prp1(address);
    command.set_cdw10(queue_dword(queue.0, entries));
    let dword = CreateSqDword11::from_raw(1 | u32::from(priority.0 & 3) << 1 | u32::from(into.0) << 16);
    command.set_cdw11(dword.raw());
    command
}
/// Delete I/O Submission Queue.
#[must_use]
pub fn delete_sq(queue: SqId) -> Command {
    let mut command = command(AdminOpcode::DELETE_IO_SQ.0, Nsid::NONE);
    command.set_cdw10(queue.0.into());
    command
}
/// Delete I/O Completion Queue.
#[must_use]
pub fn delete_cq(queue: CqId) -> Command {
    let mut command = command(AdminOpcode::DELETE_IO_CQ.0, Nsid::NONE);
    command.set_cdw10(queue.0.into());
    command
}

fn queue_dword(queue: u16, entries: u32) -> u32 {
    assert!((2..=65_536).contains(&entries), "a queue has 2 to 65536 entries");
    QueueDword10::from_raw(u32::from(queue) | (entries - 1) << 16).raw()
}
