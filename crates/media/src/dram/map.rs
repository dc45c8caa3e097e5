//! Mapping of addresses to buses, banks, rows and columns.

use super::config::{Config, LINE, Order};

/// The place of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub bus: u32,
    /// Index of the bank on its bus: rank, bank group, bank, from the highest bits on.
    pub bank: u8,
    pub row: u32,
    /// Index of the line in the row.
    pub line: u32,
}

/// A bit field of a number.
#[derive(Clone, Copy, Debug)]
struct Field {
    shift: u32,
    mask: u64,
}

impl Field {
    /// The field of the next `bits` bits, from bit `at` on.
    const fn next(at: &mut u32, bits: u32) -> Self {
        let shift = *at;
        *at += bits;
        Self { shift, mask: (1 << bits) - 1 }
    }
    #[inline]
    const fn of(self, number: u64) -> u64 {
        number >> self.shift & self.mask
    }
}

/// Distribution of granules over data buses.
#[derive(Clone, Copy, Debug)]
enum Spread {
    /// A power of two of buses.
    Bits(u32),
    /// The same, XORed with all bits above.
    Hashed(u32),
    /// Any other number of buses.
    Count(u64),
}

/// The mapping, decomposed into shifts.
#[derive(Clone, Debug)]
pub(super) struct Map {
    spread: Spread,
    /// Lines of an interleave granule, as an exponent of two.
    granule: u32,
    /// Fields of the number of a line on its bus.
    group: Field,
    bank: Field,
    rank: Field,
    column: Field,
    row: u32,
    /// Shifts in the index of a bank on its bus.
    to_group: u32,
    to_rank: u32,
    /// Row bits with which a bank of a rank is XORed.
    hash: u64,
    capacity: u64,
}

impl Map {
    pub fn new(config: &Config) -> Self {
        let g = &config.geometry;
        let groups = g.groups(config.speed).trailing_zeros();
        let banks = g.banks(config.speed).trailing_zeros();
        let ranks = g.ranks.trailing_zeros();
        let lines = (g.row_bytes(config.speed) / LINE).trailing_zeros();
        let buses = g.buses(config.speed);
        let mut at = 0;
        let mut next = |bits| Field::next(&mut at, bits);
        let (column, group, bank, rank);
        match config.mapping.order {
            Order::Rows => {
                (group, column, bank, rank) = (next(groups), next(lines), next(banks), next(ranks));
            }
            Order::Banks => {
                (group, bank, rank, column) = (next(groups), next(banks), next(ranks), next(lines));
            }
            Order::Columns => {
                (column, group, bank, rank) = (next(lines), next(groups), next(banks), next(ranks));
            }
        }
        Self {
            spread: match buses.is_power_of_two() {
                true if config.mapping.hash_buses => Spread::Hashed(buses.trailing_zeros()),
                true => Spread::Bits(buses.trailing_zeros()),
                false => Spread::Count(buses.into()),
            },
            granule: (config.mapping.interleave.0 / LINE).trailing_zeros(),
            group,
            bank,
            rank,
            column,
            row: at,
            to_group: banks,
            to_rank: groups + banks,
            hash: if config.mapping.hash { (1 << (groups + banks)) - 1 } else { 0 },
            capacity: config.capacity.0,
        }
    }

    /// The bus of a granule, and the index of the granule on it.
    #[inline]
    const fn bus(&self, granule: u64) -> (u64, u64) {
        match self.spread {
            Spread::Bits(bits) => (granule & ((1 << bits) - 1), granule >> bits),
            Spread::Hashed(bits) => (folded(granule, bits), granule >> bits),
            Spread::Count(buses) => (granule % buses, granule / buses),
        }
    }

    /// The place of an address. Returns `None` beyond the capacity.
    #[inline]
    pub fn place(&self, address: u64) -> Option<Place> {
        if address >= self.capacity {
            return None;
        }
        let line = address / LINE;
        let (bus, above) = self.bus(line >> self.granule);
        let line = above << self.granule | line & ((1 << self.granule) - 1);
        let row = line >> self.row;
        let flat = (self.group.of(line) << self.to_group | self.bank.of(line)) ^ row & self.hash;
        Some(Place {
            bus: bus as u32,
            bank: (self.rank.of(line) << self.to_rank | flat) as u8,
            row: row as u32,
            line: self.column.of(line) as u32,
        })
    }
}

