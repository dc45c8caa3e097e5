//! What an author can get wrong in the description of a channel, beyond what is wrong in any document.

use lanetwin_document::problem::{Complaint, Severity};
use lanetwin_document::problems;
use lanetwin_phy::Finding;

problems! {
    /// An element that is nothing, or several things.
    Kind { found: String, kinds: String } = "CH001", "an element of the chain is one thing; this is {found}", "give it one of {kinds}, and start a new `-` for the next element";
    /// A length is missing.
    NoLength { kind: &'static str } = "CH002", "this {kind} has no length", "add `length:`, as in `length: 10in` or `length: 0.4m`";
    /// A key that this kind of element does not take.
    NotOfThis { key: &'static str, kind: &'static str, of: &'static str } = "CH003", "a {kind} has no `{key}`", "`{key}` is of {of}; remove it here";
    /// Two elements of one name.
    TwiceNamed { name: String, line: u32 } = "CH004", "`{name}` is already the name of the element in line {line}", "rename one of the two: variants address elements by name";
    /// An element to stand behind that the chain does not have.
    UnknownItem { name: String, known: String, near: lanetwin_document::spelling::Near } = "CH005", "the chain has no element `{name}`", "{near}its elements are {known}";
    /// A variant that changes what is not a variant's to change.
    NotVaried { path: String } = "CH006", "a variant cannot change `{path}`", "a variant changes `chain.NAME`, `chain.NAME.KEY`, `crosstalk`, `crosstalk.NAME`, `crosstalk.NAME.KEY`, `gen`, `corner` and `equalisation`, and has elements put in with `insert`";
    /// More retimers than a link may have.
    ManyRetimers { found: usize } = "CH007", "the chain has {found} retimers", "a link has at most two; remove the others";
    /// A rate that nobody knows.
    Rate { text: String } = "CH008", "`{text}` is no rate of a lane", "write a generation from 1 to 7, or its rate, as in `32GT/s`";
    /// A rate for which no eye is known.
    NoEye { rate: &'static str } = "CH009", "no eye is computed for {rate}", "eyes are of Gen3 to Gen5: below, receivers do not equalise; above, there are four levels. The loss budget has every rate";
    /// A lane that the file does not have.
    NoLane { lane: u64, has: usize } = "CH010", "the file has no lane {lane}", "lanes count from 1, and it has {has}";
    /// Ports that are no list of fours.
    Ports { text: String } = "CH011", "`{text}` does not pair ports", "write four numbers for each lane: P near, N near, P far, N far, counted from 1, as in `[1, 3, 2, 4]`";
    /// A retimer beside another, or at an end.
    LonelyRetimer { name: String } = "CH012", "retimer `{name}` does not stand between two elements", "put it between elements that are no retimers: each side of it is a channel of its own";
    /// Nothing from which an eye could be had.
    NoPulse { segment: usize, said: String } = "CH013", "segment {segment} has no eye: {said}", "look at the lengths, and at the data with `lanetwin link touchstone FILE`";

    /// Constants that cannot be used.
    Constants { file: String, said: String } = "CH014", "`{file}` cannot be used: {said}", "start from `crates/phy/data/equalisation.yaml` and change values and sources only";

    /// A second redriver between a transmitter and a receiver.
    TwoRedrivers { name: String } = "CH015", "`{name}` is a second redriver between a transmitter and a receiver", "remove one, or put a retimer between them: noise and limits of one after the other are not computed";
    /// Neighbours of a lane that is alone.
    NoNeighbours = "CH016", "the file has a single lane, and so no neighbours", "remove `neighbours:`; coupling that is a file of its own goes under `crosstalk:`";
    /// Coupling where a channel ends, or is active.
    NotCoupled { name: String, kind: &'static str } = "CH017", "nothing couples at `{name}`, which is a {kind}", "name an element that the signal passes as it is, beside it";

    /// A calibration that could not be made.
    NotCalibrated { said: String } = "CH101", "noise and jitter could not be calibrated: {said}; those of the constants were taken", "see `docs/link-budget.md`; correct the constants or the library if you know better";
    /// A chain that does not begin or end with a die.
    OpenEnd { name: String } = "CH102", "the chain ends at `{name}`, which is no package", "budgets and masks are from die to die: add the package at this end, unless the file holds it";
    /// A loss budget with gain in it.
    Amplified { name: String } = "CH103", "the loss of `{name}` counts as negative, and a budget says nothing of the noise that a redriver adds and amplifies", "let the eye decide: `lanetwin link eye`";
}

/// What the physical layer found, as a complaint.
#[derive(Clone, Debug)]
pub struct Physical(pub Finding);

impl Complaint for Physical {
    fn code(&self) -> &'static str {
        self.0.code
    }
    fn message(&self) -> String {
        self.0.message.clone()
    }
    fn help(&self) -> String {
        self.0.help.clone()
    }
    fn severity(&self) -> Severity {
        self.0.severity
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn codes_ascend_and_every_one_has_its_page() {
        assert!(CODES.windows(2).all(|pair| pair[0] < pair[1]), "{CODES:?}");
        let pages = lanetwin_document::codes().map(|(code, _)| code).filter(|code| code.starts_with("CH"));
        assert_eq!(pages.collect::<BTreeSet<_>>(), CODES.iter().copied().collect());
    }
}
