//! Checks whether a real device may be cycled; returns all reasons against it at once.

use super::Facts;
use crate::function::Function;
use crate::host::{Address, Host};
use crate::problem::{Finding, Problem};
use crate::registers::{CONTAINMENT_CONTROL, CORRECTABLE, EXPRESS};

/// The user's confirmation of the device.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Consent {
    /// The address of the device that the user has confirmed to be reset.
    pub device: Option<Address>,
    /// The serial number given with it.
    pub serial: Option<String>,
    /// The highest temperature at which a test begins \[°C\].
    pub max_celsius: i64,
}

/// Every reason not to cycle a device. Writes nothing.
#[must_use]
pub fn refusals(device: &Function, facts: &Facts, consent: &Consent) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let at = device.address;
    let mut add = |problem: Problem| found.push(problem.at(at));
    if facts.lockdown != "none" {
        add(Problem::Lockdown { mode: facts.lockdown.clone() });
    }
    if device.bridge {
        add(Problem::Bridge);
    }
    if !device.has(EXPRESS) {
        add(Problem::NoPort { said: "it has no PCI Express capability".into() });
    } else if facts.port.is_none() && !device.bridge {
        add(Problem::NoPort { said: "it is part of the root complex".into() });
    }
    if facts.is_virtual {
        add(Problem::NoPort { said: "it is a virtual function".into() });
    }
    if facts.virtual_functions > 0 {
        add(Problem::VirtualFunctions { count: facts.virtual_functions });
    }
    if let Some(driver) = facts.driver.as_deref().filter(|driver| given_away(driver)) {
        add(Problem::Passed { driver: driver.to_owned() });
    }
    if !facts.siblings.is_empty() {
        let others: Vec<String> = facts.siblings.iter().map(Address::to_string).collect();
        add(Problem::Siblings { others: others.join(", ") });
    }
    for store in &facts.stores {
        if store.root {
            add(Problem::Root { what: store.name.clone() });
        }
        for by in &store.users {
            add(Problem::InUse { what: store.name.clone(), by: by.clone() });
        }
    }
    if let Some(celsius) = facts.celsius.filter(|celsius| *celsius > consent.max_celsius) {
        add(Problem::TooHot { celsius, limit: consent.max_celsius });
    }
    found
}

/// Whether the user has confirmed this device: its address, and its serial number if it has one.
pub fn confirmation(at: Address, facts: &Facts, consent: &Consent) -> Option<Finding> {
    let serial = facts.serial.clone().unwrap_or_else(|| "none".into());
    let unconfirmed = |said: &str| {
        let (address, serial) = (at.to_string(), serial.clone());
        Some(Problem::NotConfirmed { address, serial, said: said.to_owned() }.at(at))
    };
    match (consent.device, &consent.serial) {
        (None, _) => unconfirmed("--i-know is missing"),
        (Some(known), _) if known != at => unconfirmed("--i-know names another device"),
        (_, None) => unconfirmed("--serial is missing"),
        (_, Some(given)) if *given != serial => {
            Some(Problem::WrongSerial { serial: serial.clone(), given: given.clone() }.at(at))
        }
        _ => None,
    }
}

/// Drivers that pass a device to a virtual machine or a user program.
fn given_away(driver: &str) -> bool {
    ["vfio-pci", "uio_pci_generic", "igb_uio", "xen-pciback", "pci-stub"].contains(&driver)
}

/// Conditions that may limit the results of the test.
#[must_use]
pub fn warnings(host: &mut dyn Host, kernel: &str, port: &Function, device: &Function) -> Vec<Finding> {
    let mut found = Vec::new();
    let containment = port.read(host, CONTAINMENT_CONTROL).ok().flatten();
    if containment.is_some_and(|control| control.trigger() != 0) {
        found.push(Problem::Containment.at(port.address));
    }
    if clamps(kernel) {
        found.push(Problem::Clamp { kernel: kernel.to_owned() }.at(port.address));
    }
    for (function, end) in [(port, "port"), (device, "device")] {
        if function.offset(&CORRECTABLE.place).is_none() {
            found.push(Problem::NoErrors { end: end.into() }.at(function.address));
        }
    }
    found
}

/// Linux from 6.5 on has `pcie_failed_link_retrain()`, which leaves Target Link Speed at 2.5 GT/s after slow training.
fn clamps(kernel: &str) -> bool {
    let mut numbers = kernel.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse::<u32>().ok());
    matches!((numbers.next().flatten(), numbers.next().flatten()), (Some(major), Some(minor)) if (major, minor) >= (6, 5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clamp_came_with_linux_6_5() {
        assert!(clamps("6.12.95+deb12-amd64") && clamps("6.5.0") && clamps("7.0"));
        assert!(!clamps("6.1.0-56-cloud-amd64") && !clamps("5.15") && !clamps(""));
    }
}
