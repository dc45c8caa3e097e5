//! Combines every value of every list with every other: cases, their labels, and the list that is the axis.

use super::pattern::Pattern;
use super::placement::Placed;
use crate::plan::{Axis, MemoryProgram, TrafficCase};
use lanetwin_document::fields::Said;
use lanetwin_document::quantity;
use lanetwin_load::memory::{ReadShare, TrafficMix};
use lanetwin_ports::Value;
use lanetwin_units::{Bytes, Span};

const PS_PER_NS: f64 = 1e3;

/// The lists of values.
pub(super) struct Spread {
    pub(super) policies: Vec<Placed>,
    mixes: Vec<TrafficMix>,
    threads: Vec<u32>,
    working_sets: Vec<Bytes>,
    delays: Vec<Span>,
}

/// One value of each.
#[derive(Clone, Copy)]
pub(super) struct Point<'a> {
    pub policy: &'a Placed,
    mix: TrafficMix,
    pub threads: u32,
    pub working_set: Bytes,
    delay: Span,
}

impl Spread {
    /// From mixes, threads, working sets and delays, as they were read.
    pub(super) fn new(lists: [Vec<Said<Value>>; 4], policies: Vec<Placed>) -> Self {
        let [mixes, threads, working_sets, delays] = lists;
        fn all<T>(list: &[Said<Value>], of: impl Fn(Value) -> Option<T>) -> Vec<T> {
            list.iter()
                .map(|said| of(said.value).expect("lists are declared as what they are read as"))
                .collect()
        }
        Self {
            policies,
            mixes: all(&mixes, mix),
            threads: all(&threads, |value| match value {
                Value::Count(count) => u32::try_from(count).ok(),
                _ => None,
            }),
            working_sets: all(&working_sets, |v| if let Value::Size(size) = v { Some(size) } else { None }),
            delays: all(&delays, |value| if let Value::Time(time) = value { Some(time) } else { None }),
        }
    }

    pub(super) fn count(&self) -> usize {
        let lengths = [
            self.policies.len(),
            self.mixes.len(),
            self.threads.len(),
            self.working_sets.len(),
            self.delays.len(),
        ];
        lengths.into_iter().fold(1, usize::saturating_mul)
    }

    pub(super) fn points(&self) -> Vec<Point<'_>> {
        let mut points = Vec::new();
        for policy in &self.policies {
            for &mix in &self.mixes {
                for &threads in &self.threads {
                    for &working_set in &self.working_sets {
                        let point = |&delay| Point { policy, mix, threads, working_set, delay };
                        points.extend(self.delays.iter().map(point));
                    }
                }
            }
        }
        points
    }

    /// The label of a point: the values that vary, or the working set if none does: `dram 3 : exp 1, 2r1w, 4 GiB`.
    pub(super) fn label(&self, point: &Point<'_>) -> String {
        let words = self.varied(point, None);
        if words.is_empty() { quantity::label(Value::Size(point.working_set)) } else { words.join(", ") }
    }

    /// The label of the same point on the first placement; `None` if it is on the first placement.
    pub(super) fn against(&self, point: &Point<'_>) -> Option<String> {
        let first = self.policies.first()?;
        let is_first = std::ptr::eq(first, point.policy);
        (!is_first).then(|| self.label(&Point { policy: first, ..*point }))
    }

    /// The values that vary at a point, except those of one list.
    fn varied(&self, point: &Point<'_>, but: Option<List>) -> Vec<String> {
        let words = [
            (List::Policies, self.policies.len(), point.policy.label.clone()),
            (List::Mixes, self.mixes.len(), word(point.mix)),
            (List::Threads, self.threads.len(), format!("{} threads", point.threads)),
            (List::WorkingSets, self.working_sets.len(), quantity::label(Value::Size(point.working_set))),
            (List::Delays, self.delays.len(), paced(point.delay)),
        ];
        let shown = words.into_iter().filter(|(list, n, _)| *n > 1 && Some(*list) != but);
        shown.map(|(.., word)| word).collect()
    }

    /// The axis: one of the lists with several numbers. The other lists with several values make a family of curves.
    pub(super) fn axis(&self, point: &Point<'_>) -> Option<Axis> {
        let (list, name, value, unit) = if self.delays.len() > 1 {
            (List::Delays, "delay", point.delay.as_ps() as f64 / PS_PER_NS, "ns")
        } else if self.working_sets.len() > 1 {
            (List::WorkingSets, "working set", point.working_set.0 as f64, "B")
        } else if self.threads.len() > 1 {
            (List::Threads, "threads", f64::from(point.threads), "")
        } else {
            return None;
        };
        Some(Axis { name, value, unit, curve: self.varied(point, Some(list)).join(", ") })
    }
}

/// The lists that may have several values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Policies,
    Mixes,
    Threads,
    WorkingSets,
    Delays,
}

impl Point<'_> {
    pub(super) fn program(&self, pattern: Pattern) -> MemoryProgram {
        let working_set = self.working_set;
        match pattern {
            Pattern::Chase(order) => MemoryProgram::Chase { working_set, order },
            Pattern::Traffic(order, chaser) => MemoryProgram::Traffic(TrafficCase {
                mix: self.mix,
                order,
                threads: self.threads,
                working_set,
                delay: self.delay,
                chaser,
            }),
        }
    }
}

/// The mixes that have a name.
const WORDS: [(&str, TrafficMix); 5] = [
    ("all-reads", TrafficMix::AllReads),
    ("3r1w", TrafficMix::R3W1),
    ("2r1w", TrafficMix::R2W1),
    ("1r1w", TrafficMix::R1W1),
    ("streaming-writes", TrafficMix::StreamingWrites),
];

fn mix(value: Value) -> Option<TrafficMix> {
    match value {
        Value::Choice(word) => WORDS.into_iter().find(|(known, _)| *known == word).map(|(_, mix)| mix),
        Value::Ratio(reads) => ReadShare::new(reads).map(TrafficMix::Share),
        _ => None,
    }
}

fn word(mix: TrafficMix) -> String {
    if let TrafficMix::Share(share) = mix {
        return format!("{} % reads", share.reads() * 100.0);
    }
    WORDS.into_iter().find(|(_, known)| *known == mix).map_or_else(String::new, |(word, _)| word.to_owned())
}

/// The label for the delay between accesses of a thread.
fn paced(delay: Span) -> String {
    if delay == Span::ZERO {
        return "no delay".to_owned();
    }
    format!("every {}", quantity::label(Value::Time(delay)))
}
