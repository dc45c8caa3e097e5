//! The sender of a stream, which retransmits lost data: by SACK (RFC 6675), otherwise after a timeout (RFC 6298).

use super::congestion::{Algorithm, Congestion};
use super::ranges::Ranges;
use super::rtt::RoundTrips;
use super::segment::Segment;
use std::collections::VecDeque;

/// Number of segments beyond a gap that make it a loss (RFC 6675 §2, DupThresh).
const BEYOND: u64 = 3;

/// The part of a stream to send next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chunk {
    /// Its first byte.
    pub from: u64,
    /// Number of bytes \[B\].
    pub bytes: u32,
    /// Whether it signals that the sender has slowed down (CWR).
    pub reduced: bool,
}

/// Counters.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Bytes sent, again or not.
    pub sent: u64,
    /// Of these, bytes that were retransmitted.
    pub again: u64,
    /// Segments that had been sent before, whole or in part.
    pub resent: u64,
    /// Number of fast retransmits.
    pub gaps: u64,
    /// Number of timeouts.
    pub timeouts: u64,
    /// Number of window probes.
    pub probes: u64,
    /// Number of times that the window shrank because of marks.
    pub slowed: u64,
}

/// Cause of a recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Recovery {
    /// A gap: the window stays until it is over.
    Fast,
    /// A timeout: slow start continues meanwhile.
    Slow,
}

/// The sender of a stream. Times are in ps.
#[derive(Clone, Debug)]
pub struct Sender {
    segment: u32,
    /// The most that an adapter cuts by itself \[B\].
    offload: u32,
    /// The first unacknowledged byte, the first never sent, and the first not offered.
    first: u64,
    next: u64,
    end: u64,
    /// Bytes that no segment goes beyond when it is first sent: the ends of messages that are not all sent.
    ends: VecDeque<u64>,
    /// Ranges received by the peer beyond `first`.
    beyond: Ranges,
    /// End of the peer's receive window.
    room: u64,
    /// The next byte to retransmit, and the byte before which every gap is a loss.
    again: u64,
    lost_before: u64,
    /// Where the present recovery ends, and its cause; `None` if there is none.
    recovers: Option<(u64, Recovery)>,
    doubles: u32,
    congestion: Congestion,
    trips: RoundTrips,
    /// A byte whose acknowledgement ends a round trip, and when it was sent.
    timed: Option<(u64, u64)>,
    deadline: Option<u64>,
    /// Marks count once up to this byte; and whether the next segment signals that the window has shrunk.
    slowed_until: u64,
    says_reduced: bool,
    /// Whether a window probe is due, and the end of the last probe.
    probes: bool,
    asked: Option<u64>,
    counts: Counts,
}

