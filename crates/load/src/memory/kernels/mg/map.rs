//! Addresses of the grids.

use super::super::layout::Layout;
use super::loops::Array;

/// Points of a border: one on each side.
const BORDER: u64 = 2;
pub(super) const DOUBLE: u64 = 8;

/// Addresses of the grids.
#[derive(Clone, Debug)]
pub(super) struct Map {
    /// The number of levels.
    pub(super) levels: u32,
    u: u64,
    r: u64,
    v: u64,
    layout: Layout,
}

impl Map {
    pub(super) fn new(levels: u32) -> Self {
        let mut layout = Layout::default();
        let all: u64 = (1..=levels).map(|level| points(level) * DOUBLE).sum();
        let u = layout.place("u", all);
        let v = layout.place("v", points(levels) * DOUBLE);
        let r = layout.place("r", all);
        Self { levels, u, r, v, layout }
    }
    pub(super) const fn layout(&self) -> &Layout {
        &self.layout
    }
    /// The address of a point; its coordinates begin at 0 and include the border.
    pub(super) fn address(&self, array: Array, level: u32, [i1, i2, i3]: [u64; 3]) -> u64 {
        let n = edge(level);
        self.grid(array, level) + (i1 + n * (i2 + n * i3)) * DOUBLE
    }
    /// The address of a level of an array. Finer levels come before coarser ones.
    pub(super) fn grid(&self, array: Array, level: u32) -> u64 {
        let finer: u64 = (level + 1..=self.levels).map(|finer| points(finer) * DOUBLE).sum();
        match array {
            Array::U => self.u + finer,
            Array::R => self.r + finer,
            Array::V => self.v,
        }
    }
}

/// Number of points along an edge of a level, including the border.
pub(super) const fn edge(level: u32) -> u64 {
    (1 << level) + BORDER
}

pub(super) const fn points(level: u32) -> u64 {
    edge(level) * edge(level) * edge(level)
}
