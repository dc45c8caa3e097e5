//! `pcie-bench`: what a DMA card gets out of a slot, on two hosts, as measured and published.
//!
//! ```text
//!   published sizes ──► scenario of each host ──► plan, from parts/ ──► world ──► rates and latencies ─┐
//!   published values ─────────────────────────────────────────────────────────────────────────────────┴─► errors
//! ```
//!
//! The scenario is one that a user could write; everything about the card and the hosts is in `parts/`, where the
//! numbers that were fitted say to which cell. Those cells ([`CALIBRATION`], all of them of one host) are not
//! predicted; all others are, and nothing of them enters a prediction: scenarios are made from sizes alone. Nothing
//! tells the two hosts apart in these experiments, so that both have the same predictions.

mod baseline;
mod table;
#[cfg(test)]
mod tests;

use crate::accuracy::{error_pct, mape};
use crate::claim::{Cell, Claim, Outcome};
use crate::claim::{FreeParameter, Role};
use crate::experiment::{catalogue, free_parameters, results};
use crate::watch::Watch;
use lanetwin_plan::{Plan, check};
use lanetwin_stats::results::{Digest, Row};
use lanetwin_world::Options;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use table::{Key, Published, Quantity, System};

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "pcie-bench",
    about: "DMA read, write and mixed throughput and DMA read latency by size, of one card in two hosts.",
    cpu_seconds: 2,
    bar: "each host and direction below its closed form, link only and capped, over the sizes above 64 B; \
          latency of each host below 8 %; at most six calibrated numbers",
    run,
};

const SOURCE: &str =
    "pcie-bench (Neugebauer et al., SIGCOMM 2018), github.com/pcie-bench/data commit b2abf2f";
const LATENCY_BAR_PCT: f64 = 8.0;
const CALIBRATED_MOST: usize = 6;
/// The sizes that the baseline is quoted for are above this \[B\]: its cap is calibrated here.
const CAP_SIZE: u32 = 64;

/// The cells that parameters were fitted to; `to:` in `parts/nfp-6000.yaml` says which to which.
const CALIBRATION: [Key; 7] = {
    const fn cell(quantity: Quantity, size: u32) -> Key {
        Key { system: System::Broadwell, quantity, size }
    }
    [
        cell(Quantity::Write, 64),
        cell(Quantity::Write, 192),
        cell(Quantity::Write, 2048),
        cell(Quantity::Read, 2048),
        cell(Quantity::Mixed, 512),
        cell(Quantity::LatencyMean, 64),
        cell(Quantity::LatencyMedian, 64),
    ]
};

/// How much is simulated for each cell.
#[derive(Clone, Copy)]
struct Effort {
    /// Transfers that are measured in each repeat.
    transfers: u32,
    /// Repeats with different addresses.
    repeats: u32,
}

const FULL: Effort = Effort { transfers: 4000, repeats: 3 };

/// A prediction.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Predicted {
    value: f64,
    interval: (f64, f64),
    digest: Digest,
}

/// The scenario of one workload on one host. It knows which sizes were measured, and none of the values.
fn scenario(system: System, workload: &str, sizes: &BTreeSet<u32>, effort: Effort) -> String {
    let Effort { transfers, repeats } = effort;
    let (operation, how) = match workload {
        "latency" => ("read", "pattern: sequential, outstanding: 1"),
        operation => (operation, "pattern: random, outstanding: 64"),
    };
    let sizes: Vec<String> = sizes.iter().map(|size| format!("{size}B")).collect();
    let (host, sizes) = (system.host(), sizes.join(", "));
    format!(
        "about: pcie-bench on {name}, {workload}.\n\
         machine: {{host: {{part: {host}}}, card: {{part: nfp-6000}}}}\n\
         links: {{slot: {{from: host, to: card, gen: 3, width: x8, mps: 256B}}}}\n\
         workloads:\n  \
           {workload}:\n    \
             dma: {{operation: {operation}, size: [{sizes}], window: 8KiB, cache: warm, {how}, transfers: {transfers}}}\n    \
             on: card\n    \
             target: host\n\
         run: {{repeats: {repeats}, seed: 1}}\n",
        name = system.name(),
    )
}

