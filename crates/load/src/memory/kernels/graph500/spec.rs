//! The parameters of a search.

use lanetwin_units::Span;
use std::fmt;

/// The largest scale: vertices have 32 bits.
const LARGEST: u32 = 32;

/// A search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Graph500 {
    /// The logarithm of the number of vertices, 1 to 32; the benchmark's class mini is 29.
    pub scale: u32,
    /// Edges for each vertex, 16 in the benchmark.
    pub edge_factor: u32,
    /// Computing time for examining a neighbour (assumed: 1 ns).
    pub look: Span,
}

impl Graph500 {
    /// The benchmark's graph of a scale.
    #[must_use]
    pub const fn of_scale(scale: u32) -> Self {
        Self { scale, edge_factor: 16, look: Span::from_ns(1) }
    }
    /// All problems of the parameters.
    #[must_use]
    pub fn check(&self) -> Vec<BadGraph> {
        let wrong = [
            (!(1..=LARGEST).contains(&self.scale), BadGraph::Scale),
            (!(1..=1024).contains(&self.edge_factor), BadGraph::EdgeFactor),
        ];
        wrong.into_iter().filter_map(|(is, what)| is.then_some(what)).collect()
    }
    /// Number of vertices.
    #[must_use]
    pub const fn vertices(&self) -> u64 {
        1 << self.scale
    }
    /// Number of edges that the generator makes.
    #[must_use]
    pub const fn edges(&self) -> u64 {
        self.vertices() * self.edge_factor as u64
    }
}

/// A problem of a search's parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadGraph {
    /// A scale of 0 or above 32.
    Scale,
    /// An edge factor of 0 or above 1024.
    EdgeFactor,
}

impl fmt::Display for BadGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scale => "the scale of a graph is 1 to 32",
            Self::EdgeFactor => "the edge factor of a graph is 1 to 1024",
        })
    }
}

impl std::error::Error for BadGraph {}
