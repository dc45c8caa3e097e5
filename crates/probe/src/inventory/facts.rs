//! Attributes of a function that the readers of texts find. They have the names that sysfs uses, so that all sources
//! are decoded in one place.

use super::told::kept;
use std::collections::BTreeMap;

/// Attributes of a function, by name.
pub(super) type Facts = BTreeMap<String, String>;

/// Sets attributes under the names that sysfs uses; a few, such as `port_type` and `link_mb_s`, are not in sysfs.
pub(super) trait Tells {
    /// Sets an attribute, shortened by [`kept`]; an empty value is ignored.
    fn tell(&mut self, name: &str, value: impl ToString);
    /// Sets Vendor ID and Device ID.
    fn tell_ids(&mut self, vendor: u16, device: u16) {
        self.tell("vendor", format!("{vendor:#06x}"));
        self.tell("device", format!("{device:#06x}"));
    }
    /// Sets Subsystem Vendor ID and Subsystem ID.
    fn tell_subsystem(&mut self, vendor: u16, device: u16) {
        self.tell("subsystem_vendor", format!("{vendor:#06x}"));
        self.tell("subsystem_device", format!("{device:#06x}"));
    }
    /// Sets the class code from base class and subclass, with programming interface 0.
    fn tell_class(&mut self, class: u16) {
        self.tell("class", format!("{:#08x}", u32::from(class) << 8));
    }
    /// Sets the first and the last bus below a bridge.
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

/// Base class and subclass by the name that lspci prints (pci.ids), for texts that have no class numbers.
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

/// Base class and subclass of the class that lspci prints as `word`.
pub(super) fn class_of(word: &str) -> Option<u16> {
    CLASSES.iter().find(|(known, _)| *known == word).map(|(_, class)| *class)
}

/// Splits `Some name [8086:2030]` or `Some name [0108]` into the name and the text in the brackets, if that consists of
/// hexadecimal numbers.
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

/// A 16-bit number in hexadecimal: `0108`.
pub(super) fn hex16(text: &str) -> Option<u16> {
    u16::from_str_radix(text.trim(), 16).ok()
}

/// Vendor and device ID: `8086:2030`.
pub(super) fn ids(text: &str) -> Option<(u16, u16)> {
    let (vendor, device) = text.trim().split_once(':')?;
    Some((hex16(vendor)?, hex16(device)?))
}
