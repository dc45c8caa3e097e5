//! Addresses of the matrix and the vectors.

use super::super::layout::Layout;
use super::loops::Vector;
use super::size::Size;

pub(super) const DOUBLE: u64 = 8;
/// A column index \[B\].
const INDEX: u64 = 4;

/// Addresses of the matrix and the vectors.
#[derive(Clone, Debug)]
pub(super) struct Map {
    a: u64,
    column_index: u64,
    row_start: u64,
    /// Size of a row's start \[B\]: 4 as long as that can hold the number of elements.
    start_bytes: u64,
    vectors: [u64; 5],
    layout: Layout,
}

impl Map {
    /// The arrays as NPB 3.4-OMP declares them: room for (nonzero + 1)² elements in each row, twice, once to build the
    /// matrix.
    pub(super) fn new(size: &Size) -> Self {
        let mut layout = Layout::default();
        let (elements, parts) = (size.rows * (size.nonzero + 1).pow(2), size.rows * (size.nonzero + 1));
        let start_bytes = if elements < 1 << 31 { 4 } else { 8 };
        let column_index = layout.place("colidx", elements * INDEX);
        let row_start = layout.place("rowstr", (size.rows + 1) * start_bytes);
        layout.idle("iv", (elements + size.rows + 1) * INDEX);
        layout.idle("arow", size.rows * INDEX);
        layout.idle("acol", parts * INDEX);
        layout.idle("aelt", parts * DOUBLE);
        layout.idle("v", (elements + 1) * DOUBLE);
        let a = layout.place("a", elements * DOUBLE);
        let vectors = ["x", "z", "p", "q", "r"].map(|name| layout.place(name, (size.rows + 2) * DOUBLE));
        Self { a, column_index, row_start, start_bytes, vectors, layout }
    }
    pub(super) const fn layout(&self) -> &Layout {
        &self.layout
    }
    pub(super) const fn vector(&self, vector: Vector, index: u64) -> u64 {
        self.vectors[vector as usize] + index * DOUBLE
    }
    pub(super) const fn element(&self, element: u64) -> u64 {
        self.a + element * DOUBLE
    }
    pub(super) const fn column(&self, element: u64) -> u64 {
        self.column_index + element * INDEX
    }
    pub(super) const fn start(&self, row: u64) -> u64 {
        self.row_start + row * self.start_bytes
    }
}
