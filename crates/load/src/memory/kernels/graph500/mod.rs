//! Graph500's breadth-first search: a Kronecker graph, its adjacency lists, one search from a root.
//!
//! ```text
//!  for each level, the entries of the adjacency lists of its vertices, divided among the threads:
//!    queue ─► row start ─► column, column, … ─► parent of each ─┬─ is set: nothing
//!                                                               └─ is not set: parent and next queue are written
//! ```
//!
//! | scales | the search is | what is kept |
//! |---|---|---|
//! | up to 20 | run on the real graph, before the first step; its addresses are those of the run ([`searched`]) | the graph: 144 B per vertex with edge factor 16 |
//! | from 21 on | drawn: the number of vertices of each kind in each level follows from the generator's probabilities, and vertices, neighbours and discoveries are drawn from these ([`levels`], [`drawn`]) | tables of about 100 kB |
//!
//! The entries of a level are divided evenly (assumed: a search that is balanced by edges, as in tuned codes).
//! Adjacency lists have indices of 8 B, as in the reference code of version 2.1. Edges from a vertex to itself are left
//! out, repeated edges are kept.
//!
//! **Counting.** An operation is the examination of one neighbour: an entry of an adjacency list. Each edge of the
//! root's component has two entries, so traversed edges per second (TEPS) are half the operations per second.
//!
//! Sources: Graph 500 Benchmark specification, versions 1.2 and 2.0 (generator §3, construction, search and
//! validation); Chakrabarti, Zhan & Faloutsos, "R-MAT: a recursive model for graph mining", SDM 2004.

mod drawn;
mod graph;
mod kronecker;
mod levels;
mod map;
mod searched;
mod spec;
mod validate;

use super::layout::Part;
use super::looped::{Looped, Schedule};
use super::window::Window;
use crate::memory::Program;
pub use graph::{Graph, UNREACHED};
pub use kronecker::{Edge, Kronecker};
use map::Map;
pub use spec::{BadGraph, Graph500};
pub use validate::{Invalid, validate};

/// The largest scale whose search is run on the real graph.
const LARGEST_REAL: u32 = 20;

/// The data structures of a graph.
pub(super) fn parts(graph: &Graph500) -> Vec<Part> {
    Map::new(graph).layout.parts()
}

/// The threads of a search; its parameters have been checked.
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
