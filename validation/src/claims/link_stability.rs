//! `link-stability`: the retimer paper's Table 5, and what the same cycles find on channels that should not pass it.
//!
//! Eight rows, with and without a retimer, ten thousand cycles each and a thousand power cycles: all passed. The
//! simulated links are those of `scenarios/link/three-grades.yaml`: the eyes of its good channel become margins of the
//! lanes, each cycle draws them anew, and the runner of real machines drives the link through its registers. A table of
//! passes cannot fail a simulator whose links never fail, so the same tests run on a channel that only just holds and
//! on one that does not: there failures have to appear. A retimer has to cure the first; it stands behind the long
//! board of the second, and cannot cure that.

use crate::claim::{Cell, Outcome};
use crate::claim::{FreeParameter, Role};
use crate::declaration::{Claim, Run};
use crate::watch::Watch;
use lanetwin_kernel::mix;
use lanetwin_link_lab::channel::{Channel, check};
use lanetwin_link_lab::stability::{self, Basis, CyclesReport, Options};
use lanetwin_probe::cycle::{Test, TestReport};
use lanetwin_probe::drive::Request;
use lanetwin_stats::results::Digest;
use lanetwin_units::NumberKind;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "link-stability",
    about: "The retimer paper's table of link stability, by cycles of simulated links, and the same on worse channels.",
    cpu_seconds: 60,
    bar: "every cycle of the table passes; a marginal channel fails some cycles and a bad one fails, with codes; a retimer cures the marginal one",
    run: Run::Own(run),
};

const SOURCE: &str = "Samsung and Montage, PM1743 with M88RT51632, Table 5";
const CHANNEL: &str = include_str!("../../../scenarios/link/three-grades.yaml");
/// The rows of the table.
const ROWS: [Test; 8] = [
    Test::BusReset,
    Test::Retrain,
    Test::Disable,
    Test::D3Hot,
    Test::EqualisationRedo,
    Test::SpeedChange,
    Test::SpeedChangeMax,
    Test::PowerCycle,
];
/// The columns: what they are called, the variant of the channel.
const COLUMNS: [(&str, &str); 2] = [("PM1743+M88RT51632", "good-retimer"), ("PM1743", "good")];
/// Channels beside the table, and whether failures are expected of them.
const CONTROLS: [(&str, bool); 4] =
    [("marginal", true), ("marginal-retimer", false), ("bad", true), ("bad-retimer", true)];
/// Cycles of each test on those.
const CONTROL_CYCLES: u64 = 1000;

/// How often the paper repeated a row.
const fn published(test: Test) -> u64 {
    match test {
        Test::PowerCycle => 1_000,
        _ => 10_000,
    }
}

fn cycled(channel: &Channel, variant: &str, request: &Request) -> CyclesReport {
    let options = Options { variants: vec![variant.to_owned()], ..Options::default() };
    stability::cycles(channel, &options, request, &mut |_, _| ControlFlow::Continue(()))
        .expect("a channel that is shipped has links")
}

fn request(count: u64) -> Request {
    let tests = ROWS.iter().map(|test| test.name().to_owned()).collect();
    Request { tests, count, power_count: Some(count / 10), ..Request::default() }
}

/// What came of a link, as 64 bits.
fn digest(rows: &[TestReport]) -> Digest {
    let counts = rows.iter().flat_map(|row| [row.passed, row.failed, row.not_performed]);
    let times = rows.iter().flat_map(|row| [row.link_time.mean_s.to_bits(), row.link_time.max_s.to_bits()]);
    Digest(counts.chain(times).fold(0, |hash, bits| mix(hash ^ bits)))
}

fn cells(column: &str, rows: &[TestReport]) -> Vec<Cell> {
    let digest = digest(rows);
    let cell = |row: &TestReport| {
        let passed = row.passed as f64;
        Cell {
            case: format!("{}, {column}", row.title),
            quantity: format!("cycles passed, of {}", row.wanted),
            unit: "",
            published: published(row.test) as f64,
            predicted: passed,
            interval: (passed, passed),
            role: Role::Predicted,
            baseline: None,
            source: SOURCE,
            digest,
        }
    };
    rows.iter().map(cell).collect()
}

