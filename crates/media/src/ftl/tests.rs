//! What must hold of the FTL whatever is asked of it.

use super::*;
use crate::config::{
    Allocation, Bus, Encryption, Energy, Frees, Geometry, Initial, Level, Medium, Order, Program, ReadAhead,
    SlcCache, Timing, Victim, Watermarks, WearLevelling, WriteBuffer,
};
use crate::random::Draws;
use core::ops::Range;
use lanetwin_units::{Span, Spread};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A drive of 4 dies, 32 blocks of 96 units each.
pub fn small() -> DriveConfig {
    let geometry = Geometry {
        channels: 2,
        chips: 2,
        dies: 1,
        planes: 2,
        blocks: 32,
        pages: 24,
        page: Bytes(8192),
        spare: Bytes(512),
    };
    let nand = Nand {
        geometry,
        timing: Timing { program: Program::OneShot(Span::from_us(300)), ..Timing::TLC },
        bus: Bus::of(1600),
        read_burst: 16,
        rules: Rules::Dies,
    };
    let ftl = Ftl {
        initial: Initial::Empty,
        allocation: Allocation::Dies,
        victim: Victim::Greedy,
        hot_cold: false,
        watermarks: Watermarks { low: 4, urgent: 2 },
        wear: WearLevelling { dynamic: true, lag: None },
        endurance: 3000,
        streams: 1,
        partitions: Vec::new(),
        mapping: MappingTable::Dram(Span::from_ns(100)),
        slc: None,
        read_ahead: None,
    };
    DriveConfig {
        capacity: Bytes(4 * 24 * 96 * UNIT),
        medium: Medium::Nand(Box::new(nand), Box::new(ftl)),
        spread: Spread::NONE,
        buffer: WriteBuffer {
            capacity: Bytes(128 * UNIT),
            frees: Frees::Loaded,
            power_loss_protected: true,
            volatile_cache: false,
            latency: Span::from_us(1),
        },
        encryption: None,
        energy: Energy::TLC,
    }
}

impl Flash {
    /// Checks every count and every mapping.
    fn audit(&self) {
        let mut valid = vec![0_u32; self.blocks.all.len()];
        for unit in 0..self.units {
            let Some(place) = self.place(unit) else { continue };
            let block = self.layout.block_of(place);
            let b = &self.blocks.all[block as usize];
            valid[block as usize] += 1;
            if !b.seated {
                let offset = (place - self.layout.first(block)) as u32;
                let table = &self.blocks.tables[b.table as usize];
                assert_eq!(u64::from(table.units[offset as usize]), unit, "the page says whose it is");
                assert!(table.is_valid(offset), "unit {unit} lies in a page that does not count");
                assert!(offset < b.filled);
            }
            assert!(b.state != State::Free && b.state != State::Erasing, "unit {unit} is in an erased block");
        }
        for (number, b) in self.blocks.all.iter().enumerate() {
            assert_eq!(b.valid, valid[number], "block {number}");
            if b.table != NONE {
                let bits: u32 =
                    self.blocks.tables[b.table as usize].valid.iter().map(|w| w.count_ones()).sum();
                assert_eq!(bits, b.valid);
            }
        }
        for (number, die) in self.dies.iter().enumerate() {
            let sum: u64 = self.blocks.of_die(number as u32).map(|b| u64::from(valid[b as usize])).sum();
            assert_eq!(die.valid, sum, "die {number}");
            self.audit_space(number as u32);
        }
    }
    /// Checks the space of a die against its blocks, one by one.
    fn audit_space(&self, number: u32) {
        let die = &self.dies[number as usize];
        let (mut whole, mut leaving) = (0, 0);
        for block in self.blocks.of_die(number) {
            let b = &self.blocks.all[block as usize];
            let room = u64::from(self.layout.block);
            match b.state {
                _ if b.slc && !b.borrowed => {}
                State::Open | State::Closed if b.borrowed => {}
                State::Free | State::Erasing => whole += room,
                State::Open => whole += room - u64::from(b.filled),
                State::Leaving => leaving += room,
                State::Closed if die.pace.is_drawn(block) => leaving += room,
                State::Closed => {}
            }
        }
        let space = die.pace.space(&self.blocks);
        assert!((whole..=whole + leaving).contains(&space), "die {number}: {space} of {whole} and {leaving}");
    }
    /// Why nothing goes on.
    fn stuck(&self) -> String {
        let dies = self.dies.iter().map(|die| {
            let heads: Vec<_> =
                die.heads.iter().map(|head| self.blocks.all.get(*head as usize).map(|b| b.filled)).collect();
            format!(
                "free {} slc {} heads {heads:?} programs {} valid {} gc {:?}\n",
                die.free.len(),
                die.free_slc.len(),
                die.programs,
                die.valid,
                die.gc
            )
        });
        let buffer = (
            self.buffer.used,
            self.buffer.known,
            self.buffer.queues.iter().map(|queue| queue.len()).collect::<Vec<_>>(),
        );
        let pools: Vec<_> = self.pools.iter().map(|pool| pool.open.clone()).collect();
        format!(
            "buffer {buffer:?} pools {pools:?} most valid {}\n{}",
            self.most_valid,
            dies.collect::<String>()
        )
    }
    /// Whether a unit has data.
    fn has(&self, unit: u64) -> bool {
        self.buffer.get(unit as u32).is_some() || self.place(unit).is_some()
    }
}

