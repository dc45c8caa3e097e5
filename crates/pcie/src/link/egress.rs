//! The state of one egress: inputs, wire, credits and counters.

use super::pace::{Paces, Stretch};
use super::returns::ReturnRing;
use super::ring::Ring;
use super::sentinels::NEVER;
use super::sentinels::NO_BUS;
use super::sentinels::NO_EGRESS;
use super::serialiser::Serialiser;
use super::spec::{CLASSES, Class, Direction, DllpMode, Recoveries};
use super::trains::TrainId;
use super::turns::Turns;
use lanetwin_units::{Generation, LinkRate, Width};
use std::collections::VecDeque;

/// Credits of an infinite receiver: more than can ever be used.
const PLENTY: i64 = i64::MAX / 2;
/// Size of a TLP header on the wire that cut-through forwarding has to wait for \[B\].
pub(super) const HEADER_BYTES: u16 = 24;
/// The smallest TLP: framing and a header of 3 DW \[B\].
pub(super) const SMALLEST_TLP_BYTES: u16 = 20;
/// Largest size of a TLP without its payload: framing, a header of 4 DW, prefixes, ECRC \[B\].
pub(super) const OVERHEAD_BYTES_MAX: u64 = 64;

/// `count` equal TLPs of one train, the first eligible at `eligible`, the others `spacing` apart \[ticks\].
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Segment {
    pub eligible: u64,
    pub spacing: u64,
    /// Part of the digest of each departure.
    pub key: u64,
    pub train: TrainId,
    pub count: u16,
    /// Index of the first in the train.
    pub index: u16,
    /// Number of TLPs of the whole train.
    pub train_count: u16,
    pub bytes: u16,
    /// Data credits per TLP.
    pub units: u16,
    pub to: u16,
    pub relaxed: bool,
    /// Delivered one by one.
    pub singly: bool,
    /// A message sent by a port itself.
    pub message: bool,
    /// The pace of the last link that they crossed: see [`Egress::at_pace`].
    pub pace: u8,
}

/// Overhead of a link, SKP and DLLPs, by due time.
#[derive(Clone, Debug)]
pub(super) struct Overhead {
    /// The earliest tick at which overhead is due.
    pub next: u64,
    pub period: u64,
    pub skp: u64,
    /// The number of the next SKP; it is due at `number × period`.
    pub number: u64,
    pub mode: DllpMode,
    /// DLLPs that are due here (mode `Each`).
    pub due: ReturnRing,
    /// Number of TLPs of this direction that had started by the end of each epoch with any (mode `Lump`).
    pub started: Ring<(u64, u64)>,
    /// The end of the last epoch in the ring.
    pub epoch_end: u64,
    /// Number of TLPs that had started by the end of the last epoch removed from the ring.
    pub started_before: u64,
    pub ack_every: u64,
    pub update_every: u64,
    pub delay: u64,
    /// Outages of the link, without past ones.
    pub outages: VecDeque<Down>,
    /// Random Recoveries.
    pub recovery: Option<Recovering>,
    /// Number and wire time of the DLLPs that the TLPs of this direction had caused when its pace last changed.
    pub caused_before: (u64, u64),
    /// Traffic between declared outages.
    pub stretches: Vec<Stretch>,
}

/// A time during which the link is down.
#[derive(Clone, Copy, Debug)]
pub(super) struct Down {
    /// The first tick.
    pub from: u64,
    /// The first at which it is up again.
    pub until: u64,
    /// Its pace from then on.
    pub pace: u8,
}

/// Random Recoveries, of which the next is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recovering {
    pub of: Recoveries,
    /// First tick of the next, and the first tick at which the link is up again; `None` before it has been drawn.
    pub next: Option<(u64, u64)>,
    /// The end of the previous one.
    pub before: u64,
}

