//! `roce-nic`: an adapter for RoCEv2 on PCIe, with one Ethernet port and TCP offloads.
//!
//! ```text
//!  send:     doorbell ─► [MRd WQE ═► CplD] ─► MRd data ═► CplD ─► line ═══► peer ─ … ─ ACK ─► MWr entry (signals)
//!  receive:  line ─► MWr data ═► after the last MWr entry (signals); ACK ─► line
//!  RDMA READ: line ─► MRd data ═► CplD ─► line ═══► peer ─► MWr data ═► MWr entry (signals)
//! ```
//!
//! [`lanetwin_fabric::roce::logic`] implements both sides of a queue pair; this model adds the cost of data in host
//! memory and of one line shared by all queue pairs. Packets are cut, and their data requested, up to `tx.ahead`
//! before the line can take them. Requests and answers of a queue pair are sent in order; queue pairs take turns of
//! `tx.burst`.
//!
//! A received packet becomes a posted write of its own; a completion entry is written after the last of them, so that
//! it cannot arrive earlier. A packet is acknowledged when it is in the adapter. `offload` describes the TCP
//! offloads, `target_offload` an adapter that is itself a target.
//!
//! Not here: several ports (an adapter for each), selective repeat, keys, caches of queue pairs and
//! translations that can miss, moderation of RDMA's interrupts.

mod congestion;
mod counts;
mod flow;
mod host_memory;
mod inside;
mod lane;
mod offload;
mod pair;
mod pairs;
mod params;
mod paused;
mod pausing;
mod points;
mod target_offload;
mod telling;
mod turns;
mod words;

use crate::agenda::Agenda;
use crate::requests::{self, Requests};
use crate::roles::SendsFrames;
use crate::slab::Slab;
pub use counts::{Counts, Unfinished};
use flow::{Flow, Piece};
pub use inside::RoceNic;
use inside::{LINE, QUEUE, RECEIVE, Read, SEND, STAGES, TRANSMIT, Task, WORK};
use lane::{Lane, Outgoing};
use lanetwin_fabric::ethernet::logic::{Class, Pause, Train};
use lanetwin_fabric::ethernet::spec::{body_bytes, wire_bytes};
use lanetwin_kernel::{Component, Port, Report, mix};
use lanetwin_pcie::spec::TlpKind;
use lanetwin_ports::{
    Attributes, Build, Capability, Context, DESTROYED, Message, Model, PCIE_DEVICE, PCIE_PORT, Params,
    PortInfo, Protocol, QueuePairId, Site, SocketId, Tlps, WorkCompletion, WorkRequest, socket_of,
};
use lanetwin_units::Instant;
use pair::{Heard, Pair};
use pairs::Pairs;
use params::{PARAMS, Rules};
use paused::Paused;
use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use turns::Leaving;
use words::Packet;

/// The declaration.
pub static MODEL: Model = Model {
    name: "roce-nic",
    about: "An adapter for RoCEv2 on PCIe, with one Ethernet port.",
    ports: &[
        PortInfo { name: "pcie", speaks: Protocol::Pcie, about: "the adapter's edge connector", many: false },
        PortInfo { name: "ethernet", speaks: Protocol::Ethernet, about: "the adapter's port", many: false },
        PortInfo {
            name: HOST_PORT,
            speaks: Protocol::Inside,
            about: "of one that can be a target by itself: completion entries of the drives that it drives",
            many: false,
        },
        PortInfo {
            name: WITHIN_PORT,
            speaks: Protocol::Inside,
            about: "of one that can be a target by itself: the target, and the drivers of drives, within it",
            many: false,
        },
    ],
    has_port: |params, port| ![HOST_PORT, WITHIN_PORT].contains(&port) || params.flag("offload"),
    params: &[&PCIE_PORT, &PCIE_DEVICE, PARAMS],
    mistakes: params::mistakes,
    conditions: params::CONDITIONS,
    capabilities: &[Capability::Rdma],
    build: Build::Component(|params, site| Box::new(RoceNic::new(params, site))),
    ..Model::DEFAULT
};

