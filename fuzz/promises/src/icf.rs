//! Reading a configuration of Iometer: any bytes are understood or told what is wrong with them, with a known code, a
//! remedy and a place in the text; what is understood survives writing and reading.

use lanetwin_load::iometer::{CODES, decode, read};

crate::input::promise!(|bytes: &[u8]| {
    let text = decode(bytes);
    let findings = match read(&text, "test.icf") {
        Ok(understood) => {
            let again = read(&understood.config.to_icf(), "test.icf").expect("what was written can be read");
            assert_eq!(again.config, understood.config);
            understood.warnings
        }
        Err(findings) => {
            assert!(!findings.is_empty());
            findings
        }
    };
    let lines = text.lines().count().max(1) as u32;
    for finding in findings {
        assert!(CODES.contains(&finding.code), "{finding}");
        assert!(!finding.message.is_empty() && !finding.help.is_empty(), "{finding}");
        assert!(finding.line <= lines && (finding.line == 0) == (finding.column == 0), "{finding}");
    }
});
