//! The flash translation layer (FTL): mapping of addresses to pages, and the consequences of writing pages out of
//! place.
//!
//! ```text
//!  write ─► buffer ─► queue of (partition, stream) ─► program on the next die that takes it ─► map, valid counts
//!  read ──► buffer? read ahead? map ─► pages ─► machine
//!                                       a die short of space ─► victim ─► reads ─► program on the same die ─► erase
//! ```
//!
//! | file | is about |
//! |---|---|
//! | `layout` | where a unit lies |
//! | `initial` | the state before the run |
//! | `overlay`, `map` | what has been overwritten since |
//! | `blocks` | valid counts, free blocks, victims |
//! | `buffer`, `buffered` | the write buffer; one that has filled up |
//! | `pace`, `reserve` | when a die takes writes, and when it collects |
//! | `write`, `read`, `collect` | the paths of a write, of a read, of garbage collection (GC) and wear levelling |
//! | `fold` | the SLC cache: blocks that it borrows, when it is folded |
//! | `ahead`, `translation` | reading ahead; the mapping cache |

mod ahead;
mod blocks;
mod buffer;
mod buffered;
mod by_address;
mod collect;
mod collector;
mod die;
mod first_touch;
mod fold;
mod idle;
mod initial;
mod layout;
mod map;
mod on_bus;
mod overlay;
mod owner;
mod pace;
mod read;
mod reserve;
mod shares;
mod stocks;
mod totals;
mod translation;
mod write;

use crate::config::{DriveConfig, Frees, Ftl, Initial, MappingTable, Nand, Partition, Rules, UNIT};
use crate::counters::Counters;
use crate::nand::machine::{Abilities, Machine};
use crate::nand::times::Times;
use crate::request::{CommandExtent, Finish, Kind, Request};
use ahead::Ahead;
use blocks::{Blocks, NONE, State};
use buffer::Buffer;
use die::Die;
use first_touch::FirstTouch;
use idle::Idle;
use initial::{InitialLayout, Room};
use lanetwin_units::{Bytes, mix};
pub use layout::Layout;
use map::Map;
use on_bus::OnBus;
use owner::Owner;
use std::collections::VecDeque;
use translation::Translation;

/// Number of programs that the host side gives to a die at once: one in the array, one behind it.
const DEEP: u32 = 2;

/// A request under way.
#[derive(Clone, Copy, Debug)]
struct Open {
    token: u32,
    kind: Kind,
    tenant: u16,
    part_of: Option<CommandExtent>,
    first: u64,
    bytes: u64,
    /// Parts in progress.
    left: u32,
    /// Latency added at its end \[ps\].
    extra: u64,
    /// Earliest end \[ps\].
    earliest: u64,
    /// Units of a write that have been taken.
    taken: u64,
}

/// A program or an erase in progress.
#[derive(Clone, Copy, Debug)]
struct Write {
    block: u32,
    /// End of the units of the block that are programmed when it ends; [`NONE`] for an erase.
    upto: u32,
    /// The first of its slots in the buffer.
    slots: u32,
    /// First unit of the block that it programs.
    from: u32,
    /// Units that it occupies in the buffer, until they are in the registers of the die or on the medium.
    held: u32,
}

/// A range with dies of its own.
#[derive(Debug)]
struct Pool {
    first_unit: u64,
    units: u64,
    first_die: u32,
    dies: u32,
    /// Dies that may take a program, one bit each; and the die whose turn it is.
    open: Vec<u64>,
    turn: u32,
    initial_layout: InitialLayout,
}

/// The machine of a drive.
fn machine(nand: &Nand, layout: &Layout, times: &Times) -> Machine {
    let can = Abilities {
        planes: nand.geometry.planes,
        same_page: nand.timing.same_page,
        cache_read: nand.timing.cache_read,
        cache_program: nand.timing.cache_program,
        suspend: nand.timing.suspend,
        burst: nand.read_burst,
        one_turn: nand.rules == Rules::Mqsim,
        oldest_first: false,
        by_planes: layout.is_by_planes(),
    };
    Machine::of_flash(layout.channels, layout.per_channel, can, times)
}

