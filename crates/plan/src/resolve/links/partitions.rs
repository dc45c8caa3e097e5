//! `partitions:` – the assignment of a PCIe switch's ports to hosts.
//!
//! ```text
//!  a ── up-a ─┐ ┌─ bay0 ── ssd0      partitions:
//!             sw ── bay1 ── ssd1        left:  {switch: sw, host: a, devices: [ssd0, ssd1]}
//!  b ── up-b ─┘ └─ bay2 ── ssd2         right: {switch: sw, host: b, devices: [ssd2]}
//! ```
//!
//! Each host sees a virtual switch with its devices below. All share the core, the buffers and the arbiters of the
//! physical switch.

use super::link::Link;
use crate::language::PARTITION;
use crate::plan::ComponentPlan;
use crate::problem::partitions::Problem;
use crate::resolve::components::Machine;
use lanetwin_document::fields::{Fields, Said, check_name, is_map, join};
use lanetwin_document::node::{Node, Spot};
use lanetwin_document::problem::{Reports, quoted};
use lanetwin_ports::Value;
use lanetwin_units::{Instant, Span};
use std::collections::{BTreeMap, BTreeSet};

/// The partitions of all switches.
#[derive(Default)]
pub(in crate::resolve) struct Partitions(Vec<Partition>);

/// A virtual switch.
struct Partition {
    name: String,
    /// The physical switch.
    switch: usize,
    host: usize,
    devices: Vec<Device>,
    /// Components that are assigned to it later, and how.
    attached: Vec<(usize, Move)>,
    spot: Spot,
    path: String,
}

/// A move of a drive to a host during a run.
#[derive(Clone)]
pub(super) struct Move {
    pub host: usize,
    pub at: Instant,
    /// Time until the gaining host sees it.
    pub after: Span,
    /// Whether the losing host first completes the drive's commands.
    pub is_managed: bool,
    pub spot: Spot,
    pub path: String,
}

/// A device in a partition, or one port of it.
struct Device {
    component: usize,
    port: Option<String>,
    /// Its name in the scenario.
    name: String,
    spot: Spot,
}

impl Device {
    /// Whether it is, or contains, this port of a component.
    fn is(&self, (component, port): (usize, &str)) -> bool {
        self.component == component && self.port.as_ref().is_none_or(|own| own == port)
    }
    /// Whether the two have a port in common.
    fn meets(&self, other: &Self) -> bool {
        let apart = matches!((&self.port, &other.port), (Some(one), Some(other)) if one != other);
        self.component == other.component && !apart
    }
}

/// Reads the section. Returns the partitions, and the section with every default filled in.
pub(in crate::resolve) fn read(
    node: Option<&Node>,
    machine: &Machine,
    reports: &mut Reports,
) -> Option<(Partitions, Node)> {
    let Some(node) = node else { return Some((Partitions::default(), Node::map::<&str>([]))) };
    if !is_map(node, "partitions", reports) {
        return None;
    }
    let (mut all, mut complete) = (Vec::new(), Vec::new());
    for entry in node.entries() {
        let path = join("partitions", &entry.key);
        check_name(&entry.key, entry.spot, &path, reports);
        let Some(mut fields) = Fields::open(&entry.value, &path, PARTITION, &[], reports) else { continue };
        let switch = switch(&mut fields, machine, reports);
        let host = host(&mut fields, machine, reports);
        let devices = devices(&mut fields, machine, reports);
        let attached = attached(&mut fields, host, machine, reports);
        complete.push((entry.key.clone(), fields.finish()));
        let (Some(switch), Some(host), Some(devices)) = (switch, host, devices) else { continue };
        let (name, attached) = (entry.key.clone(), attached.unwrap_or_default());
        all.push(Partition { name, switch, host, devices, attached, spot: entry.spot, path });
    }
    let partitions = Partitions(all);
    partitions.report_twice(machine, reports);
    Some((partitions, Node::map(complete)))
}

fn switch(fields: &mut Fields<'_>, machine: &Machine, reports: &mut Reports) -> Option<usize> {
    let Said { value, spot, .. } = fields.text("switch", reports)?;
    let (component, path) = (machine.find(&value, spot, &fields.at("switch"), reports)?, fields.at("switch"));
    if !machine.plan(component)?.is_switch() {
        reports.add(Problem::NotASwitch { name: value }, spot, &path);
        return None;
    }
    Some(component)
}

