//! The NPB's Conjugate Gradient: inverse power iteration on a sparse random matrix, as loops over rows and vectors.
//!
//! The matrix is the sum of outer products of sparse random vectors ([`matrix`]). Classes S to C store its pattern and
//! are exact: every line is the one that the real program touches. Larger classes draw each row when it is needed
//! ([`rows::Rows::Drawn`]): it has as many columns, with the same distribution, and is the same at every visit, but it
//! is not that of the NPB's generator.
//!
//! Sources: RNR-94-007 section 3.3; NPB 3.4-OMP, CG (classes, loops and what is fused in them, columns of a row in
//! ascending order, values of ζ to verify). The number of outer iterations is that of the class, 15 to 100; each has 25
//! steps of conjugate gradients.

mod loops;
mod map;
mod matrix;
mod rows;
mod size;
mod solve;

use super::layout::Part;
use super::looped::{Looped, Loops, Tape, chunk};
use super::npb::Class;
use super::steps::Writer;
use super::walk::{LINE, Reference, Walk};
use super::window::Window;
use crate::memory::Touch;
use lanetwin_units::Span;
use loops::{Loop, Vector, schedule, vectors};
use map::DOUBLE;
use map::Map;
use rows::Rows;
use size::{Size, size};
pub use solve::solve;
use std::ops::Range;

/// The largest class whose pattern is stored: 36 million columns, 146 MB.
const LARGEST_KEPT: Class = Class::C;

/// The application: rows of the matrix, where they lie, and the computing time of a floating-point operation \[ps\].
#[derive(Debug)]
pub(super) struct ConjugateGradient {
    size: Size,
    map: Map,
    rows: Rows,
    flop_ps: u64,
}

/// The data structures of a class.
pub(super) fn parts(class: Class) -> Vec<Part> {
    Map::new(&size(class)).layout().parts()
}

/// The threads of a class. Class C keeps 150 MB, and needs three times that during construction.
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

/// The state of a thread during a multiplication: the last lines of its references, and the current row.
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
                // the index was just loaded, or is in a line that was
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
    /// In eighths of a line: each trip takes an eighth of a line of a vector.
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
