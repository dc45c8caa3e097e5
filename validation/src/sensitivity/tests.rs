//! Numbers that act, that do not, that cannot be moved.

use super::*;
use lanetwin_scenario::{Catalogue, check};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Two rows: `a` moves the first by 1 % a step, `b` neither but the events, `c` makes no machine beyond 1.
fn predict(sets: &[String]) -> Option<Vec<Seen>> {
    let value = |name: &str| {
        let of = |set: &String| set.strip_prefix(name)?.strip_prefix('=')?.parse::<f64>().ok();
        sets.iter().find_map(of).unwrap_or(0.0)
    };
    let [a, b, c] = ["a", "b", "c"].map(value);
    if c.abs() > 1.0 {
        return None;
    }
    let digest = Digest((a * 100.0 + b * 10.0 + c) as u64);
    Some(vec![Seen { value: 100.0 + a, digest }, Seen { value: 100.0 + c * 0.1, digest }])
}

fn weighed(numbers: &[Number]) -> Weighed {
    weigh(numbers.to_vec(), &[3.0, 3.0], &|sets, _| predict(sets))
}

#[test]
fn what_moves_a_row_counts_and_what_moves_nothing_does_not() {
    let numbers = [
        Number::with_ends("a", [&["a=1"], &["a=2"]]),
        Number::with_ends("b", [&["b=1"], &["b=2"]]),
        Number::with_ends("c", [&["c=2", "c=1"], &["c=1"]]),
        Number::with_ends("d", [&["d=1"], &["d=2"]]),
    ];
    let found = weighed(&numbers);
    assert_eq!(found.free.iter().map(|free| &*free.name).collect::<Vec<_>>(), ["a"]);
    assert_eq!(
        found.effects().iter().map(|effect| effect.changes_pct[0].round()).collect::<Vec<_>>(),
        [1.0, 2.0]
    );
    assert_eq!((found.all, found.inert), (4, 1));
    assert!(found.told().contains("count 1: a."), "{}", found.told());
    let wide = found.effects_among(&[false, true, true]);
    assert!(wide[0].changes_pct[0].is_nan() && wide[0].changes_pct[1] > 0.9);
}

#[test]
fn what_cannot_be_moved_counts() {
    let found = weighed(&[Number::with_ends("c", [&["c=2"], &["c=1"]])]);
    assert_eq!(found.free.len(), 1);
}

#[test]
fn what_does_not_act_is_run_once() {
    let runs = AtomicUsize::new(0);
    let names: Vec<String> = (0..64).map(|i| format!("n{i}=1")).collect();
    let numbers = names.iter().map(|set| Number::with_ends("n", [&[set], &[set]])).collect();
    let found = weigh(numbers, &[3.0, 3.0], &|sets, _| {
        runs.fetch_add(1, Ordering::Relaxed);
        predict(sets)
    });
    assert_eq!((found.inert, runs.into_inner()), (64, 8));
}

#[test]
fn every_number_of_a_machine_has_ends_that_are_not_its_value() {
    let text = "about: A PM1743.\nmachine:\n  cpu: {part: amd-epyc-9554}\n  ssd: {part: samsung-pm1743}\nlinks:\n  slot: {from: cpu, to: ssd}\n\
                workloads:\n  load: {block: {size: 4KiB}, on: cpu, target: ssd}\n";
    let checked = check(Path::new("x.yaml"), text, &[], &Catalogue::built_in());
    let plan = checked.plan.expect("a plan");
    let all = numbers(&plan, &[]);
    assert_eq!(all.len(), plan.assumptions().len(), "a machine of two parts has each number once");
    for number in &all {
        let sets: Vec<&String> = number.ends.iter().flatten().flatten().collect();
        let own = format!("={}", number.free().value.replace(' ', ""));
        assert!(sets.iter().all(|set| !set.ends_with(&own)), "{number:?}");
    }
    let of = |name: &str| all.iter().find(|number| number.free().name == name).expect("it is assumed");
    assert_eq!(of("buffer.latency").ends[1][0], ["machine.ssd.buffer.latency=2us"]);
    assert_eq!(of("ftl.hot-cold").ends[0][0], ["machine.ssd.ftl.hot-cold=false"]);
}
