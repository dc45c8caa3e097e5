//! The block devices of a device, and their users: mounts, swap, arrays, volumes, pools, and the root file system.

use serde::Serialize;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A block device or partition of a device, and its users.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Store {
    /// Its name: `nvme0n1p2`.
    pub name: String,
    /// Its users: `mounted on /data`, `swap`, `md0 (md)`.
    pub users: Vec<String>,
    /// Whether the root file system is on it, at whatever depth.
    pub root: bool,
}

/// `O_EXCL`: opening a block device with it fails while a part of the kernel has claimed the device.
const EXCLUSIVE: i32 = 0o200;
/// `EBUSY`.
const BUSY: i32 = 16;

/// The block devices below a function, with their partitions.
pub fn stores(root: &Path, function: &Path) -> Vec<Store> {
    let mounts = Mounts::read(root);
    block_devices(root, function).iter().flat_map(|name| of_disk(root, &mounts, name)).collect()
}

/// A block device with its partitions.
pub(super) fn stores_of(root: &Path, name: &str) -> Vec<Store> {
    of_disk(root, &Mounts::read(root), name)
}

fn of_disk(root: &Path, mounts: &Mounts, name: &str) -> Vec<Store> {
    let folder = root.join("sys/class/block").join(name);
    let folder = folder.canonicalize().unwrap_or(folder);
    let partition = |entry: &String| folder.join(entry).join("partition").exists();
    let mut names = entries(&folder);
    names.retain(partition);
    names.insert(0, name.to_owned());
    let mut found: Vec<Store> = names.iter().map(|name| store(root, mounts, name)).collect();
    // a claim on a partition also claims the disk, so this is a sign of an unknown user only if none is known
    if found.iter().all(|store| store.users.is_empty()) {
        for store in found.iter_mut().filter(|store| claimed(root, &store.name)) {
            store.users.push("something in the kernel has it to itself, as ZFS does".into());
        }
    }
    found
}

/// The names of whole block devices whose folder, or whose controller's folder, lies below that of a function.
fn block_devices(root: &Path, function: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let function = function.canonicalize().unwrap_or_else(|_| function.to_owned());
    let class = root.join("sys/class/block");
    for name in entries(&class) {
        let Ok(folder) = class.join(&name).canonicalize() else { continue };
        if folder.starts_with(&function) && !folder.join("partition").exists() {
            found.insert(name);
        }
    }
    // with multipath a namespace belongs to its subsystem, not to the controller
    let subsystems = root.join("sys/class/nvme-subsystem");
    for controller in entries(&function.join("nvme")) {
        for subsystem in entries(&subsystems).into_iter().map(|name| subsystems.join(name)) {
            if subsystem.join(&controller).exists() {
                let heads = entries(&subsystem).into_iter();
                found.extend(heads.filter(|name| class.join(name).exists()));
            }
        }
    }
    // a block device for one controller's path to a shared namespace is hidden, and cannot be opened
    let hidden = |name: &String| {
        fs::read_to_string(class.join(name).join("hidden")).is_ok_and(|text| text.trim() == "1")
    };
    found.retain(|name| !hidden(name));
    found
}

fn store(root: &Path, mounts: &Mounts, name: &str) -> Store {
    let folder = root.join("sys/class/block").join(name);
    let number = fs::read_to_string(folder.join("dev")).unwrap_or_default().trim().to_owned();
    let mut users: Vec<String> =
        mounts.of(&number, name).map(|point| format!("mounted on {point}")).collect();
    users.extend(
        mounts.swaps.iter().filter(|swap| swap.rsplit('/').next() == Some(name)).map(|_| "swap".into()),
    );
    let mut on_root = mounts.of(&number, name).any(|point| point == "/");
    for holder in entries(&folder.join("holders")) {
        users.push(format!("{holder} ({})", kind_of(root, &holder)));
        let above = store(root, mounts, &holder);
        on_root |= above.root;
        users.extend(above.users.into_iter().map(|user| format!("{user}, through {holder}")));
    }
    users.extend(
        mounts
            .openers
            .iter()
            .filter(|(_, device)| device == name)
            .map(|(process, _)| format!("open in process {process}")),
    );
    Store { name: name.to_owned(), users, root: on_root }
}

