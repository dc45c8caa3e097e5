//! One end of a TCP connection in the software of its host: the kernel's stack, and the stream of messages: data
//! units of NVMe/TCP, or bytes of programs.
//!
//! ```text
//!  offer ─► message ─► window ─► core: send, a segment of up to 64 KiB at a time ─► doorbell … adapter
//!  adapter … signal ─► core: receive, acknowledge ─► worker ─► core: copy, digest, unit ─► whole messages
//! ```
//!
//! A message is what software sends of one command in one direction: its data units. Targets, and SPDK as an
//! initiator, send all messages together that wait for their core (`waiting`); Linux as an initiator sends each by
//! itself. What is sent together ends a segment (`MSG_EOR`, Linux `drivers/nvme/host/tcp.c` and
//! `drivers/nvme/target/tcp.c`). All costs are CPU time of the core that serves the queue, for softirq and worker
//! (`io_work`) alike.

mod costs;

pub use costs::limits;
pub(crate) use costs::{PARAMS, TcpCosts};

use crate::fabric_control::Control;
use lanetwin_fabric::ethernet::logic::Station;
use lanetwin_fabric::tcp::logic::connection::{Connection, Limits};
use lanetwin_fabric::tcp::logic::segment::Segment;
use lanetwin_kernel::{Metric, Port, Report, Stage, Trail};
use lanetwin_nvmeof::logic::tcp::Stream;
use lanetwin_nvmeof::spec::tcp::DigestTypes;
use lanetwin_pcie::link::EndpointId;
use lanetwin_ports::usage::adapter;
use lanetwin_ports::{Context, Message as PortMessage, RunQueue, SocketId, Sockets, socket_handle};
use lanetwin_units::{Better, Instant, Span};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

lanetwin_kernel::stages! {
    WINDOW = "queue for the window",
    SEND = "TCP: send",
    RECEIVE = "TCP: receive",
    WORKER = "TCP: worker",
    COPY = "TCP: copy",
    DIGEST = "TCP: digest",
    UNIT = "TCP: data unit",
    STREAM = "TCP: sent again",
    TOGETHER = "TCP: sent with others",
    CALL = "system call",
    MODERATED = "interrupt moderation",
}

const SEGMENTS: Metric = Metric::new("TCP segments sent", "M/s", Better::Neither).if_any("TCP");
const AGAIN: Metric = Metric::new("TCP data sent again", "B", Better::Lower).if_any("TCP losses");
const GAPS: Metric = Metric::new("TCP gaps", "", Better::Lower).if_any("TCP losses");
const TIMEOUTS: Metric = Metric::new("TCP timeouts", "", Better::Lower).if_any("TCP losses");
const SLOWED: Metric = Metric::new("TCP windows shrunk by marks", "", Better::Lower).if_any("TCP marks");

/// The doorbell of an adapter's driver in the kernel \[B\]: descriptors are read from memory.
const DOORBELL_BYTES: u16 = 8;
/// The port to its host of software that has one host alone.
pub(crate) const CPU: Port = Port(0);

/// A message to send.
struct Message {
    stream: Stream,
    /// Control message instead of data units.
    control: Option<Control>,
    /// Identifier given by a program, for bytes instead of data units.
    name: Option<u64>,
    /// Its length, and its end in the stream of the connection.
    bytes: u64,
    end: u64,
    /// Whether another message follows in the same segment.
    is_followed: bool,
    /// Trail of its request.
    trail: Trail,
}

impl Message {
    /// That of a request, which is not in the stream yet.
    const fn new(stream: Stream, bytes: u64, trail: Trail) -> Self {
        Self { stream, control: None, name: None, bytes, end: 0, is_followed: false, trail }
    }
}

type Pipe = Rc<RefCell<VecDeque<Message>>>;

/// A message that is here.
pub(crate) struct Delivered {
    pub(crate) stream: Stream,
    /// Control message instead of data units.
    pub(crate) control: Option<Control>,
    /// Identifier given by the sending program, if any.
    pub(crate) name: Option<u64>,
    /// When the core has finished copying it.
    pub(crate) at: Instant,
}

