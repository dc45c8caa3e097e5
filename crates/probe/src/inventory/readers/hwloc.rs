//! The XML of hwloc 1.x and 2.x (`lstopo box.xml`): functions, bridges, NUMA nodes and CXL memories.
//!
//! It has the throughput of each link, but neither speed nor width. Entities that a document declares are not expanded,
//! and files or addresses that it names are not opened.

use crate::host::Address;
use crate::inventory::facts::{Facts, Tells, hex16, ids};
use crate::inventory::snapshot::{MANY, NotRead, Snapshot};
use crate::inventory::told::{Memory, Node, cpu_ranges};
use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use std::collections::BTreeMap;

/// Maximum nesting of objects: a machine has about 20 levels. Assumed.
const DEEPEST: usize = 256;
/// Maximum number of NUMA nodes, and of CXL memories, that are read. Assumed.
const MOST_MEMORIES: usize = 1024;

/// The kind of an element whose end has not been read yet.
#[derive(Clone, Copy)]
enum Open {
    Function(Address),
    Memory(usize),
    Other,
}

/// Reads the XML.
///
/// # Errors
/// If it is not XML, not hwloc's, has neither a function nor a NUMA node, or has more than a machine has.
pub(super) fn read(text: &str) -> Result<Snapshot, NotRead> {
    let mut reader = Reader::from_str(text);
    let mut found = Snapshot::default();
    let mut open: Vec<Open> = Vec::new();
    let mut is_topology = false;
    loop {
        let wrong = |said: String| NotRead(format!("it begins as XML, and is none: {said}"));
        match reader.read_event().map_err(|error| wrong(error.to_string()))? {
            Event::Eof => break,
            Event::Start(tag) => {
                is_topology |= tag.name().as_ref() == "topology";
                open.push(take(&mut found, &open, &tag));
            }
            Event::Empty(tag) => {
                take(&mut found, &open, &tag);
            }
            Event::End(_) => {
                open.pop();
            }
            _ => {}
        }
        if open.len() > DEEPEST || found.attributes.len() > MANY {
            return Err(NotRead("it has more objects than a machine has".into()));
        }
    }
    if !is_topology || (found.attributes.is_empty() && found.nodes.is_empty()) {
        return Err(NotRead(
            "it is XML, and has no PCI function and no NUMA node as hwloc writes them".into(),
        ));
    }
    found.nodes.sort_by_key(|one| one.node);
    Ok(found)
}

type Attributes = BTreeMap<String, String>;

/// The attributes of an element. One with an entity other than the predefined ones of XML is left out.
fn attributes(tag: &BytesStart<'_>) -> Attributes {
    let of = |attribute: quick_xml::events::attributes::Attribute<'_>| {
        Some((attribute.key.as_ref().to_owned(), unescape(&attribute.value).ok()?.into_owned()))
    };
    tag.attributes().flatten().filter_map(of).collect()
}

fn take(found: &mut Snapshot, open: &[Open], tag: &BytesStart<'_>) -> Open {
    let of = attributes(tag);
    let says = |name: &str| of.get(name).map_or("", String::as_str);
    match (tag.name().as_ref(), says("type")) {
        ("object", "Bridge" | "PCIDev") => match says("pci_busid").parse() {
            Ok(address) => {
                found.attributes.insert(address, function(&of));
                Open::Function(address)
            }
            Err(_) => Open::Other,
        },
        ("object", "NUMANode") => {
            if found.nodes.len() < MOST_MEMORIES {
                found.nodes.extend(node(&of));
            }
            Open::Other
        }
        ("object", "OSDev") if says("subtype") == "CXLMem" && found.memories.len() < MOST_MEMORIES => {
            let above = open.iter().rev().find_map(|one| match one {
                Open::Function(address) => Some(*address),
                _ => None,
            });
            let name = crate::inventory::told::kept(says("name"));
            found.memories.push(Memory { name, address: above, ..Memory::default() });
            Open::Memory(found.memories.len() - 1)
        }
        ("info", _) => {
            info(found, open.last(), says("name"), says("value"));
            Open::Other
        }
        _ => Open::Other,
    }
}

/// Takes the name and value of an `info` element, which describes the object that contains it.
fn info(found: &mut Snapshot, object: Option<&Open>, name: &str, value: &str) {
    match object {
        Some(Open::Function(address)) => {
            let facts = found.attributes.entry(*address).or_default();
            match name {
                "PCISlot" => facts.tell("physical_slot", value),
                "PCIVendor" | "PCIDevice" => {
                    let before = facts.get("name").cloned().unwrap_or_default();
                    facts.tell("name", format!("{before} {value}"));
                }
                _ => {}
            }
        }
        Some(Open::Memory(at)) => {
            let bytes = size(value);
            match (name, found.memories.get_mut(*at)) {
                ("CXLRAMSize", Some(memory)) => memory.volatile_bytes = bytes,
                ("CXLPMEMSize", Some(memory)) => memory.persistent_bytes = bytes,
                _ => {}
            }
        }
        _ => {}
    }
}

/// A size \[B\] from `262144KiB`, or from `262144`, which is in KiB as well.
fn size(value: &str) -> u64 {
    value.strip_suffix("KiB").unwrap_or(value).parse::<u64>().unwrap_or(0).saturating_mul(1024)
}

