//! Associations that are one of several paths: detection of their loss.
//!
//! ```text
//!  nothing comes any more ─► no Keep Alive while answers come ─► Keep Alive, unanswered ─► lost: its queues end
//!            at most half of driver.keep-alive, twice ──┘             └── driver.keep-alive
//! ```
//!
//! As in Linux (`drivers/nvme/host/core.c`, `nvme_keep_alive_work`, for controllers with traffic-based Keep Alive):
//! the work runs at half of the time-out; if a request was completed since its last run it sends no Keep Alive.
//! Anything received from the target counts as an answer: the command itself is not sent over the simulated network.
//! A connection given up by its transport ends the association at once.
//!
//! A lost association is reconnected every `driver.reconnect-delay`, with a connection for each queue, until all are
//! made or `driver.ctrl-loss-timeout` is over (`drivers/nvme/host/fabrics.h`, `nvmf_should_reconnect`). An attempt
//! without an answer is given up after `driver.connect-timeout`.

use crate::fabric_software::Recovery;
use lanetwin_units::{Instant, Span};

/// An association with a controller, by which one path leads.
#[derive(Clone, Debug)]
pub(super) struct Association {
    /// Its name among those of all hosts.
    pub(super) number: u32,
    /// Its queues, by their places.
    pub(super) queues: Vec<usize>,
    /// When something was last received from the target.
    heard: Instant,
    stage: Stage,
    /// Number of losses, and number of reconnection attempts since the last.
    losses: u32,
    attempts: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// No request is in flight: it is not checked.
    Idle,
    /// It is checked periodically.
    Watched,
    /// A Keep Alive was sent then.
    Asked(Instant),
    /// It is lost.
    Lost,
    /// It is being reconnected.
    Connecting,
    /// It is given up.
    Removed,
}

/// The action after a check of an association.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// To look again then.
    Look(Instant),
    /// None, as long as no request is in flight.
    Rest,
    /// To end its queues.
    Lose,
}

impl Association {
    pub(super) const fn new(number: u32) -> Self {
        Self { number, queues: Vec::new(), heard: Instant::ZERO, stage: Stage::Idle, losses: 0, attempts: 0 }
    }
    /// Something came from the target.
    pub(super) fn hear(&mut self, now: Instant) {
        self.heard = now;
    }
    /// Notes a request. Returns when to check, unless a check is scheduled.
    pub(super) fn watch(&mut self, now: Instant, keep_alive: Span) -> Option<Instant> {
        if self.stage != Stage::Idle {
            return None;
        }
        self.stage = Stage::Watched;
        Some(next_tick(now, keep_alive))
    }
    /// It is lost; whether it was not before.
    pub(super) fn lose(&mut self) -> bool {
        if self.is_lost() {
            return false;
        }
        (self.stage, self.attempts) = (Stage::Lost, 0);
        self.losses += 1;
        true
    }
    const fn is_lost(&self) -> bool {
        matches!(self.stage, Stage::Lost | Stage::Connecting | Stage::Removed)
    }
    /// The number of its present loss; `None` if it works.
    pub(super) fn loss(&self) -> Option<u32> {
        self.is_lost().then_some(self.losses)
    }
    /// The present attempt; `None` if there is none.
    pub(super) fn attempt(&self) -> Option<(u32, u64)> {
        (self.stage == Stage::Connecting).then_some((self.losses, self.attempts))
    }
    /// Time of the next attempt; `None` if it is given up now.
    pub(super) fn next_attempt(&mut self, now: Instant, recovery: Recovery) -> Option<Instant> {
        let given_up = self.attempts >= recovery.attempts;
        self.stage = if given_up { Stage::Removed } else { Stage::Lost };
        (!given_up).then(|| now + recovery.delay)
    }
    /// Begins an attempt. Returns whether one was due.
    pub(super) fn try_again(&mut self) -> bool {
        let is_next = self.stage == Stage::Lost;
        if is_next {
            self.stage = Stage::Connecting;
            self.attempts += 1;
        }
        is_next
    }
    /// Ends it on purpose, without reconnection. Returns whether it worked.
    pub(super) fn leave(&mut self) -> bool {
        let worked = !self.is_lost();
        self.losses += u32::from(worked);
        self.stage = Stage::Removed;
        worked
    }
    /// Begins to reconnect after a departure.
    pub(super) fn come_back(&mut self) {
        (self.stage, self.attempts) = (Stage::Lost, 0);
    }
    /// It works again.
    pub(super) fn work(&mut self, now: Instant) {
        (self.stage, self.heard) = (Stage::Idle, now);
    }
    /// Checks whether it is alive; `in_flight` says whether requests are in flight.
    pub(super) fn look(&mut self, now: Instant, keep_alive: Span, in_flight: bool) -> Next {
        match self.stage {
            Stage::Lost | Stage::Connecting | Stage::Removed | Stage::Idle => Next::Rest,
            _ if !in_flight => {
                self.stage = Stage::Idle;
                Next::Rest
            }
            Stage::Asked(at) if self.heard <= at => Next::Lose,
            Stage::Watched if self.heard + half(keep_alive) <= now => {
                self.stage = Stage::Asked(now);
                Next::Look(now + keep_alive)
            }
            Stage::Watched | Stage::Asked(_) => {
                self.stage = Stage::Watched;
                Next::Look(next_tick(now, keep_alive))
            }
        }
    }
}

