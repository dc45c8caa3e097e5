//! `(network)`: programs of two hosts that send each other bytes over TCP, like `netperf` and `netserver`, or a
//! network worker of Iometer and its target. One component has both ends of all connections of a workload. The
//! sockets of a host charge its core and ring its adapter. What both programs know beforehand (who sends next, and
//! how much) is not sent over the network, because both derive it from the same seed (Iometer, `IOGrunt.cpp`,
//! `Srand`).
//!
//! ```text
//!  load ─ Block: a write ─► end 0: call, copy, send ═► adapter … adapter ═► end 1: receive, wake up, copy, call
//!  load ◄─ BlockDone ────── in the send buffer; or the reply is here  ◄════ end 1: call, copy, send the reply
//! ```
//!
//! - A **write** is sent by the end of the load's host, a **read** by the other; `address` is how long the reply is. A
//!   message ends a segment, as with `TCP_NODELAY`, which Iometer sets (`NetTCP.cpp`).
//! - Without a reply it is done when the last byte of it has room in the send buffer, as a call of `send` that blocks;
//!   with one, when its sender has the reply.
//! - No bytes at all open a connection, or close it ([`OPEN`], [`CLOSE`]): SYN and FIN take a byte of the stream each
//!   (RFC 9293, §3.4), and both ends pay for `connect`, `accept` and `close`.
//!
//! Not here: listening queues that overflow, TIME-WAIT, ports that run out.

mod conversation;
mod dialling;

pub(crate) use conversation::report_cores;
pub use conversation::{ConversationSpec, EndSpec};

use crate::agenda::Agenda;
use crate::fabric_software::HostCosts;
use crate::slab::Slab;
use crate::tcp_socket::{self, Counts, TcpSocket};
use conversation::{Conversation, End, Name};
use lanetwin_fabric::tcp::logic::connection::Limits;
use lanetwin_fabric::tcp::spec::{OFFLOAD_BYTES, TIMESTAMPS_BYTES, segment_bytes};
use lanetwin_kernel::{Component, Metric, Port, Report, Trail};
use lanetwin_nvmeof::spec::tcp::DigestTypes;
use lanetwin_pcie::link::EndpointId;
use lanetwin_ports::{Context, Done, Message, Operation, Params, Sockets, Status, Transfer};
use lanetwin_units::{Better, Instant, Span};
use std::any::Any;
use std::collections::BTreeMap;

lanetwin_kernel::stages! {
    after tcp_socket::STAGES;
    CORE = "queue for the core",
    POLL = "poll",
    INTERRUPT = "interrupt",
    BUFFER = "queue for the send buffer",
    SETUP = "connect, accept, close",
}

const SENT: Metric = Metric::new("data sent", "MB/s", Better::Higher);
const REPLIES: Metric = Metric::new("data of replies", "MB/s", Better::Higher).if_any("replies");
const MESSAGES: Metric = Metric::new("messages", "k/s", Better::Neither);
const CONNECTIONS: Metric = Metric::new("connections", "k/s", Better::Higher).if_any("connections");

/// The address of a request without bytes that opens a connection, …
pub const OPEN: u64 = 1;
/// … and of one that closes it.
pub const CLOSE: u64 = 0;

/// Time of a request whose connection is lost: a failing call (assumed).
const REFUSED_AFTER: Span = Span::from_us(10);

/// A host with one of its adapters.
#[derive(Clone, Debug)]
pub struct HostSpec {
    /// Its name.
    pub name: String,
    /// The adapter.
    pub adapter: EndpointId,
    /// Costs of the host's software: parameters of `nvmeof-host`.
    pub params: Params,
}

/// The test that the programs of a workload run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NetworkTest {
    /// The size of each send buffer \[B\].
    pub send_buffer: u64,
    /// The CPU time of each end to open a connection and to close it, together.
    pub opening: Span,
    /// Whether there are replies.
    pub replies: bool,
}

