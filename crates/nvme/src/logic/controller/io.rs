//! I/O commands, and the transfer of data part by part.
//!
//! ```text
//!  read      each part:  medium ─► transfer            write, compare   each part:  transfer ─► medium
//!  others    medium                                    ranges           content ─► medium for each range
//! ```

use super::slots::{Plan, Slot};
use super::{Controller, Cx};
use crate::logic::connection::DataLocation;
use crate::logic::effect::{
    CommandBlocks, Direction, Effect, HostEffect, Kind, MediaOperation, MediaRequest, Purpose, Resumed,
};
use crate::logic::nvm::Nvm;
use crate::spec::io::{BlocksDword12, DatasetDword10, DatasetDword11, DatasetRange, RANGE_BYTES};
use crate::spec::{DataTransfer, IoOpcode, Nsid, Status};

/// Counts a successful command, for the SMART log.
#[inline]
pub(super) fn count(slot: &Slot, nvm: &mut Nvm) {
    match slot.operation {
        MediaOperation::Read | MediaOperation::Compare => {
            nvm.counters.reads += 1;
            nvm.counters.bytes_read += u64::from(slot.bytes);
        }
        MediaOperation::Write { .. } => {
            nvm.counters.writes += 1;
            nvm.counters.bytes_written += u64::from(slot.bytes);
        }
        _ => {}
    }
}

impl Controller {
    /// Begins an I/O command.
    #[inline]
    pub(super) fn begin_io(&mut self, number: u32, cx: &mut Cx<'_>) {
        if let Err(status) = self.try_io(number, cx) {
            let slot = self.slots.at(number);
            slot.status = status;
            self.settle(number, cx);
        }
    }
    #[inline]
    fn try_io(&mut self, number: u32, cx: &mut Cx<'_>) -> Result<(), Status> {
        let slot = self.slots.at(number);
        let dword0 = slot.command.dword0();
        let opcode = IoOpcode(dword0.opcode());
        let by_sgl = dword0.data_transfer() == DataTransfer::SGL;
        let known = match slot.data_location {
            DataLocation::Memory => {
                (by_sgl && self.config.sgl) || dword0.data_transfer() == DataTransfer::PRP
            }
            DataLocation::Messages | DataLocation::Keys => by_sgl,
        };
        if dword0.fused() != 0 || !known {
            return Err(Status::INVALID_FIELD);
        }
        if let Some(status) = cx.nvm.obstacle().or_else(|| cx.nvm.barrier(self.port, slot.command.nsid())) {
            return Err(status);
        }
        match opcode {
            IoOpcode::READ => self.blocks(number, MediaOperation::Read, Plan::Read, cx),
            IoOpcode::WRITE => {
                let asked = BlocksDword12::from_raw(slot.command.cdw12()).force_unit_access();
                let force_unit_access =
                    asked || (cx.nvm.config.volatile_write_cache && self.features.writes_through());
                self.blocks(number, MediaOperation::Write { force_unit_access }, Plan::Write, cx)
            }
            IoOpcode::COMPARE => self.blocks(number, MediaOperation::Compare, Plan::Write, cx),
            IoOpcode::WRITE_ZEROES => {
                let dword = BlocksDword12::from_raw(slot.command.cdw12());
                let (deallocate, force_unit_access) = (dword.deallocate(), dword.force_unit_access());
                let operation = MediaOperation::WriteZeroes { deallocate, force_unit_access };
                self.blocks(number, operation, Plan::MediaOnly, cx)
            }
            IoOpcode::FLUSH => self.flush(number, cx),
            IoOpcode::DATASET_MANAGEMENT => self.dataset(number, cx),
            _ => Err(Status::INVALID_OPCODE),
        }
    }

