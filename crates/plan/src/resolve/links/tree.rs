//! The tree below each root port: the end of a link towards the root, and the settings common to a hierarchy. In a
//! switch that hosts share, each hierarchy has its own partition.

use super::link::Link;
use super::partitions::Partitions;
use crate::plan::{ComponentPlan, End};
use crate::problem::Problem;
use crate::resolve::components::Machine;
use lanetwin_document::fields::join;
use lanetwin_document::problem::Reports;
use lanetwin_ports::Protocol;
use std::collections::BTreeSet;

/// The position of a link in its hierarchy.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// What is above it; `None` if that is unclear, which was reported.
    pub above: Option<Above>,
    /// The Maximum Payload Size of its hierarchy \[B\]: the smallest that a port supports or a link sets.
    pub payload: u64,
    /// Whether it leads to a device in no partition of a switch.
    pub is_nobodys: bool,
}

/// The upstream side of a link.
#[derive(Clone, Copy)]
pub(super) struct Above {
    /// The end towards the root.
    pub root: End,
    /// The root port.
    pub root_port: End,
}

/// The position of every link; reports links that do not form a tree with one root. Reports less if some links have
/// errors.
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
        // an error in a partition or link also leaves devices without a host, which is not a second mistake
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
    /// The shared switches that each host's hierarchy reaches: switch and host.
    arrivals: BTreeSet<(usize, usize)>,
}

impl Tree<'_, '_> {
    /// Finds the PCIe links with valid ends. Returns whether all are valid.
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

    /// Removes links that close a loop of hosts and switches.
    fn check_circles(&mut self, components: usize, reports: &mut Reports) {
        // union-find: every component points to one that it is linked with, or to itself
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
            // in a shared switch each host has its own hierarchy, so they do not meet there
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

    /// Determines the upstream side of each link, from every root port down.
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

    /// The links of a switch whose upstream side is not known yet, each with its end at the switch; in a shared switch,
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

    /// Whether a link leads from a shared switch to a device without an owner.
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

    /// The smallest payload that a port in the hierarchy of link `i` supports, or that one of its links sets; 0 for a
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

/// Whether links may meet in this component: in a host or a switch, not in a device.
fn forwards(plan: &ComponentPlan) -> bool {
    plan.is_host() || plan.is_switch()
}

impl Link<'_> {
    /// Its end at a component, and its other end.
    pub(super) fn seen_from(&self, component: usize) -> Option<(End, End)> {
        let ends = [(self.from, self.to), (self.to, self.from)];
        ends.into_iter().find(|(near, _)| near.component == component)
    }
    fn is_pcie(&self) -> bool {
        [self.from, self.to].map(|end| self.port(end).speaks) == [Protocol::Pcie; 2]
    }
}
