//! Where a program is: which NUMA node each page of its memory is on, and which cores its threads run on.
//!
//! Policies are Linux's (`set_mempolicy(2)`, `numactl(8)`; weighted interleaving since Linux 6.9):
//!
//! | policy | a new page goes to | when that is full |
//! |---|---|---|
//! | bind | the nearest node of the set that has room | there is no memory: an error, never another node |
//! | preferred | the node | the nearest node that has room |
//! | interleave | the nodes in turn, a page each | the turn stays; its page goes to the nearest node that has room |
//! | weighted interleave | the nodes in turn, as many pages as the node's weight (1 to 255) | as above |
//! | DAX | the device's memory, mapped directly in pages of 2 MiB (device-dax): no policy, and no other node | there is no memory: an error |
//!
//! Parts of a program can have a policy of their own, as `mbind(2)` or a mapping of a device gives them.
//!
//! *Near* goes by the numbers of the nodes from the page's own upwards, and round again: nodes are numbered by sockets first, then by
//! memory behind CXL.
//!
//! **Order of allocation: ascending addresses.** It is what Linux does for the mapping's own policy (`mbind`), where the turn follows
//! from the page's place in the mapping, and for the task's policy (`numactl`) when one thread touches the memory first from its start to
//! its end, as an initialising loop does. (Under a task's policy each thread has its own turn; several threads that touch pages first in
//! no fixed order leave the same shares in another order.) It makes the place of a page a function of its number: nothing is stored for a
//! page, however large the memory.

/// The size of a page \[B\].
pub const PAGE: u64 = 4096;
/// The pages of 4 KiB that a page of a directly mapped device is: 2 MiB, the alignment of device-dax (Linux, drivers/dax; `daxctl-create-device`).
pub const HUGE: u64 = 512;

use std::ops::Range;

/// A policy for the pages of a program; nodes go by their number in the host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Policy {
    /// Only on these nodes.
    Bind(Vec<u16>),
    /// On this node while it has room.
    Preferred(u16),
    /// On these nodes in turn.
    Interleave(Vec<u16>),
    /// On these nodes in turn, with a weight each.
    WeightedInterleave(Vec<(u16, u8)>),
    /// Directly on the device of this node, in pages of 2 MiB.
    Dax(u16),
}

/// Pages of a program that have a policy of their own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// Which.
    pub pages: Range<u64>,
    /// Where they are.
    pub policy: Policy,
}

/// Where a program is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placement {
    /// What the program is called in results.
    pub name: String,
    /// Where its pages are.
    pub policy: Policy,
    /// Parts that have another, by address and apart.
    pub parts: Vec<Part>,
    /// The hardware threads that its threads are pinned to, in their order and round again; from the first that no program has yet, if
    /// there are none. Hardware threads are numbered core by core first, then again for the second of every core, as Linux does.
    pub cpus: Vec<u32>,
    /// So many steps of each of its threads are taken before the run, in no time and beside its count: caches and TLBs then begin warm. If
    /// none is said, as many as it takes until the caches hold what they will hold, where that is known ([`super::Program::reuse`]).
    pub warm: Option<u64>,
}

impl Placement {
    /// A program of this name, with this policy, on cores that no other has.
    #[must_use]
    pub fn new(name: impl Into<String>, policy: Policy) -> Self {
        Self { name: name.into(), policy, parts: Vec::new(), cpus: Vec::new(), warm: None }
    }
    /// The same with policies of their own for these parts.
    #[must_use]
    pub fn with_parts(self, parts: Vec<Part>) -> Self {
        Self { parts, ..self }
    }
    /// The same, after so many steps of each thread; 0 for cold caches.
    #[must_use]
    pub fn warmed_by(self, steps: u64) -> Self {
        Self { warm: Some(steps), ..self }
    }
    /// The same on these hardware threads.
    #[must_use]
    pub fn on(self, cpus: impl IntoIterator<Item = u32>) -> Self {
        Self { cpus: cpus.into_iter().collect(), ..self }
    }
}

/// What is wrong with a policy on a machine.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadPlacement {
    /// It names no node.
    #[error("the policy names no node")]
    NoNodes,
    /// There is no such node.
    #[error("there is no node {node}: the host has {nodes}")]
    NoSuchNode {
        /// The node.
        node: u16,
        /// How many there are.
        nodes: usize,
    },
    /// It is named twice.
    #[error("node {0} is named twice")]
    Twice(u16),
    /// A weight that Linux does not take.
    #[error("node {0} has weight 0: weights are 1 to 255")]
    Weight(u16),
    /// It does not fit.
    #[error("{needed} pages of 4 KiB do not fit: the nodes have room for {room}")]
    NoRoom {
        /// Pages of the program.
        needed: u64,
        /// Pages that are left where the policy may go.
        room: u64,
    },
}

