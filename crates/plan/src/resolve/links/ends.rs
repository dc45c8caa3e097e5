//! The ends of a link: a component and one of its ports.

use super::ethernet::speaks_ethernet;
use crate::plan::{ComponentPlan, CxlRole, End, PortPlan};
use crate::problem::Problem;
use crate::resolve::components::Machine;
use crate::resolve::wiring::Wiring;
use lanetwin_document::fields::{self, Fields};
use lanetwin_document::node::Spot;
use lanetwin_document::problem::{Reports, quoted};
use lanetwin_document::spelling::Near;
use lanetwin_ports::Protocol;

/// The name at a link's end.
pub(super) struct Named {
    pub component: usize,
    /// The port, or the group of equal ports; `None` if only the component is named.
    pub port: Option<String>,
    pub spot: Spot,
    pub path: String,
}

/// Reads the name at an end. Names inside assemblies contain a point.
pub(super) fn end(
    fields: &Fields<'_>,
    (key, is_inside): (&str, bool),
    machine: &Machine,
    reports: &mut Reports,
) -> Option<Named> {
    let path = fields.at(key);
    let node = fields.written(key)?;
    let text = fields::scalar(node, "a component or one of its ports", &path, reports)?;
    let named = |component, port: Option<&str>| {
        Some(Named { component, port: port.map(str::to_owned), spot: node.spot, path: path.clone() })
    };
    if is_inside {
        let slots = machine.components.iter().enumerate();
        let rest = |name: &str| {
            let rest = text.strip_prefix(name)?;
            if rest.is_empty() { Some(None) } else { rest.strip_prefix('.').map(Some) }
        };
        let found = slots.filter_map(|(component, slot)| Some((component, rest(&slot.name)?))).next();
        let Some((component, port)) = found else {
            let (near, known) = (Near::default(), quoted(machine.components.iter().map(|slot| &*slot.name)));
            reports.add(Problem::UnknownComponent { name: text.into(), known, near }, node.spot, &path);
            return None;
        };
        return named(component, port);
    }
    let (component, port) =
        text.split_once('.').map_or((text, None), |(component, port)| (component, Some(port)));
    let Some(assembled) = machine.assembly(component) else {
        let component = machine.find(component, node.spot, &path, reports)?;
        return named(component, port);
    };
    let mut ports = assembled.ports.keys();
    let (outer, several) = (port.or_else(|| ports.next().map(|name| &**name)), ports.next().is_some());
    let names = || assembled.ports.keys().map(|name| &**name);
    match outer.and_then(|outer| assembled.ports.get(outer)) {
        Some(_) if port.is_none() && several => {
            let (component, fits) = (assembled.name.clone(), quoted(names()));
            reports.add(Problem::AmbiguousPort { component, fits }, node.spot, &path);
            None
        }
        Some((inner, port)) => named(*inner, Some(port)),
        None => {
            let port = port.unwrap_or_default();
            let (near, known) = (Near::of(port, names()), quoted(names()));
            let component = assembled.name.clone();
            reports.add(Problem::UnknownPort { component, port: port.into(), known, near }, node.spot, &path);
            None
        }
    }
}

pub(super) fn is_exact(named: &Named, machine: &Machine) -> bool {
    let plan = machine.plan(named.component);
    plan.is_some_and(|plan| plan.ports.iter().any(|port| named.port.as_ref() == Some(&port.name)))
}

/// The link for which a port is taken.
#[derive(Clone, Copy)]
pub(super) struct Joined<'a> {
    /// The link.
    pub link: &'a str,
    /// The CXL role of the component at the other end.
    pub far: Option<CxlRole>,
    /// Whether the other end is an Ethernet port and nothing else.
    pub ethernet: bool,
    /// Whether the port is at its second end.
    pub is_to: bool,
}

pub(super) fn role(named: Option<&Named>, machine: &Machine) -> Option<CxlRole> {
    machine.plan(named?.component)?.cxl_role()
}

/// Whether an end is Ethernet: an Ethernet port, or an Ethernet switch.
pub(super) fn is_ethernet(named: Option<&Named>, machine: &Machine) -> bool {
    let plan = named.and_then(|named| machine.plan(named.component));
    plan.is_some_and(|plan| speaks_ethernet(plan, named.and_then(|named| named.port.as_deref())))
}

