//! Metrics of a memory load: of all nodes together, then of each.

use super::MemoryUse;
use crate::batch::{Batch, across, mean_latencies};
use crate::measure::{Measured, parts};
use crate::metric::Metric;
use lanetwin_models::roles::memory::{Advised, MemoryResults, NodeTraffic};
use lanetwin_stats::Histogram;
use lanetwin_units::Better;

const PERCENTILES: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];
const PS_PER_NS: f64 = 1e3;
const PS_PER_US: f64 = 1e6;
const PS_PER_SECOND: f64 = 1e12;
const GB: f64 = 1e9;

type HintCount = fn(&Advised) -> u64;
type TrafficCount = fn(&NodeTraffic) -> u64;
const READ: TrafficCount = |node| node.lines_read;
const WRITTEN: TrafficCount = |node| node.lines_written;
const BOTH: TrafficCount = |node| node.lines_read + node.lines_written;

/// Metrics of a load, each with its subject: a node, the host, or `None` for all together.
pub(crate) fn metrics(repeats: &[Measured]) -> Vec<(Option<String>, Metric)> {
    told(repeats, &parts(repeats))
}

/// Metrics of the programs beside a load, each with its subject: a node, or the host.
pub(crate) fn beside(repeats: &[Measured]) -> Vec<(String, Metric)> {
    let Some(host) = repeats[0].memory.as_ref().map(|memory| memory.host.clone()) else { return Vec::new() };
    // the parts of the load's measurement do not apply to these programs
    let all = told(repeats, &[]).into_iter();
    let named = |metric: Metric| Metric { name: format!("program {}", metric.name).into(), ..metric };
    all.map(|(of, metric)| (of.unwrap_or_else(|| host.clone()), named(metric))).collect()
}

/// Metrics of hints: their numbers, and the answers.
const HINTS: [(&str, HintCount); 6] = [
    ("pages announced", |told| told.announced),
    ("announced pages accepted", |told| told.accepted),
    ("pages dismissed", |told| told.dismissed),
    ("dismissed pages that left", |told| told.leaving),
    ("pages asked for", |told| told.asked),
    ("pages whose temperature was asked", |told| told.felt),
];

/// Answers to a program that queries the device about its pages, for each page queried. They come first, since they
/// are what the program measures.
fn answers(uses: &[&MemoryUse]) -> Vec<Metric> {
    let ratio = |name: &'static str, unit, times: f64, [part, whole]: [HintCount; 2]| {
        let samples: Option<Vec<f64>> = uses
            .iter()
            .map(|u| {
                (whole(&u.advised) > 0).then(|| times * part(&u.advised) as f64 / whole(&u.advised) as f64)
            })
            .collect();
        samples.map(|samples| Metric::new(name, unit, Better::Neither, samples))
    };
    let cached =
        ratio("pages asked for that are cached", "%", 100.0, [|told| told.cached, |told| told.asked]);
    let warm = ratio("temperature of a page asked for", "", 1.0, [|told| told.heat, |told| told.felt]);
    cached.into_iter().chain(warm).collect()
}

