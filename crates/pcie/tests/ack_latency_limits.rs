//! Does the ACK latency formula give the published table?

use lanetwin_pcie::spec::{Mps, timing::ack_latency_limit_symbols};
use lanetwin_units::{Generation, Width};

const TABLE: &str = include_str!("data/ack_latency_limits_symbols.csv");

/// The one entry that the source misprints, with what it prints: 237, its digits exchanged.
const TYPO: (Generation, Width, u64, u64) = (Generation::Gen2, Width::X32, 4096, 237);

/// A row of the table: generation, width, MPS \[B\], limit \[symbol times\].
fn rows() -> Vec<(Generation, Width, u64, u64)> {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#')).skip(1);
    let number = |text: &str| text.trim_start_matches(|c: char| c.is_alphabetic()).parse().expect("a number");
    lines
        .map(|line| {
            let [generation, width, mps, limit] = line.split(',').map(number).collect::<Vec<u64>>()[..]
            else {
                panic!("{line}")
            };
            let (generation, width) = (Generation::from_number(generation), Width::from_lanes(width));
            (generation.expect("a generation"), width.expect("a width"), mps, limit)
        })
        .collect()
}

fn by_formula((generation, width, mps, _): (Generation, Width, u64, u64)) -> u64 {
    ack_latency_limit_symbols(generation, width, Mps::from_bytes(mps).expect("an MPS"))
}

#[test]
fn every_published_limit_follows_from_the_formula_within_one_symbol() {
    let rows = rows();
    assert_eq!(rows.len(), 3 * 6 * 6);
    for row in rows.into_iter().filter(|&row| row != TYPO) {
        assert!(by_formula(row).abs_diff(row.3) <= 1, "{row:?}, by formula {}", by_formula(row));
    }
}

#[test]
fn the_misprint_is_in_the_source_and_exchanges_two_digits() {
    assert!(rows().contains(&TYPO));
    assert_eq!(by_formula(TYPO), 327);
}
