//! `memory-host`: cores, caches and NUMA nodes that run programs of loads and stores.
//!
//! ```text
//!  program ─ steps ─► thread ─► core ─ L1 ─ L2 ─┬─ LLC of the socket ─ uncore ─┬─ DRAM of the socket           node 0, 1
//!                       window, fill buffers,   └─ prefetcher                  └─ CXL ports: a line each ─►    node 1, 2, … by decoders
//!                       write buffers, TLB
//! ```
//!
//! Numbers of NUMA nodes: first the DRAM of each socket, then the memory of each decoder. The number of outstanding
//! requests of a core limits its throughput: fill buffers for loads and stores, write buffers for write-backs and
//! streaming stores, and a budget for prefetches. A write-back without a free write buffer delays the core's next
//! requests, so that writes cannot pile up.
//!
//! Method, limits and the meaning of every parameter: `docs/memory-host.md`.
//!
//! **Speed.** Cores are inside the component: the answer of a line is one event, and its handler takes the next steps
//! at once. Internal actions of the host cost no event while no other component can act before them
//! ([`Context::next_unknown`]).
//!
//! Not here: coherence between the private caches of cores (a line used by several cores is in each as if that were
//! its only user); instructions other than loads and stores (a step's `think`); interrupts; hypervisors and other
//! tenants.

mod address_space;
mod advising;
mod cache;
mod clock;
mod cores;
mod counted;
mod engine;
mod flights;
mod following;
mod hierarchy;
mod hints;
mod ids;
mod mistakes;
mod nodes;
mod params;
mod prefetch;
mod role;
mod running;
mod steps;
mod stored;
mod timetable;
mod translation;
mod turns;
mod uncore;
mod walking;
mod warming;
mod writes;

use crate::dram_params::DRAM;
use crate::marks;
use crate::roles::memory::RunsPrograms;
use crate::stages::names;
use address_space::AddressSpace;
use cache::Cache;
use clock::UncoreClock;
use cores::{Core, Thread, Waits};
use counted::Counted;
use flights::Flights;
use hints::Hints;
use ids::{CoreId, FlightId, ThreadId};
use lanetwin_kernel::{Component, Port, Report, mix};
use lanetwin_load::Tally;
use lanetwin_load::memory::{BadPlacement, Placement, Program};
use lanetwin_media::dram::Done;
use lanetwin_ports::{Build, CXL_PORT, Context, HintKind, Message, Model, Params, PortInfo, Protocol, Site};
use lanetwin_units::{Instant, stream_seed};
use nodes::{CxlPort, Dram, Lane, Node};
use params::{CACHES, CORES, MEMORY, Rules};
use prefetch::Advice;
use running::Running;
use std::any::Any;
use std::collections::VecDeque;
use timetable::{Task, Timetable};
use translation::{TRANSLATION, Walks};
use turns::{OfHost, Turns};

pub use crate::roles::memory::{Advised, Found, MemoryResults, NodeTraffic, PageAdvice};
pub use address_space::{UsedFrames, used_frames};

/// The declaration.
pub static MODEL: Model = Model {
    name: "memory-host",
    about: "Cores, caches and NUMA nodes that run programs of loads and stores.",
    ports: &[PortInfo {
        name: "cxl",
        speaks: Protocol::Cxl,
        about: "the CXL ports, with memory behind decoders",
        many: true,
    }],
    params: &[&CXL_PORT, CORES, CACHES, TRANSLATION, MEMORY, &DRAM],
    cores: |params| params.count("sockets") * params.count("cores"),
    conditions: params::CONDITIONS,
    mistakes: mistakes::mistakes,
    build: Build::Component(|params, site| Box::new(MemoryHost::new(params, site))),
    ..Model::DEFAULT
};

