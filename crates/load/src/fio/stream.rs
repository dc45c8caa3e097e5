//! The I/Os of a job: their types, addresses and sizes, and the earliest time of the next (`io_u.c`, `backend.c`).
//!
//! **Addresses.** Every direction has its own position. A sequential access continues after the last one of its
//! direction, plus the gap of `rw=read:8k`. A random one draws a block; with a random map it takes the next free one if
//! the block was used in this pass. After a pass the file starts over: a stream has no end of its own.
//!
//! **Times.** `rate` and `rate_iops` delay an I/O until the bytes before it are due. `thinktime` waits until nothing is
//! outstanding, and then for the given time. A log has its own times.
//!
//! Random numbers are not fio's. The direction is drawn for each I/O independently, where fio draws one when the share
//! of the last has been reached.

mod workload;

pub use workload::{BadJob, Extent, JobWorkload};

use super::distribution::Draws;
use super::iolog::{Entry, When};
use super::job::Job;
use super::map::Map;
use super::number::WHOLE;
use super::settings::{LatencyTarget, Sequencer};
use crate::requests::Gate;
use lanetwin_kernel::Stream as Random;
use lanetwin_ports::Operation;
use lanetwin_units::{Instant, Span};
use std::sync::Arc;

const PS_PER_SECOND: u128 = 1_000_000_000_000;
/// Maximum number of draws of a block size that fits before the end; then the smallest is taken.
const MOST_TRIES: u32 = 1000;

/// An I/O.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Io {
    /// Read or write.
    pub operation: Operation,
    /// Its first byte in the file.
    pub offset: u64,
    /// Its size \[B\].
    pub bytes: u32,
}

/// The I/Os of a clone of a job, one after the other.
#[derive(Clone, Debug)]
pub struct Stream {
    workload: JobWorkload,
    extent: Extent,
    blocks: [(u64, u64); 3],
    align: [u64; 3],
    /// Start and end of the last I/O of each direction; `None` before the first.
    last: [Option<(u64, u64)>; 2],
    until_random: u32,
    map: Option<Map>,
    /// Draws of random addresses: common to both directions, or one for each if their blocks differ.
    draws: Vec<Draws>,
    kinds: Random,
    choices: Random,
    sizes: Random,
    gaps: Random,
    pace: Pace,
    depth: Depth,
    /// Index of the next entry of the log.
    entry: usize,
    made: u64,
}

/// The delays of I/Os.
#[derive(Clone, Debug, Default)]
struct Pace {
    /// Bytes per second of each direction; 0 without a limit.
    rates: [u64; 2],
    /// Bytes submitted in each direction; with Poisson arrivals, the time at which the next is due \[ps\].
    issued: [u64; 2],
    due_ps: [u128; 2],
    /// The direction of the next I/O, if it was decided.
    next: Option<Operation>,
    /// Number of I/Os that count towards the next `thinktime`.
    thought: u32,
    /// Time of the last I/O.
    last: Instant,
    /// Time of the next I/O of the log, if it was decided.
    entry_due: Option<Instant>,
}

/// The queue depth under a latency target (`lat_target_check`): searches for the largest depth at which enough I/Os are
/// answered in time.
#[derive(Clone, Debug)]
struct Depth {
    target: Option<LatencyTarget>,
    most: u32,
    now: u32,
    low: u32,
    high: u32,
    window_began: Instant,
    answered: u64,
    late: u64,
}

