//! A connection at a target: its commands, its work requests, and its core.

use crate::fabric_control::Control;
use crate::fabric_software::TargetCosts;
use crate::roles::nvmeof::{Access, AccessChange, Meeting, TargetQueue, Way};
use crate::slab::Slab;
use crate::tcp_socket::{self, Place as SocketPlace, TcpSocket};
use lanetwin_fabric::roce::logic::packet::Operation as Verb;
use lanetwin_kernel::Trail;
use lanetwin_nvme::logic::subsystem::CommandInfo;
use lanetwin_nvme::logic::{Capsule, Direction, HostEffect, Place, Token};
use lanetwin_nvme::spec::completion::COMPLETION_ENTRY_BYTES;
use lanetwin_nvme::spec::io::{BlocksDword12, DatasetRange, RANGE_BYTES};
use lanetwin_nvme::spec::pointer::{KeyedSglDescriptor, SglDescriptor};
use lanetwin_nvme::spec::{Command, CompletionEntry, ControllerId, IoOpcode, Status as NvmeStatus};
use lanetwin_nvmeof::logic::Data;
use lanetwin_nvmeof::logic::target::{Asked, ConnectionId, SubsystemId};
use lanetwin_nvmeof::logic::tcp::Stream;
use lanetwin_nvmeof::spec::status::FabricsStatus;
use lanetwin_pcie::link::EndpointId;
use lanetwin_ports::{
    BlockCommand, BlockCommandKind, Context, Done, Message, Operation, QueuePairId, Rdma, Receive, RunQueue,
    Status, Transfer, WorkRequest, device_memory,
};
use lanetwin_units::{Instant, Span};
use std::collections::{BTreeMap, VecDeque};

lanetwin_kernel::stages! {
    after tcp_socket::STAGES;
    CORE = "queue for the core",
    POLL = "poll",
    INTERRUPT = "interrupt",
    COMMAND = "command",
    DATA = "data",
    RESPOND = "respond",
}

/// Addresses of data between drive and adapter, and of capsules: behind everything that has bytes, so that they are
/// in DRAM.
const DATA_AT: u64 = 1 << 37;
const CAPSULES: u64 = 1 << 35;
/// Room for the data of a command \[B\].
const BUFFER: u64 = 1 << 20;
/// Flag of work request identifiers of RDMA READs, beside their operation.
const READ: u32 = 1 << 31;

/// A scheduled action on a core.
#[derive(Debug)]
pub(super) enum Step {
    /// A look at completions.
    Look,
    /// A capsule has been read: its command, and its data.
    Command(Box<Command>, Data),
    /// An RDMA READ is done.
    Brought { operation: u32, bytes: u32 },
    /// So much has been posted.
    Ring(u64),
    /// By TCP: the worker begins.
    Work,
    /// A message has been taken in.
    Message(Stream),
    /// Send a message, after the cost of its command.
    Send(Stream, Span),
    /// Send the messages that wait for the core.
    SendWaiting,
    /// The timer of the connection.
    Timer,
    /// Send a control message.
    Tell(Control),
    /// Namespaces are reached otherwise.
    Change(AccessChange),
    /// Look at the messages of the host's connection manager.
    Manager,
    /// The answer to it: DREP of the connection with this end.
    Disconnected(u32),
}

/// The first action for a command.
pub(super) enum Begun {
    /// Send a request to the drive.
    Ask(Message),
    /// Carry out effects of the target first.
    Perform(Vec<Asked>),
}

/// A command.
struct Pending {
    info: CommandInfo,
    opcode: IoOpcode,
    bytes: u32,
    address: u64,
    place: Place,
    /// Whether it came over a connection that no longer exists.
    forsaken: bool,
}

