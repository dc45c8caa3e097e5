//! A queue pair in its adapter: both sides of the connection, and frames that wait for the line.

use super::lane::{Lane, Outgoing};
use super::params::Rules;
use super::points::Congestion;
use super::words::{Packet, What};
use lanetwin_fabric::ethernet::logic::Station;
use lanetwin_fabric::roce::logic::packet::{Operation, Part, Psn, Request, Response, Says};
use lanetwin_fabric::roce::logic::requester::{Limits, Outcome, Requester, Work};
use lanetwin_fabric::roce::logic::responder::{Responder, Taken};
use lanetwin_fabric::roce::spec::{Kind, PathMtu, packet_bytes};
use lanetwin_fabric::roce::throughput::Message;
use lanetwin_kernel::Trail;
use lanetwin_ports::{QueuePairId, Rdma, Receive, Sent, UnderWay, WorkCompletion, WorkRequest};
use lanetwin_units::Instant;
use std::collections::{BTreeMap, VecDeque};

/// The lane of requests, and that of answers.
pub(super) const REQUESTS: usize = 0;
pub(super) const ANSWERS: usize = 1;
/// That of notifications of congestion, which go first.
pub(super) const NOTIFICATIONS: usize = 2;

/// The command of a capsule \[B\] (NVM Express over Fabrics 1.1, figure 5).
const CAPSULE_BYTES: u32 = 64;

#[derive(Debug)]
pub(super) struct Pair {
    peer: QueuePairId,
    pub(super) peer_station: Station,
    mtu: PathMtu,
    pub(super) requester: Requester,
    pub(super) responder: Responder,
    pub(super) lanes: [Lane; 3],
    /// Its congestion state; `None` without congestion control.
    pub(super) congestion: Option<Congestion>,
    /// The name of the next message.
    name: u32,
    /// Number of receives posted.
    receives: u64,
    /// The receive that a SEND is coming into.
    receive: Option<Receive>,
    /// Trails of the requests whose READs are being answered, by message.
    answering: BTreeMap<u32, Trail>,
    /// Time of its next check; in the past if none is planned.
    planned: Instant,
    lost: bool,
    destroyed: bool,
    /// Number of retries for later messages; kept while the first message, which is never retried, is in progress.
    behind_datagram: Option<u32>,
    /// Whether its software is inside the adapter: capsules stay there, and only their data go to host memory.
    pub(super) inside: bool,
    /// The datagrams that are to be sent, where its messages are some.
    datagrams: Option<VecDeque<u32>>,
}

/// A packet that is to be sent.
pub(super) struct Next {
    pub(super) lane: usize,
    pub(super) frame: Outgoing,
    /// Address and size of its payload in host memory; `None` if it has none there.
    pub(super) data: Option<(u64, u32)>,
    /// Trail of its request; `None` if that is the one being handled.
    pub(super) trail: Option<Trail>,
}

/// Effects of a packet.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Writes to host memory: address and size \[B\].
    pub(super) writes: Vec<(u64, u32)>,
    pub(super) completions: Vec<WorkCompletion>,
    /// Whether it belongs to nothing.
    pub(super) unexpected: bool,
    /// Outcomes reported by the requester; empty in between.
    told: Vec<Outcome>,
}

impl Pair {
    pub(super) fn new(peer: QueuePairId, peer_station: Station, limits: Limits) -> Self {
        Self {
            peer,
            peer_station,
            mtu: limits.mtu,
            requester: Requester::new(limits, 0),
            responder: Responder::new(limits.mtu, 0),
            lanes: Default::default(),
            congestion: None,
            name: 0,
            receives: 0,
            receive: None,
            answering: BTreeMap::new(),
            planned: Instant::ZERO,
            lost: false,
            destroyed: false,
            behind_datagram: None,
            inside: false,
            datagrams: None,
        }
    }

