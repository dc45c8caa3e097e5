//! The requester: sends work in packets, and goes back to the first packet that did not arrive (go-back-N).
//!
//! Any sign of a loss (a NAK, an answer to a later packet, a timeout) makes it resend everything from the first
//! unacknowledged packet. It reacts to a gap once: until that packet has been received only a timeout resends it,
//! because more answers to earlier packets are still on their way.

use super::packet::{Operation, Part, Psn, Request, Response, Says};
use crate::roce::spec::{PathMtu, packets};
use std::collections::VecDeque;

/// Parameters of a connection. Times are in ps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The most payload of a packet.
    pub mtu: PathMtu,
    /// Largest number of outstanding READs (`max_rd_atomic`); at least one.
    pub reads: u32,
    /// Number of packets per requested acknowledgement, which is also requested with the last packet of a message; at
    /// least one.
    pub ack_every: u32,
    /// Largest number of packets in flight.
    pub window: u64,
    /// Time without progress after which packets are taken for lost (Local ACK Timeout).
    pub timeout: u64,
    /// Number of timeouts in a row before the connection is given up (`retry_cnt`); at most 7.
    pub retries: u32,
    /// Waiting time if the receiver was not ready (RNR timer).
    pub not_ready: u64,
    /// Number of these in a row before the connection is given up (`rnr_retry`); `None` for unlimited, encoded as 7.
    pub not_ready_retries: Option<u32>,
}

/// Something to be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// Its name.
    pub message: u32,
    /// Operation.
    pub operation: Operation,
    /// Number of bytes.
    pub bytes: u32,
}

/// Effect of a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Data of a READ have come: each byte once, in order.
    Data(Part),
    /// Work is done; in the order of posting.
    Done(u32),
}

/// Why a connection is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lost {
    /// Nothing came through, too often in a row (transport retry counter exceeded).
    NoAnswer,
    /// The receiver was not ready, too often in a row (RNR retry counter exceeded).
    NotReady,
}

/// Counters.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Packets sent, again or not.
    pub packets: u64,
    /// Of these, packets that were resent.
    pub again: u64,
    /// Number of times that it went back because of a gap.
    pub gaps: u64,
    /// Number of times that it went back after a timeout.
    pub timeouts: u64,
    /// Number of times that the receiver was not ready.
    pub not_ready: u64,
}

#[derive(Clone, Copy, Debug)]
struct Posted {
    work: Work,
    /// Its packets, by count.
    first: u64,
    end: u64,
}

/// The requester of a queue pair.
#[derive(Debug)]
pub struct Requester {
    limits: Limits,
    /// Work in progress, in the order of posting.
    work: VecDeque<Posted>,
    /// The first packet that is not acknowledged, or not answered.
    expected: u64,
    /// The packet that is sent next.
    next: u64,
    /// The first that has never been sent.
    fresh: u64,
    /// Count of the first packet after all posted work.
    end: u64,
    since_ack: u32,
    /// The place to which a gap has made it go back last.
    gap_at: Option<u64>,
    /// When a timeout is due; `None` if nothing is in flight.
    deadline: Option<u64>,
    timeouts_in_a_row: u32,
    not_ready_in_a_row: u32,
    /// Until when it waits for the receiver to be ready.
    waits_until: u64,
    counts: Counts,
}

