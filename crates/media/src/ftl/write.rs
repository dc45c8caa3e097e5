//! The path of a write: buffer, program, acknowledgement; flushes and unmapping.

use super::blocks::{NONE, State};
use super::layout::Site;
use super::map::UNMAPPED;
use super::{Flash, Owner, Write, buffer};
use crate::config::{Frees, Rules, UNIT};
use crate::nand::machine::{Op, Queue, Work};
use crate::request::Kind;

impl Flash {
    /// Takes as much of a write as the buffer has room for.
    pub(super) fn write(&mut self, now: u64, id: u32) {
        self.open[id as usize].extra = self.buffer_latency;
        // earlier writes that wait have a right to the room
        if !self.waiting.is_empty() || !self.fill(now, id) {
            let open = &self.open[id as usize];
            let units = (open.first + open.bytes).div_ceil(UNIT) - open.first / UNIT;
            self.counters.buffer_waits += units - open.taken;
            self.waiting.push_back(id);
        }
        self.drain(now);
    }

    /// Moves units of a write into the buffer. Returns whether all are in it.
    fn fill(&mut self, now: u64, id: u32) -> bool {
        let open = self.open[id as usize];
        let (first, end) = (open.first / UNIT, (open.first + open.bytes).div_ceil(UNIT));
        let mut unit = first + open.taken;
        while unit < end {
            if !self.take(now, unit, id) {
                self.open[id as usize].taken = unit - first;
                return false;
            }
            unit += 1;
        }
        self.open[id as usize].taken = unit - first;
        self.part_done(now, id);
        true
    }

    /// Takes a unit into the buffer, unless it is full.
    fn take(&mut self, now: u64, unit: u64, id: u32) -> bool {
        let open = self.open[id as usize];
        let whole = open.first <= unit * UNIT && (unit + 1) * UNIT <= open.first + open.bytes;
        let held = self.buffer.get(unit as u32);
        // an acknowledged unit that still waits is overwritten in place
        if self.acknowledges && held.is_some_and(|slot| !self.buffer.slots[slot as usize].flying) {
            return true;
        }
        if self.buffer.is_full() {
            return false;
        }
        // the rest of a partially written unit has to be read
        if !whole && held.is_none() && open.kind == Kind::Write {
            self.read_unit_for_nobody(now, unit);
        }
        self.look_up_unawaited(now, unit);
        if let Some(ahead) = &mut self.ahead {
            ahead.forget(unit);
        }
        let owner = if self.acknowledges {
            NONE
        } else {
            self.open[id as usize].left += 1;
            id
        };
        let stream = u32::from(open.tenant) % self.ftl.streams;
        self.buffer.take(unit as u32, owner, self.queue_of(unit, stream as usize));
        true
    }

    /// Flushes: ends when every acknowledged write is safe.
    pub(super) fn flush(&mut self, now: u64, id: u32) {
        self.open[id as usize].extra = self.buffer_latency;
        if self.protected || self.buffer.known == 0 {
            self.part_done(now, id);
            return;
        }
        let epoch = self.buffer.fence();
        self.fences.push_back((epoch, id));
        self.drain(now);
        self.pass_fences(now);
    }

    fn pass_fences(&mut self, now: u64) {
        while let Some((epoch, id)) = self.fences.front().copied() {
            if !self.buffer.is_over(epoch) {
                return;
            }
            self.fences.pop_front();
            self.part_done(now, id);
        }
    }

    /// Unmaps the whole units of a range.
    pub(super) fn unmap(&mut self, now: u64, id: u32) {
        let open = self.open[id as usize];
        self.open[id as usize].extra = self.hit_latency;
        for unit in open.first.div_ceil(UNIT)..(open.first + open.bytes) / UNIT {
            self.buffer.forget(unit as u32);
            if let Some(ahead) = &mut self.ahead {
                ahead.forget(unit);
            }
            if self.place(unit).is_some() {
                self.remap(now, unit, UNMAPPED);
                self.counters.units_trimmed += 1;
            }
        }
        self.collect_again(now);
        self.part_done(now, id);
        self.drain(now);
    }

    /// Gives programs to dies while there are data to program and dies that take them.
    pub(super) fn drain(&mut self, now: u64) {
        let held = self.hold();
        if self.layout.by_address {
            self.drain_by_address(now);
        } else {
            self.drain_to_any(now);
        }
        self.let_go(now, held);
    }

    fn drain_to_any(&mut self, now: u64) {
        for queue in 0..self.buffer.queues.len() {
            let (pool, stream) = (queue as u32 / self.ftl.streams, queue as u32 % self.ftl.streams);
            while self.is_due(queue) {
                let Some((die, head)) = self.next_die(pool, stream) else { break };
                if !self.program(now, die, head, queue) {
                    break;
                }
            }
        }
    }

