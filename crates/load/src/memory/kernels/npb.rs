//! Common parts of the NAS Parallel Benchmarks: the classes of problems, and the random number generator.
//!
//! Sources: Bailey et al., "The NAS Parallel Benchmarks", RNR-94-007, sections 2.2 (classes) and 2.3 (generator); NPB
//! 3.4 for later classes.

use std::fmt;
use std::str::FromStr;

/// A class of problems, by size.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    /// For tests.
    S,
    /// For a workstation of 1995.
    W,
    /// The first standard size.
    A,
    /// About four times A.
    B,
    /// About four times B.
    C,
    /// About sixteen times C.
    D,
    /// About sixteen times D.
    E,
}

impl Class {
    /// All classes, from small to large.
    pub const ALL: [Self; 7] = [Self::S, Self::W, Self::A, Self::B, Self::C, Self::D, Self::E];
    /// Its letter.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::S => 'S',
            Self::W => 'W',
            Self::A => 'A',
            Self::B => 'B',
            Self::C => 'C',
            Self::D => 'D',
            Self::E => 'E',
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.letter())
    }
}

impl FromStr for Class {
    type Err = BadClass;
    fn from_str(text: &str) -> Result<Self, BadClass> {
        let is = |class: &Self| text.len() == 1 && text.starts_with(class.letter());
        Self::ALL.into_iter().find(is).ok_or(BadClass)
    }
}

/// A text that is not the letter of a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a class is one of the letters S, W, A, B, C, D, E")]
pub struct BadClass;

/// The multiplier, 5¹³.
const MULTIPLIER: u64 = 1_220_703_125;
/// The seed of CG and MG.
const SEED: u64 = 314_159_265;
const BITS: u32 = 46;
const MASK: u64 = (1 << BITS) - 1;

/// The generator of the NPB: x ← 5¹³ x mod 2⁴⁶.
#[derive(Clone, Copy, Debug)]
pub(super) struct Generator(u64);

impl Generator {
    /// The generator with the seed that CG and MG use.
    pub(super) const fn new() -> Self {
        Self(SEED)
    }
    /// The next 46 bits.
    pub(super) const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(MULTIPLIER) & MASK;
        self.0
    }
    /// The next number in (0, 1).
    pub(super) fn unit(&mut self) -> f64 {
        self.bits() as f64 * (1.0 / (1_u64 << BITS) as f64)
    }
    /// The next whole number below 2^`power`, from the most significant bits.
    pub(super) const fn below_power(&mut self, power: u32) -> u64 {
        self.bits() >> (BITS - power)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_names_a_class() {
        for class in Class::ALL {
            assert_eq!(class.to_string().parse(), Ok(class));
        }
        for text in ["", "s", "F", "SW"] {
            assert_eq!(text.parse::<Class>(), Err(BadClass), "{text}");
        }
    }

    /// By exact arithmetic: the fourth power of 5¹³ times the seed.
    #[test]
    fn the_generator_multiplies_modulo_two_to_the_46th() {
        let mut generator = Generator::new();
        (0..3).for_each(|_| _ = generator.bits());
        let power = |n: u32| (0..n).fold(1_u128, |x, _| x * u128::from(MULTIPLIER) % (1 << 46));
        assert_eq!(u128::from(generator.bits()), power(4) * u128::from(SEED) % (1 << 46));
        let unit = Generator::new().unit();
        assert!(unit > 0.0 && unit < 1.0);
        assert_eq!((unit * 1024.0) as u64, Generator::new().below_power(10));
    }
}
