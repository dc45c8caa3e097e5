//! Parameters that cannot matter beside the values of others: of flash in a drive without flash, of a table that is
//! switched off. Whoever sets one means something that does not happen.

use Matters::{Above0, Is, On};
use lanetwin_ports::{Model, Params};

/// A parameter that changes nothing, whatever its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unheeded {
    /// The parameter.
    pub parameter: &'static str,
    /// Why it changes nothing.
    pub why: String,
}

/// What has to hold for parameters to matter.
#[derive(Clone, Copy)]
enum Matters {
    /// The choice is this word.
    Is(&'static str),
    /// The flag is set.
    On,
    /// The count is not 0.
    Above0,
}

/// Some parameters of a model, and the one that they hang on.
struct Rule {
    model: &'static str,
    /// Names, or with a point at the end all below it but the one they hang on.
    of: &'static [&'static str],
    on: &'static str,
    matters: Matters,
}

const fn rule(model: &'static str, of: &'static [&'static str], on: &'static str, matters: Matters) -> Rule {
    Rule { model, of, on, matters }
}

const RULES: &[Rule] = &[
    rule("nvme-ssd", &["nand.", "ftl."], "medium", Is("nand")),
    rule("nvme-ssd", &["cross-point."], "medium", Is("cross-point")),
    rule("nvme-ssd", &["nand.suspend."], "nand.suspend", On),
    rule("nvme-ssd", &["ftl.slc."], "ftl.slc.blocks", Above0),
    rule("nvme-ssd", &["ftl.read-ahead."], "ftl.read-ahead.streams", Above0),
    rule("nvme-ssd", &["encryption."], "encryption", On),
    rule("root-complex", &["iommu.", "iotlb."], "iommu", On),
];

/// Every parameter of the model that changes nothing beside these.
#[must_use]
pub fn unheeded(model: &Model, params: &Params) -> Vec<Unheeded> {
    let rules = || RULES.iter().filter(|rule| rule.model == model.name);
    let why = |name: &str| {
        let broken = rules().find(|rule| rule.is_about(name) && !rule.holds(params))?;
        Some(broken.why())
    };
    let all = model.all_params().map(|param| param.name);
    all.filter_map(|parameter| Some(Unheeded { parameter, why: why(parameter)? })).collect()
}

impl Rule {
    fn is_about(&self, name: &str) -> bool {
        let about = |of: &&str| if of.ends_with('.') { name.starts_with(of) } else { name == *of };
        name != self.on && self.of.iter().any(about)
    }
    fn holds(&self, params: &Params) -> bool {
        match self.matters {
            Is(word) => params.choice(self.on) == word,
            On => params.flag(self.on),
            Above0 => params.count(self.on) > 0,
        }
    }
    fn why(&self) -> String {
        match self.matters {
            Is(word) => format!("`{}` is not `{word}`", self.on),
            On => format!("`{}` is off", self.on),
            Above0 => format!("`{}` is 0", self.on),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_ports::{Dimension, Value};

    /// The parameters of a model by default.
    fn defaults(model: &Model) -> Params {
        let mut params = Params::default();
        for param in model.all_params() {
            let value = match param.dimension {
                Dimension::Flag => Some(Value::Flag(param.default == Some("true"))),
                Dimension::Choice(_) => param.default.map(Value::Choice),
                Dimension::Count { .. } => param.default.and_then(|text| text.parse().ok()).map(Value::Count),
                _ => None,
            };
            params.0.extend(value.map(|value| (param.name, value)));
        }
        params
    }

    #[test]
    fn rules_are_about_parameters_that_there_are() {
        for rule in RULES {
            let model = crate::MODELS.iter().find(|model| model.name == rule.model).expect("a model");
            let names: Vec<&str> = model.all_params().map(|param| param.name).collect();
            assert!(names.contains(&rule.on), "{}", rule.on);
            for of in rule.of {
                let one = Rule { of: std::slice::from_ref(of), ..*rule };
                assert!(names.iter().any(|name| one.is_about(name)), "{of}");
            }
            if let (Is(word), Some(param)) = (rule.matters, model.all_params().find(|p| p.name == rule.on)) {
                assert!(
                    matches!(param.dimension, Dimension::Choice(words) if words.contains(&word)),
                    "{word}"
                );
            }
        }
    }

    #[test]
    fn what_is_switched_off_is_unheeded_and_what_is_on_is_not() {
        let mut params = defaults(&crate::nvme_ssd::MODEL);
        let found = |params: &Params| {
            let all = unheeded(&crate::nvme_ssd::MODEL, params);
            move |name: &str| all.iter().find(|one| one.parameter == name).map(|one| one.why.clone())
        };
        let flash = found(&params);
        assert_eq!(flash("cross-point.read").as_deref(), Some("`medium` is not `cross-point`"));
        assert_eq!(flash("encryption.rate").as_deref(), Some("`encryption` is off"));
        assert_eq!(flash("ftl.slc.read").as_deref(), Some("`ftl.slc.blocks` is 0"));
        for heeded in ["nand.read", "medium", "ftl.slc.blocks", "encryption", "nand.suspend.times"] {
            assert_eq!(flash(heeded), None, "{heeded}");
        }
        params.0.insert("medium", Value::Choice("cross-point"));
        params.0.insert("encryption", Value::Flag(true));
        let other = found(&params);
        assert_eq!((other("cross-point.read"), other("encryption.rate")), (None, None));
        assert!(other("nand.read").is_some() && other("ftl.slc.blocks").is_some());
    }
}
