//! The columns of the results file.
//!
//! | Version | Columns | Megabytes |
//! |---|---|---|
//! | 2004.07.30 | 56 | `MBps`, which is 2²⁰ B/s |
//! | 1.1.0 (release candidate 1) | 59 | `MBps (Binary)`, `MBps (Decimal)` |
//! | 1.1.0 | 80 | `MiBps (Binary)`, `MBps (Decimal)`; 21 bins of latency |
//!
//! Spreadsheets find columns by their names or by their positions, so the header is exactly Iometer's
//! (`ManagerList.cpp`, `SaveResults`), with a space before the name of the last bin.

use super::super::version::Dialect;

/// How a column writes its values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// In digits.
    Whole,
    /// With six decimals.
    Real,
}

macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident = $title:literal $(or $dated:tt)? $(also $alias:literal)?, $form:ident;)*) => {
        /// A column with numbers. Three columns before these have the kind, the name and the access specification of a
        /// row.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Column {
            $($(#[$doc])* $name,)*
            /// Number of I/Os whose latency is in this bin, from 0 to 20: at least its start, and less than its end.
            Bin(u8),
        }
        const NAMED: &[(Column, &str, Option<&str>, &str, Form)] =
            &[$((Column::$name, $title, dated!($title $(, $dated)?), concat!($($alias)?), Form::$form)),*];
    };
}
/// The title in dated versions; `None` if they lack the column.
macro_rules! dated {
    ($title:literal) => {
        Some($title)
    };
    ($title:literal, "") => {
        None
    };
    ($title:literal, $dated:literal) => {
        Some($dated)
    };
}

columns! {
    /// Number of managers that ran.
    Managers = "# Managers", Whole;
    /// Number of workers that ran.
    Workers = "# Workers", Whole;
    /// Number of targets.
    Disks = "# Disks", Whole;
    /// I/Os per second.
    Iops = "IOps", Real;
    /// Reads per second.
    ReadIops = "Read IOps", Real;
    /// Writes per second.
    WriteIops = "Write IOps", Real;
    /// Throughput \[MiB/s\].
    BinaryMbps = "MiBps (Binary)" or "MBps" also "MBps (Binary)", Real;
    /// Throughput of reads \[MiB/s\].
    BinaryReadMbps = "Read MiBps (Binary)" or "Read MBps" also "Read MBps (Binary)", Real;
    /// Throughput of writes \[MiB/s\].
    BinaryWriteMbps = "Write MiBps (Binary)" or "Write MBps" also "Write MBps (Binary)", Real;
    /// Throughput \[MB/s\].
    DecimalMbps = "MBps (Decimal)" or "", Real;
    /// Throughput of reads \[MB/s\].
    DecimalReadMbps = "Read MBps (Decimal)" or "", Real;
    /// Throughput of writes \[MB/s\].
    DecimalWriteMbps = "Write MBps (Decimal)" or "", Real;
    /// Transactions per second.
    Transactions = "Transactions per Second", Real;
    /// Connections per second.
    ConnectionRate = "Connections per Second", Real;
    /// \[ms\]
    AverageLatency = "Average Response Time", Real;
    /// \[ms\]
    AverageReadLatency = "Average Read Response Time", Real;
    /// \[ms\]
    AverageWriteLatency = "Average Write Response Time", Real;
    /// \[ms\]
    AverageTransaction = "Average Transaction Time", Real;
    /// \[ms\]
    AverageConnection = "Average Connection Time", Real;
    /// \[ms\]
    MaximumLatency = "Maximum Response Time", Real;
    /// \[ms\]
    MaximumReadLatency = "Maximum Read Response Time", Real;
    /// \[ms\]
    MaximumWriteLatency = "Maximum Write Response Time", Real;
    /// \[ms\]
    MaximumTransaction = "Maximum Transaction Time", Real;
    /// \[ms\]
    MaximumConnection = "Maximum Connection Time", Real;
    /// Number of I/Os that failed.
    Errors = "Errors", Whole;
    /// Number of reads that failed.
    ReadErrors = "Read Errors", Whole;
    /// Number of writes that failed.
    WriteErrors = "Write Errors", Whole;
    /// \[B\]
    BytesRead = "Bytes Read", Whole;
    /// \[B\]
    BytesWritten = "Bytes Written", Whole;
    /// Number of reads that were answered.
    ReadIos = "Read I/Os", Whole;
    /// Number of writes that were answered.
    WriteIos = "Write I/Os", Whole;
    /// Number of connections.
    Connections = "Connections", Whole;
    /// -1 if connections are not tested.
    TransactionsPerConnection = "Transactions per Connection", Whole;
    /// \[1/processor speed\]
    RawReadLatency = "Total Raw Read Response Time", Whole;
    /// \[1/processor speed\]
    RawWriteLatency = "Total Raw Write Response Time", Whole;
    /// \[1/processor speed\]
    RawTransaction = "Total Raw Transaction Time", Whole;
    /// \[1/processor speed\]
    RawConnection = "Total Raw Connection Time", Whole;
    /// \[1/processor speed\]
    RawMaximumRead = "Maximum Raw Read Response Time", Whole;
    /// \[1/processor speed\]
    RawMaximumWrite = "Maximum Raw Write Response Time", Whole;
    /// \[1/processor speed\]
    RawMaximumTransaction = "Maximum Raw Transaction Time", Whole;
    /// \[1/processor speed\]
    RawMaximumConnection = "Maximum Raw Connection Time", Whole;
    /// \[1/processor speed\]
    RawRunTime = "Total Raw Run Time", Whole;
    /// -1 if workers differ.
    StartingSector = "Starting Sector", Whole;
    /// \[sectors\]; -1 if workers differ.
    MaximumSize = "Maximum Size", Whole;
    /// Outstanding I/Os on each target; -1 if workers differ.
    QueueDepth = "Queue Depth", Whole;
    /// \[%\]
    Cpu = "% CPU Utilization", Real;
    /// \[%\]
    UserTime = "% User Time", Real;
    /// \[%\]
    PrivilegedTime = "% Privileged Time", Real;
    /// \[%\]
    DpcTime = "% DPC Time", Real;
    /// \[%\]
    InterruptTime = "% Interrupt Time", Real;
    /// Frequency of the clock in which raw times are counted \[1/s\].
    ProcessorSpeed = "Processor Speed", Real;
    /// Interrupts per second.
    Interrupts = "Interrupts per Second", Real;
    /// I/Os per second per percent of CPU utilisation.
    Effectiveness = "CPU Effectiveness", Real;
    /// Packets per second.
    Packets = "Packets/Second", Real;
    /// Number of packets received with errors.
    PacketErrors = "Packet Errors", Real;
    /// Retransmitted TCP segments per second.
    Retransmitted = "Segments Retransmitted/Second", Real;
}

