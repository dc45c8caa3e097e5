//! The arithmetic of the benchmark, loop by loop, and its verification.

use super::super::looped::chunk;
use super::super::mg::Verified;
use super::super::npb::Class;
use super::super::watch::{Nobody, Watch};
use super::loops::{Loop, Vector, schedule, vectors};
use super::map::Map;
use super::matrix::Matrix;
use super::size::{Size, size};
use crate::memory::Touch;

/// The largest relative error that the NPB accepts.
const TOLERANCE: f64 = 1e-10;

/// Solves a class and returns ζ. Class A takes some seconds, larger ones minutes and, from D on, more memory than most
/// machines have.
#[must_use]
pub fn solve(class: Class) -> Verified {
    let size = size(class);
    let computed = Solver::new(&size).run(size.iterations, &mut [Nobody]);
    Verified { computed, published: size.zeta, tolerance: TOLERANCE }
}

/// The matrix and the vectors.
#[derive(Debug)]
pub(super) struct Solver {
    size: Size,
    map: Map,
    matrix: Matrix,
    /// In the order of [`Vector`].
    vectors: [Vec<f64>; 5],
    scalars: Scalars,
    zeta: f64,
}

/// Scalars that loops compute for later ones.
#[derive(Clone, Copy, Debug, Default)]
struct Scalars {
    rho: f64,
    alpha: f64,
    beta: f64,
    norm: f64,
}

impl Solver {
    pub(super) fn new(size: &Size) -> Self {
        let vector = |value| vec![value; size.rows as usize + 2];
        Self {
            size: *size,
            map: Map::new(size),
            matrix: Matrix::new(size),
            vectors: [vector(1.0), vector(0.0), vector(0.0), vector(0.0), vector(0.0)],
            scalars: Scalars::default(),
            zeta: 0.0,
        }
    }
    /// Runs `iterations` outer iterations with one thread per watch, and returns ζ.
    pub(super) fn run<W: Watch>(&mut self, iterations: u64, watches: &mut [W]) -> f64 {
        let schedule = schedule(iterations);
        let threads = watches.len() as u32;
        for of in (0..).map_while(|position| schedule.at(position)) {
            let mut sums = [0.0; 2];
            for (thread, watch) in (0..).zip(&mut *watches) {
                let trips = self.size.rows + u64::from(of == Loop::Start);
                watch.enter();
                for trip in chunk(trips, threads, thread) {
                    match of {
                        Loop::Multiply { by, into } => self.row(by, into, trip as usize, watch),
                        of => self.element(of, trip as usize, &mut sums, watch),
                    }
                }
            }
            self.conclude(of, sums);
        }
        self.zeta
    }
    fn row<W: Watch>(&mut self, by: Vector, into: Vector, row: usize, watch: &mut W) {
        let Self { map, matrix, vectors, .. } = self;
        watch.touch(0, map.start(row as u64), Touch::Load);
        watch.touch(0, map.start(row as u64 + 1), Touch::Load);
        let mut sum = 0.0;
        for element in matrix.starts[row]..matrix.starts[row + 1] {
            watch.touch(1, map.element(element), Touch::Load);
            watch.touch(2, map.column(element), Touch::Load);
            let column = matrix.columns[element as usize];
            watch.gather(3, map.vector(by, u64::from(column)));
            sum += matrix.values[element as usize] * vectors[by as usize][column as usize];
        }
        watch.touch(4, map.vector(into, row as u64), Touch::Store);
        vectors[into as usize][row] = sum;
    }
    /// One pass of a loop over vectors.
    fn element<W: Watch>(&mut self, of: Loop, at: usize, sums: &mut [f64; 2], watch: &mut W) {
        for (reference, (vector, touch)) in vectors(of).0.iter().enumerate() {
            watch.touch(reference, self.map.vector(*vector, at as u64), *touch);
        }
        let Scalars { alpha, beta, norm, .. } = self.scalars;
        let [x, z, p, q, r] = &mut self.vectors;
        match of {
            Loop::Start => {
                (q[at], z[at], r[at], p[at]) = (0.0, 0.0, x[at], x[at]);
            }
            Loop::Rho => sums[0] += r[at] * r[at],
            Loop::Multiply { .. } => {}
            Loop::Dot => sums[0] += p[at] * q[at],
            Loop::Update => {
                z[at] += alpha * p[at];
                r[at] -= alpha * q[at];
                sums[0] += r[at] * r[at];
            }
            Loop::Direction => p[at] = r[at] + beta * p[at],
            Loop::Residual => sums[0] += (x[at] - r[at]) * (x[at] - r[at]),
            Loop::Norms => {
                sums[0] += x[at] * z[at];
                sums[1] += z[at] * z[at];
            }
            Loop::Normalise => x[at] = norm * z[at],
        }
    }
    /// Computes scalars from the sums of a loop.
    fn conclude(&mut self, of: Loop, [sum, second]: [f64; 2]) {
        let scalars = &mut self.scalars;
        match of {
            Loop::Rho => scalars.rho = sum,
            Loop::Dot => scalars.alpha = scalars.rho / sum,
            Loop::Update => {
                scalars.beta = sum / scalars.rho;
                scalars.rho = sum;
            }
            Loop::Norms => {
                scalars.norm = 1.0 / second.sqrt();
                self.zeta = self.size.shift + 1.0 / sum;
            }
            _ => {}
        }
    }
}
