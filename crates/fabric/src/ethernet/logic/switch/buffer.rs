//! The packet buffer of a switch, shared by all ports, with a dynamic threshold for each queue (Choudhury and Hahne,
//! "Dynamic queue length thresholds for shared-memory packet switches", IEEE/ACM Transactions on Networking 6(2),
//! 1998): a queue may grow to alpha times the free space.

use super::super::train::Train;
use super::marking::Marking;
use std::collections::VecDeque;

/// Number of priorities, each with a queue at each port.
pub const PRIORITIES: usize = 8;

/// The size of a buffer and how it is shared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BufferSpec {
    /// All of it \[B\].
    pub bytes: u64,
    /// Size of its cells \[B\].
    pub cell: u32,
    /// Threshold of a queue relative to the free space: `alpha.0 / alpha.1`.
    pub alpha: (u32, u32),
    /// Marking of ECN-capable frames; `None` without marking.
    pub marking: Option<Marking>,
}

/// A part of a buffer that is kept for frames that must not be dropped.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Kept {
    /// Whose frames: a bit for each priority.
    pub(super) priorities: u8,
    /// Size \[B\].
    pub(super) bytes: u64,
}

impl BufferSpec {
    /// Space that a frame of this size occupies \[B\].
    #[must_use]
    pub const fn room_for(&self, frame: u16) -> u64 {
        let (frame, cell) = (frame as u64, self.cell as u64);
        // most cells are powers of two, and dividing takes long
        if cell.is_power_of_two() { (frame + cell - 1) & !(cell - 1) } else { frame.next_multiple_of(cell) }
    }
}

/// Admission of an arriving frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Admission {
    Taken,
    /// Taken, and marked if it can be.
    TakenAbove,
    Refused,
}

/// Room that is given back: by the i-th of `count` frames at `at + i × spacing` \[ps\].
#[derive(Clone, Copy, Debug)]
struct Release {
    at: u64,
    spacing: u64,
    count: u16,
    room: u64,
    priority: u8,
}

/// Buffer space held by the queues of a port.
#[derive(Default, Debug)]
struct Held {
    /// By priority \[B\].
    queues: [u64; PRIORITIES],
    /// Releases that have been decided, in the order of time.
    releases: VecDeque<Release>,
}

/// The buffer. Times of calls must not decrease.
#[derive(Debug)]
pub(super) struct Buffer {
    spec: BufferSpec,
    kept: Kept,
    /// Space held by all ports, before pending releases: of the shared part, and of the reserved part \[B\].
    used: [u64; 2],
    ports: Vec<Held>,
    /// For each port the time of its first pending release; never if there is none \[ps\].
    due: Vec<u64>,
}

/// Frames that are given back are counted once there are more of them, or once room is short.
const GIVEN_BACK: usize = 16;

impl Buffer {
    pub(super) fn new(spec: BufferSpec, kept: Kept, ports: usize) -> Self {
        let kept = Kept { bytes: kept.bytes.min(spec.bytes), ..kept };
        Self {
            spec,
            kept,
            used: [0; 2],
            ports: (0..ports).map(|_| Held::default()).collect(),
            due: vec![u64::MAX; ports],
        }
    }

    /// Takes a frame in that arrives at `now` for a queue, if there is room for it.
    pub(super) fn admit(&mut self, now: u64, (port, priority): (usize, u8), frame: &Train) -> Admission {
        let room = self.spec.room_for(frame.bytes);
        if self.may_mark(port, priority, 0) || !self.has_room(port, priority, room) || self.is_long(port) {
            self.settle(port, now);
            if !self.has_room(port, priority, room) {
                // releases of other ports up to now count, too
                self.settle_all(now);
                if !self.has_room(port, priority, room) {
                    return Admission::Refused;
                }
            }
        }
        let queue = &mut self.ports[port].queues[usize::from(priority)];
        let above = self.spec.marking.is_some_and(|marking| marking.marks(*queue, now, frame));
        *queue += room;
        self.used[self.part(priority)] += room;
        if above { Admission::TakenAbove } else { Admission::Taken }
    }

    /// Takes `count` frames in, the first at `now`, of which at most `at_once` are in the buffer at a time, if it is
    /// sure that each would be taken in without a mark, whatever else happens.
    pub(super) fn admit_run(
        &mut self,
        now: u64,
        (port, priority): (usize, u8),
        (frame, count, at_once): (u16, u16, u64),
    ) -> bool {
        let room = self.spec.room_for(frame);
        let most = room * (at_once - 1);
        let part = self.part(priority);
        let is_sure = |own: &Self| {
            let queue = own.ports[port].queues[usize::from(priority)];
            !own.may_mark(port, priority, most) && own.fits(part, queue + most, own.used[part] + most, room)
        };
        let mut sure = !self.is_long(port) && is_sure(self);
        if !sure {
            self.settle(port, now);
            sure = is_sure(self);
        }
        if sure {
            let all = room * u64::from(count);
            self.ports[port].queues[usize::from(priority)] += all;
            self.used[part] += all;
        }
        sure
    }

    /// Frames leave a queue: their room is free from `at` on, and every `spacing` \[ps\].
    pub(super) fn release(
        &mut self,
        (at, spacing): (u64, u64),
        (port, priority): (usize, u8),
        (frame, count): (u16, u16),
    ) {
        let room = self.spec.room_for(frame);
        self.due[port] = self.due[port].min(at);
        self.ports[port].releases.push_back(Release { at, spacing, count, room, priority });
    }

