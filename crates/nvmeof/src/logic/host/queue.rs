//! One connection to one queue of a controller (NVMe-oF 1.1 §3.3; TCP Transport 1.0; RDMA Transport 1.0).
//!
//! ```text
//!   opened ─► ICReq … ICResp ─┐
//!                             ├─► Connect ─► Live: submit ─► capsule ─► (R2T, H2CData | C2HData) ─► Completed
//!   open ─► Request … accepted┘                              capsule ─► RDMA READ or WRITE by the target ─► response
//! ```
//!
//! R2Ts are answered at once, so none is ever outstanding on this side and MAXR2T cannot be exceeded.

use super::config::{HostTransport, QueueConfig, RdmaHost};
use super::effect::{Failure, Io, QueueEffect, QueueFull, Transfer};
use super::slots::{Slot, Slots};
use crate::logic::authentication::host::Host as Prover;
use crate::logic::data::Data;
use crate::logic::tcp::{Framing, Pdu, Reader, Side, Stream};
use crate::spec::fabrics::{
    ANY_CONTROLLER, CONNECT_DATA_BYTES, Connect, ConnectAttributes, ConnectData, FABRICS_OPCODE, FabricsType,
    name_field,
};
use crate::spec::rdma::RequestPrivateData;
use crate::spec::tcp::ADMIN_CAPSULE_DATA;
use lanetwin_nvme::spec::pointer::{KeyedSglDescriptor, SglDescriptor, SglSubtype, SglType};
use lanetwin_nvme::spec::{Cid, Command, CommandDword0, ControllerId, DataTransfer, SqId};

/// Stage of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    /// Not started.
    Idle,
    /// Waits for ICResp, or for the acceptance of the RDMA connection.
    Opening,
    /// Waits for the response to Connect.
    Connecting,
    /// Authentication is in progress.
    Authenticating,
    /// Commands can be submitted.
    Live,
    /// The connection has ended.
    Dead,
}

/// One connection to one queue.
#[derive(Clone, Debug)]
pub struct Queue {
    pub(super) config: QueueConfig,
    pub(super) stage: Stage,
    pub(super) reader: Reader,
    pub(super) framing: Framing,
    /// MAXH2CDATA \[B\].
    pub(super) most_data: u32,
    pub(super) slots: Slots,
    /// The host's side of authentication, if it has secrets.
    pub(super) prover: Option<Box<Prover>>,
    /// Controller of the connection, and the received part of an authentication message.
    pub(super) to: ControllerId,
    pub(super) message: Vec<u8>,
    /// Number of keys that each slot has had, modulo 256: the low byte of the next key.
    variants: Vec<u8>,
}

/// Name of Connect.
pub(super) const CONNECT_NAME: u64 = u64::MAX;
/// Name of Authentication Send and Authentication Receive.
pub(super) const MESSAGE_NAME: u64 = u64::MAX - 1;

