//! Assignment of grains to seats in the drawn state: anywhere, or on the die determined by the address. A unit here
//! is a grain.

use crate::random::Permutation;
use lanetwin_units::mix;

/// Numbers of units on each die if pages are assigned round robin.
#[derive(Clone, Copy, Debug)]
pub struct Shares {
    units: u64,
    page: u64,
    dies: u64,
}

impl Shares {
    /// `units` units, in pages of `page`, on `dies` dies.
    pub fn new(units: u64, page: u32, dies: u32) -> Self {
        Self { units, page: page.into(), dies: dies.into() }
    }

    /// Number of units on the dies before this one.
    fn before(&self, die: u64) -> u64 {
        let (turns, rest) = (self.units / (self.page * self.dies), self.units % (self.page * self.dies));
        turns * self.page * die + rest.min(die * self.page)
    }

    /// Number of units on a die.
    pub fn of(&self, die: u64) -> u64 {
        self.before(die + 1) - self.before(die)
    }

    /// The die of a unit, and its index there.
    fn split(&self, unit: u64) -> (u64, u64) {
        let (page, within) = (unit / self.page, unit % self.page);
        (page % self.dies, page / self.dies * self.page + within)
    }

    /// The unit with this index on a die.
    fn unit(&self, die: u64, number: u64) -> u64 {
        (number / self.page * self.dies + die) * self.page + number % self.page
    }
}

/// Random assignment of units to seats, which are numbered die by die.
#[derive(Clone, Debug)]
pub enum Scatter {
    /// A unit may lie on any die.
    Anywhere(Permutation),
    /// The address determines the die, and each die has a permutation.
    ByAddress(Shares, Vec<Permutation>),
}

impl Scatter {
    /// `units` units on any die.
    pub fn anywhere(units: u64, key: u64) -> Self {
        Self::Anywhere(Permutation::new(units, key))
    }

    /// A permutation for the units of each die.
    pub fn by_address(shares: Shares, key: u64) -> Self {
        let on = |die: u64| Permutation::new(shares.of(die).max(1), key ^ mix(die + 1));
        Self::ByAddress(shares, (0..shares.dies).map(on).collect())
    }

    /// The seat of a unit.
    #[inline]
    pub fn forward(&self, unit: u64) -> u64 {
        match self {
            Self::Anywhere(permutation) => permutation.forward(unit),
            Self::ByAddress(shares, dies) => {
                let (die, number) = shares.split(unit);
                shares.before(die) + dies[die as usize].forward(number)
            }
        }
    }

    /// The unit of a seat on a die.
    #[inline]
    pub fn back(&self, seat: u64, die: u32) -> u64 {
        match self {
            Self::Anywhere(permutation) => permutation.back(seat),
            Self::ByAddress(shares, dies) => {
                let number = dies[die as usize].back(seat - shares.before(die.into()));
                shares.unit(die.into(), number)
            }
        }
    }
}
