//! A storm of random but legal messages through the declared ports of every model, with random parameters.
//!
//! Nothing may panic; every question is answered once; every read is completed to the byte; a promised lookahead is
//! kept; the same seed gives the same digest however the run is cut. Roles by name: a block port called `down` or
//! `disk` asks, any other is asked; a device with PCIe and CPU ports is a root complex. Switches are sent no messages.

use crate::rig::*;
use lanetwin_fabric::ethernet::logic::{Class, Station, Train};
use lanetwin_fabric::ethernet::spec::wire_bytes;
use lanetwin_kernel::{Component, ComponentId, Port, Report, Stream, Supply};
use lanetwin_models::MODELS;
use lanetwin_pcie::logic::split::{CompletionCut, completions};
use lanetwin_pcie::spec::{ByteRange, Mps, Rcb, TlpKind};
use lanetwin_ports::{
    Attributes, Builder, Context, Dimension, Done, Hint, HintKind, Kernel, Line, LineDone, Message, Model,
    Operation, Param, Params, Protocol, Status, Tlps, Transfer, Value,
};
use lanetwin_units::{Bytes, Instant, Span};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

const QUESTIONS: u32 = 60;

fn soon(stream: &mut Stream) -> Span {
    Span::from_ps([0, 1, 1_000, 300_000][stream.below(4) as usize] * stream.below(3))
}

/// Questions that are still open, and how many there were.
type Open = Rc<RefCell<(BTreeSet<u32>, u32)>>;

/// Asks at random times; each question is answered once.
struct Asker {
    stream: Stream,
    wrap: fn(Transfer) -> Message,
    open: Open,
}

impl Component<Message> for Asker {
    fn start(&mut self, cx: &mut Context<'_>) {
        cx.wake_at(cx.now(), 0);
    }
    fn wake(&mut self, handle: u32, cx: &mut Context<'_>) {
        let operation = if self.stream.chance(0.5) { Operation::Read } else { Operation::Write };
        let bytes = self.stream.below([2, 600, 20_000][handle as usize % 3]) as u32;
        let address = self.stream.below(1 << 22) * [1, 512][handle as usize % 2];
        self.open.borrow_mut().0.insert(handle);
        self.open.borrow_mut().1 += 1;
        cx.send(Port(0), Span::ZERO, (self.wrap)(Transfer { operation, bytes, handle, unit: 0, address }));
        if handle + 1 < QUESTIONS {
            cx.wake_at(cx.now() + soon(&mut self.stream), handle + 1);
        }
    }
    fn receive(&mut self, _: Port, message: Message, _: &mut Context<'_>) {
        let (Message::DmaDone(Done { handle, .. })
        | Message::BlockDone(Done { handle, .. })
        | Message::LineDone(LineDone { handle, .. })
        | Message::HintDone { handle, .. }) = message
        else {
            panic!("{message:?} is no answer")
        };
        assert!(self.open.borrow_mut().0.remove(&handle), "{handle} is not open");
    }
}

fn line(Transfer { operation, handle, address, .. }: Transfer) -> Message {
    Message::Line(Line { operation, handle, address: address / 64 * 64 })
}

/// A line; now and then something about pages.
fn line_or_hint(transfer: Transfer) -> Message {
    let Transfer { bytes, handle, address, .. } = transfer;
    let kinds = [HintKind::Prefetch, HintKind::Evict, HintKind::Status, HintKind::Temperature];
    match handle % 8 {
        0 => Message::Hint(Hint { what: kinds[handle as usize / 8 % 4], pages: bytes, handle, address }),
        _ => line(transfer),
    }
}

/// Answers requests and doorbells after a random time.
struct Answerer {
    stream: Stream,
}