/// The host.
#[derive(Debug)]
pub struct MemoryHost {
    rules: Rules,
    seed: u64,
    cores: Vec<Core>,
    l2: Vec<Cache>,
    llc: Vec<Cache>,
    /// Clock of each socket's uncore.
    clocks: Vec<UncoreClock>,
    nodes: Vec<Node>,
    /// When the DRAM of a socket has to be polled next.
    dram_due: Instant,
    ports: Vec<CxlPort>,
    /// The lanes from each socket to the other.
    lanes: [Lane; 2],
    programs: Vec<Running>,
    threads: Vec<Thread>,
    turns: Turns,
    flights: Flights,
    walks: Walks,
    hints: Hints,
    /// Whether a program gives hints while it runs.
    advises: bool,
    /// The number of a stage among all: of loads that caches served.
    cached: u32,
    timetable: Timetable,
    /// Threads that can perhaps take a step.
    runnable: VecDeque<ThreadId>,
    /// Answers of DRAM.
    done: Vec<Done>,
    /// Dirty lines evicted from the last level, and advice of a prefetcher, still to be processed.
    evicted: Vec<u64>,
    advice: Advice,
    started: bool,
    now: Instant,
    /// The earliest wake that is still to come.
    wake: Instant,
    /// Whether a message was sent in this event.
    sent: bool,
    stopped: bool,
    /// The first hardware thread that no program has.
    next_cpu: u32,
    asked: u64,
    answered: u64,
    /// Time of the last answer, or of the last end of a thread.
    last: Instant,
}

impl MemoryHost {
    fn new(params: &Params, site: &Site) -> Self {
        let rules = Rules::new(params);
        let seed = stream_seed(site.seed, &site.path, "caches");
        let cores = rules.sockets * rules.cores;
        let sockets = rules.sockets as usize;
        let dram = (0..sockets).map(|_| Node::Dram(Dram::new(params)));
        let ports = params.count("ports") as usize;
        let port = |i| CxlPort {
            socket: (i * sockets / ports) as u32,
            free: rules.cxl_outstanding,
            waiting: VecDeque::new(),
        };
        let cache = |shape| move |n: u32| Cache::new(shape, mix(seed ^ u64::from(n) << 32));
        Self {
            seed,
            cores: (0..cores).map(|core| Core::new(CoreId(core), &rules, seed)).collect(),
            l2: (0..cores.div_ceil(rules.sharing)).map(cache(rules.l2)).collect(),
            llc: (0..rules.sockets).map(cache(rules.llc)).collect(),
            clocks: (0..rules.sockets).map(|_| UncoreClock::new(rules.clock)).collect(),
            nodes: dram.chain(site.decoders.iter().cloned().map(Node::Cxl)).collect(),
            dram_due: Instant::NEVER,
            ports: (0..ports).map(port).collect(),
            lanes: [Lane::new(rules.socket_line); 2],
            turns: Turns::new(&rules, &site.cores),
            rules,
            programs: Vec::new(),
            threads: Vec::new(),
            flights: Flights::new(),
            walks: Walks::default(),
            hints: Hints::default(),
            advises: false,
            cached: 0,
            timetable: Timetable::new(),
            runnable: VecDeque::new(),
            done: Vec::new(),
            evicted: Vec::new(),
            advice: Advice::default(),
            started: false,
            now: Instant::ZERO,
            wake: Instant::NEVER,
            sent: false,
            stopped: false,
            next_cpu: 0,
            asked: 0,
            answered: 0,
            last: Instant::ZERO,
        }
    }

    /// The sizes of the NUMA nodes \[B\], in the order of their numbers: a socket's DRAM each, then a decoder's memory
    /// each.
    #[must_use]
    pub fn nodes(&self) -> Vec<u64> {
        self.nodes.iter().map(Node::size).collect()
    }
    /// Number of hardware threads.
    #[must_use]
    pub const fn cpus(&self) -> u32 {
        self.rules.cpus()
    }