fn flash(config: &DriveConfig, seed: u64) -> Flash {
    assert_eq!(config.mistakes(), []);
    let Medium::Nand(nand, ftl) = &config.medium else { panic!("flash") };
    Flash::new(config, nand, ftl, seed)
}

fn ftl_of(config: &mut DriveConfig) -> &mut Ftl {
    let Medium::Nand(_, ftl) = &mut config.medium else { panic!("flash") };
    ftl
}

/// Gives the flash random requests, `depth` at a time, and checks it against a set of what is mapped; the time at the
/// end.
///
/// A trim may pass a write that is under way, so what both touch is anybody's guess.
fn storm(flash: &mut Flash, seed: u64, requests: u32, depth: usize) -> u64 {
    let mut draws = Draws::new(seed);
    let mut naive: Vec<Option<bool>> = (0..flash.units).map(|unit| Some(flash.has(unit))).collect();
    let mut under_way = BTreeMap::new();
    let mut now = 0;
    for token in 0..requests {
        while under_way.len() >= depth {
            now = flash.soonest();
            assert!(
                now != crate::timers::NEVER,
                "{under_way:?} are under way and nothing happens: {}",
                flash.stuck()
            );
            flash.run(now);
            flash.finished().drain(..).for_each(|end| assert!(under_way.remove(&end.token).is_some()));
        }
        let units = 1 + draws.below(8);
        // every other load comes back to a few units for most of the time: what is being written is garbage before it
        // is full
        let few = seed.is_multiple_of(2) && draws.below(8) > 0;
        let first = draws.below(if few { 64 } else { flash.units - units });
        let kind = match draws.below(20) {
            0 => Kind::Trim,
            1 => Kind::Flush,
            2..=8 => Kind::Read,
            _ => Kind::Write,
        };
        // one write in four begins or ends within a unit
        let cut = if kind == Kind::Write && draws.below(4) == 0 { 512 } else { 0 };
        let request = Request {
            token,
            kind,
            first: first * UNIT + cut,
            bytes: units * UNIT - cut,
            tenant: draws.below(3) as u16,
            part_of: None,
        };
        match kind {
            Kind::Write => naive[first as usize..(first + units) as usize].fill(Some(true)),
            Kind::Trim => {
                for unit in first..first + units {
                    let written = under_way
                        .values()
                        .any(|range: &Option<Range<u64>>| range.as_ref().is_some_and(|r| r.contains(&unit)));
                    naive[unit as usize] = (!written).then_some(false);
                }
            }
            _ => {}
        }
        under_way.insert(token, (kind == Kind::Write).then_some(first..first + units));
        flash.submit(now, &request, now);
        flash.finished().drain(..).for_each(|end| assert!(under_way.remove(&end.token).is_some()));
        if token % 512 == 0 {
            flash.audit();
        }
    }
    while flash.soonest() != crate::timers::NEVER {
        now = flash.soonest();
        flash.run(now);
        flash.finished().drain(..).for_each(|end| assert!(under_way.remove(&end.token).is_some()));
    }
    assert!(under_way.is_empty(), "every request has an end: {under_way:?}");
    assert!(flash.waiting.is_empty() && flash.fences.is_empty());
    flash.audit();
    for (unit, expected) in naive.iter().enumerate().filter_map(|(unit, has)| Some((unit, (*has)?))) {
        assert_eq!(flash.has(unit as u64), expected, "unit {unit}");
    }
    now
}

