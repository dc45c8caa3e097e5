//! Tests with numbers that act, that do not act, and that cannot be moved.

use super::*;
use crate::experiment;
use lanetwin_plan::check;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Predicts two rows, each from a kind of run of its own. `a` moves the first row by 1 % per unit. `b` changes events
/// but no row. `c` moves the second row by 0.1 % per unit, and makes no valid machine above 1. `near` moves the first
/// row by a little less than what counts in a full run, and by more in a long one. Other seeds move the first row by
/// `noise`.
#[derive(Default)]
struct Rows {
    noise: f64,
    traces: AtomicUsize,
    /// How often each row was predicted.
    runs: [AtomicUsize; 2],
    long: AtomicUsize,
}

fn value(sets: &[String], name: &str) -> f64 {
    let of = |set: &String| set.strip_prefix(name)?.strip_prefix('=')?.parse::<f64>().ok();
    sets.iter().find_map(of).unwrap_or(0.0)
}

impl Predict for Rows {
    fn kinds(&self) -> usize {
        2
    }
    fn trace(&self, sets: &[String], kind: usize) -> Option<Digest> {
        self.traces.fetch_add(1, Ordering::Relaxed);
        let [a, b, c, near] = ["a", "b", "c", "near"].map(|name| value(sets, name));
        let acts = if kind == 0 { a * 100.0 + b * 10.0 + near } else { c };
        (c.abs() <= 1.0).then_some(Digest(acts as u64))
    }
    fn rows(&self, asked: &Asked<'_>) -> Option<Vec<Option<f64>>> {
        let [a, c, near] = ["a", "c", "near"].map(|name| value(asked.sets, name));
        let noise = if value(asked.sets, "run.seed") > 1.0 { self.noise } else { 0.0 };
        let is_long = asked.effort == Effort::Long;
        self.long.fetch_add(usize::from(is_long), Ordering::Relaxed);
        let all = [100.0 + a + noise + near * if is_long { 0.4 } else { 0.25 }, 100.0 + c * 0.1];
        let row = |kind: usize| {
            let is_run = asked.wanted[kind] && asked.touched.has(kind);
            self.runs[kind].fetch_add(usize::from(is_run), Ordering::Relaxed);
            is_run.then_some(all[kind])
        };
        (c.abs() <= 1.0).then(|| vec![row(0), row(1)])
    }
}

/// Analyses numbers with bars of 3 %, so that a change of more than 0.3 % counts.
fn finding(numbers: &[Number], rows: &Rows) -> Sensitivity {
    analyse(numbers, &[3.0, 3.0], rows, &mut Watch::new("test", &mut |_| ControlFlow::Continue(())))
}

#[test]
fn what_moves_a_row_counts_and_what_moves_nothing_does_not() {
    let numbers = [
        Number::with_ends("a", [&["a=1"], &["a=2"]]),
        Number::with_ends("b", [&["b=1"], &["b=2"]]),
        Number::with_ends("c", [&["c=2", "c=1"], &["c=1"]]),
        Number::with_ends("d", [&["d=1"], &["d=2"]]),
    ];
    let found = finding(&numbers, &Rows::default());
    assert_eq!(found.free.iter().map(|free| &*free.name).collect::<Vec<_>>(), ["a"]);
    assert_eq!(
        found
            .effects_among(&[true, true])
            .iter()
            .map(|effect| effect.changes_pct[0].round())
            .collect::<Vec<_>>(),
        [1.0, 2.0]
    );
    assert_eq!((found.all, found.inert), (4, Some(1)));
    assert!(found.told().contains("count 1: a."), "{}", found.told());
    let wide = found.effects_among(&[false, true, true]);
    assert!(wide[0].changes_pct[0].is_nan() && wide[0].changes_pct[1] > 0.9);
}

#[test]
fn what_cannot_be_moved_counts() {
    let found = finding(&[Number::with_ends("c", [&["c=2"], &["c=1"]])], &Rows::default());
    assert_eq!(found.free.len(), 1);
}

