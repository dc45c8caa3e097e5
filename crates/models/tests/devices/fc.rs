//! The Fibre Channel adapter: what its ports carry against the closed forms, and what PCIe does to them.

use crate::rig::*;
use lanetwin_fabric::fc::{DataField, Rate, throughput};
use lanetwin_kernel::{Component, ComponentId, Port};
use lanetwin_models::fc_hba::{FcHba, Moved};
use lanetwin_models::root_complex::RootComplex;
use lanetwin_pcie::link::{Attach, Class, Credits, Direction, Drain, EgressId, EndpointSpec};
use lanetwin_pcie::spec::{AddressWidth, TlpKind::MWr};
use lanetwin_ports::{
    Attributes, Builder, Context, Done, Kernel, Links, LinksBuilder, Message, Operation, Status, Transfer,
};
use lanetwin_units::{Generation, Instant, LinkRate, Span, Width};
use proptest::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;

const MIB2: u32 = 2 << 20;
const GEN2_X4: LinkRate = LinkRate::pcie(Generation::Gen2, Width::X4);
const GEN1_X1: LinkRate = LinkRate::pcie(Generation::Gen1, Width::X1);
const ISSUE: Span = Span::from_ns(10);
const ADVERTISED: Credits =
    Credits { header: [Some(16), Some(16), None], data: [Some(64), None, None], latency: Span::from_ns(40) };

/// What is asked of one unit: so many at once, so many in all.
#[derive(Clone, Copy)]
struct Flow {
    unit: u16,
    operation: Operation,
    bytes: u32,
    depth: u32,
    count: u32,
}

const READS: Flow = Flow { unit: 0, operation: Operation::Read, bytes: MIB2, depth: 8, count: 24 };
const WRITES: Flow = Flow { operation: Operation::Write, ..READS };

/// When each request of each flow was answered, in order.
type Answers = Rc<RefCell<Vec<Vec<Instant>>>>;

/// Asks a new request for each that is done.
struct Asker {
    flows: Vec<Flow>,
    /// The flow and the slot of each handle: handle = first of the flow + slot.
    answers: Answers,
    asked: Vec<u32>,
}

impl Asker {
    const SLOTS: u32 = 256;
    fn ask(&mut self, flow: usize, slot: u32, cx: &mut Context<'_>) {
        let Flow { unit, operation, bytes, count, .. } = self.flows[flow];
        if self.asked[flow] < count {
            let address = u64::from(self.asked[flow]) * u64::from(bytes.next_multiple_of(512));
            self.asked[flow] += 1;
            let handle = flow as u32 * Self::SLOTS + slot;
            let request = Transfer { operation, bytes, handle, unit, address };
            cx.send(Port(0), Span::ZERO, Message::Block(request));
        }
    }
}

impl Component<Message> for Asker {
    fn start(&mut self, cx: &mut Context<'_>) {
        for flow in 0..self.flows.len() {
            (0..self.flows[flow].depth).for_each(|slot| self.ask(flow, slot, cx));
        }
    }
    fn receive(&mut self, _: Port, message: Message, cx: &mut Context<'_>) {
        let Message::BlockDone(Done { handle, status: Status::Ok }) = message else { panic!("{message:?}") };
        let flow = (handle / Self::SLOTS) as usize;
        self.answers.borrow_mut()[flow].push(cx.now());
        self.ask(flow, handle % Self::SLOTS, cx);
    }
}

/// A machine after its run.
struct Outcome {
    kernel: Kernel,
    parts: [ComponentId; 3],
    flows: Vec<Flow>,
    answers: Vec<Vec<Instant>>,
}

