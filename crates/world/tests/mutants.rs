//! Whatever is done to a scenario, is the answer a plan or a code, and never a panic? Every scenario of the tree with
//! keys and values deleted, doubled, renamed and retyped, by a generator with a seed. What still is a plan is run,
//! where that is short.

use crate::tree::{Nobody, scenarios};
use lanetwin_plan::{BlockCase, Catalogue, Checked, Files, Load, Plan, check_with};
use lanetwin_world::{Options, run};
use serde_json::{Map, Value, json};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const MUTANTS: u64 = 150;
/// The same at night, with others.
const MANY_MUTANTS: u64 = 1200;
/// A mutant that takes longer to check than this, in debug on a loaded machine, has found a loop.
const LONGEST_CHECK: Duration = Duration::from_secs(60);
/// So many cases of all variants are few enough to be run.
const MOST_CASES: usize = 16;

/// splitmix64: small, and its numbers are the same everywhere.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
    pub(crate) fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// Values that people write by mistake, or to see what happens.
fn odd(chance: &mut Chance) -> Value {
    let all = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1),
        json!(3),
        json!(65_536),
        json!(18_446_744_073_709_551_615_u64),
        json!(1e300),
        json!(""),
        json!("x0"),
        json!("x32"),
        json!("0B"),
        json!("1B"),
        json!("4097B"),
        json!("16EiB"),
        json!("0ns"),
        json!("1ps"),
        json!("999999999s"),
        json!("0GB/s"),
        json!("1B/s"),
        json!("101%"),
        json!("32GT/s"),
        json!("\u{1F600} \u{0}"),
        json!([]),
        json!([1, [2, {"a": 3}]]),
        json!({}),
        json!({"part": "generic-host-gen4"}),
        json!("host"),
        json!("random"),
    ];
    chance.one(&all).clone()
}

/// Does one thing to some place of a tree.
fn mutate(value: &mut Value, chance: &mut Chance) {
    let deeper = chance.below(4) > 0;
    match value {
        Value::Object(map) if !map.is_empty() => {
            let keys: Vec<String> = map.keys().cloned().collect();
            let key = chance.one(&keys).clone();
            if deeper && map[&key] != Value::Null {
                return mutate(map.get_mut(&key).expect("a key of its own"), chance);
            }
            of_a_map(map, &key, &keys, chance);
        }
        Value::Array(items) if !items.is_empty() => {
            let place = chance.below(items.len());
            match chance.below(4) {
                0 => drop(items.remove(place)),
                1 => items.push(items[place].clone()),
                _ => mutate(&mut items[place], chance),
            }
        }
        other if chance.below(2) == 0 => *other = odd(chance),
        other => *other = another(other, chance),
    }
}

/// Another number of the same kind, if it is one.
fn another(value: &Value, chance: &mut Chance) -> Value {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let digit = char::from(b'1' + chance.below(9) as u8);
    match text.find(|c: char| c.is_ascii_digit()) {
        Some(at) => Value::from(format!("{}{digit}{}", &text[..at], &text[at + 1..])),
        None => odd(chance),
    }
}

fn of_a_map(map: &mut Map<String, Value>, key: &str, keys: &[String], chance: &mut Chance) {
    match chance.below(5) {
        0 => drop(map.shift_remove(key)),
        1 => {
            let copy = map[key].clone();
            map.insert(format!("{key}2"), copy);
        }
        2 => {
            let taken = map.shift_remove(key).expect("a key of its own");
            let swapped: String = key.chars().rev().collect();
            map.insert(swapped, taken);
        }
        3 => {
            let other = map[chance.one(keys)].clone();
            map.insert(key.to_owned(), other);
        }
        _ => drop(map.insert(key.to_owned(), odd(chance))),
    }
}

/// Does one thing to a text, whatever it says: lines and characters that go, come twice or change places.
fn scribble(text: &str, chance: &mut Chance) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (one, other) = (chance.below(lines.len()), chance.below(lines.len()));
    match chance.below(6) {
        0 => drop(lines.remove(one)),
        1 => lines.insert(other, lines[one].clone()),
        2 => lines.swap(one, other),
        3 => lines.truncate(one),
        4 => {
            let line: Vec<char> = lines[one].chars().collect();
            let at = chance.below(line.len());
            let put = *chance.one(&[' ', ':', '{', '}', '[', ']', '-', '"', '&', '*', '\t', '0', '\u{7f}']);
            let change = |(place, c): (usize, &char)| if place == at { put } else { *c };
            lines[one] = line.iter().enumerate().map(change).collect();
        }
        _ => lines[one].insert_str(0, "    "),
    }
    lines.join("\n")
}

