//! The output of `lspci -mm` and `-vmm`: classes, names, drivers and NUMA nodes, but nothing about links.

use crate::host::Address;
use crate::inventory::facts::{Facts, Tells, class_of, hex16, numbered};
use crate::inventory::snapshot::{MANY, NotRead, Snapshot};
use crate::inventory::told::kept;

/// Whether a text begins like this output.
pub(super) fn is_one(text: &str) -> bool {
    let line = text.lines().next().unwrap_or("");
    opens_record(line).is_some() || quoted(line).is_some()
}

/// Reads the output.
///
/// # Errors
/// If there are more functions than a machine has.
pub(super) fn read(text: &str) -> Result<Snapshot, NotRead> {
    let mut found = Snapshot::default();
    let mut now: Option<(Address, Words)> = None;
    for line in text.lines() {
        if let Some((address, words)) = quoted(line) {
            put(&mut found, address, &words);
        } else if let Some(address) = opens_record(line) {
            found.attributes.entry(address).or_default();
            now = Some((address, Default::default()));
        } else if let (Some((address, words)), Some((name, said))) = (&mut now, line.split_once(':')) {
            let facts = found.attributes.entry(*address).or_default();
            match name {
                "Class" => words[0] = kept(said),
                "Vendor" => words[1] = kept(said),
                "Device" => words[2] = kept(said),
                "SVendor" => words[3] = kept(said),
                "SDevice" => words[4] = kept(said),
                "Driver" => facts.tell("driver", said),
                "NUMANode" => facts.tell("numa_node", said),
                "PhySlot" => facts.tell("physical_slot", said),
                _ => continue,
            }
            put(&mut found, *address, words);
        }
        if found.attributes.len() > MANY {
            return Err(NotRead("there are more functions than a machine has".into()));
        }
    }
    Ok(found)
}

/// The address in the first line of a record: `Slot: 01:00.0`, or `Device: 01:00.0` in old versions.
fn opens_record(line: &str) -> Option<Address> {
    let said = line.strip_prefix("Slot:").or_else(|| line.strip_prefix("Device:"))?;
    said.trim().parse().ok()
}

/// Class, vendor, device; vendor and device of the subsystem, empty if there is none.
type Words = [String; 5];

/// A line of `-mm`: `01:00.0 "class" "vendor" "device" -r01 "vendor of the subsystem" "subsystem"`.
fn quoted(line: &str) -> Option<(Address, Words)> {
    let (address, rest) = line.split_once(' ')?;
    let address = address.parse().ok()?;
    let mut words = words(rest);
    let [class, vendor, device] = [words.next()?, words.next()?, words.next()?];
    Some((
        address,
        [class, vendor, device, words.next().unwrap_or_default(), words.next().unwrap_or_default()],
    ))
}

/// The quoted words of a line; a backslash escapes the next character.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut signs = text.chars();
    std::iter::from_fn(move || {
        signs.find(|sign| *sign == '"')?;
        let mut word = String::new();
        loop {
            match signs.next()? {
                '"' => return Some(kept(&word)),
                '\\' => word.push(signs.next()?),
                sign => word.push(sign),
            }
        }
    })
}

fn put(found: &mut Snapshot, address: Address, [class, vendor, device, of, within]: &Words) {
    let facts: &mut Facts = found.attributes.entry(address).or_default();
    // -n prints only numbers, -nn names and numbers
    let number = |text: &str| {
        let (name, inside) = numbered(text);
        inside.and_then(hex16).or_else(|| (name.len() == 4).then(|| hex16(name)).flatten())
    };
    if let Some(class) = number(class).or_else(|| class_of(class)) {
        facts.tell_class(class);
    }
    if let (Some(vendor), Some(device)) = (number(vendor), number(device)) {
        facts.tell_ids(vendor, device);
    }
    if let (Some(vendor), Some(device)) = (number(of), number(within)) {
        facts.tell_subsystem(vendor, device);
    }
    let names = [vendor, device].map(|text| numbered(text).0).join(" ");
    if number(device).is_none() || numbered(device).1.is_some() {
        facts.tell("name", names);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(text: &str) -> Facts {
        assert!(is_one(text), "{text}");
        read(text)
            .expect("a text")
            .attributes
            .remove(&"01:00.0".parse().expect("an address"))
            .expect("a function")
    }

    #[test]
    fn both_forms_say_the_same() {
        let line = "01:00.0 \"Non-Volatile memory controller [0108]\" \"Some [144d]\" \"The \\\"fast\\\" one [a824]\" -r01 -p02 \"Some [144d]\" \"A card [a801]\"\n";
        let record = "Slot:\t01:00.0\nClass:\tNon-Volatile memory controller [0108]\nVendor:\tSome [144d]\nDevice:\tThe \"fast\" one [a824]\nSVendor:\tSome [144d]\nSDevice:\tA card [a801]\nRev:\t01\nNUMANode:\t0\n\n";
        let (line, record) = (facts(line), facts(record));
        for name in ["class", "vendor", "device", "subsystem_vendor", "subsystem_device", "name"] {
            assert_eq!(line.get(name), record.get(name), "{name}");
        }
        assert_eq!(line["name"], "Some The \"fast\" one");
        assert_eq!((&*record["numa_node"], &*record["subsystem_device"]), ("0", "0xa801"));
    }

    #[test]
    fn numbers_and_words_alone_do() {
        let numbers = facts("01:00.0 \"0108\" \"144d\" \"a824\" -r01 \"144d\" \"a801\"\n");
        assert_eq!((&*numbers["device"], &*numbers["subsystem_device"]), ("0xa824", "0xa801"));
        let words = facts("01:00.0 \"PCI bridge\" \"Some\" \"Port\"\n");
        assert_eq!((words["class"].as_str(), words["name"].as_str()), ("0x060400", "Some Port"));
    }

    #[test]
    fn an_open_quote_ends_the_line() {
        assert!(!is_one("01:00.0 \"0108\" \"144d\" \"a8\\"));
    }
}
