//! What a drive has lived through, without living through it.
//!
//! The steady state of random writes is drawn, not simulated: a keyed permutation scatters the units over **seats**,
//! and the seats are dealt to blocks, each as many as it has valid units; how many those are comes from the stationary
//! distribution of greedy GC ([`Greedy`]), by quantiles, in random order. Where a unit lies follows by arithmetic, in
//! both directions, so the state takes memory for its blocks and none for its units. What has been overwritten since is
//! in the map, and a seat counts only while the map does not know its unit.

use super::layout::Layout;
use super::shares::{Scatter, Shares};
use crate::config::Initial;
use crate::random::{Draws, Permutation};
use crate::theory::Greedy;
use lanetwin_units::mix;

/// The initial state of the dies of one partition.
#[derive(Clone, Debug)]
pub enum InitialLayout {
    /// Nothing is mapped.
    Empty,
    /// Written once from end to end, a program on each die in turn.
    Sequential { units: u64, program: u64, dies: u64, block: u64, blocks: u64 },
    /// Written at random for long.
    Scattered(Scattered),
}

/// Units scattered over blocks.
#[derive(Clone, Debug)]
pub struct Scattered {
    scatter: Scatter,
    /// The first seat of each block of the partition, and the number of seats.
    first: Vec<u64>,
    /// Blocks for each seat, as a fraction of 2^64: where to begin to look.
    slope: u64,
    block: u64,
    /// Blocks of a die, and which of them are being written.
    blocks: u32,
    open: core::ops::Range<u32>,
    /// Of each die, the block that is being collected.
    leaving: Vec<Leaving>,
    key: u64,
}

/// A block that is being collected: what was valid in its first places has left.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    /// Which block of the partition it is.
    number: u32,
    /// How many places have not been read, the last ones.
    rest: u32,
}

/// What the partition has to offer.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Units of the partition.
    pub units: u64,
    /// Its dies.
    pub dies: u32,
    /// Blocks of each die that may hold data, the first ones; the others are an SLC cache.
    pub blocks: u32,
    /// How many of them are full.
    pub closed: u32,
    /// How many of them are being written, the last ones.
    pub open: u32,
    /// Whether the address of a unit says on which die it lies.
    pub by_address: bool,
}

impl InitialLayout {
    /// The initial state; `key` decides what was random.
    pub fn new(initial: Initial, layout: &Layout, room: Room, key: u64) -> Self {
        match initial {
            Initial::Empty => Self::Empty,
            Initial::Sequential => Self::Sequential {
                units: room.units,
                program: if room.by_address { layout.page } else { layout.program }.into(),
                dies: room.dies.into(),
                block: layout.block.into(),
                blocks: layout.blocks.into(),
            },
            Initial::SteadyState => Self::Scattered(Scattered::new(layout, room, key)),
        }
    }

    /// The place of a unit, counted from the first place of the partition.
    #[inline]
    pub fn place(&self, unit: u64) -> Option<u64> {
        match self {
            Self::Empty => None,
            Self::Sequential { units, program, dies, block, blocks } => {
                debug_assert!(unit < *units);
                let (turn, rest) = (unit / program, unit % program);
                let on_die = turn / dies * program + rest;
                let number = turn % dies * blocks + on_die / block;
                Some(number * block + on_die % block)
            }
            Self::Scattered(scattered) => Some(scattered.place(unit)),
        }
    }

    /// Calls `tell(offset, unit)` for every unit that lay in a block of the partition.
    pub fn units_of(&self, number: u32, mut tell: impl FnMut(u32, u64)) {
        match self {
            Self::Empty => {}
            Self::Sequential { units, program, dies, block, blocks } => {
                let (die, on_die) = (u64::from(number) / blocks, u64::from(number) % blocks * block);
                for offset in 0..*block {
                    let turn = (on_die + offset) / program * dies + die;
                    let unit = turn * program + (on_die + offset) % program;
                    if unit < *units {
                        tell(offset as u32, unit);
                    }
                }
            }
            Self::Scattered(scattered) => scattered.units_of(number, tell),
        }
    }

