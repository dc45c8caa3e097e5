//! Pause frames of an adapter: with `pause` it obeys those of its peer (802.3x, PFC), otherwise it ignores them. It
//! sends none, since received frames are written to host memory as fast as they come, unless it is faulty: with
//! `pause.storm.at` it asks for the longest possible pause, and again whenever half of that is over.

use super::ETHERNET;
use super::inside::{RoceNic, Task};
use lanetwin_fabric::ethernet::logic::Pause;
use lanetwin_fabric::ethernet::spec::{PAUSE_BYTES, pause_time, wire_bytes};
use lanetwin_ports::{Context, Message};
use lanetwin_units::{Instant, Span};

impl RoceNic {
    /// A pause frame arrives, its first bit at `first`.
    pub(super) fn hear_pause(&mut self, first: Instant, pause: Pause, cx: &mut Context<'_>) {
        if let Some(opens) = self.paused.as_mut().and_then(|paused| paused.hear(first, pause)) {
            self.agenda.put(opens, Task::Line, cx);
        }
    }
    /// Asks for a pause without need, and does so again.
    pub(super) fn storm(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        let (Some(site), Some((_, until))) = (self.site, self.rules.storm) else { return };
        if now >= until {
            return;
        }
        let frame = Pause { priorities: 1 << self.class.priority(), quanta: u16::MAX }.frame();
        let start = self.line_free.max(now);
        let length = site.line.rate.time_for(wire_bytes(PAUSE_BYTES));
        cx.send_at(ETHERNET, start + site.line.delay(), Message::Frames(frame));
        self.line_free = start + length;
        self.counts.pauses += 1;
        self.counts.busy_ps += u128::from(length.as_ps());
        let half = Span::from_ps(pause_time(site.line.rate, u16::MAX).as_ps() / 2);
        self.agenda.put(start + half, Task::Storm, cx);
    }
    /// Whether this priority is not paused.
    pub(super) fn is_open(&self, priority: u8, now: Instant) -> bool {
        self.paused.as_ref().is_none_or(|paused| paused.is_open(priority, now))
    }
    /// How many of `most` bytes may be sent at once \[B\].
    pub(super) fn unstoppable(&self, frame: (u8, u16), now: Instant, most: u32) -> u32 {
        self.paused.as_ref().map_or(most, |paused| paused.unstoppable(frame, now, most))
    }
}