    /// Whether the units of a program wait, or fewer for which a request waits.
    pub(super) fn is_due(&self, queue: usize) -> bool {
        let waiting = self.buffer.queues[queue].len();
        let enough = if self.ftl.slc.is_some() { self.layout.row } else { self.layout.program } as usize;
        waiting >= enough || (waiting > 0 && self.is_pressed())
    }

    /// Whether waiting units have to be programmed even if they do not fill a program.
    pub(super) fn is_pressed(&self) -> bool {
        !self.acknowledges
            || !self.fences.is_empty()
            || (self.buffer.is_full() && self.buffer.waiting >= self.buffer.used)
    }

    /// The next die of a pool that takes a program of this stream, and the head to use.
    fn next_die(&mut self, pool: u32, stream: u32) -> Option<(u32, usize)> {
        let dies = self.pools[pool as usize].dies;
        let turn = self.pools[pool as usize].turn;
        for (from, to) in [(turn, dies), (0, turn)] {
            let mut bit = from;
            while bit < to {
                let word = self.pools[pool as usize].open[bit as usize / 64] >> (bit % 64);
                if word == 0 {
                    bit = (bit / 64 + 1) * 64;
                    continue;
                }
                bit += word.trailing_zeros();
                if bit >= to {
                    break;
                }
                let die = self.pools[pool as usize].first_die + bit;
                if let Some(head) = self.head_for_host(die, stream) {
                    self.pools[pool as usize].turn = (bit + 1) % dies;
                    return Some((die, head));
                }
                bit += 1;
            }
        }
        None
    }

    /// The head of a die for host writes, with an open block.
    pub(super) fn head_for_host(&mut self, die: u32, stream: u32) -> Option<usize> {
        let slc = self.dies[die as usize].heads.len() - 1;
        if self.ftl.slc.is_some() && self.ensure_slc_block(die) {
            return Some(slc);
        }
        let d = &self.dies[die as usize];
        if !d.pace.admits(&self.blocks) {
            return None;
        }
        // with one free block GC can always finish what it has begun; the blocks it opened for that are not the
        // host's
        let urgent = self.ftl.watermarks.urgent;
        let shared = stream == 0 && !self.ftl.hot_cold;
        if shared && (d.free.len() as u32) < urgent {
            return None;
        }
        let kept = if shared { urgent } else { urgent - 1 };
        self.ensure_block(die, stream as usize, kept).then_some(stream as usize)
    }

    /// Provides a head with a block with room, leaving `kept` blocks free. Returns whether it has one.
    pub(super) fn ensure_block(&mut self, die: u32, head: usize, kept: u32) -> bool {
        let block = self.dies[die as usize].heads[head];
        if block != NONE && self.blocks.all[block as usize].filled < self.blocks.room(block) {
            return true;
        }
        let d = &mut self.dies[die as usize];
        let free = if head == d.heads.len() - 1 { &mut d.free_slc } else { &mut d.free };
        if free.len() as u32 <= kept {
            return false;
        }
        let erases = |at: &usize| self.blocks.all[free[*at] as usize].erases;
        // static wear levelling: data that GC moves are cold and rest in worn blocks
        let cold = self.ftl.wear.lag.is_some() && self.ftl.hot_cold && head == self.ftl.streams as usize;
        let at = match self.ftl.wear.dynamic {
            _ if cold => (0..free.len()).max_by_key(erases),
            true => (0..free.len()).min_by_key(erases),
            false => Some(0),
        };
        let at = at.unwrap_or(0);
        let block = free.remove(at).expect("it is not empty");
        d.heads[head] = block;
        self.blocks.open(block);
        true
    }

    /// Programs waiting units of a queue on a die. Returns false if they are too few for that head.
    pub(super) fn program(&mut self, now: u64, die: u32, head: usize, queue: usize) -> bool {
        let block = self.dies[die as usize].heads[head];
        let room = self.blocks.program(block);
        if (self.buffer.queues[queue].len() as u32) < room && !self.is_pressed() {
            return false;
        }
        let from = self.blocks.all[block as usize].filled;
        for slot in self.buffer.queues[queue].iter().take(room as usize) {
            self.map.warm(self.buffer.slots[*slot as usize].unit);
        }
        let (mut slots, mut laid) = (buffer::NONE, 0);
        while laid < room {
            let Some(slot) = self.buffer.pop(queue) else { break };
            if !self.buffer.is_newest(slot) {
                self.buffer.used -= 1;
                self.give_back(now, slot);
                continue;
            }
            let entry = &mut self.buffer.slots[slot as usize];
            (entry.flying, entry.next, slots) = (true, slots, slot);
            let unit = entry.unit;
            self.remap(now, unit.into(), self.layout.first(block) + u64::from(from + laid));
            self.blocks.lay(block, from + laid, unit);
            laid += 1;
        }
        if laid == 0 {
            return true;
        }
        self.dies[die as usize].valid += u64::from(laid);
        self.dies[die as usize].programs += 1;
        self.counters.host_units_programmed += u64::from(laid);
        self.counters.padding_units += u64::from(room - laid);
        self.put_program(now, block, (slots, laid));
        self.collect(now, die);
        self.note_room(die);
        self.collect_again(now);
        true
    }

