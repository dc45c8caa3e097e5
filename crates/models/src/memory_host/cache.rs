//! A cache: which lines it has, which are dirty, which one goes.

use lanetwin_units::mix;

/// Replacement in a set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Replacement {
    /// The one that was touched least recently.
    Lru,
    /// Any.
    Random,
}

/// Mapping of lines to sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Index {
    /// The line's number modulo the number of sets: consecutive lines fill all sets alike.
    Modulo,
    /// By a hash: as if physical pages lay anywhere. Sets are then not filled alike.
    Hashed,
}

/// Parameters of a cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) lines: u64,
    pub(super) ways: u64,
    pub(super) replacement: Replacement,
    pub(super) index: Index,
}

/// A line that had to go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Victim {
    pub(super) line: u64,
    pub(super) dirty: bool,
}

/// A set-associative cache of tags. A tag is a line's number and a bit for dirty; 0 is an empty place. Under LRU the
/// tags of a set stand in the order of their last touch, the latest first.
#[derive(Debug)]
pub(super) struct Cache {
    tags: Vec<u64>,
    sets: u64,
    ways: usize,
    replacement: Replacement,
    index: Index,
    dice: u64,
}

const DIRTY: u64 = 1;

const fn tag(line: u64, dirty: bool) -> u64 {
    (line + 1) << 1 | dirty as u64
}

impl Cache {
    /// A cache that is empty; one without lines never has any.
    pub(super) fn new(shape: Shape, seed: u64) -> Self {
        let Shape { lines, ways, replacement, index } = shape;
        let ways = ways.min(lines);
        let sets = lines.checked_div(ways).unwrap_or(0);
        let tags = vec![0; (sets * ways) as usize];
        Self { tags, sets, ways: ways as usize, replacement, index, dice: seed }
    }
    /// Capacity in lines.
    pub(super) const fn capacity(&self) -> u64 {
        self.tags.len() as u64
    }
    pub(super) const fn replacement(&self) -> Replacement {
        self.replacement
    }
    #[inline]
    fn set(&mut self, line: u64) -> &mut [u64] {
        let set = match self.index {
            Index::Modulo if self.sets.is_power_of_two() => line & (self.sets - 1),
            Index::Modulo => line % self.sets,
            Index::Hashed => ((mix(line) >> 32) * self.sets) >> 32,
        };
        let first = set as usize * self.ways;
        &mut self.tags[first..first + self.ways]
    }
    /// Touches a line if it is cached, and marks it as dirty if `dirty`. Returns whether it is cached.
    #[inline]
    pub(super) fn touch(&mut self, line: u64, dirty: bool) -> bool {
        if self.ways == 0 {
            return false;
        }
        let lru = self.replacement == Replacement::Lru;
        let set = self.set(line);
        let wanted = tag(line, false);
        let Some(at) = set.iter().position(|tag| tag & !DIRTY == wanted) else { return false };
        set[at] |= u64::from(dirty);
        if lru && at > 0 {
            set[..=at].rotate_right(1);
        }
        true
    }
    /// Takes in a line that is not there; the line that has to go for it.
    #[inline]
    pub(super) fn insert(&mut self, line: u64, dirty: bool) -> Option<Victim> {
        if self.ways == 0 {
            return Some(Victim { line, dirty });
        }
        let (replacement, ways) = (self.replacement, self.ways);
        let dice = if replacement == Replacement::Random { self.random_way(ways) } else { 0 };
        let set = self.set(line);
        let out = match replacement {
            Replacement::Lru => {
                set.rotate_right(1);
                std::mem::replace(&mut set[0], tag(line, dirty))
            }
            Replacement::Random => {
                let at = set.iter().position(|tag| *tag == 0).unwrap_or(dice);
                std::mem::replace(&mut set[at], tag(line, dirty))
            }
        };
        (out != 0).then(|| Victim { line: (out >> 1) - 1, dirty: out & DIRTY != 0 })
    }
    /// Takes a line out, if it is there; whether it was dirty.
    pub(super) fn remove(&mut self, line: u64) -> Option<bool> {
        if self.ways == 0 {
            return None;
        }
        let set = self.set(line);
        let at = set.iter().position(|found| found & !DIRTY == tag(line, false))?;
        let dirty = set[at] & DIRTY != 0;
        // under LRU the empty place is the first to be filled
        set[at..].rotate_left(1);
        set[set.len() - 1] = 0;
        Some(dirty)
    }
    /// A way, each equally likely.
    fn random_way(&mut self, ways: usize) -> usize {
        self.dice = self.dice.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (((mix(self.dice) >> 32) * ways as u64) >> 32) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cache(lines: u64, ways: u64, replacement: Replacement) -> Cache {
        Cache::new(Shape { lines, ways, replacement, index: Index::Modulo }, 7)
    }

    proptest! {
        /// Against a list for each set: the same hits, the same victims, the same dirt.
        #[test]
        fn lru_is_what_lists_say(steps in prop::collection::vec((0..40_u64, any::<bool>(), 0..10_u8), 1..400)) {
            let mut cache = cache(12, 4, Replacement::Lru);
            let mut sets: Vec<Vec<Victim>> = vec![Vec::new(); 3];
            for (line, dirty, what) in steps {
                let set = &mut sets[(line % 3) as usize];
                let at = set.iter().position(|v| v.line == line);
                if what == 0 {
                    prop_assert_eq!(cache.remove(line), at.map(|at| set.remove(at).dirty));
                    continue;
                }
                prop_assert_eq!(cache.touch(line, dirty), at.is_some());
                let dirty = dirty || at.is_some_and(|at| set[at].dirty);
                if let Some(at) = at { set.remove(at); } else {
                    let victim = if set.len() == 4 { set.pop() } else { None };
                    prop_assert_eq!(cache.insert(line, dirty), victim);
                }
                set.insert(0, Victim { line, dirty });
            }
        }
    }

    /// A cycle through more lines than there are never hits under LRU; under random replacement the share h of hits is
    /// a solution of h = exp(-(1 - h) N / C) (each miss throws one of C lines out; a line survives the (1 - h) N misses
    /// until it comes again).
    #[test]
    fn a_cycle_larger_than_the_cache_hits_only_by_chance() {
        const LINES: u64 = 4096;
        let hits = |replacement, n: u64| {
            let mut cache = cache(LINES, 16, replacement);
            let mut round = || {
                let mut hits = 0;
                for line in 0..n {
                    if cache.touch(line, false) {
                        hits += 1;
                    } else {
                        cache.insert(line, false);
                    }
                }
                f64::from(hits) / n as f64
            };
            (0..8).map(|_| round()).last().unwrap()
        };
        assert_eq!(hits(Replacement::Lru, LINES), 1.0);
        assert_eq!(hits(Replacement::Lru, 2 * LINES), 0.0);
        for (times, expected) in [(1.5, 0.417), (2.0, 0.203), (3.0, 0.0595)] {
            let h: f64 = hits(Replacement::Random, (LINES as f64 * times) as u64);
            assert!((h - expected).abs() < 0.03, "{times}: {h}");
        }
    }

    #[test]
    fn a_cache_without_lines_has_none() {
        let mut none = cache(0, 8, Replacement::Lru);
        assert_eq!((none.touch(1, true), none.remove(1)), (false, None));
        assert_eq!(none.insert(1, true), Some(Victim { line: 1, dirty: true }));
    }
}
