//! Garbage collection, wear levelling and folding: valid units are moved out of a block, which is then erased.
//!
//! A die collects one block at a time, while its other operations continue: page reads come after reads for which a
//! request waits, unless writes of the host wait for the space; programs take turns with the host's, and only as many
//! are in progress as keep the die busy. Collection pauses in the middle of a garbage block when the die has its
//! reserve and one program ([`pace`](super::pace)). Units that do not fill a program wait for those of the next
//! victim; a block is erased when it has no valid unit left.

use super::blocks::{Block, Blocks, NONE, State};
use super::collector::Reason;
use super::layout::Site;
use super::{DEEP, Flash, Owner, Write, buffer};
use crate::config::UNIT;
use crate::nand::machine::{Op, Queue, Work};

impl Flash {
    /// Continues to collect on a die, or begins to if space is short.
    pub(super) fn collect(&mut self, now: u64, die: u32) {
        loop {
            self.make_way(die);
            if self.dies[die as usize].gc.victim == NONE && !self.choose(now, die) {
                return;
            }
            self.read_on(now, die);
            let gc = &self.dies[die as usize].gc;
            let done = gc.next >= self.blocks.room(gc.victim);
            if !done || !gc.reading.is_empty() {
                return;
            }
            let victim = gc.victim;
            self.dies[die as usize].gc.victim = NONE;
            if self.blocks.all[victim as usize].valid == 0 {
                self.leave(now, victim);
            }
        }
    }

    /// Chooses a block to collect, if needed. Returns whether it did.
    fn choose(&mut self, now: u64, die: u32) -> bool {
        if !self.is_short(die) {
            self.dies[die as usize].pace.set_wants(false);
            let folds = self.is_to_fold(die) && self.choose_to_fold(die, |block| block.slc);
            if self.idle.folds && !folds {
                self.move_rest(now, die);
            }
            return folds;
        }
        // a borrowed block gives more space than a full one
        if self.dies[die as usize].borrowed > 0 && self.choose_to_fold(die, |block| block.borrowed) {
            return true;
        }
        let d = &mut self.dies[die as usize];
        if d.gc.parked.0 != NONE {
            (d.gc.victim, d.gc.next) = d.gc.parked;
            (d.gc.reason, d.gc.parked) = (Reason::Garbage, (NONE, 0));
            return true;
        }
        if let Some(drawn) = d.pace.take_drawn() {
            self.begin(die, drawn, Reason::Garbage);
            return true;
        }
        // moving cold data frees no space, so two wear victims have a garbage victim in between
        let turn = d.gc.reason != Reason::Wear;
        let (reason, victim) = match self.blocks.least_erased(die, self.ftl.wear).filter(|_| turn) {
            Some(least_erased) => (Reason::Wear, Some(least_erased)),
            None => {
                (Reason::Garbage, self.blocks.victim(die, self.ftl.victim, self.stamp, |block| !block.slc))
            }
        };
        self.dies[die as usize].pace.set_wants(victim.is_none());
        let Some(victim) = victim else {
            self.move_rest(now, die);
            return false;
        };
        let (room, valid) = (self.blocks.room(victim), self.blocks.all[victim as usize].valid);
        self.dies[die as usize].pace.leave(victim, room, valid);
        self.collects = true;
        self.begin(die, victim, reason);
        true
    }

    /// Begins to collect a block.
    pub(super) fn begin(&mut self, die: u32, victim: u32, reason: Reason) {
        self.record_valid_units(victim);
        self.blocks.all[victim as usize].state = State::Leaving;
        let gc = &mut self.dies[die as usize].gc;
        (gc.victim, gc.reason, gc.next) = (victim, reason, 0);
    }

    /// Records which units of a block of the initial state are still valid.
    pub(super) fn record_valid_units(&mut self, block: u32) {
        if !self.blocks.all[block as usize].seated {
            return;
        }
        let die = self.layout.die_of(block);
        let pool = &self.pools[self.dies[die as usize].pool as usize];
        let map = &self.map;
        let table = self.blocks.seat(block);
        let (mut batch, mut held) = ([(0, 0); 32], 0);
        let mut put_unit = |batch: &[(u32, u32)]| {
            batch.iter().for_each(|(_, unit)| map.warm(*unit));
            for (offset, unit) in batch.iter().filter(|(_, unit)| map.get(*unit).is_none()) {
                Blocks::put_unit(table, *offset, *unit);
            }
        };
        pool.initial_layout.units_of(block - pool.first_die * self.layout.blocks, |offset, unit| {
            batch[held] = (offset, (pool.first_unit + unit) as u32);
            held += 1;
            if held == batch.len() {
                put_unit(&batch);
                held = 0;
            }
        });
        put_unit(&batch[..held]);
    }