/// The programs of a workload.
pub struct NetworkWorkers {
    hosts: Vec<(HostSpec, HostCosts)>,
    sockets: Sockets,
    test: NetworkTest,
    conversations: Vec<Conversation>,
    /// Ends of connections, by the handles of their doorbells and signals.
    ends: BTreeMap<u32, End>,
    requests: Slab<Asked>,
    agenda: Agenda<(u32, Step)>,
    counts: Totals,
}

/// A request of a load.
#[derive(Debug)]
struct Asked {
    conversation: usize,
    handle: u32,
    trail: Trail,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// The stack processes the adapter's signals.
    Look,
    /// The program runs.
    Work,
    /// The timer of the connection.
    Timer,
}

#[derive(Default, Debug)]
struct Totals {
    sent: u64,
    replied: u64,
    delivered: u64,
    messages: u64,
    connections: u64,
    /// Counters of connections that no longer exist.
    tcp: Counts,
    unexpected: u64,
}

impl NetworkWorkers {
    /// The programs; ports come in the order of the hosts, then of the conversations.
    #[must_use]
    pub fn new(
        hosts: Vec<HostSpec>,
        conversations: Vec<ConversationSpec>,
        test: NetworkTest,
        sockets: Sockets,
    ) -> Self {
        let costs = |host: HostSpec| {
            let mut costs = HostCosts::new(&host.params);
            // a program has its data copied into the socket
            costs.tcp = costs.tcp.copying_sent(true);
            (host, costs)
        };
        let hosts: Vec<_> = hosts.into_iter().map(costs).collect();
        Self {
            hosts,
            sockets,
            test,
            conversations: conversations.into_iter().map(Conversation::new).collect(),
            ends: BTreeMap::new(),
            requests: Slab::new(),
            agenda: Agenda::new(),
            counts: Totals::default(),
        }
    }
    /// The port of a load.
    #[must_use]
    pub fn of_load(&self, conversation: usize) -> Port {
        Port((self.hosts.len() + conversation) as u16)
    }
    /// Bytes that programs have sent and that have come, requests and replies.
    #[must_use]
    pub const fn moved(&self) -> (u64, u64) {
        (self.counts.sent + self.counts.replied, self.counts.delivered)
    }

    /// Makes both ends of a connection.
    fn connect(&mut self, conversation: usize) {
        let own = &mut self.conversations[conversation];
        own.was_open = true;
        let segment = segment_bytes(own.spec.frames, TIMESTAMPS_BYTES);
        let said = [0, 1].map(|side| tcp_socket::limits(&self.hosts[own.spec.ends[side].host].0.params));
        let buffer = said[0].0.min(said[1].0);
        let limits = said.map(|(_, algorithm)| Limits { segment, offload: OFFLOAD_BYTES, buffer, algorithm });
        let stations = [0, 1].map(|side| own.spec.ends[side].station);
        let ends = TcpSocket::connect(&self.sockets, stations, (limits, DigestTypes::from_raw(0)));
        let handles = [0, 1].map(|side: usize| ends[side].handle());
        own.handles = Some(handles);
        for (side, (socket, handle)) in ends.into_iter().zip(handles).enumerate() {
            self.ends.insert(handle, End::new((conversation, side), socket));
        }
    }

    fn request(&mut self, conversation: usize, transfer: Transfer, cx: &mut Context<'_>) {
        let Transfer { operation, bytes, handle, address, .. } = transfer;
        let slot = self.requests.put(Asked { conversation, handle, trail: cx.trail() });
        if bytes == 0 {
            return self.dial(conversation, slot, address == OPEN, cx);
        }
        if !self.conversations[conversation].was_open {
            // no request opens it: it is open from the start
            self.connect(conversation);
        }
        let side = usize::from(operation == Operation::Read);
        let reply = u32::try_from(address).unwrap_or(u32::MAX);
        self.counts.sent += u64::from(bytes);
        self.send((conversation, side), Name::Request { slot, reply }, bytes, cx);
    }

