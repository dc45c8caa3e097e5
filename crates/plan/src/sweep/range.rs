//! Ranges: two ends, and the spacing of the values between them.

use super::number;
use super::problem::Problem;
use crate::language::MOST_POINTS;
use crate::values::choice;
use lanetwin_document::fields::Fields;
use lanetwin_document::node::Spot;
use lanetwin_document::problem::{Problem as Common, Reports};
use lanetwin_ports::{Dimension, Value};

/// How far rounding may take a value beyond the end of its range, as a share of the end.
const ROUNDING: f64 = 1e-9;

/// A range of values of one dimension.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Range {
    kind: Dimension,
    /// In base units.
    from: f64,
    to: f64,
    way: Way,
    /// As it is written.
    ends: (String, String),
}

/// The spacing of a range.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Way {
    /// This many base units are added.
    Step(f64),
    /// Values are multiplied by this.
    Times(f64),
    /// This many values, with equal differences or equal ratios.
    Points { points: u64, logarithmic: bool },
    /// Not given.
    Open { logarithmic: bool },
}

/// Reads a range; `None` after an error in it.
pub(super) fn read(fields: &mut Fields<'_>, sampled: bool, reports: &mut Reports) -> Option<Range> {
    let (from, to) = (end(fields, "from", reports), end(fields, "to", reports));
    let (from, to) = (from?, to?);
    let logarithmic = choice(fields, "spacing", reports)? == "logarithmic";
    let Some(kind) = number::kind(&[&from, &to]) else {
        fields.fault("from", Problem::Ends { from, to }, reports);
        return None;
    };
    let way = way(fields, kind, logarithmic, reports)?;
    let grains = |text: &str| number::grains(kind, text).expect("both ends are of the kind");
    let range = Range { kind, from: grains(&from), to: grains(&to), way, ends: (from, to) };
    let (from, to) = range.ends.clone();
    if range.is_empty(sampled) {
        fields.fault("from", Problem::EmptyRange { from, to }, reports);
        return None;
    }
    if matches!(range.way, Way::Open { .. }) && !sampled {
        fields.fault("from", Problem::OpenRange { from, to }, reports);
        return None;
    }
    Some(range)
}

fn end(fields: &mut Fields<'_>, key: &'static str, reports: &mut Reports) -> Option<String> {
    let said = fields.text(key, reports);
    if said.is_none() && fields.written(key).is_none() {
        let about = "an end of the range, or a list of `values:`".into();
        let problem = Common::Missing { key: key.into(), about };
        reports.add(problem, fields.node.spot, &fields.at(key));
    }
    said.map(|said| said.value)
}

fn way(fields: &mut Fields<'_>, kind: Dimension, logarithmic: bool, reports: &mut Reports) -> Option<Way> {
    let keys = ["step", "times", "points"];
    let written: Vec<&'static str> = keys.into_iter().filter(|key| fields.written(key).is_some()).collect();
    let Some((key, others)) = written.split_first() else { return Some(Way::Open { logarithmic }) };
    if let Some(other) = others.first() {
        fields.fault(other, Common::Exclusive { one: key, other }, reports);
        return None;
    }
    if *key == "points" {
        return points(fields, reports).map(|points| Way::Points { points, logarithmic });
    }
    let text = fields.text(key, reports)?.value;
    let (way, hint) = match *key {
        "step" => (number::grains(kind, &text).map(Way::Step), "a quantity of the kind of both ends"),
        _ => (text.trim().parse().ok().map(Way::Times), "a number above 1"),
    };
    if way.is_none() {
        fields.fault(key, Common::Quantity { text, hint: hint.into() }, reports);
    }
    way
}

/// Reads the number of values, if given.
fn points(fields: &mut Fields<'_>, reports: &mut Reports) -> Option<u64> {
    fields.written("points")?;
    match fields.one("points", reports)?.value {
        Value::Count(points) => Some(points),
        other => unreachable!("declared as a count, read as {other:?}"),
    }
}

impl Range {
    fn is_empty(&self, sampled: bool) -> bool {
        let by_ratio = |logarithmic: bool| logarithmic && self.from <= 0.0;
        let nowhere = match self.way {
            Way::Step(step) => step <= 0.0,
            Way::Times(times) => !(times > 1.0 && times.is_finite()) || self.from <= 0.0,
            Way::Points { logarithmic, .. } | Way::Open { logarithmic } => by_ratio(logarithmic),
        };
        nowhere || if sampled { self.to <= self.from } else { self.to < self.from }
    }

    /// Its values as text, without duplicates; none for a sampled range. Reports a range with too many values.
    pub(super) fn values(
        &self,
        sampled: bool,
        spot: Spot,
        path: &str,
        reports: &mut Reports,
    ) -> Option<Vec<String>> {
        if sampled {
            return Some(Vec::new());
        }
        let count = self.count();
        if count > MOST_POINTS {
            reports.add(Problem::TooManyPoints { points: count, most: MOST_POINTS }, spot, path);
            return None;
        }
        let mut texts: Vec<String> =
            (0..count).map(|nth| number::written(self.kind, self.nth(nth))).collect();
        texts.dedup(); // whole numbers that are close together fall onto one
        Some(texts)
    }

    fn count(&self) -> u64 {
        let end = self.to * (1.0 + ROUNDING);
        match self.way {
            Way::Step(step) => ((end - self.from) / step) as u64 + 1,
            Way::Times(times) => (libm::log(end / self.from) / libm::log(times)) as u64 + 1,
            Way::Points { points, .. } => points,
            Way::Open { .. } => 0,
        }
    }

    fn nth(&self, nth: u64) -> f64 {
        match self.way {
            Way::Step(step) => self.from + nth as f64 * step,
            Way::Times(times) => self.from * libm::pow(times, nth as f64),
            Way::Points { points, .. } => self.at(nth as f64 / (points - 1) as f64),
            Way::Open { .. } => self.from,
        }
    }

    /// The value at a share of the way from end to end, 0 to 1.
    fn at(&self, share: f64) -> f64 {
        let logarithmic = match self.way {
            Way::Points { logarithmic, .. } | Way::Open { logarithmic } => logarithmic,
            Way::Times(_) => true,
            Way::Step(_) => false,
        };
        if logarithmic {
            self.from * libm::pow(self.to / self.from, share)
        } else {
            self.from + (self.to - self.from) * share
        }
    }

    /// The value at a share of the way from end to end, as text.
    pub(super) fn drawn(&self, share: f64) -> String {
        number::written(self.kind, self.at(share))
    }
}
