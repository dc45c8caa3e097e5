//! What is too heavy for debug: ten thousand cycles of every test, and what they cost.

use lanetwin_probe::cycle::Test;
use lanetwin_probe::drive::Request;
use lanetwin_scenario::channel;
use lanetwin_scenario::stability::{Options, cycles};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// The retimer paper's table: every row 10 000 times (1 000 power cycles), with and without a retimer, on a channel that holds.
#[test]
#[cfg_attr(debug_assertions, ignore = "needs an optimised build")]
fn ten_thousand_cycles_of_every_test_pass_on_a_good_channel() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/link/three-grades.yaml");
    let channel = channel::check_path(&path, &[]).expect("a channel");
    let variants = ["good", "good-retimer"].map(str::to_owned).to_vec();
    let options = Options { variants, ..Options::default() };
    let start = Instant::now();
    let report = cycles(&channel, &options, &Request::default(), &mut |_, _| ControlFlow::Continue(()));
    println!("{:.1} s, eyes and their calibration included", start.elapsed().as_secs_f64());
    for series in &report.expect("an answer").report.series {
        assert_eq!(series.tests.len(), Test::full().len());
        for row in &series.tests {
            println!("{} {}: {} of {}", series.name, row.title, row.passed, row.cycles);
            let first = row.failures.first();
            assert_eq!((row.verdict, row.passed), ("pass", row.wanted), "{}: {first:?}", row.title);
            let bound = if row.test == Test::PowerCycle { 3.0e-3 } else { 3.0e-4 };
            assert!(row.bound.is_some_and(|found| found <= bound), "{:?}", row.bound);
        }
    }
}