impl Stream {
    /// The I/Os of a workload at `path`, in a run with this seed. The workload has to pass [`JobWorkload::check`].
    #[must_use]
    pub fn new(workload: JobWorkload, seed: u64, path: &str) -> Self {
        let job = Arc::clone(&workload.job);
        let (s, extent, blocks, align) = (&job.settings, workload.extent(), job.blocks(), job.alignment());
        let random = |purpose: &str| Random::new(seed, path, purpose);
        let draw = |way: usize, of: &str| {
            let (least, align) = (blocks[way].0, align[way]);
            // fio leaves out an end that does not hold a whole block after its alignment (`last_block`)
            let room = extent.bytes.saturating_sub(least.saturating_sub(align));
            Draws::new(&s.random_distribution, room / align.max(1), align, seed, of)
        };
        let alike = (blocks[0].0, align[0]) == (blocks[1].0, align[1]);
        let mut draws = vec![draw(0, path)];
        if !alike {
            draws.push(draw(1, &format!("{path}/writes")));
        }
        let least = job.least_block();
        let map = (job.has_map() && workload.log.is_none()).then(|| Map::new(extent.bytes / least));
        let pace = Pace {
            rates: [0, 1].map(|way| match s.rate[way] {
                0 => s.rate_iops[way].saturating_mul(blocks[way].0),
                rate => rate,
            }),
            ..Pace::default()
        };
        let target = Some(s.latency_target).filter(|target| target.target_us > 0);
        let depth = Depth {
            target,
            most: s.iodepth,
            now: if target.is_some() { 1 } else { s.iodepth },
            low: 1,
            high: s.iodepth,
            window_began: Instant::ZERO,
            answered: 0,
            late: 0,
        };
        Self {
            extent,
            blocks,
            align,
            last: [None; 2],
            until_random: 1,
            map,
            draws,
            kinds: random("operations"),
            choices: random("patterns"),
            sizes: random("sizes"),
            gaps: random("intervals"),
            pace,
            depth,
            entry: 0,
            made: 0,
            workload,
        }
    }

    /// Number of I/Os made.
    #[must_use]
    pub const fn made(&self) -> u64 {
        self.made
    }
    /// Whether the next I/O may be submitted `now`, with `outstanding` I/Os outstanding.
    pub(crate) fn gate(&mut self, now: Instant, outstanding: u64) -> Gate {
        if outstanding >= self.depth.now.into() {
            return Gate::Answered;
        }
        let job = Arc::clone(&self.workload.job);
        let s = &job.settings;
        if s.thinktime_us > 0 && self.pace.thought >= s.thinktime_blocks.max(1) {
            if outstanding > 0 {
                return Gate::Answered;
            }
            self.pace.thought = 0;
            return Gate::After(Span::from_us(s.thinktime_us));
        }
        if let Some(log) = self.workload.log.clone() {
            let Some(entry) = log.entries.get(self.entry) else { return Gate::Answered };
            return self.log_gate(entry, now);
        }
        self.rate_gate(now)
    }

    fn log_gate(&mut self, entry: &Entry, now: Instant) -> Gate {
        let s = &self.workload.job.settings;
        if s.replay_no_stall {
            return Gate::Open;
        }
        let last = self.pace.last;
        let due = *self.pace.entry_due.get_or_insert_with(|| match entry.when {
            When::After(us) => {
                let us = u128::from(us) * 100 / u128::from(s.replay_time_scale.max(1));
                last + Span::from_us(us.min(LONGEST_US.into()) as u64)
            }
            When::NotBefore(us) => Instant::ZERO + Span::from_us(us.min(LONGEST_US)),
        });
        if due > now { Gate::After(due - now) } else { Gate::Open }
    }

    /// The direction of the next I/O, and whether it is due (`rate_ddir`).
    fn rate_gate(&mut self, now: Instant) -> Gate {
        let way = self.direction();
        if self.pace.rates == [0; 2] {
            self.pace.next = Some(way);
            return Gate::Open;
        }
        let rw = self.workload.job.settings.rw;
        let now_ps = u128::from(now.as_ps());
        let other = if way == Operation::Read { Operation::Write } else { Operation::Read };
        let due = |way: Operation| self.pace.due_ps[way as usize];
        let way = if due(way) <= now_ps || !(rw.reads && rw.writes) {
            way
        } else if due(other) < due(way) {
            other
        } else {
            way
        };
        self.pace.next = Some(way);
        match due(way).checked_sub(now_ps) {
            None | Some(0) => Gate::Open,
            Some(ps) => Gate::After(Span::from_ps(u64::try_from(ps).unwrap_or(u64::MAX / 4))),
        }
    }

