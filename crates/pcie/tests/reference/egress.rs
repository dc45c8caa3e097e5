//! One direction of a link, as its transmitter sees it: docs/link-model.md, sections 4 to 8.

use super::machine::{Class, Credits, DllpMode, Machine, Node, Train};
use super::simulator::serialisation;
use std::collections::{BTreeMap, VecDeque};

/// A TLP that waits.
#[derive(Clone, Copy, Debug)]
pub struct Tlp {
    /// In the simulator's list of trains.
    pub train: usize,
    pub index: u32,
    /// How many egresses it has left.
    pub hop: usize,
    /// Since when it may leave \[ticks\].
    pub eligible: u64,
    pub relaxed: bool,
}

pub struct Egress {
    /// Eligible TLPs; `3 × ingress + class`.
    pub inputs: Vec<VecDeque<Tlp>>,
    pub pointer: usize,
    pub link_free: u64,
    pub credits: [Credits; 3],
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
    skp_ticks: u64,
    dllp_ticks: u64,
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
        let ingresses = match machine.transmitter(egress) {
            Node::Endpoint(_) => 1,
            node @ Node::Switch(_) => machine.links_of(node).len(),
        };
        let first = direction.errors.as_ref().map_or(0, |errors| errors.distance(0));
        Self {
            inputs: vec![VecDeque::new(); 3 * ingresses],
            pointer: 0,
            link_free: 0,
            credits: direction.credits,
            replay_room: direction.replay_buffer_bytes,
            next_skp: 1,
            skps_due: 0,
            dllps_due: 0,
            lumps: BTreeMap::new(),
            starts: 0,
            taken_out: 0,
            skp_ticks: direction.skp_ticks.unwrap_or(0),
            dllp_ticks: serialisation(direction.generation, direction.lanes, 8),
            lump: machine.links[egress / 2].dllp == DllpMode::Lump,
            errors: Errors { source: direction.errors.clone(), drawn: 1, sent: 0, next: first },
        }
    }

    /// Section 6: the oldest SKP that is due.
    pub fn send_skp(&mut self, now: u64) {
        let number = self.next_skp - self.skps_due;
        self.skps_due -= 1;
        let dllps = match number.checked_sub(2) {
            Some(epoch) if self.lump => self.lumps.remove(&epoch).unwrap_or(0),
            _ => 0,
        };
        self.link_free = now + self.skp_ticks + dllps * self.dllp_ticks;
    }

    pub fn send_dllp(&mut self, now: u64) {
        self.dllps_due -= 1;
        self.link_free = now + self.dllp_ticks;
    }

    /// Section 4: round robin over the inputs, beginning with the pointer.
    pub fn choose(&self, now: u64, trains: &[(usize, u32, Train)]) -> Option<usize> {
        (0..self.inputs.len())
            .map(|step| (self.pointer + step) % self.inputs.len())
            .find(|&input| self.is_candidate(input, now, trains))
    }

    fn is_candidate(&self, input: usize, now: u64, trains: &[(usize, u32, Train)]) -> bool {
        let Some(tlp) = self.inputs[input].front() else { return false };
        let train = &trains[tlp.train].2;
        let credits = self.credits[input % 3];
        let data = train.payload_bytes.div_ceil(16);
        let has_credits =
            credits.header.is_none_or(|left| left >= 1) && credits.data.is_none_or(|left| left >= data);
        let exempt = match train.kind.class() {
            Class::Posted => true,
            Class::NonPosted => false,
            Class::Completion => tlp.relaxed,
        };
        let posted = &self.inputs[input - input % 3];
        let in_order = exempt || !posted.iter().any(|other| other.eligible <= tlp.eligible);
        let has_room = self.replay_room.is_none_or(|room| room >= train.wire_bytes);
        tlp.eligible <= now && has_credits && in_order && has_room
    }

    /// A TLP of this train leaves from `input`: what it takes.
    pub fn take(&mut self, input: usize, train: &Train) {
        self.pointer = (input + 1) % self.inputs.len();
        self.replay_room = self.replay_room.map(|room| room - train.wire_bytes);
        let credits = &mut self.credits[input % 3];
        credits.header = credits.header.map(|left| left - 1);
        credits.data = credits.data.map(|left| left - train.payload_bytes.div_ceil(16));
    }

    pub fn return_credits(&mut self, class: Class, payload_bytes: u64, count: u64) {
        let credits = &mut self.credits[class as usize];
        credits.header = credits.header.map(|left| left + count);
        credits.data = credits.data.map(|left| left + count * payload_bytes.div_ceil(16));
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

    pub fn is_empty(&self) -> bool {
        self.inputs.iter().all(VecDeque::is_empty)
    }

    /// # Panics
    /// If a TLP waits, or credits or replay buffer room are missing, at the end of a run.
    pub fn assert_at_rest(&self, machine: &Machine, number: usize) {
        let direction = machine.direction(number);
        assert!(self.is_empty(), "egress {number}: TLPs are stuck");
        assert_eq!(self.credits, direction.credits, "egress {number}: credits have not come back");
        assert_eq!(self.replay_room, direction.replay_buffer_bytes, "egress {number}: the replay buffer");
    }
}
