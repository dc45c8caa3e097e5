//! Reconnections by hosts, and notices of Asymmetric Namespace Access to hosts.

use super::connection::Step;
use super::{CPU, NvmeofTarget};
use crate::fabric_control::Control;
use crate::fabric_software::doorbell_bytes;
use crate::roles::nvmeof::{AccessChange, Way};
use lanetwin_nvme::spec::ControllerId;
use lanetwin_nvmeof::logic::establish::establish;
use lanetwin_ports::{Context, DESTROYED, Message};

impl NvmeofTarget {
    /// Handles a first message for an end that a host wants to reconnect: it replaces the old connection. Returns its
    /// place.
    pub(super) fn meet(&mut self, handle: u32, cx: &mut Context<'_>) -> Option<usize> {
        let place = self.connections.iter().position(|own| own.meeting().is_of(handle))?;
        let own = &mut self.connections[place];
        let old = own.renew(own.meeting().take_way()?, &self.rdma);
        self.by_handle.remove(&old.handle());
        self.by_handle.insert(handle, place);
        if let (Way::Rdma(pair), Some(to)) = (old, self.adapter) {
            let bytes = doorbell_bytes(false);
            let destroyed = Message::Mmio { to, bytes, handle: pair.0.into(), address: DESTROYED };
            cx.send_at(CPU, cx.now(), destroyed);
        }
        Some(place)
    }

    /// Handles a control message of a host.
    pub(super) fn hear_beside(&mut self, place: usize, control: &Control, cx: &mut Context<'_>) {
        match control {
            Control::Connect => {
                let own = &self.connections[place];
                let (connection, meeting) = ((own.id(), own.controller()), own.meeting().clone());
                let Some(target) = &mut self.target else { return };
                // transfers that it waits for failed with the previous connection
                target.lost(connection.0, &mut Vec::new());
                meeting.connect(|queue| {
                    establish(queue, target, connection);
                });
                self.answer(place, Control::Accept(self.connections[place].access), cx);
            }
            Control::ReadLog => self.answer(place, self.connections[place].log(), cx),
            Control::Shutdown => self.answer(place, Control::SetProperty, cx),
            Control::ReadStatus => self.answer(place, Control::Status, cx),
            Control::Finish => self.finish(place, cx),
            _ => self.counts.unexpected += 1,
        }
    }
    /// Makes a core send a control message.
    pub(super) fn answer(&mut self, place: usize, control: Control, cx: &mut Context<'_>) {
        let core = self.connections[place].core();
        let at = core.serve(cx.now(), self.costs.respond) + self.costs.respond;
        self.later(at, place, Step::Tell(control), cx);
    }
    pub(super) fn tell(&mut self, place: usize, control: Control, cx: &mut Context<'_>) {
        if let Some(pair) = self.connections[place].pair() {
            return self.ring(place, self.rdma.post_send(pair, control.work()), cx);
        }
        if let Some((socket, runs)) = self.socket(place) {
            socket.send_control(control, runs, cx);
        }
        self.set_timer(place, cx);
    }

    /// Changes the ANA state of a subsystem's namespaces: each host is notified once per association.
    pub(super) fn change(&mut self, change: AccessChange, cx: &mut Context<'_>) {
        let mut told: Vec<ControllerId> = Vec::new();
        for place in 0..self.connections.len() {
            let own = &mut self.connections[place];
            if own.subsystem() != change.subsystem {
                continue;
            }
            own.access = change.access;
            own.changes += 1;
            let controller = own.controller();
            if !own.is_lost() && !told.contains(&controller) {
                told.push(controller);
                self.answer(place, Control::Event, cx);
            }
        }
    }
}
