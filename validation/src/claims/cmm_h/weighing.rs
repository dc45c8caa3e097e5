//! What the assumed and calibrated numbers of host, module and drive do to the predictions.
//!
//! The time of the endpoint is calibrated anew with each to the median, and the time between look-ups to the 2:1 cell of each mix, by one line of arithmetic
//! each: what the median has moved by is taken off, a time is longer by as much as the bandwidth is too high. Lines outstanding in a core are not calibrated
//! anew; they are moved themselves. A calibrated number that is itself moved stays where it was moved to.

use super::machine::{Case, Shown};
use super::table::{MIXES, ratios};
use super::{
    INTERVALS, MIXES_BAR_PCT, PEAK_BAR_PCT, READS_BAR_PCT, TAIL_BAR_PCT, WALKED, cell_of_table, large,
    latency, peak,
};
use crate::report::FreeParameter;
use crate::sensitivity::{self, Chosen, Effort, Number, Seen, Weighed};

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

/// A predicted row: its case, what of it is meant, the bar \[%\], and the mix if its look-ups are calibrated.
struct Row {
    case: Case,
    of: Of,
    bar: f64,
    mix: Option<usize>,
}

/// The rows that are weighed, in the order of the claim: of the table every second cell that is predicted, so that each mix and each ratio is seen. The plateau has no bar of its own; it is held to that of the last permille.
fn rows() -> Vec<Row> {
    let bandwidth: Of = |shown| shown.of_all("throughput");
    let row = |case, of, bar, mix| Row { case, of, bar, mix };
    let mut all = vec![
        row(peak(), bandwidth, PEAK_BAR_PCT, None),
        row(latency(WALKED), |shown| shown.percentile(99.9), TAIL_BAR_PCT, None),
        row(large(), bandwidth, TAIL_BAR_PCT, None),
    ];
    let ratios = ratios();
    for mix in 0..MIXES.len() {
        let bar = if mix == 0 { READS_BAR_PCT } else { MIXES_BAR_PCT };
        for ratio in
            ratios.iter().enumerate().filter(|(row, _)| is_weighed(mix, *row)).map(|(_, ratio)| ratio)
        {
            let case = cell_of_table(ratio, mix);
            all.push(row(case, bandwidth, bar, (mix > 0).then_some(mix)));
        }
    }
    all
}

/// Whether a cell of the table is weighed. DRAM alone is given, and the 2:1 cell of a mix with writes calibrates its look-ups.
pub(super) fn is_weighed(mix: usize, row: usize) -> bool {
    let is_predicted = row > usize::from(mix > 0);
    is_predicted && (mix + row) % 2 == 1
}

/// Which of the predicted rows of the claim are weighed.
pub(super) fn were_weighed() -> Vec<bool> {
    let of_table = (0..MIXES.len())
        .flat_map(|mix| (1 + usize::from(mix > 0)..ratios().len()).map(move |row| is_weighed(mix, row)));
    [true; 3].into_iter().chain(of_table).collect()
}

/// The lines of a case, in hundredths of what the claim has.
fn shorter(case: Case, effort: Effort, hundredths: (u64, u64, u64)) -> Case {
    let (short, full, long) = hundredths;
    let lines = match effort {
        Effort::Short => short,
        Effort::Full => full,
        Effort::Long => long,
    };
    case.with(format!("workloads.load.memory.lines={}", lines * super::LINES / 100))
}

/// A case with changes; none if they make no machine.
fn run(case: &Case, sets: &[String], effort: Effort) -> Option<Shown> {
    let mut case = case.clone();
    let is_chase = case.memory.contains("chase");
    // a case that sets a number has its own word for it, unless it is moved
    case.set.extend(sensitivity::of_plan(sets));
    if is_chase && let Some(bytes) = sensitivity::of_claim(sets, WORKING_SET) {
        case = case.with(format!("workloads.load.memory.working-set={bytes}"));
    }
    let hundredths = if is_chase { (1, 60, 120) } else { (1, 20, 60) };
    let plan = shorter(case, effort, hundredths).checked()?;
    Some(Shown::of(&plan))
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
    let median = run(&latency(WALKED), &[], effort).expect(known).percentile(50.0);
    let cells = [1, 2, 3].map(|mix| run(&cell_of_mix(mix), &[], effort).expect(known).of_all("throughput"));
    Targets { median, cells }
}

