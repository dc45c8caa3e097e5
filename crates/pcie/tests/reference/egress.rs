//! One direction of a link, as its transmitter sees it: docs/link-model.md, sections 4 to 8.

use super::machine::{DllpMode, Machine, Pace};
use std::collections::BTreeMap;

pub struct Egress {
    pub link_free: u64,
    pub replay_room: Option<u64>,
    /// The number of the first SKP that is not due yet.
    pub next_skp: u64,
    /// How many SKPs are due and not sent.
    pub skps_due: u64,
    pub dllps_due: u64,
    /// DLLPs to send in a lump, by the epoch that caused them.
    pub lumps: BTreeMap<u64, u64>,
    /// TLPs that have left here.
    pub starts: u64,
    /// When the receiving endpoint took out the last TLP.
    pub taken_out: u64,
    /// The end of the last outage that found the wire free.
    up: u64,
    skp_period_ticks: u64,
    lump: bool,
    errors: Errors,
}

/// Where on the wire corruption comes next.
struct Errors {
    source: Option<super::machine::BitErrors>,
    drawn: u64,
    /// Bits sent so far.
    sent: u64,
    /// The number of the next corrupted bit, the first bit being 1.
    next: u64,
}

impl Egress {
    pub fn new(machine: &Machine, egress: usize) -> Self {
        let direction = machine.direction(egress);
        let first = direction.errors.as_ref().map_or(0, |errors| errors.distance(0));
        Self {
            link_free: 0,
            replay_room: direction.replay_buffer_bytes,
            next_skp: 1,
            skps_due: 0,
            dllps_due: 0,
            lumps: BTreeMap::new(),
            starts: 0,
            taken_out: 0,
            up: 0,
            skp_period_ticks: direction.skp_period_ticks,
            lump: machine.links[egress / 2].dllp == DllpMode::Lump,
            errors: Errors { source: direction.errors.clone(), drawn: 1, sent: 0, next: first },
        }
    }

    /// Section 6.1: the wire is free, and its link is down until `up`.
    pub fn wait_until(&mut self, up: u64) {
        self.link_free = up;
        self.up = up;
        self.skps_due = 0;
    }

    /// Section 6: the next SKP is due, unless an outage has swallowed it.
    pub fn skp_falls_due(&mut self) {
        if self.next_skp * self.skp_period_ticks >= self.up {
            self.skps_due += 1;
        }
        self.next_skp += 1;
    }

    /// Section 6: the oldest SKP that is due.
    pub fn send_skp(&mut self, now: u64, pace: Pace) {
        let number = self.next_skp - self.skps_due;
        self.skps_due -= 1;
        let dllps = match number.checked_sub(2) {
            Some(epoch) if self.lump => self.lumps.remove(&epoch).unwrap_or(0),
            _ => 0,
        };
        self.link_free = now + pace.skp_ticks + dllps * pace.serialisation(8);
    }

    pub fn send_dllp(&mut self, now: u64, pace: Pace) {
        self.dllps_due -= 1;
        self.link_free = now + pace.serialisation(8);
    }

    /// Section 8: sends that many bits of a TLP; true if one of them is corrupted.
    pub fn corrupts(&mut self, bits: u64) -> bool {
        let errors = &mut self.errors;
        let Some(source) = &errors.source else { return false };
        errors.sent += bits;
        let corrupted = errors.next <= errors.sent;
        while errors.next <= errors.sent {
            errors.next += source.distance(errors.drawn);
            errors.drawn += 1;
        }
        corrupted
    }
}
