//! The numbers of a plan that nobody confirms, and how far each may be from what is assumed.

use crate::report::FreeParameter;
use lanetwin_ports::{Dimension, Param, Value};
use lanetwin_scenario::quantity;
use lanetwin_scenario::{ComponentPlan, NumberKind, Origin, Plan};
use lanetwin_units::{Bytes, Span};

/// Where a number may lie, when half and double are not what is meant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    /// The part that has the number, or the model.
    pub(crate) part: &'static str,
    /// The number.
    pub(crate) name: &'static str,
    /// Both ends: settings of the component, with a comma between if one alone makes no drive.
    pub(crate) ends: [&'static str; 2],
    /// Why no farther.
    #[allow(dead_code, reason = "a range without a reason is not one; readers of the claim find it here")]
    pub(crate) reason: &'static str,
}

/// A number that nobody confirms.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Number {
    component: String,
    part: String,
    name: &'static str,
    value: Value,
    calibrated_to: Option<String>,
    /// For each side, what can be set, the farthest first.
    pub(super) ends: [Vec<Vec<String>>; 2],
}

impl Number {
    /// A number with these ends, for tests of what is done with numbers.
    #[cfg(test)]
    pub(super) fn with_ends(name: &'static str, ends: [&[&str]; 2]) -> Self {
        let owned = |side: &[&str]| side.iter().map(|set| vec![(*set).to_owned()]).collect();
        let (component, part) = ("c".to_owned(), "p".to_owned());
        Self { component, part, name, value: Value::Count(1), calibrated_to: None, ends: ends.map(owned) }
    }
    pub(super) fn free(&self) -> FreeParameter {
        FreeParameter {
            part: self.part.clone(),
            name: self.name.into(),
            value: quantity::label(self.value),
            calibrated_to: self.calibrated_to.clone(),
        }
    }
    /// `samsung-pm1743: nand.blocks`
    pub(super) fn shown(&self) -> String {
        format!("{}: {}", self.part, self.name)
    }
    /// The settings of an end, without the component.
    pub(super) fn told(&self, sets: &[String]) -> String {
        let prefix = format!("machine.{}.", self.component);
        let of = |set: &String| set.strip_prefix(&prefix).unwrap_or(set).to_owned();
        let all: Vec<String> = sets.iter().map(of).collect();
        let own = format!("{}=", self.name);
        all.join(", ").replacen(&own, "", 1)
    }
}

/// Every assumed or calibrated number of the first variant, with its ends.
pub(crate) fn numbers(plan: &Plan, ranges: &[Range]) -> Vec<Number> {
    let machine = &plan.variants[0].machine;
    machine.iter().flat_map(|component| of_component(plan, component, ranges)).collect()
}

fn of_component(plan: &Plan, component: &ComponentPlan, ranges: &[Range]) -> Vec<Number> {
    let part = component.part.as_deref().unwrap_or(component.model.name);
    let known = plan.assumptions();
    let number = |(name, origin): (&&'static str, &Origin)| {
        if !matches!(origin, Origin::Default | Origin::Part) {
            return None;
        }
        let found = known.iter().find(|found| found.part == part && found.parameter == *name)?;
        let value = component.params.0[*name];
        let param = component.model.all_params().find(|param| param.name == *name)?;
        let range = ranges.iter().find(|range| range.part == part && range.name == *name);
        let set = |change: &str| format!("machine.{}.{}", component.name, change.trim());
        let given = |end: &str| vec![end.split(',').map(set).collect::<Vec<_>>()];
        let general = |side: usize| {
            let values = candidates(param, value, side).into_iter();
            let written = |value| quantity::label(value).replace(' ', "");
            values.map(|value| vec![set(&format!("{name}={}", written(value)))]).collect()
        };
        Some(Number {
            component: component.name.clone(),
            part: part.to_owned(),
            name,
            value,
            calibrated_to: (found.kind == NumberKind::Calibrated).then(|| found.note.clone()),
            ends: [0, 1].map(|side| range.map_or_else(|| general(side), |range| given(range.ends[side]))),
        })
    };
    component.origins.iter().filter_map(number).collect()
}

/// Half and what lies between, or double and what lies between, in hundredths.
const FACTORS: [[u64; 4]; 2] = [[50, 75, 90, 95], [200, 150, 110, 105]];

/// What a number can be moved to on one side, the farthest first.
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
            FACTORS[side].map(|factor| Value::Ratio((ratio * factor as f64 / 100.0).min(1.0))).to_vec()
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
