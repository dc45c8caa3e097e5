//! Location of the data of a command: PRP entries and lists, SGLs, bytes of a capsule or of a transport (Base 2.0 §4.1,
//! NVMe-oF 1.1 §2.3).
//!
//! A list is fetched at once, up to the end of its memory page or segment. Consecutive pages are merged into one piece
//! of memory, so a contiguous buffer is one piece of any length.

use super::slots::{Plan, Slot, Source};
use super::{Controller, Cx};
use crate::logic::connection::DataLocation;
use crate::logic::effect::{HostEffect, Kind, MediaOperation, Place, Purpose, Resumed};
use crate::spec::pointer::{
    KeyedSglDescriptor, PRP_BYTES, SGL_DESCRIPTOR_BYTES, SglDescriptor, SglSubtype, SglType,
};
use crate::spec::{DataTransfer, Status};

/// Maximum length of an SGL segment \[B\]. `assumed`: the specification leaves the number of descriptors to the
/// controller (MSDBD is for fabrics).
const LONGEST_SEGMENT: u32 = 65_536;

impl Slot {
    /// Adds the next page of a PRP list.
    fn add_page(&mut self, address: u64, page: u32) -> Result<(), Status> {
        if address & u64::from(page - 1) != 0 {
            return Err(Status::PRP_OFFSET_INVALID);
        }
        let bytes = self.unresolved.min(page);
        self.pieces.push(address, bytes);
        self.unresolved -= bytes;
        Ok(())
    }
    /// Sets the location of the data from the descriptor of a command that a front submitted.
    fn name_source(&mut self) -> Result<(), Status> {
        let (low, high) = (self.command.prp1(), self.command.prp2());
        let descriptor = SglDescriptor::from_halves(low, high);
        let (kind, subtype) = (descriptor.kind(), descriptor.subtype());
        let (source, length) = match (self.data_location, kind, subtype) {
            (_, SglType::DATA_BLOCK, SglSubtype::OFFSET) => {
                return self.name_capsule(descriptor.address(), descriptor.length());
            }
            (DataLocation::Messages, SglType::TRANSPORT_DATA_BLOCK, SglSubtype::TRANSPORT) => {
                (Source::Transport, descriptor.length())
            }
            (
                DataLocation::Keys,
                SglType::KEYED_DATA_BLOCK,
                SglSubtype::ADDRESS | SglSubtype::INVALIDATE_KEY,
            ) => {
                let keyed = KeyedSglDescriptor::from_raw(descriptor.raw());
                (Source::Keyed { address: keyed.address(), key: keyed.key() }, keyed.length())
            }
            _ => return Err(Status::SGL_DESCRIPTOR_TYPE_INVALID),
        };
        self.check_length(length)?;
        self.source = source;
        Ok(())
    }
    /// Checks the length in a descriptor.
    ///
    /// Parameters may be in a longer buffer: Linux always provides room for 256 ranges of Dataset Management. All other
    /// data must have the length in their descriptor, as longer ones are not supported (SGLS bit 18).
    fn check_length(&self, length: u32) -> Result<(), Status> {
        let fits = if self.plan == Plan::Load { length >= self.bytes } else { length == self.bytes };
        if fits { Ok(()) } else { Err(Status::DATA_SGL_LENGTH_INVALID) }
    }
    /// Sets the location of in-capsule data, which can only be data to the controller.
    fn name_capsule(&mut self, offset: u64, length: u32) -> Result<(), Status> {
        let brings = match self.plan {
            Plan::Load => true,
            Plan::Store => false,
            _ => self.operation != MediaOperation::Read,
        };
        if !brings {
            return Err(Status::INVALID_FIELD);
        }
        self.check_length(length)?;
        if offset.checked_add(length.into()).is_none_or(|end| end > self.capsule_bytes.into()) {
            return Err(Status::SGL_OFFSET_INVALID);
        }
        self.source = Source::Capsule(offset as u32);
        Ok(())
    }
}

impl Controller {
    /// Resolves the pointers to `bytes` bytes. Lists outside the command are fetched; [`Slot::unresolved`] is zero when
    /// all pointers are resolved.
    ///
    /// # Errors
    /// The status for an invalid pointer.
    #[inline]
    pub(super) fn resolve_pointers(
        &mut self,
        number: u32,
        bytes: u32,
        cx: &mut Cx<'_>,
    ) -> Result<(), Status> {
        let page = 1 << self.page_log2;
        let slot = self.slots.at(number);
        slot.bytes = bytes;
        slot.unresolved = 0;
        if bytes == 0 {
            return Ok(());
        }
        if slot.data_location != DataLocation::Memory {
            return slot.name_source();
        }
        if slot.command.dword0().data_transfer() != DataTransfer::PRP {
            return self.resolve_sgl(number, cx);
        }
        let (first, second) = (slot.command.prp1(), slot.command.prp2());
        if first & 3 != 0 {
            return Err(Status::PRP_OFFSET_INVALID);
        }
        let inside = bytes.min(page - (first as u32 & (page - 1)));
        slot.pieces.push(first, inside);
        let rest = bytes - inside;
        if rest == 0 {
            return Ok(());
        }
        if rest <= page {
            if second & u64::from(page - 1) != 0 {
                return Err(Status::PRP_OFFSET_INVALID);
            }
            slot.pieces.push(second, rest);
            return Ok(());
        }
        slot.unresolved = rest;
        self.fetch_list(number, second, cx)
    }

