//! The laws of the links (docs/link-model.md), on random machines with devices that react to what they get: first, that the
//! naive reference itself comes to rest, with nothing stuck and every credit back.
//!
//! A failure prints its seed: `LANETWIN_SEED=n LANETWIN_MACHINES=1 cargo test -p lanetwin-pcie --test laws`.

mod reference;

use reference::{draw, simulator};

/// Enough to meet every pair of features, few enough for a minute without optimisation.
const MACHINES: u64 = 1_000;

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
}

#[test]
fn the_reference_comes_to_rest_and_repeats_itself() {
    let first = from_environment("LANETWIN_SEED", 0);
    for seed in first..first + from_environment("LANETWIN_MACHINES", MACHINES) {
        eprintln!("LANETWIN_SEED={seed}");
        let drawn = draw::machine(seed);
        let outcome = simulator::run(&drawn.machine, drawn.world());

        assert!(!outcome.seen.is_empty(), "a machine has traffic");
        if seed % 10 == 0 {
            assert_eq!(outcome, simulator::run(&drawn.machine, drawn.world()));
        }
    }
}
