//! The NPB's Multi-Grid: V-cycles on grids of n³ points, as loops over rows.
//!
//! ```text
//!  level lt ──project──► … ──project──► level 1
//!     ▲                                   │ smooth
//!     └─ smooth ◄ residual ◄ interpolate ◄┘        4 to 50 times, then the norm of the residual
//! ```
//!
//! The loops ([`loops::Sweep`]) are those of the OpenMP version of NPB 3.4: they run over the rows of a grid
//! (`collapse(2)`) or over its planes. [`sweeps`] has the rows of the arrays that a trip accesses. [`solve::Grids`]
//! does the arithmetic of the same loops; a test compares the addresses of both.
//!
//! Sources: RNR-94-007 section 3.2; NPB 3.4-OMP, MG (classes, smoother by class, order of loops, norms to verify).

mod loops;
mod map;
mod size;
mod solve;
mod sweeps;

use super::layout::Part;
use super::looped::Looped;
use super::npb::Class;
use super::window::Window;
use lanetwin_units::Span;
use loops::schedule;
use map::Map;
use size::{Size, size};
pub use solve::{Verified, solve};
use sweeps::MultiGrid;

/// The data structures of a class.
pub(super) fn parts(class: Class) -> Vec<Part> {
    Map::new(size(class).levels).layout().parts()
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