const PCIE: Port = Port(0);
const ETHERNET: Port = Port(1);
const HOST: Port = Port(2);
const WITHIN: Port = Port(3);
const HOST_PORT: &str = "host";
const WITHIN_PORT: &str = "within";

impl RoceNic {
    fn new(params: &Params, site: &Site) -> Self {
        let port = site.pcie.first().copied().flatten();
        let rules = Rules::new(params);
        let class = Class::of_priority(params.count("ethernet.priority") as u8);
        Self {
            paused: Paused::new(&rules, site.ethernet.first().copied().flatten()),
            rules,
            requests: port.map(|port| Requests::new(PCIE, port, port.root, params.time("issue"))),
            site: site.ethernet.first().copied().flatten(),
            outages: site.outages.first().cloned().unwrap_or_default(),
            class: if params.flag("ethernet.ecn") { class.ecn_capable() } else { class },
            rdma: site.rdma.clone(),
            pairs: Pairs::default(),
            heard: Heard::default(),
            understood: VecDeque::new(),
            spare_work: Vec::new(),
            turn: (QueuePairId(0), 0),
            sockets: site.sockets.clone(),
            flows: BTreeMap::new(),
            flow_turn: SocketId(0),
            flows_next: false,
            reads: Slab::new(),
            line_free: Instant::ZERO,
            line_planned: Instant::ZERO,
            engine_free: Instant::ZERO,
            engine: site.cores.first().cloned(),
            tails: BTreeMap::new(),
            agenda: Agenda::new(),
            counts: Counts::default(),
        }
    }
    /// Counters so far.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }
    /// Work that is not finished.
    #[must_use]
    pub fn unfinished(&self) -> Unfinished {
        // the work of a destroyed queue pair has been flushed
        let pairs = || self.pairs.values().filter(|pair| !pair.is_destroyed());
        let sum = |of: fn(&Pair) -> usize| pairs().map(of).sum();
        Unfinished {
            work: sum(|pair| pair.requester.outstanding())
                + self.flows.values().map(Flow::unfinished).sum::<usize>(),
            answers: sum(|pair| pair.responder.answers()),
            frames: self.lanes().map(Lane::len).sum(),
            reads: self.reads.iter().count(),
        }
    }

    /// The queue pair of this name, if it is at this adapter.
    fn pair(&mut self, id: QueuePairId) -> Option<&mut Pair> {
        if self.pairs.get(id).is_none() {
            let (own, peer, peer_station, mtu) = self.rdma.ends(id)?;
            self.site.filter(|site| site.station == Some(own))?;
            let congestion = self.congestion();
            let mut pair = Pair::new(peer, peer_station, self.rules.limits(mtu));
            pair.congestion = congestion;
            pair.be_as_told(id, &self.rdma, self.rules.limits(mtu).retries);
            self.pairs.insert(id, pair);
        }
        self.pairs.get_mut(id)
    }

    /// Handles a doorbell of posted work: its value is the number posted so far, or that the queue pair is destroyed.
    fn ring(&mut self, doorbell: &Tlps, cx: &mut Context<'_>) {
        if let Some(socket) = socket_of(doorbell.handle) {
            return self.ring_socket(socket, doorbell, cx);
        }
        let Ok(id) = u16::try_from(doorbell.handle).map(QueuePairId) else {
            self.counts.unexpected += 1;
            return;
        };
        if self.pair(id).is_none() {
            self.counts.unexpected += 1;
            return;
        }
        if doorbell.address == DESTROYED {
            return self.pairs.get_mut(id).into_iter().for_each(Pair::destroy);
        }
        let rules = &self.rules;
        let mut work = self.spare_work.pop().unwrap_or_default();
        work.extend(std::iter::from_fn(|| self.rdma.take(id, doorbell.address)));
        let inline = |work: &WorkRequest| if work.inline { work.bytes } else { 0 };
        let registration = |work: &WorkRequest| rules.registration(work.registers).0;
        let bytes = work.iter().map(|work| rules.wqe_bytes + inline(work) + registration(work)).sum();
        let brought = u32::from(doorbell.bytes);
        match work.len() {
            0 => self.spare_work.push(work),
            1 if rules.wqe_in_doorbell && brought >= rules.wqe_bytes && work[0].registers == 0 => {
                self.understand(id, (work, cx.now()), cx);
            }
            _ => {
                let address = u64::from(id.0) << 24;
                self.read(Read::Work(id, work), address, bytes, cx);
            }
        }
    }