/// Counters of a socket.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counts {
    segments: u64,
    resent: u64,
    again: u64,
    gaps: u64,
    timeouts: u64,
    slowed: u64,
}

impl Counts {
    /// Adds the counters of another socket.
    pub(crate) fn add(&mut self, other: Self) {
        self.segments += other.segments;
        self.resent += other.resent;
        self.again += other.again;
        self.gaps += other.gaps;
        self.timeouts += other.timeouts;
        self.slowed += other.slowed;
    }
    /// Tells them.
    pub(crate) fn report(self, report: &mut Report) {
        report.rate(SEGMENTS, self.segments, 1e6);
        report.count(adapter::RESENT, self.resent);
        report.count(AGAIN, self.again);
        report.count(GAPS, self.gaps);
        report.count(TIMEOUTS, self.timeouts);
        report.count(SLOWED, self.slowed);
    }
}

/// Core and adapter of a socket's software.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) core: &'a RunQueue,
    pub(crate) costs: &'a TcpCosts,
    pub(crate) adapter: EndpointId,
    /// The port to its host.
    pub(crate) cpu: Port,
    /// The stage of waiting for the core.
    pub(crate) waiting: Stage,
}

/// One end of a connection of TCP.
pub struct TcpSocket {
    id: SocketId,
    sockets: Sockets,
    connection: Connection,
    /// Its limits, and those of the other end.
    limits: [Limits; 2],
    /// The most payload of a frame \[B\].
    segment: u32,
    digests: DigestTypes,
    sends: Pipe,
    hears: Pipe,
    /// Messages that wait for the core, and whether it is planned when they are sent.
    waiting: VecDeque<Message>,
    is_planned: bool,
    /// When that is.
    sends_at: Instant,
    /// Bytes offered, and the ends of unacknowledged messages with their trails.
    offered: u64,
    trails: VecDeque<(u64, Trail)>,
    /// The ends of segments that came and are not taken, with their trails.
    heard: Vec<(u64, Trail)>,
    /// Positions in the stream up to which the worker has taken data, and delivered them.
    taken: u64,
    handed: u64,
    /// Whether the worker is scheduled.
    works: bool,
    /// When the last interrupt came that was moderated.
    interrupted: Instant,
    /// When the core looks for segments.
    looks: Instant,
    /// Time of the timer; in the past if it is not set.
    timer: Instant,
    /// When something was last received, or nothing was outstanding.
    alive: Instant,
    segments: u64,
}

impl TcpSocket {
    /// Connects two stations: the ends of both, in this order, as are their limits, which agree in the segment.
    #[must_use]
    pub fn connect(
        sockets: &Sockets,
        ends: [Station; 2],
        (limits, digests): ([Limits; 2], DigestTypes),
    ) -> [Self; 2] {
        let [a, b] = sockets.connect(ends, limits[0].segment);
        let [there, back] = [Pipe::default(), Pipe::default()];
        let end = |id, limits: [Limits; 2], sends: &Pipe, hears: &Pipe| Self {
            id,
            sockets: sockets.clone(),
            connection: Connection::new(limits[0], 0),
            limits,
            segment: limits[0].segment,
            digests,
            sends: Rc::clone(sends),
            hears: Rc::clone(hears),
            waiting: VecDeque::new(),
            is_planned: false,
            sends_at: Instant::ZERO,
            offered: 0,
            trails: VecDeque::new(),
            heard: Vec::new(),
            taken: 0,
            handed: 0,
            works: false,
            interrupted: Instant::ZERO,
            looks: Instant::ZERO,
            timer: Instant::ZERO,
            alive: Instant::ZERO,
            segments: 0,
        };
        let [own, other] = limits;
        [end(a, [own, other], &there, &back), end(b, [other, own], &back, &there)]
    }
    /// A connection of the same two stations, this end first.
    pub(crate) fn again(&self) -> Option<[Self; 2]> {
        let ends = self.sockets.ends(self.id)?;
        let stations = [ends.station, ends.peer_station];
        Some(Self::connect(&self.sockets, stations, (self.limits, self.digests)))
    }
    /// Its handle in doorbells and signals.
    pub(crate) const fn handle(&self) -> u32 {
        socket_handle(self.id)
    }

