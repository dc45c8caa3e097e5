//! The arithmetic of the benchmark, loop by loop, and its verification.

use super::super::looped::{Loops, chunk};
use super::super::npb::{Class, Generator};
use super::super::watch::{Nobody, Watch};
use super::loops::{Array, Sweep, schedule};
use super::map::{DOUBLE, Map, edge, points};
use super::size::{Size, size};
use super::sweeps::{AROUND, AROUND_COARSE, LOAD, MultiGrid, STORE, inner_row};

/// The operator A, by the number of coordinates in which a neighbour differs; the second is 0 (RNR-94-007 §3.2.2).
const A: [f64; 4] = [-8.0 / 3.0, 0.0, 1.0 / 6.0, 1.0 / 12.0];
/// The smoother of classes S, W and A; the last is 0.
const SMOOTHER_SMALL: [f64; 3] = [-3.0 / 8.0, 1.0 / 32.0, -1.0 / 64.0];
/// The smoother of larger classes.
const SMOOTHER: [f64; 3] = [-3.0 / 17.0, 1.0 / 33.0, -1.0 / 61.0];
/// Number of charges of each sign.
const CHARGES: usize = 10;
/// The largest relative error that the NPB accepts.
const TOLERANCE: f64 = 1e-8;

/// A computed result and the published one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Verified {
    /// The computed value.
    pub computed: f64,
    /// The value that the NPB publishes.
    pub published: f64,
    /// The largest relative error that the NPB accepts.
    pub tolerance: f64,
}

impl Verified {
    /// Whether the NPB would say `VERIFICATION SUCCESSFUL`.
    #[must_use]
    pub fn is_successful(&self) -> bool {
        // written so that a NaN fails
        ((self.computed - self.published) / self.published).abs() <= self.tolerance
    }
}

/// Solves a class and returns the L2 norm of the last residual. Class A takes about 0.5 GB and half a minute; larger
/// grids take eight times as much for each level.
#[must_use]
pub fn solve(class: Class) -> Verified {
    let Size { levels, iterations, norm } = size(class);
    let small = matches!(class, Class::S | Class::W | Class::A);
    let mut grids = Grids::new(levels, if small { SMOOTHER_SMALL } else { SMOOTHER });
    let computed = grids.run(iterations, &mut [Nobody]);
    Verified { computed, published: norm, tolerance: TOLERANCE }
}

/// The grids with their values.
#[derive(Debug)]
pub(super) struct Grids {
    map: Map,
    application: MultiGrid,
    u: Vec<f64>,
    r: Vec<f64>,
    v: Vec<f64>,
    smoother: [f64; 3],
    /// The sum of squares of [`Sweep::Norm`].
    squares: f64,
    /// Sums over rows around a row.
    faces: Vec<f64>,
    corners: Vec<f64>,
    thirds: Vec<f64>,
}

/// A row of a grid, with the position and the address of its first point.
#[derive(Clone, Copy)]
struct Row {
    array: Array,
    at: usize,
    address: u64,
}

impl Row {
    const fn address(self, i1: usize) -> u64 {
        self.address + i1 as u64 * DOUBLE
    }
}

