//! All PCIe links of a machine, as one component of the kernel.
//!
//! A device's port number *n* on the links is the links' port number *n*: endpoint `n`. The links are foreseeing: they
//! learn of a train when it is sent, not when it becomes eligible, and that is their lookahead.

use crate::message::{Attributes, Message, Tlps};
use crate::port_messages::{DELAY, PortMessage, PortMessages};
use crate::ways::{Sent, Ways};
use crate::wiring::{WiredLink, Wiring};
use lanetwin_kernel::{Component, Context, Port, Stage, Stream, Trail};
use lanetwin_pcie::link::{
    Activity, Attach, BuildError, Class, Delivery, DepartureTap, Direction, EgressId, EndpointId,
    EndpointSpec, Environment, Fabric, FabricBuilder, LinkError, LinkId, Outage, OverheadTime, PairLatency,
    PortWeight, Starts, Stretch, SwitchId, SwitchSpec, Train,
};
use lanetwin_pcie::spec::constants::{TLP_FRAMING_8B10B_BYTES, TLP_FRAMING_128B130B_BYTES};
use lanetwin_pcie::spec::tlp::{AddressWidth, TlpKind};
use lanetwin_units::{Instant, Span};

/// TLPs on their way, and how far the request had come that they are of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Carried {
    /// The TLPs.
    pub tlps: Tlps,
    trail: Trail,
}

/// The way of a train over the links.
pub type Journey = lanetwin_pcie::link::Journey<Carried>;

/// Framing of a TLP \[B\]: a train is built before its link is known, and may, because both encodings frame alike.
const FRAMING_BYTES: u16 = {
    assert!(TLP_FRAMING_8B10B_BYTES == TLP_FRAMING_128B130B_BYTES);
    TLP_FRAMING_128B130B_BYTES as u16
};

/// Collects endpoints, switches and links by name.
#[derive(Default)]
pub struct LinksBuilder {
    fabric: FabricBuilder,
    addresses: Vec<AddressWidth>,
    names: Vec<LinkName>,
    wiring: Wiring,
    /// The root ports, if ports send messages.
    roots: Vec<EndpointId>,
}

#[derive(Clone)]
struct LinkName {
    link: String,
    ends: [String; 2],
}

/// The purposes of the streams of a link's bit errors: there and back.
const ERROR_STREAMS: [&str; 2] = ["bit errors there", "bit errors back"];
/// The purpose of the streams of a link's Recoveries: both directions draw the same.
const RECOVERIES: &str = "recoveries";