fn host(fields: &mut Fields<'_>, machine: &Machine, reports: &mut Reports) -> Option<usize> {
    let Said { value, spot, .. } = fields.text("host", reports)?;
    let (component, path) = (machine.find(&value, spot, &fields.at("host"), reports)?, fields.at("host"));
    if !machine.plan(component)?.is_host() {
        reports.add(Problem::NotAHost { name: value }, spot, &path);
        return None;
    }
    Some(component)
}

fn devices(fields: &mut Fields<'_>, machine: &Machine, reports: &mut Reports) -> Option<Vec<Device>> {
    if fields.written("devices").is_none() {
        return Some(Vec::new());
    }
    let (names, _) = fields.names("devices", "the name of a device", reports)?;
    let path = fields.at("devices");
    let device = |said: &Said<String>, reports: &mut Reports| {
        let (name, port) =
            said.value.split_once('.').map_or((&*said.value, None), |(name, port)| (name, Some(port)));
        let component = machine.find(name, said.spot, &path, reports)?;
        Some(Device { component, port: port.map(Into::into), name: said.value.clone(), spot: said.spot })
    };
    let found: Vec<_> = names.iter().map(|said| device(said, reports)).collect();
    found.into_iter().collect()
}

fn attached(
    fields: &mut Fields<'_>,
    host: Option<usize>,
    machine: &Machine,
    reports: &mut Reports,
) -> Option<Vec<(usize, Move)>> {
    let mut items = fields.list("attach", reports)?;
    let read: Vec<_> = items.iter_mut().map(|item| one_attached(item, host, machine, reports)).collect();
    fields.record_list("attach", items);
    read.into_iter().collect()
}

fn one_attached(
    item: &mut Fields<'_>,
    host: Option<usize>,
    machine: &Machine,
    reports: &mut Reports,
) -> Option<(usize, Move)> {
    let mut time = |key| match item.one(key, reports)?.value {
        Value::Time(time) => Some(time),
        other => unreachable!("`{key}` is declared as a time, read as {other:?}"),
    };
    let (at, after) = (time("at"), time("after"));
    let removal = item.one("removal", reports)?.value;
    let Said { value, spot, .. } = item.text("device", reports)?;
    let path = item.at("device");
    let component = machine.find(&value, spot, &path, reports)?;
    let (at, after, host) = (Instant::ZERO + at?, after?, host?);
    let is_managed = removal == Value::Choice("managed");
    Some((component, Move { host, at, after, is_managed, spot, path }))
}

impl Partitions {
    /// Whether a component is a switch that hosts share.
    pub(super) fn divide(&self, component: usize) -> bool {
        self.0.iter().any(|partition| partition.switch == component)
    }
    /// Whether a port of a component below a switch belongs to this host; always true for a switch that is not shared.
    pub(super) fn has(&self, switch: usize, host: usize, port: (usize, &str)) -> bool {
        let mine = |partition: &Partition| partition.switch == switch && partition.host == host;
        let has = |partition: &Partition| partition.devices.iter().any(|device| device.is(port));
        !self.divide(switch) || self.0.iter().filter(|partition| mine(partition)).any(has)
    }
    /// The owner of a device, for messages; for a device with several owners, that of its first port.
    pub(in crate::resolve) fn owner(&self, component: usize, machine: &Machine) -> Option<String> {
        let has = |partition: &&Partition| partition.devices.iter().any(|d| d.component == component);
        let owner = self.0.iter().find(has)?;
        Some(format!("host `{}` (partition `{}`)", machine.label(owner.host), owner.name))
    }
    /// Components that are assigned later, and how.
    pub(super) fn attached(&self) -> impl Iterator<Item = &(usize, Move)> {
        self.0.iter().flat_map(|partition| &partition.attached)
    }
    /// Whether there are any.
    pub(in crate::resolve) fn are_there(&self) -> bool {
        !self.0.is_empty()
    }

