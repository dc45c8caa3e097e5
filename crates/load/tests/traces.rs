//! The pages of errors in traces show what is wrong, and what is right.

use lanetwin_load::trace::{CODES, Trace};
use std::path::Path;

#[test]
fn every_page_shows_its_error_and_how_it_goes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
    let mut shown = 0;
    for code in CODES {
        let page = std::fs::read_to_string(folder.join(format!("{code}.md"))).expect("a code has a page");
        let example = |fence: &str| Some(page.split_once(fence)?.1.split_once("```")?.0);
        let (Some(wrong), Some(right)) = (example("```trace wrong\n"), example("```trace right\n")) else {
            continue;
        };
        let found = Trace::read(wrong, "t.csv").expect_err("it is wrong");
        assert!(found.iter().all(|found| found.code == *code), "{code}: {found:?}");
        assert!(Trace::read(right, "t.csv").is_ok(), "{code}");
        shown += 1;
    }
    assert_eq!(shown, 2);
}
