//! A target: connections come in, queues of controllers come out (NVMe-oF 1.1 §3, Fabrics Commands;
//! §5, Discovery Service).
//!
//! ```text
//!   accept, request ──► Connection ── Connect ──► Queue of a controller
//!   receive, capsule ─►     │            │             │ Submit ──► the controller's owner
//!                           │            ▼             ▼
//!                           │      association   perform: Transfer, Store, Fetch, Respond
//!                           ▼                          │
//!     Send, SendCapsule, RdmaRead, RdmaWrite ◄─────────┘
//! ```
//!
//! | module | content |
//! |---|---|
//! | [`config`] | subsystems, ports, referrals |
//! | [`effect`] | effects that a target requests |
//! | `connection` | state of a connection |
//! | `discovery` | discovery controllers |
//! | `reception` | data units of TCP, capsules of RDMA |
//! | `capsules` | commands, Fabrics commands first |
//! | `authentication` | Authentication Send and Receive |
//! | `associations` | Connect, and the end of queues and associations |
//! | `transfers` | data to and from the host |
//! | `responses` | responses, SQHD |
//!
//! The target has no thread: its owner decides the cost of a call and its core.

pub mod config;
mod connection;
mod discovery;
pub mod effect;

mod associations;
mod authentication;
mod capsules;
mod reception;
mod responses;
mod transfers;

use crate::logic::authentication::Ring;
use crate::logic::data::Data;
use crate::logic::tcp::{Reader, Side};
use crate::spec::discovery::{
    ConnectionService, DISCOVERY_NQN, DYNAMIC_CONTROLLER, DiscoveryEntry, DiscoveryHeader, QpType,
    RdmaAddress, RdmaProvider, SubsystemType, TransportRequirements, TransportType,
};
use crate::spec::fabrics::name_field;
use crate::spec::rdma::{
    AcceptPrivateData, PRIVATE_DATA_BYTES, RejectPrivateData, RejectStatus, RequestPrivateData,
};
use connection::{Connection, HostIdentity, Link, Owner, TcpLink};
use discovery::DiscoveryController;
use lanetwin_nvme::logic::HostEffect;
use lanetwin_nvme::logic::subsystem::CommandInfo;
use lanetwin_nvme::spec::{ControllerId, SqId};
use lanetwin_units::Instant;
use std::collections::BTreeMap;

pub use config::{
    ConnectionId, OfferedSubsystem, PortConfig, RdmaConfig, SubsystemId, TargetConfig, TargetFault,
    TcpConfig, Transport,
};
pub use effect::Effect;

/// A request of a controller to its front.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    /// The requested effect.
    pub effect: HostEffect,
    /// The command that it belongs to; `None` for a response.
    pub command: Option<CommandInfo>,
    /// Data to the host, of a transfer or a store.
    pub data: Data,
}

/// An association: its host and its admin queue.
#[derive(Clone, Debug)]
struct Association {
    host: HostIdentity,
    admin: ConnectionId,
}

/// A target.
#[derive(Clone, Debug)]
pub struct Target {
    config: TargetConfig,
    connections: BTreeMap<ConnectionId, Connection>,
    associations: BTreeMap<Owner, Association>,
    /// Connection of each queue.
    routes: BTreeMap<(Owner, SqId), ConnectionId>,
    discovery: BTreeMap<ControllerId, DiscoveryController>,
    /// Queues whose connection ended while they were being requested from a controller.
    abandoned: BTreeMap<ConnectionId, SqId>,
    /// GENCTR.
    generation: u64,
    /// Hosts that each subsystem admits; subsystems without an entry admit any host.
    rings: BTreeMap<SubsystemId, Ring>,
}

impl Target {
    /// A target without connections.
    ///
    /// # Errors
    /// The first field that is out of its range.
    pub fn new(config: TargetConfig) -> Result<Self, TargetFault> {
        config.check()?;
        Ok(Self {
            config,
            connections: BTreeMap::new(),
            associations: BTreeMap::new(),
            routes: BTreeMap::new(),
            discovery: BTreeMap::new(),
            abandoned: BTreeMap::new(),
            generation: 1,
            rings: BTreeMap::new(),
        })
    }

