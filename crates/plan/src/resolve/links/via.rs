//! `via:` of a link: retimers, redrivers, and plain latencies.

use super::{Link, span};
use crate::catalogue::{Catalogue, Part};
use crate::plan::Via;
use crate::problem::Problem;
use lanetwin_document::fields;
use lanetwin_document::node::{Kind, Node, Spot};
use lanetwin_document::problem::Reports;
use lanetwin_document::quantity;
use lanetwin_document::spelling::Near;
use lanetwin_pcie::spec::constants::RETIMERS_MAX;
use lanetwin_pcie::spec::extension::{Extension, ExtensionKind, drift_bits};
use lanetwin_pcie::spec::{Clocking, Mps};
use lanetwin_ports::{Dimension, Params, Value, Way};
use lanetwin_units::{Generation, Span, Width};

/// What stands in a link, before it is known how the link runs.
pub(super) enum Stage {
    /// A latency and nothing else.
    Latency(Span),
    /// A retimer or a redriver.
    Part { name: String, model: &'static lanetwin_ports::Model, params: Params, spot: Spot },
}

impl Stage {
    /// What one of its parameters says, if it is a part.
    pub(super) fn count(&self, param: &str) -> Option<(u64, &str)> {
        match self {
            Self::Latency(_) => None,
            Self::Part { name, params, .. } => Some((params.count(param), name)),
        }
    }
}

/// How a link runs.
#[derive(Clone, Copy)]
pub(super) struct Running {
    pub generation: Generation,
    pub width: Width,
    pub mps: u16,
    pub clocking: Clocking,
}

impl Link<'_> {
    /// Reads the stages, and completes them; none if one of them is not understood.
    pub(super) fn stages(&self, catalogue: &Catalogue, reports: &mut Reports) -> Option<(Vec<Stage>, Node)> {
        let path = self.fields.at("via");
        let Some(node) = self.fields.written("via") else {
            return Some((Vec::new(), Node::list([])));
        };
        let items = match &node.kind {
            Kind::List(items) => &items[..],
            _ => std::slice::from_ref(node),
        };
        let stages: Vec<Option<Stage>> =
            items.iter().map(|item| stage(item, &path, catalogue, reports)).collect();
        let stages = stages.into_iter().collect::<Option<Vec<Stage>>>()?;
        let written = stages.iter().zip(items).map(|(stage, item)| stage.written().by(item.origin));
        let mut written: Vec<Node> = written.collect();
        let complete = match (&node.kind, written.pop()) {
            (Kind::List(_), last) => Node::list(written.into_iter().chain(last)).by(node.origin),
            (_, only) => only.expect("a scalar is one stage"),
        };
        let found = stages.iter().filter(|stage| stage.is_retimer()).count();
        if found as u64 > RETIMERS_MAX {
            self.fields.fault("via", Problem::ManyRetimers { found }, reports);
            return None;
        }
        Some((stages, complete))
    }

    /// What they are in a link that runs like this.
    pub(super) fn via(&self, stages: Vec<Stage>, running: Running, reports: &mut Reports) -> Vec<Via> {
        stages.into_iter().map(|stage| self.one_via(stage, running, reports)).collect()
    }

    fn one_via(&self, stage: Stage, running: Running, reports: &mut Reports) -> Via {
        let (name, model, params, spot) = match stage {
            Stage::Latency(latency) => {
                let params = Params::default();
                return Via { part: None, latency, parameter: None, is_retimer: false, params };
            }
            Stage::Part { name, model, params, spot } => (name, model, params, spot),
        };
        let Running { generation, width, mps, clocking } = running;
        let extension = model.extension(&params, generation);
        let Extension { latency, kind } = extension.expect("a stage was found to stand in links");
        let mut parameter = "latency";
        if let ExtensionKind::Retimer { elasticity } = kind {
            parameter = (model.latency_parameter)(&params, Way::Along(generation));
            let mps = Mps::from_bytes(mps.into()).expect("a payload size of the standard");
            let needed = drift_bits(generation, width, mps, clocking);
            if elasticity < needed {
                let clocking = if clocking == Clocking::Sris { "sris" } else { "srns" };
                let problem =
                    Problem::ShallowBuffer { part: name.clone(), has: elasticity, needed, clocking };
                reports.add(problem, spot, &self.fields.at("via"));
            }
        }
        let is_retimer = matches!(kind, ExtensionKind::Retimer { .. });
        Via { part: Some(name), latency, parameter: Some(parameter), is_retimer, params }
    }
}

impl Stage {
    pub(super) fn is_retimer(&self) -> bool {
        // which generation it runs at makes no retimer of it
        let Self::Part { model, params, .. } = self else { return false };
        let extension = model.extension(params, Generation::Gen1);
        extension.is_some_and(|extension| matches!(extension.kind, ExtensionKind::Retimer { .. }))
    }
    fn written(&self) -> Node {
        Node::scalar(match self {
            Self::Latency(latency) => quantity::written(Value::Time(*latency)),
            Self::Part { name, .. } => name.clone(),
        })
    }
}

fn stage(node: &Node, path: &str, catalogue: &Catalogue, reports: &mut Reports) -> Option<Stage> {
    let text = fields::scalar(node, "a time, or the name of a part", path, reports)?;
    // names open with a letter
    if !text.trim_start().starts_with(|c: char| c.is_ascii_alphabetic()) {
        return fields::read(node, Dimension::Time, path, reports).map(|value| Stage::Latency(span(value)));
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

/// The numbers of a part, and what it leaves out as its model has it.
fn params(part: &Part) -> Params {
    let value = |param: &lanetwin_ports::Param| {
        let said = part.parameters.get(param.name).map(|number| number.value);
        let default =
            || fields::default(param.dimension, param.default.expect("a stage needs no word of its user"));
        (param.name, said.unwrap_or_else(default))
    };
    Params(part.model.all_params().map(value).collect())
}