impl Grids {
    /// The problem of the NPB before it is solved: charges in V, zeros elsewhere.
    pub(super) fn new(levels: u32, smoother: [f64; 3]) -> Self {
        let map = Map::new(levels);
        let all: u64 = (1..=levels).map(points).sum();
        let n = edge(levels) as usize;
        let row = || vec![0.0; n];
        let mut grids = Self {
            application: MultiGrid { map: map.clone(), flop_ps: 0 },
            map,
            u: vec![0.0; all as usize],
            r: vec![0.0; all as usize],
            v: charges(levels),
            smoother,
            squares: 0.0,
            faces: row(),
            corners: row(),
            thirds: row(),
        };
        for sweep in [Sweep::Edges(Array::V, levels), Sweep::Planes(Array::V, levels)] {
            (0..grids.application.trips(sweep)).for_each(|trip| grids.trip(sweep, trip, &mut Nobody));
        }
        grids
    }
    /// Runs the timed part with this number of V-cycles, and one thread per watch. Returns the norm of the last
    /// residual.
    pub(super) fn run<W: Watch>(&mut self, iterations: u64, watches: &mut [W]) -> f64 {
        let schedule = schedule(self.map.levels, iterations);
        let threads = watches.len() as u32;
        for sweep in (0..).map_while(|position| schedule.at(position)) {
            self.squares = 0.0;
            for (thread, watch) in (0..).zip(&mut *watches) {
                for trip in chunk(self.application.trips(sweep), threads, thread) {
                    self.trip(sweep, trip, watch);
                }
            }
        }
        (self.squares / f64::from(1_u32 << self.map.levels).powi(3)).sqrt()
    }
    fn trip<W: Watch>(&mut self, sweep: Sweep, trip: u64, watch: &mut W) {
        match sweep {
            Sweep::Residual(level) => self.residual(level, trip, watch),
            Sweep::Smooth(level) => self.smooth(level, trip, watch),
            Sweep::Project(level) => self.project(level, trip, watch),
            Sweep::Interpolate(level) => self.interpolate(level, trip, watch),
            Sweep::Zero(level) => {
                watch.enter();
                let row = self.row(Array::U, level, trip % edge(level), trip / edge(level));
                (0..edge(level) as usize).for_each(|i1| self.store(watch, 0, row, i1, 0.0));
            }
            Sweep::Edges(array, level) => self.edges(array, level, trip, watch),
            Sweep::Planes(array, level) => {
                let [from_back, to_front, from_front, to_back] =
                    [edge(level) - 2, 0, 1, edge(level) - 1].map(|i3| self.row(array, level, trip, i3));
                self.copy_rows(level, [from_back, to_front, from_front, to_back], watch);
            }
            Sweep::Norm => {
                let n = edge(self.map.levels);
                let [i2, i3] = inner_row(trip, n);
                let row = self.row(Array::R, self.map.levels, i2, i3);
                watch.enter();
                for i1 in 1..n as usize - 1 {
                    let r = self.load(watch, 0, row, i1);
                    self.squares += r * r;
                }
            }
        }
    }
}

// single points and rows
impl Grids {
    fn row(&self, array: Array, level: u32, i2: u64, i3: u64) -> Row {
        let n = edge(level);
        let finer: u64 = match array {
            Array::V => 0,
            Array::U | Array::R => (level + 1..=self.map.levels).map(points).sum(),
        };
        let at = (finer + n * (i2 + n * i3)) as usize;
        Row { array, at, address: self.map.address(array, level, [0, i2, i3]) }
    }
    fn around(&self, array: Array, level: u32, i2: u64, i3: u64, order: &[[i64; 2]; 8]) -> [Row; 8] {
        order.map(|[d2, d3]| self.row(array, level, i2.wrapping_add_signed(d2), i3.wrapping_add_signed(d3)))
    }
    fn load<W: Watch>(&self, watch: &mut W, reference: usize, row: Row, i1: usize) -> f64 {
        watch.touch(reference, row.address(i1), LOAD);
        match row.array {
            Array::U => self.u[row.at + i1],
            Array::R => self.r[row.at + i1],
            Array::V => self.v[row.at + i1],
        }
    }
    fn store<W: Watch>(&mut self, watch: &mut W, reference: usize, row: Row, i1: usize, value: f64) {
        watch.touch(reference, row.address(i1), STORE);
        *self.point(row, i1) = value;
    }
    fn add<W: Watch>(&mut self, watch: &mut W, reference: usize, row: Row, i1: usize, value: f64) {
        watch.touch(reference, row.address(i1), STORE);
        *self.point(row, i1) += value;
    }
    fn point(&mut self, row: Row, i1: usize) -> &mut f64 {
        match row.array {
            Array::U => &mut self.u[row.at + i1],
            Array::R => &mut self.r[row.at + i1],
            Array::V => &mut self.v[row.at + i1],
        }
    }
    /// The sum of a point of four rows, which are references `first` and the next three.
    fn four<W: Watch>(&self, watch: &mut W, first: usize, rows: &[Row], i1: usize) -> f64 {
        let [a, b, c, d] = [0, 1, 2, 3].map(|index| self.load(watch, first + index, rows[index], i1));
        a + b + c + d
    }
}

