//! Configuration spaces in the output of `lspci -x`, `-xxx` and `-xxxx`, with or without the text of `-v`.

use crate::host::Address;
use crate::inventory::snapshot::{HEADER, MANY, NotRead, Snapshot, WHOLE};
use crate::lspci_lines::{heading, row};

impl Snapshot {
    /// Reads the output of `lspci -x`, `-xxx` or `-xxxx`, with or without the text of `-v`.
    ///
    /// A row whose offset does not follow the row before ends the bytes of its function, and is reported in a note.
    ///
    /// # Errors
    /// If it does not contain the bytes of any function, or contains more functions than a machine has.
    pub fn of_dump(text: &str) -> Result<Self, NotRead> {
        let mut found = Self::default();
        let mut now: Option<Address> = None;
        for (at, line) in text.lines().enumerate() {
            if let Some(address) = heading(line) {
                now = Some(address);
            } else if let (Some((offset, row)), Some(address)) = (row(line), now) {
                let space = found.spaces.entry(address).or_default();
                if offset == space.len() && offset + row.len() <= WHOLE {
                    space.extend(row);
                } else {
                    found.notes.push(format!("line {}: offset {offset:x} does not follow", at + 1));
                    now = None;
                }
            }
            if found.spaces.len() > MANY || found.notes.len() > MANY {
                return Err(NotRead("there are more functions than a machine has".into()));
            }
        }
        let notes = &mut found.notes;
        found.spaces.retain(|address, space| {
            let whole = space.len() >= HEADER;
            if !whole {
                notes.push(format!("{address}: {} B are fewer than a header", space.len()));
            }
            whole
        });
        if found.spaces.is_empty() {
            let said = "there are no bytes of a function in it, such as `lspci -xxxx` prints";
            return Err(NotRead(said.into()));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dump(rows: usize) -> String {
        let rows = (0..rows).map(|at| format!("{:02x}: {}\n", at * 16, vec!["12"; 16].join(" ")));
        format!("00:1c.0 PCI bridge\n\tControl: I/O-\n{}", rows.collect::<String>())
    }

    #[test]
    fn a_dump_is_read_with_its_text_between() {
        let found = Snapshot::of_dump(&dump(16)).expect("a dump");
        assert_eq!(found.spaces[&"00:1c.0".parse().unwrap()].len(), 256);
        assert_eq!(found.notes, Vec::<String>::new());
    }

    #[test]
    fn what_is_wrong_costs_its_function_alone() {
        let text = format!("{}30: 00\n{}", dump(4), dump(4).replace("00:1c.0", "01:00.0"));
        let found = Snapshot::of_dump(&text).expect("a dump");
        assert_eq!(found.spaces.len(), 2);
        assert_eq!(found.notes, ["line 7: offset 30 does not follow"]);
        let short = format!("{}{}", dump(4), dump(2).replace("00:1c.0", "01:00.0"));
        assert_eq!(Snapshot::of_dump(&short).expect("one function").spaces.len(), 1);
        assert!(Snapshot::of_dump("nothing\n").is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_text_panics(text in "([0-9a-f:. \n]{0,4}){0,60}") {
            if let Ok(found) = Snapshot::of_dump(&text) {
                prop_assert!(found.spaces.values().all(|space| (HEADER..=WHOLE).contains(&space.len())));
            }
        }
    }
}
