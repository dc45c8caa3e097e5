//! Adapters that cut and join segments of TCP: goodput against the closed form, and that every byte comes once where
//! switches drop.

use crate::rig::*;
use crate::roce_nic::{PLAIN, Spec, host};
use lanetwin_fabric::ethernet::logic::{Forwarding, Station};
use lanetwin_fabric::ethernet::spec::{Line, Tagging, frame_bytes, wire_bytes};
use lanetwin_fabric::tcp::logic::congestion::Algorithm;
use lanetwin_fabric::tcp::logic::connection::{Connection, Limits};
use lanetwin_fabric::tcp::spec::{OFFLOAD_BYTES, TIMESTAMPS_BYTES, segment_bytes};
use lanetwin_kernel::{Component, ComponentId, Port};
use lanetwin_models::ethernet_switch::EthernetSwitch;
use lanetwin_models::roce_nic::{RoceNic, Unfinished};
use lanetwin_ports::{
    Builder, Context, EthernetSite, Kernel, Message, Rdma, SocketId, Sockets, socket_handle, socket_of,
};
use lanetwin_units::{Instant, Span};
use std::any::Any;

/// One end of a connection.
struct End {
    socket: SocketId,
    connection: Connection,
    /// Bytes that have come, and when they had.
    came: Vec<(Instant, u64)>,
    /// Segments that have come.
    segments: u64,
    wakes: Option<u64>,
}

/// Software that takes what comes and sends what there is, in no time.
struct Program {
    sockets: Sockets,
    ends: Vec<End>,
    sends: u64,
}

impl Program {
    fn pump(&mut self, place: usize, cx: &mut Context<'_>) {
        let end = &mut self.ends[place];
        let mut posted = None;
        while let Some(segment) = end.connection.send(cx.now().as_ps()) {
            posted = Some(self.sockets.post(end.socket, segment));
        }
        if let Some(address) = posted {
            let handle = socket_handle(end.socket);
            cx.send(Port(0), Span::ZERO, Message::Mmio { to: DEVICE, bytes: 64, handle, address });
        }
        let next = end.connection.deadline().map(|at| at.max(cx.now().as_ps() + 1));
        if let Some(at) = next.filter(|_| next != end.wakes) {
            end.wakes = next;
            cx.wake_at(Instant::from_ps(at), place as u32);
        }
    }
}

impl Component<Message> for Program {
    fn start(&mut self, cx: &mut Context<'_>) {
        for place in 0..self.ends.len() {
            self.ends[place].connection.offer(0, self.sends);
            self.pump(place, cx);
        }
    }
    fn receive(&mut self, _: Port, message: Message, cx: &mut Context<'_>) {
        let Message::Signal { handle, .. } = message else { panic!("{message:?}") };
        let socket = socket_of(handle).expect("a signal of a socket");
        let place = self.ends.iter().position(|end| end.socket == socket).unwrap();
        let segment = self.sockets.poll(socket).expect("a signal comes behind a segment");
        let end = &mut self.ends[place];
        end.segments += 1;
        end.connection.receive(cx.now().as_ps(), &segment);
        let there = end.connection.available();
        end.connection.take(there);
        if there > 0 {
            end.came.push((cx.now(), end.connection.receiver().expected()));
        }
        self.pump(place, cx);
    }
    fn wake(&mut self, place: u32, cx: &mut Context<'_>) {
        self.ends[place as usize].connection.expire(cx.now().as_ps());
        self.pump(place as usize, cx);
    }
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}

struct Net {
    kernel: Kernel,
    programs: Vec<ComponentId>,
    nics: Vec<ComponentId>,
    switch: ComponentId,
}

/// All hosts but the first send so much to the first, over a connection each.
fn net(hosts: u16, bytes: u64, spec: &Spec) -> Net {
    let mut builder = Builder::new();
    let sockets = Sockets::default();
    let line = Line::of(spec.rate, 3, Span::from_ns(50));
    let site = |station| EthernetSite { line, station, mtu: spec.mtu, frame_by_frame: spec.frame_by_frame };
    let switch = add_at(&mut builder, "switch", "ethernet-switch", spec.switch, |own| {
        own.ethernet = (0..hosts).map(|_| Some(site(None))).collect();
        own.forwarding = Forwarding::direct(&(0..hosts).collect::<Vec<_>>());
    });
    let segment = segment_bytes(spec.mtu, TIMESTAMPS_BYTES);
    let limits = Limits { segment, offload: OFFLOAD_BYTES - 1, buffer: 2 << 20, algorithm: Algorithm::Cubic };
    let end = |socket| End {
        socket,
        connection: Connection::new(limits, 0),
        came: Vec::new(),
        segments: 0,
        wakes: None,
    };
    let mut programs: Vec<_> = (0..hosts)
        .map(|i| Program { sockets: sockets.clone(), ends: Vec::new(), sends: if i > 0 { bytes } else { 0 } })
        .collect();
    for from in 1..hosts {
        let [a, b] = sockets.connect([Station(from), Station(0)], segment);
        programs[usize::from(from)].ends.push(end(a));
        programs[0].ends.push(end(b));
    }
    let mut parts = Vec::new();
    for (i, program) in (0..).zip(programs) {
        let software = (Box::new(program) as Box<dyn Component<Message>>, Rdma::default(), sockets.clone());
        let [nic, program] = host(&mut builder, i, site(Some(Station(i))), software, spec);
        builder.join((nic, Port(1)), (switch, Port(i)));
        parts.push((nic, program));
    }
    let kernel = builder.seal();
    let (nics, programs) = parts.into_iter().unzip();
    Net { kernel, programs, nics, switch }
}

