//! Configuration spaces from text, in the format that `lspci -xxxx` prints and `lspci -F` reads.
//!
//! ```text
//! 00:1c.0 PCI bridge: a port
//! 00: 86 80 10 a1 07 04 10 00 f1 00 04 06 10 00 81 00
//! 10: …
//! ```
//!
//! Lines that are neither an address nor bytes, such as the text of `-vvv`, are skipped.

use crate::host::Address;
use crate::lspci_lines::{heading, row};
use std::collections::BTreeMap;

/// Size of a whole configuration space \[B\].
const WHOLE: usize = 4096;
/// Maximum number of functions read; a machine has fewer.
const MANY: usize = 65_536;

/// Why a text is not a dump.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {said}")]
pub struct NotADump {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub said: String,
}

/// Reads a dump: the bytes of each function, at least 64.
///
/// # Errors
/// If bytes are not in order, belong to no function or are too few, a function occurs twice, or there is none.
pub fn read(text: &str) -> Result<BTreeMap<Address, Vec<u8>>, NotADump> {
    let mut found: BTreeMap<Address, Vec<u8>> = BTreeMap::new();
    let mut now: Option<(Address, usize)> = None;
    for (at, line) in text.lines().enumerate() {
        let wrong = |said: String| NotADump { line: at + 1, said };
        if let Some(address) = heading(line) {
            if found.insert(address, Vec::new()).is_some() {
                return Err(wrong(format!("{address} is there twice")));
            }
            if found.len() > MANY {
                return Err(wrong("there are more functions than a machine has".into()));
            }
            now = Some((address, at + 1));
        } else if let Some((offset, bytes)) = row(line) {
            let Some((address, _)) = now else {
                return Err(wrong("these bytes belong to no function: its address stands above them".into()));
            };
            let space = found.entry(address).or_default();
            if offset != space.len() || offset + bytes.len() > WHOLE {
                return Err(wrong(format!("offset {offset:x} does not follow {:x}", space.len())));
            }
            space.extend(bytes);
        }
    }
    for (address, space) in &found {
        if space.len() < 64 {
            let said =
                format!("{address} has {} bytes of configuration space, fewer than its header", space.len());
            return Err(NotADump { line: 1, said });
        }
    }
    if found.is_empty() {
        return Err(NotADump { line: 1, said: "there is no function in it".into() });
    }
    Ok(found)
}

/// Writes a dump.
#[must_use]
pub fn write(spaces: &BTreeMap<Address, Vec<u8>>) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for (address, space) in spaces {
        let _ = writeln!(text, "{address} function");
        for (at, row) in space.chunks(16).enumerate() {
            let bytes: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
            let _ = writeln!(text, "{:02x}: {}", at * 16, bytes.join(" "));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_lspci_prints_is_read() {
        let row = "00 11 22 33 44 55 66 77 88 99 aa bb cc dd ee ff";
        let text = format!(
            "00:1c.0 PCI bridge: Intel\n\tControl: I/O-\n00: {row}\n10: {row}\n20: {row}\n30: {row}\n\n01:00.0 NVM\n00: {row}\n10: {row}\n20: {row}\n30: {row}\n"
        );
        let spaces = read(&text).expect("a dump");
        assert_eq!(spaces.len(), 2);
        assert_eq!(spaces[&"00:1c.0".parse().unwrap()][0x1f], 0xff);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let line = |text: &str| read(text).expect_err("no dump").line;
        assert_eq!(line("00: 11 22\n"), 1);
        assert_eq!(line("00:1c.0 x\n00: 11\n10: 22\n"), 3);
        assert_eq!(line("00:1c.0 x\n00: 11\n00:1c.0 x\n"), 3);
        assert_eq!(line(""), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_text_panics_and_what_is_read_is_written_alike(text in "([0-9a-f:. \n]{0,4}){0,60}") {
            if let Ok(spaces) = read(&text) {
                prop_assert_eq!(read(&write(&spaces)), Ok(spaces));
            }
        }
    }
}
