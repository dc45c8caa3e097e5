//! A queue of small values, ordered by time, in a ring buffer.
//!
//! The capacity is a power of two, so that the n-th value is found by an addition and a mask. The times of the first
//! and the last value are cached.

/// A time later than any event \[ticks\].
pub const NEVER: u64 = u64::MAX;

/// A value with a time.
pub trait Timed: Copy {
    /// Time of the value \[ticks\].
    fn at(&self) -> u64;
}

impl Timed for u64 {
    #[inline]
    fn at(&self) -> u64 {
        *self
    }
}

/// A queue in a ring buffer.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    /// The buffer; its length is a power of two, or 0 at first. Places outside the queue have arbitrary contents.
    places: Vec<T>,
    first: usize,
    len: usize,
    /// Time of the first value \[ticks\].
    at: u64,
    /// Time of the value last added at the end \[ticks\]; no value in the queue is later.
    latest: u64,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self { places: Vec::new(), first: 0, len: 0, at: NEVER, latest: 0 }
    }
}

/// Minimum capacity of a ring that is not empty.
const LEAST: usize = 8;

impl<T: Timed> Ring<T> {
    #[inline(always)]
    const fn place(&self, n: usize) -> usize {
        self.first.wrapping_add(n) & self.places.len().wrapping_sub(1)
    }
    /// Number of values.
    #[inline(always)]
    pub const fn len(&self) -> usize {
        self.len
    }
    /// Time of the first value \[ticks\]; [`NEVER`] if there is none.
    #[inline(always)]
    pub const fn at(&self) -> u64 {
        self.at
    }
    /// The `n`-th value.
    #[inline(always)]
    pub fn get(&self, n: usize) -> Option<&T> {
        if n < self.len { self.places.get(self.place(n)) } else { None }
    }
    /// Time of the `n`-th value \[ticks\]; [`NEVER`] if there is none.
    #[inline(always)]
    pub fn at_of(&self, n: usize) -> u64 {
        self.get(n).map_or(NEVER, Timed::at)
    }
    /// All values in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len).map_while(|n| self.get(n))
    }
    /// Inserts a value after all that are not later, and after the first `fixed` in any case. Searches from the end.
    #[inline(always)]
    pub fn insert(&mut self, value: T, fixed: usize) {
        if self.len == self.places.len() {
            self.grow(value);
        }
        if self.len == 0 {
            self.at = value.at();
        }
        let place = self.place(self.len);
        self.places[place] = value;
        self.len += 1;
        if value.at() < self.latest {
            self.sift(fixed);
        } else {
            self.latest = value.at();
        }
    }
    /// Moves the last value to its place.
    #[cold]
    #[inline(never)]
    fn sift(&mut self, fixed: usize) {
        let mut n = self.len - 1;
        let mut here = self.place(n);
        let value = self.places[here];
        while n > fixed {
            let ahead = self.place(n - 1);
            let other = self.places[ahead];
            if other.at() <= value.at() {
                break;
            }
            self.places[here] = other;
            here = ahead;
            n -= 1;
        }
        self.places[here] = value;
        self.at = self.at_of(0);
        self.latest = self.at_of(self.len - 1);
    }
    /// Removes and returns the first value.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<T> {
        let value = *self.get(0)?;
        self.drop_first(1);
        Some(value)
    }
    /// Removes the first `n` values.
    #[inline(always)]
    pub fn drop_first(&mut self, n: usize) {
        debug_assert!(n <= self.len, "only what is there can go");
        self.len -= n;
        if self.len == 0 {
            // A queue that is often empty keeps using the same places, which stay in the CPU cache.
            (self.first, self.at) = (0, NEVER);
        } else {
            self.first = self.place(n);
            self.at = self.places[self.first].at();
        }
    }
    /// Doubles the capacity; the new places hold `filler`.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, filler: T) {
        let mut places: Vec<T> = self.iter().copied().collect();
        places.resize((2 * self.len).max(LEAST), filler);
        self.places = places;
        self.first = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    impl Timed for (u64, usize) {
        fn at(&self) -> u64 {
            self.0
        }
    }

    proptest! {
        /// Against the library's queue.
        #[test]
        fn a_ring_is_a_queue(steps in prop::collection::vec((0_u8..4, 0_u64..50), 0..200)) {
            let (mut ring, mut model) = (Ring::default(), VecDeque::<(u64, usize)>::new());
            for (number, (what, value)) in steps.into_iter().enumerate() {
                match what {
                    0 | 1 => {
                        let fixed = model.len().min(usize::from(what) * 2);
                        ring.insert((value, number), fixed);
                        let behind = model.iter().skip(fixed).rev().take_while(|other| other.0 > value).count();
                        model.insert(model.len() - behind, (value, number));
                    }
                    2 => prop_assert_eq!(ring.pop(), model.pop_front()),
                    _ => {
                        let n = model.len().min(value as usize % 4);
                        ring.drop_first(n);
                        model.drain(..n);
                    }
                }
                prop_assert_eq!(ring.iter().collect::<Vec<_>>(), model.iter().collect::<Vec<_>>());
                prop_assert_eq!((ring.len(), ring.at()), (model.len(), model.front().map_or(NEVER, |first| first.0)));
            }
        }
    }
}
