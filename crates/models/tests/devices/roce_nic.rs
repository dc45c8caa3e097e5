//! Adapters for RoCEv2: what they carry against closed forms, and that nothing is lost where switches drop.

use crate::rig::*;
use lanetwin_fabric::ethernet::logic::{Forwarding, Station};
use lanetwin_fabric::ethernet::spec::{Line, Rate, Tagging};
use lanetwin_fabric::roce::logic::packet::Operation;
use lanetwin_fabric::roce::spec::PathMtu;
use lanetwin_fabric::roce::throughput::{self, Message as Moved};
use lanetwin_kernel::{Component, ComponentId, Port};
use lanetwin_models::ethernet_switch::EthernetSwitch;
use lanetwin_models::roce_nic::RoceNic;
use lanetwin_pcie::link::{Attach, Credits, Direction, Drain, EndpointSpec};
use lanetwin_pcie::spec::AddressWidth;
use lanetwin_ports::{
    Builder, Context, EthernetSite, Kernel, LinksBuilder, Message, PcieSite, QueuePairId, Rdma, Receive,
    Sockets, WorkCompletion, WorkRequest,
};
use lanetwin_units::{Generation, Instant, LinkRate, Span, Width};
use std::any::Any;

const GEN4_X16: LinkRate = LinkRate::pcie(Generation::Gen4, Width::X16);
const ISSUE: Span = Span::from_ns(10);
const ADVERTISED: Credits = Credits {
    header: [Some(256), Some(256), None],
    data: [Some(2048), None, None],
    latency: Span::from_ns(40),
};

/// What a program asks for over one queue pair: so many at once, so many in all.
#[derive(Clone, Copy)]
pub(crate) struct Flow {
    pub(crate) operation: Operation,
    pub(crate) bytes: u32,
    pub(crate) depth: u32,
    pub(crate) count: u32,
}

/// Software of a host: asks, and posts receives; notes what it is told.
struct Program {
    rdma: Rdma,
    flows: Vec<(QueuePairId, Flow)>,
    /// Its queue pairs over which others send.
    hears: Vec<QueuePairId>,
    asked: Vec<u32>,
    done: Vec<Vec<(Instant, u32)>>,
    received: Vec<(QueuePairId, u32, u32)>,
}

impl Program {
    fn ask(&mut self, flow: usize, cx: &mut Context<'_>) {
        let (of, Flow { operation, bytes, count, .. }) = self.flows[flow];
        let id = self.asked[flow];
        if id == count {
            return;
        }
        self.asked[flow] += 1;
        let place = u64::from(id % 64) << 20;
        let work = WorkRequest {
            id,
            operation,
            bytes,
            local: place,
            remote: place + (1 << 30),
            signalled: true,
            inline: false,
            registers: 0,
            content: None,
        };
        let address = self.rdma.post_send(of, work);
        let handle = of.0.into();
        cx.send(Port(0), Span::ZERO, Message::Mmio { to: DEVICE, bytes: 64, handle, address });
    }
    fn told(&mut self, of: QueuePairId, completion: WorkCompletion, cx: &mut Context<'_>) {
        match completion {
            WorkCompletion::Done { id } => {
                let flow = self.flows.iter().position(|(own, _)| *own == of).unwrap();
                self.done[flow].push((cx.now(), id));
                self.ask(flow, cx);
            }
            WorkCompletion::Received { id, bytes, .. } => {
                self.received.push((of, id, bytes));
                self.rdma.post_receive(of, Receive { id: id + 64, address: 1 << 32 });
            }
            WorkCompletion::Lost => panic!("{of:?} is lost"),
            WorkCompletion::Written { .. } => panic!("nobody watches {of:?}"),
        }
    }
}

impl Component<Message> for Program {
    fn start(&mut self, cx: &mut Context<'_>) {
        for of in &self.hears {
            (0..64).for_each(|id| self.rdma.post_receive(*of, Receive { id, address: 1 << 32 }));
        }
        for flow in 0..self.flows.len() {
            (0..self.flows[flow].1.depth).for_each(|_| self.ask(flow, cx));
        }
    }
    fn receive(&mut self, _: Port, message: Message, cx: &mut Context<'_>) {
        let Message::Signal { handle, .. } = message else { panic!("{message:?}") };
        let of = QueuePairId(handle as u16);
        let completion = self.rdma.poll(of).expect("a signal comes behind a completion");
        self.told(of, completion, cx);
    }
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}

/// What a network is made of.
#[derive(Clone, Copy)]
pub(crate) struct Spec {
    pub(crate) mtu: u32,
    pub(crate) rate: Rate,
    pub(crate) frame_by_frame: bool,
    pub(crate) switch: &'static [(&'static str, &'static str)],
    pub(crate) nic: &'static [(&'static str, &'static str)],
    /// What the adapter of the first host has instead, if it is another.
    pub(crate) first: Option<&'static [(&'static str, &'static str)]>,
}

