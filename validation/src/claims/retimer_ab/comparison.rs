//! What was simulated with and without retimers, held against what was published and what arithmetic expects.

use super::table::Published;
use crate::claim::{Cell, Outcome};
use crate::claim::{FreeParameter, Role};
use crate::experiment::{free_parameters, results};
use lanetwin_plan::Plan;
use lanetwin_stats::Verdict;
use lanetwin_stats::results::{Results, Row, VerdictRow};
use lanetwin_world::Options;

pub(super) const PAPER: &str =
    "Samsung and Montage white paper on the PM1743 and the M88RT51632, section 4.2.1";
pub(super) const ARITHMETIC: &str =
    "closed form: no rate changes, and a latency by crossings × latency of the part";
pub(super) const SHIFT_BAR_NS: f64 = 1.0;
/// The retimer of the paper.
pub(super) const PUBLISHED_VARIANT: &str = "montage";
pub(super) const BASELINE: &str = "direct";
/// What workloads begin with whose cases are phases of the job file, named as other workloads are.
pub(super) const MATRIX: &str = "matrix";
/// A variant that must not come out equivalent, and in what.
pub(super) const CONTROLS: [(&str, &str); 3] =
    [("limit-twice", "qd1-write"), ("x2", "seq-read"), ("ber", "seq-read")];
/// Variants that are no retimers.
pub(super) const BAD_LINKS: [&str; 2] = ["x2", "ber"];

/// How much is simulated.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// Requests before.
    pub(super) warm_up: u32,
    /// Requests of a case of the matrix that are measured.
    pub(super) requests: u32,
    /// Requests at QD1 that are measured: where the window ends must not matter to a nanosecond.
    pub(super) alone: u32,
    pub(super) repeats: u32,
}

/// What was simulated, and what stands in the slot of each variant \[ns\].
#[derive(Clone)]
pub(super) struct Ran {
    pub(super) results: Results,
    pub(super) free_parameters: Vec<FreeParameter>,
    pub(super) stages: Vec<(String, f64)>,
    /// How the cases of the matrix end in which a control has to show; empty if in all.
    pub(super) controls_at: &'static str,
}

impl Ran {
    pub(super) fn of(plan: &Plan) -> Self {
        let latency = |variant: &lanetwin_plan::Variant| {
            let stages = variant.links[0].via.iter();
            stages.map(|via| via.latency.as_ps()).sum::<u64>() as f64 / 1e3
        };
        let stages = plan.variants.iter().map(|variant| (variant.name.clone(), latency(variant)));
        Self {
            stages: stages.collect(),
            controls_at: "",
            results: results(plan, &Options::default()),
            free_parameters: free_parameters(plan).collect(),
        }
    }

    /// The variants with retimers, and the latency of all of them one way \[ns\].
    pub(super) fn retimers(&self) -> impl Iterator<Item = (&str, f64)> {
        let stages = self.stages.iter().map(|(name, latency)| (&**name, *latency));
        stages.filter(|(name, _)| *name != BASELINE && !BAD_LINKS.contains(name))
    }

    pub(super) fn row(&self, variant: &str, like: &VerdictRow) -> &Row {
        let is_it = |row: &&Row| {
            (&*row.variant, &*row.workload, &*row.case, &*row.metric)
                == (variant, &*like.workload, &*like.case, &*like.metric)
        };
        self.results.rows.iter().find(is_it).expect("what was judged was measured")
    }

    /// How often a request at QD1 waits for something to cross the slot.
    pub(super) fn crossings(&self, workload: &str) -> f64 {
        let of = self.results.waterfalls.iter().find(|w| w.variant == BASELINE && w.workload == workload);
        let slot = of.and_then(|waterfall| waterfall.crossings.first());
        slot.expect("a request was followed").times
    }

    /// What is judged of a variant: the latencies at QD1, and the throughputs of everything else.
    pub(super) fn judged(&self, variant: &str) -> Vec<&VerdictRow> {
        let matters = |row: &&VerdictRow| {
            let alone = row.workload.starts_with("qd1");
            row.variant == variant && row.metric == if alone { "latency" } else { "throughput" }
        };
        self.results.verdicts.iter().filter(matters).collect()
    }
}

/// What a row asks, in the words of the published table: its workload, or the first two words of a phase of the job
/// file (`seq-read-32k`).
pub(super) fn asks(row: &VerdictRow) -> &str {
    if !row.workload.starts_with(MATRIX) {
        return &row.workload;
    }
    let end = row.case.match_indices('-').nth(1).map_or(row.case.len(), |(at, _)| at);
    &row.case[..end]
}

/// The change that arithmetic expects \[ratio\].
pub(super) fn expected(ran: &Ran, row: &VerdictRow, latency: f64) -> f64 {
    if row.metric == "latency" {
        let direct = ran.row(BASELINE, row).value;
        1.0 + ran.crossings(&row.workload) * latency / direct
    } else {
        1.0
    }
}

pub(super) fn ratio_cell(ran: &Ran, row: &VerdictRow, latency: f64, said: Option<&Published>) -> Cell {
    let (ratio, closed) = (1.0 + row.change, expected(ran, row, latency));
    let end = |end: Option<f64>| end.map_or(ratio, |end| 1.0 + end);
    Cell {
        case: format!("{}, {}, {}", row.variant, row.workload, row.case),
        quantity: format!("{}, with over without", row.metric),
        unit: "ratio",
        published: said.map_or(closed, Published::ratio),
        predicted: ratio,
        interval: (end(row.low), end(row.high)),
        role: Role::Predicted,
        baseline: Some(closed),
        source: if said.is_some() { PAPER } else { ARITHMETIC },
        digest: ran.results.digest.expect("a simulation has a digest"),
    }
}

