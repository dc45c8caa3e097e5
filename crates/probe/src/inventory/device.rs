//! What is known of a function, from its registers or from the text of a program such as lspci.

use super::facts::Facts;
use super::reading::Reading;
use crate::host::Address;
use serde::Serialize;

/// The kind of a function: Device/Port Type of its PCI Express capability (PCIe Base 6.0 §7.5.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A device at the end of a link.
    Endpoint,
    /// A port of a root complex.
    RootPort,
    /// The port of a switch towards the host.
    UpstreamPort,
    /// A port of a switch towards devices.
    DownstreamPort,
    /// A bridge to conventional PCI, or from it.
    Bridge,
    /// Inside a root complex, without a link.
    Integrated,
    /// Without a PCI Express capability, or with one that was not read.
    Conventional,
}

impl Kind {
    /// The kind with this number of Device/Port Type.
    pub(super) const fn of(number: u8) -> Self {
        match number {
            0 | 1 => Self::Endpoint,
            4 => Self::RootPort,
            5 => Self::UpstreamPort,
            6 => Self::DownstreamPort,
            9 | 10 => Self::Integrated,
            _ => Self::Bridge,
        }
    }
    /// Whether the function is at the upstream end of its link.
    #[must_use]
    pub const fn is_above_its_link(self) -> bool {
        matches!(self, Self::RootPort | Self::DownstreamPort)
    }
    /// Whether it has link registers.
    #[must_use]
    pub(super) const fn has_link(self) -> bool {
        !matches!(self, Self::Integrated | Self::Conventional)
    }
    /// Whether the function is at the downstream end of its link.
    #[must_use]
    pub const fn is_below_its_link(self) -> bool {
        matches!(self, Self::Endpoint | Self::UpstreamPort)
    }
}

/// Speed and width: the capability of a link end, or its current state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct End {
    /// The generation: 5 for 32 GT/s. 0 if there is no link.
    pub generation: u8,
    /// Number of lanes. 0 if there is no link.
    pub width: u8,
}

/// The link of a function, as the registers at its own end describe it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Link {
    /// Maximum speed and width of this end.
    pub capable: End,
    /// Current speed and width.
    pub trained: End,
    /// Target Link Speed of this end; `None` if it has none.
    pub target_generation: Option<u8>,
    /// Whether the data link layer is active, if the port reports it.
    pub active: Option<bool>,
    /// Whether this end can detect retimers, regardless of their presence.
    pub can_detect_retimer: bool,
    /// Number of retimers that this end detected during training: 0, 1 or 2.
    pub retimers_detected: u8,
    /// Link Capabilities, raw.
    pub capabilities: u32,
    /// Link Status, raw.
    pub status: u16,
}

/// Supported and configured sizes of a function's payloads and read requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Requests {
    /// Maximum Payload Size that it supports \[B\].
    pub mps_supported: u16,
    /// Configured Maximum Payload Size \[B\].
    pub mps: u16,
    /// Maximum Read Request Size \[B\].
    pub mrrs: u16,
    /// Whether it supports 8-bit tags, for more than 32 outstanding reads, and whether they are enabled.
    pub extended_tags: (bool, bool),
    /// Device Control, raw.
    pub control: u16,
}

/// An extended capability.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Extended {
    /// Its ID.
    pub id: u16,
    /// Its offset \[B\].
    pub offset: u16,
    /// For a DVSEC: the vendor that defines it, and the vendor's ID for it. CXL has vendor 1e98h.
    pub vendor: Option<(u16, u16)>,
}

/// The subsystem: the maker and the product of a card or drive, whose chip may be from another vendor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Subsystem {
    /// Subsystem Vendor ID.
    pub vendor: u16,
    /// Subsystem ID.
    pub device: u16,
}

impl Subsystem {
    /// The subsystem; `None` if its vendor is not set (zero), or was not read (all ones).
    pub(super) fn of(vendor: u16, device: u16) -> Option<Self> {
        (!matches!(vendor, 0 | u16::MAX)).then_some(Self { vendor, device })
    }
}

/// A function.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Device {
    /// Its address.
    pub address: Address,
    /// The bridge above it.
    pub parent: Option<Address>,
    /// Vendor ID.
    pub vendor: u16,
    /// Device ID.
    pub device: u16,
    /// Its subsystem, if known.
    pub subsystem: Option<Subsystem>,
    /// Class code: base class, subclass, programming interface.
    pub class: u32,
    /// Its kind.
    pub kind: Kind,
    /// The buses below a bridge, first and last.
    pub buses: Option<(u8, u8)>,
    /// Its link.
    pub link: Option<Link>,
    /// Its payload and request sizes.
    pub requests: Option<Requests>,
    /// Capability IDs and their offsets \[B\].
    pub capabilities: Vec<(u8, u16)>,
    /// Extended capabilities.
    pub extended: Vec<Extended>,
    /// Its registers by name, with their fields; empty for a function that is known from a text only.
    pub registers: Vec<Reading>,
    /// Size of the configuration space that was read \[B\].
    pub read: u16,
    /// Its driver.
    pub driver: Option<String>,
    /// The NUMA node, if there are several.
    pub node: Option<i64>,
    /// Its name, if a text has one; configuration space has no names.
    pub name: Option<String>,
    /// The firmware's name of its slot.
    pub slot: Option<String>,
    /// Throughput of its link in one direction, if speed and width are unknown \[MB/s\].
    pub link_mb_s: Option<u32>,
    /// Its logged errors.
    pub errors: Errors,
}

