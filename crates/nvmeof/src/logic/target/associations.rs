//! Associations: Connect creates queues and controllers; the end of the admin queue's connection removes them (NVMe-oF
//! 1.1 §3.3).

use super::config::{ConnectionId, SubsystemId, Transport};
use super::connection::{Connection, HostIdentity, Link, Owner, Queue};
use super::discovery::{DiscoveryController, MOST_ENTRIES};
use super::effect::Effect;
use super::{Association, Target};
use crate::logic::authentication::controller::Controller as Prover;
use crate::logic::authentication::proof::Names;
use crate::logic::data::Data;
use crate::spec::authentication::TRANSACTION_REQUIRED;
use crate::spec::fabrics::{
    ANY_CONTROLLER, ConnectData, ConnectResult, FLOW_CONTROL_IS_OFF, InvalidParameter, name_of,
};
use crate::spec::status::FabricsStatus;
use lanetwin_nvme::logic::{self, ConnectFault, ControllerChoice, DataLocation};
use lanetwin_nvme::spec::{ControllerId, SqId, Status};
use lanetwin_units::Instant;

/// Offsets of parameters that can be invalid, in the data of Connect and in its submission queue entry.
const HOST_ID: u16 = 0;
const CONTROLLER: u16 = 16;
const SUBSYSTEM: u16 = 256;
const HOST: u16 = 512;
const QUEUE: u16 = 42;
const ENTRIES: u16 = 44;

/// Status and dword 0 of a failed Connect.
type Refusal = (Status, u32);

fn invalid_data(offset: u16) -> Refusal {
    let parameter = InvalidParameter::from_raw(u32::from(offset) | 1 << 16);
    (FabricsStatus::INVALID_PARAMETERS.status(), parameter.raw())
}
fn invalid_entry(offset: u16) -> Refusal {
    (FabricsStatus::INVALID_PARAMETERS.status(), InvalidParameter::from_raw(offset.into()).raw())
}

