//! The random map: the blocks that were used in the current pass (`lib/axmap.c`).

use std::collections::{BTreeMap, BTreeSet};

/// Bits in a word.
const WORD: u64 = 64;
/// Words in a piece of a map of a large file.
const PIECE: u64 = 64;
/// Up to this many used blocks are stored as a set. Otherwise a run with many drives would have to search many maps
/// that are each larger than a CPU cache.
const FEW: usize = 4096;
/// With more used blocks, the map of a file of up to this many blocks is stored as a whole (8 MiB); for larger files
/// only the pieces that were touched.
const WHOLE: u64 = 1 << 26;

/// A set of blocks.
#[derive(Clone, Debug)]
pub(super) struct Map {
    blocks: u64,
    taken: u64,
    words: Words,
}

#[derive(Clone, Debug)]
enum Words {
    Few(BTreeSet<u64>),
    Whole(Vec<u64>),
    Pieces(BTreeMap<u64, Box<[u64; PIECE as usize]>>),
}

impl Map {
    /// A map of this many blocks, all unused.
    pub(super) fn new(blocks: u64) -> Self {
        Self { blocks, taken: 0, words: Words::Few(BTreeSet::new()) }
    }
    /// Marks every block as unused.
    pub(super) fn clear(&mut self) {
        self.taken = 0;
        match &mut self.words {
            Words::Few(few) => few.clear(),
            Words::Whole(words) => words.fill(0),
            Words::Pieces(pieces) => pieces.clear(),
        }
    }
    fn is_taken(&self, block: u64) -> bool {
        match &self.words {
            Words::Few(few) => few.contains(&block),
            words => words.word(block / WORD) >> (block % WORD) & 1 == 1,
        }
    }
    /// The first unused block from this one on, wrapping around; `None` if all are used.
    pub(super) fn free_from(&self, block: u64) -> Option<u64> {
        if self.taken >= self.blocks {
            return None;
        }
        self.free_in(block, self.blocks).or_else(|| self.free_in(0, block))
    }
    fn free_in(&self, from: u64, to: u64) -> Option<u64> {
        if let Words::Few(few) = &self.words {
            return (from..to).find(|block| !few.contains(block));
        }
        let mut block = from;
        while block < to {
            let rest = !self.words.word(block / WORD) >> (block % WORD);
            if rest != 0 {
                return Some(block + u64::from(rest.trailing_zeros())).filter(|block| *block < to);
            }
            block = (block / WORD + 1) * WORD;
        }
        None
    }
    /// Marks up to `count` blocks from this one on as used, up to the first that is used already. Returns their number.
    pub(super) fn take(&mut self, block: u64, count: u64) -> u64 {
        let end = block.saturating_add(count).min(self.blocks);
        let mut here = block;
        while here < end && !self.is_taken(here) {
            self.words.set(here);
            here += 1;
        }
        self.words.grow(self.blocks);
        self.taken += here - block;
        here - block
    }
}

impl Words {
    fn word(&self, word: u64) -> u64 {
        let bit = |block: &u64| 1 << (block % WORD);
        match self {
            Self::Few(few) => few.range(word * WORD..(word + 1) * WORD).map(bit).sum(),
            Self::Whole(words) => words[word as usize],
            Self::Pieces(pieces) => pieces.get(&(word / PIECE)).map_or(0, |p| p[(word % PIECE) as usize]),
        }
    }
    fn set(&mut self, block: u64) {
        let (word, bit) = (block / WORD, 1 << (block % WORD));
        match self {
            Self::Few(few) => {
                few.insert(block);
            }
            Self::Whole(words) => words[word as usize] |= bit,
            Self::Pieces(pieces) => {
                let piece = pieces.entry(word / PIECE).or_insert_with(|| Box::new([0; PIECE as usize]));
                piece[(word % PIECE) as usize] |= bit;
            }
        }
    }
    /// Becomes a map of this many blocks, if the set is no longer small.
    fn grow(&mut self, blocks: u64) {
        let Self::Few(few) = self else { return };
        if few.len() <= FEW {
            return;
        }
        let mut map = if blocks <= WHOLE {
            Self::Whole(vec![0; blocks.div_ceil(WORD) as usize])
        } else {
            Self::Pieces(BTreeMap::new())
        };
        few.iter().for_each(|block| map.set(*block));
        *self = map;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_is_taken_once_in_maps_of_any_size() {
        for blocks in [1, 63, 64, 65, 1000, 3 * FEW as u64] {
            let mut map = Map::new(blocks);
            let mut order = Vec::new();
            while let Some(block) = map.free_from(blocks / 2) {
                assert_eq!(map.take(block, 1), 1);
                order.push(block);
            }
            let expected: Vec<u64> = (blocks / 2..blocks).chain(0..blocks / 2).collect();
            assert_eq!(order, expected);
            map.clear();
            assert_eq!(map.free_from(0), Some(0));
        }
    }

    /// Compares with a plain set: every answer is the same before and after the map stops being a set.
    #[test]
    fn a_map_that_grows_answers_as_before() {
        for blocks in [4 * FEW as u64, 1 << 40] {
            let (mut map, mut taken) = (Map::new(blocks), BTreeSet::new());
            for number in 0..2 * FEW as u64 {
                let from = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % blocks;
                let free = map.free_from(from).unwrap();
                let expected = (from..blocks).chain(0..from).find(|block| !taken.contains(block));
                assert_eq!(Some(free), expected);
                let count = (free..blocks).take(3).take_while(|block| taken.insert(*block)).count();
                assert_eq!(map.take(free, 3), count as u64);
            }
        }
    }

    #[test]
    fn a_large_map_has_only_what_was_touched() {
        let mut map = Map::new(1 << 40);
        assert_eq!(map.take(1 << 39, 3), 3);
        assert_eq!((map.take((1 << 39) - 2, 10), map.free_from(1 << 39)), (2, Some((1 << 39) + 3)));
        assert_eq!(map.free_from((1 << 40) - 1), Some((1 << 40) - 1));
    }
}