/// A function from `pci_type="0604 [8086:2f08] [0000:0000] 02"`, `bridge_pci="0000:[04-07]"` and
/// `pci_link_speed="3.94"` \[GB/s\].
fn function(of: &Attributes) -> Facts {
    let mut facts = Facts::new();
    let says = |name: &str| of.get(name).map_or("", String::as_str);
    let mut words = says("pci_type").split(' ');
    if let Some(class) = words.next().and_then(hex16) {
        facts.tell_class(class);
    }
    if let Some((vendor, device)) = words.next().and_then(|word| ids(word.trim_matches(['[', ']']))) {
        facts.tell_ids(vendor, device);
    }
    let buses =
        says("bridge_pci").split_once('[').and_then(|(_, rest)| rest.trim_end_matches(']').split_once('-'));
    let bus = |text: &str| u8::from_str_radix(text, 16).ok();
    if let Some((first, last)) = buses.and_then(|(first, last)| Some((bus(first)?, bus(last)?))) {
        facts.tell_buses(first, last);
    }
    if let Ok(speed) = says("pci_link_speed").parse::<f64>()
        && (0.001..10_000.0).contains(&speed)
    {
        facts.tell("link_mb_s", (speed * 1000.0).round());
    }
    facts
}

fn node(of: &Attributes) -> Option<Node> {
    Some(Node {
        node: of.get("os_index")?.parse().ok()?,
        cpus: of.get("cpuset").map(|set| cpu_ranges(&cpus(set))).unwrap_or_default(),
        memory_bytes: of.get("local_memory").and_then(|bytes| bytes.parse().ok()).unwrap_or(0),
        distances: Vec::new(),
    })
}

/// The CPUs in a mask of 32-bit words, the most significant word first: `0x00000001,0x0000ffff`.
fn cpus(mask: &str) -> Vec<u32> {
    let words = mask
        .rsplit(',')
        .take(DEEPEST)
        .map(|word| u32::from_str_radix(word.trim_start_matches("0x"), 16).unwrap_or(0));
    let bits = |(nth, word): (usize, u32)| {
        let of = move |bit: u32| (word >> bit & 1 == 1).then_some(nth as u32 * 32 + bit);
        (0..32).filter_map(of)
    };
    words.enumerate().flat_map(bits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0"><object type="Machine" os_index="0">
 <info name="HostName" value="s3cret"/>
 <object type="NUMANode" os_index="1" cpuset="0x00000001,0x8000000f" local_memory="1024"/>
 <object type="Bridge" bridge_type="0-1" bridge_pci="0000:[00-02]">
  <object type="Bridge" bridge_type="1-1" bridge_pci="0000:[01-01]" pci_busid="0000:00:01.0" pci_type="0604 [8086:2030] [0000:0000] 04" pci_link_speed="15.753846">
   <object type="PCIDev" pci_busid="0000:01:00.0" pci_type="0502 [8086:0d93] [0000:0000] 01" pci_link_speed="15.753846">
    <info name="PCIVendor" value="Some &amp; Sons"/><info name="PCIDevice" value="Expander"/>
    <object type="OSDev" name="mem0" subtype="CXLMem"><info name="CXLRAMSize" value="262144KiB"/><info name="CXLPMEMSize" value="1024"/></object>
   </object></object></object></object></topology>"#;

    #[test]
    fn functions_nodes_and_memories_are_read() {
        let found = read(BOX).expect("hwloc");
        assert_eq!(found.attributes.len(), 2);
        let device = &found.attributes[&"01:00.0".parse().expect("an address")];
        assert_eq!((device["class"].as_str(), device["name"].as_str()), ("0x050200", "Some & Sons Expander"));
        assert_eq!(device["link_mb_s"], "15754");
        assert_eq!((found.nodes[0].cpus.as_str(), found.nodes[0].memory_bytes), ("0-3,31-32", 1024));
        let memory = &found.memories[0];
        assert_eq!((memory.address, memory.volatile_bytes), ("01:00.0".parse().ok(), 256 << 20));
        assert_eq!(memory.persistent_bytes, 1 << 20);
        assert!(!format!("{found:?}").contains("s3cret"));
    }

    #[test]
    fn entities_of_a_document_are_not_expanded() {
        let levels: String =
            (1..12).map(|n| format!("<!ENTITY e{n} \"{}\">", format!("&e{};", n - 1).repeat(10))).collect();
        let bomb = BOX
            .replace(
                "SYSTEM \"hwloc2.dtd\"",
                &format!("[<!ENTITY e0 \"ha\"><!ENTITY f SYSTEM \"file:///etc/passwd\">{levels}]"),
            )
            .replace("Expander", "&e11;")
            .replace("Some &amp; Sons", "&f;");
        let found = read(&bomb).expect("the rest is read");
        let device = &found.attributes[&"01:00.0".parse().expect("an address")];
        assert_eq!(device.get("name"), None);
    }

    #[test]
    fn other_xml_and_depth_are_refused() {
        for text in ["<svg/>", "<topology/>", "<topology><object", &"<topology>".repeat(10_000)] {
            assert!(read(text).is_err(), "{}", &text[..8.min(text.len())]);
        }
    }
}