impl Requester {
    /// A connection on which nothing was sent; its first packet has this number.
    #[must_use]
    pub fn new(limits: Limits, first: u32) -> Self {
        let first = u64::from(first);
        Self {
            limits,
            work: VecDeque::new(),
            expected: first,
            next: first,
            fresh: first,
            end: first,
            since_ack: 0,
            gap_at: None,
            deadline: None,
            timeouts_in_a_row: 0,
            not_ready_in_a_row: 0,
            waits_until: 0,
            counts: Counts::default(),
        }
    }
    /// Posts work, after all earlier work.
    pub fn post(&mut self, work: Work) {
        let first = self.end;
        self.end += u64::from(packets(work.bytes, self.limits.mtu));
        self.work.push_back(Posted { work, first, end: self.end });
    }
    /// Sets the number of retries from now on.
    pub const fn retry(&mut self, retries: u32) {
        self.limits.retries = retries;
    }
    /// The count of the first packet of the work posted next.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.end
    }
    /// Number of work requests in progress.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.work.len()
    }
    /// Counters.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }
    /// Whether a packet is waiting to be sent.
    #[inline]
    #[must_use]
    pub const fn has_something(&self) -> bool {
        self.next < self.end
    }
    /// When a packet can be sent, if known; `None` if never without another event.
    #[must_use]
    pub fn ready(&self) -> Option<u64> {
        let may = || self.at_next().is_some_and(|posted| self.may_send(posted));
        (self.is_open() && may()).then_some(self.waits_until)
    }
    /// Whether there is a packet to send, and room for it in the window.
    #[inline]
    const fn is_open(&self) -> bool {
        self.next < self.end && self.next - self.expected < self.limits.window
    }
    /// The packet that is sent next, if one can be at `now`.
    pub fn look(&self, now: u64) -> Option<Request> {
        self.look_at_next(now).map(|(request, _)| request)
    }
    /// The next packet, and the end of its work request.
    #[inline]
    fn look_at_next(&self, now: u64) -> Option<(Request, u64)> {
        if !self.is_open() || self.waits_until > now {
            return None;
        }
        let Posted { work, first, end } = *self.at_next().filter(|posted| self.may_send(posted))?;
        let mtu = self.limits.mtu.bytes();
        let offset = (self.next - first) as u32 * mtu;
        let rest = work.bytes - offset;
        let is_read = work.operation == Operation::Read;
        let last = is_read || self.next + 1 == end;
        let bytes = if is_read { rest } else { rest.min(mtu) };
        let part = Part { message: work.message, offset, bytes, last };
        let full = self.next + 1 - self.expected >= self.limits.window;
        let ack = !is_read && (last || full || self.since_ack + 1 >= self.limits.ack_every);
        Some((Request { psn: Psn::of(self.next), operation: work.operation, part, ack }, end))
    }
    /// Sends the next packet, if one can be sent at `now`.
    pub fn send(&mut self, now: u64) -> Option<Request> {
        let (request, end) = self.look_at_next(now)?;
        self.since_ack = if request.ack { 0 } else { self.since_ack + 1 };
        self.counts.packets += 1;
        self.counts.again += u64::from(self.next < self.fresh);
        self.next = if request.operation == Operation::Read { end } else { self.next + 1 };
        self.fresh = self.fresh.max(self.next);
        self.deadline.get_or_insert(now + self.limits.timeout);
        Some(request)
    }
    /// Handles a response; appends its effects to `told`.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn receive(&mut self, now: u64, response: Response, told: &mut Vec<Outcome>) -> Result<(), Lost> {
        let psn = response.psn.near(self.expected);
        // responses to unsent packets are ignored, except a NAK for the next packet, which the responder may be
        // waiting for
        if psn > self.fresh || psn == self.fresh && response.says != Says::OutOfSequence {
            return Ok(());
        }
        match response.says {
            Says::Ack => self.acknowledged(now, psn + 1, told),
            Says::OutOfSequence => {
                self.acknowledged(now, psn, told);
                if psn == self.expected && psn < self.fresh {
                    self.gap();
                }
            }
            Says::NotReady => {
                self.acknowledged(now, psn, told);
                if psn == self.expected {
                    return self.not_ready(now);
                }
            }
            Says::Data(part) => self.data(now, psn, part, told),
        }
        Ok(())
    }
    /// When it has to be called because of time.
    #[must_use]
    pub const fn deadline(&self) -> Option<u64> {
        self.deadline
    }
    /// Time has passed, up to `now`.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn expire(&mut self, now: u64) -> Result<(), Lost> {
        if self.deadline.is_none_or(|deadline| deadline > now) {
            return Ok(());
        }
        self.timeouts_in_a_row += 1;
        if self.timeouts_in_a_row > self.limits.retries {
            return Err(Lost::NoAnswer);
        }
        self.counts.timeouts += 1;
        self.deadline = Some(now + self.limits.timeout);
        self.go_back();
        Ok(())
    }

    /// The work that the next packet belongs to.
    fn at_next(&self) -> Option<&Posted> {
        // usually the work posted last
        if let Some(last) = self.work.back().filter(|last| last.first <= self.next && self.next < last.end) {
            return Some(last);
        }
        let place = self.work.partition_point(|posted| posted.end <= self.next);
        self.work.get(place)
    }
    /// Whether the next READ may be sent.
    fn may_send(&self, posted: &Posted) -> bool {
        if posted.work.operation != Operation::Read {
            return true;
        }
        let sent = self.work.iter().take_while(|sent| sent.first < posted.first);
        let reads = sent.filter(|sent| sent.work.operation == Operation::Read && sent.end > self.expected);
        (reads.take(self.limits.reads as usize).count() as u32) < self.limits.reads
    }
    /// Everything before `end` has come, except that data of READs have to come themselves.
    fn acknowledged(&mut self, now: u64, end: u64, told: &mut Vec<Outcome>) {
        let is_open_read =
            |posted: &&Posted| posted.work.operation == Operation::Read && posted.end > self.expected;
        let read = self.work.iter().find(is_open_read).map(|read| read.first.max(self.expected));
        let missing = read.filter(|first| *first < end);
        self.progress(now, missing.unwrap_or(end), told);
        // a packet after a READ was executed, so that the data of the READ have been sent and lost
        if missing.is_some() {
            self.gap();
        }
    }
    fn data(&mut self, now: u64, psn: u64, part: Part, told: &mut Vec<Outcome>) {
        // an answer to a READ means that everything before it has been executed
        let of = self.work.iter().find(|posted| (posted.first..posted.end).contains(&psn)).copied();
        let Some(read) = of.filter(|posted| posted.work.operation == Operation::Read) else { return };
        if self.expected < read.first {
            self.acknowledged(now, read.first, told);
        }
        if psn == self.expected {
            told.push(Outcome::Data(part));
            self.progress(now, psn + 1, told);
        } else if psn > self.expected {
            self.gap();
        }
    }
    /// Everything before `end` is settled.
    fn progress(&mut self, now: u64, end: u64, told: &mut Vec<Outcome>) {
        if end <= self.expected {
            return;
        }
        self.expected = end;
        self.next = self.next.max(end);
        (self.timeouts_in_a_row, self.not_ready_in_a_row) = (0, 0);
        self.deadline = (self.expected < self.fresh).then_some(now + self.limits.timeout);
        while let Some(first) = self.work.front().filter(|first| first.end <= end) {
            told.push(Outcome::Done(first.work.message));
            self.work.pop_front();
        }
    }
    /// Handles a gap: a packet after the first expected one has been received, and that one has not.
    fn gap(&mut self) {
        if self.gap_at.replace(self.expected) != Some(self.expected) {
            self.counts.gaps += 1;
            self.go_back();
        }
    }
    fn not_ready(&mut self, now: u64) -> Result<(), Lost> {
        self.not_ready_in_a_row += 1;
        if self.limits.not_ready_retries.is_some_and(|most| self.not_ready_in_a_row > most) {
            return Err(Lost::NotReady);
        }
        self.counts.not_ready += 1;
        self.waits_until = now + self.limits.not_ready;
        self.deadline = Some(self.waits_until + self.limits.timeout);
        self.go_back();
        Ok(())
    }
    fn go_back(&mut self) {
        self.next = self.expected;
        self.since_ack = 0;
    }
}
