//! A host's association: admin queue, properties, I/O queues, Keep Alive, and reconnection after a loss (Base 2.0
//! §3.5.2, Controller Initialization for message-based controllers).
//!
//! ```text
//!   connect ─► admin queue ─► CAP ─► CC.EN ─► CSTS.RDY ─► Identify ─► Number of Queues ─► I/O queues ─► Live
//!                  ▲                                                                                     │ lost
//!                  └───────────────── reconnect_delay ◄── Waiting ◄──────────────────────────────────────┘
//!                                                            └─► Removed, after controller_loss
//! ```

use super::config::{ControllerConfig, QueueConfig};
use super::effect::{ControllerEffect, Ending, Failure, Io, Phase, QueueEffect, QueueFull, Transfer};
use super::queue::Queue;
use crate::logic::authentication::Random;
use crate::logic::data::Data;
use crate::logic::tcp::Stream;
use crate::spec::fabrics::{
    ANY_CONTROLLER, FABRICS_OPCODE, FabricsType, Property, PropertyAttributes, PropertyBytes,
};
use crate::spec::identify::{CAPSULE_UNIT, FABRICS_IDENTITY_OFFSET, FabricsIdentity};
use lanetwin_nvme::logic::host::commands::{command, identify, set_features};
use lanetwin_nvme::spec::admin::IdentifyStructure;
use lanetwin_nvme::spec::command::COMMAND_BYTES;
use lanetwin_nvme::spec::feature::{Feature, NumberOfQueues};
use lanetwin_nvme::spec::identify::IDENTIFY_BYTES;
use lanetwin_nvme::spec::registers::{CAP, CC, CSTS, Capabilities, ControllerStatus};
use lanetwin_nvme::spec::{AdminOpcode, Cid, Command, CompletionEntry, ControllerId, Nsid, SqId};
use lanetwin_units::{Instant, Span};

/// First name of the association's own commands.
const OWN: u64 = 1 << 63;
const READ_CAP: u64 = OWN;
const ENABLE: u64 = OWN + 1;
const READ_CSTS: u64 = OWN + 2;
const IDENTIFY: u64 = OWN + 3;
const ASK_QUEUES: u64 = OWN + 4;
const KEEP_ALIVE: u64 = OWN + 5;
/// CC with EN, and entries of 64 B and 16 B.
const ENABLED: u64 = 1 | 6 << 16 | 4 << 20;

/// An association.
#[derive(Clone, Debug)]
pub struct Controller {
    config: ControllerConfig,
    phase: Phase,
    queues: Vec<Queue>,
    id: ControllerId,
    /// Whether it has been live before, so that failures lead to reconnection.
    was_live: bool,
    attempts: u64,
    keep_alive_at: Instant,
    keep_alive_unanswered: bool,
    /// When CSTS is read next, and the time by which RDY must be 1.
    poll_at: Instant,
    ready_by: Instant,
    most_entries: u32,
    identity: Vec<u8>,
    capsule_data: u32,
}

