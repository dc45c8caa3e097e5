//! Problems of a machine that can be seen in its registers, with evidence, likely cause and remedy.

use super::decode::Inventory;
use super::device::{Device, End, Kind};
use crate::host::Address;
use serde::Serialize;

/// The severity of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Gravity {
    /// Performance is lost, or errors are logged.
    Warning,
    /// For information.
    Note,
}

/// A register and what it holds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Evidence {
    /// The function.
    pub address: Address,
    /// The name of the register.
    pub register: &'static str,
    /// Its value, in hexadecimal.
    pub value: String,
    /// Meaning of the value.
    pub reads: String,
}

/// A link that runs below its capabilities.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Shortfall {
    /// Speed and width that both ends support.
    pub capable: End,
    /// Current speed and width.
    pub trained: End,
    /// The Maximum Payload Size of the function below it \[B\]; 256 if it is unknown.
    pub mps: u16,
}

/// A finding.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Diagnosis {
    /// `HW101`.
    pub code: &'static str,
    /// Its severity.
    pub severity: Gravity,
    /// The function that it concerns.
    pub address: Address,
    /// The finding, in a sentence.
    pub message: String,
    /// The registers that show it.
    pub evidence: Vec<Evidence>,
    /// The likely cause.
    pub cause: String,
    /// What to do.
    pub remedy: String,
    /// Speed and width that the link lacks; the lost throughput can be computed from them.
    pub shortfall: Option<Shortfall>,
}

/// Finds all problems.
#[must_use]
pub fn diagnose(inventory: &Inventory) -> Vec<Diagnosis> {
    let mut found = Vec::new();
    for device in &inventory.devices {
        found.extend(downtrained(inventory, device));
        found.extend(payload(inventory, device));
        found.extend(retimer(device));
        found.extend(errors(device));
    }
    found.sort_by_key(|one| (one.severity, one.code, one.address));
    found
}

/// The port at the other end of a function's link. `None` for all functions of a device but function 0, so that each
/// link is examined once.
fn ends<'i>(inventory: &'i Inventory, below: &'i Device) -> Option<&'i Device> {
    let above = inventory.at(below.parent?)?;
    let is_link = above.kind.is_above_its_link() && below.kind.is_below_its_link();
    (is_link && below.address.function == 0).then_some(above)
}

fn downtrained(inventory: &Inventory, below: &Device) -> Option<Diagnosis> {
    let above = ends(inventory, below)?;
    let (top, bottom) = (above.link.as_ref()?, below.link.as_ref()?);
    let capable = End {
        generation: top.capable.generation.min(bottom.capable.generation),
        width: top.capable.width.min(bottom.capable.width),
    };
    let trained = bottom.trained;
    let (slow, narrow) = (trained.generation < capable.generation, trained.width < capable.width);
    if trained.generation == 0 || trained.width == 0 || !(slow || narrow) {
        return None;
    }
    let told = top.target_generation.filter(|generation| slow && *generation < capable.generation);
    let (code, cause, remedy) = match (slow, narrow, told) {
        (_, _, Some(generation)) => (
            "HW103",
            format!(
                "Target Link Speed of the port is generation {generation}: firmware or software asks for no more"
            ),
            "look for a limit of the slot's speed in the firmware's setup, or raise the target and retrain"
                .to_owned(),
        ),
        (true, false, None) => (
            "HW101",
            "the link fell back: equalisation at the higher speed failed, or was not tried".to_owned(),
            "reseat the device, try another slot or cable, look at errors on the way (`lanetwin link cycle`)"
                .to_owned(),
        ),
        _ => (
            "HW102",
            "lanes are not connected, are dirty or broken, or the slot is divided (bifurcation)".to_owned(),
            "reseat the device, clean the contacts, compare the firmware's bifurcation with the slot"
                .to_owned(),
        ),
    };
    let evidence = [(above, top), (below, bottom)].into_iter().flat_map(|(device, link)| {
        let words = [
            ("Link Capabilities", hex(link.capabilities, 8), said(link.capable)),
            ("Link Status", hex(u32::from(link.status), 4), said(link.trained)),
        ];
        words.map(|(register, value, reads)| Evidence { address: device.address, register, value, reads })
    });
    Some(Diagnosis {
        code,
        severity: Gravity::Warning,
        address: below.address,
        message: format!("its link runs at {}, and both ends can do {}", said(trained), said(capable)),
        evidence: evidence.collect(),
        cause,
        remedy,
        shortfall: Some(Shortfall { capable, trained, mps: below.requests.map_or(256, |sizes| sizes.mps) }),
    })
}

