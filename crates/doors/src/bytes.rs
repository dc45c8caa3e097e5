//! The stored bytes of a drive, and the effect of a power loss on them.
//!
//! ```text
//!  write ─► volatile buffer: the newest of each page, and every write since the last flush ─── flush, FUA, full ─► store
//!                                        │ power cut: of each write whole atomic units, or not
//!                                        └──────────────────────────────────────────────────────────────────────► store
//! ```
//!
//! NVM Express promises nothing about the order in which unflushed writes reach the medium (NVM Command Set 1.0,
//! section 2.1.4): after a power cut any of them may be stored. It promises that an atomic unit (AWUPF) is stored
//! completely or not at all. A drive with a protected buffer loses no acknowledged write.

use crate::drive::Facts;
use lanetwin_kernel::Stream;
use lanetwin_ssd::{ByteStore, StoreFault};
use std::collections::BTreeMap;

/// The pages in which the newest bytes are kept \[B\].
const PAGE: u64 = 4096;

/// Content of a write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Content {
    /// These bytes.
    Data(Vec<u8>),
    /// This many zeroes.
    Zeroes(u64),
}

impl Content {
    fn len(&self) -> u64 {
        match self {
            Self::Data(data) => data.len() as u64,
            Self::Zeroes(bytes) => *bytes,
        }
    }
    fn part(&self, from: u64, bytes: u64) -> Self {
        match self {
            Self::Data(data) => Self::Data(data[from as usize..(from + bytes) as usize].to_vec()),
            Self::Zeroes(_) => Self::Zeroes(bytes),
        }
    }
}

/// A write that a loss of power can undo.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsure {
    /// First byte.
    pub first: u64,
    /// Content from there on.
    pub content: Content,
}

/// Outcome of a power cut.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CutOutcome {
    /// Atomic units that were written.
    pub kept: u64,
    /// Atomic units that were not.
    pub lost: u64,
}

/// The bytes of a drive.
pub struct Bytes {
    store: Box<dyn ByteStore + Send>,
    facts: Facts,
    /// The newest bytes of pages that were written since the last flush.
    newest: BTreeMap<u64, Box<[u8; PAGE as usize]>>,
    /// Writes since the last flush, in the order of acknowledgement.
    since: Vec<Unsure>,
    held: u64,
    /// Whether flushes are acknowledged without effect: a drive that lies.
    pub lies: bool,
}

impl Bytes {
    /// The bytes of a drive, on this store.
    #[must_use]
    pub fn new(store: Box<dyn ByteStore + Send>, facts: Facts) -> Self {
        Self { store, facts, newest: BTreeMap::new(), since: Vec::new(), held: 0, lies: false }
    }
    /// Bytes written that would not survive a loss of power \[B\].
    #[must_use]
    pub const fn unsure_bytes(&self) -> u64 {
        self.held
    }

