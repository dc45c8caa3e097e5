//! `cxl-expander`: a CXL memory expander (a Type 3 device): DRAM behind a CXL port.
//!
//! ```text
//!   Line ──► tracker ── request latency ──► DRAM: queues, banks, data buses ── answer latency ──► LineDone
//! ```
//!
//! A request occupies a tracker entry from its arrival to its answer; without a free entry it waits outside, in order
//! of arrival. `request-latency` is the time from the port to the queues of the memory controller, `answer-latency`
//! the time back. A write is answered from the queue of the memory controller, or when it has been written
//! (`dram.write-answer`).
//!
//! Both latencies are constant. So the memory gets a request when it arrives at the port, and is advanced ahead of
//! the present by the request latency: an answer is known before it is due, and one wake handles all answers up to
//! the next.
//!
//! Addresses beyond `capacity` are answered with [`Status::Aborted`]. Hints are answered with 0, since there is no
//! cache.
//!
//! Not here: the link (credits, flits, what its ports cost: the ports crate); coherence with device caches (BISnp,
//! HDM-DB); CXL.io registers, mailbox, poison; energy.

mod tracker;

use crate::dram_params::{self, DRAM, PAGE_TIME};
use crate::gauge::Gauge;
use crate::marks;
use crate::slab::Slab;
use crate::stages::names;
use lanetwin_kernel::{Component, Port, Report, Supply, SupplyKind, Trail, mix};
use lanetwin_media::dram::{self, Machine, Offer, Request};
use lanetwin_ports::{
    Build, CXL_PORT, Context, Dimension, Line, LineDone, Message, Mistake, Model, Operation, Param, Params,
    PortInfo, Protocol, Status,
};
use lanetwin_units::{Instant, Span};
use std::any::Any;
use std::collections::VecDeque;
use tracker::Tracker;

pub use lanetwin_media::dram::Counters;

/// The declaration.
pub static MODEL: Model = Model {
    name: "cxl-expander",
    about: "A CXL memory expander (Type 3): DRAM behind a CXL port.",
    ports: &[PortInfo { name: "cxl", speaks: Protocol::Cxl, about: "the device's CXL port", many: false }],
    params: &[&CXL_PORT, PARAMS, &DRAM],
    conditions: &[PAGE_TIME],
    mistakes,
    build: Build::Component(|params, _| Box::new(CxlExpander::new(params))),
    ..Model::DEFAULT
};

#[rustfmt::skip]
const PARAMS: &[Param] = &[
    Param { name: "capacity", dimension: Dimension::Size, default: Some("64GiB"), about: "the memory that can be addressed" },
    Param { name: "request-latency", dimension: Dimension::Time, default: Some("20ns"), about: "from the port to the queues of the memory controller" },
    Param { name: "answer-latency", dimension: Dimension::Time, default: Some("20ns"), about: "from the last beat of a read, or the acceptance of a write, to the port" },
    Param { name: "tracker", dimension: Dimension::Count { least: 1, most: 1 << 16 }, default: Some("256"), about: "how many requests can be inside; others wait before it" },
];

const CXL: Port = Port(0);

/// Everything about these parameters that makes an expander impossible.
pub(crate) fn mistakes(params: &Params) -> Vec<Mistake> {
    dram_params::mistakes(params, params.size("capacity"), "capacity")
}

/// The device.
pub struct CxlExpander {
    /// `None` if the parameters describe no valid memory: every request is then aborted.
    memory: Option<Machine>,
    request: Span,
    answer: Span,
    /// Requests in the memory, by its tokens.
    requested: Slab<Requested>,
    tracker: Tracker,
    /// Requests that found no place.
    outside: VecDeque<(Line, Trail)>,
    waiting: Gauge,
    /// The earliest wake that is still to come; [`Instant::NEVER`] if there is none.
    armed: Instant,
    aborted: u64,
    hints: u64,
    /// Kept for its room.
    done: Vec<dram::Done>,
}

/// A request in the memory.
#[derive(Clone, Copy)]
struct Requested {
    handle: u32,
    operation: Operation,
    trail: Trail,
}

lanetwin_kernel::stages! {
    after marks::STAGES;
    TRACKER = "queue for the tracker",
    INGRESS = "ingress",
    EGRESS = "egress",
}

/// Counters of an expander.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Totals {
    /// Counters of the memory.
    pub dram: Counters,
    /// Requests beyond the capacity.
    pub aborted: u64,
}

impl CxlExpander {
    fn new(params: &Params) -> Self {
        let mut memory = Machine::new(&dram_params::config(params, params.size("capacity"))).ok();
        // the memory gets requests while they are on their way to it
        memory.iter_mut().for_each(|memory| memory.keep_history(params.time("request-latency")));
        Self {
            memory,
            request: params.time("request-latency"),
            answer: params.time("answer-latency"),
            requested: Slab::new(),
            tracker: Tracker::new(params.count("tracker")),
            outside: VecDeque::new(),
            waiting: Gauge::default(),
            armed: Instant::NEVER,
            aborted: 0,
            hints: 0,
            done: Vec::new(),
        }
    }

    /// Counters up to `now`, the present; those of the memory up to when a request arriving now would reach it.
    #[must_use]
    pub fn totals(&self, now: Instant) -> Totals {
        let there = now + self.request;
        let dram = self.memory.as_ref().map(|memory| memory.counters_up_to(there)).unwrap_or_default();
        Totals { dram, aborted: self.aborted }
    }

