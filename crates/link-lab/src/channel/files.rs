//! Touchstone files that a channel names; each is read once for all variants.

use super::problem::Physical;
use lanetwin_document::add_source;
use lanetwin_document::node::Spot;
use lanetwin_document::problem::Reports;
use lanetwin_phy::network::{Network, Pairing};
use lanetwin_phy::quality::{Quality, check_range};
use lanetwin_phy::{DataRate, Finding, Severity, gate, touchstone};
use lanetwin_textfile::Reach;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files so far.
pub(super) struct Files<'s> {
    folder: PathBuf,
    reach: &'s Reach,
    sources: &'s mut Vec<String>,
    read: BTreeMap<String, File>,
}

/// A file: its source number for errors, and its contents.
#[derive(Clone)]
pub(super) struct File {
    spot: Spot,
    network: Option<Arc<Network>>,
    found: Vec<Finding>,
}

/// The lanes of a file, differential: first the near ends of all lanes, then the far ends.
pub(super) struct Lanes {
    differential: Network,
    count: usize,
}

impl Lanes {
    /// Number of lanes.
    pub(super) const fn count(&self) -> usize {
        self.count
    }
    /// A lane as a two-port from near to far; the others are terminated.
    pub(super) fn lane(&self, at: usize) -> Arc<Network> {
        self.two_ports(at, self.count + at)
    }
    /// From the near end of lane `from` to the far end of lane `to`.
    pub(super) fn far_end(&self, from: usize, to: usize) -> Arc<Network> {
        self.two_ports(from, self.count + to)
    }
    /// From the far end of lane `from` to the far end of lane `to`.
    pub(super) fn near_end(&self, from: usize, to: usize) -> Arc<Network> {
        self.two_ports(self.count + from, self.count + to)
    }
    fn two_ports(&self, from: usize, to: usize) -> Arc<Network> {
        Arc::new(self.differential.picked(&[from, to]).expect("two ports of its own"))
    }
}

impl<'s> Files<'s> {
    /// No files yet; paths are relative to the folder of the document.
    pub(super) fn beside(document: &Path, reach: &'s Reach, sources: &'s mut Vec<String>) -> Self {
        let folder = document.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        Self { folder, reach, sources, read: BTreeMap::new() }
    }
    /// The file of this name; `None` if it cannot be read, which is reported at its name.
    pub(super) fn lanes(
        &mut self,
        name: &str,
        named: Spot,
        path: &str,
        reports: &mut Reports,
    ) -> Option<File> {
        let file = match self.read.get(name) {
            Some(file) => file.clone(),
            None => {
                let file = self.open(name);
                self.read.insert(name.to_owned(), file.clone());
                file
            }
        };
        for finding in &file.found {
            // a missing file is an error of the document that names it
            let (spot, path) = if finding.code == "PH001" { (named, path) } else { (file.at(finding), "") };
            reports.add(Physical(finding.clone()), spot, path);
        }
        file.network.is_some().then_some(file)
    }
    fn open(&mut self, name: &str) -> File {
        let path = self.folder.join(name);
        let spot = add_source(self.sources, path.display().to_string());
        if let Err(out) = self.reach.check(&path) {
            let found = vec![touchstone::unreadable(out.to_string())];
            return File { spot, network: None, found };
        }
        match touchstone::read_file(&path) {
            Ok(reading) => File { spot, network: Some(Arc::new(reading.network)), found: reading.warnings },
            Err(found) => File { spot, network: None, found },
        }
    }
}

impl File {
    /// Number of its ports.
    pub(super) fn ports(&self) -> usize {
        self.network.as_ref().map_or(0, |network| network.ports())
    }
    fn at(&self, finding: &Finding) -> Spot {
        Spot { line: finding.line, column: finding.column, ..self.spot }
    }
    /// The lanes of the file, if its data are valid for this rate. A file of two ports is a differential line already.
    pub(super) fn admitted(
        &self,
        pairing: Option<Pairing>,
        rate: DataRate,
        reports: &mut Reports,
    ) -> Option<Lanes> {
        let network = self.network.as_ref()?;
        let (lanes, found) = if network.ports() == 2 && pairing.is_none() {
            let found: Vec<Finding> =
                check_range(network, rate).into_iter().chain(Quality::of(network).findings()).collect();
            let usable = found.iter().all(|finding| finding.severity == Severity::Warning);
            (usable.then(|| Lanes { differential: (**network).clone(), count: 1 }), found)
        } else {
            match gate::admit(network, pairing, rate) {
                Ok(admitted) => {
                    let count = admitted.pairing.lanes().len();
                    (Some(Lanes { differential: admitted.differential, count }), admitted.warnings)
                }
                Err(found) => (None, found),
            }
        };
        for finding in found {
            let spot = self.at(&finding);
            reports.add(Physical(finding), spot, "");
        }
        lanes
    }
}
