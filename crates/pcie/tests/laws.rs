//! The laws of the links (docs/link-model.md), on random machines with devices that react to what they get: the engine
//! in trains, the engine TLP by TLP and the naive reference agree on every departure and delivery, to the tick; slicing
//! a run changes nothing; nothing is lost. The same on worlds that were worked out by hand.
//!
//! A failure prints its seed: `LANETWIN_SEED=n LANETWIN_MACHINES=1 cargo test -p lanetwin-pcie --test laws`.

#[allow(dead_code, reason = "its small machines are for the storm")]
mod reference;

use reference::draw::{self, Drawn};
use reference::engine::{self, Manner, Run};
use reference::machine::{Core, Machine, Node, OutputBuffer, Switch};
use reference::simulator::{self, Outcome};
use reference::switches_by_hand;

/// Enough to meet every pair of features, few enough for a minute without optimisation.
const MACHINES: u64 = 1_000;

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
}

#[test]
fn engine_and_reference_agree_on_random_machines() {
    let first = from_environment("LANETWIN_SEED", 0);
    let mut wrong = Vec::new();
    for seed in first..first + from_environment("LANETWIN_MACHINES", MACHINES) {
        let verdict = std::panic::catch_unwind(|| agree(seed, &draw::machine(seed)));
        if !matches!(verdict, Ok(Ok(()))) {
            let why =
                verdict.map_or_else(|_| "it panicked".to_owned(), |verdict| verdict.expect_err("not ok"));
            eprintln!("LANETWIN_SEED={seed}: {why}");
            wrong.push(seed);
        }
    }
    assert!(wrong.is_empty(), "{} machines differ: {wrong:?}", wrong.len());
}

/// Everything that is demanded of one machine; says what differs, in each manner of running the engine.
fn agree(seed: u64, drawn: &Drawn) -> Result<(), String> {
    let machine = &drawn.machine;
    let expected = simulator::run(machine, drawn.world());
    // A promise that is kept changes nothing, given or not.
    let strictly_ordered = drawn.is_strictly_ordered() && !seed.is_multiple_of(4);
    let trains = Manner { shuffle: seed, strictly_ordered, ..Manner::default() };
    let tlps = Manner { tlp_by_tlp: true, shuffle: !seed, ..Manner::default() };
    // Between a slice for each event and slices longer than the run.
    let sliced = Manner { slice_ps: Some(1_000 << (seed % 14)), ..trains };

    let [trains, tlps, sliced] =
        [trains, tlps, sliced].map(|manner| engine::run(machine, drawn.world(), manner));
    let differences: Vec<String> = [
        same("trains", &expected, &trains.outcome),
        same("TLP by TLP", &expected, &tlps.outcome),
        same("sliced", &expected, &sliced.outcome),
        conserved(machine, &expected, &trains),
        same_digest("TLP by TLP", &trains, &tlps),
        same_digest("sliced", &trains, &sliced),
    ]
    .into_iter()
    .filter_map(Result::err)
    .collect();
    if differences.is_empty() { Ok(()) } else { Err(differences.join("; ")) }
}

fn same(manner: &str, expected: &Outcome, got: &Outcome) -> Result<(), String> {
    // The earliest difference is the cause of the rest.
    let by_time = |outcome: &Outcome| {
        let mut departures = outcome.departures.clone();
        departures.sort_unstable_by_key(|departure| (departure.tick, *departure));
        departures
    };
    if expected.departures != got.departures {
        let (left, right) = (by_time(expected), by_time(got));
        let at = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
        return Err(format!(
            "{manner}: departure {at} of {}: expected {:?}, got {:?}",
            left.len(),
            left.get(at),
            right.get(at)
        ));
    }
    if expected.seen != got.seen {
        let (left, right) = (&expected.seen, &got.seen);
        let at = left.iter().zip(right).take_while(|(a, b)| a == b).count();
        return Err(format!("{manner}: delivery: expected {:?}, got {:?}", left.get(at), right.get(at)));
    }
    Ok(())
}

