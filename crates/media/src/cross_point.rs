//! The machine of a medium that is written in place: without mapping and GC, with the same time for every line.

use crate::config::{CrossPoint, WriteBuffer};
use crate::counters::{Buffered, Counters};
use crate::nand::machine::{self, Abilities, Op, Queue, Work};
use crate::power;
use crate::request::{Finish, Kind, Request};
use lanetwin_units::{Spread, mix};
use std::collections::VecDeque;

/// Separates this random draw from others of the seed.
const TURNS: u64 = 0x7475_726e_7300;

/// A request under way.
#[derive(Clone, Copy)]
struct Open {
    token: u32,
    kind: Kind,
    bytes: u64,
    left: u32,
    earliest: u64,
    /// Lines that it occupies in the buffer.
    lines: u64,
    /// Its epoch: epochs are separated by flushes.
    epoch: u64,
}

/// Channels with partitions, and a buffer in front.
pub struct Machine {
    machine: machine::Machine,
    medium: CrossPoint,
    partitions: u32,
    seed: u64,
    /// Time of a line on the bus \[ps\].
    bus: u64,
    latency: u64,
    /// Least time of a line \[ps\].
    least: u64,
    acknowledges: bool,
    protected: bool,
    /// Lines in the buffer, and its capacity.
    held: u64,
    room: u64,
    lines: u64,
    open: Vec<Open>,
    spare: Vec<u32>,
    /// Writes that wait for room, with their ranges.
    waiting: VecDeque<(u32, u64, u64)>,
    /// Flushes that wait; each ends an epoch.
    fences: VecDeque<u32>,
    /// Incomplete lines of writes in each epoch, from the first on.
    epochs: VecDeque<u64>,
    first_epoch: u64,
    counters: Counters,
    finished: Vec<Finish>,
}

impl Machine {
    /// Channels serve their partitions round robin. Once all partitions have work, channels keep their distance in
    /// this rotation for hundreds of thousands of requests, and a read with lines on several channels waits for the
    /// last. So the position of each channel when the buffer first becomes full is drawn from `seed`.
    pub fn new(medium: &CrossPoint, buffer: &WriteBuffer, capacity: u64, spread: Spread, seed: u64) -> Self {
        let can = Abilities {
            planes: 1,
            same_page: false,
            cache_read: false,
            cache_program: false,
            suspend: None,
            burst: u32::MAX,
            one_turn: true,
            oldest_first: true,
            by_planes: false,
        };
        let command = medium.command.as_ps();
        let bus =
            (u128::from(medium.line.0) * 1_000_000_000_000).div_ceil(u128::from(medium.bytes_per_second));
        Self {
            machine: machine::Machine::new(medium.channels, medium.partitions, can, |_| command)
                .varying(spread),
            least: spread.least_ps(medium.read.as_ps().min(medium.write.as_ps())),
            medium: *medium,
            partitions: medium.channels * medium.partitions,
            seed,
            bus: bus as u64,
            latency: buffer.latency.as_ps(),
            acknowledges: buffer.acknowledges(),
            protected: buffer.power_loss_protected,
            held: 0,
            room: (buffer.capacity.0 / medium.line.0).max(1),
            lines: capacity.div_ceil(medium.line.0),
            open: Vec::new(),
            spare: Vec::new(),
            waiting: VecDeque::new(),
            fences: VecDeque::new(),
            epochs: VecDeque::from([0]),
            first_epoch: 0,
            counters: Counters::default(),
            finished: Vec::new(),
        }
    }

    pub fn soonest(&self) -> u64 {
        self.machine.soonest()
    }

    /// Least time from the hand-over of a request to its end \[ps\].
    pub fn least(&self, kind: Kind) -> u64 {
        match kind {
            Kind::Read => self.least,
            Kind::Write | Kind::WriteZeroes | Kind::Flush => self.latency.min(self.least),
            Kind::Trim => 0,
        }
    }

    pub fn finished(&mut self) -> &mut Vec<Finish> {
        &mut self.finished
    }

    pub fn run(&mut self, now: u64) {
        while let Some(at) = self.machine.step(now) {
            while let Some(owner) = self.machine.ended.pop_front() {
                self.line_done(at, owner);
            }
        }
    }

    pub fn submit(&mut self, now: u64, request: &Request, earliest: u64) {
        let line = self.medium.line.0;
        let (first, end) = (request.first / line, (request.first + request.bytes).div_ceil(line));
        let open = Open {
            token: request.token,
            kind: request.kind,
            bytes: request.bytes,
            left: 1,
            earliest,
            lines: end - first,
            epoch: self.first_epoch + self.epochs.len() as u64 - 1,
        };
        let id = match self.spare.pop() {
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
            Kind::Read => {
                for number in first..end {
                    self.put(now, id, number, Work::Read);
                }
                self.part_done(now, id, 0);
            }
            // zeroes are written like other data; without a mapping there is nothing to unmap
            Kind::Write | Kind::WriteZeroes => {
                *self.epochs.back_mut().expect("never empty") += end - first;
                if self.waiting.is_empty() && self.has_room(end - first) {
                    self.write(now, id, first, end);
                } else {
                    if self.counters.buffer_waits == 0 {
                        // each write has lines on all channels, so that their rotations have been in step so far
                        self.machine.scatter_turns(mix(self.seed ^ mix(TURNS)));
                    }
                    self.counters.buffer_waits += end - first;
                    self.waiting.push_back((id, first, end));
                }
            }
            Kind::Trim => self.part_done(now, id, 0),
            Kind::Flush => {
                if self.protected {
                    self.part_done(now, id, self.latency);
                    return;
                }
                self.epochs.push_back(0);
                self.fences.push_back(id);
                self.pass_fences(now);
            }
        }
    }

