//! The event queue: a calendar of unsorted buckets with 16-byte entries.
//!
//! ```text
//!            now            current_end                     base + buckets
//!  ───────────┼──── current ─────┼── bucket ── bucket ── … ───────┼──── overflow heap ───►
//!              sorted, popped     unsorted, one bit each in        everything later
//!              from its end       `occupied`
//! ```
//!
//! In a machine so large that many events fall into one bucket, buckets become narrower, and more numerous in
//! proportion.
//!
//! A bucket is sorted when time reaches it. The order is by (time, key). Entries that are equal in both are ordered by
//! the caller's tie rule, so that no result can depend on the order of insertion.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// An event: its time and key. The upper half of the key orders equal times, the lower half is an argument.
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
    /// Whether it comes before another by time and rank alone.
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

/// Initial number of buckets, small enough to stay in a cache.
const BUCKETS: usize = 128;
/// Initial width of a bucket: 65.536 ns. Link events are some nanoseconds apart, so a bucket holds a few of them, and
/// the microseconds of devices are not far ahead.
const SHIFT: u32 = 16;
/// Buckets with more entries than this are too wide: an insertion into the current one has to move others.
const MANY: usize = 48;
/// After this many buckets with too many entries, all are made narrower, …
const TOO_MANY: u32 = 64;
/// … by this power of two, down to 4.096 ns: then [`Queue::words`] has a bit for each word of buckets.
const NARROWER: u32 = 2;
const LEAST_SHIFT: u32 = 12;
/// No bucket.
const NOWHERE: u64 = u64::MAX;

/// Orders two entries of equal time and `rank` by their arguments.
pub(crate) trait TieRule {
    fn order(&self, rank: u32, a: u32, b: u32) -> Ordering;
}

