//! Responses: the completion of a command is sent to the host after its data (NVMe-oF 1.1 §2.2; TCP Transport 1.0,
//! CapsuleResp and C2HData; RDMA Transport 1.0).

use super::Target;
use super::config::{ConnectionId, Transport};
use super::connection::{Link, Owner};
use super::effect::Effect;
use crate::logic::tcp::Pdu;
use lanetwin_nvme::spec::{Cid, CompletionEntry, ControllerId, SqId, Status};

impl Target {
    /// A controller has completed a command.
    pub(super) fn respond(
        &mut self,
        queue: (Owner, SqId),
        entry: CompletionEntry,
        effects: &mut Vec<Effect>,
    ) {
        let Some(&id) = self.routes.get(&queue) else { return };
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if let Some(queue) = &mut connection.queue {
            queue.head = entry.sq_head().into();
        }
        let damaged = connection.commands.get(&entry.cid().0).is_some_and(|pending| pending.damaged);
        let status = if damaged { Status::TRANSIENT_TRANSPORT_ERROR } else { entry.status() };
        let mut told = entry.with_status(status).expect("a status of 11 bits");
        if damaged {
            told = told.with_do_not_retry(false).expect("a bit");
        }
        self.finish(id, told, effects);
    }
    /// Ends a command that the target processes itself.
    pub(super) fn end(&mut self, id: ConnectionId, cid: Cid, status: Status, effects: &mut Vec<Effect>) {
        self.end_with(id, cid, (status, 0), effects);
    }
    /// Ends a command, with dwords 0 and 1.
    pub(super) fn end_with(
        &mut self,
        id: ConnectionId,
        cid: Cid,
        (status, dwords): (Status, u64),
        effects: &mut Vec<Effect>,
    ) {
        self.finish(id, entry(cid, status, dwords), effects);
    }
    /// Ends a Connect. There was no queue before, so the caller provides the head.
    pub(super) fn end_connect(
        &mut self,
        id: ConnectionId,
        cid: Cid,
        (status, dw0): (Status, u32),
        head: u16,
        effects: &mut Vec<Effect>,
    ) {
        let entry = entry(cid, status, dw0.into()).with_sq_head(head).expect("16 bits");
        self.tell(id, entry, effects);
    }
    /// Responds to a capsule whose command identifier is in use by another command, which continues.
    pub(super) fn answer(
        &mut self,
        id: ConnectionId,
        cid: Cid,
        (status, dw0): (Status, u32),
        effects: &mut Vec<Effect>,
    ) {
        let Some(connection) = self.connections.get(&id) else { return };
        let head = connection.queue.as_ref().map_or(0, |queue| queue.head());
        let entry = entry(cid, status, dw0.into()).with_sq_head(head).expect("16 bits");
        if connection.is_tcp() {
            self.send(id, Pdu::Response { entry }, effects);
        } else {
            effects.push(Effect::SendCapsule { connection: id, entry, invalidate: None });
        }
    }
    /// Ends an Asynchronous Event Request of a discovery controller with an event.
    pub(super) fn tell_event(
        &mut self,
        controller: ControllerId,
        cid: Cid,
        dw0: u32,
        effects: &mut Vec<Effect>,
    ) {
        if let Some(&id) = self.routes.get(&(Owner::Discovery(controller), SqId::ADMIN)) {
            self.end_with(id, cid, (Status::SUCCESS, dw0.into()), effects);
        }
    }

    /// Ends a command with this entry, completed with SQHD.
    fn finish(&mut self, id: ConnectionId, entry: CompletionEntry, effects: &mut Vec<Effect>) {
        let Some(connection) = self.connections.get(&id) else { return };
        let (number, head) = connection.queue.as_ref().map_or((0, 0), |queue| (queue.number.0, queue.head()));
        let built = || entry.with_sq_head(head)?.with_sq_number(number)?.with_phase(false);
        self.tell(id, built().expect("16 bits and a bit"), effects);
    }
    /// Sends the last data and the response.
    fn tell(&mut self, id: ConnectionId, entry: CompletionEntry, effects: &mut Vec<Effect>) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let Some(pending) = connection.commands.remove(&entry.cid().0) else { return };
        let flow_control = connection.queue.as_ref().is_none_or(|queue| queue.flow_control);
        if let Some(Owner::Nvm(subsystem, _)) = connection.queue.as_ref().map(|queue| queue.owner) {
            // data that the command has not waited for can no longer arrive
            let tokens = pending.asks.iter().filter_map(|ask| ask.purpose.token());
            effects.extend(tokens.map(|token| Effect::Failed { subsystem, token }));
        }
        match &self.config.ports[connection.port].transport {
            Transport::Tcp(tcp) => {
                let told_all = entry.status().is_success() && entry.dw0() == 0 && entry.dw1() == 0;
                let mut said = false;
                if let Some((offset, data)) = pending.last.filter(|_| entry.status().is_success()) {
                    said = tcp.success && !flow_control && told_all;
                    let unit = Pdu::DataToHost { cid: entry.cid(), offset, last: true, success: said, data };
                    self.send(id, unit, effects);
                }
                if !said {
                    self.send(id, Pdu::Response { entry }, effects);
                }
            }
            Transport::Rdma(rdma) => {
                debug_assert!(matches!(connection.link, Link::Rdma { .. }), "a port has one transport");
                let invalidate = pending.invalidate.filter(|_| rdma.remote_invalidate);
                effects.push(Effect::SendCapsule { connection: id, entry, invalidate });
            }
        }
    }
}

fn entry(cid: Cid, status: Status, dwords: u64) -> CompletionEntry {
    let built = || {
        CompletionEntry::ZERO
            .with_dw0(dwords as u32)?
            .with_dw1((dwords >> 32) as u32)?
            .with_cid_number(cid.0)?
            .with_status(status)?
            .with_do_not_retry(status.is_permanent())
    };
    built().expect("values of their width")
}
