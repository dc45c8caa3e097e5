//! Switches of Ethernet in a kernel: leaves and spines, in trains and frame by frame.

use crate::rig::*;
use lanetwin_fabric::ethernet::logic::{Class, Node, Station, Topology, Train};
use lanetwin_fabric::ethernet::spec::{Line, Rate, wire_bytes};
use lanetwin_kernel::{Component, ComponentId, Port, Stream};
use lanetwin_models::ethernet_switch::EthernetSwitch;
use lanetwin_ports::{Builder, Context, EthernetSite, Kernel, Message};
use lanetwin_units::{Instant, Span};
use std::any::Any;

const LEAVES: u16 = 2;
const SPINES: u16 = 2;
const STATIONS_OF_A_LEAF: u16 = 3;
const STATIONS: u16 = LEAVES * STATIONS_OF_A_LEAF;

/// A machine that sends random trains and notes each frame that comes.
struct Machine {
    stream: Stream,
    site: EthernetSite,
    left: u32,
    number: u32,
    heard: Vec<(u64, Train)>,
}

impl Component<Message> for Machine {
    fn start(&mut self, cx: &mut Context<'_>) {
        cx.wake_at(cx.now(), 0);
    }
    fn wake(&mut self, _: u32, cx: &mut Context<'_>) {
        let count = 1 + self.stream.below(30) as u16;
        let bytes = [64, 1082, 1518, 4178][self.stream.below(4) as usize];
        let spacing = self.site.line.rate.time_for(wire_bytes(bytes.into()));
        let from = self.site.station.unwrap();
        let class = Class::of_priority(self.stream.below(2) as u8).ecn_capable();
        let to = Station(self.stream.below(STATIONS.into()) as u16);
        let (entropy, words) = (self.stream.below(256) as u8, [self.number, u32::from(from.0), 0]);
        let train =
            Train { from, to, count, bytes, spacing_ps: spacing.as_ps() as u32, class, entropy, words };
        self.number += u32::from(count);
        let each = if self.site.frame_by_frame { 1 } else { count };
        for first in (0..count).step_by(each.into()) {
            let at = Instant::from_ps(train.start_of(cx.now().as_ps(), first)) + self.site.line.delay();
            cx.send_at(Port(0), at, Message::Frames(train.after(first).first(each)));
        }
        self.left -= 1;
        if self.left > 0 {
            let idle = Span::from_ps(self.stream.below(3) * self.stream.below(2_000_000));
            cx.wake_at(cx.now() + spacing * u64::from(count) + idle, 0);
        }
    }
    fn receive(&mut self, _: Port, message: Message, cx: &mut Context<'_>) {
        let Message::Frames(train) = message else { panic!("{message:?}") };
        for i in 0..train.count {
            let frame = Train { spacing_ps: 0, ..train.after(i).first(1) };
            self.heard.push((train.start_of(cx.now().as_ps(), i), frame));
        }
    }
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}

struct Net {
    kernel: Kernel,
    machines: Vec<ComponentId>,
    switches: Vec<ComponentId>,
}