    /// Work requests are in the adapter from `there` on, which begins with one after another.
    fn understand(
        &mut self,
        id: QueuePairId,
        (mut all, there): (Vec<WorkRequest>, Instant),
        cx: &mut Context<'_>,
    ) {
        for work in all.drain(..) {
            let (_, registering) = self.rules.registration(work.registers);
            let at = self.engine_free.max(there) + registering;
            self.engine_free = at + self.rules.wqe_interval;
            self.understood.push_back((id, work));
            self.agenda.put(at + self.rules.wqe_latency, Task::Begin, cx);
        }
        self.spare_work.push(all);
    }

    /// Begins the next decoded work request; all take the same time, so that they stay in order.
    fn begin(&mut self, cx: &mut Context<'_>) {
        let Some((id, work)) = self.understood.pop_front() else { return };
        self.counts.messages += 1;
        self.counts.registrations += u64::from(work.registers > 0);
        cx.mark(WORK);
        if self.pair(id).is_none() {
            return;
        }
        let Self { pairs, rdma, .. } = self;
        if let Some(pair) = pairs.get_mut(id) {
            pair.begin(id, (work, cx.trail()), rdma);
            self.fill(id, cx);
        }
    }

    /// Cuts packets and requests their data, as far ahead as allowed; schedules its next call.
    fn fill(&mut self, id: QueuePairId, cx: &mut Context<'_>) {
        let (now, handled) = (cx.now(), cx.trail());
        let cut = now + self.rules.tx_latency;
        while let Some(pair) = self.pairs.get_mut(id)
            && pair.has_something()
            && let Some(next) = pair.next(id, now, &self.rules, &self.rdma)
        {
            if let Some(trail) = next.trail {
                cx.resume(trail);
                cx.mark(SEND);
            }
            let ready = next.data.is_none().then_some(cut);
            let trail = cx.trail();
            let number = pair.lanes[next.lane].put(Outgoing { ready, trail, ..next.frame });
            self.pairs.wait(id, next.lane);
            match next.data {
                Some((address, bytes)) => {
                    self.read(Read::Payload { pair: id, lane: next.lane, number }, address, bytes, cx);
                }
                None => self.look_at_line(cut, cx),
            }
            cx.resume(handled);
        }
        let Some(pair) = self.pairs.get_mut(id) else { return };
        if let Some(at) = pair.look_again(now) {
            self.agenda.put(at, Task::Look(id), cx);
        }
    }

