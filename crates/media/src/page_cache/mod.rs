//! A cache of pages of 4 KiB in front of a slow medium, asked for lines of 64 B.
//!
//! ```text
//!   request ──► directory ─┬─ hit ──────────────────────────────► ReadDram, WriteDram ──► answer
//!                          └─ miss ─► register ─► Fetch ─► ended ─► WriteDram, answers
//!                                └─► somebody goes: dirty ─► ReadDram ─► ended ─► WriteBack ─► ended
//! ```
//!
//! | module | is about |
//! |---|---|
//! | `config` | what a cache is made of, and every mistake in it at once |
//! | `directory` | which page is where; sets that nobody visits cost no memory |
//! | `effect` | what is asked, what is to be done, and how it ended |
//! | `layout` | how the directory lies in memory |
//! | `policy` | who has to go: LRU, CLOCK, LFU, ARC, random |
//! | `registers` | miss-status holding registers (MSHR): what is on its way in, who waits for it |
//! | `foresight` | what a request would find if it came now |
//! | `write_backs` | what is on its way out, and the cleaner |
//! | `streams` | runs of pages, for the prefetcher |
//! | `waiting` | requests that wait for a register, a frame or a write-back |
//! | `outward` | what leaves: pages that have to go, and dirty ones that are cleaned before |
//! | `host` | what the host says and asks of pages: announce, dismiss, status, temperature |
//! | `warm` | contents drawn instead of lived through |
//!
//! **Effects.** A call appends effects to carry out, in order. The cache's memory has to keep the order of accesses
//! to one line; the medium need not keep any order, since a page is never read or written while it is being written.
//! The ends of effects with a job are reported to [`PageCache::ended`].
//!
//! **Writes** go to the cache's memory as soon as their page has a frame, even during a fetch: the fetch only fills
//! in the lines that are missing.
//!
//! **Warm.** [`Initial::Warm`] draws the result of random visits to a working set, for each set when it is first
//! visited: a random choice of the pages that map to the set, in random order, each dirty with the same probability.
//!
//! Not here: times (of look-ups, of the cache's memory, of the medium), and links. Time is an argument and only
//! affects temperatures.

mod config;
mod counters;
mod directory;
mod effect;
mod heat;
mod host;
mod index;
mod initial;
mod layout;
mod lists;
mod outward;
mod pages;
mod peek;
mod policy;
mod registers;
mod set;
mod streams;
mod waiting;
mod warm;
mod write_backs;

#[cfg(test)]
mod tests;

pub use config::{
    BadCache, CacheConfig, Cleaning, Fill, Initial, LINE, LINES, PAGE, Placement, Policy, Prefetch,
    Registers as RegisterConfig, Write, dirty_after, dirty_share,
};
pub use counters::Counters;
pub use effect::{Access, Effect, Job, Outcome, Request, Then};
pub use pages::{HOTTEST, Pages};

use directory::{AHEAD, Directory, PARTIAL, lines_from};
use effect::NUMBER;
use heat::Thermometer;
use initial::Warm;
use lanetwin_units::Instant;
use registers::{Registers, Target};
use set::{At, Set, register};
use std::collections::VecDeque;
use streams::Streams;
use waiting::Waiting;
use write_backs::{Cleaner, WriteBacks};

/// A cache of pages.
pub struct PageCache {
    directory: Directory,
    sector_lines: u32,
    pages: u64,
    fill: Fill,
    write: Write,
    hits_pass: bool,
    registers: Registers,
    write_backs: WriteBacks,
    cleaner: Option<Cleaner>,
    streams: Option<Streams>,
    thermometer: Thermometer,
    warm: Option<Warm>,
    /// Requests that wait for a register, a frame or a write-back.
    waiting: Waiting,
    /// Pages that were announced and are not on their way.
    announced: VecDeque<u32>,
    /// Pages that were dismissed and could not go yet.
    dismissed: VecDeque<u32>,
    most_announced: usize,
    counters: Counters,
    /// How often a page had to go.
    turn: u64,
    /// Kept for its room.
    near: Vec<Set>,
}

