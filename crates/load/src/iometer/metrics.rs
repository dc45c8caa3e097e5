//! The seven families of metrics that Iometer shows and records, computed from the counters of a load.
//!
//! | Family | Here |
//! |---|---|
//! | operations per second | I/Os, with replies; transactions; connections, if a worker tests them |
//! | megabytes per second | decimal (10⁶ B) and binary (2²⁰ B), under different names |
//! | average latency, maximum latency | of I/Os, of transactions, and of connections, if a worker tests them |
//! | CPU | of the driver's cores, if their busy time was measured |
//! | network | of the adapters of the driver's computer, if it has any |
//! | errors | I/Os that returned corrupt data or were aborted |
//!
//! **Transactions.** A transaction is a request and its reply. Without replies a transaction is one I/O, and Iometer
//! counts and times it with each I/O (`IOGrunt.cpp`, `Record_IO`: `remaining_requests + remaining_replies == 1`). Disk
//! workers have no replies, so their transactions are their I/Os. The reply in a network worker's transaction is an I/O
//! of the other kind.
//!
//! **CPU effectiveness** is I/Os per second divided by the percentage of total CPU utilisation, 0 if that is 0
//! (`Manager.cpp`, `UpdateResults`).
//!
//! **Nothing counted.** The average of no operations is 0, and so is a rate if no time has passed, as in Iometer.

use crate::results::Side;
use lanetwin_stats::Histogram;
use lanetwin_units::Span;
use serde::{Serialize, Serializer};

/// 10⁶ B: a decimal megabyte.
const MEGABYTE: f64 = 1e6;
/// 2²⁰ B: a binary megabyte, which the standards call MiB. Versions up to 2008.06.18 call it MB (`IOCommon.h`).
const MEBIBYTE: f64 = 1_048_576.0;
const PS_PER_MS: f64 = 1e9;
const PS_PER_S: f64 = 1e12;

/// The counters of a load and of the computer that ran it.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    /// The reads.
    pub reads: &'a Side,
    /// The writes.
    pub writes: &'a Side,
    /// Length of the measurement.
    pub elapsed: Span,
    /// Utilisation of the driver's cores, if measured.
    pub cpu: Option<CpuTime>,
    /// Durations of the connections that were opened and closed, if a worker tests them.
    pub connections: Option<&'a Histogram>,
    /// Traffic of the network adapters of the driver's computer, if it has any.
    pub network: Option<NetworkCounts>,
}

/// Busy time of cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CpuTime {
    /// Busy time, summed over all cores.
    pub busy: Span,
    /// Number of cores; at least one.
    pub cores: u32,
    /// The split of the busy time, if measured.
    pub modes: Option<CpuModes>,
}

/// The split of the busy time, summed over all cores.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CpuModes {
    /// Programs.
    pub user: Span,
    /// The kernel, including interrupts and deferred procedure calls, as Windows counts it.
    pub privileged: Span,
    /// Deferred procedure calls of interrupts.
    pub deferred: Span,
    /// Interrupts.
    pub interrupt: Span,
    /// Number of interrupts.
    pub interrupts: u64,
}

/// Traffic of the network adapters of a computer.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct NetworkCounts {
    /// Packets sent and received.
    pub packets: u64,
    /// Packets received with errors.
    pub errors: u64,
    /// TCP segments that were retransmitted.
    pub resent: u64,
}

/// One of the seven families.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Family {
    /// Operations per second.
    Operations,
    /// Megabytes per second.
    Megabytes,
    /// Average latency.
    AverageLatency,
    /// Maximum latency.
    MaximumLatency,
    /// CPU.
    Cpu,
    /// Network.
    Network,
    /// Errors.
    Errors,
}

impl Family {
    /// Its name in the menus of Iometer.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Operations => "Operations per Second",
            Self::Megabytes => "Megabytes per Second",
            Self::AverageLatency => "Average Latency",
            Self::MaximumLatency => "Maximum Latency",
            Self::Cpu => "CPU",
            Self::Network => "Network",
            Self::Errors => "Errors",
        }
    }
}
impl Serialize for Family {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A value, or why there is none.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// The value, in the unit of the metric.
    Value(f64),
    /// There is none.
    NotModelled {
        /// Why, in a sentence.
        why: &'static str,
    },
}

impl Reading {
    /// The value; `None` if it is not modelled.
    #[must_use]
    pub const fn value(self) -> Option<f64> {
        match self {
            Self::Value(value) => Some(value),
            Self::NotModelled { .. } => None,
        }
    }
}

