//! Dirty lines of a thread whose lines are never cached when it comes back to them: which is written back next, and
//! when.

use super::cache::Replacement;
use lanetwin_units::mix;
use std::collections::VecDeque;

/// Cache lines of each cold thread for dirty data, or fewer if the caches are smaller. More would only delay the
/// first write-back: by then a stored line is far from the lines being read.
pub(super) const SHARE: u64 = 1024;

/// Each thread's share of the cache lines, which keep dirty data until they are replaced.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    pub(super) lines: u64,
    /// Replacement in the share.
    pub(super) replacement: Replacement,
}

/// Lines with the steps at which they were stored to, and the dice of a cache that lets any line go.
#[derive(Debug)]
pub(super) struct Stored {
    lines: VecDeque<(u64, u64)>,
    dice: u64,
}

impl Stored {
    pub(super) const fn new(seed: u64) -> Self {
        Self { lines: VecDeque::new(), dice: seed }
    }
    /// A line has been stored to, in this step.
    pub(super) fn put(&mut self, line: u64, step: u64) {
        self.lines.push_back((line, step));
    }
    /// The dirty line evicted in this step, in which another line enters the thread's share. Under LRU it is the line
    /// stored to a fixed number of steps ago. Under random replacement it is any line of the share, which is dirty as
    /// often as lines of the share are, so that neighbouring lines are written back at different times and rarely find
    /// a DRAM row open.
    pub(super) fn let_go(&mut self, step: u64, share: Share) -> Option<u64> {
        let gone = match share.replacement {
            Replacement::Lru => {
                let due = self.lines.front().is_some_and(|(_, stored)| stored + share.lines <= step);
                if due { self.lines.pop_front() } else { None }
            }
            Replacement::Random if self.lines.is_empty() => None,
            Replacement::Random => {
                self.dice = self.dice.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let place = ((mix(self.dice) >> 32) * share.lines) >> 32;
                self.lines.swap_remove_back(place as usize)
            }
        };
        gone.map(|(line, _)| line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ages \[steps\] at which lines go, of a thread that stores in every second step.
    fn ages(replacement: Replacement) -> Vec<u64> {
        let mut stored = Stored::new(7);
        let mut ages = Vec::new();
        for step in 0..100_000 {
            if let Some(line) = stored.let_go(step, Share { lines: 1024, replacement }) {
                ages.push(step - line);
            }
            if step % 2 == 0 {
                stored.put(step, step);
            }
        }
        ages.split_off(10_000)
    }

    #[test]
    fn lru_lets_lines_go_in_their_order_and_random_replacement_at_any_age() {
        let (lru, random) = (ages(Replacement::Lru), ages(Replacement::Random));
        assert!(lru.iter().all(|age| *age == 1024));
        // a line goes with a chance of 1/1024 in every step: mean 1024, and as much deviation
        let count = random.len() as f64;
        let mean = random.iter().sum::<u64>() as f64 / count;
        let older = random.iter().filter(|age| **age > 1024).count() as f64 / count;
        assert!((mean / 1024.0 - 1.0).abs() < 0.05, "{mean}");
        assert!((older - 1.0_f64.exp().recip()).abs() < 0.02, "{older}");
        assert!((count / lru.len() as f64 - 1.0).abs() < 0.02);
    }
}