    /// Runs a program from the start of the run on; to be called before the first event, once for each program.
    ///
    /// # Errors
    /// Everything that is wrong with its placement; then it is not run.
    pub fn run(&mut self, program: Box<dyn Program>, placement: Placement) -> Result<(), Vec<BadPlacement>> {
        let Placement { name, mapping, parts, cpus, warm } = placement;
        let pages = program.footprint().div_ceil(4096);
        let frames: Vec<u64> = self.nodes.iter().map(|node| node.size() / 4096).collect();
        let unused = vec![0; frames.len()];
        let used = self.programs.last().map_or(&unused[..], |last| last.map.used());
        let rules = self.rules.translation.as_ref();
        let AddressSpace { map, table, .. } =
            AddressSpace::out(rules, (&mapping, &parts), pages, &frames, used)?;
        let number = self.programs.len() as u32;
        let cold = program.reuse().is_some_and(|bytes| self.never_hits(bytes));
        let threads = program.threads();
        for thread in 0..threads {
            let cpu = match cpus.len() {
                0 => self.next_cpu + thread,
                n => cpus[thread as usize % n],
            };
            let cpu = cpu % self.rules.cpus();
            let core = CoreId(cpu % (self.rules.sockets * self.rules.cores));
            let in_turn = self.turns.add(cpu, ThreadId(self.threads.len() as u32));
            let seed = mix(self.seed ^ self.threads.len() as u64);
            self.threads.push(Thread::new(number, thread, (cpu, core), in_turn, seed));
            self.cores[core.index()].threads += 1;
        }
        if cpus.is_empty() {
            self.next_cpu += threads;
        }
        let share = self.share(threads);
        let counted = Counted::new(self.nodes.len());
        let of_each = || self.settled(program.reuse()) / u64::from(threads.max(1));
        let settled = if cold { self.settling() * share.lines } else { of_each() };
        let advice = None;
        self.programs.push(Running { name, program, map, pages, table, cold, share, counted, advice });
        self.warm(number, warm.unwrap_or(settled));
        Ok(())
    }

    /// At `at`, sends a hint about pages of a program (numbered in the order of [`MemoryHost::run`]) from a virtual
    /// address on; pages on nodes without a device are left out. Must be called before the first event.
    ///
    /// # Panics
    /// If there is no such program, or the pages are beyond its footprint.
    pub fn hint(&mut self, program: usize, what: HintKind, address: u64, pages: u32, at: Instant) {
        let running = &self.programs[program];
        self.hints.add(running, &self.nodes, what, address, pages);
        self.timetable.put(at, Task::Hint(self.hints.last()));
    }
    /// The answers to hints, in the order of [`MemoryHost::hint`]: the sum over the devices asked; `None` until all
    /// of them have answered.
    #[must_use]
    pub fn hint_answers(&self) -> Vec<Option<u64>> {
        self.hints.answers()
    }

    /// Makes the threads of a program (numbered in the order of [`MemoryHost::run`]) that stream over buffers
    /// announce pages that they will need, and dismiss others. Must be called before the first event.
    ///
    /// # Panics
    /// If there is no such program.
    pub fn advise(&mut self, program: usize, advice: PageAdvice) {
        self.programs[program].advice = Some(advice);
        self.advises = true;
    }
    /// Hints about pages given to devices so far, and the devices' answers.
    #[must_use]
    pub const fn advised(&self) -> Advised {
        self.hints.told
    }

    /// Counts from `at` on, the present: the end of the warm-up.
    ///
    /// # Panics
    /// If something was counted after `at`.
    pub fn reset(&mut self, at: Instant) {
        self.programs.iter_mut().for_each(|running| running.counted.reset(at));
    }
    /// Number of lines requested and of lines answered since the start of the run: touches of programs, and memory
    /// requests of prefetchers and write-backs. The two are equal when nothing is in progress.
    #[must_use]
    pub const fn progress(&self) -> (u64, u64) {
        (self.asked, self.answered)
    }
    /// Stops taking steps; requests in progress still end.
    pub fn stop(&mut self) {
        self.stopped = true;
    }
    /// Results up to `at`, the present, of each program in the order of [`MemoryHost::run`].
    ///
    /// # Panics
    /// If something was counted after `at`.
    #[must_use]
    pub fn results(&self, at: Instant) -> Vec<MemoryResults> {
        let of = |(number, running): (usize, &Running)| {
            let own = |thread: ThreadId| self.threads[thread.index()].program as usize == number;
            let open = self.flights.at_memory().filter(|flight| own(flight.thread));
            running.counted.results(&running.name, at, self.cached, open.map(|flight| flight.asked))
        };
        self.programs.iter().enumerate().map(of).collect()
    }

    /// Counters of each program so far, without distributions.
    #[must_use]
    pub fn tallies(&self) -> Vec<Tally> {
        self.programs.iter().map(|running| running.counted.tally()).collect()
    }

