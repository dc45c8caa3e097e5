//! What each function is, as its configuration space has it: kind, link, sizes of requests, capabilities; and the tree.

use super::recorded::Recorded;
use super::snapshot::Snapshot;
use crate::function::Function;
use crate::host::{Address, Host, Width};
use crate::registers::{
    DEVICE_CAPABILITIES, DEVICE_CONTROL, EXPRESS_CAPABILITIES, Home, LINK_CAPABILITIES, LINK_CAPABILITIES_2,
    LINK_CONTROL_2, LINK_STATUS, LINK_STATUS_2,
};
use lanetwin_pcie::spec::config_words::{BUS_NUMBERS_OFFSET, BusNumbers};
use serde::Serialize;
use std::collections::BTreeMap;

/// The extended capability of vendors (DVSEC), PCIe Base 6.0 §7.9.6.
const DVSEC: u16 = 0x0023;

/// What kind of function it is, by its PCI Express capability (PCIe Base 6.0 §7.5.3.2, Device/Port Type).
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
    /// Without a PCI Express capability, as far as can be read.
    Conventional,
}

impl Kind {
    const fn of(number: u8) -> Self {
        match number {
            0 | 1 => Self::Endpoint,
            4 => Self::RootPort,
            5 => Self::UpstreamPort,
            6 => Self::DownstreamPort,
            9 | 10 => Self::Integrated,
            _ => Self::Bridge,
        }
    }
    /// Whether the function's link is below it.
    #[must_use]
    pub const fn is_above_its_link(self) -> bool {
        matches!(self, Self::RootPort | Self::DownstreamPort)
    }
    /// Whether the function's link leads to the host.
    #[must_use]
    pub const fn is_below_its_link(self) -> bool {
        matches!(self, Self::Endpoint | Self::UpstreamPort)
    }
}

/// One speed and one width: what a link can do, or does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct End {
    /// The generation: 5 for 32 GT/s. 0 if there is no link.
    pub generation: u8,
    /// How many lanes. 0 if there is no link.
    pub width: u8,
}

/// The link of a function, from its own end.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Link {
    /// The most that this end can do.
    pub capable: End,
    /// What the link has trained to.
    pub trained: End,
    /// The speed that this end is told to go for; none if it does not say.
    pub target_generation: Option<u8>,
    /// Whether the data link layer is up, where the port reports that.
    pub active: Option<bool>,
    /// Whether this end could see that there is a retimer. It says nothing of whether there is one.
    pub can_detect_retimer: bool,
    /// How many retimers this end has seen while it trained: 0, 1 or 2.
    pub retimers_detected: u8,
    /// Link Capabilities, as it is.
    pub capabilities: u32,
    /// Link Status, as it is.
    pub status: u16,
}

/// Sizes that a function can do and has been told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Requests {
    /// Maximum Payload Size that it supports \[B\].
    pub mps_supported: u16,
    /// Maximum Payload Size that it has been told \[B\].
    pub mps: u16,
    /// Maximum Read Request Size \[B\].
    pub mrrs: u16,
    /// Whether it can have more than 32 reads under way, and may.
    pub extended_tags: (bool, bool),
    /// Device Control, as it is.
    pub control: u16,
}

/// An extended capability.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Extended {
    /// Its ID.
    pub id: u16,
    /// Where it is \[B\].
    pub offset: u16,
    /// Of one of a vendor's own (DVSEC): the vendor, and its ID there. The vendor of CXL is 1e98h.
    pub vendor: Option<(u16, u16)>,
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
    /// Class code: base class, subclass, programming interface.
    pub class: u32,
    /// What kind it is.
    pub kind: Kind,
    /// The buses below a bridge, first and last.
    pub buses: Option<(u8, u8)>,
    /// Its link.
    pub link: Option<Link>,
    /// Its sizes.
    pub requests: Option<Requests>,
    /// IDs of capabilities, and where they are \[B\].
    pub capabilities: Vec<(u8, u16)>,
    /// Extended capabilities.
    pub extended: Vec<Extended>,
    /// How much of its configuration space was read \[B\].
    pub read: u16,
    /// Its driver.
    pub driver: Option<String>,
    /// The NUMA node, where there are several.
    pub node: Option<i64>,
}

/// The functions of a machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Inventory {
    /// By address.
    pub devices: Vec<Device>,
    /// What could not be read.
    pub notes: Vec<String>,
}

impl Inventory {
    /// Decodes a snapshot.
    #[must_use]
    pub fn of(snapshot: &Snapshot) -> Self {
        let mut devices: Vec<Device> =
            snapshot.spaces.keys().filter_map(|address| device(snapshot, *address)).collect();
        let parents = parents(&devices);
        for device in &mut devices {
            device.parent = parents.get(&device.address).copied();
        }
        Self { devices, notes: snapshot.notes.clone() }
    }
    /// A function by its address.
    #[must_use]
    pub fn at(&self, address: Address) -> Option<&Device> {
        self.devices.iter().find(|device| device.address == address)
    }
}

/// The bridge above each function: the one with the fewest buses that has its bus among those below.
///
/// A bridge's buses come behind its own, so that no bridge is below itself, whatever its registers hold.
fn parents(devices: &[Device]) -> BTreeMap<Address, Address> {
    let buses = |device: &Device| Some((device.address, device.buses?));
    let bridges: Vec<_> =
        devices.iter().filter_map(buses).filter(|(at, (first, _))| *first > at.bus).collect();
    let above = |device: &Device| {
        let own = device.address;
        let near = bridges.iter().filter(|(at, _)| at.domain == own.domain);
        let holds = near.filter(|(_, (first, last))| (*first..=*last).contains(&own.bus));
        let (at, _) = holds.min_by_key(|(at, (first, last))| (last - first, *at))?;
        Some((own, *at))
    };
    devices.iter().filter_map(above).collect()
}

