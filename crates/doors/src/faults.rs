//! What can be done to a drive while it runs. A fault is laid over the prediction, and answers that it had a hand in
//! are counted apart: they are no predictions.

use crate::command::{Kind, Request};
use lanetwin_units::{Instant, Span};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How much of a stripe over the dies each die has \[B\]. `assumed`: a page of flash.
const STRIPE: u64 = 16 << 10;

/// A fault, or the end of one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "fault")]
pub enum Fault {
    /// Reads of these bytes end with Unrecovered Read Error, until they are written again.
    MediaError {
        /// From this byte on.
        first: u64,
        /// So many.
        bytes: u64,
    },
    /// Of so many dies, over which the drive is striped, one takes longer for every read and write.
    SlowDie {
        /// Which, from 0.
        die: u64,
        /// Of how many.
        dies: u64,
        /// How much longer \[µs\].
        extra_us: u64,
    },
    /// The link is down for so long: nothing arrives, nothing is answered. What was asked is kept, as by a driver that
    /// tries again.
    LinkDown {
        /// How long \[ms\].
        for_ms: u64,
    },
    /// Flush and Force Unit Access are acknowledged and do nothing.
    Lie,
    /// All of these are over.
    None,
}

/// The faults that a drive has.
#[derive(Clone, Default, Debug)]
pub struct Faults {
    unreadable: Vec<Range<u64>>,
    slow: Option<(u64, u64, Span)>,
    down_until: Instant,
}

impl Faults {
    /// One more, from `now` on.
    pub fn add(&mut self, fault: &Fault, now: Instant) {
        match *fault {
            Fault::MediaError { first, bytes } => self.unreadable.push(first..first.saturating_add(bytes)),
            Fault::SlowDie { die, dies, extra_us } => {
                self.slow = Some((die, dies.max(1), Span::from_us(extra_us)));
            }
            Fault::LinkDown { for_ms } => {
                self.down_until = self.down_until.max(now + Span::from_us(for_ms.saturating_mul(1000)));
            }
            Fault::Lie => {}
            Fault::None => *self = Self::default(),
        }
    }
    /// When the link is up again; long ago, if it is.
    #[must_use]
    pub const fn down_until(&self) -> Instant {
        self.down_until
    }
    /// How much longer a request takes.
    #[must_use]
    pub fn extra(&self, request: Request) -> Span {
        let Some((die, dies, extra)) = self.slow else { return Span::ZERO };
        let (from, to) =
            (request.first / STRIPE, (request.first + u64::from(request.bytes)).div_ceil(STRIPE));
        let hits = request.kind != Kind::Flush && (from..to.min(from + dies)).any(|part| part % dies == die);
        if hits { extra } else { Span::ZERO }
    }
    /// Whether these bytes cannot be read.
    #[must_use]
    pub fn is_unreadable(&self, first: u64, bytes: u64) -> bool {
        self.unreadable.iter().any(|range| range.start < first + bytes && first < range.end)
    }
    /// These bytes were written again: other blocks of the medium have them now.
    pub fn written(&mut self, first: u64, bytes: u64) {
        if self.is_unreadable(first, bytes) {
            let end = first + bytes;
            let rest =
                |range: &Range<u64>| [range.start..range.end.min(first), range.start.max(end)..range.end];
            self.unreadable =
                self.unreadable.iter().flat_map(rest).filter(|range| !range.is_empty()).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_again_can_be_read() {
        let mut faults = Faults::default();
        faults.add(&Fault::MediaError { first: 4096, bytes: 8192 }, Instant::ZERO);
        assert!(faults.is_unreadable(0, 4097) && !faults.is_unreadable(0, 4096));
        faults.written(6144, 512);
        assert!(!faults.is_unreadable(6144, 512));
        assert!(faults.is_unreadable(6143, 1) && faults.is_unreadable(6656, 1));
        faults.add(&Fault::None, Instant::ZERO);
        assert!(!faults.is_unreadable(0, 1 << 20));
    }

    #[test]
    fn a_slow_die_slows_its_share_of_small_requests_and_every_large_one() {
        let mut faults = Faults::default();
        faults.add(&Fault::SlowDie { die: 1, dies: 4, extra_us: 100 }, Instant::ZERO);
        let slowed = |first, bytes| faults.extra(Request { kind: Kind::Read, first, bytes }) > Span::ZERO;
        let places = (0..64).filter(|place| slowed(place * STRIPE, 4096)).count();
        assert_eq!(places, 16);
        assert!(slowed(0, 64 << 10) && slowed(STRIPE, 4096) && !slowed(0, 4096));
    }
}
