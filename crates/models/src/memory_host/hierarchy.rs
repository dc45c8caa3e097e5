//! The path of a line through the cache levels, evictions for it, and prefetches.

use super::MemoryHost;
use super::cache::Victim;
use super::engine::Place;
use super::flights::{Cause, Flight};
use super::ids::{CoreId, ThreadId};
use super::prefetch::Advice;
use lanetwin_ports::Context;
use lanetwin_units::Span;

impl MemoryHost {
    /// Looks a line up. It is in the caches from now on; evictions and advice of a prefetcher are left to be
    /// processed.
    pub(super) fn look_up_line(&mut self, c: CoreId, line: u64, dirty: bool) -> Place {
        let core = &mut self.cores[c.index()];
        let (l2, socket) = (core.l2, core.socket as usize);
        let pending = core.pending.find(line).map(Place::UnderWay);
        if core.l1.touch(line, dirty) {
            return pending.unwrap_or(Place::L1);
        }
        if !core.prefetcher.is_off() {
            self.advice = core.prefetcher.touch(line);
        }
        let place =
            if self.l2[l2].touch(line, false) { Place::L2 } else { self.fill_from_llc(l2, socket, line) };
        self.fill_l1(c, line, dirty);
        pending.unwrap_or(place)
    }
    /// Time to get a line from there to a core.
    pub(super) fn latency(&self, c: CoreId, place: Place) -> Span {
        match place {
            Place::L1 => self.rules.l1_latency,
            Place::L2 => self.rules.l2_latency,
            _ => {
                // levels behind the second depend on the clock of the uncore
                let socket = self.cores[c.index()].socket as usize;
                let behind = self.rules.llc_latency.as_ps().saturating_sub(self.rules.l2_latency.as_ps());
                self.rules.llc_latency + self.clocks[socket].added(Span::from_ps(behind))
            }
        }
    }
    /// Time of a line across the uncore of a socket, now.
    #[inline]
    pub(super) fn cross(&mut self, socket: usize, line: u64) -> Span {
        self.clocks[socket].cross(self.now, self.rules.uncore.of(line))
    }
    /// Brings a line that the second level has not into it, from the last level or from memory.
    fn fill_from_llc(&mut self, l2: usize, socket: usize, line: u64) -> Place {
        let llc = &mut self.llc[socket];
        let (place, dirty) = if self.rules.exclusive {
            match llc.remove(line) {
                Some(dirty) => (Place::Llc, dirty),
                None => (Place::Memory, false),
            }
        } else if llc.touch(line, false) {
            (Place::Llc, false)
        } else {
            let victim = llc.insert(line, false);
            self.let_go(victim);
            (Place::Memory, false)
        };
        self.fill_l2(l2, socket, line, dirty);
        place
    }
    fn fill_l1(&mut self, c: CoreId, line: u64, dirty: bool) {
        let core = &mut self.cores[c.index()];
        let (l2, socket) = (core.l2, core.socket as usize);
        if let Some(victim) = core.l1.insert(line, dirty).filter(|victim| victim.dirty)
            && !self.l2[l2].touch(victim.line, true)
        {
            self.fill_l2(l2, socket, victim.line, true);
        }
    }
    fn fill_l2(&mut self, l2: usize, socket: usize, line: u64, dirty: bool) {
        let Some(victim) = self.l2[l2].insert(line, dirty) else { return };
        let llc = &mut self.llc[socket];
        if (victim.dirty || self.rules.exclusive) && !llc.touch(victim.line, victim.dirty) {
            let victim = llc.insert(victim.line, victim.dirty);
            self.let_go(victim);
        }
    }
    /// The last level lets a line go.
    fn let_go(&mut self, victim: Option<Victim>) {
        self.evicted.extend(victim.filter(|victim| victim.dirty).map(|victim| victim.line));
    }
    /// Writes back evicted lines, and requests the lines advised by the prefetcher.
    pub(super) fn settle(&mut self, c: CoreId, t: ThreadId, line: u64, cx: &mut Context<'_>) {
        while let Some(line) = self.evicted.pop() {
            self.write_back(c, t, line, cx);
        }
        let advice = std::mem::take(&mut self.advice);
        if advice.ask != 0 {
            self.prefetch(c, t, line, advice, cx);
        }
    }

    /// Asks for lines of the page that `line` is in, as far as there are places.
    pub(super) fn prefetch(
        &mut self,
        c: CoreId,
        t: ThreadId,
        line: u64,
        advice: Advice,
        cx: &mut Context<'_>,
    ) {
        let cold = self.programs[self.threads[t.index()].program as usize].cold;
        let mut ask = advice.ask;
        while ask != 0 {
            let core = &mut self.cores[c.index()];
            if core.prefetches == 0 || !core.owed.is_empty() {
                return;
            }
            let place = if advice.down { 63 - ask.leading_zeros() } else { ask.trailing_zeros() };
            ask &= !(1 << place);
            let wanted = line & !63 | u64::from(place);
            core.prefetcher.asked(wanted);
            let (l2, socket) = (core.l2, core.socket as usize);
            let there = !cold
                && (self.l2[l2].touch(wanted, false)
                    || self.fill_from_llc(l2, socket, wanted) != Place::Memory);
            while let Some(line) = self.evicted.pop() {
                self.write_back(c, t, line, cx);
            }
            if !there {
                self.prefetch_line(c, t, wanted, cx);
            }
        }
    }
    fn prefetch_line(&mut self, c: CoreId, t: ThreadId, line: u64, cx: &mut Context<'_>) {
        let name = self.flights.begin(Flight::new(Cause::Prefetch, t, c, line, self.now));
        let core = &mut self.cores[c.index()];
        core.prefetches -= 1;
        core.pending.add(line, name);
        self.programs[self.threads[t.index()].program as usize].counted.prefetches += 1;
        self.asked += 1;
        self.ask(name, Span::ZERO, cx);
    }
}
