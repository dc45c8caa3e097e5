//! Links and trains of a scenario in the words of the naive reference.

use crate::SEED;
use crate::reference::machine::{
    BitErrors, Core, Credits, Direction, DllpMode, Drain, Endpoint, Kind, Link, Machine, Node, Outage,
    OutputBuffer, Pace, Recoveries, Switch, Tag, Train,
};
use crate::reference::world::Action;
use lanetwin_kernel::Stream;
use lanetwin_pcie::link::{self, Arbitration, Attach, Forwarding, Submission};
use lanetwin_plan::{End, LinkPlan, Variant};
use lanetwin_ports::{Carried, Wiring};
use lanetwin_units::LinkRate;

/// Corrupted bits are listed up to this bit of a direction, far beyond what a run sends.
const LISTED_BITS: u64 = 1 << 32;
/// Recoveries are listed up to this time \[ps\], far beyond the end of a run.
const LISTED_PS: u64 = 1_000_000_000_000;

/// What a device told its link, in the words of the reference.
pub fn action(submission: &Submission<Carried>) -> (usize, Action) {
    match *submission {
        Submission::Train { endpoint, ready, train } => {
            (endpoint.index(), Action::HandIn { ready_ps: ready.as_ps(), train: recorded(train) })
        }
        Submission::Release { endpoint, at, class, count, payload } => {
            // Whether its TLPs were delivered one by one is of no account any more.
            let (kind, count) = (kind(class, class == link::Class::NonPosted), u32::from(count));
            let release = Action::Release { at_ps: at.as_ps(), kind, payload_bytes: payload.into(), count };
            (endpoint.index(), release)
        }
    }
}

fn recorded(train: link::Train<Carried>) -> Train {
    Train {
        kind: kind(train.class, train.singly),
        count: train.count.into(),
        wire_bytes: train.wire_bytes.into(),
        payload_bytes: train.payload.into(),
        destination: train.to.index(),
        relaxed: train.relaxed,
        notice: train.notify,
        // Of a train that has left the device is told the handle.
        tag: Tag { transfer: train.user.tlps.handle, ..Tag::default() },
    }
}

fn kind(class: link::Class, singly: bool) -> Kind {
    match (class, singly) {
        (link::Class::Posted, false) => Kind::Write,
        (link::Class::Posted, true) => Kind::Message,
        (link::Class::NonPosted, true) => Kind::Read,
        (link::Class::Completion, false) => Kind::Completion,
        other => panic!("nobody sends {other:?}"),
    }
}

/// The machine of a variant, in the words of the reference.
pub fn machine(variant: &Variant, wiring: &Wiring) -> Machine {
    let links = variant.links.iter().zip(&wiring.links).enumerate().map(|(number, (plan, wired))| {
        let outages = wiring.outages.iter().filter(|outage| outage.link.index() == number);
        assert_eq!(plan.name, wired.name, "links are wired in the order of the plan");
        let streams = ["bit errors there", "bit errors back"].map(|name| Stream::new(SEED, &plan.name, name));
        let [there, back] = streams;
        Link {
            ends: wired.ends.map(node),
            directions: [
                direction(plan, &wired.directions[0], there),
                direction(plan, &wired.directions[1], back),
            ],
            dllp: match plan.dllp {
                link::DllpMode::Off => DllpMode::Off,
                link::DllpMode::Lump => DllpMode::Lump,
                link::DllpMode::Each => DllpMode::Each,
            },
            recoveries: recoveries(plan, wired.directions[0].errors.recoveries),
            outages: outages
                .map(|outage| Outage {
                    down_ps: outage.from.as_ps(),
                    up_ps: outage.until.as_ps(),
                    then: outage.then.map(|then| pace(plan, then)),
                })
                .collect(),
        }
    });
    let switches = (0..wiring.switches.len()).map(|number| switch(number, wiring));
    Machine { endpoints: endpoints(variant, wiring), switches: switches.collect(), links: links.collect() }
}

/// How a link comes back, which the plan knows by generation and lanes.
fn pace(plan: &LinkPlan, wired: link::Pace) -> Pace {
    let all = plan.down.iter().filter_map(|down| down.then);
    let found = all.into_iter().find(|(generation, width)| LinkRate::pcie(*generation, *width) == wired.rate);
    let (generation, width) = found.expect("a pace of the plan");
    Pace { generation: generation.number(), lanes: width.lanes(), skp_ticks: wired.skp }
}

fn switch(number: usize, wiring: &Wiring) -> Switch {
    let spec = &wiring.switches[number];
    let latencies = wiring.latencies.iter().filter(|said| said.switch.index() == number);
    let weights = wiring.weights.iter().filter(|said| said.switch.index() == number);
    Switch {
        latency_ps: spec.latency.as_ps(),
        pair_latencies_ps: latencies
            .map(|said| ((said.from.index(), said.to.index()), said.latency.as_ps()))
            .collect(),
        cut_through: spec.forwarding == Forwarding::CutThrough,
        weights: match spec.arbitration {
            Arbitration::RoundRobin => None,
            Arbitration::Weighted => {
                Some(weights.map(|said| (said.link.index(), said.weight.into())).collect())
            }
        },
        core: spec.core.map(core),
    }
}

