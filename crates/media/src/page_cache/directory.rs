//! The directory: pages and their frames, state of each page, and the lists of the replacement policies.
//!
//! Each set is a block of 32-bit words in one table. Zero means "nothing known", and the system provides the table as
//! untouched zeroes, so that sets that are never visited cost no memory.

use super::config::{CacheConfig, LINES, Policy};
use super::index::Index;
use super::layout::{Field, Layout};
use super::set::{At, Set, register};
use crate::random::Permutation;
use core::ops::Range;

/// Larger sets use a hash table instead of a search \[ways\].
const SEARCHED: u32 = 64;

/// Flag: the page was written since it was fetched.
pub(super) const DIRTY: u32 = 1;
/// Flag: some lines of the page are missing; see the masks.
pub(super) const PARTIAL: u32 = 1 << 1;
/// Flag: the page was used since the clock hand passed it.
pub(super) const REFERENCED: u32 = 1 << 2;
/// Flag: the page is being written back and stays.
pub(super) const CLEANING: u32 = 1 << 3;
/// Flag: the page was fetched without a request, and has not been used since.
pub(super) const AHEAD: u32 = 1 << 4;
/// Flag: the dirty page is in the queue of the cleaner.
pub(super) const QUEUED: u32 = 1 << 5;
/// Field: the list that a node is in.
const LIST_SHIFT: u32 = 6;
const LIST_MASK: u32 = 31 << LIST_SHIFT;
/// Field: number of sectors of the page being fetched.
const PIN_SHIFT: u32 = 16;
const PIN: u32 = 1 << PIN_SHIFT;
/// Flags and field that exclude a page from eviction.
const HELD: u32 = CLEANING | 0xffff << PIN_SHIFT;

/// The directory.
pub(super) struct Directory {
    pub(super) words: Vec<u32>,
    pub(super) layout: Layout,
    /// Lines present, of partial pages.
    masks: Vec<u64>,
    index: Option<Index>,
    pub(super) policy: Policy,
    pub(super) ways: u32,
    sets: u64,
    /// Hashes pages to sets.
    scattered: Option<Permutation>,
    pub(super) seed: u64,
}

impl Directory {
    pub(super) fn new(config: &CacheConfig, seed: u64) -> Self {
        let (ways, policy) = (config.placement.ways, config.policy);
        let of_policy = match policy {
            Policy::Random => 0,
            Policy::Lru | Policy::Clock => 1,
            Policy::Arc => 4,
            Policy::Lfu => 16,
        };
        let nodes = ways as usize * if policy == Policy::Arc { 2 } else { 1 };
        // free frames, free ghosts
        let mut layout = Layout::new(nodes, of_policy + 2);
        let sets = config.sets();
        Self {
            words: layout.table(sets),
            layout,
            masks: vec![0; config.frames() as usize],
            index: (ways > SEARCHED).then(|| Index::new(config.frames())),
            policy,
            ways,
            sets,
            scattered: config.placement.hashed.then(|| Permutation::new(config.pages(), seed)),
            seed,
        }
    }

    /// The set of a page.
    #[inline]
    pub(super) fn set_of(&self, page: u32) -> Set {
        let number = match &self.scattered {
            Some(scattered) => scattered.forward(page.into()),
            None => page.into(),
        };
        // page and set numbers have 32 bits
        self.set(u64::from(number as u32 % self.sets as u32))
    }
    /// The set of a number.
    #[inline]
    pub(super) fn set(&self, number: u64) -> Set {
        Set { block: self.layout.block(number), number }
    }
    /// Number of sets.
    pub(super) const fn sets(&self) -> u64 {
        self.sets
    }
    /// Finds the pages of a range that map to a set, in some order.
    pub(super) fn belonging(&self, set: Set, range: Range<u64>, pages: u64, found: &mut Vec<u32>) {
        found.clear();
        match &self.scattered {
            Some(scattered) => {
                let back = (set.number..pages).step_by(self.sets as usize).map(|place| scattered.back(place));
                found.extend(back.filter(|page| range.contains(page)).map(|page| page as u32));
            }
            None => {
                let first = range.start % self.sets;
                let lead =
                    if set.number < first { set.number + self.sets - first } else { set.number - first };
                let mut page = range.start + lead;
                while page < range.end {
                    found.push(page as u32);
                    page += self.sets;
                }
            }
        }
    }
    /// The number of a frame.
    #[inline]
    pub(super) const fn frame(&self, at: At) -> u64 {
        at.set.number * self.ways as u64 + at.place as u64
    }