fn same_digest(manner: &str, whole: &Run, other: &Run) -> Result<(), String> {
    let (a, b) = (whole.fabric.digest(), other.fabric.digest());
    if a != b {
        return Err(format!("{manner}: digest {b:016x} in place of {a:016x}"));
    }
    let egresses = whole.fabric.egress_count() + whole.fabric.column_count();
    for id in (0..egresses).map(|egress| lanetwin_pcie::link::EgressId(egress as u16)) {
        let (a, b) = (whole.fabric.activity(id), other.fabric.activity(id));
        if a != b {
            return Err(format!("{manner}: {id:?} did {b:?} in place of {a:?}"));
        }
    }
    Ok(())
}

/// No train is left, all credits are back, and each egress and column has carried what the reference says.
fn conserved(machine: &Machine, expected: &Outcome, run: &Run) -> Result<(), String> {
    run.at_rest(machine)?;
    for egress in 0..machine.egresses() + machine.columns().len() {
        let id = lanetwin_pcie::link::EgressId(egress as u16);
        let expected = expected.departures.iter().filter(|departure| departure.egress == egress).count();
        let sent = run.fabric.activity(id).tlps;
        if sent != expected as u64 {
            return Err(format!("egress {egress} counts {sent} TLPs, not {expected}"));
        }
    }
    Ok(())
}

#[test]
fn the_engine_does_what_was_worked_out() {
    for case in switches_by_hand::cases() {
        let expected = simulator::run(&case.machine, case.world());
        for tlp_by_tlp in [false, true] {
            let run = engine::run(&case.machine, case.world(), Manner { tlp_by_tlp, ..Manner::default() });
            case.check("engine", &run.outcome);
            assert_eq!(same("engine", &expected, &run.outcome), Ok(()), "{}", case.name);
        }
    }
}

/// Messages of ports are TLPs like others: how they are decided changes nothing, and nothing of them is left.
#[test]
fn messages_of_ports_are_the_same_in_trains_and_tlp_by_tlp() {
    let (mut sent, mut on_switches) = (0, 0);
    for seed in 0..150 {
        let drawn = draw::machine(seed);
        let whole = Manner { shuffle: seed, messages_ps: Some(1 + seed * 997), ..Manner::default() };
        let one_by_one = Manner { tlp_by_tlp: true, shuffle: !seed, ..whole };
        let sliced = Manner { slice_ps: Some(1_000 << (seed % 14)), ..whole };
        let [whole, others @ ..] =
            [whole, one_by_one, sliced].map(|manner| engine::run(&drawn.machine, drawn.world(), manner));
        for other in others {
            assert_eq!(same("other manner", &whole.outcome, &other.outcome), Ok(()), "seed {seed}");
            assert_eq!(same_digest("other manner", &whole, &other), Ok(()), "seed {seed}");
        }
        assert_eq!(whole.at_rest(&drawn.machine), Ok(()), "seed {seed}");
        let of = |egress| whole.fabric.activity(lanetwin_pcie::link::EgressId(egress as u16)).messages;
        sent += (0..drawn.machine.egresses()).map(of).sum::<u64>();
        let is_switch = |&egress: &usize| matches!(drawn.machine.transmitter(egress), Node::Switch(_));
        on_switches += (0..drawn.machine.egresses()).filter(is_switch).map(of).sum::<u64>();
    }
    assert!(
        sent > 1_000 && on_switches > 300,
        "{sent} messages, {on_switches} of them sent or passed on by switches"
    );
}

