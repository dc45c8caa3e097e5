//! The target behind an FC port, with a RAM disk, and the wire from it to the adapter.
//!
//! ```text
//!   FCP_CMND ─► RAM disk, one command after another ─┬─► FCP_XFER_RDY ──┐
//!                                                    └─► medium ─► data ┼► wire to the adapter ─► buffer ─► host memory
//!   data of a write ─► medium ─► FCP_RSP ───────────────────────────────┘   (a credit a frame)   (`buffer.rx`)
//! ```
//!
//! FCP_XFER_RDY and FCP_RSP precede data, between two runs of frames. The data of exchanges are sent in the order of
//! their commands.

use super::effect::{Effect, Effects, Event};
use super::params::Rules;
use super::wire::{credits_used, wire_used};
use crate::servers::Servers;
use lanetwin_fabric::fc::logic::pace::Pace;
use lanetwin_fabric::fc::logic::receive_buffer::ReceiveBuffer;
use lanetwin_fabric::fc::logic::transmitter::Transmitter;
use lanetwin_fabric::fc::spec::fcp::Unit;
use lanetwin_kernel::{Report, Stream};
use lanetwin_ports::{Operation, Transfer};
use lanetwin_units::{Instant, Span, Ticks};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A target, and the receiving side of the FC port before it.
#[derive(Debug)]
pub(super) struct Target {
    rules: Rules,
    disk: Servers,
    /// Random addition to each access time.
    jitter: Stream,
    /// The medium, as it is read and as it is written.
    media: [Pace; 2],
    wire: Transmitter,
    /// Frames without data: time at which each is ready, sequence number, content.
    answers: BinaryHeap<Reverse<(Ticks, u64, Answer)>>,
    answered: u64,
    /// Reads with data to send.
    reads: VecDeque<Read>,
    /// The adapter's receive buffer for frames of this target.
    receive: ReceiveBuffer,
}

/// A frame without data, and the exchange it belongs to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Answer {
    TransferReady(u32),
    Response(u32),
}

impl Answer {
    const fn unit(self) -> Unit {
        match self {
            Self::TransferReady(_) => Unit::TransferReady,
            Self::Response(_) => Unit::Response,
        }
    }
}

/// The data of a read.
#[derive(Clone, Copy, Debug)]
struct Read {
    handle: u32,
    bytes: u32,
    sent: u32,
    /// When the RAM disk has accepted the command.
    ready: Ticks,
}

impl Target {
    pub(super) fn new(rules: Rules, jitter: Stream) -> Self {
        Self {
            rules,
            disk: Servers::new(1),
            jitter,
            media: [Pace::new(rules.target_rate); 2],
            wire: Transmitter::new(rules.line, rules.credits[0]),
            answers: BinaryHeap::new(),
            answered: 0,
            reads: VecDeque::new(),
            receive: ReceiveBuffer::new(rules.rx),
        }
    }

    /// Handles a FCP_CMND sent at `now` that arrives at `arrival`, after earlier ones.
    pub(super) fn command(&mut self, request: &Transfer, arrival: Ticks, now: Instant) {
        let access = self.rules.access + self.draw_jitter();
        let ready = self.disk.serve_later(now, arrival.as_ps_ceil(), access) + access;
        let Transfer { handle, bytes, operation, .. } = *request;
        match operation {
            Operation::Read => self.reads.push_back(Read { handle, bytes, sent: 0, ready: ready.into() }),
            Operation::Write => self.answer(ready.into(), Answer::TransferReady(handle)),
        }
    }
    /// Nothing is drawn where there is no jitter.
    fn draw_jitter(&mut self) -> Span {
        match self.rules.jitter.as_ps() {
            0 => Span::ZERO,
            most => Span::from_ps(self.jitter.below(most + 1)),
        }
    }
    /// A frame with data of a write arrives at `arrival`: when the medium has taken it.
    pub(super) fn take_in(&mut self, arrival: Ticks, data: u32) -> Ticks {
        self.media[Operation::Write as usize].pass(arrival, data.into())
    }
    /// The data of an exchange have all moved at `at`: FCP_RSP.
    pub(super) fn end(&mut self, handle: u32, at: Ticks) {
        self.answer(at, Answer::Response(handle));
    }
    fn answer(&mut self, ready: Ticks, answer: Answer) {
        self.answers.push(Reverse((ready, self.answered, answer)));
        self.answered += 1;
    }

