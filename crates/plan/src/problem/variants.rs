//! Mistakes of authors in the changes of a variant.

use lanetwin_document::problems;

problems! {
    /// A mapping in the place of a larger one, of which a part was meant.
    Replaced { path: String, change: String, gone: String } = "SV001", "the variant gives a new `{path}` in the place of all of it, and without {gone} the scenario is not valid", "to change a part of it, write the path: `{change}`";
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