pub(crate) const PLAIN: Spec = Spec {
    mtu: 9000,
    rate: Rate::G100,
    frame_by_frame: false,
    switch: &[],
    nic: &[("issue", "10ns")],
    first: None,
};

pub(crate) struct Net {
    pub(crate) kernel: Kernel,
    programs: Vec<ComponentId>,
    pub(crate) nics: Vec<ComponentId>,
    pub(crate) switch: ComponentId,
}

/// A host with an adapter on its links; the adapter and the program.
pub(crate) fn host(
    builder: &mut Builder,
    number: u16,
    site: EthernetSite,
    (program, rdma, sockets): (Box<dyn Component<Message>>, Rdma, Sockets),
    spec: &Spec,
) -> [ComponentId; 2] {
    let name = |what: &str| format!("{what}{number}");
    let program = builder.add(name("program"), program);
    let place = |endpoint| PcieSite { endpoint, tags: 256, ..PLACE };
    let root = [("issue", "10ns"), ("memory.dram", "100ns")];
    let root =
        add_at(builder, &name("root"), "root-complex", &root, |own| own.pcie = vec![Some(place(ROOT))]);
    let params = spec.first.filter(|_| number == 0).unwrap_or(spec.nic);
    let nic = add_at(builder, &name("nic"), "roce-nic", params, |own| {
        own.pcie = vec![Some(place(DEVICE))];
        own.ethernet = vec![Some(site)];
        own.rdma = rdma.clone();
        own.sockets = sockets.clone();
    });
    let mut links = LinksBuilder::new();
    let drain = Drain::ByLink { latency: Span::from_ns(20), per_tlp: Span::ZERO, payload_rate: None };
    let ends = [ROOT, DEVICE].map(|id| {
        let spec = EndpointSpec { lookahead: ISSUE, drain };
        assert_eq!(links.endpoint(spec, AddressWidth::Bits64), id);
        Attach::Endpoint(id)
    });
    let direction =
        Direction { propagation: Span::from_ns(5), credits: ADVERTISED, ..Direction::bare(GEN4_X16) };
    links.link(("slot", "card", "host"), (ends[1], ends[0]), direction, direction);
    let links = builder.add_foreseeing(name("links"), Box::new(links.build(1).unwrap()));
    builder.join((links, Port(ROOT.0)), (root, Port(1)));
    builder.join((links, Port(DEVICE.0)), (nic, Port(0)));
    builder.join((program, Port(0)), (root, Port(0)));
    [nic, program]
}

/// Hosts at one switch; the flows of each pair (from, to) over a queue pair of its own.
pub(crate) fn net(hosts: u16, flows: &[(u16, u16, Flow)], spec: &Spec) -> Net {
    let mut builder = Builder::new();
    let rdma = Rdma::default();
    let line = Line::of(spec.rate, 3, Span::from_ns(50));
    let site = |station| EthernetSite { line, station, mtu: spec.mtu, frame_by_frame: spec.frame_by_frame };
    let switch = add_at(&mut builder, "switch", "ethernet-switch", spec.switch, |own| {
        own.ethernet = (0..hosts).map(|_| Some(site(None))).collect();
        own.forwarding = Forwarding::direct(&(0..hosts).collect::<Vec<_>>());
    });
    let mtu = PathMtu::of_frames(spec.mtu).unwrap();
    let none = || Program {
        rdma: rdma.clone(),
        flows: Vec::new(),
        hears: Vec::new(),
        asked: Vec::new(),
        done: Vec::new(),
        received: Vec::new(),
    };
    let mut programs: Vec<_> = (0..hosts).map(|_| none()).collect();
    for (from, to, flow) in flows {
        let [a, b] = rdma.connect([Station(*from), Station(*to)], mtu);
        let program = &mut programs[usize::from(*from)];
        program.flows.push((a, *flow));
        program.asked.push(0);
        program.done.push(Vec::new());
        programs[usize::from(*to)].hears.push(b);
    }
    let site_of = |i| site(Some(Station(i)));
    let parts: Vec<_> = (0..)
        .zip(programs)
        .map(|(i, program)| {
            let program =
                (Box::new(program) as Box<dyn Component<Message>>, rdma.clone(), Sockets::default());
            host(&mut builder, i, site_of(i), program, spec)
        })
        .collect();
    for (number, [nic, _]) in (0..).zip(&parts) {
        builder.join((*nic, Port(1)), (switch, Port(number)));
    }
    let kernel = builder.seal();
    let (nics, programs) =
        (parts.iter().map(|part| part[0]).collect(), parts.iter().map(|part| part[1]).collect());
    Net { kernel, programs, nics, switch }
}