fn variants() -> impl Strategy<Value = DriveConfig> {
    let policy = prop_oneof![Just(Victim::Greedy), Just(Victim::CostBenefit)];
    let written = (1_u64..40).prop_map(|units| Initial::SteadyState { written: Bytes(units * UNIT) });
    let initial =
        prop_oneof![Just(Initial::Empty), Just(Initial::Sequential), Just(Initial::STEADY_STATE), written];
    let flags = proptest::array::uniform10(any::<bool>());
    let order = Just(vec![Level::Channel, Level::Way, Level::Die, Level::Plane]).prop_shuffle();
    let by_address =
        order.prop_map(|order| Allocation::Address(Order(order.try_into().expect("four levels"))));
    let allocation = prop_oneof![2 => Just(Allocation::Dies), 1 => Just(Allocation::Planes), 2 => by_address];
    (policy, initial, allocation, flags).prop_map(
        |(
            victim,
            initial,
            allocation,
            [hot_cold, slc, cached, ahead, ack, parts, lag, pages, four_bits, full],
        )| {
            let mut config = small();
            // as much as fits on a die, or a third less
            let kept = 4 + 3 * u64::from(slc) + if parts { 5 } else { 4 };
            let blocks = if full { 32 - kept } else { 14 };
            config.capacity = Bytes(4 * blocks * 96 * UNIT);
            if cached && !parts {
                // no multiple of what was written at once: the last of it is less
                config.capacity.0 -= UNIT;
            }
            config.buffer.power_loss_protected = ack;
            let capacity = config.capacity;
            if let Medium::Nand(nand, _) = &mut config.medium
                && pages
            {
                nand.timing.program = Program::ByPage([Span::from_us(200); 4]);
                nand.timing.suspend = None;
            }
            if let Medium::Nand(nand, _) = &mut config.medium
                && four_bits
            {
                nand.timing = Timing { program: nand.timing.program, ..Timing::QLC };
            }
            let ftl = ftl_of(&mut config);
            (ftl.victim, ftl.initial, ftl.hot_cold) = (victim, initial, hot_cold);
            ftl.wear.lag = lag.then_some(3);
            if slc {
                let us = Span::from_us;
                ftl.slc = Some(SlcCache {
                    blocks: if parts { 0 } else { 3 },
                    borrowed: if ahead || parts { 6 } else { 0 },
                    fold_at: if ack { 50 } else { 90 },
                    fold_idle: lag.then_some(us(50)),
                    read: us(20),
                    program: us(100),
                    erase: us(1000),
                });
            }
            if cached {
                ftl.mapping = MappingTable::Cached { pages: 4, hit: Span::from_ns(200) };
            }
            if ahead {
                ftl.read_ahead = Some(ReadAhead { streams: 2, trigger: 2, window: Bytes(16 * UNIT) });
            }
            ftl.allocation = allocation;
            if parts && allocation.by_planes() {
                ftl.streams = 2;
            } else if parts {
                ftl.streams = 2;
                let half = Partition { capacity: Bytes(capacity.0 / 2), dies: 2 };
                ftl.partitions = vec![half; 2];
            }
            config
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn nothing_is_lost_and_everything_is_counted(config in variants(), seed: u64, depth in 1_usize..24) {
        let mut flash = flash(&config, seed);
        flash.audit();
        let end = storm(&mut flash, seed, 8_000, depth);
        let counters = flash.counters(end);
        prop_assert!(counters.write_amplification() >= 1.0);
        let (channels, dies) = flash.busy(end);
        prop_assert!(channels.iter().chain(&dies).all(|busy| *busy <= end), "nobody is busy for more than the time there was");
        prop_assert_eq!(counters.block_erases, u64::from(flash.layout.planes) * flash.blocks.all.iter().map(|b| u64::from(b.erases)).sum::<u64>());
    }
}

#[test]
fn a_buffer_that_is_filled_drains_as_if_all_of_it_had_been_written() {
    let mut config = small();
    ftl_of(&mut config).initial = Initial::STEADY_STATE;
    let mut flash = flash(&config, 1);
    let mut draws = Draws::new(1);
    flash.fill_buffer();
    assert_eq!(flash.buffered(0).room, config.buffer.capacity.0, "of what is not written there is no more");
    for token in 0..100 {
        let first = draws.below(flash.units) * UNIT;
        flash.submit(
            0,
            &Request { token, kind: Kind::Write, first, bytes: UNIT, tenant: 0, part_of: None },
            0,
        );
    }
    let (room, before) = (flash.buffered(0).room / UNIT, flash.counters(0).host_units_programmed);
    assert!(room > 0, "some of it is on its way to flash");
    flash.fill_buffer();
    assert_eq!(flash.buffered(0).room, 0);
    flash.audit();
    let mut now = 0;
    while flash.soonest() != crate::timers::NEVER {
        now = flash.soonest();
        flash.run(now);
    }
    // what does not fill a program waits for more
    let left = config.buffer.capacity.0 / UNIT - flash.buffered(now).room / UNIT;
    let programmed = flash.counters(now).host_units_programmed - before;
    assert!(left < 24 && programmed >= room, "{programmed} of {room}, {left} left");
    flash.audit();
}

#[test]
fn in_a_buffer_that_is_emptied_is_what_is_on_its_way_alone() {
    let mut config = small();
    ftl_of(&mut config).initial = Initial::STEADY_STATE;
    let mut flash = flash(&config, 1);
    let write = |token| {
        let first = u64::from(token) * 7 * UNIT;
        Request { token, kind: Kind::Write, first, bytes: UNIT, tenant: 0, part_of: None }
    };
    (0..100).for_each(|token| flash.submit(0, &write(token), 0));
    flash.fill_buffer();
    flash.empty_buffer();
    flash.audit();
    assert_eq!(flash.buffer.waiting, 0);
    let mut now = 0;
    while flash.soonest() != crate::timers::NEVER {
        now = flash.soonest();
        flash.run(now);
    }
    assert_eq!(flash.buffered(now).level, 0);
    flash.audit();
}

#[test]
fn encryption_is_a_pipeline() {
    let mut config = small();
    config.encryption = Some(Encryption { latency: Span::from_us(2), bytes_per_second: 4_096_000_000 });
    let mut drive = crate::Drive::new(&config, 0).unwrap();
    let at = |us: u64| lanetwin_units::Instant::from_ps(us * 1_000_000);
    for token in 0..2 {
        let write = Request {
            token,
            kind: Kind::Write,
            first: u64::from(token) * UNIT,
            bytes: UNIT,
            tenant: 0,
            part_of: None,
        };
        drive.submit(at(0), write);
    }
    // 1 µs in the engine each, 2 µs through it, 1 µs into the buffer
    let mut done = Vec::new();
    assert_eq!(drive.next_event(), Some(at(4)));
    drive.advance(at(4), &mut done);
    assert_eq!(done.len(), 1);
    assert_eq!(drive.next_event(), Some(at(5)));
}
