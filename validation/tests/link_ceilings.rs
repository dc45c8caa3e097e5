//! The ceilings once more, by arithmetic that uses neither the simulator nor the claim's own formula: it fills one
//! period between two SKP ordered sets.

use lanetwin_validation::run;
use std::ops::ControlFlow;

/// Time of one byte on one lane \[ns\].
fn byte_ns(generation: u32) -> f64 {
    match generation {
        1 => 4.0,
        2 => 2.0,
        g => 130.0 / 128.0 / f64::from(1 << (g - 3)),
    }
}

/// The Ack latency limit \[ns\] for a generation, width and MPS, from the standard's table in symbol times, which are
/// 4, 2, 1, 0.5 and 0.25 ns.
fn ack_limit_ns(generation: u32, lanes: u32, mps: u32) -> f64 {
    let tenths: u32 = match (lanes, mps > 256) {
        (1 | 2 | 4, false) => 14,
        (8, false) => 25,
        (_, false) => 30,
        (1 | 2 | 4 | 8, true) => 10,
        (_, true) => 20,
    };
    let delay = [19, 70, 115, 115, 115][generation as usize - 1];
    let symbol_ns = 8.0 / f64::from(2_u32.pow(generation));
    f64::from((mps + 28) * tenths / (10 * lanes) + delay) * symbol_ns
}

/// Payload throughput of each direction \[Gb/s\]: groups of TLPs, each with an Ack and an UpdateFC, fill the time
/// between two SKPs.
fn gbps(generation: u32, lanes: u32, mps: u32) -> f64 {
    let byte = byte_ns(generation) / f64::from(lanes);
    // SKP: 4 symbols in every 1180, or 16 symbols (a block) in every 370 blocks.
    let (period, skp) = if generation < 3 { (1180.0, 4.0) } else { (5920.0, 16.0) };
    let lane_byte = byte_ns(generation);
    let free = (period - skp) * lane_byte;
    let tlp = f64::from(8 + 16 + mps) * byte;
    let group = (ack_limit_ns(generation, lanes, mps) / tlp).floor().max(1.0);
    let groups = free / (group * tlp + 2.0 * 8.0 * byte);
    groups * group * f64::from(mps) * 8.0 / (period * lane_byte)
}

#[test]
fn simulated_plateaus_are_within_three_tenths_of_a_percent() {
    let report = run(&["link-ceilings"], &mut |_| ControlFlow::Continue(())).expect("the claim exists");
    assert!(report.claims[0].met, "{}", report.claims[0].text);
    let mut seen = 0;
    for generation in 1..=5 {
        for lanes in [1, 2, 4, 8, 16] {
            for mps in [128, 256, 512] {
                let case = format!("Gen{generation} x{lanes}, MPS {mps} B");
                let row =
                    report.rows.iter().find(|row| row.case == case).expect("every combination has a row");
                let expected = gbps(generation, lanes, mps);
                let error = (row.predicted / expected - 1.0).abs();
                assert!(error < 0.003, "{case}: {} simulated, {expected} by hand", row.predicted);
                seen += 1;
            }
        }
    }
    assert_eq!((seen, report.rows.len()), (75, 75));
}

/// By hand, Gen3 x8, MPS 256: a write of 280 B takes 35.547 ns, five fit into 203 ns; with an Ack and an UpdateFC five
/// take 179.77 ns and carry 1280 B; 369 of 370 blocks are free: 56.81 Gb/s.
#[test]
fn one_ceiling_by_hand() {
    assert!((gbps(3, 8, 256) - 56.81).abs() < 0.005, "{}", gbps(3, 8, 256));
}
