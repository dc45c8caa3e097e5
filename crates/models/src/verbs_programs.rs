//! `(verbs)`: programs of two hosts that post work to queue pairs (RDMA without NVMe), as the tests of perftest do. One
//! component has both ends of all queue pairs of a workload. Programs poll.
//!
//! ```text
//!  load ─ Block ─► end 0: post ─► doorbell … adapter ═══► adapter: memory of end 1 (WRITE), a receive of it (SEND)
//!  load ◄─ BlockDone ─ end 0: poll ◄─ entry … adapter ◄═══ ACK, or the data (READ)
//!
//!  ping-pong:  end 0: post ═══► end 1: poll, post ═══► end 0: poll ─ BlockDone ─► load
//! ```
//!
//! - A request is done when its completion has been polled; in a **ping-pong**, when the answer of the same operation
//!   and size has been seen, whose own completions nobody waits for.
//! - The receiver of a SEND polls its completion and posts another receive. That of a WRITE has no part in it, unless
//!   it answers: then it watches the memory that is written (`ib_write_lat`).
//! - What fits into the work request is brought with the doorbell, and so is not read from memory (`inline`).
//!
//! Not here: events instead of polling, lists of several work requests, shared receive queues, atomics, UD and UC.

use crate::agenda::Agenda;
use crate::network_workers::{ConversationSpec, EndSpec, HostSpec, report_cores};
use crate::slab::Slab;
use lanetwin_fabric::roce::logic::packet::Operation as Verb;
use lanetwin_fabric::roce::spec::PathMtu;
use lanetwin_kernel::{Component, Metric, Port, Report, Stage, Trail};
use lanetwin_pcie::link::EndpointId;
use lanetwin_ports::{
    Context, Done, Message, QueuePairId, Rdma, Receive, RunQueue, Status, Transfer, WorkCompletion,
    WorkRequest,
};
use lanetwin_units::{Better, Instant, Span};
use std::any::Any;
use std::collections::{BTreeMap, VecDeque};

lanetwin_kernel::stages! {
    CORE = "queue for the core",
    POST = "post",
    POLL = "poll",
    ACKNOWLEDGED = "acknowledgement",
}

const MOVED: Metric = Metric::new("data moved", "MB/s", Better::Higher);
const ANSWERS: Metric = Metric::new("answers", "k/s", Better::Neither).if_any("answers");

/// Number of receives that are posted at each end for SENDs, as with perftest's default of `--rx-depth`.
const RECEIVES: u32 = 512;
/// The parts of a work request beside inline data \[B\]: control, remote address and length (mlx5: 16, 16 and 4).
const WORK_BYTES: u32 = 36;
/// Work requests and doorbells come in multiples of this \[B\].
const BASIC_BLOCK: u32 = 64;
/// Start of each end's data: behind everything that has bytes, so that they are in DRAM; and of each queue pair's.
const DATA: u64 = 1 << 36;
const OF_PAIR: u64 = 1 << 30;

/// The test that the programs of a workload run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VerbsTest {
    /// What is posted.
    pub operation: VerbsOperation,
    /// Whether each message is answered by one of the same operation and size.
    pub ping_pong: bool,
    /// The most data within a work request \[B\].
    pub inline: u32,
    /// The CPU time to post a work request, or a receive.
    pub post: Span,
    /// The CPU time to poll a completion, or to see that memory has been written.
    pub poll: Span,
}

/// An operation of RDMA.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VerbsOperation {
    /// RDMA WRITE.
    Write,
    /// RDMA READ.
    Read,
    /// SEND.
    Send,
}

/// The programs of a workload.
pub struct VerbsPrograms {
    hosts: Vec<HostSpec>,
    test: VerbsTest,
    rdma: Rdma,
    conversations: Vec<Conversation>,
    /// The ends of queue pairs, by the handles of their doorbells and signals.
    ends: BTreeMap<u32, (usize, usize)>,
    requests: Slab<Asked>,
    /// Looks of an end at its completions.
    agenda: Agenda<(usize, usize)>,
    moved: u64,
    answers: u64,
    lost: u64,
    unexpected: u64,
}

/// Two programs with a queue pair between them.
struct Conversation {
    spec: ConversationSpec,
    ends: [End; 2],
    /// Requests of a ping-pong whose message is on its way, and those whose answer is: both keep their order.
    asked: VecDeque<(u32, u32)>,
    answered: VecDeque<u32>,
    is_lost: bool,
}

/// A program at an end of a queue pair.
struct End {
    pair: QueuePairId,
    /// Signals of the adapter since the last look, and whether one is planned.
    signals: VecDeque<Trail>,
    looking: bool,
}

/// A request of a load.
#[derive(Debug)]
struct Asked {
    conversation: usize,
    handle: u32,
    bytes: u32,
    trail: Trail,
}

