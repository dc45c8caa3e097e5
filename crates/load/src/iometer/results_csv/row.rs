//! The rows of the results file: for all managers together, a manager, a processor, a worker, a disk.

use super::super::metrics::{self, Counted, Reading, failed};
use super::column::{BIN_STARTS_US, Column, Form};
use crate::results::Side;
use lanetwin_stats::Histogram;
use lanetwin_units::Span;
use std::collections::BTreeMap;

/// The subject of a row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RowKind {
    /// All managers.
    All,
    /// A manager.
    Manager,
    /// A processor of the manager above.
    Processor,
    /// A worker of the manager above.
    Worker,
    /// A disk of the worker above.
    Disk,
    /// A network target of the worker above.
    Network,
}

impl RowKind {
    const WORDS: [(&'static str, Self); 6] = [
        ("ALL", Self::All),
        ("MANAGER", Self::Manager),
        ("PROCESSOR", Self::Processor),
        ("WORKER", Self::Worker),
        ("DISK", Self::Disk),
        ("NETWORK", Self::Network),
    ];
    pub(super) fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }
    pub(super) fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind)
    }
}

/// A number in a row.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cell {
    /// In digits.
    Whole(i64),
    /// With six decimals.
    Real(f64),
}

impl Cell {
    /// As a number.
    #[must_use]
    pub const fn number(self) -> f64 {
        match self {
            Self::Whole(value) => value as f64,
            Self::Real(value) => value,
        }
    }
}

/// A row. Columns without a cell are empty.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// Its subject.
    pub kind: RowKind,
    /// The name of its subject, `All` and `CPU 0` included.
    pub name: String,
    /// Its access specification; empty in rows of processors and targets.
    pub spec: String,
    /// Its numbers.
    pub cells: BTreeMap<Column, Cell>,
}

/// Settings that a row repeats; `None` where the workers that it covers differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The first sector.
    pub starting_sector: Option<u64>,
    /// Number of sectors; 0 for all up to the end.
    pub maximum_size: Option<u64>,
    /// Outstanding I/Os on each target.
    pub outstanding: Option<u32>,
    /// Transactions per connection; `None` if connections are not tested.
    pub transactions: Option<u32>,
}

impl Settings {
    /// The settings that both share (`Manager.cpp`, `GetQueueDepth`, `GetDiskStart`, `GetDiskSize`).
    #[must_use]
    pub fn common(self, other: Self) -> Self {
        Self {
            starting_sector: self.starting_sector.filter(|own| other.starting_sector == Some(*own)),
            maximum_size: self.maximum_size.filter(|own| other.maximum_size == Some(*own)),
            outstanding: self.outstanding.filter(|own| other.outstanding == Some(*own)),
            transactions: self.transactions.filter(|own| other.transactions == Some(*own)),
        }
    }
}

/// Number of managers, workers and targets that ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Running {
    /// Managers.
    pub managers: u32,
    /// Workers.
    pub workers: u32,
    /// Targets.
    pub disks: u32,
}

/// Frequency of the clock for raw times, which count nanoseconds \[1/s\].
const RAW_PER_SECOND: f64 = 1e9;
const PS_PER_RAW: u128 = 1000;
/// The value that Iometer writes if there is no single number, and for transactions per connection if connections are
/// not tested (`Worker.h`).
const AMBIGUOUS: Cell = Cell::Whole(-1);

/// The column of each metric.
const OF_ALL: [(&str, Column); 27] = [
    ("Total I/Os per Second", Column::Iops),
    ("Read I/Os per Second", Column::ReadIops),
    ("Write I/Os per Second", Column::WriteIops),
    ("Transactions per Second", Column::Transactions),
    ("Connections per Second", Column::ConnectionRate),
    ("Total MBs per Second (Decimal)", Column::DecimalMbps),
    ("Read MBs per Second (Decimal)", Column::DecimalReadMbps),
    ("Write MBs per Second (Decimal)", Column::DecimalWriteMbps),
    ("Total MBs per Second (Binary)", Column::BinaryMbps),
    ("Read MBs per Second (Binary)", Column::BinaryReadMbps),
    ("Write MBs per Second (Binary)", Column::BinaryWriteMbps),
    ("Average I/O Response Time", Column::AverageLatency),
    ("Average Read Response Time", Column::AverageReadLatency),
    ("Average Write Response Time", Column::AverageWriteLatency),
    ("Average Transaction Time", Column::AverageTransaction),
    ("Average Connection Time", Column::AverageConnection),
    ("Maximum I/O Response Time", Column::MaximumLatency),
    ("Maximum Read Response Time", Column::MaximumReadLatency),
    ("Maximum Write Response Time", Column::MaximumWriteLatency),
    ("Maximum Transaction Time", Column::MaximumTransaction),
    ("Maximum Connection Time", Column::MaximumConnection),
    ("Total Error Count", Column::Errors),
    ("Read Error Count", Column::ReadErrors),
    ("Write Error Count", Column::WriteErrors),
    ("Network Packets per Second", Column::Packets),
    ("Packet Errors", Column::PacketErrors),
    ("TCP Segments Retransmitted per Second", Column::Retransmitted),
];
const OF_PROCESSORS: [(&str, Column); 7] = [
    ("% CPU Utilization (total)", Column::Cpu),
    ("% User Time", Column::UserTime),
    ("% Privileged Time", Column::PrivilegedTime),
    ("% DPC Time", Column::DpcTime),
    ("% Interrupt Time", Column::InterruptTime),
    ("Interrupts per Second", Column::Interrupts),
    ("CPU Effectiveness", Column::Effectiveness),
];
const OF_NETWORKS: [Column; 3] = [Column::Packets, Column::PacketErrors, Column::Retransmitted];