/// Machines at 25 Gb/s below leaves, with 100 Gb/s between these and spines.
fn net(seed: u64, frame_by_frame: bool, replaced: &[(&str, &str)]) -> Net {
    let site = |rate, metres, station| {
        let line = Line::of(rate, metres, Span::from_ns(40));
        EthernetSite { line, station, frame_by_frame, ..LINE }
    };
    let below = |station| site(Rate::G25, 2, station);
    let between = site(Rate::G100, 30, None);
    let switch = |switch: u16, port| Node::Switch { switch: switch.into(), port };
    let mut topology = Topology::new(usize::from(LEAVES + SPINES));
    let mut sites = vec![vec![Some(between); usize::from(LEAVES)]; usize::from(LEAVES + SPINES)];
    let mut builder = Builder::new();
    let mut joins = Vec::new();
    for leaf in 0..LEAVES {
        let ports = (0..STATIONS_OF_A_LEAF).map(|_| Some(below(None)));
        sites[usize::from(leaf)] = ports.chain((0..SPINES).map(|_| Some(between))).collect();
        for spine in 0..SPINES {
            let ends = [(leaf, STATIONS_OF_A_LEAF + spine), (LEAVES + spine, leaf)];
            topology.join(switch(ends[0].0, ends[0].1), switch(ends[1].0, ends[1].1));
            joins.push(ends);
        }
    }
    let machines: Vec<_> = (0..STATIONS)
        .map(|station| {
            let (leaf, port) = (station / STATIONS_OF_A_LEAF, station % STATIONS_OF_A_LEAF);
            topology.join(Node::Station(Station(station)), switch(leaf, port));
            let name = format!("machine{station}");
            let stream = Stream::new(seed, &name, "trains");
            let site = below(Some(Station(station)));
            builder.add(name, Box::new(Machine { stream, site, left: 60, number: 0, heard: Vec::new() }))
        })
        .collect();
    let tables = topology.forwarding(STATIONS);
    let switches: Vec<_> = (0..LEAVES + SPINES)
        .map(|number| {
            let path = format!("switch{number}");
            add_at(&mut builder, &path, "ethernet-switch", replaced, |site| {
                site.ethernet.clone_from(&sites[usize::from(number)]);
                site.forwarding = tables[usize::from(number)].clone();
            })
        })
        .collect();
    for station in 0..STATIONS {
        let leaf = switches[usize::from(station / STATIONS_OF_A_LEAF)];
        builder.join((machines[usize::from(station)], Port(0)), (leaf, Port(station % STATIONS_OF_A_LEAF)));
    }
    for [a, b] in joins {
        builder.join((switches[usize::from(a.0)], Port(a.1)), (switches[usize::from(b.0)], Port(b.1)));
    }
    Net { kernel: builder.seal(), machines, switches }
}

/// What every machine has heard, by time, and what every port of every switch has done.
fn heard(net: &mut Net) -> (Vec<Vec<(u64, Train)>>, Vec<String>) {
    let now = net.kernel.now();
    let heard = net.machines.iter().map(|&id| {
        let mut heard = net.kernel.component::<Machine>(id).unwrap().heard.clone();
        heard.sort_by_key(|(at, frame)| (*at, frame.words));
        heard
    });
    let heard = heard.collect();
    let ports = net
        .switches
        .iter()
        .map(|&id| format!("{:?}", net.kernel.component::<EthernetSwitch>(id).unwrap().ports(now)));
    (heard, ports.collect())
}

/// With much room and with little: every frame arrives at the same picosecond, with the same mark, and the digest is
/// the same, in trains and frame by frame, cut and uncut.
#[test]
fn trains_are_their_frames_and_slices_change_nothing() {
    let kinds: [&[(&str, &str)]; 3] = [
        &[],
        &[("buffer", "64KiB"), ("buffer.alpha", "1/2"), ("ecn.threshold", "8KiB")],
        &[("forwarding", "store-and-forward"), ("latency", "0ns"), ("ecn.threshold", "2KiB")],
    ];
    let end = Instant::ZERO + Span::from_us(2_000);
    for (kind, replaced) in kinds.into_iter().enumerate() {
        for seed in 0..10 {
            let mut trains = net(seed, false, replaced);
            trains.kernel.run_until(end);
            let mut frames = net(seed, true, replaced);
            frames.kernel.run_until(end);
            let mut sliced = net(seed, false, replaced);
            let mut cuts = Stream::new(seed, "cuts", "cuts");
            let mut until = Instant::ZERO;
            while until < end {
                until = end.min(until + Span::from_ps(cuts.below(3_000_000)));
                sliced.kernel.run_until(until);
            }
            let all = heard(&mut trains);
            assert!(all.0.iter().map(Vec::len).sum::<usize>() > 1500, "{all:?}");
            let bad = all.1.iter().any(|ports| ports.contains("dropped: 1"));
            assert!(kind != 1 || bad, "{:?}", all.1);
            assert_eq!(all, heard(&mut frames), "seed {seed} of kind {kind}, frame by frame");
            assert_eq!(all, heard(&mut sliced), "seed {seed} of kind {kind}, cut");
            let digests = [&trains, &frames, &sliced].map(|net| net.kernel.digest());
            assert_eq!(digests, [digests[0]; 3], "seed {seed} of kind {kind}");
            assert!(trains.kernel.events() < frames.kernel.events());
        }
    }
}
