//! Replacement: five policies over the lists of a set.
//!
//! | policy | lists, head first | goes |
//! |---|---|---|
//! | LRU | by last use | the tail |
//! | CLOCK | by arrival | the tail, unless it was used since: then it goes to the head and the next is asked |
//! | LFU | one for each count 0 to 15, by last use | the tail of the lowest; counts are halved every [`AGEING`] uses per way |
//! | ARC | recent, frequent, and ghosts of both | the tail of recent or frequent, by the target that ghosts shift |
//! | random | none | any |
//!
//! Consecutive accesses to one page of a set are one use: reading through a page of 64 lines counts once. Choosing a
//! victim changes nothing; the same page may be chosen again.

use super::config::Policy;
use super::directory::{Directory, REFERENCED};
use super::set::{At, Set, register};
use lanetwin_units::mix;

/// LFU: number of uses per way after which counts are halved (assumed).
pub(super) const AGEING: u32 = 8;
/// LFU: the highest count.
const MOST_USED: usize = 15;
/// The lists of ARC.
const RECENT: usize = 0;
const FREQUENT: usize = 1;
const RECENT_GHOSTS: usize = 2;
const FREQUENT_GHOSTS: usize = 3;

impl Directory {
    /// Notes a use of a cached page.
    #[inline]
    pub(super) fn touch(&mut self, at: At) {
        let last = self.register(at.set, register::LAST);
        if *last == at.place + 1 {
            return;
        }
        *last = at.place + 1;
        match self.policy {
            Policy::Lru => self.put_first(at, 0),
            Policy::Clock => self.raise(at, REFERENCED),
            Policy::Lfu => {
                let count = (self.list_of(at) + 1).min(MOST_USED);
                self.put_first(at, count);
                self.age(at.set);
            }
            Policy::Arc => self.put_first(at, FREQUENT),
            Policy::Random => {}
        }
    }
    fn put_first(&mut self, at: At, list: usize) {
        self.unlink(at);
        self.push(at, list);
    }

