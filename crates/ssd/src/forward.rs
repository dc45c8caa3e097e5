//! Controllers whose medium is elsewhere: what a command wants of it is handed out, and answered by whoever asks for
//! it.
//!
//! ```text
//!   front ── write_register, fetched … ─► Forwarder ── poll: Host(…) ─► front
//!                                            │ ▲
//!                                  poll: Ask ▼ │ answered
//!                                       whoever forwards it
//! ```
//!
//! A front drives it as it drives an [`Ssd`](crate::Ssd). There is no firmware and no medium, and nothing is stored;
//! how long an answer takes is the business of whoever asks.

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

/// What is wanted of whoever drives a [`Forwarder`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forwarded {
    /// Something to carry out at the host.
    Host(HostEffect),
    /// Something that the medium is asked for, to be answered with [`Forwarder::answered`].
    Ask {
        /// What it is answered with.
        token: Token,
        /// What is asked for.
        request: MediaRequest,
    },
}

/// Controllers without a medium.
#[derive(Debug)]
pub struct Forwarder {
    subsystem: Subsystem,
    /// When controllers asked to be woken.
    wakes: BinaryHeap<Reverse<Instant>>,
    /// What the subsystem has asked for; those before `next` are carried out.
    effects: Vec<Effect>,
    next: usize,
}

impl Forwarder {
    /// Controllers after power on.
    ///
    /// # Errors
    /// Why they cannot be.
    pub fn new(config: &SubsystemConfig) -> Result<Self, ConfigFault> {
        let subsystem = Subsystem::new(config)?;
        Ok(Self { subsystem, wakes: BinaryHeap::new(), effects: Vec::new(), next: 0 })
    }
    /// When [`Forwarder::wake`] must be called next; [`Instant::NEVER`] if nothing will happen without a call.
    #[must_use]
    pub fn next_wake(&self) -> Instant {
        self.wakes.peek().map_or(Instant::NEVER, |Reverse(at)| *at)
    }
    /// Time has come to `now`. To be woken for nothing does no harm.
    pub fn wake(&mut self, now: Instant) {
        let before = self.wakes.len();
        while self.wakes.peek().is_some_and(|Reverse(at)| *at <= now) {
            self.wakes.pop();
        }
        if self.wakes.len() < before {
            self.subsystem.wake(now, &mut self.effects);
        }
    }
    /// The next thing that is wanted; none if there is nothing more at `now`.
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
                // what the medium has lived through is known where it is
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
    /// The host writes a dword of a controller's registers, doorbells included.
    pub fn write_register(&mut self, now: Instant, controller: ControllerId, offset: u32, value: u32) {
        self.subsystem.write_register(now, controller, offset, value, &mut self.effects);
    }
    /// What was asked for has been answered.
    pub fn answered(&mut self, now: Instant, token: Token, status: Status) {
        self.subsystem.media_done(now, token, status, &mut self.effects);
    }
    /// How large the blocks of a namespace are \[B\]; none if there is no such namespace.
    #[must_use]
    pub fn block_bytes(&self, nsid: Nsid) -> Option<u64> {
        self.subsystem.block_bytes(nsid)
    }
    /// How many commands are in progress, and whether others wait in the queues because no more can be.
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