    /// Sends a message of a program, after messages already queued.
    fn send(&mut self, (conversation, side): (usize, usize), name: Name, bytes: u32, cx: &mut Context<'_>) {
        let handles = self.conversations[conversation].handles;
        let Some(handle) = handles.map(|handles| handles[side]) else { return self.refuse(name, cx) };
        self.counts.messages += 1;
        if matches!(name, Name::Request { .. } | Name::Reply { .. }) {
            self.conversations[conversation].put_length(1 - side, bytes);
        }
        let Some((end, place)) = self.end(handle) else { return };
        end.socket.send_bytes((bytes.into(), name.to_bits()), place, cx);
        if let Name::Request { slot, reply: 0 } = name {
            let (upto, _) = end.socket.offered();
            end.buffered.push_back((upto, slot));
            if let Some(asked) = self.requests.get(slot) {
                asked.trail = cx.trail();
            }
        }
        self.settle(handle, cx);
    }
    fn refuse(&mut self, name: Name, cx: &mut Context<'_>) {
        if let Name::Request { slot, .. } = name {
            self.answer(slot, cx.now() + REFUSED_AFTER, Status::Aborted, cx);
        }
    }

    /// Answers requests whose bytes have room in the send buffer of an end, and sets its timer.
    fn settle(&mut self, handle: u32, cx: &mut Context<'_>) {
        let buffer = self.test.send_buffer;
        let now = cx.now();
        let Some((end, place)) = self.end(handle) else { return };
        let timer = end.socket.set_timer(now);
        let (offered, outstanding) = end.socket.offered();
        let has_room = |upto: u64| upto <= offered - outstanding + buffer;
        // the program continues when the core has done its pending work
        let at = place.core.serve(now, Span::ZERO);
        let mut done = Vec::new();
        while end.buffered.front().is_some_and(|(upto, _)| has_room(*upto)) {
            done.extend(end.buffered.pop_front().map(|(_, slot)| slot));
        }
        if let Some(at) = timer {
            self.agenda.put(at, (handle, Step::Timer), cx);
        }
        let handled = cx.trail();
        for slot in done {
            let Some(asked) = self.requests.get(slot) else { continue };
            cx.resume(asked.trail);
            cx.mark(BUFFER);
            cx.mark_until(at, CORE);
            self.answer(slot, at, Status::Ok, cx);
        }
        cx.resume(handled);
    }
    /// Answers the request of a load, which is the one being handled.
    fn answer(&mut self, slot: u32, at: Instant, status: Status, cx: &mut Context<'_>) {
        let Some(Asked { conversation, handle, .. }) = self.requests.take(slot) else { return };
        cx.send_at(self.of_load(conversation), at, Message::BlockDone(Done { handle, status }));
    }

    /// Handles an adapter's signal of a segment.
    fn signal(&mut self, handle: u32, from: EndpointId, cx: &mut Context<'_>) {
        let Some(end) = self.ends.get_mut(&handle) else {
            self.counts.unexpected += 1;
            return;
        };
        let spec = &self.conversations[end.of].spec.ends[end.side];
        let (host, costs) = &self.hosts[spec.host];
        if host.adapter != from {
            self.counts.unexpected += 1;
            return;
        }
        end.signals.push_back(cx.trail());
        let looking = std::mem::replace(&mut end.looking, true);
        let notice = (costs.polled, costs.notice);
        if let Some(at) = end.socket.notice(&spec.core, notice, looking, cx.now()) {
            self.agenda.put(at, (handle, Step::Look), cx);
        }
    }