    /// Reads the newest bytes.
    ///
    /// # Errors
    /// The store cannot.
    pub fn read(&mut self, first: u64, into: &mut [u8]) -> Result<(), StoreFault> {
        self.store.read(first, into)?;
        let end = first + into.len() as u64;
        for (page, bytes) in self.newest.range(first / PAGE..end.div_ceil(PAGE)) {
            let (from, to) = (first.max(page * PAGE), end.min((page + 1) * PAGE));
            let source = &bytes[(from - page * PAGE) as usize..(to - page * PAGE) as usize];
            into[(from - first) as usize..(to - first) as usize].copy_from_slice(source);
        }
        Ok(())
    }
    /// Whether the newest bytes are equal to these.
    ///
    /// # Errors
    /// The store cannot read.
    pub fn compare(&mut self, first: u64, with: &[u8]) -> Result<bool, StoreFault> {
        let mut stored = vec![0; with.len()];
        self.read(first, &mut stored)?;
        Ok(stored == with)
    }
    /// Writes; with `fua`, so that it survives.
    ///
    /// # Errors
    /// The store cannot.
    pub fn write(&mut self, first: u64, content: Content, fua: bool) -> Result<(), StoreFault> {
        if !self.facts.is_volatile {
            return put(&mut *self.store, first, &content);
        }
        if fua && !self.lies {
            // earlier writes go to the medium first, as a drive may always do
            self.settle()?;
            return put(&mut *self.store, first, &content);
        }
        self.put_newest(first, &content)?;
        self.held += content.len();
        self.since.push(Unsure { first, content });
        if self.held > self.facts.buffer && !self.lies {
            self.settle()?;
        }
        Ok(())
    }
    fn put_newest(&mut self, first: u64, content: &Content) -> Result<(), StoreFault> {
        let end = first + content.len();
        for page in first / PAGE..end.div_ceil(PAGE) {
            if !self.newest.contains_key(&page) {
                let mut bytes = Box::new([0; PAGE as usize]);
                self.store.read(page * PAGE, &mut bytes[..])?;
                self.newest.insert(page, bytes);
            }
            let Some(bytes) = self.newest.get_mut(&page) else { continue };
            let (from, to) = (first.max(page * PAGE), end.min((page + 1) * PAGE));
            let place = &mut bytes[(from - page * PAGE) as usize..(to - page * PAGE) as usize];
            match content {
                Content::Data(data) => {
                    place.copy_from_slice(&data[(from - first) as usize..(to - first) as usize]);
                }
                Content::Zeroes(_) => place.fill(0),
            }
        }
        Ok(())
    }
    /// Everything that was acknowledged survives.
    ///
    /// # Errors
    /// The store cannot.
    pub fn flush(&mut self) -> Result<(), StoreFault> {
        if self.lies {
            return Ok(());
        }
        self.settle()?;
        self.store.flush()
    }
    /// Writes everything to the store.
    fn settle(&mut self) -> Result<(), StoreFault> {
        for Unsure { first, content } in &self.since {
            put(&mut *self.store, *first, content)?;
        }
        self.forget();
        Ok(())
    }
    fn forget(&mut self) {
        self.newest.clear();
        self.since.clear();
        self.held = 0;
    }
    /// Cuts the power. `under_way` are writes requested and not acknowledged. Each atomic unit of all unflushed
    /// writes is either stored or not.
    ///
    /// # Errors
    /// The store cannot write the remaining data.
    pub fn power_cut(&mut self, under_way: &[Unsure], chance: &mut Stream) -> Result<CutOutcome, StoreFault> {
        let share = chance.unit();
        let mut outcome = CutOutcome::default();
        let since = std::mem::take(&mut self.since);
        for Unsure { first, content } in since.iter().chain(under_way) {
            let (bytes, block) = (content.len(), u64::from(self.facts.block));
            let unit = if bytes <= self.facts.atomic.into() { bytes.max(1) } else { block };
            for from in (0..bytes).step_by(unit as usize) {
                if chance.chance(share) {
                    outcome.kept += 1;
                    put(&mut *self.store, first + from, &content.part(from, unit.min(bytes - from)))?;
                } else {
                    outcome.lost += 1;
                }
            }
        }
        self.forget();
        Ok(outcome)
    }
}

