//! A host, a target and a drive, with a network between them that keeps the order of each connection and nothing else.
//! By TCP it cuts streams anywhere; by RDMA it has two adapters, with memory that only a valid key reaches.

use crate::drive::drive;
use crate::network::{Carried, Packet, Rng, Wire};
use lanetwin_nvme::spec::SqId;
use lanetwin_nvmeof::logic::Data;
use lanetwin_nvmeof::logic::authentication::Random;
use lanetwin_nvmeof::logic::host::{Controller, ControllerConfig, ControllerEffect, Ending, Io, QueueEffect};
use lanetwin_nvmeof::logic::target::{
    Asked, ConnectionId, Effect, SubsystemId, Target, TargetConfig, Transport,
};
use lanetwin_ssd::{ByteStore, Output, SparseMemory, Ssd};
use lanetwin_units::Instant;
use std::collections::{BTreeMap, VecDeque};

/// Where buffers of a load begin in memory of the host; below are those of the host's own commands.
pub const HOST_BUFFER: u64 = 1 << 30;

pub struct Rig {
    pub now: Instant,
    pub host: Controller,
    pub target: Target,
    pub ssd: Ssd,
    pub rng: Rng,
    /// The connections of the host's queues, and which is the wire of one.
    wires: BTreeMap<ConnectionId, (SqId, Wire)>,
    by_queue: BTreeMap<SqId, ConnectionId>,
    next_connection: u32,
    pub memory: SparseMemory,
    keys: BTreeMap<(ConnectionId, u32), (u64, u32)>,
    pub ended: Vec<(u64, Ending)>,
    pub unanswered: Vec<u64>,
    pub delivered: BTreeMap<u64, Vec<u8>>,
    pub told: Vec<ControllerEffect>,
    pub carried: Carried,
    /// Nothing is carried any more, and connections cannot be opened.
    pub cut: bool,
    rdma: bool,
    /// Data are bytes, else lengths.
    kept: bool,
}

impl Rig {
    pub fn new(host: ControllerConfig, target: TargetConfig, chunk_bytes: Option<u32>, seed: u64) -> Self {
        let rdma = matches!(target.ports[0].transport, Transport::Rdma(_));
        let ssd = Ssd::new(&drive(chunk_bytes), 1).expect("a drive");
        Self {
            now: Instant::ZERO,
            host: Controller::new(host),
            target: Target::new(target).expect("a target"),
            ssd: ssd.with_bytes(Box::new(SparseMemory::new())),
            rng: Rng::new(seed),
            wires: BTreeMap::new(),
            by_queue: BTreeMap::new(),
            next_connection: 0,
            memory: SparseMemory::new(),
            keys: BTreeMap::new(),
            ended: Vec::new(),
            unanswered: Vec::new(),
            delivered: BTreeMap::new(),
            told: Vec::new(),
            carried: Carried::default(),
            cut: false,
            rdma,
            kept: true,
        }
    }
    /// The same with data that nobody keeps.
    pub fn without_bytes(mut self) -> Self {
        self.ssd = Ssd::new(&drive(None), 1).expect("a drive");
        self.kept = false;
        self
    }
    /// Connects, and waits until the host is live or has given up.
    pub fn connect(&mut self) {
        let mut effects = Vec::new();
        self.host.connect(&mut effects);
        self.carry_out_host(effects);
        while !self.host_has_settled() {
            assert!(self.step(), "nothing happens any more");
        }
        while self.deliver_one() {}
    }
    fn host_has_settled(&self) -> bool {
        let last = self.told.last();
        matches!(last, Some(ControllerEffect::Live { .. } | ControllerEffect::Removed { .. }))
    }
    pub fn submit(&mut self, queue: SqId, io: Io) -> bool {
        let mut effects = Vec::new();
        let taken = self.host.submit(queue, io, &mut effects).is_ok();
        self.carry_out_host(effects);
        taken
    }
    /// Until so many commands have ended.
    pub fn run_until_ended(&mut self, count: usize) {
        while self.ended.len() < count {
            assert!(self.step(), "{} of {count} commands have ended", self.ended.len());
        }
        while self.deliver_one() {}
    }
    /// Does what can be done now, else lets time go on to the next event. False if there is none.
    pub fn step(&mut self) -> bool {
        if self.deliver_one() {
            return true;
        }
        let next = self.ssd.next_wake().min(self.host.next_wake()).min(self.target.next_wake());
        if next == Instant::NEVER {
            return false;
        }
        self.now = self.now.max(next);
        self.ssd.wake(self.now);
        self.poll_drive();
        let mut effects = Vec::new();
        self.target.wake(self.now, &mut effects);
        self.carry_out_target(effects);
        let mut effects = Vec::new();
        self.host.wake(self.now, &mut effects);
        self.carry_out_host(effects);
        true
    }

