//! What the assumed and calibrated numbers of host, module and drive do to the predictions.
//!
//! The time of the endpoint is calibrated anew with each to the median, and the time between look-ups to the 2:1 cell
//! of each mix, by one line of arithmetic each: what the median has moved by is taken off, a time is longer by as much
//! as the bandwidth is too high. Lines outstanding in a core are not calibrated anew; they are moved themselves. A
//! calibrated number that is itself moved stays where it was moved to.

use super::experiments::{
    INTERVALS, MIXES_BAR_PCT, PEAK_BAR_PCT, READS_BAR_PCT, SETTLED, TAIL_BAR_PCT, WALKED, WALKER_LLC_KIB,
    cell_of_table, large, latency, peak,
};
use super::machine::{Case, Shown};
use super::table::{MIXES, ratios};
use crate::claim::FreeParameter;
use crate::sensitivity::{self, Asked, Chosen, Effort, Kinds, Number, Predict};
use lanetwin_stats::results::Digest;

/// Half and half of what is left when host, link, look-up and DRAM are taken off the median.
const ENDPOINT: [&str; 2] = ["controller.endpoint.ingress", "controller.endpoint.egress"];
const INTERVAL: &str = "controller.lookup.interval";
const WORKING_SET: &str = "working set of the latency";

/// What the cases set, and nobody confirms. That of the mixes is moved in all of them at once.
const CHOSEN: [Chosen; 1] = [Chosen {
    component: "host",
    name: "core.misses",
    calibrated_to: Some("161 GB/s of DRAM alone, all reads"),
}];

/// What a predicted row is, of the results of its case.
type Of = fn(&Shown) -> f64;

/// A predicted row: its case, the kind of its run, what of it is meant, the bar \[%\], and the mix if its look-ups are
/// calibrated.
struct Row {
    case: Case,
    kind: usize,
    of: Of,
    bar: f64,
    mix: Option<usize>,
}

/// The rows that are analysed, in the order of the claim: of the table every second cell that is predicted, so that
/// each mix and each ratio is seen. The plateau has no bar of its own; it is held to that of the last permille.
fn rows() -> Vec<Row> {
    let bandwidth: Of = |shown| shown.of_all("throughput");
    let row = |case, kind, of, bar, mix| Row { case, kind, of, bar, mix };
    let mut all = vec![
        row(peak(), PEAK, bandwidth, PEAK_BAR_PCT, None),
        row(latency(WALKED), CHASE, |shown| shown.percentile(99.9), TAIL_BAR_PCT, None),
        row(large(), LARGE, bandwidth, TAIL_BAR_PCT, None),
    ];
    let ratios = ratios();
    for mix in 0..MIXES.len() {
        let bar = if mix == 0 { READS_BAR_PCT } else { MIXES_BAR_PCT };
        for ratio in
            ratios.iter().enumerate().filter(|(row, _)| is_analysed(mix, *row)).map(|(_, ratio)| ratio)
        {
            let case = cell_of_table(ratio, mix);
            let (kind, fitted) = if mix == 0 { (READS, None) } else { (MIXED, Some(mix)) };
            all.push(row(case, kind, bandwidth, bar, fitted));
        }
    }
    all
}

/// Whether a cell of the table is analysed. DRAM alone is given, and the 2:1 cell of a mix with writes calibrates its
/// look-ups.
pub(super) fn is_analysed(mix: usize, row: usize) -> bool {
    let is_predicted = row > usize::from(mix > 0);
    is_predicted && (mix + row) % 2 == 1
}

/// Which of the predicted rows of the claim are analysed.
pub(super) fn were_analysed() -> Vec<bool> {
    let of_table = (0..MIXES.len())
        .flat_map(|mix| (1 + usize::from(mix > 0)..ratios().len()).map(move |row| is_analysed(mix, row)));
    [true; 3].into_iter().chain(of_table).collect()
}

/// Kinds of runs: cells of the table differ in weights alone, and those of mixes in how much is written.
const CHASE: usize = 0;
const PEAK: usize = 1;
const LARGE: usize = 2;
const READS: usize = 3;
const MIXED: usize = 4;
const KINDS: usize = 5;

