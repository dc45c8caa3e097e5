//! Commands in progress: a slab whose entries, including their buffers, are reused.

use crate::logic::connection::DataLocation;
use crate::logic::effect::{MediaOperation, Place, Segment};
use crate::spec::{Command, Status};

/// Execution of a command after its pointers have been resolved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Plan {
    /// The slot is free.
    Free,
    /// The command ends as soon as it has no outstanding effects.
    Ending,
    /// Media effect, then data to the host, part by part.
    Read,
    /// Data from the host, then media effect, part by part.
    Write,
    /// Media effects only.
    MediaOnly,
    /// Data of the controller are transferred to the host.
    Store,
    /// Input data of the command are fetched from the host, and then processed.
    Load,
    /// The command waits for the deletion of a submission queue.
    DeleteSq,
    /// The command formats namespaces.
    Format,
}

/// Pieces of host memory with the data. The first piece needs no allocation, and the allocation of the others is
/// reused.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    first: Segment,
    more: Vec<Segment>,
}

impl Pieces {
    /// No pieces.
    pub const NONE: Self = Self { first: Segment { address: 0, bytes: 0 }, more: Vec::new() };

    fn clear(&mut self) {
        self.first = Segment::default();
        self.more.clear();
    }
    /// Appends bytes; if they follow the last piece in memory, extends it.
    pub fn push(&mut self, address: u64, bytes: u32) {
        let last = self.more.last_mut().unwrap_or(&mut self.first);
        if last.bytes == 0 {
            *last = Segment { address, bytes };
        } else if last.address.wrapping_add(last.bytes.into()) == address {
            last.bytes += bytes;
        } else if bytes > 0 {
            self.more.push(Segment { address, bytes });
        }
    }
    /// Address after the last piece.
    pub fn end(&self) -> u64 {
        let last = self.more.last().unwrap_or(&self.first);
        last.address.wrapping_add(last.bytes.into())
    }
    /// The pieces of `bytes` bytes from `offset` on.
    pub fn range(&self, offset: u32, bytes: u32) -> Range<'_> {
        Range { pieces: self, at: 0, skip: offset, left: bytes }
    }
    /// Location of a range.
    pub fn place(&self, offset: u32, bytes: u32) -> Place {
        if self.more.is_empty() {
            return Place::Memory { address: self.first.address.wrapping_add(offset.into()) };
        }
        let mut range = self.range(offset, bytes);
        let first = range.next().unwrap_or_default();
        match range.count() as u32 {
            0 => Place::Memory { address: first.address },
            others => Place::Scattered { pieces: 1 + others },
        }
    }
}

/// The pieces of a range.
#[derive(Clone, Debug)]
pub struct Range<'a> {
    pieces: &'a Pieces,
    at: usize,
    skip: u32,
    left: u32,
}

impl Iterator for Range<'_> {
    type Item = Segment;

    fn next(&mut self) -> Option<Segment> {
        while self.left > 0 {
            let piece = match self.at {
                0 => self.pieces.first,
                at => *self.pieces.more.get(at - 1)?,
            };
            self.at += 1;
            if self.skip >= piece.bytes {
                self.skip -= piece.bytes;
                continue;
            }
            let bytes = (piece.bytes - self.skip).min(self.left);
            let address = piece.address.wrapping_add(self.skip.into());
            self.left -= bytes;
            self.skip = 0;
            return Some(Segment { address, bytes });
        }
        None
    }
}

/// Location of the data of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// In pieces of host memory.
    Pieces,
    /// In the capsule of the command, from this offset on.
    Capsule(u32),
    /// In buffers that the transport knows.
    Transport,
    /// In host memory with a key.
    Keyed { address: u64, key: u32 },
}

/// A command in progress.
#[derive(Clone, Debug)]
pub struct Slot {
    pub plan: Plan,
    pub sqid: u16,
    pub cid: u16,
    /// The submission queue entry.
    pub command: Command,
    /// Status so far.
    pub status: Status,
    pub dw0: u32,
    /// Operation of the media effects.
    pub operation: MediaOperation,
    pub slba: u64,
    /// Log2 of the block size in bytes.
    pub block_log2: u8,
    /// Number of bytes transferred between host and controller.
    pub bytes: u32,
    /// Size of each part except the last \[B\].
    pub part_bytes: u32,
    /// Number of parts.
    pub parts: u32,
    /// Number of parts that are not done.
    pub parts_left: u32,
    /// Number of parts that have begun their last effect.
    pub last_begun: u32,
    /// Number of outstanding effects.
    pub under_way: u32,
    /// Kind of location of its data.
    pub data_location: DataLocation,
    /// Length of its in-capsule data \[B\].
    pub capsule_bytes: u32,
    /// Location of its data.
    pub source: Source,
    /// Pieces of host memory with its data.
    pub pieces: Pieces,
    /// Number of bytes whose address is not resolved yet.
    pub unresolved: u32,
    /// Whether the SGL segment being fetched is the last one.
    pub last_segment: bool,
    /// Parts that the medium has read and whose address in host memory is not resolved yet.
    pub held: Vec<u16>,
    /// Data of the controller for the host, or input data of the command.
    pub content: Vec<u8>,
}

