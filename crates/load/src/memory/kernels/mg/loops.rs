//! The parallel loops of the benchmark, and their order.

use super::super::looped::Schedule;

/// An array of grids.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::memory::kernels) enum Array {
    /// The solution, on all levels.
    U,
    /// The residual, on all levels.
    R,
    /// The right side, on the finest level.
    V,
}

/// A parallel loop over the rows or planes of a grid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::memory::kernels) enum Sweep {
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

/// The timed part of the benchmark: a residual and its norm, the V-cycles with a residual each, the norm.
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
