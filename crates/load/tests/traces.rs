//! Tests that the examples on the pages of errors in traces are correct.

use lanetwin_load::memory::{MemoryTrace, recorded};
use lanetwin_load::trace::{self, Trace};
use std::path::Path;

/// Checks the examples with this mark on the pages of these codes. Returns the number of pages with examples.
fn shown<T>(codes: &[&str], mark: &str, read: impl Fn(&str) -> Result<T, Vec<&'static str>>) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
    let mut shown = 0;
    for code in codes {
        let page = std::fs::read_to_string(folder.join(format!("{code}.md"))).expect("a code has a page");
        let example =
            |kind: &str| Some(page.split_once(&format!("```{mark} {kind}\n"))?.1.split_once("```")?.0);
        let (Some(wrong), Some(right)) = (example("wrong"), example("right")) else { continue };
        let found = read(wrong).err().expect("it is wrong");
        assert!(found.iter().all(|found| found == code), "{code}: {found:?}");
        assert!(read(right).is_ok(), "{code}");
        shown += 1;
    }
    shown
}

#[test]
fn every_page_shows_its_error_and_how_it_goes() {
    let read = |text: &str| {
        Trace::read(text, "t.csv").map_err(|found| found.iter().map(|found| found.code).collect())
    };
    assert_eq!(shown(trace::CODES, "trace", read), 2);
    let read = |text: &str| {
        MemoryTrace::read(text, "t.csv").map_err(|found| found.iter().map(|found| found.code).collect())
    };
    assert_eq!(shown(recorded::CODES, "memory-trace", read), 2);
}
