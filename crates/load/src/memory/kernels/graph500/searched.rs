//! A search that has been run, as loops over the entries of its levels.

use super::super::looped::{Loops, Tape};
use super::super::steps::Writer;
use super::super::walk::LINE;
use super::super::watch::Nobody;
use super::graph::{Graph, Search};
use super::kronecker::Kronecker;
use super::levels::Level;
use super::map::Map;
use super::spec::Graph500;
use crate::memory::Touch;
use lanetwin_kernel::Stream;
use std::ops::Range;

/// The graph, and the results of the search.
#[derive(Debug)]
pub(super) struct Searched {
    graph: Graph,
    search: Search,
    map: Map,
    look_ps: u64,
    /// For each position of the queue, the number of entries of its level before those of its vertex.
    before: Vec<u64>,
    /// Number of entries of each level.
    entries: Vec<u64>,
}

/// The progress of a thread in its entries.
#[derive(Debug, Default)]
pub(super) struct Looking {
    /// Position of the current vertex in the queue.
    place: usize,
    queue: Option<u64>,
    found: Option<u64>,
    /// Position in the queue of the next vertex to be found.
    next: usize,
}

impl Searched {
    pub(super) fn new(graph: &Graph500, map: Map, look_ps: u64, seed: u64) -> Self {
        let kronecker = Kronecker::new(graph, seed);
        let graph = Graph::new(graph.vertices() as usize, kronecker.edges());
        let root = root(&graph, seed);
        let mut search = Search::new(&graph, root);
        while search.level(&graph, &map, &mut [Nobody]) {}
        let mut before = Vec::with_capacity(search.queue.len());
        let mut entries = Vec::new();
        for level in search.levels.windows(2) {
            let mut sum = 0;
            for vertex in &search.queue[level[0]..level[1]] {
                before.push(sum);
                sum += graph.neighbours(*vertex).len() as u64;
            }
            entries.push(sum);
        }
        Self { graph, search, map, look_ps, before, entries }
    }
    /// Number of levels with vertices.
    pub(super) fn levels(&self) -> usize {
        self.search.levels.windows(2).filter(|level| level[0] < level[1]).count()
    }
    /// Position in the queue of the vertex that has this entry of a level.
    fn place(&self, level: Level, entry: u64) -> usize {
        let (first, end) = (self.search.levels[level], self.search.levels[level + 1]);
        first + self.before[first..end].partition_point(|before| *before <= entry) - 1
    }
}

/// A root with neighbours, drawn (specification §"Sampling 64 search keys").
pub(super) fn root(graph: &Graph, seed: u64) -> u32 {
    let mut roots = Stream::new(seed, "graph500", "root");
    loop {
        let root = roots.below(graph.vertices() as u64) as u32;
        if !graph.neighbours(root).is_empty() || graph.vertices() == 1 {
            return root;
        }
    }
}

impl Loops for Searched {
    type Loop = Level;
    type Scratch = Looking;

    fn trips(&self, level: Level) -> u64 {
        self.entries[level]
    }
    fn weight(&self, _: Level) -> u64 {
        1
    }
    /// Writes entries of one vertex.
    fn write(&self, level: Level, trips: Range<u64>, first: bool, tape: &mut Tape<Looking>) -> u64 {
        let Tape { steps, scratch, trailing_ps, .. } = tape;
        let next_level = self.search.levels[level + 1]..self.search.levels[level + 2];
        if first {
            let place = self.place(level, trips.start);
            *scratch = Looking { place, ..Looking::default() };
            let found = &self.search.found_at[next_level.clone()];
            scratch.next = next_level.start + found.partition_point(|at| *at < trips.start);
        }
        let place = scratch.place;
        let vertex = self.search.queue[place];
        let entries = self.graph.entries(vertex);
        let skipped = trips.start - self.before[place];
        let written = (entries.end - entries.start - skipped).min(trips.end - trips.start);
        let mut out = Writer::new(steps);
        let waits = out.forward(&mut scratch.queue, self.map.queued(place as u64), Touch::Load, false);
        let [start, end] = [u64::from(vertex), u64::from(vertex) + 1].map(|vertex| self.map.start(vertex));
        out.step(start, Touch::Load, waits);
        if start / LINE != end / LINE {
            out.step(end, Touch::Load, false);
        }
        let mut column = None;
        for (entry, at) in (entries.start + skipped..).zip(trips.start..trips.start + written) {
            // the address of the entries depends on the row start
            let fresh = out.forward(&mut column, self.map.column(entry), Touch::Load, at == trips.start);
            let neighbour = self.graph.neighbour(entry);
            out.step(self.map.parent(u64::from(neighbour)), Touch::Load, fresh);
            if scratch.next < next_level.end && self.search.found_at[scratch.next] == at {
                out.step(self.map.parent(u64::from(neighbour)), Touch::Store, false);
                out.forward(&mut scratch.found, self.map.queued(scratch.next as u64), Touch::Store, false);
                scratch.next += 1;
            }
            out.end();
            out.computed_ps += self.look_ps;
        }
        *trailing_ps = out.computed_ps;
        scratch.place += usize::from(written == entries.end - entries.start - skipped);
        written
    }
}