impl Component<Message> for Answerer {
    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        let answer = match message {
            Message::Block(Transfer { handle, .. }) => {
                let status = [Status::Ok, Status::Corrupt, Status::Aborted][self.stream.below(3) as usize];
                Message::BlockDone(Done { handle, status })
            }
            Message::Line(Line { operation, handle, .. }) => {
                Message::LineDone(LineDone { operation, handle, status: Status::Ok })
            }
            Message::Hint(Hint { handle, pages, .. }) => Message::HintDone { handle, value: pages.into() },
            Message::Mmio { to, handle, .. } => Message::Signal { handle, from: to },
            Message::Signal { .. } => return,
            other => panic!("{other:?} is no question"),
        };
        cx.send(port, soon(&mut self.stream), answer);
    }
}

/// The rest of a PCIe hierarchy: sends random TLPs, completes reads, watches what the device promised.
struct Hierarchy {
    stream: Stream,
    /// Whether the device is the root complex.
    root: bool,
    singly: bool,
    promised: Span,
    last: Instant,
    seen: Rc<RefCell<Seen>>,
}

#[derive(Default, Debug)]
struct Seen {
    reads: u32,
    read_bytes: u64,
    taken_in: u32,
    completed: u32,
    completed_bytes: u64,
    released: u32,
}

impl Hierarchy {
    fn random_tlp(&mut self, handle: u32) -> Tlps {
        let kind = [TlpKind::MRd, TlpKind::MWr, TlpKind::Msg][self.stream.below(3) as usize];
        let bytes = 1 + self.stream.below(256) as u16;
        // a quarter of a page begins here, so the bytes stay in the page
        let address = self.stream.below(1 << 40) * 1024 + self.stream.below(1024 - 256);
        let count = if kind == TlpKind::MWr && !self.singly { 1 + self.stream.below(3) as u16 } else { 1 };
        let (from, to) = if self.root { (DEVICE, ROOT) } else { (ROOT, DEVICE) };
        Tlps { kind, attributes: Attributes::NONE, count, bytes, from, to, handle, address }
    }
    /// The completions of a read request, cut at random.
    fn complete(&mut self, request: Tlps, at: Instant, cx: &mut Context<'_>) {
        let asked = ByteRange::new(request.address, request.bytes).expect("a device asks within a page");
        let cut = [CompletionCut::Mps, CompletionCut::Rcb][self.stream.below(2) as usize];
        let runs = completions(asked, Rcb::B64, Mps::from_bytes(256).unwrap(), cut).runs();
        let at = at + soon(&mut self.stream);
        for (i, run) in runs.as_slice().iter().enumerate() {
            let attributes = Attributes::LAST.when(i + 1 == runs.as_slice().len());
            let (count, bytes, address) = (run.count as u16, run.len, run.first_address);
            let Tlps { from: to, to: from, handle, .. } = request;
            let kind = TlpKind::CplD;
            cx.send_at(
                Port(0),
                at,
                Message::Tlps(Tlps { kind, attributes, count, bytes, from, to, handle, address }),
            );
        }
    }
}

impl Component<Message> for Hierarchy {
    fn start(&mut self, cx: &mut Context<'_>) {
        cx.wake_at(cx.now(), 0);
    }
    fn wake(&mut self, handle: u32, cx: &mut Context<'_>) {
        let tlps = self.random_tlp(handle);
        let mut seen = self.seen.borrow_mut();
        seen.taken_in += u32::from(tlps.count);
        if tlps.kind == TlpKind::MRd {
            seen.reads += 1;
            seen.read_bytes += u64::from(tlps.bytes);
        }
        cx.send(Port(0), Span::ZERO, Message::Tlps(tlps));
        if handle + 1 < QUESTIONS {
            cx.wake_at(cx.now() + soon(&mut self.stream), handle + 1);
        }
    }
    fn receive(&mut self, _: Port, _: Message, _: &mut Context<'_>) {
        unreachable!("a hierarchy foresees")
    }
    fn expect(&mut self, at: Instant, port: Port, message: &Message, cx: &mut Context<'_>) {
        assert!(at >= cx.now() + self.promised && at >= self.last, "{message:?} at {at:?} breaks a promise");
        self.last = at;
        let seen = self.seen.clone();
        match message {
            Message::Tlps(train) if train.kind == TlpKind::MRd => {
                parts(*train, true).into_iter().for_each(|request| self.complete(request, at, cx));
            }
            Message::Tlps(train) if train.kind == TlpKind::CplD => {
                seen.borrow_mut().completed += u32::from(train.attributes.has(Attributes::LAST));
                seen.borrow_mut().completed_bytes += u64::from(train.count) * u64::from(train.bytes);
            }
            Message::Tlps(train) if train.attributes.has(Attributes::NOTIFY) => {
                cx.send_at(port, at, Message::Departed { handle: train.handle });
            }
            Message::Tlps(_) => {}
            Message::Release(release) => seen.borrow_mut().released += u32::from(release.count),
            other => panic!("{other:?} on a PCIe port"),
        }
    }
}