    /// The victim that makes room for `page`. Returns `None` if all are held. `turn` decides for random replacement.
    pub(super) fn choose(&self, set: Set, page: u32, turn: u64) -> Option<At> {
        match self.policy {
            Policy::Lru => self.last_free_to_go(set, 0),
            Policy::Clock => {
                let unused = |at: &At| !self.has(*at, REFERENCED);
                let round = || self.upwards(set, 0).filter(|at| !self.is_held(*at));
                round().find(unused).or_else(|| round().next())
            }
            Policy::Lfu => (0..=MOST_USED).find_map(|count| self.last_free_to_go(set, count)),
            Policy::Arc => {
                let lists = if self.recent_goes(set, page) { [RECENT, FREQUENT] } else { [FREQUENT, RECENT] };
                lists.into_iter().find_map(|list| self.last_free_to_go(set, list))
            }
            Policy::Random => {
                let first = ((u128::from(mix(self.seed ^ mix(turn))) * u128::from(self.ways)) >> 64) as u32;
                let mut round = (first..self.ways).chain(0..first).map(|place| At { set, place });
                round.find(|at| !self.is_held(*at))
            }
        }
    }
    fn upwards(&self, set: Set, list: usize) -> impl Iterator<Item = At> + '_ {
        core::iter::successors(self.tail(set, list), |at| self.before(*at))
    }
    fn last_free_to_go(&self, set: Set, list: usize) -> Option<At> {
        self.upwards(set, list).find(|at| !self.is_held(*at))
    }

    /// Evicts the chosen page to make room for `page`; its frame becomes free.
    pub(super) fn evict(&mut self, at: At, page: u32) {
        match self.policy {
            Policy::Clock => {
                if self.has(at, REFERENCED) {
                    // all were used: the hand has gone round once
                    self.upwards(at.set, 0)
                        .collect::<Vec<_>>()
                        .into_iter()
                        .for_each(|at| self.lower(at, REFERENCED));
                }
                // the hand passes the pages before it
                while let Some(passed) = self.tail(at.set, 0).filter(|passed| *passed != at) {
                    self.lower(passed, REFERENCED);
                    self.put_first(passed, 0);
                }
                self.unlink(at);
            }
            Policy::Arc => return self.evict_to_ghosts(at, page),
            Policy::Random => {}
            Policy::Lru | Policy::Lfu => self.unlink(at),
        }
        self.forget(at);
    }
    /// Removes a dismissed page, without a ghost.
    pub(super) fn dismiss(&mut self, at: At) {
        if self.policy != Policy::Random {
            self.unlink(at);
        }
        self.forget(at);
    }

    /// Admits a page into a frame that has been taken.
    pub(super) fn admit(&mut self, at: At, page: u32) {
        let list = match self.policy {
            Policy::Lru | Policy::Clock => Some(0),
            Policy::Lfu => Some(1),
            Policy::Arc => Some(self.insertion_list(at.set, page)),
            Policy::Random => None,
        };
        self.name(at, page);
        *self.register(at.set, register::LAST) = at.place + 1;
        if let Some(list) = list {
            self.push(at, list);
        }
        match self.policy {
            Policy::Clock => self.raise(at, REFERENCED),
            Policy::Lfu => self.age(at.set),
            _ => {}
        }
    }

    /// Admits pages into the first frames of a set that has never held any, with the same result as taking frames and
    /// admitting pages one by one.
    pub(super) fn admit_first(&mut self, set: Set, pages: &[u32]) {
        let state = match self.policy {
            Policy::Lru => Some(0),
            Policy::Clock => Some(REFERENCED),
            _ => None,
        };
        if let Some(state) = state.filter(|_| self.is_ordered()) {
            self.fill_ordered(set, pages, state);
            *self.register(set, register::LAST) = pages.len() as u32;
            return;
        }
        for page in pages {
            let at = self.take_free(set).expect("so many fit");
            self.admit(at, *page);
        }
    }

    /// LFU: counts uses, and halves the counts of all pages when due.
    fn age(&mut self, set: Set) {
        let due = AGEING * self.ways;
        let uses = self.register(set, register::POLICY);
        *uses += 1;
        if *uses < due {
            return;
        }
        *uses = 0;
        for count in 1..=MOST_USED {
            // the least recent first, which keeps the order; pages with the higher count precede those with the lower
            while let Some(at) = self.tail(set, count) {
                self.put_first(at, count / 2);
            }
        }
    }

    /// ARC: the target size of the recent list once `page` has been missed.
    fn target(&self, set: Set, page: u32) -> u32 {
        let target = self.read(set, register::POLICY);
        let length = |list| self.length(set, list);
        let (recent, frequent) = (length(RECENT_GHOSTS), length(FREQUENT_GHOSTS));
        match self.ghost(set, page).map(|ghost| self.list_of(ghost)) {
            Some(RECENT_GHOSTS) => (target + (frequent / recent).max(1)).min(self.ways),
            Some(_) => target.saturating_sub((recent / frequent).max(1)),
            None => target,
        }
    }
    /// ARC: whether the recent list gives up its last page for `page` (REPLACE in the paper).
    fn recent_goes(&self, set: Set, page: u32) -> bool {
        let recent = self.length(set, RECENT);
        let ghost = self.ghost(set, page).map(|ghost| self.list_of(ghost));
        if ghost.is_none() && recent == self.ways {
            return true;
        }
        let target = self.target(set, page);
        recent > 0 && (recent > target || ghost == Some(FREQUENT_GHOSTS) && recent == target)
    }
    fn evict_to_ghosts(&mut self, at: At, page: u32) {
        let set = at.set;
        let length = |directory: &Self, list| directory.length(set, list);
        let known = self.ghost(set, page);
        if let Some(ghost) = known {
            *self.register(set, register::POLICY) = self.target(set, page);
            *self.register(set, register::REMEMBERED) = 1;
            self.dismiss(ghost);
        }
        let known = known.is_some();
        let full = length(self, RECENT) == self.ways;
        let recents = length(self, RECENT) + length(self, RECENT_GHOSTS);
        let all = recents + length(self, FREQUENT) + length(self, FREQUENT_GHOSTS);
        if !known && !full {
            if recents >= self.ways {
                self.forget_last(set, RECENT_GHOSTS);
            } else if all >= 2 * self.ways {
                self.forget_last(set, FREQUENT_GHOSTS);
            }
        }
        // a list of recent pages that fills the whole cache leaves no ghost (case IV A)
        let leaves = (known || !full)
            .then(|| if self.list_of(at) == RECENT { RECENT_GHOSTS } else { FREQUENT_GHOSTS });
        let gone = self.page(at).expect("a page goes");
        self.unlink(at);
        self.forget(at);
        if let Some(list) = leaves {
            let ghost = match self.take_ghost(set) {
                Some(ghost) => ghost,
                None => self.oldest_ghost(set),
            };
            self.name(ghost, gone);
            self.push(ghost, list);
        }
    }
    fn forget_last(&mut self, set: Set, list: usize) {
        if let Some(ghost) = self.tail(set, list) {
            self.dismiss(ghost);
        }
    }
    /// Takes the last ghost of the longer list.
    fn oldest_ghost(&mut self, set: Set) -> At {
        let longer = self.length(set, RECENT_GHOSTS) >= self.length(set, FREQUENT_GHOSTS);
        self.forget_last(set, if longer { RECENT_GHOSTS } else { FREQUENT_GHOSTS });
        self.take_ghost(set).expect("one was given free")
    }
    /// ARC: the list for a page that was missed; also shifts the target.
    fn insertion_list(&mut self, set: Set, page: u32) -> usize {
        if core::mem::take(self.register(set, register::REMEMBERED)) != 0 {
            return FREQUENT;
        }
        let Some(ghost) = self.ghost(set, page) else { return RECENT };
        *self.register(set, register::POLICY) = self.target(set, page);
        self.dismiss(ghost);
        FREQUENT
    }
}
