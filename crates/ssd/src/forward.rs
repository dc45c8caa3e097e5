//! Controllers whose medium is elsewhere: requests to the medium are handed out, and the component that forwards them
//! reports the answers.
//!
//! ```text
//!   front ── write_register, fetched … ─► Forwarder ── poll: Host(…) ─► front
//!                                            │ ▲
//!                                  poll: Ask ▼ │ answered
//!                                       whoever forwards it
//! ```
//!
//! A front uses it like an [`Ssd`](crate::Ssd). It has no firmware, no medium and no store; the component that
//! forwards the requests determines how long an answer takes.

use crate::controllers::Controllers;
use lanetwin_nvme::logic::subsystem::CommandInfo;
use lanetwin_nvme::logic::{
    ConfigFault, Effect, Health, HostEffect, MediaRequest, Segment, Subsystem, SubsystemConfig, Telemetry,
    Token,
};
use lanetwin_nvme::spec::{ControllerId, Nsid, Status};
use lanetwin_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Output of a [`Forwarder`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forwarded {
    /// An effect to carry out at the host.
    Host(HostEffect),
    /// A request to the medium, to be answered with [`Forwarder::answered`].
    Ask {
        /// Token for the answer.
        token: Token,
        /// The request.
        request: MediaRequest,
    },
}

/// Controllers without a medium.
#[derive(Debug)]
pub struct Forwarder {
    subsystem: Subsystem,
    /// Times at which controllers asked to be woken.
    wakes: BinaryHeap<Reverse<Instant>>,
    /// Effects of the subsystem; those before `next` have been carried out.
    effects: Vec<Effect>,
    next: usize,
}

impl Forwarder {
    /// Controllers after power on.
    ///
    /// # Errors
    /// Why they cannot be built.
    pub fn new(config: &SubsystemConfig) -> Result<Self, ConfigFault> {
        let subsystem = Subsystem::new(config)?;
        Ok(Self { subsystem, wakes: BinaryHeap::new(), effects: Vec::new(), next: 0 })
    }
    /// When [`Forwarder::wake`] must be called next; [`Instant::NEVER`] if nothing will happen without a call.
    #[must_use]
    pub fn next_wake(&self) -> Instant {
        self.wakes.peek().map_or(Instant::NEVER, |Reverse(at)| *at)
    }
    /// Advances time to `now`. A wake without work does no harm.
    pub fn wake(&mut self, now: Instant) {
        let before = self.wakes.len();
        while self.wakes.peek().is_some_and(|Reverse(at)| *at <= now) {
            self.wakes.pop();
        }
        if self.wakes.len() < before {
            self.subsystem.wake(now, &mut self.effects);
        }
    }
    /// The next output. Returns `None` if there is nothing more at `now`.
    pub fn poll(&mut self, now: Instant) -> Option<Forwarded> {
        loop {
            let Some(effect) = self.effects.get(self.next).copied() else {
                self.effects.clear();
                self.next = 0;
                return None;
            };
            self.next += 1;
            match effect {
                Effect::Host(effect) => return Some(Forwarded::Host(effect)),
                Effect::Media { token, request } => return Some(Forwarded::Ask { token, request }),
                // only the drive behind it knows the state of the medium
                Effect::Health { token } => {
                    self.subsystem.health(now, token, &Health::default(), &mut self.effects);
                }
                Effect::Telemetry { token } => {
                    self.subsystem.telemetry(now, token, &Telemetry::default(), &mut self.effects);
                }
                Effect::WakeAt { at } => self.wakes.push(Reverse(at.max(now))),
            }
        }
    }
    /// Writes a dword of a controller's registers, doorbells included.
    pub fn write_register(&mut self, now: Instant, controller: ControllerId, offset: u32, value: u32) {
        self.subsystem.write_register(now, controller, offset, value, &mut self.effects);
    }
    /// Reports the answer to a request.
    pub fn answered(&mut self, now: Instant, token: Token, status: Status) {
        self.subsystem.media_done(now, token, status, &mut self.effects);
    }
    /// Size of the blocks of a namespace \[B\]. Returns `None` if there is no such namespace.
    #[must_use]
    pub fn block_bytes(&self, nsid: Nsid) -> Option<u64> {
        self.subsystem.block_bytes(nsid)
    }
    /// Number of commands in progress, and whether others wait in the queues because no more may be in progress.
    #[must_use]
    pub fn in_progress(&self) -> (u32, bool) {
        self.subsystem.in_progress()
    }
}

impl Controllers for Forwarder {
    fn command(&self, token: Token) -> Option<CommandInfo> {
        self.subsystem.command(token)
    }
    fn segments(&self, token: Token) -> impl Iterator<Item = Segment> + '_ {
        self.subsystem.segments(token)
    }
    fn content(&self, token: Token) -> &[u8] {
        self.subsystem.content(token)
    }
    fn fetched(&mut self, now: Instant, token: Token, bytes: &[u8]) {
        self.subsystem.fetched(now, token, bytes, &mut self.effects);
    }
    fn transferred(&mut self, now: Instant, token: Token) {
        self.subsystem.transferred(now, token, &mut self.effects);
    }
    fn stored(&mut self, now: Instant, token: Token) {
        self.subsystem.stored(now, token, &mut self.effects);
    }
    fn failed(&mut self, now: Instant, token: Token) {
        self.subsystem.failed(now, token, &mut self.effects);
    }
}
