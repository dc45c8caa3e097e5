//! Disconnection of a host from a target on purpose.
//!
//! ```text
//!  managed   no new requests ─► what is asked is answered ─► CC.SHN, CSTS.SHST ─┐
//!  surprise  what is asked is flushed ────────────────────────────────────────────┴► DREQ of each queue ─► DREP of each
//!                                                                  again, if nothing comes back ──┘
//!  by TCP the last is FIN and FIN, which the connection sends again by itself
//! ```
//!
//! Managed is `nvme disconnect`. Linux first removes the namespaces, which waits for their requests
//! (`drivers/nvme/host/core.c`, `nvme_remove_namespaces`), then ends I/O queues, shuts the controller down over the
//! admin queue, and ends that. Here the shutdown comes first, over the first I/O queue, since an admin queue has no
//! connection of its own. Surprise is a program or an adapter that disappears: queue pairs are put into the error
//! state, and requests without an answer fail.
//!
//! A disconnect request (DREQ) is repeated until its reply (DREP) arrives, at most `disconnect-retries` times
//! (InfiniBand Architecture Specification, volume 1, chapter 12; `drivers/infiniband/core/cm.c`). The Linux initiator
//! destroys its identifier of the connection before the reply, and so does not retry (`cm_destroy_id`): it sends DREQ
//! only once even if it is lost.

use super::departures::{Departure, Due, Leaving, Stage};
use super::queue::{CPU, LoadQueue, Software, receive};
use super::{Due as Task, NvmeofHost, Step};
use crate::fabric_control::Control;
use crate::fabric_software::doorbell_bytes;
use crate::roles::nvme::{PATH_EXPIRED, PATH_INACCESSIBLE, PATH_LOST};
use crate::roles::nvmeof::{Leave, Way};
use lanetwin_ports::{Context, DESTROYED, Message, WorkCompletion};
use lanetwin_units::Span;

/// Time limit of a controller's shutdown (Linux, `drivers/nvme/host/core.c`, `shutdown_timeout`).
const SHUT_DOWN_WITHIN: Span = Span::from_us(5_000_000);

impl NvmeofHost {
    pub(super) fn leave_on(&mut self, due: Due, cx: &mut Context<'_>) {
        match due {
            Due::Begin(departure) => self.leave_now(departure, cx),
            Due::ShutDown(departure) => {
                if self.departures.all[departure].stage == Stage::ShuttingDown {
                    self.close(departure, cx);
                }
            }
            Due::Unanswered(place, asks) => self.repeat(place, asks, cx),
            Due::Manager(place) => self.look_at_manager(place, cx),
            Due::Back(departure) => {
                self.departures.all[departure].back = true;
                self.come_back(departure, cx);
            }
        }
    }

