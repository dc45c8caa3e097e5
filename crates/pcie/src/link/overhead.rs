//! Overhead of a link: SKP ordered sets and DLLPs.

use super::egress::{Egress, Overhead};
use super::fabric::Domain;
use super::pace::Stretch;
use super::returns::Returns;
use super::run::Run;
use super::sentinels::NEVER;
use super::spec::{DllpMode, EgressId, Environment};
use crate::spec::constants::DLLP_BYTES;
use lanetwin_units::{Span, TICKS_PER_PS, Ticks};

/// Number of past epochs whose DLLPs an idle wire may still need when it becomes busy.
const EPOCHS_KEPT: u64 = 8;

impl<U: Copy> Domain<U> {
    /// Sends the overhead that is due at or before `t`; true if the wire is then busy beyond `t`.
    #[inline]
    pub(super) fn pay_overhead(&mut self, own: &mut Egress, t: u64, env: &mut impl Environment<U>) -> bool {
        if t < own.overhead.next {
            return false;
        }
        let number = own.number;
        self.pay_due(own, t, &mut |mean| env.until_recovery(EgressId(number), mean));
        own.link_free > t
    }

    #[inline(never)]
    fn pay_due(&mut self, own: &mut Egress, t: u64, draw: &mut dyn FnMut(Span) -> Span) {
        loop {
            let dllp = own.serialiser.ticks(DLLP_BYTES);
            own.overhead.draw_next_recovery(draw);
            let (skp, due) = (own.overhead.skp_due(), own.overhead.due.next());
            let down = own.overhead.down_next();
            own.overhead.next = skp.min(due).min(down);
            if own.overhead.next > t {
                return;
            }
            let start = own.link_free.max(own.overhead.next);
            if down <= start {
                own.go_down(start);
                continue;
            }
            if skp > start {
                own.overhead.due.take_front(1);
                own.overlay(start, dllp, dllp);
                continue;
            }
            if own.link_free <= skp && own.skip_idle(t.min(down.saturating_sub(1))) {
                continue;
            }
            let number = own.overhead.number;
            let lump = if own.overhead.mode == DllpMode::Lump { self.lump(own, number) * dllp } else { 0 };
            let skp = own.overhead.skp;
            own.overlay(start, skp, skp + lump);
            own.overhead.number += 1;
        }
    }

    /// Number of DLLPs sent with SKP `number`: those caused by the opposite direction two epochs before.
    fn lump(&mut self, own: &Egress, number: u64) -> u64 {
        let Some(wanted) = number.checked_sub(2) else { return 0 };
        let opposite = usize::from(own.opposite);
        let theirs = &mut self.egresses[opposite].overhead;
        theirs.forget(wanted);
        let started =
            theirs.started.front().filter(|&&(epoch, _)| epoch == wanted).map(|&(_, started)| started);
        started.map_or(0, |started| theirs.caused_by(started) - theirs.caused_by(theirs.started_before))
    }

    /// Accounts for the DLLPs caused by TLPs that have just left.
    #[inline]
    pub(super) fn cause_dllps(&mut self, own: &mut Egress, run: Run) {
        let started = own.done.tlps;
        match own.overhead.mode {
            DllpMode::Off => {}
            DllpMode::Lump => {
                if run.start < own.overhead.epoch_end
                    && let Some(back) = own.overhead.started.back_mut()
                {
                    back.1 = started;
                    return;
                }
                self.begin_epoch(own, run.start, started);
            }
            DllpMode::Each => self.owe_each(own, run),
        }
    }

    /// The same if DLLPs are sent individually.
    #[inline(never)]
    fn owe_each(&mut self, own: &Egress, run: Run) {
        let first = run.start + run.duration + own.propagation + own.overhead.delay;
        let before = own.done.tlps - u64::from(run.count);
        for i in 0..u64::from(run.count) {
            let count = own.overhead.caused_by(before + i + 1) - own.overhead.caused_by(before + i);
            self.owe(usize::from(own.opposite), first + i * run.spacing, count);
        }
    }

    /// Begins an epoch whose first TLPs start at `start`.
    #[inline(never)]
    fn begin_epoch(&mut self, own: &mut Egress, start: u64, started: u64) {
        let needed = self.epoch_needed(own);
        let overhead = &mut own.overhead;
        debug_assert!(overhead.period != NEVER, "DLLPs in lumps need a period");
        let epoch = start / overhead.period;
        overhead.forget(needed);
        overhead.epoch_end = (epoch + 1) * overhead.period;
        if let Some(back) = overhead.started.back_mut().filter(|back| back.0 == epoch) {
            back.1 = started;
        } else {
            overhead.started.push((epoch, started));
        }
    }

