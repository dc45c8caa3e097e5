//! Declarations of links before a run: endpoints, switches, directions, trains.

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

/// One end of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attach {
    /// A port of a device.
    Endpoint(EndpointId),
    /// The next free port of a switch.
    Switch(SwitchId),
}

/// The number of flow-control classes.
pub const CLASSES: usize = 3;

/// Behaviour of an endpoint towards its link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndpointSpec {
    /// The device's promise: a train handed in at `t` is not eligible before `t + lookahead`.
    pub lookahead: Span,
    /// How the receive buffer is drained.
    pub drain: Drain,
}

/// How a receive buffer at an endpoint is drained.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Drain {
    /// By the links: one TLP after another, each at least `latency` after its last byte.
    ByLink {
        /// Time from the last byte of a TLP until its buffer is free, in an idle receiver.
        latency: Span,
        /// Least time that each TLP occupies the receiver.
        per_tlp: Span,
        /// The rate at which the receiver takes in payload, if it is limited.
        payload_rate: Option<LinkRate>,
    },
    /// By the device, which reports it with [`super::Fabric::release`]; it reacts to a delivery after at least
    /// `lookahead`.
    ByDevice,
}

/// Parameters of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SwitchSpec {
    /// Time from when a TLP may be forwarded until it is eligible at the egress, for pairs of ports without a latency
    /// of their own ([`super::FabricBuilder::latency`]).
    pub latency: Span,
    /// When a TLP may be forwarded.
    pub forwarding: Forwarding,
    /// Arbitration at outputs.
    pub arbitration: Arbitration,
    /// The core that moves TLPs from ingress buffers to outputs; `None` if it never delays them.
    pub core: Option<Core>,
}

impl SwitchSpec {
    /// A switch without a core, with round-robin arbitration.
    #[must_use]
    pub const fn plain(latency: Span, forwarding: Forwarding) -> Self {
        Self { latency, forwarding, arbitration: Arbitration::RoundRobin, core: None }
    }
}

/// Arbitration at an output of a switch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Arbitration {
    /// Round robin over all inputs.
    RoundRobin,
    /// Turns of ingress ports in proportion to their weights ([`super::FabricBuilder::weight`]).
    Weighted,
}

/// The core of a switch, which moves TLPs from the ingress buffers to the outputs, at `speed_up` times the rate of a
/// link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Core {
    /// Each output takes TLPs independently, at a multiple of the rate of its own link.
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
    /// One memory holds the TLPs of all ports from arrival to departure; it is written one TLP at a time, at a
    /// multiple of the rate of the fastest link.
    SharedMemory {
        /// The multiple, at least 1.
        speed_up: u32,
    },
}

/// The buffer at an output of a switch, separate for each class of TLPs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutputBuffer {
    /// Number of TLPs, at least 1.
    pub tlps: u32,
    /// Payload \[16 B\]; at least that of the largest TLP.
    pub data: u32,
}

/// When a switch forwards a TLP.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Forwarding {
    /// When its header has been received, but never so early that a faster egress would underrun.
    CutThrough,
    /// When its last byte has been received.
    StoreAndForward,
}

/// The receive buffer of a direction, as advertised: credits by [`Class`]; `None` is infinite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Credits {
    /// Header credits: one per TLP.
    pub header: [Option<u32>; CLASSES],
    /// Data credits: one for each 16 B of payload.
    pub data: [Option<u32>; CLASSES],
    /// Time from a freed buffer until the transmitter can use its credits.
    pub latency: Span,
}

impl Credits {
    /// Infinite credits.
    pub const INFINITE: Self = Self { header: [None; CLASSES], data: [None; CLASSES], latency: Span::ZERO };
}

/// SKP ordered sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Skp {
    /// Time between due times \[ticks\].
    pub period: u64,
    /// Time of one on the wire \[ticks\]; 0 if SKP is off.
    pub duration: u64,
}

/// How the DLLPs that TLPs cause are sent in the opposite direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DllpMode {
    /// They take no wire time.
    Off,
    /// They are sent together with the SKP.
    Lump,
    /// Each is sent individually.
    Each,
}

/// DLLPs caused by the TLPs of a direction, and how this direction sends those caused by the opposite one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dllps {
    /// How they are sent.
    pub mode: DllpMode,
    /// Number of TLPs of this direction per ACK; 0 for no ACKs.
    pub ack_every: u32,
    /// Number of TLPs of this direction per UpdateFC; 0 for none.
    pub update_every: u32,
    /// In mode `Each`: time from the last byte of the TLP at the receiver until the DLLP is due there.
    pub delay: Span,
}

/// Bit errors and their cost.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Errors {
    /// The share of bits that arrive corrupted; 0 for a perfect link.
    pub bit_error_ratio: f64,
    /// Time from the last byte of a corrupted TLP at the receiver until its NAK has been sent, including the NAK's
    /// wire time.
    pub nak_latency: Span,
    /// The time of a Recovery, after a TLP was corrupted
    /// [`REPLAY_NUM_ROLLOVER`](crate::spec::constants::REPLAY_NUM_ROLLOVER) times in a row.
    pub retrain: Span,
    /// Recoveries caused by bits outside TLPs; equal in both directions of a link.
    pub recoveries: Option<Recoveries>,
}