impl Target {
    /// The data of a Connect have arrived.
    pub(super) fn connect_data(
        &mut self,
        now: Instant,
        id: ConnectionId,
        data: &Data,
        effects: &mut Vec<Effect>,
    ) {
        if let Err(refusal) = self.try_connect(now, id, data, effects) {
            self.refuse_connect(id, refusal, effects);
        }
    }
    fn try_connect(
        &mut self,
        now: Instant,
        id: ConnectionId,
        data: &Data,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Refusal> {
        let bytes = data.bytes().and_then(|bytes| bytes.try_into().ok());
        let data = ConnectData::from_bytes(bytes.ok_or((Status::DATA_TRANSFER_ERROR, 0))?);
        let (subsystem, host) = (data.subsystem(), data.host());
        let nqn = name_of(&host).filter(|name| !name.is_empty()).ok_or(invalid_data(HOST))?.to_owned();
        let name = name_of(&subsystem).ok_or(invalid_data(SUBSYSTEM))?;
        let offered = self.find(name).map_err(|()| invalid_data(SUBSYSTEM))?;
        let host = HostIdentity { nqn, id: data.host_id() };
        let choice = ControllerId(data.controller());
        let connection = self.connections.get_mut(&id).ok_or((Status::INTERNAL_ERROR, 0))?;
        let connecting = connection.connecting.as_mut().ok_or((Status::INTERNAL_ERROR, 0))?;
        connecting.host = Some(host.clone());
        let connect = connecting.connect;
        let number = SqId(connect.queue());
        if let Link::Rdma { queue } = connection.link
            && queue != number.0
        {
            return Err(invalid_entry(QUEUE));
        }
        if connect.entries_less_1() == 0 {
            return Err(invalid_entry(ENTRIES));
        }
        if number != SqId::ADMIN {
            self.check_owner((offered, choice), number, &host)?;
        }
        let Some(subsystem) = offered else { return self.connect_discovery(now, id, choice, effects) };
        if !self.config.subsystems[usize::from(subsystem.0)].admits(&host.nqn) {
            return Err((FabricsStatus::INVALID_HOST.status(), 0));
        }
        let choice = match choice.0 {
            ANY_CONTROLLER => ControllerChoice::Any,
            _ => ControllerChoice::One(choice),
        };
        let attributes = connect.attributes();
        let queue = logic::Connection {
            queue: number,
            entries: u32::from(connect.entries_less_1()) + 1,
            data_location: if self.connections[&id].is_tcp() {
                DataLocation::Messages
            } else {
                DataLocation::Keys
            },
            flow_control: !attributes.no_flow_control(),
            port: self.connections[&id].port as u16,
        };
        let keep_alive_ms = connect.keep_alive_ms();
        self.connections.entry(id).and_modify(|known| known.asked_for_queue = true);
        effects.push(Effect::Connect { connection: id, subsystem, choice, queue, keep_alive_ms });
        Ok(())
    }
    /// Checks that an I/O queue belongs to a controller with which its host is associated, and does not exist yet.
    fn check_owner(
        &self,
        (offered, choice): (Option<SubsystemId>, ControllerId),
        number: SqId,
        host: &HostIdentity,
    ) -> Result<(), Refusal> {
        // discovery controllers have no I/O queues
        let subsystem = offered.ok_or(invalid_entry(QUEUE))?;
        let owner = Owner::Nvm(subsystem, choice);
        let association = self.associations.get(&owner).ok_or(invalid_data(CONTROLLER))?;
        if association.host.nqn != host.nqn {
            return Err(invalid_data(HOST));
        }
        if association.host.id != host.id {
            return Err(invalid_data(HOST_ID));
        }
        if self.routes.contains_key(&(owner, number)) {
            return Err((Status::COMMAND_SEQUENCE_ERROR, 0));
        }
        Ok(())
    }
    /// Creates a discovery controller. In the dynamic model, each host has its own.
    fn connect_discovery(
        &mut self,
        now: Instant,
        id: ConnectionId,
        choice: ControllerId,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Refusal> {
        if choice.0 != ANY_CONTROLLER {
            return Err(invalid_data(CONTROLLER));
        }
        let connecting = self.connections[&id].connecting.as_ref().ok_or((Status::INTERNAL_ERROR, 0))?;
        let connect = connecting.connect;
        if u32::from(connect.entries_less_1()) + 1 > MOST_ENTRIES {
            return Err(invalid_entry(ENTRIES));
        }
        let free = (1..u16::MAX - 16).map(ControllerId).find(|id| !self.discovery.contains_key(id));
        let controller = free.ok_or((FabricsStatus::CONTROLLER_BUSY.status(), 0))?;
        self.discovery.insert(controller, DiscoveryController::new(controller, connect.keep_alive_ms(), now));
        self.connected_to(id, Owner::Discovery(controller), effects);
        Ok(())
    }

    /// Takes the result of an [`Effect::Connect`].
    pub fn connected(
        &mut self,
        connection: ConnectionId,
        subsystem: SubsystemId,
        made: Result<ControllerId, ConnectFault>,
        effects: &mut Vec<Effect>,
    ) {
        match (self.abandoned.remove(&connection), made) {
            (Some(queue), Ok(controller)) => {
                effects.push(Effect::Disconnect { subsystem, controller, queue });
            }
            (Some(_), Err(_)) => {}
            (None, Ok(controller)) => {
                self.connected_to(connection, Owner::Nvm(subsystem, controller), effects);
            }
            (None, Err(fault)) => self.refuse_connect(connection, refusal(fault), effects),
        }
    }
    fn connected_to(&mut self, id: ConnectionId, owner: Owner, effects: &mut Vec<Effect>) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let Some(connecting) = connection.connecting.take() else { return };
        let prover = connecting.host.as_ref().and_then(|host| self.prover(owner, host));
        let Some(connection) = self.connections.get_mut(&id) else { return };
        connection.authentication = prover.map(Box::new);
        connection.asked_for_queue = false;
        let connect = connecting.connect;
        let number = SqId(connect.queue());
        let flow_control = !connect.attributes().no_flow_control();
        let entries = u32::from(connect.entries_less_1()) + 1;
        if let (Link::Tcp(link), Transport::Tcp(tcp)) =
            (&mut connection.link, &self.config.ports[connection.port].transport)
            && number != SqId::ADMIN
        {
            link.reader.limit(self.config.ports[connection.port].capsule_data, tcp.most_data);
        }
        let mut queue = Queue { owner, number, entries, flow_control, local: 0, head: 0 };
        queue.consume();
        connection.queue = Some(queue);
        self.routes.insert((owner, number), id);
        if let (SqId::ADMIN, Some(host)) = (number, connecting.host) {
            self.associations.insert(owner, Association { host, admin: id });
        }
        let (Owner::Discovery(controller) | Owner::Nvm(_, controller)) = owner;
        let authentication = if connection.authentication.is_some() { TRANSACTION_REQUIRED } else { 0 };
        let result = ConnectResult::from_raw(u32::from(controller.0) | u32::from(authentication) << 16);
        let head = if flow_control { queue.head() } else { FLOW_CONTROL_IS_OFF };
        self.end_connect(id, connecting.cid, (Status::SUCCESS, result.raw()), head, effects);
    }
    /// The controller's side of an authentication, if its subsystem requires one.
    fn prover(&self, owner: Owner, host: &HostIdentity) -> Option<Prover> {
        let Owner::Nvm(subsystem, _) = owner else { return None };
        let ring = self.rings.get(&subsystem)?;
        let names = Names {
            host: host.nqn.clone(),
            subsystem: self.config.subsystems[usize::from(subsystem.0)].nqn.clone(),
        };
        Some(Prover::new(ring.terms.clone(), ring.keys(&host.nqn)?.clone(), names))
    }
    pub(super) fn refuse_connect(&mut self, id: ConnectionId, refusal: Refusal, effects: &mut Vec<Effect>) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let Some(connecting) = connection.connecting.take() else { return };
        connection.asked_for_queue = false;
        self.end_connect(id, connecting.cid, refusal, 0, effects);
    }