/// Finds an endpoint whose Maximum Payload Size is below 256 B although it and all functions above it support more.
fn payload(inventory: &Inventory, device: &Device) -> Option<Diagnosis> {
    let sizes = device.requests.filter(|_| device.kind == Kind::Endpoint)?;
    ends(inventory, device)?;
    let (mut least, mut at) = (sizes.mps_supported, device);
    // a chain of bridges has at most one bridge for each of the 256 buses, whatever the registers hold
    for _ in 0..256 {
        let Some(above) = at.parent.and_then(|parent| inventory.at(parent)) else { break };
        least = least.min(above.requests.map_or(least, |own| own.mps_supported));
        at = above;
    }
    (sizes.mps < least && sizes.mps < 256).then(|| Diagnosis {
        code: "HW104",
        severity: Gravity::Warning,
        address: device.address,
        message: format!("Maximum Payload Size is {} B, and everything above it supports {least} B", sizes.mps),
        evidence: vec![Evidence {
            address: device.address,
            register: "Device Control",
            value: hex(u32::from(sizes.control), 4),
            reads: format!("MPS {} B, MRRS {} B", sizes.mps, sizes.mrrs),
        }],
        cause: "the kernel leaves what the firmware sets, and another device of the hierarchy may support no more".into(),
        remedy: "start Linux with `pci=pcie_bus_safe` or `pci=pcie_bus_perf`".into(),
        shortfall: None,
    })
}

fn retimer(device: &Device) -> Option<Diagnosis> {
    let link = device.link.as_ref().filter(|_| device.kind.is_above_its_link())?;
    (link.retimers_detected > 0).then(|| Diagnosis {
        code: "HW201",
        severity: Gravity::Note,
        address: device.address,
        message: format!(
            "{} on the link below it",
            if link.retimers_detected > 1 { "two retimers" } else { "a retimer" }
        ),
        evidence: vec![Evidence {
            address: device.address,
            register: "Link Status 2",
            value: String::new(),
            reads: "Retimer Presence Detected".into(),
        }],
        cause: "the channel is longer than one without a retimer may be".into(),
        remedy: "none is needed; put it into the link's `via` of a scenario".into(),
        shortfall: None,
    })
}

/// Errors that a function has logged (AER), and lanes with errors.
fn errors(device: &Device) -> Vec<Diagnosis> {
    let corrected = device.errors.correctable.filter(|word| word & OF_THE_LINK != 0);
    // Unsupported Request (bit 20) is ignored, since every scan of an empty slot causes it
    let uncorrected = device.errors.uncorrectable.filter(|word| word & !(1 << 20) != 0);
    let lanes = device.errors.lanes.filter(|word| *word != 0);
    let found = [
        corrected.map(|word| Logged {
            code: "HW105",
            register: "Correctable Error Status",
            word,
            message: "errors of its link were corrected by replay",
            cause: "bits are lost on the channel: loss, crosstalk, a bad contact",
            remedy: "clear the status, and look again under load; `lanetwin link cycle` counts them",
        }),
        uncorrected.map(|word| Logged {
            code: "HW106",
            register: "Uncorrectable Error Status",
            word,
            message: "errors that nothing corrected are logged",
            cause: "a packet was lost or malformed, or the link went down",
            remedy: "look at the kernel's log for AER, and clear the status",
        }),
        lanes.map(|word| Logged {
            code: "HW107",
            register: "Lane Error Status",
            word,
            message: "lanes of its link have logged errors",
            cause: "these lanes lose more than the others: a contact, a trace, a cable",
            remedy: "reseat the device and look whether the same lanes come again",
        }),
    ];
    found.into_iter().flatten().map(|logged| logged.diagnosis(device.address)).collect()
}

/// Receiver Error, Bad TLP, Bad DLLP, REPLAY_NUM Rollover and Replay Timer Timeout (PCIe Base 6.0 §7.8.4.5).
const OF_THE_LINK: u32 = 1 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 12;

/// An error register with some bits set.
struct Logged {
    code: &'static str,
    register: &'static str,
    word: u32,
    message: &'static str,
    cause: &'static str,
    remedy: &'static str,
}

impl Logged {
    fn diagnosis(self, address: Address) -> Diagnosis {
        let bits = self.word.count_ones();
        Diagnosis {
            code: self.code,
            severity: Gravity::Warning,
            address,
            message: self.message.to_owned(),
            evidence: vec![Evidence {
                address,
                register: self.register,
                value: hex(self.word, 8),
                reads: if bits == 1 { "1 bit is set".into() } else { format!("{bits} bits are set") },
            }],
            cause: self.cause.to_owned(),
            remedy: self.remedy.to_owned(),
            shortfall: None,
        }
    }
}

/// A register in hexadecimal; empty if it is 0, as it is for a function that is known from a text only.
fn hex(word: u32, digits: usize) -> String {
    if word == 0 { String::new() } else { format!("{word:0digits$x}") }
}

fn said(end: End) -> String {
    let rate = match end.generation {
        1 => "2.5 GT/s",
        2 => "5 GT/s",
        3 => "8 GT/s",
        4 => "16 GT/s",
        5 => "32 GT/s",
        6 => "64 GT/s",
        _ => "an unknown speed",
    };
    format!("{rate} x{}", end.width)
}
