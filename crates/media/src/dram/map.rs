//! Which address is where.

use super::config::{Config, LINE, Order};

/// Where a line is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub bus: u32,
    /// The bank among all of its bus: rank, bank group, bank, from the highest bits on.
    pub bank: u8,
    pub row: u32,
    /// The line within the row.
    pub line: u32,
}

/// The mapping, taken apart into shifts.
#[derive(Clone, Debug)]
pub(super) struct Map {
    buses: u64,
    /// Lines of an interleave granule, as a power of two.
    granule: u32,
    /// Powers of two: bank groups, banks of a group, ranks, lines of a row.
    groups: u32,
    banks: u32,
    ranks: u32,
    lines: u32,
    order: Order,
    hash: bool,
    capacity: u64,
}

impl Map {
    pub fn new(config: &Config) -> Self {
        let g = &config.geometry;
        Self {
            buses: g.buses(config.speed).into(),
            granule: (config.mapping.interleave.0 / LINE).trailing_zeros(),
            groups: g.groups(config.speed).trailing_zeros(),
            banks: g.banks(config.speed).trailing_zeros(),
            ranks: g.ranks.trailing_zeros(),
            lines: (g.row_bytes(config.speed) / LINE).trailing_zeros(),
            order: config.mapping.order,
            hash: config.mapping.hash,
            capacity: config.capacity.0,
        }
    }

    /// Where an address is; none beyond the capacity.
    #[inline]
    pub fn place(&self, address: u64) -> Option<Place> {
        if address >= self.capacity {
            return None;
        }
        let line = address / LINE;
        let granule = line >> self.granule;
        let (bus, above) = if self.buses.is_power_of_two() {
            (granule & (self.buses - 1), granule >> self.buses.trailing_zeros())
        } else {
            (granule % self.buses, granule / self.buses)
        };
        let mut rest = above << self.granule | line & ((1 << self.granule) - 1);
        let mut take = |bits: u32| {
            let field = rest & ((1 << bits) - 1);
            rest >>= bits;
            field
        };
        let (column, group, bank, rank);
        match self.order {
            Order::Rows => {
                (group, column, bank, rank) =
                    (take(self.groups), take(self.lines), take(self.banks), take(self.ranks));
            }
            Order::Banks => {
                (group, bank, rank, column) =
                    (take(self.groups), take(self.banks), take(self.ranks), take(self.lines));
            }
            Order::Columns => {
                (column, group, bank, rank) =
                    (take(self.lines), take(self.groups), take(self.banks), take(self.ranks));
            }
        }
        let row = rest;
        let flat = group << self.banks | bank;
        let mask = (1 << (self.groups + self.banks)) - 1;
        let flat = if self.hash { flat ^ (row & mask) } else { flat };
        Some(Place {
            bus: bus as u32,
            bank: (rank << (self.groups + self.banks) | flat) as u8,
            row: row as u32,
            line: column as u32,
        })
    }
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
        config.mapping = Mapping { interleave: Bytes(interleave), order, hash };
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
            interleave in 6_u32..=12,
        ) {
            let speed = if ddr5 { Speed::Ddr5_4800 } else { Speed::Ddr4_3200 };
            let config = config(speed, channels, 1 << ranks, order, hash, 1 << interleave);
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