    /// A request has a place of the tracker.
    #[inline]
    fn take(&mut self, line: Line, cx: &mut Context<'_>) {
        let now = cx.now();
        self.tracker.take(now);
        cx.mark(TRACKER);
        cx.mark_until(now + self.request, INGRESS);
        let Line { operation, handle, .. } = line;
        let token = self.requested.put(Requested { handle, operation, trail: cx.trail() });
        let operation = match line.operation {
            Operation::Read => dram::Operation::Read,
            Operation::Write => dram::Operation::Write,
        };
        let request = Request { token, operation, address: line.address };
        let offer =
            self.memory.as_mut().map_or(Offer::Beyond, |memory| memory.offer(now + self.request, request));
        assert!(offer != Offer::Full, "the memory has room for as many requests as there are places");
        if offer == Offer::Beyond {
            self.aborted += 1;
            let nothing = dram::Done { token, at: now + self.request, before: dram::Before::NO_READ };
            self.finish(nothing, Status::Aborted, cx);
        }
    }

    /// Sends the answer to a request that has ended in the memory, or will.
    #[inline]
    fn finish(&mut self, done: dram::Done, status: Status, cx: &mut Context<'_>) {
        let Some(Requested { handle, operation, trail }) = self.requested.take(done.token) else { return };
        let at = done.at + self.answer;
        cx.resume(trail);
        if let Some(memory) = &self.memory {
            marks::mark_read(memory, &done, cx);
            cx.mark_until(at, EGRESS);
        }
        cx.send_at(CXL, at, Message::LineDone(LineDone { operation, handle, status }));
        self.tracker.leave(at);
    }

    /// Takes the known answers of the memory, admits waiting requests, and asks for a wake for the next answers.
    #[inline]
    fn poll_memory(&mut self, cx: &mut Context<'_>) {
        if !self.outside.is_empty() {
            self.admit_waiting(cx);
        }
        if let Some(memory) = &mut self.memory {
            memory.advance(cx.now() + self.request, &mut self.done);
        }
        if !self.done.is_empty() {
            self.send_known(cx);
        }
        self.arm(cx);
    }

    /// Asks to be woken before anything that is not known yet can be due.
    #[inline]
    fn arm(&mut self, cx: &mut Context<'_>) {
        // at the memory, and after that it is on its way to the port
        let mut next = Instant::NEVER;
        if let Some(memory) = &self.memory {
            next = memory.next().map_or(Instant::NEVER, |at| at + self.answer);
        }
        if !self.outside.is_empty() {
            next = next.min(self.tracker.next_free().unwrap_or(Instant::NEVER));
        }
        if next < self.armed {
            self.armed = next;
            cx.wake_at(next, 0);
        }
    }

    /// Admits waiting requests while there are free entries.
    fn admit_waiting(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        while self.tracker.has_room(now)
            && let Some((line, trail)) = self.outside.pop_front()
        {
            self.waiting.remove(1, now);
            cx.resume(trail);
            self.take(line, cx);
        }
    }

    /// Sends the known answers of the memory.
    fn send_known(&mut self, cx: &mut Context<'_>) {
        self.tracker.release(cx.now());
        for n in 0..self.done.len() {
            self.finish(self.done[n], Status::Ok, cx);
        }
        self.done.clear();
    }
}

impl Component<Message> for CxlExpander {
    fn receive(&mut self, _: Port, message: Message, cx: &mut Context<'_>) {
        match message {
            Message::Line(line) => {
                let now = cx.now();
                if self.outside.is_empty() && self.tracker.has_room(now) {
                    self.take(line, cx);
                    self.arm(cx);
                } else {
                    self.waiting.add(1, now);
                    self.outside.push_back((line, cx.trail()));
                    self.poll_memory(cx);
                }
            }
            Message::Hint(hint) => {
                self.hints += 1;
                let at = cx.now() + self.request + self.answer;
                cx.send_at(CXL, at, Message::HintDone { handle: hint.handle, value: 0 });
            }
            _ => unreachable!("an expander is sent lines and hints, not {message:?}"),
        }
    }

    fn wake(&mut self, _: u32, cx: &mut Context<'_>) {
        if self.armed <= cx.now() {
            self.armed = Instant::NEVER;
            self.poll_memory(cx);
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("tracked", self.tracker.taken().to_string());
        see("waiting", self.outside.len().to_string());
        see("aborted", self.aborted.to_string());
        see("hints", self.hints.to_string());
        let decided = self.memory.as_ref().map(Machine::counters).unwrap_or_default();
        see("dram", format!("{decided:?}"));
    }

    fn report(&mut self, now: Instant, report: &mut Report) {
        if let Some(memory) = &self.memory {
            dram_params::report_buses("data buses", memory, now, report);
        }
        let kind = SupplyKind::Held { waiting_ps: self.waiting.integral_ps(now) };
        let in_use_ps = self.tracker.integral_ps(now);
        report.supply("tracker", Supply { in_use_ps, supply: self.tracker.places(), kind });
        dram_params::report(&self.totals(now).dram, report);
    }

    fn digest_up_to(&self, now: Instant) -> u64 {
        let Totals { dram, aborted } = self.totals(now);
        let words =
            [dram.accesses[0], dram.accesses[1], dram.activates, dram.turnarounds, aborted, self.hints];
        words.into_iter().fold(0, |digest, word| mix(digest ^ word))
    }

    fn stages(&self) -> Vec<String> {
        names(&[marks::STAGES, STAGES])
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}
