//! The event queue: a calendar of unsorted buckets with 16-byte entries.
//!
//! ```text
//!            now            current_end                      base + BUCKETS
//!  ───────────┼──── current ─────┼── bucket ── bucket ── … ───────┼──── overflow heap ───►
//!              sorted, popped     unsorted, one bit each in        everything later
//!              from its end       `occupied`
//! ```
//!
//! A bucket is sorted when time reaches it. Order is by (time, key); two entries that are equal in both are ordered by
//! the caller's tie rule, so that no result can depend on the order of insertion.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// An event: when, and what. The key's upper half orders equal times, its lower half is an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub time: u64,
    pub key: u64,
}

impl Entry {
    pub const fn new(time: u64, rank: u32, argument: u32) -> Self {
        Self { time, key: (rank as u64) << 32 | argument as u64 }
    }
    /// The part of the key that carries order: phase and rank.
    pub const fn rank(self) -> u32 {
        (self.key >> 32) as u32
    }
    /// Whether it comes before another for its time and its rank alone.
    const fn is_before(self, other: Self) -> bool {
        self.place() < other.place()
    }
    /// Time and rank as one number, which compares without a branch.
    const fn place(self) -> u128 {
        (self.time as u128) << 64 | (self.key & !0xffff_ffff) as u128
    }
    /// The part of the key that carries no order: a slot or a token.
    pub const fn argument(self) -> u32 {
        self.key as u32
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.time, self.key).cmp(&(other.time, other.key))
    }
}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

const BUCKETS: u64 = 128;
/// A bucket is 65.536 ns wide: link events are some nanoseconds apart, so that a bucket holds a few of them, and what a
/// device does in microseconds is not far. There are few of them, which stay in a cache.
const SHIFT: u32 = 16;
/// No bucket.
const NOWHERE: u64 = u64::MAX;
const WORDS: usize = (BUCKETS / 64) as usize;

/// Decides between two entries of equal time and `rank`, by their arguments.
pub(crate) trait TieRule {
    fn order(&self, rank: u32, a: u32, b: u32) -> Ordering;
}

pub(crate) struct Queue {
    /// Entries before `current_end`, latest first.
    current: Vec<Entry>,
    current_end: u64,
    base: u64,
    buckets: Box<[Vec<Entry>; BUCKETS as usize]>,
    occupied: [u64; WORDS],
    /// One bit for each word of `occupied` that is not zero.
    words: u32,
    overflow: BinaryHeap<Reverse<Entry>>,
    /// The bucket of the first entry of `overflow`, [`NOWHERE`] if there is none.
    far: u64,
}

impl Queue {
    pub fn new() -> Self {
        Self {
            current: Vec::with_capacity(64),
            current_end: 1 << SHIFT,
            base: 0,
            buckets: Box::new(std::array::from_fn(|_| Vec::new())),
            occupied: [0; WORDS],
            words: 0,
            overflow: BinaryHeap::new(),
            far: NOWHERE,
        }
    }

    #[inline]
    pub fn push(&mut self, entry: Entry, ties: &impl TieRule) {
        let bucket = entry.time >> SHIFT;
        if entry.time < self.current_end {
            return self.push_near(entry, ties);
        }
        if bucket - self.base >= BUCKETS {
            return self.push_far(entry);
        }
        let i = (bucket % BUCKETS) as usize;
        self.buckets[i].push(entry);
        self.occupied[i / 64] |= 1 << (i % 64);
        self.words |= 1 << (i / 64);
    }

    /// Puts in what is due behind the last bucket.
    #[cold]
    #[inline(never)]
    fn push_far(&mut self, entry: Entry) {
        self.far = self.far.min(entry.time >> SHIFT);
        self.overflow.push(Reverse(entry));
    }

    /// The time of the earliest entry, `u64::MAX` if there is none.
    #[inline]
    pub fn peek_time(&mut self, ties: &impl TieRule) -> u64 {
        if self.current.is_empty() && !self.advance(ties) {
            return u64::MAX;
        }
        self.current.last().map_or(u64::MAX, |e| e.time)
    }

    /// Takes out the earliest entry, if it is not after `limit`.
    #[inline]
    pub fn pop_until(&mut self, limit: u64, ties: &impl TieRule) -> Option<Entry> {
        if self.current.is_empty() && !self.advance(ties) {
            return None;
        }
        self.current.pop_if(|entry| entry.time <= limit)
    }

    /// Puts in what is due in the bucket that time has reached: mostly next of all, or soon behind that.
    #[inline]
    fn push_near(&mut self, entry: Entry, ties: &impl TieRule) {
        let mut at = self.current.len();
        self.current.push(entry);
        while at > 0 && self.current[at - 1].is_before(entry) {
            self.current[at] = self.current[at - 1];
            at -= 1;
        }
        self.current[at] = entry;
        // what only the tie rule can tell apart is rare
        if at > 0 && !entry.is_before(self.current[at - 1]) {
            sink(&mut self.current, at, ties);
        }
    }