impl LinksBuilder {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds a port of a device; as a requester it uses addresses of this width.
    pub fn endpoint(&mut self, spec: EndpointSpec, addresses: AddressWidth) -> EndpointId {
        self.addresses.push(addresses);
        self.wiring.endpoints.push(spec);
        self.fabric.endpoint(spec)
    }
    /// Adds a switch.
    pub fn switch(&mut self, spec: SwitchSpec) -> SwitchId {
        self.wiring.switches.push(spec);
        self.fabric.switch(spec)
    }
    /// Joins two of them; the names are for people and for the streams of bit errors.
    pub fn link(
        &mut self,
        (name, from, to): (&str, &str, &str),
        ends: (Attach, Attach),
        there: Direction,
        back: Direction,
    ) -> LinkId {
        self.names.push(LinkName { link: name.to_owned(), ends: [from.to_owned(), to.to_owned()] });
        self.wiring.links.push(WiredLink {
            name: name.to_owned(),
            ends: [ends.0, ends.1],
            directions: [there, back],
        });
        self.fabric.link(ends.0, ends.1, there, back)
    }
    /// Says the latency of a switch between two of its ports.
    pub fn latency(&mut self, latency: PairLatency) {
        self.wiring.latencies.push(latency);
        self.fabric.latency(latency);
    }
    /// Sets the weight of an ingress port of a switch.
    pub fn weight(&mut self, weight: PortWeight) {
        self.wiring.weights.push(weight);
        self.fabric.weight(weight);
    }
    /// Adds an outage of a link; outages of a link must be added in the order of time.
    pub fn outage(&mut self, outage: Outage) {
        self.wiring.outages.push(outage);
        self.fabric.outage(outage);
    }
    /// Lets ports send messages about events of links; `roots` are the root ports.
    pub fn messages(&mut self, roots: Vec<EndpointId>) {
        self.fabric.messages(DELAY);
        self.roots = roots;
    }
    /// Promises that no completion has relaxed ordering: [`FabricBuilder::strictly_ordered`].
    pub fn strictly_ordered(&mut self) {
        self.fabric.strictly_ordered();
    }
    /// Wires it all. Bit errors come from streams of `seed` and the link's name.
    ///
    /// # Errors
    /// If the links do not fit together: see [`BuildError`].
    pub fn build(self, seed: u64) -> Result<Links, BuildError> {
        let streams = self
            .names
            .iter()
            .flat_map(|n| ERROR_STREAMS.map(|purpose| Stream::new(seed, &n.link, purpose)))
            .collect();
        let recoveries = self
            .names
            .iter()
            .flat_map(|n| [RECOVERIES; 2].map(|purpose| Stream::new(seed, &n.link, purpose)));
        let recoveries = recoveries.collect();
        let ports = self.wiring.links.iter().flat_map(|_| [AddressWidth::Bits64; 2]);
        let addresses = self.addresses.iter().copied().chain(ports);
        Ok(Links {
            fabric: self.fabric.build()?,
            messages: PortMessages::new(&self.wiring, &self.roots),
            shapes: addresses.map(|width| TlpKind::ALL.map(|kind| Shape::of(kind, width))).collect(),
            names: self.names,
            ways: Ways::new(&self.wiring),
            wiring: self.wiring,
            streams: Streams { errors: streams, recoveries },
        })
    }
}

/// Counters of one direction of a link.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkReport {
    /// The link's name.
    pub link: String,
    /// Component at its transmitter.
    pub from: String,
    /// Component at its receiver.
    pub to: String,
    /// Its TLPs.
    pub activity: Activity,
    /// Its SKPs and DLLPs.
    pub overhead: OverheadTime,
    /// Traffic between its outages.
    pub stretches: Vec<Stretch>,
}

/// All PCIe links of a machine.
pub struct Links {
    fabric: Fabric<Carried>,
    /// Messages sent by ports themselves.
    messages: PortMessages,
    /// Parameters of the TLPs of each endpoint, and of each port of a switch, by index of the kind in
    /// [`TlpKind::ALL`].
    shapes: Vec<[Shape; TlpKind::ALL.len()]>,
    names: Vec<LinkName>,
    wiring: Wiring,
    ways: Ways,
    streams: Streams,
}

/// Random numbers, by egress.
struct Streams {
    errors: Vec<Stream>,
    recoveries: Vec<Stream>,
}

impl Links {
    /// The links themselves.
    pub fn fabric(&mut self) -> &mut Fabric<Carried> {
        &mut self.fabric
    }
    /// Decides one TLP at a time: the same departures, more slowly.
    pub fn set_tlp_by_tlp(&mut self, on: bool) {
        self.fabric.set_tlp_by_tlp(on);
    }
    /// Makes ports send no messages about errors and power from now on: only TLPs of devices remain.
    pub fn silence_ports(&mut self) {
        self.messages = PortMessages::default();
    }
    /// Shows every departure to `tap`.
    pub fn set_departure_tap(&mut self, tap: Option<DepartureTap<Carried>>) {
        self.fabric.set_tap(tap);
    }
    /// The declarations of the links.
    #[must_use]
    pub fn wiring(&self) -> &Wiring {
        &self.wiring
    }
    /// Counters of every direction of every link so far.
    #[must_use]
    pub fn usage(&self) -> Vec<LinkReport> {
        let direction = |e: usize| {
            let name = &self.names[e / 2];
            LinkReport {
                link: name.link.clone(),
                from: name.ends[e % 2].clone(),
                to: name.ends[1 - e % 2].clone(),
                activity: self.fabric.activity(EgressId(e as u16)),
                overhead: self.fabric.overhead(EgressId(e as u16)),
                stretches: self.fabric.stretches(EgressId(e as u16)).to_vec(),
            }
        };
        (0..self.fabric.egress_count()).map(direction).collect()
    }
    /// The name of an egress: link, from, to.
    #[must_use]
    pub fn egress_name(&self, egress: EgressId) -> (&str, &str, &str) {
        let (name, e) = (&self.names[egress.index() / 2], egress.index() % 2);
        (&name.link, &name.ends[e], &name.ends[1 - e])
    }

