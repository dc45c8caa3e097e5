//! Messages that wait for a flit, in the order of their times, and those whose header has been sent but not all data.
//!
//! ```text
//!   begun: the header has left,     waiting, by age
//!   not yet the last chunk
//!  ├──── DRS ── DRS ────────────┼── DRS ── DRS ── DRS ── … ──┤
//!   finish                       get(0)                 insert
//! ```
//!
//! A message stays in the queue until the flit that completes it, when it is delivered and removed.

use super::packer::Age;
use super::ring::{NEVER, Ring, Timed};

/// A message in the queue.
#[derive(Clone, Copy, Debug)]
pub struct Entry<U> {
    /// Earliest time at which it may be sent \[ticks\].
    pub at: u64,
    /// Its number among all messages of the link; at equal times the smaller number goes first.
    pub number: u64,
    /// The message.
    pub user: U,
}

impl<U> Entry<U> {
    /// Age of the message.
    #[inline(always)]
    pub const fn age(&self) -> Age {
        (self.at, self.number)
    }
}

impl<U: Copy> Timed for Entry<U> {
    #[inline(always)]
    fn at(&self) -> u64 {
        self.at
    }
}

/// A queue of messages, ordered by age.
#[derive(Clone, Debug)]
pub struct Queue<U> {
    ring: Ring<Entry<U>>,
    /// Number of messages whose header has been sent.
    begun: usize,
    /// Time of the first waiting message \[ticks\].
    at: u64,
}

impl<U> Default for Queue<U> {
    fn default() -> Self {
        Self { ring: Ring::default(), begun: 0, at: NEVER }
    }
}

impl<U: Copy> Queue<U> {
    /// Inserts a message among the waiting ones; its number must be larger than theirs. Most messages come last.
    #[inline(always)]
    pub fn insert(&mut self, entry: Entry<U>) {
        self.at = self.at.min(entry.at);
        self.ring.insert(entry, self.begun);
    }
    /// Time of the oldest waiting message \[ticks\]; [`NEVER`] if there is none.
    #[inline(always)]
    pub const fn at(&self) -> u64 {
        self.at
    }
    /// The `n`-th oldest waiting message.
    #[inline(always)]
    pub fn get(&self, n: usize) -> Option<&Entry<U>> {
        self.ring.get(self.begun + n)
    }
    /// Age of the `n`-th oldest waiting message; younger than any message if there is none.
    #[inline(always)]
    pub fn age_of(&self, n: usize) -> Age {
        self.get(n).map_or((NEVER, NEVER), Entry::age)
    }
    /// Time of the `n`-th oldest waiting message \[ticks\]; [`NEVER`] if there is none.
    #[inline(always)]
    pub fn at_of(&self, n: usize) -> u64 {
        self.ring.at_of(self.begun + n)
    }
    /// Marks the header of the oldest waiting message as sent, and returns the message's time \[ticks\].
    #[inline(always)]
    pub fn begin(&mut self) -> u64 {
        debug_assert!(self.at != NEVER, "only what waits can begin");
        self.begun += 1;
        std::mem::replace(&mut self.at, self.ring.at_of(self.begun))
    }
    /// The oldest message whose header has been sent.
    #[inline(always)]
    pub fn begun(&self) -> Option<&U> {
        if self.begun == 0 { None } else { self.ring.get(0).map(|entry| &entry.user) }
    }
    /// Removes the oldest message whose header has been sent, when its last chunk leaves.
    #[inline(always)]
    pub fn finish(&mut self) {
        debug_assert!(self.begun > 0, "only what was begun can end");
        self.begun -= 1;
        self.ring.drop_first(1);
    }
    /// Removes the oldest message, of a class without data.
    #[inline(always)]
    pub fn leave(&mut self) {
        debug_assert!(self.begun == 0, "messages without data are never half sent");
        self.ring.drop_first(1);
        self.at = self.ring.at();
    }
    /// Number of waiting messages.
    pub fn len(&self) -> usize {
        self.ring.len() - self.begun
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_leave_by_time_and_then_by_number() {
        let mut queue = Queue::default();
        for (number, at) in [5, 3, 5, 9, 3].into_iter().enumerate() {
            queue.insert(Entry { at, number: number as u64, user: () });
        }
        let order: Vec<_> = std::iter::from_fn(|| {
            let age = queue.get(0)?.age();
            queue.leave();
            Some(age)
        })
        .collect();
        assert_eq!(order, [(3, 1), (3, 4), (5, 0), (5, 2), (9, 3)]);
    }

    #[test]
    fn what_is_begun_neither_waits_nor_is_overtaken() {
        let mut queue = Queue::default();
        (0..3).for_each(|number| queue.insert(Entry { at: 7, number, user: number }));
        assert_eq!(queue.begin(), 7);
        queue.insert(Entry { at: 1, number: 3, user: 3 });
        assert_eq!((queue.len(), queue.at(), queue.get(0).map(|entry| entry.user)), (3, 1, Some(3)));
        assert_eq!(queue.begun(), Some(&0));
        queue.finish();
        assert_eq!((queue.begun(), queue.get(0).map(|entry| entry.user)), (None, Some(3)));
        queue.leave();
        assert_eq!((queue.len(), queue.get(0).map(|entry| entry.user)), (2, Some(1)));
    }
}