    /// Fetches a PRP list, to its end or to that of its page.
    fn fetch_list(&mut self, number: u32, address: u64, cx: &mut Cx<'_>) -> Result<(), Status> {
        if address & u64::from(PRP_BYTES - 1) != 0 {
            return Err(Status::PRP_OFFSET_INVALID);
        }
        let page = 1_u32 << self.page_log2;
        let slot = self.slots.at(number);
        let room = (page - (address as u32 & (page - 1))) / PRP_BYTES;
        let entries = slot.unresolved.div_ceil(page).min(room);
        slot.under_way += 1;
        let token = self.token(Kind::Pointers, number, 0);
        let bytes = entries * PRP_BYTES;
        cx.host(HostEffect::Fetch { token, at: Place::Memory { address }, bytes, purpose: Purpose::PrpList });
        Ok(())
    }
    fn resolve_sgl(&mut self, number: u32, cx: &mut Cx<'_>) -> Result<(), Status> {
        let slot = self.slots.at(number);
        let descriptor = SglDescriptor::from_halves(slot.command.prp1(), slot.command.prp2());
        slot.unresolved = slot.bytes;
        match descriptor.kind() {
            _ if descriptor.subtype() != SglSubtype::ADDRESS => Err(Status::SGL_DESCRIPTOR_TYPE_INVALID),
            SglType::DATA_BLOCK => {
                if descriptor.length() != slot.bytes {
                    return Err(Status::DATA_SGL_LENGTH_INVALID);
                }
                slot.pieces.push(descriptor.address(), descriptor.length());
                slot.unresolved = 0;
                Ok(())
            }
            SglType::SEGMENT | SglType::LAST_SEGMENT => self.fetch_segment(number, descriptor, cx),
            _ => Err(Status::SGL_DESCRIPTOR_TYPE_INVALID),
        }
    }
    fn fetch_segment(&mut self, number: u32, at: SglDescriptor, cx: &mut Cx<'_>) -> Result<(), Status> {
        let (address, bytes) = (at.address(), at.length());
        if bytes == 0 || !bytes.is_multiple_of(SGL_DESCRIPTOR_BYTES) {
            return Err(Status::INVALID_SGL_SEGMENT_DESCRIPTOR);
        }
        if bytes > LONGEST_SEGMENT {
            return Err(Status::INVALID_NUMBER_OF_SGL_DESCRIPTORS);
        }
        let slot = self.slots.at(number);
        slot.last_segment = at.kind() == SglType::LAST_SEGMENT;
        slot.under_way += 1;
        let token = self.token(Kind::Pointers, number, 0);
        cx.host(HostEffect::Fetch {
            token,
            at: Place::Memory { address },
            bytes,
            purpose: Purpose::SglSegment,
        });
        Ok(())
    }

    /// A list or a segment has arrived.
    pub(super) fn pointers_arrived(&mut self, number: u32, resumed: Resumed<'_>, cx: &mut Cx<'_>) {
        if self.slots.get(number).is_none() {
            return;
        }
        let slot = self.slots.at(number);
        slot.under_way = slot.under_way.saturating_sub(1);
        let sgl = slot.command.dword0().data_transfer() != DataTransfer::PRP;
        let known = match resumed {
            _ if !slot.status.is_success() => Ok(()),
            Resumed::Bytes(bytes) if sgl => self.read_segment(number, bytes, cx),
            Resumed::Bytes(bytes) => self.read_list(number, bytes, cx),
            Resumed::Contiguous if !sgl => {
                let rest = core::mem::take(&mut slot.unresolved);
                slot.pieces.push(slot.pieces.end(), rest);
                Ok(())
            }
            _ => Err(Status::DATA_TRANSFER_ERROR),
        };
        let slot = self.slots.at(number);
        if let Err(status) = known {
            slot.status = status;
        }
        if slot.unresolved == 0 && slot.status.is_success() {
            self.pointers_resolved(number, cx);
        }
        self.settle(number, cx);
    }
    fn read_list(&mut self, number: u32, bytes: &[u8], cx: &mut Cx<'_>) -> Result<(), Status> {
        let page = 1_u32 << self.page_log2;
        let slot = self.slots.at(number);
        let entries = bytes.as_chunks::<8>().0;
        let Some((last, before)) = entries.split_last() else { return Err(Status::DATA_TRANSFER_ERROR) };
        for entry in before {
            slot.add_page(u64::from_le_bytes(*entry), page)?;
        }
        let last = u64::from_le_bytes(*last);
        if slot.unresolved > page {
            return self.fetch_list(number, last, cx);
        }
        slot.add_page(last, page)
    }
    fn read_segment(&mut self, number: u32, bytes: &[u8], cx: &mut Cx<'_>) -> Result<(), Status> {
        let slot = self.slots.at(number);
        let descriptors = bytes.as_chunks::<16>().0;
        for (at, raw) in descriptors.iter().enumerate() {
            let descriptor = SglDescriptor::from_raw(u128::from_le_bytes(*raw));
            match descriptor.kind() {
                _ if descriptor.subtype() != SglSubtype::ADDRESS => {
                    return Err(Status::SGL_DESCRIPTOR_TYPE_INVALID);
                }
                SglType::DATA_BLOCK => {
                    let left = slot.unresolved.checked_sub(descriptor.length());
                    slot.unresolved = left.ok_or(Status::DATA_SGL_LENGTH_INVALID)?;
                    slot.pieces.push(descriptor.address(), descriptor.length());
                }
                SglType::SEGMENT | SglType::LAST_SEGMENT => {
                    if slot.last_segment || at + 1 != descriptors.len() {
                        return Err(Status::INVALID_SGL_SEGMENT_DESCRIPTOR);
                    }
                    return self.fetch_segment(number, descriptor, cx);
                }
                _ => return Err(Status::SGL_DESCRIPTOR_TYPE_INVALID),
            }
        }
        if slot.unresolved > 0 { Err(Status::DATA_SGL_LENGTH_INVALID) } else { Ok(()) }
    }
}
