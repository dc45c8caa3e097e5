//! Requests among which the scheduler chooses: slots in the order of arrival, so that the lowest bit of a mask of slots
//! is the oldest.

/// Slots of a direction: more than places, so that compaction is rarely needed.
pub(super) const SLOTS: usize = 64;

/// A request that waits.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Entry {
    pub token: u32,
    pub row: u32,
    pub line: u32,
    /// Indices of its bank, bank group and rank on the data bus.
    pub bank: u8,
    pub group: u8,
    pub rank: u8,
    /// Clock of its arrival.
    pub at: u64,
    /// If its bank serves it next, the earliest clock of the bank's next command for it.
    pub ready: u64,
}

impl Entry {
    /// Indices of its bank, bank group and rank on a data bus with at most `RANKS` ranks.
    #[inline(always)]
    pub fn indices<const RANKS: usize>(&self) -> (usize, usize, usize) {
        (usize::from(self.bank) % 64, usize::from(self.group) % 32, usize::from(self.rank) % RANKS)
    }
}

/// The requests of one direction.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    entries: [Entry; SLOTS],
    used: u64,
    /// The first slot that has not been used since the last compaction.
    fresh: usize,
    pub len: u32,
    /// Banks with requests.
    pub pending: u64,
    /// The slots of each bank.
    of_bank: [u64; 64],
}

impl Queue {
    pub const fn new() -> Self {
        let nothing = Entry { token: 0, row: 0, line: 0, bank: 0, group: 0, rank: 0, at: 0, ready: 0 };
        Self { entries: [nothing; SLOTS], used: 0, fresh: 0, len: 0, pending: 0, of_bank: [0; 64] }
    }
    #[inline]
    pub const fn get(&self, slot: u8) -> &Entry {
        &self.entries[slot as usize % SLOTS]
    }
    #[inline]
    pub const fn set_ready(&mut self, slot: u8, at: u64) {
        self.entries[slot as usize % SLOTS].ready = at;
    }
    /// Arrival of the oldest.
    pub fn oldest(&self) -> Option<u64> {
        (self.used != 0).then(|| self.entries[self.used.trailing_zeros() as usize % SLOTS].at)
    }
    /// The oldest request of a bank.
    #[inline]
    pub const fn first(&self, bank: u8) -> Option<u8> {
        let slots = self.of_bank[bank as usize % 64];
        if slots == 0 { None } else { Some(slots.trailing_zeros() as u8) }
    }
    /// The oldest request of a bank for this row.
    #[inline]
    pub fn find(&self, bank: u8, row: u32) -> Option<u8> {
        self.search(bank, |entry| entry.row == row)
    }
    /// Whether a request for this line waits.
    #[inline]
    pub fn has(&self, bank: u8, row: u32, line: u32) -> bool {
        self.search(bank, |entry| entry.row == row && entry.line == line).is_some()
    }
    #[inline]
    fn search(&self, bank: u8, is: impl Fn(&Entry) -> bool) -> Option<u8> {
        let mut slots = self.of_bank[usize::from(bank) % 64];
        while slots != 0 {
            let slot = slots.trailing_zeros() as u8;
            if is(self.get(slot)) {
                return Some(slot);
            }
            slots &= slots - 1;
        }
        None
    }
    /// Whether the slots have to be compacted before another request is added.
    #[inline]
    pub const fn is_spread(&self) -> bool {
        self.fresh == SLOTS
    }
    /// Appends a request.
    #[inline]
    pub fn put(&mut self, entry: Entry) {
        let slot = self.fresh % SLOTS;
        self.entries[slot] = entry;
        self.fresh += 1;
        self.used |= 1 << slot;
        self.of_bank[usize::from(entry.bank) % 64] |= 1 << slot;
        self.pending |= 1 << entry.bank;
        self.len += 1;
    }
    /// Removes a request. Returns whether it passes an older one of its bank.
    #[inline]
    pub fn take(&mut self, slot: u8) -> (Entry, bool) {
        let (entry, bit) = (*self.get(slot), 1 << slot);
        self.used &= !bit;
        let bank = &mut self.of_bank[usize::from(entry.bank) % 64];
        *bank &= !bit;
        let older = *bank & (bit - 1);
        if *bank == 0 {
            self.pending &= !(1 << entry.bank);
        }
        self.len -= 1;
        (entry, older != 0)
    }
    /// Compacts the slots, in order; calls `moved` with the old and the new slot of each.
    #[cold]
    pub fn put_together(&mut self, mut moved: impl FnMut(u8, u8, u8)) {
        self.of_bank = [0; 64];
        let (mut left, mut to) = (self.used, 0);
        while left != 0 {
            let from = left.trailing_zeros() as u8;
            let entry = *self.get(from);
            self.entries[to] = entry;
            moved(entry.bank, from, to as u8);
            self.of_bank[usize::from(entry.bank) % 64] |= 1 << to;
            to += 1;
            left &= left - 1;
        }
        self.used = (1 << to) - 1;
        self.fresh = to;
    }
}

/// No slot.
pub(super) const NONE: u8 = u8::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(token: u32, bank: u8, row: u32) -> Entry {
        Entry { token, row, line: 7, bank, group: 0, rank: 0, at: u64::from(token) * 10, ready: 0 }
    }

    #[test]
    fn slots_stay_in_the_order_of_arrival_when_they_are_put_together() {
        let mut queue = Queue::new();
        for n in 0..SLOTS as u32 {
            queue.put(entry(n, (n % 3) as u8, n % 5));
            if n > 3 && n % 2 == 0 {
                queue.take(n as u8 - 1);
            }
        }
        assert!(queue.is_spread());
        let tokens = |queue: &Queue| {
            let mut slots = queue.used;
            core::iter::from_fn(|| {
                let slot = slots.trailing_zeros() as u8;
                (slots != 0).then(|| {
                    slots &= slots - 1;
                    queue.get(slot).token
                })
            })
            .collect::<Vec<_>>()
        };
        let (before, found) = (tokens(&queue), queue.find(1, 4).map(|slot| queue.get(slot).token));
        queue.put_together(|_, from, to| assert!(to <= from));
        assert!(!queue.is_spread());
        assert_eq!(tokens(&queue), before);
        assert_eq!(queue.find(1, 4).map(|slot| queue.get(slot).token), found);
        assert_eq!((queue.len as usize, queue.oldest()), (before.len(), Some(0)));
        assert!(queue.has(0, 0, 7) && !queue.has(0, 0, 8) && !queue.has(5, 0, 7));
        (0..queue.len as u8).for_each(|slot| assert_eq!(queue.take(slot).0.line, 7));
        assert_eq!((queue.pending, queue.used, queue.first(0)), (0, 0, None));
    }
}
