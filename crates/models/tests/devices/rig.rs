//! What the tests put around a device: values of parameters, a peer with a script, a wire.

use lanetwin_cxl::hdm::Decoder;
use lanetwin_fabric::ethernet::logic::{Forwarding, Station};
use lanetwin_fabric::ethernet::spec::{Line, Rate};
use lanetwin_kernel::{Component, ComponentId, Port, Stage};
use lanetwin_models::find;
use lanetwin_pcie::link::EndpointId;
use lanetwin_pcie::spec::TlpKind;
use lanetwin_ports::{
    Attributes, Builder, Context, Dimension, EthernetSite, Kernel, Message, Model, Params, PcieSite,
    Protocol, Site, Tlps, Value,
};
use lanetwin_units::{Bytes, Instant, Span};
use std::cell::RefCell;
use std::rc::Rc;

/// What a peer has received, when \[ps\], and where.
pub type Log = Rc<RefCell<Vec<(u64, Port, Message)>>>;

pub fn ns(ns: u64) -> Instant {
    Instant::ZERO + Span::from_ns(ns)
}

/// A value written as a default is: a whole number and a unit.
pub fn parse(dimension: Dimension, text: &str) -> Option<Value> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let whole = |units: &[(&str, u64)]| {
        let scale = units.iter().find(|(name, _)| *name == unit)?.1;
        Some(number.parse::<u64>().ok()? * scale)
    };
    Some(match dimension {
        Dimension::Time => Value::Time(Span::from_ps(whole(&[
            ("ps", 1),
            ("ns", 1_000),
            ("us", 1_000_000),
            ("ms", 1_000_000_000),
            ("s", 1_000_000_000_000),
        ])?)),
        Dimension::Size => Value::Size(Bytes(whole(&[
            ("B", 1),
            ("KiB", 1 << 10),
            ("kB", 1_000),
            ("MB", 1_000_000),
            ("MiB", 1 << 20),
            ("GiB", 1 << 30),
        ])?)),
        Dimension::Rate => Value::Rate(whole(&[("MB/s", 1_000_000), ("GB/s", 1_000_000_000)])?),
        Dimension::Count { least, most } => {
            Value::Count(whole(&[("", 1)]).filter(|n| (least..=most).contains(n))?)
        }
        Dimension::Ratio => {
            let scale = [("", 1.0), ("%", 100.0)].into_iter().find(|(name, _)| *name == unit)?.1;
            Value::Ratio(Some(number.parse::<f64>().ok()? / scale).filter(|r| (0.0..=1.0).contains(r))?)
        }
        Dimension::Flag => Value::Flag(text.parse().ok()?),
        Dimension::Choice(words) | Dimension::ChoiceOrRatio(words) => {
            Value::Choice(words.iter().find(|word| **word == text)?)
        }
    })
}

/// The defaults of a model, with some of them replaced; the last word counts.
pub fn params(model: &'static Model, replaced: &[(&str, &str)]) -> Params {
    let named = |name: &str| model.all_params().any(|param| param.name == name);
    replaced.iter().for_each(|(name, _)| assert!(named(name), "{} has no {name}", model.name));
    let value = |param: &'static lanetwin_ports::Param| {
        let text = replaced.iter().rfind(|(name, _)| *name == param.name).map(|(_, text)| *text);
        let text = text.or(param.default).expect("every parameter has a default");
        (param.name, parse(param.dimension, text).unwrap_or_else(|| panic!("{} is not {text}", param.name)))
    };
    Params(model.all_params().map(value).collect())
}

/// The endpoint numbers that the tests use: a root port and the device below it.
pub const ROOT: EndpointId = EndpointId(0);
pub const DEVICE: EndpointId = EndpointId(1);

pub const PLACE: PcieSite = PcieSite { endpoint: DEVICE, root: ROOT, mps: 256, mrrs: 512, rcb: 64, tags: 32 };

