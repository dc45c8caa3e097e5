//! The NPB's Conjugate Gradient: inverse power iteration on a sparse random matrix, as loops over rows and vectors.
//!
//! The matrix is the sum of outer products of sparse random vectors ([`matrix`]). Classes S to C keep its pattern and
//! are exact: every line is the one that the real program touches. Larger ones draw each row when it is needed
//! ([`rows::Rows::Drawn`]): as many columns, distributed alike, the same at every visit, but not those of the NPB's
//! generator.
//!
//! Sources: RNR-94-007 section 3.3; NPB 3.4-OMP, CG (classes, loops and what is fused in them, columns of a row in
//! ascending order, values of ζ to verify). The number of outer iterations is that of the class, 15 to 100; each has 25
//! steps of conjugate gradients.

mod matrix;
mod rows;
mod solve;

use super::layout::Layout;
use super::looped::{Looped, Loops, Schedule, Tape, chunk};
use super::npb::Class;
use super::steps::Writer;
use super::walk::{LINE, Reference, Walk};
use super::window::Window;
use crate::memory::Touch;
use lanetwin_units::Span;
use rows::Rows;
pub use solve::solve;
use std::ops::Range;

/// Steps of conjugate gradients in an outer iteration (RNR-94-007 §3.3.1).
const STEPS: usize = 25;
const DOUBLE: u64 = 8;
/// A column index \[B\].
const INDEX: u64 = 4;
/// The largest class whose pattern is kept: 36 million columns, 146 MB.
const LARGEST_KEPT: Class = Class::C;

/// What a class is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    /// Rows and columns.
    pub(super) rows: u64,
    /// Random elements of each vector whose outer product is added.
    pub(super) nonzero: u64,
    /// Outer iterations.
    pub(super) iterations: u64,
    /// The shift λ of the diagonal.
    pub(super) shift: f64,
    /// ζ as the NPB publishes it.
    pub(super) zeta: f64,
}

/// The sizes of NPB 3.4 (problem sizes and verification values of CG).
pub(super) const fn size(class: Class) -> Size {
    let (rows, nonzero, iterations, shift, zeta) = match class {
        Class::S => (1_400, 7, 15, 10.0, 8.597_177_507_864_8),
        Class::W => (7_000, 8, 15, 12.0, 10.362_595_087_124),
        Class::A => (14_000, 11, 15, 20.0, 17.130_235_054_029),
        Class::B => (75_000, 13, 75, 60.0, 22.712_745_482_631),
        Class::C => (150_000, 15, 75, 110.0, 28.973_605_592_845),
        Class::D => (1_500_000, 21, 100, 500.0, 52.514_532_105_794),
        Class::E => (9_000_000, 26, 100, 1500.0, 77.522_164_599_383),
    };
    Size { rows, nonzero, iterations, shift, zeta }
}

/// A vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Vector {
    X,
    Z,
    P,
    Q,
    R,
}

/// A parallel loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Loop {
    /// q = z = 0, r = p = x.
    Start,
    /// ρ = r · r.
    Rho,
    /// A vector times the matrix.
    Multiply {
        /// The vector.
        by: Vector,
        /// The product.
        into: Vector,
    },
    /// d = p · q.
    Dot,
    /// z = z + α p, r = r − α q, ρ = r · r.
    Update,
    /// p = r + β p.
    Direction,
    /// The square of x − r.
    Residual,
    /// x · z and z · z.
    Norms,
    /// x = z / |z|.
    Normalise,
}

/// The vectors that a loop over vectors touches in one pass, in order, and its floating-point operations.
const fn vectors(of: Loop) -> (&'static [(Vector, Touch)], u64) {
    use Touch::{Load, Store};
    use Vector::{P, Q, R, X, Z};
    match of {
        Loop::Start => (&[(Q, Store), (Z, Store), (X, Load), (R, Store), (P, Store)], 0),
        Loop::Rho => (&[(R, Load)], 2),
        Loop::Multiply { .. } => (&[], 0),
        Loop::Dot => (&[(P, Load), (Q, Load)], 2),
        Loop::Update => (&[(P, Load), (Z, Store), (Q, Load), (R, Store)], 6),
        Loop::Direction => (&[(R, Load), (P, Store)], 2),
        Loop::Residual => (&[(X, Load), (R, Load)], 3),
        Loop::Norms => (&[(X, Load), (Z, Load)], 4),
        Loop::Normalise => (&[(Z, Load), (X, Store)], 1),
    }
}

/// The timed part of the benchmark.
pub(super) fn schedule(iterations: u64) -> Schedule<Loop> {
    let mut body = vec![Loop::Start, Loop::Rho];
    for _ in 0..STEPS {
        let multiply = Loop::Multiply { by: Vector::P, into: Vector::Q };
        body.extend([multiply, Loop::Dot, Loop::Update, Loop::Direction]);
    }
    let multiply = Loop::Multiply { by: Vector::Z, into: Vector::R };
    body.extend([multiply, Loop::Residual, Loop::Norms, Loop::Normalise]);
    Schedule { prologue: Vec::new(), body, repeats: iterations, epilogue: Vec::new() }
}

