//! Does every TLP of every scenario leave when docs/link-model.md says? A world runs in the engine while what its
//! devices hand in and free is written down; the naive reference of the links' own tests is told the same. All
//! departures must be equal, to the tick, and everything that devices are told. Ports send no messages of their own
//! here, which the reference does not have.

#[allow(dead_code, reason = "its devices and random machines are for the links' own tests")]
#[path = "../../pcie/tests/reference/mod.rs"]
mod reference;
mod tree;
mod words;

use lanetwin_kernel::Tap;
use lanetwin_pcie::link::Submission;
use lanetwin_plan::{Case, Plan, Variant, WorkloadPlan};
use lanetwin_ports::{Message, Tlps};
use lanetwin_units::{Instant, Span};
use lanetwin_world::World;
use reference::machine::{Direction, Kind, Machine};
use reference::simulator::{Departure, TICKS_PER_PS, run_until};
use reference::world::{Action, Event, Script, Seen};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::PathBuf;
use std::rc::Rc;
use tree::{plan, plan_of, scenarios, side_by_side};
use words::{action, ends, machine};

const SEED: u64 = 3;
/// So many operations of each case: many rounds of what is in flight, little for a simulator that knows no trains.
const OPERATIONS: u64 = 200;
/// No more are followed to the end once so many TLPs have left: of large requests, one of each device, or, at night, a
/// few.
const DEPARTURES: usize = 5_000;
const MANY_DEPARTURES: usize = 200_000;
/// A run ends with the slice in which its last operation is answered.
const SLICE: Span = Span::from_us(5);

/// What links tell a device: of TLPs that arrive, or that a train has left.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Told {
    at_ps: u64,
    device: String,
    handle: u32,
    /// TLPs: from and to which endpoint, how many, how many bytes each, the address of the first.
    tlps: Option<(usize, usize, u16, u16, u64)>,
}

impl Told {
    fn new(at_ps: u64, device: &str, message: &Message) -> Self {
        let (handle, tlps) = match *message {
            Message::Tlps(t) => (t.handle, Some((t.from.index(), t.to.index(), t.count, t.bytes, t.address))),
            Message::Departed { handle } => (handle, None),
            other => panic!("links do not say {other:?}"),
        };
        Self { at_ps, device: device.to_owned(), handle, tlps }
    }
}

/// All that the links of a world did up to an instant, sorted.
#[derive(PartialEq, Eq, Debug)]
struct Counts {
    departures: Vec<Departure>,
    told: Vec<Told>,
}

/// What the devices of a world did and what the engine made of it, up to an instant.
struct Recording {
    machine: Machine,
    /// The name of the device at each endpoint.
    devices: Vec<String>,
    /// What each endpoint said.
    said: Vec<Vec<Action>>,
    /// The trains among it.
    trains: Vec<Vec<Tlps>>,
    engine: Counts,
    end_ps: u64,
    /// Whether a corrupted TLP was sent again.
    replayed: bool,
}

/// Writes down what links tell devices.
struct Listener(Rc<RefCell<Vec<Told>>>);

impl Tap<Message> for Listener {
    fn see(&mut self, at: Instant, from: &str, to: &str, message: &Message) {
        if from == "(links)" {
            self.0.borrow_mut().push(Told::new(at.as_ps(), to, message));
        }
    }
}

impl Recording {
    fn new(variant: &Variant, workload: &WorkloadPlan, case: &Case, departures_max: usize) -> Self {
        let mut world = World::new(variant, workload, case, SEED);
        let machine = machine(variant, world.links().wiring());
        let submissions = Rc::new(RefCell::new(Vec::new()));
        let departures = Rc::new(RefCell::new(Vec::new()));
        let told = Rc::new(RefCell::new(Vec::new()));
        let (heard, left) = (Rc::clone(&submissions), Rc::clone(&departures));
        // the reference knows what devices hand in; messages of ports have a law of their own in the links' tests
        world.links().silence_ports();
        let fabric = world.links().fabric();
        fabric.set_submission_tap(Some(Box::new(move |submission| heard.borrow_mut().push(*submission))));
        fabric
            .set_tap(Some(Box::new(move |run, _| left.borrow_mut().extend(reference::engine::single(run)))));
        world.kernel.set_tap(Some(Box::new(Listener(Rc::clone(&told)))));
        while world.progress().1 == 0
            || world.progress().1 < OPERATIONS && departures.borrow().len() < departures_max
        {
            assert!(world.kernel.next_event().is_some(), "nothing is answered any more");
            let now = world.kernel.now();
            world.kernel.run_until(now + SLICE);
        }
        let end_ps = world.kernel.now().as_ps();
        let replayed = world.links().usage().iter().any(|link| link.activity.replay_time > 0);
        let mut engine = Counts { departures: departures.take(), told: told.take() };
        engine.departures.retain(|departure| departure.tick <= end_ps * TICKS_PER_PS);
        engine.departures.sort_unstable();
        engine.told.sort_unstable();

        let mut said = vec![Vec::new(); machine.endpoints.len()];
        let mut trains = said.iter().map(|_| Vec::new()).collect::<Vec<_>>();
        for submission in submissions.take() {
            let (endpoint, action) = action(&submission);
            said[endpoint].push(action);
            if let Submission::Train { train, .. } = submission {
                trains[endpoint].push(train.user.tlps);
            }
        }
        let devices = ends(variant).iter().map(|end| variant.machine[end.component].name.clone()).collect();
        Self { machine, devices, said, trains, engine, end_ps, replayed }
    }

