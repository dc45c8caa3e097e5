//! The registers of a function by name, with their fields, as far as the register map has them.

use super::recorded::Recorded;
use crate::function::Function;
use crate::host::{Host, Width};
use crate::registers::{EXPRESS, EXPRESS_CAPABILITIES, FIELDS, Home, Place};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// A register that was read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Reading {
    /// Its name.
    pub register: &'static str,
    /// Its offset in configuration space \[B\].
    pub offset: u16,
    /// Its value, in hexadecimal.
    pub value: String,
    /// Its fields and their values, the highest bits first, without reserved fields.
    #[serde(serialize_with = "as_map")]
    pub fields: Vec<(&'static str, u32)>,
}

impl Reading {
    /// The value of a field; `None` if the register has no such field.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<u32> {
        self.fields.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

fn as_map<S: Serializer>(fields: &[(&'static str, u32)], to: S) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(Some(fields.len()))?;
    for (name, value) in fields {
        map.serialize_entry(name, value)?;
    }
    map.end()
}

/// Reads every register of the register map that a function has. A register that reads as all ones is left out.
pub(super) fn readings(host: &mut Recorded<'_>, function: &Function, has_link: bool) -> Vec<Reading> {
    let word = function.read(host, EXPRESS_CAPABILITIES).ok().flatten();
    let version = word.map_or(0, |word| word.version());
    let mut found = Vec::new();
    for (place, fields) in FIELDS {
        let Some(offset) = function.offset(place).filter(|_| has(place, version, has_link)) else { continue };
        let Ok(raw) = host.read(function.address, offset, place.width) else { continue };
        if raw == place.width.ones() {
            continue;
        }
        let digits = 2 * usize::from(place.width.bytes());
        let own = fields.iter().filter(|field| !field.is_reserved());
        found.push(Reading {
            register: place.name,
            offset,
            value: format!("{raw:0digits$x}"),
            fields: own.map(|field| (field.name, field.of(u128::from(raw)) as u32)).collect(),
        });
    }
    found
}

/// Whether a function has a register whose capability it has. Link registers need a link, and the second set needs
/// version 2 of the PCI Express capability (PCIe Base 6.0 §7.5.3, figure of the structure). Registers of one byte in
/// the header are left out.
fn has(place: &Place, version: u8, has_link: bool) -> bool {
    let of_link = LINK.contains(&place.offset) || SECOND_LINK.contains(&place.offset);
    match place.home {
        Home::Header => place.width != Width::Byte,
        EXPRESS => (has_link || !of_link) && (version >= 2 || place.offset < SECOND),
        _ => true,
    }
}

/// Offsets of the link registers in the PCI Express capability \[B\].
const LINK: core::ops::Range<u16> = 0x0c..0x14;
/// Offset of the second set of registers \[B\].
const SECOND: u16 = 0x24;
/// Offsets of the link registers of the second set \[B\].
const SECOND_LINK: core::ops::Range<u16> = 0x2c..0x34;