impl Outcome {
    /// What a flow moved in the middle of the run, where nothing begins or ends \[B/s\].
    fn rate(&self, flow: usize) -> f64 {
        let times = &self.answers[flow];
        let (first, last) = (times.len() / 4, times.len() - 1 - times.len() / 4);
        let bytes = (last - first) as f64 * f64::from(self.flows[flow].bytes);
        bytes / ((times[last] - times[first]).as_ps() as f64 * 1e-12)
    }
    fn moved(&mut self, unit: usize) -> Moved {
        self.kernel.component::<FcHba>(self.parts[0]).unwrap().moved(unit)
    }
    fn shows(&mut self, name: &str) -> String {
        let mut shown = None;
        self.kernel.inspect(&format!("fc-hba/{name}"), &mut |_, value| shown = Some(value));
        shown.unwrap()
    }
    /// Nothing is left anywhere, every byte was moved once, every credit is back.
    fn judge(&mut self) {
        let asked = |operation| {
            let flows = self.flows.iter().filter(move |flow| flow.operation == operation);
            flows.map(|flow| u64::from(flow.bytes) * u64::from(flow.count)).sum::<u64>()
        };
        let (read, written) = (asked(Operation::Read), asked(Operation::Write));
        let requests: u64 = self.flows.iter().map(|flow| u64::from(flow.count)).sum();
        for (flow, answers) in self.flows.iter().zip(&self.answers) {
            assert_eq!(answers.len(), flow.count as usize);
        }
        let moved: Vec<_> = (0..16).map(|unit| self.moved(unit)).collect();
        let sum = |of: fn(&Moved) -> u64| moved.iter().map(of).sum::<u64>();
        assert_eq!(
            (sum(|m| m.to_host), sum(|m| m.from_host), sum(|m| m.answered)),
            (read, written, requests)
        );
        let traffic = self.kernel.component::<RootComplex>(self.parts[1]).unwrap().traffic(0);
        assert_eq!((traffic.write_bytes, traffic.completion_bytes), (read + 16 * requests, written));
        assert_eq!([self.shows("being-worked-on"), self.shows("tags-in-use")], ["0", "0"]);
        assert_eq!(self.shows("buffers-of-fc-port0"), "0 B received, 0 B to send, 0 R_RDY withheld");
        assert_eq!(self.shows("unexpected"), "0");
        let fabric = self.kernel.component::<Links>(self.parts[2]).unwrap().fabric();
        assert_eq!(fabric.under_way(), 0);
        let (headers, data) = fabric.credits(EgressId(0), Class::Posted).unwrap();
        assert_eq!((headers, data), (16, 64), "posted credits come back");
    }
}

/// An adapter on a link of this rate, driven by a CPU that takes no time; MPS 256 B, MRRS 512 B.
fn build(link: LinkRate, hba: &[(&str, &str)], flows: &[Flow], tlp_by_tlp: bool) -> Outcome {
    let mut builder = Builder::new();
    let free = [("submit", "0ns"), ("complete", "0ns"), ("cores", "4096")];
    let driver = add(&mut builder, "block-driver", &free);
    let root = add(&mut builder, "root-complex", &[("issue", "10ns"), ("memory.dram", "100ns")]);
    let card = add(&mut builder, "fc-hba", &[&[("issue", "10ns")], hba].concat());
    let mut links = LinksBuilder::new();
    let drain = Drain::ByLink { latency: Span::from_ns(20), per_tlp: Span::ZERO, payload_rate: None };
    let spec = EndpointSpec { lookahead: ISSUE, drain };
    let ends = [ROOT, DEVICE].map(|id| {
        assert_eq!(links.endpoint(spec, AddressWidth::Bits64), id);
        Attach::Endpoint(id)
    });
    let direction = Direction { propagation: Span::from_ns(5), credits: ADVERTISED, ..Direction::bare(link) };
    links.link(("slot", "card", "host"), (ends[1], ends[0]), direction, direction);
    let mut links = links.build(1).unwrap();
    links.set_tlp_by_tlp(tlp_by_tlp);
    let links = builder.add_foreseeing("links", Box::new(links));
    builder.join((links, Port(ROOT.0)), (root, Port(1)));
    builder.join((links, Port(DEVICE.0)), (card, Port(0)));
    builder.join((driver, Port(1)), (root, Port(0)));
    let answers = Answers::new(RefCell::new(vec![Vec::new(); flows.len()]));
    let asker = Asker { flows: flows.to_vec(), answers: Rc::clone(&answers), asked: vec![0; flows.len()] };
    let asker = builder.add("asker", Box::new(asker));
    builder.join((asker, Port(0)), (driver, Port(0)));
    let mut kernel = builder.seal();
    kernel.run_until(Instant::NEVER);
    let answers = answers.borrow().clone();
    Outcome { kernel, parts: [card, root, links], flows: flows.to_vec(), answers }
}

fn run(link: LinkRate, hba: &[(&str, &str)], flows: &[Flow]) -> Outcome {
    let mut outcome = build(link, hba, flows, false);
    outcome.judge();
    outcome
}

/// `got` is `form`, but for this many parts of a thousand.
fn close(got: f64, form: f64, thousandths: f64, of: &str) {
    let error = (got / form - 1.0) * 1000.0;
    assert!(error.abs() < thousandths, "{of}: {got:.0} B/s is {error:.2} ‰ from {form:.0} B/s");
}

