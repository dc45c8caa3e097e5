//! The drive's link as its registers show it.

use crate::drive::Drive;
use lanetwin_plan::{End, LinkPlan};
use lanetwin_ports::Value;
use lanetwin_units::{Generation, Width};

/// Properties of a drive's link, seen from the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkSeen {
    /// Capability of the drive's port.
    pub capable: (Generation, Width),
    /// Present generation and width.
    pub trained: (Generation, Width),
    /// The largest Maximum Payload Size that the drive's port supports \[B\].
    pub payload: u16,
    /// Whether both ends use the common clock of the slot.
    pub has_common_clock: bool,
    /// Number of retimers in the link.
    pub retimers: usize,
}

impl LinkSeen {
    /// Of a drive. Returns `None` if it is not on a PCI Express link.
    #[must_use]
    pub fn of(drive: &Drive) -> Option<Self> {
        let component = drive.pair.target;
        let plan = &drive.variant.machine[component];
        let ends = (0..plan.ports.len()).map(|port| End { component, port });
        let link: &LinkPlan = ends.filter_map(|end| drive.variant.link_of(end)).next()?;
        let count = |name: &str| match plan.params.0.get(name) {
            Some(Value::Count(count)) => Some(*count),
            _ => None,
        };
        let most = count("port.gen").and_then(Generation::from_number).unwrap_or(link.generation);
        let lanes = |most: u64| Width::ALL.iter().copied().rfind(|width| width.lanes() <= most);
        let payload = match plan.params.0.get("port.mps") {
            Some(Value::Size(bytes)) => u16::try_from(bytes.0).unwrap_or(link.mps),
            _ => link.mps,
        };
        Some(Self {
            capable: (most, count("port.width").and_then(lanes).unwrap_or(link.width)),
            trained: (link.generation, link.width),
            payload,
            has_common_clock: link.clocking == lanetwin_pcie::spec::Clocking::Common,
            retimers: link.retimers(),
        })
    }
    /// The payload as registers have it: 128 B doubled so often.
    #[must_use]
    pub const fn payload_code(&self) -> u8 {
        let code = (self.payload / 128).checked_ilog2();
        match code {
            Some(code) if code < 6 => code as u8,
            Some(_) => 5,
            None => 0,
        }
    }
}
