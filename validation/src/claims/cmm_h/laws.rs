//! Does a published number reach a prediction, and can the claim miss?

use super::experiments::*;
use super::*;

/// The law: a case is made of weights and of what was calibrated. No cell of the table is in it.
#[test]
fn no_published_cell_reaches_a_case() {
    for mix in 0..MIXES.len() {
        for ratio in &ratios() {
            let mut wrong = *ratio;
            wrong.published = wrong.published.map(|value| value * 0.5 + 7.0);
            assert_ne!(wrong, *ratio, "the corruption is one");
            assert_eq!(cell_of_table(&wrong, mix), cell_of_table(ratio, mix));
        }
    }
}

/// How far the peak of 32 threads is off \[%\], with changes of the machine, beside what was published times a factor.
fn peak_error(sets: &[&str], factor: f64) -> f64 {
    let lines = "workloads.load.memory.lines=30000";
    let case = sets.iter().fold(peak().with(lines), |case, set| case.with(*set));
    accuracy::error_pct(case.run().of_all("throughput"), factor * other("peak bandwidth"))
}

#[test]
fn a_peak_is_within_its_bar_and_a_corrupted_one_is_not() {
    let honest = peak_error(&[], 1.0);
    assert!(honest.abs() <= PEAK_BAR_PCT, "{honest} %");
    assert!(peak_error(&[], 1.1).abs() > PEAK_BAR_PCT, "a published value that is a tenth too high");
    // a link of half the width, and a controller that looks up half as often as 27 GB/s need
    for wrong in ["links.slot.width=x4", "machine.cmmh.controller.lookup.interval=5ns"] {
        let error = peak_error(&[wrong], 1.0);
        assert!(error.abs() > PEAK_BAR_PCT, "{wrong}: {error} %");
    }
}

/// Wrong machines are seen in the table, too: DRAM of half the channels, or a module on half the lanes, takes the 2:1
/// cell of all reads far below.
#[test]
fn a_cell_of_a_corrupted_machine_is_far_off() {
    let ratio = ratios()[1];
    let error = |set: Option<&str>| {
        let case = cell_of_table(&ratio, 0).with("workloads.load.memory.lines=30000");
        let case = set.map_or(case.clone(), |set| case.with(set));
        accuracy::error_pct(case.run().of_all("throughput"), ratio.published[0])
    };
    let honest = error(None);
    for wrong in ["machine.host.dram.channels=1", "links.slot.width=x4"] {
        let found = error(Some(wrong));
        assert!(found < honest - 20.0, "{wrong}: {found} % instead of {honest} %");
    }
}