    fn direction(&mut self) -> Operation {
        if let Some(next) = self.pace.next {
            return next;
        }
        let s = &self.workload.job.settings;
        let reads = match (s.rw.reads, s.rw.writes) {
            (true, true) => self.kinds.below(WHOLE) < u64::from(s.rwmixread),
            (reads, _) => reads,
        };
        if reads { Operation::Read } else { Operation::Write }
    }

    /// The next I/O, submitted `now`; `None` after the end of a log.
    pub fn next(&mut self, now: Instant) -> Option<Io> {
        let io = if let Some(log) = self.workload.log.clone() {
            let entry = log.entries.get(self.entry)?;
            self.entry += 1;
            self.pace.entry_due = None;
            Io { operation: entry.operation, offset: self.workload.placed(entry), bytes: entry.bytes }
        } else {
            self.drawn()
        };
        self.made += 1;
        self.pace.last = now;
        let at_issue = self.workload.job.settings.thinktime_at_issue;
        self.pace.thought += u32::from(at_issue);
        self.account(io);
        Some(io)
    }

    /// Updates the time at which the next I/O of a rate-limited direction is due.
    fn account(&mut self, io: Io) {
        let way = io.operation as usize;
        let rate = self.pace.rates[way];
        if rate == 0 {
            return;
        }
        self.pace.issued[way] = self.pace.issued[way].saturating_add(io.bytes.into());
        self.pace.due_ps[way] = if self.workload.job.settings.poisson {
            let mean = u128::from(self.blocks[way].0) * PS_PER_SECOND / u128::from(rate);
            let mean = Span::from_ps(u64::try_from(mean).unwrap_or(u64::MAX / 64).max(1));
            self.pace.due_ps[way] + u128::from(self.gaps.exponential(mean).as_ps())
        } else {
            u128::from(self.pace.issued[way]) * PS_PER_SECOND / u128::from(rate)
        };
    }

    /// Records that an I/O was answered after `latency`.
    pub(crate) fn answered(&mut self, latency: Span, now: Instant) {
        let at_issue = self.workload.job.settings.thinktime_at_issue;
        self.pace.thought = self.pace.thought.saturating_add(u32::from(!at_issue));
        self.depth.answered(latency, now);
    }

    fn drawn(&mut self) -> Io {
        let operation = self.direction();
        self.pace.next = None;
        let way = operation as usize;
        let job = Arc::clone(&self.workload.job);
        let s = &job.settings;
        self.until_random = self.until_random.saturating_sub(1);
        let hit = self.until_random == 0;
        if hit {
            self.until_random = s.random_after.max(1);
        }
        let share = u64::from(s.percentage_random[way]);
        let random = hit && s.rw.random && (share == WHOLE || self.choices.below(WHOLE) < share);
        let marks = random && self.map.is_some();
        let offset = if random {
            self.random(way)
        } else if !hit && s.rw_sequencer == Sequencer::Identical {
            self.last[way].map_or(0, |(begin, _)| begin)
        } else {
            self.behind(way, s.gap)
        };
        let bytes = self.length(way, offset, random, &job);
        let bytes = if marks { self.mark(offset, bytes) } else { bytes };
        self.last[way] = Some((offset, offset + bytes));
        Io { operation, offset: self.extent.start + offset, bytes: bytes as u32 }
    }

