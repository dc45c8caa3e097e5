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

/// The largest scale that is searched really.
const LARGEST_REAL: u32 = 20;

/// The data structures of a graph.
pub(super) fn parts(graph: &Graph500) -> Vec<Part> {
    Map::new(graph).layout.parts()
}

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
