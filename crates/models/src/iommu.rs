//! Address translation: a translation cache (IOTLB) of finite reach, and page walkers behind it.
//!
//! A request to a page in the cache is translated at once. A request to another page waits for a walker and a walk;
//! its page replaces the least recently used one. Requests to a page that is already being walked wait for that walk.
//!
//! Not here: the cost of a hit (part of the memory latency), invalidations, nested translation, the device's own cache
//! (ATS).

use crate::servers::Servers;
use lanetwin_kernel::Supply;
use lanetwin_units::{Instant, Span};
use std::collections::BTreeMap;

/// Parameters of an IOMMU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    /// Number of pages in the cache; at least one.
    pub(crate) entries: u64,
    /// The size of a page \[B\].
    pub(crate) page: u64,
    /// The time of a walk.
    pub(crate) walk: Span,
    /// Largest number of concurrent walks.
    pub(crate) walkers: u64,
}

/// The translation of addresses.
#[derive(Debug)]
pub(crate) struct Iommu {
    reach: Reach,
    /// Page → when it was last used (a count), and the instant from which its translation is known.
    pages: BTreeMap<u64, (u64, Instant)>,
    /// Time of last use → page: the first is replaced next.
    by_use: BTreeMap<u64, u64>,
    uses: u64,
    walkers: Servers,
    walks: u64,
}

impl Iommu {
    pub(crate) fn new(reach: Reach) -> Self {
        let (pages, by_use) = (BTreeMap::new(), BTreeMap::new());
        Self { reach, pages, by_use, uses: 0, walkers: Servers::new(reach.walkers), walks: 0 }
    }
    /// Asks at `now` for the translation of `address`: the instant at which it is known.
    pub(crate) fn translate(&mut self, address: u64, now: Instant) -> Instant {
        let page = address / self.reach.page;
        self.uses += 1;
        let known = if let Some(&(last, known)) = self.pages.get(&page) {
            self.by_use.remove(&last);
            known
        } else {
            self.make_room();
            self.walks += 1;
            self.walkers.serve(now, self.reach.walk) + self.reach.walk
        };
        self.pages.insert(page, (self.uses, known));
        self.by_use.insert(self.uses, page);
        known.max(now)
    }
    fn make_room(&mut self) {
        while self.pages.len() as u64 >= self.reach.entries
            && let Some((_, oldest)) = self.by_use.pop_first()
        {
            self.pages.remove(&oldest);
        }
    }
    /// Use of the walkers up to `now`, the present.
    pub(crate) fn walkers_used(&self, now: Instant) -> Supply {
        self.walkers.used(now)
    }
    /// Number of translations, and of those that needed a walk.
    pub(crate) const fn counts(&self) -> (u64, u64) {
        (self.uses, self.walks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WALK: Span = Span::from_ns(100);

    fn iommu(entries: u64, walkers: u64) -> Iommu {
        Iommu::new(Reach { entries, page: 4096, walk: WALK, walkers })
    }
    fn ns(ns: u64) -> Instant {
        Instant::ZERO + Span::from_ns(ns)
    }

    #[test]
    fn a_page_is_walked_once_and_those_who_ask_meanwhile_wait_for_the_same_walk() {
        let mut iommu = iommu(4, 1);
        assert_eq!(iommu.translate(0, ns(0)), ns(100));
        assert_eq!(iommu.translate(4095, ns(40)), ns(100));
        assert_eq!(iommu.translate(8, ns(500)), ns(500));
        assert_eq!(iommu.counts(), (3, 1));
    }

    #[test]
    fn walks_queue_for_the_walkers() {
        let mut one = iommu(8, 1);
        let mut two = iommu(8, 2);
        let both = |page: u64, one: &mut Iommu, two: &mut Iommu| {
            (one.translate(page * 4096, ns(0)), two.translate(page * 4096, ns(0)))
        };
        assert_eq!(both(0, &mut one, &mut two), (ns(100), ns(100)));
        assert_eq!(both(1, &mut one, &mut two), (ns(200), ns(100)));
        assert_eq!(both(2, &mut one, &mut two), (ns(300), ns(200)));
    }

    #[test]
    fn the_least_recently_used_page_is_replaced() {
        let mut iommu = iommu(2, 1);
        for page in [0, 1, 0, 2, 0, 1] {
            iommu.translate(page * 4096, ns(1_000_000));
        }
        // 0 and 1 are walked, 0 hits, 2 replaces 1, 0 hits, 1 replaces 2
        assert_eq!(iommu.counts(), (6, 4));
    }

    /// The reach is exact: a window of as many pages as entries is walked once, one page more always (in this order).
    #[test]
    fn the_reach_ends_at_the_number_of_entries() {
        for (pages, walks) in [(16, 16), (17, 17 * 3)] {
            let mut iommu = iommu(16, 1);
            for _ in 0..3 {
                (0..pages).for_each(|page| {
                    iommu.translate(page * 4096, ns(0));
                });
            }
            assert_eq!(iommu.counts(), (pages * 3, walks));
        }
    }
}