/// XOR of all groups of `bits` bits of a number.
const fn folded(number: u64, bits: u32) -> u64 {
    if bits == 0 {
        return 0;
    }
    let (mut left, mut sum) = (number, 0);
    while left != 0 {
        sum ^= left & ((1 << bits) - 1);
        left >>= bits;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::config::{Geometry, Mapping};
    use super::super::spec::{Density, Speed, Width};
    use super::*;
    use lanetwin_units::Bytes;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn config(speed: Speed, channels: u32, ranks: u32, order: Order, hash: bool, interleave: u64) -> Config {
        let mut config = Config::new(speed, channels, Bytes(0));
        config.geometry = Geometry { channels, ranks, width: Width::X8, density: Density::Gb16 };
        config.mapping = Mapping { interleave: Bytes(interleave), order, hash, hash_buses: false };
        let g = config.geometry;
        let row = u64::from(g.buses(speed) * ranks * g.groups(speed) * g.banks(speed)) * g.row_bytes(speed);
        config.capacity = Bytes(3 * row);
        config
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn every_line_has_a_place_of_its_own(
            ddr5 in any::<bool>(),
            channels in 1_u32..4,
            ranks in 0_u32..2,
            order in prop::sample::select(vec![Order::Rows, Order::Banks, Order::Columns]),
            hash in any::<bool>(),
            hash_buses in any::<bool>(),
            interleave in 6_u32..=12,
        ) {
            let speed = if ddr5 { Speed::Ddr5_4800 } else { Speed::Ddr4_3200 };
            let mut config = config(speed, channels, 1 << ranks, order, hash, 1 << interleave);
            config.mapping.hash_buses = hash_buses && channels.is_power_of_two();
            prop_assert_eq!(config.mistakes(), []);
            let map = Map::new(&config);
            let lines = config.capacity.0 / LINE;
            let key = |p: Place| (p.bus, p.bank, p.row, p.line);
            let places: BTreeSet<_> = (0..lines).map(|n| key(map.place(n * LINE + 5).unwrap())).collect();
            prop_assert_eq!(places.len() as u64, lines);
            prop_assert!(places.iter().all(|p| p.0 < config.geometry.buses(speed) && p.2 < 3));
            prop_assert_eq!(map.place(config.capacity.0), None);
        }
    }

    #[test]
    fn granules_apart_by_a_power_of_two_are_on_all_buses_if_they_are_hashed() {
        let mut config = config(Speed::Ddr5_4800, 2, 1, Order::Rows, true, 256);
        let buses = |config: &Config| {
            let map = Map::new(config);
            (0..4).map(|n| map.place(n << 12).unwrap().bus).collect::<BTreeSet<_>>().len()
        };
        assert_eq!(buses(&config), 1);
        config.mapping.hash_buses = true;
        assert_eq!(buses(&config), 4);
        config.geometry.channels = 3;
        assert!(config.mistakes().iter().any(|bad| bad.field == "mapping.hash_buses"));
    }

    #[test]
    fn orders_differ_in_what_changes_first() {
        let place = |order, line: u64| {
            Map::new(&config(Speed::Ddr4_3200, 1, 1, order, false, 64)).place(line * LINE).unwrap()
        };
        // four bank groups of four banks: a group is bits 2 and 3 of the bank
        assert_eq!((1..5).map(|n| place(Order::Rows, n).bank).collect::<Vec<_>>(), [4, 8, 12, 0]);
        assert_eq!((3..6).map(|n| place(Order::Banks, n).bank).collect::<Vec<_>>(), [12, 1, 5]);
        assert_eq!((127..129).map(|n| place(Order::Columns, n).bank).collect::<Vec<_>>(), [0, 4]);
        assert_eq!(place(Order::Rows, 4).line, 1);
    }
}
