//! The adapter's side of an FC port: commands and the data of writes, from host memory to the wire.
//!
//! ```text
//!   doorbell ─► firmware ─► FCP_CMND ──────────────────────────────┐
//!   FCP_XFER_RDY ─► bursts asked of host memory ─► buffer ─► frames ┴► wire to the target
//!                   (at most `dma.reads`)         (`buffer.tx`)
//! ```
//!
//! Commands precede data. The data of exchanges are sent in the order of the target's FCP_XFER_RDY, and within an
//! exchange in the order of offsets, so that a late burst delays those after it.

use super::effect::{Effect, Effects};
use super::params::Rules;
use super::target::Target;
use super::wire::{credits_used, wire_used};
use crate::gauge::{Gauge, held};
use crate::servers::Servers;
use lanetwin_fabric::fc::logic::transmitter::{Run, Transmitter};
use lanetwin_fabric::fc::spec::fcp::Unit;
use lanetwin_kernel::Report;
use lanetwin_ports::Transfer;
use lanetwin_units::{Instant, Ticks};
use std::collections::VecDeque;

/// The sending side of one FC port.
#[derive(Debug)]
pub(super) struct Initiator {
    rules: Rules,
    firmware: Servers,
    wire: Transmitter,
    /// Commands, each with when its FCP_CMND is ready; firmware finishes them in order.
    commands: VecDeque<(Ticks, Transfer)>,
    /// Writes for which the target has sent FCP_XFER_RDY.
    writes: VecDeque<Write>,
    /// Bytes in the buffer, or reserved in it \[B\].
    buffered: u64,
    /// Bytes being sent, which leave the buffer at this time \[B\].
    leaving: (Ticks, u64),
    /// Bursts requested from host memory.
    asked: Gauge,
    /// One while a burst has room in the buffer but may not be requested yet.
    wanted: Gauge,
}

/// The data of a write.
#[derive(Debug)]
struct Write {
    handle: u32,
    bytes: u32,
    /// Bytes requested from host memory \[B\].
    asked: u32,
    /// Bursts requested and not sent, in the order of offsets.
    bursts: VecDeque<Burst>,
}

#[derive(Debug)]
struct Burst {
    offset: u32,
    bytes: u32,
    /// Bytes still to arrive from host memory \[B\].
    missing: u32,
    /// Arrival of the last of it.
    ready: Ticks,
    sent: u32,
}

impl Initiator {
    pub(super) fn new(rules: Rules) -> Self {
        Self {
            rules,
            firmware: Servers::new(1),
            wire: Transmitter::new(rules.line, rules.credits[1]),
            commands: VecDeque::new(),
            writes: VecDeque::new(),
            buffered: 0,
            leaving: (Ticks(0), 0),
            asked: Gauge::default(),
            wanted: Gauge::default(),
        }
    }

    /// A doorbell has been rung.
    pub(super) fn command(&mut self, request: Transfer, now: Instant) {
        let ready = self.firmware.serve(now, self.rules.command) + self.rules.command;
        self.commands.push_back((ready.into(), request));
    }

    /// Handles FCP_XFER_RDY for a write.
    pub(super) fn transfer_ready(&mut self, request: &Transfer, now: Instant, effects: &mut Effects) {
        let Transfer { handle, bytes, .. } = *request;
        self.writes.push_back(Write { handle, bytes, asked: 0, bursts: VecDeque::new() });
        self.ask(now, effects);
    }

    /// Takes data from host memory. Returns false if they were not requested.
    pub(super) fn fetched(
        &mut self,
        (handle, offset): (u32, u32),
        bytes: u32,
        now: Instant,
        effects: &mut Effects,
    ) -> bool {
        let write = self.writes.iter_mut().find(|write| write.handle == handle);
        let within = |burst: &&mut Burst| (burst.offset..burst.offset + burst.bytes).contains(&offset);
        let Some(burst) = write.and_then(|write| write.bursts.iter_mut().find(within)) else { return false };
        if burst.missing < bytes {
            return false;
        }
        burst.missing -= bytes;
        if burst.missing == 0 {
            burst.ready = now.into();
            self.asked.remove(1, now);
            self.ask(now, effects);
        }
        true
    }

