//! An I/O queue of a host, and the core that its software runs on.

use super::departures::Leaving;
use crate::ask::Ask;
use crate::fabric_control::Control;
use crate::fabric_software::{HostCosts, doorbell_bytes};
use crate::gauge::Gauge;
use crate::roles::nvmeof::{HostQueue, Meeting, Way};
use crate::slab::Slab;
use crate::tcp_socket;
use lanetwin_fabric::roce::logic::packet::Operation as Verb;
use lanetwin_kernel::{Port, Trail};
use lanetwin_nvme::logic::host::commands;
use lanetwin_nvme::spec::command::COMMAND_BYTES;
use lanetwin_nvme::spec::io::DatasetRange;
use lanetwin_nvme::spec::{Cid, Command, CompletionEntry, IoOpcode, Nsid};
use lanetwin_nvmeof::logic::Data;
use lanetwin_nvmeof::logic::host::{Io, Queue, QueueEffect, Transfer as Moves};
use lanetwin_nvmeof::spec::status::FabricsStatus;
use lanetwin_pcie::link::EndpointId;
use lanetwin_ports::{
    Context, Message, QueuePairId, Rdma, Receive, RunQueue, Status, WorkCompletion, WorkRequest,
};
use lanetwin_units::{Instant, Span, Spread};
use std::collections::VecDeque;
use std::mem::take;
use std::rc::Rc;

lanetwin_kernel::stages! {
    after tcp_socket::STAGES;
    ROOM = "queue for an entry",
    CORE = "queue for the core",
    SUBMIT = "submit",
    POLL = "poll",
    INTERRUPT = "interrupt",
    COMPLETE = "complete",
    PATH = "loss of the path",
}

/// The most that a command moves \[B\]: MDTS of both targets (Linux, `drivers/nvme/target/rdma.c`, 2^8 pages of 4 KiB).
const MOST: u32 = 1 << 20;
/// The most blocks that a command is about which moves none: NLB has 16 bits, and 0 is one.
const MOST_BLOCKS: u32 = 1 << 16;
/// Granularity of a registration \[B\] (Linux, `drivers/nvme/host/rdma.c`: pages of 4 KiB).
const GRANULE: u32 = 4096;
/// Start of user data, and of capsules: behind everything that has bytes, so that they are in DRAM.
const DATA: u64 = 1 << 36;
const CAPSULES: u64 = 1 << 35;

/// How long an RDMA queue hears nothing of its commands before it gives up (Linux, `nvme/host/core.c`: `io_timeout`).
const HEARD_WITHIN: Span = Span::from_us(30_000_000);

/// The port of the software to its host.
pub(super) const CPU: Port = Port(0);

/// An I/O queue of a host.
pub(super) struct LoadQueue {
    pub(super) queue: Queue,
    pub(super) way: Way,
    pub(super) core: RunQueue,
    pub(super) nsid: u32,
    block: u32,
    /// The association that it belongs to, if that is one of several paths.
    pub(super) path: Option<u32>,
    /// Where its ends meet for a reconnection.
    pub(super) meeting: Meeting,
    /// Whether it is being reconnected, and whether that has failed.
    pub(super) connecting: bool,
    pub(super) failed: bool,
    /// Its state while it is disconnected on purpose.
    pub(super) leaving: Option<Leaving>,
    /// Queue pair of its connection manager.
    pub(super) manager: Option<QueuePairId>,
    /// Control messages received.
    pub(super) told_beside: Vec<Control>,
    /// Whether the controller has reported that this path does not reach the namespace.
    pub(super) unreached: bool,
    /// Requests that are no commands yet, or not all of them.
    waiting: VecDeque<Waiting>,
    requests: Slab<Request>,
    commands: Slab<Part>,
    /// Variation of the times of submissions and completions.
    spread: Spread,
    /// Number of commands so far.
    number: u64,
    /// The key that each command was given, by its identifier.
    pub(super) keys: Vec<u32>,
    /// Trails of signals that have not been looked at.
    pub(super) signals: VecDeque<Trail>,
    /// Effects of the queue; empty, kept for its memory.
    pub(super) effects: Vec<QueueEffect>,
    /// Whether a look is scheduled.
    pub(super) looking: bool,
    /// When something was last received, or requested with nothing in flight.
    pub(super) heard: Instant,
    pub(super) in_flight: Gauge,
    pub(super) queued: Gauge,
}

