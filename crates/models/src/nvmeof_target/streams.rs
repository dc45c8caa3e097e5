//! A TCP target: work of the stack and of a connection's worker.
//!
//! ```text
//!  signal ─► core: receive ─► worker: copy ─► command, data ─► the drive … ─► worker: respond ─► send
//! ```

use super::NvmeofTarget;
use super::connection::{COMMAND, CORE, Connection, DATA, INTERRUPT, POLL, RESPOND, Step};
use crate::tcp_socket::{Place, TcpSocket};
use lanetwin_kernel::Stage;
use lanetwin_nvmeof::logic::tcp::Stream;
use lanetwin_ports::Context;
use lanetwin_units::{Instant, Span};

impl NvmeofTarget {
    pub(super) fn socket(&mut self, place: usize) -> Option<(&mut TcpSocket, Place<'_>)> {
        let adapter = self.adapter?;
        self.connections.get_mut(place)?.socket(&self.costs, adapter)
    }
    fn plan(&mut self, place: usize, at: Option<Instant>, step: Step, cx: &mut Context<'_>) {
        if let Some(at) = at {
            self.later(at, place, step, cx);
        }
    }
    pub(super) fn set_timer(&mut self, place: usize, cx: &mut Context<'_>) {
        let at = self.socket(place).and_then(|(socket, _)| socket.set_timer(cx.now()));
        self.plan(place, at, Step::Timer, cx);
    }

    /// The stack takes the segments that have come.
    pub(super) fn receive_stream(&mut self, place: usize, cx: &mut Context<'_>) {
        let later = self.socket(place).and_then(|(socket, _)| socket.looks_later(cx.now()));
        if later.is_some() {
            return self.plan(place, later, Step::Look, cx);
        }
        let signals = self.connections[place].taken();
        let notice = if self.costs.polled { POLL } else { INTERRUPT };
        let Some((socket, runs)) = self.socket(place) else { return };
        let begins = socket.receive(signals, notice, runs, cx);
        self.plan(place, begins, Step::Work, cx);
        self.set_timer(place, cx);
    }
    /// The worker takes received data and begins their commands.
    pub(super) fn work_on_stream(&mut self, place: usize, cx: &mut Context<'_>) {
        let Some((socket, _)) = self.socket(place) else { return };
        socket.begin_work();
        while let Some((socket, runs)) = self.socket(place)
            && let Some(message) = socket.next_message(runs, cx)
        {
            if let Some(beside) = &message.control {
                self.hear_beside(place, beside, cx);
                continue;
            }
            let units = message.stream.units();
            let commands = self.costs.command * u64::from(units.commands);
            let data = self.costs.data * u64::from(units.others);
            let own = &self.connections[place];
            own.spend(commands, COMMAND, cx);
            let at = own.spend(data, DATA, cx).max(message.at);
            self.later(at, place, Step::Message(message.stream), cx);
        }
        if let Some((socket, runs)) = self.socket(place) {
            socket.end_work(runs, cx);
        }
        self.set_timer(place, cx);
    }
    /// Has the worker send a message.
    pub(super) fn plan_stream(&mut self, place: usize, stream: Stream, cx: &mut Context<'_>) {
        if self.connections[place].has_left() {
            return;
        }
        let asks = stream.units().r2ts;
        self.counts.r2ts += u64::from(asks);
        let cost = if asks > 0 { self.costs.data } else { self.costs.respond };
        let at = cx.now() + self.costs.tcp.worker;
        self.later(at, place, Step::Send(stream, cost), cx);
    }
    pub(super) fn send_stream(&mut self, place: usize, (stream, cost): (Stream, Span), cx: &mut Context<'_>) {
        if self.connections[place].has_left() {
            return;
        }
        cx.mark(if self.costs.polled { POLL } else { crate::tcp_socket::WORKER });
        let begins = self.connections[place].core().serve(cx.now(), Span::ZERO);
        self.connections[place].spend(cost, RESPOND, cx);
        let Some((socket, runs)) = self.socket(place) else { return };
        socket.send(stream, begins, runs, cx);
        let at = socket.plan_sending();
        self.plan(place, at, Step::SendWaiting, cx);
        self.set_timer(place, cx);
    }
    /// Sends what waits for the core.
    pub(super) fn send_waiting(&mut self, place: usize, cx: &mut Context<'_>) {
        let Some((socket, runs)) = self.socket(place) else { return };
        socket.send_waiting(runs, cx);
        self.set_timer(place, cx);
    }
    /// The timer of a connection.
    pub(super) fn expire(&mut self, place: usize, cx: &mut Context<'_>) {
        let Some((socket, runs)) = self.socket(place) else { return };
        if socket.expire(runs, cx) {
            self.connections[place].lose();
        } else {
            self.set_timer(place, cx);
        }
    }
}

impl Connection {
    /// Spends CPU time of the core on the request being handled. Returns when it is done.
    fn spend(&self, cost: Span, stage: Stage, cx: &mut Context<'_>) -> Instant {
        let begun = self.core().serve(cx.now(), cost);
        if cost > Span::ZERO {
            cx.mark_until(begun, CORE);
            cx.mark_until(begun + cost, stage);
        }
        begun + cost
    }
}
