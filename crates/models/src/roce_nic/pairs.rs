//! The queue pairs of an adapter, by name, and which of their lanes may have something to send.

use super::pair::Pair;
use lanetwin_ports::QueuePairId;

/// Bits of a queue pair, of which each of its lanes has one.
const BITS: usize = 4;
/// No place.
const NOWHERE: u16 = u16::MAX;

/// Some of the lanes of each queue pair: their bits in every word.
#[derive(Clone, Copy)]
pub(super) struct Lanes(u64);

impl Lanes {
    /// That lane.
    pub(super) const fn of(lane: usize) -> Self {
        Self((u64::MAX / 0xf) << lane)
    }
    /// These and those.
    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Queue pairs in the order of their names.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    pairs: Vec<(QueuePairId, Pair)>,
    /// The place of each in that order, by its name.
    places: Vec<u16>,
    /// A bit for each lane in which something waits, and maybe for others.
    waiting: Vec<u64>,
}

impl Pairs {
    #[inline]
    fn place(&self, id: QueuePairId) -> Option<usize> {
        let place = *self.places.get(id.index())?;
        (place != NOWHERE).then_some(place.into())
    }
    #[inline]
    pub(super) fn get(&self, id: QueuePairId) -> Option<&Pair> {
        Some(&self.pairs[self.place(id)?].1)
    }
    #[inline]
    pub(super) fn get_mut(&mut self, id: QueuePairId) -> Option<&mut Pair> {
        let place = self.place(id)?;
        Some(&mut self.pairs[place].1)
    }
    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }
    /// All of them, in the order of their names.
    pub(super) fn values(&self) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().map(|(_, pair)| pair)
    }
    /// Puts one in that was not there.
    pub(super) fn insert(&mut self, id: QueuePairId, pair: Pair) {
        let place = self.pairs.partition_point(|(other, _)| *other < id);
        self.pairs.insert(place, (id, pair));
        let names = self.pairs.last().map_or(0, |(last, _)| last.index() + 1);
        self.places = vec![NOWHERE; names];
        self.waiting = vec![0; (self.pairs.len() * BITS).div_ceil(64)];
        for (place, (id, pair)) in self.pairs.iter().enumerate() {
            self.places[id.index()] = place as u16;
            for lane in (0..pair.lanes.len()).filter(|lane| pair.lanes[*lane].len() > 0) {
                let bit = place * BITS + lane;
                self.waiting[bit / 64] |= 1 << (bit % 64);
            }
        }
    }
    /// Something was put into a lane.
    #[inline]
    pub(super) fn wait(&mut self, id: QueuePairId, lane: usize) {
        if let Some(place) = self.place(id) {
            let bit = place * BITS + lane;
            self.waiting[bit / 64] |= 1 << (bit % 64);
        }
    }
    /// The next lane in turn that has a frame and may send, among these lanes of each queue pair; the first follows
    /// the last.
    pub(super) fn next(
        &mut self,
        (id, lane): (QueuePairId, usize),
        Lanes(mask): Lanes,
        may_send: impl Fn(&Pair, usize) -> bool,
    ) -> Option<(QueuePairId, usize)> {
        if let [word] = self.waiting[..] {
            return self.next_of_few((id, lane), word & mask, may_send);
        }
        if self.waiting.iter().all(|word| word & mask == 0) {
            return None;
        }
        let first = match self.place(id) {
            Some(place) => place * BITS + lane + 1,
            None => self.pairs.partition_point(|(other, _)| *other < id) * BITS,
        };
        for (from, to) in [(first, self.pairs.len() * BITS), (0, first)] {
            let mut at = from;
            while let Some(bit) = self.first_waiting(at, mask).filter(|bit| *bit < to) {
                let (lane, (id, pair)) = (bit % BITS, &self.pairs[bit / BITS]);
                if pair.lanes[lane].len() == 0 {
                    self.waiting[bit / 64] &= !(1 << (bit % 64));
                } else if may_send(pair, lane) {
                    return Some((*id, lane));
                }
                at = bit + 1;
            }
        }
        None
    }
    /// The same where the bits of all are in one word, of which these are set.
    fn next_of_few(
        &mut self,
        (id, lane): (QueuePairId, usize),
        set: u64,
        may_send: impl Fn(&Pair, usize) -> bool,
    ) -> Option<(QueuePairId, usize)> {
        if set == 0 {
            return None;
        }
        let first = match self.place(id) {
            Some(place) => place * BITS + lane + 1,
            None => self.pairs.partition_point(|(other, _)| *other < id) * BITS,
        };
        let behind = u64::MAX.checked_shl(first as u32).unwrap_or(0);
        for mut part in [set & behind, set & !behind] {
            while part != 0 {
                let bit = part.trailing_zeros() as usize;
                part &= part - 1;
                let (lane, (id, pair)) = (bit % BITS, &self.pairs[bit / BITS]);
                if pair.lanes[lane].len() == 0 {
                    self.waiting[0] &= !(1 << bit);
                } else if may_send(pair, lane) {
                    return Some((*id, lane));
                }
            }
        }
        None
    }
    /// The first bit that is set from `from` on, of those in every word of the mask.
    fn first_waiting(&self, from: usize, mask: u64) -> Option<usize> {
        let head = self.waiting.get(from / 64)? & mask & u64::MAX << (from % 64);
        if head != 0 {
            return Some(from / 64 * 64 + head.trailing_zeros() as usize);
        }
        let rest = (from / 64 + 1..).zip(self.waiting.get(from / 64 + 1..)?);
        let (word, set) = rest.map(|(i, word)| (i, word & mask)).find(|(_, set)| *set != 0)?;
        Some(word * 64 + set.trailing_zeros() as usize)
    }
}
