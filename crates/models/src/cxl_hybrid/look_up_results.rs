//! Processing of look-ups that have ended.
//!
//! The effect of a hit is visible only after some time: a line leaves the cache's memory no earlier than a column
//! access and a burst after the look-up, and the answer of a write takes `endpoint.egress` to the link. So hits are
//! not processed when their look-ups end, but several at a time before the first effect becomes visible, each as of
//! its own instant. A look-up that is not certainly a hit (it needs a register, a frame or the disk) is processed
//! when it ends, and all pending ones are processed before any other change of the cache.

use super::CxlHybrid;
use lanetwin_media::page_cache::Effect;
use lanetwin_ports::{Context, Operation};
use lanetwin_units::{Instant, Span};

impl CxlHybrid {
    /// The time has come to see to look-ups.
    pub(super) fn look_up(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        if now < self.look_ups.due {
            // an earlier wake may already have done the work of this one
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
    /// Processes the look-ups that ended before the present, ahead of present events.
    pub(super) fn end_earlier_look_ups(&mut self, cx: &mut Context<'_>) {
        let before = cx.now().as_ps().saturating_sub(1);
        self.end_look_ups(Instant::from_ps(before), cx);
    }

    /// Processes reads whose look-ups have ended by `until`, the present, up to the first write, so that counters are
    /// current.
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

    /// Determines which of the next look-ups are certainly hits, and asks for a wake before their effects become
    /// visible.
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
