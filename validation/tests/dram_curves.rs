//! The claim on DDR5, run; it takes several CPU-seconds and is for a release.

use lanetwin_validation::{Role, run};
use std::ops::ControlFlow;

#[test]
#[cfg_attr(debug_assertions, ignore = "seconds in a release, minutes here")]
fn latencies_under_load_follow_from_timing_tables() {
    let report = run(&["dram-curves"], &mut |_| ControlFlow::Continue(())).expect("the claim exists");
    for row in &report.rows {
        println!(
            "{:28} {:9} {:8.1} {:8.1} {:+6.1} % {:?}",
            row.case, row.quantity, row.published, row.predicted, row.error_pct, row.role
        );
    }
    println!("{}", report.claims[0].text);
    assert!(report.claims[0].met && report.claims[0].is_prediction, "{}", report.claims[0].text);
    let calibrated = report.rows.iter().filter(|row| row.role == Role::Calibrated).count();
    assert_eq!((report.rows.len(), calibrated), (43 + 4, 5));
}