fn device(snapshot: &Snapshot, address: Address) -> Option<Device> {
    let host = &mut Recorded(snapshot);
    let function = Function::find(host, address).ok()?;
    let read = host.size(address).ok()?;
    let express = function.read(host, EXPRESS_CAPABILITIES).ok()?;
    let kind = express.map_or(Kind::Conventional, |word| Kind::of(word.kind()));
    let facts = snapshot.attributes.get(&address);
    let fact = |name: &str| facts?.get(name).cloned();
    let buses = function.bridge.then(|| buses(host, address)).flatten();
    let has_link = kind.is_above_its_link() || kind.is_below_its_link();
    let link = if has_link { link(host, &function) } else { None };
    Some(Device {
        address,
        parent: None,
        vendor: function.vendor,
        device: function.device,
        class: function.class,
        kind,
        buses,
        link: link.or_else(|| told_link(&fact)),
        requests: requests(host, &function),
        capabilities: function.capabilities().iter().filter_map(|(home, at)| plain(*home, *at)).collect(),
        extended: extended(host, &function),
        read,
        driver: fact("driver"),
        node: fact("numa_node").and_then(|text| text.parse().ok()).filter(|node| *node >= 0),
    })
}

fn buses(host: &mut Recorded<'_>, address: Address) -> Option<(u8, u8)> {
    let word = BusNumbers::from_raw(host.read(address, BUS_NUMBERS_OFFSET, Width::Dword).ok()?);
    (word.secondary() <= word.subordinate()).then_some((word.secondary(), word.subordinate()))
}

fn link(host: &mut Recorded<'_>, function: &Function) -> Option<Link> {
    let capabilities = function.read(host, LINK_CAPABILITIES).ok()??;
    let status = function.read(host, LINK_STATUS).ok()??;
    let second = function.read(host, LINK_CAPABILITIES_2).ok()?;
    let control = function.read(host, LINK_CONTROL_2).ok()?;
    let status_2 = function.read(host, LINK_STATUS_2).ok()?;
    let all_ones = capabilities.raw() == u32::MAX;
    let detected = status_2.map_or(0, |word| u8::from(word.two_retimers()) + u8::from(word.retimer()));
    (!all_ones).then(|| Link {
        capable: End { generation: capabilities.max_speed(), width: capabilities.max_width() },
        trained: End { generation: status.speed(), width: status.width() },
        target_generation: control.map(|word| word.target_speed()).filter(|generation| *generation != 0),
        active: capabilities.link_active_reporting().then(|| status.active()),
        can_detect_retimer: second.is_some_and(|word| word.retimer()),
        retimers_detected: detected.min(2),
        capabilities: capabilities.raw(),
        status: status.raw(),
    })
}

/// What the operating system says of a link whose registers may not be read.
fn told_link(fact: &dyn Fn(&str) -> Option<String>) -> Option<Link> {
    let end = |speed: &str, width: &str| {
        let generation = generation_of(&fact(speed)?)?;
        Some(End { generation, width: fact(width)?.parse().ok().filter(|lanes| (1..=32).contains(lanes))? })
    };
    Some(Link {
        capable: end("max_link_speed", "max_link_width")?,
        trained: end("current_link_speed", "current_link_width")?,
        target_generation: None,
        active: None,
        can_detect_retimer: false,
        retimers_detected: 0,
        capabilities: 0,
        status: 0,
    })
}

/// `16.0 GT/s PCIe`, or `8 GT/s` as older kernels write.
fn generation_of(text: &str) -> Option<u8> {
    let rate = text.split_whitespace().next()?.trim_end_matches(".0");
    let rates = ["2.5", "5", "8", "16", "32", "64", "128"];
    rates.iter().position(|known| *known == rate).and_then(|at| u8::try_from(at + 1).ok())
}

fn requests(host: &mut Recorded<'_>, function: &Function) -> Option<Requests> {
    let can = function.read(host, DEVICE_CAPABILITIES).ok()??.raw();
    let control = function.read(host, DEVICE_CONTROL).ok()??.raw();
    // sizes of PCIe Base 6.0 §7.5.3.3 and §7.5.3.4: 128 B doubled so often
    let size = |bits: u32| 128_u16.checked_shl(bits & 7).filter(|size| *size <= 4096 && *size >= 128);
    Some(Requests {
        mps_supported: size(can)?,
        mps: size(u32::from(control >> 5))?,
        mrrs: size(u32::from(control >> 12))?,
        extended_tags: (can >> 5 & 1 == 1, control >> 8 & 1 == 1),
        control,
    })
}

const fn plain(home: Home, at: u16) -> Option<(u8, u16)> {
    match home {
        Home::Capability(id) => Some((id, at)),
        _ => None,
    }
}

fn extended(host: &mut Recorded<'_>, function: &Function) -> Vec<Extended> {
    let of = |(home, offset): &(Home, u16)| {
        let Home::Extended(id) = *home else { return None };
        let vendor = (id == DVSEC).then(|| dvsec(host, function.address, *offset)).flatten();
        Some(Extended { id, offset: *offset, vendor })
    };
    function.capabilities().iter().filter_map(of).collect()
}

fn dvsec(host: &mut Recorded<'_>, address: Address, at: u16) -> Option<(u16, u16)> {
    let vendor = host.read(address, at.checked_add(4)?, Width::Word).ok()?;
    let id = host.read(address, at.checked_add(8)?, Width::Word).ok()?;
    Some(((vendor & 0xffff) as u16, (id & 0xffff) as u16))
}