impl Net {
    fn program(&mut self, host: usize) -> &mut Program {
        self.kernel.component::<Program>(self.programs[host]).unwrap()
    }
    fn run(&mut self) {
        self.kernel.run_until(Instant::ZERO + Span::from_us(30_000_000));
    }
}

/// Where nothing else limits, a port carries full segments without a gap: every MTU, to 0.1 %.
#[test]
fn a_port_carries_what_the_closed_form_says() {
    for mtu in [576, 1500, 4200, 9000] {
        let bytes = 24 << 20;
        let spec = Spec { mtu, ..PLAIN };
        let mut net = net(2, bytes, &spec);
        net.run();
        let came = &net.program(0).ends[0].came;
        assert_eq!(came.last().map(|(_, upto)| *upto), Some(bytes));
        let [from, to] = [came.len() / 2, came.len() * 9 / 10].map(|place| came[place]);
        let rate = (to.1 - from.1) as f64 / ((to.0 - from.0).as_ps() as f64 * 1e-12);
        let segment = segment_bytes(mtu, TIMESTAMPS_BYTES);
        let wire = wire_bytes(frame_bytes(mtu, Tagging::Untagged));
        let form = 12.5e9 * f64::from(segment) / f64::from(wire);
        let error = rate / form - 1.0;
        assert!(error.abs() < 1e-3, "MTU {mtu}: {:.4} % from {form:.0} B/s", error * 100.0);
        // 64 KiB at a time, not frame by frame
        let joined = net.program(0).ends[0].segments;
        assert!(joined < 2 * bytes / 65_536 + 50, "{joined} segments for {bytes} B");
    }
}

/// Four hosts send to one through a switch with little room: frames are dropped, every byte comes once and in order; in
/// trains and frame by frame it is the same.
#[test]
fn nothing_is_lost_where_a_switch_drops() {
    let bytes = 1 << 20;
    let run = |frame_by_frame| {
        let switch = &[("buffer", "64KiB"), ("buffer.alpha", "1")];
        let mut net = net(5, bytes, &Spec { mtu: 1500, switch, frame_by_frame, ..PLAIN });
        net.run();
        for end in &net.program(0).ends {
            assert_eq!(end.came.last().map(|(_, upto)| *upto), Some(bytes));
            assert!(end.came.is_sorted());
        }
        for nic in net.nics.clone() {
            let unfinished = net.kernel.component::<RoceNic>(nic).unwrap().unfinished();
            assert_eq!(unfinished, Unfinished::default());
        }
        let again: u64 =
            (1..5).map(|host| net.program(host).ends[0].connection.sender().counts().again).sum();
        let now = net.kernel.now();
        let ports = net.kernel.component::<EthernetSwitch>(net.switch).unwrap().ports(now);
        (ports.iter().map(|port| port.dropped).sum::<u64>(), again, net.kernel.digest())
    };
    let (dropped, again, digest) = run(false);
    assert!(dropped > 0 && again > 0, "{dropped} dropped, {again} B sent again");
    assert_eq!(run(true), (dropped, again, digest));
}

/// Cut into slices of time, a run is the same.
#[test]
fn slices_of_time_change_nothing() {
    let spec = Spec { mtu: 1500, switch: &[("buffer", "64KiB"), ("buffer.alpha", "1")], ..PLAIN };
    let (mut whole, mut sliced) = (net(3, 1 << 19, &spec), net(3, 1 << 19, &spec));
    let end = Instant::ZERO + Span::from_us(2_000);
    whole.kernel.run_until(end);
    (1..=500).for_each(|i| sliced.kernel.run_until(Instant::ZERO + Span::from_ns(3_777) * i));
    sliced.kernel.run_until(end);
    assert_eq!(whole.kernel.digest(), sliced.kernel.digest());
    assert_eq!(whole.program(0).ends[0].came, sliced.program(0).ends[0].came);
}
