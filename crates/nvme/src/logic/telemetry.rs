//! Telemetry: state that the owner of the medium reports, stored until hosts have read it (Base 2.0 §5.16.1.8 and
//! §5.16.1.9).
//!
//! ```text
//!  Get Log Page 07h, Create ─► Effect::Telemetry ─► telemetry ─► kept by the controller until its host creates anew
//!  the medium fails         ─► Effect::Telemetry ─► telemetry ─► kept by the subsystem, event; until log 08h was read
//! ```

use crate::spec::log::{LogPage, TelemetryHeader};

/// Size of a Telemetry Data Block \[B\].
pub const BLOCK: usize = 512;
/// Size of the Reason Identifier \[B\].
const REASON: usize = 128;

/// State that an owner reports: the content of data areas 1, 2 and 3, each without that of the previous areas.
///
/// Each area is padded with zeroes to whole blocks; blocks after the first 65535 are cut off.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Telemetry {
    /// Area 1, and the additional content of areas 2 and 3.
    pub areas: [Vec<u8>; 3],
}

/// Captured state.
#[derive(Clone, Default, Debug)]
struct Captured {
    blocks: Vec<u8>,
    /// The last block of each area.
    last: [u16; 3],
    reason: String,
}

impl Captured {
    fn new(state: &Telemetry, reason: String) -> Self {
        let (mut blocks, mut last) = (Vec::new(), [0; 3]);
        for (area, last) in state.areas.iter().zip(&mut last) {
            blocks.extend_from_slice(area);
            blocks.resize(blocks.len().next_multiple_of(BLOCK).min(usize::from(u16::MAX) * BLOCK), 0);
            *last = (blocks.len() / BLOCK) as u16;
        }
        Self { blocks, last, reason }
    }
}

/// Host-initiated telemetry of a controller.
#[derive(Clone, Default, Debug)]
pub(super) struct HostInitiated {
    captured: Captured,
    generation: u8,
}

impl HostInitiated {
    /// Stores the state that the host requested.
    pub fn save(&mut self, state: &Telemetry) {
        self.captured = Captured::new(state, "asked by the host".into());
        self.generation = self.generation.wrapping_add(1);
    }
    /// Writes the Telemetry Host-Initiated log.
    pub fn write(&self, other: &ControllerInitiated, out: &mut Vec<u8>) {
        let mut header = header(LogPage::TELEMETRY_HOST, &self.captured, other);
        header.set_host_generation(self.generation);
        out.extend_from_slice(header.as_bytes());
        out.extend_from_slice(&self.captured.blocks);
    }
}

/// Controller-initiated telemetry. It is stored until a host has read it, and no other is captured in the meantime.
#[derive(Clone, Default, Debug)]
pub(super) struct ControllerInitiated {
    saved: Option<Captured>,
    generation: u8,
    /// Reason of a pending request to the owner.
    asked: Option<String>,
}

impl ControllerInitiated {
    /// Begins a capture for this reason. Returns false if one is pending, or the last has not been read.
    pub fn begin(&mut self, reason: impl FnOnce() -> String) -> bool {
        let begins = self.saved.is_none() && self.asked.is_none();
        if begins {
            self.asked = Some(reason());
        }
        begins
    }
    /// Stores the owner's state; returns false if no request is pending.
    pub fn save(&mut self, state: &Telemetry) -> bool {
        let Some(reason) = self.asked.take() else { return false };
        self.saved = Some(Captured::new(state, reason));
        self.generation = self.generation.wrapping_add(1);
        true
    }
    /// The owner does not report its state.
    pub fn give_up(&mut self) {
        self.asked = None;
    }
    /// A host has read the log without retaining the event.
    pub fn release(&mut self) {
        self.saved = None;
    }
    /// Writes the Telemetry Controller-Initiated log.
    pub fn write(&self, out: &mut Vec<u8>) {
        let nothing = Captured::default();
        let captured = self.saved.as_ref().unwrap_or(&nothing);
        out.extend_from_slice(header(LogPage::TELEMETRY_CONTROLLER, captured, self).as_bytes());
        out.extend_from_slice(&captured.blocks);
    }
}

/// Header of a log. The vendor's OUI is 0, as in Identify Controller.
fn header(log: LogPage, captured: &Captured, other: &ControllerInitiated) -> TelemetryHeader {
    let mut header = TelemetryHeader::ZERO;
    header.set_log(log.0);
    header.set_last_1(captured.last[0]);
    header.set_last_2(captured.last[1]);
    header.set_last_3(captured.last[2]);
    header.set_available(u8::from(other.saved.is_some()));
    header.set_generation(other.generation);
    let mut reason = [0; REASON];
    let length = captured.reason.len().min(REASON);
    reason[..length].copy_from_slice(&captured.reason.as_bytes()[..length]);
    header.set_reason(reason);
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_whole_blocks_and_as_many_as_can_be_numbered() {
        let state = Telemetry { areas: [vec![1; 513], Vec::new(), vec![2; 512]] };
        let captured = Captured::new(&state, String::new());
        assert_eq!((captured.last, captured.blocks.len()), ([2, 2, 3], 3 * BLOCK));
        assert_eq!(captured.blocks[510..515], [1, 1, 1, 0, 0]);
        assert_eq!(captured.blocks[2 * BLOCK..], [2; BLOCK]);
        let too_much = Telemetry { areas: [vec![3; 70_000 * BLOCK], vec![4; BLOCK], Vec::new()] };
        let captured = Captured::new(&too_much, String::new());
        assert_eq!((captured.last, captured.blocks.len()), ([u16::MAX; 3], 65_535 * BLOCK));
    }

    #[test]
    fn what_was_captured_is_kept_until_it_was_read() {
        let mut initiated = ControllerInitiated::default();
        let state = Telemetry { areas: [vec![7], Vec::new(), Vec::new()] };
        assert!(!initiated.save(&state), "nobody has asked");
        assert!(initiated.begin(|| "first".into()) && !initiated.begin(|| "while it is asked".into()));
        assert!(initiated.save(&state) && !initiated.begin(|| "while it is not read".into()));
        let written = |initiated: &ControllerInitiated| {
            let mut out = Vec::new();
            initiated.write(&mut out);
            let header = TelemetryHeader::from_bytes(out[..BLOCK].try_into().expect("a header"));
            (out.len(), header.available(), header.generation(), header.reason()[..5].to_vec())
        };
        assert_eq!(written(&initiated), (2 * BLOCK, 1, 1, b"first".to_vec()));
        initiated.release();
        assert_eq!(written(&initiated), (BLOCK, 0, 1, vec![0; 5]));
        assert!(initiated.begin(|| "x".into()));
        initiated.give_up();
        assert!(!initiated.save(&state) && initiated.begin(|| "again".into()) && initiated.save(&state));
        assert_eq!(written(&initiated), (2 * BLOCK, 1, 2, b"again".to_vec()));
    }
}
