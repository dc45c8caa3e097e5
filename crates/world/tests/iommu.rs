//! What an IOMMU costs the host of a drive: CPU time for each buffer that a kernel maps and unmaps, and a page walk for
//! addresses that no translation cache knows. An engine that maps its memory once pays neither.

use crate::tree::{plan, results};
use lanetwin_world::Options;

/// The CPU time of a request, without the IOMMU \[ns\]: to submit, and to complete.
const SUBMIT_NS: f64 = 3000.0;
const COMPLETE_NS: f64 = 1000.0;
/// What is said of mapping \[ns\].
const MAP_NS: f64 = 200.0;
const UNMAP_NS: f64 = 300.0;
const INVALIDATE_NS: f64 = 500.0;
/// A page walk \[ns\]: longer than the data of a read are on their way, so that most of it is waited for.
const WALK_NS: f64 = 5000.0;

/// Reads of 4 KiB from a drive that gives more than a core can ask for: a metric of them.
fn reads(engine: &str, iommu: &str, depth: u32, metric: &str) -> f64 {
    let costs = format!(
        "driver.{engine}.submit: {SUBMIT_NS}ns, driver.{engine}.complete: {COMPLETE_NS}ns, driver.interrupt: 1ns"
    );
    let mapping = format!(
        "driver.iommu.map: {MAP_NS}ns, driver.iommu.unmap: {UNMAP_NS}ns, driver.iommu.invalidate: {INVALIDATE_NS}ns"
    );
    let text = format!(
        "about: What does an IOMMU cost?\nmachine:\n  cpu: {{model: root-complex, driver.engine: {engine}, {costs}, {mapping}, \
         iommu.walk: {WALK_NS}ns{iommu}}}\n  ssd: {{model: nvme-ssd, medium: cross-point, capacity: 8GiB}}\nlinks:\n  \
         bay: {{from: cpu.slot0, to: ssd, gen: 4, width: x4}}\nworkloads:\n  load: {{block: {{size: 4KiB, depth: {depth}, span: 4GiB, \
         requests: 5000}}, on: cpu, target: ssd}}\nrun: {{repeats: 1}}\n"
    );
    let found = results(&plan("iommu.yaml", &text, &[]), &Options::default());
    found.rows.iter().find(|row| row.metric == metric).unwrap_or_else(|| panic!("no row of {metric}")).value
}

#[test]
fn a_core_of_a_kernel_maps_and_unmaps_the_buffer_of_each_command() {
    let cpu = SUBMIT_NS + COMPLETE_NS;
    for (iommu, own) in [
        ("", 0.0),
        (", iommu: true", MAP_NS + UNMAP_NS),
        (", iommu: true, driver.iommu: strict", MAP_NS + UNMAP_NS + INVALIDATE_NS),
    ] {
        let (rate, expected) = (reads("io_uring", iommu, 64, "IOPS"), 1e6 / (cpu + own));
        assert!((rate / expected - 1.0).abs() < 0.01, "{iommu}: {rate} of {expected} thousand a second");
    }
}

#[test]
fn each_buffer_is_walked_for_unless_it_was_mapped_once() {
    let added = |engine| reads(engine, ", iommu: true", 1, "latency") - reads(engine, "", 1, "latency");
    let (of_kernel, most) = (added("io_uring"), MAP_NS + UNMAP_NS + WALK_NS);
    assert!((most * 0.7..most).contains(&of_kernel), "{of_kernel} ns, {most} at most");
    let of_spdk = added("spdk");
    assert!(of_spdk < 20.0, "{of_spdk} ns: the walks of the first commands, over all of them");
}
