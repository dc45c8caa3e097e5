//! `subsystems:` – the drives that hosts export over a network, and the hosts that reach them.
//!
//! ```text
//!  server ═ nic ── tor ── box-nic ═ box ═ ssd1, ssd2      subsystems:
//!                                                            box: {port: box-nic, namespaces: [ssd1, ssd2]}
//! ```
//!
//! The host above the adapter runs the target; the drives are below the same host. A workload on another host accesses
//! such a drive over the network.

use super::access;
use super::leaving;
use super::transports::{self, Tiny};
use crate::kind::Components;
use crate::language::SUBSYSTEM;
use crate::plan::{
    AssociationPlan, ComponentPlan, ConnectionPlan, End, LinkPlan, Network, PortOffer, SubsystemPlan,
    TransportPlan, Wires,
};
use crate::problem::network::Problem;
use lanetwin_document::fields::{Fields, Said, check_name, is_map, join};
use lanetwin_document::node::{Node, Spot};
use lanetwin_document::problem::Reports;
use lanetwin_document::quantity;
use lanetwin_ports::{Capability, Protocol, Value};
use lanetwin_units::Bytes;
use std::collections::BTreeSet;

/// Finds a component by its name at a place; reports an error if there is none.
pub(super) type Find<'a> = dyn Fn(&str, (Spot, &str), &mut Reports) -> Option<usize> + 'a;

/// The context in which subsystems are read.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub machine: &'a dyn Components,
    /// Number of components.
    pub components: usize,
    pub find: &'a Find<'a>,
    pub links: &'a [LinkPlan],
}

impl<'a> Place<'a> {
    fn plan(&self, component: usize) -> Option<&'a ComponentPlan> {
        self.machine.plan(component)
    }
    /// The host above a component.
    fn host_above(&self, component: usize) -> Option<usize> {
        let above = self.links.iter().find(|link| link.far().component == component);
        above.map(|link| link.root_port.component)
    }
    /// The RDMA adapters below a host.
    fn adapters(&self, host: usize) -> impl Iterator<Item = usize> {
        (0..self.components).filter(move |component| {
            self.plan(*component).is_some_and(is_adapter) && self.host_above(*component) == Some(host)
        })
    }
    fn port_of(&self, component: usize) -> Option<End> {
        Some(End { component, port: self.plan(component)?.port(Protocol::Ethernet)? })
    }
    fn mtu(&self, component: usize) -> u32 {
        match self.plan(component).and_then(|plan| plan.params.0.get("ethernet.mtu")) {
            Some(Value::Size(Bytes(bytes))) => (*bytes).min(9216) as u32,
            _ => 1500,
        }
    }
    fn is_ethernet_switch(&self, component: usize) -> bool {
        self.plan(component).is_some_and(ComponentPlan::is_ethernet_switch)
    }
}

/// Reads the section into the network. Returns the section with every default filled in.
pub(super) fn read(
    node: Option<&Node>,
    place: Place<'_>,
    network: &mut Network,
    reports: &mut Reports,
) -> Option<Node> {
    let Some(node) = node else { return Some(Node::map::<&str>([])) };
    if !is_map(node, "subsystems", reports) {
        return None;
    }
    let mut complete = Vec::new();
    for entry in node.entries() {
        let path = join("subsystems", &entry.key);
        check_name(&entry.key, entry.spot, &path, reports);
        let Some(mut fields) = Fields::open(&entry.value, &path, SUBSYSTEM, &[], reports) else { continue };
        let read = subsystem(&entry.key, &mut fields, (place, network), reports);
        complete.push((entry.key.clone(), fields.finish()));
        let Some(subsystem) = read else { continue };
        network.subsystems.push(subsystem);
        if !reports.has_errors() {
            associate(network, place, (entry.spot, &path), reports);
        }
    }
    Some(Node::map(complete))
}

