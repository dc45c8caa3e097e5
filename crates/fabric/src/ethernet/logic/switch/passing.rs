//! Frames that pass through a switch in one step, without a place among those that wait.

use super::super::pause::Pause;
use super::super::train::Train;
use super::egress::{NEVER, body_ps, wire_ps};
use super::ledger::{Entry, Event};
use super::{Departure, Switch};

impl Switch {
    /// The egress port for frames that arrive at a port. Returns `None` if they have no route.
    pub(super) fn way(&self, ingress: u16, train: &Train) -> Option<u16> {
        let way = self.spec.forwarding.port(train).filter(|port| *port != ingress);
        way.filter(|&port| self.egress[usize::from(port)].is_some())
    }

    /// Passes a train, which arrives as in [`Switch::arrive`], through at once if all of it can be decided and no
    /// other arrives before `until`. Otherwise does nothing.
    #[must_use]
    pub fn pass_at_once(&mut self, at: u64, ingress: u16, train: &Train, until: u64) -> Option<Departure> {
        // the last frame is decided later than the first by its distance from it
        let length = u64::from(train.count - 1) * u64::from(train.spacing_ps);
        if until.saturating_sub(at) <= length || !self.arrivals.is_empty() {
            return None;
        }
        if self.lossless.is_some() || !self.storms.is_empty() || Pause::of(train).is_some() {
            return None;
        }
        let port = self.way(ingress, train)?;
        self.pass((ingress, port), (at, train), (until, train.count))
    }

    /// Passes a run of frames through in one step that are the first to arrive, at `at`, if that can be decided of so
    /// many of them at least. It can if the egress is idle and at least as fast as the frames arrive, the buffer has
    /// room, and nothing else can be admitted; nothing else can before `until`.
    #[inline(always)]
    pub(super) fn pass(
        &mut self,
        (ingress, port): (u16, u16),
        (at, train): (u64, &Train),
        (until, least): (u64, u16),
    ) -> Option<Departure> {
        let egress = self.egress[usize::from(port)].as_ref()?;
        if egress.next != NEVER || self.lossless.as_ref().is_some_and(|lossless| lossless.pauses(port)) {
            return None;
        }
        let start = at + self.delay(train, self.spec.ports[usize::from(ingress)]?, port);
        let (spacing, length) = (u64::from(train.spacing_ps), wire_ps(egress.rate, train));
        let alone = train.count == 1;
        if start < egress.free || !egress.gate.is_idle(start) || !alone && spacing < length {
            return None;
        }
        if until + self.effect <= start {
            return None;
        }
        let sure = (until + self.effect - 1 - start).checked_div(spacing).map_or(1, |gaps| gaps + 1);
        let count = if alone { 1 } else { sure.min(train.count.into()) as u16 };
        if count < least {
            return None;
        }
        let gone = start + body_ps(egress.rate, train);
        let at_once = if alone { 1 } else { (gone - at).div_ceil(spacing).min(count.into()) };
        let queue = (usize::from(port), train.class.priority());
        if !self.admit_run(at, (ingress, queue), (train, count, at_once)) {
            return None;
        }
        if let Some(egress) = &mut self.egress[usize::from(port)] {
            egress.free = start + u64::from(count - 1) * spacing + length;
        }
        self.release((gone, spacing), (ingress, port), train, count);
        let train = train.first(count);
        self.ledger.add(Entry::of(Event::Sent { waited: 0 }, start, port, &train));
        Some(Departure { port, start, train })
    }

    /// Admits a run of `count` frames, at most `at_once` of them in the buffer at a time, if every one of them is
    /// certain to be admitted without a pause frame.
    fn admit_run(
        &mut self,
        at: u64,
        (ingress, queue): (u16, (usize, u8)),
        (frame, count, at_once): (&Train, u16, u64),
    ) -> bool {
        let (own, room) = ((ingress, queue.1), self.spec.buffer.room_for(frame.bytes));
        if self.lossless.as_ref().is_some_and(|lossless| !lossless.takes_run(own, room * at_once)) {
            return false;
        }
        let sure = self.buffer.admit_run(at, queue, (frame.bytes, count, at_once));
        if let Some(lossless) = self.lossless.as_mut().filter(|_| sure) {
            lossless.take_run(own, room * u64::from(count));
        }
        sure
    }
}