    /// Gives the line as much as it can take.
    fn send(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        let Some(site) = self.site else { return };
        if self.line_free > now {
            return self.plan_line(cx);
        }
        let Some((leaving, frame, count)) = self.take_frames(now) else { return };
        let (name, to) = leaving.ends();
        cx.resume(frame.trail);
        cx.mark_until(frame.ready.map_or(now, |ready| ready.min(now)), TRANSMIT);
        cx.mark(QUEUE);
        let from = site.station.unwrap_or(to);
        let spacing = site.line.rate.time_for(wire_bytes(frame.bytes.into()));
        let (entropy, spacing_ps) = (mix(name) as u8, spacing.as_ps() as u32);
        let (Outgoing { words, bytes, .. }, class) = (frame, self.class_of(leaving, &frame));
        let train = Train { from, to, count, bytes, spacing_ps, class, entropy, words };
        let each = if site.frame_by_frame { 1 } else { count };
        for first in (0..count).step_by(each.into()) {
            let at = Instant::from_ps(train.start_of(now.as_ps(), first)) + site.line.delay();
            cx.send_at(ETHERNET, at, Message::Frames(train.after(first).first(each)));
        }
        let length = spacing * u64::from(count);
        self.line_free = now + length;
        self.counts.sent += u64::from(frame.payload) * u64::from(count);
        self.counts.frames += u64::from(count);
        self.counts.busy_ps += u128::from(length.as_ps());
        self.pace(leaving, (&frame, count), cx);
        if self.next_lane(now).is_some() || self.next_flow(now).is_some() {
            self.plan_line(cx);
        }
        match leaving {
            Leaving::Pair(id, _) => self.fill(id, cx),
            Leaving::Socket(id, _) => self.fill_flow(id, cx),
        }
    }

    /// Frames would arrive, the first bit of the first now.
    fn frames(&mut self, train: &Train, cx: &mut Context<'_>) {
        if self.outages.are_none() {
            return self.arrive(cx.now(), train, cx);
        }
        self.counts.lost += u64::from(train.count);
        let passed: Vec<_> = self.outages.passed(cx.now(), *train).collect();
        for (at, piece) in passed {
            self.counts.lost -= u64::from(piece.count);
            self.arrive(at, &piece, cx);
        }
    }

    /// Frames arrive, the first bit of the first at `first`.
    fn arrive(&mut self, first: Instant, train: &Train, cx: &mut Context<'_>) {
        if let Some(pause) = Pause::of(train) {
            return self.hear_pause(first, pause, cx);
        }
        let Some(site) = self.site.filter(|site| site.station == Some(train.to)) else {
            self.counts.unexpected += u64::from(train.count);
            return;
        };
        let body = site.line.rate.time_for(body_bytes(train.bytes.into()));
        let last = Instant::from_ps(train.start_of(first.as_ps(), train.count - 1)) + body;
        cx.mark_until(last, LINE);
        for i in 0..train.count {
            let at = Instant::from_ps(train.start_of(first.as_ps(), i)) + body + self.rules.rx_latency;
            self.agenda.put(at, Task::Hear(train.after(i).first(1)), cx);
        }
    }

    /// A frame is in the adapter.
    fn hear(&mut self, frame: &Train, cx: &mut Context<'_>) {
        self.counts.heard += 1;
        self.counts.marked += u64::from(frame.class.is_marked());
        cx.mark(RECEIVE);
        if let Some(piece) = Piece::from_words(frame.words) {
            return self.hear_piece(piece, frame.class.is_marked(), cx);
        }
        let Some(packet) = Packet::from_words(frame.words) else {
            self.counts.unexpected += 1;
            return;
        };
        if self.hear_of_congestion((packet, frame), cx) {
            return;
        }
        let id = packet.to;
        if self.pair(id).is_none() {
            self.counts.unexpected += 1;
            return;
        }
        let Self { pairs, rdma, heard, .. } = self;
        let Some(pair) = pairs.get_mut(id).filter(|pair| !pair.is_destroyed()) else { return };
        pair.hear(id, (packet, cx.trail()), (cx.now(), rdma), heard);
        self.counts.unexpected += u64::from(std::mem::take(&mut heard.unexpected));
        // what the core sees of a WRITE is its last data, instead of an entry behind them
        let seen = self.heard.completions.pop_if(|own| matches!(own, WorkCompletion::Written { .. }));
        let last = self.heard.writes.len().wrapping_sub(1);
        for write in 0..self.heard.writes.len() {
            let (address, bytes) = self.heard.writes[write];
            self.counts.received += u64::from(bytes);
            let signals = seen.is_some() && write == last;
            let attributes = if signals { Attributes::SIGNAL } else { Attributes::NONE };
            self.write(id.0.into(), address, bytes, attributes, cx);
        }
        seen.into_iter().for_each(|written| self.rdma.complete(id, written));
        self.heard.writes.clear();
        if !self.heard.completions.is_empty() {
            let mut completions = std::mem::take(&mut self.heard.completions);
            completions.drain(..).for_each(|completion| self.complete(id, completion, cx));
            self.heard.completions = completions;
        }
        self.fill(id, cx);
    }