    #[inline]
    pub(super) fn register(&mut self, set: Set, register: usize) -> &mut u32 {
        &mut self.words[set.block + register]
    }
    #[inline]
    pub(super) fn read(&self, set: Set, register: usize) -> u32 {
        self.words[set.block + register]
    }
    /// The frame of a page, if it is in the cache.
    #[inline]
    pub(super) fn find(&self, set: Set, page: u32) -> Option<At> {
        let place = match &self.index {
            Some(index) => index.get(page).filter(|place| *place < self.ways),
            None => self.search(set, page, 0..self.ways),
        };
        place.map(|place| At { set, place })
    }
    /// The ghost of an evicted page, if there is one.
    pub(super) fn ghost(&self, set: Set, page: u32) -> Option<At> {
        let place = match &self.index {
            Some(index) => index.get(page).filter(|place| *place >= self.ways),
            None => self.search(set, page, self.ways..self.layout.nodes as u32),
        };
        place.map(|place| At { set, place })
    }
    #[inline]
    fn search(&self, set: Set, page: u32, places: Range<u32>) -> Option<u32> {
        let tags = self.layout.tags(set);
        let tags = &self.words[tags + places.start as usize..tags + places.end as usize];
        // with a fixed length the compiler compares several at a time
        let found = match <&[u32; 16]>::try_from(tags) {
            Ok(tags) => place_of(tags, page + 1, places.start),
            Err(_) => place_of(tags, page + 1, places.start),
        };
        found.checked_sub(1)
    }
    /// The page in a frame. Returns `None` if the frame is empty.
    #[inline]
    pub(super) fn page(&self, at: At) -> Option<u32> {
        self.words[self.layout.tag(at)].checked_sub(1)
    }
    #[inline]
    pub(super) fn state(&self, at: At) -> u32 {
        self.words[self.layout.word(at, Field::State)]
    }
    #[inline]
    fn state_mut(&mut self, at: At) -> &mut u32 {
        let word = self.layout.word(at, Field::State);
        &mut self.words[word]
    }
    #[inline]
    pub(super) fn has(&self, at: At, flag: u32) -> bool {
        self.state(at) & flag != 0
    }
    #[inline]
    pub(super) fn raise(&mut self, at: At, flag: u32) {
        *self.state_mut(at) |= flag;
    }
    #[inline]
    pub(super) fn lower(&mut self, at: At, flag: u32) {
        *self.state_mut(at) &= !flag;
    }
    /// The count of uses and its time.
    #[inline]
    pub(super) fn heat_mut(&mut self, at: At) -> &mut u32 {
        let word = self.layout.word(at, Field::Heat);
        &mut self.words[word]
    }
    #[inline]
    pub(super) fn heat(&self, at: At) -> u32 {
        self.words[self.layout.word(at, Field::Heat)]
    }

    /// Pins a page; it needs as many calls of `unpin`.
    pub(super) fn pin(&mut self, at: At) {
        *self.state_mut(at) += PIN;
    }
    pub(super) fn unpin(&mut self, at: At) {
        *self.state_mut(at) -= PIN;
    }
    /// Whether a page must not be evicted now.
    #[inline]
    pub(super) fn is_held(&self, at: At) -> bool {
        self.has(at, HELD)
    }

