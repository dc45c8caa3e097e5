//! Assumptions and omissions of results for CXL memory.

use super::Assumption;
use crate::plan::{CxlLinkPlan, DeviceCache, Load, MemoryProgram, Plan, Variant};
use lanetwin_cxl::logic::FlitMode;
use lanetwin_cxl::spec::flit_256::{Layout, SKP_DATA_BLOCKS};
use lanetwin_document::quantity;
use lanetwin_ports::{CxlLinkSpec, Value};
use lanetwin_units::{NumberKind, Span};

impl Plan {
    /// Assumptions that CXL links take from their ports, and that nobody publishes for a part.
    pub(super) fn of_cxl(&self, variant: &Variant) -> Vec<Assumption> {
        variant.cxl.iter().flat_map(of_link).collect()
    }

    /// Omissions of memory loads and of the machines under them.
    pub(super) fn of_memory(&self) -> Vec<String> {
        let workloads = || self.variants.iter().flat_map(|variant| &variant.workloads);
        let cases = || workloads().flat_map(|workload| &workload.cases);
        let memory =
            || cases().filter_map(|case| if let Load::Memory(case) = &case.load { Some(case) } else { None });
        if memory().next().is_none() {
            return Vec::new();
        }
        let mut list = vec![
            "Coherence between cores, and with devices: lines are shared by nobody (CXL.mem without back-invalidation).".to_owned(),
            "Migration of pages between nodes: a page stays where its policy has put it.".to_owned(),
            "Where the time of a single load goes, hop by hop: latencies are told by node.".to_owned(),
        ];
        if memory().any(|case| matches!(case.program, MemoryProgram::Traffic(_))) {
            list.push("What a program does with what it loads: threads that stream wait for nothing but places for misses.".into());
        }
        for case in memory() {
            if let MemoryProgram::Recorded(recorded) = &case.program {
                list.extend(recorded.not_modelled());
            }
        }
        if memory().any(|case| case.has_large_pages()) {
            list.push("Large pages that cannot be had, or are made later: every whole one is there from the start (`pages`).".into());
        }
        let has_cache =
            |variant: &Variant| variant.machine.iter().any(|c| c.params.0.contains_key("initial"));
        if memory().any(|case| case.cache == DeviceCache::Warm) && self.variants.iter().any(has_cache) {
            list.push("How caches of devices fill: they begin as random visits to the working set leave them (`cache: warm`).".into());
        }
        list
    }
}

fn of_link(link: &CxlLinkPlan) -> Vec<Assumption> {
    let spec = CxlLinkSpec { flits: link.flits, ..CxlLinkSpec::new(link.generation, link.width) };
    let time = |span: Span| quantity::label(Value::Time(span));
    let told = |parameter: &str, value: String, note: &str, source: &str| Assumption {
        part: format!("link {}", link.name),
        parameter: parameter.into(),
        value,
        kind: NumberKind::Assumed,
        note: note.into(),
        source: source.into(),
    };
    let [credits, _] = spec.credits;
    let mut list = vec![
        told(
            "time in a port, each way",
            time(spec.transmit[0]),
            "a quarter of the 25 ns that a round trip through a port takes",
            "H. Li et al., Pond, ASPLOS 2023",
        ),
        told(
            "credits of each class",
            credits.data.to_string(),
            "as many as keep a x8 link of 32 GT/s full",
            "",
        ),
    ];
    if let FlitMode::Bytes256(layout) = spec.flits {
        if layout == Layout::Standard {
            list.push(told(
                "error correction of each flit",
                time(spec.correction),
                "the most that it takes together with the CRC",
                "D. Das Sharma, PCIe 6.0 Webinar Q&A: Error Detection and Correction with FEC, PCI-SIG",
            ));
        }
        list.push(told(
            "SKP ordered sets",
            format!("every {SKP_DATA_BLOCKS} blocks"),
            "as with packets, in whole flits; the interval in flit mode is not public",
            "",
        ));
    }
    list
}
