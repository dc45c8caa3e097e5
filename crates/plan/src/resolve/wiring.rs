//! The connections between components, after `links:` has been read.

use super::links::partitions::Partitions;
use crate::plan::{Absence, CxlLinkPlan, Driven, End, Join, LinkPlan, Network};
use lanetwin_document::node::{Entry, Node, Spot};
use std::collections::BTreeMap;

/// The connections between components.
#[derive(Default)]
pub(super) struct Wiring {
    pub links: Vec<LinkPlan>,
    /// Times during which hosts lack drives that move.
    pub absences: Vec<Absence>,
    pub cxl: Vec<CxlLinkPlan>,
    pub network: Network,
    pub joins: Vec<Join>,
    pub driven: Vec<Driven>,
    /// Those of them whose drive is not below the initiating host: their indices, and the place where the drive is
    /// named.
    pub shown: Vec<(usize, Spot, String)>,
    /// The switches that hosts share.
    pub partitions: Partitions,
    /// Links inside assemblies, with every default filled in: the assembly, and the entries of the link.
    pub inside: Vec<(String, Vec<Entry>)>,
    /// Every port that is taken, with its link.
    pub taken: BTreeMap<End, String>,
}

impl Wiring {
    /// Adds the links inside assemblies to the complete `machine`.
    pub(super) fn tell_inside(&self, machine: &mut Node) {
        for (of, entries) in &self.inside {
            let assemblies = machine.entries_mut().into_iter().flatten();
            for entry in assemblies.filter(|entry| entry.key == *of) {
                if let Some(list) = entry.value.entries_mut() {
                    list.extend(entries.iter().cloned());
                }
            }
        }
    }
}