impl Queue {
    /// A queue that is not connected.
    ///
    /// # Panics
    /// If it does not have 2 to 65536 entries.
    #[must_use]
    pub fn new(config: QueueConfig) -> Self {
        assert!((2..=65_536).contains(&config.entries), "a queue has 2 to 65536 entries");
        let entries = config.entries;
        let flow_control = config.flow_control;
        Self {
            config,
            stage: Stage::Idle,
            reader: Reader::new(Side::Host),
            framing: Framing::default(),
            most_data: 0,
            slots: Slots::new(entries, flow_control),
            prover: None,
            to: ControllerId(ANY_CONTROLLER),
            message: Vec::new(),
            variants: vec![0; entries as usize],
        }
    }
    /// Configuration of the queue.
    #[must_use]
    pub const fn config(&self) -> &QueueConfig {
        &self.config
    }
    /// Whether commands can be submitted.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.stage == Stage::Live
    }
    /// Number of commands that can be submitted now.
    #[must_use]
    pub fn room(&self) -> u32 {
        if self.is_live() { self.slots.room() } else { 0 }
    }
    /// Number of commands without a response.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.slots.in_flight()
    }
    /// Sets the maximum in-capsule data \[B\] that the controller reported (IOCCSZ).
    pub fn limit_capsules(&mut self, data: u32) {
        self.config.capsule_data = data;
    }

    /// Starts on an open TCP connection, or requests an RDMA connection.
    pub fn start(&mut self, effects: &mut Vec<QueueEffect>) {
        if self.stage != Stage::Idle {
            return;
        }
        self.stage = Stage::Opening;
        match self.config.transport {
            HostTransport::Tcp(tcp) => {
                self.reader = Reader::new(Side::Host);
                let unit = Pdu::InitializeRequest {
                    version: 0,
                    alignment: tcp.alignment,
                    digests: tcp.digests,
                    r2ts_less_1: tcp.r2ts_less_1,
                };
                self.send(unit, effects);
            }
            HostTransport::Rdma(_) => {
                let mut private = RequestPrivateData::ZERO;
                private.set_queue(self.config.number.0);
                // as Linux: HRQSIZE is the number of entries, HSQSIZE one less
                private.set_receive_entries(self.config.entries.min(0xffff) as u16);
                private.set_send_entries_less_1((self.config.entries - 1) as u16);
                effects.push(QueueEffect::Request { private });
            }
        }
    }
    /// Sends Connect when the transport is ready for capsules.
    pub(super) fn connect(&mut self, effects: &mut Vec<QueueEffect>) {
        let config = &self.config;
        let mut connect = Connect::ZERO;
        connect.set_opcode(FABRICS_OPCODE);
        connect.set_kind(FabricsType::CONNECT);
        connect.set_queue(config.number.0);
        connect.set_entries_less_1((config.entries - 1) as u16);
        connect.set_attributes(ConnectAttributes::from_raw(u8::from(!config.flow_control) << 2));
        if config.number == SqId::ADMIN {
            connect.set_keep_alive_ms(config.keep_alive_ms);
        }
        let mut data = ConnectData::ZERO;
        data.set_host_id(config.host.id);
        data.set_controller(config.controller);
        data.set_subsystem(name_field(&config.subsystem));
        data.set_host(name_field(&config.host.nqn));
        let io = Io {
            command: Command::from_bytes(*connect.as_bytes()),
            name: CONNECT_NAME,
            transfer: Transfer::ToController(Data::Bytes(data.as_bytes().to_vec())),
            address: config.buffer,
        };
        debug_assert_eq!(io.transfer.bytes(), CONNECT_DATA_BYTES);
        self.stage = Stage::Connecting;
        let fits = self.post(io, effects);
        debug_assert!(fits.is_ok(), "nothing else is under way");
    }

    /// Sends a command. Capsules are sent in the order of submission.
    ///
    /// # Errors
    /// If the queue is full or not connected; the command is not sent.
    pub fn submit(&mut self, io: Io, effects: &mut Vec<QueueEffect>) -> Result<Cid, QueueFull> {
        if !self.is_live() {
            return Err(QueueFull);
        }
        self.post(io, effects)
    }
    pub(super) fn post(&mut self, io: Io, effects: &mut Vec<QueueEffect>) -> Result<Cid, QueueFull> {
        let Io { mut command, name, transfer, address } = io;
        let in_capsule = match &transfer {
            Transfer::ToController(data) => data.len() <= self.capsule_data(),
            _ => false,
        };
        let bytes = transfer.bytes();
        let slot = Slot {
            name,
            transfer,
            come: 0,
            damaged: false,
            key: None,
            in_capsule,
            sent: false,
            entry: None,
            invalidating: false,
        };
        let cid = self.slots.take(slot).ok_or(QueueFull)?;
        let dword0 = CommandDword0::from_raw(command.dword0().raw() & 0xff | u32::from(cid.0) << 16);
        let fabrics = command.dword0().opcode() == FABRICS_OPCODE && bytes == 0;
        let descriptor = match self.config.transport {
            _ if in_capsule => SglDescriptor::in_capsule(0, bytes),
            HostTransport::Tcp(_) => SglDescriptor::by_transport(bytes),
            HostTransport::Rdma(rdma) => self.register(cid, (address, bytes), rdma, effects),
        };
        if !fabrics {
            let (low, high) = descriptor.to_halves();
            command.set_prp1(low);
            command.set_prp2(high);
        }
        command.set_dword0(dword0.with_data_transfer(DataTransfer::SGL).expect("two bits"));
        let data = match self.slots.get(cid) {
            Some(Slot { in_capsule: true, transfer: Transfer::ToController(data), .. }) => data.clone(),
            _ => Data::NONE,
        };
        match self.config.transport {
            HostTransport::Tcp(_) => self.send(Pdu::Command { command, data }, effects),
            HostTransport::Rdma(_) => effects.push(QueueEffect::SendCapsule { command, data }),
        }
        Ok(cid)
    }
    /// Registers the memory of a command, if it has data.
    fn register(
        &mut self,
        cid: Cid,
        (address, bytes): (u64, u32),
        rdma: RdmaHost,
        effects: &mut Vec<QueueEffect>,
    ) -> SglDescriptor {
        let subtype = if rdma.remote_invalidate && bytes > 0 {
            SglSubtype::INVALIDATE_KEY
        } else {
            SglSubtype::ADDRESS
        };
        let mut key = 0;
        if bytes > 0 {
            let variant = &mut self.variants[cid.index()];
            key = (u32::from(cid.0) + 1) << 8 | u32::from(*variant);
            *variant = variant.wrapping_add(1);
            let mut data = Data::NONE;
            if let Some(slot) = self.slots.get(cid) {
                slot.key = Some(key);
                if let Transfer::ToController(sent) = &slot.transfer {
                    data = sent.clone();
                }
            }
            effects.push(QueueEffect::Register { key, address, bytes, data });
        }
        let built = || {
            KeyedSglDescriptor::ZERO
                .with_address(address)?
                .with_length(bytes)?
                .with_key(key)?
                .with_subtype(subtype)?
                .with_kind(SglType::KEYED_DATA_BLOCK)
        };
        SglDescriptor::from_raw(built().map_or(0, KeyedSglDescriptor::raw))
    }
    /// Maximum in-capsule data \[B\].
    fn capsule_data(&self) -> u32 {
        let admin = self.config.number == SqId::ADMIN;
        match self.config.transport {
            HostTransport::Tcp(_) if admin => ADMIN_CAPSULE_DATA,
            HostTransport::Rdma(_) if admin => 0,
            _ => self.config.capsule_data,
        }
    }
    /// Sends a data unit.
    pub(super) fn send(&mut self, pdu: Pdu, effects: &mut Vec<QueueEffect>) {
        let mut stream = Stream::new();
        pdu.write(self.framing, &mut stream);
        match effects.last_mut() {
            Some(QueueEffect::Send { stream: before }) => before.append(stream),
            _ => effects.push(QueueEffect::Send { stream }),
        }
    }

    /// The connection is lost, or closed by the controller.
    pub fn lost(&mut self, effects: &mut Vec<QueueEffect>) {
        let is_unproved = self.stage == Stage::Authenticating;
        self.fail(if is_unproved { Failure::LostUnproved } else { Failure::Lost }, effects);
    }
    /// Ends the queue: reports commands without a response, then the reason.
    pub(super) fn fail(&mut self, why: Failure, effects: &mut Vec<QueueEffect>) {
        if self.stage == Stage::Dead {
            return;
        }
        if !matches!(why, Failure::Lost | Failure::LostUnproved | Failure::Rejected(_)) {
            effects.push(QueueEffect::Close);
        }
        self.stage = Stage::Dead;
        let names = self.slots.clear();
        let theirs = names.into_iter().filter(|name| !matches!(*name, CONNECT_NAME | MESSAGE_NAME));
        effects.extend(theirs.map(|name| QueueEffect::Unanswered { name }));
        effects.push(QueueEffect::Failed { why });
    }
}
