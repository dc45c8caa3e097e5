//! Table 4, and the numbers beside it.

const TABLE: &str = include_str!("../../../data/cmm-h/table4.csv");
const OTHER: &str = include_str!("../../../data/cmm-h/other.csv");

/// The mixes, in the order of the columns: what a scenario calls them, and what the paper does.
pub(super) const MIXES: [(&str, &str); 4] =
    [("all-reads", "all reads"), ("3r1w", "3R1W"), ("2r1w", "2R1W"), ("1r1w", "1R1W")];

/// A row of the table.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Ratio {
    /// The weight of DRAM.
    pub(super) dram: u32,
    /// The weight of the CMM-H.
    pub(super) cmmh: u32,
    /// Bandwidths, by mix \[GB/s\].
    pub(super) published: [f64; 4],
}

/// The five rows, DRAM alone first.
///
/// # Panics
/// If the file is not what the tests know.
pub(super) fn ratios() -> Vec<Ratio> {
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let row = |line: &str| {
        let fields: Vec<f64> = line.split(',').map(number).collect();
        let published = [fields[2], fields[3], fields[4], fields[5]];
        Ratio { dram: fields[0] as u32, cmmh: fields[1] as u32, published }
    };
    TABLE.lines().skip(1).map(row).collect()
}

/// A number beside the table; an item that has a comma stands in quotes.
///
/// # Panics
/// If there is none.
pub(super) fn other(item: &str) -> f64 {
    let named = |line: &&str| line.trim_start_matches('"').starts_with(item);
    let line = OTHER.lines().find(named).expect("an item");
    let values = match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once("\",").expect("quotes end").1,
        None => line.split_once(',').expect("a value").1,
    };
    values.split(',').next().and_then(|text| text.parse().ok()).expect("a number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_read_as_they_are_printed() {
        let ratios = ratios();
        assert_eq!(ratios.len(), 5);
        assert_eq!(ratios[0], Ratio { dram: 1, cmmh: 0, published: [161.0, 151.0, 149.0, 145.0] });
        assert_eq!(ratios[4], Ratio { dram: 10, cmmh: 1, published: [168.0, 157.0, 156.0, 152.0] });
        assert_eq!(["peak bandwidth", "latency median", "latency p99.9"].map(other), [27.0, 505.0, 1547.0]);
    }
}