    /// Whether the buffer has room; a request larger than the buffer needs all of it.
    fn has_room(&self, lines: u64) -> bool {
        self.held == 0 || self.held + lines <= self.room
    }

    fn write(&mut self, now: u64, id: u32, first: u64, end: u64) {
        self.held += end - first;
        for number in first..end {
            self.put(now, id, number, Work::Program);
        }
        if self.acknowledges {
            // the request ends here; its lines continue under its number
            let open = &mut self.open[id as usize];
            let at = now.max(open.earliest) + self.latency;
            self.finished.push(Finish { at, token: open.token, bytes: open.bytes, kind: open.kind });
        }
        self.part_done(now, id, self.latency);
    }

    fn put(&mut self, now: u64, id: u32, number: u64, work: Work) {
        self.open[id as usize].left += 1;
        debug_assert!(number < self.lines);
        let at = (number % u64::from(self.partitions)) as u32;
        let (channel, partition) = (at % self.medium.channels, at / self.medium.channels);
        let (bus_in, array, bus_out) = match work {
            Work::Read => (0, self.medium.read, self.bus),
            _ => (self.medium.command.as_ps() + self.bus, self.medium.write, 0),
        };
        match work {
            Work::Read => self.counters.page_reads += 1,
            _ => self.counters.page_programs += 1,
        }
        self.counters.bus_bytes += self.medium.line.0;
        let op = Op {
            owner: id,
            server: channel * self.medium.partitions + partition,
            work,
            die: 0,
            plane: 0,
            page: 0,
            bus_in,
            transfers: 1,
            array: array.as_ps(),
            bus_out,
            when_loaded: None,
            heard_after: 0,
        };
        self.machine.put(now, op, if work == Work::Read { Queue::Front } else { Queue::Writes });
    }

    fn line_done(&mut self, now: u64, id: u32) {
        let kind = self.open[id as usize].kind;
        if kind != Kind::Read {
            self.held -= 1;
            let epoch = self.open[id as usize].epoch - self.first_epoch;
            self.epochs[epoch as usize] -= 1;
        }
        self.part_done(now, id, 0);
        if kind == Kind::Read {
            return;
        }
        while let Some((id, first, end)) = self.waiting.front().copied().filter(|w| self.has_room(w.2 - w.1))
        {
            self.waiting.pop_front();
            self.write(now, id, first, end);
        }
        self.pass_fences(now);
    }

    /// Ends flushes whose writes are on the medium, or need not be.
    fn pass_fences(&mut self, now: u64) {
        while let Some(id) = self.fences.front().copied() {
            if self.epochs[0] > 0 {
                return;
            }
            self.epochs.pop_front();
            self.first_epoch += 1;
            self.fences.pop_front();
            self.part_done(now, id, self.latency);
        }
    }

    fn part_done(&mut self, now: u64, id: u32, extra: u64) {
        let open = &mut self.open[id as usize];
        open.left -= 1;
        if open.left > 0 {
            return;
        }
        let writes = matches!(open.kind, Kind::Write | Kind::WriteZeroes);
        if writes {
            self.counters.host_units_programmed += open.lines;
        }
        if !(writes && self.acknowledges) {
            let at = now.max(open.earliest) + extra;
            self.finished.push(Finish { at, token: open.token, bytes: open.bytes, kind: open.kind });
        }
        self.spare.push(id);
    }

    pub fn counters(&self, now: u64) -> Counters {
        let mut counters = self.counters;
        let (channels, dies) = self.machine.busy(now);
        counters.channel_busy_ps = channels.sum();
        counters.die_busy_ps = dies.sum();
        counters.wear_mean = counters.page_programs as f64 / self.lines as f64;
        counters.life_used = counters.wear_mean / self.medium.endurance.max(1) as f64;
        counters
    }

    /// Work that costs energy, without the host's bytes, which the owner counts.
    pub fn work(&self) -> power::Work {
        let Counters { page_reads, page_programs, block_erases, bus_bytes, .. } = self.counters;
        power::Work { page_reads, page_programs, slc_programs: 0, block_erases, bus_bytes, host_bytes: 0 }
    }

    /// State of the buffer, without the bytes written, which the owner counts. Lines leave it one by one.
    pub fn buffered(&self) -> Buffered {
        let line = self.medium.line.0;
        Buffered { level: self.held * line, lump: line, ..Buffered::default() }
    }

    pub fn busy(&self, now: u64) -> (Vec<u64>, Vec<u64>) {
        let (channels, partitions) = self.machine.busy(now);
        (channels.collect(), partitions.collect())
    }
}
