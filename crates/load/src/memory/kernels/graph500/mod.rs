//! Graph500's breadth-first search: a Kronecker graph, its adjacency lists, one search from a root.
//!
//! ```text
//!  for each level, the entries of the adjacency lists of its vertices, divided among the threads:
//!    queue ─► row start ─► column, column, … ─► parent of each ─┬─ has one: nothing
//!                                                               └─ has none: parent and next queue are written
//! ```
//!
//! | scales | the search is | what is kept |
//! |---|---|---|
//! | to 20 | run on the real graph, before the first step; its addresses are those of the run ([`searched`]) | the graph: 144 B for each vertex and edge factor 16 |
//! | from 21 | expected: how many vertices of which kind each level has follows from the generator's probabilities, and vertices, neighbours and discoveries are drawn from that ([`levels`], [`drawn`]) | tables of some 100 kB |
//!
//! The entries of a level are divided evenly (assumed: a search balanced by edges, as tuned codes are). Adjacency lists
//! have indices of 8 B, as in the reference of version 2.1; loops of the generator are left out, repeated edges stay.
//!
//! **Counting.** An operation is one look at a neighbour: an entry of an adjacency list. Each edge has two entries, so
//! TEPS are half of the operations for each second, of those of the component of the root.
//!
//! Sources: Graph 500 Benchmark specification, versions 1.2 and 2.0 (generator §3, construction, search and
//! validation); Chakrabarti, Zhan & Faloutsos, "R-MAT: a recursive model for graph mining", SDM 2004.

mod drawn;
mod graph;
mod kronecker;
mod levels;
mod searched;
mod validate;

use super::layout::{Layout, Part};
use super::looped::{Looped, Schedule};
use super::window::Window;
use crate::memory::Program;
pub use graph::{Graph, UNREACHED};
pub use kronecker::{Edge, Kronecker};
use lanetwin_units::Span;
use std::fmt;
pub use validate::{Invalid, validate};

/// The largest scale that is searched really.
const LARGEST_REAL: u32 = 20;
/// The largest scale: vertices have 32 bits.
const LARGEST: u32 = 32;
/// An index of a vertex or an entry \[B\].
const INDEX: u64 = 8;

/// A search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Graph500 {
    /// The logarithm of the number of vertices, 1 to 32; the benchmark's class mini is 29.
    pub scale: u32,
    /// Edges for each vertex, 16 in the benchmark.
    pub edge_factor: u32,
    /// Computing time of a look at a neighbour (assumed: 1 ns).
    pub look: Span,
}

impl Graph500 {
    /// The benchmark's graph of a scale.
    #[must_use]
    pub const fn of_scale(scale: u32) -> Self {
        Self { scale, edge_factor: 16, look: Span::from_ns(1) }
    }
    /// What is wrong with it.
    #[must_use]
    pub fn check(&self) -> Vec<BadGraph> {
        let wrong = [
            (!(1..=LARGEST).contains(&self.scale), BadGraph::Scale),
            (!(1..=1024).contains(&self.edge_factor), BadGraph::EdgeFactor),
        ];
        wrong.into_iter().filter_map(|(is, what)| is.then_some(what)).collect()
    }
    /// How many vertices there are.
    #[must_use]
    pub const fn vertices(&self) -> u64 {
        1 << self.scale
    }
    /// How many edges the generator makes.
    #[must_use]
    pub const fn edges(&self) -> u64 {
        self.vertices() * self.edge_factor as u64
    }
}

/// What is wrong with a search.
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

/// Where the arrays lie.
#[derive(Clone, Debug, Default)]
pub(super) struct Map {
    starts: u64,
    columns: u64,
    parents: u64,
    queue: u64,
    layout: Layout,
}

impl Map {
    pub(super) fn new(graph: &Graph500) -> Self {
        let mut layout = Layout::default();
        // the list of edges stays: validation needs it
        layout.idle("edge list", graph.edges() * 2 * INDEX);
        let starts = layout.place("row starts", (graph.vertices() + 1) * INDEX);
        let columns = layout.place("columns", graph.edges() * 2 * INDEX);
        let parents = layout.place("parents", graph.vertices() * INDEX);
        let queue = layout.place("queue", graph.vertices() * INDEX);
        Self { starts, columns, parents, queue, layout }
    }
    const fn start(&self, vertex: u64) -> u64 {
        self.starts + vertex * INDEX
    }
    const fn column(&self, entry: u64) -> u64 {
        self.columns + entry * INDEX
    }
    const fn parent(&self, vertex: u64) -> u64 {
        self.parents + vertex * INDEX
    }
    const fn queued(&self, place: u64) -> u64 {
        self.queue + place * INDEX
    }
}

/// The data structures of a graph.
pub(super) fn parts(graph: &Graph500) -> Vec<Part> {
    Map::new(graph).layout.parts()
}

/// A level of the search, from the root.
pub(super) type Level = usize;

/// The threads of a search. It has been checked.
pub(super) fn program(graph: &Graph500, threads: u32, window: Window, seed: u64) -> Box<dyn Program> {
    let map = Map::new(graph);
    let footprint = map.layout.end();
    let look_ps = graph.look.as_ps();
    let schedule = |levels: usize| Schedule {
        prologue: Vec::new(),
        body: (0..levels).collect(),
        repeats: 1,
        epilogue: Vec::new(),
    };
    if graph.scale <= LARGEST_REAL {
        let search = searched::Searched::new(graph, map, look_ps, seed);
        let schedule = schedule(search.levels());
        return Box::new(Looped::new(search, schedule, footprint, threads, window, seed));
    }
    let search = drawn::Drawn::new(levels::Levels::new(graph, seed), map, look_ps, threads, seed);
    let schedule = schedule(search.levels());
    Box::new(Looped::new(search, schedule, footprint, threads, window, seed))
}

#[cfg(test)]
mod tests;
