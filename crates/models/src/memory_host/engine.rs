//! Execution of steps as flights.
//!
//! ```text
//!  step ─► due? data of the load before? room in the window? ─► translation ─► L1 ─ hit: done
//!                                                                  │           └ miss: a place (fill buffer) ─► L2 ─► LLC ─► memory
//!                                                                  └ no TLB has it: the same with the line of the page table
//! ```

use super::MemoryHost;
use super::cores::{Data, Waits};
use super::flights::{Cause, Flight};
use super::ids::{CoreId, FlightId, ThreadId};
use super::nodes::{CxlPort, Node, address_of, node_of};
use super::prefetch::Advice;
use super::steps;
use super::timetable::Task;
use crate::marks;
use lanetwin_cxl::hdm::{Decoded, Decoder};
use lanetwin_kernel::{Port, Trail};
use lanetwin_load::memory::{Step, Touch};
use lanetwin_ports::{Context, Line, Message, Operation, Status};
use lanetwin_units::{Instant, Span};

/// The level at which a line was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    L1,
    L2,
    Llc,
    UnderWay(FlightId),
    Memory,
}

impl MemoryHost {
    /// Takes the steps of a thread that can be taken now.
    pub(super) fn advance(&mut self, t: ThreadId, cx: &mut Context<'_>) {
        loop {
            let thread = &mut self.threads[t.index()];
            if matches!(thread.waits, Waits::Ended) || self.stopped {
                return;
            }
            let step = match thread.next {
                Some(step) => step,
                None => {
                    let program = &mut self.programs[thread.program as usize];
                    let Some(step) = program.program.next(thread.number) else {
                        thread.waits = Waits::Ended;
                        return self.leave(t);
                    };
                    thread.due = thread.issued + step.think.max(self.rules.issue);
                    *thread.next.insert(step)
                }
            };
            let due = match thread.data {
                Data::With(_) if step.depends => {
                    thread.waits = Waits::Data;
                    return;
                }
                Data::At(at) if step.depends => thread.due.max(at),
                _ => thread.due,
            };
            let due = due.max(thread.runs);
            if due > self.now || due == self.now && thread.turn.is_some() {
                return self.wait(t, due, step);
            }
            if !thread.window.has_room(self.rules.window) {
                thread.waits = Waits::Window;
                return;
            }
            if !self.take(t, step, cx) {
                let thread = &mut self.threads[t.index()];
                if thread.waits != Waits::Place {
                    thread.waits = Waits::Place;
                    self.cores[thread.core.index()].blocked.push_back(t);
                }
                return;
            }
            let thread = &mut self.threads[t.index()];
            (thread.next, thread.waits, thread.issued, thread.turn) = (None, Waits::Nothing, self.now, None);
            thread.steps += 1;
            self.asked += 1;
            let began = thread.operation.unwrap_or(self.now);
            thread.operation = (!step.ends).then_some(began);
            if self.advises {
                self.give_advice(t, step.address, cx);
            }
        }
    }

    /// Makes a thread wait until its step is due; or for a place at once, if it would then have to wait for one
    /// unless one becomes free earlier. Otherwise threads on full cores, as all streaming threads are, would be woken
    /// for each line only to find no place. The result is the same: the step keeps its turn among those of the same
    /// instant, and a core has no other thread that could come between.
    fn wait(&mut self, t: ThreadId, due: Instant, step: Step) {
        let thread = &mut self.threads[t.index()];
        if due == Instant::NEVER {
            thread.waits = Waits::Core;
            return;
        }
        let core = &mut self.cores[thread.core.index()];
        // only a line that no cache ever has needs a place for certain
        let needs_place =
            self.programs[thread.program as usize].cold && thread.window.has_room(self.rules.window);
        if needs_place && core.threads == 1 && !core.has_place(step.touch, &self.rules) {
            thread.turn.get_or_insert_with(|| self.timetable.reserve());
            thread.waits = Waits::Place;
            core.blocked.push_back(t);
            return;
        }
        thread.waits = Waits::Time;
        let turn = thread.turn.take().unwrap_or_else(|| self.timetable.reserve());
        self.timetable.put_in_turn(due, turn, Task::Step(t));
    }