impl VerbsPrograms {
    /// The programs; ports come in the order of the hosts, then of the conversations.
    ///
    /// # Panics
    /// If no packet of RoCEv2 has room in the frames between two of them.
    #[must_use]
    pub fn new(
        hosts: Vec<HostSpec>,
        conversations: Vec<ConversationSpec>,
        test: VerbsTest,
        rdma: Rdma,
    ) -> Self {
        let mut ends = BTreeMap::new();
        let conversations = conversations.into_iter().enumerate().map(|(number, spec)| {
            let mtu = PathMtu::of_frames(spec.frames).expect("the plan was checked for room");
            let pairs = rdma.connect([0, 1].map(|side| spec.ends[side].station), mtu);
            for (side, pair) in pairs.into_iter().enumerate() {
                ends.insert(pair.0.into(), (number, side));
                if test.operation == VerbsOperation::Send {
                    (0..RECEIVES).for_each(|id| rdma.post_receive(pair, receive(pair, id)));
                }
                if test.ping_pong && test.operation == VerbsOperation::Write {
                    rdma.watch(pair);
                }
            }
            let end = |pair| End { pair, signals: VecDeque::new(), looking: false };
            let (asked, answered) = (VecDeque::new(), VecDeque::new());
            Conversation { spec, ends: pairs.map(end), asked, answered, is_lost: false }
        });
        let conversations = conversations.collect();
        Self {
            hosts,
            test,
            conversations,
            ends,
            rdma,
            requests: Slab::new(),
            agenda: Agenda::new(),
            moved: 0,
            answers: 0,
            lost: 0,
            unexpected: 0,
        }
    }
    /// The port of a load.
    #[must_use]
    pub fn of_load(&self, conversation: usize) -> Port {
        Port((self.hosts.len() + conversation) as u16)
    }
    /// Bytes that were moved for requests that are done, and for answers.
    #[must_use]
    pub const fn moved(&self) -> u64 {
        self.moved
    }

    /// The core of an end.
    fn core(&self, (conversation, side): (usize, usize)) -> &RunQueue {
        &self.conversations[conversation].spec.ends[side].core
    }
    /// Spends CPU time of an end on the request being handled. Returns when it is done.
    fn work(&self, of: (usize, usize), cost: Span, stage: Stage, cx: &mut Context<'_>) -> Instant {
        let begun = self.core(of).serve(cx.now(), cost);
        cx.mark_until(begun, CORE);
        cx.mark_until(begun + cost, stage);
        begun + cost
    }

    fn request(&mut self, conversation: usize, transfer: Transfer, cx: &mut Context<'_>) {
        let Transfer { bytes, handle, .. } = transfer;
        let slot = self.requests.put(Asked { conversation, handle, bytes, trail: Trail::NONE });
        if self.conversations[conversation].is_lost {
            return self.answer(slot, cx.now() + self.test.post, Status::Aborted, cx);
        }
        if self.test.ping_pong {
            self.conversations[conversation].asked.push_back((slot, bytes));
        }
        self.post((conversation, 0), (slot, bytes), cx);
        if let Some(asked) = self.requests.get(slot) {
            asked.trail = cx.trail();
        }
    }
    /// Posts a work request for a request of a load.
    fn post(&self, of: (usize, usize), (slot, bytes): (u32, u32), cx: &mut Context<'_>) {
        let (end, spec) = (&self.conversations[of.0].ends[of.1], &self.conversations[of.0].spec.ends[of.1]);
        let operation = match self.test.operation {
            VerbsOperation::Write => Verb::Write,
            VerbsOperation::Read => Verb::Read,
            VerbsOperation::Send => Verb::Send { invalidate: false },
        };
        let inline = operation != Verb::Read && bytes <= self.test.inline;
        let data = DATA + u64::from(end.pair.0) * OF_PAIR;
        let work = WorkRequest {
            id: slot,
            operation,
            bytes,
            local: data,
            remote: data,
            signalled: !self.test.ping_pong,
            inline,
            registers: 0,
            content: None,
        };
        let at = self.work(of, self.test.post, POST, cx);
        let address = self.rdma.post_send(end.pair, work);
        let bytes = (WORK_BYTES + if inline { bytes } else { 0 }).next_multiple_of(BASIC_BLOCK) as u16;
        let (to, handle) = (self.hosts[spec.host].adapter, end.pair.0.into());
        cx.send_at(Port(spec.host as u16), at, Message::Mmio { to, bytes, handle, address });
    }

