//! `cxl-hybrid`: a CXL memory with a disk behind a page cache in DRAM. `media::page_cache` implements the cache,
//! `media::dram` its memory; the disk is any component joined to the port.
//!
//! ```text
//!  Line ─► endpoint.ingress ─► look-up ─┬─ hit ──► DRAM ─► endpoint.egress ─► LineDone
//!           (one each lookup.interval)  └─ miss ─► Block to the disk ─► BlockDone ─► DRAM, endpoint.egress ─► LineDone
//! ```
//!
//! Look-ups begin in order of arrival, `lookup.interval` apart, and end `lookup.latency` later. Their results are
//! processed several at a time (`look_up_results`). A write is answered when the cache has accepted it
//! (`write.early`), or when the cache's memory has taken it. Additional accesses by the controller (`read.accesses`,
//! `write.reads`, `write.writes`) go to lines of the same page, next to the requested one; a write waits for its
//! additional reads.
//!
//! A page has a fixed address in the cache's memory while it is cached: frame number times 4 KiB. Hints take effect
//! at once and are answered `hints.latency` later.
//!
//! Requests beyond the capacity are answered as aborted, reads that fail on the disk as corrupt.
//!
//! Not here: the link and its flits, the disk and the path to it, data.

mod inside;
mod look_up_results;
mod look_ups;
mod marking;
mod memory;
mod params;
mod report;
mod steps;
mod wakes;

use crate::dram_params;
use crate::gauge::{Gauge, held};
use crate::marks;
use crate::servers::Servers;
use crate::slab::Slab;
use crate::stages::names;
use inside::{After, GROUPS, Group, Inside};
use lanetwin_kernel::{Component, Port, Report, Trail, mix};
use lanetwin_media::dram;
use lanetwin_media::page_cache::{Effect, HOTTEST, Job, Outcome, PAGE, PageCache, Pages, Then};
use lanetwin_ports::{
    Build, CXL_PORT, Context, Done, Hint, HintKind, Line, LineDone, Message, Mistake, Model, Operation,
    Params, PortInfo, Protocol, Site, Status, Transfer,
};
use lanetwin_units::{Instant, Span};
use look_ups::{LookUps, Open};
use std::any::Any;
use steps::Fetches;
use wakes::{LOOK_UP, MEMORY};

pub use lanetwin_media::dram::Counters as DramCounters;
pub use lanetwin_media::page_cache::Counters as CacheCounters;

/// The declaration.
pub static MODEL: Model = Model {
    name: "cxl-hybrid",
    about: "A CXL memory with a disk behind a cache of pages in DRAM.",
    ports: &[
        PortInfo { name: "cxl", speaks: Protocol::Cxl, about: "the device's connector", many: false },
        PortInfo {
            name: "disk",
            speaks: Protocol::Block,
            about: "the disk that the cache is in front of",
            many: false,
        },
    ],
    params: &[&CXL_PORT, params::PARAMS, &params::MEMORY],
    conditions: params::CONDITIONS,
    mistakes,
    build: Build::Component(|params, site| Box::new(CxlHybrid::new(params, site))),
    ..Model::DEFAULT
};

const CXL: Port = Port(0);
const DISK: Port = Port(1);

/// Everything about these parameters that makes a device impossible.
pub(crate) fn mistakes(params: &Params) -> Vec<Mistake> {
    params::mistakes(params)
}

/// The device.
pub struct CxlHybrid {
    capacity: u64,
    ingress: Span,
    egress: Span,
    interval: Span,
    latency: Span,
    hint: Span,
    extra: Extra,
    directory: Servers,
    look_ups: LookUps,
    /// Requests of the host that are not answered, by the cache's tokens.
    open: Slab<Open>,
    /// `None` if the parameters describe no valid device: every request is then refused.
    inside: Option<Inside>,
    traffic: HybridTraffic,
    fetches: Fetches,
    /// Kept for their room.
    effects: Vec<Effect>,
    done: Vec<dram::Done>,
}

/// Additional accesses of the controller for each request.
#[derive(Clone, Copy, Debug)]
struct Extra {
    read: u32,
    before_write: u32,
    with_write: u32,
}

/// Traffic of the device.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct HybridTraffic {
    /// Lines that were read.
    pub reads: u64,
    /// Lines that were written.
    pub writes: u64,
    /// Requests beyond the capacity.
    pub refused: u64,
    /// Time in the device of all requests that were answered, from their arrival to the link, summed \[ps\].
    pub residence_ps: u128,
    /// Bytes read from the disk.
    pub disk_read_bytes: u64,
    /// Bytes that were given to the disk.
    pub disk_written_bytes: u64,
    /// Messages that mean nothing here.
    pub unexpected: u64,
}

/// Counters of a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HybridTotals {
    /// Its traffic.
    pub traffic: HybridTraffic,
    /// Counters of the cache.
    pub cache: CacheCounters,
    /// Counters of the cache's memory.
    pub memory: DramCounters,
    /// Number of cached pages of each temperature: none, 1, 2 to 3, 4 to 7, ….
    pub temperatures: [u64; HOTTEST + 1],
}