/// A place with one PCIe port, seen from a device of this model.
pub fn site(model: &Model, path: &str) -> Site {
    let has_pcie = model.ports.iter().any(|port| port.speaks == Protocol::Pcie);
    let endpoint = if model.name == "root-complex" { ROOT } else { DEVICE };
    let requests = model.ports.iter().any(|port| port.speaks == Protocol::Dma);
    Site {
        pcie: if has_pcie { vec![Some(PcieSite { endpoint, ..PLACE })] } else { Vec::new() },
        target: (!requests).then_some(DEVICE),
        routes: vec![(DEVICE, ROOT)],
        // Of a CXL switch, the first port that leads down has some of the memory.
        decoders: if [false, true]
            .iter()
            .all(|many| model.ports.iter().any(|port| port.speaks == Protocol::Cxl && port.many == *many))
        {
            vec![Decoder::new(0, 1 << 21, 256, vec![0]).unwrap()]
        } else {
            Vec::new()
        },
        ethernet: ethernet(model),
        forwarding: Forwarding::direct(&[0, 1, 2]),
        ..Site::alone(path, 1)
    }
}

/// What the Ethernet ports of a device of this model are at the ends of: three, where there may be many.
fn ethernet(model: &Model) -> Vec<Option<EthernetSite>> {
    let ports = model.ports.iter().filter(|port| port.speaks == Protocol::Ethernet);
    let ports: usize = ports.map(|port| if port.many { 3 } else { 1 }).sum();
    let site = |port| EthernetSite { station: Some(Station(port as u16)), ..LINE };
    (0..ports).map(|port| Some(site(port))).collect()
}

/// An end of three metres at 100 Gb/s.
pub const LINE: EthernetSite = EthernetSite {
    line: Line::of(Rate::G100, 3, Span::from_ns(50)),
    station: None,
    mtu: 1500,
    frame_by_frame: false,
};

/// Adds a device as its model wants to be added.
pub fn add_as_it_is(
    builder: &mut Builder,
    path: &str,
    model: &Model,
    device: Box<dyn Component<Message>>,
) -> ComponentId {
    if model.foresees { builder.add_foreseeing(path, device) } else { builder.add(path, device) }
}

/// Adds a device of this model at its usual place.
pub fn add(builder: &mut Builder, name: &str, replaced: &[(&str, &str)]) -> ComponentId {
    add_at(builder, name, name, replaced, |_| {})
}

/// Adds a device of this model, with another path and another place.
pub fn add_at(
    builder: &mut Builder,
    path: &str,
    name: &str,
    replaced: &[(&str, &str)],
    change: impl FnOnce(&mut Site),
) -> ComponentId {
    let model = find(name).unwrap();
    let mut site = site(model, path);
    change(&mut site);
    let device = model.component(&params(model, replaced), &site);
    add_as_it_is(builder, path, model, device.unwrap_or_else(|| panic!("{name} is no component")))
}

/// Sends what its script says and notes what it receives.
pub struct Peer {
    pub script: Vec<(Instant, Message)>,
    pub log: Log,
    pub ways: Ways,
}

/// For each message that a peer has received: the stages of its request since the start of the run, from the last to
/// the first, by their numbers \[ps\].
pub type Ways = Rc<RefCell<Vec<Vec<(u32, u64)>>>>;

/// Adds a peer that is joined to a port.
pub fn peer(builder: &mut Builder, to: (ComponentId, Port), script: Vec<(Instant, Message)>) -> Log {
    following_peer(builder, to, script).0
}

/// Adds a peer that is joined to a port, with what it hears of the ways of its requests.
pub fn following_peer(
    builder: &mut Builder,
    to: (ComponentId, Port),
    script: Vec<(Instant, Message)>,
) -> (Log, Ways) {
    let (log, ways) = (Log::default(), Ways::default());
    let name = format!("peer of {to:?}");
    let id = builder.add(name, Box::new(Peer { script, log: log.clone(), ways: ways.clone() }));
    builder.join((id, Port(0)), to);
    (log, ways)
}

/// The stages of a way with their names and their ends \[ns\], from the first to the last.
pub fn ends(kernel: &Kernel, way: &[(u32, u64)]) -> Vec<(String, u64)> {
    let names = kernel.stage_names();
    let mut at = 0;
    let stages = way.iter().rev().map(|(stage, ps)| {
        at += whole_ns(*ps);
        (names[*stage as usize].1.clone(), at)
    });
    stages.collect()
}

