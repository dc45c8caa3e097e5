//! Ingress accounting of a switch that pauses its peers.
//!
//! ```text
//!            ┌───────────── room of a group ─────────────┐
//!   held ──► │         xon    xoff │      headroom       │ ──► no room: dropped
//!            └──────────┴──────┴───┴─────────────────────┘
//!                       resume  pause: what is on its way finds room in the headroom
//! ```
//!
//! A group comprises the frames that come in at a port with one priority (Priority-based Flow Control), or with all
//! (802.3x). Its buffer space is reserved, so that no other group can use it. A group that holds more than `xoff`
//! pauses its peer, and repeats the pause frame whenever half of the pause is over; when it holds at most `xon`, it
//! ends the pause.
//!
//! Not here: dynamic thresholds, headroom shared by several groups.

use super::super::pause::Pause;
use super::buffer::{Kept, PRIORITIES};
use super::watchdog::WatchdogSpec;
use crate::ethernet::spec::{Rate, pause_time};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Scope of a pause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// All that comes in at a port (802.3 annex 31B, "802.3x").
    Port,
    /// These priorities, each by itself (802.1Qbb): a bit for each.
    Priorities(u8),
}

impl Scope {
    /// Whose frames are not dropped: a bit for each priority.
    #[must_use]
    pub const fn priorities(self) -> u8 {
        match self {
            Self::Port => u8::MAX,
            Self::Priorities(priorities) => priorities,
        }
    }
}

/// How a switch pauses its peers, and obeys their pauses.
#[derive(Clone, Debug)]
pub struct PauseSpec {
    /// Scope of its pauses.
    pub scope: Scope,
    /// A group that holds more pauses its peer \[B\].
    pub xoff: u64,
    /// One that holds no more lets it go on \[B\].
    pub xon: u64,
    /// Space of a group above `xoff`, for each port \[B\].
    pub headroom: Vec<u64>,
    /// For how long it pauses a peer, in times of 512 bits.
    pub quanta: u16,
    /// Time from the last bit of a received pause frame until no frame is started, by port \[ps\].
    pub response_ps: Vec<u64>,
    /// Watchdog against permanent pauses by peers, if there is one.
    pub watchdog: Option<WatchdogSpec>,
}

impl PauseSpec {
    /// Number of groups of a port.
    const fn groups(&self) -> usize {
        match self.scope {
            Scope::Port => 1,
            Scope::Priorities(priorities) => priorities.count_ones() as usize,
        }
    }
    /// The room that a group of a port has \[B\].
    fn room(&self, port: usize) -> u64 {
        self.xoff + self.headroom.get(port).copied().unwrap_or(0)
    }
    /// Buffer space reserved for all groups.
    pub(super) fn kept(&self, ports: &[Option<Rate>]) -> Kept {
        let connected = ports.iter().enumerate().filter(|(_, rate)| rate.is_some());
        let rooms = connected.map(|(port, _)| self.room(port)).sum::<u64>();
        Kept { priorities: self.scope.priorities(), bytes: rooms * self.groups() as u64 }
    }
}

/// Frames of a group leave: the i-th of `count` gives its room back at `at + i × spacing` \[ps\].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Freed {
    at: u64,
    group: usize,
    spacing: u64,
    count: u16,
    room: u64,
}

/// Frames that come in at a port with one priority.
#[derive(Clone, Copy, Default, Debug)]
struct Group {
    held: u64,
    /// When it repeats its pause frame \[ps\]; `None` while it does not pause its peer.
    asks: Option<u64>,
}

/// Result of accounting for a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Taken {
    In,
    /// And its peer is paused.
    Pausing(Pause),
    Refused,
}

/// All groups. Times never decrease.
#[derive(Debug)]
pub(super) struct Ingress {
    spec: PauseSpec,
    rates: Vec<Option<Rate>>,
    groups: Vec<Group>,
    freed: BinaryHeap<Reverse<Freed>>,
    /// When groups repeat their pause frames, with the groups.
    asks: BTreeSet<(u64, usize)>,
}