    /// A random position, from the start of the extent.
    fn random(&mut self, way: usize) -> u64 {
        let draws = way.min(self.draws.len() - 1);
        let block = self.draws[draws].next();
        let Some(map) = &mut self.map else {
            let offset = block * self.align[way];
            // the last block does not fit if the size is not a multiple of it
            return if self.fits(offset, self.blocks[way].0) { offset } else { 0 };
        };
        // the map counts in the smallest of all blocks
        let least = self.workload.job.least_block();
        let wanted = block * self.align[way] / least;
        let free = map.free_from(wanted).unwrap_or_else(|| {
            map.clear();
            wanted
        });
        let offset = free * least;
        if self.fits(offset, self.blocks[way].0) {
            return offset;
        }
        if let Some(map) = &mut self.map {
            map.take(free, 1);
        }
        0
    }

    /// The position after the last I/O of this direction, or the start again.
    fn behind(&self, way: usize, gap: i64) -> u64 {
        let end = self.last[way].map_or(0, |(_, end)| end);
        let wanted = if end == 0 { Some(0) } else { end.checked_add_signed(gap) };
        let last = || {
            // backwards: starts over at the end of the extent
            self.extent.bytes.checked_add_signed(gap).filter(|_| gap < 0)
        };
        let fits = |offset: &u64| self.fits(*offset, self.blocks[way].0);
        wanted.filter(fits).or_else(last).filter(fits).unwrap_or(0)
    }

    fn fits(&self, offset: u64, bytes: u64) -> bool {
        offset.checked_add(bytes).is_some_and(|end| end <= self.extent.bytes)
    }

    /// The size of an I/O \[B\] (`get_next_buflen`).
    fn length(&mut self, way: usize, offset: u64, random: bool, job: &Job) -> u64 {
        let s = &job.settings;
        let way = if s.bs_is_seq_rand { usize::from(random) } else { way };
        let (least, most) = self.blocks[way];
        if least == most {
            return least;
        }
        let list = &s.bssplit[way];
        for _ in 0..MOST_TRIES {
            let bytes = if list.is_empty() {
                least + (self.sizes.unit() * most as f64) as u64
            } else {
                let (drawn, mut sum) = (self.sizes.below(WHOLE), 0);
                let found = list.iter().find(|(_, share)| {
                    sum += u64::from(*share);
                    drawn < sum
                });
                found.or(list.last()).map_or(least, |(bytes, _)| *bytes)
            };
            let bytes = if s.bs_unaligned { bytes } else { bytes - bytes % least };
            let bytes = bytes.min(most);
            if self.fits(offset, bytes) {
                return bytes;
            }
        }
        least
    }

    /// Marks the blocks of an I/O as used. Returns the size before the first block that was used already.
    fn mark(&mut self, offset: u64, bytes: u64) -> u64 {
        let least = self.workload.job.least_block();
        let Some(map) = &mut self.map else { return bytes };
        let taken = map.take(offset / least, bytes.div_ceil(least));
        (taken.max(1) * least).min(bytes)
    }
}

/// Upper limit of waits in a log \[µs\]: some twelve days.
const LONGEST_US: u64 = 1 << 40;

impl Depth {
    fn answered(&mut self, latency: Span, now: Instant) {
        let Some(target) = self.target else { return };
        self.answered += 1;
        self.late += u64::from(latency > Span::from_us(target.target_us));
        if now - self.window_began < Span::from_us(target.window_us) {
            return;
        }
        let in_time = WHOLE as f64 * (self.answered - self.late) as f64 / self.answered as f64;
        if in_time >= target.percentile {
            // deeper: half way to the smallest depth that failed
            self.low = self.now;
            self.now = if self.high == self.most && self.low < self.most {
                (self.now * 2).min(self.most)
            } else {
                u32::midpoint(self.low, self.high).max(self.now)
            };
        } else if self.now > 1 {
            self.high = self.now;
            if self.now == self.low {
                self.low = (self.low - 1).max(1);
            }
            self.now = u32::midpoint(self.now, self.low).min(self.now - 1).max(1);
        }
        (self.answered, self.late, self.window_began) = (0, 0, now);
    }
}

#[cfg(test)]
mod tests;
