//! The rows that a trip of each loop accesses, in the order of the loop's statements.

use super::super::looped::{Loops, Tape};
use super::super::walk::{LINE, Reference, Walk};
use super::loops::{Array, Sweep};
use super::map::{DOUBLE, Map, edge};
use crate::memory::Touch;
use std::ops::Range;

/// Number of floating-point operations for each point, for each inner loop: the additions and multiplications in the
/// NPB's source, without statements that are commented out.
mod flops {
    /// `resid`: 12 A + 3 M; six of them in the first inner loop.
    pub(super) const RESIDUAL: [u64; 2] = [6, 9];
    /// `psinv`: 13 A + 3 M; six in the first inner loop.
    pub(super) const SMOOTH: [u64; 2] = [6, 10];
    /// `rprj3`: 20 A + 4 M; six in the first inner loop.
    pub(super) const PROJECT: [u64; 2] = [6, 18];
    /// `interp`: sums, then four loops over pairs of points.
    pub(super) const INTERPOLATE: [u64; 5] = [4, 4, 5, 5, 5];
    /// `norm2u3`: a square, a sum, a maximum.
    pub(super) const NORM: u64 = 3;
}

/// The rows around a row: the four that share a face with it, then the four that share an edge.
pub(super) const AROUND: [[i64; 2]; 8] =
    [[-1, 0], [1, 0], [0, -1], [0, 1], [-1, -1], [1, -1], [-1, 1], [1, 1]];
/// The same rows in the order of `rprj3`.
pub(super) const AROUND_COARSE: [[i64; 2]; 8] =
    [[-1, 0], [1, 0], [0, -1], [0, 1], [-1, -1], [-1, 1], [1, -1], [1, 1]];

/// The row of a trip, in a loop over the inner rows of a grid with `edge` points along an edge.
pub(super) const fn inner_row(trip: u64, edge: u64) -> [u64; 2] {
    let inner = edge - 2;
    [1 + trip % inner, 1 + trip / inner]
}

/// The access to an array that is only read; an array that is updated in place has a [`STORE`].
pub(super) const LOAD: Touch = Touch::Load;
pub(super) const STORE: Touch = Touch::Store;

/// The application: the grids, and the computing time of a floating-point operation \[ps\].
#[derive(Clone, Debug)]
pub(in crate::memory::kernels) struct MultiGrid {
    pub(super) map: Map,
    pub(super) flop_ps: u64,
}

impl MultiGrid {
    /// A row of a grid from its point `i1` on.
    fn row(&self, array: Array, level: u32, at: [u64; 3], touch: Touch) -> Reference {
        Reference::doubles(self.map.address(array, level, at), touch)
    }
    /// The eight rows around a row, from `i1` on.
    fn around(&self, array: Array, level: u32, at: [u64; 3], order: &[[i64; 2]; 8]) -> [Reference; 8] {
        let [i1, i2, i3] = at;
        order.map(|[d2, d3]| {
            self.row(array, level, [i1, i2.wrapping_add_signed(d2), i3.wrapping_add_signed(d3)], LOAD)
        })
    }
    fn walk(&self, references: &[Reference], passes: u64, flops: u64, ends: bool) -> Walk {
        Walk::new(references, passes, flops * self.flop_ps, ends)
    }