    /// Whether collection of the victim pauses: a garbage block, if the die has its reserve; a block of the SLC
    /// cache, if enough of that is unused as well. An empty block only has to be erased.
    fn pauses(&self, die: u32) -> bool {
        let gc = &self.dies[die as usize].gc;
        let is_needed = || match gc.reason {
            Reason::Garbage => self.is_short(die),
            Reason::Fold => self.is_short(die) || self.lacks_cache(die),
            Reason::Wear => true,
        };
        self.blocks.all[gc.victim as usize].valid > 0 && !is_needed()
    }

    /// Reads pages of the victim, as many as keep two programs in progress; of a garbage block, only as needed.
    fn read_on(&mut self, now: u64, die: u32) {
        let program = self.layout.program as usize;
        let gc = &self.dies[die as usize].gc;
        let (victim, mut next) = (gc.victim, gc.next);
        let mut ahead =
            gc.read.len() + gc.reading.len() * self.layout.page as usize + gc.programs as usize * program;
        let window = if self.deep == DEEP { 2 * program } else { self.layout.block as usize };
        if ahead >= window || self.pauses(die) {
            return;
        }
        let awaited = !self.dies[die as usize].pace.has(0, &self.blocks);
        let queue = if awaited { Queue::Front } else { Queue::Back };
        let room = self.blocks.room(victim);
        while ahead < window && next < room {
            let table = &self.blocks.tables[self.blocks.all[victim as usize].table as usize];
            let valid = (next..next + self.layout.page).filter(|offset| table.is_valid(*offset)).count();
            let place = self.layout.first(victim) + u64::from(next);
            next += self.layout.page;
            self.dies[die as usize].gc.next = next;
            if valid == 0 {
                continue;
            }
            ahead += self.layout.page as usize;
            self.dies[die as usize].gc.reading.push_back(place);
            let block = victim;
            let read = self.keep_write(Write {
                block,
                from: next - self.layout.page,
                upto: next,
                slots: buffer::NONE,
                held: 0,
            });
            self.put_read(now, place, valid as u64 * UNIT, Owner::Collect(read), queue);
        }
    }

    /// Notes that a page of the victim has been read. On a die as many reads end as began, and which is which does
    /// not matter; on a plane that is read together with others by page number, a later one may end first.
    pub(super) fn collected(&mut self, now: u64, read: u32) {
        let Write { block, from, .. } = self.writes[read as usize];
        self.spare_writes.push(read);
        let ended = self.layout.first(block) + u64::from(from);
        let die = self.layout.die_of(block);
        let by_planes = self.layout.is_by_planes();
        let gc = &mut self.dies[die as usize].gc;
        let at = gc.reading.iter().position(|place| !by_planes || *place == ended);
        let place = at.and_then(|at| gc.reading.remove(at)).expect("as many end as began");
        let block = self.layout.block_of(place);
        let first = (place - self.layout.first(block)) as u32;
        let table = &self.blocks.tables[self.blocks.all[block as usize].table as usize];
        for offset in first..first + self.layout.page {
            if table.is_valid(offset) {
                gc.read.push_back(self.layout.first(block) + u64::from(offset));
            }
        }
        self.move_on(now, die);
        self.collect(now, die);
        if self.note_room(die) {
            self.drain(now);
        }
    }

    /// Programs units that have been read, if they fill a program.
    fn move_on(&mut self, now: u64, die: u32) {
        let program = self.layout.program as usize;
        while self.dies[die as usize].gc.read.len() >= program {
            let gc = &mut self.dies[die as usize].gc;
            let (blocks, layout) = (&self.blocks, &self.layout);
            gc.read.retain(|place| still_there(blocks, layout, *place));
            if gc.read.len() < program || !self.move_program(now, die) {
                return;
            }
        }
    }

    /// Programs units that have been read although they do not fill a program, because no others will follow.
    fn move_rest(&mut self, now: u64, die: u32) {
        let gc = &mut self.dies[die as usize].gc;
        let (blocks, layout) = (&self.blocks, &self.layout);
        gc.read.retain(|place| still_there(blocks, layout, *place));
        if !gc.read.is_empty() {
            self.move_program(now, die);
        }
    }

