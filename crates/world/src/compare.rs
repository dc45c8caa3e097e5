//! A/B comparison: the variants of a run against its baseline, or two documents against each other.

use lanetwin_stats::results::{Kind, Results, Row, Spread, VerdictRow};
use lanetwin_stats::verdict::{judge, judge_family};
use lanetwin_stats::{Change, Confidence, Direction, Interval, Margin, Verdict, paired_ratio};

/// Judges every variant's rows against the baseline's, case by case; the metrics of one case and variant are a family.
/// A workload that the baseline does not have is held against the first variant that has it.
pub(super) fn verdicts(rows: &[Row], baseline: &str, margin: Margin, seed: u64) -> Vec<VerdictRow> {
    let mut list = Vec::new();
    let mut i = 0;
    while i < rows.len() {
        let family: Vec<&Row> = rows[i..].iter().take_while(|r| same_case(r, &rows[i])).collect();
        i += family.len();
        let against = baseline_of(rows, &family[0].workload, baseline);
        if family[0].variant == against {
            continue;
        }
        let pairs: Vec<(&Row, &Row)> = family
            .into_iter()
            .filter(|row| is_judged(row))
            .filter_map(|row| Some((rows.iter().find(|r| r.variant == against && counterpart(r, row))?, row)))
            .collect();
        list.extend(judge_pairs(&pairs, margin, seed));
    }
    list
}

/// The baseline, or the first variant that has the workload if the baseline does not.
fn baseline_of<'a>(rows: &'a [Row], workload: &str, baseline: &'a str) -> &'a str {
    let mut having = rows.iter().filter(|row| row.workload == workload).map(|row| &*row.variant).peekable();
    let first = having.peek().copied().unwrap_or(baseline);
    if having.any(|variant| variant == baseline) { baseline } else { first }
}

/// Whether a row is judged. A family must not count one observation twice: restated metrics are left out, and so are
/// the single devices of a load on several.
fn is_judged(row: &Row) -> bool {
    row.device.is_none() && !row.restates
}

fn same_case(a: &Row, b: &Row) -> bool {
    a.variant == b.variant && a.workload == b.workload && a.case == b.case
}

fn counterpart(a: &Row, b: &Row) -> bool {
    a.workload == b.workload && a.case == b.case && a.device == b.device && a.metric == b.metric
}

/// The direction that is better, from whichever row states it: a document that was written by hand need not.
fn direction(a: &Row, b: &Row) -> Option<Direction> {
    Direction::of(a.better).or(Direction::of(b.better))
}

/// Judges paired repeats together, and rows without paired repeats by their intervals. Leaves out metrics that have
/// no better direction, and rows whose relative change is not finite: the baseline is 0 and the variant is not.
fn judge_pairs(pairs: &[(&Row, &Row)], margin: Margin, seed: u64) -> Vec<VerdictRow> {
    let directed = |&(a, b): &(&'_ Row, &'_ Row)| direction(a, b).is_some();
    let pairs: Vec<(&Row, &Row)> = pairs.iter().copied().filter(directed).collect();
    let paired = |(a, b): &(&Row, &Row)| {
        let several = a.samples.len() > 1;
        several.then(|| paired_ratio(&a.samples, &b.samples, Confidence::P95, seed).ok()).flatten()
    };
    let changes: Vec<Option<Change>> = pairs.iter().map(paired).collect();
    let family: Vec<(Change, Margin, Direction)> = pairs
        .iter()
        .zip(&changes)
        .filter_map(|((a, b), c)| Some(((*c)?, margin, direction(a, b)?)))
        .collect();
    let mut judged = judge_family(&family, Confidence::P95).into_iter();
    pairs
        .iter()
        .zip(&changes)
        .map(|((a, b), change)| match change {
            Some(change) => {
                let verdict = judged.next().unwrap_or(Verdict::Inconclusive);
                let found = row(a, b, change.relative(), change.interval(), verdict, margin);
                let leaves_zero_out = change.interval().is_some_and(|interval| !interval.contains(0.0));
                let by_chance = verdict == Verdict::Inconclusive && leaves_zero_out;
                VerdictRow { judged_together: if by_chance { family.len() as u64 } else { 0 }, ..found }
            }
            None => by_interval(a, b, margin),
        })
        .filter(|judged| judged.change.is_finite())
        .collect()
}

/// Judges rows without paired repeats by the ratio of their values, which are independent of each other. The relative
/// width of the ratio's interval is the root of the sum of the squares of both relative widths.
fn by_interval(a: &Row, b: &Row, margin: Margin) -> VerdictRow {
    // by the wider side, because the lower end of a value that cannot be negative is zero
    let half = |row: &Row| {
        let half = (row.high? - row.value).max(row.value - row.low?) / row.value;
        half.is_finite().then_some(half)
    };
    // also of two zeros, which have no ratio
    let is_exact = |row: &Row| row.low == Some(row.value) && row.high == Some(row.value);
    let are_equal = a.value == b.value;
    let equal = (are_equal && is_exact(a) && is_exact(b)).then(|| Interval::new(0.0, 0.0)).flatten();
    let by_width = || {
        half(a).zip(half(b)).and_then(|(of_a, of_b)| {
            let (ratio, half) = (b.value / a.value, (of_a * of_a + of_b * of_b).sqrt());
            // as a margin of ratios, so that the result is the same with either as the baseline
            Interval::new(ratio / (1.0 + half) - 1.0, ratio * (1.0 + half) - 1.0)
        })
    };
    let interval = equal.or_else(by_width);
    let verdict = direction(a, b).map_or(Verdict::Inconclusive, |way| judge(interval, margin, way));
    let change = if are_equal { 0.0 } else { b.value / a.value - 1.0 };
    row(a, b, change, interval, verdict, margin)
}

