//! The published changes.

use serde::Deserialize;

const TABLE: &str = include_str!("../../../data/pm1743-retimer/deltas.csv");

/// A published change.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub(super) struct Published {
    /// What changed.
    pub what: String,
    /// How it was measured.
    pub case: String,
    /// By how much \[%\], without a sign.
    pub change_pct: f64,
    /// How it is put.
    pub said: String,
    /// The workloads of the scenario that ask the same; none if none do.
    #[serde(skip)]
    pub workloads: &'static [&'static str],
}

impl Published {
    /// Whether a workload of the scenario asks the same.
    pub(super) fn is_of(&self, workload: &str) -> bool {
        self.workloads.contains(&workload)
    }
    /// With over without: a bound has no sign and no value, so that none is the best that can be said; a latency that
    /// is told to differ is taken to be longer.
    pub(super) fn ratio(&self) -> f64 {
        if self.said == "at most" { 1.0 } else { 1.0 + self.change_pct / 100.0 }
    }
    /// `RocksDB latency, about 7 %`
    pub(super) fn told(&self) -> String {
        format!("{}, {} {} %", self.what, self.said, self.change_pct)
    }
}

/// The workloads that ask what was published.
fn workloads(what: &str) -> &'static [&'static str] {
    match what {
        "sequential throughput" => &["seq-read", "seq-write"],
        "random IOPS" => &["rand-read", "rand-write"],
        "4 KiB random read latency" => &["qd1-read"],
        "4 KiB random write latency" => &["qd1-write"],
        _ => &[],
    }
}

/// The table as it was published.
pub(super) fn published() -> Vec<Published> {
    let mut reader = csv::Reader::from_reader(TABLE.as_bytes());
    let rows = reader.deserialize().map(|row: Result<Published, _>| {
        let row = row.expect("the table is right");
        Published { workloads: workloads(&row.what), ..row }
    });
    rows.collect()
}