/// The law of the closed form: where nothing else limits, a port carries frames without a gap. Tolerance 0.1 ‰.
#[test]
fn a_port_carries_what_the_closed_form_says() {
    for (gfc, rate) in [("1", Rate::Gfc1), ("2", Rate::Gfc2), ("4", Rate::Gfc4), ("8", Rate::Gfc8)] {
        for (payload, field) in [("2048B", DataField::B2048), ("2112B", DataField::B2112)] {
            let hba = [("fc.gfc", gfc), ("fc.payload", payload)];
            let form = throughput::exchanges(rate, field, MIB2.into()) as f64;
            for flow in [READS, WRITES] {
                let got = run(GEN2_X4, &hba, &[flow]).rate(0);
                close(got, form, 0.1, &format!("{gfc}GFC {payload} {:?}", flow.operation));
            }
        }
    }
    let form = throughput::exchanges(Rate::Gfc4, DataField::B2048, MIB2.into()) as f64;
    for flow in [READS, WRITES] {
        close(
            run(GEN2_X4, &[], &[Flow { depth: 64, count: 160, ..flow }]).rate(0),
            form,
            0.1,
            "64 in flight",
        );
    }
}

/// One at a time, a 2 MiB request is its frames and the way there and back: firmware, target, flights, frames of the
/// exchange. What PCIe adds (doorbell, last burst, entry) is below 1 ‰ of it.
#[test]
fn one_request_at_a_time_is_a_sum() {
    let hba = [("command", "2us"), ("target.access", "10us"), ("fc.propagation", "500ns")];
    let byte = 1.0 / 425e6;
    let frames = 1024.0 * 2108.0 * byte;
    for (flow, exchange, flights) in [(READS, 68.0 + 60.0, 2.0), (WRITES, 68.0 + 48.0 + 60.0, 4.0)] {
        let flow = Flow { depth: 1, count: 8, ..flow };
        let form = frames + exchange * byte + 12e-6 + flights * 0.5e-6;
        let got = run(GEN2_X4, &hba, &[flow]).rate(0);
        close(got, f64::from(MIB2) / form, 1.0, &format!("{:?}", flow.operation));
        // a port that always has a next request does better by what the way costs: the sum is no accident
        let full = throughput::exchanges(Rate::Gfc4, DataField::B2048, MIB2.into()) as f64;
        assert!(got < full * 0.998, "{got} {full}");
    }
}

/// Reads and writes at once fill both directions, and share them with each other's commands and answers. Tolerance 2 ‰.
#[test]
fn a_port_carries_both_ways_at_once() {
    let mut outcome = run(GEN2_X4, &[], &[READS, WRITES]);
    let form = throughput::both_ways(Rate::Gfc4, DataField::B2048, MIB2.into()) as f64;
    close(outcome.rate(0) + outcome.rate(1), form, 2.0, "both ways");
    assert_eq!(outcome.moved(0).answered, 48);
}

#[test]
fn ports_are_independent_of_one_another() {
    let there = Flow { unit: 1, ..READS };
    let alone = run(GEN2_X4, &[], &[READS]).rate(0);
    let mut both = run(GEN2_X4, &[], &[READS, there]);
    close(both.rate(0), alone, 0.5, "the first port");
    close(both.rate(1), alone, 0.5, "the second port");
    assert_eq!([both.moved(0), both.moved(1)].map(|moved| moved.to_host), [24 * u64::from(MIB2); 2]);
}

/// Gen1 x1 carries 250 MB/s; a posted write of 256 B takes 24 B more, a completion of 256 B 20 B. The FC port stands
/// still for the rest of the time, for want of credits, and no byte is lost. Tolerance 3 ‰: completion entries, read
/// requests, doorbells.
#[test]
fn a_slow_link_slows_fibre_channel_down() {
    let reads = run(GEN1_X1, &[], &[READS]);
    close(reads.rate(0), 250e6 * 256.0 / 280.0, 3.0, "reads");
    let writes = run(GEN1_X1, &[("dma.reads", "16")], &[WRITES]);
    close(writes.rate(0), 250e6 * 256.0 / 276.0, 3.0, "writes");
}

