//! A stage in a link: a retimer, a redriver, or a plain latency.

use crate::catalogue::{Catalogue, Part};
use crate::problem::Problem;
use crate::values::time;
use lanetwin_document::fields;
use lanetwin_document::node::{Node, Spot};
use lanetwin_document::problem::Reports;
use lanetwin_document::quantity;
use lanetwin_document::spelling::Near;
use lanetwin_pcie::spec::extension::ExtensionKind;
use lanetwin_ports::{Dimension, Params, Value};
use lanetwin_units::{Generation, Span};

/// A stage in a link, before the settings of the link are known.
pub(super) enum Stage {
    /// A latency and nothing else.
    Latency(Span),
    /// A retimer or a redriver.
    Part { name: String, model: &'static lanetwin_ports::Model, params: Params, spot: Spot },
}

impl Stage {
    /// The value of one of its parameters, and the name of the part; `None` for a plain latency.
    pub(super) fn count(&self, param: &str) -> Option<(u64, &str)> {
        match self {
            Self::Latency(_) => None,
            Self::Part { name, params, .. } => Some((params.count(param), name)),
        }
    }
    /// Whether it is a retimer.
    pub(super) fn is_retimer(&self) -> bool {
        // the parameter for its generation does not make it a retimer
        let Self::Part { model, params, .. } = self else { return false };
        let extension = model.extension(params, Generation::Gen1);
        extension.is_some_and(|extension| matches!(extension.kind, ExtensionKind::Retimer { .. }))
    }
    /// Its entry in the scenario, complete.
    pub(super) fn written(&self) -> Node {
        Node::scalar(match self {
            Self::Latency(latency) => quantity::written(Value::Time(*latency)),
            Self::Part { name, .. } => name.clone(),
        })
    }
}

/// Reads a stage: a time, or the name of a part.
pub(super) fn read(node: &Node, path: &str, catalogue: &Catalogue, reports: &mut Reports) -> Option<Stage> {
    let text = fields::scalar(node, "a time, or the name of a part", path, reports)?;
    // names begin with a letter
    if !text.trim_start().starts_with(|c: char| c.is_ascii_alphabetic()) {
        return fields::read(node, Dimension::Time, path, reports).map(|value| Stage::Latency(time(value)));
    }
    let extensions = || catalogue.parts().filter(|part| part.model.is_extension());
    let Some(part) = catalogue.find(text) else {
        let near = Near::of(text, extensions().map(|part| &*part.name));
        reports.add(Problem::UnknownPart { name: text.into(), near }, node.spot, path);
        return None;
    };
    if !part.model.is_extension() {
        let problem = Problem::NotInLink { part: text.into(), model: part.model.name };
        reports.add(problem, node.spot, path);
        return None;
    }
    Some(Stage::Part { name: text.into(), model: part.model, params: params(part), spot: node.spot })
}

/// The numbers of a part, with the defaults of its model.
fn params(part: &Part) -> Params {
    let value = |param: &lanetwin_ports::Param| {
        let said = part.parameters.get(param.name).map(|number| number.value);
        let default =
            || fields::default(param.dimension, param.default.expect("a stage needs no word of its user"));
        (param.name, said.unwrap_or_else(default))
    };
    Params(part.model.all_params().map(value).collect())
}
