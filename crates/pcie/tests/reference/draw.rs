//! Random machines: every corner of docs/link-model.md, with a bias to where it hurts.

use super::actor::{Actor, Delay, Plan, Stream, Transfer};
use super::machine::{
    BitErrors, Credits, Direction, DllpMode, Drain, Endpoint, Link, Machine, Node, Outage, Pace, Recoveries,
    Switch, hash,
};
use super::world::{Script, World};

/// The largest TLP that is drawn \[B of payload, B on the wire\].
pub const MAX_PAYLOAD: u64 = 512;
const MAX_WIRE: u64 = MAX_PAYLOAD + MAX_OVERHEAD;
const MAX_OVERHEAD: u64 = 28;

/// A machine and what its devices do.
pub struct Drawn {
    pub machine: Machine,
    plans: Vec<Plan>,
}

impl Drawn {
    /// Whether no device sends completions with relaxed ordering.
    pub fn is_strictly_ordered(&self) -> bool {
        self.plans.iter().all(|plan| !plan.relaxed)
    }
    /// The devices, as they are before a run.
    pub fn world(&self) -> World {
        let script = |(endpoint, plan): (usize, &Plan)| {
            Box::new(Actor::new(&self.machine, endpoint, plan.clone())) as Box<dyn Script>
        };
        World::new(self.plans.iter().enumerate().map(script).collect())
    }
}

/// A stream of random numbers.
pub struct Dice {
    seed: u64,
    thrown: u64,
}

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self { seed, thrown: 0 }
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.thrown += 1;
        hash(self.seed, self.thrown) % n
    }
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
    fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at as u64 + 1) as usize);
        }
    }
}

/// The machine with this seed.
pub fn machine(seed: u64) -> Drawn {
    let size = Size { tlps: 500, transfer: 4096, endpoints: 6 };
    Draw { dice: Dice::new(hash(0x1A9E, seed)), size, tiny: false }.machine()
}

/// The machine with this seed, with less to do.
pub fn small_machine(seed: u64) -> Drawn {
    let size = Size { tlps: 40, transfer: 512, endpoints: 4 };
    Draw { dice: Dice::new(hash(0x5707, seed)), size, tiny: false }.machine()
}

/// How much there is to do in a machine.
#[derive(Clone, Copy)]
struct Size {
    /// About how many TLPs the requesters send.
    tlps: u32,
    /// The largest transfer \[B\].
    transfer: u32,
    /// There are at least 2, and fewer than 2 more than this.
    endpoints: u64,
}

pub struct Draw {
    pub dice: Dice,
    size: Size,
    /// All latencies are 0 to 2 ps.
    tiny: bool,
}

impl Draw {
    fn machine(mut self) -> Drawn {
        self.tiny = self.dice.one_in(5);
        let mut machine = Machine::default();
        let mut ends = self.topology(&mut machine);
        self.dice.shuffle(&mut ends);
        let gentle = self.dice.one_in(4);
        let faulty = self.dice.one_in(10);
        for ends in ends {
            let ends = if self.dice.one_in(2) { ends } else { [ends[1], ends[0]] };
            let link = self.link(ends, gentle, faulty);
            machine.links.push(link);
        }
        self.tell_switches(&mut machine);
        if self.dice.one_in(4) {
            self.outages(&mut machine);
        }
        let plans = self.plans(machine.endpoints.len());
        Drawn { machine, plans }
    }

    /// Up to `most_ps`; rarely none at all, and next to none in a tiny machine.
    pub fn latency(&mut self, most_ps: u64) -> u64 {
        if self.tiny {
            self.dice.below(3)
        } else if self.dice.one_in(8) {
            0
        } else if self.dice.one_in(4) {
            self.dice.below(most_ps / 1000 + 1) * 1000
        } else {
            self.dice.below(most_ps + 1)
        }
    }

    fn delay(&mut self, most_ps: u64) -> Delay {
        let least_ps = self.latency(most_ps);
        let spread_ps = if self.dice.one_in(2) { 0 } else { self.latency(most_ps) };
        Delay { least_ps, spread_ps }
    }

    fn endpoint(&mut self) -> Endpoint {
        let drain = if self.dice.one_in(6) {
            Drain::ByItself
        } else {
            let slow = self.dice.one_in(3);
            Drain::ByLinks {
                drain_ps: self.latency(50_000),
                ingest_ps: if slow { self.latency(20_000) } else { 0 },
                ingest_bytes_per_second: (slow && self.dice.one_in(2))
                    .then(|| 1_000_000_000 + self.dice.below(30_000_000_000)),
            }
        };
        Endpoint { drain, lookahead_ps: self.latency(100_000) }
    }

    fn switch(&mut self) -> Switch {
        Switch::plain(self.latency(150_000), !self.dice.one_in(3))
    }

