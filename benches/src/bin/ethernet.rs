//! How many frames cross how many lines in a second: machines, lines and switches, no adapters, no hosts; one thread.
//!
//! `cargo run --release -p lanetwin-benches --bin ethernet` prints frame-hops per CPU-second and kernel events for each
//! case. A frame-hop is a frame that crosses one line. With arguments `CASE FRAMES` it runs one case once, for a
//! profiler.

#[path = "../clock.rs"]
mod clock;

use clock::{cpu_seconds, median, peak_rss_mb};
use lanetwin_fabric::ethernet::logic::{Class, Node, Station, Topology, Train};
use lanetwin_fabric::ethernet::spec::{Line, Rate, wire_bytes};
use lanetwin_kernel::{Component, ComponentId, Observe, Port, Stream};
use lanetwin_models::{ethernet_switch::EthernetSwitch, find};
use lanetwin_plan::{Catalogue, check};
use lanetwin_ports::{Builder, Context, EthernetSite, Kernel, Message, Params, Site};
use lanetwin_units::{Instant, Span};
use std::path::Path;

const ROUNDS: usize = 5;
const LEAVES: u16 = 4;
const SPINES: u16 = 2;
const BELOW: u16 = 8;

/// What machines send.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    frame: u16,
    /// Frames that follow one another.
    train: u16,
    /// How many machines send, and whether all to the same one.
    senders: u16,
    incast: bool,
    /// The load of a sender's line \[%\].
    load: u64,
    frame_by_frame: bool,
}

const CASES: [Case; 6] = [
    Case {
        name: "one flow of 128 KiB, MTU 4096",
        frame: 4158,
        train: 32,
        senders: 1,
        incast: false,
        load: 100,
        frame_by_frame: false,
    },
    Case {
        name: "the same, frame by frame",
        frame: 4158,
        train: 32,
        senders: 1,
        incast: false,
        load: 100,
        frame_by_frame: true,
    },
    Case {
        name: "32 machines, any to any, 128 KiB",
        frame: 4158,
        train: 32,
        senders: 32,
        incast: false,
        load: 50,
        frame_by_frame: false,
    },
    Case {
        name: "32 machines, any to any, 4 KiB",
        frame: 1086,
        train: 4,
        senders: 32,
        incast: false,
        load: 50,
        frame_by_frame: false,
    },
    Case {
        name: "the same, frame by frame",
        frame: 1086,
        train: 4,
        senders: 32,
        incast: false,
        load: 50,
        frame_by_frame: true,
    },
    Case {
        name: "incast of 31, 16 KiB",
        frame: 1086,
        train: 16,
        senders: 31,
        incast: true,
        load: 3,
        frame_by_frame: false,
    },
];

struct Machine {
    stream: Stream,
    site: EthernetSite,
    case: Case,
    left: u64,
    number: u32,
}

