//! Frames that wait for the line: for each queue pair lanes of requests, answers and notifications, each in order.

use lanetwin_kernel::Trail;
use lanetwin_units::Instant;
use std::collections::VecDeque;

/// A frame that waits for its data, or for the line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outgoing {
    pub(super) words: [u32; 3],
    /// Size from destination address to check sequence \[B\].
    pub(super) bytes: u16,
    pub(super) payload: u32,
    /// When its data have passed the adapter; `None` if they have not arrived.
    pub(super) ready: Option<Instant>,
    /// Trail of its request at that time.
    pub(super) trail: Trail,
}

#[derive(Debug, Default)]
pub(super) struct Lane {
    waiting: VecDeque<Outgoing>,
    /// Number of frames sent.
    left: u64,
    /// Payload of waiting frames \[B\].
    payload: u32,
}

impl Lane {
    /// Puts a frame in; its number.
    pub(super) fn put(&mut self, frame: Outgoing) -> u64 {
        self.payload += frame.payload;
        self.waiting.push_back(frame);
        self.left + self.waiting.len() as u64 - 1
    }
    /// The data of the frame with this number are there.
    pub(super) fn ready(&mut self, number: u64, at: Instant, trail: Trail) {
        let place = number.checked_sub(self.left).and_then(|place| usize::try_from(place).ok());
        if let Some(frame) = place.and_then(|place| self.waiting.get_mut(place)) {
            (frame.ready, frame.trail) = (Some(at), trail);
        }
    }
    /// Takes everything out, to be cut anew.
    pub(super) fn clear(&mut self) {
        self.left += self.waiting.len() as u64;
        self.waiting.clear();
        self.payload = 0;
    }
    /// Payload of waiting frames \[B\].
    pub(super) fn payload(&self) -> u32 {
        self.payload
    }
    /// Number of waiting frames.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }
    /// Whether the first could be sent at `now`.
    pub(super) fn can_send(&self, now: Instant) -> bool {
        self.waiting.front().and_then(|first| first.ready).is_some_and(|ready| ready <= now)
    }
    /// The size of the first \[B\]; 0 if there is none.
    pub(super) fn first_bytes(&self) -> u16 {
        self.waiting.front().map_or(0, |first| first.bytes)
    }
    /// Whether the first has a payload.
    pub(super) fn has_payload(&self) -> bool {
        self.waiting.front().is_some_and(|first| first.payload > 0)
    }
    /// Takes the frames at the head out that can be sent at `now`, are alike and count on, as far as `most` bytes
    /// reach; at least one if it can be sent. The trail is that of the last.
    pub(super) fn take(&mut self, now: Instant, most: u32) -> Option<(Outgoing, u16)> {
        let first = *self.waiting.front().filter(|_| self.can_send(now))?;
        let [number, message, rest] = first.words;
        let fit = (most / u32::from(first.bytes)).clamp(1, 1 << 12);
        let (mut count, mut trail) = (0, first.trail);
        while count < fit
            && let Some(frame) = self.waiting.front()
            && frame.words == [number.wrapping_add(count), message, rest]
            && frame.bytes == first.bytes
            && frame.ready.is_some_and(|ready| ready <= now)
        {
            trail = frame.trail;
            self.payload -= frame.payload;
            self.waiting.pop_front();
            count += 1;
        }
        self.left += u64::from(count);
        Some((Outgoing { trail, ..first }, count as u16))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_that_are_alike_leave_together() {
        let mut lane = Lane::default();
        let frame = |number, bytes| Outgoing {
            words: [number, 0, 0],
            bytes,
            payload: 10,
            ready: None,
            trail: Trail::NONE,
        };
        let numbers = [(1, 100), (2, 100), (3, 90), (4, 90)].map(|(n, bytes)| lane.put(frame(n, bytes)));
        let now = Instant::from_ps(5);
        assert!(lane.take(now, 1000).is_none());
        for number in [numbers[0], numbers[1], numbers[3]] {
            lane.ready(number, now, Trail::NONE);
        }
        let taken = |lane: &mut Lane| lane.take(now, 1000).map(|(first, count)| (first.words[0], count));
        assert_eq!((taken(&mut lane), taken(&mut lane), lane.payload()), (Some((1, 2)), None, 20));
        lane.ready(numbers[2], now, Trail::NONE);
        assert_eq!((lane.take(now, 100).map(|(_, count)| count), lane.len()), (Some(1), 1));
    }
}
