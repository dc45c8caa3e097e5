//! The report that a user of `lanetwin validate` sees.

use lanetwin_validation::{Report, Role, claims, run};
use std::ops::ControlFlow;

fn report(names: &[&str]) -> Report {
    run(names, &mut |_| ControlFlow::Continue(())).expect("the claims exist")
}

#[test]
fn an_unknown_claim_is_a_coded_mistake_with_its_page() {
    let error = run(&["section-i", "pciebench"], &mut |_| panic!("nothing is run")).unwrap_err();
    assert_eq!(error.code, "VA001");
    assert!(error.help.starts_with("did you mean `pcie-bench`?"), "{}", error.help);
    for claim in claims() {
        assert!(error.help.contains(claim.name), "{} is listed", claim.name);
    }
    assert!(lanetwin_document::explain("VA001").is_some_and(|page| page.starts_with("# VA001: ")));
}

#[test]
fn section_i_is_met_and_has_the_printed_point() {
    let report = report(&["section-i"]);
    let summary = &report.claims[0];
    assert!(summary.met && summary.is_prediction && summary.free_parameters.is_empty(), "{summary:?}");
    assert_eq!(report.rows.len(), 2 * 3 * 7 + 1);
    for row in &report.rows {
        assert!(row.error_pct.abs() < 0.2, "{row:?}");
        assert_eq!(row.role, Role::Predicted);
    }
    let printed = report.rows.iter().find(|row| row.case.ends_with("as printed")).expect("the printed point");
    assert_eq!(printed.published, 24.38);
    // The formula, here once more: x2, 256 B, 4 B of DLLPs for each TLP.
    let row = report.rows.iter().find(|row| row.case == "Gen2 x2, 256 B, with DLLPs").expect("the row");
    assert!((row.predicted - 16.0 * 256.0 / 280.0).abs() < 0.01, "{row:?}");
}

#[test]
fn rows_have_the_agreed_keys() {
    let report = report(&["section-i"]);
    let json = serde_json::to_value(&report).expect("a report is a document");
    let keys: Vec<&str> = json["rows"][0].as_object().expect("a row").keys().map(String::as_str).collect();
    let mut agreed = [
        "claim",
        "case",
        "quantity",
        "unit",
        "published",
        "predicted",
        "low",
        "high",
        "error_pct",
        "role",
        "free_parameters",
        "baseline_error_pct",
        "source",
        "run_digest",
    ];
    agreed.sort_unstable();
    let mut keys = keys;
    keys.sort_unstable();
    assert_eq!(keys, agreed);
    assert_eq!(json["rows"][0]["role"], "predicted");
    assert_eq!(json["rows"][0]["run_digest"].as_str().map(str::len), Some(16));
    assert_eq!(json["claims"][0]["met"], true);
    assert_eq!(json["schema"], "lanetwin-validation/1");
}

#[test]
fn the_same_claim_gives_the_same_bytes() {
    let text = || serde_json::to_string(&report(&["section-i"])).expect("a report is a document");
    assert_eq!(text(), text());
}

#[test]
fn a_run_that_is_stopped_is_marked() {
    let mut steps = 0;
    let report = run(&["section-i", "link-ceilings"], &mut |progress| {
        steps += 1;
        assert_eq!((progress.claim, progress.done), ("section-i", steps));
        if steps == 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let report = report.expect("the claims exist");
    assert_eq!((steps, report.complete, report.claims.len()), (1, false, 0));
}
