//! Placement of unwritten pages as in MQSim.

use super::layout::{Layout, Page};
use super::map::Map;

/// MQSim gives a page a place when it is first read: the next page of the plane that its number determines.
#[derive(Debug)]
pub struct FirstTouch {
    /// Number of pages placed on each plane.
    counts: Vec<u32>,
    /// Index of each page on its plane.
    pages: Map,
}

impl FirstTouch {
    pub fn new(layout: &Layout) -> Self {
        Self { counts: vec![0; (layout.dies * layout.planes) as usize], pages: Map::new(u64::MAX) }
    }
    pub(super) fn page(&mut self, layout: &Layout, unit: u64) -> Page {
        let number = unit / u64::from(layout.page);
        let planes = u64::from(layout.dies * layout.planes);
        let at = (number % planes) as u32;
        let (die, plane) = (at % layout.dies, at / layout.dies);
        let index = self.pages.get(number as u32).unwrap_or_else(|| {
            let index = u64::from(self.counts[at as usize]);
            self.counts[at as usize] += 1;
            self.pages.set(number as u32, index);
            index
        });
        let pages = u64::from(layout.block / layout.row);
        let block = die * layout.blocks + (index / pages) as u32 % layout.blocks;
        Page { die, block, plane, page: (index % pages) as u32 }
    }
}
