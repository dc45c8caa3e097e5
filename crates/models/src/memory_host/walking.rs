//! Translations for threads: from the TLBs of the core, or by a walk through the caches.

use super::MemoryHost;
use super::cores::Core;
use super::engine::Place;
use super::flights::Flight;
use super::ids::{FlightId, ThreadId};
use super::translation::{ENTRIES_SHIFT, PROGRAM_SHIFT, TranslationKey, Walk};
use lanetwin_ports::Context;
use lanetwin_units::Span;

impl MemoryHost {
    /// The translation that an address of a thread needs: of the page that it is in, or of `tlb.page` if that is
    /// larger.
    #[inline]
    fn wanted(&self, t: ThreadId, address: u64) -> TranslationKey {
        let (shift, levels) = self.rules.translation.map_or((0, 1), |rules| (rules.page_shift, rules.levels));
        let program = self.threads[t.index()].program;
        let number = address >> 12;
        let page = u64::from(program) << PROGRAM_SHIFT | number >> shift;
        let size = self.programs[program as usize].map.size(number).shift();
        TranslationKey::by(page, (size.saturating_sub(shift) / ENTRIES_SHIFT).min(levels - 1))
    }
    fn core_of(&mut self, t: ThreadId) -> &mut Core {
        let core = self.threads[t.index()].core;
        &mut self.cores[core.index()]
    }
    /// Whether a thread's core has the translation of an address, or needs none.
    pub(super) fn is_translated(&mut self, t: ThreadId, address: u64) -> bool {
        if self.rules.translation.is_none() {
            return true;
        }
        let TranslationKey { translation, .. } = self.wanted(t, address);
        let translations = &mut self.core_of(t).translations;
        translations.as_mut().is_none_or(|of| of.tlb.touch(translation, false))
    }
    /// Time of a miss in the first-level TLB that hits the one behind it; the first level has the translation from
    /// now on.
    pub(super) fn first_miss(&mut self, t: ThreadId, address: u64) -> Span {
        if self.rules.translation.is_none_or(|rules| rules.first.is_none()) {
            return Span::ZERO;
        }
        let TranslationKey { translation, .. } = self.wanted(t, address);
        let Some(first) = self.core_of(t).translations.as_mut().and_then(|of| of.first.as_mut()) else {
            return Span::ZERO;
        };
        if first.touch(translation, false) {
            return Span::ZERO;
        }
        first.insert(translation, false);
        self.rules.translation.map_or(Span::ZERO, |rules| rules.first_miss)
    }
    /// Begins the walk for an address without a cached translation in the thread's core.
    fn begin_walk(&mut self, t: ThreadId, address: u64) -> Option<(u64, Walk)> {
        if self.is_translated(t, address) {
            return None;
        }
        let wanted = self.wanted(t, address);
        let levels = self.rules.translation?.levels;
        let walk = self.core_of(t).translations.as_mut()?.begin_walk(wanted, levels);
        Some((wanted.number(), walk))
    }
    fn entry(&self, t: ThreadId, number: u64, level: u32) -> u64 {
        let running = &self.programs[self.threads[t.index()].program as usize];
        let (page, line) = running.table.entry(number, level);
        running.first_line(page) + line
    }

    /// Does the walk for an address in zero time, if one is needed: the lines that it loads are cached from now on.
    pub(super) fn warm_walk(&mut self, t: ThreadId, address: u64) {
        let Some((number, walk)) = self.begin_walk(t, address) else { return };
        let core = self.threads[t.index()].core;
        for level in (walk.last..=walk.level).rev() {
            let entry = self.entry(t, number, level);
            self.look_up_line(core, entry, false);
        }
    }
    /// Loads the translation of a flight, through the caches, and then its line.
    pub(super) fn walk(&mut self, name: FlightId, address: u64, cx: &mut Context<'_>) {
        let t = self.flights.get(name).thread;
        let Some((number, walk)) = self.begin_walk(t, address) else { return self.go(name, Span::ZERO, cx) };
        self.programs[self.threads[t.index()].program as usize].counted.walks += 1;
        let beside = self.rules.translation.map_or(Span::ZERO, |rules| rules.walk);
        self.load_entries(name, (number, walk), beside, cx);
    }
    /// Continues a flight on its walk after a load.
    pub(super) fn walk_on(&mut self, name: FlightId, cx: &mut Context<'_>) {
        self.flights.get(name).walking = false;
        match self.walks.take(name) {
            Some(walk) => self.load_entries(name, walk, Span::ZERO, cx),
            None => self.go(name, Span::ZERO, cx),
        }
    }
    /// Loads the entries that are left, as far as the caches have them; `delay` has gone by since the last that came
    /// from memory.
    fn load_entries(
        &mut self,
        name: FlightId,
        (number, walk): (u64, Walk),
        mut delay: Span,
        cx: &mut Context<'_>,
    ) {
        let Flight { thread: t, core: c, .. } = *self.flights.get(name);
        for level in (walk.last..=walk.level).rev() {
            let entry = self.entry(t, number, level);
            let place = self.look_up_line(c, entry, false);
            self.settle(c, t, entry, cx);
            if !matches!(place, Place::UnderWay(_) | Place::Memory) {
                delay += self.latency(c, place);
                continue;
            }
            if level > walk.last {
                self.walks.wait(name, number, Walk { level: level - 1, ..walk });
            }
            self.flights.get(name).walking = true;
            match place {
                Place::UnderWay(other) => self.flights.join(name, other),
                _ => {
                    self.flights.get(name).asked_for = entry;
                    self.cores[c.index()].pending.add(entry, name);
                    self.ask(name, delay, cx);
                }
            }
            return;
        }
        self.go(name, delay, cx);
    }
}