pub(crate) struct Queue {
    /// Entries before `current_end`, latest first.
    current: Vec<Entry>,
    current_end: u64,
    base: u64,
    /// A bucket is 2^shift ps wide.
    shift: u32,
    /// The buckets; their number is a power of two.
    buckets: Vec<Vec<Entry>>,
    /// Number of buckets that held too many entries when time reached them.
    too_full: u32,
    occupied: Vec<u64>,
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
            shift: SHIFT,
            buckets: vec![Vec::new(); BUCKETS],
            too_full: 0,
            occupied: vec![0; BUCKETS / 64],
            words: 0,
            overflow: BinaryHeap::new(),
            far: NOWHERE,
        }
    }

    #[inline]
    pub fn push(&mut self, entry: Entry, ties: &impl TieRule) {
        if entry.time < self.current_end {
            return self.push_near(entry, ties);
        }
        let bucket = entry.time >> self.shift;
        if bucket - self.base >= self.buckets.len() as u64 {
            return self.push_far(entry);
        }
        let i = self.place(bucket);
        self.buckets[i].push(entry);
        self.occupied[i / 64] |= 1 << (i % 64);
        self.words |= 1 << (i / 64);
    }
    #[inline]
    fn place(&self, bucket: u64) -> usize {
        bucket as usize & (self.buckets.len() - 1)
    }

    /// Inserts an entry that is due after the last bucket.
    #[cold]
    #[inline(never)]
    fn push_far(&mut self, entry: Entry) {
        self.far = self.far.min(entry.time >> self.shift);
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

    /// Removes the earliest entry, if it is not after `limit`.
    #[inline]
    pub fn pop_until(&mut self, limit: u64, ties: &impl TieRule) -> Option<Entry> {
        if self.current.is_empty() && !self.advance(ties) {
            return None;
        }
        self.current.pop_if(|entry| entry.time <= limit)
    }

    /// Inserts an entry that is due in the current bucket: mostly as the next, or soon after it.
    #[inline]
    fn push_near(&mut self, entry: Entry, ties: &impl TieRule) {
        let mut at = self.current.len();
        self.current.push(entry);
        while at > 0 && self.current[at - 1].is_before(entry) {
            self.current[at] = self.current[at - 1];
            at -= 1;
        }
        self.current[at] = entry;
        // entries that only the tie rule distinguishes are rare
        if at > 0 && !entry.is_before(self.current[at - 1]) {
            sink(&mut self.current, at, ties);
        }
    }

    /// Moves on to the next occupied bucket. Returns false if there is none.
    #[cold]
    #[inline(never)]
    fn advance(&mut self, ties: &impl TieRule) -> bool {
        if self.too_full >= TOO_MANY {
            self.narrow(ties);
        }
        let ring = self.next_occupied();
        let bucket = ring.min(self.far);
        if bucket == NOWHERE {
            return false;
        }
        self.base = bucket;
        self.current_end = (bucket + 1) << self.shift;
        if ring == bucket {
            let i = self.place(bucket);
            std::mem::swap(&mut self.current, &mut self.buckets[i]);
            self.occupied[i / 64] &= !(1 << (i % 64));
            if self.occupied[i / 64] == 0 {
                self.words &= !(1 << (i / 64));
            }
        }
        if self.far == bucket {
            self.refill_from_overflow();
        }
        if self.current.len() > MANY && self.shift > LEAST_SHIFT {
            self.too_full += 1;
        }
        if self.current.len() > SHORT {
            self.current.sort_unstable_by(|a, b| before(b, a, ties));
        } else {
            (1..self.current.len()).for_each(|i| sink(&mut self.current, i, ties));
        }
        true
    }

    /// Makes buckets narrower and correspondingly more numerous; there must be no entries before `current_end`.
    #[cold]
    #[inline(never)]
    fn narrow(&mut self, ties: &impl TieRule) {
        self.too_full = 0;
        self.shift -= NARROWER;
        let many = self.buckets.len() << NARROWER;
        let old = std::mem::replace(&mut self.buckets, vec![Vec::new(); many]);
        self.occupied = vec![0; many / 64];
        self.words = 0;
        // the last of the new buckets within the current old one
        self.base = (self.current_end >> self.shift) - 1;
        self.far = self.overflow.peek().map_or(NOWHERE, |Reverse(first)| first.time >> self.shift);
        old.into_iter().flatten().for_each(|entry| self.push(entry, ties));
    }

    /// Moves entries that belong to the current bucket out of the overflow.
    fn refill_from_overflow(&mut self) {
        self.far = NOWHERE;
        while let Some(&Reverse(next)) = self.overflow.peek() {
            if next.time >= self.current_end {
                self.far = next.time >> self.shift;
                return;
            }
            self.current.push(next);
            self.overflow.pop();
        }
    }

    /// The number of the first occupied bucket after `base`, [`NOWHERE`] if there is none.
    fn next_occupied(&self) -> u64 {
        let start = self.place(self.base + 1);
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
        let steps = if w > word { w - word } else { w + self.occupied.len() - word };
        let distance = steps * 64 - bit + self.occupied[w].trailing_zeros() as usize;
        self.base + 1 + distance as u64
    }
}

/// Up to this many entries are sorted by insertion.
const SHORT: usize = 16;

/// Moves the entry at `at` to its place among those before it, which are sorted, the latest first.
#[inline(never)]
fn sink(entries: &mut [Entry], mut at: usize, ties: &impl TieRule) {
    let entry = entries[at];
    // The near future is at the end, where most new entries belong.
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

/// As `before`, for two entries of the same time.
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

    /// Some thousand wait, so close to one another that buckets become narrower, some of them far away.
    #[test]
    fn many_come_out_in_order_whatever_width_buckets_have() {
        let (mut queue, mut random) = (Queue::new(), 1_u64);
        let mut draw = |below: u64| {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (random >> 33) % below
        };
        let mut key = 0;
        let mut put = |queue: &mut Queue, now: u64| {
            let reach = [1 << 10, 1 << 16, 1 << 22, 1 << 26][draw(4) as usize];
            key += 1;
            queue.push(Entry { time: now + draw(reach), key }, &ByArgument);
        };
        (0..20_000).for_each(|_| put(&mut queue, 0));
        let (mut last, mut left) = ((0, 0), 400_000);
        while let Some(Entry { time, key }) = queue.pop_until(u64::MAX, &ByArgument) {
            assert!((time, key) > last);
            last = (time, key);
            if left > 0 {
                left -= 1;
                put(&mut queue, time);
            }
        }
        assert!(queue.shift < SHIFT && key == 420_000);
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
