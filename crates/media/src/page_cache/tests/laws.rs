//! What must hold whatever is asked in whatever order: each request is answered once, what is read is what was written,
//! what is bounded stays so.

use super::*;
use crate::random::Draws;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Numbers of writes, by line.
type Content = BTreeMap<u64, u64>;

/// A request that is open.
#[derive(Clone, Copy, Debug)]
struct Open {
    access: Access,
    line: u64,
    /// For a write its number; for a read the last write of the line that had been answered.
    version: u64,
}

#[derive(Clone, Debug)]
enum Event {
    /// The lines from this one on, with their contents.
    Read(Then, Vec<(u64, u64)>),
    Written(Then),
    Fetched(Job, u64),
    WrittenBack(Job, u64),
}

/// What is around a cache: its memory, the medium, and a host that remembers what it wrote.
struct World {
    cache: PageCache,
    draws: Draws,
    dram: Content,
    disk: Content,
    /// By job number of a slot: lines of the page that were read out.
    slots: BTreeMap<u32, Content>,
    open: BTreeMap<u32, Open>,
    /// The last write of a line that was asked for, and that was answered.
    asked: Content,
    answered: Content,
    token: u32,
    now: u64,
    events: BTreeMap<(u64, u64), Event>,
    order: u64,
    /// Pages that the medium is working on.
    fetching: BTreeSet<u64>,
    writing: BTreeSet<u64>,
    failures: u64,
    failed: u64,
    config: CacheConfig,
}

fn get(content: &Content, line: u64) -> u64 {
    content.get(&line).copied().unwrap_or(0)
}

