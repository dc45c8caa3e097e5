//! The published tables, as they were published.

use serde::Deserialize;

const BANDWIDTH: &str = include_str!("../../../data/pcie-bench/bw_dma_sz_sweep.csv");
const LATENCY: &str = include_str!("../../../data/pcie-bench/lat_dma_sizes.csv");

/// The machines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum System {
    /// Sandy Bridge.
    #[serde(rename = "snb-Xeon-E5-2630_dell-t620")]
    SandyBridge,
    /// Broadwell, everything on socket 0.
    #[serde(rename = "bdw-Xeon-E5-2630v4-dell-t430-s0-s0-s0")]
    Broadwell,
}

impl System {
    /// Both.
    pub const ALL: [Self; 2] = [Self::SandyBridge, Self::Broadwell];
    /// Its name, for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SandyBridge => "Sandy Bridge",
            Self::Broadwell => "Broadwell",
        }
    }
    /// The part that is its host.
    pub const fn host(self) -> &'static str {
        match self {
            Self::SandyBridge => "snb-xeon-e5-2630-dell-t620",
            Self::Broadwell => "bdw-xeon-e5-2630v4-dell-t430",
        }
    }
}

/// What was measured.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Quantity {
    /// The rate of reads with many in flight \[Gb/s of payload\].
    Read,
    /// The rate of writes with many in flight \[Gb/s of payload\].
    Write,
    /// The rate of reads, and of writes, with both at once \[Gb/s of payload, each\].
    Mixed,
    /// The mean latency of one read at a time \[ns\].
    LatencyMean,
    /// The median latency of one read at a time \[ns\].
    LatencyMedian,
}

impl Quantity {
    /// The three rates.
    pub const RATES: [Self; 3] = [Self::Write, Self::Read, Self::Mixed];
    /// The two latencies.
    pub const LATENCIES: [Self; 2] = [Self::LatencyMean, Self::LatencyMedian];
    /// The workload that measures it, as it is called in the scenario.
    pub const fn workload(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Mixed => "mixed",
            Self::LatencyMean | Self::LatencyMedian => "latency",
        }
    }
    /// What it is, in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "DMA read throughput",
            Self::Write => "DMA write throughput",
            Self::Mixed => "DMA read + write throughput, per direction",
            Self::LatencyMean => "DMA read latency, mean",
            Self::LatencyMedian => "DMA read latency, median",
        }
    }
    /// Its unit.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Read | Self::Write | Self::Mixed => "Gb/s",
            Self::LatencyMean | Self::LatencyMedian => "ns",
        }
    }
}

/// Which cell of the tables.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key {
    /// Of which machine.
    pub system: System,
    /// What was measured.
    pub quantity: Quantity,
    /// The size of a transfer \[B\].
    pub size: u32,
}

/// A published value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Published {
    /// Which.
    pub key: Key,
    /// The value, in the unit of its quantity.
    pub value: f64,
}

#[derive(Deserialize)]
struct BandwidthRow {
    system: System,
    test: String,
    #[serde(rename = "size_B")]
    size: u32,
    #[serde(rename = "trans_per_s")]
    transfers_per_second: f64,
}

#[derive(Deserialize)]
struct LatencyRow {
    system: System,
    test: String,
    pattern: String,
    cache: String,
    #[serde(rename = "size_B")]
    size: u32,
    #[serde(rename = "avg_ns")]
    mean: f64,
    #[serde(rename = "med_ns")]
    median: f64,
}

/// Every value that the claim is about, in order.
///
/// # Panics
/// If the embedded tables are damaged: a test reads them.
pub fn published() -> Vec<Published> {
    let mut all: Vec<Published> = rates(BANDWIDTH).chain(latencies(LATENCY)).collect();
    all.sort_by_key(|published| published.key);
    all
}

fn rows<T: for<'a> Deserialize<'a>>(text: &'static str) -> impl Iterator<Item = T> {
    csv::Reader::from_reader(text.as_bytes()).into_deserialize().map(|row| row.expect("the table is whole"))
}

fn rates(text: &'static str) -> impl Iterator<Item = Published> {
    rows(text).map(|row: BandwidthRow| {
        let quantity = match &*row.test {
            "BW_DMA_RD" => Quantity::Read,
            "BW_DMA_WR" => Quantity::Write,
            "BW_DMA_RW" => Quantity::Mixed,
            other => panic!("the table has no test {other}"),
        };
        // The column of rates has three decimals, that of transfers has more digits.
        let value = row.transfers_per_second * f64::from(row.size) * 8.0 / 1e9;
        Published { key: Key { system: row.system, quantity, size: row.size }, value }
    })
}

fn latencies(text: &'static str) -> impl Iterator<Item = Published> {
    let wanted =
        |row: &LatencyRow| (&*row.test, &*row.pattern, &*row.cache) == ("LAT_DMA_RD", "Seq", "HWarm");
    rows(text).filter(wanted).flat_map(|LatencyRow { system, size, mean, median, .. }| {
        [(Quantity::LatencyMean, mean), (Quantity::LatencyMedian, median)]
            .map(|(quantity, value)| Published { key: Key { system, quantity, size }, value })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_whole() {
        let all = published();
        assert_eq!(all.len(), 2 * (3 * 40 + 2 * 15));
        let value = |system, quantity, size| {
            all.iter().find(|p| p.key == Key { system, quantity, size }).map(|p| p.value).unwrap()
        };
        // The anchors of the published plots.
        assert!((value(System::SandyBridge, Quantity::Write, 2048) - 54.44).abs() < 0.01);
        assert!((value(System::Broadwell, Quantity::Mixed, 2048) - 52.00).abs() < 0.01);
        assert!((value(System::SandyBridge, Quantity::Read, 1024) - 50.06).abs() < 0.01);
        assert_eq!(value(System::Broadwell, Quantity::LatencyMedian, 2048), 1133.0);
        assert_eq!(value(System::SandyBridge, Quantity::LatencyMean, 64), 557.5);
        assert!(all.windows(2).all(|pair| pair[0].key < pair[1].key), "no cell is there twice");
    }
}