    /// What the reference makes of what the devices did, on this machine.
    fn on(&self, machine: &Machine) -> Counts {
        let script = |actions: &Vec<Action>| Box::new(Recited(actions.clone())) as Box<dyn Script>;
        let world = reference::world::World::new(self.said.iter().map(script).collect());
        let outcome = run_until(machine, world, self.end_ps);
        let mut told: Vec<Told> = outcome.seen.iter().map(|seen| self.told(seen)).collect();
        told.sort_unstable();
        Counts { departures: outcome.departures, told }
    }

    /// What a device would be told of this.
    fn told(&self, seen: &Seen) -> Told {
        let message = match seen.event {
            Event::Delivered { source, sequence, first, count, .. } => {
                let train = self.trains[source][sequence as usize];
                let address = train.address + u64::from(first) * u64::from(train.bytes);
                Message::Tlps(Tlps { count: count as u16, address, ..train })
            }
            Event::Departed { tag } => Message::Departed { handle: tag.transfer },
            Event::Timer { .. } => unreachable!("nobody sets one"),
        };
        Told::new(seen.at_ps, &self.devices[seen.endpoint], &message)
    }

    fn compare(&self) -> Result<(), String> {
        let expected = self.on(&self.machine);
        let by_time = |doings: &Counts| {
            let mut departures = doings.departures.clone();
            departures.sort_unstable_by_key(|departure| (departure.tick, *departure));
            departures
        };
        first_difference("departure", &by_time(&expected), &by_time(&self.engine))?;
        first_difference("message", &expected.told, &self.engine.told)
    }
}

/// The earliest difference is the cause of the rest.
fn first_difference<T: PartialEq + Debug>(what: &str, expected: &[T], got: &[T]) -> Result<(), String> {
    if expected == got {
        return Ok(());
    }
    let at = expected.iter().zip(got).take_while(|(a, b)| a == b).count();
    let all = expected.len();
    Err(format!("{what} {at} of {all}: expected {:?}, got {:?}", expected.get(at), got.get(at)))
}

/// A device that does what was written down.
struct Recited(Vec<Action>);

impl Script for Recited {
    fn start(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.0)
    }
    fn react(&mut self, _now_ps: u64, _event: Event) -> Vec<Action> {
        Vec::new()
    }
}

/// The worlds of a plan that have links, by name, with so many cases of each workload and so many TLPs of each at most.
fn recordings(
    plan: &Plan,
    cases_max: usize,
    departures_max: usize,
) -> impl Iterator<Item = (String, Recording)> {
    plan.variants.iter().filter(|variant| !variant.links.is_empty()).flat_map(move |variant| {
        variant.workloads.iter().flat_map(move |workload| {
            // the last cases have the most in flight
            workload.cases.iter().rev().take(cases_max).map(move |case| {
                let name = format!("{} {} {} {}", plan.name, variant.name, workload.name, case.label);
                (name, Recording::new(variant, workload, case, departures_max))
            })
        })
    })
}

/// A picosecond or a tick more for a direction of a link.
type Change = (&'static str, fn(&mut Direction));

const FLIGHT: Change = ("propagation", |direction| direction.propagation_ps += 1);

const CHANGES: [Change; 8] = [
    FLIGHT,
    ("credit latency", |direction| direction.credit_latency_ps += 1),
    ("ACK latency", |direction| direction.ack_latency_ps += 1),
    ("SKP period", |direction| direction.skp_period_ticks += 1),
    ("SKP", |direction| direction.skp_ticks = direction.skp_ticks.map(|ticks| ticks + 1)),
    ("DLLP delay", |direction| direction.dllp_delay_ps += 1),
    ("NAK latency", |direction| direction.nak_latency_ps += 1),
    ("Recovery", |direction| direction.retrain_ps += 1),
];

impl Recording {
    /// Whether the reference makes something else of it where every direction is changed.
    fn notices(&self, (_, change): Change) -> bool {
        let mut machine = self.machine.clone();
        machine.links.iter_mut().flat_map(|link| &mut link.directions).for_each(change);
        self.on(&machine) != self.engine
    }

    /// What happened in it at all.
    fn features(&self) -> impl Iterator<Item = &'static str> {
        let of_kind =
            |kind| self.said_any(|a| matches!(a, Action::HandIn { train, .. } if train.kind == kind));
        let found = [
            ("completion", of_kind(Kind::Completion)),
            ("notice", self.engine.told.iter().any(|told| told.tlps.is_none())),
            ("read", of_kind(Kind::Read)),
            ("release", self.said_any(|action| matches!(action, Action::Release { .. }))),
            ("replay", self.replayed),
            ("write", of_kind(Kind::Write)),
        ];
        found.into_iter().filter(|(_, met)| *met).map(|(feature, _)| feature)
    }

    fn said_any(&self, is_it: impl Fn(&Action) -> bool) -> bool {
        self.said.iter().flatten().any(is_it)
    }
}

