//! Data between host and controller: C2HData and R2T of TCP, RDMA WRITE and RDMA READ (TCP Transport 1.0 and RDMA
//! Transport 1.0, Data Transfer).

use super::config::{ConnectionId, SubsystemId, Transport};
use super::connection::{Ask, Owner, Purpose, Request};
use super::effect::Effect;
use super::{Asked, Target};
use crate::logic::data::Data;
use crate::logic::tcp::Pdu;
use crate::spec::identify::{
    CAPSULE_UNIT, FABRICS_IDENTITY_OFFSET, FabricsIdentity, OptionalFabricsCommands,
};
use lanetwin_nvme::logic::{Direction, HostEffect, Place, Token};
use lanetwin_nvme::spec::admin::{IdentifyDword10, IdentifyStructure};
use lanetwin_nvme::spec::command::COMMAND_BYTES;
use lanetwin_nvme::spec::{AdminOpcode, Cid, SqId};
use lanetwin_units::Instant;

impl Target {
    /// Starts a data transfer that a controller requests.
    pub(super) fn transfer(&mut self, subsystem: SubsystemId, asked: Asked, effects: &mut Vec<Effect>) {
        let (token, at, bytes) = match asked.effect {
            HostEffect::Transfer { token, at, bytes, .. }
            | HostEffect::Store { token, at, bytes }
            | HostEffect::Fetch { token, at, bytes, .. } => (token, at, bytes),
            _ => return, // for hosts whose memory is at hand
        };
        let route = asked.command.and_then(|command| {
            let owner = Owner::Nvm(subsystem, command.controller);
            Some((*self.routes.get(&(owner, command.sqid))?, command))
        });
        let Some((id, command)) = route else { return effects.push(Effect::Failed { subsystem, token }) };
        let to_host = match asked.effect {
            HostEffect::Transfer { direction, .. } => direction == Direction::ToHost,
            HostEffect::Store { .. } => true,
            _ => false,
        };
        if to_host {
            let Some(offset) = self.offset_of(id, command.cid, at) else {
                return effects.push(Effect::Failed { subsystem, token });
            };
            let identifies = command.sqid == SqId::ADMIN && command.opcode == AdminOpcode::IDENTIFY.0;
            let mut data = if asked.data.is_empty() { Data::Length(bytes) } else { asked.data };
            if identifies {
                self.add_identity(id, command.cid, offset, &mut data);
            }
            self.give(id, command.cid, (offset, data), effects);
            return effects.push(Effect::Done { subsystem, token });
        }
        let for_controller = matches!(asked.effect, HostEffect::Fetch { .. });
        self.bring(id, command.cid, (subsystem, token, for_controller), (at, bytes), effects);
    }
    /// Offset of a place in the data of a command; `None` if there is no such command or the transport cannot address
    /// the place.
    fn offset_of(&self, id: ConnectionId, cid: Cid, at: Place) -> Option<u32> {
        let connection = self.connections.get(&id)?;
        match at {
            _ if !connection.commands.contains_key(&cid.0) => None,
            Place::Transport { offset } => connection.is_tcp().then_some(offset),
            Place::Keyed { address, .. } => {
                let (start, _) = self.keyed(id, cid)?;
                u32::try_from(address.checked_sub(start)?).ok()
            }
            _ => None,
        }
    }

    /// Sends data of a command to the host, from an offset on. Over TCP they are sent in order, and the last are held
    /// back until the response.
    pub(super) fn give(
        &mut self,
        id: ConnectionId,
        cid: Cid,
        (offset, data): (u32, Data),
        effects: &mut Vec<Effect>,
    ) {
        if let Some((address, key)) = self.keyed(id, cid) {
            let address = address.wrapping_add(offset.into());
            return effects.push(Effect::RdmaWrite { connection: id, address, key, data });
        }
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let Some(pending) = connection.commands.get_mut(&cid.0) else { return };
        pending.early.insert(offset, data);
        let mut units = Vec::new();
        while let Some(data) = pending.early.remove(&pending.sent) {
            let offset = pending.sent;
            pending.sent += data.len();
            if pending.sent >= pending.length {
                pending.last = Some((offset, data));
                break;
            }
            units.push(Pdu::DataToHost { cid, offset, last: false, success: false, data });
        }
        for unit in units {
            self.send(id, unit, effects);
        }
    }

