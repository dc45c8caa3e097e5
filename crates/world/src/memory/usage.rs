//! Results of programs on a memory host.

use lanetwin_models::roles::memory::{Advised, Found, MemoryResults, NodeTraffic};
use lanetwin_units::Span;

/// Name of the program that chases pointers beside others; its latency is the one that is reported.
pub(super) const CHASE: &str = "chase";
const PS_PER_SECOND: f64 = 1e12;
const GB: f64 = 1e9;
const LINE: f64 = 64.0;

/// Results of the programs of a host, with the names of its nodes.
#[derive(Clone, Debug)]
pub struct MemoryUse {
    /// The host.
    pub host: String,
    /// Results of each program.
    pub programs: Vec<MemoryResults>,
    /// The names of the nodes, in the order of their numbers.
    pub nodes: Vec<String>,
    /// Time that they took, if they have ended.
    pub ended: Option<Span>,
    /// Hints about pages given to devices meanwhile, and the devices' answers.
    pub advised: Advised,
}

impl MemoryUse {
    pub(super) fn elapsed(&self) -> Span {
        self.ended.unwrap_or_else(|| self.programs.first().map_or(Span::ZERO, MemoryResults::elapsed))
    }
    /// Sum over all programs of a counter of a node.
    pub(super) fn sum(&self, node: usize, of: impl Fn(&NodeTraffic) -> u64) -> f64 {
        self.programs.iter().filter_map(|program| program.nodes.get(node)).map(of).sum::<u64>() as f64
    }
    /// Throughput \[GB/s\] of all nodes, or of one.
    pub(super) fn rate(&self, node: Option<usize>, of: impl Fn(&NodeTraffic) -> u64 + Copy) -> f64 {
        let ps = self.elapsed().as_ps();
        let lines: f64 = match node {
            Some(node) => self.sum(node, of),
            None => (0..self.nodes.len()).map(|node| self.sum(node, of)).sum(),
        };
        if ps == 0 { 0.0 } else { lines * LINE * PS_PER_SECOND / ps as f64 / GB }
    }
    /// The program whose loads give the latency: the one that chases pointers, if there is one.
    pub(crate) fn told(&self) -> Option<&MemoryResults> {
        self.programs.iter().find(|program| program.name == CHASE).or_else(|| self.programs.first())
    }
    pub(crate) fn found(&self) -> Found {
        let mut sum = Found::default();
        for Found { l1, l2, llc, under_way, memory } in self.programs.iter().map(|program| program.found) {
            sum.l1 += l1;
            sum.l2 += l2;
            sum.llc += llc;
            sum.under_way += under_way;
            sum.memory += memory;
        }
        sum
    }
}
