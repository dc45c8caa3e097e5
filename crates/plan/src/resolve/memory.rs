//! CXL memory: the host of each device, its addresses, and the decoders for them.
//!
//! ```text
//!  0             local DRAM │ node of the first device │ node of the next, or of several that are interleaved │ …
//! ```
//!
//! Every device is a node of its own, unless `interleave:` combines several. A decoder interleaves a window over the
//! ports of one component. Switches interleave the accesses of a port again, so that devices behind switches take
//! turns, too.

use super::components::Machine;
use super::wiring::Wiring;
use crate::language::INTERLEAVE;
use crate::plan::{ComponentPlan, CxlLinkPlan, CxlRole, Decoding, MemoryNode};
use crate::problem::Problem;
use lanetwin_cxl::hdm::Decoder;
use lanetwin_document::fields::{Fields, check_name, is_map, join};
use lanetwin_document::node::{Node, Spot};
use lanetwin_document::problem::Reports;
use lanetwin_document::quantity;
use lanetwin_ports::Value;
use lanetwin_units::Bytes;
use std::collections::{BTreeMap, BTreeSet};

/// Alignment of windows, from the registers of decoders \[B\] (Compute Express Link 2.0, HDM Decoder Base Low).
const ALIGNMENT: u64 = 256 << 20;
/// Granularity of a device that is not interleaved \[B\]; any value would do.
const ALONE: u64 = 4096;
/// The name of a host's own memory; with several sockets, the number of the socket is added.
const LOCAL: &str = "dram";
/// The parameter for a device's size of memory.
const CAPACITY: &str = "capacity";
/// The parameters for a host's memory per socket, and its number of sockets.
const LOCAL_SIZE: &str = "dram.size";
const SOCKETS: &str = "sockets";

/// The memory of a variant.
#[derive(Default)]
pub(super) struct Memory {
    pub nodes: Vec<MemoryNode>,
    pub decoding: Vec<Decoding>,
}

/// Reads the section. Returns the memory, and the section with every default filled in.
pub(super) fn read(
    node: Option<&Node>,
    machine: &Machine,
    wiring: &Wiring,
    reports: &mut Reports,
) -> Option<(Memory, Node)> {
    let understood = !reports.has_errors();
    let (sets, complete) = match node {
        Some(node) => sets(node, machine, reports)?,
        None => (Vec::new(), Node::map::<&str>([])),
    };
    // an error in a link also leaves devices without a host, which is not a second mistake
    if !understood || reports.has_errors() {
        return Some((Memory::default(), complete));
    }
    let tree = Tree { machine, links: &wiring.cxl };
    tree.report_without_host(reports);
    let mut memory = Memory::default();
    if reports.has_errors() {
        return Some((memory, complete));
    }
    for host in (0..machine.components.len()).filter(|c| tree.is(*c, CxlRole::Host)) {
        let nodes = tree.nodes(host, &sets, reports);
        report_overlaps(&nodes, &sets, reports);
        if reports.has_errors() {
            continue;
        }
        let windows = nodes.iter().filter(|node| !node.devices.is_empty()).map(Window::of).collect();
        tree.decode(host, windows, &sets, &mut memory.decoding, reports);
        memory.nodes.extend(nodes);
    }
    report_of_two_hosts(&sets, &tree, reports);
    Some((memory, complete))
}

/// One entry of `interleave:`.
struct Set {
    name: String,
    spot: Spot,
    path: String,
    devices: Vec<usize>,
    granularity: u64,
    base: Option<u64>,
}

impl Set {
    fn fault(&self, problem: Problem, reports: &mut Reports) {
        reports.add(problem, self.spot, &self.path);
    }
}

fn sets(node: &Node, machine: &Machine, reports: &mut Reports) -> Option<(Vec<Set>, Node)> {
    if !is_map(node, "interleave", reports) {
        return None;
    }
    let (mut sets, mut complete) = (Vec::new(), Vec::new());
    for entry in node.entries() {
        let path = join("interleave", &entry.key);
        check_name(&entry.key, entry.spot, &path, reports);
        if machine.components.iter().any(|slot| slot.name == entry.key) {
            let (name, other) = (entry.key.clone(), "a component".into());
            reports.add(Problem::NameOfNode { name, other }, entry.spot, &path);
        }
        let Some(mut fields) = Fields::open(&entry.value, &path, INTERLEAVE, &[], reports) else { continue };
        let devices = devices(&mut fields, machine, reports);
        let granularity = size(&mut fields, "granularity", reports);
        let base = fields.written("base").map(|_| size(&mut fields, "base", reports));
        complete.push((entry.key.clone(), fields.finish()));
        let (Some(devices), Some(granularity)) = (devices, granularity) else { continue };
        let (name, spot) = (entry.key.clone(), entry.spot);
        sets.push(Set { name, spot, path, devices, granularity, base: base.flatten() });
    }
    report_twice(&sets, machine, reports);
    Some((sets, Node::map(complete)))
}

