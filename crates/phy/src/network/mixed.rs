//! Mixed mode: the waves of a pair as their difference and their sum.
//!
//! With a_d = (a_p − a_n)/√2 and a_c = (a_p + a_n)/√2, M is orthogonal and S' = M·S·Mᵀ. The reference of a difference
//! is twice that of a port (100 Ω for 50 Ω), that of a sum half of it (25 Ω).

use crate::complex::ZERO;
use crate::network::{Network, Pair, Pairing};
use crate::problem::{Finding, Problem};
use num_complex::Complex64;

/// Modes of the incoming and the outgoing wave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Block {
    /// Difference to difference: SDD.
    Dd,
    /// Sum in, difference out: SDC.
    Dc,
    /// Difference in, sum out: SCD.
    Cd,
    /// Sum to sum: SCC.
    Cc,
}

/// A network in mixed mode: the near pairs of all lanes, then the far pairs.
#[derive(Clone, PartialEq, Debug)]
pub struct MixedMode {
    pairs: usize,
    /// Ports: the differences of all pairs, then their sums.
    network: Network,
}

impl Network {
    /// In mixed mode, with the ports that the pairing names; others are taken as terminated.
    ///
    /// # Errors
    /// `PH016` if a port does not exist. `PH012` if the two ports of a pair have different reference resistances:
    /// renormalise first.
    pub fn mixed_mode(&self, pairing: &Pairing) -> Result<MixedMode, Finding> {
        let lanes = pairing.lanes();
        let pairs: Vec<Pair> =
            lanes.iter().map(|lane| lane.near).chain(lanes.iter().map(|lane| lane.far)).collect();
        let known = |port: usize| port < self.ports();
        if let Some(pair) = pairs.iter().find(|pair| !known(pair.p) || !known(pair.n)) {
            let why = format!("there is no port {}", pair.p.max(pair.n) + 1);
            return Err(Problem::BadPairing { why }.found());
        }
        let resistance = |pair: &Pair| (self.reference()[pair.p], self.reference()[pair.n]);
        if let Some((p, n)) = pairs.iter().map(resistance).find(|(p, n)| p != n) {
            let text = format!("{p} Ω for P and {n} Ω for N");
            return Err(Problem::Reference { text }.found());
        }
        let reference = pairs.iter().map(|pair| 2.0 * self.reference()[pair.p]);
        let reference = reference.chain(pairs.iter().map(|pair| 0.5 * self.reference()[pair.p])).collect();
        let mut cells = Vec::with_capacity(self.frequencies().len() * pairs.len() * pairs.len() * 4);
        for index in 0..self.frequencies().len() {
            self.push_mixed(index, &pairs, &mut cells);
        }
        let network = Self::unchecked(self.frequencies().to_vec(), reference, cells);
        Ok(MixedMode { pairs: pairs.len(), network })
    }
    fn push_mixed(&self, index: usize, pairs: &[Pair], cells: &mut Vec<Complex64>) {
        let (s, ports) = (self.at(index), self.ports());
        let modes = || [-1.0, 1.0].into_iter().flat_map(|sign| pairs.iter().map(move |pair| (*pair, sign)));
        for (to, row) in modes() {
            for (from, column) in modes() {
                let cell = |to: usize, from: usize| s[to * ports + from];
                let p = cell(to.p, from.p) + cell(to.p, from.n) * column;
                let n = cell(to.n, from.p) + cell(to.n, from.n) * column;
                cells.push((p + n * row) * 0.5);
            }
        }
    }
    /// The differential network of a pairing: near pairs first, then far pairs, twice the reference. What a
    /// differential wave leaves as a sum is lost, as at a receiver that ignores sums.
    ///
    /// # Errors
    /// As [`Network::mixed_mode`].
    pub fn differential(&self, pairing: &Pairing) -> Result<Self, Finding> {
        Ok(self.mixed_mode(pairing)?.block(Block::Dd))
    }
}