impl Overhead {
    fn new(direction: &Direction) -> Self {
        let period = direction.skp.map_or(NEVER, |s| s.period);
        let recovery = direction.errors.recoveries.map(|of| Recovering { of, next: None, before: 0 });
        Self {
            // the first Recovery has to be drawn
            next: if recovery.is_some() { 0 } else { period },
            period,
            skp: direction.skp.map_or(0, |s| s.duration),
            number: 1,
            mode: direction.dllps.mode,
            due: ReturnRing::new(),
            started: Ring::new(),
            epoch_end: 0,
            started_before: 0,
            ack_every: direction.dllps.ack_every.into(),
            update_every: direction.dllps.update_every.into(),
            delay: direction.dllps.delay.as_ticks().0,
            outages: VecDeque::new(),
            recovery,
            caused_before: (0, 0),
            stretches: Vec::new(),
        }
    }
    /// Adds an outage.
    pub fn add_outage(&mut self, down: Down) {
        self.outages.push_back(down);
        self.next = self.next.min(down.from);
    }
    /// When the link next goes down.
    #[inline]
    pub fn down_next(&self) -> u64 {
        let said = self.outages.front().map_or(NEVER, |outage| outage.from);
        self.recovery.and_then(|recovery| recovery.next).map_or(said, |next| next.0.min(said))
    }
    /// Takes the next outage or Recovery. Returns the tick at which the link is up again, and its pace afterwards,
    /// which a random Recovery does not change.
    pub fn take_down(&mut self) -> Option<(u64, Option<u8>)> {
        let said = self.outages.front().copied();
        if let Some(recovery) = &mut self.recovery
            && let Some((from, until)) = recovery.next
            && said.is_none_or(|outage| from < outage.from)
        {
            (recovery.next, recovery.before) = (None, until);
            return Some((until, None));
        }
        self.outages.pop_front().map(|outage| (outage.until, Some(outage.pace)))
    }
    #[inline]
    pub fn skp_due(&self) -> u64 {
        if self.period == NEVER { NEVER } else { self.number * self.period }
    }
}

/// Counters of an egress. Times in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Activity {
    /// TLPs that have started.
    pub tlps: u64,
    /// Their payload \[data credits of 16 B\].
    pub data_units: u64,
    /// Their bytes on the wire.
    pub wire_bytes: u64,
    /// Wire time of TLPs.
    pub tlp_time: u64,
    /// Messages among them that were sent by ports themselves, here or further upstream.
    pub messages: u64,
    /// Their wire time.
    pub message_time: u64,
    /// Wire time lost to corrupted TLPs and to waiting for their replay.
    pub replay_time: u64,
    /// Replays of TLPs, each attempt counted.
    pub replays: u64,
    /// Recoveries after REPLAY_NUM corruptions in a row.
    pub retrains: u64,
    /// Random Recoveries that began while the wire was free.
    pub recoveries: u64,
    /// Time that the wire was free and the link down.
    pub down_time: u64,
    /// Time from being eligible to the start, summed over TLPs.
    pub waited: u128,
    /// Idle time of the wire, except for single DLLPs and SKPs, while a TLP waited for credits or replay buffer room.
    pub stalled: u64,
    /// A sum over all departures; equal for equal schedules.
    pub digest: u64,
}

/// The next hop of TLPs from an egress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hop {
    /// The next egress, or [`NO_EGRESS`] at the destination.
    pub egress: u16,
    /// The first input there that belongs to this ingress.
    pub input: u16,
    /// The first return ring here for credits from there, or from behind a shared memory.
    pub ring: u16,
    /// The latency of the switch on the way there.
    pub latency: u64,
}

impl Hop {
    /// No next hop.
    pub const NONE: Self = Self { egress: NO_EGRESS, input: 0, ring: 0, latency: 0 };
}

/// Source of the TLPs of an ingress, and destination of their credits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ingress {
    /// The egress upstream, or [`NO_EGRESS`] if a device hands TLPs in here.
    pub upstream: u16,
    /// The egress to which credits are returned when a TLP has left here, or [`NO_EGRESS`] if none are.
    pub lender: u16,
    /// The first return ring there that belongs to this egress.
    pub ring: u16,
    /// The latency of the switch on the way here, without the part behind its core.
    pub inward: u64,
    /// At a column: the latency of the switch from here to the egress behind it.
    pub onward: u64,
    /// The least delay from any event to the arrival of a TLP here, while one of its class waits upstream.
    pub near: u64,
    /// The same while none waits upstream and one would first have to get there.
    pub far: u64,
}

impl Ingress {
    /// An ingress of a device, whose lookahead is not yet known.
    pub const fn of_device() -> Self {
        Self { upstream: NO_EGRESS, lender: NO_EGRESS, ring: 0, inward: 0, onward: 0, near: 0, far: 0 }
    }
}

