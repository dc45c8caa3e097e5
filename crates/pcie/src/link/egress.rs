//! The state of one egress: its inputs, its wire, the credits it holds, and what it has done so far.

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

/// Credits of an infinite receiver: more than can ever be taken.
const PLENTY: i64 = i64::MAX / 2;
/// The header of a TLP on the wire, as cut-through forwarding has to see it \[B\].
pub(super) const HEADER_BYTES: u16 = 24;
/// The smallest TLP: framing and a header of 3 DW \[B\].
pub(super) const SMALLEST_TLP_BYTES: u16 = 20;
/// The most that a TLP has besides its payload: framing, a header of 4 DW, prefixes, ECRC \[B\].
pub(super) const OVERHEAD_BYTES_MAX: u64 = 64;

/// `count` equal TLPs of one train, the first of them eligible at `eligible`, each next `spacing` later \[ticks\].
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Segment {
    pub eligible: u64,
    pub spacing: u64,
    /// Enters the digest of each departure.
    pub key: u64,
    pub train: TrainId,
    pub count: u16,
    /// Index of the first in the train.
    pub index: u16,
    /// How many the whole train has.
    pub train_count: u16,
    pub bytes: u16,
    /// Data credits of each.
    pub units: u16,
    pub to: u16,
    pub relaxed: bool,
    /// Delivered one by one.
    pub singly: bool,
    /// A message that a port sent on its own account.
    pub message: bool,
    /// The pace of the link that they came over last: see [`Egress::at_pace`].
    pub pace: u8,
}

/// A link's own overhead: SKP and DLLPs, by when they are due.
#[derive(Clone, Debug)]
pub(super) struct Overhead {
    /// The earliest tick at which anything is due.
    pub next: u64,
    pub period: u64,
    pub skp: u64,
    /// The number of the next SKP; it is due at `number × period`.
    pub number: u64,
    pub mode: DllpMode,
    /// DLLPs that are due here (mode `Each`).
    pub due: ReturnRing,
    /// How many TLPs of this direction had started by the end of an epoch, for each epoch with any (mode `Lump`).
    pub started: Ring<(u64, u64)>,
    /// The end of the epoch that is last in the ring.
    pub epoch_end: u64,
    /// How many had by the end of the last epoch that was taken out of the ring.
    pub started_before: u64,
    pub ack_every: u64,
    pub update_every: u64,
    pub delay: u64,
    /// When the link is down, what is past taken out.
    pub outages: VecDeque<Down>,
    /// Recoveries by chance.
    pub recovery: Option<Recovering>,
    /// What the TLPs of this direction had caused when its pace last changed: how many DLLPs, and their wire time.
    pub caused_before: (u64, u64),
    /// What was sent between outages that were said.
    pub stretches: Vec<Stretch>,
}

/// A link is down.
#[derive(Clone, Copy, Debug)]
pub(super) struct Down {
    /// The first tick.
    pub from: u64,
    /// The first at which it is up again.
    pub until: u64,
    /// Its pace from then on.
    pub pace: u8,
}

/// Recoveries that come by chance, of which the next is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recovering {
    pub of: Recoveries,
    /// Its first tick, and the first at which the link is up again; none before it has been drawn.
    pub next: Option<(u64, u64)>,
    /// The end of the one before.
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
    /// Takes the link down for a while.
    pub fn add_outage(&mut self, down: Down) {
        self.outages.push_back(down);
        self.next = self.next.min(down.from);
    }
    /// When the link goes down next.
    #[inline]
    pub fn down_next(&self) -> u64 {
        let said = self.outages.front().map_or(NEVER, |outage| outage.from);
        self.recovery.and_then(|recovery| recovery.next).map_or(said, |next| next.0.min(said))
    }
    /// Takes out what takes the link down next: the tick at which it is up again, and its pace from then on, which a
    /// Recovery by chance does not change.
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

