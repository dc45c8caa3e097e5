//! Is what is called predicted a prediction, and is the bar met?

use super::*;
use lanetwin_plan::Catalogue;
use lanetwin_units::NumberKind;
use std::ops::ControlFlow;

/// Enough for a debug build.
const QUICK: Effort = Effort { transfers: 600, repeats: 1 };
/// On, before and behind the boundaries that matter.
const SIZES: [u32; 9] = [64, 128, 129, 256, 512, 768, 1024, 1537, 2048];

fn some_published() -> Vec<Published> {
    let known = |published: &Published| SIZES.contains(&published.key.size);
    table::published().into_iter().filter(known).collect()
}

fn predict_quickly(published: &[Published]) -> BTreeMap<Key, Predicted> {
    let keys = published.iter().map(|published| published.key).collect();
    let go_on = &mut |_: &_| ControlFlow::Continue(());
    predict(&keys, QUICK, &mut Watch::new("pcie-bench", go_on)).expect("nobody stops it").0
}

/// What the program makes predictions from: the text of every experiment.
fn inputs(published: &[Published]) -> Vec<String> {
    let keys = published.iter().map(|published| published.key).collect();
    experiments(&keys, FULL).into_iter().map(|experiment| experiment.text).collect()
}

/// The law: whatever a published cell says, nothing that a prediction is made from changes, and all that changes in the
/// report is that cell's own error (and, of a 64 B cell, the cap of the baseline).
#[test]
fn no_published_cell_reaches_a_prediction() {
    let published = some_published();
    let (honest, before) = (predict_quickly(&published), inputs(&published));
    let told = |cells: Vec<(Key, Cell)>| -> Vec<(Key, String)> {
        let prediction = |c: &Cell| format!("{:?} {:?} {:?} {:?}", c.predicted, c.interval, c.role, c.digest);
        cells.iter().map(|(key, cell)| (*key, prediction(cell))).collect()
    };
    let honest_cells = compare(&published, &honest);
    for i in 0..published.len() {
        let mut corrupted = published.clone();
        corrupted[i].value *= 1.5;
        assert_eq!(inputs(&corrupted), before, "{:?}", published[i].key);
        let cells = compare(&corrupted, &honest);
        assert_eq!(told(cells.clone()), told(honest_cells.clone()));
        let changed = |(a, b): &(&(Key, Cell), &(Key, Cell))| a.1.published != b.1.published;
        let changed: Vec<Key> = cells.iter().zip(&honest_cells).filter(changed).map(|(a, _)| a.0).collect();
        assert_eq!(changed, [published[i].key], "the corruption is seen where it is");
    }
    // All of it once more from a table in which every cell is wrong: to the last bit the same.
    let wrong: Vec<Published> =
        published.iter().map(|p| Published { value: p.value * 0.5 + 7.0, ..*p }).collect();
    assert_eq!(predict_quickly(&wrong), honest);
}

#[test]
fn every_calibrated_number_says_to_what_and_reproduces_it() {
    let catalogue = Catalogue::built_in();
    let fitted = |part: &str| {
        let part = catalogue.find(part).expect("the part comes with the program");
        part.parameters
            .iter()
            .filter(|(_, n)| n.kind == NumberKind::Calibrated)
            .map(|(name, _)| *name)
            .collect::<Vec<_>>()
    };
    let names = ["issue", "read.cell", "read.copy", "transfer", "write.payload", "write.tlp"];
    assert_eq!(fitted("nfp-6000"), names);
    assert!(names.len() <= CALIBRATED_MOST);
    assert!(
        System::ALL.iter().all(|system| fitted(system.host()).is_empty()),
        "nothing is fitted to one host"
    );

    let published: Vec<Published> =
        table::published().into_iter().filter(|published| CALIBRATION.contains(&published.key)).collect();
    assert_eq!(published.len(), CALIBRATION.len(), "every cell that was fitted to is published");
    for (key, cell) in compare(&published, &predict_quickly(&published)) {
        let error = error_pct(cell.predicted, cell.published);
        assert!(error.abs() < 1.5, "{key:?} was fitted and is off by {error:.2} %");
        assert_eq!(cell.role, Role::Calibrated);
    }
}

/// Every published cell, with fewer transfers than `lanetwin validate` takes.
#[test]
fn the_bar_is_met() {
    let published = table::published();
    let go_on = &mut |_: &_| ControlFlow::Continue(());
    let outcome = outcome(&published, QUICK, &mut Watch::new("pcie-bench", go_on)).expect("nobody stops it");
    assert!(outcome.met, "{}", outcome.text);
    assert!(!outcome.text.contains("missed"), "{}", outcome.text);
    assert_eq!(outcome.cells.len(), published.len());
}

/// The card's part says how well it did; it says so truly.
#[test]
fn the_part_tells_the_errors_that_are_found() {
    let catalogue = Catalogue::built_in();
    let card = catalogue.find("nfp-6000").expect("the part comes with the program");
    let told = card.validated.as_deref().expect("it was compared with measurements");
    let cells = compare(&table::published(), &predict_quickly(&table::published()));
    let scores = scores(&cells);
    assert_eq!(scores.len(), 8);
    for score in scores {
        let (_, after) =
            told.split_once(&format!("{} ", score.name)).unwrap_or_else(|| panic!("{}: {told}", score.name));
        let percent: f64 = after.split(' ').next().and_then(|number| number.parse().ok()).expect("a number");
        assert!(
            (percent - score.mape).abs() < 0.2,
            "{}: told {percent} %, found {:.2} %",
            score.name,
            score.mape
        );
    }
}

#[test]
fn a_claim_that_is_stopped_has_no_outcome() {
    let stop = &mut |_: &_| ControlFlow::Break(());
    let one = &table::published()[..1];
    assert!(outcome(one, QUICK, &mut Watch::new("pcie-bench", stop)).is_none());
}

/// A score that is not below each of its bars is missed, and said so.
#[test]
fn a_missed_bar_is_told() {
    let score = |mape| Score { name: "x".into(), mape, bars: vec![("link only", 9.0), ("capped", 7.0)] };
    assert!(score(6.9).is_met() && !score(6.9).told().contains("missed"));
    assert!(!score(7.0).is_met() && score(8.0).told().ends_with(": missed"));
}
