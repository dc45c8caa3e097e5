//! Does every claim ask what its scenario has, and can it miss?

use crate::claim::Role;
use crate::claims::claims;
use crate::declaration::Run;
use crate::experiment::{free_parameters, results};
use crate::sensitivity::Predict;
use crate::spec::{Shipped, Spec, Tabled};
use crate::table::{self, How, Published};
use crate::weigh::Predictor;
use lanetwin_world::Options;

fn shipped() -> impl Iterator<Item = (&'static str, &'static Spec)> {
    claims().iter().filter_map(|claim| match claim.run {
        Run::Shipped(spec) => Some((claim.name, spec)),
        Run::Own(_) => None,
    })
}

/// Every row stands beside a workload and a case of its scenario, or says why it stands beside nothing.
#[test]
fn every_row_asks_what_its_scenario_has() {
    for table in shipped().flat_map(|(_, spec)| &spec.tables).map(Tabled::shipped) {
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

/// Every end of a range is a machine, and every number that is said to be moved or fitted is one.
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

/// The law: no published value reaches a prediction. A table in which every cell is wrong gives the same ones to the
/// last bit, and is missed.
#[test]
fn a_corrupted_table_has_the_same_predictions_and_is_missed() {
    corrupt(claim("pcie-bench"), true);
    corrupt(claim("idt-16t4g2"), false);
    corrupt(claim("retimer-ab"), true);
}

fn claim(wanted: &str) -> &'static Spec {
    shipped().find(|(name, _)| *name == wanted).expect("a claim that is quick").1
}

/// Corrupts the first table of a claim, which is met or is not.
fn corrupt(spec: &'static Spec, met: bool) {
    let table: &'static Shipped = Box::leak(Box::new(spec.tables[0].shipped()));
    let plan = table.plan();
    let results = results(&plan, &Options::default());
    let mut wrong = table.rows.clone();
    wrong.iter_mut().for_each(|row| row.published = row.published * 0.5 + 7.0);
    let wrong: &'static [Published] = wrong.leak();
    let told = |rows: &'static [Published]| {
        let cells = table::cells(&results, rows, &spec.source).into_iter();
        cells.map(|cell| (cell.case, cell.quantity, cell.predicted.to_bits())).collect::<Vec<_>>()
    };
    assert_eq!(told(wrong), told(&table.rows));
    let free: Vec<_> = free_parameters(&plan).collect();
    let is_met = |rows: &'static [Published]| {
        let compared = table::compared(&results, rows);
        spec.judge.iter().all(|judge| judge.verdict(&compared, &free).0)
    };
    assert_eq!((is_met(&table.rows), is_met(wrong)), (met, false));
}