/// Failures of a control, in words, and whether there were any.
fn told(name: &str, report: &CyclesReport) -> (String, bool) {
    let rows = &report.report.series[0].tests;
    let (failed, cycles) = rows.iter().fold((0, 0), |sum, row| (sum.0 + row.failed, sum.1 + row.cycles));
    let mut codes: BTreeMap<&str, u64> = BTreeMap::new();
    for (code, count) in rows.iter().flat_map(|row| &row.codes) {
        *codes.entry(code).or_insert(0) += count;
    }
    let codes: Vec<String> = codes.iter().map(|(code, count)| format!("{code} {count}")).collect();
    let with = if codes.is_empty() { String::new() } else { format!(" ({})", codes.join(", ")) };
    let least = report.margins.iter().map(|margin| margin.height_v).fold(f64::INFINITY, f64::min);
    (format!("{name}, least eye {:.1} mV: {failed} of {cycles} cycles fail{with}.", least * 1e3), failed > 0)
}

fn free_parameters(report: &CyclesReport) -> Vec<FreeParameter> {
    let assumed =
        report.numbers.iter().filter(|number| number.kind == NumberKind::Assumed).map(|number: &Basis| {
            FreeParameter {
                part: "simulated link".into(),
                name: number.name.into(),
                value: format!("{} {}", number.value, number.unit),
                calibrated_to: None,
            }
        });
    let noise = FreeParameter {
        part: "receivers, Gen3 to Gen5".into(),
        name: "noise".into(),
        value: "see `lanetwin link eye`".into(),
        calibrated_to: Some("the mask, by the channel of the whole budget".into()),
    };
    assumed.chain([noise]).collect()
}

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    let channel =
        check(Path::new("three-grades.yaml"), CHANNEL, &[]).expect("a description that is shipped is right");
    let total = COLUMNS.len() + CONTROLS.len();
    let (mut all, mut lines, mut met, mut free) = (Vec::new(), Vec::new(), true, Vec::new());
    for (column, variant) in COLUMNS {
        let report = cycled(&channel, variant, &request(10_000));
        let rows = &report.report.series[0].tests;
        met &= rows.iter().all(|row| row.passed == published(row.test) && row.verdict == "pass");
        let bound = rows.iter().filter_map(|row| row.bound).fold(0.0, f64::max);
        lines.push(format!(
            "{column}: so many passes bound the rate of failures of each row at {bound:.1e} or less, 95 %."
        ));
        all.extend(cells(column, rows));
        free = free_parameters(&report);
        watch.step(total)?;
    }
    for (name, fails) in CONTROLS {
        let report = cycled(&channel, name, &request(CONTROL_CYCLES));
        let (line, failed) = told(name, &report);
        met &= failed == fails;
        lines.push(line);
        watch.step(total)?;
    }
    lines.push("Ten thousand passes cannot tell 4 sigma of margin from 6: see `lanetwin link cycle`.".into());
    let text = lines.join(" ");
    Some(Outcome { cells: all, free_parameters: free, met, text, effects: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Few cycles show what many do: the good links pass, the others do not.
    #[test]
    fn a_few_cycles_pass_on_the_good_channel_and_not_on_the_bad_one() {
        let sets = ["stress=constants".to_owned()];
        let channel = check(Path::new("three-grades.yaml"), CHANNEL, &sets).expect("it is right");
        let few = Request { power_count: Some(2), ..request(20) };
        for (variant, fails) in [("good", false), ("good-retimer", false), ("bad", true)] {
            let report = cycled(&channel, variant, &few);
            assert_eq!(report.report.series[0].tests.len(), ROWS.len());
            assert_eq!(told(variant, &report).1, fails, "{variant}");
        }
    }
}