fn core(core: link::Core) -> Core {
    let buffer =
        |output: link::OutputBuffer| OutputBuffer { tlps: output.tlps.into(), data: output.data.into() };
    match core {
        link::Core::Crossbar { speed_up, output } => {
            Core::Crossbar { speed_up: speed_up.into(), output: buffer(output) }
        }
        link::Core::SharedBus { speed_up, output } => {
            Core::SharedBus { speed_up: speed_up.into(), output: buffer(output) }
        }
        link::Core::SharedMemory { speed_up } => Core::SharedMemory { speed_up: speed_up.into() },
    }
}

fn endpoints(variant: &Variant, wiring: &Wiring) -> Vec<Endpoint> {
    let ends = ends(variant);
    assert_eq!(ends.len(), wiring.endpoints.len());
    let links = variant.links.iter().zip(&wiring.links);
    let wired = links.flat_map(|(plan, wired)| [plan.from, plan.to].into_iter().zip(wired.ends));
    let wired: Vec<End> =
        wired.filter(|(_, at)| matches!(at, Attach::Endpoint(_))).map(|(end, _)| end).collect();
    assert_eq!(wired, ends, "what is no switch is an endpoint");
    let endpoint = |(end, spec): (&End, &link::EndpointSpec)| {
        let rate = variant.machine[end.component].params.rate("port.ingest-rate");
        let drain = match spec.drain {
            link::Drain::ByDevice => Drain::ByItself,
            link::Drain::ByLink { latency, per_tlp, payload_rate } => {
                assert_eq!(payload_rate, (rate > 0).then(|| LinkRate::bytes_per_second(rate)));
                Drain::ByLinks {
                    drain_ps: latency.as_ps(),
                    ingest_ps: per_tlp.as_ps(),
                    ingest_bytes_per_second: (rate > 0).then_some(rate),
                }
            }
        };
        Endpoint { drain, lookahead_ps: spec.lookahead.as_ps() }
    };
    ends.iter().zip(&wiring.endpoints).map(endpoint).collect()
}

/// The end of a link that each endpoint is.
pub fn ends(variant: &Variant) -> Vec<End> {
    let ends = variant.links.iter().flat_map(|link| [link.from, link.to]);
    ends.filter(|end| !variant.machine[end.component].is_switch()).collect()
}

fn node(attach: Attach) -> Node {
    match attach {
        Attach::Endpoint(id) => Node::Endpoint(id.index()),
        Attach::Switch(id) => Node::Switch(id.index()),
    }
}

fn direction(plan: &LinkPlan, wired: &link::Direction, errors: Stream) -> Direction {
    let credits = |class: usize| Credits {
        header: wired.credits.header[class].map(u64::from),
        data: wired.credits.data[class].map(u64::from),
    };
    let skp = wired.skp.unwrap_or(link::Skp { period: 1 << 40, duration: 0 });
    Direction {
        generation: plan.generation.number(),
        lanes: plan.width.lanes(),
        propagation_ps: wired.propagation.as_ps(),
        credits: [credits(0), credits(1), credits(2)],
        credit_latency_ps: wired.credits.latency.as_ps(),
        ack_latency_ps: wired.ack_latency.as_ps(),
        replay_buffer_bytes: wired.replay_buffer.map(u64::from),
        skp_period_ticks: skp.period,
        skp_ticks: (skp.duration > 0).then_some(skp.duration),
        tlps_per_ack: wired.dllps.ack_every.into(),
        tlps_per_update: wired.dllps.update_every.into(),
        dllp_delay_ps: wired.dllps.delay.as_ps(),
        nak_latency_ps: wired.errors.nak_latency.as_ps(),
        retrain_ps: wired.errors.retrain.as_ps(),
        errors: (plan.bit_error_ratio > 0.0).then(|| listed(plan.bit_error_ratio, errors)),
    }
}

/// The same Recoveries as in the engine.
fn recoveries(plan: &LinkPlan, said: Option<link::Recoveries>) -> Option<Recoveries> {
    let link::Recoveries { interval, lasts } = said?;
    let mut stream = Stream::new(SEED, &plan.name, "recoveries");
    let (mut gaps_ps, mut reached) = (Vec::new(), 0_u64);
    while reached <= LISTED_PS {
        let gap = stream.exponential(interval).as_ps();
        gaps_ps.push(gap);
        reached = reached.saturating_add(gap).saturating_add(lasts.as_ps());
    }
    // one that is drawn beyond the end of time never comes
    gaps_ps.retain(|gap| *gap <= LISTED_PS);
    Some(Recoveries { gaps_ps: gaps_ps.into(), lasts_ps: lasts.as_ps() })
}

/// The same corrupted bits as in the engine.
fn listed(ratio: f64, mut stream: Stream) -> BitErrors {
    let (mut distances, mut reached) = (Vec::new(), 0_u64);
    while reached <= LISTED_BITS {
        let distance = stream.geometric(ratio).saturating_add(1);
        distances.push(distance);
        reached = reached.saturating_add(distance);
    }
    BitErrors::Listed(distances.into())
}
