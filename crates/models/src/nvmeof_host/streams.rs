//! A TCP queue of a host: work of the stack and of the queue's worker.

use super::departures::Leaving;
use super::queue::{Answer, CORE, INTERRUPT, LoadQueue, POLL, Software, end_of, is_unreached};
use crate::roles::nvmeof::Way;
use crate::tcp_socket::{self, Place};
use lanetwin_nvmeof::logic::host::QueueEffect;
use lanetwin_nvmeof::logic::tcp::Stream;
use lanetwin_ports::Context;
use lanetwin_units::{Instant, Span};

impl LoadQueue {
    /// Sends the queue's output, as a message of the request being handled, which the core begins with at `begins`.
    pub(super) fn stream(&mut self, begins: Instant, software: Software<'_>, cx: &mut Context<'_>) {
        let mut all = Stream::new();
        for effect in self.effects.drain(..) {
            if let QueueEffect::Send { stream } = effect {
                all.append(stream);
            }
        }
        let place = place(&self.core, software);
        if let Way::Tcp(socket) = &mut self.way
            && !all.is_empty()
        {
            socket.send(all, begins, place, cx);
        }
    }
    /// The stack takes the segments that have come; when the worker begins, if it is not on its way.
    pub(super) fn receive(&mut self, software: Software<'_>, cx: &mut Context<'_>) -> Option<Instant> {
        self.looking = false;
        let signals = std::mem::take(&mut self.signals);
        let notice = if software.costs.polled { POLL } else { INTERRUPT };
        let place = place(&self.core, software);
        let Way::Tcp(socket) = &mut self.way else { return None };
        socket.receive(signals, notice, place, cx)
    }
    /// The worker takes the received data. Returns the resulting answers.
    pub(super) fn work(&mut self, software: Software<'_>, cx: &mut Context<'_>) -> Vec<Answer> {
        let mut answers = Vec::new();
        if let Way::Tcp(socket) = &mut self.way {
            socket.begin_work();
        }
        while let Way::Tcp(socket) = &mut self.way
            && let Some(message) = socket.next_message(place(&self.core, software), cx)
        {
            if let Some(beside) = message.control {
                self.told_beside.push(beside);
                continue;
            }
            let mut effects = Vec::new();
            self.queue.receive(message.stream, &mut effects);
            self.unreached |= effects.iter().any(is_unreached);
            let ends: Vec<_> = effects.iter().filter_map(end_of).collect();
            for (name, status) in ends {
                answers.extend(self.ended(name, status, software.costs, cx));
            }
            self.effects = effects;
            let begins = self.core.serve(cx.now(), Span::ZERO);
            self.stream(begins, software, cx);
        }
        if let Way::Tcp(socket) = &mut self.way {
            socket.end_work(place(&self.core, software), cx);
        }
        answers.extend(self.unanswerable(software.costs, cx));
        answers
    }
    /// When the core sends the messages that wait for it, unless that is planned.
    pub(super) fn plan_sending(&mut self) -> Option<Instant> {
        if let Way::Tcp(socket) = &mut self.way { socket.plan_sending() } else { None }
    }
    /// Sends them.
    pub(super) fn send_waiting(&mut self, software: Software<'_>, cx: &mut Context<'_>) {
        let place = place(&self.core, software);
        if let Way::Tcp(socket) = &mut self.way {
            socket.send_waiting(place, cx);
        }
    }
    /// The time for the timer, unless it is set.
    pub(super) fn set_timer(&mut self, now: Instant) -> Option<Instant> {
        match &mut self.way {
            // one that is lost sends nothing again
            Way::Tcp(socket) if self.queue.is_live() || self.connecting || self.leaving.is_some() => {
                socket.set_timer(now)
            }
            _ => None,
        }
    }
    /// Handles its timer. Returns the answers to requests lost with the connection, if it is given up.
    pub(super) fn expire(&mut self, software: Software<'_>, cx: &mut Context<'_>) -> Vec<Answer> {
        let place = place(&self.core, software);
        let Way::Tcp(socket) = &mut self.way else { return Vec::new() };
        let waits = self.queue.is_live() || self.connecting || self.leaving.is_some();
        if !waits || !socket.expire(place, cx) {
            return Vec::new();
        }
        self.leaving.iter_mut().for_each(Leaving::give_up);
        self.failed |= self.connecting;
        self.lose(software, cx)
    }
}

pub(super) fn place<'a>(core: &'a lanetwin_ports::RunQueue, software: Software<'a>) -> Place<'a> {
    let (adapter, cpu) = (software.adapter, tcp_socket::CPU);
    Place { core, costs: &software.costs.tcp, adapter, cpu, waiting: CORE }
}