impl MixedMode {
    /// One block, as a network with a port for each pair. Dc and Cd are conversions, no networks of their own: their
    /// reference is that of the mode that comes out.
    #[must_use]
    pub fn block(&self, block: Block) -> Network {
        let (row, column) = match block {
            Block::Dd => (0, 0),
            Block::Dc => (0, self.pairs),
            Block::Cd => (self.pairs, 0),
            Block::Cc => (self.pairs, self.pairs),
        };
        let (pairs, ports) = (self.pairs, self.network.ports());
        let mut cells = Vec::with_capacity(self.network.frequencies().len() * pairs * pairs);
        for index in 0..self.network.frequencies().len() {
            let s = self.network.at(index);
            for r in row..row + pairs {
                cells.extend_from_slice(&s[r * ports + column..r * ports + column + pairs]);
            }
        }
        let reference = self.network.reference()[row..row + pairs].to_vec();
        Network::unchecked(self.network.frequencies().to_vec(), reference, cells)
    }
    /// All modes as one network: differences of all pairs, then sums.
    #[must_use]
    pub const fn network(&self) -> &Network {
        &self.network
    }
    /// The share of the power of a differential wave that leaves a pair as a sum, at each frequency: |SCD|².
    #[must_use]
    pub fn conversion(&self, to: usize, from: usize) -> Vec<f64> {
        self.block(Block::Cd).term(to, from).into_iter().map(|s| s.norm_sqr()).collect()
    }
}

/// What port `row` of a network in the order of `modes` is made of: (port, factor) twice, or once for a single-ended
/// one.
pub(crate) type Mode = [(usize, f64); 2];

/// S of single-ended ports from S of modes: with orthogonal M, S = Mᵀ·S'·M. `modes[k]` says what mode k is made of.
pub(crate) fn single_ended(s: &[Complex64], modes: &[Mode]) -> Vec<Complex64> {
    let ports = modes.len();
    let mut made = vec![ZERO; ports * ports];
    for (row, to) in modes.iter().enumerate() {
        for (column, from) in modes.iter().enumerate() {
            for (to_port, to_share) in to {
                for (from_port, from_share) in from {
                    made[to_port * ports + from_port] += s[row * ports + column] * (to_share * from_share);
                }
            }
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complex::magnitude;

    fn c(re: f64) -> Complex64 {
        Complex64::new(re, 0.0)
    }

    /// Two lines without coupling, of gains 0.8 and 0.4, ports 1, 3 near and 2, 4 far.
    fn unequal() -> Network {
        let mut cells = vec![ZERO; 16];
        for (a, b, gain) in [(0, 1, 0.8), (2, 3, 0.4)] {
            cells[a * 4 + b] = c(gain);
            cells[b * 4 + a] = c(gain);
        }
        Network::new(vec![1e9], vec![50.0; 4], cells).unwrap()
    }

    /// Unequal lines turn differences into sums: SDD21 = SCC21 = 0.6, SCD21 = SDC21 = 0.2.
    #[test]
    fn unequal_lines_convert_modes() {
        let mixed = unequal().mixed_mode(&Pairing::odd_near()).unwrap();
        for (block, gain) in [(Block::Dd, 0.6), (Block::Cc, 0.6), (Block::Dc, 0.2), (Block::Cd, 0.2)] {
            let s21 = mixed.block(block).term(1, 0)[0];
            assert!(magnitude(s21 - c(gain)) < 1e-15, "{block:?} {s21}");
        }
        assert_eq!(mixed.block(Block::Dd).reference(), [100.0, 100.0]);
        assert_eq!(mixed.block(Block::Cc).reference(), [25.0, 25.0]);
        assert!((mixed.conversion(1, 0)[0] - 0.04).abs() < 1e-15);
        let lane = Pairing::odd_near().lanes()[0];
        assert!(magnitude(unequal().differential_term(lane.far, lane.near)[0] - c(0.6)) < 1e-15);
    }

    #[test]
    fn modes_and_back_are_the_single_ended_network() {
        let net = unequal();
        let mixed = net.mixed_mode(&Pairing::odd_near()).unwrap();
        let root = core::f64::consts::FRAC_1_SQRT_2;
        let modes = [
            [(0, root), (2, -root)],
            [(1, root), (3, -root)],
            [(0, root), (2, root)],
            [(1, root), (3, root)],
        ];
        let back = single_ended(mixed.network().at(0), &modes);
        assert!(back.iter().zip(net.at(0)).all(|(a, b)| magnitude(a - b) < 1e-15), "{back:?}");
    }

    #[test]
    fn pairs_of_unequal_references_and_missing_ports_are_refused() {
        let odd = Network::new(vec![1.0], vec![50.0, 50.0, 75.0, 50.0], vec![ZERO; 16]).unwrap();
        assert_eq!(odd.mixed_mode(&Pairing::odd_near()).unwrap_err().code, "PH012");
        let small = Network::new(vec![1.0], vec![50.0; 2], vec![ZERO; 4]).unwrap();
        assert_eq!(small.mixed_mode(&Pairing::odd_near()).unwrap_err().code, "PH016");
    }
}
