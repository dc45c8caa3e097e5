//! The machine of the claim: threads that stream and write back, some that follow pointers, the memory of a socket.
//!
//! It has no caches and no kernel: lines that a thread reads miss, and lines that it stored to come back as writes when
//! the caches would let them go.

use lanetwin_kernel::Stream;
use lanetwin_media::dram::{Config, Done, Machine, Offer, Operation, Request};
use lanetwin_units::{Instant, Span};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Threads that stream.
const THREADS: usize = 55;
/// Lines of a thread's buffer: 64 MiB.
const LINES: u64 = 1 << 20;

/// What is assumed of the threads and of the caches between them and the memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Threads {
    /// Those that follow pointers. The benchmark has one; more of them sample the same latency more often, and are not
    /// felt among 815 lines.
    pub chasers: u64,
    /// Lines of a page.
    pub page: u64,
    /// A line is written back when so many more have been stored to.
    pub cached: u64,
    /// Caches let lines go in the order of their sets, not of the stream: so many lines of disorder.
    pub disorder: u64,
    /// Lines of a thread on their way to memory as writes.
    pub writes: u64,
    /// The least time between two lines of a thread \[ps\].
    pub issue: u64,
}

impl Threads {
    /// Pages of 2 MiB; the caches of a core and its share of the last level hold 2 MiB and 1.9 MiB.
    pub(super) const ASSUMED: Self = Self {
        chasers: 8,
        page: 1 << 15,
        cached: (2 << 20) / 64 + (105 << 20) / 56 / 64,
        disorder: 1024,
        writes: 16,
        issue: 300,
    };
}

/// How long is measured, after how long, and with which random numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Length {
    pub seed: u64,
    pub warm_up: Span,
    pub measure: Span,
}

impl Length {
    /// That of the claim.
    pub(super) const FULL: Self = Self { seed: 1, warm_up: Span::from_us(6), measure: Span::from_us(24) };
}

/// What threads do.
#[derive(Clone, Copy)]
pub(super) struct Traffic {
    /// Lines written for each line read.
    pub stores: f64,
    /// The mean time between two lines of a thread.
    pub delay: Span,
    /// Reads of all threads that can be under way.
    pub outstanding: u64,
    /// What a load takes beside the memory.
    pub fixed: Span,
    /// Those who ask.
    pub threads: Threads,
    /// How long.
    pub length: Length,
}

/// A point of a curve.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Point {
    pub gigabytes: f64,
    pub latency_ns: f64,
    /// Half of the 95 % interval of the latency \[ns\].
    pub half_ns: f64,
    /// Requests and commands of the memory, for the digest of the run.
    pub trace: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Answer(u32),
    Ready(u32),
    Look,
}

#[derive(Clone, Copy)]
struct Asked {
    thread: usize,
    write: bool,
    at: u64,
}

#[derive(Default)]
struct Thread {
    at_line: u64,
    reads: u32,
    writes: u32,
    may_read: u32,
    due: u64,
    /// Parts of a store that have come together.
    owed: f64,
    to_write: VecDeque<u64>,
}

struct World {
    memory: Machine,
    traffic: Traffic,
    pages: u64,
    random: Stream,
    threads: Vec<Thread>,
    agenda: BinaryHeap<Reverse<(u64, What)>>,
    asked: Vec<Asked>,
    free: Vec<u32>,
    look: u64,
    latencies: Vec<u64>,
    moved: u64,
}

impl World {
    /// Where a line of a thread is: pages are scattered over the memory.
    fn address(&self, thread: usize, line: u64) -> u64 {
        let size = self.traffic.threads.page;
        let page = thread as u64 * (LINES / size) + line / size;
        let place = lanetwin_kernel::mix(page) % self.pages;
        (place * size + line % size) * 64
    }

    fn ask(&mut self, now: u64, asked: Asked, address: u64) {
        let token = self.free.pop().unwrap_or(self.asked.len() as u32);
        if token as usize == self.asked.len() {
            self.asked.push(asked);
        }
        self.asked[token as usize] = asked;
        let operation = if asked.write { Operation::Write } else { Operation::Read };
        let at = Instant::from_ps(now) + Span::from_ps(self.traffic.fixed.as_ps() / 2);
        let offer = self.memory.offer(at, Request { token, operation, address });
        assert_eq!(offer, Offer::Accepted, "the memory has room for all");
    }