impl World {
    fn new(config: CacheConfig, seed: u64, failures: u64) -> Self {
        Self {
            cache: PageCache::new(&config, seed).expect("no mistakes"),
            draws: Draws::new(seed),
            dram: Content::new(),
            disk: Content::new(),
            slots: BTreeMap::new(),
            open: BTreeMap::new(),
            asked: Content::new(),
            answered: Content::new(),
            token: 0,
            now: 0,
            events: BTreeMap::new(),
            order: 0,
            fetching: BTreeSet::new(),
            writing: BTreeSet::new(),
            failures,
            failed: 0,
            config,
        }
    }
    fn later(&mut self, most: u64, event: Event) {
        self.order += 1;
        self.events.insert((self.now + self.draws.below(most), self.order), event);
    }
    fn ask(&mut self, access: Access, line: u64) {
        let beside =
            |open: &Open| open.line == line && (open.access == Access::Write || access == Access::Write);
        if self.open.values().any(beside) {
            return;
        }
        self.token += 1;
        let version = match access {
            Access::Read => get(&self.answered, line),
            Access::Write => self.token.into(),
        };
        if access == Access::Write {
            self.asked.insert(line, version);
        }
        self.open.insert(self.token, Open { access, line, version });
        let request = Request { token: self.token, access, address: line * LINE };
        let mut effects = Vec::new();
        self.cache.request(Instant::from_ps(self.now), request, &mut effects);
        self.carry_out(&effects, None);
    }
    fn answer(&mut self, token: u32, data: Option<u64>, outcome: Outcome) {
        let open = self.open.remove(&token).expect("a request is answered once");
        match (open.access, outcome) {
            (Access::Write, _) => {
                self.answered.insert(open.line, open.version);
            }
            (Access::Read, Outcome::Success) => {
                let (least, most) = (open.version, get(&self.asked, open.line));
                let data = data.expect("a read brings data");
                assert!(
                    self.failures > 0 || (least..=most).contains(&data),
                    "{open:?} read {data}, written was {most}"
                );
            }
            (Access::Read, Outcome::Failed) => self.failed += 1,
        }
    }
    /// Carries effects out, those of the end of a fetch with what it brought.
    fn carry_out(&mut self, effects: &[Effect], fetched: Option<&Content>) {
        let mut early = None;
        for effect in effects {
            let answered = early.take();
            match *effect {
                Effect::Answer { token, outcome } => {
                    let open = self.open[&token];
                    early = (open.access == Access::Write).then_some(open);
                    let data = fetched.map(|content| get(content, open.line));
                    self.answer(token, data, outcome);
                }
                Effect::ReadDram { address, lines, then } => {
                    let first = address / LINE;
                    let content = (first..first + u64::from(lines)).map(|line| (line, get(&self.dram, line)));
                    let content = content.collect();
                    self.later(300, Event::Read(then, content));
                }
                Effect::WriteDram { address, lines, then } => {
                    let written = match then {
                        Then::Answer(token) => Some(self.open[&token]),
                        _ => answered,
                    };
                    for line in address / LINE..address / LINE + u64::from(lines) {
                        let version = match (written, fetched) {
                            (Some(open), _) => open.version,
                            // lines of a page lie in a frame as they lie on the device
                            (None, Some(content)) => content
                                .iter()
                                .find(|(there, _)| **there % u64::from(LINES) == line % u64::from(LINES))
                                .map_or(0, |(_, version)| *version),
                            (None, None) => panic!("nobody says what is written: {effect:?}"),
                        };
                        self.dram.insert(line, version);
                    }
                    self.later(300, Event::Written(then));
                }
                Effect::Fetch { job, address, bytes } => {
                    let page = address / PAGE;
                    assert!(address % 512 == 0 && u64::from(bytes) <= PAGE - address % PAGE);
                    assert!(!self.writing.contains(&page), "page {page} is fetched while it is written");
                    self.fetching.insert(page);
                    self.later(3000, Event::Fetched(job, page));
                }
                Effect::WriteBack { job, address } => {
                    let page = address / PAGE;
                    assert!(self.writing.insert(page), "page {page} is written twice at once");
                    self.later(6000, Event::WrittenBack(job, page));
                }
            }
        }
        let for_misses = |event: &&Event| matches!(event, Event::Fetched(job, _) if job.0 >> 28 == 0);
        let fetches = self.events.values().filter(for_misses).count();
        assert!(fetches <= self.cache.registers_taken() && fetches <= self.config.registers.count as usize);
        assert!(self.cache.write_backs_under_way() <= self.config.write_backs as usize);
    }
    fn outcome(&mut self) -> Outcome {
        if self.draws.below(100) < self.failures { Outcome::Failed } else { Outcome::Success }
    }
    /// The next event; false if there is none.
    fn step(&mut self) -> bool {
        let Some(((at, _), event)) = self.events.pop_first() else { return false };
        self.now = self.now.max(at);
        let now = Instant::from_ps(self.now);
        let mut effects = Vec::new();
        match event {
            Event::Read(Then::Answer(token), content) => {
                self.answer(token, Some(content[0].1), Outcome::Success)
            }
            Event::Written(Then::Answer(token)) => self.answer(token, None, Outcome::Success),
            Event::Read(Then::End(job), content) => {
                let slot = self.slots.entry(job.0 & NUMBER).or_default();
                slot.extend(content.into_iter().map(|(line, version)| (line % u64::from(LINES), version)));
                self.cache.ended(now, job, Outcome::Success, &mut effects);
                self.carry_out(&effects, None);
            }
            Event::Read(Then::Nothing, _) | Event::Written(_) => {}
            Event::Fetched(job, page) => {
                self.fetching.remove(&page);
                let first = page * u64::from(LINES);
                let content: Content =
                    (first..first + u64::from(LINES)).map(|line| (line, get(&self.disk, line))).collect();
                let outcome = self.outcome();
                if job.0 >> 28 == 2 && outcome == Outcome::Success {
                    let slot = self.slots.entry(job.0 & NUMBER).or_default();
                    content.iter().for_each(|(line, version)| {
                        slot.entry(line % u64::from(LINES)).or_insert(*version);
                    });
                }
                self.cache.ended(now, job, outcome, &mut effects);
                self.carry_out(&effects, Some(&content));
            }
            Event::WrittenBack(job, page) => {
                self.writing.remove(&page);
                let outcome = self.outcome();
                if outcome == Outcome::Success {
                    let lines = self.slots.remove(&(job.0 & NUMBER)).expect("something was read out");
                    assert!(self.failures > 0 || lines.len() == LINES as usize, "a whole page is written");
                    for (line, version) in lines {
                        self.disk.insert(page * u64::from(LINES) + line, version);
                    }
                }
                self.cache.ended(now, job, outcome, &mut effects);
                self.carry_out(&effects, None);
            }
        }
        true
    }
    fn rest(&mut self) {
        while self.step() {}
        assert!(self.open.is_empty(), "never answered: {:?}", self.open);
        assert_eq!(self.cache.waiting(), 0);
    }
    fn live(&mut self, requests: u32, pages: u64) {
        let mut effects = Vec::new();
        for _ in 0..requests {
            let page = self.draws.below(pages).min(self.draws.below(pages));
            let line = page * u64::from(LINES) + self.draws.below(8) * 9;
            let access = if self.draws.below(3) == 0 { Access::Write } else { Access::Read };
            self.ask(access, line);
            if self.draws.below(40) == 0 {
                let pages = Pages { first: page, count: self.draws.below(5) };
                match self.draws.below(2) {
                    0 => self.cache.announce(Instant::from_ps(self.now), pages, &mut effects),
                    _ => self.cache.dismiss(Instant::from_ps(self.now), pages, &mut effects),
                };
                let effects = std::mem::take(&mut effects);
                self.carry_out(&effects, None);
            }
            for _ in 0..self.draws.below(4) {
                self.step();
            }
        }
        self.rest();
    }
    /// Everything that was counted adds up.
    fn add_up(&self) {
        let Counters { reads, writes, read_hits, write_hits, read_misses, merges, write_misses, .. } =
            self.cache.counters();
        assert_eq!(reads, read_hits + read_misses + merges);
        assert_eq!(writes, write_hits + write_misses);
        let counters = self.cache.counters();
        let cached = self.cache.directory.cached().count() as u64;
        let dirty = self
            .cache
            .directory
            .cached()
            .filter(|at| self.cache.directory.has(*at, directory::DIRTY))
            .count();
        assert_eq!(counters.dirty_pages, dirty as u64);
        let gone = counters.admissions - cached - counters.clean_evictions - counters.dirty_evictions;
        assert!(gone <= counters.medium_errors, "{gone} pages went without being counted: {counters:?}");
        assert!(counters.ahead >= counters.ahead_used + counters.ahead_wasted);
    }
}

