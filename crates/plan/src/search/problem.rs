//! Mistakes of authors in the goals of a search.

use lanetwin_document::problems;

problems! {
    /// Nothing that a result could have.
    NoMetric { text: String } = "SW010", "`{text}` names no metric", "write a metric of the results, as in `throughput` or `latency p99@WORKLOAD`, or `cost` or `power`";
    /// A limit that cannot be read.
    NoLimit { text: String } = "SW011", "`{text}` is no limit", "write a metric, `<=` or `>=`, and a number: `latency p99@WORKLOAD <= 200`";
    /// A price that says neither.
    NoPrice { part: String } = "SW012", "neither cost nor power of `{part}` is said", "add `cost:`, a number, or `power:`, as in `8W`";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_page() {
        for code in CODES {
            assert!(lanetwin_document::explain(code).is_some(), "{code}");
        }
    }
}