    /// Asks host memory for as much as there is room and leave for.
    fn ask(&mut self, now: Instant, effects: &mut Effects) {
        let mut wants = false;
        while let Some(write) = self.writes.iter_mut().find(|write| write.asked < write.bytes) {
            let bytes = self.rules.burst.min(write.bytes - write.asked);
            if self.buffered + u64::from(bytes) > self.rules.tx {
                break;
            }
            if self.asked.number() == self.rules.reads {
                wants = true;
                break;
            }
            let (handle, offset) = (write.handle, write.asked);
            write.bursts.push_back(Burst { offset, bytes, missing: bytes, ready: Ticks(0), sent: 0 });
            write.asked += bytes;
            self.buffered += u64::from(bytes);
            self.asked.add(1, now);
            effects.push(Effect::Fetch { handle, offset, bytes });
        }
        let waits = self.wanted.number();
        self.wanted.add(u64::from(wants), now);
        self.wanted.remove(waits, now);
    }

    /// Sends what can start now. Returns when there is more to do.
    pub(super) fn pump(&mut self, target: &mut Target, now: Instant, effects: &mut Effects) -> Option<Ticks> {
        let present = Ticks::from(now);
        loop {
            if self.leaving.1 > 0 && self.leaving.0 <= present {
                self.buffered -= std::mem::take(&mut self.leaving.1);
                self.ask(now, effects);
            }
            let command = self.commands.front().and_then(|&(ready, _)| self.wire.next_start(ready));
            let data = self.front().and_then(|burst| self.wire.next_start(burst.ready));
            let next = command.into_iter().chain(data).min();
            let left = (self.leaving.1 > 0).then_some(self.leaving.0);
            let Some(start) = next.filter(|&start| start <= present) else {
                return next.into_iter().chain(left).min();
            };
            if command == Some(start) {
                self.send_command(target, now);
            } else {
                self.send_data(target);
            }
        }
    }

    /// The next burst to go, if it is complete.
    fn front(&self) -> Option<&Burst> {
        self.writes.front()?.bursts.front().filter(|burst| burst.missing == 0)
    }

    fn send_command(&mut self, target: &mut Target, now: Instant) {
        let Some((ready, request)) = self.commands.pop_front() else { return };
        let frame = (Unit::Command.bytes(), ready);
        let run =
            self.wire.send(&mut |i| (i == 0).then_some(frame)).expect("a frame that starts has a credit");
        for (_, end) in run.ends() {
            let arrival = end + self.rules.propagation;
            self.wire.give(arrival + self.rules.ready_flight());
            target.command(&request, arrival, now);
        }
    }

    fn send_data(&mut self, target: &mut Target) {
        let Some(write) = self.writes.front_mut() else { return };
        let Some(burst) = write.bursts.front_mut() else { return };
        let (rules, ready, mut left) = (self.rules, burst.ready, burst.bytes - burst.sent);
        let mut frame = |_| {
            let data = rules.next_frame(left);
            left -= data;
            (data > 0).then_some((data, ready))
        };
        let run = self.wire.send(&mut frame).expect("a frame that starts has a credit");
        burst.sent += run.bytes();
        let sent = burst.sent == burst.bytes;
        let last = sent && burst.offset + burst.bytes == write.bytes;
        if sent {
            write.bursts.pop_front();
        }
        let handle = write.handle;
        if last {
            self.writes.pop_front();
        }
        self.leaving = (run.next(), run.bytes().into());
        self.deliver(&run, last.then_some(handle), target);
    }

    /// The target takes the frames of a run in, and with the last one of an exchange ends it.
    fn deliver(&mut self, run: &Run, ended: Option<u32>, target: &mut Target) {
        let mut taken = Ticks(0);
        for (data, end) in run.ends() {
            taken = target.take_in(end + self.rules.propagation, data);
            self.wire.give(taken + self.rules.ready_flight());
        }
        if let Some(handle) = ended {
            target.end(handle, taken);
        }
    }

    /// Bytes in the buffer, or reserved in it \[B\].
    pub(super) const fn buffered(&self) -> u64 {
        self.buffered
    }
    /// When the next frame became ready for the wire.
    fn front_ready(&self) -> Option<Ticks> {
        let command = self.commands.front().map(|&(ready, _)| ready);
        command.into_iter().chain(self.front().map(|burst| burst.ready)).min()
    }
    /// Reports the use of workers up to `now`: wire and firmware.
    pub(super) fn workers(&self, port: usize, now: Instant, report: &mut Report) {
        report.supply(format!("FC port {port} to target"), wire_used(&self.wire, now));
        report.supply(format!("firmware of FC port {port}"), self.firmware.used(now));
    }
    /// Reports the use of held supplies up to `now`.
    pub(super) fn held(&self, port: usize, now: Instant, report: &mut Report) {
        let reads = held(&self.asked, &self.wanted, self.rules.reads, now);
        report.supply(format!("host reads of FC port {port}"), reads);
        let credits = credits_used(&self.wire, self.front_ready(), now);
        report.supply(format!("BB credits to the target of FC port {port}"), credits);
    }
}