/// The columns before the numbers.
pub(super) const KIND: &str = "'Target Type";
pub(super) const NAME: &str = "Target Name";
pub(super) const SPEC: &str = "Access Specification Name";

/// The titles of the bins.
const BINS: [&str; 21] = [
    "0 to 50 uS",
    "50 to 100 uS",
    "100 to 200 uS",
    "200 to 500 uS",
    "0.5 to 1 mS",
    "1 to 2 mS",
    "2 to 5 mS",
    "5 to 10 mS",
    "10 to 15 mS",
    "15 to 20 mS",
    "20 to 30 mS",
    "30 to 50 mS",
    "50 to 100 mS",
    "100 to 200 mS",
    "200 to 500 mS",
    "0.5 to 1 S",
    "1 to 2 s",
    "2 to 4.7 s",
    "4.7 to 5 s",
    "5 to 10 s",
    " >= 10 s",
];
/// Start of each bin but the first \[µs\].
pub(super) const BIN_STARTS_US: [u64; 20] = [
    50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 20_000, 30_000, 50_000, 100_000, 200_000,
    500_000, 1_000_000, 2_000_000, 4_700_000, 5_000_000, 10_000_000,
];

impl Column {
    /// The columns of a dialect in their order, with their titles.
    pub fn of(dialect: Dialect) -> impl Iterator<Item = (Self, &'static str)> {
        let named = NAMED.iter().filter_map(move |(column, numbered, dated, ..)| match dialect {
            Dialect::Numbered => Some((*column, *numbered)),
            Dialect::Dated => dated.map(|title| (*column, title)),
        });
        let bins = (0..).zip(BINS).map(|(nth, title)| (Self::Bin(nth), title));
        named.chain(bins.filter(move |_| dialect == Dialect::Numbered))
    }
    /// The column with this title in any version. The title has no white space around it.
    #[must_use]
    pub fn from_title(title: &str) -> Option<Self> {
        let named = NAMED.iter().find(|(_, numbered, dated, alias, _)| {
            *numbered == title || *dated == Some(title) || (!alias.is_empty() && *alias == title)
        });
        let bin = || BINS.iter().position(|bin| bin.trim() == title).map(|nth| Self::Bin(nth as u8));
        named.map(|(column, ..)| *column).or_else(bin)
    }
    /// How it writes its values.
    #[must_use]
    pub fn form(self) -> Form {
        NAMED.iter().find(|(column, ..)| *column == self).map_or(Form::Whole, |(.., form)| *form)
    }
    /// The header of a dialect.
    pub(super) fn header(dialect: Dialect) -> String {
        let titles: Vec<&str> = Self::of(dialect).map(|(_, title)| title).collect();
        format!("{KIND},{NAME},{SPEC},{}", titles.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_have_the_columns_of_their_version() {
        let count = |dialect| Column::header(dialect).split(',').count();
        assert_eq!([count(Dialect::Dated), count(Dialect::Numbered)], [56, 80]);
        let dated = Column::header(Dialect::Dated);
        assert!(dated.starts_with("'Target Type,Target Name,Access Specification Name,# Managers,# Workers,# Disks,IOps,Read IOps,Write IOps,MBps,Read MBps,Write MBps,Transactions per Second,"));
        assert!(
            dated.ends_with(",CPU Effectiveness,Packets/Second,Packet Errors,Segments Retransmitted/Second")
        );
        let numbered = Column::header(Dialect::Numbered);
        assert!(
            numbered.contains(
                ",Write IOps,MiBps (Binary),Read MiBps (Binary),Write MiBps (Binary),MBps (Decimal),"
            )
        );
        assert!(numbered.ends_with(",Segments Retransmitted/Second,0 to 50 uS,50 to 100 uS,100 to 200 uS,200 to 500 uS,0.5 to 1 mS,1 to 2 mS,2 to 5 mS,5 to 10 mS,10 to 15 mS,15 to 20 mS,20 to 30 mS,30 to 50 mS,50 to 100 mS,100 to 200 mS,200 to 500 mS,0.5 to 1 S,1 to 2 s,2 to 4.7 s,4.7 to 5 s,5 to 10 s, >= 10 s"));
    }

    #[test]
    fn every_title_names_its_column_and_mbps_is_binary_in_every_version() {
        for dialect in [Dialect::Dated, Dialect::Numbered] {
            for (column, title) in Column::of(dialect) {
                assert_eq!(Column::from_title(title.trim()), Some(column), "{title}");
            }
        }
        for title in ["MBps", "MBps (Binary)", "MiBps (Binary)"] {
            assert_eq!(Column::from_title(title), Some(Column::BinaryMbps));
        }
        assert_eq!(Column::from_title(""), None);
    }
}
