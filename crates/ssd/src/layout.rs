//! Placement of namespaces on the medium: one after the other, in the order of their identifiers.

use lanetwin_media::CommandExtent;
use lanetwin_nvme::logic::{CommandBlocks, MediaOperation, MediaRequest, Subsystem, SubsystemConfig};
use lanetwin_nvme::spec::Nsid;

/// A range of the medium, with its namespace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    /// Start \[B\].
    pub(crate) first: u64,
    /// Length \[B\].
    pub(crate) bytes: u64,
    /// Index of the namespace.
    pub(crate) tenant: u16,
    /// The range of the whole command, if this is a part of one.
    pub(crate) part_of: Option<CommandExtent>,
}

/// Identifier, first byte and size of each namespace.
#[derive(Debug)]
pub(crate) struct Layout {
    namespaces: Vec<(Nsid, u64, u64)>,
}

impl Layout {
    pub(crate) fn new(config: &SubsystemConfig) -> Self {
        let mut sizes: Vec<_> = config.namespaces.iter().map(|of| (of.nsid, of.bytes)).collect();
        sizes.sort_unstable();
        let mut end = 0;
        let mut place = |(nsid, bytes)| {
            end += bytes;
            (nsid, end - bytes, bytes)
        };
        Self { namespaces: sizes.into_iter().map(&mut place).collect() }
    }
    /// Size of all namespaces together \[B\].
    pub(crate) fn bytes(&self) -> u64 {
        self.namespaces.last().map_or(0, |(_, first, bytes)| first + bytes)
    }
    /// Number of namespaces.
    pub(crate) fn count(&self) -> u64 {
        self.namespaces.len() as u64
    }
    /// The range of a request; for one without a namespace it starts at 0, and is everything for a sanitize,
    /// otherwise empty.
    #[inline]
    pub(crate) fn extent(&self, request: &MediaRequest, subsystem: &Subsystem) -> Extent {
        let Some(place) = self.place(request.nsid) else {
            let all = matches!(request.operation, MediaOperation::Sanitize { .. });
            return Extent { first: 0, bytes: if all { self.bytes() } else { 0 }, tenant: 0, part_of: None };
        };
        let (_, first, bytes) = self.namespaces[place];
        let tenant = place as u16;
        if matches!(request.operation, MediaOperation::Format { .. }) {
            return Extent { first, bytes, tenant, part_of: None };
        }
        let block = subsystem.block_bytes(request.nsid).unwrap_or(0);
        let place_of = |slba: u64, blocks: u32| (first + slba * block, u64::from(blocks) * block);
        let part_of = request.part_of.map(|CommandBlocks { slba, blocks }| {
            let (first, bytes) = place_of(slba, blocks);
            CommandExtent { first, bytes }
        });
        let (first, bytes) = place_of(request.slba, request.blocks);
        Extent { first, bytes, tenant, part_of }
    }
    /// Index of a namespace; usually its identifier less 1.
    #[inline]
    fn place(&self, nsid: Nsid) -> Option<usize> {
        let guess = nsid.0.wrapping_sub(1) as usize;
        if self.namespaces.get(guess).is_some_and(|known| known.0 == nsid) {
            return Some(guess);
        }
        self.namespaces.binary_search_by_key(&nsid, |known| known.0).ok()
    }
}