    /// Begins a command on a range of blocks.
    #[inline]
    fn blocks(
        &mut self,
        number: u32,
        operation: MediaOperation,
        plan: Plan,
        cx: &mut Cx<'_>,
    ) -> Result<(), Status> {
        let slot = self.slots.at(number);
        let command = &slot.command;
        let slba = u64::from(command.cdw10()) | u64::from(command.cdw11()) << 32;
        let blocks = u32::from(BlocksDword12::from_raw(command.cdw12()).blocks_less_1()) + 1;
        let nsid = command.nsid();
        slot.slba = slba; // also for the error log, if it fails
        let namespace = cx.nvm.active(nsid, self.index).ok_or(Status::INVALID_NAMESPACE_OR_FORMAT)?;
        let writes = matches!(operation, MediaOperation::Write { .. } | MediaOperation::WriteZeroes { .. });
        namespace.check(slba, blocks, writes)?;
        let block_log2 = namespace.block_log2;
        slot.operation = operation;
        slot.block_log2 = block_log2;
        if writes {
            cx.nvm.sanitize.erased = false;
        }
        if plan == Plan::MediaOnly {
            slot.plan = plan;
            slot.parts_left = 1;
            self.media(number, 0, MediaRequest { nsid, operation, slba, blocks, part_of: None }, cx);
            return Ok(());
        }
        let bytes = u64::from(blocks) << block_log2;
        if bytes > self.longest_transfer() {
            return Err(Status::INVALID_FIELD);
        }
        let bytes = bytes as u32;
        let slot = self.slots.at(number);
        let chunk = self.config.chunk_bytes.map_or(bytes, |chunk| chunk.max(1 << block_log2));
        slot.part_bytes = chunk;
        slot.parts = bytes.div_ceil(chunk);
        slot.parts_left = slot.parts;
        self.resolve_pointers(number, bytes, cx)?;
        let slot = self.slots.at(number);
        slot.plan = plan;
        if plan == Plan::Read {
            for part in 0..slot.parts {
                self.media_part(number, part as u16, cx);
            }
        } else if slot.unresolved == 0 {
            self.pointers_resolved(number, cx);
        }
        Ok(())
    }
    /// Maximum transfer size of a command \[B\]. Without a configured limit, `assumed`: 16 MiB, so that every length
    /// fits.
    pub(super) fn longest_transfer(&self) -> u64 {
        match self.config.transfer_log2 {
            0 => 16 << 20,
            log2 => 4096 << log2,
        }
    }

    fn flush(&mut self, number: u32, cx: &mut Cx<'_>) -> Result<(), Status> {
        let slot = self.slots.at(number);
        let nsid = slot.command.nsid();
        slot.operation = MediaOperation::Flush;
        if nsid != Nsid::ALL {
            let namespace = cx.nvm.active(nsid, self.index).ok_or(Status::INVALID_NAMESPACE_OR_FORMAT)?;
            if namespace.formatting {
                return Err(Status::FORMAT_IN_PROGRESS);
            }
            if namespace.failed {
                return Err(Status::NAMESPACE_NOT_READY);
            }
        }
        if !cx.nvm.config.volatile_write_cache {
            self.settle(number, cx);
            return Ok(());
        }
        slot.plan = Plan::MediaOnly;
        slot.parts_left = 1;
        self.media(
            number,
            0,
            MediaRequest { nsid, operation: MediaOperation::Flush, slba: 0, blocks: 0, part_of: None },
            cx,
        );
        Ok(())
    }