    /// Takes a step, if its core has a place for it; whether it was taken.
    fn take(&mut self, t: ThreadId, step: Step, cx: &mut Context<'_>) -> bool {
        let now = self.now;
        let thread = &mut self.threads[t.index()];
        let c = thread.core;
        let began = thread.operation.unwrap_or(now);
        let program = &mut self.programs[thread.program as usize];
        let cold = program.cold;
        let line = program.line(step.address, &mut thread.page);
        if step.touch == Touch::Stream {
            return self.stream(t, line, step.ends.then_some((began, step.sets)), cx);
        }
        let store = step.touch == Touch::Store;
        // a program that no cache ever serves runs where translations cost nothing
        let missing = !cold && !self.is_translated(t, step.address);
        let delay = if cold { Span::ZERO } else { self.first_miss(t, step.address) };
        let core = &mut self.cores[c.index()];
        if !cold && !missing && core.l1.touch(line, store) && core.pending.find(line).is_none() {
            self.hit(t, &step, began, delay);
            return true;
        }
        if !core.has_place(step.touch, &self.rules) {
            return false;
        }
        core.misses -= 1;
        let cause = if store { Cause::Store } else { Cause::Load };
        let mut flight = Flight::new(cause, t, c, line, now);
        (flight.ends, flight.sets, flight.operation) = (step.ends, step.sets, began);
        let name = if store {
            self.flights.begin(flight)
        } else {
            let thread = &mut self.threads[t.index()];
            flight.number = thread.window.open();
            let name = self.flights.begin(flight);
            thread.data = Data::With(name);
            name
        };
        if cold {
            self.fetch_uncached(name, t, line, store, cx);
        } else if missing {
            self.walk(name, step.address, cx);
        } else {
            self.go(name, delay, cx);
        }
        true
    }

    /// The first level has it: no flight.
    fn hit(&mut self, t: ThreadId, step: &Step, began: Instant, delay: Span) {
        let latency = self.rules.l1_latency + delay;
        let thread = &mut self.threads[t.index()];
        let counted = &mut self.programs[thread.program as usize].counted;
        counted.found.l1 += 1;
        self.answered += 1;
        self.last = self.now;
        if step.touch == Touch::Load {
            counted.load(None, latency);
            thread.window.pass();
            thread.data = Data::At(self.now + latency);
        }
        if step.ends {
            counted.end(step.sets, self.now + latency - began);
        }
    }

    /// Looks for the line of a flight, and fetches it if need be; the request leaves the core after `delay`.
    pub(super) fn go(&mut self, name: FlightId, delay: Span, cx: &mut Context<'_>) {
        let flight = self.flights.get(name);
        flight.translated = self.now + delay;
        let Flight { thread: t, core: c, line, cause, .. } = *flight;
        let place = self.look_up_line(c, line, cause == Cause::Store);
        self.settle(c, t, line, cx);
        let found = &mut self.programs[self.threads[t.index()].program as usize].counted.found;
        match place {
            Place::L1 => found.l1 += 1,
            Place::L2 => found.l2 += 1,
            Place::Llc => found.llc += 1,
            Place::UnderWay(_) => found.under_way += 1,
            Place::Memory => found.memory += 1,
        }
        match place {
            Place::UnderWay(other) => {
                self.flights.get(name).from_memory = true;
                self.flights.join(name, other);
                self.follow(name, cx);
            }
            Place::Memory => {
                let flight = self.flights.get(name);
                (flight.from_memory, flight.asked_for) = (true, line);
                self.cores[c.index()].pending.add(line, name);
                self.ask(name, delay, cx);
            }
            place => {
                let at = self.now + delay + self.latency(c, place);
                self.timetable.put(at, Task::Found(name));
            }
        }
    }
    /// Fetches a line that no cache can have, unless a prefetcher has.
    fn fetch_uncached(&mut self, name: FlightId, t: ThreadId, line: u64, store: bool, cx: &mut Context<'_>) {
        let c = self.flights.get(name).core;
        let core = &mut self.cores[c.index()];
        let advice = if core.prefetcher.is_off() { Advice::default() } else { core.prefetcher.touch(line) };
        let ahead = advice.prefetched;
        let other = if ahead { core.pending.find(line) } else { None };
        let found = &mut self.programs[self.threads[t.index()].program as usize].counted.found;
        self.flights.get(name).from_memory = !ahead || other.is_some();
        if let Some(other) = other {
            found.under_way += 1;
            self.flights.join(name, other);
            self.follow(name, cx);
        } else if ahead {
            found.l2 += 1;
            self.timetable.put(self.now + self.rules.l2_latency, Task::Found(name));
        } else {
            found.memory += 1;
            self.ask(name, Span::ZERO, cx);
        }
        self.clean(t, cx);
        if store {
            let thread = &mut self.threads[t.index()];
            thread.stored.put(line, thread.steps);
        }
        if advice.ask != 0 {
            self.prefetch(c, t, line, advice, cx);
        }
    }

