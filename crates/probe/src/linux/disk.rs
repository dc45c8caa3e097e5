//! A block device to be written: its properties, and what uses it.

use super::storage::{Store, entries, stores_of};
use serde::Serialize;
use std::fs;
use std::path::Path;

/// A block device.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Disk {
    /// Its name: `nvme0n1`.
    pub name: String,
    /// Why it is not a whole drive, if it is a partition or is made of other devices; `None` for a whole drive.
    pub made_of: Option<String>,
    /// The serial number of the drive; for a loop device its file.
    pub serial: Option<String>,
    /// Its model.
    pub model: String,
    /// Its size \[B\].
    pub bytes: u64,
    /// Whether the kernel marks it read-only.
    pub read_only: bool,
    /// The device and its partitions, with the users of each.
    pub stores: Vec<Store>,
}

/// Reads the properties of a block device; `None` if there is none of this name.
#[must_use]
pub fn disk(root: &Path, name: &str) -> Option<Disk> {
    let folder = root.join("sys/class/block").join(name);
    let text = |file: &str| fs::read_to_string(folder.join(file)).unwrap_or_default().trim().to_owned();
    folder.exists().then(|| Disk {
        name: name.to_owned(),
        made_of: made_of(&folder),
        serial: serial(&folder),
        model: text("device/model"),
        // in units of 512 B, whatever the drive's block size (Linux, Documentation/ABI/stable/sysfs-block)
        bytes: text("size").parse::<u64>().unwrap_or(0).saturating_mul(512),
        read_only: text("ro") == "1",
        stores: stores_of(root, name),
    })
}

fn made_of(folder: &Path) -> Option<String> {
    let said = match () {
        () if folder.join("partition").exists() => "it is a partition",
        () if folder.join("md").exists() => "it is an array (md)",
        () if folder.join("dm").exists() => "it is a volume (device mapper)",
        () if folder.join("bcache").exists() => "it is a cache (bcache)",
        () if !entries(&folder.join("slaves")).is_empty() => "it is made of other devices",
        () => return None,
    };
    Some(said.to_owned())
}

/// The serial number, from the first of these that has one: NVMe or MMC, virtio, SCSI (page 80h of vital product data,
/// SPC-4 §7.8.15), the file of a loop device.
fn serial(folder: &Path) -> Option<String> {
    let text = |file: &str| fs::read_to_string(folder.join(file)).ok();
    let vpd = || {
        let page = fs::read(folder.join("device/vpd_pg80")).ok()?;
        Some(String::from_utf8_lossy(page.get(4..)?).into_owned())
    };
    let found = [text("device/serial"), text("serial"), vpd(), text("loop/backing_file")];
    found
        .into_iter()
        .flatten()
        .map(|said| said.trim().trim_matches('\0').to_owned())
        .find(|said| !said.is_empty())
}