    /// Some links are down for 50 ns to 5 us, several times, now and then again at once, and some of them come back
    /// slower; some go through Recovery besides.
    fn outages(&mut self, machine: &mut Machine) {
        for link in &mut machine.links {
            if self.dice.one_in(3) {
                continue;
            }
            let (mut up_ps, paces) = (0, self.dice.one_in(2));
            for _ in 0..=self.dice.below(5) {
                let down_ps = match self.dice.below(4) {
                    0 => up_ps,
                    1 => up_ps + self.dice.below(20_000),
                    _ => up_ps + self.dice.below(8_000_000),
                };
                let most_ps = self.dice.pick(&[50_000, 500_000, 5_000_000]);
                let least_ps = if paces { 2 * link.directions[0].skp_period_ticks.div_ceil(1024) } else { 0 };
                up_ps = down_ps + 50_000.max(least_ps).max(self.dice.below(most_ps + 1));
                let then = paces.then(|| self.pace(&link.directions[0])).flatten();
                link.outages.push(Outage { down_ps, up_ps, then });
            }
            if self.dice.one_in(2) {
                let gaps_ps = (0..self.dice.below(12)).map(|_| self.dice.below(3_000_000)).collect();
                link.recoveries = Some(Recoveries { gaps_ps, lasts_ps: 1 + self.dice.below(2_000_000) });
            }
        }
    }

    /// How a link comes back: no faster than it was declared; often as it was.
    fn pace(&mut self, declared: &Direction) -> Option<Pace> {
        let generation = 1 + self.dice.below(declared.generation.into()) as u8;
        let lanes = self.dice.pick(&[1, 2, 4, 8, 12, 16, 32]).min(declared.lanes);
        let skp_ticks = if self.dice.one_in(2) { 0 } else { 1 + self.dice.below(16_000 * 1024) };
        (!self.dice.one_in(3)).then_some(Pace { generation, lanes, skp_ticks })
    }

    /// Endpoints and switches, and which of them are linked.
    fn topology(&mut self, machine: &mut Machine) -> Vec<[Node; 2]> {
        let most = self.size.endpoints;
        let endpoints = if self.dice.one_in(4) { 2 } else { 2 + self.dice.below(most) as usize };
        machine.endpoints = (0..endpoints).map(|_| self.endpoint()).collect();
        if endpoints == 2 && self.dice.one_in(2) {
            return vec![[Node::Endpoint(0), Node::Endpoint(1)]];
        }
        let shape = self.dice.below(10);
        let switches = match shape {
            0..4 => 1,
            4..9 => 2 + self.dice.below(3) as usize,
            _ => 4,
        };
        machine.switches = (0..switches).map(|_| self.switch()).collect();
        let mut links: Vec<[Node; 2]> = match shape {
            // a tree, sometimes with two links where one would do
            0..9 => self.tree(switches),
            // a ring: there are two ways between opposite corners
            _ => (0..4).map(|at| [Node::Switch(at), Node::Switch((at + 1) % 4)]).collect(),
        };
        if switches > 1 && self.dice.one_in(5) {
            links.push(links[0]);
        }
        for endpoint in 0..endpoints {
            // endpoint 0 is at the root of the tree
            let switch = if endpoint == 0 { 0 } else { self.dice.below(switches as u64) as usize };
            links.push([Node::Endpoint(endpoint), Node::Switch(switch)]);
        }
        links
    }

    /// A tree of switches, at most three levels of them.
    fn tree(&mut self, switches: usize) -> Vec<[Node; 2]> {
        let mut levels = vec![0];
        let mut links = Vec::new();
        for switch in 1..switches {
            // rather a cascade
            let near = if self.dice.one_in(2) { switch - 1 } else { self.dice.below(switch as u64) as usize };
            let parent = if levels[near] < 2 { near } else { 0 };
            levels.push(levels[parent] + 1);
            links.push([Node::Switch(parent), Node::Switch(switch)]);
        }
        links
    }

    fn credits(&mut self, tightness: u64) -> Credits {
        let of = |dice: &mut Dice, least: u64| match tightness {
            0 => Some(least),
            1 => Some(least + dice.below(3 * least + 2)),
            2 => (!dice.one_in(4)).then(|| least * (1 + dice.below(16))),
            _ => (!dice.one_in(2)).then_some(64 * least),
        };
        Credits { header: of(&mut self.dice, 1), data: of(&mut self.dice, MAX_PAYLOAD / 16) }
    }

    fn link(&mut self, ends: [Node; 2], gentle: bool, faulty: bool) -> Link {
        let dllp = self.dice.pick(&[DllpMode::Off, DllpMode::Lump, DllpMode::Each]);
        let mut directions = [self.direction(gentle, faulty), self.direction(gentle, faulty)];
        let [one, other] = &mut directions;
        other.skp_period_ticks = one.skp_period_ticks;
        (other.generation, other.lanes) = (one.generation, one.lanes);
        Link { ends, directions, dllp, outages: Vec::new(), recoveries: None }
    }

