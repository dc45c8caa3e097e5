//! Checking the description of a channel: any text is answered, none makes the reader panic; every answer has a known
//! code, says what is wrong and what to do. What is right has a budget, or a reason why not.

use lanetwin_document::codes;
use lanetwin_link_lab::channel::{budget, check};
use std::path::Path;

crate::input::promise!(|text: &str| {
    // a text that names files would have them read, whatever they are
    if text.contains("touchstone") || text.contains("library") || text.contains('\\') {
        return;
    }
    let found = match check(Path::new("link.yaml"), text, &[]) {
        Ok(channel) => budget(&channel).map_or_else(|found| found, |answer| answer.warnings),
        Err(found) => {
            assert!(!found.is_empty(), "refused without a reason");
            found
        }
    };
    for diagnostic in found {
        assert!(codes().any(|(code, _)| code == diagnostic.code), "{diagnostic}");
        assert!(!diagnostic.message.is_empty() && !diagnostic.help.is_empty(), "{diagnostic:?}");
    }
});