    /// Which of the blocks that are being written on its die a block of the partition is.
    pub fn open(&self, number: u32) -> Option<u32> {
        match self {
            Self::Scattered(scattered) if scattered.is_open(number) => {
                Some(number % scattered.blocks - scattered.open.start)
            }
            _ => None,
        }
    }

    /// How many units lay in a block of the partition.
    pub fn valid(&self, number: u32) -> u32 {
        match self {
            Self::Scattered(scattered) => {
                (scattered.first[number as usize + 1] - scattered.first[number as usize]) as u32
            }
            Self::Empty => 0,
            Self::Sequential { units, program, dies, block, blocks } => {
                // a block is written from its first place on, so that its units ascend: the first one that is not there
                // is looked for, for a drive has a thousand million of them
                let (die, on_die) = (u64::from(number) / blocks, u64::from(number) % blocks * block);
                let is_there = |offset: u64| {
                    let turn = (on_die + offset) / program * dies + die;
                    turn * program + (on_die + offset) % program < *units
                };
                let (mut there, mut beyond) = (0, *block);
                while there < beyond {
                    let middle = there.midpoint(beyond);
                    if is_there(middle) { there = middle + 1 } else { beyond = middle }
                }
                there as u32
            }
        }
    }
}

impl Scattered {
    fn new(layout: &Layout, room: Room, key: u64) -> Self {
        let mut draws = Draws::new(mix(key ^ 0x5eed));
        let (counts, leaving) = counts(layout, room, &mut draws);
        let mut first = Vec::with_capacity(counts.len() + 1);
        let mut sum = 0;
        first.push(0);
        for count in counts {
            sum += u64::from(count);
            first.push(sum);
        }
        let slope = (((first.len() as u128 - 1) << 64) / u128::from(room.units.max(1))) as u64;
        let open = room.blocks - room.open..room.blocks;
        let scatter = match room.by_address {
            true => Scatter::by_address(Shares::new(room.units, layout.page, room.dies), key),
            false => Scatter::anywhere(room.units, key),
        };
        Self { scatter, first, slope, block: layout.block.into(), blocks: layout.blocks, open, leaving, key }
    }

    #[inline]
    fn place(&self, unit: u64) -> u64 {
        let seat = self.scatter.forward(unit);
        let mut number = ((u128::from(seat) * u128::from(self.slope)) >> 64) as usize;
        while self.first[number] > seat {
            number -= 1;
        }
        while self.first[number + 1] <= seat {
            number += 1;
        }
        number as u64 * self.block + self.seats_of(number as u32).place(seat - self.first[number])
    }

    /// Whether a block is being written: its first places are its seats.
    #[inline]
    fn is_open(&self, number: u32) -> bool {
        self.open.contains(&(number % self.blocks))
    }

    fn units_of(&self, number: u32, mut tell: impl FnMut(u32, u64)) {
        let (from, to) = (self.first[number as usize], self.first[number as usize + 1]);
        let seats = self.seats_of(number);
        for seat in from..to {
            tell(seats.place(seat - from) as u32, self.scatter.back(seat, number / self.blocks));
        }
    }

    /// Which places of a block are seats.
    #[inline]
    fn seats_of(&self, number: u32) -> Seats {
        if self.is_open(number) {
            return Seats::First;
        }
        let leaving = self.leaving[(number / self.blocks) as usize];
        let rest = if leaving.number == number { leaving.rest.into() } else { self.block };
        let within = Permutation::new(rest, self.key ^ (u64::from(number) << 20));
        Seats::Anywhere { from: self.block - rest, within }
    }
}

/// Which places of a block are seats.
enum Seats {
    /// The first ones, of a block that is being written.
    First,
    /// Any of the last ones.
    Anywhere { from: u64, within: Permutation },
}

impl Seats {
    /// The place of a seat in its block.
    #[inline]
    fn place(&self, seat: u64) -> u64 {
        match self {
            Self::First => seat,
            Self::Anywhere { from, within } => from + within.forward(seat),
        }
    }
}

