//! `via:` of a link: retimers, redrivers, and plain latencies.

use super::link::Link;
use super::stage::{self, Stage};
use crate::catalogue::Catalogue;
use crate::plan::Via;
use crate::problem::Problem;
use lanetwin_document::node::{Kind, Node};
use lanetwin_document::problem::Reports;
use lanetwin_pcie::spec::constants::RETIMERS_MAX;
use lanetwin_pcie::spec::extension::{Extension, ExtensionKind, drift_bits};
use lanetwin_pcie::spec::{Clocking, Mps};
use lanetwin_ports::{Params, Way};
use lanetwin_units::{Generation, Width};

/// The settings of a link that its stages depend on.
#[derive(Clone, Copy)]
pub(super) struct Running {
    pub generation: Generation,
    pub width: Width,
    pub mps: u16,
    pub clocking: Clocking,
}

impl Link<'_> {
    /// Reads and completes the stages; `None` after an error in one of them.
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
            items.iter().map(|item| stage::read(item, &path, catalogue, reports)).collect();
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

    /// The stages for a link with these settings.
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