    /// A TCP connection to a port (its index in the list) is open.
    pub fn accept(&mut self, connection: ConnectionId, port: usize) {
        if let Some(Transport::Tcp(_)) = self.config.ports.get(port).map(|port| &port.transport) {
            let link = TcpLink { reader: Reader::new(Side::Controller), framing: None, r2ts: 1 };
            self.connections.insert(connection, Connection::new(port, Link::Tcp(link)));
        }
    }
    /// A host requests an RDMA connection to a port (RDMA Transport 1.0, RDMA_CM Private Data).
    pub fn request(
        &mut self,
        connection: ConnectionId,
        port: usize,
        private: &[u8],
        effects: &mut Vec<Effect>,
    ) {
        let Some(Transport::Rdma(rdma)) = self.config.ports.get(port).map(|port| port.transport) else {
            return;
        };
        match judge(private) {
            Ok(asked) => {
                let link = Link::Rdma { queue: asked.queue() };
                self.connections.insert(connection, Connection::new(port, link));
                let mut private = AcceptPrivateData::ZERO;
                let entries = u32::from(asked.send_entries_less_1()) + 1;
                private.set_receive_entries(entries.min(rdma.receive_entries.into()) as u16);
                effects.push(Effect::Accept { connection, private });
            }
            Err(status) => {
                let mut private = RejectPrivateData::ZERO;
                private.set_status(status);
                effects.push(Effect::Reject { connection, private });
            }
        }
    }
    /// From now on a subsystem admits only these hosts, after authentication. Existing connections remain.
    pub fn admit(&mut self, subsystem: SubsystemId, ring: Ring, effects: &mut Vec<Effect>) {
        let hosts = ring.hosts.iter().map(|(name, _)| name.clone()).collect();
        self.rings.insert(subsystem, ring);
        self.allow(subsystem, Some(hosts), effects);
    }
    /// Whether a connection has a queue, and its host has authenticated if it must.
    #[must_use]
    pub fn is_admitted(&self, connection: ConnectionId) -> bool {
        let known = self.connections.get(&connection);
        known.is_some_and(|known| known.queue.is_some() && !known.is_barred())
    }
    /// A connection is closed by the other side, or lost.
    pub fn lost(&mut self, connection: ConnectionId, effects: &mut Vec<Effect>) {
        self.end_connection(connection, effects);
    }
    /// Handles a request of a controller. Requests that can no longer be carried out fail.
    pub fn perform(&mut self, now: Instant, subsystem: SubsystemId, asked: Asked, effects: &mut Vec<Effect>) {
        match asked.effect {
            HostEffect::Respond { controller, queue, entry } => {
                self.respond((Owner::Nvm(subsystem, controller), queue), entry, effects);
            }
            HostEffect::KeepAliveExpired { controller } => {
                self.end_association(Owner::Nvm(subsystem, controller), effects);
            }
            _ => self.transfer(subsystem, asked, effects),
        }
        self.wake(now, effects);
    }

    /// When [`Target::wake`] must be called next: at the keep alive timeout of a discovery controller.
    #[must_use]
    pub fn next_wake(&self) -> Instant {
        self.discovery.values().map(|controller| controller.deadline).min().unwrap_or(Instant::NEVER)
    }
    /// Ends associations of discovery controllers whose keep alive timeout has passed at `now`.
    pub fn wake(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        let late = self.discovery.iter().filter(|(_, controller)| controller.deadline <= now);
        let late: Vec<ControllerId> = late.map(|(&id, _)| id).collect();
        for id in late {
            self.end_association(Owner::Discovery(id), effects);
        }
    }

    /// From now on offers a subsystem to these hosts only, or to any if `None`; existing connections remain. Hosts that
    /// enabled the event are notified that the discovery log has changed.
    pub fn allow(&mut self, subsystem: SubsystemId, hosts: Option<Vec<String>>, effects: &mut Vec<Effect>) {
        if let Some(offered) = self.config.subsystems.get_mut(usize::from(subsystem.0)) {
            offered.hosts = hosts;
            self.log_changed(effects);
        }
    }
    /// Sets the referrals to other discovery services; hosts that enabled the event are notified.
    pub fn refer(&mut self, referrals: Vec<DiscoveryEntry>, effects: &mut Vec<Effect>) {
        self.config.referrals = referrals;
        self.log_changed(effects);
    }
    fn log_changed(&mut self, effects: &mut Vec<Effect>) {
        self.generation += 1;
        let mut told = Vec::new();
        for (&id, controller) in &mut self.discovery {
            controller.change();
            told.extend(controller.next_event().map(|event| (id, event)));
        }
        for (id, (cid, dw0)) in told {
            self.tell_event(id, cid, dw0, effects);
        }
    }