impl Slot {
    fn new() -> Self {
        Self {
            plan: Plan::Free,
            sqid: 0,
            cid: 0,
            command: Command::ZERO,
            status: Status::SUCCESS,
            dw0: 0,
            operation: MediaOperation::Flush,
            slba: 0,
            block_log2: 0,
            bytes: 0,
            part_bytes: 0,
            parts: 0,
            parts_left: 0,
            last_begun: 0,
            under_way: 0,
            data_location: DataLocation::Memory,
            capsule_bytes: 0,
            source: Source::Pieces,
            pieces: Pieces::default(),
            unresolved: 0,
            last_segment: false,
            held: Vec::new(),
            content: Vec::new(),
        }
    }
    fn clear(&mut self) {
        self.plan = Plan::Free;
        self.status = Status::SUCCESS;
        self.dw0 = 0;
        (self.bytes, self.parts, self.parts_left, self.last_begun, self.under_way) = (0, 0, 0, 0, 0);
        (self.data_location, self.capsule_bytes, self.source) = (DataLocation::Memory, 0, Source::Pieces);
        self.pieces.clear();
        self.unresolved = 0;
        self.last_segment = false;
        self.held.clear();
        self.content.clear();
    }
    /// Offset and length of a part \[B\].
    pub fn part(&self, part: u16) -> (u32, u32) {
        let offset = u32::from(part) * self.part_bytes;
        (offset, self.part_bytes.min(self.bytes - offset.min(self.bytes)))
    }
    /// Location of a range of its data at the host.
    #[inline]
    pub fn place(&self, offset: u32, bytes: u32) -> Place {
        match self.source {
            Source::Pieces => self.pieces.place(offset, bytes),
            Source::Capsule(first) => Place::Capsule { offset: first + offset },
            Source::Transport => Place::Transport { offset },
            Source::Keyed { address, key } => {
                Place::Keyed { address: address.wrapping_add(offset.into()), key }
            }
        }
    }
    /// Location and length \[B\] of the first piece of its data after `have` bytes.
    pub fn next_piece(&self, have: u32) -> (Place, u32) {
        let left = self.bytes.saturating_sub(have);
        if self.source != Source::Pieces {
            return (self.place(have, left), left);
        }
        let piece = self.pieces.range(have, left).next().unwrap_or_default();
        (Place::Memory { address: piece.address }, piece.bytes)
    }
    /// Whether stopping the command now would prevent an effect.
    pub fn can_stop(&self) -> bool {
        match self.plan {
            Plan::Read | Plan::Write => self.last_begun < self.parts,
            Plan::Load => self.last_begun == 0,
            Plan::Store => self.unresolved > 0,
            Plan::Free | Plan::Ending | Plan::MediaOnly | Plan::DeleteSq | Plan::Format => false,
        }
    }
}

/// All commands in progress of a controller.
#[derive(Clone, Debug)]
pub struct Slots {
    all: Vec<Slot>,
    free: Vec<u32>,
}

impl Slots {
    /// Creates `count` free slots.
    pub fn new(count: u32) -> Self {
        Self { all: (0..count).map(|_| Slot::new()).collect(), free: (0..count).rev().collect() }
    }
    /// Number of free slots.
    pub fn free(&self) -> u32 {
        self.free.len() as u32
    }
    /// Takes a free slot.
    #[inline]
    pub fn take(&mut self, sqid: u16, command: &Command) -> Option<u32> {
        let number = self.free.pop()?;
        let slot = &mut self.all[number as usize];
        slot.plan = Plan::Ending;
        slot.sqid = sqid;
        slot.cid = command.dword0().cid_number();
        slot.command = *command;
        Some(number)
    }
    /// Frees a slot.
    #[inline]
    pub fn give(&mut self, number: u32) {
        self.all[number as usize].clear();
        self.free.push(number);
    }
    /// A slot, if it is taken.
    pub fn get(&self, number: u32) -> Option<&Slot> {
        self.all.get(number as usize).filter(|slot| slot.plan != Plan::Free)
    }
    /// A slot that is known to be taken.
    #[inline]
    pub fn at(&mut self, number: u32) -> &mut Slot {
        &mut self.all[number as usize]
    }
    /// Slots that are taken.
    pub fn taken(&self) -> impl Iterator<Item = (u32, &Slot)> {
        self.all
            .iter()
            .enumerate()
            .filter(|(_, slot)| slot.plan != Plan::Free)
            .map(|(at, slot)| (at as u32, slot))
    }
    /// Frees all slots.
    pub fn clear(&mut self) {
        let count = self.all.len() as u32;
        self.all.iter_mut().for_each(Slot::clear);
        self.free.clear();
        self.free.extend((0..count).rev());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_join_and_ranges_cut() {
        let mut pieces = Pieces::default();
        pieces.push(0x1000, 0x800);
        pieces.push(0x1800, 0x800);
        assert_eq!(pieces.place(0x400, 0x800), Place::Memory { address: 0x1400 });
        pieces.push(0x9000, 0x1000);
        pieces.push(0x5000, 0x1000);
        let range: Vec<_> = pieces.range(0x800, 0x2000).map(|piece| (piece.address, piece.bytes)).collect();
        assert_eq!(range, [(0x1800, 0x800), (0x9000, 0x1000), (0x5000, 0x800)]);
        assert_eq!(pieces.place(0x800, 0x2000), Place::Scattered { pieces: 3 });
        assert_eq!(pieces.place(0x1200, 0x100), Place::Memory { address: 0x9200 });
        assert_eq!(pieces.end(), 0x6000);
    }
}