/// A connection, the core that serves it, and the commands that came over it.
pub(super) struct Connection {
    queue: TargetQueue,
    /// Number of connections that have had this place before.
    pub(super) turn: u32,
    /// ANA state of its controller, and the number of its changes.
    pub(super) access: Access,
    pub(super) changes: u64,
    /// Number of capsules received.
    head: u32,
    pending: Slab<Pending>,
    /// Bytes of each RDMA READ in progress.
    reads: BTreeMap<u32, u32>,
    /// Address of the data of the command being carried out.
    buffer: u64,
    signals: VecDeque<Trail>,
    /// Room for them while others are looked at; empty.
    spare: VecDeque<Trail>,
    looking: bool,
    lost: bool,
    /// Whether the host has ended it.
    left: bool,
    /// Whether it belongs to an adapter, and costs no core time.
    inside: bool,
    /// Bytes that the last completed command moved through the host's memory \[B\].
    pub(super) ended_bytes: u32,
}

impl Connection {
    pub(super) fn new(queue: TargetQueue, rdma: &Rdma) -> Self {
        if let Way::Rdma(pair) = queue.way {
            (0..queue.entries).for_each(|id| rdma.post_receive(pair, receive(id)));
        }
        let inside = matches!(queue.way, Way::Rdma(pair) if rdma.is_inside(pair));
        queue.manager.into_iter().for_each(|pair| rdma.post_receive(pair, receive(0)));
        Self {
            access: queue.access,
            queue,
            turn: 0,
            changes: 0,
            head: 0,
            pending: Slab::new(),
            reads: BTreeMap::new(),
            buffer: DATA_AT,
            signals: VecDeque::new(),
            spare: VecDeque::new(),
            looking: false,
            lost: false,
            left: false,
            inside,
            ended_bytes: 0,
        }
    }
    /// Whether it belongs to an adapter instead of software of a host.
    pub(super) const fn is_inside(&self) -> bool {
        self.inside
    }
    /// Its queue pair; none by TCP.
    pub(super) const fn pair(&self) -> Option<QueuePairId> {
        if let Way::Rdma(pair) = self.queue.way { Some(pair) } else { None }
    }
    pub(super) fn handle(&self) -> u32 {
        self.queue.way.handle()
    }
    /// Its socket, and where its software runs; none by RDMA.
    pub(super) fn socket<'a>(
        &'a mut self,
        costs: &'a TargetCosts,
        adapter: EndpointId,
    ) -> Option<(&'a mut TcpSocket, SocketPlace<'a>)> {
        let (core, costs, cpu) = (&self.queue.core, &costs.tcp, tcp_socket::CPU);
        let place = SocketPlace { core, costs, adapter, cpu, waiting: CORE };
        if let Way::Tcp(socket) = &mut self.queue.way { Some((socket, place)) } else { None }
    }
    pub(super) fn socket_alone(&self) -> Option<&TcpSocket> {
        self.queue.way.socket()
    }
    /// Replaces the connection. Returns the old end.
    pub(super) fn renew(&mut self, way: Way, rdma: &Rdma) -> Way {
        if let Way::Rdma(pair) = way {
            // the host's request has room already
            (1..self.queue.entries).for_each(|id| rdma.post_receive(pair, receive(id)));
        }
        self.forsake();
        self.signals.clear();
        (self.head, self.looking, self.lost, self.left) = (0, false, false, false);
        self.turn += 1;
        std::mem::replace(&mut self.queue.way, way)
    }
    fn forsake(&mut self) {
        self.pending.iter_mut().for_each(|pending| pending.forsaken = true);
        self.reads.clear();
    }
    /// Handles the host's end of the connection: its commands get no answer. Over RDMA no traffic follows, over TCP
    /// the end still has to be acknowledged.
    pub(super) fn leave(&mut self) {
        self.forsake();
        (self.lost, self.left) = (true, true);
        if self.pair().is_some() {
            self.signals.clear();
            self.looking = false;
            self.turn += 1;
        }
    }
    /// Whether the host has ended it.
    pub(super) const fn has_left(&self) -> bool {
        self.left
    }
    /// Whether it holds resources of the target: after the host has ended it, only while the drive still works for it.
    pub(super) fn is_held(&self) -> bool {
        !self.left || self.pending.iter().count() > 0
    }
    /// Queue pair of its connection manager.
    pub(super) const fn manager(&self) -> Option<QueuePairId> {
        self.queue.manager
    }
    pub(super) const fn meeting(&self) -> &Meeting {
        &self.queue.meeting
    }
    pub(super) const fn controller(&self) -> ControllerId {
        self.queue.controller
    }
    pub(super) const fn is_lost(&self) -> bool {
        self.lost
    }
    /// The log of Asymmetric Namespace Access.
    pub(super) fn log(&self) -> Control {
        Control::log(self.access, self.queue.namespaces, self.changes)
    }
    pub(super) const fn subsystem(&self) -> SubsystemId {
        self.queue.subsystem
    }
    pub(super) const fn id(&self) -> ConnectionId {
        self.queue.connection
    }
    pub(super) const fn core(&self) -> &RunQueue {
        &self.queue.core
    }
    pub(super) fn told(&self) -> String {
        let state = if self.left { ", ended" } else { "" };
        let state = if self.lost && !self.left { ", lost" } else { state };
        format!("{} commands{state}", self.pending.iter().count())
    }
    pub(super) fn lose(&mut self) {
        self.lost = true;
    }

    /// A completion entry is there: when the core looks; nothing if it will anyway.
    pub(super) fn notice(&mut self, costs: &TargetCosts, cx: &Context<'_>) -> Option<Instant> {
        let now = cx.now();
        self.signals.push_back(cx.trail());
        let looking = std::mem::replace(&mut self.looking, true);
        let core = &self.queue.core;
        if let Way::Tcp(socket) = &mut self.queue.way {
            return socket.notice(core, (costs.polled, costs.notice), looking, now);
        }
        if looking {
            return None;
        }
        Some(if costs.polled {
            core.serve(now, Span::ZERO) + costs.notice
        } else {
            // an interrupt goes before whatever waits: that is later by as much
            core.serve(now, costs.notice);
            now + costs.notice
        })
    }
    /// The entries that are there now: how far each had come. They are to be given back, for their room.
    pub(super) fn taken(&mut self) -> VecDeque<Trail> {
        self.looking = false;
        std::mem::replace(&mut self.signals, std::mem::take(&mut self.spare))
    }
    /// Keeps memory for reuse.
    pub(super) fn give_back(&mut self, mut taken: VecDeque<Trail>) {
        taken.clear();
        self.spare = taken;
    }
    /// Asks the core for CPU time: when it is done.
    pub(super) fn work(&self, cost: Span, polled: bool, step: &Step, cx: &mut Context<'_>) -> Instant {
        let begun = self.queue.core.serve(cx.now(), cost);
        let stage = match step {
            Step::Command(..) => COMMAND,
            Step::Brought { .. } => DATA,
            _ => RESPOND,
        };
        if matches!(step, Step::Command(..) | Step::Brought { .. }) {
            cx.mark(if polled { POLL } else { INTERRUPT });
        }
        cx.mark_until(begun, CORE);
        cx.mark_until(begun + cost, stage);
        begun + cost
    }

    pub(super) fn post_receive(&self, id: u32, rdma: &Rdma) {
        if let Some(pair) = self.pair() {
            rdma.post_receive(pair, receive(id));
        }
    }
    /// Completes work: an RDMA READ, with its operation and bytes; or a response, which nobody waits for.
    pub(super) fn read_done(&mut self, id: u32) -> Option<(u32, u32)> {
        let operation = id & !READ;
        (id & READ > 0).then(|| self.reads.remove(&operation).map(|bytes| (operation, bytes))).flatten()
    }

    /// Begins with a command.
    pub(super) fn begin(&mut self, capsule: &Capsule) -> Begun {
        self.head = (self.head + 1) % self.queue.entries;
        let command = &capsule.command;
        let opcode = command.dword0().opcode();
        let info = CommandInfo {
            controller: self.queue.controller,
            sqid: self.queue.number,
            cid: command.cid(),
            opcode,
        };
        let opcode = IoOpcode(opcode);
        let known = [IoOpcode::READ, IoOpcode::WRITE, IoOpcode::FLUSH, IoOpcode::WRITE_ZEROES];
        let is_range = opcode == IoOpcode::DATASET_MANAGEMENT;
        if !known.contains(&opcode) && !is_range {
            return Begun::Perform(vec![self.respond(info, NvmeStatus::INVALID_OPCODE)]);
        }
        if self.access == Access::Inaccessible {
            return Begun::Perform(vec![self.respond(info, FabricsStatus::INACCESSIBLE.status())]);
        }
        let blocks = u32::from(BlocksDword12::from_raw(command.cdw12()).blocks_less_1()) + 1;
        // of Dataset Management they are the ranges
        let bytes = if is_range { RANGE_BYTES } else { blocks * self.queue.block };
        let first = u64::from(command.cdw11()) << 32 | u64::from(command.cdw10());
        let place = match capsule.data_bytes {
            0 if self.queue.way.socket().is_some() => Place::Transport { offset: 0 },
            0 => {
                let (low, high) = (command.prp1(), command.prp2());
                let keyed = KeyedSglDescriptor::from_raw(SglDescriptor::from_halves(low, high).raw());
                Place::Keyed { address: keyed.address(), key: keyed.key() }
            }
            _ => Place::Capsule { offset: 0 },
        };
        let address = first * u64::from(self.queue.block);
        let slot = self.pending.put(Pending { info, opcode, bytes, address, place, forsaken: false });
        let command = |kind, bytes, address| BlockCommand { kind, bytes, handle: slot, unit: 0, address };
        match opcode {
            IoOpcode::READ => Begun::Ask(Message::Block(transfer(slot, Operation::Read, bytes, address))),
            IoOpcode::WRITE | IoOpcode::DATASET_MANAGEMENT => {
                Begun::Perform(vec![self.move_data(slot, Direction::FromHost)])
            }
            IoOpcode::FLUSH => Begun::Ask(Message::Command(command(BlockCommandKind::Flush, 0, 0))),
            _ => Begun::Ask(Message::Command(command(BlockCommandKind::WriteZeroes, bytes, address))),
        }
    }
    fn move_data(&mut self, slot: u32, direction: Direction) -> Asked {
        let own = DATA_AT + u64::from(slot) * BUFFER + (u64::from(self.queue.connection.0) << 32);
        self.buffer = self.queue.staging.map_or(own, |drive| device_memory(drive, own));
        let pending = self.pending.get(slot);
        let (bytes, at, command) = pending
            .map_or((0, Place::Capsule { offset: 0 }, None), |own| (own.bytes, own.place, Some(own.info)));
        let effect = HostEffect::Transfer { token: Token::from_raw(slot.into()), direction, bytes, at };
        Asked { effect, command, data: Data::Length(bytes) }
    }
    /// Continues when the data or ranges of a command have arrived. Returns the request to the drive.
    pub(super) fn brought(&mut self, token: Token, data: &Data) -> Option<Begun> {
        let slot = token.to_raw() as u32;
        let &mut Pending { info, opcode, bytes, address, .. } = self.pending.get(slot)?;
        if opcode != IoOpcode::DATASET_MANAGEMENT {
            return Some(Begun::Ask(Message::Block(transfer(slot, Operation::Write, bytes, address))));
        }
        let range = data.bytes().and_then(|bytes| bytes.try_into().ok()).map(u128::from_le_bytes);
        let Some(range) = range.map(DatasetRange::from_raw) else {
            self.pending.take(slot);
            return Some(Begun::Perform(vec![self.respond(info, NvmeStatus::INVALID_FIELD)]));
        };
        let block = self.queue.block;
        let (bytes, address) = (range.blocks() * block, range.slba() * u64::from(block));
        let kind = BlockCommandKind::Deallocate;
        let command = BlockCommand { kind, bytes, handle: slot, unit: 0, address };
        Some(Begun::Ask(Message::Command(command)))
    }
    /// Handles an answer of the drive. Returns the target's effects.
    pub(super) fn end(&mut self, done: Done) -> Option<Vec<Asked>> {
        let &mut Pending { info, opcode, bytes, place, forsaken, .. } = self.pending.get(done.handle)?;
        if forsaken {
            self.pending.take(done.handle);
            self.ended_bytes = 0;
            return Some(Vec::new());
        }
        let in_host = self.queue.staging.is_none() || matches!(place, Place::Capsule { .. });
        let moves = matches!(opcode, IoOpcode::READ | IoOpcode::WRITE);
        self.ended_bytes = if in_host && moves { bytes } else { 0 };
        let mut asked = Vec::new();
        let status = match done.status {
            Status::Ok => NvmeStatus::SUCCESS,
            Status::Corrupt | Status::Aborted => NvmeStatus::INTERNAL_ERROR,
        };
        if opcode == IoOpcode::READ && done.status == Status::Ok {
            asked.push(self.move_data(done.handle, Direction::ToHost));
        }
        asked.push(self.respond(info, status));
        self.pending.take(done.handle);
        Some(asked)
    }
    fn respond(&self, info: CommandInfo, status: NvmeStatus) -> Asked {
        let built = || {
            CompletionEntry::ZERO
                .with_cid_number(info.cid.0)?
                .with_status(status)?
                .with_sq_head(self.head as u16)
        };
        let entry = built().expect("values of their width");
        let (controller, queue) = (info.controller, info.sqid);
        let effect = HostEffect::Respond { controller, queue, entry };
        Asked { effect, command: None, data: Data::NONE }
    }

    /// Posts an RDMA READ; how much has been posted so far.
    pub(super) fn post_read(&mut self, (operation, address, bytes): (u32, u64, u32), rdma: &Rdma) -> u64 {
        self.reads.insert(operation, bytes);
        let work = WorkRequest {
            id: READ | operation,
            remote: address,
            signalled: true,
            ..self.work_request(Verb::Read, bytes)
        };
        self.post(work, rdma)
    }
    /// Number of work requests posted so far.
    fn post(&self, work: WorkRequest, rdma: &Rdma) -> u64 {
        self.pair().map_or(0, |pair| rdma.post_send(pair, work))
    }
    pub(super) fn post_write(&self, (address, bytes): (u64, u32), rdma: &Rdma) {
        let work = WorkRequest { remote: address, ..self.work_request(Verb::Write, bytes) };
        let _ = self.post(work, rdma);
    }
    pub(super) fn post_response(&self, entry: CompletionEntry, invalidate: bool, rdma: &Rdma) -> u64 {
        let request = self.work_request(Verb::Send { invalidate }, COMPLETION_ENTRY_BYTES);
        let content = Some(entry.to_bytes()[..].into());
        let inline = self.inside;
        self.post(WorkRequest { local: CAPSULES, signalled: true, inline, content, ..request }, rdma)
    }
    const fn work_request(&self, operation: Verb, bytes: u32) -> WorkRequest {
        WorkRequest {
            id: 0,
            operation,
            bytes,
            local: self.buffer,
            remote: 0,
            signalled: false,
            inline: false,
            registers: 0,
            content: None,
        }
    }
}

pub(super) fn receive(id: u32) -> Receive {
    Receive { id, address: CAPSULES + (1 << 34) + u64::from(id) * BUFFER }
}

const fn transfer(handle: u32, operation: Operation, bytes: u32, address: u64) -> Transfer {
    Transfer { operation, bytes, handle, unit: 0, address }
}