impl CxlHybrid {
    fn new(params: &Params, site: &Site) -> Self {
        let count = |name| params.count(name) as u32;
        Self {
            capacity: params.size("capacity").0 / PAGE * PAGE,
            ingress: params.time("endpoint.ingress"),
            egress: params.time("endpoint.egress"),
            interval: params.time("lookup.interval"),
            latency: params.time("lookup.latency"),
            hint: params.time("hints.latency"),
            extra: Extra {
                read: count("read.accesses"),
                before_write: count("write.reads"),
                with_write: count("write.writes"),
            },
            directory: Servers::new(1),
            look_ups: LookUps::new(params),
            open: Slab::new(),
            inside: Inside::new(params, site),
            traffic: HybridTraffic::default(),
            fetches: Fetches::default(),
            effects: Vec::new(),
            done: Vec::new(),
        }
    }

    /// Counters up to `now`, the present, without writes that hit just now. Returns `None` if the parameters describe
    /// no valid device.
    #[must_use]
    pub fn totals(&mut self, now: Instant) -> Option<HybridTotals> {
        self.count_reads(now);
        let seen_to = self.look_ups.next().min(now);
        let inside = self.inside.as_mut()?;
        Some(HybridTotals {
            traffic: self.traffic,
            cache: inside.cache.counters(),
            memory: inside.memory.counters_up_to(seen_to),
            temperatures: inside.cache.temperatures(now),
        })
    }

    fn report_supplies(&self, now: Instant, report: &mut Report) {
        if self.interval > Span::ZERO {
            report.supply("look-up", self.directory.used(now));
        }
        let Some(inside) = &self.inside else { return };
        let registers = u64::from(inside.config.registers.count);
        report.supply("registers", held(&inside.registers, &inside.waiting, registers, now));
        let none = Gauge::default();
        report.supply(
            "write-backs",
            held(&inside.write_backs, &none, u64::from(inside.config.write_backs), now),
        );
        // requests of later look-ups are not known
        dram_params::report_buses("data buses", &inside.memory, self.look_ups.next().min(now), report);
    }

    fn line(&mut self, line: Line, cx: &mut Context<'_>) {
        let Line { operation, handle, address } = line;
        let now = cx.now();
        match operation {
            Operation::Read => self.traffic.reads += 1,
            Operation::Write => self.traffic.writes += 1,
        }
        if address >= self.capacity || self.inside.is_none() {
            self.traffic.refused += 1;
            let done = LineDone { operation, handle, status: Status::Aborted };
            return cx.send(CXL, self.ingress + self.egress, Message::LineDone(done));
        }
        let begin = self.directory.serve_later(now, now + self.ingress, self.interval);
        let at = begin + self.latency;
        self.mark_look_up(begin, at, cx);
        let token = self.open.put(Open { operation, handle, address, arrived: now, trail: cx.trail() });
        self.look_ups.begin(at, token, cx);
    }

    /// Calls the cache as of `at`, and carries out its effects. Requests to the disk are sent at the present time.
    fn with_cache<T>(
        &mut self,
        at: Instant,
        cx: &mut Context<'_>,
        act: impl FnOnce(&mut PageCache, &mut Vec<Effect>) -> T,
    ) -> Option<T> {
        let inside = self.inside.as_mut()?;
        let mut effects = std::mem::take(&mut self.effects);
        let result = act(&mut inside.cache, &mut effects);
        let mut next = 0;
        // effects that end at once have further effects, which are appended
        while let Some(effect) = effects.get(next).copied() {
            next += 1;
            self.carry_out(effect, at, &mut effects, cx);
        }
        effects.clear();
        self.effects = effects;
        self.inside.iter_mut().for_each(|inside| inside.gauge(at));
        Some(result)
    }

    fn carry_out(&mut self, effect: Effect, at: Instant, effects: &mut Vec<Effect>, cx: &mut Context<'_>) {
        match effect {
            Effect::Answer { token, outcome } => {
                let status = if outcome == Outcome::Success { Status::Ok } else { Status::Corrupt };
                self.mark_waited(token, at, cx);
                self.answer(token, at, status, cx);
            }
            Effect::ReadDram { address, lines, then } => {
                if let Then::Answer(token) = then {
                    self.mark_waited(token, at, cx);
                }
                self.read(address, lines, then, at);
            }
            Effect::WriteDram { address, lines: 1, then } if self.extra.before_write > 0 => {
                let left = self.extra.before_write;
                let Some(inside) = &mut self.inside else { return };
                let group = Group { left, last: at, then: After::Write { address, then } };
                let token = GROUPS | inside.groups.put(group);
                self.beside(Operation::Read, address, left, token, at);
            }
            Effect::WriteDram { address, lines, then } => {
                if lines > 1 {
                    self.look_ups.fill();
                }
                self.write(address, lines, then, at);
            }
            Effect::Fetch { job, address, bytes } => {
                debug_assert_eq!(at, cx.now(), "what is no hit is seen to at once");
                self.traffic.disk_read_bytes += u64::from(bytes);
                self.ask(Operation::Read, job, address, bytes, effects, cx);
            }
            Effect::WriteBack { job, address } => {
                self.traffic.disk_written_bytes += PAGE;
                self.ask(Operation::Write, job, address, PAGE as u32, effects, cx);
            }
        }
    }