    /// Begins a departure: no more requests are sent to its queues.
    fn leave_now(&mut self, departure: usize, cx: &mut Context<'_>) {
        let Leave { queues, managed, .. } = self.departures.all[departure].plan.clone();
        let Some(&first) = queues.first() else { return };
        if self.queues[first].leaving.is_some() {
            // it is on its way already
            return;
        }
        for queue in &queues {
            let leaving = Leaving { departure, asks: None, given_up: false };
            self.queues[*queue].leaving = Some(leaving);
        }
        if let Some(association) = self.association_of(first) {
            if self.associations[association].loss().is_some() {
                // there is no connection to end; it is not reconnected any more
                self.associations[association].leave();
                return self.be_left(departure, cx);
            }
            queues.iter().for_each(|queue| self.say(*queue, PATH_INACCESSIBLE, cx));
        }
        self.departures.all[departure].stage = Stage::Draining;
        if managed { self.go_on_leaving(first, cx) } else { self.close(departure, cx) }
    }
    /// Continues with a queue after a change, if it is being disconnected.
    pub(super) fn go_on_leaving(&mut self, place: usize, cx: &mut Context<'_>) {
        let Some(Leaving { departure, given_up, .. }) = self.queues[place].leaving else { return };
        let Departure { plan, stage, .. } = &self.departures.all[departure];
        match stage {
            Stage::Draining => {
                let idle = |queue: &usize| self.queues[*queue].is_idle();
                if plan.queues.iter().all(idle) {
                    self.shut_down(departure, cx);
                }
            }
            Stage::ShuttingDown if !self.queues[plan.queues[0]].queue.is_live() => self.close(departure, cx),
            Stage::Closing if given_up => self.closed(place, false, cx),
            _ => {}
        }
    }
    /// Shuts the controller down.
    fn shut_down(&mut self, departure: usize, cx: &mut Context<'_>) {
        let Some(adapter) = self.adapter else { return };
        let software = Software { costs: &self.costs, rdma: &self.rdma, adapter };
        let first = self.departures.all[departure].plan.queues[0];
        self.departures.all[departure].stage = Stage::ShuttingDown;
        if !self.queues[first].queue.is_live() {
            return self.close(departure, cx);
        }
        self.queues[first].tell(Control::Shutdown, software, cx);
        self.agenda.put(cx.now() + SHUT_DOWN_WITHIN, Task::Leave(Due::ShutDown(departure)), cx);
    }
    /// Handles a control message for a queue that is being disconnected.
    pub(super) fn hear_of_leaving(&mut self, place: usize, cx: &mut Context<'_>) {
        let (Some(adapter), Some(Leaving { departure, .. })) = (self.adapter, self.queues[place].leaving)
        else {
            return;
        };
        let software = Software { costs: &self.costs, rdma: &self.rdma, adapter };
        let shuts = self.departures.all[departure].stage == Stage::ShuttingDown;
        for control in std::mem::take(&mut self.queues[place].told_beside) {
            match control {
                Control::SetProperty if shuts => {
                    self.queues[place].tell(Control::ReadStatus, software, cx);
                }
                Control::Status if shuts => return self.close(departure, cx),
                Control::Finish => return self.closed(place, true, cx),
                Control::SetProperty | Control::Status => {}
                other => self.queues[place].told_beside.push(other),
            }
        }
    }

    /// Ends the connections: requests in flight fail.
    fn close(&mut self, departure: usize, cx: &mut Context<'_>) {
        let Some(adapter) = self.adapter else { return };
        self.departures.all[departure].stage = Stage::Closing;
        let queues = self.departures.all[departure].plan.queues.clone();
        if let Some(association) = self.association_of(queues[0])
            && self.associations[association].leave()
        {
            queues.iter().for_each(|queue| self.say(*queue, PATH_LOST, cx));
        }
        for place in queues {
            let software = Software { costs: &self.costs, rdma: &self.rdma, adapter };
            let queue = &mut self.queues[place];
            self.departures.flushed += queue.in_flight.number();
            let answers = queue.lose(software, cx);
            queue.close(software, cx);
            if let Some(at) = queue.set_timer(cx.now()) {
                self.agenda.put(at, Task::Queue(place, Step::Timer), cx);
            }
            self.answer(place, answers, cx);
            self.ask_for_the_end(place, cx);
        }
    }
    /// Makes the connection manager send a disconnect request.
    fn ask_for_the_end(&mut self, place: usize, cx: &mut Context<'_>) {
        let Some(adapter) = self.adapter else { return };
        let software = Software { costs: &self.costs, rdma: &self.rdma, adapter };
        if let Some(asks) = self.queues[place].ask_for_the_end(software, cx) {
            self.departures.again += u64::from(asks.1 > 1);
            let at = cx.now() + self.costs.disconnect.0;
            self.agenda.put(at, Task::Leave(Due::Unanswered(place, asks)), cx);
        }
    }
    fn repeat(&mut self, place: usize, asks: (u32, u64), cx: &mut Context<'_>) {
        if self.queues[place].leaving.and_then(|leaving| leaving.asks) != Some(asks) {
            return;
        }
        if asks.1 > self.costs.disconnect.1 {
            return self.closed(place, false, cx);
        }
        self.ask_for_the_end(place, cx);
    }

