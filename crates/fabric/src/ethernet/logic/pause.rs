//! Pause frames, and the gate of a port that obeys them.
//!
//! A pause frame asks the peer to start no frames of some priorities (Priority-based Flow Control, IEEE 802.1Qbb), or
//! of all (802.3 annex 31B, "802.3x"), for a time. A later frame replaces an earlier one; a time of 0 ends the pause.

use super::train::{Class, Station, Train};
use crate::ethernet::spec::{PAUSE_BYTES, Rate, pause_time};
use std::collections::VecDeque;

/// Priorities of 802.1Q, each with a pause of its own.
const PRIORITIES: usize = 8;

/// Content of a pause frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pause {
    /// Whom it is about: a bit for each priority.
    pub priorities: u8,
    /// For how long, in times of 512 bits; 0 ends the pause.
    pub quanta: u16,
}

impl Pause {
    /// The frame with this content.
    #[must_use]
    pub const fn frame(self) -> Train {
        Train {
            from: Station::NEIGHBOUR,
            to: Station::NEIGHBOUR,
            count: 1,
            bytes: PAUSE_BYTES as u16,
            spacing_ps: 0,
            class: Class::of_priority(7),
            entropy: 0,
            words: [(self.priorities as u32) << 16 | self.quanta as u32, 0, 0],
        }
    }
    /// The content of a frame. Returns `None` if it is not a pause frame.
    #[must_use]
    pub const fn of(train: &Train) -> Option<Self> {
        let [word, _, _] = train.words;
        if train.to.0 == Station::NEIGHBOUR.0 {
            Some(Self { priorities: (word >> 16) as u8, quanta: word as u16 })
        } else {
            None
        }
    }
    /// Whether it applies to this priority.
    #[must_use]
    pub const fn is_about(&self, priority: u8) -> bool {
        self.priorities >> priority & 1 == 1
    }
}

/// Priorities of a port that may start frames, over time.
///
/// Pause frames are known before they take effect. A caller that decides ahead asks when a priority is open, given
/// all pauses known by then.
#[derive(Clone, Debug)]
pub struct Gate {
    rate: Rate,
    /// When each priority is open again, by the pause frames that have taken effect \[ps\].
    until: [u64; PRIORITIES],
    /// Pause frames that had not taken effect at the last look, in the order of time.
    coming: VecDeque<(u64, Pause)>,
    /// Time that each priority had been closed by then \[ps\], and when that was.
    closed: [u64; PRIORITIES],
    settled: u64,
    /// When the last of them is open again \[ps\].
    shut: u64,
}

