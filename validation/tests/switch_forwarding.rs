//! The latencies of a switch once more, by arithmetic that uses neither the simulator nor the claim's formula: it
//! follows the time of each byte.

use lanetwin_validation::run;
use std::ops::ControlFlow;

/// Time of one byte on one lane of Gen4 \[ps\]: 8 bits at 16 GT/s, with 128b/130b encoding.
const BYTE_PS: f64 = 507.8125;
const LATENCY_PS: f64 = 120_000.0;

/// When the last bit of the last of `n` packets leaves, if all begin to arrive at 0 \[ps\]: each byte leaves no sooner
/// than `LATENCY_PS` after its arrival, and the packets leave back to back.
fn last_bit_ps(payload: u64, (arriving, leaving): (f64, f64), cut_through: bool, n: u64) -> f64 {
    let bytes = payload + 24;
    let arrival = |byte: u64| (byte + 1) as f64 * BYTE_PS / arriving;
    let first_seen = if cut_through { arrival(23) } else { arrival(bytes - 1) };
    // The output may begin as soon as no byte would be due before it has arrived.
    let start = (0..bytes)
        .map(|byte| arrival(byte) - (byte + 1) as f64 * BYTE_PS / leaving)
        .fold(first_seen, f64::max);
    LATENCY_PS + start + (n * bytes) as f64 * BYTE_PS / leaving
}

#[test]
fn packets_leave_when_their_bytes_do() {
    let report = run(&["switch-forwarding"], &mut |_| ControlFlow::Continue(())).expect("the claim exists");
    assert!(report.claims[0].met, "{}", report.claims[0].text);
    let mut seen = 0;
    for (arriving, leaving) in [(1, 1), (2, 2), (4, 4), (8, 8), (16, 16), (4, 8), (8, 4), (1, 16), (16, 1)] {
        for payload in [64, 128, 256, 512, 1024, 2048, 4096] {
            for (how, cut_through) in [("cut-through", true), ("store-and-forward", false)] {
                for (which, n) in [("one packet", 1), ("last of 4", 4)] {
                    let case = format!("x{arriving} to x{leaving}, {payload} B, {how}, {which}");
                    let rows: Vec<_> = report.rows.iter().filter(|row| row.case.starts_with(&case)).collect();
                    let expected =
                        last_bit_ps(payload, (arriving.into(), leaving.into()), cut_through, n) / 1e3;
                    for row in &rows {
                        let error = (row.predicted - expected).abs();
                        assert!(
                            error < 0.002,
                            "{}: {} simulated, {expected} by bytes",
                            row.case,
                            row.predicted
                        );
                    }
                    assert!(!rows.is_empty(), "{case}");
                    seen += rows.len();
                }
            }
        }
    }
    assert_eq!(seen, report.rows.len());
}
