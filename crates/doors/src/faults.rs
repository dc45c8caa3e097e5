//! Faults of a running drive. A fault is applied on top of the prediction; answers affected by faults are counted
//! separately, since they are not predictions.

use crate::command::{Kind, Request};
use lanetwin_kernel::Stream;
use lanetwin_units::{Instant, Span};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Size of each die's part of a stripe over the dies \[B\]. `assumed`: a page of flash.
const STRIPE: u64 = 16 << 10;

/// Time until a corrupted packet has been replayed \[ns\]. `assumed`: a NAK and the packet, over a link of some
/// metres.
const REPLAY_NS: u64 = 1000;
/// Traffic of a request on the link in addition to its data \[bits\]: entries of both queues, and headers of packets.
const REQUEST_BITS: u64 = 8 * (64 + 16 + 6 * 24);

/// A fault, or the end of one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "fault")]
pub enum Fault {
    /// Reads of these bytes end with Unrecovered Read Error, until they are written again.
    MediaError {
        /// First byte.
        first: u64,
        /// Number of bytes.
        bytes: u64,
    },
    /// One die, of those over which the drive is striped, takes longer for every read and write.
    SlowDie {
        /// Index of the die, from 0.
        die: u64,
        /// Number of dies.
        dies: u64,
        /// Additional time \[µs\].
        extra_us: u64,
    },
    /// The link is down for a time: nothing arrives and nothing is answered. Requests are kept, as by a driver that
    /// retries.
    LinkDown {
        /// Duration \[ms\].
        for_ms: u64,
    },
    /// Reads end with Unrecovered Read Error by chance.
    MediaErrors {
        /// One of this many.
        one_in: u64,
    },
    /// The link leaves its state of use for so long to train anew (PCIe Recovery): like a link that is down, but short.
    Retrain {
        /// Duration \[µs\].
        for_us: u64,
    },
    /// The link has bit errors: corrupted packets are replayed and arrive later.
    BitErrors {
        /// One bit of this many is wrong.
        one_in: u64,
    },
    /// The drive has no room left: writes end with Capacity Exceeded, but for as much as is deallocated.
    Full,
    /// Flush and Force Unit Access are acknowledged and do nothing.
    Lie,
    /// All of these are over.
    None,
}

/// When a fault takes effect.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct When {
    /// After so long.
    pub after: Span,
    /// Then again each time that so long has passed; once if that is nothing.
    pub every: Span,
    /// One request of this many, at random, instead of a time; 0 for a time.
    pub one_in: u64,
}

/// Faults that are still to come, of several drives.
#[derive(Clone, Default, Debug)]
pub struct ToCome {
    at: Vec<Timed>,
    by_chance: Vec<(u16, u64, Fault)>,
}

#[derive(Clone, Debug)]
struct Timed {
    at: Instant,
    every: Span,
    unit: u16,
    fault: Fault,
}

impl ToCome {
    /// One of a drive.
    pub fn plan(&mut self, now: Instant, unit: u16, (when, fault): (When, &Fault)) {
        let fault = fault.clone();
        match when.one_in {
            0 => self.at.push(Timed { at: now + when.after, every: when.every, unit, fault }),
            one_in => self.by_chance.push((unit, one_in, fault)),
        }
    }
    /// Those of a drive do not come.
    pub fn forget(&mut self, unit: u16) {
        self.at.retain(|timed| timed.unit != unit);
        self.by_chance.retain(|(of, ..)| *of != unit);
    }
    /// Takes faults that are due, in order. Of one that has been due several times only the last counts.
    pub fn due(&mut self, until: Instant) -> Vec<(Instant, u16, Fault)> {
        let mut due = Vec::new();
        self.at.retain_mut(|timed| {
            if timed.at > until {
                return true;
            }
            let missed = until.since(timed.at).as_ps().checked_div(timed.every.as_ps()).unwrap_or(0);
            let last = timed.at + timed.every * missed;
            due.push((last, timed.unit, timed.fault.clone()));
            timed.at = last + timed.every;
            timed.every > Span::ZERO
        });
        due.sort_by_key(|(at, ..)| *at);
        due
    }
    /// Those that come with a request to a drive, by chance.
    pub fn drawn(&self, unit: u16, chance: &mut Stream) -> Vec<Fault> {
        let of_it = self.by_chance.iter().filter(|(of, ..)| *of == unit);
        of_it.filter(|(_, one_in, _)| chance.below(*one_in) == 0).map(|(.., fault)| fault.clone()).collect()
    }
}