/// How much longer a request at QD1 takes than without \[ns\]: simulated, and expected.
pub(super) fn shift(ran: &Ran, row: &VerdictRow, latency: f64) -> (f64, f64) {
    let simulated = ran.row(&row.variant, row).value - ran.row(BASELINE, row).value;
    (simulated, ran.crossings(&row.workload) * latency)
}

pub(super) fn shift_cell(ran: &Ran, row: &VerdictRow, latency: f64) -> Cell {
    let (predicted, expected) = shift(ran, row, latency);
    Cell {
        case: format!("{}, {}, {}", row.variant, row.workload, row.case),
        quantity: "shift of the mean latency".into(),
        unit: "ns",
        published: expected,
        predicted,
        interval: (predicted, predicted),
        role: Role::Predicted,
        baseline: None,
        source: ARITHMETIC,
        digest: ran.results.digest.expect("a simulation has a digest"),
    }
}

pub(super) fn cells(ran: &Ran, published: &[Published]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (variant, latency) in ran.retimers() {
        for row in ran.judged(variant) {
            let said = published.iter().find(|said| variant == PUBLISHED_VARIANT && said.is_of(asks(row)));
            cells.push(ratio_cell(ran, row, latency, said));
            if row.metric == "latency" {
                cells.push(shift_cell(ran, row, latency));
            }
        }
    }
    cells
}

/// What is wrong, in sentences; nothing if the bar is met.
pub(super) fn missed(ran: &Ran) -> Vec<String> {
    let mut missed = Vec::new();
    for (variant, latency) in ran.retimers() {
        for row in ran.judged(variant) {
            let place = format!("{variant}, {}, {}", row.workload, row.case);
            let is_control = CONTROLS.contains(&(variant, asks(row)));
            if !is_control && row.verdict != Verdict::Equivalent {
                missed.push(format!("{place} is {:?}", row.verdict));
            }
            let (simulated, expected) = shift(ran, row, latency);
            if row.metric == "latency" && (simulated - expected).abs() > SHIFT_BAR_NS {
                missed.push(format!("{place} is shifted by {simulated:.1} ns, not by {expected:.1} ns"));
            }
        }
    }
    for (variant, workload) in CONTROLS {
        let rows = ran.judged(variant).into_iter().filter(|row| asks(row) == workload);
        // where something else is the limit, the link does not show
        let mut rows =
            rows.filter(|row| row.workload == workload || row.case.ends_with(ran.controls_at)).peekable();
        assert!(rows.peek().is_some(), "the control {variant}, {workload} was run");
        for row in rows.filter(|row| row.verdict == Verdict::Equivalent) {
            missed.push(format!("the control {variant}, {workload}, {} came out equivalent", row.case));
        }
    }
    missed
}

/// What latency explains of a published change of a latency at QD1, in sentences.
pub(super) fn explained(ran: &Ran, said: &Published) -> Option<String> {
    let of = |variant: &str| {
        let mut judged = ran.judged(variant).into_iter();
        let row = judged.find(|row| said.is_of(&row.workload) && row.metric == "latency")?;
        let (shift, _) = shift(ran, row, 0.0);
        Some((row, shift, 100.0 * row.change))
    };
    let (row, shift, change) = of(PUBLISHED_VARIANT)?;
    let longest = ran.retimers().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (_, _, most) = of(longest.0)?;
    let direct = ran.row(BASELINE, row).value;
    let verdict = match said.change_pct {
        0.0 => return None,
        // what two of the slowest that are allowed cannot do, none can
        published if most < published => {
            "is not explained by retimer latency, of this or of any legal retimer"
        }
        published if change < published => "is not explained by the latency of this retimer",
        _ => "is no more than the latency of this retimer",
    };
    Some(format!(
        "The published {} % ({}) {verdict}: at {:.1} us they would be {:.0} ns, and this retimer adds {shift:.1} ns ({change:.2} %) in {} \
         crossings; two of {:.0} ns together add {most:.1} %.",
        said.change_pct,
        said.what,
        direct / 1e3,
        direct * said.change_pct / 100.0,
        ran.crossings(&row.workload),
        longest.1 / 2.0,
    ))
}

/// What was simulated, held against what was published.
pub(super) fn outcome(published: &[Published], ran: &Ran) -> Outcome {
    let missed = missed(ran);
    let mut told: Vec<String> = published.iter().filter_map(|said| explained(ran, said)).collect();
    let not_asked: Vec<String> =
        published.iter().filter(|said| said.workloads.is_empty()).map(Published::told).collect();
    told.push(format!(
        "Databases are not simulated; what is published of them ({}) has no repeats and no intervals, either.",
        not_asked.join(", ")
    ));
    told.push(if missed.is_empty() {
        "Every retimer is equivalent within 2 % in every rate, and every control is told apart.".into()
    } else {
        format!("Missed: {}.", missed.join("; "))
    });
    Outcome {
        cells: cells(ran, published),
        free_parameters: ran.free_parameters.clone(),
        met: missed.is_empty(),
        text: told.join(" "),
        effects: Vec::new(),
    }
}