    /// Releases a slot that need not be programmed.
    fn give_back(&mut self, now: u64, slot: u32) {
        let owner = self.buffer.slots[slot as usize].owner;
        self.buffer.release(slot);
        if owner != NONE {
            self.part_done(now, owner);
        }
    }

    /// Adds a program to a block and gives it to the machine; `slots` is the first of its buffer slots.
    pub(super) fn put_program(&mut self, now: u64, block: u32, (slots, held): (u32, u32)) {
        let room = self.blocks.program(block);
        self.stamp += 1;
        let b = &mut self.blocks.all[block as usize];
        let (from, page) = (b.filled, b.filled / self.layout.row);
        b.filled += room;
        b.stamp = self.stamp;
        let (upto, slc) = (b.filled, b.slc);
        let number = self.layout.die_of(block);
        if !slc {
            self.dies[number as usize].pace.spend(room);
        }
        let pages = u64::from(room / self.layout.row);
        let planes = self.layout.planes;
        let array = match (slc, self.ftl.slc) {
            (true, Some(slc)) => slc.program.as_ps(),
            _ => self.times.program(page),
        };
        let page_bytes = u64::from(self.layout.page) * UNIT;
        self.counters.page_programs += pages * u64::from(planes);
        self.slc_programs += if slc { pages * u64::from(planes) } else { 0 };
        self.counters.bus_bytes += self.times.framed(page_bytes) * pages * u64::from(planes);
        let write = self.keep_write(Write { block, from, upto, slots, held });
        let Site { server, die, plane } = self.layout.site(number, 0);
        let bus_in = self.times.program_in(planes as usize, page_bytes);
        // page after page, so that others can use the bus in between; MQSim transfers all at once
        let (bus_in, transfers) = match self.rules {
            _ if self.layout.is_by_planes() => (self.times.bytes(page_bytes), pages as u16),
            Rules::Mqsim => (bus_in * pages, 1),
            Rules::Dies => (bus_in.div_ceil(planes.into()), pages as u16 * planes as u16),
        };
        let op = Op {
            owner: Owner::Write(write).pack(),
            server,
            work: Work::Program,
            die,
            plane,
            page,
            bus_in,
            transfers,
            array,
            bus_out: 0,
            when_loaded: (self.frees == Frees::Loaded && slots != buffer::NONE)
                .then(|| Owner::Loaded(write).pack()),
            heard_after: 0,
        };
        self.machine.put(now, op, Queue::Writes);
    }

    pub(super) fn keep_write(&mut self, write: Write) -> u32 {
        match self.spare_writes.pop() {
            Some(id) => {
                self.writes[id as usize] = write;
                id
            }
            None => {
                self.writes.push(write);
                self.writes.len() as u32 - 1
            }
        }
    }

    /// Notes that a program or an erase has ended.
    pub(super) fn written(&mut self, now: u64, id: u32) {
        let Write { block, from, upto, slots, held } = self.writes[id as usize];
        self.spare_writes.push(id);
        self.buffer.used -= held;
        let die = self.layout.die_of(block);
        if upto == NONE {
            self.erased(now, block);
        } else {
            self.programmed(now, (block, from, upto), slots);
        }
        self.collect(now, die);
        self.note_room(die);
        self.take_waiting(now);
        self.drain(now);
        if !self.fences.is_empty() {
            self.pass_fences(now);
        }
    }

    fn programmed(&mut self, now: u64, (block, from, upto): (u32, u32, u32), mut slots: u32) {
        let die = &mut self.dies[self.layout.die_of(block) as usize];
        if slots == buffer::NONE {
            die.gc.programs -= 1;
        } else {
            debug_assert!(die.programs <= self.deep);
            die.programs -= 1;
        }
        let room = self.blocks.room(block);
        let b = &mut self.blocks.all[block as usize];
        b.programmed = if b.programmed == from { upto } else { b.programmed };
        if b.programmed != upto {
            die.early.push((block, from, upto));
        }
        while let Some(at) = die.early.iter().position(|early| (early.0, early.1) == (block, b.programmed)) {
            b.programmed = die.early.swap_remove(at).2;
        }
        if b.programmed >= room {
            b.state = State::Closed;
            if let Some(head) = die.heads.iter_mut().find(|head| **head == block) {
                *head = NONE;
            }
        }
        while slots != buffer::NONE {
            let next = self.buffer.slots[slots as usize].next;
            self.give_back(now, slots);
            slots = next;
        }
    }

    /// Continues waiting writes when there is room in the buffer.
    pub(super) fn take_waiting(&mut self, now: u64) {
        while let Some(id) = self.waiting.front().copied() {
            if !self.fill(now, id) {
                return;
            }
            self.waiting.pop_front();
        }
    }
}
