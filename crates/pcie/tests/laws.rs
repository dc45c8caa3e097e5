//! The laws of the links (docs/link-model.md), on random machines with devices that react to what they get: the engine in
//! trains, the engine TLP by TLP and the naive reference agree on every departure and delivery, to the tick; slicing a run
//! changes nothing; nothing is lost.
//!
//! A failure prints its seed: `LANETWIN_SEED=n LANETWIN_MACHINES=1 cargo test -p lanetwin-pcie --test laws`.

mod reference;

use reference::draw::{self, Drawn};
use reference::engine::{self, Manner, Run};
use reference::machine::{Class, Machine};
use reference::simulator::{self, Outcome};

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
    let trains = Manner { shuffle: seed, ..Manner::default() };
    let tlps = Manner { tlp_by_tlp: true, shuffle: !seed, slice_ps: None };
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
    if a == b { Ok(()) } else { Err(format!("{manner}: digest {b:016x} in place of {a:016x}")) }
}

/// No train is left, each egress has carried what the reference says, and all credits are back.
fn conserved(machine: &Machine, expected: &Outcome, run: &Run) -> Result<(), String> {
    if run.fabric.under_way() != 0 {
        return Err(format!("{} trains are left", run.fabric.under_way()));
    }
    for egress in 0..machine.egresses() {
        let id = lanetwin_pcie::link::EgressId(egress as u16);
        let expected = expected.departures.iter().filter(|departure| departure.egress == egress).count();
        let sent = run.fabric.activity(id).tlps;
        if sent != expected as u64 {
            return Err(format!("egress {egress} counts {sent} TLPs, not {expected}"));
        }
        for class in [Class::Posted, Class::NonPosted, Class::Completion] {
            let advertised = machine.direction(egress).credits[class as usize];
            let Some((header, data)) = run.fabric.credits(id, engine::class_of(class)) else { continue };
            if advertised.header.is_some_and(|all| all != header)
                || advertised.data.is_some_and(|all| all != data)
            {
                return Err(format!(
                    "egress {egress} {class:?}: {header}, {data} of {advertised:?} are back"
                ));
            }
        }
    }
    Ok(())
}
