//! Whatever the parameters of a machine are set to, does a run come to an end, or is it refused with codes? Scenarios
//! of the tree with a few parameters moved at random, and something of a link or a load of memory now and then: none
//! of them may hang, break, or give what is no number.

use crate::mutants::{Chance, checked, shortened};
use crate::tree::scenarios;
use lanetwin_document::quantity;
use lanetwin_plan::{ComponentPlan, Load, Plan, Variant, WorkloadPlan};
use lanetwin_ports::{Dimension, Param, Value};
use lanetwin_units::{Bytes, Span};
use lanetwin_world::{Options, Progress, Stopping, Watcher, run};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

const DRAWS: u64 = 60;
/// The same at night, with others.
const MANY_DRAWS: u64 = 1500;
/// A run of so few operations that goes on for longer, on a loaded machine, goes on for ever.
const LONGEST_RUN: Duration = Duration::from_secs(240);

/// Ends a run that would never end. Its thread ends with it.
struct Patient {
    stopping: Stopping,
    _lives: Sender<()>,
}

impl Watcher for Patient {
    fn progress(&self, _: &Progress) {}
    fn is_cancelled(&self) -> bool {
        self.stopping.is_asked()
    }
    fn stopping(&self) -> Stopping {
        self.stopping.clone()
    }
}

impl Patient {
    fn new() -> Self {
        let stopping = Stopping::default();
        let (_lives, over) = channel();
        let ends = stopping.clone();
        std::thread::spawn(move || {
            if over.recv_timeout(LONGEST_RUN) == Err(RecvTimeoutError::Timeout) {
                ends.ask();
            }
        });
        Self { stopping, _lives }
    }
}

/// Another value of a parameter. It need not make sense.
fn moved(param: &Param, value: Value, chance: &mut Chance) -> Value {
    let factor = *chance.one(&[(0, 1), (1, 100), (1, 10), (1, 2), (2, 1), (10, 1)]);
    let scaled = |number: u64| (u128::from(number) * factor.0 / factor.1) as u64;
    match (value, param.dimension) {
        (Value::Time(time), _) => Value::Time(Span::from_ps(scaled(time.as_ps()))),
        (Value::Size(size), _) => Value::Size(Bytes(scaled(size.0))),
        (Value::Rate(rate), _) => Value::Rate(scaled(rate)),
        (Value::Count(count), Dimension::Count { least, most }) => {
            let near = [least, least + 1, count / 2, count + 1, count.saturating_mul(2)];
            Value::Count((*chance.one(&near)).clamp(least, most))
        }
        (Value::Ratio(ratio), _) => Value::Ratio(*chance.one(&[0.0, 0.5, 1.0, ratio / 2.0])),
        (Value::Flag(flag), _) => Value::Flag(!flag),
        (_, Dimension::Choice(words) | Dimension::ChoiceOrRatio(words)) => {
            Value::Choice(words[chance.below(words.len())])
        }
        (other, _) => other,
    }
}

/// A setting of a component.
fn setting(component: &ComponentPlan, chance: &mut Chance) -> Option<String> {
    let params: Vec<&Param> = component.model.all_params().collect();
    if params.is_empty() {
        return None;
    }
    let param = chance.one(&params);
    let value = moved(param, *component.params.0.get(param.name)?, chance);
    let written = quantity::label(value).replace(' ', "");
    Some(format!("machine.{}.{}={written}", component.name, param.name))
}

/// Settings of links of any kind, in and beside what they can have.
const LINKS: [&str; 14] = [
    "gen=3",
    "gen=5",
    "gen=6",
    "width=x1",
    "width=x16",
    "ber=1e-9",
    "ber=1e-6",
    "propagation=5us",
    "clocking=sris",
    "skp=off",
    "flit=256B",
    "io=8GB/s",
    "via=[low-latency-retimer,20ns]",
    "rate=10Gb/s",
];
/// Settings of loads of memory, in and beside what they can have.
const MEMORY: [&str; 15] = [
    "pattern=random",
    "pattern=chase-across-pages",
    "mix=1r1w",
    "mix=streaming-writes",
    "mix=1%",
    "threads=1",
    "threads=300",
    "working-set=4KiB",
    "working-set=40MiB",
    "working-set=90GiB",
    "delay=10us",
    "chaser=on",
    "pages=2MiB",
    "pages=1GiB",
    "cache=cold",
];

fn settings(plan: &Plan, chance: &mut Chance) -> Vec<String> {
    let variant = &plan.variants[0];
    let most = *chance.one(&[1, 2, 4, 8]);
    let of_components = (0..most).filter_map(|_| setting(chance.one(&variant.machine), chance));
    let mut all: Vec<String> = of_components.collect();
    all.extend(beside_components(variant, chance));
    all
}

/// Now and then something of a link, and of a load of memory.
fn beside_components(variant: &Variant, chance: &mut Chance) -> Vec<String> {
    let links = variant.links.iter().map(|link| &link.name).chain(variant.cxl.iter().map(|link| &link.name));
    let links: Vec<&String> = links.collect();
    let mut all = Vec::new();
    if !links.is_empty() && chance.below(3) == 0 {
        all.push(format!("links.{}.{}", chance.one(&links), chance.one(&LINKS)));
    }
    let of_memory = |load: &&WorkloadPlan| matches!(load.cases[0].load, Load::Memory(_));
    for load in variant.workloads.iter().filter(of_memory) {
        if chance.below(2) == 0 {
            all.push(format!("workloads.{}.memory.{}", load.name, chance.one(&MEMORY)));
        }
    }
    all
}

/// The scenarios that can be made short, with what makes them so.
fn short_scenarios() -> Vec<(PathBuf, String, Vec<String>)> {
    let short = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).expect("a scenario");
        let sets = shortened(&checked(&file, &text, &[]).plan?)?;
        Some((file, text, sets))
    };
    scenarios().into_iter().filter_map(short).collect()
}

#[test]
fn machines_that_are_set_at_random_run_or_are_refused() {
    run_or_are_refused(0..DRAWS);
}

mod nightly {
    use super::*;

    #[test]
    #[ignore = "the same of others: make test-nightly"]
    fn many_machines_that_are_set_at_random_run_or_are_refused() {
        run_or_are_refused(DRAWS..MANY_DRAWS);
    }
}

fn run_or_are_refused(numbers: Range<u64>) {
    let files = short_scenarios();
    let (all, mut ran) = (numbers.end - numbers.start, 0);
    for number in numbers {
        let mut chance = Chance(number);
        let (file, text, short) = chance.one(&files);
        let plan = checked(file, text, short).plan.expect("it is short and right");
        let sets: Vec<String> = short.iter().cloned().chain(settings(&plan, &mut chance)).collect();
        let found = checked(file, text, &sets);
        let what = format!("draw {number}, {}: {:?}", file.display(), &sets[short.len()..]);
        let Some(plan) = found.plan else {
            assert!(!found.diagnostics.is_empty(), "refused without a word: {what}");
            continue;
        };
        let results = run(&plan, &Options::default(), &Patient::new());
        let results = results.unwrap_or_else(|crash| panic!("{what}: {crash:#?}"));
        assert!(results.stopped.as_deref() != Some("interrupted"), "it comes to no end: {what}");
        let is_number = |row: &lanetwin_stats::results::Row| row.value.is_finite();
        assert!(results.rows.iter().all(is_number), "what is no number: {what}");
        ran += 1;
    }
    assert!(ran > all / 4, "of {all} machines {ran} ran");
}