impl Component<Message> for Peer {
    fn start(&mut self, cx: &mut Context<'_>) {
        for &(at, message) in &self.script {
            cx.begin(cx.now());
            cx.mark_until(at, Stage(0));
            cx.send_at(Port(0), at, message);
        }
    }
    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        self.log.borrow_mut().push((cx.now().as_ps(), port, message));
        let mut way = Vec::new();
        cx.account(Instant::ZERO..cx.now(), |stage, ps| way.push((stage, ps)));
        self.ways.borrow_mut().push(way);
    }
    fn stages(&self) -> Vec<String> {
        vec!["not asked yet".into()]
    }
}

/// Joins two PCIe ports as a link without any limits would: everything arrives `flight` after it was eligible.
pub struct Wire {
    flight: Span,
    /// The lookahead promised by either end.
    promised: [Span; 2],
    last: [Instant; 2],
    /// Whether each end gets writes one by one.
    singly: [bool; 2],
    log: Log,
}

/// Joins a root complex' slot with a device; the log has everything that was sent, with the port of its sender.
pub fn wire(
    builder: &mut Builder,
    flight: Span,
    root: ((ComponentId, Port), Span, bool),
    device: ((ComponentId, Port), Span),
) -> Log {
    let log = Log::default();
    let [a, b] = [root.0, device.0];
    let (promised, last, singly) = ([root.1, device.1], [Instant::ZERO; 2], [root.2, false]);
    let wire = Wire { flight, promised, last, singly, log: log.clone() };
    let id = builder.add_foreseeing(format!("wire {a:?} {b:?}"), Box::new(wire));
    builder.join((id, Port(0)), a);
    builder.join((id, Port(1)), b);
    log
}

impl Component<Message> for Wire {
    fn receive(&mut self, _: Port, _: Message, _: &mut Context<'_>) {
        unreachable!("a wire foresees")
    }
    fn expect(&mut self, at: Instant, port: Port, message: &Message, cx: &mut Context<'_>) {
        self.log.borrow_mut().push((at.as_ps(), port, *message));
        let (from, to) = (port.index(), Port(1 - port.0));
        assert!(at >= cx.now() + self.promised[from], "{message:?} breaks the promised lookahead");
        assert!(at >= self.last[from], "{message:?} is eligible before an earlier one");
        self.last[from] = at;
        let Message::Tlps(train) = *message else { return };
        let one_by_one = train.kind == TlpKind::MRd || self.singly[to.index()] && train.kind == TlpKind::MWr;
        let trail = cx.trail();
        if train.attributes.has(Attributes::NOTIFY) {
            cx.send_at(port, at, Message::Departed { handle: train.handle });
        }
        for part in parts(train, one_by_one) {
            cx.resume(trail);
            cx.mark_until(at + self.flight, Stage(0));
            cx.send_at(to, at + self.flight, Message::Tlps(part));
        }
    }
    fn stages(&self) -> Vec<String> {
        vec!["wire".into()]
    }
}

/// The TLPs of a train, one by one or all together.
pub fn parts(train: Tlps, one_by_one: bool) -> Vec<Tlps> {
    if !one_by_one {
        return vec![train];
    }
    let nth =
        |i: u16| Tlps { count: 1, address: train.address + u64::from(i) * u64::from(train.bytes), ..train };
    (0..train.count).map(nth).collect()
}

/// A TLP of the device below the root port.
pub fn upstream(kind: TlpKind, handle: u32, address: u64, bytes: u16) -> Message {
    let attributes = Attributes::NONE;
    Message::Tlps(Tlps { kind, attributes, count: 1, bytes, from: DEVICE, to: ROOT, handle, address })
}

/// The TLPs in a log, with their times \[ns\]; all are at whole nanoseconds.
pub fn tlps(log: &Log) -> Vec<(u64, Tlps)> {
    let tlps = |&(ps, _, message): &(u64, Port, Message)| match message {
        Message::Tlps(tlps) => Some((whole_ns(ps), tlps)),
        _ => None,
    };
    log.borrow().iter().filter_map(tlps).collect()
}

pub fn whole_ns(ps: u64) -> u64 {
    assert_eq!(ps % 1000, 0);
    ps / 1000
}