    fn dataset(&mut self, number: u32, cx: &mut Cx<'_>) -> Result<(), Status> {
        let slot = self.slots.at(number);
        let namespace =
            cx.nvm.active(slot.command.nsid(), self.index).ok_or(Status::INVALID_NAMESPACE_OR_FORMAT)?;
        if namespace.formatting {
            return Err(Status::FORMAT_IN_PROGRESS);
        }
        if namespace.failed {
            return Err(Status::NAMESPACE_NOT_READY);
        }
        let ranges = u32::from(DatasetDword10::from_raw(slot.command.cdw10()).ranges_less_1()) + 1;
        if DatasetDword11::from_raw(slot.command.cdw11()).deallocate() && namespace.is_protected() {
            return Err(Status::NAMESPACE_WRITE_PROTECTED);
        }
        slot.operation = MediaOperation::Deallocate;
        self.load(number, ranges * RANGE_BYTES, cx)
    }
    /// Processes the ranges of a Dataset Management.
    fn ranges(&mut self, number: u32, cx: &mut Cx<'_>) -> Result<(), Status> {
        let slot = self.slots.at(number);
        let nsid = slot.command.nsid();
        let deallocate = DatasetDword11::from_raw(slot.command.cdw11()).deallocate();
        let blocks = cx.nvm.active(nsid, self.index).map_or(0, |namespace| namespace.blocks);
        let content = core::mem::take(&mut slot.content);
        let ranges = || {
            let range = |raw: &[u8; 16]| DatasetRange::from_raw(u128::from_le_bytes(*raw));
            content.as_chunks::<16>().0.iter().map(range)
        };
        let inside = |range: &DatasetRange| {
            range.slba().checked_add(range.blocks().into()).is_some_and(|end| end <= blocks)
        };
        let known = ranges().all(|range| inside(&range));
        let slot = self.slots.at(number);
        slot.plan = Plan::MediaOnly;
        if known && deallocate {
            let wanted = |range: &DatasetRange| range.blocks() > 0;
            slot.parts_left = ranges().filter(wanted).count() as u32;
            for (part, range) in ranges().filter(wanted).enumerate() {
                let (slba, blocks) = (range.slba(), range.blocks());
                let request =
                    MediaRequest { nsid, operation: MediaOperation::Deallocate, slba, blocks, part_of: None };
                self.media(number, part as u16, request, cx);
            }
        }
        self.slots.at(number).content = content; // its memory is used again
        if known { Ok(()) } else { Err(Status::LBA_OUT_OF_RANGE) }
    }

    /// Fetches the input data of a command other than user data; [`Controller::ranges`] processes them.
    pub(super) fn load(&mut self, number: u32, bytes: u32, cx: &mut Cx<'_>) -> Result<(), Status> {
        let slot = self.slots.at(number);
        slot.plan = Plan::Load;
        slot.parts_left = 1;
        self.resolve_pointers(number, bytes, cx)?;
        if self.slots.at(number).unresolved == 0 {
            self.pointers_resolved(number, cx);
        }
        Ok(())
    }
    fn load_next(&mut self, number: u32, cx: &mut Cx<'_>) {
        let slot = self.slots.at(number);
        let have = slot.content.len() as u32;
        let (at, bytes) = slot.next_piece(have);
        slot.under_way += 1;
        let token = self.token(Kind::Content, number, 0);
        let purpose = Purpose::Content;
        cx.host(HostEffect::Fetch { token, at, bytes, purpose });
    }
    /// A piece of the input data of a command has arrived.
    pub(super) fn content_arrived(&mut self, number: u32, resumed: Resumed<'_>, cx: &mut Cx<'_>) {
        if self.slots.get(number).is_none() {
            return;
        }
        let slot = self.slots.at(number);
        slot.under_way = slot.under_way.saturating_sub(1);
        let have = slot.content.len() as u32;
        let piece = slot.next_piece(have).1 as usize;
        match resumed {
            Resumed::Bytes(bytes) if bytes.len() >= piece => slot.content.extend_from_slice(&bytes[..piece]),
            _ if slot.status.is_success() => slot.status = Status::DATA_TRANSFER_ERROR,
            _ => {}
        }
        if slot.status.is_success() {
            if (slot.content.len() as u32) < slot.bytes {
                self.load_next(number, cx);
            } else {
                slot.last_begun = 1;
                slot.parts_left = 0;
                if let Err(status) = self.ranges(number, cx) {
                    self.slots.at(number).status = status;
                }
            }
        }
        self.settle(number, cx);
    }