    fn residual(&self, level: u32, trip: u64, tape: &mut Tape<()>) {
        let n = edge(level);
        let [i2, i3] = inner_row(trip, n);
        let right = if level == self.map.levels { Array::V } else { Array::R };
        let [first, second] = flops::RESIDUAL;
        tape.walks.push_back(self.walk(&self.around(Array::U, level, [0, i2, i3], &AROUND), n, first, false));
        let rows = [
            self.row(right, level, [1, i2, i3], LOAD),
            self.row(Array::U, level, [1, i2, i3], LOAD),
            self.row(Array::R, level, [1, i2, i3], STORE),
        ];
        tape.walks.push_back(self.walk(&rows, n - 2, second, true));
    }
    fn smooth(&self, level: u32, trip: u64, tape: &mut Tape<()>) {
        let n = edge(level);
        let [i2, i3] = inner_row(trip, n);
        let [first, second] = flops::SMOOTH;
        tape.walks.push_back(self.walk(&self.around(Array::R, level, [0, i2, i3], &AROUND), n, first, false));
        let centre = Reference { reach: 2 * DOUBLE, ..self.row(Array::R, level, [0, i2, i3], LOAD) };
        let rows = [centre, self.row(Array::U, level, [1, i2, i3], STORE)];
        tape.walks.push_back(self.walk(&rows, n - 2, second, true));
    }
    fn project(&self, level: u32, trip: u64, tape: &mut Tape<()>) {
        let coarse = edge(level - 1);
        let [j2, j3] = inner_row(trip, coarse);
        let (i2, i3) = (2 * j2, 2 * j3);
        let [first, second] = flops::PROJECT;
        let twice = |reference| Reference { stride: 2 * DOUBLE, ..reference };
        // the sums at every other point, from the border on
        let rows = self.around(Array::R, level, [1, i2, i3], &AROUND_COARSE).map(twice);
        tape.walks.push_back(self.walk(&rows, coarse - 1, first, false));
        let mut all = self.around(Array::R, level, [2, i2, i3], &AROUND_COARSE).map(twice).to_vec();
        // in this loop the rows that share an edge come first
        all.rotate_left(4);
        let centre = self.row(Array::R, level, [1, i2, i3], LOAD);
        all.push(Reference { reach: 2 * DOUBLE, ..twice(centre) });
        all.push(self.row(Array::R, level - 1, [1, j2, j3], STORE));
        tape.walks.push_back(self.walk(&all, coarse - 2, second, true));
    }
    fn interpolate(&self, level: u32, trip: u64, tape: &mut Tape<()>) {
        let coarse = edge(level - 1);
        let (i2, i3) = (trip % (coarse - 1), trip / (coarse - 1));
        let [sums, pairs @ ..] = flops::INTERPOLATE;
        let z = |d2, d3| self.row(Array::U, level - 1, [0, i2 + d2, i3 + d3], LOAD);
        tape.walks.push_back(self.walk(&[z(1, 0), z(0, 0), z(0, 1), z(1, 1)], coarse, sums, false));
        for (index, flops) in pairs.into_iter().enumerate() {
            let (d2, d3) = (index as u64 % 2, index as u64 / 2);
            let fine = self.row(Array::U, level, [0, 2 * i2 + d2, 2 * i3 + d3], STORE);
            let fine = Reference { stride: 2 * DOUBLE, reach: DOUBLE, ..fine };
            let ends = index + 1 == pairs.len();
            // only the first of the four still reads the coarse grid; the others use the sums
            let rows = [Reference { reach: DOUBLE, ..z(0, 0) }, fine];
            let rows = if index == 0 { &rows[..] } else { &rows[1..] };
            tape.walks.push_back(self.walk(rows, coarse - 1, flops, ends));
        }
    }
    fn edges(&self, array: Array, level: u32, trip: u64, tape: &mut Tape<()>) {
        let (n, i3) = (edge(level), trip + 1);
        let column =
            |i1, touch| Reference { stride: n * DOUBLE, ..self.row(array, level, [i1, 1, i3], touch) };
        let columns = [column(n - 2, LOAD), column(0, STORE), column(1, LOAD), column(n - 1, STORE)];
        tape.walks.push_back(self.walk(&columns, n - 2, 0, false));
        let row = |i2, touch| self.row(array, level, [0, i2, i3], touch);
        let rows = [row(n - 2, LOAD), row(0, STORE), row(1, LOAD), row(n - 1, STORE)];
        tape.walks.push_back(self.walk(&rows, n, 0, true));
    }
    fn planes(&self, array: Array, level: u32, trip: u64, tape: &mut Tape<()>) {
        let n = edge(level);
        let row = |i3, touch| self.row(array, level, [0, trip, i3], touch);
        let rows = [row(n - 2, LOAD), row(0, STORE), row(1, LOAD), row(n - 1, STORE)];
        tape.walks.push_back(self.walk(&rows, n, 0, true));
    }
}

impl Loops for MultiGrid {
    type Loop = Sweep;
    type Scratch = ();

    fn trips(&self, of: Sweep) -> u64 {
        let inner = |level| (edge(level) - 2) * (edge(level) - 2);
        match of {
            Sweep::Residual(level) | Sweep::Smooth(level) => inner(level),
            Sweep::Project(level) => inner(level - 1),
            Sweep::Interpolate(level) => (edge(level - 1) - 1) * (edge(level - 1) - 1),
            Sweep::Zero(level) => edge(level) * edge(level),
            Sweep::Edges(_, level) => edge(level) - 2,
            Sweep::Planes(_, level) => edge(level),
            Sweep::Norm => inner(self.map.levels),
        }
    }
    fn weight(&self, of: Sweep) -> u64 {
        let lines = |level| (edge(level) * DOUBLE).div_ceil(LINE);
        match of {
            Sweep::Residual(level) => 11 * lines(level),
            Sweep::Smooth(level) => 10 * lines(level),
            Sweep::Project(level) => 18 * lines(level),
            Sweep::Interpolate(level) => 5 * lines(level - 1) + 4 * lines(level),
            Sweep::Zero(level) => lines(level),
            Sweep::Edges(_, level) => 4 * edge(level) + 4 * lines(level),
            Sweep::Planes(_, level) => 4 * lines(level),
            Sweep::Norm => lines(self.map.levels),
        }
    }
    fn write(&self, of: Sweep, trips: Range<u64>, _: bool, tape: &mut Tape<()>) -> u64 {
        let trip = trips.start;
        match of {
            Sweep::Residual(level) => self.residual(level, trip, tape),
            Sweep::Smooth(level) => self.smooth(level, trip, tape),
            Sweep::Project(level) => self.project(level, trip, tape),
            Sweep::Interpolate(level) => self.interpolate(level, trip, tape),
            Sweep::Zero(level) => {
                let (n, at) = (edge(level), [0, trip % edge(level), trip / edge(level)]);
                tape.walks.push_back(self.walk(&[self.row(Array::U, level, at, STORE)], n, 0, true));
            }
            Sweep::Edges(array, level) => self.edges(array, level, trip, tape),
            Sweep::Planes(array, level) => self.planes(array, level, trip, tape),
            Sweep::Norm => {
                let level = self.map.levels;
                let [i2, i3] = inner_row(trip, edge(level));
                let row = self.row(Array::R, level, [1, i2, i3], LOAD);
                tape.walks.push_back(self.walk(&[row], edge(level) - 2, flops::NORM, true));
            }
        }
        1
    }
}