    /// Requests the line of a flight from memory; the request leaves the core after `delay`.
    pub(super) fn ask(&mut self, name: FlightId, delay: Span, cx: &mut Context<'_>) {
        let now = self.now;
        let flight = self.flights.get(name);
        (flight.asked, flight.at_memory) = (now, true);
        let Flight { cause, asked_for, core, thread, .. } = *flight;
        self.programs[self.threads[thread.index()].program as usize].counted.ask(now);
        let mut arrives = now + delay;
        if self.rules.sockets > 1 {
            arrives = self.pass_over(arrives, core, asked_for, cause);
        }
        self.flights.get(name).arrives = arrives;
        self.follow(name, cx);
        if let Node::Cxl(decoder) = &self.nodes[node_of(asked_for)] {
            let to = decode(decoder, asked_for);
            self.ask_cxl(name, to, cx);
        } else if arrives > now {
            self.timetable.put(arrives, Task::Request(name));
        } else {
            self.ask_dram(name, cx);
        }
    }
    /// When a request that leaves its core at `leaves` arrives at the socket of its memory.
    fn pass_over(&mut self, leaves: Instant, core: CoreId, asked_for: u64, cause: Cause) -> Instant {
        let socket = self.cores[core.index()].socket;
        let home = match &self.nodes[node_of(asked_for)] {
            Node::Dram(_) => node_of(asked_for) as u32,
            Node::Cxl(decoder) => self.ports[usize::from(decode(decoder, asked_for).target)].socket,
        };
        if home == socket {
            return leaves;
        }
        let arrives = leaves + self.rules.socket_latency;
        if cause == Cause::Write { self.lanes[socket as usize].pass(arrives) } else { arrives }
    }
    /// The request of a flight is at the controllers of its DRAM.
    pub(super) fn ask_dram(&mut self, name: FlightId, cx: &mut Context<'_>) {
        let Flight { cause, asked_for, .. } = *self.flights.get(name);
        let Node::Dram(dram) = &mut self.nodes[node_of(asked_for)] else {
            unreachable!("it is a node of DRAM")
        };
        let known = dram.ask(self.now, name.0, cause == Cause::Write, address_of(asked_for));
        let latency = dram.latency;
        self.note_dram_due();
        if let Some(at) = known {
            let there = at + self.cross(node_of(asked_for), asked_for);
            let begun = Instant::from_ps(at.as_ps() - latency.as_ps());
            self.mark(name, &[(begun, marks::DRAM_QUEUE), (at, marks::DRAM), (there, steps::UNCORE)], cx);
            self.timetable.put(there, Task::Answer(name));
        }
    }
    /// Schedules the arrival of DRAM answers.
    pub(super) fn fetch_dram(&mut self, cx: &mut Context<'_>) {
        let now = self.now;
        for node in self.nodes.iter_mut().take(self.rules.sockets as usize) {
            if let Node::Dram(dram) = node
                && dram.due <= now
            {
                dram.advance(now, &mut self.done);
            }
        }
        self.note_dram_due();
        let mut done = std::mem::take(&mut self.done);
        for answer in done.drain(..) {
            let Flight { asked_for, trail, .. } = *self.flights.get(FlightId(answer.token));
            let there = answer.at.max(now) + self.cross(node_of(asked_for), asked_for);
            if trail != Trail::NONE {
                self.mark_read(&answer, there, cx);
            }
            self.timetable.put(there, Task::Answer(FlightId(answer.token)));
        }
        self.done = done;
    }
    /// Takes note of when the DRAM of a socket has to be looked after next.
    fn note_dram_due(&mut self) {
        let due = |node: &Node| if let Node::Dram(dram) = node { dram.due } else { Instant::NEVER };
        // the DRAM of the sockets comes first
        let dram = self.nodes.iter().take(self.rules.sockets as usize);
        self.dram_due = dram.map(due).fold(Instant::NEVER, Instant::min);
    }
    /// Sends the request of a flight out of its CXL port, or lets it wait for a place there.
    #[inline(always)]
    fn ask_cxl(&mut self, name: FlightId, Decoded { target, dpa }: Decoded, cx: &mut Context<'_>) {
        let port = &mut self.ports[usize::from(target)];
        if port.free == 0 {
            port.waiting.push_back((name, dpa));
            return;
        }
        port.free -= 1;
        let home = port.socket as usize;
        let Flight { cause, arrives, asked_for, trail, .. } = *self.flights.get(name);
        let operation = if cause == Cause::Write { Operation::Write } else { Operation::Read };
        // both crossings of the uncore are charged here; the requester cannot tell the difference
        let tracked = arrives.max(self.now);
        let across = tracked + self.cross(home, asked_for);
        let at = across + self.rules.cxl_latency;
        self.sent = true;
        cx.resume(trail);
        cx.mark_until(tracked, steps::PORT_QUEUE);
        cx.mark_until(across, steps::UNCORE);
        cx.mark_until(at, steps::CXL_LOGIC);
        cx.send_at(Port(target), at, Message::Line(Line { operation, handle: name.0, address: dpa }));
    }
    /// There is a place at the port for a flight that waited.
    #[inline(never)]
    fn ask_at_last(&mut self, name: FlightId, to: Decoded, cx: &mut Context<'_>) {
        self.ask_cxl(name, to, cx);
    }
    /// A line has been answered at a CXL port.
    #[inline]
    pub(super) fn answer_cxl(&mut self, port: Port, name: FlightId, status: Status, cx: &mut Context<'_>) {
        self.flights.get(name).trail = cx.trail();
        let CxlPort { free, waiting, socket: home } = &mut self.ports[port.index()];
        let home = *home;
        *free += 1;
        if let Some((next, dpa)) = waiting.pop_front() {
            self.ask_at_last(next, Decoded { target: port.0, dpa }, cx);
        }
        if status != Status::Ok {
            let Flight { thread, asked_for, .. } = *self.flights.get(name);
            let counted = &mut self.programs[self.threads[thread.index()].program as usize].counted;
            counted.nodes[node_of(asked_for)].corrupt += 1;
        }
        if self.rules.sockets == 1 {
            return self.answer(name, cx);
        }
        self.return_to(name, home, cx);
    }
    /// Sends an answer of memory at this socket to the requesting core.
    pub(super) fn return_to(&mut self, name: FlightId, home: u32, cx: &mut Context<'_>) {
        let Flight { core, cause, .. } = *self.flights.get(name);
        let socket = self.cores[core.index()].socket;
        if home == socket {
            self.answer(name, cx);
        } else if cause == Cause::Write {
            self.lanes[socket as usize].has_passed();
            self.answer(name, cx);
        } else {
            let at = self.lanes[home as usize].pass(self.now);
            self.mark(name, &[(at, steps::FROM_SOCKET)], cx);
            self.timetable.put(at, Task::Arrive(name));
        }
    }
    /// Handles an answer of the other socket's memory at the requesting core.
    pub(super) fn arrive(&mut self, name: FlightId, cx: &mut Context<'_>) {
        let core = self.flights.get(name).core;
        let home = 1 - self.cores[core.index()].socket;
        self.lanes[home as usize].has_passed();
        self.answer(name, cx);
    }

