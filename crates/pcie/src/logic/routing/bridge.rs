//! A bridge: the registers that say what passes.

use super::pack::Space;
use crate::spec::Bdf;
use crate::spec::config_words::{BusNumbers, MemoryWindow, PrefetchableWindow};
use core::ops::RangeInclusive;

/// A root port or a port of a switch, as a bridge between two buses: the registers of its type 1 header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bridge {
    /// Where it is on its primary bus.
    pub bdf: Bdf,
    /// The buses on its two sides.
    pub buses: BusNumbers,
    /// What passes downward below 4 GiB.
    pub memory: MemoryWindow,
    /// What passes downward of 64-bit prefetchable memory: the lower halves.
    pub prefetchable: PrefetchableWindow,
    /// The upper half of the prefetchable base.
    pub prefetchable_base_upper: u32,
    /// The upper half of the prefetchable limit.
    pub prefetchable_limit_upper: u32,
}

impl Bridge {
    /// A bridge with closed windows and no bus behind it.
    pub(super) fn new(bdf: Bdf) -> Self {
        let buses = BusNumbers::ZERO.with_primary(bdf.bus()).expect("a bus number has 8 bits");
        Self {
            bdf,
            buses,
            memory: MemoryWindow::CLOSED,
            prefetchable: PrefetchableWindow::CLOSED,
            prefetchable_base_upper: 0,
            prefetchable_limit_upper: 0,
        }
    }
    /// Gives it the buses from `secondary` to `subordinate`.
    pub(super) fn set_buses(&mut self, secondary: u8, subordinate: u8) {
        let buses = self.buses.with_secondary(secondary).and_then(|it| it.with_subordinate(subordinate));
        self.buses = buses.expect("a bus number has 8 bits");
    }
    /// Opens a window for these addresses, which are whole granules in the window's half.
    pub(super) fn open(&mut self, space: Space, addresses: &RangeInclusive<u64>) {
        match space {
            Space::Low => self.memory = MemoryWindow::of(addresses).expect("the low aperture is below 4 GiB"),
            Space::High => {
                self.prefetchable = PrefetchableWindow::of(addresses).expect("half an address fits");
                self.prefetchable_base_upper = (addresses.start() >> 32) as u32;
                self.prefetchable_limit_upper = (addresses.end() >> 32) as u32;
            }
        }
    }
    /// The addresses that pass downward in one of its windows; none if it is closed.
    #[must_use]
    pub fn window(&self, space: Space) -> Option<RangeInclusive<u64>> {
        match space {
            Space::Low => self.memory.addresses(),
            Space::High => {
                self.prefetchable.addresses(self.prefetchable_base_upper, self.prefetchable_limit_upper)
            }
        }
    }
    /// Whether a request to `address` passes downward.
    #[must_use]
    pub fn claims(&self, address: u64) -> bool {
        Space::ALL.into_iter().filter_map(|space| self.window(space)).any(|window| window.contains(&address))
    }
    /// Whether what has this ID is below.
    #[must_use]
    pub const fn leads_to(&self, id: Bdf) -> bool {
        self.buses.secondary() <= id.bus() && id.bus() <= self.buses.subordinate()
    }
}