/// What an egress has done. Times in ticks.
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
    /// Messages among them that ports sent on their own account, here or further up.
    pub messages: u64,
    /// Their wire time.
    pub message_time: u64,
    /// Wire time lost to corrupted TLPs and to waiting for their replay.
    pub replay_time: u64,
    /// TLPs that had to be sent again, counting each attempt.
    pub replays: u64,
    /// Recoveries after REPLAY_NUM corruptions in a row.
    pub retrains: u64,
    /// Recoveries by chance that found the wire free.
    pub recoveries: u64,
    /// How long the wire was free and the link down.
    pub down_time: u64,
    /// Time between being eligible and starting, summed over TLPs.
    pub waited: u128,
    /// Wire time that was idle, but for single DLLPs and SKPs, while a TLP was waiting for credits or replay-buffer
    /// room.
    pub stalled: u64,
    /// A sum over all departures that is equal for equal schedules.
    pub digest: u64,
}

/// Where a TLP goes from an egress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hop {
    /// The next egress, or [`NO_EGRESS`] at the destination.
    pub egress: u16,
    /// The first of the inputs there that belong to this ingress.
    pub input: u16,
    /// The first of the rings here through which credits come back from there, or from behind a shared memory.
    pub ring: u16,
    /// The latency of the switch on the way there.
    pub latency: u64,
}

impl Hop {
    /// To nowhere.
    pub const NONE: Self = Self { egress: NO_EGRESS, input: 0, ring: 0, latency: 0 };
}

/// Where the TLPs of an ingress come from, and whom their credits go back to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ingress {
    /// The egress upstream, or [`NO_EGRESS`] if a device hands in here.
    pub upstream: u16,
    /// The egress whose credits come back when a TLP has left here, or [`NO_EGRESS`] if none do.
    pub lender: u16,
    /// The first of the return rings there that belong to this egress.
    pub ring: u16,
    /// The latency of the switch on the way here, without what lies behind its core.
    pub inward: u64,
    /// At a column: the latency of the switch from here to the egress behind it.
    pub onward: u64,
    /// The least delay from anything that happens anywhere to a TLP coming in here, while one of its class waits
    /// upstream.
    pub near: u64,
    /// The same while none waits there: it has to get there first.
    pub far: u64,
}

impl Ingress {
    /// A device hands in: its lookahead is not known yet.
    pub const fn of_device() -> Self {
        Self { upstream: NO_EGRESS, lender: NO_EGRESS, ring: 0, inward: 0, onward: 0, near: 0, far: 0 }
    }
}

/// How the receiver at the end of an egress empties its buffer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sink {
    /// A switch: when the TLP has left the next egress, or the column in front of it.
    Switch {
        /// Whether the switch has a core.
        core: bool,
    },
    /// The buffer of an output: this egress is a column.
    Output {
        /// The egress of the port.
        egress: u16,
    },
    /// An endpoint that the links drain.
    Line { latency: u64, per_tlp: u64, payload: Option<LinkRate>, free: u64 },
    /// An endpoint that drains by itself.
    Device,
}