/// A request, of which some bytes have become commands.
struct Waiting {
    slot: u32,
    from: u32,
}

struct Part {
    /// Number of earlier commands of the queue.
    number: u64,
    slot: u32,
    bytes: u32,
}

struct Request {
    ask: Ask,
    trail: Trail,
    left: u32,
    status: Status,
}

/// State shared by the queues of one adapter.
#[derive(Clone, Copy)]
pub(super) struct Software<'a> {
    pub(super) costs: &'a HostCosts,
    pub(super) rdma: &'a Rdma,
    pub(super) adapter: EndpointId,
}

/// The answer to a request, and when the program knows.
pub(super) struct Answer {
    pub(super) handle: u32,
    pub(super) status: Status,
    pub(super) at: Instant,
    pub(super) trail: Trail,
}

impl LoadQueue {
    pub(super) fn new(connected: HostQueue, rdma: &Rdma, spread: Spread) -> Self {
        let HostQueue { queue, way, nsid, block, core, path, meeting, manager } = connected;
        let entries = queue.config().entries;
        if let Way::Rdma(pair) = way {
            (0..entries).for_each(|id| rdma.post_receive(pair, receive(id)));
        }
        manager.into_iter().for_each(|pair| rdma.post_receive(pair, receive(0)));
        Self {
            queue,
            way,
            core,
            nsid,
            block,
            path,
            meeting,
            connecting: false,
            failed: false,
            leaving: None,
            manager,
            told_beside: Vec::new(),
            unreached: false,
            waiting: VecDeque::new(),
            requests: Slab::new(),
            commands: Slab::new(),
            spread,
            number: 0,
            keys: vec![0; entries as usize],
            signals: VecDeque::new(),
            effects: Vec::new(),
            looking: false,
            heard: Instant::ZERO,
            in_flight: Gauge::default(),
            queued: Gauge::default(),
        }
    }

    /// Whether commands can express the request.
    pub(super) fn allows(&self, ask: &Ask) -> bool {
        let within = self.block - 1;
        let are_blocks = ask.bytes > 0 && ask.bytes & within == 0 && ask.address & u64::from(within) == 0;
        let can_be_said = match ask.opcode {
            IoOpcode::READ | IoOpcode::WRITE | IoOpcode::WRITE_ZEROES | IoOpcode::DATASET_MANAGEMENT => {
                are_blocks
            }
            IoOpcode::FLUSH => ask.bytes == 0,
            _ => false,
        };
        self.queue.is_live() && self.leaving.is_none() && can_be_said
    }
    /// Largest number of bytes of a command for this request.
    const fn most_bytes(&self, ask: &Ask) -> u32 {
        match ask.opcode {
            IoOpcode::WRITE_ZEROES => self.block.saturating_mul(MOST_BLOCKS),
            // the number of blocks in a range has 32 bits
            IoOpcode::DATASET_MANAGEMENT => u32::MAX,
            _ => MOST,
        }
    }
    /// Largest number of commands in flight.
    pub(super) fn most(&self) -> u64 {
        u64::from(self.queue.config().entries) - 1
    }
    pub(super) fn told(&self) -> String {
        format!("{} in flight, {} wait", self.in_flight.number(), self.queued.number())
    }

    /// Queues a request; [`LoadQueue::submit`] makes its commands.
    pub(super) fn take(&mut self, ask: Ask, cx: &Context<'_>) {
        let (trail, left) = (cx.trail(), ask.bytes);
        let slot = self.requests.put(Request { ask, trail, left, status: Status::Ok });
        self.waiting.push_back(Waiting { slot, from: 0 });
        self.queued.add(1, cx.now());
    }

