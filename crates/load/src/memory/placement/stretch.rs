//! Pages of one size that go round alike.

/// Pages from one on: the i-th of a round goes to `turns[i]`. Numbers of pages and frames count pages of its size, but
/// for those of [`Stretch::first`] and [`Stretch::place`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Stretch {
    first: u64,
    /// How many pages of 4 KiB a page is, as a power of two.
    shift: u32,
    /// For each page of a round its node, and how many pages before it in the round have the same one.
    turns: Vec<(u16, u64)>,
    /// For each node, how many pages of a round it has.
    shares: Vec<u64>,
    /// For each node, the frame of its first page in the round that `first` is in; less than 0 in spirit where that
    /// page came before.
    bases: Vec<i128>,
}

impl Stretch {
    /// From a page of 2^shift pages of 4 KiB on.
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
    /// Whether what follows it is where it would go on itself.
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
    /// How many of its first pages lie on the node.
    fn count(&self, node: u16, length: u64) -> u64 {
        let (round, n) = (self.turns.len() as u64, usize::from(node));
        let up_to = |page: u64| {
            let part = &self.turns[..(page % round) as usize];
            page / round * self.shares[n] + part.iter().filter(|turn| turn.0 == node).count() as u64
        };
        up_to(self.first + length) - up_to(self.first)
    }
    /// How many pages, of at most so many, are placed until a node that has a turn is full.
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
    /// Takes the frames of its first pages.
    pub(super) fn take(&self, length: u64, used: &mut [u64]) {
        for (node, used) in used.iter_mut().enumerate() {
            *used += self.count(node as u16, length);
        }
    }
}
