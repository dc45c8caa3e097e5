//! A record of a machine that its owner can give away: what [`read`](super::read) found, without what could tell it
//! from another of its kind.
//!
//! Of configuration spaces the header and the registers of capabilities that are known are kept, and everything else
//! is zero: the Device Serial Number, vital product data (VPD), what vendors keep in capabilities of their own, and
//! bytes that belong to no capability. Attributes are the few that [`Snapshot`] has; none is a serial number, an
//! EUI-64, an NQN, a MAC address or the name of a host.

use super::facts::Tells;
use super::recorded::Recorded;
use super::snapshot::{HEADER, MANY, NotRead, Snapshot, WHOLE};
use super::told::{Drive, Memory, Node, kept};
use crate::function::Function;
use crate::host::Address;
use crate::registers::Home;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a record says that it is.
const FORMAT: &str = "lanetwin-machine-1";
/// Where the pointer to the first capability is \[B\].
const POINTER: usize = 0x34;
/// Bytes in a row of a record.
const ROW: usize = 32;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    functions: BTreeMap<Address, Recording>,
    #[serde(default)]
    nodes: Vec<Node>,
    #[serde(default)]
    memories: Vec<Memory>,
    #[serde(default)]
    drives: Vec<Drive>,
    #[serde(default)]
    notes: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recording {
    /// How many bytes were read; none of a function that a text alone tells of.
    size: usize,
    /// Rows that are not zero, by their offset in hexadecimal.
    #[serde(default)]
    config: BTreeMap<String, String>,
    #[serde(default)]
    attributes: BTreeMap<String, String>,
}

/// Whether JSON begins as a record does.
pub(super) fn is_one(text: &str) -> bool {
    text.get(..200).unwrap_or(text).contains(FORMAT)
}

/// Writes a redacted record.
#[must_use]
pub fn write(snapshot: &Snapshot) -> String {
    let attributes = |address: &Address| snapshot.attributes.get(address).cloned().unwrap_or_default();
    let told = snapshot.attributes.keys().filter(|address| !snapshot.spaces.contains_key(address));
    let alone = told.map(|address| {
        (*address, Recording { size: 0, config: BTreeMap::new(), attributes: attributes(address) })
    });
    let read = snapshot.spaces.iter().map(|(address, space)| {
        let config = rows(&redacted(snapshot, *address));
        (*address, Recording { size: space.len(), config, attributes: attributes(address) })
    });
    let document = Document {
        format: FORMAT.into(),
        functions: read.chain(alone).collect(),
        nodes: snapshot.nodes.clone(),
        memories: snapshot.memories.clone(),
        drives: snapshot.drives.clone(),
        notes: snapshot.notes.clone(),
    };
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

/// Reads a record.
///
/// # Errors
/// If it is none, with the line.
pub(super) fn read(text: &str) -> Result<Snapshot, NotRead> {
    let document: Document = serde_json::from_str(text)
        .map_err(|error| NotRead(format!("it is no record of a machine: {error}")))?;
    if document.format != FORMAT || document.functions.len() > MANY {
        return Err(NotRead(format!("it is no record of a machine in the format {FORMAT}")));
    }
    let mut found = Snapshot {
        nodes: document.nodes,
        memories: document.memories,
        drives: document.drives,
        notes: document.notes.iter().map(|note| kept(note)).collect(),
        ..Snapshot::default()
    };
    for (address, recording) in document.functions {
        if recording.size > 0 {
            let wrong =
                || NotRead(format!("it is no record of a machine: {address} has bytes that do not fit"));
            found.spaces.insert(address, space(&recording).ok_or_else(wrong)?);
        }
        let facts = found.attributes.entry(address).or_default();
        recording.attributes.iter().for_each(|(name, value)| facts.tell(name, value));
    }
    found.attributes.retain(|address, facts| !facts.is_empty() || !found.spaces.contains_key(address));
    Ok(found)
}

fn space(recording: &Recording) -> Option<Vec<u8>> {
    if !(HEADER..=WHOLE).contains(&recording.size) {
        return None;
    }
    let mut bytes = vec![0; recording.size];
    for (offset, row) in &recording.config {
        let start = usize::from_str_radix(offset, 16).ok()?;
        let digits = row.as_bytes().chunks(2);
        for (nth, pair) in digits.enumerate() {
            let value = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
            *bytes.get_mut(start.checked_add(nth)?)? = value;
        }
    }
    Some(bytes)
}

fn rows(space: &[u8]) -> BTreeMap<String, String> {
    let rows = space.chunks(ROW).enumerate().filter(|(_, row)| row.iter().any(|byte| *byte != 0));
    let hex = |row: &[u8]| row.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    rows.map(|(nth, row)| (format!("{:03x}", nth * ROW), hex(row))).collect()
}

/// The bytes of a function of which nothing but what is known is kept.
fn redacted(snapshot: &Snapshot, address: Address) -> Vec<u8> {
    let Some(space) = snapshot.spaces.get(&address) else { return Vec::new() };
    let mut kept = vec![0; space.len()];
    let mut keep = |start: usize, count: usize| {
        let end = (start + count).min(space.len());
        if let (Some(to), Some(from)) = (kept.get_mut(start..end), space.get(start..end)) {
            to.copy_from_slice(from);
        }
    };
    keep(0, HEADER);
    if let Ok(function) = Function::find(&mut Recorded(snapshot), address) {
        // a list also ends where a capability has no ID but ones
        let mut ends = vec![space[POINTER]];
        for (home, at) in function.capabilities() {
            let at = usize::from(*at);
            keep(at, length(*home));
            ends.extend(space.get(at + 1).filter(|_| matches!(home, Home::Capability(_))));
        }
        for end in ends.into_iter().map(|pointer| usize::from(pointer & 0xfc)) {
            if end >= HEADER && space.get(end) == Some(&0xff) {
                keep(end, 1);
            }
        }
    }
    kept
}

/// How much of a capability is kept \[B\]: its registers, where none of them can tell one device from another of its
/// kind; its header alone otherwise (lengths of PCIe Base 6.0 §7.5 to §7.9).
const fn length(home: Home) -> usize {
    match home {
        Home::Header => HEADER,
        Home::Capability(id) => match id {
            // Power Management
            0x01 => 8,
            // MSI: its control; addresses and data are the kernel's
            0x05 => 4,
            // PCI Express
            0x10 => 0x3c,
            // MSI-X
            0x11 => 12,
            // Subsystem ID of a bridge
            0x0d => 8,
            _ => 2,
        },
        Home::Extended(id) => match id {
            // AER up to its mask and control; its log of headers has addresses and data
            0x0001 => 0x1c,
            // Access Control Services, Alternative Routing-ID, Latency Tolerance Reporting, Precision Time
            // Measurement
            0x000d | 0x000e | 0x0018 => 8,
            0x001f => 12,
            // Single Root I/O Virtualisation
            0x0010 => 0x40,
            // Secondary PCI Express: up to the lanes of a x32
            0x0019 => 0x0c + 2 * 32,
            // Downstream Port Containment
            0x001d => 0x0c,
            // L1 PM Substates
            0x001e => 0x14,
            // those of vendors (DVSEC): header, vendor and ID
            0x0023 => 10,
            // Data Link Feature
            0x0025 => 12,
            // Physical Layer 16.0 GT/s, Lane Margining, Physical Layer 32.0 and 64.0 GT/s
            0x0026 | 0x002a => 0x20 + 32,
            0x0027 => 8,
            0x0031 => 0x10 + 32,
            // Device 3
            0x002f => 16,
            _ => 4,
        },
    }
}
