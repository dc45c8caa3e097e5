//! Claims about channels: `lanetwin link eye` and `lanetwin link cycle` on the same document give the same results.
//!
//! The results become rows like those of a scenario: a verdict is 2 if it is good and 1 if not. The noise of eyes is
//! calibrated so that the channel that takes the whole budget just meets the mask. Every other unconfirmed number of
//! transmitter and receiver is moved to both ends of a range, one at a time, and the noise is calibrated again; a
//! number that changes a verdict is a free parameter.

use crate::claim::{Effect, FreeParameter, Role};
use crate::experiment::{of_rows, row};
use crate::spec::{Shipped, Tests};
use crate::table::Published;
use lanetwin_link_lab::channel::{Channel, check, eye};
use lanetwin_link_lab::stability::{self, Options};
use lanetwin_phy::eye::{Constants, Reference};
use lanetwin_probe::drive::Request;
use lanetwin_stats::results::Results;
use lanetwin_units::{Generation, NumberKind};
use std::ops::ControlFlow;
use std::path::Path;

/// Message of the panic if a built-in channel cannot be computed.
const ANSWERS: &str = "a channel that is shipped has an answer";
const MARGIN: &str = "height or width over the mask's";

/// A number of transmitter or receiver, and the factors that move it to the ends of its range. All ranges are assumed:
/// ±20 % for corner frequencies, ±25 % for jitter, half and double for DFE limits, ±50 % for the noise bandwidth, and
/// others for the transmitter's swing and rise time.
type Moved = (&'static str, fn(&mut Reference) -> Vec<&mut f64>, [f64; 2]);

const MOVED: [Moved; 9] = [
    ("transmitter swing", |r| vec![&mut r.transmitter.swing_v.value], [1.25, 1.5]),
    ("transmitter rise", |r| vec![&mut r.transmitter.rise_s.value], [0.5, 1.25]),
    ("CTLE zero", |r| corner(r, 0), [0.8, 1.2]),
    ("CTLE first pole", |r| corner(r, 1), [0.8, 1.2]),
    ("CTLE second pole", |r| corner(r, 2), [0.8, 1.2]),
    ("CTLE last poles", |r| corner(r, 3), [0.8, 1.2]),
    ("DFE limits", |r| r.dfe.limits_v.value.iter_mut().collect(), [0.5, 2.0]),
    (
        "transmitter jitter",
        |r| vec![&mut r.jitter.total_s.value, &mut r.jitter.deterministic_s.value],
        [0.75, 1.25],
    ),
    ("noise bandwidth", |r| vec![&mut r.noise.bandwidth_hz.value], [0.5, 1.5]),
];

fn corner(reference: &mut Reference, place: usize) -> Vec<&mut f64> {
    reference.ctle.corners_mut().into_iter().skip(place).take(1).collect()
}

/// The channel of a table, with the changes `sets`, and only those of its variants that the table has rows for.
fn channel(table: &Shipped, sets: &[String]) -> Channel {
    let text = crate::embedded::scenario(table.scenario);
    let mut channel =
        check(Path::new(table.scenario), text, sets).expect("a description that is shipped is right");
    channel.variants.retain(|variant| table.rows.iter().any(|row| row.variant == variant.name));
    channel
}

const fn as_number(good: bool) -> f64 {
    if good { 2.0 } else { 1.0 }
}

/// The eyes of a channel, as rows.
pub(crate) fn eyes(table: &Shipped) -> Results {
    judged(table, &channel(table, &[]))
}

fn judged(table: &Shipped, channel: &Channel) -> Results {
    let report = eye(channel, &mut |_| ControlFlow::Continue(())).expect(ANSWERS);
    let of_segments = report.variants.iter().flat_map(|variant| {
        variant.segments.iter().flat_map(|eye| {
            let segment = format!("segment {}", eye.segment);
            [
                row([&variant.name, "eye", &segment, "mask", ""], as_number(eye.passes)),
                row([&variant.name, "eye", &segment, "eye height", "mV"], eye.height_v * 1e3),
                row([&variant.name, "eye", &segment, "eye width", "UI"], eye.width_ui),
                row([&variant.name, "eye", &segment, MARGIN, ""], eye.mask_ratio),
            ]
        })
    });
    let first = &report.variants[0].name;
    let of_stress = report.stress.iter().filter_map(|stress| {
        let names = [first, "compliance", "whole budget", "eye height", "mV"];
        Some(row(names, stress.compliance_height_v? * 1e3))
    });
    of_rows(table.scenario, of_segments.chain(of_stress).collect())
}

/// Number of ends of ranges, including the changes of the description in `sets`.
pub(crate) const fn moves(sets: &[String]) -> usize {
    2 * MOVED.len() + sets.len()
}

/// Moves each number to both ends of its range, and applies each change in `sets`. Returns the numbers that change a
/// verdict, and all effects on the predicted rows of the tables. `step` is called after each, and can stop it.
pub(crate) fn moved(
    tables: &[Shipped],
    sets: &[String],
    step: &mut dyn FnMut() -> Option<()>,
) -> Option<(Vec<FreeParameter>, Vec<Effect>)> {
    let base = with_change(tables, None, &[]);
    let by_numbers = MOVED
        .iter()
        .flat_map(|moved| moved.2.map(|factor| (moved.0, format!("× {factor}"), Ok((moved.1, factor)))));
    let by_sets = sets.iter().map(|set| ("description", set.clone(), Err(set.clone())));
    let (mut free, mut effects) = (Vec::new(), Vec::new());
    for (name, end, change) in by_numbers.chain(by_sets) {
        let now = match change {
            Ok(change) => with_change(tables, Some(change), &[]),
            Err(set) => with_change(tables, None, &[set]),
        };
        if now.iter().zip(&base).any(|(now, base)| now.0 != base.0) {
            free.push(FreeParameter {
                part: "receiver".into(),
                name: name.into(),
                value: end.clone(),
                calibrated_to: None,
            });
        }
        let changes_pct = now.iter().zip(&base).map(|(now, base)| 100.0 * (now.1 / base.1 - 1.0)).collect();
        effects.push(Effect { mechanism: name.into(), end, changes_pct });
        step()?;
    }
    Some((free, effects))
}

type Factor = (fn(&mut Reference) -> Vec<&mut f64>, f64);

/// The value (a verdict) and the margin of each predicted row.
fn with_change(tables: &[Shipped], change: Option<Factor>, sets: &[String]) -> Vec<(f64, f64)> {
    let of = |table: &Shipped| {
        let mut channel = channel(table, sets);
        if let Some((numbers, factor)) = change {
            let mut reference = Constants::built_in().of(Generation::Gen5).expect("Gen5 equalises").clone();
            numbers(&mut reference).into_iter().for_each(|number| *number *= factor);
            channel.constants =
                channel.constants.with(Generation::Gen5, reference).expect("a number in its range");
        }
        let results = judged(table, &channel);
        let predicted = table.rows.iter().filter(|row| row.role == Role::Predicted);
        let value = |row: &Published| row.found(&results).expect("it stands beside a row").value;
        let both = |row: &Published| (value(row), value(&Published { metric: MARGIN.into(), ..row.clone() }));
        predicted.map(both).collect::<Vec<_>>()
    };
    tables.iter().flat_map(of).collect()
}

/// Stability cycles on the links of a channel, as rows, and the assumed numbers that they rest on.
pub(crate) fn cycles(table: &Shipped, tests: &Tests) -> (Results, Vec<FreeParameter>) {
    let channel = channel(table, &[]);
    let variants: Vec<String> = channel.variants.iter().map(|variant| variant.name.clone()).collect();
    let request = Request {
        tests: tests.names.clone(),
        count: tests.count,
        power_count: Some(tests.count / 10),
        ..Request::default()
    };
    let options = Options { variants: variants.clone(), ..Options::default() };
    let report = stability::cycles(&channel, &options, &request, &mut |_, _| ControlFlow::Continue(()))
        .expect(ANSWERS);
    let of_series = report.report.series.iter().zip(&variants).flat_map(|(series, variant)| {
        let passed = |test: &lanetwin_probe::cycle::TestReport| {
            row([variant, "cycle", test.title, "cycles passed", ""], test.passed as f64)
        };
        let all = as_number(series.tests.iter().all(|test| test.verdict == "pass"));
        series.tests.iter().map(passed).chain([row([variant, "cycle", "all", "verdict", ""], all)])
    });
    let rows = of_series.collect();
    let assumed = report.numbers.iter().filter(|number| number.kind == NumberKind::Assumed).map(|number| {
        FreeParameter {
            part: "simulated link".into(),
            name: number.name.into(),
            value: format!("{} {}", number.value, number.unit),
            calibrated_to: None,
        }
    });
    (of_rows(table.scenario, rows), assumed.collect())
}
