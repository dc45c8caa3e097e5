//! The generator of edges: each bit of both ends is drawn from one matrix of probabilities, and vertices are renamed
//! (Graph 500 specification §3).

use super::super::scramble::Scramble;
use super::spec::Graph500;
use lanetwin_kernel::mix;

/// The probabilities of (0, 0), of (0, 1) and of (1, 0); the rest is that of (1, 1).
pub(super) const A: f64 = 0.57;
pub(super) const B: f64 = 0.19;
pub(super) const D: f64 = 1.0 - A - 2.0 * B;
/// Added to a counter before it is mixed.
const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// An edge, undirected.
pub type Edge = [u32; 2];

/// Edges of a Kronecker graph, each drawn from its number: they can be made in any order, and need not be kept.
#[derive(Clone, Copy, Debug)]
pub struct Kronecker {
    scale: u32,
    edges: u64,
    seed: u64,
    names: Scramble,
}

impl Kronecker {
    /// The edges of a graph.
    #[must_use]
    pub fn new(graph: &Graph500, seed: u64) -> Self {
        Self { scale: graph.scale, edges: graph.edges(), seed, names: Scramble::new(graph.scale, seed) }
    }
    /// All edges, loops included.
    pub fn edges(&self) -> impl Iterator<Item = Edge> + Clone + '_ {
        (0..self.edges).map(|number| self.edge(number).map(|label| self.names.apply(label) as u32))
    }
    /// An edge before vertices are renamed.
    pub(super) fn edge(&self, number: u64) -> [u64; 2] {
        let mut state = mix(self.seed ^ mix(number));
        let (mut from, mut to) = (0, 0);
        for _ in 0..self.scale {
            state = state.wrapping_add(GAMMA);
            let drawn = mix(state);
            let below = |share: f64| drawn < (share * 2_f64.powi(64)) as u64;
            let (down, right) = (!below(A + B), below(A + B) && !below(A) || !below(A + 2.0 * B));
            from = from << 1 | u64::from(down);
            to = to << 1 | u64::from(right);
        }
        [from, to]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_have_their_probabilities() {
        let graph = Kronecker::new(&Graph500::of_scale(10), 1);
        let mut counts = [[0_u32; 2]; 2];
        for number in 0..20_000 {
            let [from, to] = graph.edge(number);
            (0..10).for_each(|bit| counts[(from >> bit & 1) as usize][(to >> bit & 1) as usize] += 1);
        }
        for (count, share) in counts.as_flattened().iter().zip([A, B, B, D]) {
            assert!((f64::from(*count) / 200_000.0 - share).abs() < 0.005, "{counts:?}");
        }
    }
}
