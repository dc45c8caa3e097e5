//! The classes of the benchmark.

use super::super::npb::Class;

/// The parameters of a class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    /// The binary logarithm of the number of points along an edge, which is the number of levels.
    pub(super) levels: u32,
    /// Number of V-cycles.
    pub(super) iterations: u64,
    /// The published norm of the last residual.
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