/// In the middle of a run that PCIe limits, all that can be full is full: the buffer, the credits.
#[test]
fn a_full_buffer_withholds_credits() {
    let hba = [("fc.bb-credits", "8"), ("buffer.rx", "16KiB")];
    let mut builder = Builder::new();
    let card = add(&mut builder, "fc-hba", &hba);
    let ring = Port(0);
    // a read of 2 MiB from unit 0; nobody ever says that a write has departed
    let doorbell = upstream(MWr, 7, (u64::from(MIB2) - 1) << 39, 4);
    let log = peer(&mut builder, (card, ring), vec![(ns(0), doorbell)]);
    let mut kernel = builder.seal();
    kernel.run_until(Instant::NEVER);
    let written: u64 = tlps_of(&log).map(|tlps| u64::from(tlps.count) * u64::from(tlps.bytes)).sum();
    assert_eq!(written, 2 * 4096, "two bursts are handed to the link, and no more");
    let mut shown = Vec::new();
    kernel.inspect("fc-hba/buffers-of-fc-port0", &mut |_, value| shown.push(value));
    assert_eq!(shown, ["32768 B received, 0 B to send, 8 R_RDY withheld"]);
    let later = kernel.now() + Span::from_us(100);
    kernel.run_until(later);
    let supplies = kernel.report().into_iter().flat_map(|(_, _, report)| report.supplies);
    let credits = supplies.filter(|(name, _)| name == "BB credits of FC port 0");
    let credits: Vec<_> = credits.map(|(_, supply)| supply).collect();
    let [supply] = credits[..] else { panic!("{credits:?}") };
    assert_eq!(supply.supply, 8);
    assert!(supply.in_use_ps >= 8 * u128::from(Span::from_us(100).as_ps()), "{supply:?}");
}

/// A write of 2 MiB asks host memory for no more than it may, and for no more than it has room for.
#[test]
fn what_is_asked_of_host_memory_has_a_place() {
    let asked = |hba: &[(&str, &str)]| {
        let mut builder = Builder::new();
        let card = add(&mut builder, "fc-hba", hba);
        // nobody ever answers a read request
        let doorbell = upstream(MWr, 7, 1 << 63 | (u64::from(MIB2) - 1) << 39, 4);
        let log = peer(&mut builder, (card, Port(0)), vec![(ns(0), doorbell)]);
        builder.seal().run_until(Instant::NEVER);
        tlps_of(&log).map(|tlps| u64::from(tlps.count) * u64::from(tlps.bytes)).sum::<u64>()
    };
    assert_eq!(asked(&[("dma.reads", "3"), ("dma.burst", "2KiB")]), 3 * 2048);
    assert_eq!(asked(&[("dma.reads", "3"), ("dma.burst", "2KiB"), ("buffer.tx", "5000B")]), 2 * 2048);
    assert_eq!(asked(&[("dma.reads", "100")]), 32 * 512, "a tag for each request");
    assert_eq!(asked(&[("dma.burst", "0B"), ("buffer.tx", "0B")]), 2048, "a frame at least");
}

fn tlps_of(log: &Log) -> impl Iterator<Item = lanetwin_ports::Tlps> {
    let of = |&(_, _, message): &(u64, Port, Message)| match message {
        Message::Tlps(tlps) => Some(tlps),
        _ => None,
    };
    log.borrow().iter().filter_map(of).collect::<Vec<_>>().into_iter()
}

/// 10 km and four credits, either way: a frame for each credit and round trip. Tolerance 2 ‰.
#[test]
fn distance_costs_credits() {
    let hba = [("fc.propagation", "50us"), ("fc.bb-credits", "4"), ("target.bb-credits", "4")];
    let form = throughput::one_way_with_credits(Rate::Gfc4, DataField::B2048, 4, Span::from_us(50)) as f64;
    for flow in [READS, WRITES] {
        close(run(GEN2_X4, &hba, &[flow]).rate(0), form, 2.0, &format!("{:?}", flow.operation));
    }
}

#[test]
fn a_slow_medium_slows_both_directions() {
    for flow in [READS, WRITES] {
        let rate = run(GEN2_X4, &[("target.rate", "300MB/s")], &[flow]).rate(0);
        close(rate, 300e6, 0.5, &format!("{:?}", flow.operation));
    }
    let full = throughput::exchanges(Rate::Gfc4, DataField::B2048, MIB2.into()) as f64;
    close(run(GEN2_X4, &[("target.rate", "500MB/s")], &[READS]).rate(0), full, 0.5, "faster than the wire");
}

/// Small requests: the slowest of those who take them up one after another, the firmware or the target.
#[test]
fn small_requests_are_limited_by_commands() {
    for (command, access) in [("1us", "10us"), ("20us", "10us")] {
        let hba = [("command", command), ("target.access", access)];
        for flow in [READS, WRITES] {
            let small = Flow { bytes: 512, depth: 64, count: 2000, ..flow };
            let slowest = if command == "20us" { 20e-6 } else { 10e-6 };
            close(run(GEN2_X4, &hba, &[small]).rate(0), 512.0 / slowest, 1.0, "a command at a time");
        }
    }
}