// the loops
impl Grids {
    fn residual<W: Watch>(&mut self, level: u32, trip: u64, watch: &mut W) {
        let n = edge(level);
        let [i2, i3] = inner_row(trip, n);
        let rows = self.around(Array::U, level, i2, i3, &AROUND);
        watch.enter();
        for i1 in 0..n as usize {
            self.faces[i1] = self.four(watch, 0, &rows[..4], i1);
            self.corners[i1] = self.four(watch, 4, &rows[4..], i1);
        }
        let right = if level == self.map.levels { Array::V } else { Array::R };
        let [right, u, r] = [right, Array::U, Array::R].map(|array| self.row(array, level, i2, i3));
        watch.enter();
        for i1 in 1..n as usize - 1 {
            let (right, u) = (self.load(watch, 0, right, i1), self.load(watch, 1, u, i1));
            let edges = self.corners[i1] + self.faces[i1 - 1] + self.faces[i1 + 1];
            let corners = self.corners[i1 - 1] + self.corners[i1 + 1];
            self.store(watch, 2, r, i1, right - A[0] * u - A[2] * edges - A[3] * corners);
        }
    }
    fn smooth<W: Watch>(&mut self, level: u32, trip: u64, watch: &mut W) {
        let n = edge(level);
        let [i2, i3] = inner_row(trip, n);
        let rows = self.around(Array::R, level, i2, i3, &AROUND);
        watch.enter();
        for i1 in 0..n as usize {
            self.faces[i1] = self.four(watch, 0, &rows[..4], i1);
            self.corners[i1] = self.four(watch, 4, &rows[4..], i1);
        }
        let [u, r] = [Array::U, Array::R].map(|array| self.row(array, level, i2, i3));
        let c = self.smoother;
        watch.enter();
        for i1 in 1..n as usize - 1 {
            let [before, here, after] = [i1 - 1, i1, i1 + 1].map(|i1| self.load(watch, 0, r, i1));
            let edges = self.corners[i1] + self.faces[i1 - 1] + self.faces[i1 + 1];
            self.add(watch, 1, u, i1, c[0] * here + c[1] * (before + after + self.faces[i1]) + c[2] * edges);
        }
    }
    fn project<W: Watch>(&mut self, level: u32, trip: u64, watch: &mut W) {
        let coarse = edge(level - 1) as usize;
        let [j2, j3] = inner_row(trip, coarse as u64);
        let (i2, i3) = (2 * j2, 2 * j3);
        let rows = self.around(Array::R, level, i2, i3, &AROUND_COARSE);
        watch.enter();
        for j1 in 1..coarse {
            let odd = 2 * j1 - 1;
            self.faces[odd] = self.four(watch, 0, &rows[..4], odd);
            self.corners[odd] = self.four(watch, 4, &rows[4..], odd);
        }
        let r = self.row(Array::R, level, i2, i3);
        let s = self.row(Array::R, level - 1, j2, j3);
        watch.enter();
        for j1 in 1..coarse - 1 {
            let i1 = 2 * j1;
            let edges = self.four(watch, 0, &rows[4..], i1);
            let faces = self.four(watch, 4, &rows[..4], i1);
            let [before, here, after] = [i1 - 1, i1, i1 + 1].map(|i1| self.load(watch, 8, r, i1));
            let value = 0.5 * here
                + 0.25 * (before + after + faces)
                + 0.125 * (self.faces[i1 - 1] + self.faces[i1 + 1] + edges)
                + 0.0625 * (self.corners[i1 - 1] + self.corners[i1 + 1]);
            self.store(watch, 9, s, j1, value);
        }
    }
    fn interpolate<W: Watch>(&mut self, level: u32, trip: u64, watch: &mut W) {
        let coarse = edge(level - 1);
        let (i2, i3) = (trip % (coarse - 1), trip / (coarse - 1));
        let n = coarse as usize;
        let z =
            [(1, 0), (0, 0), (0, 1), (1, 1)].map(|(d2, d3)| self.row(Array::U, level - 1, i2 + d2, i3 + d3));
        watch.enter();
        for i1 in 0..n {
            let [up, here, back, both] = [0, 1, 2, 3].map(|index| self.load(watch, index, z[index], i1));
            self.faces[i1] = up + here;
            self.corners[i1] = back + here;
            self.thirds[i1] = both + back + self.faces[i1];
        }
        let fine = [(0, 0), (1, 0), (0, 1), (1, 1)]
            .map(|(d2, d3)| self.row(Array::U, level, 2 * i2 + d2, 2 * i3 + d3));
        watch.enter();
        for i1 in 0..n - 1 {
            let (here, after) = (self.load(watch, 0, z[1], i1), self.load(watch, 0, z[1], i1 + 1));
            self.add(watch, 1, fine[0], 2 * i1, here);
            self.add(watch, 1, fine[0], 2 * i1 + 1, 0.5 * (after + here));
        }
        for (row, weight) in [(1, 0.5), (2, 0.5), (3, 0.25)] {
            watch.enter();
            for i1 in 0..n - 1 {
                let sums = [&self.faces, &self.corners, &self.thirds][row - 1];
                let (here, both) = (sums[i1], sums[i1] + sums[i1 + 1]);
                self.add(watch, 0, fine[row], 2 * i1, weight * here);
                self.add(watch, 0, fine[row], 2 * i1 + 1, 0.5 * weight * both);
            }
        }
    }
    fn edges<W: Watch>(&mut self, array: Array, level: u32, trip: u64, watch: &mut W) {
        let (n, i3) = (edge(level), trip + 1);
        let last = n as usize - 1;
        watch.enter();
        for i2 in 1..n - 1 {
            let row = self.row(array, level, i2, i3);
            let value = self.load(watch, 0, row, last - 1);
            self.store(watch, 1, row, 0, value);
            let value = self.load(watch, 2, row, 1);
            self.store(watch, 3, row, last, value);
        }
        let rows = [n - 2, 0, 1, n - 1].map(|i2| self.row(array, level, i2, i3));
        self.copy_rows(level, rows, watch);
    }
    /// Copies the first row into the second, and the third into the fourth.
    fn copy_rows<W: Watch>(&mut self, level: u32, rows: [Row; 4], watch: &mut W) {
        watch.enter();
        for i1 in 0..edge(level) as usize {
            let value = self.load(watch, 0, rows[0], i1);
            self.store(watch, 1, rows[1], i1, value);
            let value = self.load(watch, 2, rows[2], i1);
            self.store(watch, 3, rows[3], i1, value);
        }
    }
}