/// How the receiver of an egress frees its buffer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sink {
    /// A switch: when the TLP has left the next egress, or the column in front of it.
    Switch {
        /// Whether the switch has a core.
        core: bool,
    },
    /// The output buffer: this egress is a column.
    Output {
        /// The egress of the port.
        egress: u16,
    },
    /// An endpoint whose buffer is drained by the links.
    Line { latency: u64, per_tlp: u64, payload: Option<LinkRate>, free: u64 },
    /// An endpoint that drains its buffer itself.
    Device,
}

#[derive(Clone, Debug)]
pub(super) struct Egress {
    /// Index among all egresses.
    pub number: u16,
    pub link_free: u64,
    /// The tick of the pending wake; a wake at another picosecond is stale.
    pub wake: u64,
    /// One bit for each class with a TLP that could be sent but for credits; returns of these have to be reported.
    pub starved: u8,
    /// The input after the last winner.
    pub pointer: u16,
    /// One bit for each input that holds TLPs.
    pub occupied: u128,
    /// Number of inputs that hold TLPs; kept because counting bits is slow.
    pub filled: u8,
    /// The eligibility of each input's first TLP, [`NEVER`] if it is empty.
    pub head: Vec<u64>,
    pub inputs: Vec<Ring<Segment>>,
    pub ingress: Vec<Ingress>,
    /// The input for messages of the port at this end of the link, if there are any.
    pub message_input: Option<u16>,
    pub serialiser: Serialiser,
    /// The present pace of the wire, and all its paces: see [`Egress::at_pace`].
    pub pace: u8,
    pub paces: Paces,
    pub header_credits: [i64; CLASSES],
    pub data_credits: [i64; CLASSES],
    pub finite: [bool; CLASSES],
    /// Returned credits, by 3 × releaser + class.
    pub returns: Vec<ReturnRing>,
    /// For each of these rings, the number of TLPs beyond the wire whose credits will return through it.
    pub owed: Vec<u32>,
    /// One bit for each of these rings that holds or expects returns.
    pub live: u128,
    pub credit_latency: u64,
    pub replay_room: i64,
    pub replay_finite: bool,
    pub replay_returns: ReturnRing,
    /// Time from the last byte leaving to the release of replay buffer room.
    pub ack_round: u64,
    pub payload_max: u64,
    pub propagation: u64,
    pub cut_through: bool,
    pub hops: Vec<Hop>,
    pub sink: Sink,
    /// Whether it leads from a device to one that the links drain, without switches, errors and weighted arbitration,
    /// as most links do.
    pub direct: bool,
    pub overhead: Overhead,
    pub opposite: u16,
    /// The bus of this column, or [`NO_BUS`].
    pub bus: u16,
    /// The table of weighted arbitration, if used instead of round robin.
    pub turns: Option<Box<Turns>>,
    pub bit_error_ratio: f64,
    pub clean_bits: u64,
    pub nak_round: u64,
    pub retrain: u64,
    /// The least delay from any event to a new TLP in this egress' inputs.
    pub lookahead: u64,
    /// The same for a DLLP due here, or lumped with an SKP.
    pub overhead_lookahead: u64,
    /// The least delay from a start here to an effect elsewhere, other than by returned credits.
    pub reach: u64,
    /// The same for a credit; only relevant while a TLP waits for one.
    pub credit_lookahead: u64,
    /// When the wire last became free after a TLP, or after overhead that was not sent during a stall.
    pub idle_from: u64,
    /// Wire time of overhead sent during a stall since then, without lumped DLLPs.
    pub idle_overhead: u64,
    pub done: Activity,
}

impl Egress {
    /// Placeholder for an egress that has been moved to `current`.
    pub fn placeholder() -> Self {
        Self::new(&Direction::bare(LinkRate::pcie(Generation::Gen1, Width::X1)))
    }

