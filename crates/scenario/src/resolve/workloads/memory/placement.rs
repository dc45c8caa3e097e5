//! `placement:` – which nodes pages are on, by Linux's policies.

use super::Asked;
use crate::fields::{self, Fields, Said, is_map, join};
use crate::language::PLACEMENT;
use crate::node::{Kind, Node, Spot};
use crate::problem::{Problem, Reports, quoted};
use crate::spelling::Near;
use lanetwin_load::memory::Policy;
use lanetwin_ports::{Dimension, Value};

/// A policy, and what it is called.
pub(super) struct Placed {
    pub policy: Policy,
    /// The nodes that it names, in the order of writing.
    pub named: Vec<u16>,
    pub label: String,
    pub spot: Spot,
}

impl Asked<'_> {
    /// The policies, one or a list; without any, on the memory of the host's own.
    pub(super) fn policies(self, fields: &mut Fields<'_>, reports: &mut Reports) -> Option<Vec<Placed>> {
        let path = fields.at("placement");
        let Some(node) = fields.written("placement") else {
            let local = self.own_nodes().first()?.name.clone();
            fields.record("placement", Node::scalar(&local));
            let (policy, spot) = (Policy::Bind(vec![0]), fields.node.spot);
            return Some(vec![Placed { policy, named: vec![0], label: local, spot }]);
        };
        let items = match &node.kind {
            Kind::List(items) => &items[..],
            _ => std::slice::from_ref(node),
        };
        if items.is_empty() {
            fields.fault("placement", Problem::Empty { what: "the list is empty" }, reports);
            return None;
        }
        let read: Vec<_> = items.iter().map(|item| self.policy(item, &path, reports)).collect();
        fields.record("placement", node.clone());
        read.into_iter().collect()
    }

    fn policy(self, node: &Node, path: &str, reports: &mut Reports) -> Option<Placed> {
        let spot = node.spot;
        if let Some(name) = node.text() {
            let number = self.node(name, spot, path, reports)?;
            return Some(Placed {
                policy: Policy::Bind(vec![number]),
                named: vec![number],
                label: name.into(),
                spot,
            });
        }
        let mut fields = Fields::open(node, path, PLACEMENT, &[], reports)?;
        let written: Vec<&'static str> =
            PLACEMENT.iter().map(|field| field.name).filter(|key| fields.written(key).is_some()).collect();
        let key = match written[..] {
            [only] => only,
            [] => {
                let about = "or `preferred:`, `interleave:` or `weighted:`, with the names of nodes".into();
                reports.add(Problem::Missing { key: "bind".into(), about }, spot, path);
                return None;
            }
            [one, other, ..] => {
                fields.fault(other, Problem::Exclusive { one, other }, reports);
                return None;
            }
        };
        if key == "weighted" {
            return self.weighted(&fields, reports);
        }
        let (names, listed) = fields.names(key, "the name of a node", reports)?;
        if key == "preferred" && listed {
            let problem = Problem::WrongKind { found: "a list", wanted: "the name of one node" };
            fields.fault(key, problem, reports);
            return None;
        }
        let named = self.all(&names, &fields.at(key), reports)?;
        if named.is_empty() {
            fields.fault(key, Problem::Empty { what: "the list is empty" }, reports);
            return None;
        }
        let joined = |with: &str| names.iter().map(|said| &*said.value).collect::<Vec<_>>().join(with);
        let (policy, label) = match key {
            "bind" => (Policy::Bind(named.clone()), joined(" or ")),
            "preferred" => (Policy::Preferred(named[0]), format!("{} preferred", joined(""))),
            _ => (Policy::Interleave(named.clone()), joined(" and ")),
        };
        Some(Placed { policy, named, label, spot })
    }

    /// `{dram: 10, exp: 1}`
    fn weighted(self, fields: &Fields<'_>, reports: &mut Reports) -> Option<Placed> {
        let (node, path) = (fields.written("weighted")?, fields.at("weighted"));
        if !is_map(node, &path, reports) {
            return None;
        }
        if node.entries().is_empty() {
            fields.fault("weighted", Problem::Empty { what: "there is no node" }, reports);
            return None;
        }
        let weight = Dimension::Count { least: 1, most: u8::MAX.into() };
        let mut weights = Vec::new();
        for entry in node.entries() {
            let path = join(&path, &entry.key);
            let number = self.node(&entry.key, entry.spot, &path, reports);
            let weight = match fields::read(&entry.value, weight, &path, reports) {
                Some(Value::Count(weight)) => u8::try_from(weight).ok(),
                _ => None,
            };
            weights.push(number.zip(weight));
        }
        let weights = weights.into_iter().collect::<Option<Vec<_>>>()?;
        let told =
            node.entries().iter().zip(&weights).map(|(entry, (_, weight))| format!("{} {weight}", entry.key));
        let label = told.collect::<Vec<_>>().join(" : ");
        let named = weights.iter().map(|(node, _)| *node).collect();
        Some(Placed { policy: Policy::WeightedInterleave(weights), named, label, spot: node.spot })
    }

    /// The numbers of nodes, none twice.
    fn all(self, names: &[Said<String>], path: &str, reports: &mut Reports) -> Option<Vec<u16>> {
        let found: Vec<_> =
            names.iter().map(|said| self.node(&said.value, said.spot, path, reports)).collect();
        let found = found.into_iter().collect::<Option<Vec<u16>>>()?;
        for (i, said) in names.iter().enumerate() {
            if found[..i].contains(&found[i]) {
                reports.add(Problem::DeviceTwice { name: said.value.clone() }, said.spot, path);
            }
        }
        Some(found)
    }

    /// The number of a node of the host; reports it if there is none.
    fn node(self, name: &str, spot: Spot, path: &str, reports: &mut Reports) -> Option<u16> {
        let own = self.own_nodes();
        let found = own.iter().position(|node| node.name == name);
        // what is wrong with a device or a link leaves its memory out: that is not another mistake
        if found.is_none() && !(own.is_empty() || self.is_unclear(name)) {
            let names = || own.iter().map(|node| &*node.name);
            let (near, known) = (Near::of(name, names()), quoted(names()));
            let host = self.machine.label(self.host);
            reports.add(Problem::UnknownNode { name: name.into(), host, known, near }, spot, path);
        }
        found.and_then(|place| u16::try_from(place).ok())
    }

    /// Whether a component of this name was not understood.
    fn is_unclear(self, name: &str) -> bool {
        self.machine.components.iter().any(|slot| slot.name == name && slot.plan.is_none())
    }
}
