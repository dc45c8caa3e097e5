//! Look-ups in progress, with their requests.

use super::wakes::LOOK_UP;
use lanetwin_kernel::Trail;
use lanetwin_media::page_cache::{Access, Request};
use lanetwin_ports::{Context, Operation, Params};
use lanetwin_units::{Instant, Span};
use std::collections::VecDeque;

/// Look-ups.
pub(super) struct LookUps {
    /// Requests that are looked up, in order, with the end of it.
    pub(super) under_way: VecDeque<(Instant, u32)>,
    /// Number of them whose sets have been prefetched.
    pub(super) near: usize,
    /// Latest time at which ended look-ups have to be processed, for which there is a wake; [`Instant::NEVER`] if
    /// there are none.
    pub(super) due: Instant,
    /// For how long a write that hits can be left alone, if its answer does not wait for the cache's memory.
    pub(super) writes: Option<Span>,
    /// Whether lines from the disk may be waiting for room in the queues of the cache's memory.
    pub(super) fills: bool,
}

impl LookUps {
    pub(super) fn new(params: &Params) -> Self {
        let plain = params.flag("write.early") && params.count("write.reads") == 0;
        Self {
            under_way: VecDeque::new(),
            near: 0,
            due: Instant::NEVER,
            writes: plain.then(|| params.time("endpoint.egress")),
            fills: false,
        }
    }
    /// Number of look-ups in progress.
    pub(super) fn len(&self) -> usize {
        self.under_way.len()
    }
    /// End of the next look-up that has not been processed; [`Instant::NEVER`] if there is none.
    pub(super) fn next(&self) -> Instant {
        self.under_way.front().map_or(Instant::NEVER, |(at, _)| *at)
    }
    /// A request is looked up until `at`, not before those that have come before it.
    #[inline]
    pub(super) fn begin(&mut self, at: Instant, token: u32, cx: &mut Context<'_>) {
        self.under_way.push_back((at, token));
        self.see_to(at, cx);
    }
    /// Asks to be woken at `at` at the latest.
    #[inline]
    pub(super) fn see_to(&mut self, at: Instant, cx: &mut Context<'_>) {
        if at < self.due {
            self.due = at;
            cx.wake_at(at, LOOK_UP);
        }
    }
    /// The next one, if it has ended at `now`.
    #[inline]
    pub(super) fn end(&mut self, now: Instant) -> Option<(Instant, u32)> {
        let next = *self.under_way.front().filter(|(at, _)| *at <= now)?;
        self.leave();
        Some(next)
    }
    /// The next one leaves.
    pub(super) fn leave(&mut self) {
        self.under_way.pop_front();
        self.near = self.near.saturating_sub(1);
    }
    /// Lines have come from the disk, and go to the cache's memory.
    pub(super) const fn fill(&mut self) {
        self.fills = true;
    }
}

/// A request of the host that is not answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) operation: Operation,
    pub(super) handle: u32,
    pub(super) address: u64,
    pub(super) arrived: Instant,
    pub(super) trail: Trail,
}

impl Open {
    pub(super) const fn request(&self, token: u32) -> Request {
        let access = match self.operation {
            Operation::Read => Access::Read,
            Operation::Write => Access::Write,
        };
        Request { token, access, address: self.address }
    }
}