    pub fn new(direction: &Direction) -> Self {
        let finite =
            [0, 1, 2].map(|c| direction.credits.header[c].is_some() || direction.credits.data[c].is_some());
        let initial = |n: Option<u32>| n.map_or(PLENTY, i64::from);
        let propagation = direction.propagation.as_ticks().0;
        Self {
            number: NO_EGRESS,
            link_free: 0,
            wake: NEVER,
            starved: 0,
            pointer: 0,
            occupied: 0,
            filled: 0,
            head: Vec::new(),
            inputs: Vec::new(),
            ingress: Vec::new(),
            message_input: None,
            serialiser: Serialiser::new(direction.rate),
            pace: 0,
            paces: Paces::new(direction),
            header_credits: direction.credits.header.map(initial),
            data_credits: direction.credits.data.map(initial),
            finite,
            returns: Vec::new(),
            owed: Vec::new(),
            live: 0,
            credit_latency: direction.credits.latency.as_ticks().0,
            replay_room: initial(direction.replay_buffer),
            replay_finite: direction.replay_buffer.is_some(),
            replay_returns: ReturnRing::new(),
            ack_round: propagation + direction.ack_latency.as_ticks().0,
            payload_max: direction.payload_max.into(),
            propagation,
            cut_through: false,
            hops: Vec::new(),
            sink: Sink::Device,
            direct: false,
            overhead: Overhead::new(direction),
            opposite: NO_EGRESS,
            bus: NO_BUS,
            turns: None,
            bit_error_ratio: direction.errors.bit_error_ratio,
            clean_bits: u64::MAX,
            nak_round: 2 * propagation + direction.errors.nak_latency.as_ticks().0,
            retrain: direction.errors.retrain.as_ticks().0,
            lookahead: NEVER,
            overhead_lookahead: NEVER,
            reach: NEVER,
            credit_lookahead: NEVER,
            idle_from: 0,
            idle_overhead: 0,
            done: Activity::default(),
        }
    }

    /// Whether the credits of all ingresses return through one ring: those of the output buffer in front of this
    /// egress.
    #[inline]
    pub fn one_lender(&self) -> bool {
        matches!(self.ingress[..], [Ingress { lender, .. }, Ingress { lender: second, .. }, ..] if lender == second && lender != NO_EGRESS)
    }

    /// Adds the three inputs of an ingress. Returns the index of the first.
    pub fn add_ingress(&mut self, ingress: Ingress) -> u16 {
        let first = self.inputs.len() as u16;
        self.ingress.push(ingress);
        for _ in 0..CLASSES {
            self.inputs.push(Ring::new());
            self.head.push(NEVER);
        }
        first
    }

    /// Adds the ingress for messages of ports. They are posted; the bits of its other classes may exceed the word of
    /// inputs, and are never set.
    pub fn add_message_input(&mut self) {
        self.message_input = Some(self.add_ingress(Ingress::of_device()));
    }

    /// Whether an ingress is the one for messages of ports.
    pub fn is_of_messages(&self, ingress: usize) -> bool {
        self.message_input.is_some_and(|input| usize::from(input) / CLASSES == ingress)
    }

    /// Adds the three return rings of a releaser. Returns the index of the first.
    pub fn add_releaser(&mut self) -> u16 {
        let first = self.returns.len() as u16;
        self.returns.extend((0..CLASSES).map(|_| ReturnRing::new()));
        self.owed.resize(self.returns.len(), 0);
        first
    }

    /// Adds TLPs to an input, and merges them with the last segment if they continue it.
    #[inline(always)]
    pub fn enqueue(&mut self, input: usize, new: Segment) {
        let ring = &mut self.inputs[input];
        if let Some(back) = ring.back_mut() {
            let last = back.eligible + u64::from(back.count - 1) * back.spacing;
            debug_assert!(new.eligible >= last, "an input is in the order of time");
            if back.train == new.train && back.pace == new.pace {
                let step = new.eligible - last;
                if (back.count == 1 || back.spacing == step) && (new.count == 1 || new.spacing == step) {
                    back.spacing = step;
                    back.count += new.count;
                    return;
                }
            }
        } else {
            self.head[input] = new.eligible;
            self.occupied |= 1 << input;
            self.filled += 1;
        }
        ring.push(new);
    }

    /// Removes the first `m` TLPs of an input.
    #[inline(always)]
    pub fn dequeue(&mut self, input: usize, m: u16) {
        let ring = &mut self.inputs[input];
        if let Some(front) = ring.front_mut().filter(|front| m < front.count) {
            front.eligible += u64::from(m) * front.spacing;
            front.count -= m;
            front.index += m;
            self.head[input] = front.eligible;
            return;
        }
        ring.pop();
        match ring.front() {
            Some(front) => self.head[input] = front.eligible,
            None => {
                self.head[input] = NEVER;
                self.occupied &= !(1 << input);
                self.filled -= 1;
            }
        }
    }
}

impl From<Class> for usize {
    fn from(class: Class) -> Self {
        class as Self
    }
}