    /// Does all work that is due at `now`.
    fn catch_up(&mut self, cx: &mut Context<'_>) {
        loop {
            while let Some(thread) = self.runnable.pop_front() {
                self.advance(thread, cx);
            }
            if self.dram_due <= self.now {
                self.fetch_dram(cx);
            }
            let Some(task) = self.timetable.take(self.now) else { return };
            match task {
                Task::Step(thread) => {
                    self.threads[thread.index()].waits = Waits::Nothing;
                    self.advance(thread, cx);
                }
                Task::Found(flight) => self.complete(flight, cx),
                Task::Request(flight) => self.ask_dram(flight, cx),
                Task::Answer(flight) if self.rules.sockets == 1 => self.answer(flight, cx),
                Task::Answer(flight) => {
                    let home = nodes::node_of(self.flights.get(flight).asked_for) as u32;
                    self.return_to(flight, home, cx);
                }
                Task::Arrive(flight) => self.arrive(flight, cx),
                Task::Hint(hint) => self.hints.send(hint, cx),
                Task::Turn(_) if self.stopped => {}
                Task::Turn(cpu) => self.turns.next(
                    cpu,
                    self.now,
                    OfHost { threads: &mut self.threads, timetable: &mut self.timetable },
                ),
            }
        }
    }
    fn count_answer(&mut self) {
        self.answered += 1;
        self.last = self.now;
    }
    /// A thread has ended.
    fn leave(&mut self, t: ThreadId) {
        self.last = self.now;
        let host = OfHost { threads: &mut self.threads, timetable: &mut self.timetable };
        self.turns.leave(t, self.now, host);
    }
    /// Time of the next internal action.
    fn due(&self) -> Instant {
        self.timetable.next().min(self.dram_due)
    }
    /// Does all work up to the next unknown event, and asks for a wake for the rest.
    #[inline(always)]
    fn proceed(&mut self, cx: &mut Context<'_>) {
        self.now = cx.now();
        self.sent = false;
        if self.wake <= self.now {
            self.wake = Instant::NEVER;
        }
        loop {
            self.catch_up(cx);
            let due = self.due();
            if due == Instant::NEVER {
                return;
            }
            // a run without an end ends with its last event: that must be an event, then
            let alone = !self.sent && cx.limit() != Instant::NEVER && due < cx.next_unknown();
            if !alone {
                if due < self.wake {
                    self.wake = due;
                    cx.wake_at(due, 0);
                }
                return;
            }
            self.now = due;
        }
    }
}

impl Component<Message> for MemoryHost {
    fn start(&mut self, cx: &mut Context<'_>) {
        self.cached = cx.stage_number(steps::CACHED);
        // programs come before the first event, which may be after this
        self.wake = Instant::ZERO;
        cx.wake_at(Instant::ZERO, 0);
    }

    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        self.now = cx.now();
        match message {
            Message::LineDone(done) => self.answer_cxl(port, FlightId(done.handle), done.status, cx),
            Message::HintDone { handle, value } if hints::is_advice(handle) => {
                self.hints.advised(handle, value)
            }
            Message::HintDone { handle, value } => self.hints.answer(handle, value),
            _ => unreachable!("a memory host is sent answers of CXL.mem, not {message:?}"),
        }
        self.proceed(cx);
    }

    fn wake(&mut self, _: u32, cx: &mut Context<'_>) {
        if !std::mem::replace(&mut self.started, true) {
            self.now = cx.now();
            self.turns.begin(self.now, OfHost { threads: &mut self.threads, timetable: &mut self.timetable });
            self.runnable.extend((0..self.threads.len() as u32).map(ThreadId));
        }
        self.proceed(cx);
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("asked", self.asked.to_string());
        see("answered", self.answered.to_string());
        see("under-way", self.flights.len().to_string());
        for (i, node) in self.nodes.iter().enumerate() {
            if let Node::Dram(dram) = node
                && let Some(counters) = dram.counters()
            {
                see(&format!("dram{i}"), format!("{counters:?}"));
            }
        }
    }

    fn report(&mut self, now: Instant, report: &mut Report) {
        nodes::tell_supplies(&self.nodes, &self.lanes, now, report);
        self.turns.report(self.rules.sockets * self.rules.cores, now, report);
    }

    fn digest(&self) -> u64 {
        let counted = self.programs.iter().map(|running| running.counted.digest());
        counted.fold(mix(self.asked) ^ mix(self.answered).rotate_left(1), |sum, one| mix(sum ^ one))
    }

    fn stages(&self) -> Vec<String> {
        names(&[marks::STAGES, steps::STAGES])
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
    lanetwin_kernel::roles! { dyn RunsPrograms }
}
