//! What links are made of, as declared before a run: endpoints, switches, directions, trains.

pub use crate::spec::FcClass as Class;
use lanetwin_units::{Instant, LinkRate, Span, id};

id! {
    /// A port of a device.
    EndpointId(u16) => "ep";
    /// A switch.
    SwitchId(u16) => "sw";
    /// A link; its directions are egress `2n` (from the first end to the second) and `2n + 1`.
    LinkId(u16) => "link";
    /// One direction of a link: transmitter, wire, receiver.
    EgressId(u16) => "eg";
}

/// What a link is attached to at one end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attach {
    /// A port of a device.
    Endpoint(EndpointId),
    /// The next free port of a switch.
    Switch(SwitchId),
}

/// The number of flow-control classes.
pub const CLASSES: usize = 3;

/// How an endpoint behaves towards its link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndpointSpec {
    /// The device's promise: what it hands in at `t` is not eligible before `t + lookahead`.
    pub lookahead: Span,
    /// Who empties the receive buffer.
    pub drain: Drain,
}

/// Who empties a receive buffer at an endpoint, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Drain {
    /// The links do: one TLP after another, each at least `latency` after its last byte.
    ByLink {
        /// From the last byte of a TLP to its buffer being free, in an idle receiver.
        latency: Span,
        /// The least time that each TLP occupies the receiver.
        per_tlp: Span,
        /// The rate at which the receiver takes in payload, if it is limited.
        payload_rate: Option<LinkRate>,
    },
    /// The device does, and says so with [`super::Fabric::release`]; it reacts `lookahead` after a delivery at the
    /// earliest.
    ByDevice,
}

/// How a switch forwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SwitchSpec {
    /// From the moment that a TLP may be forwarded to its being eligible at the egress, for every pair of ports that
    /// has no latency of its own ([`super::FabricBuilder::latency`]).
    pub latency: Span,
    /// When a TLP may be forwarded.
    pub forwarding: Forwarding,
    /// Whose turn it is at an output.
    pub arbitration: Arbitration,
    /// What moves TLPs from ingress buffers to outputs; none if nobody ever waits for it.
    pub core: Option<Core>,
}

impl SwitchSpec {
    /// A switch without a core that takes turns.
    #[must_use]
    pub const fn plain(latency: Span, forwarding: Forwarding) -> Self {
        Self { latency, forwarding, arbitration: Arbitration::RoundRobin, core: None }
    }
}

/// Whose turn it is at an output of a switch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Arbitration {
    /// Every input in turn.
    RoundRobin,
    /// Every ingress port as often as its weight says ([`super::FabricBuilder::weight`]).
    Weighted,
}

/// The core of a switch: what moves TLPs from the ingress buffers to the outputs, at `speed_up` times the rate of a
/// link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Core {
    /// Each output takes TLPs by itself, at a multiple of the rate of its own link.
    Crossbar {
        /// The multiple, at least 1.
        speed_up: u32,
        /// The buffer at each output.
        output: OutputBuffer,
    },
    /// One TLP at a time, at a multiple of the rate of the fastest link.
    SharedBus {
        /// The multiple, at least 1.
        speed_up: u32,
        /// The buffer at each output.
        output: OutputBuffer,
    },
    /// One memory holds the TLPs of all ports from their arrival to their departure; it is written one TLP at a time,
    /// at a multiple of the rate of the fastest link.
    SharedMemory {
        /// The multiple, at least 1.
        speed_up: u32,
    },
}

/// The buffer at an output of a switch; every class of TLPs has one of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutputBuffer {
    /// How many TLPs it holds, at least 1.
    pub tlps: u32,
    /// How much payload it holds \[16 B\]; at least the largest TLP's.
    pub data: u32,
}

/// When a switch forwards a TLP.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Forwarding {
    /// As soon as its header is in, but never so early that a faster egress would run dry.
    CutThrough,
    /// When its last byte is in.
    StoreAndForward,
}