#[test]
fn the_size_of_a_burst_changes_nothing_that_lasts() {
    let rate = |burst, flow| run(GEN2_X4, &[("dma.burst", burst)], &[flow]).rate(0);
    for flow in [READS, WRITES] {
        let [small, large] = ["2KiB", "32KiB"].map(|burst| rate(burst, flow));
        close(small, large, 0.5, &format!("{:?}", flow.operation));
    }
}

/// Events for each burst of a read: the adapter's own are a wake of the wire, one of the arrival, and a departure.
#[test]
fn a_burst_costs_few_events() {
    let events = |count| {
        let outcome = run(GEN2_X4, &[("dma.burst", "8KiB")], &[Flow { count, ..READS }]);
        outcome.kernel.events() as f64
    };
    let bursts = 40.0 * f64::from(MIB2) / 8192.0;
    let each = (events(80) - events(40)) / bursts;
    assert!(each < 8.0, "{each} events a burst of four frames, of which links and host take some");
}

#[test]
fn a_doorbell_for_nobody_is_not_heard() {
    let mut builder = Builder::new();
    let card = add(&mut builder, "fc-hba", &[("luns", "2")]);
    let doorbell = |at, handle| (ns(at), upstream(MWr, handle, 511 << 39, 4));
    // unit 2 does not exist; a name that is in use is not taken again
    let log = peer(
        &mut builder,
        (card, Port(0)),
        vec![doorbell(0, 2 << 24), doorbell(1, 1 << 24 | 5), doorbell(2, 5)],
    );
    let mut kernel = builder.seal();
    kernel.run_until(Instant::NEVER);
    let signals: Vec<_> = tlps_of(&log)
        .filter(|tlps| tlps.attributes.has(Attributes::SIGNAL))
        .map(|tlps| tlps.handle)
        .collect();
    assert_eq!(signals, [5]);
    kernel.inspect("fc-hba/unexpected", &mut |_, value| assert_eq!(value, "2"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Any sizes, buffers and credits: every byte moves once, in trains and TLP by TLP at the same times.
    #[test]
    fn bytes_are_conserved_and_trains_change_nothing(
        flows in prop::collection::vec((0_u16..3, any::<bool>(), 1_u32..60_000, 1_u32..5), 1..5),
        slow: bool,
        credits in 1_u32..9,
        buffers in (0_u32..20_000, 0_u32..20_000, 0_u32..9_000),
    ) {
        let flows: Vec<_> = flows.into_iter().map(|(unit, reads, bytes, depth)| {
            let operation = if reads { Operation::Read } else { Operation::Write };
            Flow { unit, operation, bytes, depth, count: 6 }
        }).collect();
        let [credits, rx, tx, burst] =
            [credits.to_string(), format!("{}B", buffers.0), format!("{}B", buffers.1), format!("{}B", buffers.2)];
        let hba = [
            ("luns", "3"), ("fc.bb-credits", &*credits), ("target.bb-credits", &*credits),
            ("buffer.rx", &*rx), ("buffer.tx", &*tx), ("dma.burst", &*burst),
        ];
        let link = if slow { GEN1_X1 } else { GEN2_X4 };
        let [trains, singly] = [false, true].map(|tlp_by_tlp| {
            let mut outcome = build(link, &hba, &flows, tlp_by_tlp);
            outcome.judge();
            outcome.answers
        });
        prop_assert_eq!(trains, singly);
    }
}

/// Each access takes up to 20 µs more, evenly: requests one at a time are 10 µs slower on average, and none by more
/// than 20 µs.
#[test]
fn accesses_take_longer_by_up_to_the_jitter() {
    let small = Flow { bytes: 4096, depth: 1, count: 400, ..READS };
    let intervals = |jitter: &str| -> Vec<u64> {
        let outcome = run(GEN2_X4, &[("target.access", "10us"), ("target.jitter", jitter)], &[small]);
        outcome.answers[0].windows(2).map(|pair| (pair[1] - pair[0]).as_ps()).collect()
    };
    let steady = intervals("0ns");
    let base = steady[steady.len() / 2];
    let drawn = intervals("20us");
    let us = |ps: u64| (ps - base) as f64 / 1e6;
    let mean = drawn.iter().map(|&ps| us(ps)).sum::<f64>() / drawn.len() as f64;
    assert!((mean - 10.0).abs() < 1.0, "{mean}");
    let longest = us(*drawn.iter().max().unwrap());
    assert!((19.0..=20.01).contains(&longest), "{longest}");
}
