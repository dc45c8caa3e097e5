//! The posted writes of a port, which are handed to its link only a little ahead of what the link sends.
//!
//! A read request may not pass a posted write that was sent before it (PCIe 5.0, §2.4.1). Controllers have a DMA engine
//! for each direction, and an arbiter that merges them TLP by TLP: a request for the data of a write goes out between
//! the data of reads. If everything that has been read were handed to the link at once, requests would wait behind all
//! of it, and a link that carries both ways would carry little more than one.
//!
//! Reads that the controller requests pass the writes that wait here. Event indices, which such a read must not pass,
//! do not wait.

use super::known::HOST_WRITE;
use crate::requests::Requests;
use lanetwin_kernel::Trail;
use lanetwin_ports::{Attributes, Context};
use lanetwin_units::Bytes;
use std::collections::VecDeque;

/// The link reports a departure for each of so many parts of what is handed to it ahead: the next writes come in time.
const REPORTS: u64 = 4;
/// Transfers that are handed to the link before it has sent them, at least.
const LEAST: usize = 2;

/// A write to host memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posted {
    /// What its TLPs are called on the link.
    pub(crate) handle: u32,
    pub(crate) address: u64,
    pub(crate) bytes: u32,
    pub(crate) attributes: Attributes,
}

/// The writes of one port, in the order in which they arrive at the host.
pub(crate) struct Posting {
    /// Bytes that are handed to the link before it has sent them.
    most_ahead: u64,
    /// Those that have not been handed to the link, with the trails of their commands.
    waiting: VecDeque<(Posted, Trail)>,
    /// Bytes that were handed to the link, up to each transfer whose departure it reports, since the one before.
    reported: VecDeque<u64>,
    /// Bytes handed to it since the last of those.
    unreported: u64,
    /// Bytes handed to it that it has not reported as sent.
    ahead: u64,
}

impl Posting {
    /// Nothing has been written yet.
    pub(crate) const fn new(most_ahead: Bytes) -> Self {
        Self {
            most_ahead: most_ahead.0,
            waiting: VecDeque::new(),
            reported: VecDeque::new(),
            unreported: 0,
            ahead: 0,
        }
    }

    /// Writes to host memory behind everything that was written before.
    #[inline]
    pub(crate) fn write(&mut self, requests: &Requests, posted: Posted, cx: &mut Context<'_>) {
        if self.waiting.is_empty() && self.has_room() {
            self.hand_over(requests, posted, cx);
        } else {
            self.waiting.push_back((posted, cx.trail()));
        }
    }

    /// The link has sent the oldest transfer whose departure it reports.
    pub(crate) fn departed(&mut self, requests: &Requests, cx: &mut Context<'_>) {
        self.ahead -= self.reported.pop_front().unwrap_or_default();
        while self.has_room()
            && let Some((posted, trail)) = self.waiting.pop_front()
        {
            cx.resume(trail);
            cx.mark(HOST_WRITE);
            self.hand_over(requests, posted, cx);
        }
    }

    fn has_room(&self) -> bool {
        self.ahead < self.most_ahead || self.reported.len() < LEAST
    }

    #[inline]
    fn hand_over(&mut self, requests: &Requests, posted: Posted, cx: &mut Context<'_>) {
        let Posted { handle, address, bytes, attributes } = posted;
        self.ahead += u64::from(bytes);
        self.unreported += u64::from(bytes);
        let reports = self.unreported * REPORTS >= self.most_ahead;
        if reports {
            self.reported.push_back(std::mem::take(&mut self.unreported));
        }
        requests.write(handle, address, bytes, attributes.and(Attributes::NOTIFY.when(reports)), cx);
    }
}
