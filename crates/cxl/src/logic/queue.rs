//! Messages that wait for a flit, in the order of their times.

use super::packer::Age;
use std::collections::VecDeque;

/// A message that waits.
#[derive(Clone, Copy, Debug)]
pub struct Entry<U> {
    /// From when on it may be sent \[ticks\].
    pub at: u64,
    /// Its number among all messages of the link: of those with equal times the smaller goes first.
    pub number: u64,
    /// The message.
    pub user: U,
}

impl<U> Entry<U> {
    /// How old it is.
    pub const fn age(&self) -> Age {
        (self.at, self.number)
    }
}

/// A queue in the order of ages.
#[derive(Clone, Debug)]
pub struct Queue<U>(VecDeque<Entry<U>>);

impl<U> Default for Queue<U> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<U: Copy> Queue<U> {
    /// Puts it in its place. Most messages come last.
    #[inline]
    pub fn insert(&mut self, entry: Entry<U>) {
        if self.0.back().is_none_or(|last| last.age() < entry.age()) {
            self.0.push_back(entry);
        } else {
            let place = self.0.partition_point(|other| other.age() < entry.age());
            self.0.insert(place, entry);
        }
    }
    /// The oldest.
    #[inline]
    pub fn front(&self) -> Option<&Entry<U>> {
        self.0.front()
    }
    /// The `n`-th oldest.
    #[inline]
    pub fn get(&self, n: usize) -> Option<&Entry<U>> {
        self.0.get(n)
    }
    /// Takes out the oldest.
    #[inline]
    pub fn pop(&mut self) -> Option<Entry<U>> {
        self.0.pop_front()
    }
    /// How many wait.
    pub fn len(&self) -> usize {
        self.0.len()
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
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|entry| entry.age()).collect();
        assert_eq!(order, [(3, 1), (3, 4), (5, 0), (5, 2), (9, 3)]);
    }
}