/// How much smaller caches and working set of a latency are than those of the claim.
#[derive(Clone, Copy)]
struct Walked {
    times_smaller: u64,
    loads: u64,
}

/// Of a trace.
const TRACED: Walked = Walked { times_smaller: 16, loads: 3_000 };

const fn walked(effort: Effort) -> Walked {
    match effort {
        Effort::Full => Walked { times_smaller: 16, loads: 24_000 },
        Effort::Long => Walked { times_smaller: 4, loads: 96_000 },
    }
}

/// Lines of a case whose threads stream.
const fn lines(kind: usize, effort: Effort) -> u64 {
    match (kind, effort) {
        (LARGE, Effort::Full) => 12_000,
        (LARGE, Effort::Long) => 60_000,
        (_, Effort::Full) => 40_000,
        (_, Effort::Long) => 160_000,
    }
}
/// Of a trace: some refreshes of every rank, and some pages of every thread of the large set.
const TRACED_LINES: u64 = 6_000;

/// Of streams: a part of the lines comes before any is counted, so that threads are where they would be in a long run.
const WARM_UP_PART: u64 = 2;

/// What a latency comes to with changes; none if they make no machine.
fn walk(sets: &[String], Walked { times_smaller, loads }: Walked) -> Option<Shown> {
    let working_set = sensitivity::of_claim(sets, WORKING_SET).unwrap_or(WALKED);
    let mib: u64 = working_set.trim_end_matches("MiB").parse().expect("our own sizes are in MiB");
    let mut case = latency(&format!("{}MiB", mib / times_smaller));
    case.set.extend(sensitivity::of_plan(sets));
    let case = case
        .with(format!("machine.host.llc.size={}KiB", WALKER_LLC_KIB / times_smaller))
        .with(format!("run.warm-up={}", SETTLED / times_smaller))
        .with(format!("workloads.load.memory.lines={loads}"));
    Some(Shown::of(&case.checked()?))
}

/// What threads that stream come to with changes; none if they make no machine.
fn stream(case: &Case, sets: &[String], lines: u64) -> Option<Shown> {
    let mut case = case.clone();
    // a case that sets a number has its own word for it, unless it is moved
    case.set.extend(sensitivity::of_plan(sets));
    let case = case
        .with(format!("workloads.load.memory.lines={lines}"))
        .with(format!("run.warm-up={}", lines / WARM_UP_PART));
    Some(Shown::of(&case.checked()?))
}

/// What is calibrated comes to without any change: the median, and the 2:1 cell of each mix.
#[derive(Clone, Copy)]
struct Targets {
    median: f64,
    cells: [f64; 3],
}

fn cell_of_mix(mix: usize) -> Case {
    let ratios = ratios();
    cell_of_table(&ratios[1], mix)
}

/// Without a change what is calibrated is as it is: the targets of an effort are what the claim comes to at it.
fn targets(effort: Effort) -> Targets {
    let known = "what is as it is can be run";
    let median = walk(&[], walked(effort)).expect(known).percentile(50.0);
    let cell = |mix| stream(&cell_of_mix(mix), &[], lines(MIXED, effort)).expect(known).of_all("throughput");
    Targets { median, cells: [1, 2, 3].map(cell) }
}

/// The settings of the endpoint calibrated anew: none of them if the median has not moved. None at all if there is no
/// machine.
fn endpoint(sets: &[String], effort: Effort, targets: Targets) -> Option<Vec<String>> {
    let off = walk(sets, walked(effort))?.percentile(50.0) - targets.median;
    if off == 0.0 {
        return Some(Vec::new());
    }
    let plan = latency(WALKED).plan();
    let is_controller = |component: &&lanetwin_plan::ComponentPlan| component.name == "cmmh.controller";
    let controller = plan.variants[0].machine.iter().find(is_controller)?;
    let anew = |name: &&str| {
        let own = name.strip_prefix("controller.").expect("a number of the controller");
        let ps = controller.params.time(own).as_ps() as f64 - off * 1e3 / 2.0;
        format!("machine.cmmh.{name}={}ps", ps.max(0.0).round() as u64)
    };
    Some(ENDPOINT.iter().map(anew).collect())
}