/// Everything behind the controller of a flash drive.
pub struct Flash {
    layout: Layout,
    times: Times,
    machine: Machine,
    ftl: Ftl,
    rules: Rules,
    acknowledges: bool,
    protected: bool,
    frees: Frees,
    buffer_latency: u64,
    hit_latency: u64,
    /// Least time of an operation \[ps\].
    shortest: u64,
    /// Whether every unit was on a page before the run.
    all_on_pages: bool,
    units: u64,
    map: Map,
    blocks: Blocks,
    pools: Vec<Pool>,
    dies: Vec<Die>,
    /// Largest number of valid units on a die that still takes writes.
    most_valid: u64,
    /// Number of programs that the host side gives to a die at once: [`DEEP`], or all by MQSim's rules with planes
    /// apart.
    deep: u32,
    /// Space that a die keeps from the host \[units\].
    reserve: u64,
    /// Dies on which GC found no block to collect, and on which a unit has been invalidated since.
    waiting_for_garbage: Vec<u32>,
    buffer: Buffer,
    open: Vec<Open>,
    spare_open: Vec<u32>,
    writes: Vec<Write>,
    spare_writes: Vec<u32>,
    /// Writes that wait for room in the buffer.
    waiting: VecDeque<u32>,
    /// Flushes that wait: epoch and request.
    fences: VecDeque<(u64, u32)>,
    translation: Option<Translation>,
    ahead: Option<Box<Ahead>>,
    touch: FirstTouch,
    /// Bus time of a read of as many bytes as the last one: most reads are of the same size.
    usual: OnBus,
    /// Detects idle times of the host, in which the SLC cache is folded.
    idle: Idle,
    /// Number of programs so far; determines the age of blocks.
    stamp: u64,
    counters: Counters,
    /// Pages of one plane, of those programmed, that were programmed with one bit a cell.
    slc_programs: u64,
    finished: Vec<Finish>,
    /// Whether a block has been collected.
    collects: bool,
    seed: u64,
}

impl Flash {
    /// A drive of a configuration without mistakes.
    pub fn new(config: &DriveConfig, nand: &Nand, ftl: &Ftl, seed: u64) -> Self {
        let layout = Layout::new(nand, ftl.allocation);
        let times = Times::new(nand);
        let slc = ftl.slc.map_or(0, |slc| slc.blocks);
        let gc_head = u32::from(ftl.hot_cold);
        let heads = (ftl.streams + gc_head + 1) as usize;
        let kept = slc + ftl.watermarks.low + ftl.streams + gc_head;
        let capacity = (config.buffer.capacity.0 / UNIT) as u32;
        let registers = layout.dies * DEEP * layout.program;
        let lines = if layout.by_address { layout.dies as usize } else { ftl.partitions.len().max(1) };
        let mut flash = Self {
            machine: machine(nand, &layout, &times).varying(config.spread),
            rules: nand.rules,
            acknowledges: config.buffer.acknowledges(),
            protected: config.buffer.power_loss_protected,
            frees: if nand.rules == Rules::Mqsim { Frees::Programmed } else { config.buffer.frees },
            buffer_latency: config.buffer.latency.as_ps(),
            hit_latency: match ftl.mapping {
                MappingTable::Dram(hit) | MappingTable::Cached { hit, .. } => hit.as_ps(),
            },
            shortest: config.spread.least_ps(times.shortest(ftl.slc)),
            all_on_pages: ftl.initial != Initial::Empty,
            units: config.units(),
            map: Map::new(config.units()),
            blocks: Blocks::new(layout, slc),
            pools: Vec::new(),
            dies: (0..layout.dies).map(|_| Die::new(heads)).collect(),
            // one block more than the capacity needs, so that at least one die has room
            most_valid: u64::from(layout.blocks - kept) * u64::from(layout.block),
            deep: if nand.rules == Rules::Mqsim && layout.is_by_planes() { u32::MAX } else { DEEP },
            reserve: layout.in_theory(ftl).reserve(),
            waiting_for_garbage: Vec::new(),
            buffer: Buffer::new(capacity, registers, lines * ftl.streams as usize),
            open: Vec::new(),
            spare_open: Vec::new(),
            writes: Vec::new(),
            spare_writes: Vec::new(),
            waiting: VecDeque::new(),
            fences: VecDeque::new(),
            translation: Translation::new(ftl.mapping),
            ahead: ftl.read_ahead.map(|config| Box::new(Ahead::new(config))),
            touch: FirstTouch::new(&layout),
            usual: OnBus::new(UNIT, &times),
            idle: Idle::new(ftl.slc.and_then(|slc| slc.fold_idle)),
            stamp: 0,
            counters: Counters::default(),
            slc_programs: 0,
            finished: Vec::new(),
            collects: false,
            seed,
            ftl: ftl.clone(),
            layout,
            times,
        };
        flash.partition(config, seed);
        flash.stock();
        flash.set_reserves(seed);
        flash
    }