    /// The adapter has a datagram for a connection manager, if this handle is one's.
    pub(super) fn hear_manager(&mut self, handle: u32, cx: &mut Context<'_>) -> bool {
        let Some(&place) = self.departures.managers.get(&handle) else { return false };
        self.queues[place].core.serve(cx.now(), self.costs.notice);
        self.agenda.put(cx.now() + self.costs.notice, Task::Leave(Due::Manager(place)), cx);
        true
    }
    fn look_at_manager(&mut self, place: usize, cx: &mut Context<'_>) {
        let Some(pair) = self.queues[place].manager else { return };
        while let Some(completion) = self.rdma.poll(pair) {
            let WorkCompletion::Received { id, content, .. } = completion else { continue };
            self.rdma.post_receive(pair, receive(id));
            let asks = self.queues[place].leaving.and_then(|leaving| leaving.asks);
            match content.and_then(|bytes| Control::of(&bytes)) {
                // it may come once more, where it was late
                Some(Control::Disconnected(of)) if asks.is_some_and(|(asked, _)| asked == of) => {
                    self.closed(place, true, cx);
                }
                Some(Control::Disconnected(_)) => {}
                _ => self.unexpected += 1,
            }
        }
    }

    /// A connection has ended, with an answer of the target or without.
    fn closed(&mut self, place: usize, answered: bool, cx: &mut Context<'_>) {
        let Some(leaving) = &mut self.queues[place].leaving else { return };
        if leaving.asks.take().is_none() {
            return;
        }
        let departure = leaving.departure;
        self.departures.ended += 1;
        self.departures.unanswered += u64::from(!answered);
        let asks = |queue: &usize| self.queues[*queue].leaving.is_some_and(|own| own.asks.is_some());
        if !self.departures.all[departure].plan.queues.iter().any(asks) {
            let took = cx.now().since(self.departures.all[departure].plan.at);
            self.departures.took = self.departures.took.max(took);
            self.be_left(departure, cx);
        }
    }
    /// A host has left.
    fn be_left(&mut self, departure: usize, cx: &mut Context<'_>) {
        self.departures.all[departure].stage = Stage::Left;
        let Leave { queues, back, .. } = self.departures.all[departure].plan.clone();
        if self.queues[queues[0]].path.is_some() && back.is_none() {
            queues.iter().for_each(|queue| self.say(*queue, PATH_EXPIRED, cx));
        }
        self.come_back(departure, cx);
    }
    /// Connects again, if a host has left and it is time.
    fn come_back(&mut self, departure: usize, cx: &mut Context<'_>) {
        let Departure { plan, stage, back } = &mut self.departures.all[departure];
        if *stage != Stage::Left || !*back {
            return;
        }
        *stage = Stage::Off;
        let first = plan.queues[0];
        plan.queues.iter().for_each(|queue| self.queues[*queue].leaving = None);
        if let Some(association) = self.association_of(first) {
            self.associations[association].come_back();
            self.connect_again(association, cx);
        }
    }
}

impl LoadQueue {
    /// Whether no request is in flight.
    fn is_idle(&self) -> bool {
        self.in_flight.number() == 0 && self.queued.number() == 0
    }
    /// Ends the connection on this side, by TCP with FIN.
    fn close(&mut self, software: Software<'_>, cx: &mut Context<'_>) {
        let of = match &self.way {
            Way::Rdma(pair) => {
                let (to, bytes) = (software.adapter, doorbell_bytes(false));
                let handle = pair.0.into();
                cx.send_at(CPU, cx.now(), Message::Mmio { to, bytes, handle, address: DESTROYED });
                software.rdma.ends(*pair).map_or(0, |(_, peer, ..)| peer.0.into())
            }
            Way::Tcp(_) => {
                self.tell(Control::Finish, software, cx);
                0
            }
        };
        self.leaving.iter_mut().for_each(|leaving| leaving.asks = Some((of, 0)));
    }
    /// Sends a disconnect request to the target's connection manager. Returns its number of attempts; `None` over
    /// TCP.
    fn ask_for_the_end(&mut self, software: Software<'_>, cx: &mut Context<'_>) -> Option<(u32, u64)> {
        let pair = self.manager?;
        let (of, sent) = self.leaving.as_mut()?.asks.as_mut()?;
        *sent += 1;
        let at = self.core.serve(cx.now(), software.costs.submit) + software.costs.submit;
        let address = software.rdma.post_send(pair, Control::Disconnect(*of).work());
        let (to, bytes, handle) = (software.adapter, doorbell_bytes(software.costs.polled), pair.0.into());
        cx.send_at(CPU, at, Message::Mmio { to, bytes, handle, address });
        Some((*of, *sent))
    }
}