impl Sender {
    /// A stream without sent bytes, from byte `first` on, to a peer with this receive window.
    #[must_use]
    pub const fn new(
        (segment, offload): (u32, u32),
        algorithm: Algorithm,
        (first, room): (u64, u32),
    ) -> Self {
        Self {
            segment,
            offload: if offload > segment { offload - offload % segment } else { segment },
            first,
            next: first,
            end: first,
            ends: VecDeque::new(),
            beyond: Ranges::new(),
            room: first + room as u64,
            again: first,
            lost_before: first,
            recovers: None,
            doubles: 0,
            congestion: Congestion::new(algorithm, segment),
            trips: RoundTrips::new(),
            timed: None,
            deadline: None,
            slowed_until: first,
            says_reduced: false,
            probes: false,
            asked: None,
            counts: Counts { sent: 0, again: 0, resent: 0, gaps: 0, timeouts: 0, probes: 0, slowed: 0 },
        }
    }
    /// Adds this many bytes to send.
    pub fn offer(&mut self, now: u64, bytes: u64) {
        self.end += bytes;
        if self.is_shut() {
            self.deadline.get_or_insert(now + self.trips.timeout());
        }
    }
    /// The same for a message, after which a new segment begins (`MSG_EOR` of Linux).
    pub fn offer_message(&mut self, now: u64, bytes: u64) {
        self.offer(now, bytes);
        self.ends.push_back(self.end);
    }
    /// Whether nothing is in flight because the peer's window is closed.
    const fn is_shut(&self) -> bool {
        self.first == self.next && self.end > self.next && self.room <= self.next
    }
    /// Number of unacknowledged bytes \[B\].
    #[must_use]
    pub const fn outstanding(&self) -> u64 {
        self.end - self.first
    }
    /// The first byte that was never sent.
    #[must_use]
    pub const fn next(&self) -> u64 {
        self.next
    }
    /// Counters.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }
    /// The congestion window.
    #[must_use]
    pub const fn congestion(&self) -> &Congestion {
        &self.congestion
    }
    /// When it has to be called without an answer.
    #[must_use]
    pub const fn deadline(&self) -> Option<u64> {
        self.deadline
    }
    /// Estimate of bytes in flight \[B\] (RFC 6675 §4, `pipe`): neither acknowledged nor taken for lost.
    #[must_use]
    pub fn on_its_way(&self) -> u64 {
        let all = self.next - self.first - self.beyond.bytes(self.first, self.next);
        let lost_from = self.again.max(self.first);
        let lost = self.lost_before.saturating_sub(lost_from)
            - self.beyond.bytes(lost_from, self.lost_before.max(lost_from));
        all - lost
    }
    /// The chunk that can be sent now, if there is one.
    #[must_use]
    pub fn look(&self) -> Option<Chunk> {
        let way = self.on_its_way();
        let free = self.congestion.window().saturating_sub(way);
        if let Some((from, to)) = self.beyond.gap(self.again.max(self.first), self.lost_before) {
            // the first chunk of a recovery is sent whatever the window is (RFC 6675 §5, step 4.3)
            let least = if from == self.first { u64::from(self.segment) } else { 0 };
            let bytes = (to - from).min(self.segment.into());
            return (bytes <= free.max(least)).then(|| self.chunk(from, bytes));
        }
        let rest = self.ends.front().map_or(self.end, |end| *end) - self.next;
        let room = self.room.saturating_sub(self.next);
        if self.probes && room == 0 && rest > 0 {
            return Some(self.chunk(self.next, 1));
        }
        let most = rest.min(room).min(free).min(self.offload.into());
        // whole segments, as long as more is to come
        let whole = if most < rest { most - most % u64::from(self.segment) } else { most };
        let bytes = if whole == 0 && way == 0 { most } else { whole };
        (bytes > 0).then(|| self.chunk(self.next, bytes))
    }
    fn chunk(&self, from: u64, bytes: u64) -> Chunk {
        Chunk { from, bytes: bytes as u32, reduced: self.says_reduced && from == self.next }
    }
    /// Sends the chunk that [`look`](Self::look) returns.
    pub fn send(&mut self, now: u64) -> Option<Chunk> {
        let chunk = self.look()?;
        let to = chunk.from + u64::from(chunk.bytes);
        self.counts.sent += u64::from(chunk.bytes);
        self.counts.again += u64::from(chunk.bytes).min(self.next.saturating_sub(chunk.from));
        if chunk.from < self.next {
            self.counts.resent += 1;
            self.again = to;
            // an acknowledgement could be for either transmission (Karn)
            self.timed = None;
        } else {
            self.asked = (to > self.room).then_some(to);
            self.counts.probes += u64::from(self.asked.is_some());
            self.timed.get_or_insert((to, now));
            self.says_reduced = false;
        }
        self.probes = false;
        self.next = self.next.max(to);
        while self.ends.front().is_some_and(|end| *end <= to) {
            self.ends.pop_front();
        }
        self.deadline.get_or_insert(now + self.trips.timeout());
        Some(chunk)
    }
    /// An acknowledgement has come, with data or without.
    pub fn receive(&mut self, now: u64, segment: &Segment) {
        let upto = segment.ack.near(self.first);
        if self.asked == Some(upto) {
            // it was received after all, although earlier acknowledgements did not cover it
            self.next = self.next.max(upto);
        }
        if upto > self.next || upto < self.first {
            return;
        }
        let had = self.beyond.clone();
        for (from, to) in segment.sack.iter().flatten() {
            let (from, to) = (from.near(self.first), to.near(self.first));
            if self.first <= from && from < to && to <= self.next {
                self.beyond.insert((from, to));
            }
        }
        let new = upto - self.first;
        let room = upto + u64::from(segment.window);
        let is_double = new == 0 && segment.bytes == 0 && room == self.room && self.next > self.first;
        self.room = self.room.max(room);
        if new > 0 {
            self.advance(now, upto);
        } else if is_double && had != self.beyond {
            self.doubles += 1;
        }
        self.echoed(new, segment.echo);
        self.find_losses();
        if new == 0 && self.asked == Some(self.next) {
            self.refused();
        }
        if self.first == self.next {
            let again = self.deadline.unwrap_or(now + self.trips.timeout());
            self.deadline = self.is_shut().then_some(again);
        }
    }
    /// A probe is answered, and its byte was not taken: there was no room when it came. It goes again like one that was
    /// never sent, whether there is room by now or not.
    fn refused(&mut self) {
        (self.next, self.timed) = (self.first, None);
        self.lost_before = self.lost_before.min(self.next);
    }
    fn advance(&mut self, now: u64, upto: u64) {
        let is_limited = 2 * (self.next - self.first) >= self.congestion.window();
        let new = upto - self.first;
        self.first = upto;
        self.beyond.forget_before(upto);
        self.doubles = 0;
        self.trips.progressed();
        if let Some((byte, sent)) = self.timed
            && upto >= byte
        {
            self.trips.sample(now - sent);
            self.timed = None;
        }
        if self.recovers.is_some_and(|(end, _)| upto >= end) {
            self.recovers = None;
        }
        let may_grow = self.recovers.is_none_or(|(_, recovery)| recovery == Recovery::Slow);
        if may_grow && is_limited {
            self.congestion.grow(now, new, self.trips.smoothed().unwrap_or(0));
        }
        self.deadline = Some(now + self.trips.timeout());
    }
    fn echoed(&mut self, new: u64, echo: bool) {
        if self.congestion.echoes_each() {
            let shrank = self.congestion.echo(new, echo, (self.first, self.next));
            self.counts.slowed += u64::from(shrank);
        } else if echo && self.first >= self.slowed_until && self.recovers.is_none() {
            self.congestion.reduce();
            (self.slowed_until, self.says_reduced) = (self.next, true);
            self.counts.slowed += 1;
        }
    }
    /// Finds lost gaps: three segments beyond them have been received (RFC 6675 §4, `IsLost`, here by distance), or
    /// there were three duplicate acknowledgements.
    fn find_losses(&mut self) {
        let Some(end) = self.beyond.end() else { return };
        let far = end.saturating_sub((BEYOND - 1) * u64::from(self.segment));
        let by_bytes = self.beyond.bytes(self.first, end) >= BEYOND * u64::from(self.segment);
        if !by_bytes && u64::from(self.doubles) < BEYOND {
            return;
        }
        if self.recovers.is_none() {
            self.recovers = Some((self.next, Recovery::Fast));
            self.again = self.first;
            self.congestion.reduce();
            self.counts.gaps += 1;
            self.lost_before = self.first + u64::from(self.segment);
        }
        let gap_ends = self.beyond.iter().map(|(from, _)| from).take_while(|from| *from <= far).last();
        self.lost_before = self.lost_before.max(gap_ends.unwrap_or(0)).min(self.next);
    }
    /// Nothing has come for too long, if `now` is past the deadline.
    pub fn expire(&mut self, now: u64) {
        if self.deadline.is_none_or(|at| at > now) {
            return;
        }
        self.trips.timed_out();
        self.deadline = Some(now + self.trips.timeout());
        if self.first == self.next {
            // the peer has no room, or the word of it was lost
            self.probes = self.is_shut();
            self.deadline = self.deadline.filter(|_| self.probes);
            return;
        }
        self.counts.timeouts += 1;
        self.congestion.timed_out();
        self.beyond.clear();
        self.timed = None;
        self.doubles = 0;
        (self.again, self.lost_before) = (self.first, self.next);
        self.recovers = Some((self.next, Recovery::Slow));
    }
}
