//! Consecutive pages of one size that are distributed over nodes in the same round.

/// Pages from `first` on. They are numbered in rounds, and page i of a round is on the node `turns[i]`. Pages and
/// frames are counted in pages of this size, except by [`Stretch::first`] and [`Stretch::place`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Stretch {
    first: u64,
    /// Binary logarithm of the size of a page \[4 KiB\].
    shift: u32,
    /// For each page of a round, its node, and the number of pages before it in the round on the same node.
    turns: Vec<(u16, u64)>,
    /// For each node, its number of pages in a round.
    shares: Vec<u64>,
    /// For each node, the frame of its first page in the round of `first`. It may be negative if that page lies before
    /// `first`, and so does not belong to this stretch.
    bases: Vec<i128>,
}

impl Stretch {
    /// The stretch that begins at page `first`; pages have 2^`shift` × 4 KiB. `used` has the number of used frames of
    /// each node.
    pub(super) fn new((first, shift): (u64, u32), turns: &[u16], used: &[u64]) -> Self {
        let mut shares = vec![0; used.len()];
        let counted = |&node: &u16| {
            let before = shares[usize::from(node)];
            shares[usize::from(node)] += 1;
            (node, before)
        };
        let turns: Vec<(u16, u64)> = turns.iter().map(counted).collect();
        let in_round = (first % turns.len() as u64) as usize;
        let passed =
            |node: usize| turns[..in_round].iter().filter(|turn| usize::from(turn.0) == node).count();
        let bases = (0..used.len()).map(|node| i128::from(used[node]) - passed(node) as i128).collect();
        Self { first, shift, turns, shares, bases }
    }
    /// The first page, in pages of 4 KiB.
    #[inline]
    pub(super) const fn first(&self) -> u64 {
        self.first << self.shift
    }
    /// Whether `next` places its pages as this stretch would, if it continued.
    pub(super) fn goes_on_as(&self, next: &Self) -> bool {
        let alike = |i: u64| self.frame(next.first + i) == next.frame(next.first + i);
        self.shift == next.shift && self.turns == next.turns && (0..next.turns.len() as u64).all(alike)
    }
    /// The node and the frame of a page, in pages of 4 KiB.
    #[inline]
    pub(super) fn place(&self, page: u64) -> (u16, u64) {
        let (node, frame) = self.frame(page >> self.shift);
        (node, frame << self.shift | page & ((1 << self.shift) - 1))
    }
    #[inline]
    fn frame(&self, page: u64) -> (u16, u64) {
        let round = self.turns.len() as u64;
        if round == 1 {
            let (node, _) = self.turns[0];
            return (node, (self.bases[usize::from(node)] + i128::from(page - self.first)) as u64);
        }
        let (node, before) = self.turns[(page % round) as usize];
        let rounds = page / round - self.first / round;
        let n = usize::from(node);
        (node, (self.bases[n] + i128::from(rounds * self.shares[n] + before)) as u64)
    }
    /// Number of its first `length` pages that are on the node.
    fn count(&self, node: u16, length: u64) -> u64 {
        let (round, n) = (self.turns.len() as u64, usize::from(node));
        let up_to = |page: u64| {
            let part = &self.turns[..(page % round) as usize];
            page / round * self.shares[n] + part.iter().filter(|turn| turn.0 == node).count() as u64
        };
        up_to(self.first + length) - up_to(self.first)
    }
    /// Number of pages, at most `most`, that can be placed before a node of the round is full.
    pub(super) fn until_full(&self, frames: &[u64], most: u64, used: &[u64]) -> u64 {
        let fits = |length: u64| {
            (0..frames.len()).all(|n| used[n] + self.count(n as u16, length) <= frames[n].max(used[n]))
        };
        if fits(most) {
            return most;
        }
        let (mut low, mut high) = (0, most);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if fits(middle) { low = middle } else { high = middle }
        }
        low
    }
    /// Counts the frames of its first `length` pages as used.
    pub(super) fn take(&self, length: u64, used: &mut [u64]) {
        for (node, used) in used.iter_mut().enumerate() {
            *used += self.count(node as u16, length);
        }
    }
}
