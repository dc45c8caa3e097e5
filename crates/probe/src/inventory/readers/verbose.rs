//! The text of `lspci`, `-v`, `-vv` and `-vvv`: headings of functions, and the indented lines below them.
//!
//! ```text
//! 01:00.0 Non-Volatile memory controller [0108]: A drive [144d:a824] (prog-if 02 [NVM Express])
//!         Capabilities: [70] Express (v2) Endpoint, IntMsgNum 0
//!                 LnkCap: Port #0, Speed 32GT/s, Width x4, ASPM L1, Exit Latency L1 <64us
//!                 LnkSta: Speed 16GT/s (downgraded), Width x4
//! ```
//!
//! pciutils before 3.0 wrote `Device:` and `Link:` instead, with rates in `Gb/s`. Everything else is skipped, including
//! serial numbers and vital product data.

use crate::host::Address;
use crate::inventory::facts::{Facts, Tells, class_of, hex16, ids, numbered};
use crate::inventory::snapshot::{MANY, NotRead, Snapshot};
use crate::lspci_lines::heading;

/// Device/Port Types by the names that lspci prints (PCIe Base 6.0 §7.5.3.2). The first that matches the beginning of a
/// text counts.
const TYPES: &[(&str, u8)] = &[
    ("Root Complex Integrated Endpoint", 9),
    ("Root Complex Event Collector", 10),
    ("Legacy Endpoint", 1),
    ("Endpoint", 0),
    ("Root Port", 4),
    ("Upstream Port", 5),
    ("Downstream Port", 6),
    ("PCI-Express to PCI", 7),
    ("PCI/PCI-X to PCI-Express", 8),
    ("PCI to PCI-Express", 8),
];
/// Uncorrectable errors as lspci names them, with their bits (PCIe Base 6.0 §7.8.4.2).
const UNCORRECTABLE: &[(&str, u8)] = &[
    ("DLP", 4),
    ("SDES", 5),
    ("TLP", 12),
    ("FCP", 13),
    ("CmpltTO", 14),
    ("CmpltAbrt", 15),
    ("UnxCmplt", 16),
    ("RxOF", 17),
    ("MalfTLP", 18),
    ("ECRC", 19),
    ("UnsupReq", 20),
    ("ACSViol", 21),
];
/// Correctable errors as lspci names them, with their bits (§7.8.4.5).
const CORRECTABLE: &[(&str, u8)] = &[
    ("RxErr", 0),
    ("BadTLP", 6),
    ("BadDLLP", 7),
    ("Rollover", 8),
    ("Timeout", 12),
    ("AdvNonFatalErr", 13),
    ("NonFatalErr", 13),
];

/// Reads the text; without a heading of a function the result is empty.
///
/// # Errors
/// If there are more functions than a machine has.
pub(super) fn read(text: &str) -> Result<Snapshot, NotRead> {
    let mut found = Snapshot::default();
    let mut now: Option<Address> = None;
    let mut register = String::new();
    for line in text.lines() {
        if let Some((address, facts)) = function(line) {
            found.attributes.insert(address, facts);
            (now, register) = (Some(address), String::new());
            if found.attributes.len() > MANY {
                return Err(NotRead("there are more functions than a machine has".into()));
            }
        } else if let Some(facts) = now.and_then(|address| found.attributes.get_mut(&address)) {
            if !line.starts_with(char::is_whitespace) {
                continue;
            }
            // a line without a name continues the text of the register above
            let (name, said) = named(line).unwrap_or(("", line.trim()));
            if !name.is_empty() {
                name.clone_into(&mut register);
            }
            take(facts, &register, said);
        }
    }
    Ok(found)
}

/// The name and text of a line such as `LnkCap: …`. Names with spaces count only if they are known.
fn named(line: &str) -> Option<(&str, &str)> {
    let (name, said) = line.trim().split_once(':')?;
    let known = ["Kernel driver in use", "NUMA node", "Physical Slot"].contains(&name);
    (known || (!name.is_empty() && !name.contains(' '))).then(|| (name, said.trim()))
}

