//! The table of a weighted arbitration.

use super::spec::CLASSES;

/// The table of an output, and its current phase.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// The ingress of each phase.
    pub(super) phases: Vec<u8>,
    /// The phase that is first in turn.
    pub(super) phase: usize,
    /// For each ingress the class that is first in turn.
    pub(super) class: Vec<u8>,
}

impl Turns {
    /// The table for ingresses with these weights: round *n* has a phase for every ingress with a weight of at least
    /// *n*.
    pub fn new(weights: &[u32]) -> Self {
        let rounds = weights.iter().copied().max().unwrap_or(0);
        let round = |n: u32| (0..weights.len()).filter(move |&i| weights[i] >= n).map(|i| i as u8);
        Self { phases: (1..=rounds).flat_map(round).collect(), phase: 0, class: vec![0; weights.len()] }
    }

    /// The winner among these inputs, one bit each.
    pub(super) fn winner(&self, candidates: u128) -> Option<usize> {
        let of = |ingress: u8| candidates >> (usize::from(ingress) * CLASSES) & ((1 << CLASSES) - 1);
        let (before, from) = self.phases.split_at(self.phase);
        let ingress = usize::from(*from.iter().chain(before).find(|&&ingress| of(ingress) != 0)?);
        let first = usize::from(self.class[ingress]);
        let class = (first..first + CLASSES).map(|class| class % CLASSES);
        let class = class.into_iter().find(|&class| candidates >> (ingress * CLASSES + class) & 1 != 0)?;
        Some(ingress * CLASSES + class)
    }

    /// Advances the table after an input has sent `m` TLPs without competitors.
    #[inline(never)]
    pub fn advance(&mut self, input: usize, m: u16) {
        let ingress = input / CLASSES;
        self.class[ingress] = ((input + 1) % CLASSES) as u8;
        let own = |phase: &usize| usize::from(self.phases[*phase]) == ingress;
        let all = self.phases.iter().filter(|&&other| usize::from(other) == ingress).count();
        let mut ahead = (self.phase..self.phases.len()).chain(0..self.phase).filter(own);
        let last = ahead.nth((usize::from(m) - 1) % all).expect("every ingress has a phase");
        self.phase = if last + 1 == self.phases.len() { 0 } else { last + 1 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_spread() {
        assert_eq!(Turns::new(&[3, 1]).phases, [0, 1, 0, 0]);
        assert_eq!(Turns::new(&[1, 1, 2]).phases, [0, 1, 2, 2]);
    }

    #[test]
    fn a_run_moves_as_far_as_its_tlps_one_by_one() {
        for weights in [&[3, 1, 2][..], &[1, 5], &[4]] {
            for ingress in 0..weights.len() {
                for m in 1..20 {
                    let (mut run, mut single) = (Turns::new(weights), Turns::new(weights));
                    run.advance(ingress * CLASSES, m);
                    (0..m).for_each(|_| single.advance(ingress * CLASSES, 1));
                    assert_eq!(run.phase, single.phase, "{weights:?}, ingress {ingress}, {m} TLPs");
                }
            }
        }
    }
}
