//! The unconfirmed numbers of a plan, and their ranges.

use crate::claim::FreeParameter;
use crate::spec::{Chosen, Range};
use lanetwin_document::Origin;
use lanetwin_document::quantity;
use lanetwin_plan::assumptions::Assumption;
use lanetwin_plan::{ComponentPlan, Plan};
use lanetwin_ports::{Dimension, Param, Value};
use lanetwin_units::NumberKind;
use lanetwin_units::{Bytes, Span};

/// An unconfirmed number.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Number {
    /// The path before its name in a setting (`machine.host.`).
    prefix: String,
    what: FreeParameter,
    /// The possible settings for each side, the farthest from the number's value first.
    pub(super) ends: [Vec<Vec<String>>; 2],
}

impl Number {
    /// A number with these ends, for tests.
    #[cfg(test)]
    pub(super) fn with_ends(name: &'static str, ends: [&[&str]; 2]) -> Self {
        let owned = |side: &[&str]| side.iter().map(|set| vec![(*set).to_owned()]).collect();
        let value = String::new();
        let what = FreeParameter { part: "p".into(), name: name.into(), value, calibrated_to: None };
        Self { prefix: String::new(), what, ends: ends.map(owned) }
    }
    /// The settings for a side, the farthest first.
    #[cfg(test)]
    pub(crate) fn ends(&self, side: usize) -> &[Vec<String>] {
        &self.ends[side]
    }
    pub(crate) fn free(&self) -> FreeParameter {
        self.what.clone()
    }
    /// Its name.
    #[cfg(test)]
    pub(crate) fn name(&self) -> &str {
        &self.what.name
    }
    /// `samsung-pm1743: nand.blocks`
    pub(super) fn shown(&self) -> String {
        format!("{}: {}", self.what.part, self.what.name)
    }
    /// The settings of an end, without the component.
    pub(super) fn told(&self, sets: &[String]) -> String {
        let of = |set: &String| set.strip_prefix(&self.prefix).unwrap_or(set).to_owned();
        let all: Vec<String> = sets.iter().map(of).collect();
        let own = format!("{}=", self.what.name);
        all.join(", ").replacen(&own, "", 1)
    }
}

/// Every assumed or calibrated number of the first variant, and the chosen ones, which the scenario sets without
/// confirmation; with their ends.
pub(crate) fn numbers(plan: &Plan, ranges: &[Range], chosen: &[Chosen]) -> Vec<Number> {
    let machine = &plan.variants[0].machine;
    let known = plan.assumptions();
    machine.iter().flat_map(|component| of_component(&known, component, ranges, chosen)).collect()
}

fn of_component(
    known: &[Assumption],
    component: &ComponentPlan,
    ranges: &[Range],
    chosen: &[Chosen],
) -> Vec<Number> {
    let part = component.part.as_deref().unwrap_or(component.model.name);
    let number = |(name, origin): (&&'static str, &Origin)| {
        let calibrated_to = if matches!(origin, Origin::Default | Origin::Part) {
            let found = known.iter().find(|found| found.part == part && found.parameter == *name)?;
            (found.kind == NumberKind::Calibrated).then(|| found.note.clone())
        } else {
            let found = chosen.iter().find(|one| one.component == component.name && one.name == *name)?;
            found.calibrated_to.clone()
        };
        let value = component.params.0[*name];
        let param = component.model.all_params().find(|param| param.name == *name)?;
        let range = ranges.iter().find(|range| range.part == part && range.name == *name);
        let prefix = format!("machine.{}.", component.name);
        let set = |change: &str| format!("{prefix}{}", change.trim());
        let given = |end: &str| vec![end.split(',').map(set).collect::<Vec<_>>()];
        let general = |side: usize| {
            let values = candidates(param, value, side).into_iter();
            let written = |value| quantity::label(value).replace(' ', "");
            values.map(|value| vec![set(&format!("{name}={}", written(value)))]).collect()
        };
        let ends = [0, 1].map(|side| range.map_or_else(|| general(side), |range| given(&range.ends[side])));
        let what = FreeParameter {
            part: part.to_owned(),
            name: (*name).into(),
            value: quantity::label(value),
            calibrated_to,
        };
        Some(Number { prefix, what, ends })
    };
    component.origins.iter().filter_map(number).collect()
}

/// Factors down to a half and up to double \[%\], the farthest first.
const FACTORS: [[u64; 4]; 2] = [[50, 75, 90, 95], [200, 150, 110, 105]];

/// The values for one side of a number, the farthest first.
fn candidates(param: &Param, value: Value, side: usize) -> Vec<Value> {
    let scaled = |number: u64| {
        let of = move |factor: u64| (u128::from(number) * u128::from(factor) / 100) as u64;
        FACTORS[side].map(of).into_iter().filter(move |moved| *moved != number)
    };
    match value {
        Value::Time(time) => scaled(time.as_ps()).map(|ps| Value::Time(Span::from_ps(ps))).collect(),
        Value::Size(size) => scaled(size.0).map(|bytes| Value::Size(Bytes(bytes))).collect(),
        Value::Rate(rate) => scaled(rate).map(Value::Rate).collect(),
        Value::Ratio(ratio) => {
            let moved = FACTORS[side].map(|factor| (ratio * factor as f64 / 100.0).min(1.0));
            moved.into_iter().filter(|moved| *moved != ratio).map(Value::Ratio).collect()
        }
        Value::Count(count) => {
            let Dimension::Count { least, most } = param.dimension else { return Vec::new() };
            let inside = scaled(count).filter(|moved| (least..=most).contains(moved));
            inside.map(Value::Count).collect()
        }
        Value::Flag(flag) => {
            if side == 0 {
                vec![Value::Flag(!flag)]
            } else {
                Vec::new()
            }
        }
        Value::Choice(word) => {
            let Dimension::Choice(words) = param.dimension else { return Vec::new() };
            let at = words.iter().position(|other| *other == word).unwrap_or(0);
            let step = if side == 0 { words.len() - 1 } else { 1 };
            let neighbour = words[(at + step) % words.len()];
            (neighbour != word).then_some(Value::Choice(neighbour)).into_iter().collect()
        }
    }
}
