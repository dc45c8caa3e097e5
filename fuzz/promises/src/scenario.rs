//! Checking a scenario: any text is answered, none makes the reader panic; every answer has a known code, says what is
//! wrong and what to do, and points into the text.

use lanetwin_document::codes;
use lanetwin_plan::check_text;

crate::input::promise!(|text: &str| {
    // a YAML parser breaks lines at CR, LF and CR LF; the end of the text may stand on a line of its own
    let lines = text.split(['\r', '\n']).count() as u32;
    for diagnostic in check_text(text) {
        assert!(codes().any(|(code, _)| code == diagnostic.code), "{diagnostic}");
        assert!(!diagnostic.message.is_empty() && !diagnostic.help.is_empty(), "{diagnostic:?}");
        assert!(diagnostic.file != "scenario.yaml" || diagnostic.line <= lines, "{diagnostic:?}");
    }
});
