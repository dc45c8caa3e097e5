//! The claim `latency-vs-size` meets its bar, and its plateaus are where they were calibrated to.

use lanetwin_validation::{Role, run};
use std::ops::ControlFlow;

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes without optimisation")]
fn knees_between_plateaus_are_predicted() {
    let report = run(&["latency-vs-size"], &mut |_| ControlFlow::Continue(())).expect("the claim exists");
    for row in &report.rows {
        println!(
            "{:24} {:9.3} {:9.3} {:+6.1} % {:?}",
            row.case, row.published, row.predicted, row.error_pct, row.role
        );
    }
    let summary = &report.claims[0];
    println!("{}", summary.text);
    assert!(summary.met, "{}", summary.text);
    for row in report.rows.iter().filter(|row| row.role == Role::Calibrated) {
        assert!(row.error_pct.abs() < 5.0, "{row:?} is what it was calibrated to");
    }
}