/// The kind of a holder, the block device that is built on another one.
fn kind_of(root: &Path, holder: &str) -> &'static str {
    let folder = root.join("sys/class/block").join(holder);
    let uuid = fs::read_to_string(folder.join("dm/uuid")).unwrap_or_default();
    match () {
        () if folder.join("md").exists() => "md",
        () if uuid.starts_with("LVM-") => "LVM",
        () if uuid.starts_with("CRYPT-") => "dm-crypt",
        () if uuid.starts_with("mpath-") => "multipath",
        () if folder.join("dm").exists() => "device mapper",
        () if folder.join("bcache").exists() || holder.starts_with("bcache") => "bcache",
        () => "a device above it",
    }
}

/// Whether the kernel has claimed a block device.
fn claimed(root: &Path, name: &str) -> bool {
    let path = root.join("dev").join(name);
    let opened = fs::OpenOptions::new().read(true).custom_flags(EXCLUSIVE).open(path);
    opened.is_err_and(|error| error.raw_os_error() == Some(BUSY))
}

/// Names in a folder, sorted; empty if there is no such folder.
pub fn entries(folder: &Path) -> Vec<String> {
    let Ok(read) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        read.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// Mounts, swap and open files of all processes.
struct Mounts {
    /// Device number, source and mount point.
    mounts: Vec<(String, String, String)>,
    swaps: Vec<String>,
    /// Processes and the devices that they have open.
    openers: BTreeSet<(String, String)>,
}

impl Mounts {
    /// Fields of `/proc/self/mountinfo` (proc(5)): ID, parent, major:minor, root, mount point, options, … `-`, type,
    /// source, options. It is read for all processes that are visible, since each mount namespace has its own.
    fn read(root: &Path) -> Self {
        let proc = root.join("proc");
        let (mut mounts, mut openers) = (BTreeSet::new(), BTreeSet::new());
        let processes = entries(&proc).into_iter().filter(|name| name.bytes().all(|b| b.is_ascii_digit()));
        for process in processes.chain(["self".to_owned()]) {
            let text = fs::read_to_string(proc.join(&process).join("mountinfo")).unwrap_or_default();
            mounts.extend(text.lines().filter_map(mount));
            // this process is also among the others, by its ID
            if process == "self" {
                continue;
            }
            let open = proc.join(&process).join("fd");
            let devices = entries(&open).into_iter().filter_map(|fd| device_name(&open.join(fd)));
            openers.extend(devices.map(|device| (process.clone(), device)));
        }
        let swaps = fs::read_to_string(proc.join("swaps")).unwrap_or_default();
        let swaps = swaps.lines().skip(1).filter_map(|line| line.split_whitespace().next());
        Self { mounts: mounts.into_iter().collect(), swaps: swaps.map(str::to_owned).collect(), openers }
    }
    /// The mount points of a block device. A Btrfs mount has a device number of its own, but the device as its source.
    fn of<'a>(&'a self, number: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
        let on = move |(dev, source, _): &&(String, String, String)| {
            (!number.is_empty() && dev == number) || source.strip_prefix("/dev/") == Some(name)
        };
        self.mounts.iter().filter(on).map(|(_, _, point)| point.as_str())
    }
}

/// The name below `/dev` of an open file; `None` if it is elsewhere.
fn device_name(link: &Path) -> Option<String> {
    let target = fs::read_link(link).ok()?;
    Some(target.strip_prefix("/dev").ok()?.to_str()?.to_owned())
}

fn mount(line: &str) -> Option<(String, String, String)> {
    let (before, after) = line.split_once(" - ")?;
    let fields: Vec<&str> = before.split(' ').collect();
    let source = after.split(' ').nth(1)?;
    Some(((*fields.get(2)?).to_owned(), source.to_owned(), (*fields.get(4)?).to_owned()))
}
