//! What a link sends on its own account: SKP ordered sets and DLLPs.

use super::Fabric;
use super::egress::{Egress, NEVER, Overhead};
use super::returns::Returns;
use super::spec::{DllpMode, EgressId, Environment};
use crate::spec::constants::DLLP_BYTES;
use lanetwin_units::{Span, TICKS_PER_PS};

/// An idle wire that wakes up cannot ask for epochs that are further past than this.
const EPOCHS_KEPT: u64 = 8;

impl<U: Copy> Fabric<U> {
    /// Sends the overhead that is due at or before `t`; true if the wire is then busy beyond `t`.
    #[inline]
    pub(super) fn pay_overhead(&mut self, e: usize, t: u64, env: &mut impl Environment<U>) -> bool {
        if t < self.egresses[e].overhead.next {
            return false;
        }
        self.pay_due(e, t, &mut |egress, mean| env.until_recovery(egress, mean));
        self.egresses[e].link_free > t
    }

    #[inline(never)]
    fn pay_due(&mut self, e: usize, t: u64, draw: &mut dyn FnMut(EgressId, Span) -> Span) {
        let dllp = self.egresses[e].serialiser.ticks(DLLP_BYTES);
        loop {
            let egress = &mut self.egresses[e];
            egress.overhead.foresee_recovery(&mut |mean| draw(EgressId(e as u16), mean));
            let (skp, due) = (egress.overhead.skp_due(), egress.overhead.due.next());
            let down = egress.overhead.down_next();
            egress.overhead.next = skp.min(due).min(down);
            if egress.overhead.next > t {
                return;
            }
            let start = egress.link_free.max(egress.overhead.next);
            if down <= start {
                egress.go_down(start);
                continue;
            }
            if skp > start {
                egress.overhead.due.take_front(1);
                egress.overlay(start, dllp, dllp);
                continue;
            }
            if egress.link_free <= skp && egress.skip_idle(t.min(down.saturating_sub(1))) {
                continue;
            }
            let number = egress.overhead.number;
            let lump = if egress.overhead.mode == DllpMode::Lump { self.lump(e, number) * dllp } else { 0 };
            let egress = &mut self.egresses[e];
            let skp = egress.overhead.skp;
            egress.overlay(start, skp, skp + lump);
            egress.overhead.number += 1;
        }
    }

    /// How many DLLPs are paid with SKP `number`: those that the opposite direction caused two epochs before.
    fn lump(&mut self, e: usize, number: u64) -> u64 {
        let Some(wanted) = number.checked_sub(2) else { return 0 };
        let opposite = usize::from(self.egresses[e].opposite);
        let theirs = &mut self.egresses[opposite].overhead;
        theirs.forget(wanted);
        let started =
            theirs.started.front().filter(|&&(epoch, _)| epoch == wanted).map(|&(_, started)| started);
        started.map_or(0, |started| theirs.caused_by(started) - theirs.caused_by(theirs.started_before))
    }

    /// Accounts for the DLLPs that the last `m` TLPs cause, which start at `start`, `start + per`, … and last `ser` each.
    #[inline]
    pub(super) fn cause_dllps(&mut self, e: usize, start: u64, per: u64, m: u16, ser: u64) {
        let egress = &mut self.egresses[e];
        let started = egress.done.tlps;
        match egress.overhead.mode {
            DllpMode::Off => {}
            DllpMode::Lump => {
                if start < egress.overhead.epoch_end
                    && let Some(back) = egress.overhead.started.back_mut()
                {
                    back.1 = started;
                    return;
                }
                self.begin_epoch(e, start, started);
            }
            DllpMode::Each => {
                let first = start + ser + egress.propagation + egress.overhead.delay;
                let before = started - u64::from(m);
                for i in 0..u64::from(m) {
                    let overhead = &self.egresses[e].overhead;
                    let count = overhead.caused_by(before + i + 1) - overhead.caused_by(before + i);
                    self.owe(e, first + i * per, count);
                }
            }
        }
    }