    fn report_twice(&self, machine: &Machine, reports: &mut Reports) {
        for (i, one) in self.0.iter().enumerate() {
            let earlier = self.0[..i].iter().filter(|other| other.switch == one.switch);
            if let Some(other) = earlier.clone().find(|other| other.host == one.host) {
                let (host, switch) = (machine.label(one.host), machine.label(one.switch));
                let problem = Problem::TwoPartitions { host, switch, other: other.name.clone() };
                reports.add(problem, one.spot, &join(&one.path, "host"));
            }
            for (place, device) in one.devices.iter().enumerate() {
                let own = one.devices[..place].iter().map(|other| (one, other));
                let theirs = earlier.clone().flat_map(|other| other.devices.iter().map(move |d| (other, d)));
                if let Some((other, _)) = own.chain(theirs).find(|(_, other)| other.meets(device)) {
                    let (one_name, other) = (one.name.clone(), other.name.clone());
                    let problem =
                        Problem::AssignedTwice { device: device.name.clone(), one: one_name, other };
                    reports.add(problem, device.spot, &join(&one.path, "devices"));
                }
            }
        }
    }

    /// Reports partitions that do not fit the links. `arrivals` are pairs of a switch and a host with a root port from
    /// which links lead to it.
    pub(super) fn check(
        &self,
        links: &[Link<'_>],
        arrivals: &BTreeSet<(usize, usize)>,
        machine: &Machine,
        reports: &mut Reports,
    ) {
        let mut at: BTreeMap<usize, Vec<&Link<'_>>> = BTreeMap::new();
        for partition in &self.0 {
            let is_its = |link: &&Link<'_>| link.seen_from(partition.switch).is_some();
            at.entry(partition.switch).or_insert_with(|| links.iter().filter(is_its).collect());
            if !arrivals.contains(&(partition.switch, partition.host)) {
                let (host, switch) = (machine.label(partition.host), machine.label(partition.switch));
                let problem = Problem::NoUpstreamPort { host, switch };
                reports.add(problem, partition.spot, &join(&partition.path, "host"));
            }
            partition.check_devices(&at[&partition.switch], machine, reports);
        }
        for (switch, links) in &at {
            links.iter().for_each(|link| self.check_link(link, *switch, machine, reports));
        }
        for (switch, host) in arrivals {
            if !self.0.iter().any(|partition| (partition.switch, partition.host) == (*switch, *host)) {
                let slot = &machine.components[*host];
                let (host, switch) = (machine.label(*host), machine.label(*switch));
                let path = join("machine", &slot.name);
                reports.add(Problem::NoPartition { host, switch }, slot.spot, &path);
            }
        }
    }

    /// Reports a link of a shared switch to a device without an owner.
    fn check_link(&self, link: &Link<'_>, switch: usize, machine: &Machine, reports: &mut Reports) {
        let Some((_, far)) = link.seen_from(switch) else { return };
        let port = (far.component, &*link.port(far).name);
        let is_up = link.plan(far).is_host() || link.plan(far).is_switch();
        let is_in = |partition: &Partition| {
            partition.switch == switch && partition.devices.iter().any(|device| device.is(port))
        };
        if !is_up && !self.0.iter().any(is_in) {
            let (device, switch) = (machine.label(far.component), machine.label(switch));
            reports.add(Problem::Nobodys { device, switch }, link.entry.spot, &link.fields.path);
        }
    }
}

impl Partition {
    fn check_devices(&self, links: &[&Link<'_>], machine: &Machine, reports: &mut Reports) {
        for device in &self.devices {
            let far = |link: &&&Link<'_>| link.seen_from(self.switch).map(|(_, far)| far);
            let is_it = |link: &&&Link<'_>| {
                far(link).is_some_and(|far| device.is((far.component, &link.port(far).name)))
            };
            let is_device = |plan: Option<&ComponentPlan>| plan.is_some_and(|plan| !plan.is_host());
            if links.iter().any(|link| is_it(&link)) && is_device(machine.plan(device.component)) {
                continue;
            }
            let names: BTreeSet<String> = links
                .iter()
                .filter_map(|link| far(&link))
                .filter(|far| is_device(machine.plan(far.component)))
                .map(|far| machine.label(far.component))
                .collect();
            let known = quoted(names.iter().map(|name| &**name));
            let (device, switch, spot) = (device.name.clone(), machine.label(self.switch), device.spot);
            let path = join(&self.path, "devices");
            reports.add(Problem::NotAtSwitch { device, switch, known }, spot, &path);
        }
    }
}