fn row(
    a: &Row,
    b: &Row,
    change: f64,
    interval: Option<Interval>,
    verdict: Verdict,
    margin: Margin,
) -> VerdictRow {
    VerdictRow {
        workload: b.workload.clone(),
        case: b.case.clone(),
        metric: b.metric.clone(),
        baseline: a.variant.clone(),
        variant: b.variant.clone(),
        change,
        low: interval.map(|i| i.low()),
        high: interval.map(|i| i.high()),
        verdict,
        margin: margin.fraction(),
        not_steady: not_steady(a, b),
        spread: match interval {
            None => Spread::None,
            Some(_) if b.n == 1 && a.n == 1 => Spread::Batches,
            Some(_) => Spread::Repeats,
        },
        judged_together: 0,
    }
}

/// Names the rows that were not steady, and why; empty if both were.
fn not_steady(a: &Row, b: &Row) -> String {
    let why = |row: &&Row| {
        let unsteady = row.steady.as_ref().filter(|steady| steady.is_unsteady())?;
        Some(format!("{}: {}", row.variant, unsteady.why()))
    };
    [a, b].iter().filter_map(why).collect::<Vec<_>>().join("; ")
}

/// Compares two documents, row by row of the same variant, workload, case and metric: `a` is the baseline. Repeats are
/// paired if both were simulated from the same seed; otherwise the verdict rests on the intervals, and is the more
/// careful for it.
#[must_use]
pub fn compare(a: &Results, b: &Results, margin: Margin) -> Results {
    let (name_a, name_b) =
        if a.name == b.name { ("A".into(), "B".into()) } else { (a.name.clone(), b.name.clone()) };
    let kind = if a.kind == b.kind { a.kind } else { Kind::Measured };
    let mut results = Results::new(kind, format!("{}-vs-{}", a.name, b.name), env!("CARGO_PKG_VERSION"));
    results.about = format!("{} against {}: {}", b.name, a.name, b.about);
    results.complete = a.complete && b.complete;
    let paired =
        a.kind == Kind::Simulated && b.kind == Kind::Simulated && a.seed.is_some() && a.seed == b.seed;
    let label = |document: &str, row: &Row| {
        let mut row = row.clone();
        row.variant = format!("{document}: {}", row.variant);
        if !paired {
            row.samples.clear();
        }
        row
    };
    for row_a in a.rows.iter().filter(|row| is_judged(row) || row.device.is_some()) {
        let Some(row_b) = b.rows.iter().find(|r| r.variant == row_a.variant && counterpart(r, row_a)) else {
            continue;
        };
        let (one, other) = (label(&name_a, row_a), label(&name_b, row_b));
        if is_judged(&one) {
            results.verdicts.extend(judge_pairs(&[(&one, &other)], margin, a.seed.unwrap_or(0)));
        }
        results.rows.extend([one, other]);
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_units::Better;

    fn row_of(variant: &str, metric: &str, samples: &[f64]) -> Row {
        let value = samples.iter().sum::<f64>() / samples.len() as f64;
        let (variant, metric, samples) = (variant.into(), metric.into(), samples.to_vec());
        Row {
            variant,
            metric,
            value,
            n: samples.len() as u32,
            samples,
            better: Better::Higher,
            ..Row::default()
        }
    }

    /// Five pairs differ by a little: the interval of each metric leaves zero out by a hair, which is too little
    /// where five are judged together. One that is far from zero stays what it is.
    #[test]
    fn why_an_interval_without_zero_is_no_verdict() {
        let base = [100.0, 101.0, 102.0, 103.0, 104.0];
        let rows = |changed: &[f64], metrics: usize| {
            let metrics: Vec<String> = (0..metrics).map(|n| format!("m{n}")).collect();
            let of = |variant: &str, samples: &[f64]| {
                metrics.iter().map(|metric| row_of(variant, metric, samples)).collect::<Vec<_>>()
            };
            [of("a", &base), of("b", changed)].concat()
        };
        let margin = Margin::new(0.0001).unwrap();
        let judged = |changed: &[f64], metrics| verdicts(&rows(changed, metrics), "a", margin, 1).remove(0);
        let shares = [1.009, 1.001, 1.006, 1.002, 1.005];
        let little: Vec<f64> = base.iter().zip(shares).map(|(value, share)| value * share).collect();
        let alone = judged(&little, 1);
        assert!(alone.low.unwrap() > 0.0 && alone.verdict == Verdict::Better, "{alone:?}");
        assert_eq!(alone.judged_together, 0);
        let together = judged(&little, 5);
        assert_eq!((together.verdict, together.judged_together), (Verdict::Inconclusive, 5), "{together:?}");
        let much = judged(&base.map(|value| 2.0 * value), 5);
        assert_eq!((much.verdict, much.judged_together), (Verdict::Better, 0), "{much:?}");
        let none = judged(&[99.0, 102.0, 101.0, 104.0, 104.0], 5);
        assert_eq!((none.verdict, none.judged_together), (Verdict::Inconclusive, 0), "{none:?}");
    }
}
