//! Initial state of a drive after a long time of writes, drawn at random instead of simulated.
//!
//! The steady state of random writes is drawn. Data that the host wrote, and overwrites, in one piece lie side by
//! side: a **grain** of one or more units. A keyed permutation scatters the grains over **seats**. Seats are
//! distributed to blocks, each with as many as it has valid grains. These numbers come from the stationary
//! distribution of greedy GC ([`Greedy`]), by quantiles, in random order. The place of a unit is computed, in both
//! directions, so that the state takes memory for its blocks but none for its units. Units that were overwritten
//! since are in the map, and a seat is valid only while its units are not in the map.

use super::layout::Layout;
use super::shares::{Scatter, Shares};
use crate::config::Initial;
use crate::divisor::Divisor;
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

/// Grains scattered over blocks.
#[derive(Clone, Debug)]
pub struct Scattered {
    scatter: Scatter,
    /// Units of a grain.
    grain: Divisor,
    /// Units of the partition: the last grain may have fewer than the others.
    units: u64,
    /// The first seat of each block of the partition, and the number of seats.
    first: Vec<u64>,
    /// Blocks per seat, as a fraction of 2^64: where a search begins.
    slope: u64,
    /// Seats that fit into a block.
    block: u64,
    /// Blocks of a die, and which of them are being written.
    blocks: u32,
    open: core::ops::Range<u32>,
    /// The block being collected on each die.
    leaving: Vec<Leaving>,
    key: u64,
}

/// A block being collected: the valid units of its first places have been moved.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    /// Its index in the partition.
    number: u32,
    /// Number of its places for grains, at the end, that have not been read.
    rest: u32,
}

/// A die and its blocks, counted in grains.
#[derive(Clone, Copy, Debug)]
struct Grains {
    /// Grains of a block, of a program, and of a page.
    block: u32,
    program: u32,
    page: u32,
    /// Grains of the partition.
    all: u64,
}

impl Grains {
    fn new(layout: &Layout, units: u64, grain: u32) -> Self {
        let page = (layout.page / grain).max(1);
        Self {
            block: layout.block / grain,
            program: layout.program / grain,
            page,
            all: units.div_ceil(grain.into()),
        }
    }
}

/// Blocks and dies of a partition.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Units of the partition.
    pub units: u64,
    /// Its dies.
    pub dies: u32,
    /// Blocks of each die that may hold data: the first ones; the others are an SLC cache.
    pub blocks: u32,
    /// Number of those that are full.
    pub closed: u32,
    /// Number of those that are open: the last ones.
    pub open: u32,
}

