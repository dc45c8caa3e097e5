//! Addresses of the arrays.

use super::super::layout::Layout;
use super::spec::Graph500;

/// An index of a vertex or an entry \[B\].
pub(super) const INDEX: u64 = 8;

/// Addresses of the arrays.
#[derive(Clone, Debug, Default)]
pub(super) struct Map {
    pub(super) starts: u64,
    pub(super) columns: u64,
    pub(super) parents: u64,
    pub(super) queue: u64,
    pub(super) layout: Layout,
}

impl Map {
    pub(super) fn new(graph: &Graph500) -> Self {
        let mut layout = Layout::default();
        // the list of edges is kept, since validation needs it
        layout.idle("edge list", graph.edges() * 2 * INDEX);
        let starts = layout.place("row starts", (graph.vertices() + 1) * INDEX);
        let columns = layout.place("columns", graph.edges() * 2 * INDEX);
        let parents = layout.place("parents", graph.vertices() * INDEX);
        let queue = layout.place("queue", graph.vertices() * INDEX);
        Self { starts, columns, parents, queue, layout }
    }
    pub(super) const fn start(&self, vertex: u64) -> u64 {
        self.starts + vertex * INDEX
    }
    pub(super) const fn column(&self, entry: u64) -> u64 {
        self.columns + entry * INDEX
    }
    pub(super) const fn parent(&self, vertex: u64) -> u64 {
        self.parents + vertex * INDEX
    }
    pub(super) const fn queued(&self, place: u64) -> u64 {
        self.queue + place * INDEX
    }
}