fn devices(fields: &mut Fields<'_>, machine: &Machine, reports: &mut Reports) -> Option<Vec<usize>> {
    let (names, _) = fields.names("targets", "the name of a device", reports)?;
    let path = fields.at("targets");
    let mut devices = Vec::new();
    for said in &names {
        let component = machine.find(&said.value, said.spot, &path, reports)?;
        let plan = machine.plan(component)?;
        if plan.cxl_role() != Some(CxlRole::Device) {
            let what = "is no device with CXL memory".into();
            reports.add(Problem::CannotServe { component: said.value.clone(), what }, said.spot, &path);
            return None;
        }
        if devices.contains(&component) {
            reports.add(Problem::DeviceTwice { name: said.value.clone() }, said.spot, &path);
            return None;
        }
        devices.push(component);
    }
    Some(devices)
}

fn size(fields: &mut Fields<'_>, key: &str, reports: &mut Reports) -> Option<u64> {
    match fields.one(key, reports)?.value {
        Value::Size(Bytes(bytes)) => Some(bytes),
        other => unreachable!("`{key}` is declared as a size, read as {other:?}"),
    }
}

fn report_twice(sets: &[Set], machine: &Machine, reports: &mut Reports) {
    for (i, set) in sets.iter().enumerate() {
        for device in &set.devices {
            if let Some(other) = sets[..i].iter().find(|other| other.devices.contains(device)) {
                let why = format!("both have `{}`", machine.label(*device));
                let (one, other) = (set.name.clone(), other.name.clone());
                let remedy = "name each device in one `interleave` only";
                set.fault(Problem::WindowsOverlap { one, other, why, remedy }, reports);
            }
        }
    }
}

/// The CXL links, as a tree below hosts.
struct Tree<'a> {
    machine: &'a Machine,
    links: &'a [CxlLinkPlan],
}

/// A part of the addresses that reach a component.
struct Window {
    name: String,
    base: u64,
    size: u64,
    granularity: u64,
    devices: Vec<usize>,
}

impl Window {
    fn of(node: &MemoryNode) -> Self {
        let MemoryNode { name, base, size, granularity, devices, .. } = node.clone();
        Self { name, base, size: size.0, granularity, devices }
    }
}