type Feature = (&'static str, fn(&Machine) -> bool);

const FEATURES: [Feature; 14] = [
    ("crossbar", |machine| has(machine, |switch| matches!(switch.core, Some(Core::Crossbar { .. })))),
    ("shared bus", |machine| has(machine, |switch| matches!(switch.core, Some(Core::SharedBus { .. })))),
    ("shared memory", |machine| {
        has(machine, |switch| matches!(switch.core, Some(Core::SharedMemory { .. })))
    }),
    ("weights without a core", |machine| has(machine, |at| at.weights.is_some() && at.core.is_none())),
    ("weights with a core", |machine| has(machine, |at| at.weights.is_some() && at.core.is_some())),
    ("room for one TLP", |machine| has_output(machine, |output| output.tlps == 1)),
    ("room for one payload", |machine| has_output(machine, |output| output.data == draw::MAX_PAYLOAD / 16)),
    ("ample room", |machine| has_output(machine, |output| output.tlps == 64 && output.data > 1_000)),
    ("a latency of a pair", |machine| has(machine, |at| !at.pair_latencies_ps.is_empty())),
    ("no latency of a pair", |machine| has(machine, |at| at.pair_latencies_ps.values().any(|&ps| ps == 0))),
    ("store-and-forward with a core", |machine| has(machine, |at| !at.cut_through && at.core.is_some())),
    ("an outage", |machine| machine.links.iter().any(|link| !link.outages.is_empty())),
    ("outages back to back", |machine| {
        let outages = machine.links.iter().map(|link| &link.outages);
        outages.flat_map(|list| list.windows(2)).any(|pair| pair[0].up_ps == pair[1].down_ps)
    }),
    ("switches with and without a core", |machine| {
        has(machine, |at| at.core.is_some()) && has(machine, |at| at.core.is_none())
    }),
];

fn has(machine: &Machine, is_it: fn(&Switch) -> bool) -> bool {
    machine.switches.iter().any(is_it)
}

fn has_output(machine: &Machine, is_it: fn(OutputBuffer) -> bool) -> bool {
    machine.switches.iter().filter_map(|switch| switch.core?.output()).any(is_it)
}

/// One law is as good as the machines it is tried on.
#[test]
fn random_machines_have_everything() {
    let machines: Vec<Machine> = (0..MACHINES).map(|seed| draw::machine(seed).machine).collect();
    for (feature, is_in) in FEATURES {
        let found = machines.iter().filter(|machine| is_in(machine)).count() as u64;
        assert!(found > MACHINES / 50, "{feature}: in {found} of {MACHINES} machines");
    }
}

type Change = (&'static str, fn(&mut Machine));

/// A picosecond, a TLP, 128 B or a turn more of what switches and outages are about.
const CHANGES: [Change; 6] = [
    ("speed-up", |machine| each_core(machine, |speed_up, _| *speed_up += 1)),
    ("TLPs of an output buffer", |machine| each_core(machine, |_, output| output.tlps += 1)),
    ("data of an output buffer", |machine| each_core(machine, |_, output| output.data += 8)),
    ("latency of a pair", |machine| {
        let all = machine.switches.iter_mut().flat_map(|switch| switch.pair_latencies_ps.values_mut());
        all.for_each(|ps| *ps += 1);
    }),
    ("weight", |machine| {
        let all = machine.switches.iter_mut().flat_map(|switch| switch.weights.iter_mut().flatten());
        all.for_each(|(_, weight)| *weight += 1);
    }),
    ("end of an outage", |machine| {
        let all = machine.links.iter_mut().filter_map(|link| link.outages.last_mut());
        all.for_each(|outage| outage.up_ps += 1);
    }),
];

fn each_core(machine: &mut Machine, change: fn(&mut u64, &mut OutputBuffer)) {
    for core in machine.switches.iter_mut().filter_map(|switch| switch.core.as_mut()) {
        match core {
            Core::Crossbar { speed_up, output } | Core::SharedBus { speed_up, output } => {
                change(speed_up, output);
            }
            Core::SharedMemory { speed_up } => change(speed_up, &mut OutputBuffer { tlps: 0, data: 0 }),
        }
    }
}

/// A law that nothing could break says nothing: on random machines departures depend on every number.
#[test]
fn departures_depend_on_everything_that_switches_are_told() {
    let mut noticed = [0; CHANGES.len()];
    for seed in 0..60 {
        let drawn = draw::machine(seed);
        let before = simulator::run(&drawn.machine, drawn.world());
        for (noticed, (_, change)) in noticed.iter_mut().zip(CHANGES) {
            let mut machine = drawn.machine.clone();
            change(&mut machine);
            *noticed += u32::from(simulator::run(&machine, drawn.world()) != before);
        }
    }
    for (noticed, (what, _)) in noticed.into_iter().zip(CHANGES) {
        assert!(noticed >= 3, "{what}: noticed in {noticed} machines");
    }
}