impl Gate {
    /// An open one, of a port of this rate.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        let coming = VecDeque::new();
        Self { rate, until: [0; PRIORITIES], coming, closed: [0; PRIORITIES], settled: 0, shut: 0 }
    }

    /// A pause frame has its effect at `at`, which is not before that of an earlier one \[ps\].
    pub fn hear(&mut self, at: u64, pause: Pause) {
        self.coming.push_back((at, pause));
    }

    /// Opens a priority from `at` on, whatever has been asked for \[ps\].
    pub fn open(&mut self, at: u64, priority: u8) {
        let place = self.coming.partition_point(|(effect, _)| *effect <= at);
        self.coming.iter_mut().skip(place).for_each(|(_, pause)| pause.priorities &= !(1 << priority));
        self.coming.insert(place, (at, Pause { priorities: 1 << priority, quanta: 0 }));
    }

    /// Whether no known pause extends beyond `at`.
    #[must_use]
    pub fn is_idle(&self, at: u64) -> bool {
        self.coming.is_empty() && self.shut <= at
    }

    /// The first time from `at` on at which a priority is open \[ps\], as far as is known.
    #[inline]
    #[must_use]
    pub fn opens(&self, priority: u8, at: u64) -> u64 {
        let open = at.max(self.until[usize::from(priority)]);
        if self.coming.is_empty() { open } else { self.opens_behind(priority, (at, open)) }
    }
    /// The same where pause frames are known that have had no effect yet; without them it is open at `open`.
    #[inline(never)]
    fn opens_behind(&self, priority: u8, (at, mut open): (u64, u64)) -> u64 {
        for (effect, pause) in self.coming.iter().filter(|(_, pause)| pause.is_about(priority)) {
            if open < *effect {
                break;
            }
            open = at.max(effect + self.time(pause));
        }
        open
    }
    /// When the next pause of this priority after `at` begins, if known \[ps\].
    #[must_use]
    pub fn closes(&self, priority: u8, at: u64) -> Option<u64> {
        let closes =
            |(effect, pause): &&(u64, Pause)| *effect > at && pause.is_about(priority) && pause.quanta > 0;
        self.coming.iter().find(closes).map(|(effect, _)| *effect)
    }

    /// Advances time to `now`, before which no query will be made.
    pub fn settle(&mut self, now: u64) {
        if self.coming.front().is_none_or(|(at, _)| *at > now) && self.shut <= self.settled {
            // nothing was closed since, and nothing is
            self.settled = self.settled.max(now);
            return;
        }
        while let Some((at, pause)) = self.coming.front().copied().filter(|(at, _)| *at <= now) {
            self.coming.pop_front();
            self.account(at);
            let until = at + self.time(&pause);
            let about = self.until.iter_mut().zip(0..).filter(|(_, priority)| pause.is_about(*priority));
            about.for_each(|(own, _)| *own = until);
            self.shut = self.until.iter().copied().max().unwrap_or(0);
        }
        self.account(now);
    }

    /// Time that each priority has been closed up to `now`, the present \[ps\].
    #[must_use]
    pub fn closed_ps(&self, now: u64) -> [u64; PRIORITIES] {
        let mut own = self.clone();
        own.settle(now);
        own.closed
    }

    /// Adds the time up to `now` to that of closed priorities.
    fn account(&mut self, now: u64) {
        let from = self.settled;
        for (closed, until) in self.closed.iter_mut().zip(self.until) {
            *closed += until.min(now).saturating_sub(from);
        }
        self.settled = now.max(from);
    }
    fn time(&self, pause: &Pause) -> u64 {
        pause_time(self.rate, pause.quanta).as_ps()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUANTUM: u64 = 512 * 10;

    fn pause(priorities: u8, quanta: u16) -> Pause {
        Pause { priorities, quanta }
    }

    #[test]
    fn a_frame_says_what_it_was_made_of() {
        let said = pause(0b1000, 65_535);
        assert_eq!(Pause::of(&said.frame()), Some(said));
        assert_eq!(Pause::of(&Train { to: Station(3), ..said.frame() }), None);
        assert!(!said.frame().continues_with(&said.frame()), "two are no train");
    }

    /// 100 quanta from 1000 on, cut short by a resume, for priority 3 alone.
    #[test]
    fn a_pause_closes_and_a_resume_opens() {
        let mut gate = Gate::new(Rate::G100);
        assert!(gate.is_idle(0));
        gate.hear(1000, pause(8, 100));
        assert_eq!([0, 999, 1000, 2000].map(|at| gate.opens(3, at)), [0, 999, 1000 + 100 * QUANTUM, 513_000]);
        assert_eq!((gate.opens(2, 1000), gate.closes(3, 0), gate.closes(3, 1000)), (1000, Some(1000), None));
        gate.hear(5000, pause(8, 0));
        assert_eq!([999, 1000, 5000, 6000].map(|at| gate.opens(3, at)), [999, 5000, 5000, 6000]);
        gate.settle(3000);
        assert_eq!(
            (gate.opens(3, 3000), gate.closed_ps(3000)[3], gate.closed_ps(9000)[3]),
            (5000, 2000, 4000)
        );
        gate.settle(9000);
        assert!(gate.is_idle(9000));
        assert_eq!((gate.closed_ps(9000)[3], gate.closed_ps(9000)[2]), (4000, 0));
    }

    /// What was asked for before and reaches beyond is over; what comes then is obeyed.
    #[test]
    fn what_is_opened_is_open() {
        let mut gate = Gate::new(Rate::G100);
        gate.hear(1000, pause(0b1001, 100));
        gate.hear(5000, pause(0b1001, 100));
        gate.open(3000, 3);
        assert_eq!([2000, 3000, 6000].map(|at| gate.opens(3, at)), [3000, 3000, 6000]);
        assert_eq!(gate.opens(0, 2000), 5000 + 100 * QUANTUM, "the other is closed");
        gate.hear(7000, pause(8, 1));
        gate.settle(20_000);
        assert_eq!((gate.opens(3, 7000), gate.closed_ps(20_000)[3]), (7000 + QUANTUM, 2000 + QUANTUM));
    }

    /// A pause that is asked for again goes on; one that is not ends by itself. All priorities at once: 802.3x.
    #[test]
    fn a_pause_ends_by_itself_unless_it_is_asked_for_again() {
        let mut gate = Gate::new(Rate::G100);
        gate.hear(0, pause(255, 2));
        gate.hear(QUANTUM, pause(255, 2));
        assert_eq!(gate.opens(0, 0), 3 * QUANTUM);
        gate.settle(10 * QUANTUM);
        assert_eq!(gate.closed_ps(10 * QUANTUM), [3 * QUANTUM; 8]);
        gate.hear(20 * QUANTUM, pause(255, 2));
        assert_eq!(gate.opens(7, 10 * QUANTUM), 10 * QUANTUM);
        assert_eq!(gate.opens(7, 21 * QUANTUM), 22 * QUANTUM);
    }
}