#[test]
fn departures_of_every_variant_and_workload_are_those_of_the_reference() {
    compare_scenarios(1, DEPARTURES);
}

mod nightly {
    use super::*;

    #[test]
    #[ignore = "the same of every case, and of more of each: make test-nightly"]
    fn every_departure_of_every_scenario_is_that_of_the_reference() {
        compare_scenarios(usize::MAX, MANY_DEPARTURES);
    }
}

fn compare_scenarios(cases_max: usize, departures_max: usize) {
    let of_scenario = |file: &PathBuf| {
        let (mut wrong, mut met) = (Vec::new(), BTreeSet::new());
        for (name, recording) in recordings(&plan_of(file, &[]), cases_max, departures_max) {
            wrong.extend(recording.compare().err().map(|why| format!("{name}: {why}")));
            // The positive control: it could have been wrong, if anything went over a link.
            let is_used = recording.said_any(|action| matches!(action, Action::HandIn { .. }));
            assert!(!is_used || recording.notices(FLIGHT), "{name}: a picosecond of flight is not noticed");
            met.extend(recording.features());
        }
        (wrong, met)
    };
    let (wrong, met): (Vec<_>, Vec<_>) = side_by_side(&scenarios(), of_scenario).into_iter().unzip();
    let (wrong, met) = (wrong.concat(), met.into_iter().flatten().collect::<BTreeSet<_>>());
    assert!(wrong.is_empty(), "{} worlds differ: {wrong:#?}", wrong.len());
    let all = ["completion", "notice", "read", "release", "replay", "write"];
    assert_eq!(met, BTreeSet::from(all), "the scenarios have to contain what this is about");
}

/// One link, and in each variant something else that runs out.
const TIGHT: &str = "
about: Does the reference notice a picosecond?
machine:
  host: {part: generic-host-gen4}
  card: {part: generic-dma-gen5, port.width: x4}
links: {slot: {from: host, to: card, mps: 256B, dllp: each}}
workloads:
  both: {dma: {operation: mixed, size: 4KiB, window: 64KiB, transfers: 200}, on: card}
variants:
  plain: {}
  lump: {links.slot.dllp: lump}
  credits: {machine.host.port.posted-header-credits: 1, machine.card.port.completion-header-credits: 1}
  replay: {machine.host.port.replay-buffer: 280B, machine.card.port.replay-buffer: 280B}
  errors: {links.slot.ber: 1e-4, links.slot.mps: 512B}
compare: {baseline: plain}
run: {repeats: 1}
";

#[test]
fn whatever_runs_out_departures_are_those_of_the_reference_and_depend_on_every_picosecond() {
    let plan = plan("tight.yaml", TIGHT, &[]);
    let recordings: Vec<(String, Recording)> = recordings(&plan, 1, DEPARTURES).collect();
    for (name, recording) in &recordings {
        assert_eq!(recording.compare(), Ok(()), "{name}");
    }
    for change in CHANGES {
        let noticed = recordings.iter().any(|(_, recording)| recording.notices(change));
        assert!(noticed, "{}: nothing depends on it", change.0);
    }
}

/// Links that come back slower, around a switch that cuts through: with a core that keeps an eye on how much of a TLP
/// is in, and without one.
const SLOWER: &str = "
about: Does the reference do the same with a link that comes back slower?
machine:
  host: {part: generic-host-gen4}
  sw: {model: switch, port.gen: 4, forwarding: cut-through}
  card: {part: generic-dma-gen5, port.width: x4}
links:
  up: {from: host, to: sw, mps: 256B, down: [{at: 25us, for: 20us, gen: 3, width: x2}, {at: 70us, for: 30us}]}
  bay: {from: sw, to: card, dllp: each, down: [{at: 10us, for: 20us, width: x1}, {at: 60us, for: 20us, gen: 1}]}
workloads:
  both: {dma: {operation: mixed, size: 4KiB, window: 64KiB, transfers: 200}, on: card}
variants:
  plain: {}
  crossbar: {machine.sw.core: crossbar}
  memory: {machine.sw.core: shared-memory}
  errors: {links.bay.ber: 1e-5}
compare: {baseline: plain}
run: {repeats: 1}
";

#[test]
fn links_that_come_back_slower_do_what_the_reference_does() {
    let plan = plan("slower.yaml", SLOWER, &[]);
    for (name, recording) in recordings(&plan, 1, DEPARTURES) {
        let is_seen = |link: &reference::machine::Link| {
            link.outages.iter().any(|outage| outage.then.is_some() && outage.up_ps < recording.end_ps)
        };
        assert!(recording.machine.links.iter().all(is_seen), "{name} ends at {} ps", recording.end_ps);
        assert_eq!(recording.compare(), Ok(()), "{name}");
    }
}