/// The address and attributes of a function from its heading.
fn function(line: &str) -> Option<(Address, Facts)> {
    let address = heading(line)?;
    let (class, rest) = line.split_once(char::is_whitespace)?.1.split_once(": ")?;
    let mut facts = Facts::new();
    let interface =
        rest.rsplit_once("(prog-if ").and_then(|(_, said)| u8::from_str_radix(said.get(..2)?, 16).ok());
    let name = rest.split(" (rev ").next().unwrap_or(rest).split(" (prog-if ").next().unwrap_or(rest);
    let (word, number) = numbered(class);
    // `lspci -n` prints only numbers
    let plain = (word.len() == 4 && number.is_none()).then(|| hex16(word)).flatten();
    if let Some(class) = number.and_then(hex16).or(plain).or_else(|| class_of(word)) {
        facts.tell("class", format!("{:#08x}", u32::from(class) << 8 | u32::from(interface.unwrap_or(0))));
    }
    let (name, number) = numbered(name);
    let bare = ids(name);
    if let Some((vendor, device)) = number.and_then(ids).or(bare) {
        facts.tell_ids(vendor, device);
    }
    if bare.is_none() {
        facts.tell("name", name);
    }
    Some((address, facts))
}

/// Takes attributes from the text of a register, or of a line about the operating system.
fn take(facts: &mut Facts, register: &str, said: &str) {
    match register {
        "Bus" => buses(facts, said),
        "Subsystem" => subsystem(facts, said),
        "Capabilities" => capability(facts, said),
        "DevCap" => payload(facts, "mps_supported", said),
        "DevCtl" => requests(facts, said),
        "Device" if said.starts_with("Supported:") => payload(facts, "mps_supported", said),
        "Device" => requests(facts, said),
        "LnkCap" => link(facts, "max", said),
        "LnkSta" => link(facts, "current", said),
        "Link" if said.starts_with("Supported") => link(facts, "max", said),
        "Link" => link(facts, "current", said),
        "LnkCtl2" => {
            if let Some(speed) = rate(said, "Target Link Speed: ") {
                facts.tell("target_link_speed", speed);
            }
        }
        "LnkCap2" if flag(said, "Retimer") == Some(true) => facts.tell("retimer_detectable", 1),
        "LnkSta2" => retimers(facts, said),
        "UESta" => errors(facts, "uncorrectable_errors", UNCORRECTABLE, said),
        "CESta" => errors(facts, "correctable_errors", CORRECTABLE, said),
        "LaneErrStat" => lanes(facts, said),
        "NUMA node" => facts.tell("numa_node", said),
        "Physical Slot" => facts.tell("physical_slot", said),
        "Kernel driver in use" => facts.tell("driver", said),
        _ => {}
    }
}

/// The subsystem from `Some maker A card [144d:a801]`, or from only its IDs.
fn subsystem(facts: &mut Facts, said: &str) {
    let (name, number) = numbered(said);
    if let Some((vendor, device)) = number.and_then(ids).or_else(|| ids(name)) {
        facts.tell_subsystem(vendor, device);
    }
}

/// The buses below a bridge from `primary=00, secondary=01, subordinate=01, sec-latency=0`.
fn buses(facts: &mut Facts, said: &str) {
    let of = |name: &str| {
        let word = said.split(", ").find_map(|word| word.strip_prefix(name))?;
        u8::from_str_radix(word, 16).ok()
    };
    if let (Some(first), Some(last)) = (of("secondary="), of("subordinate=")) {
        facts.tell_buses(first, last);
    }
}