impl PageCache {
    /// A cache. Equal configurations, seeds and calls give equal effects.
    ///
    /// # Errors
    /// Every mistake in the configuration.
    pub fn new(config: &CacheConfig, seed: u64) -> Result<Self, Vec<BadCache>> {
        let mistakes = config.mistakes();
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        Ok(Self {
            directory: Directory::new(config, seed),
            sector_lines: (config.fill.sector.0 / LINE) as u32,
            pages: config.pages(),
            fill: config.fill,
            write: config.write,
            hits_pass: config.registers.hits_pass,
            registers: Registers::new(config.registers.count, config.registers.targets),
            write_backs: WriteBacks::new(config.write_backs),
            cleaner: config.cleaning.map(|cleaning| Cleaner::new(cleaning, config.frames())),
            streams: config.prefetch.map(Streams::new),
            thermometer: Thermometer::new(config.half_life),
            warm: Warm::new(config),
            waiting: Waiting::new(config.registers.hits_pass),
            announced: VecDeque::new(),
            dismissed: VecDeque::new(),
            most_announced: config.announced as usize,
            counters: Counters::default(),
            turn: 0,
            near: Vec::new(),
        })
    }

    /// What it has done.
    #[must_use]
    pub const fn counters(&self) -> Counters {
        self.counters
    }
    /// How many requests wait for a register, a frame or a write-back.
    #[must_use]
    pub const fn waiting(&self) -> usize {
        self.waiting.len()
    }
    /// How many registers are taken.
    #[must_use]
    pub const fn registers_taken(&self) -> usize {
        self.registers.count() - self.registers.free()
    }
    /// How many pages are on their way to the medium.
    #[must_use]
    pub const fn write_backs_under_way(&self) -> usize {
        self.write_backs.under_way()
    }

    /// Takes a request.
    ///
    /// # Panics
    /// If its address is beyond the device.
    pub fn request(&mut self, now: Instant, request: Request, effects: &mut Vec<Effect>) {
        assert!(request.address / PAGE < self.pages, "{:#x} is beyond the device", request.address);
        match request.access {
            Access::Read => self.counters.reads += 1,
            Access::Write => self.counters.writes += 1,
        }
        let may_go = self.waiting.is_empty()
            || self.hits_pass && (self.needs_nothing(&request) || self.joins(&request));
        if !may_go || !self.attempt(now, &request, effects) {
            self.counters.waited += 1;
            self.waiting.join(request);
        }
        if let Some(streams) = &mut self.streams {
            let wanted = streams.observe(request.page());
            let end = u64::from(wanted.end).min(self.pages) as u32;
            for page in wanted.start..end {
                self.bring(now, page, effects);
            }
        }
        if self.cleaner.is_some() {
            self.clean(effects);
        }
    }

    /// Something that an effect began has ended.
    pub fn ended(&mut self, now: Instant, job: Job, outcome: Outcome, effects: &mut Vec<Effect>) {
        let number = job.0 & NUMBER;
        match job.0 >> 28 {
            0 => self.fetched(number, outcome, effects),
            1 | 2 => self.gathered(number, job, outcome, effects),
            _ => self.written(number, outcome, effects),
        }
        while let Some(mut group) = self.waiting.take_first() {
            if !self.resume(now, &mut group.requests, effects) {
                self.waiting.put_back(group);
                break;
            }
        }
        self.background(now, effects);
    }
    /// Does what requests that waited ask for, in order; false if some of them have to wait on.
    fn resume(&mut self, now: Instant, requests: &mut VecDeque<Request>, effects: &mut Vec<Effect>) -> bool {
        while let Some(request) = requests.front().copied() {
            if !self.attempt(now, &request, effects) {
                return false;
            }
            requests.pop_front();
        }
        true
    }

    fn set_of(&mut self, page: u32) -> Set {
        let set = self.directory.set_of(page);
        if self.warm.is_some() && self.directory.read(set, register::DRAWN) == 0 {
            self.draw(set);
        }
        set
    }

    /// Does what a request asks for; false if it has to wait.
    fn attempt(&mut self, now: Instant, request: &Request, effects: &mut Vec<Effect>) -> bool {
        let page = request.page();
        let set = self.set_of(page);
        let found = self.directory.find(set, page);
        let at = match (request.access, found) {
            (Access::Read, Some(at)) => self.read(at, request, effects).then_some(at),
            (Access::Read, None) => self.read_miss(set, request, effects),
            (Access::Write, Some(at)) => {
                self.counters.write_hits += 1;
                self.put(at, request, effects);
                Some(at)
            }
            (Access::Write, None) => self.write_miss(set, request, effects),
        };
        let Some(at) = at else { return false };
        if found.is_some() {
            self.directory.touch(at);
        }
        self.thermometer.add(self.directory.heat_mut(at), now);
        true
    }