/// One metric.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Metric {
    /// Its family.
    pub family: Family,
    /// Its name in the menus of Iometer 1.1.0, abbreviations written out.
    pub name: &'static str,
    /// Its unit; empty for a count.
    pub unit: &'static str,
    /// Its value.
    pub reading: Reading,
}

const NO_CONNECTIONS: Reading =
    Reading::NotModelled { why: "No worker tests connections: its targets stay open." };
const NO_PARTS: Reading = Reading::NotModelled {
    why: "Of a transaction with a reply only the whole is timed, and not its two I/Os.",
};
const NO_CPU: Reading = Reading::NotModelled { why: "Nobody measured how busy the driver's cores were." };
const NO_MODES: Reading = Reading::NotModelled {
    why: "Only drivers of NVMe drives on PCIe tell user, privileged, DPC and interrupt time apart.",
};
const NO_INTERRUPTS: Reading =
    Reading::NotModelled { why: "Only drivers of NVMe drives on PCIe count their interrupts." };
const NO_NETWORK: Reading =
    Reading::NotModelled { why: "The computer has no network adapter in the scenario." };

/// All metrics, in the order of Iometer's menus.
#[must_use]
pub fn metrics(counted: &Counted<'_>) -> Vec<Metric> {
    let all = [
        operations(counted),
        megabytes(counted),
        latencies(counted, Family::AverageLatency, AVERAGES, average_ms),
        latencies(counted, Family::MaximumLatency, MAXIMA, maximum_ms),
        cpu(counted),
        network(counted),
        errors(counted),
    ];
    all.concat()
}

const fn metric(family: Family, name: &'static str, unit: &'static str, reading: Reading) -> Metric {
    Metric { family, name, unit, reading }
}

/// The total of a quantity, and its sums for reads and for writes. A reply counts for the direction opposite to its
/// request.
fn sums(counted: &Counted<'_>, of: impl Fn(&Side) -> u64, replies: impl Fn(&Side) -> u64) -> [f64; 3] {
    let (reads, writes) = (counted.reads, counted.writes);
    let [reads, writes] = [of(reads) + replies(writes), of(writes) + replies(reads)];
    [(reads + writes) as f64, reads as f64, writes as f64]
}

impl Counted<'_> {
    /// An amount per second; 0 if no time has passed.
    pub(super) fn per_second(&self, amount: f64) -> f64 {
        let ps = self.elapsed.as_ps();
        if ps == 0 { 0.0 } else { amount * PS_PER_S / ps as f64 }
    }
    /// Busy time of all cores as a percentage of their time \[%\].
    pub(super) fn utilisation(&self) -> Option<f64> {
        let CpuTime { busy, .. } = self.cpu?;
        self.share(busy)
    }
    /// A time of all cores as a percentage of their time \[%\].
    fn share(&self, time: Span) -> Option<f64> {
        const PERCENT: f64 = 100.0;
        let had = self.elapsed.as_ps() as f64 * f64::from(self.cpu?.cores);
        Some(if had == 0.0 { 0.0 } else { time.as_ps() as f64 * PERCENT / had })
    }
    /// The split of the busy time.
    fn modes(&self) -> Option<CpuModes> {
        self.cpu?.modes
    }
    /// The latencies of both sides.
    pub(super) fn both(&self) -> Histogram {
        let mut both = self.reads.latency.clone();
        both.merge(&self.writes.latency);
        both
    }
}

/// The mean \[ms\]; 0 if there are no latencies.
pub(super) fn average_ms(latency: &Histogram) -> f64 {
    latency.mean_ps().map_or(0.0, |ps| ps / PS_PER_MS)
}
/// The maximum \[ms\]; 0 if there are no latencies.
pub(super) fn maximum_ms(latency: &Histogram) -> f64 {
    latency.max().map_or(0.0, |span| span.as_ps() as f64 / PS_PER_MS)
}
/// Number of operations that returned corrupt data or were aborted.
pub(super) fn failed(side: &Side) -> u64 {
    side.corrupt + side.aborted
}

fn operations(counted: &Counted<'_>) -> Vec<Metric> {
    let rate = |n: f64| Reading::Value(counted.per_second(n));
    let [total, reads, writes] = sums(counted, |side| side.completed, |side| side.replies.number).map(rate);
    let [transactions, ..] = sums(counted, |side| side.completed, |_| 0).map(rate);
    let connections = counted
        .connections
        .map_or(NO_CONNECTIONS, |made| Reading::Value(counted.per_second(made.count() as f64)));
    let of = |name, reading| metric(Family::Operations, name, "1/s", reading);
    vec![
        of("Total I/Os per Second", total),
        of("Read I/Os per Second", reads),
        of("Write I/Os per Second", writes),
        of("Transactions per Second", transactions),
        of("Connections per Second", connections),
    ]
}

