//! Associations that are paths to what others lead to, too: how a host finds out that one is lost.
//!
//! ```text
//!  nothing comes any more ─► no Keep Alive while answers come ─► Keep Alive, unanswered ─► lost: its queues end
//!            at most half of driver.keep-alive, twice ──┘             └── driver.keep-alive
//! ```
//!
//! As Linux does it (`drivers/nvme/host/core.c`, `nvme_keep_alive_work`, where the controller has traffic-based Keep
//! Alive): the work runs each half of the time-out; where something was completed since it ran last it asks nothing.
//! What comes over the network from the target counts as an answer: the command itself takes no room on the network. A
//! connection that its transport gives up ends the association at once.

use lanetwin_units::{Instant, Span};

/// An association with a controller, by which one path leads.
#[derive(Clone, Debug)]
pub(super) struct Association {
    /// Its name among those of all hosts.
    pub(super) number: u32,
    /// Its queues, by their places.
    pub(super) queues: Vec<usize>,
    /// When something came from the target last.
    heard: Instant,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Nothing is asked for: nobody looks.
    Idle,
    /// Somebody looks from time to time.
    Watched,
    /// A Keep Alive was sent then.
    Asked(Instant),
    /// It is lost.
    Lost,
}

/// What is to be done with an association that was looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// To look again then.
    Look(Instant),
    /// Nothing, as long as nothing is asked for.
    Rest,
    /// To end its queues.
    Lose,
}

impl Association {
    pub(super) const fn new(number: u32) -> Self {
        Self { number, queues: Vec::new(), heard: Instant::ZERO, stage: Stage::Idle }
    }
    /// Something came from the target.
    pub(super) fn hear(&mut self, now: Instant) {
        self.heard = now;
    }
    /// Something is asked for: when to look, unless somebody does.
    pub(super) fn watch(&mut self, now: Instant, keep_alive: Span) -> Option<Instant> {
        if self.stage != Stage::Idle {
            return None;
        }
        self.stage = Stage::Watched;
        Some(next_tick(now, keep_alive))
    }
    /// It is lost; whether it was not before.
    pub(super) fn lose(&mut self) -> bool {
        std::mem::replace(&mut self.stage, Stage::Lost) != Stage::Lost
    }
    /// Looks whether it is alive; `in_flight` says whether anything is asked for.
    pub(super) fn look(&mut self, now: Instant, keep_alive: Span, in_flight: bool) -> Next {
        match self.stage {
            Stage::Lost | Stage::Idle => Next::Rest,
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
