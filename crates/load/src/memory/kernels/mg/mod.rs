//! The NPB's Multi-Grid: V-cycles on grids of n³ points, as loops over rows.
//!
//! ```text
//!  level lt ──project──► … ──project──► level 1
//!     ▲                                   │ smooth
//!     └─ smooth ◄ residual ◄ interpolate ◄┘        4 to 50 times, then the norm of the residual
//! ```
//!
//! The loops ([`Sweep`]) are those of the OpenMP version of NPB 3.4: they run over the rows of a grid (`collapse(2)`)
//! or over its planes, and [`sweeps`] says which rows of which arrays a trip touches. [`solve::Grids`] does the
//! arithmetic of the same loops; that its addresses are equal to these is a test.
//!
//! Sources: RNR-94-007 section 3.2; NPB 3.4-OMP, MG (classes, smoother by class, order of loops, norms to verify).

mod solve;
mod sweeps;

use super::layout::Layout;
use super::looped::{Looped, Schedule};
use super::npb::Class;
use super::window::Window;
use crate::memory::Touch;
use lanetwin_units::Span;
pub use solve::{Verified, solve};

/// Points of a border: one on each side.
const BORDER: u64 = 2;
const DOUBLE: u64 = 8;

/// What a class is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    /// The logarithm of the points of an edge: the number of levels.
    pub(super) levels: u32,
    /// V-cycles.
    pub(super) iterations: u64,
    /// The norm of the last residual that the NPB publishes.
    pub(super) norm: f64,
}

/// The sizes of NPB 3.4 (problem sizes and verification values of MG).
pub(super) const fn size(class: Class) -> Size {
    let (levels, iterations, norm) = match class {
        Class::S => (5, 4, 0.530_770_700_573_4e-4),
        Class::W => (7, 4, 0.646_732_937_533_9e-5),
        Class::A => (8, 4, 0.243_336_530_906_9e-5),
        Class::B => (8, 20, 0.180_056_440_135_5e-5),
        Class::C => (9, 20, 0.570_673_228_574_0e-6),
        Class::D => (10, 50, 0.158_327_506_044_0e-9),
        Class::E => (11, 50, 0.563_044_258_471_1e-10),
    };
    Size { levels, iterations, norm }
}

/// An array of grids.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Array {
    /// The solution, on all levels.
    U,
    /// The residual, on all levels.
    R,
    /// The right side, on the finest level.
    V,
}

/// A parallel loop over the rows or planes of a grid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sweep {
    /// `resid`: r = v − A u on the finest level, r = r − A u below.
    Residual(u32),
    /// `psinv`: u = u + C r.
    Smooth(u32),
    /// `rprj3`: r of the next coarser level from r of this one.
    Project(u32),
    /// `interp`: u of this level from u of the next coarser one.
    Interpolate(u32),
    /// `zero3`: u = 0.
    Zero(u32),
    /// `comm3`: the borders in the planes of a level.
    Edges(Array, u32),
    /// `comm3`: the border planes of a level.
    Planes(Array, u32),
    /// `norm2u3`: the norm of r on the finest level.
    Norm,
}

/// Where the grids lie.
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
    /// The address of a point, counted from 0 along the three axes, the border included.
    fn address(&self, array: Array, level: u32, [i1, i2, i3]: [u64; 3]) -> u64 {
        let n = edge(level);
        self.grid(array, level) + (i1 + n * (i2 + n * i3)) * DOUBLE
    }
    /// Where a level of an array begins: finer levels lie before coarser ones.
    fn grid(&self, array: Array, level: u32) -> u64 {
        let finer: u64 = (level + 1..=self.levels).map(|finer| points(finer) * DOUBLE).sum();
        match array {
            Array::U => self.u + finer,
            Array::R => self.r + finer,
            Array::V => self.v,
        }
    }
}

/// Points along an edge of a level, the border included.
pub(super) const fn edge(level: u32) -> u64 {
    (1 << level) + BORDER
}

const fn points(level: u32) -> u64 {
    edge(level) * edge(level) * edge(level)
}

/// The timed part of the benchmark: a residual, the V-cycles with a residual each, the norm.
pub(super) fn schedule(levels: u32, iterations: u64) -> Schedule<Sweep> {
    let with_border = |sweep, array, level| [sweep, Sweep::Edges(array, level), Sweep::Planes(array, level)];
    let residual = |level| with_border(Sweep::Residual(level), Array::R, level);
    let smooth = |level| with_border(Sweep::Smooth(level), Array::U, level);
    let mut body = Vec::new();
    for level in (2..=levels).rev() {
        body.extend(with_border(Sweep::Project(level), Array::R, level - 1));
    }
    body.push(Sweep::Zero(1));
    body.extend(smooth(1));
    for level in 2..=levels {
        if level < levels {
            body.push(Sweep::Zero(level));
        }
        body.push(Sweep::Interpolate(level));
        body.extend(residual(level));
        body.extend(smooth(level));
    }
    body.extend(residual(levels));
    let mut prologue = residual(levels).to_vec();
    prologue.push(Sweep::Norm);
    Schedule { prologue, body, repeats: iterations, epilogue: vec![Sweep::Norm] }
}

/// The application: the grids, and the computing time of a floating-point operation \[ps\].
#[derive(Clone, Debug)]
pub(super) struct MultiGrid {
    pub(super) map: Map,
    pub(super) flop_ps: u64,
}

/// The threads of a class.
pub(super) fn program(
    class: Class,
    flop: Span,
    threads: u32,
    window: Window,
    seed: u64,
) -> Looped<MultiGrid> {
    let Size { levels, iterations, .. } = size(class);
    let application = MultiGrid { map: Map::new(levels), flop_ps: flop.as_ps() };
    let footprint = application.map.layout().end();
    Looped::new(application, schedule(levels, iterations), footprint, threads, window, seed)
}

/// What is done to an array that is updated in place, or only read.
const LOAD: Touch = Touch::Load;
const STORE: Touch = Touch::Store;