    /// Delivers something of a connection that has something.
    fn deliver_one(&mut self) -> bool {
        if self.cut {
            return false;
        }
        let busy: Vec<ConnectionId> =
            self.wires.iter().filter(|(_, (_, wire))| wire.is_busy()).map(|(&id, _)| id).collect();
        if busy.is_empty() {
            return false;
        }
        let id = busy[self.rng.below(busy.len() as u64) as usize];
        let (queue, wire) = self.wires.get_mut(&id).expect("it was found");
        let queue = *queue;
        let start = self.rng.below(4);
        let kind = (start..start + 4).map(|kind| kind % 4).find(|&kind| wire.has(kind)).expect("it is busy");
        let cut = 1 + self.rng.below(3000);
        match kind {
            0 if self.rdma => {
                let packet = wire.to_target.pop_front().expect("a packet");
                self.take_at_target(id, packet);
            }
            0 => {
                let stream = wire.stream_to_target.split_front(cut);
                self.carried.tcp_to_target += stream.len();
                let mut effects = Vec::new();
                self.target.receive(self.now, id, stream, &mut effects);
                self.carry_out_target(effects);
            }
            1 if self.rdma => {
                let packet = wire.to_host.pop_front().expect("a packet");
                self.take_at_host(id, queue, packet);
            }
            1 => {
                let stream = wire.stream_to_host.split_front(cut);
                self.carried.tcp_to_host += stream.len();
                let mut effects = Vec::new();
                self.host.receive(self.now, queue, stream, &mut effects);
                self.carry_out_host(effects);
            }
            2 => {
                let cid = wire.sent.pop_front().expect("a completion");
                let mut effects = Vec::new();
                self.host.sent(self.now, queue, cid, &mut effects);
                self.carry_out_host(effects);
            }
            _ => {
                let key = wire.invalidated.pop_front().expect("a completion");
                let mut effects = Vec::new();
                self.host.invalidated(self.now, queue, key, &mut effects);
                self.carry_out_host(effects);
            }
        }
        self.drop_closed();
        true
    }
    /// What the target has closed is lost for the host when everything that was sent is there.
    fn drop_closed(&mut self) {
        let over = |wire: &Wire| wire.closed && wire.stream_to_host.is_empty() && wire.to_host.is_empty();
        let closed: Vec<ConnectionId> =
            self.wires.iter().filter(|(_, (_, wire))| over(wire)).map(|(&id, _)| id).collect();
        for id in closed {
            self.lose(id);
        }
    }
    fn lose(&mut self, id: ConnectionId) {
        let Some((queue, _)) = self.wires.remove(&id) else { return };
        if self.by_queue.get(&queue) == Some(&id) {
            self.by_queue.remove(&queue);
            let mut effects = Vec::new();
            self.host.lost(self.now, queue, &mut effects);
            self.carry_out_host(effects);
        }
    }
    /// The connection of a queue breaks: both ends are told.
    pub fn break_connection(&mut self, queue: SqId) {
        let Some(&id) = self.by_queue.get(&queue) else { return };
        self.lose(id);
        let mut effects = Vec::new();
        self.target.lost(id, &mut effects);
        self.carry_out_target(effects);
    }
    fn take_at_target(&mut self, id: ConnectionId, packet: Packet) {
        let mut effects = Vec::new();
        match packet {
            Packet::Request(private) => self.target.request(id, 0, &private, &mut effects),
            Packet::Capsule(command, data) => {
                self.target.capsule(self.now, id, (command, data), &mut effects);
            }
            Packet::ReadResponse { operation, data } => {
                self.target.read_done(self.now, id, operation, data, &mut effects);
            }
            _ => panic!("a target does not get that"),
        }
        self.carry_out_target(effects);
    }
    fn take_at_host(&mut self, id: ConnectionId, queue: SqId, packet: Packet) {
        let mut effects = Vec::new();
        match packet {
            Packet::Accept(private) => self.host.accepted(self.now, queue, &private, &mut effects),
            Packet::Reject(private) => self.host.rejected(self.now, queue, &private, &mut effects),
            Packet::Response(entry, key) => {
                if let Some(key) = key {
                    self.keys.remove(&(id, key)).expect("only a valid key is invalidated");
                }
                self.host.capsule(self.now, queue, (entry, key), &mut effects);
            }
            Packet::Write { address, key, data } => {
                self.check(id, key, address, data.len());
                if let Some(bytes) = self.bytes_of(&data) {
                    self.memory.write(address, bytes).expect("memory");
                }
                self.host.written(address, &data);
            }
            Packet::Read { operation, address, key, bytes } => {
                self.check(id, key, address, bytes);
                let mut data = Data::Length(bytes);
                // what a host makes itself is always there: it is below its buffers
                if self.kept || address < HOST_BUFFER {
                    let mut read = vec![0; bytes as usize];
                    self.memory.read(address, &mut read).expect("memory");
                    data = read.into();
                }
                self.wires
                    .get_mut(&id)
                    .expect("a connection")
                    .1
                    .to_target
                    .push_back(Packet::ReadResponse { operation, data });
            }
            _ => panic!("a host does not get that"),
        }
        self.carry_out_host(effects);
    }
    /// A key reaches what it was registered for, while it is valid.
    fn check(&self, id: ConnectionId, key: u32, address: u64, bytes: u32) {
        let &(start, length) = self.keys.get(&(id, key)).expect("a valid key");
        assert!(
            address >= start && address + u64::from(bytes) <= start + u64::from(length),
            "inside its memory"
        );
    }