impl Net {
    fn program(&mut self, host: usize) -> &mut Program {
        self.kernel.component::<Program>(self.programs[host]).unwrap()
    }
    fn run(&mut self) {
        self.kernel.run_until(Instant::ZERO + Span::from_us(900_000));
    }
    /// The rate of the middle half of a flow \[B/s\].
    fn rate(&mut self, host: usize, flow: usize) -> f64 {
        let program = self.program(host);
        let (done, bytes) = (&program.done[flow], program.flows[flow].1.bytes);
        let (from, to) = (done.len() / 4, done.len() * 3 / 4);
        let time = (done[to].0 - done[from].0).as_ps() as f64 * 1e-12;
        f64::from(bytes) * (to - from) as f64 / time
    }
    /// When each message of a host was done, by flow.
    pub(crate) fn done(&mut self, host: usize) -> Vec<Vec<(Instant, u32)>> {
        self.program(host).done.clone()
    }
    /// Everything that was asked for is done, once and in order.
    fn judge(&mut self) {
        for host in 0..self.programs.len() {
            let program = self.program(host);
            for ((_, flow), done) in program.flows.iter().zip(&program.done) {
                let ids: Vec<_> = done.iter().map(|(_, id)| *id).collect();
                assert_eq!(ids, (0..flow.count).collect::<Vec<_>>());
            }
            for of in program.hears.clone() {
                let own = program.received.iter().filter(|(at, _, _)| *at == of);
                let ids: Vec<_> = own.map(|(_, id, _)| *id % 64).collect();
                assert!(ids.iter().enumerate().all(|(i, id)| i as u32 % 64 == *id), "{ids:?}");
            }
        }
    }
}

const SEND: Operation = Operation::Send { invalidate: false };

/// Where nothing else limits, a port carries messages without a gap: every operation, every MTU, to 0.1 %.
#[test]
fn a_port_carries_what_the_closed_form_says() {
    let kinds =
        [(SEND, Moved::Send), (Operation::Write, Moved::Write), (Operation::Read, Moved::ReadResponse)];
    let frames = [
        (352, PathMtu::B256),
        (700, PathMtu::B512),
        (1500, PathMtu::B1024),
        (2200, PathMtu::B2048),
        (9000, PathMtu::B4096),
    ];
    for (mtu, path) in frames {
        for (operation, moved) in kinds {
            let flow = Flow { operation, bytes: 128 << 10, depth: 16, count: 64 };
            let mut net = net(2, &[(0, 1, flow)], &Spec { mtu, ..PLAIN });
            net.run();
            net.judge();
            let form = throughput::goodput(Rate::G100, moved, flow.bytes, path, Tagging::Untagged) as f64;
            let error = net.rate(0, 0) / form - 1.0;
            assert!(
                error.abs() < 1e-3,
                "{operation:?} with {path:?}: {:.4} % from {form:.0} B/s",
                error * 100.0
            );
        }
    }
}

/// Four hosts send to one through a switch with little room: frames are dropped, nothing is lost; in trains and frame
/// by frame it is the same.
#[test]
fn nothing_is_lost_where_a_switch_drops() {
    let spec = Spec {
        mtu: 1500,
        switch: &[("buffer", "64KiB"), ("buffer.alpha", "1")],
        nic: &[("issue", "10ns"), ("roce.timeout", "200us"), ("roce.window", "64"), ("roce.retries", "7")],
        ..PLAIN
    };
    let kinds = [SEND, Operation::Write, Operation::Read, Operation::Send { invalidate: true }];
    let flow = |operation| Flow { operation, bytes: 20_000, depth: 4, count: 40 };
    let flows: Vec<_> = (1..).zip(kinds).map(|(from, operation)| (from, 0, flow(operation))).collect();
    let run = |frame_by_frame| {
        let mut net = net(5, &flows, &Spec { frame_by_frame, ..spec });
        net.run();
        net.judge();
        let now = net.kernel.now();
        let ports = net.kernel.component::<EthernetSwitch>(net.switch).unwrap().ports(now);
        let sent = net.nics.clone().into_iter();
        let sent = sent.map(|nic| net.kernel.component::<RoceNic>(nic).unwrap().counts().sent);
        let sent: u64 = sent.sum();
        (ports.iter().map(|port| port.dropped).sum::<u64>(), sent, net.kernel.digest())
    };
    let (dropped, sent, digest) = run(false);
    assert!(dropped > 0 && sent > 4 * 40 * 20_000, "{dropped} dropped, {sent} B sent");
    assert_eq!(run(true), (dropped, sent, digest));
}

/// What one message takes on an idle network is told apart by what it is: a READ goes there and back before its data.
#[test]
fn a_read_takes_a_way_more_than_a_write() {
    let first = |operation| {
        let flow = Flow { operation, bytes: 4096, depth: 1, count: 3 };
        let mut net = net(2, &[(0, 1, flow)], &PLAIN);
        net.run();
        net.program(0).done[0][0].0.as_ps()
    };
    let (write, read) = (first(Operation::Write), first(Operation::Read));
    assert!((1_000_000..4_000_000).contains(&write) && read > write, "{write} ps, {read} ps");
}
