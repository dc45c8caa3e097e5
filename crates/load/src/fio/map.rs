//! Which blocks of a pass have been taken: the random map (`lib/axmap.c`).

use std::collections::BTreeMap;

/// Bits in a word.
const WORD: u64 = 64;
/// Words in a piece of a map of a large file.
const PIECE: u64 = 64;
/// Files of up to so many blocks have their whole map in memory (8 MiB); of larger ones there are the pieces that were
/// touched.
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
    Whole(Vec<u64>),
    Pieces(BTreeMap<u64, Box<[u64; PIECE as usize]>>),
}

impl Map {
    /// Of so many blocks, none of them taken.
    pub(super) fn new(blocks: u64) -> Self {
        let words = if blocks <= WHOLE {
            Words::Whole(vec![0; blocks.div_ceil(WORD) as usize])
        } else {
            Words::Pieces(BTreeMap::new())
        };
        Self { blocks, taken: 0, words }
    }
    /// Gives every block back.
    pub(super) fn clear(&mut self) {
        self.taken = 0;
        match &mut self.words {
            Words::Whole(words) => words.fill(0),
            Words::Pieces(pieces) => pieces.clear(),
        }
    }
    fn word(&self, word: u64) -> u64 {
        match &self.words {
            Words::Whole(words) => words[word as usize],
            Words::Pieces(pieces) => pieces.get(&(word / PIECE)).map_or(0, |p| p[(word % PIECE) as usize]),
        }
    }
    fn is_taken(&self, block: u64) -> bool {
        self.word(block / WORD) >> (block % WORD) & 1 == 1
    }
    /// The first block from this one on that has not been taken, going round; none if all have been.
    pub(super) fn free_from(&self, block: u64) -> Option<u64> {
        if self.taken >= self.blocks {
            return None;
        }
        self.free_in(block, self.blocks).or_else(|| self.free_in(0, block))
    }
    fn free_in(&self, from: u64, to: u64) -> Option<u64> {
        let mut block = from;
        while block < to {
            let rest = !self.word(block / WORD) >> (block % WORD);
            if rest != 0 {
                return Some(block + u64::from(rest.trailing_zeros())).filter(|block| *block < to);
            }
            block = (block / WORD + 1) * WORD;
        }
        None
    }
    /// Takes up to `count` blocks from this one on, up to the first that has been taken; how many that were.
    pub(super) fn take(&mut self, block: u64, count: u64) -> u64 {
        let end = block.saturating_add(count).min(self.blocks);
        let mut here = block;
        while here < end && !self.is_taken(here) {
            let (word, bit) = (here / WORD, 1 << (here % WORD));
            match &mut self.words {
                Words::Whole(words) => words[word as usize] |= bit,
                Words::Pieces(pieces) => {
                    let piece = pieces.entry(word / PIECE).or_insert_with(|| Box::new([0; PIECE as usize]));
                    piece[(word % PIECE) as usize] |= bit;
                }
            }
            here += 1;
        }
        self.taken += here - block;
        here - block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_is_taken_once_in_maps_of_any_size() {
        for blocks in [1, 63, 64, 65, 1000] {
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

    #[test]
    fn a_large_map_has_only_what_was_touched() {
        let mut map = Map::new(1 << 40);
        assert_eq!(map.take(1 << 39, 3), 3);
        assert_eq!((map.take((1 << 39) - 2, 10), map.free_from(1 << 39)), (2, Some((1 << 39) + 3)));
        assert_eq!(map.free_from((1 << 40) - 1), Some((1 << 40) - 1));
    }
}
