//! How much room what lies on a bus needs, and where in it each thing goes.

use crate::spec::config_words::WINDOW_GRANULE;
use core::fmt;

/// Which of the two windows of a bridge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Space {
    /// Memory below 4 GiB.
    Low,
    /// 64-bit prefetchable memory.
    High,
}

impl Space {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Low, Self::High];
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Low => "memory below 4 GiB",
            Self::High => "64-bit prefetchable memory",
        })
    }
}

/// Room that is needed: so many bytes, from a multiple of `align` on. Wider than any address, so that it can be too
/// much.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Need {
    pub(super) size: u128,
    pub(super) align: u128,
}

impl Need {
    pub(super) const NOTHING: Self = Self { size: 0, align: 1 };

    /// Something that lies at a multiple of its size.
    pub(super) fn natural(size: u64) -> Self {
        Self { size: size.into(), align: size.into() }
    }
    /// The window that encloses it.
    fn window(self) -> Self {
        let granule = u128::from(WINDOW_GRANULE);
        Self { size: self.size.next_multiple_of(granule), align: self.align.max(granule) }
    }
}

/// Packs things by alignment, then size, largest first, and otherwise in their order: the window that they need, and
/// how far into it each of them is. What needs nothing gets no place.
pub(super) fn pack<T: Copy>(things: impl IntoIterator<Item = (T, Need)>) -> (Need, Vec<(T, u128)>) {
    let mut things: Vec<(T, Need)> = things.into_iter().filter(|(_, need)| need.size > 0).collect();
    things.sort_by_key(|(_, need)| core::cmp::Reverse((need.align, need.size)));
    let mut all = Need::NOTHING;
    let mut places = Vec::with_capacity(things.len());
    for (thing, need) in things {
        let place = all.size.next_multiple_of(need.align);
        places.push((thing, place));
        all = Need { size: place + need.size, align: all.align.max(need.align) };
    }
    (if all.size == 0 { all } else { all.window() }, places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_come_first_and_leave_no_hole() {
        let bars = [16 << 10, 1 << 20, 4 << 10, 1 << 20].map(Need::natural);
        let (window, places) = pack(bars.into_iter().enumerate());
        assert_eq!(places, [(1, 0), (3, 1 << 20), (0, 2 << 20), (2, (2 << 20) + (16 << 10))]);
        assert_eq!(window, Need { size: 3 << 20, align: 1 << 20 });
    }

    #[test]
    fn a_window_keeps_the_alignment_of_what_is_in_it() {
        let windows =
            [(0, Need { size: 3 << 20, align: 2 << 20 }), (1, Need { size: 1 << 20, align: 1 << 20 })];
        let (window, places) = pack(windows);
        assert_eq!((window, places), (Need { size: 4 << 20, align: 2 << 20 }, vec![(0, 0), (1, 3 << 20)]));
        assert_eq!(pack([(0, Need::NOTHING)]), (Need::NOTHING, vec![]));
    }
}
