//! The receiver of a stream, which acknowledges it: in order, each byte once, with ranges beyond a gap (RFC 2018),
//! delayed by up to 40 ms or until two segments have arrived (RFC 5681 §4.2).

use super::ranges::Ranges;
use super::segment::{SACK_BLOCKS, Segment, Seq};
use crate::tcp::spec::DELAYED_ACK_PS;

/// An acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Acknowledgement {
    /// The first byte that is missing.
    pub upto: u64,
    /// Receive window beyond it \[B\].
    pub window: u32,
    /// Ranges received beyond it.
    pub sack: [Option<(Seq, Seq)>; SACK_BLOCKS],
    /// Whether a mark is echoed.
    pub echo: bool,
}

/// Counters.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Bytes that had come before.
    pub doubled: u64,
    /// Segments that came beyond a gap.
    pub early: u64,
    /// Segments that were marked on their way.
    pub marked: u64,
}

/// The receiver of a stream.
#[derive(Clone, Debug)]
pub struct Receiver {
    segment: u32,
    buffer: u32,
    /// The first byte that is missing, and the first that the program has not taken.
    expected: u64,
    taken: u64,
    beyond: Ranges,
    /// The blocks that were touched, the latest first.
    latest: Vec<u64>,
    /// Bytes that are not acknowledged yet.
    owed: u32,
    now: bool,
    due: Option<u64>,
    /// The edge of the window last advertised.
    told: u64,
    echoes_each: bool,
    /// Whether the last segment was marked; or, if one mark is echoed until the sender slows down, whether an echo is
    /// pending.
    marked: bool,
    /// An acknowledgement from before marks began or ended.
    before: Option<(u64, bool)>,
    counts: Counts,
}

impl Receiver {
    /// A stream without received bytes, from byte `first` on, for a buffer of this size.
    #[must_use]
    pub fn new((segment, buffer): (u32, u32), echoes_each: bool, first: u64) -> Self {
        Self {
            segment,
            buffer,
            expected: first,
            taken: first,
            beyond: Ranges::default(),
            latest: Vec::new(),
            owed: 0,
            now: false,
            due: None,
            told: first + u64::from(buffer),
            echoes_each,
            marked: false,
            before: None,
            counts: Counts::default(),
        }
    }
    /// Counters.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }
    /// The first byte that is missing.
    #[must_use]
    pub const fn expected(&self) -> u64 {
        self.expected
    }
    /// Bytes available to the program \[B\].
    #[must_use]
    pub const fn available(&self) -> u64 {
        self.expected - self.taken
    }
    /// Takes this many bytes, which frees room; the new window is advertised when it is worth it (RFC 9293
    /// §3.8.6.2.2).
    ///
    /// # Panics
    /// If fewer have been received.
    pub fn take(&mut self, bytes: u64) {
        assert!(bytes <= self.available(), "a program takes what has come");
        self.taken += bytes;
        let opened = self.taken + u64::from(self.buffer) - self.told;
        self.now |= opened >= u64::from((2 * self.segment).min(self.buffer / 2)).max(1) && self.is_tight();
    }
    /// Whether the sender may be waiting for room: a probe may have come from beyond the advertised edge.
    fn is_tight(&self) -> bool {
        self.told.saturating_sub(self.expected) < u64::from(self.buffer / 2)
    }
    /// A segment with data has come.
    pub fn receive(&mut self, now: u64, segment: &Segment) {
        self.mark(segment);
        let from = segment.seq.near(self.expected);
        let to = (from + u64::from(segment.bytes)).min(self.taken + u64::from(self.buffer));
        if to <= self.expected.max(from) {
            self.counts.doubled += u64::from(segment.bytes);
            self.now = true;
            return;
        }
        self.counts.doubled += self.expected.saturating_sub(from);
        if from > self.expected {
            self.counts.early += 1;
            let (start, _) = self.beyond.insert((from, to));
            self.latest.retain(|block| *block != start);
            self.latest.insert(0, start);
            self.now = true;
            return;
        }
        let had_gap = !self.beyond.is_empty();
        self.expected = to;
        while let Some(end) = self.beyond.take_from(self.expected) {
            self.expected = self.expected.max(end);
        }
        self.owed = self.owed.saturating_add(segment.bytes);
        self.now |= had_gap || self.owed >= 2 * self.segment;
        self.due.get_or_insert(now + DELAYED_ACK_PS);
    }
    fn mark(&mut self, segment: &Segment) {
        self.counts.marked += u64::from(segment.marked);
        if self.echoes_each {
            if segment.marked != self.marked && self.owed > 0 {
                self.before = Some((self.expected, self.marked));
            }
            self.marked = segment.marked;
        } else {
            self.marked = (self.marked && !segment.reduced) || segment.marked;
        }
    }
    /// Latest time for an acknowledgement. Returns `None` if none is pending.
    #[must_use]
    pub fn deadline(&self) -> Option<u64> {
        if self.now || self.before.is_some() { Some(0) } else { self.due }
    }
    /// The acknowledgement to send now, for everything received.
    pub fn acknowledge(&mut self) -> Acknowledgement {
        let (upto, echo) = self.before.take().unwrap_or((self.expected, self.marked));
        if upto == self.expected {
            (self.owed, self.now, self.due) = (0, false, None);
        }
        self.told = self.told.max(self.taken + u64::from(self.buffer));
        let window = (self.told - upto).min(self.buffer.into()) as u32;
        Acknowledgement { upto, window, sack: self.sack(), echo }
    }
    fn sack(&mut self) -> [Option<(Seq, Seq)>; SACK_BLOCKS] {
        let beyond = &self.beyond;
        let block = |byte: u64| beyond.iter().find(|(from, to)| (*from..*to).contains(&byte));
        let mut told: Vec<(u64, u64)> = Vec::new();
        for found in self.latest.iter().filter_map(|byte| block(*byte)) {
            if !told.contains(&found) {
                told.push(found);
            }
        }
        self.latest = told.iter().map(|(from, _)| *from).collect();
        let mut blocks = told.into_iter().map(|(from, to)| (Seq::of(from), Seq::of(to)));
        std::array::from_fn(|_| blocks.next())
    }
}