/// The columns that are 0 because they are not modelled, each with the reason. Iometer also writes 0 where a system
/// does not report a value, such as the DPC time of Linux (`IOPerformanceLinux.cpp`).
#[must_use]
pub fn not_modelled(counted: &Counted<'_>) -> Vec<(Column, &'static str)> {
    let why = |name: &str| {
        metrics::metrics(counted).into_iter().find_map(|metric| match metric.reading {
            Reading::NotModelled { why } if metric.name == name => Some(why),
            _ => None,
        })
    };
    let places = OF_ALL.iter().chain(&OF_PROCESSORS);
    places.filter_map(|(name, column)| Some((*column, why(name)?))).collect()
}

impl Row {
    fn new(kind: RowKind, name: &str, spec: &str) -> Self {
        Self { kind, name: name.to_owned(), spec: spec.to_owned(), cells: BTreeMap::new() }
    }
    /// The row for all managers together.
    #[must_use]
    pub fn all(spec: &str, counted: &Counted<'_>, running: Running, settings: Settings) -> Self {
        let mut row = Self::new(RowKind::All, "All", spec);
        row.count(Column::Managers, running.managers.into());
        row.count(Column::Workers, running.workers.into());
        row.count(Column::Disks, running.disks.into());
        row.metrics(counted);
        row.processors(counted);
        row.settings(settings);
        row
    }
    /// The row of a manager.
    #[must_use]
    pub fn manager(
        name: &str,
        spec: &str,
        counted: &Counted<'_>,
        running: Running,
        settings: Settings,
    ) -> Self {
        let mut row = Self {
            kind: RowKind::Manager,
            name: name.to_owned(),
            ..Self::all(spec, counted, running, settings)
        };
        row.cells.remove(&Column::Managers);
        row.raw(counted);
        row
    }
    /// The row of a processor, from 0; `counted.cpu` belongs to it.
    #[must_use]
    pub fn processor(number: u32, counted: &Counted<'_>) -> Self {
        let mut row = Self::new(RowKind::Processor, &format!("CPU {number}"), "");
        row.processors(counted);
        row.cells.remove(&Column::Effectiveness);
        row.cells.insert(Column::ProcessorSpeed, Cell::Real(RAW_PER_SECOND));
        row
    }
    /// The row of a worker.
    #[must_use]
    pub fn worker(name: &str, spec: &str, counted: &Counted<'_>, disks: u32, settings: Settings) -> Self {
        let mut row = Self::new(RowKind::Worker, name, spec);
        row.count(Column::Disks, disks.into());
        row.load(counted, settings);
        row
    }
    /// The row of a worker's disk. (Iometer repeats the raw times and the bins of the worker here; these are those of
    /// the disk.)
    #[must_use]
    pub fn disk(name: &str, counted: &Counted<'_>, settings: Settings) -> Self {
        let mut row = Self::new(RowKind::Disk, name, "");
        row.load(counted, settings);
        row
    }
    /// The row of a worker's network target.
    #[must_use]
    pub fn network(name: &str, counted: &Counted<'_>, settings: Settings) -> Self {
        Self { kind: RowKind::Network, ..Self::disk(name, counted, settings) }
    }