    /// Assigns dies and addresses to pools, each in its initial state.
    fn partition(&mut self, config: &DriveConfig, seed: u64) {
        let whole = [Partition { capacity: config.capacity, dies: self.layout.dies }];
        let partitions =
            if self.ftl.partitions.is_empty() { whole.to_vec() } else { self.ftl.partitions.clone() };
        let (mut first_unit, mut first_die) = (0, 0);
        for (number, Partition { capacity: Bytes(bytes), dies }) in partitions.into_iter().enumerate() {
            let units = bytes / UNIT;
            let key = mix(seed ^ mix(number as u64));
            let room = self.room(units, dies);
            let initial_layout = InitialLayout::new(self.ftl.initial, &self.layout, room, key);
            self.dies[first_die as usize..(first_die + dies) as usize]
                .iter_mut()
                .for_each(|die| die.pool = number as u32);
            let open = vec![0; dies.div_ceil(64) as usize];
            self.pools.push(Pool { first_unit, units, first_die, dies, open, turn: 0, initial_layout });
            (first_unit, first_die) = (first_unit + units, first_die + dies);
        }
    }

    /// In the steady state as many blocks are free as GC keeps free.
    fn room(&self, units: u64, dies: u32) -> Room {
        let open = self.ftl.streams + u32::from(self.ftl.hot_cold);
        let blocks = self.layout.blocks - self.ftl.slc.map_or(0, |slc| slc.blocks);
        Room { units, dies, blocks, closed: blocks - self.ftl.watermarks.low - open, open }
    }

    /// Sets blocks and dies to the initial state.
    fn stock(&mut self) {
        for number in 0..self.blocks.all.len() as u32 {
            let die = self.layout.die_of(number);
            let pool = &self.pools[self.dies[die as usize].pool as usize];
            let in_pool = number - pool.first_die * self.layout.blocks;
            let (valid, open) = (pool.initial_layout.valid(in_pool), pool.initial_layout.open(in_pool));
            let room = self.blocks.room(number);
            let block = &mut self.blocks.all[number as usize];
            let d = &mut self.dies[die as usize];
            if valid > 0 {
                (block.state, block.seated) = (State::Closed, true);
                (block.valid, block.filled, block.programmed) = (valid, room, room);
                d.valid += u64::from(valid);
                if let Some(head) = open {
                    d.heads[head as usize] = number;
                    // the last grain of the partition may have fewer units
                    let written = valid.next_multiple_of(self.layout.program);
                    (block.state, block.filled, block.programmed) = (State::Open, written, written);
                    d.pace.add(room - written);
                    self.record_valid_units(number);
                }
            } else if block.slc {
                d.free_slc.push_back(number);
            } else {
                d.free.push_back(number);
                d.pace.add(room);
            }
        }
    }

    /// Time before which no request can end without a new one \[ps\].
    #[inline]
    pub fn soonest(&self) -> u64 {
        self.machine.soonest()
    }

    /// Does everything up to `now`.
    #[inline]
    pub fn run(&mut self, now: u64) {
        if self.idle.is_used() {
            self.run_and_fold(now);
            return;
        }
        while let Some(at) = self.machine.step(now) {
            self.note_ends(at);
        }
    }

    /// Reports the operations that have ended to their owners.
    #[inline]
    pub(super) fn note_ends(&mut self, at: u64) {
        while let Some(owner) = self.machine.ended.pop_front() {
            self.ended(at, Owner::unpack(owner));
        }
    }

