//! Where the pages of a program and of its page table are.

use super::translation::{PageTable, TranslationRules};
use lanetwin_load::memory::{BadPlacement, Mapping, PageMap, PlacedPart, Policy};
use lanetwin_ports::Params;

/// A program's pages, and behind them those of its page table.
pub(super) struct AddressSpace {
    pub(super) map: PageMap,
    pub(super) table: PageTable,
    /// Frames of each node that are used up to the program's own last page.
    own: Vec<u64>,
}

impl AddressSpace {
    /// Lays so many pages out on nodes with so many frames, of which so many are used.
    pub(super) fn out(
        rules: Option<&TranslationRules>,
        (mapping, parts): (&Mapping, &[PlacedPart]),
        pages: u64,
        frames: &[u64],
        used: &[u64],
    ) -> Result<Self, Vec<BadPlacement>> {
        let mut map = PageMap::with_parts((mapping, parts), pages, frames, used)?;
        let own = map.used().to_vec();
        let table = PageTable::new(pages, map.large(), rules);
        // page tables are the kernel's: their pages are small, and lie in memory of the host where all else is mapped
        // directly
        let of_tables = match mapping.policy.clone() {
            Policy::Dax(_) => Policy::Preferred(0),
            policy => policy,
        };
        map.extend(&of_tables.into(), table.end(), frames)?;
        Ok(Self { map, table, own })
    }
}

/// Frames of 4 KiB that are used on each node, in the order of their numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UsedFrames {
    /// Up to the last page of a program's own.
    pub own: Vec<u64>,
    /// With its page table behind.
    pub all: Vec<u64>,
}

/// The frames that are used when a host with these parameters has given a program its pages, on nodes with so many
/// frames of which so many were used before.
///
/// # Errors
/// Everything that is wrong with the placement; of what does not fit, the first.
pub fn used_frames(
    params: &Params,
    placement: (&Mapping, &[PlacedPart]),
    pages: u64,
    frames: &[u64],
    used: &[u64],
) -> Result<UsedFrames, Vec<BadPlacement>> {
    let rules = TranslationRules::new(params);
    let AddressSpace { map, own, .. } = AddressSpace::out(rules.as_ref(), placement, pages, frames, used)?;
    Ok(UsedFrames { own, all: map.used().to_vec() })
}
