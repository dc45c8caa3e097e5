//! Where TLPs wait, at an egress or a column, and whose turn it is: docs/link-model.md, sections 3 to 5.

use super::machine::{Class, Credits, Machine, Node, Pace, Train};
use std::collections::VecDeque;

/// A TLP that waits.
#[derive(Clone, Copy, Debug)]
pub struct Tlp {
    /// In the simulator's list of trains.
    pub train: usize,
    pub index: u32,
    /// How many egresses it has left, columns not counted.
    pub hop: usize,
    /// Since when it may leave \[ticks\].
    pub eligible: u64,
    pub relaxed: bool,
    /// That of the link that it came over last.
    pub pace: Pace,
}

pub struct Waiting {
    /// Eligible TLPs; `3 × ingress + class`.
    pub inputs: Vec<VecDeque<Tlp>>,
    pub credits: [Credits; 3],
    turn: Turn,
}

enum Turn {
    RoundRobin {
        /// The input that is asked first.
        pointer: usize,
    },
    Weighted {
        /// The ingress of each phase.
        phases: Vec<usize>,
        /// The phase that is asked first.
        pointer: usize,
        /// The class of each ingress that is asked first.
        classes: Vec<usize>,
    },
}

impl Waiting {
    /// What comes from a node on its way out.
    pub fn new(machine: &Machine, node: Node, credits: [Credits; 3]) -> Self {
        let (ingresses, turn) = match node {
            Node::Endpoint(_) => (1, Turn::RoundRobin { pointer: 0 }),
            Node::Switch(switch) => {
                let links = machine.links_of(node);
                let turn = match &machine.switches[switch].weights {
                    None => Turn::RoundRobin { pointer: 0 },
                    Some(weights) => {
                        let weights = links.iter().map(|link| weights.get(link).copied().unwrap_or(1));
                        let (phases, classes) = (phases(&weights.collect::<Vec<_>>()), vec![0; links.len()]);
                        Turn::Weighted { phases, pointer: 0, classes }
                    }
                };
                (links.len(), turn)
            }
        };
        Self { inputs: vec![VecDeque::new(); 3 * ingresses], credits, turn }
    }

    /// Section 4: the input whose turn it is among those that have a candidate. `room` is that of the replay buffer.
    pub fn choose(&self, now: u64, room: Option<u64>, trains: &[(usize, u32, Train)]) -> Option<usize> {
        let is_candidate = |&input: &usize| self.is_candidate(input, now, room, trains);
        match &self.turn {
            Turn::RoundRobin { pointer } => cyclic(*pointer, self.inputs.len()).find(is_candidate),
            Turn::Weighted { phases, pointer, classes } => {
                cyclic(*pointer, phases.len()).map(|phase| phases[phase]).find_map(|ingress| {
                    cyclic(classes[ingress], 3).map(|class| 3 * ingress + class).find(is_candidate)
                })
            }
        }
    }

    fn is_candidate(
        &self,
        input: usize,
        now: u64,
        room: Option<u64>,
        trains: &[(usize, u32, Train)],
    ) -> bool {
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
        let has_room = room.is_none_or(|room| room >= train.wire_bytes);
        tlp.eligible <= now && has_credits && in_order && has_room
    }

    /// The first TLP of `input` leaves: it takes credits, and it is the next one's turn.
    pub fn take(&mut self, input: usize, trains: &[(usize, u32, Train)]) -> Tlp {
        let (ingress, class) = (input / 3, input % 3);
        match &mut self.turn {
            Turn::RoundRobin { pointer } => *pointer = (input + 1) % self.inputs.len(),
            Turn::Weighted { phases, pointer, classes } => {
                let won = cyclic(*pointer, phases.len()).find(|&phase| phases[phase] == ingress);
                *pointer = (won.expect("every ingress has a phase") + 1) % phases.len();
                classes[ingress] = (class + 1) % 3;
            }
        }
        let tlp = self.inputs[input].pop_front().expect("it was chosen");
        let credits = &mut self.credits[class];
        credits.header = credits.header.map(|left| left - 1);
        let data = trains[tlp.train].2.payload_bytes.div_ceil(16);
        credits.data = credits.data.map(|left| left - data);
        tlp
    }

    pub fn return_credits(&mut self, class: Class, payload_bytes: u64, count: u64) {
        let credits = &mut self.credits[class as usize];
        credits.header = credits.header.map(|left| left + count);
        credits.data = credits.data.map(|left| left + count * payload_bytes.div_ceil(16));
    }

    pub fn is_empty(&self) -> bool {
        self.inputs.iter().all(VecDeque::is_empty)
    }
}

/// The ingresses in the order of the phases.
pub fn phases(weights: &[u64]) -> Vec<usize> {
    let rounds = 1..=weights.iter().copied().max().unwrap_or(0);
    rounds.flat_map(|round| (0..weights.len()).filter(move |&ingress| weights[ingress] >= round)).collect()
}

/// `0 … n − 1`, beginning with `first`.
fn cyclic(first: usize, n: usize) -> impl Iterator<Item = usize> {
    (0..n).map(move |step| (first + step) % n)
}