/// The time between look-ups of a mix, calibrated anew \[ps\]; none if the machine is none.
fn interval(mix: usize, sets: &[String], effort: Effort, targets: Targets) -> Option<String> {
    let got = stream(&cell_of_mix(mix), sets, lines(MIXED, effort))?.of_all("throughput");
    let ps = INTERVALS[mix - 1] as f64 * got / targets.cells[mix - 1];
    Some(format!("machine.cmmh.{INTERVAL}={}ps", ps.round().max(1.0) as u64))
}

/// The rows, and what is calibrated with each number.
pub(super) struct Predictor {
    rows: Vec<Row>,
    /// By effort.
    targets: [Targets; 2],
}

impl Predictor {
    pub(super) fn new() -> Self {
        Self { rows: rows(), targets: [Effort::Full, Effort::Long].map(targets) }
    }
    pub(super) fn bars(&self) -> Vec<f64> {
        self.rows.iter().map(|row| row.bar).collect()
    }
}

impl Predict for Predictor {
    fn kinds(&self) -> usize {
        KINDS
    }

    fn trace(&self, sets: &[String], kind: usize) -> Option<Digest> {
        let ratio = ratios()[1];
        let case = match kind {
            CHASE => return walk(sets, TRACED).map(|shown| shown.digest),
            PEAK => peak(),
            LARGE => large(),
            READS => cell_of_table(&ratio, 0),
            _ => cell_of_table(&ratio, MIXES.len() - 1),
        };
        stream(&case, sets, TRACED_LINES).map(|shown| shown.digest)
    }

    fn rows(&self, asked: &Asked<'_>) -> Option<Vec<Option<f64>>> {
        let Asked { sets, effort, touched, wanted } = *asked;
        let targets = self.targets[effort as usize];
        let sets_one_of = |names: &[&str]| sets.iter().any(|set| names.iter().any(|name| set.contains(name)));
        let mut all = sets.to_vec();
        let mut acts_on = touched;
        if !asked.is_as_it_is() && touched.has(CHASE) && !sets_one_of(&ENDPOINT) {
            let anew = endpoint(sets, effort, targets)?;
            if !anew.is_empty() {
                acts_on = Kinds::first(KINDS);
            }
            all.extend(anew);
        }
        let is_mix_fitted = !asked.is_as_it_is() && !sets_one_of(&[INTERVAL]);
        let mut intervals: [Option<String>; 3] = Default::default();
        let mut found = Vec::new();
        for (row, wanted) in self.rows.iter().zip(wanted) {
            if !wanted || !acts_on.has(row.kind) {
                found.push(None);
                continue;
            }
            let mut sets = all.clone();
            if is_mix_fitted && let Some(mix) = row.mix {
                if intervals[mix - 1].is_none() {
                    intervals[mix - 1] = Some(interval(mix, &all, effort, targets)?);
                }
                sets.extend(intervals[mix - 1].clone());
            }
            let shown = match row.kind {
                CHASE => walk(&sets, walked(effort))?,
                kind => stream(&row.case, &sets, lines(kind, effort))?,
            };
            found.push(Some((row.of)(&shown)));
        }
        Some(found)
    }
}

/// Every assumed and calibrated number.
pub(super) fn numbers() -> Vec<Number> {
    let of_plan = sensitivity::numbers_and(&cell_of_table(&ratios()[1], 0).plan(), &[], &CHOSEN);
    let what = FreeParameter {
        part: "host of the white paper".into(),
        name: WORKING_SET.into(),
        value: WALKED.into(),
        calibrated_to: Some("the mean latency, 553 ns".into()),
    };
    of_plan.into_iter().chain([Number::of_claim(what, ["240MiB", "960MiB"])]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_weighed_are_predicted_ones() {
        let (rows, were) = (rows(), were_analysed());
        assert_eq!(were.len(), 3 + 4 + 3 * 3, "the predicted rows of the claim");
        assert_eq!(were.iter().filter(|was| **was).count(), rows.len());
        for mix in 0..MIXES.len() {
            assert!((0..5).any(|row| is_analysed(mix, row)), "every mix is analysed");
        }
        rows.iter().for_each(|row| assert!(row.case.checked().is_some()));
        assert!(numbers().iter().any(|number| number.name() == "core.misses"));
    }
}