    /// Moves on to the next bucket that holds anything; false if there is none.
    #[cold]
    #[inline(never)]
    fn advance(&mut self, ties: &impl TieRule) -> bool {
        let ring = self.next_occupied();
        let bucket = ring.min(self.far);
        if bucket == NOWHERE {
            return false;
        }
        self.base = bucket;
        self.current_end = (bucket + 1) << SHIFT;
        if ring == bucket {
            let i = (bucket % BUCKETS) as usize;
            std::mem::swap(&mut self.current, &mut self.buckets[i]);
            self.occupied[i / 64] &= !(1 << (i % 64));
            if self.occupied[i / 64] == 0 {
                self.words &= !(1 << (i / 64));
            }
        }
        if self.far == bucket {
            self.refill_from_overflow();
        }
        if self.current.len() > SHORT {
            self.current.sort_unstable_by(|a, b| before(b, a, ties));
        } else {
            (1..self.current.len()).for_each(|i| sink(&mut self.current, i, ties));
        }
        true
    }

    /// Takes out of the overflow what belongs into the bucket that time has reached.
    fn refill_from_overflow(&mut self) {
        self.far = NOWHERE;
        while let Some(&Reverse(next)) = self.overflow.peek() {
            if next.time >= self.current_end {
                self.far = next.time >> SHIFT;
                return;
            }
            self.current.push(next);
            self.overflow.pop();
        }
    }

    /// The number of the first occupied bucket after `base`, [`NOWHERE`] if there is none.
    fn next_occupied(&self) -> u64 {
        let start = ((self.base + 1) % BUCKETS) as usize;
        let (word, bit) = (start / 64, start % 64);
        let head = self.occupied[word] >> bit;
        if head != 0 {
            return self.base + 1 + u64::from(head.trailing_zeros());
        }
        // The next word that is not zero, after this one or from the start again; the lower bits of this one come last.
        let ahead = self.words & u32::MAX.checked_shl(word as u32 + 1).unwrap_or(0);
        let next = if ahead != 0 { ahead } else { self.words };
        if next == 0 {
            return NOWHERE;
        }
        let w = next.trailing_zeros() as usize;
        let steps = if w > word { w - word } else { w + WORDS - word };
        let distance = steps * 64 - bit + self.occupied[w].trailing_zeros() as usize;
        self.base + 1 + distance as u64
    }
}

/// Up to so many entries are sorted by insertion.
const SHORT: usize = 16;

/// Moves the entry at `at` to its place among those before it, which are in order, the latest first.
#[inline(never)]
fn sink(entries: &mut [Entry], mut at: usize, ties: &impl TieRule) {
    let entry = entries[at];
    // The near future is at the end, where most of what is new belongs.
    while at > 0 && before(&entries[at - 1], &entry, ties) == Ordering::Less {
        entries[at] = entries[at - 1];
        at -= 1;
    }
    entries[at] = entry;
}

#[inline]
fn before(a: &Entry, b: &Entry, ties: &impl TieRule) -> Ordering {
    match a.time.cmp(&b.time) {
        Ordering::Equal => before_at_same_time(*a, *b, ties),
        other => other,
    }
}

/// The same for two entries of one time.
#[inline(never)]
fn before_at_same_time(a: Entry, b: Entry, ties: &impl TieRule) -> Ordering {
    a.rank().cmp(&b.rank()).then_with(|| ties.order(a.rank(), a.argument(), b.argument()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct ByArgument;
    impl TieRule for ByArgument {
        fn order(&self, _: u32, a: u32, b: u32) -> Ordering {
            a.cmp(&b)
        }
    }

    proptest! {
        /// Against a sorted list: the same entries come out in the same order, whatever was pushed when.
        #[test]
        fn pops_in_order_of_time_then_key(steps in prop::collection::vec((0u64..1 << 26, 0u64..4, 0u64..4, 0usize..3), 1..300)) {
            let mut queue = Queue::new();
            let mut model: Vec<Entry> = Vec::new();
            let mut now = 0;
            for (delay, rank, argument, pops) in steps {
                let entry = Entry { time: now + delay / (1 + delay % 4096), key: rank << 32 | argument };
                queue.push(entry, &ByArgument);
                model.push(entry);
                model.sort();
                for _ in 0..pops {
                    prop_assert_eq!(queue.peek_time(&ByArgument), model.first().map_or(u64::MAX, |e| e.time));
                    let got = queue.pop_until(u64::MAX, &ByArgument);
                    let want = (!model.is_empty()).then(|| model.remove(0));
                    prop_assert_eq!(got, want);
                    now = got.map_or(now, |e| e.time);
                }
            }
            for want in model {
                prop_assert_eq!(queue.pop_until(u64::MAX, &ByArgument), Some(want));
            }
            prop_assert_eq!(queue.pop_until(u64::MAX, &ByArgument), None);
        }

        #[test]
        fn reaches_the_far_future_and_comes_back(times in prop::collection::vec(0u64..1 << 50, 1..50)) {
            let mut queue = Queue::new();
            for &time in &times {
                queue.push(Entry { time, key: 0 }, &ByArgument);
            }
            let mut sorted = times.clone();
            sorted.sort_unstable();
            for time in sorted {
                prop_assert_eq!(queue.pop_until(u64::MAX, &ByArgument).map(|e| e.time), Some(time));
            }
        }
    }
}