    /// Handles an adapter's signal: the program polls, and sees it when its core is free.
    fn signal(&mut self, handle: u32, from: EndpointId, cx: &mut Context<'_>) {
        let known = self.ends.get(&handle).copied();
        let adapter = |of: (usize, usize)| self.hosts[self.conversations[of.0].spec.ends[of.1].host].adapter;
        let Some(of) = known.filter(|of| adapter(*of) == from) else {
            self.unexpected += 1;
            return;
        };
        let at = self.core(of).serve(cx.now(), Span::ZERO);
        let end = &mut self.conversations[of.0].ends[of.1];
        end.signals.push_back(cx.trail());
        if !std::mem::replace(&mut end.looking, true) {
            self.agenda.put(at, of, cx);
        }
    }
    /// An end polls what is there.
    fn look(&mut self, of: (usize, usize), cx: &mut Context<'_>) {
        let end = &mut self.conversations[of.0].ends[of.1];
        end.looking = false;
        let (pair, signals) = (end.pair, std::mem::take(&mut end.signals));
        for trail in signals {
            let Some(completion) = self.rdma.poll(pair) else { continue };
            cx.resume(trail);
            cx.mark(CORE);
            match completion {
                WorkCompletion::Done { id } => self.done(of, id, cx),
                WorkCompletion::Received { id, bytes, .. } => {
                    let at = self.work(of, self.test.poll, POLL, cx);
                    self.rdma.post_receive(pair, receive(pair, id));
                    self.arrived(of, bytes, at, cx);
                    self.core(of).serve(cx.now(), self.test.post);
                }
                WorkCompletion::Written { bytes } => {
                    let at = self.work(of, self.test.poll, POLL, cx);
                    self.arrived(of, bytes, at, cx);
                }
                WorkCompletion::Lost => self.lose(of.0, cx),
            }
        }
    }
    /// A work request is done.
    fn done(&mut self, of: (usize, usize), slot: u32, cx: &mut Context<'_>) {
        if self.test.ping_pong {
            return;
        }
        let Some(&mut Asked { trail, bytes, .. }) = self.requests.get(slot) else { return };
        // what was sent has been counted where it was received
        self.moved += if self.test.operation == VerbsOperation::Send { 0 } else { u64::from(bytes) };
        cx.join(trail, ACKNOWLEDGED);
        let at = self.work(of, self.test.poll, POLL, cx);
        self.answer(slot, at, Status::Ok, cx);
    }
    /// A message of the other end has been seen. In a ping-pong it is answered, or an answer.
    fn arrived(&mut self, of: (usize, usize), bytes: u32, at: Instant, cx: &mut Context<'_>) {
        self.moved += u64::from(bytes);
        if !self.test.ping_pong {
            return;
        }
        let own = &mut self.conversations[of.0];
        if of.1 == 1 {
            let Some((slot, bytes)) = own.asked.pop_front() else { return };
            own.answered.push_back(slot);
            self.answers += 1;
            self.post(of, (slot, bytes), cx);
        } else if let Some(slot) = own.answered.pop_front() {
            self.answer(slot, at, Status::Ok, cx);
        }
    }
    /// Answers the request of a load, which is the one being handled.
    fn answer(&mut self, slot: u32, at: Instant, status: Status, cx: &mut Context<'_>) {
        let Some(Asked { conversation, handle, .. }) = self.requests.take(slot) else { return };
        cx.send_at(self.of_load(conversation), at, Message::BlockDone(Done { handle, status }));
    }
    /// A connection is lost, and with it every request on it.
    fn lose(&mut self, conversation: usize, cx: &mut Context<'_>) {
        if std::mem::replace(&mut self.conversations[conversation].is_lost, true) {
            return;
        }
        self.lost += 1;
        // what still comes belongs to no request, whose names others may have by then
        let own = &mut self.conversations[conversation];
        own.asked.clear();
        own.answered.clear();
        let all = self.requests.numbered().filter(|(_, asked)| asked.conversation == conversation);
        let open: Vec<u32> = all.map(|(slot, _)| slot).collect();
        open.into_iter().for_each(|slot| self.answer(slot, cx.now(), Status::Aborted, cx));
    }
}

/// A receive of a queue pair.
fn receive(pair: QueuePairId, id: u32) -> Receive {
    Receive { id, address: DATA + u64::from(pair.0) * OF_PAIR + (OF_PAIR >> 1) }
}

impl Component<Message> for VerbsPrograms {
    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        match message {
            Message::Block(transfer) => self.request(usize::from(port.0) - self.hosts.len(), transfer, cx),
            Message::Signal { handle, from } => self.signal(handle, from, cx),
            _ => unreachable!("programs with queue pairs are sent requests and signals, not {message:?}"),
        }
    }

    fn wake(&mut self, _: u32, cx: &mut Context<'_>) {
        while let Some(of) = self.agenda.take(cx) {
            self.look(of, cx);
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("moved", self.moved.to_string());
        see("lost", self.lost.to_string());
        see("unexpected", self.unexpected.to_string());
    }

    fn report(&mut self, now: Instant, report: &mut Report) {
        let ends: Vec<&EndSpec> = self.conversations.iter().flat_map(|own| &own.spec.ends).collect();
        report_cores(self.hosts.iter().map(|host| host.name.as_str()), &ends, now, report);
        report.rate(MOVED, self.moved, 1e6);
        report.rate(ANSWERS, self.answers, 1e3);
    }

    fn digest(&self) -> u64 {
        [self.moved, self.answers, self.lost].iter().fold(0, |sum, word| lanetwin_kernel::mix(sum ^ word))
    }

    fn stages(&self) -> Vec<String> {
        crate::stages::names(&[STAGES])
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}
