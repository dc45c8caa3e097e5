//! What a text says of one function, under the names that sysfs has for it, so that there is one place that decodes
//! it.

use super::told::kept;
use std::collections::BTreeMap;

/// Facts of a function, by name.
pub(super) type Facts = BTreeMap<String, String>;

/// Puts facts under the names of sysfs, and a few of its own kind.
pub(super) trait Tells {
    /// A fact as it is.
    fn tell(&mut self, name: &str, value: impl ToString);
    /// Vendor and device ID.
    fn tell_ids(&mut self, vendor: u16, device: u16) {
        self.tell("vendor", format!("{vendor:#06x}"));
        self.tell("device", format!("{device:#06x}"));
    }
    /// The subsystem.
    fn tell_subsystem(&mut self, vendor: u16, device: u16) {
        self.tell("subsystem_vendor", format!("{vendor:#06x}"));
        self.tell("subsystem_device", format!("{device:#06x}"));
    }
    /// Base class and subclass, with no programming interface.
    fn tell_class(&mut self, class: u16) {
        self.tell("class", format!("{:#08x}", u32::from(class) << 8));
    }
    /// The buses below a bridge.
    fn tell_buses(&mut self, first: u8, last: u8) {
        self.tell("secondary_bus_number", first);
        self.tell("subordinate_bus_number", last);
    }
}

impl Tells for Facts {
    fn tell(&mut self, name: &str, value: impl ToString) {
        let value = kept(&value.to_string());
        if !value.is_empty() {
            self.insert(name.to_owned(), value);
        }
    }
}

/// Words of lspci for classes (pci.ids), with base class and subclass, where a text has the words alone.
const CLASSES: &[(&str, u16)] = &[
    ("SCSI storage controller", 0x0100),
    ("IDE interface", 0x0101),
    ("RAID bus controller", 0x0104),
    ("SATA controller", 0x0106),
    ("Serial Attached SCSI controller", 0x0107),
    ("Non-Volatile memory controller", 0x0108),
    ("Mass storage controller", 0x0180),
    ("Ethernet controller", 0x0200),
    ("Infiniband controller", 0x0207),
    ("Network controller", 0x0280),
    ("VGA compatible controller", 0x0300),
    ("3D controller", 0x0302),
    ("Display controller", 0x0380),
    ("Audio device", 0x0403),
    ("RAM memory", 0x0500),
    ("CXL", 0x0502),
    ("Host bridge", 0x0600),
    ("ISA bridge", 0x0601),
    ("PCI bridge", 0x0604),
    ("Communication controller", 0x0780),
    ("Serial controller", 0x0700),
    ("System peripheral", 0x0880),
    ("USB controller", 0x0c03),
    ("USB Controller", 0x0c03),
    ("Fibre Channel", 0x0c04),
    ("SMBus", 0x0c05),
    ("Processing accelerators", 0x1200),
];

/// Base class and subclass by the word of lspci.
pub(super) fn class_of(word: &str) -> Option<u16> {
    CLASSES.iter().find(|(known, _)| *known == word).map(|(_, class)| *class)
}

/// Splits `Some name [8086:2030]` or `Some name [0108]` into the name and what is in the brackets, if that is
/// hexadecimal.
pub(super) fn numbered(text: &str) -> (&str, Option<&str>) {
    let text = text.trim();
    let found = text.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
    match found {
        Some((name, number)) if is_number(number) => (name.trim_end(), Some(number)),
        _ => (text, None),
    }
}

fn is_number(text: &str) -> bool {
    let digits = |word: &str| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.split_once(':').map_or_else(|| digits(text), |(vendor, device)| digits(vendor) && digits(device))
}

/// Four hexadecimal digits.
pub(super) fn hex16(text: &str) -> Option<u16> {
    u16::from_str_radix(text.trim(), 16).ok()
}

/// `8086:2030`.
pub(super) fn ids(text: &str) -> Option<(u16, u16)> {
    let (vendor, device) = text.trim().split_once(':')?;
    Some((hex16(vendor)?, hex16(device)?))
}