    /// Takes the steps of a thread that can be taken now.
    fn step(&mut self, now: u64, n: usize) {
        let assumed = self.traffic.threads;
        loop {
            while u64::from(self.threads[n].writes) < assumed.writes
                && let Some(line) = self.threads[n].to_write.pop_front()
            {
                self.threads[n].writes += 1;
                let address = self.address(n, line);
                self.ask(now, Asked { thread: n, write: true, at: now }, address);
            }
            let thread = &mut self.threads[n];
            if thread.reads >= thread.may_read || !thread.to_write.is_empty() {
                return;
            }
            if thread.due > now {
                self.agenda.push(Reverse((thread.due, What::Ready(n as u32))));
                return;
            }
            let line = thread.at_line;
            thread.at_line = (line + 1) % LINES;
            thread.reads += 1;
            thread.owed += self.traffic.stores;
            let delay = self.traffic.delay.as_ps();
            // real threads do not march in step
            let pause = (delay / 2 + self.random.below(delay + 1)).max(assumed.issue);
            thread.due = thread.due.max(now) + pause;
            if thread.owed >= 1.0 {
                thread.owed -= 1.0;
                let back = assumed.cached + self.random.below(assumed.disorder);
                thread.to_write.push_back((line + LINES - back) % LINES);
            }
            let address = self.address(n, line);
            self.ask(now, Asked { thread: n, write: false, at: now }, address);
        }
    }

    /// One that follows pointers loads the next.
    fn chase(&mut self, now: u64) {
        let line = self.random.below(LINES);
        let address = self.address(THREADS, line);
        self.ask(now, Asked { thread: THREADS, write: false, at: now }, address);
    }

    fn answered(&mut self, now: u64, token: u32) {
        let Asked { thread, write, at } = self.asked[token as usize];
        self.free.push(token);
        let warm_up = self.traffic.length.warm_up.as_ps();
        let measured = now > warm_up;
        self.moved += u64::from(measured);
        if thread == THREADS {
            if at > warm_up {
                self.latencies.push(now - at);
            }
            self.chase(now);
            return;
        }
        *(if write { &mut self.threads[thread].writes } else { &mut self.threads[thread].reads }) -= 1;
        self.step(now, thread);
    }

    fn collect(&mut self, now: u64, done: &mut Vec<Done>) {
        let half = self.traffic.fixed.as_ps() / 2;
        let back = self.traffic.fixed.as_ps() - half;
        self.memory.advance(Instant::from_ps(now + half), done);
        for Done { token, at, .. } in done.drain(..) {
            self.agenda.push(Reverse(((at.as_ps() + back).max(now), What::Answer(token))));
        }
        if let Some(next) = self.memory.next() {
            let at = (next.as_ps() + back).max(now);
            if at < self.look {
                self.look = at;
                self.agenda.push(Reverse((at, What::Look)));
            }
        }
    }
}

/// Runs the traffic on a memory.
pub(super) fn run(config: &Config, traffic: Traffic) -> Point {
    let memory = Machine::new(config).expect("the memory of the claim is sound");
    let mut world = World {
        memory,
        traffic,
        pages: config.capacity.0 / 64 / traffic.threads.page,
        random: Stream::new(traffic.length.seed, "dram-curves", "threads"),
        threads: Vec::new(),
        agenda: BinaryHeap::new(),
        asked: Vec::new(),
        free: Vec::new(),
        look: u64::MAX,
        latencies: Vec::new(),
        moved: 0,
    };
    let each = |n: usize| {
        traffic.outstanding / THREADS as u64 + u64::from((n as u64) < traffic.outstanding % THREADS as u64)
    };
    for n in 0..THREADS {
        let at_line = world.random.below(LINES);
        let due = world.random.below(traffic.delay.as_ps().max(1000));
        world.threads.push(Thread { at_line, due, may_read: each(n) as u32, ..Thread::default() });
        world.agenda.push(Reverse((due, What::Ready(n as u32))));
    }
    (0..traffic.threads.chasers).for_each(|_| world.chase(0));
    let mut done = Vec::new();
    let Length { warm_up, measure, .. } = traffic.length;
    let end = (warm_up + measure).as_ps();
    world.collect(0, &mut done);
    while let Some(Reverse((now, what))) = world.agenda.pop() {
        if now > end {
            break;
        }
        match what {
            What::Answer(token) => world.answered(now, token),
            What::Ready(thread) => world.step(now, thread as usize),
            What::Look => world.look = if world.look <= now { u64::MAX } else { world.look },
        }
        world.collect(now, &mut done);
    }
    let n = world.latencies.len() as f64;
    let mean = world.latencies.iter().sum::<u64>() as f64 / n;
    let square = world.latencies.iter().map(|ps| (*ps as f64 - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let c = world.memory.counters();
    let trace = [c.accesses[0], c.accesses[1], c.activates, c.turnarounds, mean as u64];
    Point {
        gigabytes: world.moved as f64 * 64.0 / measure.as_ps() as f64 * 1e3,
        latency_ns: mean / 1e3,
        half_ns: 1.96 * (square / n).sqrt() / 1e3,
        trace: trace.into_iter().fold(0, |sum, word| lanetwin_kernel::mix(sum ^ word)),
    }
}
