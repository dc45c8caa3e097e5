//! What a machine is, as plain data: docs/link-model.md, section 2.

use super::simulator::{TICKS_PER_PS, byte_time};
use std::collections::BTreeMap;
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
    /// Between ports that have no latency of their own.
    pub latency_ps: u64,
    /// From the port of one link to the port of another.
    pub pair_latencies_ps: BTreeMap<(usize, usize), u64>,
    pub cut_through: bool,
    /// Of the ports of these links, 1 of the others; `None`: round robin.
    pub weights: Option<BTreeMap<usize, u64>>,
    pub core: Option<Core>,
}

impl Switch {
    /// Round robin without a core, one latency for all.
    pub fn plain(latency_ps: u64, cut_through: bool) -> Self {
        Self { latency_ps, pair_latencies_ps: BTreeMap::new(), cut_through, weights: None, core: None }
    }
    /// From the port of one link to the port of another.
    pub fn latency_between_ps(&self, from: usize, to: usize) -> u64 {
        self.pair_latencies_ps.get(&(from, to)).copied().unwrap_or(self.latency_ps)
    }
}

/// What moves TLPs from ingress buffers to outputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Core {
    Crossbar { speed_up: u64, output: OutputBuffer },
    SharedBus { speed_up: u64, output: OutputBuffer },
    SharedMemory { speed_up: u64 },
}

impl Core {
    pub fn speed_up(self) -> u64 {
        match self {
            Self::Crossbar { speed_up, .. }
            | Self::SharedBus { speed_up, .. }
            | Self::SharedMemory { speed_up } => speed_up,
        }
    }
    /// The buffer at each output, if it has one of its own.
    pub fn output(self) -> Option<OutputBuffer> {
        match self {
            Self::Crossbar { output, .. } | Self::SharedBus { output, .. } => Some(output),
            Self::SharedMemory { .. } => None,
        }
    }
}

/// The buffer at an output, for each class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutputBuffer {
    pub tlps: u64,
    /// So many times 16 B of payload.
    pub data: u64,
}

/// A column of a switch with a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column {
    pub switch: usize,
    /// The egress behind it.
    pub egress: usize,
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
    /// When it is down, one after another.
    pub outages: Vec<Outage>,
    /// Recoveries by chance.
    pub recoveries: Option<Recoveries>,
}

/// Recoveries that come by chance: as outages that nobody has announced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recoveries {
    /// From the end of each, or the start of the run, to the start of the next; behind the last there are none.
    pub gaps_ps: Rc<[u64]>,
    pub lasts_ps: u64,
}

impl Recoveries {
    /// All of them.
    fn outages(&self) -> impl Iterator<Item = Outage> {
        self.gaps_ps.iter().scan(0, |up_ps, gap_ps| {
            let down_ps = *up_ps + gap_ps;
            *up_ps = down_ps + self.lasts_ps;
            Some(Outage { down_ps, up_ps: *up_ps, then: None })
        })
    }
}

/// A link is down from `down_ps` until it is up at `up_ps`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outage {
    pub down_ps: u64,
    pub up_ps: u64,
    /// How it runs from then on, until the next; `None`: as it was declared.
    pub then: Option<Pace>,
}

/// How fast both directions of a link run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// 1 to 5.
    pub generation: u8,
    pub lanes: u64,
    /// The wire time of a SKP \[1/1024 ps\]; 0: SKP is off.
    pub skp_ticks: u64,
}

impl Link {
    /// If it is down now, when it is up again \[ticks\].
    pub fn up_again(&self, now: u64) -> Option<u64> {
        let recoveries = self.recoveries.iter().flat_map(Recoveries::outages);
        let all = self.outages.iter().copied().chain(recoveries);
        let mut ticks = all.map(|one| (one.down_ps * TICKS_PER_PS, one.up_ps * TICKS_PER_PS));
        ticks.find(|&(down, up)| down <= now && now < up).map(|(_, up)| up)
    }
    /// How a direction runs at a tick at which it is free, and up.
    pub fn pace(&self, direction: usize, now: u64) -> Pace {
        let last = self.outages.iter().rfind(|outage| outage.down_ps * TICKS_PER_PS <= now);
        last.and_then(|outage| outage.then).unwrap_or_else(|| self.directions[direction].pace())
    }
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

impl Direction {
    /// How it was declared.
    pub fn pace(&self) -> Pace {
        let Self { generation, lanes, skp_ticks, .. } = *self;
        Pace { generation, lanes, skp_ticks: skp_ticks.unwrap_or(0) }
    }
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
    /// The payload that the smallest output buffer holds, if there is one.
    pub fn least_output_bytes(&self) -> Option<u64> {
        let outputs = self.switches.iter().filter_map(|switch| switch.core.and_then(Core::output));
        outputs.map(|output| 16 * output.data).min()
    }
    /// How many there are, columns not among them.
    pub fn egresses(&self) -> usize {
        2 * self.links.len()
    }
    /// In the order of their numbers, which begin behind those of the egresses.
    pub fn columns(&self) -> Vec<Column> {
        let with_core = (0..self.switches.len()).filter(|&switch| self.switches[switch].core.is_some());
        let of_switch = |switch| {
            let node = Node::Switch(switch);
            let egress = move |link: usize| 2 * link + usize::from(self.links[link].ends[0] != node);
            self.links_of(node).into_iter().map(move |link| Column { switch, egress: egress(link) })
        };
        with_core.flat_map(of_switch).collect()
    }
    /// The core that a column belongs to.
    pub fn core(&self, column: Column) -> Core {
        self.switches[column.switch].core.expect("a column is part of a core")
    }
    /// The direction of a link that a column is `speed_up` times as fast as.
    pub fn pace(&self, column: Column) -> &Direction {
        let fastest = |a: &&Direction, b: &&Direction| {
            let [(a, per_a), (b, per_b)] = [a, b].map(|one| byte_time(one.generation, one.lanes));
            (a * per_b).cmp(&(b * per_a))
        };
        match self.core(column) {
            Core::Crossbar { .. } => self.direction(column.egress),
            Core::SharedBus { .. } | Core::SharedMemory { .. } => {
                let links = self.links_of(Node::Switch(column.switch));
                let directions = links.into_iter().map(|link| &self.links[link].directions[0]);
                directions.min_by(fastest).expect("it has the link of the column")
            }
        }
    }
    /// What an egress or a column may send before anything comes back.
    pub fn credits(&self, number: usize) -> [Credits; 3] {
        match number.checked_sub(self.egresses()) {
            None => self.direction(number).credits,
            Some(column) => match self.core(self.columns()[column]).output() {
                None => [Credits { header: None, data: None }; 3],
                Some(output) => [Credits { header: Some(output.tlps), data: Some(output.data) }; 3],
            },
        }
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
