//! A component of `machine:`: its part, its model, its parameters and ports.

use crate::catalogue::{Catalogue, Part, find_model};
use crate::language::COMPONENT;
use crate::plan::{ComponentPlan, PortPlan};
use crate::problem::Problem;
use lanetwin_document::fields::{self, Fields, is_map, join};
use lanetwin_document::node::{Entry, Node, Origin};
use lanetwin_document::problem::{Problem as Common, Reports};
use lanetwin_document::quantity;
use lanetwin_document::spelling::Near;
use lanetwin_ports::{Mistake, Model, Param, Params, Protocol, Value, is_latency_between_widths};
use lanetwin_units::Width;
use std::collections::BTreeMap;

/// The parameter for the maximum lane count of a port.
const PORT_WIDTH: &str = "port.width";

/// Reads a component. Returns it, and its entry with every default filled in.
pub(in crate::resolve) fn component(
    entry: &Entry,
    path: &str,
    catalogue: &Catalogue,
    reports: &mut Reports,
) -> Option<(ComponentPlan, Node)> {
    if !is_map(&entry.value, path, reports) {
        return None;
    }
    let (part, model) = part_and_model(&entry.value, path, catalogue, reports)?;
    let names: Vec<&'static str> = model.all_params().map(|param| param.name).collect();
    let mut fields = Fields::open(&entry.value, path, COMPONENT, &names, reports)?;
    fields.text("part", reports);
    fields.text("model", reports);
    let mut params = Params::default();
    let mut origins = BTreeMap::new();
    for param in model.all_params() {
        let Some((value, origin)) = parameter(param, &fields, part, reports) else { continue };
        params.0.insert(param.name, value);
        origins.insert(param.name, origin);
        if origin != Origin::Default || !follows_another(param, model) {
            fields.record(param.name, Node::scalar(quantity::written(value)).by(origin));
        }
    }
    if params.0.len() < names.len() {
        return None;
    }
    if model.is_extension() {
        let problem = Problem::OnlyInLink { name: entry.key.clone(), model: model.name };
        reports.add(problem, entry.spot, path);
        return None;
    }
    for mistake in (model.mistakes)(&params) {
        let Mistake { parameter, problem, remedy } = mistake;
        fields.fault(parameter, Problem::Impossible { parameter, problem, remedy }, reports);
    }
    if let Some(&Value::Count(lanes)) = params.0.get(PORT_WIDTH)
        && Width::from_lanes(lanes).is_none()
    {
        fields.fault(PORT_WIDTH, Problem::ImpossibleWidth { text: format!("x{lanes}") }, reports);
    }
    for mistake in (model.limits)(&params) {
        let Mistake { parameter, problem, remedy } = mistake;
        fields.fault(parameter, Problem::HeldBack { parameter, problem, remedy }, reports);
    }
    let ports = ports(model, &params);
    let part = part.map(|part| part.name.clone());
    Some((ComponentPlan { name: entry.key.clone(), part, model, params, origins, ports }, fields.finish()))
}

/// Whether a parameter without a value follows another one and is left open: a pair of widths without a latency of its
/// own has the switch's, and a drive uses the driver settings of its host.
fn follows_another(param: &Param, model: &Model) -> bool {
    let is_host = model.ports.iter().any(|port| port.speaks == Protocol::Cpu);
    is_latency_between_widths(param.name) || param.is_of_host_software() && !is_host
}

/// The part of a component with its model; or no part, and the model that is named.
fn part_and_model<'c>(
    node: &Node,
    path: &str,
    catalogue: &'c Catalogue,
    reports: &mut Reports,
) -> Option<(Option<&'c Part>, &'static Model)> {
    let (part_path, model_path) = (join(path, "part"), join(path, "model"));
    let written = |key: &str| node.get(key).filter(|node| node.kind != lanetwin_document::node::Kind::Null);
    match (written("part"), written("model")) {
        (Some(node), None) => {
            let name = fields::scalar(node, "the name of a part", &part_path, reports)?;
            let Some(part) = catalogue.find(name) else {
                let assemblies = catalogue.assemblies().map(|assembly| &*assembly.name);
                let near = Near::of(name, catalogue.parts().map(|part| &*part.name).chain(assemblies));
                reports.add(Problem::UnknownPart { name: name.into(), near }, node.spot, &part_path);
                return None;
            };
            Some((Some(part), part.model))
        }
        (None, Some(node)) => {
            let name = fields::scalar(node, "the name of a model", &model_path, reports)?;
            Some((None, find_model(name, node.spot, &model_path, reports)?))
        }
        (Some(_), Some(model)) => {
            reports.add(Common::Exclusive { one: "part", other: "model" }, model.spot, &model_path);
            None
        }
        (None, None) => {
            let about = "the name of a part (`lanetwin parts` lists them)".into();
            reports.add(Common::Missing { key: "part".into(), about }, node.spot, &part_path);
            None
        }
    }
}

/// The value of a parameter and its origin: the scenario, otherwise the part, otherwise the model.
fn parameter(
    param: &Param,
    fields: &Fields<'_>,
    part: Option<&Part>,
    reports: &mut Reports,
) -> Option<(Value, Origin)> {
    if let Some(node) = fields.written(param.name) {
        return Some((fields::read(node, param.dimension, &fields.at(param.name), reports)?, node.origin));
    }
    if let Some(number) = part.and_then(|part| part.parameters.get(param.name)) {
        return Some((number.value, Origin::Part));
    }
    if let Some(default) = param.default {
        return Some((fields::default(param.dimension, default), Origin::Default));
    }
    let problem = Common::Missing { key: param.name.into(), about: param.about.into() };
    fields.fault(param.name, problem, reports);
    None
}

/// The ports of a component, in the order of their numbers.
fn ports(model: &'static Model, params: &Params) -> Vec<PortPlan> {
    let mut ports = Vec::new();
    for port in model.ports.iter().filter(|port| (model.has_port)(params, port.name)) {
        let plan = |name| PortPlan { name, group: port.name, speaks: port.speaks, many: port.many };
        if port.many {
            ports.extend((0..params.count("ports")).map(|index| plan(format!("{}{index}", port.name))));
        } else {
            ports.push(plan(port.name.to_owned()));
        }
    }
    ports
}
