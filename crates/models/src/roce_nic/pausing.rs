//! What an adapter does about pause frames: with `pause` it obeys those of its peer (802.3x, PFC), else it takes no
//! notice. It sends none: what comes is written to host memory as fast as it comes.

use super::inside::{RoceNic, Task};
use lanetwin_fabric::ethernet::logic::Pause;
use lanetwin_ports::Context;
use lanetwin_units::Instant;

impl RoceNic {
    /// A pause frame arrives, its first bit at `first`.
    pub(super) fn hear_pause(&mut self, first: Instant, pause: Pause, cx: &mut Context<'_>) {
        if let Some(opens) = self.paused.as_mut().and_then(|paused| paused.hear(first, pause)) {
            self.agenda.put(opens, Task::Line, cx);
        }
    }
    /// Whether nobody has paused this priority.
    pub(super) fn is_open(&self, priority: u8, now: Instant) -> bool {
        self.paused.as_ref().is_none_or(|paused| paused.is_open(priority, now))
    }
    /// How much of so much \[B\] may leave at once.
    pub(super) fn unstoppable(&self, frame: (u8, u16), now: Instant, most: u32) -> u32 {
        self.paused.as_ref().map_or(most, |paused| paused.unstoppable(frame, now, most))
    }
}