/// The faults that a drive has.
#[derive(Clone, Default, Debug)]
pub struct Faults {
    unreadable: Vec<Range<u64>>,
    slow: Option<(u64, u64, Span)>,
    down_until: Instant,
    /// The same of a link that is down, and not only in training.
    lost_until: Instant,
    /// One read of this many fails.
    unlucky: Option<u64>,
    /// One bit of this many is wrong.
    wrong_bits: Option<u64>,
    /// Bytes that can still be written \[B\], if the drive is full.
    room: Option<u64>,
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
                self.lost_until = self.lost_until.max(now + Span::from_us(for_ms.saturating_mul(1000)));
                self.down_until = self.down_until.max(self.lost_until);
            }
            Fault::Retrain { for_us } => self.down_until = self.down_until.max(now + Span::from_us(for_us)),
            Fault::MediaErrors { one_in } => self.unlucky = Some(one_in),
            Fault::BitErrors { one_in } => self.wrong_bits = Some(one_in),
            Fault::Full => self.room = Some(0),
            Fault::Lie => {}
            Fault::None => *self = Self::default(),
        }
    }
    /// When the link is up again; in the past if it is up.
    #[must_use]
    pub const fn down_until(&self) -> Instant {
        self.down_until
    }
    /// When the link is present again, if its loss is visible; in the past if it is present.
    #[must_use]
    pub const fn lost_until(&self) -> Instant {
        self.lost_until
    }
    /// Additional time of a request.
    #[must_use]
    pub fn extra(&self, request: Request, chance: &mut Stream) -> Span {
        self.of_die(request) + self.of_replays(request, chance)
    }
    /// Time of replays of corrupted packets.
    fn of_replays(&self, request: Request, chance: &mut Stream) -> Span {
        let Some(one_in) = self.wrong_bits.filter(|one_in| *one_in > 0) else { return Span::ZERO };
        let bits = u64::from(request.bytes) * 8 + REQUEST_BITS;
        let errors = bits / one_in + u64::from(chance.below(one_in) < bits % one_in);
        Span::from_ns(errors.saturating_mul(REPLAY_NS))
    }
    fn of_die(&self, request: Request) -> Span {
        let Some((die, dies, extra)) = self.slow else { return Span::ZERO };
        let (from, to) =
            (request.first / STRIPE, (request.first + u64::from(request.bytes)).div_ceil(STRIPE));
        let hits = request.kind != Kind::Flush && (from..to.min(from + dies)).any(|part| part % dies == die);
        if hits { extra } else { Span::ZERO }
    }
    /// Whether a read fails at random.
    pub fn is_unlucky(&self, chance: &mut Stream) -> bool {
        self.unlucky.is_some_and(|one_in| chance.below(one_in) == 0)
    }
    /// Takes room for written bytes. Returns false if there is not enough.
    pub fn take_room(&mut self, bytes: u64) -> bool {
        let left = self.room.map(|room| room.checked_sub(bytes));
        if let Some(Some(left)) = left {
            self.room = Some(left);
        }
        left != Some(None)
    }
    /// Frees room.
    pub fn give_room(&mut self, bytes: u64) {
        self.room = self.room.map(|room| room.saturating_add(bytes));
    }
    /// Whether any of these bytes is unreadable.
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
        let mut chance = Stream::new(1, "test", "faults");
        let mut slowed =
            |first, bytes| faults.extra(Request { kind: Kind::Read, first, bytes }, &mut chance) > Span::ZERO;
        let places = (0..64).filter(|place| slowed(place * STRIPE, 4096)).count();
        assert_eq!(places, 16);
        assert!(slowed(0, 64 << 10) && slowed(STRIPE, 4096) && !slowed(0, 4096));
    }

    #[test]
    fn bits_that_are_wrong_cost_what_they_cost_in_the_mean() {
        let mut faults = Faults::default();
        let mut chance = Stream::new(1, "test", "faults");
        let request = Request { kind: Kind::Read, first: 0, bytes: 4096 };
        assert_eq!(faults.extra(request, &mut chance), Span::ZERO);
        faults.add(&Fault::BitErrors { one_in: 1_000_000 }, Instant::ZERO);
        let sum: u64 = (0..100_000).map(|_| faults.extra(request, &mut chance).as_ps()).sum();
        // 34,560 bits, one of 10^6 is wrong, each costs 1 µs: 34.6 ns in the mean
        let mean_ns = sum as f64 / 100_000.0 / 1000.0;
        assert!((33.0..36.0).contains(&mean_ns), "{mean_ns}");
        // errors beyond one for each request
        faults.add(&Fault::BitErrors { one_in: 10_000 }, Instant::ZERO);
        assert!(faults.extra(request, &mut chance) >= Span::from_us(3));
    }

    #[test]
    fn a_full_drive_has_the_room_that_is_given_back() {
        let mut faults = Faults::default();
        assert!(faults.take_room(1 << 40));
        faults.add(&Fault::Full, Instant::ZERO);
        assert!(!faults.take_room(512));
        faults.give_room(4096);
        assert!(faults.take_room(4096) && !faults.take_room(1));
    }

    #[test]
    fn faults_come_at_their_time_again_and_by_chance() {
        let us = |us| Instant::ZERO + Span::from_us(us);
        let mut to_come = ToCome::default();
        let plan = |to_come: &mut ToCome, unit, (after, every, one_in), fault| {
            let when = When { after: Span::from_us(after), every: Span::from_us(every), one_in };
            to_come.plan(us(0), unit, (when, &fault));
        };
        plan(&mut to_come, 0, (10, 0, 0), Fault::Full);
        plan(&mut to_come, 0, (5, 20, 0), Fault::Retrain { for_us: 1 });
        plan(&mut to_come, 1, (0, 0, 50), Fault::LinkDown { for_ms: 1 });
        let mut times = |until| to_come.due(us(until)).into_iter().map(|(at, ..)| at).collect::<Vec<_>>();
        assert_eq!((times(4), times(9)), (vec![], vec![us(5)]));
        assert_eq!((times(30), times(24)), (vec![us(10), us(25)], vec![]));
        // nobody has looked for long: it came last at 85
        assert_eq!((times(100), times(104), times(105)), (vec![us(85)], vec![], vec![us(105)]));
        let mut chance = Stream::new(1, "test", "faults");
        let came = (0..50_000).filter(|_| !to_come.drawn(1, &mut chance).is_empty()).count();
        assert!((900..1100).contains(&came), "{came}");
        assert!((0..1000).all(|_| to_come.drawn(0, &mut chance).is_empty()));
        (0..2).for_each(|unit| to_come.forget(unit));
        assert!(to_come.due(Instant::NEVER).is_empty() && to_come.by_chance.is_empty());
    }

    #[test]
    fn one_read_of_so_many_fails() {
        let (mut faults, mut chance) = (Faults::default(), Stream::new(1, "test", "faults"));
        assert!(!faults.is_unlucky(&mut chance));
        faults.add(&Fault::MediaErrors { one_in: 50 }, Instant::ZERO);
        let failed = (0..50_000).filter(|_| faults.is_unlucky(&mut chance)).count();
        assert!((900..1100).contains(&failed), "{failed}");
    }
}