impl Ingress {
    pub(super) fn new(spec: PauseSpec, rates: &[Option<Rate>]) -> Self {
        Self {
            groups: vec![Group::default(); rates.len() * PRIORITIES],
            rates: rates.to_vec(),
            freed: BinaryHeap::new(),
            asks: BTreeSet::new(),
            spec,
        }
    }

    /// The group of frames that come in at a port. Returns `None` for a lossy priority.
    fn group(&self, port: u16, priority: u8) -> Option<usize> {
        let own = match self.spec.scope {
            Scope::Port => 0,
            Scope::Priorities(priorities) if priorities >> priority & 1 == 1 => priority,
            Scope::Priorities(_) => return None,
        };
        Some(usize::from(port) * PRIORITIES + usize::from(own))
    }
    /// The content of a pause frame for a group.
    fn pause(&self, group: usize, quanta: u16) -> Pause {
        let priorities = match self.spec.scope {
            Scope::Port => u8::MAX,
            Scope::Priorities(_) => 1 << (group % PRIORITIES),
        };
        Pause { priorities, quanta }
    }

    /// A frame comes in that takes so much room.
    pub(super) fn take(&mut self, at: u64, (port, priority): (u16, u8), room: u64) -> Taken {
        let Some(group) = self.group(port, priority) else { return Taken::In };
        let own = &mut self.groups[group];
        if own.held + room > self.spec.room(port.into()) {
            return Taken::Refused;
        }
        own.held += room;
        if own.held <= self.spec.xoff || own.asks.is_some() {
            return Taken::In;
        }
        Taken::Pausing(self.ask(at, group))
    }
    /// Whether a further frame has room in its group.
    pub(super) fn has_room(&self, (port, priority): (u16, u8), room: u64) -> bool {
        self.group(port, priority)
            .is_none_or(|group| self.groups[group].held + room <= self.spec.room(port.into()))
    }
    /// Whether frames that hold at most this much cause no pause.
    pub(super) fn takes_run(&self, (port, priority): (u16, u8), most: u64) -> bool {
        let own = self.group(port, priority).map(|group| &self.groups[group]);
        own.is_none_or(|own| own.asks.is_none() && own.held + most <= self.spec.xoff)
    }
    /// Frames of which that is sure come in, and take so much room in all.
    pub(super) fn take_run(&mut self, (port, priority): (u16, u8), room: u64) {
        if let Some(group) = self.group(port, priority) {
            self.groups[group].held += room;
        }
    }
    /// Frames that came in at a port leave.
    pub(super) fn leave(
        &mut self,
        (at, spacing): (u64, u64),
        (port, priority): (u16, u8),
        (room, count): (u64, u16),
    ) {
        if let Some(group) = self.group(port, priority) {
            self.freed.push(Reverse(Freed { at, group, spacing, count, room }));
        }
    }

    /// Whether a port pauses its peer.
    pub(super) fn pauses(&self, port: u16) -> bool {
        let first = usize::from(port) * PRIORITIES;
        self.groups[first..first + PRIORITIES].iter().any(|group| group.asks.is_some())
    }
    /// Time of the next event: a release of space, or a repeated pause frame.
    pub(super) fn next(&self) -> Option<u64> {
        let freed = self.freed.peek().map(|Reverse(freed)| freed.at);
        freed.into_iter().chain(self.next_ask()).min()
    }
    /// Earliest time of the next pause frame, if known.
    pub(super) fn next_pause(&self) -> Option<u64> {
        if self.asks.is_empty() { None } else { self.next() }
    }
    fn next_ask(&self) -> Option<u64> {
        self.asks.first().map(|(at, _)| *at)
    }