fn put(store: &mut dyn ByteStore, first: u64, content: &Content) -> Result<(), StoreFault> {
    match content {
        Content::Data(data) => store.write(first, data),
        Content::Zeroes(bytes) => store.write_zeroes(first, *bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_ssd::SparseMemory;
    use proptest::prelude::*;

    const SIZE: u64 = 64 << 10;

    fn facts(is_volatile: bool) -> Facts {
        Facts { bytes: SIZE, block: 512, is_volatile, buffer: 8 << 10, atomic: 512 }
    }
    fn bytes(is_volatile: bool) -> Bytes {
        Bytes::new(Box::new(SparseMemory::new()), facts(is_volatile))
    }

    #[derive(Clone, Debug)]
    enum Step {
        Write(u64, u64, u8, bool),
        Zero(u64, u64),
        Flush,
    }

    fn any_step() -> impl Strategy<Value = Step> {
        let range = (0..SIZE / 512).prop_flat_map(|first| (Just(first), 1..=(SIZE / 512 - first).min(20)));
        prop_oneof![
            4 => (range.clone(), any::<u8>(), prop::bool::weighted(0.1))
                .prop_map(|((first, blocks), byte, fua)| Step::Write(first * 512, blocks * 512, byte, fua)),
            1 => range.prop_map(|(first, blocks)| Step::Zero(first * 512, blocks * 512)),
            1 => Just(Step::Flush),
        ]
    }

    proptest! {
        /// What is read is the newest, whatever was flushed; after a cut each block is what it was at the last flush or
        /// something that was written since, and nothing that was sure is lost.
        #[test]
        fn a_cut_leaves_of_each_block_what_was_sure_or_something_newer(
            steps in prop::collection::vec(any_step(), 1..40), is_volatile in any::<bool>(), seed in any::<u64>(),
        ) {
            let mut bytes = bytes(is_volatile);
            let blocks = (SIZE / 512) as usize;
            let mut newest = vec![0_u8; blocks];
            let mut possible = vec![vec![0_u8]; blocks];
            for step in steps {
                let (first, count, byte, fua) = match step {
                    Step::Write(first, count, byte, fua) => (first, count, byte, fua),
                    Step::Zero(first, count) => (first, count, 0, false),
                    Step::Flush => {
                        bytes.flush().expect("memory");
                        possible = newest.iter().map(|byte| vec![*byte]).collect();
                        continue;
                    }
                };
                let content = match step {
                    Step::Zero(..) => Content::Zeroes(count),
                    _ => Content::Data(vec![byte; count as usize]),
                };
                bytes.write(first, content, fua).expect("memory");
                for block in (first / 512) as usize..((first + count) / 512) as usize {
                    newest[block] = byte;
                    possible[block].push(byte);
                    if fua || !is_volatile {
                        possible[block] = vec![byte];
                    }
                }
                let mut all = vec![1; SIZE as usize];
                bytes.read(0, &mut all).expect("memory");
                prop_assert!(all.iter().enumerate().all(|(i, byte)| *byte == newest[i / 512]));
            }
            bytes.power_cut(&[], &mut Stream::new(seed, "cut", "test")).expect("memory");
            let mut all = vec![1; SIZE as usize];
            bytes.read(0, &mut all).expect("memory");
            for (block, possible) in all.chunks(512).zip(&possible) {
                prop_assert!(block.iter().all(|byte| *byte == block[0]), "a block is torn");
                prop_assert!(possible.contains(&block[0]), "{} of {possible:?}", block[0]);
            }
        }
    }

    #[test]
    fn unflushed_writes_are_lost_by_some_cuts_and_kept_by_others() {
        let outcome = |seed| {
            let mut bytes = bytes(true);
            bytes.write(0, Content::Data(vec![7; 4096]), false).expect("memory");
            bytes.power_cut(&[], &mut Stream::new(seed, "cut", "test")).expect("memory")
        };
        let all: Vec<CutOutcome> = (0..20).map(outcome).collect();
        assert!(all.iter().all(|of| of.kept + of.lost == 8));
        assert!(all.iter().any(|of| of.kept > 0) && all.iter().any(|of| of.lost > 0), "{all:?}");
    }

    #[test]
    fn a_drive_that_lies_loses_what_was_flushed() {
        let lost = |lies| {
            (0..20).any(|seed| {
                let mut bytes = bytes(true);
                bytes.lies = lies;
                bytes.write(0, Content::Data(vec![7; 512]), true).expect("memory");
                bytes.flush().expect("memory");
                bytes.power_cut(&[], &mut Stream::new(seed, "cut", "test")).expect("memory");
                bytes.compare(0, &[7; 512]) != Ok(true)
            })
        };
        assert_eq!((lost(true), lost(false)), (true, false));
    }
}
