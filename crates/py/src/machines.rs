//! Machines that exist: their functions, and the statistics of what is measured on them.

use crate::core_api::{Answer, Failure, json, parse};
use lanetwin_probe::inventory::{Inventory, NotRead, Snapshot, diagnose};
use lanetwin_stats::{Confidence, Interval};
use lanetwin_textfile::Limit;
use std::path::Path;

/// The functions of a machine: of this one, of a copy of its `/sys`, or of what `lspci -xxxx` printed.
pub fn discover(source: Option<&str>) -> Answer {
    let told = |why: NotRead| Failure::Message(format!("{}: {why}", source.unwrap_or("/sys")));
    let path = Path::new(source.unwrap_or("/"));
    let snapshot = if source.is_none() || path.is_dir() {
        Snapshot::of_sysfs(path).map_err(told)?
    } else {
        let text = lanetwin_textfile::read_text(path, Limit::Document);
        let text = text.map_err(|error| told(NotRead(format!("it cannot be read: {error}"))))?;
        Snapshot::of_dump(&text).map_err(told)?
    };
    let inventory = Inventory::of(&snapshot);
    let findings = diagnose(&snapshot, &inventory);
    json(&serde_json::json!({ "devices": inventory.devices, "notes": inventory.notes, "findings": findings }))
}

/// The mean of repeated measurements with its 95 % interval, which one alone has none of.
pub fn mean_of(samples: &str) -> Answer {
    let samples: Vec<f64> = parse(samples, "the samples")?;
    let interval = lanetwin_stats::interval::mean(&samples, Confidence::P95);
    let mean = samples.iter().sum::<f64>() / samples.len().max(1) as f64;
    let end = |of: fn(Interval) -> f64| interval.map_or(mean, of);
    json(&serde_json::json!({ "value": mean, "low": end(Interval::low), "high": end(Interval::high) }))
}
