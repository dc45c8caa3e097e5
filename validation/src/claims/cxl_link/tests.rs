use super::*;

#[test]
fn the_table_has_three_shares_and_loads_of_whole_periods() {
    let rows = table();
    assert_eq!(rows.len(), 64);
    let full: Vec<Row> = rows.iter().filter(|row| is_saturated(&rows, row)).copied().collect();
    assert_eq!(full.iter().map(|row| row.read_pct).collect::<Vec<_>>(), [2, 46, 100]);
    // Little's law: what is outstanding at 100 % reads.
    let outstanding = full[2].bandwidth * full[2].latency_ns / 64.0;
    assert!((outstanding - f64::from(world::OUTSTANDING)).abs() < 0.5, "{outstanding}");
    for row in rows.iter().filter(|row| !is_saturated(&rows, row)) {
        let bandwidth = 64.0 / row.period().as_ps() as f64 * 1e3;
        assert!((bandwidth / row.bandwidth - 1.0).abs() < 2e-3, "{row:?}: {bandwidth}");
    }
    for key in PROBES.iter().chain(&[IDLE, ARRANGEMENT, DRAIN]) {
        assert!(!is_saturated(&rows, &row(&rows, *key)));
    }
}

/// Saturation depends on the link alone: any memory that is fast enough gives the same.
#[test]
fn saturation_is_within_the_bar_whatever_the_memory_is() {
    let rows = table();
    for machine in [(4, 2), (8, 2)].map(|arrangement| arranged(&assumed(), arrangement)) {
        for row in rows.iter().filter(|row| is_saturated(&rows, row)) {
            let load = Load { read_pct: row.read_pct, period: None, lines: 20_000, seed: 5 };
            let error = accuracy::error_pct(world::run(&machine, load).bandwidth, row.bandwidth);
            assert!(error.abs() < SATURATION_PCT, "{row:?}: {error:+.3} %");
        }
    }
}

/// Three rows under load with the machine that the fits choose: the whole claim is for release builds.
#[test]
fn latency_under_load_is_within_the_bar_on_some_rows() {
    let rows = table();
    let machine = arranged(&assumed(), (4, 2)).set("dram.write-idle", Value::Time(Span::from_us(1)));
    let machine = calibrated(&machine, &rows);
    for key in [(100, 25.59), (46, 31.98), (2, 18.28)] {
        let row = row(&rows, key);
        let error = accuracy::error_pct(latency(&machine, &row, &SEEDS[..1]).0, row.latency_ns);
        assert!(error.abs() < LATENCY_PCT, "{row:?}: {error:+.1} %");
    }
}

/// The whole claim, as `lanetwin validate cxl-link` runs it.
#[test]
#[cfg_attr(debug_assertions, ignore = "millions of lines: for release builds")]
fn the_bar_is_met() {
    let report =
        crate::run(&["cxl-link"], &mut |_| std::ops::ControlFlow::Continue(())).expect("the claim exists");
    let summary = &report.claims[0];
    for row in &report.rows {
        println!(
            "{:?} {} {}: {} published, {:.2}, {:+.2} %",
            row.role, row.case, row.quantity, row.published, row.predicted, row.error_pct
        );
    }
    for effect in &summary.effects {
        println!("{} {}: {:?}", effect.mechanism, effect.end, effect.changes_pct);
    }
    println!("{} {:?} {}", summary.mape, summary.free_parameters, summary.text);
    assert!(summary.met && summary.is_prediction, "{}", summary.text);
}