fn half(keep_alive: Span) -> Span {
    Span::from_ps((keep_alive.as_ps() / 2).max(1))
}
/// The next multiple of half the time-out.
fn next_tick(now: Instant, keep_alive: Span) -> Instant {
    let half = half(keep_alive).as_ps();
    Instant::from_ps((now.as_ps() / half + 1) * half)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEEP_ALIVE: Span = Span::from_us(100);

    fn at(us: u64) -> Instant {
        Instant::ZERO + Span::from_us(us)
    }

    #[test]
    fn what_hears_nothing_is_lost_behind_a_keep_alive() {
        let mut own = Association::new(0);
        assert_eq!(own.watch(at(10), KEEP_ALIVE), Some(at(50)));
        assert_eq!(own.watch(at(20), KEEP_ALIVE), None, "somebody looks");
        own.hear(at(30));
        assert_eq!(own.look(at(50), KEEP_ALIVE, true), Next::Look(at(100)), "something came");
        assert_eq!(own.look(at(100), KEEP_ALIVE, true), Next::Look(at(200)), "a Keep Alive");
        assert_eq!(own.look(at(200), KEEP_ALIVE, true), Next::Lose);
        assert!(own.lose() && !own.lose());
    }

    #[test]
    fn what_is_lost_is_asked_for_again_until_it_is_given_up() {
        let recovery = Recovery { delay: KEEP_ALIVE, attempts: 2, answer: KEEP_ALIVE, waited_for: None };
        let mut own = Association::new(0);
        assert!(own.lose() && own.try_again());
        assert_eq!((own.attempt(), own.lose()), (Some((1, 1)), false), "it is lost already");
        assert_eq!(own.next_attempt(at(10), recovery), Some(at(110)));
        assert!(own.try_again() && !own.try_again());
        assert_eq!(own.next_attempt(at(20), recovery), None, "two attempts");
        assert!(!own.try_again() && own.loss() == Some(1));
        let mut other = Association::new(1);
        assert!(other.lose() && other.try_again());
        other.work(at(30));
        assert_eq!((other.loss(), other.attempt()), (None, None));
        assert!(other.lose() && other.loss() == Some(2));
    }

    #[test]
    fn what_is_left_is_asked_for_when_its_host_comes_back_and_not_before() {
        let mut own = Association::new(0);
        assert!(own.leave() && !own.leave());
        assert_eq!((own.lose(), own.try_again(), own.watch(at(10), KEEP_ALIVE)), (false, false, None));
        own.come_back();
        assert!(own.try_again() && own.attempt() == Some((1, 1)));
    }

    #[test]
    fn what_is_answered_or_not_asked_for_anything_goes_on() {
        let mut own = Association::new(0);
        assert_eq!(own.watch(at(10), KEEP_ALIVE), Some(at(50)));
        assert_eq!(own.look(at(50), KEEP_ALIVE, true), Next::Look(at(150)), "nothing came: a Keep Alive");
        own.hear(at(140));
        assert_eq!(own.look(at(150), KEEP_ALIVE, true), Next::Look(at(200)), "something came");
        assert_eq!(own.look(at(200), KEEP_ALIVE, false), Next::Rest, "nothing is asked for");
        assert_eq!(own.watch(at(420), KEEP_ALIVE), Some(at(450)));
    }
}
