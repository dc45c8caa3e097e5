//! Reading Touchstone: any text is a network or coded errors that point into it; what is written reads back equal.

use lanetwin_phy::touchstone::{read, write};

crate::input::promise!(|input: (u8, &str)| {
    let (ports, text) = input;
    let lines = text.split(['\r', '\n']).count() as u32;
    match read(text, Some(usize::from(ports)).filter(|ports| *ports > 0)) {
        Ok(reading) => {
            let network = reading.network;
            let again = read(&write(&network), Some(network.ports())).expect("what was written can be read");
            assert_eq!(again.network, network);
            assert!(reading.warnings.iter().all(|finding| finding.code.starts_with("PH1")));
        }
        Err(found) => {
            assert!(found.iter().any(|finding| finding.code.starts_with("PH0")), "{found:?}");
            for finding in found {
                assert!(lanetwin_phy::CODES.contains(&finding.code) && finding.line <= lines, "{finding:?}");
                assert!(!finding.message.is_empty() && !finding.help.is_empty(), "{finding:?}");
            }
        }
    }
});
