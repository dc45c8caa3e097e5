//! The published analysis of the steady state, from which the tables have their values: its closed form, compared with
//! an iteration of the equations of the flow between levels (numbers of valid units in a block).

use lanetwin_validation::run;
use std::ops::ControlFlow;

/// The drive: dies, blocks per die, units of 4 KiB per block; blocks per die that GC keeps free, and open blocks.
const DIES: u32 = 2;
const BLOCKS: u32 = 256;
const BLOCK: u32 = 120;
const FREE: u32 = 3;
const OPEN: u32 = 2;

/// Write amplification for large blocks, by the share of valid units: 1 / (1 − a) with (1 − a) / −ln a = share.
fn fluid(share: f64) -> f64 {
    let (mut low, mut high) = (1e-9, 1.0 - 1e-9);
    for _ in 0..200 {
        let a: f64 = f64::midpoint(low, high);
        if (1.0 - a) / -a.ln() < share { low = a } else { high = a }
    }
    1.0 / (1.0 - low)
}

/// Write amplification for blocks of `block` units, by the mean share of valid units in full blocks.
///
/// With f(j) the share of blocks with j valid units, j · f(j) is the same in the steady state for all levels j above
/// the lowest one. If the lowest level is k, and a part x of its flow goes on to k − 1, the share of valid units
/// follows; k and x are searched for.
fn mean_field(block: u32, share: f64) -> f64 {
    let b = f64::from(block);
    let state = |victims: f64| {
        // victims hold k − x valid units on average: a part x of them has k − 1, the others k
        let (k, x) = (victims.ceil().max(1.0), victims.ceil().max(1.0) - victims);
        let levels = (k as u32 + 1..=block).map(|j| 1.0 / f64::from(j)).sum::<f64>() + x / k;
        let units = b - k + x;
        units / levels / b
    };
    let (mut low, mut high) = (0.0, b - 1e-6);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if state(middle) < share { low = middle } else { high = middle }
    }
    b / (b - low)
}

/// The share of valid units in full blocks. Some blocks of each die are free; open blocks are half full on average, and
/// half of a victim has been moved.
fn share(units: u64) -> f64 {
    let full = f64::from(BLOCKS - FREE) - f64::from(OPEN + 1) / 2.0;
    units as f64 / f64::from(DIES) / (full * f64::from(BLOCK))
}

/// Write amplification, by following the numbers of blocks with each number of valid units over time: each step
/// overwrites a share of all valid units, and collects the emptiest blocks until there is room for what was written.
fn by_iteration(block: usize, share: f64) -> f64 {
    let mut f = vec![0.0; block + 1];
    let low = (share * block as f64).floor() as usize;
    let rest = share * block as f64 - low as f64;
    (f[low], f[low + 1]) = (1.0 - rest, rest);
    let step = 0.02 / block as f64;
    let (mut collected, mut moved) = (0.0, 0.0);
    for turn in 0..400_000 {
        let written = step * f.iter().enumerate().map(|(j, f)| j as f64 * f).sum::<f64>();
        for j in 1..=block {
            let falls = step * j as f64 * f[j];
            f[j] -= falls;
            f[j - 1] += falls;
        }
        let mut needed = written;
        for j in 0..block {
            let take = f[j].min(needed / (block - j) as f64);
            f[j] -= take;
            f[block] += take;
            needed -= take * (block - j) as f64;
            if turn > 200_000 {
                collected += take * block as f64;
                moved += take * j as f64;
            }
        }
    }
    collected / (collected - moved)
}

#[test]
fn the_analysis_is_what_its_equations_lead_to() {
    for (block, share) in [(30, 0.9), (120, 0.8), (60, 0.7)] {
        let (closed, iterated) = (mean_field(block, share), by_iteration(block as usize, share));
        assert!((closed / iterated - 1.0).abs() < 0.01, "{block} {share}: {closed} {iterated}");
    }
    // by hand: a = 0.2032 gives (1 - a) / -ln a = 0.5
    assert!((fluid(0.5) - 1.255).abs() < 0.001, "{}", fluid(0.5));
    assert!((mean_field(20_000, 0.8) / fluid(0.8) - 1.0).abs() < 0.002);
}

/// Each row of the tables has the result of the analysis for its over-provisioning, and the limit for large blocks.
#[test]
fn tables_have_what_the_formulas_say() {
    let tables =
        [include_str!("../claims/steady-state-lived.csv"), include_str!("../claims/steady-state-drawn.csv")];
    for line in tables.into_iter().flat_map(|table| table.lines().skip(1)) {
        let fields: Vec<&str> = line.split(',').map(|field| field.trim_matches('"')).collect();
        let percent: f64 = fields
            .iter()
            .find_map(|field| field.rsplit('-').next()?.parse().ok().filter(|percent| *percent > 1.0))
            .expect("a variant names its over-provisioning");
        let has = |value: f64| {
            assert!(fields.contains(&&*format!("{}", (value * 1e6).round() / 1e6)), "{line}: {value}")
        };
        let units = f64::from(DIES * BLOCKS * BLOCK) / (1.0 + percent / 100.0);
        has(mean_field(BLOCK, share(units as u64)));
        has(fluid(1.0 / (1.0 + percent / 100.0)));
    }
}

/// The claim itself, which `make claims` checks as well.
mod nightly {
    use super::*;

    #[test]
    #[ignore = "takes half a minute with optimisation: make test-nightly"]
    fn simulated_write_amplification_is_that_of_the_analysis() {
        let report = run(&["steady-state"], &mut |_| ControlFlow::Continue(())).expect("the claim exists");
        for row in &report.rows {
            println!("{:28} {:.3} {:.3}", row.case, row.published, row.predicted);
        }
        assert!(report.claims[0].met, "{}", report.claims[0].text);
        assert_eq!(report.rows.len(), 14);
    }
}