    /// The link whose wire is this stage of the links. Returns `None` if it is another stage.
    #[must_use]
    pub fn link_of_wire(&self, stage: Stage) -> Option<&str> {
        self.ways.wire_of(stage).map(|egress| self.egress_name(egress).0)
    }
    /// Size on the wire of each of these TLPs of an endpoint \[B\].
    #[must_use]
    pub fn wire_bytes(&self, endpoint: EndpointId, tlps: &Tlps) -> u16 {
        let shape = self.shapes[endpoint.index()][tlps.kind as usize];
        shape.wire_bytes(shape.payload(tlps))
    }
}

/// Parameters of a kind of TLP of a requester.
#[derive(Clone, Copy)]
struct Shape {
    class: Class,
    /// Framing and header \[B\].
    overhead: u16,
    has_data: bool,
    /// Delivered one by one.
    singly: bool,
}

impl Shape {
    const fn of(kind: TlpKind, addresses: AddressWidth) -> Self {
        Self {
            class: kind.fc_class(),
            overhead: FRAMING_BYTES + kind.header_bytes(addresses) as u16,
            has_data: kind.has_data(),
            singly: matches!(kind, TlpKind::MRd | TlpKind::Msg | TlpKind::MsgD),
        }
    }
    const fn payload(self, tlps: &Tlps) -> u16 {
        if self.has_data { tlps.bytes } else { 0 }
    }
    /// A payload is a whole number of dwords on the wire.
    const fn wire_bytes(self, payload: u16) -> u16 {
        self.overhead + payload.next_multiple_of(4)
    }
    /// A train in the form that the links take.
    #[inline]
    fn train(self, tlps: &Tlps, trail: Trail) -> Train<Carried> {
        let payload = self.payload(tlps);
        Train {
            count: tlps.count,
            class: self.class,
            wire_bytes: self.wire_bytes(payload),
            payload,
            to: tlps.to,
            relaxed: tlps.attributes.has(Attributes::RELAXED),
            notify: tlps.attributes.has(Attributes::NOTIFY),
            singly: self.singly,
            user: Carried { tlps: *tlps, trail },
        }
    }
}

impl Component<Message> for Links {
    fn start(&mut self, cx: &mut Context<'_, Message>) {
        for outage in &self.wiring.outages {
            self.messages.of_link_up(outage.link.index()).for_each(|token| cx.wake_at(outage.until, token));
        }
    }

    fn receive(&mut self, _port: Port, _message: Message, _cx: &mut Context<'_, Message>) {
        unreachable!("links are told of messages when they are sent")
    }

