//! Does the claim say what the numbers say, and can it miss?

use super::comparison::*;
use super::table::Published;
use super::*;
use lanetwin_stats::Verdict;
use std::sync::LazyLock;

/// Fewer repeats and smaller cases, but as many requests at QD1 as a nanosecond needs.
static QUICK: LazyLock<Ran> =
    LazyLock::new(|| Ran::of(&plan(Effort { warm_up: 64, requests: 64, alone: 10_000, repeats: 2 })));

#[test]
fn the_published_change_is_not_explained_and_nothing_published_moves_a_prediction() {
    let right = published();
    let found = outcome(&right, &QUICK);
    assert!(found.met, "{}", found.text);
    let said = "The published 6 % (4 KiB random write latency) is not explained by retimer latency, of this or of any legal retimer";
    assert!(found.text.contains(said), "{}", found.text);
    assert!(!found.text.contains("random read latency) is"), "what did not change needs no explanation");
    // 6 parts or pairs × (12 cases of the matrix + 2 latencies and their shifts)
    assert_eq!(found.cells.len(), 6 * (12 + 2 * 2));
    assert!(found.cells.len() > found.free_parameters.len(), "{}", found.free_parameters.len());

    let mut wrong = right;
    wrong.iter_mut().for_each(|said| said.change_pct = said.change_pct * 3.0 + 0.05);
    let predictions = |found: Outcome| {
        found.cells.into_iter().map(|cell| (cell.case, cell.predicted.to_bits())).collect::<Vec<_>>()
    };
    assert_eq!(predictions(outcome(&wrong, &QUICK)), predictions(found));
}

#[test]
fn a_change_that_latency_does_explain_is_told_as_that() {
    let told = |change_pct| {
        let write = published().into_iter().find(|said| said.is_of("qd1-write")).expect("the row");
        explained(&QUICK, &Published { change_pct, ..write }).expect("something to explain")
    };
    assert!(told(1.0).contains("is not explained by the latency of this retimer:"), "{}", told(1.0));
    assert!(told(0.01).contains("is no more than the latency of this retimer"), "{}", told(0.01));
}

#[test]
fn a_claim_whose_controls_do_not_show_is_missed() {
    let mut ran = QUICK.clone();
    for row in ran.results.verdicts.iter_mut().filter(|row| row.variant == "ber") {
        row.verdict = Verdict::Equivalent;
    }
    let said = missed(&ran);
    assert!(said.iter().any(|text| text.starts_with("the control ber, seq-read")), "{said:?}");
}