    /// The bytes of data, which must be there where they are kept.
    fn bytes_of<'a>(&self, data: &'a Data) -> Option<&'a [u8]> {
        assert!(!self.kept || data.bytes().is_some(), "bytes are kept");
        data.bytes()
    }

    fn carry_out_host(&mut self, effects: Vec<ControllerEffect>) {
        for effect in effects {
            match effect {
                ControllerEffect::Open { queue } => self.open(queue),
                ControllerEffect::Abandon { queue } => {
                    let Some(id) = self.by_queue.remove(&queue) else { continue };
                    // what was sent still goes, then the target hears of the end
                    let (_, wire) = self.wires.remove(&id).expect("a connection");
                    let mut effects = Vec::new();
                    if !self.cut {
                        self.target.receive(self.now, id, wire.stream_to_target, &mut effects);
                    }
                    self.target.lost(id, &mut effects);
                    self.carry_out_target(effects);
                }
                ControllerEffect::Queue { queue, effect } => self.carry_out_queue(queue, effect),
                told => self.told.push(told),
            }
        }
    }
    fn open(&mut self, queue: SqId) {
        let mut effects = Vec::new();
        if self.cut {
            self.host.lost(self.now, queue, &mut effects);
            return self.carry_out_host(effects);
        }
        let id = ConnectionId(self.next_connection);
        self.next_connection += 1;
        self.wires.insert(id, (queue, Wire::default()));
        self.by_queue.insert(queue, id);
        self.target.accept(id, 0);
        self.host.opened(self.now, queue, &mut effects);
        self.carry_out_host(effects);
    }
    fn carry_out_queue(&mut self, queue: SqId, effect: QueueEffect) {
        let id = self.by_queue.get(&queue).copied();
        let mut lost = (queue, Wire::default());
        let (_, wire) = id.and_then(|id| self.wires.get_mut(&id)).unwrap_or(&mut lost);
        match effect {
            QueueEffect::Send { stream } => wire.stream_to_target.append(stream),
            QueueEffect::Request { private } => {
                wire.to_target.push_back(Packet::Request(private.as_bytes().to_vec()));
            }
            QueueEffect::Register { key, address, bytes, data } => {
                if let Some(bytes) = self.bytes_of(&data) {
                    self.memory.write(address, bytes).expect("memory");
                }
                self.carried.registrations += 1;
                let before = self.keys.insert((id.expect("a connection"), key), (address, bytes));
                assert!(before.is_none(), "a key is registered once");
            }
            QueueEffect::SendCapsule { command, data } => {
                self.carried.sends += 1;
                wire.sent.push_back(command.cid());
                wire.to_target.push_back(Packet::Capsule(command, data));
            }
            QueueEffect::Invalidate { key } => {
                self.carried.invalidations += 1;
                wire.invalidated.push_back(key);
                self.keys.remove(&(id.expect("a connection"), key)).expect("a valid key");
            }
            QueueEffect::Close => {}
            QueueEffect::Draw => {
                let (random, mut effects) = (self.random(), Vec::new());
                self.host.drawn(self.now, queue, &random, &mut effects);
                self.carry_out_host(effects);
            }
            QueueEffect::Deliver { name, offset, data } => {
                let all = self.delivered.entry(name).or_default();
                assert_eq!(all.len(), offset as usize, "data come in order");
                let length = all.len() + data.len() as usize;
                all.extend_from_slice(data.bytes().unwrap_or(&[]));
                all.resize(length, 0);
            }
            QueueEffect::Completed { name, ending } => self.ended.push((name, ending)),
            QueueEffect::Unanswered { name } => self.unanswered.push(name),
            QueueEffect::Connected { .. } | QueueEffect::Failed { .. } => panic!("the controller's own"),
        }
    }

    /// Carries out what the target wants, and whatever follows from it at the drive.
    fn carry_out_target(&mut self, effects: Vec<Effect>) {
        let mut waiting = VecDeque::from(effects);
        while let Some(effect) = waiting.pop_front() {
            let mut more = Vec::new();
            self.carry_out_one(effect, &mut more);
            waiting.extend(more);
            waiting.extend(self.drive_effects());
        }
    }
    fn poll_drive(&mut self) {
        let effects = self.drive_effects();
        self.carry_out_target(effects);
    }
    /// What the target makes of what the drive asks for.
    fn drive_effects(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        while let Some(output) = self.ssd.poll(self.now) {
            let Output::Host(effect) = output else { continue };
            let (command, data) = match effect {
                lanetwin_nvme::logic::HostEffect::Transfer { token, .. } => {
                    (self.ssd.command(token), self.ssd.data(token).to_vec())
                }
                lanetwin_nvme::logic::HostEffect::Store { token, .. } => {
                    (self.ssd.command(token), self.ssd.content(token).to_vec())
                }
                lanetwin_nvme::logic::HostEffect::Fetch { token, .. } => (self.ssd.command(token), vec![]),
                _ => (None, vec![]),
            };
            let asked = Asked { effect, command, data: data.into() };
            let mut out = Vec::new();
            self.target.perform(self.now, SubsystemId(0), asked, &mut out);
            // reports go back before the drive is asked again
            for effect in out {
                match effect {
                    Effect::Done { token, .. } => self.ssd.transferred(self.now, token),
                    other => effects.push(other),
                }
            }
        }
        effects
    }
    fn carry_out_one(&mut self, effect: Effect, more: &mut Vec<Effect>) {
        let now = self.now;
        match effect {
            Effect::Send { connection, stream } => {
                if let Some((_, wire)) = self.wires.get_mut(&connection) {
                    wire.stream_to_host.append(stream);
                }
            }
            Effect::Accept { connection, private } => {
                self.send_to_host(connection, Packet::Accept(private.as_bytes().to_vec()));
            }
            Effect::Reject { connection, private } => {
                self.send_to_host(connection, Packet::Reject(private.as_bytes().to_vec()));
            }
            Effect::SendCapsule { connection, entry, invalidate } => {
                self.carried.responses += 1;
                self.carried.responses_with_invalidate += u64::from(invalidate.is_some());
                self.send_to_host(connection, Packet::Response(entry, invalidate));
            }
            Effect::RdmaRead { connection, operation, address, key, bytes } => {
                self.carried.reads += 1;
                self.send_to_host(connection, Packet::Read { operation, address, key, bytes });
            }
            Effect::RdmaWrite { connection, address, key, data } => {
                self.carried.writes += 1;
                self.send_to_host(connection, Packet::Write { address, key, data });
            }
            Effect::Close { connection } => {
                if let Some((_, wire)) = self.wires.get_mut(&connection) {
                    wire.closed = true;
                }
            }
            Effect::Draw { connection } => {
                let random = self.random();
                self.target.drawn(connection, &random, more);
            }
            Effect::Raise { connection, power } => self.target.raised(connection, power.compute(), more),
            Effect::Connect { connection, subsystem, choice, queue, keep_alive_ms } => {
                let made = self.ssd.connect(choice, &queue);
                if let (Ok(controller), SqId::ADMIN) = (made, queue.queue) {
                    self.ssd.set_keep_alive(now, controller, keep_alive_ms);
                }
                self.target.connected(connection, subsystem, made, more);
            }
            Effect::Disconnect { controller, queue, .. } => self.ssd.disconnect(now, controller, queue),
            Effect::GetProperty { connection, controller, cid, offset, size, .. } => {
                let value = self.ssd.property(controller, offset, size);
                self.target.property(connection, cid, value, more);
            }
            Effect::SetProperty { connection, controller, cid, offset, value, .. } => {
                let set = self.ssd.set_property(now, controller, offset, value).map(|()| 0);
                self.target.property(connection, cid, set, more);
            }
            Effect::Submit { connection, controller, queue, capsule, .. } => {
                let cid = capsule.command.cid();
                if let Err(why) = self.ssd.submit(now, controller, queue, capsule) {
                    self.target.refused(connection, cid, why, more);
                }
            }
            Effect::Bring { token, for_controller, data, .. } => match data.bytes() {
                Some(bytes) if for_controller => self.ssd.fetched(now, token, bytes),
                Some(bytes) => self.ssd.received(now, token, bytes),
                None => self.ssd.transferred(now, token),
            },
            Effect::Done { token, .. } => self.ssd.transferred(now, token),
            Effect::Failed { token, .. } => self.ssd.failed(now, token),
        }
    }
    fn random(&mut self) -> Random {
        Random(std::array::from_fn(|_| self.rng.below(256) as u8))
    }
    fn send_to_host(&mut self, connection: ConnectionId, packet: Packet) {
        if let Some((_, wire)) = self.wires.get_mut(&connection) {
            wire.to_host.push_back(packet);
        }
    }
}