    /// Sends a message of the request that is being handled, which the core begins with at `begins`: as soon as windows
    /// allow it, and where software sends several together, with the others that wait for the core by then
    /// ([`plan_sending`](Self::plan_sending)).
    pub(crate) fn send(&mut self, stream: Stream, begins: Instant, place: Place<'_>, cx: &mut Context<'_>) {
        let bytes = stream.len();
        self.build(Message::new(stream, bytes, cx.trail()), place, cx);
        if self.waiting.len() == 1 {
            self.sends_at = begins;
        }
        if place.costs.together == 1 || self.sends_at <= cx.now() {
            self.send_waiting(place, cx);
        }
    }
    /// The same for bytes of a program, with its identifier: the call, and the part that can be sent at once.
    pub(crate) fn send_bytes(&mut self, (bytes, name): (u64, u64), place: Place<'_>, cx: &mut Context<'_>) {
        work(place, place.costs.unit, CALL, cx);
        let message = Message { name: Some(name), ..Message::new(Stream::new(), bytes, cx.trail()) };
        self.build(message, place, cx);
        self.send_waiting(place, cx);
    }
    /// The same for a message beside I/O, which waits for nothing.
    pub(crate) fn send_control(&mut self, control: Control, place: Place<'_>, cx: &mut Context<'_>) {
        let bytes = control.by_tcp();
        let message = Message { control: Some(control), ..Message::new(Stream::new(), bytes, cx.trail()) };
        self.build(message, place, cx);
        self.send_waiting(place, cx);
    }
    /// Number of bytes offered so far, and of those not acknowledged.
    pub(crate) const fn offered(&self) -> (u64, u64) {
        (self.offered, self.connection.outstanding())
    }
    /// Builds the data units of a message, which waits then.
    fn build(&mut self, message: Message, place: Place<'_>, cx: &mut Context<'_>) {
        let units = message.stream.units();
        let headers = if self.digests.header() { units.headers } else { 0 };
        let data = if self.digests.data() { units.data } else { 0 };
        work(place, place.costs.unit * u64::from(units.count()), UNIT, cx);
        work(place, place.costs.digesting(headers + data), DIGEST, cx);
        self.waiting.push_back(Message { trail: cx.trail(), ..message });
    }
    /// When the core sends the messages that wait for it, unless that is planned.
    pub(crate) fn plan_sending(&mut self) -> Option<Instant> {
        let is_new = !self.waiting.is_empty() && !std::mem::replace(&mut self.is_planned, true);
        is_new.then_some(self.sends_at)
    }
    /// The core sends the messages that wait for it, as many together as software does.
    pub(crate) fn send_waiting(&mut self, place: Place<'_>, cx: &mut Context<'_>) {
        self.is_planned = false;
        if self.connection.outstanding() == 0 {
            self.alive = cx.now();
        }
        let (mut left, now) = (self.waiting.len(), cx.now().as_ps());
        while let Some(message) = self.waiting.pop_front() {
            left -= 1;
            let is_followed = left % place.costs.together > 0;
            self.offered += message.bytes;
            self.trails.push_back((self.offered, message.trail));
            match is_followed {
                true => self.connection.offer(now, message.bytes),
                false => self.connection.offer_message(now, message.bytes),
            }
            self.sends.borrow_mut().push_back(Message { end: self.offered, is_followed, ..message });
        }
        self.transmit(place, cx);
    }