    /// Applies the software's settings: where it runs, and whether the first message is sent only once, like a
    /// datagram.
    pub(super) fn be_as_told(&mut self, own: QueuePairId, rdma: &Rdma, retries: u32) {
        self.inside = rdma.is_inside(own);
        self.datagrams = rdma.is_for_datagrams(own).then(VecDeque::new);
        if rdma.is_opening(own) {
            self.behind_datagram = Some(retries);
            self.requester.retry(0);
        }
    }
    /// It is no more: nothing leaves or is taken.
    pub(super) fn destroy(&mut self) {
        (self.lost, self.destroyed) = (true, true);
        self.lanes.iter_mut().for_each(Lane::clear);
    }
    pub(super) const fn is_destroyed(&self) -> bool {
        self.destroyed
    }
    /// Begins with a message.
    pub(super) fn begin(&mut self, own: QueuePairId, (work, trail): (WorkRequest, Trail), rdma: &Rdma) {
        let (message, first) = (self.name, self.requester.end());
        self.name = self.name.wrapping_add(1);
        match &mut self.datagrams {
            Some(waiting) => waiting.push_back(message),
            None => self.requester.post(Work { message, operation: work.operation, bytes: work.bytes }),
        }
        rdma.begin(own, message, UnderWay { work, first, trail });
    }

    /// Whether a packet waits to be cut: otherwise [`Pair::next`] returns `None`.
    #[inline]
    pub(super) fn has_something(&self) -> bool {
        let datagram = self.datagrams.as_ref().is_some_and(|waiting| !waiting.is_empty());
        self.requester.has_something() || self.responder.answers() > 0 || datagram
    }

    /// The next packet whose data may be requested at `now`: answers first.
    pub(super) fn next(
        &mut self,
        own: QueuePairId,
        now: Instant,
        rules: &Rules,
        rdma: &Rdma,
    ) -> Option<Next> {
        if self.lost {
            return None;
        }
        if let Some(message) = self.datagrams.as_mut().and_then(VecDeque::pop_front) {
            return self.datagram(own, message, rules, rdma);
        }
        while self.lanes[ANSWERS].payload() < rules.ahead
            && let Some(response) = self.responder.send()
        {
            let next = self.answer(response, rules, rdma);
            if next.is_some() {
                return next;
            }
        }
        if self.lanes[REQUESTS].payload() >= rules.ahead {
            return None;
        }
        let request = self.requester.send(now.as_ps())?;
        Some(self.request(own, request, rules, rdma))
    }

    /// A datagram as a packet.
    fn datagram(&self, own: QueuePairId, message: u32, rules: &Rules, rdma: &Rdma) -> Option<Next> {
        let sent = rdma.under_way(own, message)?;
        let kind = (Kind::Datagram, sent.bytes);
        let mut next = self.frame(REQUESTS, (0, message), What::Datagram, kind, rules);
        next.trail = Some(sent.trail);
        next.data = Some((sent.local, sent.bytes)).filter(|_| !sent.inline);
        Some(next)
    }
    /// Handles a datagram: it is taken if there is room, and otherwise dropped silently.
    fn hear_datagram(&self, own: QueuePairId, packet: &Packet, rdma: &Rdma, heard: &mut Heard) {
        let content = rdma.content(self.peer, packet.message);
        let Some(UnderWay { work, .. }) = rdma.end(self.peer, packet.message) else {
            heard.unexpected = true;
            return;
        };
        let Some(receive) = rdma.take_receive(own) else { return };
        let (id, bytes) = (receive.id, work.bytes);
        if !self.inside {
            heard.writes.push((receive.address, bytes));
        }
        heard.completions.push(WorkCompletion::Received { id, bytes, invalidated: false, content });
    }

    fn request(&self, own: QueuePairId, request: Request, rules: &Rules, rdma: &Rdma) -> Next {
        let Request { psn, operation, part, ack } = request;
        let message = match operation {
            Operation::Send { invalidate: true } => Message::SendInvalidate,
            Operation::Send { invalidate: false } => Message::Send,
            Operation::Write => Message::Write,
            Operation::Read => {
                let place = (psn.raw(), part.message);
                let next = self.frame(REQUESTS, place, What::Request { ack }, (Kind::Addressed, 0), rules);
                let trail = rdma.under_way(own, part.message).map(|sent| sent.trail);
                return Next { trail, ..next };
            }
        };
        let kind = message.kind(part.offset == 0, part.last);
        let what = What::Request { ack };
        let mut next = self.frame(REQUESTS, (psn.raw(), part.message), what, (kind, part.bytes), rules);
        let sent = rdma.under_way(own, part.message);
        next.trail = sent.map(|sent| sent.trail);
        let outside = sent.filter(|sent| !sent.inline && part.bytes > 0);
        next.data = outside.map(|sent| (sent.local + u64::from(part.offset), part.bytes));
        next
    }

