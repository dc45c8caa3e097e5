//! Requests that wait for their banks: a list for each bank and direction, in a store of fixed size.

use super::bank::Bank;

/// No entry.
pub(super) const NONE: u8 = u8::MAX;
/// Places for reads and writes together.
const PLACES: usize = 128;

/// A request that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub token: u32,
    pub row: u32,
    pub line: u32,
    next: u8,
    /// Its place in the order of arrival.
    pub number: u64,
    /// The clock at which it came.
    pub at: u64,
}

/// The store. Reads are direction 0, writes 1.
#[derive(Clone, Debug)]
pub(super) struct Store {
    entries: [Entry; PLACES],
    free: u8,
    /// Requests of each direction.
    pub len: [u32; 2],
    /// Banks with requests of each direction.
    pub pending: [u64; 2],
    arrived: u64,
}

impl Store {
    pub fn new() -> Self {
        let entry = |n: usize| Entry {
            token: 0,
            row: 0,
            line: 0,
            next: if n + 1 < PLACES { (n + 1) as u8 } else { NONE },
            number: 0,
            at: 0,
        };
        Self { entries: core::array::from_fn(entry), free: 0, len: [0; 2], pending: [0; 2], arrived: 0 }
    }
    #[inline]
    pub fn get(&self, place: u8) -> &Entry {
        &self.entries[usize::from(place) % PLACES]
    }
    /// Puts a request behind those of its bank.
    #[inline]
    pub fn put(&mut self, bank: &mut Bank, at_bank: u8, direction: usize, new: (u32, u32, u32, u64)) {
        let place = self.free;
        assert!(place != NONE, "no more requests wait than there are places");
        let (token, row, line, at) = new;
        let entry = &mut self.entries[usize::from(place) % PLACES];
        self.free = entry.next;
        *entry = Entry { token, row, line, next: NONE, number: self.arrived, at };
        self.arrived += 1;
        if bank.first[direction] == NONE {
            bank.first[direction] = place;
            self.pending[direction] |= 1 << at_bank;
        } else {
            self.entries[usize::from(bank.last[direction]) % PLACES].next = place;
        }
        bank.last[direction] = place;
        self.len[direction] += 1;
    }
    /// Takes a request out of the list of its bank.
    #[inline]
    pub fn take(&mut self, bank: &mut Bank, at_bank: u8, direction: usize, place: u8) -> Entry {
        let entry = *self.get(place);
        if bank.first[direction] == place {
            bank.first[direction] = entry.next;
            if entry.next == NONE {
                self.pending[direction] &= !(1 << at_bank);
            }
        } else {
            let mut before = bank.first[direction];
            while self.get(before).next != place {
                before = self.get(before).next;
            }
            self.entries[usize::from(before) % PLACES].next = entry.next;
            if bank.last[direction] == place {
                bank.last[direction] = before;
            }
        }
        self.entries[usize::from(place) % PLACES].next = self.free;
        self.free = place;
        self.len[direction] -= 1;
        entry
    }
    /// The first request of a bank for this row, and this line if one is said.
    #[inline]
    pub fn find(&self, bank: &Bank, direction: usize, row: u32, line: Option<u32>) -> u8 {
        let mut place = bank.first[direction];
        while place != NONE {
            let entry = self.get(place);
            if entry.row == row && line.is_none_or(|line| entry.line == line) {
                break;
            }
            place = entry.next;
        }
        place
    }
    /// When the oldest request of this direction came.
    pub fn oldest(&self, banks: &[Bank], direction: usize) -> Option<u64> {
        (0..64_usize)
            .filter(|bank| self.pending[direction] >> bank & 1 == 1)
            .map(|bank| self.get(banks[bank].first[direction]).at)
            .min()
    }
}