/// How many valid units each block of the partition has, which add up to its units; and of each die, which block is
/// being collected.
///
/// Each die gets the whole distribution, so that the first seat of a block is never far from a straight line.
fn counts(layout: &Layout, room: Room, draws: &mut Draws) -> (Vec<u32>, Vec<Leaving>) {
    let full = u64::from(layout.block);
    let closed = u64::from(room.closed);
    let programs = full / u64::from(layout.program);
    let mut counts = vec![0; room.dies as usize * layout.blocks as usize];
    let mut leaving = Vec::with_capacity(room.dies as usize);
    for (die, counts) in counts.chunks_mut(layout.blocks as usize).enumerate() {
        let (number, dies) = (die as u64, u64::from(room.dies));
        let units = if room.by_address {
            Shares::new(room.units, layout.page, room.dies).of(number)
        } else {
            room.units * (number + 1) / dies - room.units * number / dies
        };
        let (worn, open) = counts[..room.blocks as usize].split_at_mut((room.blocks - room.open) as usize);
        // those that are being written are somewhere between empty and full; full ones have the stationary distribution
        let mut left = units;
        for count in open {
            *count = (draws.below(programs) * u64::from(layout.program)).min(left / 2) as u32;
            *count -= *count % layout.program;
            left -= u64::from(*count);
        }
        // one is being collected: some of its units have left
        let utilisation =
            |units: u64, blocks: u64| Greedy::new(layout.block, units as f64 / (blocks * full) as f64);
        let taken = u64::from(utilisation(left, closed).lowest.max(1));
        let victim = draws.below(taken).min(left);
        let mut drawn = quantiles(&utilisation(left - victim, closed - 1), closed - 1, draws);
        balance(&mut drawn, left - victim, layout.block, draws);
        drawn.push(victim as u32);
        let places = places(worn.len(), drawn.len(), draws);
        for (place, count) in places.iter().zip(drawn) {
            worn[*place] = count;
        }
        let pages = (full * victim / taken).div_ceil(u64::from(layout.page)) as u32;
        leaving.push(Leaving {
            number: die as u32 * layout.blocks + *places.last().expect("one is being collected") as u32,
            rest: (pages * layout.page).clamp(victim as u32, layout.block),
        });
    }
    (counts, leaving)
}

/// So many of the blocks of a die, evenly spread over it, in random order; the others stay empty.
fn places(blocks: usize, wanted: usize, draws: &mut Draws) -> Vec<usize> {
    let mut places: Vec<usize> = (0..wanted).map(|nth| nth * blocks / wanted).collect();
    for i in (1..wanted).rev() {
        places.swap(i, draws.below(i as u64 + 1) as usize);
    }
    places
}

/// `n` quantiles of a distribution, at a common random offset.
fn quantiles(greedy: &Greedy, n: u64, draws: &mut Draws) -> Vec<u32> {
    let mut drawn = Vec::with_capacity(n as usize + 1);
    let offset = draws.unit();
    let (mut below, mut valid) = (0.0, greedy.lowest);
    for i in 0..n {
        let at = (i as f64 + offset) / n as f64;
        while valid < greedy.block && below + greedy.share(valid) < at {
            below += greedy.share(valid);
            valid += 1;
        }
        drawn.push(valid);
    }
    drawn
}

/// Moves counts by ones until they add up to `units`.
fn balance(counts: &mut [u32], units: u64, full: u32, draws: &mut Draws) {
    let mut sum: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    while sum != units {
        let count = &mut counts[draws.below(counts.len() as u64) as usize];
        if sum < units && *count < full {
            (*count, sum) = (*count + 1, sum + 1);
        } else if sum > units && *count > 0 {
            (*count, sum) = (*count - 1, sum - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_was_written_in_order_has_the_units_that_lie_in_it() {
        let (program, dies, block, blocks) = (4, 3, 12, 5);
        for units in 0..=program * dies * 3 * blocks {
            let initial_layout = InitialLayout::Sequential { units, program, dies, block, blocks };
            let mut all = 0;
            for number in 0..(dies * blocks) as u32 {
                let mut there = 0;
                initial_layout.units_of(number, |_, _| there += 1);
                assert_eq!(initial_layout.valid(number), there, "{units} units, block {number}");
                all += u64::from(there);
            }
            assert_eq!(all, units);
        }
    }
}
