//! The context: everything that a component can do, and so everything that it can depend on.

use crate::agenda::{Core, Pending, TieOrder, UNCONNECTED};
use crate::ids::Port;
use crate::queue::Entry;
use crate::trail::{Begun, Stage, Trail};
use lanetwin_units::{Instant, Span};
use std::ops::Range;

/// The operations of a component while it handles an event.
pub struct Context<'a, M> {
    pub(crate) core: &'a mut Core<M>,
    pub(crate) me: u32,
}

impl<M: Copy> Context<'_, M> {
    /// The current time.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Instant {
        Instant::from_ps(self.core.now)
    }
    /// Sends `message` out of `port`; it arrives `delay` later.
    ///
    /// # Panics
    /// If nothing is connected to `port`.
    #[inline]
    pub fn send(&mut self, port: Port, delay: Span, message: M) {
        let at = Instant::from_ps(self.core.now + delay.as_ps());
        self.send_at(port, at, message);
    }
    /// Sends `message` out of `port`; it arrives at `at`, which must not be in the past. Messages out of one port that
    /// arrive together arrive in the order in which they were sent.
    ///
    /// # Panics
    /// If nothing is connected to `port`.
    #[inline]
    pub fn send_at(&mut self, port: Port, at: Instant, message: M) {
        self.send_ordered(port, at, message, TieOrder::Normal);
    }
    /// As [`Context::send_at`], but the message arrives before all others out of this port at the same instant,
    /// whenever they were sent. It is for a component that decides two things independently of one another, in either
    /// order.
    ///
    /// # Panics
    /// If nothing is connected to `port`.
    #[inline]
    pub fn send_first_at(&mut self, port: Port, at: Instant, message: M) {
        self.send_ordered(port, at, message, TieOrder::First);
    }
    #[inline(always)]
    fn send_ordered(&mut self, port: Port, at: Instant, message: M, tie: TieOrder) {
        debug_assert!(at.as_ps() >= self.core.now, "a message cannot arrive in the past");
        let channel = self.core.output(self.me, port);
        assert!(channel != UNCONNECTED, "nothing is connected to {port:?}");
        self.core.send(channel, at, message, tie);
    }
    /// Whether something is connected to `port`.
    #[must_use]
    pub fn is_connected(&self, port: Port) -> bool {
        self.core.output(self.me, port) != UNCONNECTED
    }
    /// Requests a [`wake`](crate::Component::wake) at `at`, after all messages of that instant.
    #[inline]
    pub fn wake_at(&mut self, at: Instant, token: u32) {
        debug_assert!(at.as_ps() >= self.core.now, "a wake cannot be in the past");
        let rank = self.core.wake_rank[self.me as usize];
        self.core.push(Entry::new(at.as_ps(), rank, token));
    }
    /// The earliest instant at which anything unknown can happen: the next event, or the first instant at which a
    /// program outside may inject.
    #[inline]
    #[must_use]
    pub fn next_unknown(&mut self) -> Instant {
        if self.core.pending != Pending::Nothing {
            return self.now();
        }
        let limit = self.core.limit.saturating_add(1);
        Instant::from_ps(self.core.next_event().min(limit))
    }
    /// In [`expect`](crate::Component::expect): whether this component will be told of further messages of this
    /// instant.
    #[inline]
    #[must_use]
    pub fn expects_more(&self) -> bool {
        self.core.pending == Pending::ForSame
    }
    /// Begins a request, at `at`, now or in the past. All messages and marks from here on, while this event is handled,
    /// belong to it.
    #[inline]
    pub fn begin(&mut self, at: Instant) -> Begun {
        self.core.trails.begin(at.as_ps())
    }
    /// Ends a request, whose stages are needed no longer; to be called once for each.
    #[inline]
    pub fn end(&mut self, request: Begun) {
        self.core.trails.end(request);
    }
    /// The trail of the request that is being handled: that of the message, or [`Trail::NONE`] in a wake. A message
    /// that is sent carries it on to its receiver.
    #[inline]
    #[must_use]
    pub fn trail(&self) -> Trail {
        self.core.trails.now
    }
    /// Resumes a request that was set aside.
    #[inline]
    pub fn resume(&mut self, trail: Trail) {
        self.core.trails.now = trail;
    }
    /// Resumes a request that was set aside until another one, which is being handled, was ready. Its trail becomes its
    /// own, then that of the other; a gap between them is marked as stage `between`. Has no effect if the request is
    /// not followed.
    pub fn join(&mut self, own: Trail, between: Stage) {
        self.core.trails.join(own, self.me, between, self.core.now);
    }
    /// Marks the time since the previous mark, by whichever component, up to now as `stage` of the current request.
    #[inline]
    pub fn mark(&mut self, stage: Stage) {
        self.mark_until(self.now(), stage);
    }
    /// As [`Context::mark`], for a stage that ends at a known time before or after now.
    #[inline]
    pub fn mark_until(&mut self, at: Instant, stage: Stage) {
        self.core.trails.mark(at, self.me, stage);
    }
    /// The time up to which stages of the current request are marked; `None` if the request is not followed.
    #[inline]
    #[must_use]
    pub fn marked_until(&self) -> Option<Instant> {
        self.core.trails.marked().map(Instant::from_ps)
    }
    /// The number of a stage of this component among all stages ([`Kernel::stage_names`](crate::Kernel::stage_names)).
    #[must_use]
    pub fn stage_number(&self, stage: Stage) -> u32 {
        stage.of(self.core.trails.bases[self.me as usize])
    }
    /// Calls `see` with the time that the current request spent in each stage within `within`, from the last to the
    /// first, by the stage's number among all ([`Kernel::stage_names`](crate::Kernel::stage_names)) \[ps\]. The times
    /// sum exactly to the length of `within`.
    #[inline]
    pub fn account(&self, within: Range<Instant>, see: impl FnMut(u32, u64)) {
        self.core.trails.walk(within.start.as_ps(), within.end.as_ps(), see);
    }
    /// The last instant of the current slice: nothing after it may be decided.
    #[inline]
    #[must_use]
    pub fn limit(&self) -> Instant {
        Instant::from_ps(self.core.limit)
    }
}