    /// Makes a command of a waiting request, if there is one and room for it. Returns whether it did.
    pub(super) fn submit(&mut self, software: Software<'_>, cx: &mut Context<'_>) -> bool {
        let Some(io) = self.next_io(cx) else { return false };
        let cost = match self.way {
            Way::Rdma(_) => software.costs.submit,
            Way::Tcp(_) => software.costs.command,
        };
        let cost = self.spread.span(cost, 2 * (self.number - 1));
        let begun = self.core.serve(cx.now(), cost);
        let at = begun + cost;
        cx.mark_until(begun, CORE);
        cx.mark_until(at, SUBMIT);
        self.queue.submit(io, &mut self.effects).expect("there is room");
        match self.way {
            Way::Rdma(pair) => {
                let address = self.post(pair, software.rdma);
                let (bytes, handle) = (doorbell_bytes(software.costs.polled), pair.0.into());
                cx.send_at(CPU, at, Message::Mmio { to: software.adapter, bytes, handle, address });
            }
            Way::Tcp(_) => self.stream(begun, software, cx),
        }
        true
    }
    /// The next command of a waiting request, if there is room.
    fn next_io(&mut self, cx: &mut Context<'_>) -> Option<Io> {
        let now = cx.now();
        let room = self.queue.room() > 0;
        let &Waiting { slot, from } = self.waiting.front().filter(|_| room)?;
        let &mut Request { ask, trail, .. } = self.requests.get(slot)?;
        let bytes = self.most_bytes(&ask).min(ask.bytes - from);
        let name = self.commands.put(Part { number: self.number, slot, bytes });
        self.number += 1;
        let io = Io {
            command: command(&ask, (from, bytes), (Nsid(self.nsid), self.block)),
            name: name.into(),
            transfer: match ask.opcode {
                IoOpcode::READ => Moves::FromController(bytes),
                IoOpcode::WRITE => Moves::ToController(Data::Length(bytes)),
                IoOpcode::DATASET_MANAGEMENT => Moves::ToController(range(&ask, (from, bytes), self.block)),
                _ => Moves::None,
            },
            address: data_address(ask.handle, ask.bytes) + u64::from(from),
        };
        if from + bytes == ask.bytes {
            self.waiting.pop_front();
            self.queued.remove(1, now);
        } else if let Some(first) = self.waiting.front_mut() {
            first.from += bytes;
        }
        if self.in_flight.number() == 0 {
            self.heard = now;
        }
        self.in_flight.add(1, now);
        cx.resume(trail);
        cx.mark(ROOM);
        Some(io)
    }

    /// Posts the work requests of a command. Returns the number posted so far.
    fn post(&mut self, pair: QueuePairId, rdma: &Rdma) -> u64 {
        let (mut registers, mut key_of, mut posted) = (0, 0, 0);
        for effect in self.effects.drain(..) {
            match effect {
                QueueEffect::Register { key, bytes, .. } => {
                    (registers, key_of) = (bytes.div_ceil(GRANULE), key);
                }
                QueueEffect::SendCapsule { command, data } => {
                    let cid = command.cid();
                    self.keys[cid.index()] = key_of;
                    let work = WorkRequest {
                        id: cid.0.into(),
                        operation: Verb::Send { invalidate: false },
                        bytes: COMMAND_BYTES + data.len(),
                        local: CAPSULES + u64::from(cid.0) * u64::from(GRANULE),
                        remote: 0,
                        signalled: true,
                        inline: false,
                        registers,
                        content: Some(content(&command, &data)),
                    };
                    posted = rdma.post_send(pair, work);
                }
                _ => {}
            }
        }
        posted
    }

    /// Handles a completion entry, or its interrupt: when the core looks, or `None` if it does anyway.
    pub(super) fn notice(&mut self, costs: &HostCosts, cx: &Context<'_>) -> Option<Instant> {
        let now = cx.now();
        self.signals.push_back(cx.trail());
        let looking = std::mem::replace(&mut self.looking, true);
        if let Way::Tcp(socket) = &mut self.way {
            return socket.notice(&self.core, (costs.polled, costs.notice), looking, now);
        }
        if looking {
            return None;
        }
        let free = self.core.serve(now, if costs.polled { Span::ZERO } else { costs.notice });
        // an interrupt goes before whatever waits: that is later by as much
        Some(if costs.polled { free } else { now } + costs.notice)
    }

