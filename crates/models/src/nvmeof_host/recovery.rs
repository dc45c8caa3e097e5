//! Reconnection of queues: requests of a host, and control messages to it.

use super::queue::{CPU, LoadQueue, Software, receive};
use super::streams::place;
use crate::fabric_control::Control;
use crate::fabric_software::doorbell_bytes;
use crate::roles::nvmeof::{Offer, Way};
use lanetwin_nvmeof::logic::host::Queue;
use lanetwin_ports::{Context, DESTROYED, Message};

impl LoadQueue {
    /// Asks for a connection in the place of the one that was lost.
    pub(super) fn connect_again(&mut self, software: Software<'_>, cx: &mut Context<'_>) {
        let ends = match &self.way {
            Way::Rdma(old) => software.rdma.connect_again(*old).map(|new| {
                let destroyed = Message::Mmio {
                    to: software.adapter,
                    bytes: doorbell_bytes(false),
                    handle: old.0.into(),
                    address: DESTROYED,
                };
                cx.send_at(CPU, cx.now(), destroyed);
                let entries = self.queue.config().entries;
                (0..entries).for_each(|id| software.rdma.post_receive(new[0], receive(id)));
                // that of the target's connection manager
                software.rdma.post_receive(new[1], receive(0));
                new.map(Way::Rdma)
            }),
            Way::Tcp(socket) => socket.again().map(|ends| ends.map(|end| Way::Tcp(Box::new(end)))),
        };
        let Some([own, other]) = ends else { return };
        let queue = Queue::new(self.queue.config().clone());
        self.meeting.offer(Some(Offer { handle: other.handle(), way: Some(other), queue }));
        self.way = own;
        self.signals.clear();
        (self.looking, self.connecting, self.failed) = (false, true, false);
        self.tell(Control::Connect, software, cx);
    }
    /// Says something beside I/O.
    pub(super) fn tell(&mut self, control: Control, software: Software<'_>, cx: &mut Context<'_>) {
        let at = self.core.serve(cx.now(), software.costs.submit) + software.costs.submit;
        let runs = place(&self.core, software);
        match &mut self.way {
            Way::Rdma(pair) => {
                let address = software.rdma.post_send(*pair, control.work());
                let (bytes, handle) = (doorbell_bytes(software.costs.polled), pair.0.into());
                cx.send_at(CPU, at, Message::Mmio { to: software.adapter, bytes, handle, address });
            }
            Way::Tcp(socket) => socket.send_control(control, runs, cx),
        }
    }
    /// The target has answered: whether commands go.
    pub(super) fn connected(&mut self, cx: &Context<'_>) -> bool {
        let Some(queue) = self.meeting.take_queue().filter(Queue::is_live) else {
            self.failed = true;
            return false;
        };
        self.keys = vec![0; queue.config().entries as usize];
        (self.queue, self.connecting, self.heard) = (queue, false, cx.now());
        true
    }
    /// Ends an attempt without an answer.
    pub(super) fn stop_connecting(&mut self) {
        self.meeting.offer(None);
        (self.connecting, self.failed) = (false, false);
    }
}
