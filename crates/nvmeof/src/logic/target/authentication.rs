//! Authentication Send and Receive: their messages are passed to the controller's side of the transaction (Base 2.0
//! §6.2, §6.3).

use super::Target;
use super::config::ConnectionId;
use super::connection::{Purpose, Source, source};
use super::effect::Effect;
use crate::logic::authentication::Random;
use crate::logic::authentication::controller::Follows;
use crate::logic::data::Data;
use crate::spec::authentication::{AuthenticationCommand, PROTOCOL};
use crate::spec::fabrics::FabricsType;
use lanetwin_nvme::spec::{Cid, Status};

/// Maximum length of a message \[B\]; a reply with SHA-512 and ffdhe8192 has 1168.
const MOST_MESSAGE: u32 = 4096;

impl Target {
    /// Handles a command of a connection that authenticates.
    pub(super) fn authenticate(
        &mut self,
        id: ConnectionId,
        command: &AuthenticationCommand,
        effects: &mut Vec<Effect>,
    ) {
        let (cid, bytes) = (Cid(command.cid_number()), command.bytes());
        if command.protocol() != PROTOCOL || bytes == 0 || bytes > MOST_MESSAGE {
            return self.end(id, cid, Status::INVALID_FIELD, effects);
        }
        if command.kind() == FabricsType::AUTHENTICATION_RECEIVE {
            return self.give_message(id, cid, bytes as usize, effects);
        }
        let Some(connection) = self.connections.get(&id) else { return };
        let Some(pending) = connection.commands.get(&cid.0) else { return };
        let is_tcp = connection.is_tcp();
        let status = match source(&pending.command) {
            Source::Capsule { length, offset } if length == bytes => {
                let data = pending.data.slice(offset, length);
                if data.len() == length {
                    return self.message(id, cid, &data, effects);
                }
                Status::SGL_OFFSET_INVALID
            }
            Source::Transport { length } if is_tcp && length == bytes => {
                return self.ask(id, cid, (Purpose::Message, 0, length), effects);
            }
            Source::Keyed { length, .. } if !is_tcp && length == bytes => {
                return self.ask(id, cid, (Purpose::Message, 0, length), effects);
            }
            Source::Capsule { .. } => Status::DATA_SGL_LENGTH_INVALID,
            Source::Transport { .. } if is_tcp => Status::DATA_SGL_LENGTH_INVALID,
            Source::Keyed { .. } if !is_tcp => Status::DATA_SGL_LENGTH_INVALID,
            _ => Status::SGL_DESCRIPTOR_TYPE_INVALID,
        };
        self.end(id, cid, status, effects);
    }
    /// A message of the host has arrived.
    pub(super) fn message(&mut self, id: ConnectionId, cid: Cid, data: &Data, effects: &mut Vec<Effect>) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let Some(side) = connection.authentication.as_mut() else { return };
        let Some(bytes) = data.bytes() else {
            return self.end(id, cid, Status::DATA_TRANSFER_ERROR, effects);
        };
        match side.take(bytes) {
            Follows::Draw => {
                connection.awaiting = Some(cid);
                effects.push(Effect::Draw { connection: id });
            }
            Follows::Raise(power) => {
                connection.awaiting = Some(cid);
                effects.push(Effect::Raise { connection: id, power });
            }
            Follows::Ends => self.end(id, cid, Status::SUCCESS, effects),
            Follows::Close => {
                self.end(id, cid, Status::SUCCESS, effects);
                self.close(id, effects);
            }
        }
    }
    /// Takes the random numbers that [`Effect::Draw`] requested.
    pub fn drawn(&mut self, connection: ConnectionId, random: &Random, effects: &mut Vec<Effect>) {
        let Some(known) = self.connections.get_mut(&connection) else { return };
        let (Some(side), Some(cid)) = (known.authentication.as_mut(), known.awaiting) else { return };
        if let Some(power) = side.drawn(random) {
            return effects.push(Effect::Raise { connection, power });
        }
        known.awaiting = None;
        self.end(connection, cid, Status::SUCCESS, effects);
    }
    /// Takes the power that [`Effect::Raise`] requested; `None` if it cannot be computed.
    pub fn raised(&mut self, connection: ConnectionId, value: Option<Vec<u8>>, effects: &mut Vec<Effect>) {
        let Some(known) = self.connections.get_mut(&connection) else { return };
        let (Some(side), Some(cid)) = (known.authentication.as_mut(), known.awaiting.take()) else { return };
        side.raised(value);
        self.end(connection, cid, Status::SUCCESS, effects);
    }
    /// Returns the message that is due to the host, and closes the connection if the host has been refused.
    fn give_message(&mut self, id: ConnectionId, cid: Cid, room: usize, effects: &mut Vec<Effect>) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let Some(pending) = connection.commands.get(&cid.0) else { return };
        if pending.length as usize != room {
            return self.end(id, cid, Status::DATA_SGL_LENGTH_INVALID, effects);
        }
        let Some(side) = connection.authentication.as_mut() else { return };
        let Some(mut message) = side.give(room) else {
            return self.end(id, cid, Status::COMMAND_SEQUENCE_ERROR, effects);
        };
        let is_over = side.is_over();
        message.resize(room, 0);
        self.give_own(id, cid, message, effects);
        if is_over {
            self.close(id, effects);
        }
    }
}