    /// An answer as a packet. Returns `None` for data of a READ that is over.
    fn answer(&mut self, response: Response, rules: &Rules, rdma: &Rdma) -> Option<Next> {
        let what = match response.says {
            Says::Ack => What::Ack,
            Says::OutOfSequence => What::OutOfSequence,
            Says::NotReady => What::NotReady,
            Says::Data(part) => {
                let read = rdma.under_way(self.peer, part.message)?;
                let kind = Message::ReadResponse.kind(part.offset == 0, part.last);
                let place = (response.psn.raw(), part.message);
                let mut next = self.frame(ANSWERS, place, What::Data, (kind, part.bytes), rules);
                next.data = (part.bytes > 0).then_some((read.remote + u64::from(part.offset), part.bytes));
                next.trail = self.answering.get(&part.message).copied();
                if part.last {
                    self.answering.remove(&part.message);
                }
                return Some(next);
            }
        };
        Some(self.frame(ANSWERS, (response.psn.raw(), 0), what, (Kind::Acknowledging, 0), rules))
    }

    pub(super) fn frame(
        &self,
        lane: usize,
        (psn, message): (u32, u32),
        what: What,
        (kind, payload): (Kind, u32),
        rules: &Rules,
    ) -> Next {
        let psn = Psn::of(psn.into());
        let words = Packet { psn, message, to: self.peer, what }.words();
        let bytes = packet_bytes(kind, payload, rules.tagging) as u16;
        let frame = Outgoing { words, bytes, payload, ready: None, trail: Trail::NONE };
        Next { lane, frame, data: None, trail: None }
    }

    /// A packet has come.
    pub(super) fn hear(
        &mut self,
        own: QueuePairId,
        (packet, trail): (Packet, Trail),
        (now, rdma): (Instant, &Rdma),
        heard: &mut Heard,
    ) {
        let posted = rdma.receives(own);
        self.responder.post(posted - self.receives);
        self.receives = posted;
        if packet.what == What::Datagram {
            return self.hear_datagram(own, &packet, rdma, heard);
        }
        if let What::Request { ack } = packet.what {
            self.hear_request(own, (packet, ack, trail), rdma, heard);
        } else {
            self.hear_response(own, packet, now, rdma, heard);
        }
    }

    /// The part of a message that is in the packet with this number.
    fn part(&self, packet: &Packet, of: &Sent) -> Part {
        let (mtu, bytes) = (u64::from(self.mtu.bytes()), of.bytes);
        let index = packet.psn.near(of.first).saturating_sub(of.first);
        let offset = (index * mtu).min(bytes.into()) as u32;
        let bytes_here = (bytes - offset).min(self.mtu.bytes());
        Part { message: packet.message, offset, bytes: bytes_here, last: offset + bytes_here == bytes }
    }