    /// Moves units to the blocks that GC writes to. Returns whether there was a block.
    fn move_program(&mut self, now: u64, die: u32) -> bool {
        let head = if self.ftl.hot_cold { self.ftl.streams as usize } else { 0 };
        if !self.ensure_block(die, head, 0) {
            return false;
        }
        let target = self.dies[die as usize].heads[head];
        let from = self.blocks.all[target as usize].filled;
        let room = self.blocks.program(target);
        let gc = &self.dies[die as usize].gc;
        let moved = room.min(gc.read.len() as u32);
        match gc.reason {
            Reason::Garbage => self.counters.gc_units_moved += u64::from(moved),
            Reason::Wear => self.counters.wear_units_moved += u64::from(moved),
            Reason::Fold => self.counters.folded_units += u64::from(moved),
        }
        self.counters.padding_units += u64::from(room - moved);
        for place in self.dies[die as usize].gc.read.iter().take(moved as usize) {
            let block = self.layout.block_of(*place);
            let at = (place - self.layout.first(block)) as usize;
            self.map.warm(self.blocks.tables[self.blocks.all[block as usize].table as usize].units[at]);
        }
        for offset in from..from + moved {
            let place = self.dies[die as usize].gc.read.pop_front().expect("counted before");
            let block = self.layout.block_of(place);
            let at = (place - self.layout.first(block)) as usize;
            let unit = self.blocks.tables[self.blocks.all[block as usize].table as usize].units[at];
            self.map.set(unit, self.layout.first(target) + u64::from(offset));
            self.vacate(now, place);
            self.blocks.lay(target, offset, unit);
        }
        self.dies[die as usize].valid += u64::from(moved);
        self.dies[die as usize].gc.programs += 1;
        self.put_program(now, target, (buffer::NONE, 0));
        true
    }

    /// Erases a block being emptied that has no valid unit left, unless it is still being read.
    pub(super) fn leave(&mut self, now: u64, block: u32) {
        let die = self.layout.die_of(block);
        let (b, d) = (&mut self.blocks.all[block as usize], &mut self.dies[die as usize]);
        if d.gc.victim == block || d.gc.parked.0 == block || b.state != State::Leaving {
            return;
        }
        b.state = State::Erasing;
        // units that were read from it have been overwritten since; the block may be emptied again before a program
        // takes them
        let layout = &self.layout;
        d.gc.read.retain(|place| layout.block_of(*place) != block);
        let slc = b.slc;
        d.gc.erasing_slc += u32::from(slc);
        if !slc || b.borrowed {
            d.pace.erase(block, self.layout.block);
        }
        self.counters.block_erases += u64::from(self.layout.planes);
        let array = match (slc, self.ftl.slc) {
            (true, Some(slc)) => slc.erase.as_ps(),
            _ => self.times.erase,
        };
        let write = self.keep_write(Write { block, from: 0, upto: NONE, slots: buffer::NONE, held: 0 });
        let Site { server, die: inner, plane } = self.layout.site(die, 0);
        let op = Op {
            owner: Owner::Write(write).pack(),
            server,
            work: Work::Erase,
            die: inner,
            plane,
            page: 0,
            bus_in: self.times.erase_in(self.layout.planes as usize),
            transfers: 1,
            array,
            bus_out: 0,
            when_loaded: None,
            heard_after: 0,
        };
        self.machine.put(now, op, Queue::Writes);
    }

    /// Notes that a block has been erased.
    pub(super) fn erased(&mut self, now: u64, block: u32) {
        let Block { slc, borrowed, .. } = self.blocks.all[block as usize];
        self.blocks.erased(block);
        let die = self.layout.die_of(block);
        let d = &mut self.dies[die as usize];
        d.gc.erasing_slc -= u32::from(slc);
        if slc && !borrowed {
            d.free_slc.push_back(block);
        } else {
            d.borrowed -= u32::from(borrowed);
            d.free.push_back(block);
            d.pace.erased(self.layout.block, self.reserve);
        }
        // GC may have waited for a block to write to
        self.move_on(now, die);
    }
}

/// Whether a unit that was read from `place` is still valid there.
fn still_there(blocks: &Blocks, layout: &super::layout::Layout, place: u64) -> bool {
    let block = layout.block_of(place);
    let b = &blocks.all[block as usize];
    b.state == State::Leaving
        && blocks.tables[b.table as usize].is_valid((place - layout.first(block)) as u32)
}