/// Whether an end names an adapter without a port; adapters have a PCIe and an Ethernet port. A link between two of
/// them is a cable, since no adapter is a root of PCIe.
pub(super) fn is_unnamed_adapter(named: Option<&Named>, machine: &Machine) -> bool {
    let unnamed = named.filter(|named| named.port.is_none());
    let plan = unnamed.and_then(|named| machine.plan(named.component));
    plan.is_some_and(|plan| plan.has(Protocol::Pcie) && plan.has(Protocol::Ethernet))
}

/// Whether a port of a component fits a link that names none. It follows from the component's other ports and, for a
/// CXL switch, from the other end.
fn fits_unnamed(plan: &ComponentPlan, port: &PortPlan, joined: Joined<'_>) -> bool {
    if joined.ethernet || plan.is_ethernet_switch() {
        return port.speaks == Protocol::Ethernet;
    }
    let wanted = [Protocol::Pcie, Protocol::Cxl].into_iter().find(|protocol| plan.has(*protocol));
    if port.speaks != wanted.unwrap_or(Protocol::Block) {
        return false;
    }
    let is_up = match joined.far {
        Some(CxlRole::Host) => true,
        Some(CxlRole::Device) => false,
        Some(CxlRole::Switch) | None => joined.is_to,
    };
    plan.cxl_role() != Some(CxlRole::Switch) || port.many != is_up
}

/// Finds the port for an end, and marks it as taken.
pub(super) fn take(
    named: &Named,
    joined: Joined<'_>,
    machine: &Machine,
    wiring: &mut Wiring,
    reports: &mut Reports,
) -> Option<End> {
    let plan = machine.plan(named.component)?;
    let port = match &named.port {
        Some(name) => match plan.ports.iter().position(|port| port.name == *name) {
            Some(port) => port,
            None if plan.ports.iter().any(|port| port.group == name) => {
                free_port(named, plan, (|port| port.group == name, joined.ethernet), wiring, reports)?
            }
            None => {
                let names = || plan.ports.iter().map(|port| &*port.name);
                let near = Near::of(name, names());
                let problem = Problem::UnknownPort {
                    component: plan.name.clone(),
                    port: name.clone(),
                    known: quoted(names()),
                    near,
                };
                reports.add(problem, named.spot, &named.path);
                return None;
            }
        },
        None => {
            let fits = |port: &PortPlan| fits_unnamed(plan, port, joined);
            free_port(named, plan, (fits, joined.ethernet), wiring, reports)?
        }
    };
    let end = End { component: named.component, port };
    if let Some(link) = wiring.taken.get(&end) {
        let port = format!("{}.{}", plan.name, plan.ports[port].name);
        reports.add(Problem::PortTaken { port, link: link.clone() }, named.spot, &named.path);
        return None;
    }
    wiring.taken.insert(end, joined.link.to_owned());
    Some(end)
}

/// The first free port that fits, if all fitting ports are equal.
fn free_port(
    named: &Named,
    plan: &ComponentPlan,
    (fits, is_cable): (impl Fn(&PortPlan) -> bool, bool),
    wiring: &Wiring,
    reports: &mut Reports,
) -> Option<usize> {
    let free = |port: &usize| !wiring.taken.contains_key(&End { component: named.component, port: *port });
    let ports: Vec<usize> =
        (0..plan.ports.len()).filter(|port| fits(&plan.ports[*port]) && free(port)).collect();
    let Some(first) = ports.first() else {
        let wanted = match (plan.has(Protocol::Pcie), plan.has(Protocol::Cxl)) {
            (true, _) if is_cable => "Ethernet",
            (true, _) => "PCIe",
            (false, true) => "CXL",
            _ if plan.is_ethernet_switch() => "Ethernet",
            (false, false) => "PCIe, CXL or block",
        };
        let problem = Problem::NoPort { component: plan.name.clone(), wanted: wanted.into() };
        reports.add(problem, named.spot, &named.path);
        return None;
    };
    if ports.iter().any(|port| plan.ports[*port].group != plan.ports[*first].group) {
        let names: Vec<String> =
            ports.iter().map(|port| format!("{}.{}", plan.name, plan.ports[*port].name)).collect();
        let fits = quoted(names.iter().map(|name| &**name));
        reports.add(Problem::AmbiguousPort { component: plan.name.clone(), fits }, named.spot, &named.path);
        return None;
    }
    Some(*first)
}

/// The name of a protocol.
pub(super) const fn protocol(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Pcie => "PCIe",
        Protocol::Dma => "DMA commands",
        Protocol::Block => "block requests",
        Protocol::Cpu => "the processor's side",
        Protocol::Inside => "what runs within",
        Protocol::Cxl => "CXL",
        Protocol::Ethernet => "Ethernet",
    }
}