    /// Hands the adapter the segments that can be sent now.
    fn transmit(&mut self, place: Place<'_>, cx: &mut Context<'_>) {
        let handled = cx.trail();
        while let Some(segment) = self.connection.send(cx.now().as_ps()) {
            self.segments += 1;
            cx.resume(self.trail_of(&segment));
            cx.mark(WINDOW);
            let at = work(place, place.costs.sending(segment.bytes), SEND, cx);
            let (to, bytes, handle) = (place.adapter, DOORBELL_BYTES, self.handle());
            let address = self.sockets.post(self.id, segment);
            cx.send_at(place.cpu, at, PortMessage::Mmio { to, bytes, handle, address });
        }
        cx.resume(handled);
    }
    /// That of the message that a segment ends in; nothing if it only acknowledges.
    fn trail_of(&mut self, segment: &Segment) -> Trail {
        let acknowledged = self.offered - self.connection.outstanding();
        while self.trails.front().is_some_and(|(end, _)| *end <= acknowledged) {
            self.trails.pop_front();
        }
        if segment.bytes == 0 {
            return Trail::NONE;
        }
        let end = segment.seq.near(self.offered) + u64::from(segment.bytes);
        let place = self.trails.partition_point(|(upto, _)| *upto < end);
        self.trails.get(place).map_or(Trail::NONE, |(_, trail)| *trail)
    }

    /// A segment is here: when the core looks, which takes `notice` from the interrupt; nothing if a look is scheduled
    /// (`looking`) that is early enough.
    ///
    /// The kernel takes the interrupts of software that polls, too: its sockets have what the stack has taken in. Each
    /// segment restarts the timer (Linux, `ethtool-netlink.rst`, CQE mode). A core at work is taken to be so on what
    /// came before, and finds it without an interrupt (NAPI).
    pub(crate) fn notice(
        &mut self,
        core: &RunQueue,
        (polled, notice): (bool, Span),
        looking: bool,
        now: Instant,
    ) -> Option<Instant> {
        let moderated = self.sockets.moderation(self.id);
        if looking {
            if self.interrupted <= now {
                return None;
            }
            self.looks = now + moderated + (self.looks - self.interrupted);
            self.interrupted = now + moderated;
            return (moderated == Span::ZERO).then_some(self.looks);
        }
        let free = core.serve(now, Span::ZERO);
        let moderated = if free > now { Span::ZERO } else { moderated };
        self.interrupted = if moderated > Span::ZERO { now + moderated } else { Instant::ZERO };
        self.looks = if polled { free } else { now } + moderated + notice;
        if !polled {
            // an interrupt goes before whatever waits: that is later by as much
            core.serve(now, notice);
        }
        Some(self.looks)
    }
    /// When the core looks, if that is later than planned.
    pub(crate) fn looks_later(&self, now: Instant) -> Option<Instant> {
        (self.looks > now).then_some(self.looks)
    }

    /// Processes the segments that the adapter has signalled, each with its trail. Returns when the worker begins,
    /// unless it is scheduled. `notice` is the stage up to now.
    pub(crate) fn receive(
        &mut self,
        signals: VecDeque<Trail>,
        notice: Stage,
        place: Place<'_>,
        cx: &mut Context<'_>,
    ) -> Option<Instant> {
        let mut done = cx.now();
        self.alive = done;
        for trail in signals {
            let Some(segment) = self.sockets.poll(self.id) else { continue };
            cx.resume(trail);
            if cx.marked_until().is_some_and(|until| until < self.interrupted) {
                cx.mark_until(self.interrupted, MODERATED);
            }
            cx.mark(notice);
            done = work(place, place.costs.receiving(segment.bytes, self.segment), RECEIVE, cx);
            let end = segment.seq.near(self.taken) + u64::from(segment.bytes);
            self.connection.receive(cx.now().as_ps(), &segment);
            if segment.bytes > 0 {
                self.heard.push((end, cx.trail()));
            }
        }
        self.transmit(place, cx);
        let begins = self.connection.available() > 0 && !std::mem::replace(&mut self.works, true);
        begins.then(|| done + place.costs.worker)
    }

