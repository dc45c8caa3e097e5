//! Random switches: cores, arbitration, latencies of pairs of ports.

use super::draw::{Draw, MAX_PAYLOAD};
use super::machine::{Core, Machine, Node, OutputBuffer};
use std::collections::BTreeMap;

/// The heaviest port.
const MAX_WEIGHT: u64 = 8;
/// The fastest core, in multiples of the rate of a link.
const MAX_SPEED_UP: u64 = 8;

impl Draw {
    /// What can only be said when the links are known.
    pub fn tell_switches(&mut self, machine: &mut Machine) {
        let ports: Vec<_> =
            (0..machine.switches.len()).map(|at| machine.links_of(Node::Switch(at))).collect();
        for (switch, ports) in machine.switches.iter_mut().zip(ports) {
            if self.dice.one_in(2) {
                switch.core = Some(self.core());
            }
            if self.dice.one_in(3) {
                switch.weights = Some(self.weights(&ports));
            }
            if self.dice.one_in(3) {
                switch.pair_latencies_ps = self.pair_latencies_ps(&ports);
            }
        }
    }

    fn core(&mut self) -> Core {
        let speed_up = if self.dice.one_in(3) { 1 } else { 1 + self.dice.below(MAX_SPEED_UP) };
        match self.dice.below(3) {
            0 => Core::Crossbar { speed_up, output: self.output() },
            1 => Core::SharedBus { speed_up, output: self.output() },
            _ => Core::SharedMemory { speed_up },
        }
    }

    /// Often for one TLP only, or for one large payload only.
    fn output(&mut self) -> OutputBuffer {
        let largest = MAX_PAYLOAD / 16;
        let tlps = match self.dice.below(3) {
            0 => 1,
            1 => 1 + self.dice.below(4),
            _ => 64,
        };
        let data = match self.dice.below(3) {
            0 => largest,
            1 => largest + self.dice.below(3 * largest),
            _ => 64 * largest,
        };
        OutputBuffer { tlps, data }
    }

    /// Those that are not drawn are 1.
    fn weights(&mut self, ports: &[usize]) -> BTreeMap<usize, u64> {
        let weighed: Vec<usize> = ports.iter().copied().filter(|_| !self.dice.one_in(4)).collect();
        weighed
            .into_iter()
            .map(|link| (link, if self.dice.one_in(2) { 1 } else { 1 + self.dice.below(MAX_WEIGHT) }))
            .collect()
    }

    fn pair_latencies_ps(&mut self, ports: &[usize]) -> BTreeMap<(usize, usize), u64> {
        let pairs = ports.iter().flat_map(|&from| ports.iter().map(move |&to| (from, to)));
        let drawn: Vec<_> = pairs.filter(|&(from, to)| from != to && self.dice.one_in(2)).collect();
        drawn.into_iter().map(|pair| (pair, self.latency(300_000))).collect()
    }
}