    /// Processes the next event. Returns the resulting pause frame, with its port.
    pub(super) fn happen(&mut self) -> Option<(u16, Pause)> {
        let freed = self.freed.peek().map(|Reverse(freed)| *freed);
        let asks = self.next_ask();
        match freed.filter(|freed| asks.is_none_or(|asks| freed.at <= asks)) {
            Some(freed) => self.free(freed),
            None => {
                let (at, group) = self.asks.first().copied()?;
                let pause = self.ask(at, group);
                Some(((group / PRIORITIES) as u16, pause))
            }
        }
    }
    /// The first room that is to be given back is.
    fn free(&mut self, freed: Freed) -> Option<(u16, Pause)> {
        self.freed.pop();
        if freed.count > 1 {
            let (at, count) = (freed.at + freed.spacing, freed.count - 1);
            self.freed.push(Reverse(Freed { at, count, ..freed }));
        }
        let own = &mut self.groups[freed.group];
        own.held -= freed.room;
        if own.held > self.spec.xon {
            return None;
        }
        let asks = own.asks.take()?;
        self.asks.remove(&(asks, freed.group));
        Some(((freed.group / PRIORITIES) as u16, self.pause(freed.group, 0)))
    }
    /// Sends a pause frame for a group.
    fn ask(&mut self, at: u64, group: usize) -> Pause {
        let pause = self.pause(group, self.spec.quanta);
        let rate = self.rates[group / PRIORITIES].unwrap_or(Rate::G1);
        let again = at + (pause_time(rate, self.spec.quanta).as_ps() / 2).max(1);
        if let Some(before) = self.groups[group].asks.replace(again) {
            self.asks.remove(&(before, group));
        }
        self.asks.insert((again, group));
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 B and 500 B above; priority 3 of port 1.
    fn ingress() -> Ingress {
        let spec = PauseSpec {
            scope: Scope::Priorities(0b1000),
            xoff: 1000,
            xon: 600,
            headroom: vec![500; 2],
            watchdog: None,
            quanta: 100,
            response_ps: vec![0; 2],
        };
        Ingress::new(spec, &[Some(Rate::G100); 2])
    }

    #[test]
    fn a_group_pauses_above_xoff_and_resumes_at_xon() {
        let mut own = ingress();
        let group = (1, 3);
        let pause = |quanta| Pause { priorities: 8, quanta };
        assert_eq!((0..5).map(|_| own.take(0, group, 200)).filter(|took| *took == Taken::In).count(), 5);
        assert_eq!(own.take(10, group, 200), Taken::Pausing(pause(100)));
        assert_eq!(
            [200, 100, 1].map(|room| own.take(20, group, room)),
            [Taken::In, Taken::In, Taken::Refused]
        );
        assert!(own.pauses(1) && !own.pauses(0) && !own.has_room(group, 1));
        assert_eq!(own.take(20, (1, 2), 9000), Taken::In, "a lossy priority has no group");
        // half of 100 × 5120 ps later it asks again
        assert_eq!((own.next(), own.happen()), (Some(256_010), Some((1, pause(100)))));
        own.leave((300_000, 1_000), group, (200, 5));
        assert_eq!((0..4).filter_map(|_| own.happen()).count(), 0);
        assert_eq!((own.next_pause(), own.happen()), (Some(304_000), Some((1, pause(0)))));
        assert_eq!((own.next_pause(), own.pauses(1)), (None, false));
    }

    #[test]
    fn all_priorities_are_one_group_with_802_3x() {
        let mut own = ingress();
        own.spec.scope = Scope::Port;
        assert_eq!([own.take(0, (0, 1), 800), own.take(0, (0, 2), 200)], [Taken::In; 2]);
        assert_eq!(own.take(0, (0, 7), 1), Taken::Pausing(Pause { priorities: 255, quanta: 100 }));
    }

    #[test]
    fn a_run_is_taken_if_none_of_it_pauses() {
        let mut own = ingress();
        assert!(own.takes_run((0, 3), 1000) && !own.takes_run((0, 3), 1001));
        own.take_run((0, 3), 200);
        assert!(!own.takes_run((0, 3), 801) && own.takes_run((0, 2), 9000), "a lossy priority has no group");
    }
}
