//! A queue of small values in a ring with a power of two of places: to find the n-th is an addition and a mask.

/// A queue in a ring.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    /// As many as a power of two, or none yet. What stands outside of the queue means nothing.
    places: Vec<T>,
    first: usize,
    len: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self { places: Vec::new(), first: 0, len: 0 }
    }
}

/// Places of a ring that holds anything, at least.
const LEAST: usize = 8;

impl<T: Copy> Ring<T> {
    #[inline]
    const fn place(&self, n: usize) -> usize {
        self.first.wrapping_add(n) & self.places.len().wrapping_sub(1)
    }
    /// How many there are.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len
    }
    /// The `n`-th.
    #[inline]
    pub fn get(&self, n: usize) -> Option<&T> {
        if n < self.len { self.places.get(self.place(n)) } else { None }
    }
    /// The first.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        self.get(0)
    }
    /// All, from the first on.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len).map_while(|n| self.get(n))
    }
    /// Adds one behind the last.
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.len == self.places.len() {
            self.grow(value);
        }
        let place = self.place(self.len);
        self.places[place] = value;
        self.len += 1;
    }
    /// Adds one behind all that are `before` it, and behind the first `fixed` in any case; looked for from the end.
    #[inline]
    pub fn insert(&mut self, value: T, fixed: usize, before: impl Fn(&T, &T) -> bool) {
        self.push(value);
        let mut n = self.len - 1;
        while n > fixed {
            let (ahead, here) = (self.place(n - 1), self.place(n));
            let other = self.places[ahead];
            if before(&other, &value) {
                break;
            }
            self.places[here] = other;
            self.places[ahead] = value;
            n -= 1;
        }
    }
    /// Takes out the first.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let value = *self.front()?;
        self.drop_first(1);
        Some(value)
    }
    /// Takes out the first `n`.
    #[inline]
    pub fn drop_first(&mut self, n: usize) {
        debug_assert!(n <= self.len, "only what is there can go");
        self.first = self.place(n);
        self.len -= n;
    }
    /// Twice as many places; the new ones hold `filler`.
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

    proptest! {
        /// Against the library's queue.
        #[test]
        fn a_ring_is_a_queue(steps in prop::collection::vec((0_u8..4, 0_u32..50), 0..200)) {
            let (mut ring, mut model) = (Ring::default(), VecDeque::new());
            for (what, value) in steps {
                match what {
                    0 => {
                        ring.push(value);
                        model.push_back(value);
                    }
                    1 => {
                        let fixed = model.len().min(2);
                        ring.insert(value, fixed, |a, b| a <= b);
                        let behind = model.iter().skip(fixed).rev().take_while(|other| **other > value).count();
                        model.insert(model.len() - behind, value);
                    }
                    2 => prop_assert_eq!(ring.pop(), model.pop_front()),
                    _ => {
                        let n = model.len().min(value as usize % 4);
                        ring.drop_first(n);
                        model.drain(..n);
                    }
                }
                prop_assert_eq!(ring.iter().collect::<Vec<_>>(), model.iter().collect::<Vec<_>>());
                prop_assert_eq!(ring.len(), model.len());
            }
        }
    }
}
