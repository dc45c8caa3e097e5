//! What is joined with what, once `links:` has been read.

use super::links::partitions::Partitions;
use crate::plan::{Absence, CxlLinkPlan, Driven, End, Join, LinkPlan, Network};
use lanetwin_document::node::{Entry, Node, Spot};
use std::collections::BTreeMap;

/// What is joined with what.
#[derive(Default)]
pub(super) struct Wiring {
    pub links: Vec<LinkPlan>,
    /// When hosts are without drives that move.
    pub absences: Vec<Absence>,
    pub cxl: Vec<CxlLinkPlan>,
    pub network: Network,
    pub joins: Vec<Join>,
    pub driven: Vec<Driven>,
    /// Of those, the ones whose drive is not below the host that asks: their places, and where the drive was named.
    pub shown: Vec<(usize, Spot, String)>,
    /// The switches that hosts share.
    pub partitions: Partitions,
    /// Links inside of assemblies, with every default filled in: the assembly, and what is said of the link.
    pub inside: Vec<(String, Vec<Entry>)>,
    /// Every port that is taken, and by which link.
    pub taken: BTreeMap<End, String>,
}

impl Wiring {
    /// Says in the complete `machine` what links inside of assemblies are.
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
