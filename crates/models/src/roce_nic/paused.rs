//! Pauses of an adapter by its peer.
//!
//! Several frames are sent at a time; they are so few that no pause that is still unknown could stop any of them.

use super::params::Rules;
use lanetwin_fabric::ethernet::logic::{Gate, Pause};
use lanetwin_fabric::ethernet::spec::{Rate, pause_frame_time, slowest_response, wire_bytes};
use lanetwin_ports::EthernetSite;
use lanetwin_units::{Instant, Span};

/// The pauses by its peer.
#[derive(Debug)]
pub(super) struct Paused {
    gate: Gate,
    rate: Rate,
    /// Time from the first bit of a pause frame to its effect.
    reaction: Span,
    /// Number of frames that asked for a pause.
    heard: u64,
}

impl Paused {
    /// `None` if it ignores pauses.
    pub(super) fn new(rules: &Rules, site: Option<EthernetSite>) -> Option<Self> {
        let rate = site?.line.rate;
        let told = rules.pause_response?;
        let response = if told == Span::ZERO { slowest_response(rate) } else { told };
        let reaction = pause_frame_time(rate) + response;
        Some(Self { gate: Gate::new(rate), rate, reaction, heard: 0 })
    }
    /// A pause frame arrives, its first bit at `first`: when priorities that it is about are open next.
    pub(super) fn hear(&mut self, first: Instant, pause: Pause) -> Option<Instant> {
        let effect = first + self.reaction;
        self.gate.settle(first.as_ps());
        self.gate.hear(effect.as_ps(), pause);
        self.heard += u64::from(pause.quanta > 0);
        let about = (0..8).filter(|priority| pause.is_about(*priority));
        about.map(|priority| self.gate.opens(priority, effect.as_ps())).min().map(Instant::from_ps)
    }
    /// Whether a frame of this priority may be started at `now`.
    pub(super) fn is_open(&self, priority: u8, now: Instant) -> bool {
        self.gate.opens(priority, now.as_ps()) == now.as_ps()
    }
    /// How many of `most` bytes may be sent at once from `now` on in frames of this size, before any unknown pause
    /// can take effect \[B\].
    pub(super) fn unstoppable(&self, (priority, frame): (u8, u16), now: Instant, most: u32) -> u32 {
        let wire = self.rate.time_for(wire_bytes(frame.into())).as_ps();
        let known = self.gate.closes(priority, now.as_ps()).map(|at| at - now.as_ps());
        let sure = known.into_iter().chain([self.reaction.as_ps()]).min().unwrap_or(0);
        let frames = u32::try_from(sure.div_ceil(wire)).unwrap_or(u32::MAX);
        most.min(frames.saturating_mul(frame.into()))
    }
    /// Number of frames that asked for a pause, and the time up to `now` that the priority stopped longest was
    /// stopped \[us\].
    pub(super) fn told(&self, now: Instant) -> (u64, u64) {
        let closed = self.gate.closed_ps(now.as_ps());
        (self.heard, closed.into_iter().max().unwrap_or(0) / 1_000_000)
    }
}