#[derive(Clone, Debug)]
pub(super) struct Egress {
    /// Its number among all egresses.
    pub number: u16,
    pub link_free: u64,
    /// The tick of the pending wake; a wake at another picosecond is stale.
    pub wake: u64,
    /// One bit for each class with a TLP that could go but for credits: tell me of returns.
    pub starved: u8,
    /// The input after the last winner.
    pub pointer: u16,
    /// One bit for each input that holds anything.
    pub occupied: u128,
    /// How many inputs hold anything: counting bits is dear.
    pub filled: u8,
    /// The eligibility of each input's first TLP, [`NEVER`] if it is empty.
    pub head: Vec<u64>,
    pub inputs: Vec<Ring<Segment>>,
    pub ingress: Vec<Ingress>,
    /// The input of the messages of ports at this end of the link, if they send any.
    pub message_input: Option<u16>,
    pub serialiser: Serialiser,
    /// The pace of the wire just now, and all that it has: see [`Egress::at_pace`].
    pub pace: u8,
    pub paces: Paces,
    pub header_credits: [i64; CLASSES],
    pub data_credits: [i64; CLASSES],
    pub finite: [bool; CLASSES],
    /// Credit returns, by 3 × releaser + class.
    pub returns: Vec<ReturnRing>,
    /// For each of these rings, how many TLPs sit beyond the wire whose credits will come back through it.
    pub owed: Vec<u32>,
    /// One bit for each of these rings that holds or is owed anything.
    pub live: u128,
    pub credit_latency: u64,
    pub replay_room: i64,
    pub replay_finite: bool,
    pub replay_returns: ReturnRing,
    /// From the last byte leaving to the replay buffer having room again.
    pub ack_round: u64,
    pub payload_max: u64,
    pub propagation: u64,
    pub cut_through: bool,
    pub hops: Vec<Hop>,
    pub sink: Sink,
    /// It leads from a device to one that the links drain, without switches, errors and turns: what most links are.
    pub direct: bool,
    pub overhead: Overhead,
    pub opposite: u16,
    /// The bus that this column is on, or [`NO_BUS`].
    pub bus: u16,
    /// The table of weighted arbitration, if it is not round robin.
    pub turns: Option<Box<Turns>>,
    pub bit_error_ratio: f64,
    pub clean_bits: u64,
    pub nak_round: u64,
    pub retrain: u64,
    /// The least delay from anything that happens anywhere to a TLP in this egress' inputs.
    pub lookahead: u64,
    /// The same for a DLLP that is due here, or that is paid with an SKP.
    pub overhead_lookahead: u64,
    /// The least delay from a start here to anything happening elsewhere that a returned credit has no part in.
    pub reach: u64,
    /// The same for a credit; it matters only while a TLP is waiting for one.
    pub credit_lookahead: u64,
    /// When the wire was last free behind a TLP, or behind overhead that was not sent into the idleness of a stall.
    pub idle_from: u64,
    /// The time of the overhead that was sent into a stall since then, without DLLPs in lumps.
    pub idle_overhead: u64,
    pub done: Activity,
}

impl Egress {
    /// What is in the place of an egress that is in hand.
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

    /// Whether the credits of all ingresses go back through one ring: those of the output buffer in front of this
    /// egress.
    #[inline]
    pub fn one_lender(&self) -> bool {
        matches!(self.ingress[..], [Ingress { lender, .. }, Ingress { lender: second, .. }, ..] if lender == second && lender != NO_EGRESS)
    }

    /// Adds the three inputs of an ingress; returns the number of the first.
    pub fn add_ingress(&mut self, ingress: Ingress) -> u16 {
        let first = self.inputs.len() as u16;
        self.ingress.push(ingress);
        for _ in 0..CLASSES {
            self.inputs.push(Ring::new());
            self.head.push(NEVER);
        }
        first
    }

    /// Adds the ingress of messages of ports. They are posted: the bits of its other classes may be beyond the word of
    /// inputs, and are never set.
    pub fn add_message_input(&mut self) {
        self.message_input = Some(self.add_ingress(Ingress::of_device()));
    }

    /// Whether the messages of ports come in through this ingress.
    pub fn is_of_messages(&self, ingress: usize) -> bool {
        self.message_input.is_some_and(|input| usize::from(input) / CLASSES == ingress)
    }

    /// Adds the three return rings of a releaser; returns the number of the first.
    pub fn add_releaser(&mut self) -> u16 {
        let first = self.returns.len() as u16;
        self.returns.extend((0..CLASSES).map(|_| ReturnRing::new()));
        self.owed.resize(self.returns.len(), 0);
        first
    }

    /// Puts TLPs into an input, joining them to the last ones where they continue them.
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

    /// Takes the first `m` TLPs out of an input.
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