/// The Device/Port Type from `[70] Express (v2) Endpoint, IntMsgNum 0`, and the subsystem of a bridge from
/// `[a4] Subsystem: Some maker A card [144d:a801]`.
fn capability(facts: &mut Facts, said: &str) {
    if let Some((_, rest)) = said.split_once("] Subsystem: ") {
        subsystem(facts, rest);
    }
    let Some((_, rest)) = said.split_once("] Express ") else { return };
    let rest = rest.split_once(") ").filter(|_| rest.starts_with("(v")).map_or(rest, |(_, word)| word);
    if let Some((_, number)) = TYPES.iter().find(|(word, _)| rest.starts_with(word)) {
        facts.tell("port_type", number);
    }
}

fn payload(facts: &mut Facts, name: &str, said: &str) {
    if let Some(bytes) = number(said, "MaxPayload ") {
        facts.tell(name, bytes);
    }
}

fn requests(facts: &mut Facts, said: &str) {
    payload(facts, "mps", said);
    if let Some(bytes) = number(said, "MaxReadReq ") {
        facts.tell("mrrs", bytes);
    }
}

/// Speed and width from `Port #0, Speed 32GT/s, Width x4, …`.
fn link(facts: &mut Facts, which: &str, said: &str) {
    if let Some(speed) = rate(said, "Speed ") {
        facts.tell(&format!("{which}_link_speed"), speed);
    }
    if let Some(width) = number(said, "Width x") {
        facts.tell(&format!("{which}_link_width"), width);
    }
}

fn retimers(facts: &mut Facts, said: &str) {
    let count =
        [flag(said, "Retimer"), flag(said, "2Retimers")].iter().filter(|set| **set == Some(true)).count();
    if count > 0 {
        facts.tell("retimers", count);
    }
}

/// The value of an error status register from `RxErr+ BadTLP-`, as far as lspci prints its bits.
fn errors(facts: &mut Facts, name: &str, bits: &[(&str, u8)], said: &str) {
    let set = bits.iter().filter(|(word, _)| flag(said, word) == Some(true));
    let word = set.fold(0_u32, |word, (_, bit)| word | 1 << bit);
    facts.tell(name, format!("{word:#010x}"));
}

/// Lane Error Status from `LaneErr at lane: 0 1 2`.
fn lanes(facts: &mut Facts, said: &str) {
    let Some((_, list)) = said.split_once("lane:") else { return };
    let lanes = list.split([' ', ',']).filter_map(|word| word.parse::<u32>().ok()).filter(|lane| *lane < 32);
    let word = lanes.fold(0_u32, |word, lane| word | 1 << lane);
    facts.tell("lane_errors", format!("{word:#010x}"));
}