impl InitialLayout {
    /// The initial state, drawn with `key`.
    pub fn new(initial: Initial, layout: &Layout, room: Room, key: u64) -> Self {
        match initial {
            Initial::Empty => Self::Empty,
            Initial::Sequential => Self::Sequential {
                units: room.units,
                program: if layout.by_address { layout.page } else { layout.program }.into(),
                dies: room.dies.into(),
                block: layout.block.into(),
                blocks: layout.blocks.into(),
            },
            Initial::SteadyState { written } => {
                let grain = layout.grain(written);
                Self::Scattered(Scattered::new(layout, room, grain, key))
            }
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

    /// The index of a block of the partition among the open blocks of its die. Returns `None` if it is not open.
    pub fn open(&self, number: u32) -> Option<u32> {
        match self {
            Self::Scattered(scattered) if scattered.is_open(number) => {
                Some(number % scattered.blocks - scattered.open.start)
            }
            _ => None,
        }
    }

    /// Number of valid units in a block of the partition.
    pub fn valid(&self, number: u32) -> u32 {
        match self {
            Self::Scattered(scattered) => scattered.valid(number),
            Self::Empty => 0,
            Self::Sequential { units, program, dies, block, blocks } => {
                // a block is written from its first place on, so that its units ascend: a binary search finds the
                // first that is missing, because a drive has a thousand million units
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
    fn new(layout: &Layout, room: Room, grain: u32, key: u64) -> Self {
        let grains = Grains::new(layout, room.units, grain);
        let mut draws = Draws::new(mix(key ^ 0x5eed));
        let (counts, leaving) = counts(layout, grains, room, &mut draws);
        let mut first = Vec::with_capacity(counts.len() + 1);
        let mut sum = 0;
        first.push(0);
        for count in counts {
            sum += u64::from(count);
            first.push(sum);
        }
        let slope = (((first.len() as u128 - 1) << 64) / u128::from(grains.all.max(1))) as u64;
        let open = room.blocks - room.open..room.blocks;
        let scatter = match layout.by_address {
            true => Scatter::by_address(Shares::new(grains.all, grains.page, room.dies), key),
            false => Scatter::anywhere(grains.all, key),
        };
        Self {
            scatter,
            grain: Divisor::new(grain.into()),
            units: room.units,
            first,
            slope,
            block: grains.block.into(),
            blocks: layout.blocks,
            open,
            leaving,
            key,
        }
    }

    #[inline]
    fn place(&self, unit: u64) -> u64 {
        let grain = self.grain.quotient(unit);
        let within = unit - grain * self.grain.number();
        let seat = self.scatter.forward(grain);
        let number = self.block_of(seat);
        let place =
            number as u64 * self.block + self.seats_of(number as u32).place(seat - self.first[number]);
        place * self.grain.number() + within
    }

    /// The block of the partition that contains a seat.
    #[inline]
    fn block_of(&self, seat: u64) -> usize {
        let mut number = ((u128::from(seat) * u128::from(self.slope)) >> 64) as usize;
        while self.first[number] > seat {
            number -= 1;
        }
        while self.first[number + 1] <= seat {
            number += 1;
        }
        number
    }

    /// Number of valid units in a block.
    fn valid(&self, number: u32) -> u32 {
        let (from, to) = (self.first[number as usize], self.first[number as usize + 1]);
        let grain = self.grain.number();
        let lacking = self.units.next_multiple_of(grain) - self.units;
        let has_last = lacking > 0 && (from..to).contains(&self.scatter.forward(self.units / grain));
        ((to - from) * grain - if has_last { lacking } else { 0 }) as u32
    }

    /// Whether a block is open: then its first places are its seats.
    #[inline]
    fn is_open(&self, number: u32) -> bool {
        self.open.contains(&(number % self.blocks))
    }

    fn units_of(&self, number: u32, mut tell: impl FnMut(u32, u64)) {
        let (from, to) = (self.first[number as usize], self.first[number as usize + 1]);
        let (seats, grain) = (self.seats_of(number), self.grain.number());
        for seat in from..to {
            let place = seats.place(seat - from) * grain;
            let unit = self.scatter.back(seat, number / self.blocks) * grain;
            for within in 0..grain.min(self.units - unit) {
                tell((place + within) as u32, unit + within);
            }
        }
    }

    /// The places of a block that are seats.
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

/// The places of a block that are seats.
enum Seats {
    /// The first ones, in an open block.
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

/// Number of valid grains of each block of the partition, which add up to all grains, and the block being collected
/// on each die.
///
/// Each die gets the whole distribution, so that the first seat of a block is never far from a straight line.
fn counts(layout: &Layout, grains: Grains, room: Room, draws: &mut Draws) -> (Vec<u32>, Vec<Leaving>) {
    let Grains { block, program, page, all } = grains;
    let full = u64::from(block);
    let closed = u64::from(room.closed);
    let programs = full / u64::from(program);
    let mut counts = vec![0; room.dies as usize * layout.blocks as usize];
    let mut leaving = Vec::with_capacity(room.dies as usize);
    for (die, counts) in counts.chunks_mut(layout.blocks as usize).enumerate() {
        let (number, dies) = (die as u64, u64::from(room.dies));
        let seats = if layout.by_address {
            Shares::new(all, page, room.dies).of(number)
        } else {
            all * (number + 1) / dies - all * number / dies
        };
        let (worn, open) = counts[..room.blocks as usize].split_at_mut((room.blocks - room.open) as usize);
        // open blocks are anywhere between empty and full; full ones have the stationary distribution
        let mut left = seats;
        for count in open {
            *count = (draws.below(programs) * u64::from(program)).min(left / 2) as u32;
            *count -= *count % program;
            left -= u64::from(*count);
        }
        // one is being collected: some of its grains have been moved
        let utilisation = |seats: u64, blocks: u64| Greedy::new(block, seats as f64 / (blocks * full) as f64);
        let taken = u64::from(utilisation(left, closed).lowest.max(1));
        let victim = draws.below(taken).min(left);
        let mut drawn = quantiles(&utilisation(left - victim, closed - 1), closed - 1, draws);
        balance(&mut drawn, left - victim, block, draws);
        drawn.push(victim as u32);
        let places = places(worn.len(), drawn.len(), draws);
        for (place, count) in places.iter().zip(drawn) {
            worn[*place] = count;
        }
        let pages = (full * victim / taken).div_ceil(u64::from(page)) as u32;
        leaving.push(Leaving {
            number: die as u32 * layout.blocks + *places.last().expect("one is being collected") as u32,
            rest: (pages * page).clamp(victim as u32, block),
        });
    }
    (counts, leaving)
}

/// `wanted` of the blocks of a die, evenly spread over it, in random order; the others stay empty.
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

/// Moves counts by ones until they add up to `seats`.
fn balance(counts: &mut [u32], seats: u64, full: u32, draws: &mut Draws) {
    let mut sum: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    while sum != seats {
        let count = &mut counts[draws.below(counts.len() as u64) as usize];
        if sum < seats && *count < full {
            (*count, sum) = (*count + 1, sum + 1);
        } else if sum > seats && *count > 0 {
            (*count, sum) = (*count - 1, sum - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Allocation, Level, Medium, Order, UNIT};
    use crate::ftl::tests::small;
    use lanetwin_units::Bytes;
    use proptest::prelude::*;

    const ALLOCATIONS: [Allocation; 2] = [
        Allocation::Dies,
        Allocation::Address(Order([Level::Channel, Level::Way, Level::Die, Level::Plane])),
    ];

    /// Four dies of 32 blocks of 96 units, in programs of twelve on pages of two; by address each plane is a die.
    fn layout(allocation: Allocation) -> Layout {
        let Medium::Nand(nand, _) = small().medium else { unreachable!("it is of flash") };
        Layout::new(&nand, allocation)
    }

    #[test]
    fn what_was_written_at_once_lies_side_by_side_as_far_as_pages_and_programs_go() {
        let grains = |allocation| {
            [1, 2, 3, 4, 6, 8, 12, 24, 32, 36].map(|units| layout(allocation).grain(Bytes(units * UNIT)))
        };
        assert_eq!(grains(ALLOCATIONS[0]), [1, 2, 1, 4, 6, 4, 12, 12, 4, 12]);
        assert_eq!(grains(ALLOCATIONS[1]), [1, 2, 1, 2, 2, 2, 2, 2, 2, 2]);
        assert_eq!(layout(ALLOCATIONS[0]).grain(Bytes(512)), 1);
        assert_eq!(layout(ALLOCATIONS[0]).grain(Bytes(6144)), 1);
    }

    proptest! {
        #[test]
        fn grains_are_scattered_whole_and_each_unit_has_a_place(
            units in 6_000_u64..8_000, at_once in 1_u64..40, by_address: bool, key: u64,
        ) {
            let layout = layout(ALLOCATIONS[usize::from(by_address)]);
            let room = Room { units, dies: layout.dies, blocks: 32, closed: 26, open: 2 };
            let written = Bytes(at_once * UNIT);
            let initial = InitialLayout::new(Initial::SteadyState { written }, &layout, room, key);
            let places: Vec<u64> = (0..units).map(|unit| initial.place(unit).expect("it is mapped")).collect();
            let grain = u64::from(layout.grain(written));
            for (unit, place) in (0..).zip(&places) {
                let first = unit - unit % grain;
                prop_assert_eq!(place - places[first as usize], unit % grain);
                prop_assert_eq!(place % grain, unit % grain);
            }
            let mut told = 0;
            for number in 0..layout.dies * layout.blocks {
                let mut there = 0;
                initial.units_of(number, |offset, unit| {
                    assert_eq!(places[unit as usize], layout.first(number) + u64::from(offset));
                    there += 1;
                });
                prop_assert_eq!(initial.valid(number), there);
                told += u64::from(there);
            }
            prop_assert_eq!(told, units);
        }
    }

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