    fn hear_request(
        &mut self,
        own: QueuePairId,
        (packet, ack, trail): (Packet, bool, Trail),
        rdma: &Rdma,
        heard: &mut Heard,
    ) {
        let Some(sent) = rdma.under_way(self.peer, packet.message) else {
            heard.unexpected = true;
            return;
        };
        let (operation, part) = (sent.operation, self.part(&packet, &sent));
        let part = match operation {
            Operation::Read => Part { bytes: sent.bytes - part.offset, last: true, ..part },
            _ => part,
        };
        match self.responder.receive(Request { psn: packet.psn, operation, part, ack }) {
            Taken::Data(Operation::Write, part) => {
                heard
                    .writes
                    .extend((part.bytes > 0).then_some((sent.remote + u64::from(part.offset), part.bytes)));
                let is_seen = part.last && part.bytes > 0 && rdma.is_watched(own);
                heard.completions.extend(is_seen.then_some(WorkCompletion::Written { bytes: sent.bytes }));
            }
            Taken::Data(operation, part) => {
                if part.offset == 0 {
                    self.receive = rdma.take_receive(own);
                }
                let Some(receive) = self.receive else { return };
                let kept =
                    if self.inside { CAPSULE_BYTES.saturating_sub(part.offset).min(part.bytes) } else { 0 };
                let from = u64::from(part.offset + kept);
                let outside = part.bytes - kept;
                heard.writes.extend((outside > 0).then_some((receive.address + from, outside)));
                if part.last {
                    let bytes = sent.bytes;
                    let invalidated = operation == Operation::Send { invalidate: true };
                    let content = rdma.content(self.peer, packet.message);
                    heard.completions.push(WorkCompletion::Received {
                        id: receive.id,
                        bytes,
                        invalidated,
                        content,
                    });
                }
            }
            Taken::Read(_) => {
                self.answering.insert(packet.message, trail);
            }
            Taken::Nothing => {}
        }
    }

    fn hear_response(
        &mut self,
        own: QueuePairId,
        packet: Packet,
        now: Instant,
        rdma: &Rdma,
        heard: &mut Heard,
    ) {
        let says = match packet.what {
            What::Data => {
                let Some(read) = rdma.under_way(own, packet.message) else {
                    heard.unexpected = true;
                    return;
                };
                Says::Data(self.part(&packet, &read))
            }
            What::OutOfSequence => Says::OutOfSequence,
            What::NotReady => Says::NotReady,
            What::Ack | What::Congestion | What::Datagram | What::Request { .. } => Says::Ack,
        };
        let mut told = std::mem::take(&mut heard.told);
        let response = Response { psn: packet.psn, says };
        let before = self.went_back();
        if self.requester.receive(now.as_ps(), response, &mut told).is_err() {
            self.lose(heard);
        }
        self.start_anew(before);
        for outcome in told.drain(..) {
            match outcome {
                Outcome::Data(part) => {
                    let to = rdma.under_way(own, part.message).filter(|_| part.bytes > 0);
                    heard.writes.extend(to.map(|read| (read.local + u64::from(part.offset), part.bytes)));
                }
                Outcome::Done(message) => {
                    if let Some(retries) = self.behind_datagram.take() {
                        self.requester.retry(retries);
                    }
                    let done = rdma.end(own, message).filter(|done| done.work.signalled);
                    heard.completions.extend(done.map(|done| WorkCompletion::Done { id: done.work.id }));
                }
            }
        }
        heard.told = told;
    }

    /// Number of times that the requester has gone back.
    fn went_back(&self) -> u64 {
        let counts = self.requester.counts();
        counts.gaps + counts.timeouts + counts.not_ready
    }
    /// Discards packets that were cut but not sent, if the requester has gone back since.
    fn start_anew(&mut self, before: u64) {
        if self.went_back() > before {
            self.lanes[REQUESTS].clear();
        }
    }

    fn lose(&mut self, heard: &mut Heard) {
        if !std::mem::replace(&mut self.lost, true) {
            heard.completions.push(WorkCompletion::Lost);
        }
    }

    /// Time has passed; whether the connection is lost with it.
    pub(super) fn looks(&mut self, now: Instant) -> bool {
        if self.planned <= now {
            self.planned = Instant::ZERO;
        }
        let before = self.went_back();
        let lost = self.requester.expire(now.as_ps()).is_err();
        self.start_anew(before);
        lost && !std::mem::replace(&mut self.lost, true)
    }

    /// When it has to be checked again, unless that is planned.
    pub(super) fn look_again(&mut self, now: Instant) -> Option<Instant> {
        let never = Instant::NEVER.as_ps();
        let waits = self.requester.ready().filter(|at| *at > now.as_ps()).unwrap_or(never);
        let next = waits.min(self.requester.deadline().unwrap_or(never));
        if next == never || self.lost {
            return None;
        }
        let next = Instant::from_ps(next).max(now);
        if self.planned > now && self.planned <= next {
            return None;
        }
        self.planned = next;
        Some(next)
    }
}