    /// The worker begins: it takes all that is here.
    pub(crate) fn begin_work(&mut self) {
        self.works = false;
        let there = self.connection.available();
        self.connection.take(there);
        self.taken += there;
    }
    /// The next whole message; its request is the one that is handled then.
    pub(crate) fn next_message(&mut self, place: Place<'_>, cx: &mut Context<'_>) -> Option<Delivered> {
        let upto = self.hears.borrow().front().map_or(self.taken, |message| message.end);
        let bytes = upto.min(self.taken) - self.handed;
        self.handed += bytes;
        let digested = if self.digests.data() { bytes } else { 0 };
        let copied = (place.costs.copying(bytes), place.costs.digesting(digested));
        if upto > self.taken || bytes == 0 {
            // a partial message is copied; it is delivered when its end arrives
            place.core.serve(cx.now(), copied.0 + copied.1);
            return None;
        }
        let message = self.hears.borrow_mut().pop_front()?;
        self.resume(&message, cx);
        let units = message.stream.units();
        let headers = if self.digests.header() { units.headers } else { 0 };
        cx.mark(WORKER);
        work(place, copied.0, COPY, cx);
        work(place, copied.1 + place.costs.digesting(headers), DIGEST, cx);
        let at = match message.name {
            Some(_) => work(place, place.costs.unit, CALL, cx),
            None => work(place, place.costs.unit * u64::from(units.count()), UNIT, cx),
        };
        let Message { stream, control, name, .. } = message;
        Some(Delivered { stream, control, name, at })
    }
    /// Continues the request of a message on the trail of the segment that brought its end, which is another request's
    /// if another message followed in it.
    fn resume(&mut self, message: &Message, cx: &mut Context<'_>) {
        let brought = self.heard.iter().find(|(end, _)| *end == message.end);
        match brought {
            Some((_, trail)) => cx.resume(*trail),
            None => {
                let beyond = self.heard.iter().find(|(end, _)| *end > message.end);
                let other = beyond.or(self.heard.last()).map_or(Trail::NONE, |(_, trail)| *trail);
                cx.resume(other);
                cx.join(message.trail, if message.is_followed { TOGETHER } else { STREAM });
            }
        }
        self.heard.retain(|(end, _)| *end > message.end);
    }
    /// Ends the worker's turn: the peer is told of the free receive buffer.
    pub(crate) fn end_work(&mut self, place: Place<'_>, cx: &mut Context<'_>) {
        self.transmit(place, cx);
    }

    /// Whether it has an acknowledgement to send.
    pub(crate) fn owes(&self) -> bool {
        self.connection.receiver().deadline().is_some()
    }
    /// Its counters.
    pub(crate) fn counts(&self) -> Counts {
        let counts = self.connection.sender().counts();
        let (resent, again, gaps) = (counts.resent, counts.again, counts.gaps);
        let (timeouts, slowed) = (counts.timeouts, counts.slowed);
        Counts { segments: self.segments, resent, again, gaps, timeouts, slowed }
    }

    /// The time for its timer, unless it is set.
    pub(crate) fn set_timer(&mut self, now: Instant) -> Option<Instant> {
        let at = Instant::from_ps(self.connection.deadline()?.max(now.as_ps() + 1));
        let is_set = self.timer > now && self.timer <= at;
        (!is_set).then(|| {
            self.timer = at;
            at
        })
    }
    /// Handles its timer: retransmits. Returns whether nothing has been received for so long that the connection is
    /// given up.
    pub(crate) fn expire(&mut self, place: Place<'_>, cx: &mut Context<'_>) -> bool {
        let now = cx.now();
        let silent = self.connection.outstanding() > 0 && self.alive + place.costs.silence <= now;
        if !silent {
            self.connection.expire(now.as_ps());
            self.transmit(place, cx);
        }
        silent
    }
}

/// Spends CPU time of the core on the request being handled. Returns when it is done.
fn work(place: Place<'_>, cost: Span, stage: Stage, cx: &mut Context<'_>) -> Instant {
    let begun = place.core.serve(cx.now(), cost);
    let done = begun + cost;
    if cost > Span::ZERO {
        cx.mark_until(begun, place.waiting);
        cx.mark_until(done, stage);
    }
    done
}

/// Reports of sockets.
pub(crate) fn report<'a>(sockets: impl Iterator<Item = &'a TcpSocket>, report: &mut Report) {
    let mut sum = Counts::default();
    sockets.for_each(|socket| sum.add(socket.counts()));
    sum.report(report);
}