    fn ended(&mut self, now: u64, owner: Owner) {
        match owner {
            Owner::Read(open) => self.part_done(now, open),
            Owner::Translation(open) => self.translated(now, open),
            Owner::Collect(read) => self.collected(now, read),
            Owner::Write(write) => self.written(now, write),
            Owner::Loaded(write) => self.loaded(now, write),
            Owner::Ahead(entry) => self.read_ahead_done(now, entry),
            Owner::Nobody => {}
        }
    }

    /// Notes that the data of a program are in the registers of their die, which releases room in the buffer.
    fn loaded(&mut self, now: u64, write: u32) {
        self.buffer.used -= core::mem::take(&mut self.writes[write as usize].held);
        self.take_waiting(now);
        self.drain(now);
    }

    /// Requests that have ended since the last call; their times are not before it.
    pub fn finished(&mut self) -> &mut Vec<Finish> {
        &mut self.finished
    }

    /// Takes a request within the drive that is not empty. Its data are available at `earliest`.
    #[inline]
    pub fn submit(&mut self, now: u64, request: &Request, earliest: u64) {
        self.idle.end();
        let open = Open {
            token: request.token,
            kind: request.kind,
            tenant: request.tenant,
            part_of: request.part_of,
            first: request.first,
            bytes: request.bytes,
            left: 1,
            extra: 0,
            earliest,
            taken: 0,
        };
        let id = match self.spare_open.pop() {
            Some(id) => {
                self.open[id as usize] = open;
                id
            }
            None => {
                self.open.push(open);
                self.open.len() as u32 - 1
            }
        };
        match request.kind {
            Kind::Read => self.read(now, id),
            Kind::Write => self.write(now, id),
            Kind::Trim | Kind::WriteZeroes => self.unmap(now, id),
            Kind::Flush => self.flush(now, id),
        }
    }

    /// Notes that a part of a request has ended; with the last part the request ends.
    #[inline]
    fn part_done(&mut self, now: u64, id: u32) {
        let open = &mut self.open[id as usize];
        open.left -= 1;
        if open.left == 0 {
            let at = now.max(open.earliest) + open.extra;
            self.finished.push(Finish { at, token: open.token, bytes: open.bytes, kind: open.kind });
            self.spare_open.push(id);
            if self.spare_open.len() == self.open.len() {
                self.idle.begin(at);
            }
        }
    }

    /// The pool of a unit.
    #[inline]
    fn pool_of(&self, unit: u64) -> usize {
        if self.pools.len() == 1 {
            return 0;
        }
        self.pools.partition_point(|pool| pool.first_unit + pool.units <= unit)
    }

    /// The place of a unit on flash.
    #[inline]
    fn place(&self, unit: u64) -> Option<u64> {
        match self.map.get(unit as u32) {
            Some(map::UNMAPPED) => None,
            Some(place) => Some(place),
            None => self.seat(unit),
        }
    }

    /// The initial place of a unit that is not in the map.
    #[inline]
    fn seat(&self, unit: u64) -> Option<u64> {
        let pool = &self.pools[self.pool_of(unit)];
        let place = pool.initial_layout.place(unit - pool.first_unit)?;
        Some(place + self.layout.first(pool.first_die * self.layout.blocks))
    }

    /// Moves a unit and invalidates its old place.
    #[inline]
    fn remap(&mut self, now: u64, unit: u64, place: u64) {
        let old = match self.map.set(unit as u32, place) {
            Some(map::UNMAPPED) => None,
            Some(old) => Some(old),
            None => self.seat(unit),
        };
        if let Some(old) = old {
            let block = self.vacate(now, old);
            self.recheck(block);
        }
    }

    /// Invalidates a place. Returns its block.
    #[inline]
    fn vacate(&mut self, now: u64, place: u64) -> u32 {
        let block = self.layout.block_of(place);
        let die = self.layout.die_of(block);
        self.dies[die as usize].valid -= 1;
        if self.dies[die as usize].valid + u64::from(self.layout.program) == self.most_valid {
            self.note_room(die);
        }
        if self.blocks.drop(block, (place - self.layout.first(block)) as u32) {
            self.leave(now, block);
        }
        block
    }
}
#[cfg(test)]
mod tests;