/// The receive buffer of a direction, as advertised: credits by [`Class`]; `None` is infinite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Credits {
    /// Header credits: one a TLP.
    pub header: [Option<u32>; CLASSES],
    /// Data credits: one for each 16 B of payload.
    pub data: [Option<u32>; CLASSES],
    /// From a freed buffer to the transmitter's being able to use it.
    pub latency: Span,
}

impl Credits {
    /// A receiver that never runs out.
    pub const INFINITE: Self = Self { header: [None; CLASSES], data: [None; CLASSES], latency: Span::ZERO };
}

/// SKP ordered sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Skp {
    /// From one due time to the next \[ticks\].
    pub period: u64,
    /// The time of one on the wire \[ticks\]; zero if SKP is off.
    pub duration: u64,
}

/// What becomes of the DLLPs that TLPs cause on the opposite direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DllpMode {
    /// They take no wire time.
    Off,
    /// They are paid in a lump with the SKP.
    Lump,
    /// Each is sent by itself.
    Each,
}

/// DLLPs caused by the TLPs of a direction, and how this direction sends those caused by the opposite one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dllps {
    /// How they are sent.
    pub mode: DllpMode,
    /// An ACK for every so many TLPs of this direction; 0 for none.
    pub ack_every: u32,
    /// An UpdateFC for every so many TLPs of this direction; 0 for none.
    pub update_every: u32,
    /// In mode `Each`: from the last byte of the TLP at the receiver to the DLLP being due there.
    pub delay: Span,
}

/// Bit errors and what they cost.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Errors {
    /// The share of bits that arrive corrupted; 0 for a perfect link.
    pub bit_error_ratio: f64,
    /// From the last byte of a corrupted TLP at the receiver to its NAK leaving, with the NAK's own time on the wire.
    pub nak_latency: Span,
    /// The time of a Recovery, after a TLP was corrupted
    /// [`REPLAY_NUM_ROLLOVER`](crate::spec::constants::REPLAY_NUM_ROLLOVER) times in a row.
    pub retrain: Span,
    /// Recoveries because of bits outside TLPs; both directions of a link say the same.
    pub recoveries: Option<Recoveries>,
}

impl Errors {
    /// A perfect link.
    pub const NONE: Self =
        Self { bit_error_ratio: 0.0, nak_latency: Span::ZERO, retrain: Span::ZERO, recoveries: None };
}

/// Recoveries that come by chance: a corrupted sync header, whether or not there is traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recoveries {
    /// The mean time from the end of one to the start of the next.
    pub interval: Span,
    /// How long each takes.
    pub lasts: Span,
}

/// One direction of a link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Direction {
    /// Bytes on the wire.
    pub rate: LinkRate,
    /// The largest payload of a TLP on this link \[B\]: its Maximum Payload Size.
    pub payload_max: u16,
    /// The time of flight, retimers included.
    pub propagation: Span,
    /// What the receiver advertises.
    pub credits: Credits,
    /// The transmitter's replay buffer \[wire bytes\]; `None` for one that is never full.
    pub replay_buffer: Option<u32>,
    /// From the last byte at the receiver to the room in the replay buffer: coalescing, ACK, flight.
    pub ack_latency: Span,
    /// SKP ordered sets; both directions of a link have the same period.
    pub skp: Option<Skp>,
    /// DLLPs.
    pub dllps: Dllps,
    /// Bit errors.
    pub errors: Errors,
}

impl Direction {
    /// A wire and nothing else: no flight, no credits, no SKP, no DLLPs, no errors.
    #[must_use]
    pub const fn bare(rate: LinkRate) -> Self {
        Self {
            rate,
            payload_max: 4096,
            propagation: Span::ZERO,
            credits: Credits::INFINITE,
            replay_buffer: None,
            ack_latency: Span::ZERO,
            skp: None,
            dllps: Dllps { mode: DllpMode::Off, ack_every: 0, update_every: 0, delay: Span::ZERO },
            errors: Errors::NONE,
        }
    }
}