    /// Closes a connection.
    pub(super) fn close(&mut self, id: ConnectionId, effects: &mut Vec<Effect>) {
        if self.connections.contains_key(&id) {
            effects.push(Effect::Close { connection: id });
            self.end_connection(id, effects);
        }
    }
    /// Removes a connection. If it is that of an admin queue, the association ends too.
    pub(super) fn end_connection(&mut self, id: ConnectionId, effects: &mut Vec<Effect>) {
        self.end_queue(id, effects);
        if let Some(Connection { asked_for_queue: true, connecting: Some(connecting), .. }) =
            self.connections.remove(&id)
        {
            self.abandoned.insert(id, SqId(connecting.connect.queue()));
        }
    }
    /// Ends the queue of a connection. All transfers that its controller waits for fail.
    pub(super) fn end_queue(&mut self, id: ConnectionId, effects: &mut Vec<Effect>) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        fail_all(connection, effects);
        let Some(queue) = connection.queue.take() else { return };
        self.routes.remove(&(queue.owner, queue.number));
        if let Owner::Nvm(subsystem, controller) = queue.owner {
            effects.push(Effect::Disconnect { subsystem, controller, queue: queue.number });
        }
        if queue.number == SqId::ADMIN {
            self.end_association(queue.owner, effects);
        }
    }
    /// Ends all connections of an association after its controller failed or its admin queue ended.
    pub(super) fn end_association(&mut self, owner: Owner, effects: &mut Vec<Effect>) {
        let Some(association) = self.associations.remove(&owner) else { return };
        if let Owner::Discovery(controller) = owner {
            self.discovery.remove(&controller);
        }
        let of_it = self.routes.iter().filter(|((other, _), _)| *other == owner);
        let mut connections: Vec<ConnectionId> = of_it.map(|(_, &id)| id).collect();
        // I/O queues first: the end of the admin queue resets the controller
        connections.sort_by_key(|&id| id == association.admin);
        for id in connections {
            self.close(id, effects);
        }
    }
}

/// Fails the transfers of all commands that a controller waits for.
fn fail_all(connection: &mut Connection, effects: &mut Vec<Effect>) {
    let Some(queue) = &connection.queue else { return };
    connection.requests.clear();
    let commands = core::mem::take(&mut connection.commands);
    if let Owner::Nvm(subsystem, _) = queue.owner {
        let asks = commands.into_values().flat_map(|pending| pending.asks);
        let tokens = asks.filter_map(|ask| ask.purpose.token());
        effects.extend(tokens.map(|token| Effect::Failed { subsystem, token }));
    }
}

fn refusal(fault: ConnectFault) -> Refusal {
    match fault {
        ConnectFault::UnknownController => invalid_data(CONTROLLER),
        ConnectFault::Busy => (FabricsStatus::CONTROLLER_BUSY.status(), 0),
        ConnectFault::NotReady => (Status::COMMAND_SEQUENCE_ERROR, 0),
        ConnectFault::Queue => invalid_entry(QUEUE),
        ConnectFault::Size => invalid_entry(ENTRIES),
    }
}