    /// Takes the completions whose entries have arrived, and returns the resulting answers.
    pub(super) fn reap(&mut self, software: Software<'_>, cx: &mut Context<'_>) -> Vec<Answer> {
        let costs = software.costs;
        (self.looking, self.heard) = (false, cx.now());
        let mut answers = Vec::new();
        let Way::Rdma(pair) = self.way else { return answers };
        let (mut signals, mut effects) = (take(&mut self.signals), take(&mut self.effects));
        while let Some(trail) = signals.pop_front() {
            let Some(completion) = software.rdma.poll(pair) else { continue };
            let begun = self.core.serve(cx.now(), costs.entry);
            let known = begun + costs.entry;
            self.hear((pair, completion), software.rdma, &mut effects);
            self.unreached |= effects.iter().any(is_unreached);
            for (name, status) in effects.iter().filter_map(end_of) {
                cx.resume(trail);
                cx.mark(if costs.polled { POLL } else { INTERRUPT });
                cx.mark_until(begun, CORE);
                cx.mark_until(known, COMPLETE);
                answers.extend(self.ended(name, status, costs, cx));
            }
            effects.clear();
        }
        (self.signals, self.effects) = (signals, effects);
        answers.extend(self.unanswerable(costs, cx));
        answers
    }
    /// Answers to requests that wait for a lost queue.
    pub(super) fn unanswerable(&mut self, costs: &HostCosts, cx: &Context<'_>) -> Vec<Answer> {
        if self.queue.is_live() { Vec::new() } else { self.give_up(cx.now(), cx.now() + costs.complete) }
    }

    /// Handles the loss of the queue: returns answers to all its requests.
    pub(super) fn lose(&mut self, software: Software<'_>, cx: &mut Context<'_>) -> Vec<Answer> {
        let mut effects = Vec::new();
        self.queue.lost(&mut effects);
        let ends: Vec<_> = effects.iter().filter_map(end_of).collect();
        let mut answers = Vec::new();
        for (name, status) in ends {
            let slot = self.commands.get(name).map(|part| part.slot);
            if let Some(request) = slot.and_then(|slot| self.requests.get(slot)) {
                cx.resume(request.trail);
                cx.mark(PATH);
            }
            answers.extend(self.ended(name, status, software.costs, cx));
        }
        answers.extend(self.unanswerable(software.costs, cx));
        answers
    }

    /// Time by which something has to be received over RDMA; `None` if no request is in flight.
    pub(super) fn heard_by(&self) -> Option<Instant> {
        let waits = matches!(self.way, Way::Rdma(_)) && self.queue.is_live() && self.in_flight.number() > 0;
        waits.then(|| self.heard + HEARD_WITHIN)
    }

    /// Fails requests that wait for a lost queue.
    fn give_up(&mut self, now: Instant, at: Instant) -> Vec<Answer> {
        let mut answers = Vec::new();
        for Waiting { slot, from } in take(&mut self.waiting) {
            self.queued.remove(1, now);
            let Some(request) = self.requests.get(slot) else { continue };
            request.status = Status::Aborted;
            request.left -= request.ask.bytes - from;
            // a partly completed request is answered by its last command
            if request.left == 0
                && let Some(Request { ask, trail, status, .. }) = self.requests.take(slot)
            {
                answers.push(Answer { handle: ask.handle, status, at, trail });
            }
        }
        answers
    }

    fn hear(
        &mut self,
        (pair, completion): (QueuePairId, WorkCompletion),
        rdma: &Rdma,
        effects: &mut Vec<QueueEffect>,
    ) {
        match completion {
            WorkCompletion::Done { id } => self.queue.sent(Cid(id as u16), effects),
            WorkCompletion::Received { id, invalidated, content, .. } => {
                rdma.post_receive(pair, receive(id));
                if let Some(beside) = content.as_ref().and_then(|bytes| Control::of(bytes)) {
                    return self.told_beside.push(beside);
                }
                let Some(entry) = content.and_then(|bytes| bytes[..].try_into().ok()) else { return };
                let entry = CompletionEntry::from_bytes(entry);
                let key = self.keys.get(entry.cid().index()).copied().filter(|_| invalidated);
                self.queue.capsule(entry, key, effects);
                // a key that the target left valid is invalidated here
                for key in effects.iter().filter_map(invalidates).collect::<Vec<_>>() {
                    self.queue.invalidated(key, effects);
                }
            }
            // the loss of a connection being made is not noticed before its time-out
            WorkCompletion::Lost => self.queue.lost(effects),
            // nothing of it is watched
            WorkCompletion::Written { .. } => {}
        }
    }