    fn direction(&mut self, gentle: bool, faulty: bool) -> Direction {
        let tightness = if gentle { 3 } else { self.dice.below(4) };
        let replay = if gentle { 4 } else { self.dice.below(6) };
        // As often as the standard asks for, or much more often, which finds more.
        let period_ps = self.dice.pick(&[6_152_000, 4_720_000, 1_523_437, 380_000, 150_000]);
        let period_ticks = period_ps * 1024 + self.dice.below(1024);
        let errors = (faulty && !self.dice.one_in(3)).then(|| BitErrors::Drawn {
            seed: self.dice.below(1 << 32),
            mean_distance_bits: self.dice.pick(&[1_500, 10_000, 100_000, 1_000_000]),
        });
        Direction {
            generation: 1 + self.dice.below(5) as u8,
            lanes: self.dice.pick(&[1, 2, 4, 8, 12, 16, 32]),
            propagation_ps: self.latency(30_000),
            credits: [self.credits(tightness), self.credits(tightness), self.credits(tightness)],
            credit_latency_ps: self.latency(300_000),
            ack_latency_ps: self.latency(500_000),
            replay_buffer_bytes: match replay {
                0 => Some(MAX_WIRE),
                1..3 => Some(MAX_WIRE + self.dice.below(6 * MAX_WIRE)),
                3 => Some(64 * MAX_WIRE),
                _ => None,
            },
            skp_period_ticks: period_ticks,
            skp_ticks: self.dice.one_in(2).then(|| 1 + self.dice.below(16_000 * 1024)),
            tlps_per_ack: self.dice.pick(&[0, 1, 2, 3, 4, 8]),
            tlps_per_update: self.dice.pick(&[0, 1, 2, 3, 4, 7]),
            dllp_delay_ps: self.latency(100_000),
            nak_latency_ps: self.latency(300_000),
            retrain_ps: self.latency(3_000_000),
            errors,
        }
    }

    fn plans(&mut self, endpoints: usize) -> Vec<Plan> {
        let reads = self.dice.pick(&[0, 0, 25, 50, 50, 75, 100, 100]);
        let peer_to_peer = self.dice.one_in(4);
        (0..endpoints)
            .map(|endpoint| {
                // Endpoint 0 is the host: it mostly answers.
                let idle = endpoint == 0 && endpoints > 2 && !self.dice.one_in(4);
                let streams = if idle { 0 } else { 1 + self.dice.below(2) };
                let streams =
                    (0..streams).map(|_| self.stream(endpoint, endpoints, reads, peer_to_peer)).collect();
                self.plan(streams)
            })
            .collect()
    }

    fn plan(&mut self, streams: Vec<Stream>) -> Plan {
        Plan {
            streams,
            memory: self.delay(400_000),
            completion_chunk: self.dice.pick(&[64, 128, 256]),
            completion_overhead_bytes: self.dice.pick(&[20, 24]),
            relaxed: self.dice.one_in(4),
            release: self.delay(200_000),
            early: self.dice.one_in(2),
            seed: self.dice.below(1 << 40),
        }
    }

    fn stream(&mut self, from: usize, endpoints: usize, reads: u64, peer_to_peer: bool) -> Stream {
        let target = if from != 0 && !peer_to_peer {
            0
        } else {
            (from + 1 + self.dice.below(endpoints as u64 - 1) as usize) % endpoints
        };
        let bytes = if self.dice.one_in(3) {
            1 + self.dice.below(self.size.transfer.into()) as u32
        } else {
            self.dice.pick(&[64, 128, 256, 512, 1024, 2048, 4096]).min(self.size.transfer)
        };
        let transfer = if self.dice.below(100) < reads {
            Transfer::Read(if self.dice.one_in(3) { 1 + self.dice.below(8) as u32 } else { 1 })
        } else if self.dice.one_in(8) {
            Transfer::Messages(1 + self.dice.below(4) as u32)
        } else {
            self.dice.pick(&[Transfer::Write, Transfer::AcknowledgedWrite])
        };
        let chunk = self.dice.pick(&[64, 128, 256, 512]);
        let tlps = match transfer {
            Transfer::Read(count) => count * (1 + bytes.div_ceil(128)),
            Transfer::Messages(count) => count,
            _ => bytes.div_ceil(chunk),
        };
        Stream {
            target,
            transfer,
            bytes,
            chunk,
            overhead_bytes: self.dice.pick(&[20, 24, MAX_OVERHEAD as u32]),
            in_flight: 1 + self.dice.below(32) as u32,
            transfers: self.size.tlps.div_ceil(tlps * endpoints as u32),
            think: self.delay(200_000),
        }
    }
}
