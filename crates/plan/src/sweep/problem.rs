//! Mistakes of authors in a sweep.

use lanetwin_document::problems;

problems! {
    /// A sweep of nothing.
    NothingSwept = "SW001", "nothing is swept", "name paths and their values under `sweep:`, or on the command line: `--vary links.slot.width=x4,x8`";
    /// A range without a value.
    EmptyRange { from: String, to: String } = "SW002", "the range from `{from}` to `{to}` has no value to go to", "let `to` be larger than `from`, `step` larger than 0 and `times` larger than 1; a logarithmic range begins above 0";
    /// More points than anybody runs.
    TooManyPoints { points: u64, most: u64 } = "SW003", "the sweep has {points} points, and {most} is the most", "shorten lists and ranges, put paths that go together into `zip:`, or draw some with `sample:`";
    /// Lists that cannot go together.
    UnequalLists { path: String, has: usize, first: String, needed: usize } = "SW004", "`{path}` has {has} values, and `{first}`, which goes together with it, has {needed}", "give all paths of a `zip:` as many values";
    /// Costs that do not belong to the values.
    WrongCost { costs: usize, values: usize } = "SW005", "there are {costs} costs for {values} values", "write one number for each value, in their order; a range that is sampled has no costs";
    /// A path that is there twice.
    SweptTwice { path: String } = "SW006", "`{path}` is swept twice", "keep one of the two";
    /// A range of which nobody knows how many values it has.
    OpenRange { from: String, to: String } = "SW007", "how many values there are from `{from}` to `{to}` is not said", "add `step`, `times` or `points`, or draw from all ranges with `sample:`";
    /// Ends that are not of one kind.
    Ends { from: String, to: String } = "SW008", "`{from}` and `{to}` are no ends of a range", "write two whole numbers, or two quantities of one kind with their units: `4KiB` and `1MiB`; words such as `x4` are a list";
    /// `--vary` without a path or values.
    BadVary { text: String } = "SW009", "`{text}` is not a path, `=` and values", "write for example `links.slot.width=x4,x8`, `workloads.rand.block.depth=1..256*2` or `machine.sw.latency=50ns..200ns+50ns`";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_and_every_one_has_its_page() {
        assert!(CODES.windows(2).all(|pair| pair[0] < pair[1]), "{CODES:?}");
        for code in CODES {
            assert!(lanetwin_document::explain(code).is_some(), "{code}");
        }
    }
}