    /// The discovery log for this host: the subsystems that it may use, for every port, then referrals.
    #[must_use]
    pub fn discovery_log(&self, host: &str) -> Vec<u8> {
        let mut entries = Vec::new();
        for subsystem in self.config.subsystems.iter().filter(|offered| offered.admits(host)) {
            entries.extend(self.config.ports.iter().map(|port| port.entry(&subsystem.nqn)));
        }
        entries.extend(self.config.referrals.iter().copied());
        let mut header = DiscoveryHeader::ZERO;
        header.set_generation(self.generation);
        header.set_records(entries.len() as u64);
        let mut log = header.as_bytes().to_vec();
        entries.iter().for_each(|entry| log.extend_from_slice(entry.as_bytes()));
        log
    }
    /// The subsystem with this NQN; `Ok(None)` for the discovery subsystem.
    fn find(&self, nqn: &str) -> Result<Option<SubsystemId>, ()> {
        if nqn == DISCOVERY_NQN {
            return Ok(None);
        }
        let found = self.config.subsystems.iter().position(|offered| offered.nqn == nqn);
        found.map(|at| Some(SubsystemId(at as u16))).ok_or(())
    }
    /// Maximum in-capsule data of I/O commands on this connection \[B\].
    fn capsule_data(&self, connection: &Connection) -> u32 {
        self.config.ports[connection.port].capsule_data
    }
}

impl OfferedSubsystem {
    fn admits(&self, host: &str) -> bool {
        self.hosts.as_ref().is_none_or(|hosts| hosts.iter().any(|admitted| admitted == host))
    }
}

impl PortConfig {
    /// Entry of the discovery log for a subsystem behind this port.
    fn entry(&self, nqn: &str) -> DiscoveryEntry {
        let mut entry = DiscoveryEntry::ZERO;
        entry.set_family(self.family);
        entry.set_subsystem_type(SubsystemType::NVM);
        entry.set_requirements(TransportRequirements::from_raw(1 << 2)); // flow control can be off
        entry.set_port(self.number);
        entry.set_controller(DYNAMIC_CONTROLLER);
        entry.set_admin_entries(discovery::MOST_ENTRIES as u16);
        let mut service = [b' '; 32];
        service[..self.service.len()].copy_from_slice(self.service.as_bytes());
        entry.set_service(service);
        entry.set_subsystem(name_field(nqn));
        entry.set_address(name_field(&self.address));
        match &self.transport {
            Transport::Tcp(_) => entry.set_transport(TransportType::TCP),
            Transport::Rdma(_) => {
                entry.set_transport(TransportType::RDMA);
                let mut specific = RdmaAddress::ZERO;
                specific.set_qp_type(QpType::RELIABLE_CONNECTED);
                specific.set_provider(RdmaProvider::ROCE_V2);
                specific.set_connections(ConnectionService::RDMA_CM);
                entry.set_specific(*specific.as_bytes());
            }
        }
        entry
    }
}

/// Checks the private data of a connection request.
fn judge(private: &[u8]) -> Result<RequestPrivateData, RejectStatus> {
    // the connection manager pads private data, so more than 32 B are valid too
    let bytes = private.first_chunk::<PRIVATE_DATA_BYTES>().ok_or(RejectStatus::INVALID_LENGTH)?;
    let asked = RequestPrivateData::from_bytes(*bytes);
    if asked.format() != 0 {
        return Err(RejectStatus::INVALID_FORMAT);
    }
    if asked.send_entries_less_1() == 0 {
        return Err(RejectStatus::INVALID_SEND_QUEUE);
    }
    if asked.receive_entries() == 0 {
        return Err(RejectStatus::INVALID_RECEIVE_QUEUE);
    }
    Ok(asked)
}
