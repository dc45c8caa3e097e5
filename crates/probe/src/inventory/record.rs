//! A record of a machine that its owner can publish: what [`read`](super::read) found, without anything that identifies
//! this particular machine.
//!
//! Of each configuration space, the header and the registers of known capabilities are kept. Everything else is set to
//! zero: the Device Serial Number, vital product data (VPD), the contents of vendor-specific capabilities, and bytes
//! that belong to no capability. Attributes are the few that [`Snapshot`] has; none is a serial number, an EUI-64, an
//! NQN, a MAC address or the name of a host.

use super::facts::Tells;
use super::recorded::Recorded;
use super::snapshot::{HEADER, MANY, NotRead, Snapshot, WHOLE};
use super::told::{Drive, Memory, Node, kept};
use crate::function::Function;
use crate::host::Address;
use crate::registers::{ExpressCapabilities, Home};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the format, which is in every record.
const FORMAT: &str = "lanetwin-machine-1";
/// Offset of the pointer to the first capability \[B\].
const POINTER: usize = 0x34;
/// Bytes of configuration space in a row of a record.
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
    /// Number of bytes that were read; 0 for a function that is known from a text only.
    size: usize,
    /// The rows that are not all zero, in hexadecimal, by their offset in hexadecimal.
    #[serde(default)]
    config: BTreeMap<String, String>,
    #[serde(default)]
    attributes: BTreeMap<String, String>,
}

/// Whether a JSON text is a record: its first 200 bytes contain the name of the format.
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
/// If the text is not a record; errors of JSON are reported with their line.
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

/// The configuration space of a function in which only known registers are kept; all other bytes are zero.
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
        // a list also ends at an ID of all ones; such an ID is kept, so that the list in the record ends there, too
        let mut ends = vec![space[POINTER]];
        for (home, at) in function.capabilities() {
            let room = function.room(*at).map_or(WHOLE, usize::from);
            let at = usize::from(*at);
            // nothing beyond the start of the next capability is kept: a capability may be shorter than usual, or have
            // registers for fewer lanes, and the one after it may hold a serial number
            keep(at, (length(*home, space, at) + more_lanes(*home)).min(room));
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

/// Size of the part of a capability that is kept \[B\]: the registers that do not identify a particular device; only
/// the header for all other capabilities (sizes from PCIe Base 6.0 §7.5 to §7.9).
fn length(home: Home, space: &[u8], at: usize) -> usize {
    match home {
        Home::Header => HEADER,
        Home::Capability(id) => match id {
            // Power Management
            0x01 => 8,
            // MSI: Message Control only, since the kernel sets addresses and data
            0x05 => 4,
            0x10 => express_length(space, at),
            // MSI-X
            0x11 => 12,
            // Subsystem ID of a bridge
            0x0d => 8,
            _ => 2,
        },
        Home::Extended(id) => match id {
            // AER up to Capabilities and Control; the header log after it may hold addresses and data
            0x0001 => 0x1c,
            // Access Control Services, Alternative Routing-ID Interpretation, Latency Tolerance Reporting; then
            // Precision Time Measurement
            0x000d | 0x000e | 0x0018 => 8,
            0x001f => 12,
            // Single Root I/O Virtualisation
            0x0010 => 0x40,
            // Secondary PCI Express, with the first lane
            0x0019 => 0x0c + 2,
            // Downstream Port Containment
            0x001d => 0x0c,
            // L1 PM Substates
            0x001e => 0x14,
            // DVSEC: header, vendor and ID
            0x0023 => 10,
            // Data Link Feature
            0x0025 => 12,
            // Physical Layer 16.0 GT/s and 32.0 GT/s, Lane Margining at the Receiver, Physical Layer 64.0 GT/s, each
            // with the first lane
            0x0026 | 0x002a => 0x20 + 1,
            0x0027 => 8 + 4,
            0x0031 => 0x10 + 1,
            // Device 3
            0x002f => 16,
            _ => 4,
        },
    }
}

/// Size of a PCI Express capability \[B\]: version 1 ends after the last register that its kind of function has (PCIe
/// Base 1.1 §7.8, figure of the structure), version 2 has all registers.
fn express_length(space: &[u8], at: usize) -> usize {
    let register = space.get(at + 2..at + 4).map_or(0, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]));
    let word = ExpressCapabilities::from_raw(register);
    match word.kind() {
        _ if word.version() >= 2 => 0x3c,
        // Root Port and Root Complex Event Collector: Root Control, Capabilities and Status
        4 | 10 => 0x24,
        // Root Complex Integrated Endpoint: no link
        9 => 0x0c,
        _ if word.slot() => 0x1c,
        _ => 0x14,
    }
}

/// Size of the registers for lanes 1 to 31 in a capability that has a register for each lane \[B\].
const fn more_lanes(home: Home) -> usize {
    match home {
        Home::Extended(0x0019) => 2 * 31,
        Home::Extended(0x0027) => 4 * 31,
        Home::Extended(0x0026 | 0x002a | 0x0031) => 31,
        _ => 0,
    }
}