impl Controller {
    /// An association that is not connected.
    #[must_use]
    pub fn new(config: ControllerConfig) -> Self {
        Self {
            config,
            phase: Phase::Idle,
            queues: Vec::new(),
            id: ControllerId(ANY_CONTROLLER),
            was_live: false,
            attempts: 0,
            keep_alive_at: Instant::NEVER,
            keep_alive_unanswered: false,
            poll_at: Instant::NEVER,
            ready_by: Instant::NEVER,
            most_entries: 0,
            identity: Vec::new(),
            capsule_data: 0,
        }
    }
    /// Phase of the association.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        self.phase
    }
    /// Number of the controller in the subsystem (CNTLID).
    #[must_use]
    pub const fn id(&self) -> ControllerId {
        self.id
    }
    /// Identify Controller data; empty if not read.
    #[must_use]
    pub fn identity(&self) -> &[u8] {
        &self.identity
    }
    /// A queue.
    #[must_use]
    pub fn queue(&self, queue: SqId) -> Option<&Queue> {
        self.queues.get(queue.index())
    }

    /// Starts connecting.
    pub fn connect(&mut self, effects: &mut Vec<ControllerEffect>) {
        self.phase = Phase::Connecting;
        self.identity.clear();
        self.id = ControllerId(ANY_CONTROLLER);
        let admin = self.queue_config(SqId::ADMIN, self.config.admin_entries);
        self.queues = vec![self.queue_of(admin)];
        effects.push(ControllerEffect::Open { queue: SqId::ADMIN });
    }
    fn queue_of(&self, config: QueueConfig) -> Queue {
        let mut queue = Queue::new(config);
        self.config.keys.iter().for_each(|keys| queue.prove_with(keys.clone()));
        queue
    }
    fn queue_config(&self, number: SqId, entries: u32) -> QueueConfig {
        QueueConfig {
            number,
            entries,
            flow_control: self.config.flow_control,
            host: self.config.host.clone(),
            subsystem: self.config.subsystem.clone(),
            controller: self.id.0,
            keep_alive_ms: self.config.keep_alive_ms,
            transport: self.config.transport,
            buffer: self.config.buffer,
            capsule_data: self.capsule_data,
        }
    }

    /// The TCP connection of a queue is open, or an RDMA connection can be requested for it.
    pub fn opened(&mut self, now: Instant, queue: SqId, effects: &mut Vec<ControllerEffect>) {
        self.with(now, queue, effects, |queue, out| queue.start(out));
    }
    /// Bytes have arrived for a queue over TCP.
    pub fn receive(
        &mut self,
        now: Instant,
        queue: SqId,
        stream: Stream,
        effects: &mut Vec<ControllerEffect>,
    ) {
        self.with(now, queue, effects, |queue, out| queue.receive(stream, out));
    }
    /// The RDMA connection of a queue is accepted.
    pub fn accepted(
        &mut self,
        now: Instant,
        queue: SqId,
        private: &[u8],
        effects: &mut Vec<ControllerEffect>,
    ) {
        self.with(now, queue, effects, |queue, out| queue.accepted(private, out));
    }
    /// The RDMA connection of a queue is rejected.
    pub fn rejected(
        &mut self,
        now: Instant,
        queue: SqId,
        private: &[u8],
        effects: &mut Vec<ControllerEffect>,
    ) {
        self.with(now, queue, effects, |queue, out| queue.rejected(private, out));
    }
    /// A response capsule has arrived for a queue over RDMA, and has invalidated this key.
    pub fn capsule(
        &mut self,
        now: Instant,
        queue: SqId,
        (entry, invalidated): (CompletionEntry, Option<u32>),
        effects: &mut Vec<ControllerEffect>,
    ) {
        self.with(now, queue, effects, |queue, out| queue.capsule(entry, invalidated, out));
    }
    /// The SEND of a capsule is complete.
    pub fn sent(&mut self, now: Instant, queue: SqId, cid: Cid, effects: &mut Vec<ControllerEffect>) {
        self.with(now, queue, effects, |queue, out| queue.sent(cid, out));
    }
    /// The local invalidation of a key is complete.
    pub fn invalidated(&mut self, now: Instant, queue: SqId, key: u32, effects: &mut Vec<ControllerEffect>) {
        self.with(now, queue, effects, |queue, out| queue.invalidated(key, out));
    }
    /// An RDMA WRITE to memory of the host has arrived; it may hold Identify data.
    pub fn written(&mut self, address: u64, data: &Data) {
        if address == self.config.buffer && data.len() as usize == IDENTIFY_BYTES {
            self.identity = data.bytes().unwrap_or(&[]).to_vec();
        }
    }
    /// Takes the random numbers that a queue requested.
    pub fn drawn(&mut self, now: Instant, queue: SqId, random: &Random, effects: &mut Vec<ControllerEffect>) {
        self.with(now, queue, effects, |queue, out| queue.drawn(random, out));
    }
    /// The connection of a queue is lost, or could not be opened.
    pub fn lost(&mut self, now: Instant, queue: SqId, effects: &mut Vec<ControllerEffect>) {
        self.with(now, queue, effects, |queue, out| queue.lost(out));
    }
    /// Sends a command.
    ///
    /// # Errors
    /// If the queue is full or not connected; the command is not sent.
    pub fn submit(
        &mut self,
        queue: SqId,
        io: Io,
        effects: &mut Vec<ControllerEffect>,
    ) -> Result<Cid, QueueFull> {
        let known = self.queues.get_mut(queue.index()).ok_or(QueueFull)?;
        let mut out = Vec::new();
        let taken = known.submit(io, &mut out);
        effects.extend(out.into_iter().map(|effect| ControllerEffect::Queue { queue, effect }));
        taken
    }

    /// When [`Controller::wake`] must be called next.
    #[must_use]
    pub fn next_wake(&self) -> Instant {
        match self.phase {
            Phase::Waiting(until) => until,
            _ => self.keep_alive_at.min(self.poll_at),
        }
    }
    /// Reconnects, reads CSTS or sends Keep Alive, if due at `now`.
    pub fn wake(&mut self, now: Instant, effects: &mut Vec<ControllerEffect>) {
        if let Phase::Waiting(until) = self.phase {
            if until <= now {
                self.connect(effects);
            }
            return;
        }
        if self.poll_at <= now {
            self.poll_at = Instant::NEVER;
            if self.ready_by < now {
                return self.fail(now, Failure::Lost, effects);
            }
            self.get_property(CSTS, PropertyBytes::FOUR, READ_CSTS, effects);
        }
        if self.keep_alive_at <= now {
            if self.keep_alive_unanswered {
                return self.fail(now, Failure::Lost, effects);
            }
            self.keep_alive_unanswered = true;
            self.plan_keep_alive(now);
            self.own(command(AdminOpcode::KEEP_ALIVE.0, Nsid::NONE), KEEP_ALIVE, Transfer::None, effects);
        }
    }
    fn plan_keep_alive(&mut self, now: Instant) {
        let ms = u64::from(self.config.keep_alive_ms);
        self.keep_alive_at = if ms == 0 { Instant::NEVER } else { now + Span::from_us(ms * 500) };
    }

    /// Calls a method of a queue, and handles its effects.
    fn with(
        &mut self,
        now: Instant,
        queue: SqId,
        effects: &mut Vec<ControllerEffect>,
        act: impl FnOnce(&mut Queue, &mut Vec<QueueEffect>),
    ) {
        let Some(known) = self.queues.get_mut(queue.index()) else { return };
        let mut out = Vec::new();
        act(known, &mut out);
        for effect in out {
            match effect {
                QueueEffect::Connected { controller } => self.connected(now, queue, controller, effects),
                QueueEffect::Completed { name, ending } if name >= OWN => {
                    self.ended(now, name, ending, effects);
                }
                QueueEffect::Unanswered { name } if name >= OWN => {}
                QueueEffect::Deliver { name: IDENTIFY, data, .. } => {
                    self.identity.extend_from_slice(data.bytes().unwrap_or(&[]));
                }
                QueueEffect::Failed { why } => self.fail(now, why, effects),
                other => effects.push(ControllerEffect::Queue { queue, effect: other }),
            }
        }
    }
    fn connected(
        &mut self,
        now: Instant,
        queue: SqId,
        controller: ControllerId,
        effects: &mut Vec<ControllerEffect>,
    ) {
        if queue == SqId::ADMIN {
            self.id = controller;
            self.plan_keep_alive(now);
            return self.get_property(CAP, PropertyBytes::EIGHT, READ_CAP, effects);
        }
        if self.queues.iter().all(Queue::is_live) {
            self.go_live(effects);
        }
    }
    fn go_live(&mut self, effects: &mut Vec<ControllerEffect>) {
        self.phase = Phase::Live;
        self.was_live = true;
        self.attempts = 0;
        effects.push(ControllerEffect::Live { io_queues: self.queues.len() as u16 - 1 });
    }
    /// A command of the association's own has ended.
    fn ended(&mut self, now: Instant, name: u64, ending: Ending, effects: &mut Vec<ControllerEffect>) {
        let Ending { status, dw0, dw1 } = ending;
        if !status.is_success() {
            return self.fail(now, Failure::Refused(status, dw0), effects);
        }
        match name {
            READ_CAP => {
                let capabilities = Capabilities::from_raw(u64::from(dw0) | u64::from(dw1) << 32);
                self.most_entries = u32::from(capabilities.queue_entries_less_1()) + 1;
                let timeout = Span::from_us(500_000) * u64::from(capabilities.timeout().max(1));
                self.ready_by = now + timeout;
                self.set_property(CC, ENABLED, effects);
            }
            ENABLE => self.get_property(CSTS, PropertyBytes::FOUR, READ_CSTS, effects),
            READ_CSTS => {
                let status = ControllerStatus::from_raw(dw0);
                if status.fatal() {
                    self.fail(now, Failure::Lost, effects);
                } else if status.ready() {
                    self.identity.clear();
                    let transfer = Transfer::FromController(IDENTIFY_BYTES as u32);
                    self.own(
                        identify(IdentifyStructure::CONTROLLER, Nsid::NONE),
                        IDENTIFY,
                        transfer,
                        effects,
                    );
                } else {
                    self.poll_at = now + self.config.poll;
                }
            }
            IDENTIFY => self.identified(effects),
            ASK_QUEUES => self.open_queues(NumberOfQueues::from_raw(dw0), effects),
            KEEP_ALIVE => self.keep_alive_unanswered = false,
            _ => {}
        }
    }
    fn identified(&mut self, effects: &mut Vec<ControllerEffect>) {
        let place = FABRICS_IDENTITY_OFFSET..FABRICS_IDENTITY_OFFSET + 256;
        if let Some(bytes) = self.identity.get(place).and_then(|bytes| bytes.try_into().ok()) {
            let told = FabricsIdentity::from_bytes(bytes);
            let capsule = told.command_capsule().saturating_mul(CAPSULE_UNIT);
            // an offset would need padding, which hosts do not send, so there are no in-capsule data then
            let offset = told.data_offset() > 0;
            self.capsule_data = if offset { 0 } else { capsule.saturating_sub(COMMAND_BYTES) };
        }
        if self.config.io_queues == 0 {
            return self.go_live(effects);
        }
        let less_1 = u32::from(self.config.io_queues - 1);
        let command = set_features(Feature::NUMBER_OF_QUEUES, less_1 | less_1 << 16);
        self.own(command, ASK_QUEUES, Transfer::None, effects);
    }
    fn open_queues(&mut self, granted: NumberOfQueues, effects: &mut Vec<ControllerEffect>) {
        let most = granted.submission_less_1().min(granted.completion_less_1()).saturating_add(1);
        let entries = self.config.io_entries.min(self.most_entries).max(2);
        for number in 1..=self.config.io_queues.min(most) {
            let queue = SqId(number);
            self.queues.push(self.queue_of(self.queue_config(queue, entries)));
            effects.push(ControllerEffect::Open { queue });
        }
    }

    /// Ends all queues, and schedules a reconnection if the association was live before and attempts are left.
    fn fail(&mut self, now: Instant, why: Failure, effects: &mut Vec<ControllerEffect>) {
        if !matches!(self.phase, Phase::Connecting | Phase::Live) {
            return;
        }
        self.poll_at = Instant::NEVER;
        self.keep_alive_at = Instant::NEVER;
        self.keep_alive_unanswered = false;
        self.phase = Phase::Idle;
        for mut queue in core::mem::take(&mut self.queues) {
            let number = queue.config().number;
            let mut out = Vec::new();
            queue.lost(&mut out);
            let theirs = out
                .into_iter()
                .filter(|effect| matches!(effect, QueueEffect::Unanswered { name } if *name < OWN));
            effects.extend(theirs.map(|effect| ControllerEffect::Queue { queue: number, effect }));
            effects.push(ControllerEffect::Abandon { queue: number });
        }
        let delay = self.config.reconnect_delay;
        let most = self.config.controller_loss.map(|loss| loss.as_ps().div_ceil(delay.as_ps().max(1)));
        if !self.was_live || most.is_some_and(|most| self.attempts >= most) {
            self.phase = Phase::Removed;
            return effects.push(ControllerEffect::Removed { why });
        }
        self.attempts += 1;
        self.phase = Phase::Waiting(now + delay);
        effects.push(ControllerEffect::Lost { why });
    }

    fn get_property(
        &mut self,
        offset: u32,
        size: PropertyBytes,
        name: u64,
        effects: &mut Vec<ControllerEffect>,
    ) {
        let mut property = Property::ZERO;
        property.set_opcode(FABRICS_OPCODE);
        property.set_kind(FabricsType::PROPERTY_GET);
        property.set_attributes(PropertyAttributes::from_raw(size.0));
        property.set_offset(offset);
        self.own(Command::from_bytes(*property.as_bytes()), name, Transfer::None, effects);
    }
    fn set_property(&mut self, offset: u32, value: u64, effects: &mut Vec<ControllerEffect>) {
        let mut property = Property::ZERO;
        property.set_opcode(FABRICS_OPCODE);
        property.set_kind(FabricsType::PROPERTY_SET);
        property.set_offset(offset);
        property.set_value(value);
        self.own(Command::from_bytes(*property.as_bytes()), ENABLE, Transfer::None, effects);
    }
    /// Sends a command of the association's own. It is not sent if other commands fill the admin queue.
    fn own(&mut self, command: Command, name: u64, transfer: Transfer, effects: &mut Vec<ControllerEffect>) {
        let io = Io { command, name, transfer, address: self.config.buffer };
        if self.submit(SqId::ADMIN, io, effects).is_err() && name == KEEP_ALIVE {
            self.keep_alive_unanswered = false; // whatever fills the queue is alive
        }
    }
}
