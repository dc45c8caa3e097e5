//! The context: all that a component can do, and so all that it can depend on.

use crate::agenda::{Core, Pending, TieOrder, UNCONNECTED};
use crate::ids::Port;
use crate::queue::Entry;
use crate::trail::{Begun, Stage, Trail};
use lanetwin_units::{Instant, Span};
use std::ops::Range;

/// What a component can do while it handles an event.
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
    /// Sends `message` out of `port`; it arrives at `at`, which is not in the past. Of the messages out of one port
    /// that arrive together, the one that was sent first arrives first.
    ///
    /// # Panics
    /// If nothing is connected to `port`.
    #[inline]
    pub fn send_at(&mut self, port: Port, at: Instant, message: M) {
        self.send_ordered(port, at, message, TieOrder::Normal);
    }
    /// As [`Context::send_at`], but before all others out of this port that arrive together with it, whenever they were
    /// sent. It is for a component that decides two things independently of one another, now one first, now the other.
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
    /// Asks for [`wake`](crate::Component::wake) at `at`, after all messages of that instant.
    #[inline]
    pub fn wake_at(&mut self, at: Instant, token: u32) {
        debug_assert!(at.as_ps() >= self.core.now, "a wake cannot be in the past");
        let rank = self.core.wake_rank[self.me as usize];
        self.core.push(Entry::new(at.as_ps(), rank, token));
    }
    /// The earliest instant at which anything that is not yet known can happen: the next event, or the first moment at
    /// which the outside may inject.
    #[inline]
    #[must_use]
    pub fn next_unknown(&mut self) -> Instant {
        if self.core.pending != Pending::Nothing {
            return self.now();
        }
        let limit = self.core.limit.saturating_add(1);
        Instant::from_ps(self.core.next_event().min(limit))
    }
    /// In [`expect`](crate::Component::expect): whether this component will be told of more that was sent just now.
    #[inline]
    #[must_use]
    pub fn expects_more(&self) -> bool {
        self.core.pending == Pending::ForSame
    }
    /// A request begins, or has begun at `at`: whatever is sent and marked from here on, while this event is handled,
    /// is of it.
    #[inline]
    pub fn begin(&mut self, at: Instant) -> Begun {
        self.core.trails.begin(at.as_ps())
    }
    /// A request that has begun is over, and its stages are needed no longer: to be said once of each.
    #[inline]
    pub fn end(&mut self, request: Begun) {
        self.core.trails.end(request);
    }
    /// How far the request has come that is being handled: that of the message, or nothing in a wake. What it is for a
    /// message that is sent, the one who gets it goes on with.
    #[inline]
    #[must_use]
    pub fn trail(&self) -> Trail {
        self.core.trails.now
    }
    /// Goes on with a request that was put aside.
    #[inline]
    pub fn resume(&mut self, trail: Trail) {
        self.core.trails.now = trail;
    }
    /// Goes on with a request that was put aside until something else was there, which is being handled: its trail is
    /// its own, then that of the other, and this stage in between if there is a gap. It is nothing if nobody follows
    /// the request.
    pub fn join(&mut self, own: Trail, between: Stage) {
        self.core.trails.join(own, self.me, between, self.core.now);
    }
    /// Up to now the request that is being handled was in this stage, since the mark before, whoever has set that.
    #[inline]
    pub fn mark(&mut self, stage: Stage) {
        self.mark_until(self.now(), stage);
    }
    /// As [`Context::mark`], of a stage that ends at a time that is known already, before or after now.
    #[inline]
    pub fn mark_until(&mut self, at: Instant, stage: Stage) {
        self.core.trails.mark(at, self.me, stage);
    }
    /// Up to when the stages of the request that is being handled are marked; none if nobody follows it.
    #[inline]
    #[must_use]
    pub fn marked_until(&self) -> Option<Instant> {
        self.core.trails.marked().map(Instant::from_ps)
    }
    /// The number among all ([`Kernel::stage_names`](crate::Kernel::stage_names)) of a stage of this component.
    #[must_use]
    pub fn stage_number(&self, stage: Stage) -> u32 {
        stage.of(self.core.trails.bases[self.me as usize])
    }
    /// Tells for how long the request that is being handled was in each stage within these times, from the last to the
    /// first, by the number of the stage among all ([`Kernel::stage_names`](crate::Kernel::stage_names)) \[ps\]. The
    /// times sum to the whole, exactly.
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
