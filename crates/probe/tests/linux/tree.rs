//! A machine of files: the part of sysfs and procfs that the probe reads.

use lanetwin_probe::fake::Sample;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A machine of files, removed when it is dropped.
pub struct Tree(PathBuf);

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Where the drive of the sample is.
pub const DRIVE: &str = "sys/devices/pci0000:00/0000:00:1c.0/0000:01:00.0";

impl Tree {
    /// A port with a drive that nobody uses.
    pub fn new() -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("tree-{}-{number}", std::process::id());
        let tree = Self(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name));
        let spaces = Sample::default().spaces();
        fs::create_dir_all(tree.path("sys/bus/pci/devices")).expect("a file of the tree");
        for (address, folder) in
            [(Sample::PORT, "sys/devices/pci0000:00/0000:00:1c.0"), (Sample::DEVICE, DRIVE)]
        {
            tree.bytes(&format!("{folder}/config"), &spaces[&address]);
            symlink(tree.path(folder), tree.path(&format!("sys/bus/pci/devices/{address}")))
                .expect("a file of the tree");
        }
        tree.text("proc/sys/kernel/osrelease", "6.1.0-test\n");
        tree.text("proc/swaps", "Filename Type Size Used Priority\n");
        tree.text("proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
        tree.text("sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
        tree.text("sys/bus/pci/drivers/nvme/bind", "");
        tree.text("sys/bus/pci/drivers/nvme/unbind", "");
        tree.text(&format!("{DRIVE}/nvme/nvme0/serial"), "S123  \n");
        tree.text(&format!("{DRIVE}/nvme/nvme0/hwmon1/temp1_input"), "41850\n");
        tree.block("nvme0n1", &format!("{DRIVE}/nvme/nvme0/nvme0n1"), "259:0");
        tree.text(&format!("{DRIVE}/nvme/nvme0/nvme0n1/nvme0n1p1/partition"), "1\n");
        tree.block("nvme0n1p1", &format!("{DRIVE}/nvme/nvme0/nvme0n1/nvme0n1p1"), "259:1");
        tree
    }
    /// The folder that stands for `/`.
    pub fn root(&self) -> &Path {
        &self.0
    }
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
    /// Writes a file, with its folders.
    pub fn text(&self, name: &str, text: &str) {
        self.bytes(name, text.as_bytes());
    }
    fn bytes(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a file of the tree")).expect("a file of the tree");
        fs::write(path, bytes).expect("a file of the tree");
    }
    /// A block device or partition.
    pub fn block(&self, name: &str, folder: &str, number: &str) {
        self.text(&format!("{folder}/dev"), &format!("{number}\n"));
        let link = self.path("sys/class/block").join(name);
        fs::create_dir_all(link.parent().expect("a file of the tree")).expect("a file of the tree");
        symlink(self.path(folder), link).expect("a file of the tree");
    }
    /// Something above a block device.
    pub fn holder(&self, of: &str, name: &str, number: &str, file: &str, text: &str) {
        let folder = format!("sys/devices/virtual/block/{name}");
        self.block(name, &folder, number);
        self.text(&format!("{folder}/{file}"), text);
        let holders =
            self.path("sys/class/block").join(of).canonicalize().expect("a file of the tree").join("holders");
        fs::create_dir_all(&holders).expect("a file of the tree");
        fs::write(holders.join(name), "").expect("a file of the tree");
    }
    /// A link of a file system.
    pub fn link(&self, name: &str, target: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a file of the tree")).expect("a file of the tree");
        symlink(target, path).expect("a file of the tree");
    }
}