/// Logged errors of a function; `None` where they are unknown.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Errors {
    /// Uncorrectable Error Status (PCIe Base 6.0 §7.8.4.2).
    pub uncorrectable: Option<u32>,
    /// Correctable Error Status (§7.8.4.5).
    pub correctable: Option<u32>,
    /// Lane Error Status: a bit for each lane (§7.7.3.3).
    pub lanes: Option<u32>,
}

/// Attributes of a function from the operating system, or from a text.
pub(super) struct Told<'f>(pub &'f Facts);

impl Told<'_> {
    fn says(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
    fn number<N: std::str::FromStr>(&self, name: &str) -> Option<N> {
        self.says(name)?.parse().ok()
    }
    /// A hexadecimal number such as `0x010802`, as sysfs writes it.
    fn hex(&self, name: &str) -> Option<u32> {
        u32::from_str_radix(self.says(name)?.trim_start_matches("0x"), 16).ok()
    }
    /// Its kind; [`Kind::Conventional`] if the attributes have none.
    pub(super) fn kind(&self) -> Kind {
        self.number("port_type").map_or(Kind::Conventional, Kind::of)
    }
    /// The function as far as the attributes describe it.
    pub(super) fn device(&self, address: Address) -> Device {
        let id = |name: &str| self.hex(name).map_or(0, |value| (value & 0xffff) as u16);
        let buses = self.number("secondary_bus_number").zip(self.number("subordinate_bus_number"));
        Device {
            address,
            parent: None,
            vendor: id("vendor"),
            device: id("device"),
            subsystem: Subsystem::of(id("subsystem_vendor"), id("subsystem_device")),
            class: self.hex("class").unwrap_or(NO_CLASS) & 0x00ff_ffff,
            kind: self.kind(),
            buses: buses.filter(|(first, last)| first <= last),
            link: self.link(),
            requests: self.requests(),
            capabilities: Vec::new(),
            extended: Vec::new(),
            registers: Vec::new(),
            read: 0,
            driver: self.says("driver").map(str::to_owned),
            node: self.number("numa_node").filter(|node| *node >= 0),
            name: self.says("name").map(str::to_owned),
            slot: self.says("physical_slot").map(str::to_owned),
            link_mb_s: self.number("link_mb_s"),
            errors: Errors {
                uncorrectable: self.hex("uncorrectable_errors"),
                correctable: self.hex("correctable_errors"),
                lanes: self.hex("lane_errors"),
            },
        }
    }
    fn link(&self) -> Option<Link> {
        let end = |speed: &str, width: &str| {
            let generation = generation_of(self.says(speed)?)?;
            Some(End { generation, width: self.number(width).filter(|lanes| (1..=32).contains(lanes))? })
        };
        Some(Link {
            capable: end("max_link_speed", "max_link_width")?,
            trained: end("current_link_speed", "current_link_width")?,
            target_generation: self.says("target_link_speed").and_then(generation_of),
            active: None,
            can_detect_retimer: self.says("retimer_detectable").is_some(),
            retimers_detected: self.number("retimers").unwrap_or(0).min(2),
            capabilities: 0,
            status: 0,
        })
    }
    fn requests(&self) -> Option<Requests> {
        let size = |name: &str| {
            self.number(name).filter(|size: &u16| size.is_power_of_two() && (128..=4096).contains(size))
        };
        Some(Requests {
            mps_supported: size("mps_supported")?,
            mps: size("mps")?,
            mrrs: size("mrrs")?,
            extended_tags: (false, false),
            control: 0,
        })
    }
}

/// The class code for "unassigned" (PCI Code and ID Assignment Specification 1.16, §1), if the class is unknown.
const NO_CLASS: u32 = 0x00ff_0000;

/// The generation of a rate such as `16.0 GT/s PCIe`, or `8 GT/s` as older kernels write it.
fn generation_of(text: &str) -> Option<u8> {
    let rate = text.split_whitespace().next()?.trim_end_matches(".0");
    let rates = ["2.5", "5", "8", "16", "32", "64", "128"];
    rates.iter().position(|known| *known == rate).and_then(|at| u8::try_from(at + 1).ok())
}
