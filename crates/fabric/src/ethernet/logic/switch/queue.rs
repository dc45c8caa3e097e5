//! The queue of a priority at a port: frames in the order in which they can leave, as runs.

use super::super::train::Train;
use std::collections::VecDeque;

/// Frames of a train that came in at one port: the i-th can leave at `from + i × spacing_ps`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    /// When the first frame can leave \[ps\].
    pub(super) from: u64,
    /// The port that they came in at; of two that can leave at the same time the lower goes first.
    pub(super) ingress: u16,
    pub(super) train: Train,
}

impl Waiting {
    /// When the last frame can leave, and its ingress port.
    fn last(&self) -> (u64, u16) {
        (self.train.start_of(self.from, self.train.count - 1), self.ingress)
    }
    fn key(&self) -> (u64, u16) {
        (self.from, self.ingress)
    }
}

/// Runs in the order of time; no run reaches into the next.
#[derive(Default, Debug)]
pub(super) struct Queue(VecDeque<Waiting>);

impl Queue {
    /// When the first frame can leave. Returns `None` if the queue is empty.
    pub(super) fn head(&self) -> Option<u64> {
        self.0.front().map(|first| first.from)
    }
    /// Puts one frame in.
    pub(super) fn put(&mut self, frame: Waiting) {
        let Some(back) = self.0.back_mut() else { return self.0.push_back(frame) };
        if frame.key() < back.last() {
            return self.put_between(frame);
        }
        let count = back.train.count;
        let continues = back.ingress == frame.ingress && back.train.continues_with(&frame.train);
        if continues && count < u16::MAX {
            // two frames have the gap that they have, more the gap of the first two
            let gap = frame.from - back.from;
            if count == 1
                && let Ok(spacing_ps) = u32::try_from(gap)
            {
                back.train = Train { count: 2, spacing_ps, ..back.train };
                return;
            }
            if gap == u64::from(count) * u64::from(back.train.spacing_ps) {
                back.train.count += 1;
                return;
            }
        }
        self.0.push_back(frame);
    }
    /// Puts one frame in that can leave before the last of those that are there.
    fn put_between(&mut self, frame: Waiting) {
        let mut place = self.0.len();
        while place > 0 && frame.key() < self.0[place - 1].key() {
            place -= 1;
        }
        if place > 0 && frame.key() < self.0[place - 1].last() {
            // it belongs within a run
            let whole = self.0[place - 1];
            let before = (1..whole.train.count)
                .find(|&i| (whole.train.start_of(whole.from, i), whole.ingress) > frame.key())
                .unwrap_or(whole.train.count);
            self.0[place - 1].train = whole.train.first(before);
            let from = whole.train.start_of(whole.from, before);
            self.0.insert(place, Waiting { from, train: whole.train.after(before), ..whole });
        }
        self.0.insert(place, frame);
    }
    /// Takes the first frame out.
    pub(super) fn take(&mut self) -> Option<Waiting> {
        let first = self.0.front_mut()?;
        let frame = Waiting { train: first.train.first(1), ..*first };
        if first.train.count == 1 {
            self.0.pop_front();
        } else {
            first.from += u64::from(first.train.spacing_ps);
            first.train = first.train.after(1);
        }
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::train::{Class, Station};
    use super::*;
    use proptest::prelude::*;

    fn frame(from: u64, ingress: u16, number: u32) -> Waiting {
        let train = Train {
            from: Station(ingress),
            to: Station(9),
            count: 1,
            bytes: 100,
            spacing_ps: 0,
            class: Class::default(),
            entropy: 0,
            words: [number, 0, 0],
        };
        Waiting { from, ingress, train }
    }

    proptest! {
        /// Whatever comes when: out comes the order of (time, port).
        #[test]
        fn it_is_a_sorted_list(gaps in prop::collection::vec((0_u64..4, 0_u64..30, 0_u16..3), 1..60)) {
            let mut queue = Queue::default();
            let mut at = [0; 3];
            let mut numbers = [0; 3];
            let mut expected = Vec::new();
            for (gap, late, ingress) in gaps {
                let port = usize::from(ingress);
                at[port] += 1 + gap + if gap == 3 { late } else { 0 };
                queue.put(frame(at[port], ingress, numbers[port]));
                expected.push((at[port], ingress, numbers[port]));
                numbers[port] += 1;
            }
            expected.sort_unstable();
            let out = std::iter::from_fn(|| queue.take());
            let out: Vec<_> = out.map(|f| (f.from, f.ingress, f.train.words[0])).collect();
            prop_assert_eq!(out, expected);
        }
    }
}
