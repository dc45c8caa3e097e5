//! The machine during checking: its components, and their names in the scenario.

use crate::kind::Components;
use crate::plan::{ComponentPlan, End};
use crate::problem::Problem;
use lanetwin_document::fields::join;
use lanetwin_document::node::{Entry, Spot};
use lanetwin_document::problem::{Reports, quoted};
use lanetwin_document::spelling::Near;
use std::collections::BTreeMap;

/// The machine during checking. A mistake in one place must not be reported again in others.
pub(super) struct Machine {
    /// The components; those inside assemblies have names with a point.
    pub components: Vec<Slot>,
    pub assemblies: Vec<Assembled>,
}

/// A component that may have errors.
pub(super) struct Slot {
    pub name: String,
    pub spot: Spot,
    pub plan: Option<ComponentPlan>,
}

/// An assembly in a machine.
pub(super) struct Assembled {
    /// Its name in the machine.
    pub name: String,
    /// Its ports: the name outside, and inside the component (its index in the machine) with its port.
    pub ports: BTreeMap<String, (usize, String)>,
    /// The links inside, with the names of the machine.
    pub links: Vec<Entry>,
}

impl Assembled {
    /// The component that stands for the assembly: the one with its first port.
    pub(super) fn face(&self) -> Option<usize> {
        self.ports.values().next().map(|(component, _)| *component)
    }
}

impl Machine {
    /// The component called `name`; for an assembly, the one that stands for it. Reports an error if there is none.
    pub(super) fn find(&self, name: &str, spot: Spot, path: &str, reports: &mut Reports) -> Option<usize> {
        let own = self.components.iter().position(|slot| slot.name == name && !name.contains('.'));
        let found = own.or_else(|| self.assembly(name)?.face());
        if found.is_none() {
            let inside = |slot: &&Slot| !slot.name.contains('.');
            let names = || {
                let own = self.components.iter().filter(inside).map(|slot| &*slot.name);
                own.chain(self.assemblies.iter().map(|assembled| &*assembled.name))
            };
            let near = Near::of(name, names());
            reports.add(
                Problem::UnknownComponent { name: name.into(), known: quoted(names()), near },
                spot,
                path,
            );
        }
        found
    }
    /// The assembly of this name.
    pub(super) fn assembly(&self, name: &str) -> Option<&Assembled> {
        self.assemblies.iter().find(|assembled| assembled.name == name)
    }
    /// The host that is in the same assembly as a component, if there is one.
    pub(super) fn host_beside(&self, component: usize) -> Option<usize> {
        let within = |other: usize| Some(self.components[other].name.split_once('.')?.0);
        let own = within(component)?;
        let is_host = |other: &usize| self.plan(*other).is_some_and(ComponentPlan::is_host);
        (0..self.components.len()).filter(is_host).find(|other| within(*other) == Some(own))
    }
    /// The name of a component in the scenario: that of its assembly, if it stands for one.
    pub(super) fn label(&self, component: usize) -> String {
        let whole = self.assemblies.iter().find(|assembled| assembled.face() == Some(component));
        whole.map_or(&self.components[component].name, |assembled| &assembled.name).clone()
    }
    /// The name of a port in the scenario; for an assembly, its name outside.
    pub(super) fn port_name(&self, end: End) -> String {
        let Some(plan) = self.plan(end.component) else { return self.label(end.component) };
        let port = &plan.ports[end.port];
        let is_it = |(_, (component, inner)): &(&String, &(usize, String))| {
            *component == end.component && (*inner == port.name || *inner == port.group)
        };
        let outside = |assembled: &Assembled| {
            let (outer, _) = assembled.ports.iter().find(is_it)?;
            Some(join(&assembled.name, outer))
        };
        self.assemblies.iter().find_map(outside).unwrap_or_else(|| join(&plan.name, &port.name))
    }
    /// The component, if it has no errors.
    pub(super) fn plan(&self, component: usize) -> Option<&ComponentPlan> {
        self.components[component].plan.as_ref()
    }
}

impl Components for Machine {
    fn plan(&self, component: usize) -> Option<&ComponentPlan> {
        Self::plan(self, component)
    }
    fn label(&self, component: usize) -> String {
        Self::label(self, component)
    }
    fn host_beside(&self, component: usize) -> Option<usize> {
        Self::host_beside(self, component)
    }
    fn is_unclear(&self, name: &str) -> bool {
        self.components.iter().any(|slot| slot.name == name && slot.plan.is_none())
    }
}