    /// Asks the disk. Where there is none, it fails at once.
    fn ask(
        &mut self,
        operation: Operation,
        job: Job,
        address: u64,
        bytes: u32,
        effects: &mut Vec<Effect>,
        cx: &mut Context<'_>,
    ) {
        if cx.is_connected(DISK) {
            if operation == Operation::Read {
                self.fetches.ask(job, address, bytes, cx.now());
            }
            cx.resume(Trail::NONE);
            let transfer = Transfer { operation, bytes, handle: job.0, unit: 0, address };
            cx.send(DISK, Span::ZERO, Message::Block(transfer));
        } else if let Some(inside) = &mut self.inside {
            inside.cache.ended(cx.now(), job, Outcome::Failed, effects);
        }
    }

    /// Answers a request, as known at `at`; the answer leaves later than now.
    fn answer(&mut self, token: u32, at: Instant, status: Status, cx: &mut Context<'_>) {
        let Some(Open { operation, handle, arrived, trail, .. }) = self.open.take(token) else { return };
        let leaves = at + self.egress;
        cx.resume(trail);
        cx.mark_until(at, steps::CONTROLLER);
        cx.mark_until(leaves, steps::EGRESS);
        self.traffic.residence_ps += u128::from(leaves.since(arrived).as_ps());
        cx.send_at(CXL, leaves, Message::LineDone(LineDone { operation, handle, status }));
    }

    fn hint(&mut self, hint: Hint, cx: &mut Context<'_>) {
        let now = cx.now();
        self.end_earlier_look_ups(cx);
        let pages = Pages { first: hint.address / PAGE, count: hint.pages.into() };
        let value = self.with_cache(now, cx, |cache, effects| match hint.what {
            HintKind::Prefetch => cache.announce(now, pages, effects),
            HintKind::Evict => cache.dismiss(now, pages, effects),
            HintKind::Status => cache.status(pages),
            HintKind::Temperature => cache.temperature(now, pages),
        });
        let done = Message::HintDone { handle: hint.handle, value: value.unwrap_or(0) };
        cx.send(CXL, self.hint, done);
        self.poll_memory(cx);
        self.look_ahead(cx);
    }
}

impl Component<Message> for CxlHybrid {
    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        match message {
            Message::Line(line) => self.line(line, cx),
            Message::Hint(hint) => self.hint(hint, cx),
            Message::BlockDone(Done { handle, status }) => {
                let outcome = if status == Status::Ok { Outcome::Success } else { Outcome::Failed };
                let now = cx.now();
                self.end_earlier_look_ups(cx);
                self.fetches.begin_end(Job(handle));
                self.with_cache(now, cx, |cache, effects| cache.ended(now, Job(handle), outcome, effects));
                self.fetches.end();
                self.poll_memory(cx);
                self.look_ahead(cx);
            }
            _ => {
                debug_assert!(port != CXL, "a memory is sent lines and hints, not {message:?}");
                self.traffic.unexpected += 1;
            }
        }
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        match token {
            LOOK_UP => self.look_up(cx),
            MEMORY => {
                // an earlier wake may already have done the work of this one
                let Some(inside) = self.inside.as_mut().filter(|inside| inside.next_poll <= cx.now()) else {
                    return;
                };
                inside.next_poll = Instant::NEVER;
                self.end_look_ups(cx.now(), cx);
                self.poll_memory(cx);
            }
            _ => self.end_later(cx),
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("traffic", format!("{:?}", self.traffic));
        see("looked-up", self.look_ups.len().to_string());
        let Some(inside) = &self.inside else { return };
        see(
            "hit-rate",
            inside.cache.counters().hit_rate().map_or("none".to_owned(), |rate| format!("{rate:.4}")),
        );
        inside.cache.counters().each(&mut |name, value| see(&name.replace('_', "-"), value.to_string()));
        see("waiting-now", inside.cache.waiting().to_string());
        see("memory", format!("{:?}", inside.memory.counters()));
    }

    fn report(&mut self, now: Instant, report: &mut Report) {
        self.report_supplies(now, report);
        if let Some(totals) = self.totals(now) {
            totals.report(report);
        }
    }

    fn digest(&self) -> u64 {
        let mut digest =
            mix(self.traffic.reads) ^ mix(!self.traffic.writes) ^ self.traffic.residence_ps as u64;
        if let Some(inside) = &self.inside {
            inside.cache.counters().each(&mut |_, value| digest = mix(digest ^ value));
        }
        digest
    }

    fn stages(&self) -> Vec<String> {
        names(&[marks::STAGES, steps::STAGES])
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}
