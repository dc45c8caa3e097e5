//! Table 1 of the report, and what its MB may mean.

use super::machine::Workload;

const TABLE: &str = include_str!("../../../data/idt-16t4g2/table1.csv");

/// A row of the table.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Published {
    /// What predictions are made from.
    pub(super) known: Known,
    /// With the switch \[MB/s\]: what predictions are held against.
    pub(super) with: f64,
}

/// What a prediction may know of a row.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Known {
    pub(super) workload: Workload,
    /// Without the switch \[MB/s\].
    pub(super) without: f64,
}

/// What a megabyte is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Megabyte {
    /// 10^6 B, if the authors converted.
    Decimal,
    /// 2^20 B, as Iometer of that time counts.
    Binary,
}

impl Megabyte {
    pub(super) const ALL: [Self; 2] = [Self::Decimal, Self::Binary];

    pub(super) const fn bytes(self) -> f64 {
        match self {
            Self::Decimal => 1e6,
            Self::Binary => 1_048_576.0,
        }
    }
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Decimal => "MB = 10^6 B",
            Self::Binary => "MB = 2^20 B",
        }
    }
}

/// The four rows, in the report's order.
///
/// # Panics
/// If the file is not what the tests know.
pub(super) fn published() -> Vec<Published> {
    let number = |text: &str| text.parse().expect("a throughput");
    let row = |(workload, line): (Workload, &str)| {
        let mut fields = line.rsplit(',');
        let (without, with) = (fields.next().map(number), fields.next().map(number));
        let known = Known { workload, without: without.expect("two numbers") };
        Published { known, with: with.expect("two numbers") }
    };
    Workload::ALL.into_iter().zip(TABLE.lines().skip(1)).map(row).collect()
}