/// Sends random trains of frames, each as soon as it can behind the one before, and hears whatever comes.
struct Neighbour {
    stream: Stream,
    station: u16,
    left: u32,
}

impl Component<Message> for Neighbour {
    fn start(&mut self, cx: &mut Context<'_>) {
        cx.wake_at(cx.now(), 0);
    }
    fn wake(&mut self, _: u32, cx: &mut Context<'_>) {
        let (count, bytes) = (1 + self.stream.below(4) as u16, 64 + self.stream.below(1455) as u16);
        let spacing = LINE.line.rate.time_for(wire_bytes(bytes.into()));
        let class = Class::of_priority(self.stream.below(8) as u8);
        let train = Train {
            from: Station(self.station),
            to: Station(self.stream.below(4) as u16),
            count,
            bytes,
            spacing_ps: spacing.as_ps() as u32,
            class,
            entropy: 0,
            words: [self.left, self.stream.bits() as u32, 0],
        };
        cx.send(Port(0), LINE.line.delay(), Message::Frames(train));
        self.left -= 1;
        if self.left > 0 {
            cx.wake_at(cx.now() + spacing * u64::from(count) + soon(&mut self.stream), 0);
        }
    }
    fn receive(&mut self, _: Port, message: Message, _: &mut Context<'_>) {
        assert!(matches!(message, Message::Frames(_)), "{message:?} on an Ethernet port");
    }
}

/// Joins such neighbours to ports of a device.
fn neighbours(builder: &mut Builder, seed: u64, device: ComponentId, ports: std::ops::Range<usize>) {
    for port in ports {
        let name = format!("neighbour {port}");
        let stream = Stream::new(seed, &name, "storm");
        let neighbour = Neighbour { stream, station: port as u16, left: QUESTIONS };
        let id = builder.add(name, Box::new(neighbour));
        builder.join((id, Port(0)), (device, Port(port as u16)));
    }
}

/// Any value that the parameter can have, small ones mostly.
fn any_value(param: &'static Param, stream: &mut Stream) -> Value {
    let default = || parse(param.dimension, param.default.unwrap()).unwrap();
    if param.name.starts_with("port.") || stream.chance(0.3) {
        return default();
    }
    match param.dimension {
        Dimension::Time => Value::Time(Span::from_ps([0, 1, 10_000, 1_000_000][stream.below(4) as usize])),
        Dimension::Size => Value::Size(Bytes([0, 1, 64, 1 << 20][stream.below(4) as usize])),
        Dimension::Count { least, most } => Value::Count((least + stream.below(8)).min(most)),
        Dimension::Ratio => Value::Ratio([0.0, 0.3, 1.0][stream.below(3) as usize]),
        Dimension::Flag => Value::Flag(stream.chance(0.5)),
        Dimension::Choice(words) | Dimension::ChoiceOrRatio(words) => {
            Value::Choice(words[stream.below(words.len() as u64) as usize])
        }
        Dimension::Rate => default(),
    }
}