fn told(repeats: &[Measured], parts: &[&[Batch]]) -> Vec<(Option<String>, Metric)> {
    let uses: Vec<&MemoryUse> = repeats.iter().filter_map(|measured| measured.memory.as_ref()).collect();
    let Some(first) = uses.first() else { return Vec::new() };
    let mut list: Vec<(Option<String>, Metric)> = Vec::new();
    let rate = |name: &'static str, node: Option<usize>, of: TrafficCount| {
        Metric::new(name, "GB/s", Better::Higher, uses.iter().map(|u| u.rate(node, of)).collect())
    };
    let has = |node: Option<usize>, of: TrafficCount| uses.iter().any(|u| u.rate(node, of) > 0.0);
    let is_mixed = |node| has(node, READ) && has(node, WRITTEN);
    list.extend(answers(&uses).into_iter().map(|metric| (None, metric)));
    let ended: Option<Vec<f64>> = uses.iter().map(|u| Some(u.ended?.as_ps() as f64 / PS_PER_US)).collect();
    list.extend(ended.map(|samples| (None, Metric::new("program time", "us", Better::Lower, samples))));
    let moved = |batch: &Batch| {
        let bytes = batch.tally.reads.bytes + batch.tally.writes.bytes;
        Some(bytes as f64 * PS_PER_SECOND / batch.elapsed.as_ps() as f64 / GB)
    };
    list.push((None, rate("throughput", None, BOTH).with_batches(across(parts, moved))));
    if is_mixed(None) {
        list.push((None, rate("reads", None, READ).restating()));
        list.push((None, rate("writes", None, WRITTEN).restating()));
    }
    let loads = |of: &dyn Fn(&MemoryResults) -> Option<Histogram>| -> Vec<Histogram> {
        uses.iter().filter_map(|u| of(u.told()?)).collect()
    };
    let within = mean_latencies(parts, |tally| &tally.reads);
    let all = latency("latency", &loads(&|p| Some(p.loads.clone())), within);
    list.extend(all.map(|metric| (None, metric)));
    list.extend(operations(&uses).into_iter().map(|metric| (None, metric)));
    if first.nodes.len() > 1 {
        for (node, name) in first.nodes.iter().enumerate().filter(|(node, _)| has(Some(*node), BOTH)) {
            let mut add = |metric| list.push((Some(name.clone()), metric));
            add(rate("throughput", Some(node), BOTH));
            if is_mixed(Some(node)) {
                add(rate("read throughput", Some(node), READ));
                add(rate("write throughput", Some(node), WRITTEN));
            }
            let own = loads(&|p| p.nodes.get(node).map(|traffic| traffic.loads.clone()));
            latency("latency", &own, Vec::new()).into_iter().for_each(add);
        }
    }
    let cached = |u: &&MemoryUse| {
        let found = u.found();
        let all = found.all();
        if all == 0 { 0.0 } else { 100.0 * (found.l1 + found.l2 + found.llc) as f64 / all as f64 }
    };
    let served = Metric::new("found in caches", "%", Better::Higher, uses.iter().map(cached).collect());
    list.push((Some(first.host.clone()), served));
    for (name, of) in HINTS {
        if uses.iter().any(|u| of(&u.advised) > 0) {
            let samples = uses.iter().map(|u| of(&u.advised) as f64).collect();
            list.push((Some(first.host.clone()), Metric::new(name, "", Better::Neither, samples)));
        }
    }
    list
}

/// Rate and latency of the program's operations; empty if it has none.
fn operations(uses: &[&MemoryUse]) -> Vec<Metric> {
    let told: Vec<&MemoryResults> = uses.iter().filter_map(|u| u.programs.first()).collect();
    let histograms: Vec<Histogram> = told.iter().map(|program| program.operations.clone()).collect();
    let Some(latency) = latency("operation latency", &histograms, Vec::new()) else { return Vec::new() };
    let a_second = |u: &&MemoryUse| {
        let ps = u.elapsed().as_ps();
        let done: u64 = u.programs.first().map_or(0, |program| program.operations.count());
        if ps == 0 { 0.0 } else { done as f64 * PS_PER_SECOND / ps as f64 / 1e3 }
    };
    let all = Metric::new("operations", "k/s", Better::Higher, uses.iter().map(a_second).collect());
    let mut list = vec![all, latency];
    list.extend(gets_and_sets(&told));
    list
}

/// Latencies of the GETs and of the SETs of a store, if it has both.
fn gets_and_sets(told: &[&MemoryResults]) -> Vec<Metric> {
    if told.iter().any(|program| program.sets.is_empty() || program.gets.is_empty()) {
        return Vec::new();
    }
    let of =
        |kind: fn(&MemoryResults) -> &Histogram| told.iter().map(|program| kind(program).clone()).collect();
    let (gets, sets): (Vec<Histogram>, Vec<Histogram>) = (of(|one| &one.gets), of(|one| &one.sets));
    [("GET latency", gets), ("SET latency", sets)]
        .into_iter()
        .filter_map(|(name, own)| latency(name, &own, Vec::new()))
        .collect()
}

/// Mean of each repeat and of its parts, and percentiles over all repeats. Returns `None` without values.
fn latency(name: &'static str, repeats: &[Histogram], within: Vec<f64>) -> Option<Metric> {
    if repeats.iter().all(Histogram::is_empty) {
        return None;
    }
    let samples = repeats.iter().map(|one| one.mean_ps().unwrap_or(0.0) / PS_PER_NS).collect();
    let metric = Metric::new(name, "ns", Better::Lower, samples).with_batches(within);
    Some(metric.with_percentiles(&repeats.iter().collect::<Vec<_>>(), &PERCENTILES, &[]))
}