    /// The first TLPs of an epoch start at `start`.
    #[inline(never)]
    fn begin_epoch(&mut self, e: usize, start: u64, started: u64) {
        let needed = self.epoch_needed(e);
        let overhead = &mut self.egresses[e].overhead;
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

    /// The first epoch whose DLLPs the opposite direction can still ask for: an idle wire passes over what is long past.
    fn epoch_needed(&self, e: usize) -> u64 {
        let now = self.egresses[e].overhead.number;
        let theirs = &self.egresses[usize::from(self.egresses[e].opposite)];
        let idle = theirs.link_free <= theirs.overhead.skp_due();
        if idle { now.saturating_sub(EPOCHS_KEPT) } else { theirs.overhead.number.saturating_sub(2) }
    }

    /// Puts `count` DLLPs that are due at `t` before the opposite direction of `e`.
    fn owe(&mut self, e: usize, t: u64, count: u64) {
        let opposite = usize::from(self.egresses[e].opposite);
        let theirs = &mut self.egresses[opposite].overhead;
        for _ in 0..count {
            theirs.due.push(Returns { t, p: 0, n: 1, weight: 1 });
            theirs.next = theirs.next.min(t);
        }
    }
}

impl Egress {
    /// Overhead takes the wire at `start`, for `all` with the DLLPs in its lump, for `own` without. If the wire was idle, and a TLP waited for
    /// credits, that is no end of the stall.
    fn overlay(&mut self, start: u64, own: u64, all: u64) {
        let stalled = start > self.link_free && self.earliest() <= start;
        self.link_free = start + all;
        if stalled {
            self.idle_overhead += own;
        } else {
            (self.idle_from, self.idle_overhead) = (self.link_free, 0);
        }
    }

    /// The wire is taken at `t`: books how long it was idle although a TLP was eligible. It was free to go but for credits and room.
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

    /// On an idle wire only the last SKP before `t` can still matter: passes over the others. False if there are none.
    fn skip_idle(&mut self, t: u64) -> bool {
        let (number, period) = (self.overhead.number, self.overhead.period);
        let until = t.min(self.overhead.due.next().saturating_sub(1).max(self.overhead.skp_due()));
        // Three periods are kept: with its DLLPs an SKP lasts less than one.
        let last = (until / period).saturating_sub(3);
        if last <= number {
            return false;
        }
        // Those that fall into a stall, and those before it.
        let stalled = self.earliest().div_ceil(period).clamp(number, last);
        if stalled > number {
            (self.idle_from, self.idle_overhead) = ((stalled - 1) * period + self.overhead.skp, 0);
        }
        self.idle_overhead += (last - stalled) * self.overhead.skp;
        self.overhead.number = last;
        true
    }

    /// The wire is free at `t`, and the link has gone down: it is free again when the link is up, without the SKPs of the time between.
    fn go_down(&mut self, t: u64) {
        let Some((up, by_chance)) = self.overhead.take_down() else { return };
        if t >= up {
            return; // it was busy all the while
        }
        self.done.recoveries += u64::from(by_chance);
        self.done.down_time += up - t;
        self.end_stall(t);
        (self.link_free, self.idle_from, self.idle_overhead) = (up, up, 0);
        if self.overhead.period != NEVER {
            self.overhead.number = self.overhead.number.max(up.div_ceil(self.overhead.period));
        }
    }
}

impl Overhead {
    /// Draws the next Recovery by chance, if there are any and the last is over.
    fn foresee_recovery(&mut self, draw: &mut dyn FnMut(Span) -> Span) {
        if let Some(recovery) = self.recovery.as_mut().filter(|recovery| recovery.next.is_none()) {
            // one that is drawn beyond the end of time never comes
            let ticks = |span: Span| span.as_ps().saturating_mul(TICKS_PER_PS);
            let from = recovery.before.saturating_add(ticks(draw(recovery.of.interval)));
            recovery.next = Some((from, from.saturating_add(ticks(recovery.of.lasts))));
        }
    }

    /// How many DLLPs the first `tlps` TLPs of this direction cause.
    #[inline]
    pub(super) fn caused_by(&self, tlps: u64) -> u64 {
        let acks = tlps.checked_div(self.ack_every).unwrap_or(0);
        acks + tlps.checked_div(self.update_every).unwrap_or(0)
    }

    /// Takes out what nobody can ask for any more: the epochs before `needed`.
    fn forget(&mut self, needed: u64) {
        while let Some(&(_, started)) = self.started.front().filter(|f| f.0 < needed) {
            self.started_before = started;
            self.started.pop();
        }
    }
}