    /// A queue pair may be able to go on, or has waited for too long.
    fn look(&mut self, id: QueuePairId, cx: &mut Context<'_>) {
        let now = cx.now();
        let lost = self.pairs.get_mut(id).is_some_and(|pair| pair.looks(now));
        if lost {
            self.complete(id, WorkCompletion::Lost, cx);
        }
        self.fill(id, cx);
    }
    /// Tells the software of a queue pair something, by a completion entry.
    fn complete(&self, id: QueuePairId, completion: WorkCompletion, cx: &mut Context<'_>) {
        self.rdma.complete(id, completion);
        if self.pairs.get(id).is_some_and(|pair| pair.inside) {
            return self.complete_within(id, cx);
        }
        let entry = (1 << 40) | u64::from(id.0) << 12;
        self.write(id.0.into(), entry, self.rules.cqe_bytes, Attributes::SIGNAL, cx);
    }
}

impl SendsFrames for RoceNic {
    fn set_frame_by_frame(&mut self, each: bool) {
        if let Some(site) = &mut self.site {
            site.frame_by_frame = each;
        }
    }
}

impl Component<Message> for RoceNic {
    fn start(&mut self, cx: &mut Context<'_>) {
        if let Some((at, _)) = self.rules.storm {
            self.agenda.put(at, Task::Storm, cx);
        }
    }

    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        match message {
            Message::Mmio { to, handle, address, .. } if port == WITHIN => {
                self.hear_within(to, (handle, address), cx);
            }
            Message::Signal { handle, from } if port == HOST => self.fetch_entry(handle, from, cx),
            Message::Frames(train) => self.frames(&train, cx),
            Message::Tlps(tlps) => match tlps.kind {
                TlpKind::MWr => self.ring(&tlps, cx),
                TlpKind::CplD => self.completions(&tlps, cx),
                _ => self.counts.unexpected += u64::from(tlps.count),
            },
            Message::Departed { .. } => {}
            _ => unreachable!("an adapter is sent TLPs and frames, not {message:?}"),
        }
    }

    fn wake(&mut self, _: u32, cx: &mut Context<'_>) {
        while let Some(task) = self.agenda.take(cx) {
            match task {
                Task::Begin => self.begin(cx),
                Task::Hear(frame) => self.hear(&frame, cx),
                Task::Line => self.send(cx),
                Task::Look(id) => self.look(id, cx),
                Task::Cut(id, segment) => self.begin_segment(id, *segment, cx),
                Task::Joined(id) => self.joined(id, cx),
                Task::Storm => self.storm(cx),
            }
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("queue-pairs", self.pairs.len().to_string());
        see("waiting-for-the-line", self.lanes().map(Lane::len).sum::<usize>().to_string());
        see("reads", self.reads.iter().count().to_string());
        see("unexpected", self.counts.unexpected.to_string());
    }

    fn report(&mut self, now: Instant, report: &mut Report) {
        self.tell(now, report);
    }

    fn digest(&self) -> u64 {
        let Counts { sent, received, messages, frames, marked, unexpected, .. } = self.counts;
        [sent, received, messages, frames, marked, unexpected].iter().fold(0, |sum, word| mix(sum ^ word))
    }

    fn stages(&self) -> Vec<String> {
        crate::stages::names(&[requests::STAGES, STAGES])
    }
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
    lanetwin_kernel::roles! { dyn SendsFrames }
}