    /// The first epoch whose DLLPs the opposite direction may still have to send; an idle wire skips those long past.
    fn epoch_needed(&self, own: &Egress) -> u64 {
        let theirs = &self.egresses[usize::from(own.opposite)];
        let idle = theirs.link_free <= theirs.overhead.skp_due();
        if idle {
            own.overhead.number.saturating_sub(EPOCHS_KEPT)
        } else {
            theirs.overhead.number.saturating_sub(2)
        }
    }

    /// Queues `count` DLLPs, due at `t`, at an egress.
    fn owe(&mut self, opposite: usize, t: u64, count: u64) {
        let theirs = &mut self.egresses[opposite].overhead;
        for _ in 0..count {
            theirs.due.push(Returns { at: t, spacing: 0, count: 1, weight: 1 });
            theirs.next = theirs.next.min(t);
        }
    }
}

impl Egress {
    /// Occupies the wire with overhead from `start` on, for `all` including lumped DLLPs and for `own` without them.
    /// If the wire was idle and a TLP waited for credits, that does not end the stall.
    fn overlay(&mut self, start: u64, own: u64, all: u64) {
        let stalled = start > self.link_free && self.earliest() <= start;
        self.link_free = start + all;
        if stalled {
            self.idle_overhead += own;
        } else {
            (self.idle_from, self.idle_overhead) = (self.link_free, 0);
        }
    }

    /// Ends a stall when the wire is taken at `t`: counts the time that it was idle although a TLP was eligible and
    /// lacked only credits or room.
    #[inline]
    pub(super) fn end_stall(&mut self, t: u64) {
        if t > self.idle_from {
            self.book_stall(t);
        }
    }

    #[inline(never)]
    fn book_stall(&mut self, t: u64) {
        let from = self.idle_from.max(self.earliest());
        self.done.stalled += t.saturating_sub(from).saturating_sub(self.idle_overhead);
    }

    /// Skips SKPs on an idle wire, of which only the last before `t` still matters. Returns false if there are none
    /// to skip.
    fn skip_idle(&mut self, t: u64) -> bool {
        let (number, period) = (self.overhead.number, self.overhead.period);
        let until = t.min(self.overhead.due.next().saturating_sub(1).max(self.overhead.skp_due()));
        // The last three periods are kept: an SKP with its DLLPs takes less than one.
        let last = (until / period).saturating_sub(3);
        if last <= number {
            return false;
        }
        // SKPs during a stall, and those before it.
        let stalled = self.earliest().div_ceil(period).clamp(number, last);
        if stalled > number {
            (self.idle_from, self.idle_overhead) = ((stalled - 1) * period + self.overhead.skp, 0);
        }
        self.idle_overhead += (last - stalled) * self.overhead.skp;
        self.overhead.number = last;
        true
    }

    /// Takes the link down when the wire is free at `t`: the wire is next free when the link is up again, at the
    /// link's new pace. SKPs of the time between are dropped.
    fn go_down(&mut self, t: u64) {
        let Some((up, pace)) = self.overhead.take_down() else { return };
        if let Some(pace) = pace {
            let stretch = Stretch { ends: Ticks(t), up: Ticks(up), data_units: self.done.data_units };
            self.overhead.stretches.push(stretch);
            self.run_at(pace);
        }
        if t >= up {
            return; // it was busy all the while
        }
        self.done.recoveries += u64::from(pace.is_none());
        self.done.down_time += up - t;
        self.end_stall(t);
        (self.link_free, self.idle_from, self.idle_overhead) = (up, up, 0);
        if self.overhead.period != NEVER {
            self.overhead.number = self.overhead.number.max(up.div_ceil(self.overhead.period));
        }
    }
}

impl Overhead {
    /// Draws the next random Recovery, if there are any and the previous one is over.
    fn draw_next_recovery(&mut self, draw: &mut dyn FnMut(Span) -> Span) {
        if let Some(recovery) = self.recovery.as_mut().filter(|recovery| recovery.next.is_none()) {
            // a Recovery beyond the end of time never happens
            let ticks = |span: Span| span.as_ps().saturating_mul(TICKS_PER_PS);
            let from = recovery.before.saturating_add(ticks(draw(recovery.of.interval)));
            recovery.next = Some((from, from.saturating_add(ticks(recovery.of.lasts))));
        }
    }

    /// Number of DLLPs caused by the first `tlps` TLPs of this direction.
    #[inline]
    pub(super) fn caused_by(&self, tlps: u64) -> u64 {
        let acks = tlps.checked_div(self.ack_every).unwrap_or(0);
        acks + tlps.checked_div(self.update_every).unwrap_or(0)
    }

    /// Discards epochs before `needed`.
    fn forget(&mut self, needed: u64) {
        while let Some(&(_, started)) = self.started.front().filter(|f| f.0 < needed) {
            self.started_before = started;
            self.started.pop();
        }
    }
}