    fn expect(&mut self, at: Instant, port: Port, message: &Message, cx: &mut Context<'_, Message>) {
        let endpoint = EndpointId(port.0);
        let trail = cx.trail();
        let Self { fabric, messages, shapes, streams, ways, wiring, .. } = self;
        let env = &mut Surroundings { cx, messages, streams, shapes, ways, wiring };
        match message {
            Message::Tlps(tlps) => {
                let train = shapes[endpoint.index()][tlps.kind as usize].train(tlps, trail);
                fabric.submit(endpoint, at, train, env);
            }
            Message::Release(release) => {
                let class = release.kind.fc_class();
                let payload = if release.kind.has_data() { release.bytes } else { 0 };
                fabric.release(endpoint, at, class, (release.count, payload), env);
            }
            other => panic!("a device sent {other:?} to the links"),
        }
        if !env.cx.expects_more() {
            fabric.settle(env.cx.now(), env);
        }
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_, Message>) {
        let Self { fabric, messages, shapes, streams, ways, wiring, .. } = self;
        let env = &mut Surroundings { cx, messages, streams, shapes, ways, wiring };
        let now = env.cx.now();
        if let Ok(egress) = u16::try_from(token) {
            fabric.pump(EgressId(egress), now, env);
        } else if let Some(PortMessage { egress, tlps }) = env.messages.of_wake(token) {
            let train = shapes[tlps.from.index()][tlps.kind as usize].train(&tlps, Trail::NONE);
            fabric.send_message((egress, tlps.from), now + DELAY, train, env);
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        self.fabric.inspect(see);
    }

    fn stages(&self) -> Vec<String> {
        Ways::stages(&self.wiring, |egress| self.egress_name(egress))
    }

    fn digest(&self) -> u64 {
        self.fabric.digest()
    }

    fn as_any(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(self)
    }
}

struct Surroundings<'a, 'b> {
    cx: &'a mut Context<'b, Message>,
    messages: &'a PortMessages,
    streams: &'a mut Streams,
    shapes: &'a [[Shape; TlpKind::ALL.len()]],
    ways: &'a mut Ways,
    wiring: &'a Wiring,
}

impl Surroundings<'_, '_> {
    /// Goes on with the request of TLPs that have started and arrive at these times.
    #[inline]
    fn follow(&mut self, to: EndpointId, carried: &Carried, times: (Starts<'_>, Instant)) {
        let Carried { tlps, trail } = carried;
        self.cx.resume(*trail);
        if *trail != Trail::NONE {
            let shape = self.shapes[tlps.from.index()][tlps.kind as usize];
            let bytes = shape.wire_bytes(shape.payload(tlps));
            let (cx, sent) = (&mut *self.cx, Sent { from: tlps.from, to, bytes });
            self.ways.follow(self.wiring, sent, times, |at, stage| cx.mark_until(at, stage));
        }
    }
}

impl Environment<Carried> for Surroundings<'_, '_> {
    #[inline]
    fn next_unknown(&mut self) -> Instant {
        self.cx.next_unknown()
    }
    #[inline]
    fn limit(&self) -> Instant {
        self.cx.limit()
    }
    #[inline]
    fn wake(&mut self, egress: EgressId, at: Instant) {
        self.cx.wake_at(at, u32::from(egress.0));
    }
    #[inline]
    fn deliver(&mut self, to: EndpointId, at: Instant, delivery: Delivery<Carried>, starts: Starts<'_>) {
        let Delivery { first, count, user, .. } = delivery;
        self.follow(to, &user, (starts, at));
        let tlps = user.tlps;
        if tlps.kind == TlpKind::MsgD {
            return; // it is for the port, not for the device behind it
        }
        let address = tlps.address + u64::from(first) * u64::from(tlps.bytes);
        self.cx.send_at(Port(to.0), at, Message::Tlps(Tlps { count, address, ..tlps }));
    }
    #[inline]
    fn departed(&mut self, from: EndpointId, at: Instant, start: u64, user: Carried) {
        // it is followed on its first link alone
        self.cx.resume(user.trail);
        let (cx, ends) = (&mut *self.cx, (from, user.tlps.to));
        self.ways.leave(self.wiring, ends, (start, at), |at, stage| cx.mark_until(at, stage));
        // Departures are decided on one direction of a link and deliveries to the same port on the other, in an
        // arbitrary order: of those at the same instant the departures come first.
        self.cx.send_first_at(Port(from.0), at, Message::Departed { handle: user.tlps.handle });
    }
    fn noticed(&mut self, egress: EgressId, error: LinkError, at: Instant) {
        if let Some(token) = self.messages.of_error(egress, error) {
            self.cx.wake_at(at, token);
        }
    }
    fn clean_bits(&mut self, egress: EgressId, bit_error_ratio: f64) -> u64 {
        self.streams.errors[egress.index()].geometric(bit_error_ratio)
    }
    fn until_recovery(&mut self, egress: EgressId, mean: Span) -> Span {
        self.streams.recoveries[egress.index()].exponential(mean)
    }
}
