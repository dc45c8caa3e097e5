//! The parallel loops of the benchmark, the vectors that they access, and their order.

use super::super::looped::Schedule;
use crate::memory::Touch;

/// Steps of conjugate gradients in an outer iteration (RNR-94-007 §3.3.1).
const STEPS: usize = 25;

/// A vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::memory::kernels) enum Vector {
    X,
    Z,
    P,
    Q,
    R,
}

/// A parallel loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::memory::kernels) enum Loop {
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
pub(super) const fn vectors(of: Loop) -> (&'static [(Vector, Touch)], u64) {
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
