//! What a link sends on its own account: SKP ordered sets and DLLPs.

use super::Fabric;
use super::egress::{DLLP_BYTES, NEVER, Overhead, Returns};
use super::spec::DllpMode;

/// An idle wire that wakes up cannot ask for epochs that are further past than this.
const EPOCHS_KEPT: u64 = 8;

impl<U: Copy> Fabric<U> {
    /// Sends the overhead that is due at or before `t`; true if the wire is then busy beyond `t`.
    #[inline]
    pub(super) fn pay_overhead(&mut self, e: usize, t: u64) -> bool {
        if t < self.egresses[e].overhead.next {
            return false;
        }
        self.pay_due(e, t);
        self.egresses[e].link_free > t
    }

    #[inline(never)]
    fn pay_due(&mut self, e: usize, t: u64) {
        let dllp = self.egresses[e].serialiser.ticks(DLLP_BYTES);
        loop {
            let egress = &mut self.egresses[e];
            let (skp, due) = (egress.overhead.skp_due(), egress.overhead.due.next());
            egress.overhead.next = skp.min(due);
            if egress.overhead.next > t {
                return;
            }
            let start = egress.link_free.max(egress.overhead.next);
            if skp > start {
                egress.link_free = start + dllp;
                egress.overhead.due.take_front(1);
                continue;
            }
            if egress.link_free <= skp && skip_idle(&mut egress.overhead, t) {
                continue;
            }
            let number = egress.overhead.number;
            let lump = if egress.overhead.mode == DllpMode::Lump { self.lump(e, number) * dllp } else { 0 };
            let egress = &mut self.egresses[e];
            egress.link_free = start + egress.overhead.skp + lump;
            egress.overhead.number += 1;
        }
    }

    /// How many DLLPs are paid with SKP `number`: those that the opposite direction caused two epochs before.
    fn lump(&mut self, e: usize, number: u64) -> u64 {
        let Some(wanted) = number.checked_sub(2) else { return 0 };
        let opposite = usize::from(self.egresses[e].opposite);
        let caused = &mut self.egresses[opposite].overhead.caused;
        while caused.front().is_some_and(|&(epoch, _)| epoch < wanted) {
            caused.pop();
        }
        caused.front().filter(|&&(epoch, _)| epoch == wanted).map_or(0, |&(_, count)| u64::from(count))
    }

    /// Accounts for the DLLPs that `m` TLPs cause which start at `start`, `start + per`, … and last `ser` each.
    #[inline]
    pub(super) fn cause_dllps(&mut self, e: usize, decided: u64, start: u64, per: u64, m: u16, ser: u64) {
        let egress = &mut self.egresses[e];
        let overhead = &mut egress.overhead;
        match overhead.mode {
            DllpMode::Off => {}
            DllpMode::Lump => {
                let count = overhead.count(m);
                if count != 0 {
                    egress.done.dllps_caused += u64::from(count);
                    let needed = self.epoch_needed(e);
                    self.egresses[e].overhead.account(decided, start, count, needed);
                }
            }
            DllpMode::Each => {
                let first = start + ser + egress.propagation + overhead.delay;
                for i in 0..u64::from(m) {
                    let count = self.egresses[e].overhead.count(1);
                    if count != 0 {
                        self.egresses[e].done.dllps_caused += u64::from(count);
                        self.owe(e, first + i * per, count);
                    }
                }
            }
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
    fn owe(&mut self, e: usize, t: u64, count: u32) {
        let opposite = usize::from(self.egresses[e].opposite);
        let theirs = &mut self.egresses[opposite].overhead;
        for _ in 0..count {
            theirs.due.push(Returns { t, p: 0, n: 1, weight: 1 });
        }
        theirs.next = theirs.next.min(t);
    }
}

/// On an idle wire only the last SKP before `t` can still matter: passes over the others. False if there are none.
fn skip_idle(overhead: &mut Overhead, t: u64) -> bool {
    let until = t.min(overhead.due.next().saturating_sub(1).max(overhead.skp_due()));
    // Three periods are kept: with its DLLPs an SKP lasts less than one.
    let last = (until / overhead.period).saturating_sub(3);
    if last <= overhead.number {
        return false;
    }
    overhead.number = last;
    true
}

impl Overhead {
    /// How many DLLPs the next `m` TLPs cause.
    #[inline]
    fn count(&mut self, m: u16) -> u32 {
        passes(&mut self.since_ack, self.ack_every, u32::from(m))
            + passes(&mut self.since_update, self.update_every, u32::from(m))
    }

    /// Adds `count` DLLPs to the account of the epoch that `start` lies in.
    #[inline]
    fn account(&mut self, decided: u64, start: u64, count: u32, needed: u64) {
        debug_assert!(self.period != NEVER, "DLLPs in lumps need a period");
        let now = self.number - 1;
        let epoch = if start < self.skp_due() { now } else { start / self.period };
        debug_assert!(decided / self.period == now, "a decision lies in the epoch before the next SKP");
        if let Some(back) = self.caused.back_mut().filter(|b| b.0 == epoch) {
            back.1 += count;
            return;
        }
        while self.caused.front().is_some_and(|f| f.0 < needed) {
            self.caused.pop();
        }
        self.caused.push((epoch, count));
    }
}

/// Counts `m` more, and how many times the count reaches `every`.
#[inline]
fn passes(since: &mut u32, every: u32, m: u32) -> u32 {
    if every == 0 {
        return 0;
    }
    *since += m;
    if *since < every {
        return 0;
    }
    let times = *since / every;
    *since %= every;
    times
}