fn subsystem(
    name: &str,
    fields: &mut Fields<'_>,
    (place, network): (Place<'_>, &Network),
    reports: &mut Reports,
) -> Option<SubsystemPlan> {
    let (host, ports) = ports(fields, place, reports)?;
    let (names, _) = fields.names("namespaces", "the name of a drive", reports)?;
    let path = fields.at("namespaces");
    let mut namespaces = Vec::new();
    for said in &names {
        let drive = namespace((said, &path, name), host, (place, network), reports)?;
        if namespaces.contains(&drive) {
            let (device, one, other) = (said.value.clone(), name.to_owned(), name.to_owned());
            reports.add(Problem::OfferedTwice { device, one, other }, said.spot, &path);
            return None;
        }
        namespaces.push(drive);
    }
    let hosts = match fields.written("hosts") {
        None => None,
        Some(_) => Some(hosts(fields, place, reports)?),
    };
    let transport = transports::read(name, fields, (&ports, place.machine, network), reports)?;
    let offload = offload(fields, (&ports, transport), (place, network), reports)?;
    let in_drives = in_drives(fields, (&namespaces, transport), place, reports)?;
    let labels: Vec<String> = ports.iter().map(|port| place.machine.label(port.adapter)).collect();
    let access = access::read(fields, (&ports, &labels), reports)?;
    let find = |said: &Said<String>, path: &str, reports: &mut Reports| initiator(said, path, place, reports);
    let leaves = leaving::read(fields, (&ports, &labels), &find, reports)?;
    let name = name.to_owned();
    Some(SubsystemPlan {
        name,
        host,
        ports,
        access,
        leaves,
        namespaces,
        hosts,
        transport,
        offload,
        in_drives,
    })
}

/// Whether data are staged in the memory of the drives; reports drives without memory.
fn in_drives(
    fields: &mut Fields<'_>,
    (namespaces, transport): (&[usize], TransportPlan),
    place: Place<'_>,
    reports: &mut Reports,
) -> Option<bool> {
    let is_on = match fields.written("staging") {
        Some(_) => fields.one("staging", reports)?.value == Value::Choice("drive"),
        None => false,
    };
    if !is_on {
        return Some(false);
    }
    if transport.is_tcp() {
        fields.fault("staging", Problem::StagingOfTcp, reports);
        return None;
    }
    let has_none = |drive: &&usize| {
        let said = place.plan(**drive).and_then(|plan| plan.params.0.get("cmb"));
        !matches!(said, Some(Value::Size(Bytes(bytes))) if *bytes > 0)
    };
    if let Some(drive) = namespaces.iter().find(has_none) {
        let name = place.machine.label(*drive);
        fields.fault("staging", Problem::NoDriveMemory { name }, reports);
        return None;
    }
    Some(true)
}

/// Whether the adapter itself is the target; reports adapters that cannot be.
fn offload(
    fields: &mut Fields<'_>,
    (ports, transport): (&[PortOffer], TransportPlan),
    (place, network): (Place<'_>, &Network),
    reports: &mut Reports,
) -> Option<bool> {
    let is_on = match fields.written("offload") {
        Some(_) => fields.one("offload", reports)?.value == Value::Flag(true),
        None => false,
    };
    let label = |port: &PortOffer| place.machine.label(port.adapter);
    let differs = |other: &&SubsystemPlan| other.offload != is_on;
    for other in network.subsystems.iter().filter(differs) {
        let is_its = |port: &&PortOffer| other.ports.iter().any(|its| its.adapter == port.adapter);
        if let Some(port) = ports.iter().find(is_its) {
            let (port, other) = (label(port), other.name.clone());
            fields.fault("offload", Problem::TwoTargets { port, other }, reports);
            return None;
        }
    }
    if !is_on {
        return Some(false);
    }
    let can = |port: &&PortOffer| {
        place.plan(port.adapter).and_then(|plan| plan.params.0.get("offload")) == Some(&Value::Flag(true))
    };
    if let Some(port) = ports.iter().find(|port| !can(port)) {
        fields.fault("offload", Problem::NoOffload { name: label(port) }, reports);
        return None;
    }
    if transport.is_tcp() {
        fields.fault("offload", Problem::OffloadOfTcp, reports);
        return None;
    }
    if let [first, other, ..] = ports {
        fields.fault("offload", Problem::OffloadByTwo { one: label(first), other: label(other) }, reports);
        return None;
    }
    Some(true)
}

/// The host that runs the target, and its adapters through which the subsystem is reached.
fn ports(
    fields: &mut Fields<'_>,
    place: Place<'_>,
    reports: &mut Reports,
) -> Option<(usize, Vec<PortOffer>)> {
    let (names, _) = fields.names("port", "the name of an adapter", reports)?;
    let path = fields.at("port");
    let mut found: Vec<(usize, PortOffer)> = Vec::new();
    for said in &names {
        let (host, adapter) = adapter(said, &path, place, reports)?;
        let name = said.value.clone();
        if found.iter().any(|(_, other)| other.adapter == adapter) {
            reports.add(Problem::PortTwice { name }, said.spot, &path);
            return None;
        }
        if let Some((first, _)) = found.first().filter(|(first, _)| *first != host) {
            let [one, other] = [*first, host].map(|host| place.machine.label(host));
            reports.add(Problem::PortOfAnother { name, one, other }, said.spot, &path);
            return None;
        }
        found.push((host, PortOffer { adapter, optimized: true }));
    }
    let &(host, _) = found.first()?;
    let mut ports: Vec<PortOffer> = found.into_iter().map(|(_, port)| port).collect();
    if fields.written("non-optimized").is_some() {
        let (others, _) = fields.names("non-optimized", "the name of an adapter", reports)?;
        for said in others {
            let at = names.iter().position(|port| port.value == said.value);
            let Some(port) = at.and_then(|at| ports.get_mut(at)) else {
                let problem = Problem::NotOneOfPorts { name: said.value };
                reports.add(problem, said.spot, &fields.at("non-optimized"));
                return None;
            };
            port.optimized = false;
        }
    }
    Some((host, ports))
}

/// An adapter, and the host above it.
fn adapter(
    said: &Said<String>,
    path: &str,
    place: Place<'_>,
    reports: &mut Reports,
) -> Option<(usize, usize)> {
    let adapter = (place.find)(&said.value, (said.spot, path), reports)?;
    let host = place.host_above(adapter).filter(|_| place.plan(adapter).is_some_and(is_adapter));
    // an error in a link was reported already
    if host.is_none() && !(place.plan(adapter).is_some_and(is_adapter) && reports.has_errors()) {
        reports.add(Problem::NotAnAdapter { name: said.value.clone() }, said.spot, path);
    }
    Some((host?, adapter))
}

/// A drive of the host; reports one that another subsystem has.
fn namespace(
    (said, path, name): (&Said<String>, &str, &str),
    host: usize,
    (place, network): (Place<'_>, &Network),
    reports: &mut Reports,
) -> Option<usize> {
    let drive = (place.find)(&said.value, (said.spot, path), reports)?;
    let (device, target) = (said.value.clone(), place.machine.label(host));
    if !place.plan(drive)?.model.can(Capability::NvmeQueues) {
        reports.add(Problem::NotADrive { name: device }, said.spot, path);
        return None;
    }
    if place.host_above(drive) != Some(host) {
        reports.add(Problem::NotOfTarget { device, target }, said.spot, path);
        return None;
    }
    if let Some(other) = network.subsystems.iter().find(|other| other.namespaces.contains(&drive)) {
        let (one, other) = (name.to_owned(), other.name.clone());
        reports.add(Problem::OfferedTwice { device, one, other }, said.spot, path);
        return None;
    }
    Some(drive)
}

fn hosts(fields: &mut Fields<'_>, place: Place<'_>, reports: &mut Reports) -> Option<Vec<usize>> {
    let (names, _) = fields.names("hosts", "the name of a host", reports)?;
    let path = fields.at("hosts");
    let found: Vec<_> = names.iter().map(|said| initiator(said, &path, place, reports)).collect();
    found.into_iter().collect()
}
/// A host that may connect.
fn initiator(said: &Said<String>, path: &str, place: Place<'_>, reports: &mut Reports) -> Option<usize> {
    let component = (place.find)(&said.value, (said.spot, path), reports)?;
    if place.plan(component)?.is_host() {
        return Some(component);
    }
    // a DPU connects through the processor inside it
    if let Some(host) = place.machine.host_beside(component) {
        return Some(host);
    }
    reports.add(Problem::NotAnInitiator { name: said.value.clone() }, said.spot, path);
    None
}

/// Whether a component is an RDMA adapter.
fn is_adapter(plan: &ComponentPlan) -> bool {
    plan.model.can(Capability::Rdma) && plan.has(Protocol::Pcie) && plan.has(Protocol::Ethernet)
}
/// Finds the paths from each host to the subsystem that was added last; warns of packets that get lost.
fn associate(network: &mut Network, place: Place<'_>, (spot, path): (Spot, &str), reports: &mut Reports) {
    let number = network.subsystems.len() - 1;
    let subsystem = network.subsystems[number].clone();
    let wires = network.wires(|component| place.is_ethernet_switch(component));
    let mut reached = BTreeSet::new();
    for host in 0..place.components {
        let is_host = place.plan(host).is_some_and(ComponentPlan::is_host);
        if !is_host || host == subsystem.host {
            continue;
        }
        let ways = ways(host, &subsystem.ports, place, &wires);
        let asked = subsystem.hosts.as_ref().is_some_and(|hosts| hosts.contains(&host));
        if ways.is_empty() && asked {
            let from = format!("`{}`", place.machine.label(host));
            report_unreachable(from, (&subsystem, subsystem.ports[0].adapter), place, (spot, path), reports);
        }
        if !asked && subsystem.hosts.is_some() {
            continue;
        }
        for way in ways {
            reached.insert(way.port.adapter);
            if let Some(connection) = connection(host, &subsystem, &way, place, (spot, path), reports) {
                let Way { adapter, port, .. } = way;
                network.associations.push(AssociationPlan {
                    host,
                    adapter,
                    subsystem: number,
                    port,
                    connection,
                });
            }
        }
    }
    let named = subsystem.leaves.iter().filter_map(|leave| leave.host);
    for host in named {
        let mut all = network.associations.iter();
        if !all.any(|own| (own.host, own.subsystem) == (host, number)) && !reports.has_errors() {
            let from = format!("`{}`", place.machine.label(host));
            report_unreachable(from, (&subsystem, subsystem.ports[0].adapter), place, (spot, path), reports);
        }
    }
    if let Some(lonely) = subsystem.ports.iter().find(|port| !reached.contains(&port.adapter))
        && !reports.has_errors()
    {
        let from = "any other host".to_owned();
        report_unreachable(from, (&subsystem, lonely.adapter), place, (spot, path), reports);
    }
}

fn report_unreachable(
    from: String,
    (subsystem, port): (&SubsystemPlan, usize),
    place: Place<'_>,
    (spot, path): (Spot, &str),
    reports: &mut Reports,
) {
    let (to, name) = (place.machine.label(port), subsystem.name.clone());
    reports.add(Problem::Unreachable { from, to, name }, spot, path);
}

/// A path from a host to a port, over these switches.
struct Way {
    adapter: usize,
    port: PortOffer,
    passed: BTreeSet<usize>,
}

/// The paths from a host to each port that it reaches, each through the adapter with the fewest paths so far, so that
/// two adapters share the ports evenly.
fn ways(host: usize, ports: &[PortOffer], place: Place<'_>, wires: &Wires) -> Vec<Way> {
    let mut found: Vec<Way> = Vec::new();
    for port in ports {
        let reach = |adapter| Some((adapter, way((adapter, port.adapter), place, wires)?));
        let load = |(adapter, _): &(usize, _)| found.iter().filter(|way| way.adapter == *adapter).count();
        let best = place.adapters(host).filter_map(reach).min_by_key(load);
        found.extend(best.map(|(adapter, passed)| Way { adapter, port: *port, passed }));
    }
    found
}

/// The transport of a path's connections, within the frame size; warns of packets that get lost.
fn connection(
    host: usize,
    subsystem: &SubsystemPlan,
    way: &Way,
    place: Place<'_>,
    (spot, path): (Spot, &str),
    reports: &mut Reports,
) -> Option<ConnectionPlan> {
    let label = |component: usize| place.machine.label(component);
    let frames = place.mtu(way.adapter).min(place.mtu(way.port.adapter));
    let connection = match transports::over(subsystem.transport, frames) {
        Ok(connection) => connection,
        Err(Tiny { what, least }) => {
            let (name, mtu, least) = (label(way.adapter), written(frames), written(least));
            reports.add(Problem::TinyMtu { name, mtu, what, least }, spot, path);
            return None;
        }
    };
    let needed = transports::most(connection);
    if let Some(narrow) = way.passed.iter().copied().find(|switch| place.mtu(*switch) < needed) {
        let (switch, has, from) = (label(narrow), written(place.mtu(narrow)), label(host));
        let (name, needed) = (format!("subsystem `{}`", subsystem.name), written(needed));
        let problem = Problem::BlackHole { from, name, switch, has, needed };
        reports.add(problem, spot, path);
    }
    Some(connection)
}

fn written(bytes: u32) -> String {
    quantity::written(Value::Size(Bytes(bytes.into())))
}

/// The switches that frames between two adapters may pass; `None` if there is no path.
fn way((from, to): (usize, usize), place: Place<'_>, wires: &Wires) -> Option<BTreeSet<usize>> {
    let [from, to] = [from, to].map(|adapter| wires.station(place.port_of(adapter)?));
    wires.passed(from?, to?)
}
