//! What was read of a machine: the bytes of each function's configuration space, and what its operating system says.

use crate::host::Address;
use crate::linux::entries;
use crate::lspci_lines::{heading, row};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

/// The whole of a configuration space \[B\].
const WHOLE: usize = 4096;
/// The least that a function has \[B\].
const HEADER: usize = 64;
/// Functions that are read; a machine has fewer, those of virtual functions included. Assumed.
const MANY: usize = 8192;
/// The longest value of an attribute \[B\].
const LONGEST: u64 = 256;
/// Attributes of sysfs that are read, as far as they are there.
const ATTRIBUTES: &[&str] = &[
    "vendor",
    "device",
    "class",
    "current_link_speed",
    "current_link_width",
    "max_link_speed",
    "max_link_width",
    "numa_node",
    "secondary_bus_number",
    "subordinate_bus_number",
];

/// What was read of a machine.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Snapshot {
    /// The bytes of each function: 64 to 4096.
    pub spaces: BTreeMap<Address, Vec<u8>>,
    /// What the operating system says of it, by name.
    pub attributes: BTreeMap<Address, BTreeMap<String, String>>,
    /// What could not be read, in words.
    pub notes: Vec<String>,
}

/// Why nothing was read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotRead(pub String);

impl Snapshot {
    /// Reads `sys/bus/pci/devices` below `root`: `/` for this machine, a folder for a copy of another.
    ///
    /// # Errors
    /// If there is no such folder. A function that cannot be read is a note.
    pub fn of_sysfs(root: &Path) -> Result<Self, NotRead> {
        let below = root.join("sys/bus/pci/devices");
        let folder = if below.is_dir() { below } else { root.to_owned() };
        let names: Vec<Address> = entries(&folder).iter().filter_map(|name| name.parse().ok()).collect();
        if !folder.is_dir() || (names.is_empty() && root != Path::new("/")) {
            let said = "there are no functions in it: it has neither `sys/bus/pci/devices` nor folders such as \
                        `0000:01:00.0`";
            return Err(NotRead(said.into()));
        }
        let mut found = Self::default();
        for address in names.into_iter().take(MANY) {
            let device = folder.join(address.to_string());
            match bytes(&device.join("config"), WHOLE as u64) {
                Some(space) if space.len() >= HEADER => {
                    found.spaces.insert(address, space);
                    let read = |name: &&str| Some(((*name).to_owned(), text(&device.join(name))?));
                    let mut facts: BTreeMap<_, _> = ATTRIBUTES.iter().filter_map(read).collect();
                    if let Some(driver) = driver(&device) {
                        facts.insert("driver".into(), driver);
                    }
                    found.attributes.insert(address, facts);
                }
                _ => found.notes.push(format!("{address}: its configuration space cannot be read")),
            }
        }
        Ok(found)
    }

    /// Reads what `lspci -x`, `-xxx` or `-xxxx` prints, with or without the text of `-v`.
    ///
    /// A row that does not follow the one before it ends the bytes of its function, with a note.
    ///
    /// # Errors
    /// If there are no bytes of a function in it.
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

/// The first bytes of a file; a device may let fewer be read than there are.
fn bytes(path: &Path, most: u64) -> Option<Vec<u8>> {
    let mut found = Vec::new();
    fs::File::open(path).ok()?.take(most).read_to_end(&mut found).ok()?;
    Some(found)
}

fn text(path: &Path) -> Option<String> {
    let found = String::from_utf8(bytes(path, LONGEST)?).ok()?;
    Some(found.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The name of the driver, which a link in a live tree points to.
fn driver(device: &Path) -> Option<String> {
    let path = fs::read_link(device.join("driver")).ok()?;
    Some(path.file_name()?.to_str()?.to_owned())
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