    /// The adapter has written `bytes` to host memory, the oldest it had.
    pub(super) fn written(&mut self, bytes: u64, now: Instant) {
        let (wire, flight) = (&mut self.wire, self.rules.ready_flight());
        self.receive.take_out(bytes, now.into(), &mut |ready| wire.give(ready + flight));
    }

    /// Sends what can start now. Returns when there is more to do.
    pub(super) fn pump(&mut self, now: Instant, effects: &mut Effects) -> Option<Ticks> {
        let present = Ticks::from(now);
        loop {
            let answer = self.answers.peek().and_then(|Reverse((ready, ..))| self.wire.next_start(*ready));
            let data = self.data_ready().and_then(|ready| self.wire.next_start(ready));
            let next = answer.into_iter().chain(data).min();
            let Some(start) = next.filter(|&start| start <= present) else { return next };
            if answer == Some(start) {
                self.send_answer(effects);
            } else {
                self.send_data(effects);
            }
        }
    }

    /// When the next frame with data can leave the medium.
    fn data_ready(&self) -> Option<Ticks> {
        let read = self.reads.front()?;
        let mut medium = self.media[Operation::Read as usize];
        Some(medium.pass(read.ready, self.rules.next_frame(read.bytes - read.sent).into()))
    }

    fn send_answer(&mut self, effects: &mut Effects) {
        let Some(Reverse((ready, _, answer))) = self.answers.pop() else { return };
        let frame = (answer.unit().bytes(), ready);
        let run =
            self.wire.send(&mut |i| (i == 0).then_some(frame)).expect("a frame that starts has a credit");
        for (_, end) in run.ends() {
            let arrival = end + self.rules.propagation;
            self.wire.give(arrival + self.rules.ready_flight());
            let event = match answer {
                Answer::TransferReady(handle) => Event::TransferReady(handle),
                Answer::Response(handle) => Event::Response(handle),
            };
            effects.push(Effect::At(arrival.as_ps_ceil(), event));
        }
    }

    fn send_data(&mut self, effects: &mut Effects) {
        let rules = self.rules;
        let Some(read) = self.reads.front_mut() else { return };
        let (ready, offset) = (read.ready, read.sent);
        let mut left = (read.bytes - read.sent).min(rules.burst);
        let medium = &mut self.media[Operation::Read as usize];
        let mut ahead = *medium;
        let mut frame = |_| {
            let data = rules.next_frame(left);
            left -= data;
            (data > 0).then(|| (data, ahead.pass(ready, data.into())))
        };
        let run = self.wire.send(&mut frame).expect("a frame that starts has a credit");
        let mut arrival = Ticks(0);
        for (data, end) in run.ends() {
            medium.pass(ready, data.into());
            arrival = end + rules.propagation;
            if let Some(ready) = self.receive.land(arrival, data.into()) {
                self.wire.give(ready + rules.ready_flight());
            }
        }
        read.sent += run.bytes();
        let (handle, bytes) = (read.handle, run.bytes());
        if read.sent == read.bytes {
            self.reads.pop_front();
            self.end(handle, run.next());
        }
        effects.push(Effect::At(arrival.as_ps_ceil(), Event::Data { handle, offset, bytes }));
    }

    /// Bytes that the adapter's buffer holds, or is about to \[B\].
    pub(super) const fn received(&self) -> u64 {
        self.receive.held()
    }
    /// Number of R_RDY that the adapter withholds.
    pub(super) fn withheld(&self) -> usize {
        self.receive.withheld()
    }
    /// When the next frame became ready for the wire.
    fn front_ready(&self) -> Option<Ticks> {
        let answer = self.answers.peek().map(|Reverse((ready, ..))| *ready);
        answer.into_iter().chain(self.data_ready()).min()
    }
    /// Reports the use of workers up to `now`: wire and RAM disk.
    pub(super) fn workers(&self, port: usize, now: Instant, report: &mut Report) {
        report.supply(format!("FC port {port} to host"), wire_used(&self.wire, now));
        report.supply(format!("target of FC port {port}"), self.disk.used(now));
    }
    /// Reports the use of held supplies up to `now`.
    pub(super) fn held(&self, port: usize, now: Instant, report: &mut Report) {
        let credits = credits_used(&self.wire, self.front_ready(), now);
        report.supply(format!("BB credits of FC port {port}"), credits);
    }
}