/// The node and the frame of every page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageMap {
    /// Pages.
    pages: u64,
    /// Stretches of pages without a change of where the turns lead; the first page of each ascends.
    stretches: Vec<Stretch>,
    /// Frames that are used of each node, with those that were before.
    used: Vec<u64>,
    /// Pages that are mapped directly, in pages of 2 MiB.
    huge: Vec<Range<u64>>,
}

/// Pages from `first` on: the i-th of a round goes to `turns[i]`.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Stretch {
    first: u64,
    /// For each page of a round its node, and how many pages before it in the round have the same one.
    turns: Vec<(u16, u64)>,
    /// For each node, how many pages of a round it has.
    shares: Vec<u64>,
    /// For each node, the frame of its first page in the round that `first` is in; less than 0 in spirit where that page came before.
    bases: Vec<i128>,
}

impl Policy {
    /// The nodes of a round, page by page.
    fn round(&self) -> Vec<u16> {
        match self {
            Self::Bind(nodes) => nodes.iter().min().copied().into_iter().collect(),
            Self::Preferred(node) | Self::Dax(node) => vec![*node],
            Self::Interleave(nodes) => nodes.clone(),
            Self::WeightedInterleave(nodes) => {
                nodes.iter().flat_map(|&(node, weight)| std::iter::repeat_n(node, weight.into())).collect()
            }
        }
    }
    /// The nodes that it names, in the order of writing.
    #[must_use]
    pub fn named(&self) -> Vec<u16> {
        match self {
            Self::Bind(nodes) | Self::Interleave(nodes) => nodes.clone(),
            Self::Preferred(node) | Self::Dax(node) => vec![*node],
            Self::WeightedInterleave(nodes) => nodes.iter().map(|(node, _)| *node).collect(),
        }
    }
    fn may_use(&self, node: u16) -> bool {
        match self {
            Self::Bind(nodes) => nodes.contains(&node),
            Self::Dax(own) => *own == node,
            _ => true,
        }
    }
    /// Everything that is wrong with it on a host with so many nodes, whatever their room.
    #[must_use]
    pub fn check(&self, nodes: usize) -> Vec<BadPlacement> {
        let named = self.named();
        let mut wrong = Vec::new();
        if named.is_empty() {
            wrong.push(BadPlacement::NoNodes);
        }
        for (i, &node) in named.iter().enumerate() {
            if usize::from(node) >= nodes {
                wrong.push(BadPlacement::NoSuchNode { node, nodes });
            }
            if named[..i].contains(&node) {
                wrong.push(BadPlacement::Twice(node));
            }
        }
        if let Self::WeightedInterleave(weights) = self {
            wrong
                .extend(weights.iter().filter(|(_, w)| *w == 0).map(|(node, _)| BadPlacement::Weight(*node)));
        }
        wrong
    }
}