    fn address(&self, at: At, line: u32) -> u64 {
        self.directory.frame(at) * PAGE + u64::from(line) * LINE
    }

    /// A read of a page that has a frame.
    #[inline]
    fn read(&mut self, at: At, request: &Request, effects: &mut Vec<Effect>) -> bool {
        let Request { token, .. } = *request;
        let (page, line) = (request.page(), request.line());
        if self.directory.lines(at) >> line & 1 != 0 {
            self.counters.read_hits += 1;
            self.used(at);
            effects.push(Effect::ReadDram {
                address: self.address(at, line),
                lines: 1,
                then: Then::Answer(token),
            });
            return true;
        }
        if let Some(miss) = self.registers.find(page, line) {
            let target = Target { token, line };
            if miss.has_room() {
                miss.targets.push(target);
            } else if self.hits_pass {
                miss.behind.push(target);
                self.counters.waited += 1;
            } else {
                return false;
            }
            self.counters.merges += 1;
            self.used(at);
            return true;
        }
        if self.registers.is_full() {
            return false;
        }
        self.counters.read_misses += 1;
        self.used(at);
        let register = self.fetch(at, page, self.sector(line) & !self.directory.lines(at), effects);
        self.registers.find(page, line).expect("it was just taken").targets.push(Target { token, line });
        debug_assert!(self.registers.get(register).is_some());
        true
    }
    fn read_miss(&mut self, set: Set, request: &Request, effects: &mut Vec<Effect>) -> Option<At> {
        if self.registers.is_full() {
            return None;
        }
        let (page, line) = (request.page(), request.line());
        let at = self.frame_for(set, page, effects)?;
        self.counters.read_misses += 1;
        self.fetch(at, page, self.sector(line), effects);
        self.registers.find(page, line)?.targets.push(Target { token: request.token, line });
        Some(at)
    }
    fn write_miss(&mut self, set: Set, request: &Request, effects: &mut Vec<Effect>) -> Option<At> {
        if self.write.fetch && self.registers.is_full() {
            return None;
        }
        let page = request.page();
        let at = self.frame_for(set, page, effects)?;
        self.counters.write_misses += 1;
        self.put(at, request, effects);
        let missing = !self.directory.lines(at);
        if self.write.fetch && missing != 0 {
            self.fetch(at, page, missing, effects);
        }
        Some(at)
    }
    /// A write to a page that has a frame.
    #[inline]
    fn put(&mut self, at: At, request: &Request, effects: &mut Vec<Effect>) {
        let (token, line) = (request.token, request.line());
        if self.directory.has(at, PARTIAL) {
            let lines = self.directory.lines(at) | 1 << line;
            self.directory.set_lines(at, lines);
        }
        self.mark_dirty(at);
        self.used(at);
        let address = self.address(at, line);
        if self.write.early {
            effects.push(Effect::Answer { token, outcome: Outcome::Success });
            effects.push(Effect::WriteDram { address, lines: 1, then: Then::Nothing });
        } else {
            effects.push(Effect::WriteDram { address, lines: 1, then: Then::Answer(token) });
        }
    }
    #[inline]
    fn used(&mut self, at: At) {
        if self.directory.has(at, AHEAD) {
            self.directory.lower(at, AHEAD);
            self.counters.ahead_used += 1;
        }
    }
    const fn sector(&self, line: u32) -> u64 {
        lines_from(line / self.sector_lines * self.sector_lines, self.sector_lines)
    }

    /// Asks for lines of a page, which has a frame; the register.
    fn fetch(&mut self, at: At, page: u32, lines: u64, effects: &mut Vec<Effect>) -> u32 {
        let blocked = self.write_backs.has(page);
        self.directory.pin(at);
        let register = self.registers.take(at, page, lines, blocked);
        if !blocked {
            self.ask(register, effects);
        }
        register
    }
    /// Asks the medium for what a register waits for: from the first to the last of its lines, in whole sectors.
    fn ask(&mut self, register: u32, effects: &mut Vec<Effect>) {
        let Some(miss) = self.registers.get(register) else { return };
        let first = miss.lines.trailing_zeros() / self.sector_lines * self.sector_lines;
        let end = (LINES - miss.lines.leading_zeros()).next_multiple_of(self.sector_lines);
        let bytes = (end - first) * LINE as u32;
        let address = u64::from(miss.page) * PAGE + u64::from(first) * LINE;
        self.counters.fetches += 1;
        self.counters.fetched_bytes += u64::from(bytes);
        effects.push(Effect::Fetch { job: Job::fetch(register), address, bytes });
    }

