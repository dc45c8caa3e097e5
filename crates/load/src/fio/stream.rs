//! The I/Os of a job: which they are, where they go, how long they are, and when the next may go out (`io_u.c`,
//! `backend.c`).
//!
//! **Where.** Every direction has its own position. A sequential access goes on behind the last of its direction, after
//! the gap of `rw=read:8k`; a random one draws a block, and with a random map takes the next free one if it has been
//! taken in this pass. When a pass is over, the file begins again: a stream has no end, and who measures says when it
//! is enough.
//!
//! **When.** `rate` and `rate_iops` hold an I/O back until the bytes before it are due; `thinktime` waits until nothing
//! is outstanding, and then as long as it says; a log has its own times.
//!
//! Random numbers are not fio's; a direction is drawn for every I/O by itself, where fio draws one when the share of
//! the last has been reached.

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
/// Block sizes are drawn again up to so often if they do not fit before the end; then the least is taken.
const MOST_TRIES: u32 = 1000;

/// An I/O.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Io {
    /// Read or write.
    pub operation: Operation,
    /// From this byte of the file on.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u32,
}

/// The I/Os of a clone of a job, one after the other.
#[derive(Clone, Debug)]
pub struct Stream {
    workload: JobWorkload,
    extent: Extent,
    blocks: [(u64, u64); 3],
    align: [u64; 3],
    /// Where the last I/O of each direction began and ended; nothing before the first.
    last: [Option<(u64, u64)>; 2],
    until_random: u32,
    map: Option<Map>,
    /// Of a random address: one for both directions, or one for each if they have other blocks.
    draws: Vec<Draws>,
    kinds: Random,
    choices: Random,
    sizes: Random,
    gaps: Random,
    pace: Pace,
    depth: Depth,
    /// The next entry of the log.
    entry: usize,
    made: u64,
}

/// What holds I/Os back.
#[derive(Clone, Debug, Default)]
struct Pace {
    /// Bytes per second of each direction; 0 without a limit.
    rates: [u64; 2],
    /// Bytes of each direction that have gone out, or with Poisson's arrivals, when the next is due \[ps\].
    issued: [u64; 2],
    due_ps: [u128; 2],
    /// What the next I/O will be, if that has been decided.
    next: Option<Operation>,
    /// I/Os that count towards the next `thinktime`.
    thought: u32,
    /// When the last I/O went out.
    last: Instant,
    /// When the I/O of the log goes out, if that has been decided.
    entry_due: Option<Instant>,
}

/// How many may be outstanding (`lat_target_check`): the largest depth at which enough I/Os are answered in time is
/// searched for.
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
    /// The I/Os of a workload at `path`, in a run with this seed; it must pass [`JobWorkload::check`].
    #[must_use]
    pub fn new(workload: JobWorkload, seed: u64, path: &str) -> Self {
        let job = Arc::clone(&workload.job);
        let (s, extent, blocks, align) = (&job.settings, workload.extent(), job.blocks(), job.alignment());
        let random = |purpose: &str| Random::new(seed, path, purpose);
        let draw = |way: usize, of: &str| {
            let (least, align) = (blocks[way].0, align[way]);
            // fio leaves out what does not hold a whole block behind its alignment (`last_block`)
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

    /// How many have been made.
    #[must_use]
    pub const fn made(&self) -> u64 {
        self.made
    }
    /// Whether the next may go out `now`, with so many outstanding.
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

    /// The next I/O, which goes out `now`; none behind the end of a log.
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

    /// Notes when the next of a limited direction is due.
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

    /// Takes note that an I/O was answered after `latency`.
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

    /// A random place, from the start of the extent.
    fn random(&mut self, way: usize) -> u64 {
        let draws = way.min(self.draws.len() - 1);
        let block = self.draws[draws].next();
        let Some(map) = &mut self.map else {
            let offset = block * self.align[way];
            // the last block of a size that is no multiple of it does not fit
            return if self.fits(offset, self.blocks[way].0) { offset } else { 0 };
        };
        // a map counts in the least of all blocks
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

    /// Behind the last I/O of this direction, or at the start again.
    fn behind(&self, way: usize, gap: i64) -> u64 {
        let end = self.last[way].map_or(0, |(_, end)| end);
        let wanted = if end == 0 { Some(0) } else { end.checked_add_signed(gap) };
        let last = || {
            // backwards: from the end of the extent again
            self.extent.bytes.checked_add_signed(gap).filter(|_| gap < 0)
        };
        let fits = |offset: &u64| self.fits(*offset, self.blocks[way].0);
        wanted.filter(fits).or_else(last).filter(fits).unwrap_or(0)
    }

    fn fits(&self, offset: u64, bytes: u64) -> bool {
        offset.checked_add(bytes).is_some_and(|end| end <= self.extent.bytes)
    }

    /// How many bytes (`get_next_buflen`).
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

    /// Takes the blocks of an I/O; what of it is left before the first that was taken before.
    fn mark(&mut self, offset: u64, bytes: u64) -> u64 {
        let least = self.workload.job.least_block();
        let Some(map) = &mut self.map else { return bytes };
        let taken = map.take(offset / least, bytes.div_ceil(least));
        (taken.max(1) * least).min(bytes)
    }
}

/// Longer waits of a log than this are cut \[µs\]: some twelve days.
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
            // deeper: half way to the least depth that failed
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
