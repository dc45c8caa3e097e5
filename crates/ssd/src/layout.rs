//! Where on the medium namespaces are: one behind the other, in the order of their numbers.

use lanetwin_media::CommandExtent;
use lanetwin_nvme::logic::{CommandBlocks, MediaOperation, MediaRequest, Subsystem, SubsystemConfig};
use lanetwin_nvme::spec::Nsid;

/// A range of the medium, and whose it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    /// Where it begins \[B\].
    pub(crate) first: u64,
    /// How long it is \[B\].
    pub(crate) bytes: u64,
    /// The namespace, by its place.
    pub(crate) tenant: u16,
    /// What the command is about, if this is a part of it.
    pub(crate) part_of: Option<CommandExtent>,
}

/// Where each namespace is: number, first byte, bytes.
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
    /// What all namespaces have together \[B\].
    pub(crate) fn bytes(&self) -> u64 {
        self.namespaces.last().map_or(0, |(_, first, bytes)| first + bytes)
    }
    /// How many namespaces there are.
    pub(crate) fn count(&self) -> u64 {
        self.namespaces.len() as u64
    }
    /// What a request is about; for one that is about all namespaces, the beginning of the first.
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
    /// The place of a namespace; most have the number of their place.
    #[inline]
    fn place(&self, nsid: Nsid) -> Option<usize> {
        let guess = nsid.0.wrapping_sub(1) as usize;
        if self.namespaces.get(guess).is_some_and(|known| known.0 == nsid) {
            return Some(guess);
        }
        self.namespaces.binary_search_by_key(&nsid, |known| known.0).ok()
    }
}