    /// What a register waited for has come.
    fn fetched(&mut self, register: u32, outcome: Outcome, effects: &mut Vec<Effect>) {
        let Some(miss) = self.registers.release(register) else { return };
        let at = miss.at;
        self.directory.unpin(at);
        match outcome {
            Outcome::Success => {
                let there = self.directory.lines(at);
                for (first, lines) in runs(miss.lines & !there) {
                    let address = self.address(at, first);
                    effects.push(Effect::WriteDram { address, lines, then: Then::Nothing });
                }
                self.directory.set_lines(at, there | miss.lines);
                let (forwarded, read) = match self.fill.forward {
                    true => (&miss.targets[..], [&[], &miss.behind[..]]),
                    false => (&[][..], [&miss.targets[..], &miss.behind[..]]),
                };
                effects
                    .extend(forwarded.iter().map(|target| Effect::Answer { token: target.token, outcome }));
                for Target { token, line } in read.into_iter().flatten() {
                    let address = self.address(at, *line);
                    effects.push(Effect::ReadDram { address, lines: 1, then: Then::Answer(*token) });
                }
                // what was written while the rest was on its way can be cleaned now
                self.queue_if_dirty(at);
            }
            Outcome::Failed => {
                self.counters.medium_errors += 1;
                self.counters.failed_reads += (miss.targets.len() + miss.behind.len()) as u64;
                let answer = |target: &Target| Effect::Answer { token: target.token, outcome };
                effects.extend(miss.targets.iter().chain(&miss.behind).map(answer));
                if self.directory.lines(at) == 0 && !self.directory.is_held(at) {
                    self.gone(at);
                    self.directory.dismiss(at);
                }
            }
        }
        self.registers.recycle(miss);
    }

    /// A frame for a page that has none; none if nobody can go now.
    fn frame_for(&mut self, set: Set, page: u32, effects: &mut Vec<Effect>) -> Option<At> {
        if !self.directory.has_free(set) {
            let goes = self.directory.choose(set, page, self.turn)?;
            if !self.send_away(goes, effects) {
                return None;
            }
            self.turn += 1;
            self.directory.evict(goes, page);
        }
        let at = self.directory.take_free(set)?;
        self.directory.admit(at, page);
        self.directory.set_lines(at, 0);
        self.counters.admissions += 1;
        Some(at)
    }
    /// What is done when nothing else is: cleaning, pages that were announced or dismissed.
    fn background(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        self.clean(effects);
        self.dismiss_more(effects);
        while let Some(page) = self.announced.front().copied() {
            if !self.can_bring() {
                break;
            }
            self.announced.pop_front();
            self.bring(now, page, effects);
        }
    }
    /// Whether a page that nobody waits for may come: half of the registers are for those that somebody waits for
    /// (assumed).
    const fn can_bring(&self) -> bool {
        2 * self.registers.free() > self.registers.count()
    }
    /// Brings in a page that nobody waits for, if that is easy; whether it is there or on its way.
    fn bring(&mut self, now: Instant, page: u32, effects: &mut Vec<Effect>) -> bool {
        let set = self.set_of(page);
        if self.directory.find(set, page).is_some() {
            return true;
        }
        if !self.can_bring() {
            return false;
        }
        let Some(at) = self.frame_for(set, page, effects) else { return false };
        self.directory.raise(at, AHEAD);
        self.counters.ahead += 1;
        self.fetch(at, page, u64::MAX, effects);
        let mut waited = self.waiting.take(page);
        let all = self.resume(now, &mut waited, effects);
        debug_assert!(all, "the whole page is on its way: nobody needs another register");
        true
    }
}

/// The runs of ones in a word: where each begins and how long it is.
fn runs(mut lines: u64) -> impl Iterator<Item = (u32, u32)> {
    core::iter::from_fn(move || {
        if lines == 0 {
            return None;
        }
        let first = lines.trailing_zeros();
        let length = (lines >> first).trailing_ones();
        lines &= !lines_from(first, length);
        Some((first, length))
    })
}