impl Errors {
    /// A perfect link.
    pub const NONE: Self =
        Self { bit_error_ratio: 0.0, nak_latency: Span::ZERO, retrain: Span::ZERO, recoveries: None };
}

/// Random Recoveries, caused by corrupted sync headers, with and without traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recoveries {
    /// Mean time from the end of one to the start of the next.
    pub interval: Span,
    /// Duration of each.
    pub lasts: Span,
}

/// One direction of a link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Direction {
    /// Rate of bytes on the wire.
    pub rate: LinkRate,
    /// The largest payload of a TLP on this link \[B\]: its Maximum Payload Size.
    pub payload_max: u16,
    /// The time of flight, retimers included.
    pub propagation: Span,
    /// Credits advertised by the receiver.
    pub credits: Credits,
    /// The transmitter's replay buffer \[wire bytes\]; `None` for one that is never full.
    pub replay_buffer: Option<u32>,
    /// Time from the last byte at the receiver until replay buffer room is released: coalescing, ACK, flight.
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
    /// Number of TLPs.
    pub count: u16,
    /// Their class.
    pub class: Class,
    /// Size of each on the wire, with framing and header \[B\].
    pub wire_bytes: u16,
    /// Payload of each \[B\].
    pub payload: u16,
    /// Destination.
    pub to: EndpointId,
    /// Whether they may pass posted writes (completions only).
    pub relaxed: bool,
    /// Whether the sender is notified when the last TLP has left.
    pub notify: bool,
    /// Whether each TLP is delivered individually (read requests, messages).
    pub singly: bool,
    /// The caller's data, handed over with deliveries.
    pub user: U,
}

/// TLPs that have arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery<U> {
    /// The endpoint that sent them.
    pub from: EndpointId,
    /// The number of the train among those of that endpoint.
    pub sequence: u64,
    /// The index of the first TLP in the train.
    pub first: u16,
    /// Number of TLPs.
    pub count: u16,
    /// The sender's data.
    pub user: U,
}

/// Starts of a TLP on the links of its path \[ticks\].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Starts<'a> {
    /// On all of them; on a very long path on the first [`super::RECORDED_HOPS`].
    All(&'a [u64]),
    /// On the last of several links.
    Last(u64),
}

/// An error noticed by a port of a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LinkError {
    /// Noticed by the receiver: a TLP with a wrong LCRC (Bad TLP).
    BadTlp,
    /// Noticed by the transmitter: the same TLP failed REPLAY_NUM times in a row.
    ReplayNumRollover,
}

/// Services that the links need, and events that they report.
pub trait Environment<U> {
    /// The earliest instant of an event that the links do not know yet: the next event of any component, or the first
    /// instant at which the outside may interfere. If the present event may still hand in or free something, it is
    /// the present.
    fn next_unknown(&mut self) -> Instant;
    /// The last instant for which decisions may be made now: the end of the current slice.
    fn limit(&self) -> Instant;
    /// Asks for a call of [`super::Fabric::pump`] for this egress at `at`, after all other events of that instant.
    fn wake(&mut self, egress: EgressId, at: Instant);
    /// TLPs arrive at `at`; `starts` are those of the last of them.
    fn deliver(&mut self, to: EndpointId, at: Instant, delivery: Delivery<U>, starts: Starts<'_>);
    /// The last TLP of a train, which started at `start` \[ticks\], has left its sender at `at`.
    fn departed(&mut self, from: EndpointId, at: Instant, start: u64, user: U);
    /// A port notices an error at `at`: the receiver of an egress that a TLP arrived corrupted, or its transmitter
    /// that REPLAY_NUM has rolled over and the link enters Recovery. Only called if ports send messages.
    fn noticed(&mut self, egress: EgressId, error: LinkError, at: Instant) {
        let _ = (egress, error, at);
    }
    /// Number of bits of TLPs that arrive correctly before the next corrupted one on this egress.
    fn clean_bits(&mut self, egress: EgressId, bit_error_ratio: f64) -> u64;
    /// Time from the end of a Recovery, or the start of the run, to the next Recovery of this egress' link, with this
    /// mean. Both egresses of a link get the same values, each in its sequence of calls.
    fn until_recovery(&mut self, egress: EgressId, mean: Span) -> Span;
}

/// A run of departures: the TLPs `first .. first + count` of a train left at `start`, `start + spacing`, … \[ticks\].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departures {
    /// The egress.
    pub egress: EgressId,
    /// The endpoint that sent the train.
    pub from: EndpointId,
    /// The number of the train among those of that endpoint.
    pub sequence: u64,
    /// The index of the first TLP.
    pub first: u16,
    /// Number of TLPs.
    pub count: u16,
    /// The start of the first \[ticks\].
    pub start: u64,
    /// Time between starts \[ticks\].
    pub spacing: u64,
}
