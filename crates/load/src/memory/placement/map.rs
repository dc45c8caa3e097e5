//! The node and frame of every page, as a function of its number.

use super::policy::{BadPlacement, Mapping, PageSize, Part, Policy};
use super::stretch::Stretch;
use std::ops::Range;

/// The node and the frame of every page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageMap {
    /// Pages.
    pages: u64,
    /// Ranges of pages with a constant pattern, by their first pages.
    stretches: Vec<Stretch>,
    /// Number of used frames of each node, including those used before.
    used: Vec<u64>,
    /// Large pages, by address.
    large: Vec<Large>,
}

/// Pages of 4 KiB that are part of large ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Large {
    /// The pages of 4 KiB.
    pub pages: Range<u64>,
    /// The size of the large pages.
    pub size: PageSize,
}

impl PageMap {
    /// Places `pages` pages of 4 KiB on nodes with `frames` frames each, of which the first `used` are taken.
    ///
    /// # Errors
    /// All problems found.
    pub fn new(
        mapping: &Mapping,
        pages: u64,
        frames: &[u64],
        used: &[u64],
    ) -> Result<Self, Vec<BadPlacement>> {
        Self::with_parts((mapping, &[]), pages, frames, used)
    }
    /// The same with separate mappings for parts, which have to ascend and must not overlap; those beyond the pages are
    /// left out. The turns of every policy follow from the numbers of the pages, each size counted in its own unit.
    ///
    /// # Errors
    /// All problems found; of parts that do not fit, only the first.
    pub fn with_parts(
        (mapping, parts): (&Mapping, &[Part]),
        pages: u64,
        frames: &[u64],
        used: &[u64],
    ) -> Result<Self, Vec<BadPlacement>> {
        let all = std::iter::once(mapping).chain(parts.iter().map(|part| &part.mapping));
        let wrong: Vec<BadPlacement> = all.flat_map(|mapping| mapping.policy.check(frames.len())).collect();
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let mut map = Self { pages, stretches: Vec::new(), used: used.to_vec(), large: Vec::new() };
        let mut at = 0;
        for part in parts {
            let (first, end) = (part.pages.start.clamp(at, pages), part.pages.end.clamp(at, pages));
            map.fill(mapping, at..first, frames)?;
            map.fill(&part.mapping, first..end, frames)?;
            at = end.max(first);
        }
        map.fill(mapping, at..pages, frames)?;
        Ok(map)
    }
    /// Places further pages, up to page `end`.
    ///
    /// # Errors
    /// If they do not fit.
    pub fn extend(&mut self, mapping: &Mapping, end: u64, frames: &[u64]) -> Result<(), Vec<BadPlacement>> {
        self.fill(mapping, self.pages..end, frames)?;
        self.pages = end;
        Ok(())
    }

