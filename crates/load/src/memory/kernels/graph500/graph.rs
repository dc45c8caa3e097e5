//! Adjacency lists and the search on them.

use super::super::looped::chunk;
use super::super::walk::LINE;
use super::super::watch::{Nobody, Watch};
use super::kronecker::Edge;
use super::map::Map;
use crate::memory::Touch;
use std::ops::Range;

/// The parent of a vertex that the search does not reach.
pub const UNREACHED: u32 = u32::MAX;

/// Adjacency lists of an undirected graph, one after the other. Edges from a vertex to itself are left out; repeated
/// edges are kept.
#[derive(Clone, Debug)]
pub struct Graph {
    starts: Vec<u64>,
    columns: Vec<u32>,
}

impl Graph {
    /// The lists for these edges and this many vertices; entries of a vertex are in the order of the edges.
    ///
    /// # Panics
    /// If an edge has an end that is not a vertex.
    #[must_use]
    pub fn new(vertices: usize, edges: impl Iterator<Item = Edge> + Clone) -> Self {
        let proper = || edges.clone().filter(|[a, b]| a != b);
        let mut starts = vec![0_u64; vertices + 1];
        for [a, b] in proper() {
            starts[a as usize + 1] += 1;
            starts[b as usize + 1] += 1;
        }
        for vertex in 0..vertices {
            starts[vertex + 1] += starts[vertex];
        }
        let mut free = starts.clone();
        let mut columns = vec![0; starts[vertices] as usize];
        for [a, b] in proper() {
            for (vertex, neighbour) in [(a, b), (b, a)] {
                columns[free[vertex as usize] as usize] = neighbour;
                free[vertex as usize] += 1;
            }
        }
        Self { starts, columns }
    }
    /// Number of vertices.
    #[must_use]
    pub fn vertices(&self) -> usize {
        self.starts.len() - 1
    }
    /// The entries of a vertex.
    #[must_use]
    pub fn entries(&self, vertex: u32) -> Range<u64> {
        self.starts[vertex as usize]..self.starts[vertex as usize + 1]
    }
    /// The neighbours of a vertex.
    #[must_use]
    pub fn neighbours(&self, vertex: u32) -> &[u32] {
        let entries = self.entries(vertex);
        &self.columns[entries.start as usize..entries.end as usize]
    }
    /// The neighbour in an entry.
    pub(super) fn neighbour(&self, entry: u64) -> u32 {
        self.columns[entry as usize]
    }
    /// The parents of all vertices in a search from `root`; the root is its own parent.
    #[must_use]
    pub fn search(&self, root: u32) -> Vec<u32> {
        let mut search = Search::new(self, root);
        while search.level(self, &Map::default(), &mut [Nobody]) {}
        search.parents
    }
}

/// A search in progress, with its results so far.
#[derive(Debug)]
pub(super) struct Search {
    pub(super) parents: Vec<u32>,
    /// Vertices in the order of discovery.
    pub(super) queue: Vec<u32>,
    /// Number of entries of the previous level that were examined before each vertex of the queue was found.
    pub(super) found_at: Vec<u64>,
    /// The start of each level in the queue, and the end of the last one.
    pub(super) levels: Vec<usize>,
}

impl Search {
    pub(super) fn new(graph: &Graph, root: u32) -> Self {
        let mut parents = vec![UNREACHED; graph.vertices()];
        parents[root as usize] = root;
        Self { parents, queue: vec![root], found_at: vec![0], levels: vec![0, 1] }
    }
    /// The vertices of the last level.
    fn last(&self) -> Range<usize> {
        self.levels[self.levels.len() - 2]..self.levels[self.levels.len() - 1]
    }
    /// Searches from the last level, one thread after the other, each with its watch. Returns false if nothing was
    /// found.
    pub(super) fn level<W: Watch>(&mut self, graph: &Graph, map: &Map, watches: &mut [W]) -> bool {
        let frontier = self.last();
        let all: u64 = frontier.clone().map(|place| entries(graph, self.queue[place])).sum();
        let threads = watches.len() as u32;
        for (thread, watch) in (0..).zip(watches) {
            watch.enter();
            let mine = chunk(all, threads, thread);
            let mut before = 0;
            for place in frontier.clone() {
                let list = graph.entries(self.queue[place]);
                let length = list.end - list.start;
                let wanted = mine.start.max(before)..mine.end.min(before + length);
                if !wanted.is_empty() {
                    self.open(place, map, watch);
                    for at in wanted {
                        self.look(graph, place, [list.start + (at - before), at], map, watch);
                    }
                }
                before += length;
            }
        }
        self.levels.push(self.queue.len());
        !self.last().is_empty()
    }
    /// Takes a vertex from the queue. Accesses to queue, columns and next queue move forward (references 0, 1, 2);
    /// those to row starts and parents may be anywhere.
    fn open<W: Watch>(&self, place: usize, map: &Map, watch: &mut W) {
        let vertex = u64::from(self.queue[place]);
        watch.touch(0, map.queued(place as u64), Touch::Load);
        let [start, end] = [map.start(vertex), map.start(vertex + 1)];
        watch.always(start, Touch::Load);
        if start / LINE != end / LINE {
            watch.always(end, Touch::Load);
        }
        watch.anew(1);
    }
    /// Examines an entry of the vertex at `place`; `at` is its index in the level.
    fn look<W: Watch>(
        &mut self,
        graph: &Graph,
        place: usize,
        [entry, at]: [u64; 2],
        map: &Map,
        watch: &mut W,
    ) {
        let neighbour = graph.neighbour(entry);
        watch.touch(1, map.column(entry), Touch::Load);
        watch.always(map.parent(u64::from(neighbour)), Touch::Load);
        if self.parents[neighbour as usize] == UNREACHED {
            self.parents[neighbour as usize] = self.queue[place];
            watch.always(map.parent(u64::from(neighbour)), Touch::Store);
            watch.touch(2, map.queued(self.queue.len() as u64), Touch::Store);
            self.queue.push(neighbour);
            self.found_at.push(at);
        }
    }
}

fn entries(graph: &Graph, vertex: u32) -> u64 {
    let entries = graph.entries(vertex);
    entries.end - entries.start
}