    /// Whether a frame is marked, or may be, if `more` bytes are added to its queue.
    fn may_mark(&self, port: usize, priority: u8, more: u64) -> bool {
        let queue = self.ports[port].queues[usize::from(priority)];
        self.spec.marking.is_some_and(|marking| queue + more >= marking.from)
    }
    /// Whether a port has so many pending releases that they should be processed.
    fn is_long(&self, port: usize) -> bool {
        self.ports[port].releases.len() > GIVEN_BACK
    }

    fn has_room(&self, port: usize, priority: u8, room: u64) -> bool {
        let part = self.part(priority);
        self.fits(part, self.ports[port].queues[usize::from(priority)], self.used[part], room)
    }
    /// The part of the buffer for frames of a priority: 0 shared, 1 reserved.
    fn part(&self, priority: u8) -> usize {
        usize::from(self.kept.priorities >> priority & 1)
    }
    /// Whether a frame is admitted with this fill of its queue and of its part of the buffer. A queue may use all of
    /// the reserved part.
    fn fits(&self, part: usize, queue: u64, used: u64, room: u64) -> bool {
        if part == 1 {
            return used + room <= self.kept.bytes;
        }
        let free = (self.spec.bytes - self.kept.bytes).saturating_sub(used);
        let (part, of) = self.spec.alpha;
        room <= free && u128::from(queue) * u128::from(of) < u128::from(free) * u128::from(part)
    }
    /// Processes the releases of a port up to `now`.
    #[inline]
    fn settle(&mut self, port: usize, now: u64) {
        if self.due[port] <= now {
            self.count_due(port, now);
        }
    }
    /// The same of all ports.
    fn settle_all(&mut self, now: u64) {
        (0..self.ports.len()).for_each(|port| self.settle(port, now));
    }
    #[inline(never)]
    fn count_due(&mut self, port: usize, now: u64) {
        let Held { queues, releases } = &mut self.ports[port];
        while let Some(first) = releases.front_mut().filter(|first| first.at <= now) {
            let due = (now - first.at).checked_div(first.spacing).map_or(u64::MAX, |gaps| gaps + 1);
            let count = due.min(first.count.into()) as u16;
            let room = u64::from(count) * first.room;
            queues[usize::from(first.priority)] -= room;
            self.used[usize::from(self.kept.priorities >> first.priority & 1)] -= room;
            if count == first.count {
                releases.pop_front();
            } else {
                first.at += u64::from(count) * first.spacing;
                first.count -= count;
                break;
            }
        }
        self.due[port] = releases.front().map_or(u64::MAX, |first| first.at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ethernet::logic::{Class, Station};

    const SPEC: BufferSpec = BufferSpec { bytes: 1000, cell: 100, alpha: (1, 1), marking: None };

    fn frame(bytes: u16) -> Train {
        let (from, to) = (Station(1), Station(2));
        let class = Class::default();
        Train { from, to, count: 1, bytes, spacing_ps: 0, class, entropy: 0, words: [0; 3] }
    }

    /// With alpha 1 one queue ends at half of the buffer, and leaves as much free.
    #[test]
    fn one_queue_has_alpha_of_what_is_free() {
        let mut buffer = Buffer::new(SPEC, Kept::default(), 2);
        let mut taken =
            |queue| (0..20).filter(|_| buffer.admit(0, queue, &frame(64)) == Admission::Taken).count();
        assert_eq!((taken((0, 0)), taken((1, 0))), (5, 3));
    }

    #[test]
    fn what_any_port_has_given_back_is_free() {
        let mut buffer = Buffer::new(BufferSpec { alpha: (100, 1), ..SPEC }, Kept::default(), 2);
        for _ in 0..10 {
            assert_eq!(buffer.admit(5, (0, 7), &frame(100)), Admission::Taken);
        }
        assert_eq!(buffer.admit(6, (1, 0), &frame(1)), Admission::Refused);
        buffer.release((10, 3), (0, 7), (100, 4));
        assert_eq!(
            [9, 10, 11, 13].map(|now| buffer.admit(now, (1, 0), &frame(1)) == Admission::Taken),
            [false, true, false, true]
        );
    }

    #[test]
    fn a_frame_that_finds_a_long_queue_is_marked() {
        let spec = BufferSpec { marking: Some(Marking::step(200)), ..SPEC };
        let mut buffer = Buffer::new(spec, Kept::default(), 1);
        let marks: Vec<_> = (0..3).map(|_| buffer.admit(0, (0, 0), &frame(100))).collect();
        assert_eq!(marks, [Admission::Taken, Admission::Taken, Admission::TakenAbove]);
        assert!(!buffer.admit_run(0, (0, 0), (100, 2, 1)));
    }

    /// 600 B of 1000 B are kept for priority 3, and no threshold holds there; the others share 400 B.
    #[test]
    fn what_is_kept_is_for_nobody_else() {
        let mut buffer = Buffer::new(SPEC, Kept { priorities: 8, bytes: 600 }, 2);
        let mut taken =
            |queue| (0..20).filter(|_| buffer.admit(0, queue, &frame(64)) == Admission::Taken).count();
        assert_eq!((taken((0, 2)), taken((0, 3)), taken((1, 2))), (2, 6, 1));
    }
}