    /// Continues a command after all its pointers have been resolved.
    #[inline]
    pub(super) fn pointers_resolved(&mut self, number: u32, cx: &mut Cx<'_>) {
        let slot = self.slots.at(number);
        match slot.plan {
            Plan::Read => {
                let mut held = core::mem::take(&mut slot.held);
                for part in held.drain(..) {
                    self.transfer(number, part, Direction::ToHost, cx);
                }
                self.slots.at(number).held = held;
            }
            Plan::Write => {
                for part in 0..slot.parts {
                    self.transfer(number, part as u16, Direction::FromHost, cx);
                }
            }
            Plan::Store => self.store(number, cx),
            Plan::Load => self.load_next(number, cx),
            _ => {}
        }
    }
    #[inline]
    fn transfer(&mut self, number: u32, part: u16, direction: Direction, cx: &mut Cx<'_>) {
        let slot = self.slots.at(number);
        let (offset, bytes) = slot.part(part);
        let at = slot.place(offset, bytes);
        slot.under_way += 1;
        slot.last_begun += u32::from(direction == Direction::ToHost);
        let token = self.token(Kind::Data, number, part);
        cx.host(HostEffect::Transfer { token, direction, bytes, at });
    }
    fn store(&mut self, number: u32, cx: &mut Cx<'_>) {
        let slot = self.slots.at(number);
        let bytes = slot.bytes;
        let at = slot.place(0, bytes);
        slot.under_way += 1;
        let token = self.token(Kind::Data, number, 0);
        cx.host(HostEffect::Store { token, bytes, at });
    }
    /// Requests a part from the medium.
    #[inline]
    fn media_part(&mut self, number: u32, part: u16, cx: &mut Cx<'_>) {
        let slot = self.slots.at(number);
        let (offset, bytes) = slot.part(part);
        let request = MediaRequest {
            nsid: slot.command.nsid(),
            operation: slot.operation,
            slba: slot.slba + u64::from(offset >> slot.block_log2),
            blocks: bytes >> slot.block_log2,
            part_of: (slot.parts > 1)
                .then(|| CommandBlocks { slba: slot.slba, blocks: slot.bytes >> slot.block_log2 }),
        };
        slot.last_begun += u32::from(slot.plan == Plan::Write);
        self.media(number, part, request, cx);
    }
    /// Sends a request to the medium, or holds it back while there is a fence.
    #[inline]
    pub(super) fn media(&mut self, number: u32, part: u16, request: MediaRequest, cx: &mut Cx<'_>) {
        self.slots.at(number).under_way += 1;
        self.media_under_way += 1;
        let token = self.token(Kind::Media, number, part);
        if cx.nvm.fence == 0 {
            cx.effects.push(Effect::Media { token, request });
        } else {
            self.parked.push((token, request));
        }
    }
    /// Sends the requests held back, after the fence has ended.
    pub fn unpark(&mut self, cx: &mut Cx<'_>) {
        cx.effects.extend(self.parked.drain(..).map(|(token, request)| Effect::Media { token, request }));
    }

    /// The medium has ended a part.
    #[inline]
    pub(super) fn media_done(&mut self, number: u32, part: u16, status: Status, cx: &mut Cx<'_>) {
        if self.slots.get(number).is_none() {
            return;
        }
        let slot = self.slots.at(number);
        slot.under_way = slot.under_way.saturating_sub(1);
        if !slot.status.is_success() {
        } else if !status.is_success() {
            slot.status = status;
        } else if slot.plan != Plan::Read {
            slot.parts_left = slot.parts_left.saturating_sub(1);
        } else if slot.unresolved > 0 {
            slot.held.push(part);
        } else {
            return self.transfer(number, part, Direction::ToHost, cx);
        }
        if self.slots.at(number).plan == Plan::Format && self.slots.at(number).under_way == 0 {
            self.format_done(number, cx);
        }
        self.settle(number, cx);
    }
    /// A data transfer has ended.
    #[inline]
    pub(super) fn data_done(&mut self, number: u32, part: u16, moved: bool, cx: &mut Cx<'_>) {
        if self.slots.get(number).is_none() {
            return;
        }
        let slot = self.slots.at(number);
        slot.under_way = slot.under_way.saturating_sub(1);
        if slot.status.is_success() {
            if !moved {
                slot.status = Status::DATA_TRANSFER_ERROR;
            } else if slot.plan == Plan::Write {
                return self.media_part(number, part, cx);
            } else {
                slot.parts_left = slot.parts_left.saturating_sub(1);
            }
        }
        self.settle(number, cx);
    }
}