impl PageMap {
    /// The places of `pages` pages on nodes with so many frames, of which the first `used` are taken.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn new(policy: &Policy, pages: u64, frames: &[u64], used: &[u64]) -> Result<Self, Vec<BadPlacement>> {
        Self::with_parts((policy, &[]), pages, frames, used)
    }
    /// The same with policies of their own for parts, which ascend and are apart; what of them lies beyond the pages is left out. The turns of
    /// every policy follow from the numbers of the pages.
    ///
    /// # Errors
    /// Everything that is wrong; of what does not fit, the first.
    pub fn with_parts(
        (policy, parts): (&Policy, &[Part]),
        pages: u64,
        frames: &[u64],
        used: &[u64],
    ) -> Result<Self, Vec<BadPlacement>> {
        let all = std::iter::once(policy).chain(parts.iter().map(|part| &part.policy));
        let wrong: Vec<BadPlacement> = all.flat_map(|policy| policy.check(frames.len())).collect();
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let mut map = Self { pages, stretches: Vec::new(), used: used.to_vec(), huge: Vec::new() };
        let mut at = 0;
        for part in parts {
            let (first, end) = (part.pages.start.clamp(at, pages), part.pages.end.clamp(at, pages));
            map.fill(policy, at..first, frames)?;
            map.fill(&part.policy, first..end, frames)?;
            at = end.max(first);
        }
        map.fill(policy, at..pages, frames)?;
        Ok(map)
    }
    /// Gives pages that follow those before their places.
    fn fill(&mut self, policy: &Policy, pages: Range<u64>, frames: &[u64]) -> Result<(), Vec<BadPlacement>> {
        let free = |node: usize, used: &[u64]| frames[node].saturating_sub(used[node]);
        let mut needed = pages.end - pages.start;
        if needed == 0 {
            return Ok(());
        }
        if let Policy::Dax(node) = policy {
            needed = needed.next_multiple_of(HUGE);
            let used = &mut self.used[usize::from(*node)];
            *used = used.next_multiple_of(HUGE);
            self.huge.push(pages.clone());
        }
        let room = (0..frames.len()).filter(|n| policy.may_use(*n as u16)).map(|n| free(n, &self.used)).sum();
        if room < needed {
            return Err(vec![BadPlacement::NoRoom { needed, room }]);
        }
        let (round, mut at) = (policy.round(), pages.start);
        while at < pages.end {
            let full: Vec<bool> = (0..frames.len()).map(|node| free(node, &self.used) == 0).collect();
            let nearest = |node: u16| {
                let order = (node..frames.len() as u16).chain(0..node);
                let mut with_room = order.filter(|n| !full[usize::from(*n)] && policy.may_use(*n));
                with_room.next().expect("there is room for all pages")
            };
            let turns: Vec<u16> = round.iter().map(|node| nearest(*node)).collect();
            let stretch = Stretch::new(at, &turns, &self.used);
            let length = stretch.until_full(frames, pages.end - at, &self.used);
            stretch.take(length, &mut self.used);
            at += length;
            self.stretches.push(stretch);
        }
        if let Policy::Dax(node) = policy {
            let used = &mut self.used[usize::from(*node)];
            *used = used.next_multiple_of(HUGE);
        }
        Ok(())
    }
    /// Pages that are mapped directly, in pages of 2 MiB from the first of each on.
    #[must_use]
    pub fn huge(&self) -> &[Range<u64>] {
        &self.huge
    }
    /// How many pages there are.
    #[must_use]
    pub const fn pages(&self) -> u64 {
        self.pages
    }
    /// Frames that are used of each node, with those that were before.
    #[must_use]
    pub fn used(&self) -> &[u64] {
        &self.used
    }
    /// The node of a page, and its frame there.
    ///
    /// # Panics
    /// If there is no page at all.
    #[inline]
    #[must_use]
    pub fn place(&self, page: u64) -> (u16, u64) {
        debug_assert!(page < self.pages);
        let stretch = match &self.stretches[..] {
            [only] => only,
            all => &all[all.partition_point(|stretch| stretch.first <= page) - 1],
        };
        stretch.place(page)
    }
}