#[test]
fn what_does_not_act_is_run_once() {
    let names: Vec<String> = (0..64).map(|i| format!("n{i}=1")).collect();
    let numbers: Vec<Number> = names.iter().map(|set| Number::with_ends("n", [&[set], &[set]])).collect();
    let rows = Rows::default();
    let found = finding(&numbers, &rows);
    // without changes, and with all numbers moved to each side at once: for both kinds of runs
    assert_eq!((found.inert, rows.traces.into_inner()), (Some(64), 3 * 2));
}

/// A row is predicted again only if a number acts on its kind of run.
#[test]
fn rows_that_a_number_does_not_act_on_are_not_run() {
    let rows = Rows::default();
    finding(&[Number::with_ends("a", [&["a=1"], &["a=2"]])], &rows);
    let [first, second] = rows.runs.map(AtomicUsize::into_inner);
    assert_eq!(first, second + 2, "both ends, in the first row alone");
}

/// If a full run leaves undecided whether a number counts, a longer run decides.
#[test]
fn what_is_near_a_tenth_of_the_bar_is_run_longer() {
    let clear = Rows::default();
    finding(&[Number::with_ends("a", [&["a=1"], &["a=2"]])], &clear);
    assert_eq!(clear.long.into_inner(), 4, "one with each seed");
    let near = Rows { noise: 0.1, ..Rows::default() };
    let found = finding(&[Number::with_ends("near", [&["near=1"], &[]])], &near);
    assert_eq!((found.free.len(), near.long.into_inner()), (1, 5));
}

/// A change that other seeds cause as well does not count.
#[test]
fn what_is_no_more_than_chance_does_not_count() {
    let found =
        finding(&[Number::with_ends("a", [&["a=1"], &["a=-1"]])], &Rows { noise: 1.5, ..Rows::default() });
    assert!(found.free.is_empty() && found.told().contains("another seed does 1.50 %"), "{}", found.told());
}

/// If the analysis is stopped, every number counts, since it is not known which matter.
#[test]
fn what_is_ended_counts_everything() {
    let numbers =
        [Number::with_ends("a", [&["a=1"], &["a=2"]]), Number::with_ends("d", [&["d=1"], &["d=2"]])];
    for last in [3, AS_IT_IS + 1] {
        let mut told = 0;
        let mut tell = |_: &crate::Progress| {
            told += 1;
            if told >= last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let found = analyse(&numbers, &[3.0, 3.0], &Rows::default(), &mut Watch::new("test", &mut tell));
        assert_eq!((found.free.len(), found.inert), (2, None));
        assert!(
            found.effects_among(&[true, true]).is_empty() && found.told().contains("stopped"),
            "{}",
            found.told()
        );
    }
}

/// The number of steps that are counted is the number announced by [`steps`].
#[test]
fn progress_ends_at_the_number_of_steps() {
    let numbers = [
        Number::with_ends("a", [&["a=1"], &["a=2"]]),
        Number::with_ends("c", [&["c=2", "c=1"], &["c=1"]]),
        Number::with_ends("d", [&["d=1"], &[]]),
    ];
    let mut done = 0;
    let mut tell = |progress: &crate::Progress| {
        done = progress.done;
        ControlFlow::Continue(())
    };
    analyse(&numbers, &[3.0, 3.0], &Rows::default(), &mut Watch::new("test", &mut tell));
    assert_eq!(done, steps(numbers.len()));
}

#[test]
fn every_number_of_a_machine_has_ends_that_are_not_its_value() {
    let text = "about: A PM1743.\nmachine:\n  cpu: {part: amd-epyc-9554}\n  ssd: {part: samsung-pm1743}\nlinks:\n  slot: {from: cpu, to: ssd}\n\
                workloads:\n  load: {block: {size: 4KiB}, on: cpu, target: ssd}\n";
    let checked = check(Path::new("x.yaml"), text, &[], experiment::catalogue());
    let plan = checked.plan.expect("a plan");
    let all = numbers(&plan, &[], &[]);
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
