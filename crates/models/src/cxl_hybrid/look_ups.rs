//! Look-ups that are under way, and what they find.
//!
//! What a hit does takes time to be seen: a line leaves the cache's memory a column access and a burst after the
//! look-up at the earliest, and the answer of a write is on its way to the link for `endpoint.egress`. So hits are not
//! seen to at the instants at which their look-ups end, but several at a time, before the first of them can show; each
//! as of its own instant. What is no hit for certain (it needs a register, a frame or the disk) is seen to when its
//! look-up ends, and so is everything before whatever else changes the cache.

use super::{CxlHybrid, LOOK_UP, Open};
use lanetwin_media::page_cache::{Access, Effect, Request};
use lanetwin_ports::{Context, Operation, Params};
use lanetwin_units::{Instant, Span};
use std::collections::VecDeque;

/// Look-ups.
pub(super) struct LookUps {
    /// Requests that are looked up, in order, with the end of it.
    under_way: VecDeque<(Instant, u32)>,
    /// How many of them the cache has been told of.
    near: usize,
    /// When those that have ended have to be seen to at the latest, for which there is a wake; [`Instant::NEVER`] if
    /// there are none.
    due: Instant,
    /// For how long a write that hits can be left alone, if its answer does not wait for the cache's memory.
    writes: Option<Span>,
    /// Whether lines from the disk may wait for room in the queues of the cache's memory.
    fills: bool,
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
    /// How many are under way.
    pub(super) fn len(&self) -> usize {
        self.under_way.len()
    }
    /// When the next one ends that has not been seen to; [`Instant::NEVER`] if there is none.
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
    fn see_to(&mut self, at: Instant, cx: &mut Context<'_>) {
        if at < self.due {
            self.due = at;
            cx.wake_at(at, LOOK_UP);
        }
    }
    /// The next one, if it has ended at `now`.
    #[inline]
    fn end(&mut self, now: Instant) -> Option<(Instant, u32)> {
        let next = *self.under_way.front().filter(|(at, _)| *at <= now)?;
        self.leave();
        Some(next)
    }
    /// The next one leaves.
    fn leave(&mut self) {
        self.under_way.pop_front();
        self.near = self.near.saturating_sub(1);
    }
    /// Lines have come from the disk, and go to the cache's memory.
    pub(super) const fn fill(&mut self) {
        self.fills = true;
    }
}

impl Open {
    const fn request(&self, token: u32) -> Request {
        let access = match self.operation {
            Operation::Read => Access::Read,
            Operation::Write => Access::Write,
        };
        Request { token, access, address: self.address }
    }
}

impl CxlHybrid {
    /// The time has come to see to look-ups.
    pub(super) fn look_up(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        if now < self.look_ups.due {
            // an earlier wake has seen to what this one was for
            return;
        }
        self.look_ups.due = Instant::NEVER;
        self.end_look_ups(now, cx);
        self.poll_memory(cx);
        self.look_ahead(cx);
    }

    /// Sees to all look-ups that have ended at `until`, which is not after the present.
    #[inline]
    pub(super) fn end_look_ups(&mut self, until: Instant, cx: &mut Context<'_>) {
        while let Some((at, token)) = self.look_ups.end(until) {
            let Some(request) = self.open.get(token).map(|open| open.request(token)) else { continue };
            self.with_cache(at, cx, |cache, effects| cache.request(at, request, effects));
        }
    }
    /// Sees to the look-ups that ended before the present: what happens now comes after them.
    pub(super) fn end_earlier_look_ups(&mut self, cx: &mut Context<'_>) {
        let before = cx.now().as_ps().saturating_sub(1);
        self.end_look_ups(Instant::from_ps(before), cx);
    }

    /// Sees to reads whose look-ups have ended at `until`, the present, up to a write: what can be counted then has
    /// been.
    pub(super) fn count_reads(&mut self, until: Instant) {
        while let Some(&(at, token)) = self.look_ups.under_way.front().filter(|(at, _)| *at <= until)
            && let Some(open) = self.open.get(token).filter(|open| open.operation == Operation::Read)
            && let Some(inside) = &mut self.inside
        {
            self.look_ups.leave();
            let mut effects = std::mem::take(&mut self.effects);
            inside.cache.request(at, open.request(token), &mut effects);
            inside.gauge(at);
            for effect in effects.drain(..) {
                let Effect::ReadDram { address, lines, then } = effect else {
                    unreachable!("what is no hit has been seen to")
                };
                self.read(address, lines, then, at);
            }
            self.effects = effects;
        }
    }

    /// Finds out which of the look-ups that end next are hits for certain, and asks to be woken before anything of that
    /// can show.
    pub(super) fn look_ahead(&mut self, cx: &mut Context<'_>) {
        let Some(inside) = &mut self.inside else { return };
        let look_ups = &mut self.look_ups;
        // lines that get their room in the queues are answered at once, whatever came last
        look_ups.fills &= inside.memory.is_overfull();
        let reads = if look_ups.fills { Span::ZERO } else { inside.least_access };
        let first = look_ups.next();
        let mut due = if first == Instant::NEVER { first } else { first + reads };
        if look_ups.under_way.get(look_ups.near).is_some_and(|(at, _)| *at < due) {
            let far = look_ups.under_way.iter().skip(look_ups.near);
            inside
                .cache
                .prefetch_sets(far.filter_map(|(_, token)| self.open.get(*token).map(|open| open.address)));
            look_ups.near = look_ups.under_way.len();
        }
        for &(at, token) in &look_ups.under_way {
            if at >= due {
                break;
            }
            let Some(open) = self.open.get(token) else { continue };
            let patience = match open.operation {
                Operation::Read => reads,
                Operation::Write => look_ups.writes.map_or(Span::ZERO, |egress| egress.min(reads)),
            };
            let hits = patience > Span::ZERO && inside.cache.is_plain_hit(open.request(token));
            due = due.min(if hits { at + patience } else { at });
        }
        if due != Instant::NEVER {
            look_ups.see_to(due, cx);
        }
    }
}