/// The plan of a scenario.
fn plan(text: &str) -> Plan {
    let checked = check(Path::new("pcie-bench.yaml"), text, &[], catalogue());
    let found = checked.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    checked.plan.unwrap_or_else(|| panic!("the scenario of a claim is right:\n{found}\n{text}"))
}

/// Everything that was measured by one workload on one host.
struct Experiment {
    system: System,
    workload: &'static str,
    text: String,
}

fn experiments(keys: &BTreeSet<Key>, effort: Effort) -> Vec<Experiment> {
    let mut sizes: BTreeMap<(System, &'static str), BTreeSet<u32>> = BTreeMap::new();
    for key in keys {
        sizes.entry((key.system, key.quantity.workload())).or_default().insert(key.size);
    }
    let experiment = |((system, workload), sizes): ((System, &'static str), BTreeSet<u32>)| Experiment {
        system,
        workload,
        text: scenario(system, workload, &sizes, effort),
    };
    sizes.into_iter().map(experiment).collect()
}

/// What is predicted for these cells, and with which assumed and calibrated numbers; none if it was stopped.
fn predict(
    keys: &BTreeSet<Key>,
    effort: Effort,
    watch: &mut Watch<'_>,
) -> Option<(BTreeMap<Key, Predicted>, BTreeSet<FreeParameter>)> {
    let (mut values, mut free) = (BTreeMap::new(), BTreeSet::new());
    let experiments = experiments(keys, effort);
    let total = experiments.len();
    for Experiment { system, workload, text } in experiments {
        let plan = plan(&text);
        free.extend(free_parameters(&plan));
        let results = results(&plan, &Options::default());
        let digest = results.digest.expect("a simulation has a digest");
        let measured = keys.iter().filter(|k| k.system == system && k.quantity.workload() == workload);
        values.extend(measured.map(|&key| (key, read_off(&results.rows, key, digest))));
        watch.step(total)?;
    }
    Some((values, free))
}

/// The value of a cell in the rows of its experiment.
fn read_off(rows: &[Row], key: Key, digest: Digest) -> Predicted {
    let of_size = |row: &&Row| row.x.as_ref().is_none_or(|x| x.value == f64::from(key.size));
    let named = |metric: &str| {
        let row = rows.iter().filter(of_size).find(|row| row.metric == metric);
        row.unwrap_or_else(|| panic!("{key:?} was run and has no {metric}"))
    };
    let whole = |row: &Row| (row.value, row.low.unwrap_or(row.value), row.high.unwrap_or(row.value));
    let (value, low, high) = match key.quantity {
        Quantity::Read | Quantity::Write => whole(named("throughput")),
        Quantity::Mixed => {
            let (read, write) = (whole(named("read throughput")), whole(named("write throughput")));
            let mean = f64::midpoint;
            (mean(read.0, write.0), mean(read.1, write.1), mean(read.2, write.2))
        }
        Quantity::LatencyMean => whole(named("latency")),
        Quantity::LatencyMedian => {
            let median = named("latency").percentiles.iter().find(|(percent, _)| *percent == 50.0);
            let median = median.expect("a latency has a median").1;
            (median, median, median)
        }
    };
    Predicted { value, interval: (low, high), digest }
}

/// The cells of the report: what was published beside what is predicted.
fn compare(published: &[Published], predicted: &BTreeMap<Key, Predicted>) -> Vec<(Key, Cell)> {
    let at_cap = |key: Key| {
        let same = |p: &&Published| p.key == Key { size: CAP_SIZE, ..key };
        published.iter().find(same).map(|p| p.value)
    };
    let cell = |&Published { key, value }: &Published| {
        let Predicted { value: prediction, interval, digest } = *predicted.get(&key)?;
        let cell = Cell {
            case: format!("{}, {} B", key.system.name(), key.size),
            quantity: key.quantity.name().into(),
            unit: key.quantity.unit(),
            published: value,
            predicted: prediction,
            interval,
            role: if CALIBRATION.contains(&key) { Role::Calibrated } else { Role::Predicted },
            baseline: at_cap(key).and_then(|at_64| baseline::capped(key.quantity, key.size, at_64)),
            source: SOURCE,
            digest,
        };
        Some((key, cell))
    };
    published.iter().filter_map(cell).collect()
}

/// How one series of cells did: its errors over what is predicted above [`CAP_SIZE`].
struct Score {
    name: String,
    mape: f64,
    /// What it has to stay below.
    bars: Vec<(&'static str, f64)>,
}

impl Score {
    fn is_met(&self) -> bool {
        self.bars.iter().all(|(_, bar)| self.mape < *bar)
    }
    fn told(&self) -> String {
        let bars: Vec<String> = self.bars.iter().map(|(name, bar)| format!("{name} {bar:.1} %")).collect();
        let verdict = if self.is_met() { "" } else { ": missed" };
        format!("{} {:.1} % ({}){verdict}", self.name, self.mape, bars.join(", "))
    }
}

fn scores(cells: &[(Key, Cell)]) -> Vec<Score> {
    let mut scores = Vec::new();
    for system in System::ALL {
        let series = |quantity: Quantity| {
            let of = move |(key, cell): &&(Key, Cell)| {
                (key.system, key.quantity, cell.role) == (system, quantity, Role::Predicted)
            };
            cells.iter().filter(of)
        };
        let error = |cell: &Cell, value: f64| error_pct(value, cell.published);
        for quantity in Quantity::RATES {
            let above = || series(quantity).filter(|(key, _)| key.size > CAP_SIZE);
            let Some(mape_here) = mape(above().map(|(_, c)| error(c, c.predicted))) else { continue };
            let link = above().filter_map(|(k, c)| Some(error(c, baseline::link(quantity, k.size)?)));
            let capped = above().filter_map(|(_, c)| Some(error(c, c.baseline?)));
            let bars = [("link only", mape(link)), ("capped", mape(capped))];
            scores.push(Score {
                name: format!("{}, {}", system.name(), quantity.workload()),
                mape: mape_here,
                bars: bars.into_iter().filter_map(|(name, bar)| Some((name, bar?))).collect(),
            });
        }
        let latencies = Quantity::LATENCIES.into_iter().flat_map(series);
        if let Some(mape) = mape(latencies.map(|(_, c)| error(c, c.predicted))) {
            let bars = vec![("bar", LATENCY_BAR_PCT)];
            scores.push(Score { name: format!("{}, latency", system.name()), mape, bars });
        }
    }
    scores
}

/// Whether the model tells the hosts apart at all: how many predictions there are besides counting measurements.
fn on_distinction(predicted: &BTreeMap<Key, Predicted>) -> &'static str {
    let [one, other] = System::ALL.map(|system| {
        let of = predicted.iter().filter(move |(key, _)| key.system == system);
        of.map(|(key, p)| (key.quantity, key.size, p.value.to_bits())).collect::<Vec<_>>()
    });
    if one == other {
        "Both hosts have the same predictions, each held against two measurements."
    } else {
        "The hosts have predictions of their own."
    }
}

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    outcome(&table::published(), FULL, watch)
}

fn outcome(published: &[Published], effort: Effort, watch: &mut Watch<'_>) -> Option<Outcome> {
    let keys = published.iter().map(|published| published.key).collect();
    let (predicted, free) = predict(&keys, effort, watch)?;
    let cells = compare(published, &predicted);
    let scores = scores(&cells);
    let calibrated = free.iter().filter(|parameter| parameter.calibrated_to.is_some()).count();
    let told: Vec<String> = scores.iter().map(Score::told).collect();
    let text = format!(
        "Mean absolute errors of what is predicted: {}. {calibrated} calibrated numbers, {} assumed. {}",
        told.join("; "),
        free.len() - calibrated,
        on_distinction(&predicted),
    );
    Some(Outcome {
        cells: cells.into_iter().map(|(_, cell)| cell).collect(),
        met: calibrated <= CALIBRATED_MOST && scores.iter().all(Score::is_met),
        free_parameters: free.into_iter().collect(),
        text,
        effects: Vec::new(),
    })
}