/// The right side: +1 at the points with the ten largest random numbers, −1 at those with the ten smallest (RNR-94-007
/// §3.2.3).
fn charges(levels: u32) -> Vec<f64> {
    let (n, inner) = (edge(levels) as usize, 1_usize << levels);
    let mut generator = Generator::new();
    let (mut largest, mut smallest) = (Vec::new(), Vec::new());
    for index in 0..inner.pow(3) {
        let drawn = generator.bits();
        keep(&mut largest, (drawn, index), |new, old| new > old);
        keep(&mut smallest, (drawn, index), |new, old| new < old);
    }
    let mut v = vec![0.0; n.pow(3)];
    let point = |index: usize| {
        let [i1, i2, i3] = [index % inner, index / inner % inner, index / inner / inner];
        i1 + 1 + n * (i2 + 1 + n * (i3 + 1))
    };
    smallest.iter().for_each(|(_, index)| v[point(*index)] = -1.0);
    largest.iter().for_each(|(_, index)| v[point(*index)] = 1.0);
    v
}

/// Keeps the ten best numbers, the best first.
fn keep(best: &mut Vec<(u64, usize)>, new: (u64, usize), is_better: fn(u64, u64) -> bool) {
    if best.len() == CHARGES && !best.last().is_some_and(|(worst, _)| is_better(new.0, *worst)) {
        return;
    }
    let at = best.iter().position(|(old, _)| is_better(new.0, *old)).unwrap_or(best.len());
    best.insert(at, new);
    best.truncate(CHARGES);
}

#[cfg(test)]
mod tests {
    use super::super::super::watch::Lines;
    use super::super::super::window::Window;
    use super::super::program;
    use super::*;
    use crate::memory::Program;
    use lanetwin_units::Span;

    #[test]
    fn class_s_has_the_published_norm() {
        let verified = solve(Class::S);
        assert!(verified.is_successful(), "{verified:?}");
    }

    mod nightly {
        use super::*;

        #[test]
        #[ignore = "solves a large system of equations"]
        fn class_w_has_the_published_norm() {
            let verified = solve(Class::W);
            assert!(verified.is_successful(), "{verified:?}");
        }
    }

    /// One wrong coefficient must make the verification fail.
    #[test]
    fn another_smoother_has_another_norm() {
        let computed = Grids::new(5, SMOOTHER).run(4, &mut [Nobody]);
        let verified = Verified { computed, ..solve(Class::S) };
        assert!(!verified.is_successful(), "{verified:?}");
    }

    #[test]
    fn the_program_of_class_s_touches_what_the_solver_touches() {
        for threads in [1, 3] {
            let mut watches: Vec<Lines> = (0..threads).map(|_| Lines::default()).collect();
            Grids::new(5, SMOOTHER_SMALL).run(size(Class::S).iterations, &mut watches);
            let mut program = program(Class::S, Span::from_ps(200), threads, Window::Whole, 1);
            for (thread, watch) in (0..).zip(&watches) {
                let mut seen = watch.seen.iter();
                while let Some(step) = program.next(thread) {
                    assert_eq!(Some(&(step.address, step.touch)), seen.next());
                    assert!(step.address < program.footprint());
                }
                assert_eq!(seen.next(), None, "thread {thread} of {threads}");
            }
        }
    }
}