struct Storm {
    kernel: Kernel,
    questions: Vec<Open>,
    hierarchies: Vec<Rc<RefCell<Seen>>>,
    answers_reads: bool,
    drains_itself: bool,
}

impl Storm {
    fn around(model: &'static Model, seed: u64) -> Self {
        let mut stream = Stream::new(seed, model.name, "parameters");
        let params =
            Params(model.all_params().map(|param| (param.name, any_value(param, &mut stream))).collect());
        let speaks = |protocol| model.ports.iter().any(|port| port.speaks == protocol);
        let root = speaks(Protocol::Pcie) && speaks(Protocol::Cpu);
        let is_switch = model.name == "cxl-switch";
        let hears_hints = is_switch || model.all_params().any(|param| param.name == "hints.latency");
        let singly = (model.drains_itself)(&params);
        let mut place = site(model, "device");
        place.seed = seed;
        let mut builder = Builder::new();
        let device = model.component(&params, &place).expect("switches of links stay calm");
        let device = add_as_it_is(&mut builder, "device", model, device);
        let (mut questions, mut hierarchies) = (Vec::new(), Vec::new());
        for (i, port) in model.ports.iter().enumerate() {
            if port.speaks == Protocol::Ethernet {
                neighbours(&mut builder, seed, device, i..i + if port.many { 3 } else { 1 });
                continue;
            }
            let stream = Stream::new(seed, port.name, "storm");
            let to = (device, Port(i as u16));
            let asks = match port.speaks {
                Protocol::Dma => Some(Message::Dma as fn(Transfer) -> Message),
                Protocol::Block if !["disk", "down"].contains(&port.name) => {
                    Some(Message::Block as fn(Transfer) -> Message)
                }
                Protocol::Cxl if port.many => None,
                Protocol::Cxl if hears_hints => Some(line_or_hint as fn(Transfer) -> Message),
                Protocol::Cxl => Some(line as fn(Transfer) -> Message),
                _ => None,
            };
            let id = if let Some(wrap) = asks {
                let open = Open::default();
                questions.push(open.clone());
                builder.add(port.name, Box::new(Asker { stream, wrap, open }))
            } else if port.speaks == Protocol::Pcie {
                let (promised, seen) = (params.time("issue"), Rc::default());
                hierarchies.push(Rc::clone(&seen));
                let hierarchy = Hierarchy { stream, root, singly, promised, last: Instant::ZERO, seen };
                builder.add_foreseeing(port.name, Box::new(hierarchy))
            } else {
                builder.add(port.name, Box::new(Answerer { stream }))
            };
            builder.join((id, Port(0)), to);
            if root && port.speaks == Protocol::Cpu {
                doorbells(&mut builder, seed, to);
            }
        }
        Self {
            kernel: builder.seal(),
            questions,
            hierarchies,
            answers_reads: model.has_memory,
            drains_itself: singly,
        }
    }

    fn judge(&self, of: &str) {
        for open in &self.questions {
            assert_eq!(*open.borrow(), (BTreeSet::new(), QUESTIONS), "{of}: unanswered");
        }
        for seen in self.hierarchies.iter().map(|seen| seen.borrow()) {
            if self.answers_reads {
                let (asked, got) = ((seen.reads, seen.read_bytes), (seen.completed, seen.completed_bytes));
                assert_eq!(asked, got, "{of}: {seen:?}");
            }
            let released = if self.drains_itself { seen.taken_in } else { 0 };
            assert_eq!(seen.released, released, "{of}: {seen:?}");
        }
    }
}