impl Component<Message> for Machine {
    fn start(&mut self, cx: &mut Context<'_>) {
        if self.left > 0 {
            let first = Span::from_ps(self.stream.below(10_000_000));
            cx.wake_at(cx.now() + first, 0);
        }
    }
    fn wake(&mut self, _: u32, cx: &mut Context<'_>) {
        let Case { frame: bytes, train: count, incast, load, .. } = self.case;
        let spacing = self.site.line.rate.time_for(wire_bytes(bytes.into()));
        let from = self.site.station.unwrap_or(Station(0));
        let all = LEAVES * BELOW;
        let other = (from.0 + 1 + self.stream.below(u64::from(all) - 1) as u16) % all;
        let to = if incast { Station(all - 1) } else { Station(other) };
        let (class, words) = (Class::of_priority(3), [self.number, from.0.into(), 0]);
        let entropy = self.stream.below(256) as u8;
        let train =
            Train { from, to, count, bytes, spacing_ps: spacing.as_ps() as u32, class, entropy, words };
        self.number += u32::from(count);
        let each = if self.case.frame_by_frame { 1 } else { count };
        for first in (0..count).step_by(each.into()) {
            let at = Instant::from_ps(train.start_of(cx.now().as_ps(), first)) + self.site.line.delay();
            cx.send_at(Port(0), at, Message::Frames(train.after(first).first(each)));
        }
        self.left -= 1;
        if self.left > 0 {
            let busy = spacing * u64::from(count);
            let idle = if load < 100 { self.stream.below(2 * busy.as_ps() * (100 - load) / load) } else { 0 };
            cx.wake_at(cx.now() + busy + Span::from_ps(idle), 0);
        }
    }
    fn receive(&mut self, _: Port, _: Message, _: &mut Context<'_>) {}
}

/// Leaves with machines, spines between them, 100 Gb/s everywhere; the switches.
fn net(case: Case, trains: u64) -> (Kernel, Vec<ComponentId>) {
    let site = |station| EthernetSite {
        line: Line::of(Rate::G100, 10, Span::from_ns(50)),
        station,
        mtu: 9000,
        frame_by_frame: case.frame_by_frame,
    };
    let at = |switch: u16, port| Node::Switch { switch: switch.into(), port };
    let mut topology = Topology::new((LEAVES + SPINES).into());
    let mut joins = Vec::new();
    for leaf in 0..LEAVES {
        (0..BELOW).for_each(|i| topology.join(Node::Station(Station(leaf * BELOW + i)), at(leaf, i)));
        for spine in 0..SPINES {
            topology.join(at(leaf, BELOW + spine), at(LEAVES + spine, leaf));
            joins.push([(leaf, BELOW + spine), (LEAVES + spine, leaf)]);
        }
    }
    let mut builder = Builder::new();
    let model = find("ethernet-switch").expect("it is on the shelf");
    let tables = topology.forwarding(LEAVES * BELOW);
    let params = defaults();
    let switches: Vec<_> = (0..LEAVES + SPINES)
        .map(|number| {
            let ports = if number < LEAVES { BELOW + SPINES } else { LEAVES };
            let own = Site {
                ethernet: (0..ports).map(|_| Some(site(None))).collect(),
                forwarding: tables[usize::from(number)].clone(),
                ..Site::alone(format!("switch{number}"), 1)
            };
            let switch = model.component(&params, &own).expect("it is a component");
            builder.add_foreseeing(format!("switch{number}"), switch)
        })
        .collect();
    for station in 0..LEAVES * BELOW {
        let name = format!("machine{station}");
        let stream = Stream::new(1, &name, "trains");
        let left = if station < case.senders { trains } else { 0 };
        let machine = Machine { stream, site: site(Some(Station(station))), case, left, number: 0 };
        let id = builder.add(name, Box::new(machine));
        builder.join((id, Port(0)), (switches[usize::from(station / BELOW)], Port(station % BELOW)));
    }
    for [a, b] in joins {
        builder.join((switches[usize::from(a.0)], Port(a.1)), (switches[usize::from(b.0)], Port(b.1)));
    }
    (builder.seal_observing(Observe { digest: false, recent: 0 }), switches)
}

/// A switch as a scenario has one of which nothing is said.
const SWITCH: &str = "
about: Speed.
machine:
  host: {part: generic-host-gen4}
  ssd: {part: intel-p5800x}
  switch: {model: ethernet-switch}
links:
  bay: {from: host, to: ssd}
workloads:
  read: {block: {size: 4KiB, requests: 1000}, on: host, target: ssd}
";

/// The defaults of a switch.
fn defaults() -> Params {
    let checked = check(Path::new("bench.yaml"), SWITCH, &[], &Catalogue::built_in());
    let plan = checked.plan.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let switch = plan.variants[0].machine.iter().find(|component| component.name == "switch");
    switch.expect("the machine has one").params.clone()
}

/// Frame-hops per CPU-second, in millions, with how many there were, kernel events and drops.
fn run(case: Case, frames: u64) -> (f64, u64, u64, u64) {
    let trains = frames / u64::from(case.train) / u64::from(case.senders);
    let (mut kernel, switches) = net(case, trains);
    let before = cpu_seconds();
    kernel.run_until(Instant::NEVER);
    let cpu = cpu_seconds() - before;
    let now = kernel.now();
    let sent = trains * u64::from(case.train) * u64::from(case.senders);
    let ports = |id| kernel.component::<EthernetSwitch>(id).expect("a switch").ports(now);
    let ports: Vec<_> = switches.into_iter().flat_map(ports).collect();
    let frames = sent + ports.iter().map(|port| port.frames).sum::<u64>();
    let dropped = ports.iter().map(|port| port.dropped).sum::<u64>();
    (frames as f64 / cpu / 1e6, frames, kernel.events(), dropped)
}

fn main() {
    let arguments: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    if let [case, frames] = arguments[..] {
        let case = CASES[case as usize];
        let (rate, frames, events, dropped) = run(case, frames);
        println!(
            "{}: {rate:.2} M per CPU-second, {frames} frame-hops, {events} events, {dropped} dropped",
            case.name
        );
        return;
    }
    for case in CASES {
        let (mut rates, mut events, mut frames, mut dropped) = (Vec::new(), 0, 0, 0);
        for _ in 0..ROUNDS {
            let (rate, hops, all, lost) = run(case, 2_000_000);
            rates.push(rate);
            (frames, events, dropped) = (hops, all, lost);
        }
        let (middle, least, most) = median(rates);
        println!(
            "{:36} {middle:6.1} M frame-hops per CPU-second ({least:.1} to {most:.1}), {:.3} events each, {dropped} dropped",
            case.name,
            events as f64 / frames as f64
        );
    }
    println!("at most {:.0} MB were held", peak_rss_mb());
}