/// Where the matrix and the vectors lie.
#[derive(Clone, Debug)]
pub(super) struct Map {
    a: u64,
    column_index: u64,
    row_start: u64,
    /// The size of a row's start \[B\]: 4 as long as that can count the elements.
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
    const fn vector(&self, vector: Vector, index: u64) -> u64 {
        self.vectors[vector as usize] + index * DOUBLE
    }
    const fn element(&self, element: u64) -> u64 {
        self.a + element * DOUBLE
    }
    const fn column(&self, element: u64) -> u64 {
        self.column_index + element * INDEX
    }
    const fn start(&self, row: u64) -> u64 {
        self.row_start + row * self.start_bytes
    }
}

/// The application: rows of the matrix, where they lie, and the computing time of a floating-point operation \[ps\].
#[derive(Debug)]
pub(super) struct ConjugateGradient {
    size: Size,
    map: Map,
    rows: Rows,
    flop_ps: u64,
}

/// The threads of a class. Class C keeps 150 MB, and takes three times that while it is made.
pub(super) fn program(
    class: Class,
    flop: Span,
    threads: u32,
    window: Window,
    seed: u64,
) -> Looped<ConjugateGradient> {
    let size = size(class);
    let rows = if class <= LARGEST_KEPT { Rows::kept(&size) } else { Rows::drawn(&size, seed) };
    with_rows(size, rows, flop, threads, window, seed)
}

fn with_rows(
    size: Size,
    rows: Rows,
    flop: Span,
    threads: u32,
    window: Window,
    seed: u64,
) -> Looped<ConjugateGradient> {
    let map = Map::new(&size);
    let footprint = map.layout().end();
    let application = ConjugateGradient { size, map, rows, flop_ps: flop.as_ps() };
    Looped::new(application, schedule(size.iterations), footprint, threads, window, seed)
}

/// What a thread keeps while it multiplies: the lines that its references touched last, and the row under way.
#[derive(Debug, Default)]
pub(super) struct Multiplying {
    start: Option<u64>,
    element: Option<u64>,
    column: Option<u64>,
    gathered: Option<u64>,
    product: Option<u64>,
    /// The first element of the next row.
    next: u64,
    columns: Vec<u32>,
}

impl ConjugateGradient {
    /// One row times the vector: the end of an operation.
    fn multiply(&self, [by, into]: [Vector; 2], row: u64, first: bool, tape: &mut Tape<Multiplying>) {
        let Tape { steps, scratch, trailing_ps, .. } = tape;
        if first {
            let columns = std::mem::take(&mut scratch.columns);
            *scratch = Multiplying { columns, next: self.rows.start(row), ..Multiplying::default() };
        }
        self.rows.columns(row, &mut scratch.columns);
        let mut out = Writer::new(steps);
        let load =
            |out: &mut Writer<'_>, last: &mut _, address| out.forward(last, address, Touch::Load, false);
        load(&mut out, &mut scratch.start, self.map.start(row));
        load(&mut out, &mut scratch.start, self.map.start(row + 1));
        for (element, column) in (scratch.next..).zip(&scratch.columns) {
            load(&mut out, &mut scratch.element, self.map.element(element));
            let fresh = load(&mut out, &mut scratch.column, self.map.column(element));
            let address = self.map.vector(by, u64::from(*column));
            if scratch.gathered != Some(address / LINE) {
                scratch.gathered = Some(address / LINE);
                // the index has just been asked for, or came with a line that is there
                out.step(address, Touch::Load, fresh);
            }
            out.computed_ps += 2 * self.flop_ps;
        }
        scratch.next += scratch.columns.len() as u64;
        out.forward(&mut scratch.product, self.map.vector(into, row), Touch::Store, false);
        out.end();
        *trailing_ps = out.computed_ps;
    }
}

impl Loops for ConjugateGradient {
    type Loop = Loop;
    type Scratch = Multiplying;

    fn trips(&self, of: Loop) -> u64 {
        self.size.rows + u64::from(of == Loop::Start)
    }
    /// In eighths of a line: a vector has an eighth of a line for each trip.
    fn weight(&self, of: Loop) -> u64 {
        match of {
            Loop::Multiply { .. } => {
                self.rows.mean_length() as u64 * (8 + 1) + self.rows.mean_length() as u64 / 2
            }
            of => vectors(of).0.len() as u64,
        }
    }
    /// The loop before a multiplication: p = r + β p.
    fn warm_up(&self, threads: u32) -> u64 {
        2 * self.size.rows.div_ceil(u64::from(threads)).div_ceil(LINE / DOUBLE)
    }
    fn warm(&self, step: u64, thread: u32, threads: u32) -> (u64, Touch) {
        let chunk = chunk(self.size.rows, threads, thread);
        let element = (chunk.start + step / 2 * (LINE / DOUBLE)).min(self.size.rows - 1);
        let (vector, touch) = vectors(Loop::Direction).0[(step % 2) as usize];
        (self.map.vector(vector, element), touch)
    }
    fn write(&self, of: Loop, trips: Range<u64>, first: bool, tape: &mut Tape<Multiplying>) -> u64 {
        if let Loop::Multiply { by, into } = of {
            self.multiply([by, into], trips.start, first, tape);
            return 1;
        }
        let (used, flops) = vectors(of);
        let reference = |(vector, touch): &(Vector, Touch)| {
            Reference::doubles(self.map.vector(*vector, trips.start), *touch)
        };
        let references: Vec<_> = used.iter().map(reference).collect();
        let passes = trips.end - trips.start;
        tape.walks.push_back(Walk::new(&references, passes, flops * self.flop_ps, false));
        passes
    }
}

#[cfg(test)]
mod tests;