impl Stretch {
    fn new(first: u64, turns: &[u16], used: &[u64]) -> Self {
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
        Self { first, turns, shares, bases }
    }
    #[inline]
    fn place(&self, page: u64) -> (u16, u64) {
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
    fn until_full(&self, frames: &[u64], most: u64, used: &[u64]) -> u64 {
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
    fn take(&self, length: u64, used: &mut [u64]) {
        for (node, used) in used.iter_mut().enumerate() {
            *used += self.count(node as u16, length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Page by page, as the kernel would: whose turn it is, and the nearest node with room.
    fn one_by_one(policy: &Policy, pages: u64, frames: &[u64], used: &[u64]) -> Vec<(u16, u64)> {
        let (round, mut used) = (policy.round(), used.to_vec());
        let nodes = frames.len() as u16;
        let place = |page: u64| {
            let turn = round[(page % round.len() as u64) as usize];
            let near = (turn..nodes).chain(0..turn);
            let node = near
                .into_iter()
                .find(|&n| policy.may_use(n) && used[usize::from(n)] < frames[usize::from(n)]);
            let node = node.unwrap();
            used[usize::from(node)] += 1;
            (node, used[usize::from(node)] - 1)
        };
        (0..pages).map(place).collect()
    }

    fn policy() -> impl Strategy<Value = Policy> {
        let some = prop::sample::subsequence(vec![0_u16, 1, 2, 3], 1..=4);
        prop_oneof![
            some.clone().prop_map(Policy::Bind),
            (0..4_u16).prop_map(Policy::Preferred),
            some.clone().prop_map(Policy::Interleave),
            (some, prop::array::uniform4(1..=9_u8)).prop_map(|(nodes, weights)| {
                Policy::WeightedInterleave(nodes.into_iter().zip(weights).collect())
            }),
        ]
    }

    proptest! {
        #[test]
        fn every_page_is_where_one_by_one_would_put_it(
            policy in policy(),
            frames in prop::collection::vec(0..60_u64, 4),
            used in prop::collection::vec(0..20_u64, 4),
            pages in 1..200_u64,
        ) {
            let room: u64 = (0..4).filter(|n| policy.may_use(*n as u16)).map(|n| frames[n].saturating_sub(used[n])).sum();
            let map = PageMap::new(&policy, pages, &frames, &used);
            if room < pages {
                prop_assert_eq!(map.unwrap_err(), [BadPlacement::NoRoom { needed: pages, room }]);
                return Ok(());
            }
            let map = map.unwrap();
            let places: Vec<_> = (0..pages).map(|page| map.place(page)).collect();
            prop_assert_eq!(places, one_by_one(&policy, pages, &frames, &used));
        }
    }

    #[test]
    fn weights_are_shares_of_every_round() {
        let policy = Policy::WeightedInterleave(vec![(0, 10), (1, 1)]);
        let map = PageMap::new(&policy, 1100, &[1 << 20; 2], &[0; 2]).unwrap();
        for round in 0..100 {
            let far = (round * 11..round * 11 + 11).filter(|page| map.place(*page).0 == 1).count();
            assert_eq!(far, 1);
        }
        assert_eq!((map.place(10), map.place(11), map.place(21)), ((1, 0), (0, 10), (1, 1)));
        assert_eq!(map.used(), [1000, 100]);
    }

    #[test]
    fn parts_have_policies_of_their_own_and_dax_whole_pages_of_two_mebibytes() {
        let part = |pages, policy| Part { pages, policy };
        let parts = [
            part(10..20, Policy::Bind(vec![1])),
            part(100..700, Policy::Dax(2)),
            part(900..1300, Policy::Dax(2)),
        ];
        let policy = Policy::Interleave(vec![0, 1]);
        let map = PageMap::with_parts((&policy, &parts), 1000, &[10_000; 3], &[0, 0, 3]).unwrap();
        let nodes: Vec<u16> = (0..1000).map(|page| map.place(page).0).collect();
        assert_eq!(&nodes[8..22], &[0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1]);
        assert!(nodes[100..700].iter().chain(&nodes[900..]).all(|node| *node == 2));
        assert!(nodes[700..900].iter().all(|node| *node < 2));
        // both begin at a multiple of 2 MiB, and what is left of their last page is nobody's
        assert_eq!((map.place(100), map.place(699), map.place(900)), ((2, 512), (2, 1111), (2, 1536)));
        assert_eq!((map.used()[2], map.huge()), (2048, &[100..700, 900..1000][..]));
        // every other place is there once
        let places: std::collections::BTreeSet<_> = (0..1000).map(|page| map.place(page)).collect();
        assert_eq!(places.len(), 1000);
        let small = PageMap::new(&Policy::Dax(1), 513, &[9999, 1023], &[0; 2]).unwrap_err();
        assert_eq!(small, [BadPlacement::NoRoom { needed: 1024, room: 1023 }]);
    }

    #[test]
    fn a_terabyte_is_placed_without_a_table() {
        let pages = 1 << 28;
        let policy = Policy::WeightedInterleave(vec![(0, 3), (1, 1)]);
        let map = PageMap::new(&policy, pages, &[1 << 26, 1 << 28], &[0; 2]).unwrap();
        assert_eq!(map.used(), [1 << 26, 3 << 26]);
        assert_eq!(map.place(pages - 1), (1, (3 << 26) - 1));
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once() {
        let weights = vec![(0, 0), (5, 1), (5, 2)];
        let wrong = PageMap::new(&Policy::WeightedInterleave(weights), 1, &[1; 2], &[0; 2]).unwrap_err();
        let none = |node| BadPlacement::NoSuchNode { node, nodes: 2 };
        assert_eq!(wrong, [none(5), none(5), BadPlacement::Twice(5), BadPlacement::Weight(0)]);
        assert_eq!(Policy::Interleave(Vec::new()).check(1), [BadPlacement::NoNodes]);
    }
}