impl Tree<'_> {
    fn is(&self, component: usize, role: CxlRole) -> bool {
        self.machine.plan(component).and_then(ComponentPlan::cxl_role) == Some(role)
    }

    /// The components below one, by the index of their port, which decoders use.
    fn below(&self, component: usize) -> Vec<(u16, usize)> {
        let place = |link: &CxlLinkPlan| {
            let plan = self.machine.plan(component).expect("a component with links was understood");
            (plan.place_down(link.host.port) as u16, link.device.component)
        };
        let mut below: Vec<_> =
            self.links.iter().filter(|link| link.host.component == component).map(place).collect();
        below.sort_unstable();
        below
    }

    /// Every component below one.
    fn all_below(&self, component: usize) -> BTreeSet<usize> {
        let (mut found, mut next) = (BTreeSet::new(), vec![component]);
        while let Some(here) = next.pop() {
            next.extend(self.below(here).into_iter().map(|(_, below)| below).filter(|b| found.insert(*b)));
        }
        found
    }

    fn report_without_host(&self, reports: &mut Reports) {
        let hosts = (0..self.machine.components.len()).filter(|c| self.is(*c, CxlRole::Host));
        let below: BTreeSet<usize> = hosts.flat_map(|host| self.all_below(host)).collect();
        for (component, slot) in self.machine.components.iter().enumerate() {
            let what = match slot.plan.as_ref().and_then(ComponentPlan::cxl_role) {
                Some(CxlRole::Switch) => "CXL switch",
                Some(CxlRole::Device) => "CXL device",
                _ => continue,
            };
            if !below.contains(&component) {
                let name = self.machine.label(component);
                let problem = Problem::NoCxlHost { name, what };
                reports.add(problem, slot.spot, &join("machine", &slot.name));
            }
        }
    }

    fn param(&self, component: usize, name: &str) -> u64 {
        match self.machine.plan(component).and_then(|plan| plan.params.0.get(name)) {
            Some(Value::Size(Bytes(bytes))) => *bytes,
            _ => 0,
        }
    }

    /// A host's own memory, and the lowest address for the first window after it.
    fn local(&self, host: usize) -> (Vec<MemoryNode>, u64) {
        let params = self.machine.plan(host).map(|plan| &plan.params.0);
        let sockets = match params.and_then(|params| params.get(SOCKETS)) {
            Some(Value::Count(sockets)) => *sockets,
            _ => 1,
        };
        let size = self.param(host, LOCAL_SIZE);
        let node = |socket: u64| MemoryNode {
            host,
            name: if sockets == 1 { LOCAL.into() } else { format!("{LOCAL}{socket}") },
            devices: Vec::new(),
            base: socket * size,
            size: Bytes(size),
            granularity: ALONE,
        };
        ((0..sockets).map(node).collect(), (sockets * size).next_multiple_of(ALIGNMENT))
    }

    /// The nodes of a host: its own memory, then each set and each other device, one after the other.
    fn nodes(&self, host: usize, sets: &[Set], reports: &mut Reports) -> Vec<MemoryNode> {
        let (mut nodes, mut next) = self.local(host);
        let below = self.all_below(host);
        let mut seen = BTreeSet::new();
        for device in below.iter().copied().filter(|c| self.is(*c, CxlRole::Device)) {
            let set = sets.iter().find(|set| set.devices.contains(&device));
            let devices = set.map_or_else(|| vec![device], |set| set.devices.clone());
            if !seen.insert(devices[0]) {
                continue;
            }
            let each = self.param(device, CAPACITY);
            if let Some(set) = set {
                self.report_uneven(set, host, each, reports);
            }
            let granularity = set.map_or(ALONE, |set| set.granularity);
            let whole = each - each % granularity.max(1);
            let size = Bytes(whole.saturating_mul(devices.len() as u64));
            let base = set.and_then(|set| set.base).unwrap_or(next);
            next =
                next.max(base.saturating_add(size.0).checked_next_multiple_of(ALIGNMENT).unwrap_or(u64::MAX));
            let name = set.map_or_else(|| self.machine.label(device), |set| set.name.clone());
            if nodes.iter().any(|node| node.name == name) {
                let problem =
                    Problem::NameOfNode { name: name.clone(), other: "the host's own memory".into() };
                let slot = &self.machine.components[device];
                match set {
                    Some(set) => set.fault(problem, reports),
                    None => reports.add(problem, slot.spot, &join("machine", &slot.name)),
                }
            }
            nodes.push(MemoryNode { host, name, devices, base, size, granularity });
        }
        // a host has its nodes in the order of addresses
        nodes.sort_by_key(|node| node.base);
        nodes
    }

    fn report_uneven(&self, set: &Set, host: usize, each: u64, reports: &mut Reports) {
        let below = self.all_below(host);
        let written = |bytes| quantity::label(Value::Size(Bytes(bytes)));
        for device in &set.devices {
            let (name, has) = (self.machine.label(*device), self.param(*device, CAPACITY));
            let why = if !below.contains(device) {
                format!("`{name}` is not below host `{}`", self.machine.label(host))
            } else if has != each {
                format!("`{name}` has {}, another {}", written(has), written(each))
            } else {
                continue;
            };
            set.fault(Problem::Uneven { name: set.name.clone(), why }, reports);
            return;
        }
    }

    /// The decoders of a component for these windows, and of the switches below it.
    fn decode(
        &self,
        component: usize,
        windows: Vec<Window>,
        sets: &[Set],
        all: &mut Vec<Decoding>,
        reports: &mut Reports,
    ) {
        let below = self.below(component);
        let mut inner: BTreeMap<u16, Vec<Window>> = BTreeMap::new();
        // for each port, the first free address behind it
        let mut free: BTreeMap<u16, u64> = BTreeMap::new();
        let mut decoders = Vec::new();
        for window in windows {
            let groups = self.groups(&below, &window.devices);
            let most = groups.iter().map(|(_, devices)| devices.len()).max().unwrap_or(0);
            if groups.iter().any(|(_, devices)| devices.len() < most) {
                let why = "below one port there are more of them than below another".into();
                self.fault(&window, sets, Problem::Uneven { name: window.name.clone(), why }, reports);
                continue;
            }
            let share = window.size / groups.len() as u64;
            let start = groups.iter().filter_map(|(port, _)| free.get(port)).max().copied().unwrap_or(0);
            let targets = groups.iter().map(|(port, _)| *port).collect();
            match Decoder::new(window.base, window.size, window.granularity, targets) {
                Ok(decoder) => decoders.push(decoder.starting_at(start)),
                Err(wrong) => {
                    for bad in wrong {
                        let (name, problem) = (window.name.clone(), bad.to_string());
                        self.fault(&window, sets, Problem::BadWindow { name, problem }, reports);
                    }
                    continue;
                }
            }
            for (port, devices) in groups {
                free.insert(port, start + share);
                let (name, granularity) = (window.name.clone(), window.granularity);
                inner.entry(port).or_default().push(Window {
                    name,
                    base: start,
                    size: share,
                    granularity,
                    devices,
                });
            }
        }
        all.push(Decoding { component, decoders });
        for (port, below) in below.into_iter().filter(|(_, below)| self.is(*below, CxlRole::Switch)) {
            self.decode(below, inner.remove(&port).unwrap_or_default(), sets, all, reports);
        }
    }

    /// Reports an error in a window: at its set, or at its device if it is alone.
    fn fault(&self, window: &Window, sets: &[Set], problem: Problem, reports: &mut Reports) {
        if let Some(set) = sets.iter().find(|set| set.name == window.name) {
            return set.fault(problem, reports);
        }
        let slot = &self.machine.components[window.devices[0]];
        reports.add(problem, slot.spot, &join("machine", &slot.name));
    }

    /// The devices by the port that leads to them, in the order in which the ports first take their turn.
    fn groups(&self, below: &[(u16, usize)], devices: &[usize]) -> Vec<(u16, Vec<usize>)> {
        let mut groups: Vec<(u16, Vec<usize>)> = Vec::new();
        for device in devices {
            let leads = |c: usize| c == *device || self.all_below(c).contains(device);
            let Some((port, _)) = below.iter().find(|(_, c)| leads(*c)) else { continue };
            match groups.iter_mut().find(|(p, _)| p == port) {
                Some((_, group)) => group.push(*device),
                None => groups.push((*port, vec![*device])),
            }
        }
        groups
    }
}

