//! A watchdog against pause storms: a peer that pauses a queue permanently stops it, and with it the queues that feed
//! it.
//!
//! ```text
//!  paused ──────────────── detection ──► storm: frames are dropped, or forwarded against the pause
//!  pause … pause … pause ── restoration, without a pause ──► restored: pauses are obeyed again
//! ```
//!
//! A queue that its peer keeps paused for `detection`, without a gap in which it could have sent a frame, is in a
//! storm. The peer's pauses are then ignored until there has been none for `restoration`. Times are exact: real
//! switches poll their counters, and detect a storm later by up to one polling interval.

use super::super::pause::Pause;
use super::buffer::PRIORITIES;
use crate::ethernet::spec::{Rate, pause_time};

const NEVER: u64 = u64::MAX;

/// Action during a storm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StormAction {
    /// Frames of the queue are dropped, those in it and those that come, and frames of its priority that its peer
    /// sends.
    Drop,
    /// Frames of the queue are sent despite the pause.
    Forward,
    /// It is counted.
    Alert,
}

/// Detection of storms, and the action during a storm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WatchdogSpec {
    /// Time of pause after which a queue is in a storm \[ps\].
    pub detection_ps: u64,
    /// Time without a pause after which the storm is over \[ps\].
    pub restoration_ps: u64,
    /// Action during a storm.
    pub action: StormAction,
}

/// State of the queue of a priority.
#[derive(Clone, Copy, Debug)]
struct Queue {
    /// Time since which it has been paused without a gap, and known end of the pause.
    since: u64,
    until: u64,
    /// When the last known pause frame takes effect.
    last: u64,
    /// When a storm begins, or the present one ends; never if that is not known.
    due: u64,
    storms: bool,
}

/// Change of the state of a priority's queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Happens {
    /// A storm is detected.
    Storm(u8),
    /// It is over.
    Restored(u8),
}

/// The watchdog of a port.
#[derive(Debug)]
pub(super) struct Watchdog {
    spec: WatchdogSpec,
    rate: Rate,
    /// Whose queues are watched: a bit for each priority.
    watched: u8,
    queues: [Queue; PRIORITIES],
}

impl Watchdog {
    pub(super) const fn new(spec: WatchdogSpec, rate: Rate, watched: u8) -> Self {
        let queue = Queue { since: NEVER, until: 0, last: 0, due: NEVER, storms: false };
        Self { spec, rate, watched, queues: [queue; PRIORITIES] }
    }
    pub(super) const fn action(&self) -> StormAction {
        self.spec.action
    }
    /// Whether frames of this priority are dropped.
    pub(super) fn drops(&self, priority: u8) -> bool {
        self.spec.action == StormAction::Drop && self.queues[usize::from(priority)].storms
    }
    /// Handles a pause frame that takes effect at `at`, not before an earlier one \[ps\]. Returns the part of it that
    /// is obeyed.
    pub(super) fn hear(&mut self, at: u64, pause: Pause) -> Pause {
        let mut priorities = pause.priorities;
        for priority in (0..PRIORITIES as u8).filter(|one| self.watched & pause.priorities & 1 << one != 0) {
            let asks = pause.quanta > 0;
            let queue = &mut self.queues[usize::from(priority)];
            if queue.storms {
                if asks {
                    queue.last = at;
                    queue.due = queue.due.max(at + self.spec.restoration_ps);
                }
                if self.spec.action != StormAction::Alert {
                    priorities &= !(1 << priority);
                }
                continue;
            }
            if asks {
                queue.last = at;
            }
            if queue.due < at {
                // the storm begins earlier, whatever this frame asks for
                continue;
            }
            if !asks {
                (queue.since, queue.until) = (NEVER, at);
            } else {
                if queue.since == NEVER || queue.until < at {
                    queue.since = at;
                }
                queue.until = at + pause_time(self.rate, pause.quanta).as_ps();
            }
            let detected = queue.since.saturating_add(self.spec.detection_ps);
            queue.due = if queue.until > detected { detected } else { NEVER };
        }
        Pause { priorities, ..pause }
    }
    /// Time of the next change; never if that is not known.
    pub(super) fn next(&self) -> u64 {
        self.queues.iter().map(|queue| queue.due).min().unwrap_or(NEVER)
    }
    /// Carries out the next change.
    pub(super) fn happen(&mut self) -> Option<(u64, Happens)> {
        let queues = (0..PRIORITIES as u8).zip(&mut self.queues);
        let (priority, queue) =
            queues.min_by_key(|(_, queue)| queue.due).filter(|(_, queue)| queue.due != NEVER)?;
        let at = queue.due;
        queue.storms = !queue.storms;
        if queue.storms {
            queue.due = (queue.last + self.spec.restoration_ps).max(at + 1);
            return Some((at, Happens::Storm(priority)));
        }
        (queue.since, queue.until, queue.due) = (NEVER, at, NEVER);
        Some((at, Happens::Restored(priority)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUANTUM: u64 = 512 * 10;

    fn watchdog(action: StormAction) -> Watchdog {
        let spec = WatchdogSpec { detection_ps: 10 * QUANTUM, restoration_ps: 20 * QUANTUM, action };
        Watchdog::new(spec, Rate::G100, 1 << 3)
    }
    fn pause(quanta: u16) -> Pause {
        Pause { priorities: 0b1001, quanta }
    }

    #[test]
    fn a_pause_that_is_asked_for_again_and_again_is_a_storm_until_it_is_not() {
        let mut own = watchdog(StormAction::Drop);
        for at in [1, 5, 9] {
            assert_eq!(own.hear(at * QUANTUM, pause(4)), pause(4));
        }
        assert_eq!(own.next(), 11 * QUANTUM, "from the first on");
        assert_eq!(own.happen(), Some((11 * QUANTUM, Happens::Storm(3))));
        assert!(own.drops(3) && !own.drops(0) && own.next() == 29 * QUANTUM);
        assert_eq!(
            own.hear(12 * QUANTUM, pause(4)),
            Pause { priorities: 1, quanta: 4 },
            "the other is obeyed"
        );
        assert_eq!(own.happen(), Some((32 * QUANTUM, Happens::Restored(3))));
        assert!(!own.queues[3].storms && own.next() == NEVER);
        own.hear(40 * QUANTUM, pause(11));
        assert_eq!(own.next(), 50 * QUANTUM, "from the beginning");
    }

    #[test]
    fn a_gap_or_a_resume_is_no_storm() {
        let mut own = watchdog(StormAction::Forward);
        own.hear(QUANTUM, pause(9));
        own.hear(10 * QUANTUM + 1, pause(9));
        assert_eq!(own.next(), NEVER, "a frame could have left in between");
        own.hear(15 * QUANTUM, pause(0));
        own.hear(15 * QUANTUM, pause(10));
        assert_eq!(own.next(), NEVER);
        own.hear(20 * QUANTUM, pause(6));
        assert_eq!(own.next(), 25 * QUANTUM);
        own.hear(24 * QUANTUM, pause(0));
        assert_eq!(own.next(), NEVER, "it let the queue go on in time");
    }

    #[test]
    fn what_comes_behind_the_beginning_of_a_storm_does_not_undo_it() {
        let mut own = watchdog(StormAction::Alert);
        own.hear(QUANTUM, pause(50));
        own.hear(12 * QUANTUM, pause(0));
        assert_eq!((own.next(), own.happen()), (11 * QUANTUM, Some((11 * QUANTUM, Happens::Storm(3)))));
        assert!(own.queues[3].storms && !own.drops(3));
        assert_eq!(own.hear(13 * QUANTUM, pause(4)), pause(4), "it is told of alone");
    }
}
