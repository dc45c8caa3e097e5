//! Hints and queries of the host about pages, with the semantics of a future user-space library.
//!
//! | call | returns | what happens |
//! |---|---|---|
//! | announce | how many are there, on their way, or accepted | absent pages are fetched when registers are free that nobody waits for |
//! | dismiss | how many are leaving | clean pages go at once, dirty ones when they can be written back; a page in use meanwhile stays |
//! | status | how many are in the cache | nothing |
//! | temperature | the temperatures, summed | nothing; a page that is not in the cache has none |
//!
//! All of them return at once. Announcements and dismissals are hints: those that do not fit into the queue are
//! dropped and not counted. Pages beyond the device are ignored.

use super::pages::{HOTTEST, Pages};
use super::set::At;
use super::{Effect, PageCache};
use lanetwin_units::Instant;

impl PageCache {
    fn each(&self, pages: Pages) -> impl Iterator<Item = u32> + use<> {
        let end = pages.first.saturating_add(pages.count).min(self.pages);
        (pages.first.min(end)..end).map(|page| page as u32)
    }
    fn cached(&mut self, page: u32) -> Option<At> {
        let set = self.set_of(page);
        self.directory.find(set, page)
    }

    /// Announces pages that the host will need. Returns how many are cached, being fetched, or accepted.
    pub fn announce(&mut self, now: Instant, pages: Pages, effects: &mut Vec<Effect>) -> u64 {
        let mut taken = 0;
        for page in self.each(pages) {
            if self.announced.is_empty() && self.bring(now, page, effects) || self.cached(page).is_some() {
                taken += 1;
            } else if self.announced.len() < self.most_announced {
                self.announced.push_back(page);
                taken += 1;
            } else {
                self.counters.announcements_dropped += 1;
            }
        }
        self.background(now, effects);
        taken
    }
    /// Dismisses pages that the host will not need. Returns how many are being removed.
    pub fn dismiss(&mut self, now: Instant, pages: Pages, effects: &mut Vec<Effect>) -> u64 {
        let mut leaving = 0;
        for page in self.each(pages) {
            self.announced.retain(|announced| *announced != page);
            let Some(at) = self.cached(page).filter(|at| !self.directory.is_held(*at)) else { continue };
            if self.dismissed.is_empty() && self.let_go(at, effects) {
                leaving += 1;
            } else if self.dismissed.len() < self.most_announced {
                self.dismissed.push_back(page);
                leaving += 1;
            }
        }
        self.background(now, effects);
        leaving
    }
    /// Number of these pages that are cached or being fetched.
    pub fn status(&mut self, pages: Pages) -> u64 {
        self.each(pages).filter(|page| self.cached(*page).is_some()).count() as u64
    }
    /// Sum of the temperatures of these pages: lines read or written, halved for each half-life that has passed
    /// since.
    pub fn temperature(&mut self, now: Instant, pages: Pages) -> u64 {
        let cached: Vec<At> = self.each(pages).filter_map(|page| self.cached(page)).collect();
        cached.into_iter().map(|at| u64::from(self.thermometer.read(self.directory.heat(at), now))).sum()
    }
    /// Number of cached pages of each temperature: none, 1, 2 to 3, 4 to 7, …; in sets that have been visited.
    #[must_use]
    pub fn temperatures(&self, now: Instant) -> [u64; HOTTEST + 1] {
        let mut bins = [0; HOTTEST + 1];
        for at in self.directory.cached() {
            let heat = self.thermometer.read(self.directory.heat(at), now);
            bins[(u32::BITS - heat.leading_zeros()) as usize] += 1;
        }
        bins
    }

    /// Removes a page that nobody needs. Returns false if that is not possible yet.
    fn let_go(&mut self, at: At, effects: &mut Vec<Effect>) -> bool {
        if !self.send_away(at, effects) {
            return false;
        }
        self.directory.dismiss(at);
        true
    }
    /// Removes pages that could not be removed before.
    pub(super) fn dismiss_more(&mut self, effects: &mut Vec<Effect>) {
        while let Some(page) = self.dismissed.front().copied() {
            // pages that are in use by now stay
            if let Some(at) = self.cached(page).filter(|at| !self.directory.is_held(*at))
                && !self.let_go(at, effects)
            {
                break;
            }
            self.dismissed.pop_front();
        }
    }
}