/// Reports windows that overlap.
fn report_overlaps(nodes: &[MemoryNode], sets: &[Set], reports: &mut Reports) {
    for (i, node) in nodes.iter().enumerate() {
        let end = |node: &MemoryNode| node.base.saturating_add(node.size.0);
        let clash = |other: &&MemoryNode| node.base < end(other) && other.base < end(node);
        for other in nodes[..i].iter().filter(clash) {
            // a window with a base that the author has set is the one to move
            let by_hand = |name: &str| sets.iter().find(|set| set.name == *name && set.base.is_some());
            if let Some(set) = by_hand(&node.name).or_else(|| by_hand(&other.name)) {
                let why =
                    format!("`{}` has the addresses from {:#x} to {:#x}", other.name, other.base, end(other));
                let remedy = "leave `base` out, or choose one behind the addresses of all other memory";
                let (one, other) = (node.name.clone(), other.name.clone());
                set.fault(Problem::WindowsOverlap { one, other, why, remedy }, reports);
            }
        }
    }
}

/// Reports sets of which no single host has all devices.
fn report_of_two_hosts(sets: &[Set], tree: &Tree<'_>, reports: &mut Reports) {
    if reports.has_errors() {
        return;
    }
    let hosts = (0..tree.machine.components.len()).filter(|c| tree.is(*c, CxlRole::Host));
    let below: Vec<BTreeSet<usize>> = hosts.map(|host| tree.all_below(host)).collect();
    for set in sets {
        let owned = |below: &BTreeSet<usize>| set.devices.iter().all(|device| below.contains(device));
        if !below.iter().any(owned) {
            let why = "they are not below one host".into();
            set.fault(Problem::Uneven { name: set.name.clone(), why }, reports);
        }
    }
}