    /// Passes bytes of the host to a controller: those in the capsule at once, others after a request to the host.
    fn bring(
        &mut self,
        id: ConnectionId,
        cid: Cid,
        (subsystem, token, for_controller): (SubsystemId, Token, bool),
        (at, bytes): (Place, u32),
        effects: &mut Vec<Effect>,
    ) {
        if let Place::Capsule { offset } = at {
            let pending = self.connections.get(&id).and_then(|known| known.commands.get(&cid.0));
            let data = pending.map_or(Data::NONE, |pending| pending.data.slice(offset, bytes));
            return effects.push(match data.len() == bytes {
                true => Effect::Bring { subsystem, token, for_controller, data },
                false => Effect::Failed { subsystem, token },
            });
        }
        match self.offset_of(id, cid, at) {
            Some(offset) => {
                self.ask(id, cid, (Purpose::Controller { token, for_controller }, offset, bytes), effects);
            }
            None => effects.push(Effect::Failed { subsystem, token }),
        }
    }
    /// Requests bytes of a command's data from the host.
    pub(super) fn ask(
        &mut self,
        id: ConnectionId,
        cid: Cid,
        (purpose, offset, bytes): (Purpose, u32, u32),
        effects: &mut Vec<Effect>,
    ) {
        let keyed = self.keyed(id, cid);
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let Some(pending) = connection.commands.get_mut(&cid.0) else { return };
        pending.asks.push_back(Ask::new(purpose, offset, bytes));
        let Some((address, key)) = keyed else { return self.ask_by_r2t(id, cid, effects) };
        if let Some(ask) = pending.asks.back_mut() {
            ask.asked = bytes;
        }
        let request = Request { cid, purpose, next: offset, missing: bytes };
        let Some(operation) = connection.add_request(request) else { return self.close(id, effects) };
        let address = address.wrapping_add(offset.into());
        effects.push(Effect::RdmaRead { connection: id, operation, address, key, bytes });
    }
    /// Sends R2Ts of a command, up to the number that may be outstanding.
    fn ask_by_r2t(&mut self, id: ConnectionId, cid: Cid, effects: &mut Vec<Effect>) {
        loop {
            let Some(connection) = self.connections.get_mut(&id) else { return };
            let Transport::Tcp(tcp) = self.config.ports[connection.port].transport else { return };
            let super::connection::Link::Tcp(link) = &connection.link else { return };
            let Some(pending) = connection.commands.get_mut(&cid.0) else { return };
            if pending.r2ts >= link.r2ts {
                return;
            }
            let Some(ask) = pending.asks.iter_mut().find(|ask| ask.asked < ask.bytes) else { return };
            let length = (ask.bytes - ask.asked).min(tcp.r2t_bytes.unwrap_or(u32::MAX));
            let offset = ask.offset + ask.asked;
            ask.asked += length;
            pending.r2ts += 1;
            let request = Request { cid, purpose: ask.purpose, next: offset, missing: length };
            let Some(tag) = connection.add_request(request) else { return self.close(id, effects) };
            let tag = tag as u16;
            self.send(id, Pdu::ReadyToTransfer { cid, tag, offset, length }, effects);
        }
    }

    /// The bytes of an [`Effect::RdmaRead`] have arrived.
    pub fn read_done(
        &mut self,
        now: Instant,
        connection: ConnectionId,
        operation: u32,
        data: Data,
        effects: &mut Vec<Effect>,
    ) {
        let known = self.connections.get_mut(&connection).filter(|known| !known.is_tcp());
        let Some(request) = known.and_then(|known| known.requests.remove(&operation)) else { return };
        if data.len() != request.missing {
            return self.close(connection, effects);
        }
        self.brought(now, connection, request, (request.next, data), effects);
    }
    /// An [`Effect::RdmaRead`] has failed: the queue pair is in error, and the connection ends.
    pub fn read_failed(&mut self, connection: ConnectionId, effects: &mut Vec<Effect>) {
        self.close(connection, effects);
    }
    /// Bytes requested from the host have arrived.
    pub(super) fn brought(
        &mut self,
        now: Instant,
        id: ConnectionId,
        request: Request,
        (offset, data): (u32, Data),
        effects: &mut Vec<Effect>,
    ) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let owner = connection.queue.as_ref().map(|queue| queue.owner);
        let Some(pending) = connection.commands.get_mut(&request.cid.0) else { return };
        let damaged = pending.damaged;
        let found = pending.asks.iter().position(|ask| {
            ask.purpose == request.purpose && (ask.offset..ask.offset + ask.bytes).contains(&offset)
        });
        let Some(at) = found else { return };
        let ask = &mut pending.asks[at];
        ask.come += data.len();
        ask.pieces.insert(offset, data);
        if ask.come == ask.bytes
            && let Some(ask) = pending.asks.remove(at)
        {
            let purpose = ask.purpose;
            let data = ask.into_data();
            match (purpose, owner) {
                (Purpose::Connect, _) if damaged => {
                    let status = lanetwin_nvme::spec::Status::TRANSIENT_TRANSPORT_ERROR;
                    self.refuse_connect(id, (status, 0), effects);
                }
                (Purpose::Connect, _) => self.connect_data(now, id, &data, effects),
                (Purpose::Message, _) if damaged => {
                    let status = lanetwin_nvme::spec::Status::TRANSIENT_TRANSPORT_ERROR;
                    self.end(id, request.cid, status, effects);
                }
                (Purpose::Message, _) => self.message(id, request.cid, &data, effects),
                (Purpose::Controller { token, .. }, Some(Owner::Nvm(subsystem, _))) if damaged => {
                    effects.push(Effect::Failed { subsystem, token });
                }
                (Purpose::Controller { token, for_controller }, Some(Owner::Nvm(subsystem, _))) => {
                    effects.push(Effect::Bring { subsystem, token, for_controller, data });
                }
                _ => {}
            }
        }
        self.ask_by_r2t(id, request.cid, effects);
    }

    /// Adds the fields of the transport to the Identify Controller structure (Base 2.0 §5.17.2.1).
    fn add_identity(&self, id: ConnectionId, cid: Cid, offset: u32, data: &mut Data) {
        let Some(connection) = self.connections.get(&id) else { return };
        let Some(pending) = connection.commands.get(&cid.0) else { return };
        let structure = IdentifyDword10::from_raw(pending.command.cdw10()).structure();
        let Data::Bytes(bytes) = data else { return };
        if structure != IdentifyStructure::CONTROLLER || offset != 0 {
            return;
        }
        let mut told = FabricsIdentity::ZERO;
        told.set_command_capsule((COMMAND_BYTES + self.capsule_data(connection)) / CAPSULE_UNIT);
        told.set_response_capsule(1);
        told.set_descriptors(1);
        told.set_commands(OptionalFabricsCommands::from_raw(1));
        if let Some(place) = bytes.get_mut(FABRICS_IDENTITY_OFFSET..FABRICS_IDENTITY_OFFSET + 256) {
            place.copy_from_slice(told.as_bytes());
        }
    }
}
