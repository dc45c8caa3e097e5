//! Initial contents drawn at random, for each set when it is first visited.

use super::PageCache;
use super::directory::DIRTY;
use super::set::{At, Set, register};
use crate::random::Draws;
use lanetwin_units::mix;

impl PageCache {
    /// Draws the contents of a set that has not been visited.
    #[cold]
    #[inline(never)]
    pub(super) fn draw(&mut self, set: Set) {
        *self.directory.register(set, register::DRAWN) = 1;
        let Some(warm) = &mut self.warm else { return };
        warm.drawn += 1;
        let (first, end, tables, dirty) = (warm.first, warm.end, warm.tables, warm.dirty);
        let mut draws = Draws::new(mix(self.directory.seed) ^ mix(!set.number));
        let mut pages = core::mem::take(&mut warm.pages);
        self.directory.belonging(set, first..end, self.pages, &mut pages);
        let fit = pages.len().min(self.directory.ways as usize);
        let certain = if tables < end { to_the_front(&mut pages, tables).min(fit) } else { 0 };
        let mut dirtied = core::mem::take(&mut warm.dirtied);
        // if no page is dirty, or all are, the draw has no effect
        let decides = dirty > 0.0 && dirty < 1.0;
        for place in certain..fit {
            let chosen = place + draws.below((pages.len() - place) as u64) as usize;
            pages.swap(place, chosen);
            let mark_dirty = if decides {
                draws.unit() <= dirty
            } else {
                draws.skip();
                dirty > 0.0
            };
            if mark_dirty {
                dirtied.push(place as u32);
            }
        }
        self.directory.admit_first(set, &pages[..fit]);
        for place in dirtied.drain(..) {
            let at = At { set, place };
            self.directory.raise(at, DIRTY);
            self.counters.dirty_pages += 1;
            self.queue_if_dirty(at);
        }
        if let Some(warm) = &mut self.warm {
            (warm.pages, warm.dirtied) = (pages, dirtied);
        }
    }
    /// Approximate number of dirty pages in sets that have not been visited.
    pub(super) fn dirty_elsewhere(&self) -> u64 {
        self.warm.as_ref().map_or(0, |warm| {
            let left = self.directory.sets() - warm.drawn;
            (u128::from(warm.dirty_pages) * u128::from(left) / u128::from(self.directory.sets())) as u64
        })
    }
    /// Draws the next set that has not been visited, for the cleaner. Returns false if there is none.
    pub(super) fn draw_next(&mut self) -> bool {
        let (Some(cleaner), Some(_)) = (&mut self.cleaner, &self.warm) else { return false };
        while cleaner.cursor < self.directory.sets() {
            let set = self.directory.set(cleaner.cursor);
            cleaner.cursor += 1;
            if self.directory.read(set, register::DRAWN) == 0 {
                self.draw(set);
                return true;
            }
        }
        false
    }
}

/// Moves pages from number `from` on before all others. Returns their number.
fn to_the_front(pages: &mut [u32], from: u64) -> usize {
    let mut count = 0;
    for place in 0..pages.len() {
        if u64::from(pages[place]) >= from {
            pages.swap(place, count);
            count += 1;
        }
    }
    count
}
