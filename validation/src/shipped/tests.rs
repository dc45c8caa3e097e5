//! Tests that every claim's rows exist in its scenario, and that wrong values and wrong machines are noticed.

use crate::claim::Role;
use crate::claims::claims;
use crate::experiment::results;
use crate::sensitivity::{Predict, numbers};
use crate::spec::{Ask, Shipped, Spec, Tabled};
use crate::table::{self, How, Published};
use crate::weigh::Predictor;
use lanetwin_world::Options;

fn shipped() -> impl Iterator<Item = (&'static str, &'static Spec)> {
    claims().iter().map(|claim| (claim.name, claim.spec))
}

/// Every row has a workload and a case in its scenario, or a note that says why it is not compared.
#[test]
fn every_row_asks_what_its_scenario_has() {
    let of_scenarios = shipped().flat_map(|(_, spec)| &spec.tables).filter(|table| table.ask == Ask::Run);
    for table in of_scenarios.map(Tabled::shipped) {
        let plan = table.plan();
        let has = |row: &Published, name: &str| {
            let variant = plan.variants.iter().find(|variant| variant.name == name);
            let mut workloads = variant.unwrap_or_else(|| panic!("{row:?}")).workloads.iter();
            let workload = workloads.find(|workload| workload.name == row.workload);
            let cases = &workload.unwrap_or_else(|| panic!("{row:?}")).cases;
            let is_there = |label: &String| cases.iter().any(|case| case.label == *label);
            assert!(row.label.as_ref().is_none_or(is_there), "{row:?}");
        };
        for row in &table.rows {
            if row.how == How::NotCompared {
                assert!(!row.note.is_empty() && row.role == Role::Input, "{row:?}");
            } else {
                row.variants().for_each(|name| has(row, name));
            }
        }
    }
}

/// Every range and every chosen number is of a number of the machine, every range has a reason, and every fit a row.
#[test]
fn every_range_and_every_fit_is_of_the_machine() {
    for (name, spec) in shipped() {
        let Some(weighing) = &spec.sensitivity else { continue };
        let tables: &'static [Shipped] = spec.tables.iter().map(Tabled::shipped).collect::<Vec<_>>().leak();
        let predictor = Predictor::new(spec, weighing, tables);
        let numbers = predictor.numbers();
        let has = |wanted: &str| numbers.iter().any(|number| number.name() == wanted);
        for range in &weighing.ranges {
            assert!(has(&range.name) && !range.reason.is_empty(), "{name}: {}", range.name);
        }
        weighing.chosen.iter().for_each(|chosen| assert!(has(&chosen.name), "{name}: {}", chosen.name));
        assert!(predictor.kinds() > 0 && predictor.bars().len() <= predictor.kinds() * 64, "{name}");
    }
}

/// No published value influences a prediction: a table in which every value is wrong has the same predictions to the
/// last bit, and is missed.
#[test]
fn a_corrupted_table_has_the_same_predictions_and_is_missed() {
    corrupt("section-i", true);
}

mod nightly {
    use super::*;

    #[test]
    #[ignore = "the same of larger claims: make test-nightly"]
    fn corrupted_tables_of_larger_claims_have_the_same_predictions_and_are_missed() {
        for name in ["pcie-bench", "retimer-ab", "switch-forwarding"] {
            corrupt(name, true);
        }
        corrupt("idt-16t4g2", false);
    }
}

fn claim(wanted: &str) -> &'static Spec {
    shipped().find(|(name, _)| *name == wanted).expect("a claim that is quick").1
}

/// Checks this for the first table of a claim; `met` says whether the right table is met.
fn corrupt(name: &str, met: bool) {
    let spec = claim(name);
    let table: &'static Shipped = Box::leak(Box::new(spec.tables[0].shipped()));
    let (results, free) = super::answered(table);
    let mut wrong = table.rows.clone();
    wrong.iter_mut().for_each(|row| row.published = row.published * 0.5 + 7.0);
    let wrong: &'static [Published] = wrong.leak();
    let told = |rows: &'static [Published]| {
        let cells = table::cells(&results, rows, &spec.source).into_iter();
        cells.map(|cell| (cell.case, cell.quantity, cell.predicted.to_bits())).collect::<Vec<_>>()
    };
    assert_eq!(told(wrong), told(&table.rows));
    let is_met = |rows: &'static [Published]| {
        let compared = table::compared(&results, rows);
        spec.judge.iter().all(|judge| judge.verdict(&compared, &free).0)
    };
    assert_eq!((is_met(&table.rows), is_met(wrong)), (met, false));
}

/// Wrong machines change predictions: fewer lanes, slower memory, another size and another latency of the L2.
#[test]
fn a_corrupted_machine_moves_what_is_predicted() {
    for (name, case, set, least_pct) in [
        ("cxl-link", "100 % reads", "links.slot.width=x4", 40.0),
        ("cxl-link", "100 % reads, 25.59 GB/s", "machine.exp.dram.speed=ddr4-2400", 10.0),
        ("latency-vs-size", "local DDR, 1.5 MB", "machine.host.l2.size=512KiB", 100.0),
        ("latency-vs-size", "local DDR, 0.1875 MB", "machine.host.l2.latency=11ns", 80.0),
    ] {
        let table = claim(name).tables[0].shipped();
        let row = table.rows.iter().find(|row| row.case == case).unwrap_or_else(|| panic!("{name}: {case}"));
        let of = |sets: &[String]| {
            let short =
                ["run.repeats=1".to_owned(), format!("workloads.{}.memory.lines=10000", row.workload)];
            let sets: Vec<String> = sets.iter().cloned().chain(short).collect();
            let label = (&*row.workload, row.label.as_deref());
            let plan = table.of(&row.variant, label, &sets).expect("a machine");
            row.found(&results(&plan, &Options::default())).expect("a row that is compared").value
        };
        let moved_pct = 100.0 * (of(&[set.to_owned()]) / of(&[]) - 1.0).abs();
        assert!(moved_pct > least_pct, "{name}, {set}: {moved_pct} %");
    }
}

/// A claim that lists the numbers that count does not lack one: all others, moved to either side at once as far as they
/// make a valid machine together, change no event of runs on arrays in DRAM and in the device.
#[test]
#[ignore = "takes minutes without optimisation: make test-rust"]
fn what_is_not_counted_changes_nothing() {
    let spec = claim("latency-vs-size");
    let table = spec.tables[0].shipped();
    let counts = |number: &crate::claim::FreeParameter| {
        spec.counted.iter().any(|known| (&known.part, &known.name) == (&number.part, &number.name))
    };
    let all = numbers(&table.plan(), &[], &[]);
    let plan = |label, sets: &[String]| table.of("as-is", ("chase", Some(label)), sets);
    let short = vec!["workloads.chase.memory.lines=1000".to_owned()];
    let with = |sets: &[String], more: &[String]| [sets, more].concat();
    for side in [0, 1] {
        let (mut sets, mut moved) = (short.clone(), 0);
        for number in all.iter().filter(|number| !counts(&number.free())) {
            let makes_one = |end: &&Vec<String>| plan("dram, 12 MiB", &with(&sets, end)).is_some();
            if let Some(end) = number.ends(side).iter().find(makes_one) {
                sets = with(&sets, end);
                moved += 1;
            }
        }
        assert!(moved > 10, "{side}: {moved}");
        for label in ["dram, 12 MiB", "device, 128 MiB"] {
            let digest = |sets| results(&plan(label, sets).expect("a machine"), &Options::default()).digest;
            assert_eq!(digest(&sets), digest(&short), "{label}, {sets:?}");
        }
    }
}
