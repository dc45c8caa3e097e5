//! Commands in progress: a slab whose entries, with their buffers, are used again and again.

use crate::logic::connection::DataLocation;
use crate::logic::effect::{MediaOperation, Place, Segment};
use crate::spec::{Command, Status};

/// What is to be done with a command once its pointers are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Plan {
    /// Nobody's.
    Free,
    /// It ends as soon as nothing is under way.
    Ending,
    /// Media, then data to the host, part by part.
    Read,
    /// Data from the host, then media, part by part.
    Write,
    /// Media alone.
    MediaOnly,
    /// What the controller has made goes to the host.
    Store,
    /// What the command brings comes from the host, and is then acted on.
    Load,
    /// A submission queue is waited for.
    DeleteSq,
    /// Namespaces are formatted.
    Format,
}

/// Where the data are, in host memory; the first piece needs no allocation, and the others use theirs again.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    first: Segment,
    more: Vec<Segment>,
}

impl Pieces {
    /// No piece.
    pub const NONE: Self = Self { first: Segment { address: 0, bytes: 0 }, more: Vec::new() };

    fn clear(&mut self) {
        self.first = Segment::default();
        self.more.clear();
    }
    /// Puts bytes behind the last; those that follow it in memory lengthen it.
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
    /// Where the bytes behind the last would be.
    pub fn end(&self) -> u64 {
        let last = self.more.last().unwrap_or(&self.first);
        last.address.wrapping_add(last.bytes.into())
    }
    /// The pieces of `bytes` bytes from `offset` on.
    pub fn range(&self, offset: u32, bytes: u32) -> Range<'_> {
        Range { pieces: self, at: 0, skip: offset, left: bytes }
    }
    /// Where a range is.
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

/// Where the data of a command are, once that is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// In pieces of host memory.
    Pieces,
    /// In the command's capsule, from this offset on.
    Capsule(u32),
    /// Where the transport finds them.
    Transport,
    /// In memory of the host behind a key.
    Keyed { address: u64, key: u32 },
}

/// A command in progress.
#[derive(Clone, Debug)]
pub struct Slot {
    pub plan: Plan,
    pub sqid: u16,
    pub cid: u16,
    /// As it was fetched.
    pub command: Command,
    /// How it will end, so far.
    pub status: Status,
    pub dw0: u32,
    /// What the medium is asked for.
    pub operation: MediaOperation,
    pub slba: u64,
    /// Log2 of the bytes of a block.
    pub block_log2: u8,
    /// How many bytes go between host and controller.
    pub bytes: u32,
    /// How many bytes are in all parts but the last.
    pub part_bytes: u32,
    /// How many parts there are.
    pub parts: u32,
    /// How many of them are not done.
    pub parts_left: u32,
    /// How many of them have reached their last effect.
    pub last_begun: u32,
    /// How many effects are under way.
    pub under_way: u32,
    /// How its data are found.
    pub data_location: DataLocation,
    /// How many bytes came with it.
    pub capsule_bytes: u32,
    /// Where they are.
    pub source: Source,
    /// The pieces of host memory.
    pub pieces: Pieces,
    /// How many bytes of host memory are not known yet.
    pub unresolved: u32,
    /// An SGL segment that is the last one is being fetched.
    pub last_segment: bool,
    /// Parts that the medium has read and that have no known place in host memory yet.
    pub held: Vec<u16>,
    /// What the controller has made, or what the command has brought.
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
    /// Where a part begins, and how long it is \[B\].
    pub fn part(&self, part: u16) -> (u32, u32) {
        let offset = u32::from(part) * self.part_bytes;
        (offset, self.part_bytes.min(self.bytes - offset.min(self.bytes)))
    }
    /// Where a range of its data is on the host's side.
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
    /// The first piece of its data behind `have` bytes: where it is and how long \[B\].
    pub fn next_piece(&self, have: u32) -> (Place, u32) {
        let left = self.bytes.saturating_sub(have);
        if self.source != Source::Pieces {
            return (self.place(have, left), left);
        }
        let piece = self.pieces.range(have, left).next().unwrap_or_default();
        (Place::Memory { address: piece.address }, piece.bytes)
    }
    /// True if to stop now would keep something from happening.
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
    /// So many free ones.
    pub fn new(count: u32) -> Self {
        Self { all: (0..count).map(|_| Slot::new()).collect(), free: (0..count).rev().collect() }
    }
    /// How many are free.
    pub fn free(&self) -> u32 {
        self.free.len() as u32
    }
    /// Takes a free one.
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
    /// Gives one back.
    #[inline]
    pub fn give(&mut self, number: u32) {
        self.all[number as usize].clear();
        self.free.push(number);
    }
    /// One that is taken.
    pub fn get(&self, number: u32) -> Option<&Slot> {
        self.all.get(number as usize).filter(|slot| slot.plan != Plan::Free)
    }
    /// One that is known to be taken.
    #[inline]
    pub fn at(&mut self, number: u32) -> &mut Slot {
        &mut self.all[number as usize]
    }
    /// Those that are taken.
    pub fn taken(&self) -> impl Iterator<Item = (u32, &Slot)> {
        self.all
            .iter()
            .enumerate()
            .filter(|(_, slot)| slot.plan != Plan::Free)
            .map(|(at, slot)| (at as u32, slot))
    }
    /// Gives all back.
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
