//! Marking of frames by a switch: Random Early Detection (Floyd and Jacobson, IEEE/ACM Transactions on Networking
//! 1(4), 1993) on the length of the queue at arrival, as in switches for RoCE (Zhu et al., "Congestion Control for
//! Large-Scale RDMA Deployments", SIGCOMM 2015, figure 5).

use super::super::train::Train;
use lanetwin_units::mix;

/// Probability of marking by the length of the queue at arrival.
///
/// ```text
///  1     ┤         ┌──────
///  most  ┤       ／┘
///  0     ┼─────／─────────► queue
///            from  to
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Marking {
    /// Below this none is marked (`Kmin`) \[B\].
    pub from: u64,
    /// Queue length from which on every frame is marked (`Kmax`); not below `from` \[B\].
    pub to: u64,
    /// The probability just below `to` (`Pmax`), in millionths.
    pub most: u32,
}

impl Marking {
    /// Every frame that finds so much is marked.
    #[must_use]
    pub const fn step(from: u64) -> Self {
        Self { from, to: from, most: 1_000_000 }
    }

    /// Whether an ECN-capable frame that arrives at `at` \[ps\] with this queue length \[B\] is marked. The random
    /// number depends on the frame and its time alone, and not on the order of queries.
    #[must_use]
    pub fn marks(&self, queue: u64, at: u64, frame: &Train) -> bool {
        if queue < self.from || queue >= self.to {
            return queue >= self.from;
        }
        let [number, message, rest] = frame.words.map(u64::from);
        let ends = u64::from(frame.from.0) << 16 | u64::from(frame.to.0);
        let draw = mix(mix(mix(at) ^ (number << 32 | message)) ^ (rest << 32 | ends));
        // draw / 2^64 < most / 10^6 × (queue - from) / (to - from)
        let share = (u128::from(self.most) << 64) / 1_000_000 * u128::from(queue - self.from);
        u128::from(draw) < share / u128::from(self.to - self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ethernet::logic::{Class, Station};

    /// Of 100,000 frames at each length as many are marked as the line says, to four standard deviations.
    #[test]
    fn the_probability_rises_in_a_line_and_then_jumps_to_one() {
        let marking = Marking { from: 1000, to: 5000, most: 200_000 };
        let frame = |number| Train {
            from: Station(1),
            to: Station(2),
            count: 1,
            bytes: 1082,
            spacing_ps: 0,
            class: Class::default(),
            entropy: 0,
            words: [number, 5, 6],
        };
        let count = 100_000;
        for (queue, probability) in
            [(0, 0.0), (999, 0.0), (1000, 0.0), (2000, 0.05), (3000, 0.1), (4999, 0.2)]
        {
            let marked =
                (0..count).filter(|n| marking.marks(queue, u64::from(*n) * 86_560, &frame(*n))).count();
            let expected = f64::from(count) * probability;
            let most = 4.0 * (expected * (1.0 - probability)).sqrt();
            assert!((marked as f64 - expected).abs() <= most + 5.0, "{queue} B: {marked}, not {expected}");
        }
        assert!((0..1000).all(|n| marking.marks(5000, n, &frame(n as u32))));
        assert!((0..1000).all(|n| Marking::step(700).marks(700, n, &frame(n as u32))));
        assert!(!(0..1000).any(|n| Marking::step(700).marks(699, n, &frame(n as u32))));
    }
}