    /// Handles the arrival of a flight's line from memory.
    pub(super) fn answer(&mut self, name: FlightId, cx: &mut Context<'_>) {
        let flight = self.flights.get(name);
        flight.at_memory = false;
        let Flight {
            cause, walking, asked, asked_for, thread, core: c, waiters, trail, weight, begun, ..
        } = *flight;
        let counted = &mut self.programs[self.threads[thread.index()].program as usize].counted;
        counted.answer(asked, self.now);
        let node = &mut counted.nodes[node_of(asked_for)];
        if cause == Cause::Write {
            node.lines_written += 1;
            self.count_answer();
            self.flights.end(name);
            *self.cores[c.index()].write_places(&self.rules) += 1;
            self.write_owed(c, cx);
            self.release(c);
            return;
        }
        node.lines_read += 1;
        let core = &mut self.cores[c.index()];
        core.pending.remove(name);
        self.flights.get(name).waiters = FlightId::NONE;
        if cause == Cause::Prefetch {
            core.prefetches += 1;
            self.count_answer();
            self.flights.end(name);
            if weight > 0 {
                cx.end(begun);
            }
        } else {
            self.arrived(name, walking, cx);
        }
        let mut waiter = waiters;
        while waiter != FlightId::NONE {
            let Flight { next, walking, .. } = *self.flights.get(waiter);
            self.mark_join(waiter, trail, cx);
            self.arrived(waiter, walking, cx);
            waiter = next;
        }
    }
    /// Continues a flight whose translation or line has arrived.
    #[inline(always)]
    fn arrived(&mut self, name: FlightId, walking: bool, cx: &mut Context<'_>) {
        if walking {
            self.walk_on(name, cx);
        } else {
            self.complete(name, cx);
        }
    }
    /// A step is over.
    pub(super) fn complete(&mut self, name: FlightId, cx: &mut Context<'_>) {
        let flight = *self.flights.get(name);
        let Flight { cause, from_memory, ends, thread: t, core: c, line, number, issued, operation, .. } =
            flight;
        let Flight { trail, weight, begun, .. } = flight;
        self.flights.end(name);
        self.count_answer();
        let thread = &mut self.threads[t.index()];
        let counted = &mut self.programs[thread.program as usize].counted;
        if cause == Cause::Load {
            counted.load(from_memory.then(|| node_of(line)), self.now - issued);
            if weight > 0 {
                cx.resume(trail);
                counted.nodes[node_of(line)].stages.take(issued..self.now, weight, cx);
            }
            thread.window.close(number);
            if thread.data == Data::With(name) {
                thread.data = Data::At(self.now);
            }
        }
        if weight > 0 {
            cx.end(begun);
        }
        if ends {
            counted.end(flight.sets, self.now - operation);
        }
        if matches!(thread.waits, Waits::Data | Waits::Window) {
            thread.waits = Waits::Nothing;
            self.runnable.push_back(t);
        }
        self.cores[c.index()].misses += 1;
        self.write_owed(c, cx);
        self.release(c);
    }
    /// Lets the threads that wait for a place try again.
    #[inline(always)]
    fn release(&mut self, c: CoreId) {
        let core = &mut self.cores[c.index()];
        if core.owed.is_empty() {
            while !core.blocked.is_empty()
                && let Some(t) = core.blocked.pop_front()
            {
                self.threads[t.index()].waits = Waits::Nothing;
                self.runnable.push_back(t);
            }
        }
    }
}

/// The address behind a decoder of a place in its node.
fn decode(decoder: &Decoder, place: u64) -> Decoded {
    decoder.decode(decoder.base() + address_of(place)).expect("frames lie in the window")
}
