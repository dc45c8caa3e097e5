//! Functions for real machines: their inventory, their block devices, and statistics of measurements.

use crate::core_api::{Answer, Failure, json, parse};
use lanetwin_probe::inventory::{Inventory, NotRead, Snapshot, diagnose, read, record};
use lanetwin_stats::{Confidence, Interval};
use lanetwin_textfile::Limit;
use std::path::Path;

/// The functions of a machine: of this one, or of the one that files and folders describe; if several describe the same
/// thing, the first counts. On request, also a redacted record of the machine.
pub fn discover(sources: &str, with_record: bool) -> Answer {
    let sources: Vec<String> = parse(sources, "the sources")?;
    let snapshots: Result<Vec<Snapshot>, Failure> = sources.iter().map(|source| snapshot(source)).collect();
    let snapshot = match snapshots?.into_iter().reduce(Snapshot::merged) {
        Some(read) => read,
        None => Snapshot::of_sysfs(Path::new("/")).map_err(|why| told("/sys", &why))?,
    };
    let inventory = Inventory::of(&snapshot);
    let findings = diagnose(&inventory);
    let record = with_record.then(|| record(&snapshot));
    let mut document = serde_json::to_value(&inventory).unwrap_or_default();
    document["findings"] = serde_json::to_value(findings).unwrap_or_default();
    document["record"] = record.into();
    json(&document)
}

/// The remedy if a source cannot be read: the sources that can.
const KNOWN: &str = "give what `lspci -xxxx`, `-vvv` or `-mm` prints, hwloc's XML, the JSON of `cxl list` or `nvme list`, what \
                     `numactl -H` prints, a copy or a tarball of /sys, or a record of `lanetwin discover`";

fn told(source: &str, why: &NotRead) -> Failure {
    let diagnostic = serde_json::json!([{
        "code": "HW001", "severity": "error", "file": source, "message": why.to_string(), "help": KNOWN,
    }]);
    Failure::Diagnostics(diagnostic.to_string())
}

fn snapshot(source: &str) -> Result<Snapshot, Failure> {
    let path = Path::new(source);
    if path.is_dir() {
        return Snapshot::of_sysfs(path).map_err(|why| told(source, &why));
    }
    let bytes = lanetwin_textfile::read_bytes(path, Limit::Document);
    let bytes = bytes.map_err(|error| told(source, &NotRead(format!("it cannot be read: {error}"))))?;
    read(&bytes).map_err(|why| told(source, &why))
}

/// A block device of this machine, with its partitions and their users; `null` if there is none of this name.
pub fn disk(name: &str) -> Answer {
    let is_name = !name.is_empty() && !name.contains('/') && name != "..";
    json(&is_name.then(|| lanetwin_probe::linux::disk(Path::new("/"), name)).flatten())
}

/// The mean of repeated measurements, with its 95 % interval. A single measurement has no interval: its ends are the
/// mean.
pub fn mean_of(samples: &str) -> Answer {
    let samples: Vec<f64> = parse(samples, "the samples")?;
    let interval = lanetwin_stats::interval::mean(&samples, Confidence::P95);
    let interval = interval.map(|interval| interval.of_what(&samples));
    let mean = samples.iter().sum::<f64>() / samples.len().max(1) as f64;
    let end = |of: fn(Interval) -> f64| interval.map_or(mean, of);
    json(&serde_json::json!({ "value": mean, "low": end(Interval::low), "high": end(Interval::high) }))
}