fn megabytes(counted: &Counted<'_>) -> Vec<Metric> {
    let names = [
        ["Total MBs per Second (Decimal)", "Total MBs per Second (Binary)"],
        ["Read MBs per Second (Decimal)", "Read MBs per Second (Binary)"],
        ["Write MBs per Second (Decimal)", "Write MBs per Second (Binary)"],
    ];
    let rates =
        sums(counted, |side| side.bytes, |side| side.replies.bytes).map(|bytes| counted.per_second(bytes));
    let of = |nth: usize, unit, divisor: f64| {
        names.iter().zip(rates).map(move |(names, rate)| {
            metric(Family::Megabytes, names[nth], unit, Reading::Value(rate / divisor))
        })
    };
    of(0, "MB/s", MEGABYTE).chain(of(1, "MiB/s", MEBIBYTE)).collect()
}

const AVERAGES: [&str; 5] = [
    "Average I/O Response Time",
    "Average Read Response Time",
    "Average Write Response Time",
    "Average Transaction Time",
    "Average Connection Time",
];
const MAXIMA: [&str; 5] = [
    "Maximum I/O Response Time",
    "Maximum Read Response Time",
    "Maximum Write Response Time",
    "Maximum Transaction Time",
    "Maximum Connection Time",
];

fn latencies(
    counted: &Counted<'_>,
    family: Family,
    names: [&'static str; 5],
    of: fn(&Histogram) -> f64,
) -> Vec<Metric> {
    let both = Reading::Value(of(&counted.both()));
    let [reads, writes] = [counted.reads, counted.writes].map(|side| Reading::Value(of(&side.latency)));
    let connection = counted.connections.map_or(NO_CONNECTIONS, |made| Reading::Value(of(made)));
    let replies = counted.reads.replies.number + counted.writes.replies.number;
    let part = |reading| if replies == 0 { reading } else { NO_PARTS };
    let readings = [part(both), part(reads), part(writes), both, connection];
    names.into_iter().zip(readings).map(|(name, reading)| metric(family, name, "ms", reading)).collect()
}

fn cpu(counted: &Counted<'_>) -> Vec<Metric> {
    let utilisation = counted.utilisation();
    let of = |name, unit, reading| metric(Family::Cpu, name, unit, reading);
    let modes = counted.modes();
    let interrupts =
        modes.map_or(NO_INTERRUPTS, |modes| Reading::Value(counted.per_second(modes.interrupts as f64)));
    let share = |time: fn(&CpuModes) -> Span| {
        modes.and_then(|modes| counted.share(time(&modes))).map_or(NO_MODES, Reading::Value)
    };
    let effectiveness = utilisation.map_or(NO_CPU, |percent| Reading::Value(effectiveness(counted, percent)));
    vec![
        of("% CPU Utilization (total)", "%", utilisation.map_or(NO_CPU, Reading::Value)),
        of("% User Time", "%", share(|modes| modes.user)),
        of("% Privileged Time", "%", share(|modes| modes.privileged)),
        of("% DPC Time", "%", share(|modes| modes.deferred)),
        of("% Interrupt Time", "%", share(|modes| modes.interrupt)),
        of("Interrupts per Second", "1/s", interrupts),
        of("CPU Effectiveness", "1/s/%", effectiveness),
    ]
}

/// I/Os per second per percent of CPU utilisation.
pub(super) fn effectiveness(counted: &Counted<'_>, percent: f64) -> f64 {
    let [total, ..] = sums(counted, |side| side.completed, |side| side.replies.number);
    if percent == 0.0 { 0.0 } else { counted.per_second(total) / percent }
}

fn network(counted: &Counted<'_>) -> Vec<Metric> {
    let of = |name, unit, value: &dyn Fn(NetworkCounts) -> f64| {
        let reading = counted.network.map_or(NO_NETWORK, |network| Reading::Value(value(network)));
        metric(Family::Network, name, unit, reading)
    };
    let rate = |number: u64| counted.per_second(number as f64);
    vec![
        of("Network Packets per Second", "1/s", &|network| rate(network.packets)),
        of("Packet Errors", "", &|network| network.errors as f64),
        of("TCP Segments Retransmitted per Second", "1/s", &|network| rate(network.resent)),
    ]
}

fn errors(counted: &Counted<'_>) -> Vec<Metric> {
    let names = ["Total Error Count", "Read Error Count", "Write Error Count"];
    let counts = sums(counted, failed, |_| 0);
    let of = |(name, count)| metric(Family::Errors, name, "", Reading::Value(count));
    names.into_iter().zip(counts).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_ports::Status;

    fn side(operations: &[(u32, u64)], failed: u64) -> Side {
        let mut side = Side { corrupt: failed, ..Side::default() };
        for (bytes, us) in operations {
            side.count(Status::Ok, *bytes, Span::from_us(*us));
        }
        side
    }
    fn value(metrics: &[Metric], name: &str) -> Option<f64> {
        metrics.iter().find(|metric| metric.name == name).expect("a metric of this name").reading.value()
    }

    #[test]
    fn both_megabytes_and_the_rest_are_as_defined() {
        let reads = side(&[(1 << 20, 1000), (1 << 20, 3000)], 1);
        let writes = side(&[(500_000, 500)], 0);
        let modes = CpuModes {
            privileged: Span::from_us(10_000),
            deferred: Span::from_us(4_000),
            interrupt: Span::from_us(2_000),
            interrupts: 30,
            ..CpuModes::default()
        };
        let cpu = Some(CpuTime { busy: Span::from_us(10_000), cores: 4, modes: Some(modes) });
        let mut connections = Histogram::new();
        [2000, 4000].into_iter().for_each(|us| connections.record(Span::from_us(us)));
        let network = Some(NetworkCounts { packets: 500, errors: 3, resent: 1 });
        let elapsed = Span::from_us(10_000);
        let counted = Counted {
            reads: &reads,
            writes: &writes,
            elapsed,
            cpu,
            connections: Some(&connections),
            network,
        };
        let metrics = metrics(&counted);
        for (name, expected) in [
            ("Total I/Os per Second", 300.0),
            ("Read I/Os per Second", 200.0),
            ("Transactions per Second", 300.0),
            ("Read MBs per Second (Binary)", 200.0),
            ("Read MBs per Second (Decimal)", 209.7152),
            ("Write MBs per Second (Decimal)", 50.0),
            ("Average I/O Response Time", 1.5),
            ("Average Read Response Time", 2.0),
            ("Average Transaction Time", 1.5),
            ("Maximum I/O Response Time", 3.0),
            ("Maximum Write Response Time", 0.5),
            ("% CPU Utilization (total)", 25.0),
            ("CPU Effectiveness", 12.0),
            ("% User Time", 0.0),
            ("% Privileged Time", 25.0),
            ("% DPC Time", 10.0),
            ("% Interrupt Time", 5.0),
            ("Interrupts per Second", 3000.0),
            ("Connections per Second", 200.0),
            ("Average Connection Time", 3.0),
            ("Maximum Connection Time", 4.0),
            ("Network Packets per Second", 50_000.0),
            ("Packet Errors", 3.0),
            ("TCP Segments Retransmitted per Second", 100.0),
            ("Total Error Count", 1.0),
            ("Write Error Count", 0.0),
        ] {
            let found = value(&metrics, name).expect("a value");
            assert!((found - expected).abs() < 1e-9 * expected.max(1.0), "{name}: {found}, not {expected}");
        }
    }

    #[test]
    fn what_is_not_modelled_says_why_and_every_family_is_there() {
        let (reads, writes) = (Side::default(), Side::default());
        let counted = Counted {
            reads: &reads,
            writes: &writes,
            elapsed: Span::ZERO,
            cpu: None,
            connections: None,
            network: None,
        };
        let metrics = metrics(&counted);
        assert_eq!(metrics.len(), 5 + 6 + 5 + 5 + 7 + 3 + 3);
        assert_eq!(value(&metrics, "Total I/Os per Second"), Some(0.0));
        assert_eq!(value(&metrics, "Average Read Response Time"), Some(0.0));
        let missing: Vec<&str> = metrics
            .iter()
            .filter_map(|metric| match metric.reading {
                Reading::NotModelled { why } => Some((metric.name, why)),
                Reading::Value(_) => None,
            })
            .inspect(|(_, why)| assert!(why.ends_with('.') && why.len() > 20, "{why}"))
            .map(|(name, _)| name)
            .collect();
        assert_eq!(missing.len(), 1 + 2 + 7 + 3, "{missing:?}");
    }
}
