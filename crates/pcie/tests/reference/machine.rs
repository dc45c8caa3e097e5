//! What a machine is, as plain data: docs/link-model.md, section 2.

use std::rc::Rc;

/// One port of a device.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Who takes TLPs out of the receive buffer.
    pub drain: Drain,
    /// The device hands in nothing that is ready sooner than this after it learnt of the reason \[ps\].
    pub lookahead_ps: u64,
}

/// Who takes TLPs out of an endpoint's receive buffer.
#[derive(Clone, Debug)]
pub enum Drain {
    /// The link model, by rule.
    ByLinks {
        /// From the arrival of the last byte until the TLP may be taken out \[ps\].
        drain_ps: u64,
        /// What taking out any TLP costs \[ps\].
        ingest_ps: u64,
        /// How fast payload is taken out \[B/s\]; `None`: at no cost.
        ingest_bytes_per_second: Option<u64>,
    },
    /// The device, when it says so.
    ByItself,
}

#[derive(Clone, Debug)]
pub struct Switch {
    pub latency_ps: u64,
    pub cut_through: bool,
}

/// What a link can end in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node {
    Endpoint(usize),
    Switch(usize),
}

/// Direction `d` leads from `ends[d]` to `ends[1 - d]`. It is egress `2 × link + d`.
#[derive(Clone, Debug)]
pub struct Link {
    pub ends: [Node; 2],
    pub directions: [Direction; 2],
    pub dllp: DllpMode,
}

/// Whether DLLPs take wire time, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DllpMode {
    Off,
    Lump,
    Each,
}

/// The credits a receiver advertises for one class; `None` is infinitely many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Credits {
    pub header: Option<u64>,
    pub data: Option<u64>,
}

/// Transmitter, wire and receiver.
#[derive(Clone, Debug)]
pub struct Direction {
    /// 1 to 5.
    pub generation: u8,
    pub lanes: u64,
    pub propagation_ps: u64,
    /// Of the receiver: posted, non-posted, completion.
    pub credits: [Credits; 3],
    pub credit_latency_ps: u64,
    pub ack_latency_ps: u64,
    /// `None`: never full.
    pub replay_buffer_bytes: Option<u64>,
    /// The period of the SKPs that leave here, also used for DLLPs in lumps, the same for both directions of a link
    /// \[1/1024 ps\].
    pub skp_period_ticks: u64,
    /// The wire time of a SKP \[1/1024 ps\]; `None`: SKP is off.
    pub skp_ticks: Option<u64>,
    /// Every so many TLPs that start here cause an ACK on the opposite direction; 0: none do.
    pub tlps_per_ack: u64,
    /// Every so many TLPs that start here cause an UpdateFC on the opposite direction; 0: none do.
    pub tlps_per_update: u64,
    /// From the arrival of a TLP that started here until its DLLP is due on the opposite direction \[ps\].
    pub dllp_delay_ps: u64,
    pub nak_latency_ps: u64,
    pub retrain_ps: u64,
    pub errors: Option<BitErrors>,
}

/// Where the corrupted bits of a direction lie.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BitErrors {
    /// By chance.
    Drawn {
        seed: u64,
        /// Distances are at least 1 and about this many bits in the mean.
        mean_distance_bits: u64,
    },
    /// At these distances; there must be enough of them.
    Listed(Rc<[u64]>),
}

impl BitErrors {
    /// The distance from corrupted bit `n − 1` to corrupted bit `n`, counted from 0; the first is counted from the
    /// start of the run, so that a distance of 1 corrupts the very next bit.
    pub fn distance(&self, n: u64) -> u64 {
        match self {
            Self::Drawn { seed, mean_distance_bits } => {
                // Now and then several times the mean, so that every TLP gets through in the end.
                let stretch = 1 + u64::from(hash(!seed, n).trailing_zeros());
                1 + hash(*seed, n) % mean_distance_bits * stretch
            }
            Self::Listed(distances) => distances[n as usize],
        }
    }
    /// The share of bits that are corrupted, roughly: it is not what decides.
    pub fn ratio(&self) -> f64 {
        match self {
            Self::Drawn { mean_distance_bits, .. } => 1.0 / *mean_distance_bits as f64,
            Self::Listed(distances) => distances.len() as f64 / distances.iter().sum::<u64>() as f64,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Machine {
    pub endpoints: Vec<Endpoint>,
    pub switches: Vec<Switch>,
    pub links: Vec<Link>,
}

/// The class a TLP belongs to, as flow control and ordering see it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    Posted,
    NonPosted,
    Completion,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    Write,
    Message,
    Read,
    Completion,
}

impl Kind {
    pub fn class(self) -> Class {
        match self {
            Self::Write | Self::Message => Class::Posted,
            Self::Read => Class::NonPosted,
            Self::Completion => Class::Completion,
        }
    }
    /// Section 9: delivered TLP by TLP, whoever drains the endpoint.
    pub fn is_delivered_one_by_one(self) -> bool {
        matches!(self, Self::Read | Self::Message)
    }
}

/// What the devices write on a train for each other. The links do not look at it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Tag {
    pub purpose: u8,
    pub stream: u8,
    pub transfer: u32,
    pub bytes: u32,
}

/// `count` equal TLPs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Train {
    pub kind: Kind,
    pub count: u32,
    /// Of one TLP, framing and header included.
    pub wire_bytes: u64,
    /// Of one TLP.
    pub payload_bytes: u64,
    pub destination: usize,
    /// Completions only: exempt from the order behind posted TLPs.
    pub relaxed: bool,
    /// The sender wants to know when the last TLP has left.
    pub notice: bool,
    pub tag: Tag,
}

impl Machine {
    pub fn egresses(&self) -> usize {
        2 * self.links.len()
    }
    pub fn direction(&self, egress: usize) -> &Direction {
        &self.links[egress / 2].directions[egress % 2]
    }
    pub fn transmitter(&self, egress: usize) -> Node {
        self.links[egress / 2].ends[egress % 2]
    }
    pub fn receiver(&self, egress: usize) -> Node {
        self.links[egress / 2].ends[1 - egress % 2]
    }
    /// The links of a node, in the order in which they were declared.
    pub fn links_of(&self, node: Node) -> Vec<usize> {
        (0..self.links.len()).filter(|&link| self.links[link].ends.contains(&node)).collect()
    }
}

/// A number that depends on nothing but `a` and `b` (the finaliser of SplitMix64).
pub fn hash(a: u64, b: u64) -> u64 {
    let mut z = a.wrapping_add(b.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