    fn step(&mut self, handle: u32, step: Step, cx: &mut Context<'_>) {
        let polled = self.ends.get(&handle).is_some_and(|end| self.is_polled(end));
        let Some((end, place)) = self.end(handle) else { return };
        match step {
            Step::Look => {
                if let Some(at) = end.socket.looks_later(cx.now()) {
                    return self.agenda.put(at, (handle, Step::Look), cx);
                }
                end.looking = false;
                let signals = std::mem::take(&mut end.signals);
                let notice = if polled { POLL } else { INTERRUPT };
                if let Some(at) = end.socket.receive(signals, notice, place, cx) {
                    self.agenda.put(at, (handle, Step::Work), cx);
                }
            }
            Step::Work => self.work(handle, cx),
            Step::Timer => {
                if end.socket.expire(place, cx) {
                    self.lose(handle, cx);
                }
            }
        }
        self.settle(handle, cx);
        self.retire(handle);
    }
    /// Lets a program take the data that have arrived.
    fn work(&mut self, handle: u32, cx: &mut Context<'_>) {
        if let Some((end, _)) = self.end(handle) {
            end.socket.begin_work();
        }
        while let Some((end, place)) = self.end(handle)
            && let Some(message) = end.socket.next_message(place, cx)
        {
            let of = (end.of, end.side);
            if let Some(name) = message.name.map(Name::of_bits) {
                self.hear(of, name, message.at, cx);
            }
        }
        if let Some((end, place)) = self.end(handle) {
            end.socket.end_work(place, cx);
        }
    }
    fn hear(&mut self, (of, side): (usize, usize), name: Name, at: Instant, cx: &mut Context<'_>) {
        match name {
            Name::Request { slot, reply } => {
                self.counts.delivered += self.conversations[of].take_length(side);
                if reply > 0 {
                    self.counts.replied += u64::from(reply);
                    self.send((of, side), Name::Reply { slot }, reply, cx);
                }
            }
            Name::Reply { slot } => {
                self.counts.delivered += self.conversations[of].take_length(side);
                self.answer(slot, at, Status::Ok, cx);
            }
            Name::Dial { slot, open } => self.answer_dial((of, side), (slot, open), cx),
            Name::Dialled { slot, open } => self.dialled((of, slot, open), at, cx),
        }
    }
    /// Ends all requests on a connection that has received nothing for too long.
    fn lose(&mut self, handle: u32, cx: &mut Context<'_>) {
        let Some(of) = self.ends.get(&handle).map(|end| end.of) else { return };
        for handle in self.conversations[of].handles.take().into_iter().flatten() {
            if let Some(end) = self.ends.remove(&handle) {
                self.counts.tcp.add(end.socket.counts());
            }
        }
        let all = self.requests.numbered().filter(|(_, asked)| asked.conversation == of);
        let open: Vec<u32> = all.map(|(slot, _)| slot).collect();
        open.into_iter().for_each(|slot| self.answer(slot, cx.now(), Status::Aborted, cx));
    }
}

impl Component<Message> for NetworkWorkers {
    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        match message {
            Message::Block(transfer) => self.request(usize::from(port.0) - self.hosts.len(), transfer, cx),
            Message::Signal { handle, from } => self.signal(handle, from, cx),
            _ => unreachable!("programs of a network are sent requests and signals, not {message:?}"),
        }
    }

    fn wake(&mut self, _: u32, cx: &mut Context<'_>) {
        while let Some((handle, step)) = self.agenda.take(cx) {
            self.step(handle, step, cx);
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("sent", self.counts.sent.to_string());
        see("delivered", self.counts.delivered.to_string());
        see("connections", self.counts.connections.to_string());
        see("unexpected", self.counts.unexpected.to_string());
    }

    fn report(&mut self, now: Instant, report: &mut Report) {
        let ends: Vec<&EndSpec> = self.conversations.iter().flat_map(|own| &own.spec.ends).collect();
        report_cores(self.hosts.iter().map(|(host, _)| host.name.as_str()), &ends, now, report);
        report.rate(SENT, self.counts.sent, 1e6);
        report.rate(REPLIES, self.counts.replied, 1e6);
        report.rate(MESSAGES, self.counts.messages, 1e3);
        report.rate(CONNECTIONS, self.counts.connections, 1e3);
        let mut tcp = self.counts.tcp;
        self.ends.values().for_each(|end| tcp.add(end.socket.counts()));
        tcp.report(report);
    }

    fn digest(&self) -> u64 {
        let Totals { sent, replied, delivered, messages, connections, .. } = self.counts;
        [sent, replied, delivered, messages, connections]
            .iter()
            .fold(0, |sum, word| lanetwin_kernel::mix(sum ^ word))
    }

    fn stages(&self) -> Vec<String> {
        crate::stages::names(&[tcp_socket::STAGES, STAGES])
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}