    /// The lines of a page that are present.
    #[inline]
    pub(super) fn lines(&self, at: At) -> u64 {
        if self.has(at, PARTIAL) { self.masks[self.frame(at) as usize] } else { u64::MAX }
    }
    /// Sets the lines that are present.
    pub(super) fn set_lines(&mut self, at: At, lines: u64) {
        if lines == u64::MAX {
            self.lower(at, PARTIAL);
        } else {
            self.raise(at, PARTIAL);
            let frame = self.frame(at) as usize;
            self.masks[frame] = lines;
        }
    }

    /// Takes an empty frame of a set.
    pub(super) fn take_free(&mut self, set: Set) -> Option<At> {
        self.take(set, self.layout.lists - 2, register::FRESH, 0, self.ways)
    }
    /// Whether a set has an empty frame.
    pub(super) fn has_free(&self, set: Set) -> bool {
        self.read(set, register::FRESH) < self.ways || self.length(set, self.layout.lists - 2) > 0
    }
    /// Takes an unused ghost.
    pub(super) fn take_ghost(&mut self, set: Set) -> Option<At> {
        self.take(
            set,
            self.layout.lists - 1,
            register::FRESH_GHOSTS,
            self.ways,
            self.layout.nodes as u32 - self.ways,
        )
    }
    fn take(&mut self, set: Set, list: usize, fresh: usize, first: u32, count: u32) -> Option<At> {
        if let Some(at) = self.tail(set, list) {
            self.unlink(at);
            return Some(at);
        }
        let used = self.register(set, fresh);
        (*used < count).then(|| {
            *used += 1;
            At { set, place: first + *used - 1 }
        })
    }
    /// Sets the page of a frame or ghost that was taken.
    pub(super) fn name(&mut self, at: At, page: u32) {
        let word = self.layout.tag(at);
        self.words[word] = page + 1;
        *self.state_mut(at) = 0;
        *self.heat_mut(at) = 0;
        if let Some(index) = &mut self.index {
            index.put(page, at.place);
        }
    }
    /// Forgets the page of a frame or ghost that is in no list, and frees it.
    pub(super) fn forget(&mut self, at: At) {
        let word = self.layout.tag(at);
        let page = self.words[word] - 1;
        self.words[word] = 0;
        *self.state_mut(at) = 0;
        if let Some(index) = &mut self.index
            && index.get(page) == Some(at.place)
        {
            index.remove(page);
        }
        if self.read(at.set, register::LAST) == at.place + 1 {
            *self.register(at.set, register::LAST) = 0;
        }
        let list = if at.place < self.ways { self.layout.lists - 2 } else { self.layout.lists - 1 };
        self.push(at, list);
    }

    /// The list that a node is in.
    #[inline]
    pub(super) fn list_of(&self, at: At) -> usize {
        ((self.state(at) & LIST_MASK) >> LIST_SHIFT) as usize
    }
    /// Notes the list that a node is in.
    #[inline]
    pub(super) fn name_list(&mut self, at: At, list: usize) {
        let state = self.state_mut(at);
        *state = *state & !LIST_MASK | (list as u32) << LIST_SHIFT;
    }

    /// All cached pages, in sets that have been visited.
    pub(super) fn cached(&self) -> impl Iterator<Item = At> + '_ {
        let at = |number| {
            let set = self.set(number);
            (0..self.read(set, register::FRESH)).map(move |place| At { set, place })
        };
        (0..self.sets).flat_map(at).filter(|at| self.page(*at).is_some())
    }
}

/// Index of a tag, plus one, if the first of these has index `first`; 0 if it is not among them.
#[inline(always)]
fn place_of(tags: &[u32], tag: u32, first: u32) -> u32 {
    // at most one of them is equal; branch-free, because a branch could not be predicted
    let equal = |(other, place): (&u32, u32)| if *other == tag { place } else { 0 };
    tags.iter().zip(first + 1..).fold(0, |found, other| found | equal(other))
}

/// The lines of a sector: `count` from `first` on.
pub(super) const fn lines_from(first: u32, count: u32) -> u64 {
    if count >= LINES { u64::MAX } else { ((1 << count) - 1) << first }
}