    /// Places the pages that follow.
    fn fill(
        &mut self,
        mapping: &Mapping,
        pages: Range<u64>,
        frames: &[u64],
    ) -> Result<(), Vec<BadPlacement>> {
        if pages.is_empty() {
            return Ok(());
        }
        let Mapping { policy, size } = mapping;
        if let Policy::Dax(node) = policy {
            return self.fill_directly(*node, pages, frames);
        }
        let unit = size.pages();
        let whole = pages.start.next_multiple_of(unit)..pages.end / unit * unit;
        if *size == PageSize::Small || whole.is_empty() {
            return self.fill_small(policy, pages.start, pages, frames);
        }
        self.fill_small(policy, pages.start, pages.start..whole.start, frames)?;
        let placed = self.turn(policy, (*size, whole.clone()), frames);
        if placed > whole.start {
            self.large.push(Large { pages: whole.start..placed, size: *size });
        }
        self.fill_small(policy, pages.start, placed..pages.end, frames)
    }
    /// Places pages in frames of 4 KiB; they belong to a mapping that began at page `began`.
    fn fill_small(
        &mut self,
        policy: &Policy,
        began: u64,
        pages: Range<u64>,
        frames: &[u64],
    ) -> Result<(), Vec<BadPlacement>> {
        let free = |node: usize| frames[node].saturating_sub(self.used[node]);
        let room: u64 = (0..frames.len()).filter(|n| policy.may_use(*n as u16)).map(free).sum();
        if room < pages.end - pages.start {
            let (needed, room) = (pages.end - began, pages.start - began + room);
            return Err(vec![BadPlacement::NoRoom { needed, room }]);
        }
        self.turn(policy, (PageSize::Small, pages), frames);
        Ok(())
    }
    /// Places pages on a device, which stores them in pages of 2 MiB, wherever the first begins.
    fn fill_directly(
        &mut self,
        node: u16,
        pages: Range<u64>,
        frames: &[u64],
    ) -> Result<(), Vec<BadPlacement>> {
        let unit = PageSize::Huge.pages();
        let used = &mut self.used[usize::from(node)];
        *used = used.next_multiple_of(unit);
        let needed = (pages.end - pages.start).next_multiple_of(unit);
        let room = frames[usize::from(node)].saturating_sub(*used);
        if room < needed {
            return Err(vec![BadPlacement::NoRoom { needed, room }]);
        }
        self.large.push(Large { pages: pages.clone(), size: PageSize::Huge });
        self.turn(&Policy::Dax(node), (PageSize::Small, pages), frames);
        let used = &mut self.used[usize::from(node)];
        *used = used.next_multiple_of(unit);
        Ok(())
    }
    /// Places pages of one size in turn, as long as there is room for whole ones. Returns the first page without room.
    fn turn(&mut self, policy: &Policy, (size, pages): (PageSize, Range<u64>), frames: &[u64]) -> u64 {
        let unit = size.pages();
        let frames: Vec<u64> = frames.iter().map(|frames| frames / unit).collect();
        let before: Vec<u64> = self.used.iter().map(|used| used.div_ceil(unit)).collect();
        let mut used = before.clone();
        let round = policy.round();
        let (mut at, end) = (pages.start / unit, pages.end / unit);
        while at < end {
            let has_room = |node: u16| {
                let n = usize::from(node);
                policy.may_use(node) && frames[n] > used[n]
            };
            let nearest = |node: u16| (node..frames.len() as u16).chain(0..node).find(|n| has_room(*n));
            let Some(turns) = round.iter().map(|node| nearest(*node)).collect::<Option<Vec<u16>>>() else {
                break;
            };
            let stretch = Stretch::new((at, size.shift()), &turns, &used);
            let length = stretch.until_full(&frames, end - at, &used);
            stretch.take(length, &mut used);
            at += length;
            if self.stretches.last().is_none_or(|last| !last.goes_on_as(&stretch)) {
                self.stretches.push(stretch);
            }
        }
        let changed =
            used.iter().zip(&before).zip(&mut self.used).filter(|((used, before), _)| used != before);
        changed.for_each(|((used, _), own)| *own = used * unit);
        at * unit
    }

    /// Pages that are part of pages larger than 4 KiB, by address.
    #[must_use]
    pub fn large(&self) -> &[Large] {
        &self.large
    }
    /// The size of the page that contains a page of 4 KiB.
    #[inline]
    #[must_use]
    pub fn size(&self, page: u64) -> PageSize {
        let large = self.large.iter().find(|large| large.pages.contains(&page));
        large.map_or(PageSize::Small, |large| large.size)
    }
    /// Number of pages of 4 KiB.
    #[must_use]
    pub const fn pages(&self) -> u64 {
        self.pages
    }
    /// Number of used frames of 4 KiB of each node, including those used before.
    #[must_use]
    pub fn used(&self) -> &[u64] {
        &self.used
    }
    /// The node of a page of 4 KiB, and its frame there.
    ///
    /// # Panics
    /// If there are no pages.
    #[inline]
    #[must_use]
    pub fn place(&self, page: u64) -> (u16, u64) {
        debug_assert!(page < self.pages);
        let stretch = match &self.stretches[..] {
            [only] => only,
            all => &all[all.partition_point(|stretch| stretch.first() <= page) - 1],
        };
        stretch.place(page)
    }
}