/// Rings doorbells into a root complex.
fn doorbells(builder: &mut Builder, seed: u64, to: (ComponentId, Port)) {
    let mut stream = Stream::new(seed, "doorbells", "storm");
    let ring = |handle| {
        let at = Instant::from_ps(stream.below(1_000_000));
        (at, Message::Mmio { to: DEVICE, bytes: 4, handle, address: stream.bits() })
    };
    let script = (0..QUESTIONS).map(ring).collect();
    let bell = builder.add("bell", Box::new(Peer { script, log: Log::default(), ways: Ways::default() }));
    builder.connect((bell, Port(0)), to);
}

/// What messages are sent to: all models but switches, and what stands in links; and a memory host, which nobody asks
/// for anything.
fn components() -> impl Iterator<Item = &'static Model> {
    /// Cores run programs alone, and a target hears nothing before it has connections.
    const OTHERS: [&str; 2] = ["memory-host", "nvmeof-target"];
    let asked = |model: &&Model| !model.is_switch() && !model.is_extension() && !OTHERS.contains(&model.name);
    MODELS.iter().copied().filter(asked)
}

fn supplies(kernel: &mut Kernel) -> Vec<(String, Supply)> {
    let reports = kernel.report().into_iter();
    let named = |(_, path, report): (_, &str, Report)| {
        let supplies = report.supplies.into_iter();
        supplies.map(|(name, supply)| (format!("{path}/{name}"), supply)).collect::<Vec<_>>()
    };
    reports.flat_map(named).collect()
}

/// In any time at most all there are can be in use, and nothing that was used is forgotten.
fn supplies_grow(before: &[(String, Supply)], after: &[(String, Supply)], slice: Span, of: &str) {
    assert_eq!(before.len(), after.len(), "{of}");
    for ((name, before), (_, after)) in before.iter().zip(after) {
        let most = u128::from(after.supply) * u128::from(slice.as_ps());
        let used = after.in_use_ps.checked_sub(before.in_use_ps);
        assert!(used.is_some_and(|used| used <= most), "{of}: {name} {before:?} {after:?} in {slice}");
    }
}

#[test]
fn every_model_survives_a_storm_and_answers_every_question_once() {
    for model in components() {
        for seed in 0..100 {
            let of = format!("{} with seed {seed}", model.name);
            let mut whole = Storm::around(model, seed);
            whole.kernel.run_until(Instant::NEVER);
            whole.judge(&of);
            let mut sliced = Storm::around(model, seed);
            let mut cuts = Stream::new(seed, model.name, "cuts");
            let mut until = Instant::ZERO;
            for _ in 0..50 {
                let before = supplies(&mut sliced.kernel);
                let slice = Span::from_ps(cuts.below(200_000));
                until += slice;
                sliced.kernel.run_until(until);
                supplies_grow(&before, &supplies(&mut sliced.kernel), slice, &of);
            }
            sliced.kernel.run_until(Instant::NEVER);
            sliced.judge(&of);
            // the last event of the one may be before that of the other, and before what ends without an event
            let end = whole.kernel.now().max(sliced.kernel.now());
            whole.kernel.run_until(end);
            sliced.kernel.run_until(end);
            assert_eq!(whole.kernel.digest(), sliced.kernel.digest(), "{of}, cut at {until:?}");
            assert_eq!(supplies(&mut whole.kernel), supplies(&mut sliced.kernel), "{of}, cut at {until:?}");
        }
    }
}

/// The storm itself is not calm: it reaches what it is meant to reach.
#[test]
fn the_storm_reaches_every_protocol() {
    let mut asked = 0;
    let mut reads = 0;
    for model in components() {
        let mut storm = Storm::around(model, 1);
        storm.kernel.run_until(Instant::NEVER);
        asked += storm.questions.iter().map(|open| open.borrow().1).sum::<u32>();
        reads += storm.hierarchies.iter().map(|seen| seen.borrow().reads).sum::<u32>();
        assert!(storm.kernel.events() > u64::from(QUESTIONS), "{}", model.name);
    }
    assert!(asked >= 7 * QUESTIONS && reads >= QUESTIONS / 3, "{asked} questions, {reads} reads");
}
