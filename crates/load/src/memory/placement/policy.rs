//! Policies, which determine the node of a page.

use std::ops::Range;

/// A policy for the pages of a program; nodes are given by their number in the host.
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

/// Page sizes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum PageSize {
    /// 4 KiB: base pages.
    #[default]
    Small,
    /// 2 MiB: transparent huge pages, or those of hugetlb.
    Huge,
    /// 1 GiB: pages of hugetlb alone.
    Gigantic,
}

impl PageSize {
    /// Every size, the smallest first.
    pub const ALL: [Self; 3] = [Self::Small, Self::Huge, Self::Gigantic];

    /// Number of pages of 4 KiB in one page, as a power of two: nine more for each level of the page table that it
    /// skips.
    #[must_use]
    pub const fn shift(self) -> u32 {
        match self {
            Self::Small => 0,
            Self::Huge => 9,
            Self::Gigantic => 18,
        }
    }
    /// Number of pages of 4 KiB in one page.
    #[must_use]
    pub const fn pages(self) -> u64 {
        1 << self.shift()
    }
}

/// A mapping of memory: its nodes and its page size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mapping {
    /// The policy for its nodes.
    pub policy: Policy,
    /// Page size, where whole pages fit. Memory that is mapped directly always has pages of 2 MiB.
    pub size: PageSize,
}

impl From<Policy> for Mapping {
    /// In pages of 4 KiB.
    fn from(policy: Policy) -> Self {
        Self { policy, size: PageSize::Small }
    }
}

impl Policy {
    /// The nodes of a round, page by page.
    pub(super) fn round(&self) -> Vec<u16> {
        match self {
            Self::Bind(nodes) => nodes.iter().min().copied().into_iter().collect(),
            Self::Preferred(node) | Self::Dax(node) => vec![*node],
            Self::Interleave(nodes) => nodes.clone(),
            Self::WeightedInterleave(nodes) => {
                nodes.iter().flat_map(|&(node, weight)| std::iter::repeat_n(node, weight.into())).collect()
            }
        }
    }
    /// The nodes that it names, in order.
    #[must_use]
    pub fn named(&self) -> Vec<u16> {
        match self {
            Self::Bind(nodes) | Self::Interleave(nodes) => nodes.clone(),
            Self::Preferred(node) | Self::Dax(node) => vec![*node],
            Self::WeightedInterleave(nodes) => nodes.iter().map(|(node, _)| *node).collect(),
        }
    }
    pub(super) fn may_use(&self, node: u16) -> bool {
        match self {
            Self::Bind(nodes) => nodes.contains(&node),
            Self::Dax(own) => *own == node,
            _ => true,
        }
    }
    /// All problems on a host with this many nodes, regardless of their size.
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

/// Pages of a program with a separate mapping.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// The pages.
    pub pages: Range<u64>,
    /// Their mapping.
    pub mapping: Mapping,
}

/// Why a policy is invalid on a machine.
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
        /// Number of nodes.
        nodes: usize,
    },
    /// It is named twice.
    #[error("node {0} is named twice")]
    Twice(u16),
    /// A weight that Linux does not accept.
    #[error("node {0} has weight 0: weights are 1 to 255")]
    Weight(u16),
    /// It does not fit.
    #[error("{needed} pages of 4 KiB do not fit: the nodes have room for {room}")]
    NoRoom {
        /// Pages of the program.
        needed: u64,
        /// Pages left on the nodes of the policy.
        room: u64,
    },
}
