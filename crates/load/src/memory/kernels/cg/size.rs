//! The classes of the benchmark.

use super::super::npb::Class;

/// The parameters of a class.
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
