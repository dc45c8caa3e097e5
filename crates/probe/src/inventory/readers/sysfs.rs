//! A live `/sys`, or a copy of one in a folder.

use crate::host::Address;
use crate::inventory::facts::{Facts, Tells};
use crate::inventory::snapshot::{HEADER, MANY, NotRead, Snapshot, WHOLE};
use crate::inventory::told::{Drive, Memory, Node, kept};
use crate::linux::entries;
use std::fs;
use std::io::Read;
use std::path::Path;

/// Maximum size of an attribute \[B\]: sysfs limits it to a page.
pub(super) const LONGEST: u64 = 4096;
/// Attributes of a function that are read, if they exist.
pub(super) const ATTRIBUTES: &[&str] = &[
    "vendor",
    "device",
    "subsystem_vendor",
    "subsystem_device",
    "class",
    "current_link_speed",
    "current_link_width",
    "max_link_speed",
    "max_link_width",
    "numa_node",
    "secondary_bus_number",
    "subordinate_bus_number",
];

impl Snapshot {
    /// Reads `sys/bus/pci/devices` below `root`: `/` for this machine, a folder for a copy of another. If `root` has
    /// no such folder, it is itself the folder of functions. NUMA nodes, CXL memories and NVMe drives are read as well.
    ///
    /// # Errors
    /// If the folder does not exist, or a copy has no functions. A function that cannot be read is reported in a note.
    pub fn of_sysfs(root: &Path) -> Result<Self, NotRead> {
        let below = root.join("sys/bus/pci/devices");
        let folder = if below.is_dir() { below } else { root.to_owned() };
        let names: Vec<Address> = entries(&folder).iter().filter_map(|name| name.parse().ok()).collect();
        if !folder.is_dir() || (names.is_empty() && root != Path::new("/")) {
            let said = "there are no functions in it: it has neither `sys/bus/pci/devices` nor folders such as \
                        `0000:01:00.0`";
            return Err(NotRead(said.into()));
        }
        let sys = root.join("sys");
        let mut found =
            Self { nodes: nodes(&sys), memories: memories(&sys), drives: drives(&sys), ..Self::default() };
        for address in names.into_iter().take(MANY) {
            let device = folder.join(address.to_string());
            match bytes(&device.join("config"), WHOLE as u64) {
                Some(space) if space.len() >= HEADER => {
                    found.spaces.insert(address, space);
                    found.attributes.insert(address, facts(&device));
                }
                _ => found.notes.push(format!("{address}: its configuration space cannot be read")),
            }
        }
        Ok(found)
    }
}

fn facts(device: &Path) -> Facts {
    let mut facts = Facts::new();
    for name in ATTRIBUTES {
        facts.tell(name, text(&device.join(name)));
    }
    // in a live tree `driver` is a link to the driver's folder, whose name is the driver's
    if let Some(driver) = fs::read_link(device.join("driver")).ok().as_deref().and_then(Path::file_name) {
        facts.tell("driver", driver.to_string_lossy());
    }
    facts
}

/// NUMA nodes, from `devices/system/node`.
fn nodes(sys: &Path) -> Vec<Node> {
    let folder = sys.join("devices/system/node");
    let of = |name: &String| {
        let node = name.strip_prefix("node")?.parse().ok()?;
        let file = |of: &str| text(&folder.join(name).join(of));
        Some(node_of(node, &file("cpulist"), &file("meminfo"), &file("distance")))
    };
    let mut found: Vec<Node> = entries(&folder).iter().filter_map(of).collect();
    found.sort_by_key(|one| one.node);
    found
}

/// A NUMA node from the contents of its files `cpulist`, `meminfo` and `distance`.
pub(super) fn node_of(node: u32, cpus: &str, memory: &str, distances: &str) -> Node {
    // `Node 0 MemTotal:       65868196 kB`
    let total = memory.lines().find_map(|line| line.split_once("MemTotal:"));
    let kib = total.and_then(|(_, said)| said.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    Node {
        node,
        cpus: kept(cpus),
        memory_bytes: kib.unwrap_or(0).saturating_mul(1024),
        distances: distances.split_whitespace().filter_map(|word| word.parse().ok()).collect(),
    }
}

/// CXL memory devices, from `bus/cxl/devices`.
fn memories(sys: &Path) -> Vec<Memory> {
    let folder = sys.join("bus/cxl/devices");
    let names = entries(&folder)
        .into_iter()
        .filter(|name| name.strip_prefix("mem").is_some_and(|number| number.parse::<u32>().is_ok()));
    let of = |name: String| {
        let device = folder.join(&name);
        let bytes = |of: &str| {
            let said = text(&device.join(of));
            said.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok()).unwrap_or(0)
        };
        let real = device.canonicalize().ok();
        let above = real.iter().flat_map(|path| path.ancestors()).filter_map(Path::file_name);
        Memory {
            address: above.filter_map(|part| part.to_str()?.parse().ok()).next(),
            volatile_bytes: bytes("ram/size"),
            persistent_bytes: bytes("pmem/size"),
            node: text(&device.join("numa_node")).parse().ok(),
            name,
        }
    };
    names.map(of).collect()
}

/// NVMe controllers, from `class/nvme`.
fn drives(sys: &Path) -> Vec<Drive> {
    let folder = sys.join("class/nvme");
    let of = |name: String| {
        let controller = folder.join(&name);
        let file = |of: &str| text(&controller.join(of));
        let own = entries(&controller).into_iter().filter(|entry| entry.starts_with(&name));
        // in units of 512 B, whatever the drive's block size (Linux, Documentation/ABI/stable/sysfs-block)
        let sectors = own.filter_map(|entry| file(&format!("{entry}/size")).parse::<u64>().ok());
        Drive {
            address: file("address").parse().ok(),
            model: kept(&file("model")),
            firmware: kept(&file("firmware_rev")),
            capacity_bytes: sectors.fold(0, u64::saturating_add).saturating_mul(512),
            name,
        }
    };
    entries(&folder).into_iter().filter(|name| name.starts_with("nvme")).map(of).collect()
}

/// The first `most` bytes of a file, or fewer if it ends before; `None` if it cannot be read.
fn bytes(path: &Path, most: u64) -> Option<Vec<u8>> {
    let mut found = Vec::new();
    fs::File::open(path).ok()?.take(most).read_to_end(&mut found).ok()?;
    Some(found)
}

/// The text of an attribute; empty if it cannot be read.
fn text(path: &Path) -> String {
    let found = bytes(path, LONGEST).and_then(|found| String::from_utf8(found).ok());
    found.map(|text| text.trim().to_owned()).unwrap_or_default()
}