/// The number that follows the text `behind`.
fn number(said: &str, behind: &str) -> Option<u32> {
    let rest = said.split_once(behind)?.1;
    let end = rest.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

/// The rate that follows the text `behind`, as sysfs writes it: `16 GT/s`.
fn rate(said: &str, behind: &str) -> Option<String> {
    let word = said.split_once(behind)?.1.split([',', ' ']).next()?;
    let number = word.strip_suffix("GT/s").or_else(|| word.strip_suffix("Gb/s"))?;
    Some(format!("{number} GT/s"))
}

/// Whether the flag `word` is set (`word+`) or clear (`word-`); `None` if the text does not have it.
fn flag(said: &str, word: &str) -> Option<bool> {
    let sign = said.split([' ', ',', '\t']).find_map(|found| found.strip_prefix(word))?;
    match sign {
        "+" => Some(true),
        "-" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: &str = "\
01:00.0 Non-Volatile memory controller [0108]: Some vendor A drive [144d:a824] (rev 02) (prog-if 02 [NVM Express])
\tSubsystem: Another A drive of 2 TB [0128:215b]
\tNUMA node: 1
\tCapabilities: [70] Express (v2) Endpoint, IntMsgNum 0
\t\tDevCap:\tMaxPayload 512 bytes, PhantFunc 0
\t\tDevCtl:\tCorrErr- NonFatalErr-
\t\t\tMaxPayload 256 bytes, MaxReadReq 512 bytes
\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x4, ASPM not supported
\t\tLnkSta:\tSpeed 16GT/s (downgraded), Width x2 (downgraded)
\t\tLnkCap2: Supported Link Speeds: 2.5-32GT/s, Crosslink- Retimer+ 2Retimers+ DRS-
\t\tLnkCtl2: Target Link Speed: 32GT/s, EnterCompliance- SpeedDis-
\t\tLnkSta2: Current De-emphasis Level: -3.5dB
\t\t\t Retimer+ 2Retimers- CrosslinkRes: unsupported
\tCapabilities: [100 v2] Advanced Error Reporting
\t\tUESta:\tDLP- SDES- TLP+ FCP-
\t\tCESta:\tRxErr+ BadTLP- BadDLLP+ Rollover- Timeout- AdvNonFatalErr-
\tCapabilities: [168 v1] Device Serial Number 12-34-56-ff-fe-78-9a-bc
\tCapabilities: [180 v1] Secondary PCI Express
\t\tLaneErrStat: LaneErr at lane: 0 3
\tKernel driver in use: nvme
";

    fn facts(text: &str) -> Facts {
        read(text).expect("a text").attributes.into_values().next().expect("a function")
    }

    #[test]
    fn what_the_new_text_says_is_read() {
        let found = facts(NEW);
        let says = |name: &str| found.get(name).map_or("", String::as_str);
        assert_eq!((says("class"), says("vendor"), says("device")), ("0x010802", "0x144d", "0xa824"));
        assert_eq!((says("name"), says("driver"), says("numa_node")), ("Some vendor A drive", "nvme", "1"));
        assert_eq!((says("subsystem_vendor"), says("subsystem_device")), ("0x0128", "0x215b"));
        assert_eq!(
            (says("port_type"), says("mps_supported"), says("mps"), says("mrrs")),
            ("0", "512", "256", "512")
        );
        assert_eq!((says("max_link_speed"), says("max_link_width")), ("32 GT/s", "4"));
        assert_eq!((says("current_link_speed"), says("current_link_width")), ("16 GT/s", "2"));
        assert_eq!(
            (says("target_link_speed"), says("retimer_detectable"), says("retimers")),
            ("32 GT/s", "1", "1")
        );
        assert_eq!((says("uncorrectable_errors"), says("correctable_errors")), ("0x00001000", "0x00000081"));
        assert_eq!(says("lane_errors"), "0x00000009");
        assert!(found.values().all(|value| !value.contains("12-34")), "a serial number is not kept");
    }

    #[test]
    fn what_the_text_before_pciutils_3_says_is_read() {
        let found = facts(
            "00:02.0 PCI bridge: Some Root Port (rev a2) (prog-if 00 [Normal decode])\n\tBus: primary=00, secondary=01, \
             subordinate=02, sec-latency=0\n\tCapabilities: [80] Express Root Port (Slot+) IRQ 0\n\t\tDevice: Supported: \
             MaxPayload 256 bytes, PhantFunc 0, ExtTag-\n\t\tDevice: MaxPayload 128 bytes, MaxReadReq 512 bytes\n\t\tLink: \
             Supported Speed 2.5Gb/s, Width x16, ASPM L0s, Port 2\n\t\tLink: Latency L0s <1us, L1 <4us\n\t\tLink: Speed \
             2.5Gb/s, Width x8\n",
        );
        let says = |name: &str| found.get(name).map_or("", String::as_str);
        assert_eq!((says("class"), says("port_type"), says("name")), ("0x060400", "4", "Some Root Port"));
        assert_eq!((says("secondary_bus_number"), says("subordinate_bus_number")), ("1", "2"));
        assert_eq!((says("mps_supported"), says("mps"), says("mrrs")), ("256", "128", "512"));
        assert_eq!((says("max_link_speed"), says("max_link_width")), ("2.5 GT/s", "16"));
        assert_eq!((says("current_link_speed"), says("current_link_width")), ("2.5 GT/s", "8"));
    }
}
