//! Parameters of a component that have no effect.

use crate::condition::{Condition, Setting, WithoutEffect};
use crate::model::{Model, Params, Value};
use lanetwin_units::{Bytes, Span};

impl Model {
    /// Every parameter that changes nothing beside these.
    #[must_use]
    pub fn without_effect(&self, params: &Params) -> Vec<WithoutEffect> {
        let broken =
            |name: &str| self.conditions.iter().find(|one| one.is_about(name) && !holds(one, params));
        let names = self.all_params().map(|param| param.name);
        names
            .filter_map(|parameter| Some(WithoutEffect { parameter, why: broken(parameter)?.broken() }))
            .collect()
    }
}

/// Whether a condition holds.
fn holds(condition: &Condition, params: &Params) -> bool {
    match condition.must_be {
        Setting::Word(word) => params.choice(condition.on) == word,
        Setting::Not(word) => params.choice(condition.on) != word,
        Setting::On => params.flag(condition.on),
        Setting::Above0 => {
            let value = params.0.get(condition.on);
            !matches!(
                value,
                Some(Value::Count(0) | Value::Size(Bytes(0)) | Value::Ratio(0.0) | Value::Time(Span::ZERO))
            )
        }
        Setting::Several => params.count(condition.on) > 1,
    }
}