    fn load(&mut self, counted: &Counted<'_>, settings: Settings) {
        self.metrics(counted);
        self.cells.retain(|column, _| !OF_NETWORKS.contains(column));
        self.raw(counted);
        self.settings(settings);
    }
    fn count(&mut self, column: Column, value: u128) {
        self.cells.insert(column, Cell::Whole(i64::try_from(value).unwrap_or(i64::MAX)));
    }
    fn fill(&mut self, counted: &Counted<'_>, places: &[(&str, Column)]) {
        for metric in metrics::metrics(counted) {
            let Some((_, column)) = places.iter().find(|(name, _)| *name == metric.name) else { continue };
            let value = metric.reading.value().unwrap_or(0.0);
            let cell =
                if column.form() == Form::Whole { Cell::Whole(value as i64) } else { Cell::Real(value) };
            self.cells.insert(*column, cell);
        }
    }
    fn metrics(&mut self, counted: &Counted<'_>) {
        self.fill(counted, &OF_ALL);
        let Counted { reads, writes, .. } = counted;
        self.count(Column::Errors, (failed(reads) + failed(writes)).into());
        self.count(Column::BytesRead, (reads.bytes + writes.replies.bytes).into());
        self.count(Column::BytesWritten, (writes.bytes + reads.replies.bytes).into());
        self.count(Column::ReadIos, (reads.completed + writes.replies.number).into());
        self.count(Column::WriteIos, (writes.completed + reads.replies.number).into());
        self.count(Column::Connections, counted.connections.map_or(0, Histogram::count).into());
        (0..).zip(bins(&counted.both())).for_each(|(nth, n)| self.count(Column::Bin(nth), n.into()));
    }
    fn processors(&mut self, counted: &Counted<'_>) {
        self.fill(counted, &OF_PROCESSORS);
    }
    fn raw(&mut self, counted: &Counted<'_>) {
        let total = |side: &Side| side.latency.sum_ps() / PS_PER_RAW;
        let most = |side: &Side| u128::from(side.latency.max().map_or(0, Span::as_ps)) / PS_PER_RAW;
        let Counted { reads, writes, .. } = counted;
        let connections = counted.connections.map_or((0, 0), |made| {
            (made.sum_ps() / PS_PER_RAW, u128::from(made.max().map_or(0, Span::as_ps)) / PS_PER_RAW)
        });
        for (column, value) in [
            (Column::RawReadLatency, total(reads)),
            (Column::RawWriteLatency, total(writes)),
            (Column::RawTransaction, total(reads) + total(writes)),
            (Column::RawConnection, connections.0),
            (Column::RawMaximumRead, most(reads)),
            (Column::RawMaximumWrite, most(writes)),
            (Column::RawMaximumTransaction, most(reads).max(most(writes))),
            (Column::RawMaximumConnection, connections.1),
            (Column::RawRunTime, u128::from(counted.elapsed.as_ps()) / PS_PER_RAW),
        ] {
            self.count(column, value);
        }
        self.cells.insert(Column::ProcessorSpeed, Cell::Real(RAW_PER_SECOND));
    }
    fn settings(&mut self, settings: Settings) {
        let Settings { starting_sector, maximum_size, outstanding, transactions } = settings;
        for (column, value) in [
            (Column::StartingSector, starting_sector),
            (Column::MaximumSize, maximum_size),
            (Column::QueueDepth, outstanding.map(u64::from)),
            (Column::TransactionsPerConnection, transactions.map(u64::from)),
        ] {
            match value {
                Some(value) => self.count(column, value.into()),
                None => _ = self.cells.insert(column, AMBIGUOUS),
            }
        }
    }
}

/// Number of latencies in each bin. The histogram's buckets are 0.1 % wide; a bucket that includes the start of a bin
/// counts in that bin. (Iometer drops latencies of 10 s and more: its loop over the bins ends one too early,
/// `IOGrunt.cpp`, `Record_IO`.)
fn bins(latency: &Histogram) -> [u64; 21] {
    let mut bins = [0; 21];
    for bucket in latency.buckets() {
        let bin = BIN_STARTS_US.iter().take_while(|start| bucket.high >= Span::from_us(**start)).count();
        bins[bin] += bucket.count;
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_ports::Status;

    #[test]
    fn latencies_fall_into_their_bins() {
        let mut latency = Histogram::new();
        for us in [0, 49, 50, 99, 150, 4_000, 4_650_000, 4_900_000, 9_000_000, 11_000_000, 60_000_000] {
            latency.record(Span::from_us(us));
        }
        let mut expected = [0; 21];
        for (bin, n) in [(0, 2), (1, 2), (2, 1), (6, 1), (17, 1), (18, 1), (19, 1), (20, 2)] {
            expected[bin] = n;
        }
        assert_eq!(bins(&latency), expected);
    }

    #[test]
    fn raw_times_over_the_speed_of_their_clock_are_the_times_in_milliseconds() {
        let mut reads = Side::default();
        reads.count(Status::Ok, 4096, Span::from_us(1500));
        let elapsed = Span::from_us(15_000_000);
        let writes = Side::default();
        let counted =
            Counted { reads: &reads, writes: &writes, elapsed, cpu: None, connections: None, network: None };
        let settings = Settings {
            starting_sector: Some(0),
            maximum_size: Some(0),
            outstanding: Some(1),
            transactions: None,
        };
        assert_eq!(settings.common(Settings { maximum_size: Some(8), ..settings }).maximum_size, None);
        let row = Row::worker("Worker 1", "reads", &counted, 1, settings);
        let at = |column| row.cells.get(&column).map(|cell| cell.number()).expect("a number");
        let speed = at(Column::ProcessorSpeed);
        assert_eq!(at(Column::RawReadLatency) / speed * 1000.0, at(Column::AverageReadLatency));
        assert_eq!(at(Column::RawRunTime) / speed, 15.0);
        let missing: Vec<Column> = not_modelled(&counted).into_iter().map(|(column, _)| column).collect();
        assert_eq!(missing.len(), 13);
        assert!(missing.contains(&Column::Cpu) && !missing.contains(&Column::Iops));
    }
}
