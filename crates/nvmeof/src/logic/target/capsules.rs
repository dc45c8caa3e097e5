//! Commands that arrive on a connection: the target executes Fabrics commands, and submits all others to the controller
//! of the queue (NVMe-oF 1.1 §2, §3).

use super::Target;
use super::config::ConnectionId;
use super::connection::{Link, Owner, Pending, Purpose, Source, descriptor, source};
use super::discovery::Answer;
use super::effect::Effect;
use crate::logic::data::Data;
use crate::spec::authentication::AuthenticationCommand;
use crate::spec::fabrics::{
    CONNECT_DATA_BYTES, Connect, Disconnect, FabricsCommand, FabricsType, Property, PropertyBytes,
};
use crate::spec::status::FabricsStatus;
use lanetwin_nvme::logic::{Capsule, PropertySize, Refused};
use lanetwin_nvme::spec::{Cid, Command, ControllerId, SqId, Status};
use lanetwin_units::Instant;

impl Target {
    /// Handles a command; `intact` says whether its data are intact.
    pub(super) fn command(
        &mut self,
        now: Instant,
        id: ConnectionId,
        (command, data, intact): (Command, Data, bool),
        effects: &mut Vec<Effect>,
    ) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let cid = command.cid();
        if connection.commands.contains_key(&cid.0) {
            // the command in progress with this identifier continues
            connection.queue.iter_mut().for_each(|queue| queue.consume());
            return self.answer(id, cid, (Status::COMMAND_ID_CONFLICT, 0), effects);
        }
        connection.commands.insert(cid.0, Pending::new(command, data));
        let fabrics = FabricsCommand::of(&command);
        let owner = connection.queue.as_ref().map(|queue| (queue.owner, queue.number));
        let is_barred = connection.is_barred();
        if let (None, true, false, Some((Owner::Nvm(..), _))) = (&fabrics, intact, is_barred, owner) {
            return self.submit(id, command, effects);
        }
        connection.queue.iter_mut().for_each(|queue| queue.consume());
        if !intact {
            return self.end(id, cid, Status::TRANSIENT_TRANSPORT_ERROR, effects);
        }
        let authenticates = |fabrics: &FabricsCommand| fabrics.kind().is_authentication();
        if is_barred && !fabrics.as_ref().is_some_and(authenticates) {
            return self.end(id, cid, FabricsStatus::AUTHENTICATION_REQUIRED.status(), effects);
        }
        match (fabrics, owner) {
            (Some(fabrics), _) => self.fabrics(now, id, &fabrics, effects),
            (None, Some((Owner::Discovery(controller), _))) => {
                self.discover(now, (id, controller), &command, effects);
            }
            (None, _) => self.end(id, cid, Status::COMMAND_SEQUENCE_ERROR, effects),
        }
    }
    /// Submits a command to its controller.
    fn submit(&mut self, id: ConnectionId, command: Command, effects: &mut Vec<Effect>) {
        let Some(connection) = self.connections.get(&id) else { return };
        let Some(queue) = connection.queue else { return };
        let Owner::Nvm(subsystem, controller) = queue.owner else { return };
        let data_bytes = connection.commands.get(&command.cid().0).map_or(0, |pending| pending.data.len());
        effects.push(Effect::Submit {
            connection: id,
            subsystem,
            controller,
            queue: queue.number,
            capsule: Capsule { command, data_bytes },
        });
    }
    /// A controller refuses a command that was [submitted](Effect::Submit).
    pub fn refused(&mut self, connection: ConnectionId, cid: Cid, why: Refused, effects: &mut Vec<Effect>) {
        let Some(known) = self.connections.get_mut(&connection) else { return };
        match why {
            Refused::NotReady => {
                known.queue.iter_mut().for_each(|queue| queue.consume());
                self.end(connection, cid, Status::COMMAND_SEQUENCE_ERROR, effects);
            }
            // the host violates flow control, or the queue was removed with its controller
            Refused::Full | Refused::NoQueue => self.close(connection, effects),
        }
    }

    fn fabrics(
        &mut self,
        now: Instant,
        id: ConnectionId,
        fabrics: &FabricsCommand,
        effects: &mut Vec<Effect>,
    ) {
        let cid = Cid(fabrics.cid_number());
        let bytes = *fabrics.as_bytes();
        let Some(connection) = self.connections.get(&id) else { return };
        let queue = connection.queue.map(|queue| (queue.owner, queue.number));
        match (fabrics.kind(), queue) {
            (FabricsType::CONNECT, None) if connection.connecting.is_none() => {
                self.begin_connect(now, id, Connect::from_bytes(bytes), effects);
            }
            (FabricsType::CONNECT, _) | (_, None) => {
                self.end(id, cid, Status::COMMAND_SEQUENCE_ERROR, effects);
            }
            (FabricsType::PROPERTY_GET | FabricsType::PROPERTY_SET, Some((owner, SqId::ADMIN))) => {
                self.reach_property((id, owner), &Property::from_bytes(bytes), effects);
            }
            (FabricsType::DISCONNECT, Some((_, number))) => {
                let known = Disconnect::from_bytes(bytes).format() == 0;
                let status = match number {
                    _ if !known => FabricsStatus::INCOMPATIBLE_FORMAT.status(),
                    SqId::ADMIN => FabricsStatus::INVALID_QUEUE_TYPE.status(),
                    _ => Status::SUCCESS,
                };
                self.end(id, cid, status, effects);
                if status.is_success() {
                    self.end_queue(id, effects);
                }
            }
            (FabricsType::AUTHENTICATION_SEND | FabricsType::AUTHENTICATION_RECEIVE, _)
                if connection.authentication.is_some() =>
            {
                self.authenticate(id, &AuthenticationCommand::from_bytes(bytes), effects);
            }
            // authentication where none is required, and commands that do not belong to this queue
            _ => self.end(id, cid, Status::INVALID_OPCODE, effects),
        }
    }

    /// Starts a Connect by fetching its data.
    fn begin_connect(&mut self, now: Instant, id: ConnectionId, connect: Connect, effects: &mut Vec<Effect>) {
        let cid = Cid(connect.cid_number());
        if connect.format() != 0 {
            return self.end(id, cid, FabricsStatus::INCOMPATIBLE_FORMAT.status(), effects);
        }
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let Some(pending) = connection.commands.get(&cid.0) else { return };
        connection.connecting = Some(super::connection::Connecting { cid, connect, host: None });
        let is_tcp = connection.is_tcp();
        let status = match source(&pending.command) {
            Source::Capsule { length: CONNECT_DATA_BYTES, offset } => {
                let data = pending.data.slice(offset, CONNECT_DATA_BYTES);
                if data.len() == CONNECT_DATA_BYTES {
                    return self.connect_data(now, id, &data, effects);
                }
                Status::SGL_OFFSET_INVALID
            }
            Source::Transport { length: CONNECT_DATA_BYTES } if is_tcp => {
                return self.ask(id, cid, (Purpose::Connect, 0, CONNECT_DATA_BYTES), effects);
            }
            Source::Keyed { length: CONNECT_DATA_BYTES, .. } if !is_tcp => {
                return self.ask(id, cid, (Purpose::Connect, 0, CONNECT_DATA_BYTES), effects);
            }
            Source::Unknown => Status::SGL_DESCRIPTOR_TYPE_INVALID,
            Source::Transport { .. } if !is_tcp => Status::SGL_DESCRIPTOR_TYPE_INVALID,
            Source::Keyed { .. } if is_tcp => Status::SGL_DESCRIPTOR_TYPE_INVALID,
            _ => Status::DATA_SGL_LENGTH_INVALID,
        };
        self.refuse_connect(id, (status, 0), effects);
    }

    fn reach_property(
        &mut self,
        (id, owner): (ConnectionId, Owner),
        asked: &Property,
        effects: &mut Vec<Effect>,
    ) {
        let (cid, offset) = (Cid(asked.cid_number()), asked.offset());
        let size = match asked.attributes().size() {
            PropertyBytes::FOUR => PropertySize::Four,
            PropertyBytes::EIGHT => PropertySize::Eight,
            _ => return self.end(id, cid, Status::INVALID_FIELD, effects),
        };
        let sets = asked.kind() == FabricsType::PROPERTY_SET;
        let value = if size == PropertySize::Four { asked.value() & 0xffff_ffff } else { asked.value() };
        match owner {
            Owner::Nvm(subsystem, controller) if sets => effects.push(Effect::SetProperty {
                connection: id,
                subsystem,
                controller,
                cid,
                offset,
                value,
            }),
            Owner::Nvm(subsystem, controller) => {
                effects.push(Effect::GetProperty {
                    connection: id,
                    subsystem,
                    controller,
                    cid,
                    offset,
                    size,
                });
            }
            Owner::Discovery(controller) => {
                let Some(known) = self.discovery.get_mut(&controller) else { return };
                let answer = if sets {
                    known.set_property(offset, value).map(|()| 0)
                } else {
                    known.property(offset, size)
                };
                self.property(id, cid, answer, effects);
            }
        }
    }
    /// Takes the result of [`Effect::GetProperty`], or of [`Effect::SetProperty`], whose value is 0.
    pub fn property(
        &mut self,
        connection: ConnectionId,
        cid: Cid,
        answer: Result<u64, Status>,
        effects: &mut Vec<Effect>,
    ) {
        match answer {
            Ok(value) => self.end_with(connection, cid, (Status::SUCCESS, value), effects),
            Err(status) => self.end(connection, cid, status, effects),
        }
    }

    /// Executes a command of a discovery controller.
    fn discover(
        &mut self,
        now: Instant,
        (id, controller): (ConnectionId, ControllerId),
        command: &Command,
        effects: &mut Vec<Effect>,
    ) {
        let host = self.associations.get(&Owner::Discovery(controller));
        let log = host.map(|association| self.discovery_log(&association.host.nqn)).unwrap_or_default();
        let Some(known) = self.discovery.get_mut(&controller) else { return };
        let answer = known.command(now, command, || log);
        let event = known.next_event();
        let cid = command.cid();
        match answer {
            Answer::Ends(status, dw0) => self.end_with(id, cid, (status, dw0.into()), effects),
            Answer::Gives(bytes) => self.give_own(id, cid, bytes, effects),
            Answer::Waits => {}
        }
        if let Some((cid, dw0)) = event {
            self.tell_event(controller, cid, dw0, effects);
        }
    }
    /// Ends a command with data of the target itself.
    pub(super) fn give_own(&mut self, id: ConnectionId, cid: Cid, bytes: Vec<u8>, effects: &mut Vec<Effect>) {
        let Some(connection) = self.connections.get(&id) else { return };
        let Some(pending) = connection.commands.get(&cid.0) else { return };
        let fits = match source(&pending.command) {
            Source::Transport { length } if connection.is_tcp() => Ok(length),
            Source::Keyed { length, .. } if !connection.is_tcp() => Ok(length),
            Source::Capsule { .. } => Err(Status::INVALID_FIELD),
            _ => Err(Status::SGL_DESCRIPTOR_TYPE_INVALID),
        };
        match fits {
            Ok(length) if length as usize == bytes.len() => {
                self.give(id, cid, (0, Data::Bytes(bytes)), effects);
                self.end(id, cid, Status::SUCCESS, effects);
            }
            Ok(_) => self.end(id, cid, Status::DATA_SGL_LENGTH_INVALID, effects),
            Err(status) => self.end(id, cid, status, effects),
        }
    }
    /// Address and key of the data of a command over RDMA.
    pub(super) fn keyed(&self, id: ConnectionId, cid: Cid) -> Option<(u64, u32)> {
        let connection = self.connections.get(&id).filter(|known| matches!(known.link, Link::Rdma { .. }))?;
        let pending = connection.commands.get(&cid.0)?;
        debug_assert!(descriptor(&pending.command).raw() != 0, "an SGL was read before");
        match source(&pending.command) {
            Source::Keyed { address, key, .. } => Some((address, key)),
            _ => None,
        }
    }
}
