//! What is below a root port is a tree: which end of a link is nearer to the root, and what the links of a hierarchy
//! have in common. Of a switch that hosts share, each hierarchy has its partition.

use super::link::Link;
use super::partitions::Partitions;
use crate::plan::{ComponentPlan, End};
use crate::problem::Problem;
use crate::resolve::components::Machine;
use lanetwin_document::fields::join;
use lanetwin_document::problem::Reports;
use lanetwin_ports::Protocol;
use std::collections::BTreeSet;

/// The place of a link in the machine.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// What is above it; nothing if that is in doubt, which has then been reported.
    pub above: Option<Above>,
    /// The Maximum Payload Size of its hierarchy \[B\]: the least that a port of it supports, or that a link of it asks
    /// for.
    pub payload: u64,
    /// Whether it leads to what is in no partition of a switch.
    pub is_nobodys: bool,
}

/// What is above a link.
#[derive(Clone, Copy)]
pub(super) struct Above {
    /// The end that is nearer to the root.
    pub root: End,
    /// The root port.
    pub root_port: End,
}

/// The place of every link; reports what is not a tree with one root. Of links that were not all understood less is
/// said.
pub(super) fn places(
    (links, all_understood): (&[Link<'_>], bool),
    partitions: &Partitions,
    machine: &Machine,
    reports: &mut Reports,
) -> Vec<Place> {
    let (above, usable) = (vec![None; links.len()], vec![false; links.len()]);
    let mut tree = Tree { links, partitions, above, usable, arrivals: BTreeSet::new() };
    let all_legal = tree.check_ends(reports);
    tree.check_circles(machine.components.len(), reports);
    tree.descend(reports);
    if all_understood && all_legal {
        tree.report_switches_without_host(machine, reports);
        // a partition or a link that is not understood leaves devices without a host: that is not another mistake
        if !reports.has_errors() {
            partitions.check(links, &tree.arrivals, machine, reports);
        }
    }
    let place = |i: usize| {
        let (above, payload) = (tree.above[i], tree.payload(i));
        Place { above, payload, is_nobodys: above.is_none() && tree.is_nobodys(i) }
    };
    (0..links.len()).map(place).collect()
}

struct Tree<'a, 'l> {
    links: &'a [Link<'l>],
    partitions: &'a Partitions,
    above: Vec<Option<Above>>,
    /// The PCIe links that are part of the tree.
    usable: Vec<bool>,
    /// The divided switches that each host's hierarchy reaches: switch and host.
    arrivals: BTreeSet<(usize, usize)>,
}

impl Tree<'_, '_> {
    /// Finds the PCIe links with legal ends; whether they all are.
    fn check_ends(&mut self, reports: &mut Reports) -> bool {
        let mut all_legal = true;
        for (i, link) in self.links.iter().enumerate().filter(|(_, link)| link.is_pcie()) {
            let plans = [link.plan(link.from), link.plan(link.to)];
            let found = match (plans.map(ComponentPlan::is_host), plans.map(|plan| plan.is_switch())) {
                ([true, true], _) => "two hosts",
                ([false, false], [false, false]) => "two devices",
                _ => {
                    self.usable[i] = true;
                    continue;
                }
            };
            all_legal = false;
            reports.add(Problem::NoRoot { found }, link.entry.spot, &link.fields.path);
        }
        all_legal
    }

    /// Takes out links that close a circle of hosts and switches.
    fn check_circles(&mut self, components: usize, reports: &mut Reports) {
        // every component points to another that it is linked with, or to itself
        let mut joined: Vec<usize> = (0..components).collect();
        let of = |joined: &[usize], mut component: usize| {
            while joined[component] != component {
                component = joined[component];
            }
            component
        };
        for (i, link) in self.links.iter().enumerate().filter(|(_, link)| link.is_pcie()) {
            let ends = [link.from, link.to];
            let forwards = ends.map(|end| forwards(link.plan(end)));
            // each of several hosts has a hierarchy of its own in a divided switch: they do not meet there
            let is_up = ends.iter().any(|end| link.plan(*end).is_host())
                && ends.iter().any(|end| self.partitions.divide(end.component));
            if !self.usable[i] || forwards != [true, true] || is_up {
                continue;
            }
            let [from, to] = [link.from, link.to].map(|end| of(&joined, end.component));
            joined[from] = to;
            if from == to {
                self.usable[i] = false;
                let [from, to] = [link.from, link.to].map(|end| link.plan(end).name.clone());
                reports.add(Problem::Loop { from, to }, link.entry.spot, &link.fields.path);
            }
        }
    }

    /// From every root port down: what is above each link.
    fn descend(&mut self, reports: &mut Reports) {
        for (i, link) in self.links.iter().enumerate() {
            let root_port = [link.from, link.to].into_iter().find(|end| link.plan(*end).is_host());
            let Some(root_port) = root_port.filter(|_| self.usable[i] && self.above[i].is_none()) else {
                continue;
            };
            let mut next = vec![(i, root_port)];
            while let Some((i, root)) = next.pop() {
                let link = &self.links[i];
                self.above[i] = Some(Above { root, root_port });
                let far = if root == link.from { link.to } else { link.from };
                let host = root_port.component;
                if link.plan(far).is_host() {
                    let (root, other) = (link.port_name(root_port), link.port_name(far));
                    reports.add(Problem::TwoRoots { root, other }, link.entry.spot, &link.fields.path);
                } else if self.partitions.divide(far.component)
                    && !self.arrivals.insert((far.component, host))
                {
                    let [from, to] = [root_port, far].map(|end| link.plan(end).name.clone());
                    reports.add(Problem::Loop { from, to }, link.entry.spot, &link.fields.path);
                } else if link.plan(far).is_switch() {
                    next.extend(self.below(far.component, host));
                }
            }
        }
    }

    /// The links of a switch that nothing is known to be above of, each with its end at the switch; of a divided one
    /// those in the partition of this host.
    fn below(&self, switch: usize, host: usize) -> Vec<(usize, End)> {
        let open = |i: &usize| self.usable[*i] && self.above[*i].is_none();
        let end = |i: usize| {
            let (near, far) = self.links[i].seen_from(switch)?;
            let port = &self.links[i].port(far).name;
            self.partitions.has(switch, host, (far.component, port)).then_some((i, near))
        };
        (0..self.links.len()).filter(open).filter_map(end).collect()
    }

    /// Whether a link is of a divided switch, and no host has what it leads to.
    fn is_nobodys(&self, i: usize) -> bool {
        let ends = [self.links[i].from, self.links[i].to];
        self.usable[i] && ends.iter().any(|end| self.partitions.divide(end.component))
    }

    fn report_switches_without_host(&self, machine: &Machine, reports: &mut Reports) {
        for (component, slot) in machine.components.iter().enumerate() {
            let has_host = || {
                let above = self.links.iter().zip(&self.above).filter(|(_, above)| above.is_some());
                above.flat_map(|(link, _)| [link.from, link.to]).any(|end| end.component == component)
            };
            if slot.plan.as_ref().is_some_and(ComponentPlan::is_switch) && !has_host() {
                let problem = Problem::NoHostAbove { name: slot.name.clone() };
                reports.add(problem, slot.spot, &join("machine", &slot.name));
            }
        }
    }

    /// The least payload that a port of the hierarchy of link `i` supports, or that one of its links asks for; 0 of a
    /// link that is not PCIe.
    fn payload(&self, i: usize) -> u64 {
        let root_port = |i: usize| self.above[i].map(|above| above.root_port);
        let together = |j: &usize| *j == i || root_port(i).is_some() && root_port(*j) == root_port(i);
        let links = (0..self.links.len()).filter(together).map(|j| &self.links[j]);
        let of_link = |link: &Link<'_>| {
            let ports = [link.from, link.to].map(|end| link.plan(end).params.size("port.mps").0);
            ports.into_iter().chain(link.asked_mps()).min()
        };
        links.filter(|link| link.is_pcie()).filter_map(of_link).min().unwrap_or(0)
    }
}

/// Whether links may come together in it: in a host or a switch, not in a device.
fn forwards(plan: &ComponentPlan) -> bool {
    plan.is_host() || plan.is_switch()
}

impl Link<'_> {
    /// Its end at a component, and the other.
    pub(super) fn seen_from(&self, component: usize) -> Option<(End, End)> {
        let ends = [(self.from, self.to), (self.to, self.from)];
        ends.into_iter().find(|(near, _)| near.component == component)
    }
    fn is_pcie(&self) -> bool {
        [self.from, self.to].map(|end| self.port(end).speaks) == [Protocol::Pcie; 2]
    }
}
