//! Placement of the pages of a program and of its page table.

use super::translation::{PageTable, TranslationRules};
use lanetwin_load::memory::{BadPlacement, Mapping, PageMap, PlacedPart, Policy};
use lanetwin_ports::Params;

/// A program's pages, followed by those of its page table.
pub(super) struct AddressSpace {
    pub(super) map: PageMap,
    pub(super) table: PageTable,
    /// Frames of each node that are used up to the program's own last page.
    own: Vec<u64>,
}

impl AddressSpace {
    /// Places pages on nodes with these numbers of frames, some of which are in use.
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
    /// Including its page table.
    pub all: Vec<u64>,
}

/// Frames in use after a host with these parameters has placed a program's pages on nodes with `frames` frames, some
/// of which were in use before.
///
/// # Errors
/// All mistakes in the placement; of pages that do not fit, the first.
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