    /// A command has ended: the answer to its request, if that has.
    pub(super) fn ended(
        &mut self,
        name: u32,
        status: Status,
        costs: &HostCosts,
        cx: &mut Context<'_>,
    ) -> Option<Answer> {
        self.in_flight.remove(1, cx.now());
        let Part { number, slot, bytes } = self.commands.take(name)?;
        let request = self.requests.get(slot)?;
        if status != Status::Ok {
            request.status = status;
        }
        request.left -= bytes;
        if request.left > 0 {
            return None;
        }
        let (handle, status) = (request.ask.handle, request.status);
        self.requests.take(slot);
        let cost = self.spread.span(costs.complete, 2 * number + 1);
        let begun = self.core.serve(cx.now(), cost);
        let at = begun + cost;
        cx.mark_until(begun, CORE);
        cx.mark_until(at, COMPLETE);
        Some(Answer { handle, status, at, trail: cx.trail() })
    }
}

/// The command that an effect ends, and how.
pub(super) fn end_of(effect: &QueueEffect) -> Option<(u32, Status)> {
    match effect {
        QueueEffect::Completed { name, ending } if ending.status.is_success() => {
            Some((*name as u32, Status::Ok))
        }
        QueueEffect::Completed { name, .. } | QueueEffect::Unanswered { name } => {
            Some((*name as u32, Status::Aborted))
        }
        _ => None,
    }
}

/// Whether a command has ended because its namespace is not reachable through the controller.
pub(super) fn is_unreached(effect: &QueueEffect) -> bool {
    let inaccessible = FabricsStatus::INACCESSIBLE.status();
    matches!(effect, QueueEffect::Completed { ending, .. } if ending.status == inaccessible)
}

fn invalidates(effect: &QueueEffect) -> Option<u32> {
    if let QueueEffect::Invalidate { key } = effect { Some(*key) } else { None }
}

pub(super) fn receive(id: u32) -> Receive {
    Receive { id, address: CAPSULES + (1 << 34) + u64::from(id) * u64::from(GRANULE) }
}

/// Address of the data of a request: a buffer for each handle, as a program with as many buffers has them.
fn data_address(handle: u32, bytes: u32) -> u64 {
    DATA + u64::from(handle) * u64::from(bytes).next_multiple_of(GRANULE.into())
}

/// The range of Dataset Management that is `bytes` of a request from `from` on.
fn range(ask: &Ask, (from, bytes): (u32, u32), block: u32) -> Data {
    let (slba, blocks) = ((ask.address + u64::from(from)) / u64::from(block), bytes / block);
    let range = DatasetRange::ZERO.with_blocks(blocks).and_then(|word| word.with_slba(slba));
    Data::Bytes(range.expect("fields of their width").raw().to_le_bytes().to_vec())
}

/// Content of a capsule: its command, and data that have a meaning.
fn content(command: &Command, data: &Data) -> Rc<[u8]> {
    [&command.as_bytes()[..], data.bytes().unwrap_or_default()].concat().into()
}

/// The command for `bytes` of a request from `from` on.
fn command(ask: &Ask, (from, bytes): (u32, u32), (nsid, block): (Nsid, u32)) -> Command {
    match ask.opcode {
        IoOpcode::FLUSH => return commands::flush(nsid),
        IoOpcode::DATASET_MANAGEMENT => return commands::deallocate(nsid, 1),
        _ => {}
    }
    let block_log2 = block.trailing_zeros();
    let slba = (ask.address + u64::from(from)) >> block_log2;
    commands::blocks(ask.opcode, nsid, slba, bytes >> block_log2)
}