/// The mutant of this number: its file, and its text.
fn mutant(number: u64, files: &[PathBuf]) -> (PathBuf, String) {
    let mut chance = Chance(number);
    let file = chance.one(files).clone();
    let text = std::fs::read_to_string(&file).expect("a scenario");
    if number.is_multiple_of(3) {
        return (file, scribble(&text, &mut chance));
    }
    let node = lanetwin_document::yaml::read(
        &text,
        0,
        lanetwin_document::Origin::Scenario,
        &mut lanetwin_document::problem::Reports::default(),
    );
    let mut tree = serde_json::to_value(node.expect("a scenario")).expect("JSON");
    for _ in 0..=chance.below(2) {
        mutate(&mut tree, &mut chance);
    }
    (file, serde_json::to_string_pretty(&tree).expect("JSON"))
}

pub(crate) fn checked(file: &Path, text: &str, sets: &[String]) -> Checked {
    check_with(file, text, sets, &Catalogue::built_in(), &Files::beside(file))
}

/// What makes a plan short: few transfers, one repeat. None if that is not to be had.
pub(crate) fn shortened(plan: &Plan) -> Option<Vec<String>> {
    let mut sets = vec!["run.repeats=1".to_owned(), "run.warm-up=0".to_owned()];
    for workload in plan.variants.iter().flat_map(|variant| &variant.workloads) {
        let key = match &workload.cases.first()?.load {
            Load::Dma(_) => "dma.transfers=20",
            Load::Memory(_) => "memory.lines=100",
            load if load.blocks::<BlockCase>().is_some() => "block.requests=20",
            _ => return None,
        };
        if workload.steady.is_some() || workload.pts().is_some() || !workload.actions.is_empty() {
            return None;
        }
        sets.push(format!("workloads.{}.{key}", workload.name));
    }
    let cases = plan.variants.iter().flat_map(|variant| &variant.workloads).map(|load| load.cases.len());
    (cases.sum::<usize>() <= MOST_CASES).then_some(sets)
}

#[test]
fn mutants_are_answered_with_a_plan_or_with_codes() {
    answered_with_a_plan_or_with_codes(0..MUTANTS);
}

mod nightly {
    use super::*;

    #[test]
    #[ignore = "the same of others: make test-nightly"]
    fn many_mutants_are_answered_with_a_plan_or_with_codes() {
        answered_with_a_plan_or_with_codes(MUTANTS..MANY_MUTANTS);
    }
}

fn answered_with_a_plan_or_with_codes(numbers: Range<u64>) {
    let files = scenarios();
    let (mut refused, mut ran) = (0, 0);
    let all = numbers.end - numbers.start;
    for number in numbers {
        let (file, text) = mutant(number, &files);
        let begun = Instant::now();
        let found = checked(&file, &text, &[]);
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(begun.elapsed() < LONGEST_CHECK, "mutant {number} of {name} took {:?}", begun.elapsed());
        let whole = found
            .diagnostics
            .iter()
            .all(|d| d.code.len() == 5 && !d.message.is_empty() && !d.help.is_empty());
        assert!(whole, "mutant {number} of {name}: {:#?}", found.diagnostics);
        let Some(plan) = found.plan else {
            assert!(!found.diagnostics.is_empty(), "mutant {number} of {name} is refused without a word");
            refused += 1;
            continue;
        };
        let Some(plan) = shortened(&plan).and_then(|sets| checked(&file, &text, &sets).plan) else {
            continue;
        };
        let results = run(&plan, &Options::default(), &Nobody);
        assert!(results.is_ok(), "mutant {number} of {name}: {:#?}\n{text}", results.err());
        ran += 1;
    }
    // a generator that only breaks, or never does, would show nothing
    assert!(refused > all / 5 && ran > all / 25, "of {all} mutants {refused} were refused, and {ran} ran");
}
