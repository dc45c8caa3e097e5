//! Properties of a device that are checked before anything is changed.

use super::Linux;
use super::storage::{Store, entries, stores};
use crate::function::Function;
use crate::host::{Address, Host, Width};
use crate::registers::SERIAL;
use std::fs;
use std::path::Path;

/// Properties of a device.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    /// The port above it.
    pub port: Option<Address>,
    /// The driver.
    pub driver: Option<String>,
    /// The serial number: that of the controller, otherwise that of the Device Serial Number capability.
    pub serial: Option<String>,
    /// Other functions below the same port.
    pub siblings: Vec<Address>,
    /// Number of virtual functions that are enabled.
    pub virtual_functions: u64,
    /// Whether it is a virtual function itself.
    pub is_virtual: bool,
    /// Lockdown mode of the kernel: `none`, `integrity`, `confidentiality`.
    pub lockdown: String,
    /// Temperature of the warmest sensor \[°C\].
    pub celsius: Option<i64>,
    /// Its block devices, and their users.
    pub stores: Vec<Store>,
}

impl Facts {
    /// Reads the properties of a device; changes nothing.
    #[must_use]
    pub fn of(linux: &mut Linux, device: &Function) -> Self {
        let folder = linux.file_of(device.address, "");
        let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        let parent = real.parent().map(Path::to_owned);
        let port = parent.as_deref().and_then(Path::file_name).and_then(|name| name.to_str()?.parse().ok());
        let of_parent = |path: &Path| -> Vec<Address> {
            entries(path).iter().filter_map(|name| name.parse().ok()).collect()
        };
        let siblings = match (&parent, port) {
            (Some(parent), Some(_)) => {
                of_parent(parent).into_iter().filter(|other| *other != device.address).collect()
            }
            _ => Vec::new(),
        };
        let driver = folder.join("driver").canonicalize().ok();
        let driver = driver.and_then(|path| Some(path.file_name()?.to_str()?.to_owned()));
        let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
        Self {
            port,
            driver,
            serial: serial(linux, device, &real),
            siblings,
            virtual_functions: number("sriov_numvfs").unwrap_or(0),
            is_virtual: folder.join("physfn").exists(),
            lockdown: lockdown(linux.root()),
            celsius: celsius(&real),
            stores: stores(linux.root(), &folder),
        }
    }
}

fn serial(linux: &mut Linux, device: &Function, folder: &Path) -> Option<String> {
    let controllers = entries(&folder.join("nvme"));
    let said = controllers
        .iter()
        .find_map(|controller| fs::read_to_string(folder.join("nvme").join(controller).join("serial")).ok());
    let said = said.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    said.or_else(|| {
        let (_, at) = device.capabilities().iter().find(|(home, _)| *home == SERIAL)?;
        let [low, high] = [4, 8].map(|step| linux.read(device.address, at + step, Width::Dword).ok());
        Some(format!("{:08x}{:08x}", high?, low?))
    })
}

/// The lockdown mode: the word in brackets, as in `none [integrity] confidentiality`.
fn lockdown(root: &Path) -> String {
    let text = fs::read_to_string(root.join("sys/kernel/security/lockdown")).unwrap_or_default();
    let chosen = text.split('[').nth(1).and_then(|rest| rest.split(']').next());
    chosen.unwrap_or("none").to_owned()
}

/// Temperature of the warmest sensor below a function \[°C\], from `hwmon*/temp1_input` \[m°C\].
fn celsius(folder: &Path) -> Option<i64> {
    let mut folders = vec![folder.to_owned()];
    folders.extend(entries(&folder.join("nvme")).iter().map(|name| folder.join("nvme").join(name)));
    let mut sensors = Vec::new();
    for folder in folders {
        sensors.extend(
            entries(&folder)
                .into_iter()
                .filter(|name| name.starts_with("hwmon"))
                .map(|name| folder.join(name)),
        );
        let nested = folder.join("hwmon");
        sensors.extend(entries(&nested).into_iter().map(|name| nested.join(name)));
    }
    let reads = |sensor: &std::path::PathBuf| {
        fs::read_to_string(sensor.join("temp1_input")).ok()?.trim().parse::<i64>().ok()
    };
    sensors.iter().filter_map(reads).max().map(|millis| millis / 1000)
}