fn any_config() -> impl Strategy<Value = CacheConfig> {
    let shape = (1_u32..6, 1_u64..4, any::<bool>(), 0_usize..5, prop::sample::select(vec![512, 1024, 4096]));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let bounds = (1_u32..5, 1_u32..4, 1_u32..4);
    let more = (any::<bool>(), any::<bool>(), 0_u64..3);
    (shape, flags, bounds, more).prop_map(|((ways, sets, hashed, policy, sector), flags, bounds, more)| {
        let (forward, fetch, early, hits_pass) = flags;
        let (count, targets, write_backs) = bounds;
        let (cleans, prefetches, watermark) = more;
        let watermark = watermark as f64 / 4.0;
        CacheConfig {
            placement: Placement { ways, hashed },
            fill: Fill { sector: Bytes(sector), forward },
            write: Write { fetch, early },
            registers: RegisterConfig { count, targets, hits_pass },
            write_backs,
            cleaning: cleans.then_some(Cleaning { high: watermark, low: watermark / 2.0, at_once: 1 }),
            prefetch: prefetches.then_some(Prefetch { streams: 2, trigger: 2, degree: 2 }),
            ..config(sets * u64::from(ways), ways, Policy::ALL[policy].1)
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn what_is_read_is_what_was_written_and_everybody_is_answered_once(config in any_config(), seed: u64) {
        let mut world = World::new(config, seed, 0);
        world.live(250, 24);
        world.add_up();
        // everything that was ever written can be read again
        let lines: Vec<u64> = world.asked.keys().copied().collect();
        for line in lines {
            world.ask(Access::Read, line);
            world.rest();
        }
        world.add_up();
        prop_assert_eq!(world.cache.counters().lost_pages, 0);
    }
    #[test]
    fn a_medium_that_fails_leaves_nobody_without_an_answer(config in any_config(), seed: u64) {
        let mut world = World::new(config, seed, 40);
        world.live(200, 24);
        world.add_up();
        prop_assert_eq!(world.failed, world.cache.counters().failed_reads);
    }
}

#[test]
fn eager_cleaning_leaves_nothing_dirty_and_loses_nothing() {
    let mut config = config(12, 4, Policy::Lru);
    config.cleaning = Some(Cleaning { high: 0.0, low: 0.0, at_once: 2 });
    let mut world = World::new(config, 3, 0);
    world.live(400, 16);
    let counters = world.cache.counters();
    assert_eq!(counters.dirty_pages, 0);
    assert!(counters.cleanings > counters.write_backs, "{counters:?}");
}

#[test]
fn cleaning_needs_no_miss_to_begin() {
    let mut config = config(8, 4, Policy::Lru);
    config.initial = Initial::Warm { first: 0, size: Bytes(8 * PAGE), dirty: 0.0, tables: Bytes(0) };
    config.cleaning = Some(Cleaning { high: 0.25, low: 0.0, at_once: 1 });
    let mut world = World::new(config, 3, 0);
    for page in 0..4 {
        world.ask(Access::Write, page * u64::from(LINES));
        world.rest();
    }
    let counters = world.cache.counters();
    assert_eq!((counters.fetches, counters.write_hits), (0, 4));
    assert_eq!((counters.cleanings, counters.dirty_pages), (3, 1));
}
