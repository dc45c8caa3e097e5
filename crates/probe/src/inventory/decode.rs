//! Decodes each function from its configuration space (kind, link, request sizes, capabilities), and builds the tree
//! of functions.

use super::device::{Device, End, Errors, Extended, Kind, Link, Requests, Subsystem, Told};
use super::facts::Facts;
use super::reading::readings;
use super::recorded::Recorded;
use super::snapshot::Snapshot;
use super::told::{Drive, Memory, Node};
use crate::function::Function;
use crate::host::{Address, Host, Width};
use crate::registers::{
    CORRECTABLE, DEVICE_CAPABILITIES, DEVICE_CONTROL, EXPRESS_CAPABILITIES, Home, LANE_ERRORS,
    LINK_CAPABILITIES, LINK_CAPABILITIES_2, LINK_CONTROL_2, LINK_STATUS, LINK_STATUS_2, UNCORRECTABLE,
};
use lanetwin_pcie::spec::config_words::{BUS_NUMBERS_OFFSET, BusNumbers};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// ID of the Designated Vendor-Specific Extended Capability (DVSEC), PCIe Base 6.0 §7.9.6.
const DVSEC: u16 = 0x0023;

/// Offset of the subsystem IDs in the header of an endpoint \[B\].
const SUBSYSTEM_OFFSET: u16 = 0x2c;
/// The capability that holds the subsystem IDs of a bridge.
const OF_BRIDGE: Home = Home::Capability(0x0d);

/// The functions of a machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Inventory {
    /// The functions, sorted by address.
    pub devices: Vec<Device>,
    /// NUMA nodes.
    pub nodes: Vec<Node>,
    /// CXL memory devices.
    pub memories: Vec<Memory>,
    /// NVMe controllers.
    pub drives: Vec<Drive>,
    /// Notes on what could not be read.
    pub notes: Vec<String>,
}

impl Inventory {
    /// Decodes a snapshot.
    #[must_use]
    pub fn of(snapshot: &Snapshot) -> Self {
        let addresses: BTreeSet<Address> =
            snapshot.spaces.keys().chain(snapshot.attributes.keys()).copied().collect();
        let mut devices: Vec<Device> =
            addresses.into_iter().filter_map(|address| device(snapshot, address)).collect();
        let parents = parents(&devices);
        for device in &mut devices {
            device.parent = parents.get(&device.address).copied();
        }
        Self {
            devices,
            nodes: snapshot.nodes.clone(),
            memories: snapshot.memories.clone(),
            drives: snapshot.drives.clone(),
            notes: snapshot.notes.clone(),
        }
    }
    /// A function by its address.
    #[must_use]
    pub fn at(&self, address: Address) -> Option<&Device> {
        self.devices.iter().find(|device| device.address == address)
    }
}

/// The bridge above each function: of the bridges whose secondary to subordinate buses include the function's bus, the
/// one with the fewest buses.
///
/// A bridge whose secondary bus number is not above its own bus number is ignored, so that no bridge is below itself,
/// whatever its registers hold.
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

/// Decodes a function from its configuration space; what the space does not have comes from its attributes.
fn device(snapshot: &Snapshot, address: Address) -> Option<Device> {
    let none = Facts::new();
    let told = Told(snapshot.attributes.get(&address).unwrap_or(&none));
    if !snapshot.spaces.contains_key(&address) {
        return Some(told.device(address));
    }
    let host = &mut Recorded(snapshot);
    let function = Function::find(host, address).ok()?;
    let read = host.size(address).ok()?;
    let express = function.read(host, EXPRESS_CAPABILITIES).ok()?;
    let kind = express.map_or_else(|| told.kind(), |word| Kind::of(word.kind()));
    let buses = function.bridge.then(|| buses(host, address)).flatten();
    let has_link = kind.is_above_its_link() || kind.is_below_its_link();
    let has_second = express.is_some_and(|word| word.version() >= 2);
    let link = if has_link { link(host, &function, has_second) } else { None };
    let own = errors(host, &function);
    let said = told.device(address);
    Some(Device {
        vendor: function.vendor,
        device: function.device,
        subsystem: subsystem(host, &function).or(said.subsystem),
        class: function.class,
        kind,
        buses: buses.or(said.buses),
        link: link.or(said.link),
        requests: requests(host, &function).or(said.requests),
        capabilities: function.capabilities().iter().filter_map(|(home, at)| plain(*home, *at)).collect(),
        extended: extended(host, &function),
        registers: readings(host, &function, kind.has_link()),
        read,
        errors: Errors {
            uncorrectable: own.uncorrectable.or(said.errors.uncorrectable),
            correctable: own.correctable.or(said.errors.correctable),
            lanes: own.lanes.or(said.errors.lanes),
        },
        ..said
    })
}