/// The settings with the endpoint calibrated anew; none if they make no machine.
fn calibrated(sets: &[String], effort: Effort, targets: Targets) -> Option<Vec<String>> {
    let mut all = sets.to_vec();
    if sets.iter().any(|set| ENDPOINT.iter().any(|name| set.contains(name))) {
        return Some(all);
    }
    let off = run(&latency(WALKED), sets, effort)?.percentile(50.0) - targets.median;
    let plan = latency(WALKED).plan();
    let is_controller = |component: &&lanetwin_scenario::ComponentPlan| component.name == "cmmh.controller";
    let controller = plan.variants[0].machine.iter().find(is_controller)?;
    for name in ENDPOINT {
        let own = name.strip_prefix("controller.").expect("a number of the controller");
        let ps = controller.params.time(own).as_ps() as f64 - off * 1e3 / 2.0;
        all.push(format!("machine.cmmh.{name}={}ps", ps.max(0.0).round() as u64));
    }
    Some(all)
}

/// The time between look-ups of a mix, calibrated anew \[ps\]; none if it is moved itself, or the machine is none.
fn interval(mix: usize, sets: &[String], effort: Effort, targets: Targets) -> Option<String> {
    let got = run(&cell_of_mix(mix), sets, effort)?.of_all("throughput");
    let ps = INTERVALS[mix - 1] as f64 * got / targets.cells[mix - 1];
    Some(format!("machine.cmmh.{INTERVAL}={}ps", ps.round().max(1.0) as u64))
}

/// What the predicted rows come to with something moved.
fn moved(rows: &[Row], sets: &[String], effort: Effort, targets: [Targets; 2]) -> Option<Vec<Seen>> {
    let seen = |row: &Row, shown: &Shown| Seen { value: (row.of)(shown), digest: shown.digest };
    // only the events matter: a calibration moves none that was not moved
    if effort == Effort::Short {
        // one case of each kind: cells of the table differ in weights alone
        let kinds = [&rows[0], &rows[1], &rows[2], &rows[3], &rows[rows.len() - 1]];
        return kinds.iter().map(|row| run(&row.case, sets, effort).map(|shown| seen(row, &shown))).collect();
    }
    let targets = targets[usize::from(effort == Effort::Long)];
    if sets.iter().all(|set| set.starts_with("run.")) {
        return rows.iter().map(|row| run(&row.case, sets, effort).map(|shown| seen(row, &shown))).collect();
    }
    let of_all = calibrated(sets, effort, targets)?;
    let is_moved = sets.iter().any(|set| set.contains(INTERVAL));
    let mut intervals = [None, None, None];
    if !is_moved {
        for mix in 1..MIXES.len() {
            intervals[mix - 1] = Some(interval(mix, &of_all, effort, targets)?);
        }
    }
    let one = |row: &Row| {
        let mut sets = of_all.clone();
        sets.extend(row.mix.and_then(|mix| intervals[mix - 1].clone()));
        run(&row.case, &sets, effort).map(|shown| seen(row, &shown))
    };
    rows.iter().map(one).collect()
}

fn numbers() -> Vec<Number> {
    let of_plan = sensitivity::numbers_and(&cell_of_table(&ratios()[1], 0).plan(), &[], &CHOSEN);
    let what = FreeParameter {
        part: "host of the white paper".into(),
        name: WORKING_SET.into(),
        value: WALKED.into(),
        calibrated_to: Some("the mean latency, 553 ns".into()),
    };
    of_plan.into_iter().chain([Number::of_claim(what, ["240MiB", "960MiB"])]).collect()
}

/// What every assumed and calibrated number does.
pub(super) fn weigh() -> Weighed {
    let rows = rows();
    let bars: Vec<f64> = rows.iter().map(|row| row.bar).collect();
    let targets = [targets(Effort::Full), targets(Effort::Long)];
    sensitivity::weigh(numbers(), &bars, &|sets, effort| moved(&rows, sets, effort, targets))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_weighed_are_predicted_ones() {
        let (rows, were) = (rows(), were_weighed());
        assert_eq!(were.len(), 3 + 4 + 3 * 3, "the predicted rows of the claim");
        assert_eq!(were.iter().filter(|was| **was).count(), rows.len());
        for mix in 0..MIXES.len() {
            assert!((0..5).any(|row| is_weighed(mix, row)), "every mix is weighed");
        }
        rows.iter().for_each(|row| assert!(row.case.checked().is_some()));
        assert!(numbers().iter().any(|number| number.name() == "core.misses"));
    }
}
