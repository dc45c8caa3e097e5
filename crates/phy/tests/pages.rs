//! The examples of the pages in `docs/errors/`: Touchstone files, and library files.

use lanetwin_phy::element::Library;
use lanetwin_phy::touchstone::{ports_of_name, read};
use std::path::PathBuf;

/// What a block reports: an error or warning code each.
fn reported(language: &str, text: &str) -> Option<Vec<&'static str>> {
    if language == "yaml" {
        return Some(Library::read(text).err().into_iter().map(|finding| finding.code).collect());
    }
    if language != "ts" && ports_of_name(&format!(".{language}")).is_none() {
        return None;
    }
    let found = match read(text, ports_of_name(&format!(".{language}"))) {
        Ok(reading) => reading.warnings,
        Err(found) => found,
    };
    Some(found.into_iter().map(|finding| finding.code).collect())
}

/// The language and the text of a block: ```` ```s2p wrong ````.
fn block<'p>(page: &'p str, which: &str) -> (&'p str, &'p str) {
    let mut parts = page.split("```");
    parts
        .find_map(|part| {
            let (head, text) = part.split_once('\n')?;
            let (language, word) = head.split_once(' ')?;
            (word == which).then_some((language, text))
        })
        .unwrap_or_else(|| panic!("no block `{which}` in {page}"))
}

#[test]
fn wrong_examples_report_their_code_and_right_ones_nothing() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
    let mut checked = 0;
    for code in lanetwin_phy::CODES {
        let page = std::fs::read_to_string(folder.join(format!("{code}.md"))).unwrap();
        let ((language, wrong), (other, right)) = (block(&page, "wrong"), block(&page, "right"));
        assert_eq!(language, other, "{code}");
        let (Some(wrong), Some(right)) = (reported(language, wrong), reported(language, right)) else {
            continue;
        };
        // a budget that is missing is not missed until somebody asks for it
        assert!(wrong.contains(code) || *code == "PH028", "{code}: {wrong:?}");
        assert_eq!(right, [""; 0], "{code}");
        checked += 1;
    }
    assert!(checked >= 19, "{checked}");
}