/// A train: `count` equal TLPs, handed in together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Train<U> {
    /// How many TLPs.
    pub count: u16,
    /// Their class.
    pub class: Class,
    /// The size of each on the wire, framing and header included \[B\].
    pub wire_bytes: u16,
    /// The payload of each \[B\].
    pub payload: u16,
    /// Where they go.
    pub to: EndpointId,
    /// Whether they may pass posted writes (completions only).
    pub relaxed: bool,
    /// Whether the sender wants to know when the last has left.
    pub notify: bool,
    /// Whether each TLP is delivered by itself (read requests, messages).
    pub singly: bool,
    /// What the caller wants to find on the other side.
    pub user: U,
}

/// TLPs that have arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery<U> {
    /// The endpoint they came from.
    pub from: EndpointId,
    /// The train's number among those of that endpoint.
    pub sequence: u64,
    /// The index of the first TLP in the train.
    pub first: u16,
    /// How many.
    pub count: u16,
    /// What the sender gave along.
    pub user: U,
}

/// When a TLP started on the links of its way \[ticks\].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Starts<'a> {
    /// On all of them; of a very long way, on the first [`super::RECORDED_HOPS`].
    All(&'a [u64]),
    /// On the last of several.
    Last(u64),
}

/// An error that a port of a link notices.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LinkError {
    /// The receiver: a TLP whose LCRC is wrong (Bad TLP).
    BadTlp,
    /// The transmitter: the same TLP failed REPLAY_NUM times in a row.
    ReplayNumRollover,
}

/// What the links ask of their surroundings, and tell them.
pub trait Environment<U> {
    /// The earliest instant at which anything that the links do not know yet can happen: the next event of anybody, or
    /// the first moment at which the outside may interfere. What is still to be handed in or freed of what happens just
    /// now counts, too: then it is the present.
    fn next_unknown(&mut self) -> Instant;
    /// The last instant for which anything may be decided now: the end of the slice that the caller is running.
    fn limit(&self) -> Instant;
    /// Asks for [`super::Fabric::pump`] of this egress at `at`, after everything else of that instant.
    fn wake(&mut self, egress: EgressId, at: Instant);
    /// TLPs arrive at `at`; the last of them started on the links of its way at these times.
    fn deliver(&mut self, to: EndpointId, at: Instant, delivery: Delivery<U>, starts: Starts<'_>);
    /// The last TLP of a train, which started at `start` \[ticks\], leaves its sender at `at`.
    fn departed(&mut self, from: EndpointId, at: Instant, start: u64, user: U);
    /// A port notices an error at `at`: of an egress the receiver that a TLP arrived corrupted, its transmitter that it
    /// has had to send one so often that the link goes through Recovery. Not asked for unless ports send messages.
    fn noticed(&mut self, egress: EgressId, error: LinkError, at: Instant) {
        let _ = (egress, error, at);
    }
    /// How many bits of TLPs arrive well before the next corrupted one on this egress.
    fn clean_bits(&mut self, egress: EgressId, bit_error_ratio: f64) -> u64;
    /// How long it is from the end of a Recovery, or the start of the run, to the next Recovery of this egress' link,
    /// by its mean. The egresses of a link are given the same, each in its turn.
    fn until_recovery(&mut self, egress: EgressId, mean: Span) -> Span;
}

/// A run of departures: the TLPs `first .. first + count` of a train left at `start`, `start + spacing`, … \[ticks\].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departures {
    /// On which egress.
    pub egress: EgressId,
    /// The endpoint that the train came from.
    pub from: EndpointId,
    /// The train's number among those of that endpoint.
    pub sequence: u64,
    /// The index of the first TLP.
    pub first: u16,
    /// How many.
    pub count: u16,
    /// The start of the first \[ticks\].
    pub start: u64,
    /// From one start to the next \[ticks\].
    pub spacing: u64,
}