/// The subsystem of a function. Bridges have it in a capability (PCI Code and ID Assignment Specification 1.16, §2),
/// all others in their header (PCIe Base 6.0 §7.5.1.2.3).
fn subsystem(host: &mut Recorded<'_>, function: &Function) -> Option<Subsystem> {
    let at =
        if function.bridge { behind(function, place(function, OF_BRIDGE)?, 4, 4)? } else { SUBSYSTEM_OFFSET };
    let word = host.read(function.address, at, Width::Dword).ok()?;
    Subsystem::of((word & 0xffff) as u16, (word >> 16) as u16)
}

fn place(function: &Function, home: Home) -> Option<u16> {
    function.capabilities().iter().find(|(known, _)| *known == home).map(|(_, at)| *at)
}

/// Offset in configuration space of a register of `bytes` bytes at `offset` in the capability at `at`; `None` if the
/// next capability begins before the register's end.
fn behind(function: &Function, at: u16, offset: u16, bytes: u16) -> Option<u16> {
    function.room(at).is_none_or(|room| offset + bytes <= room).then(|| at.checked_add(offset)).flatten()
}

/// The logged errors; a register that reads as all ones does not exist.
fn errors(host: &mut Recorded<'_>, function: &Function) -> Errors {
    let there = |word: u32| Some(word).filter(|word| *word != u32::MAX);
    Errors {
        uncorrectable: function.read(host, UNCORRECTABLE).ok().flatten().and_then(|word| there(word.raw())),
        correctable: function.read(host, CORRECTABLE).ok().flatten().and_then(|word| there(word.raw())),
        lanes: function.read(host, LANE_ERRORS).ok().flatten().and_then(|word| there(word.lanes())),
    }
}

fn buses(host: &mut Recorded<'_>, address: Address) -> Option<(u8, u8)> {
    let word = BusNumbers::from_raw(host.read(address, BUS_NUMBERS_OFFSET, Width::Dword).ok()?);
    (word.secondary() <= word.subordinate()).then_some((word.secondary(), word.subordinate()))
}

/// The link registers. A PCI Express capability of version 1 has none of the second set (Link Capabilities 2 and so
/// on); the bytes at their offsets do not belong to it.
fn link(host: &mut Recorded<'_>, function: &Function, has_second: bool) -> Option<Link> {
    let capabilities = function.read(host, LINK_CAPABILITIES).ok()??;
    let status = function.read(host, LINK_STATUS).ok()??;
    let second = function.read(host, LINK_CAPABILITIES_2).ok()?.filter(|_| has_second);
    let control = function.read(host, LINK_CONTROL_2).ok()?.filter(|_| has_second);
    let status_2 = function.read(host, LINK_STATUS_2).ok()?.filter(|_| has_second);
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

fn requests(host: &mut Recorded<'_>, function: &Function) -> Option<Requests> {
    let can = function.read(host, DEVICE_CAPABILITIES).ok()??.raw();
    let control = function.read(host, DEVICE_CONTROL).ok()??.raw();
    // sizes of PCIe Base 6.0 §7.5.3.3 and §7.5.3.4: 128 B times a power of two
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
        let vendor = (id == DVSEC).then(|| dvsec(host, function, *offset)).flatten();
        Some(Extended { id, offset: *offset, vendor })
    };
    function.capabilities().iter().filter_map(of).collect()
}

fn dvsec(host: &mut Recorded<'_>, function: &Function, at: u16) -> Option<(u16, u16)> {
    let vendor = host.read(function.address, behind(function, at, 4, 2)?, Width::Word).ok()?;
    let id = host.read(function.address, behind(function, at, 8, 2)?, Width::Word).ok()?;
    Some(((vendor & 0xffff) as u16, (id & 0xffff) as u16))
}
