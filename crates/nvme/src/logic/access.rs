//! How namespaces are reached, by port: Asymmetric Namespace Access (Base 2.0 §8.1). Each namespace is a group of its
//! own.

use crate::spec::ana::{AnaGroup, AnaHeader, AnaState, AnaStateWord};
use crate::spec::{Nsid, Status};

/// The ANA Group Identifier of the namespace at this place.
pub(super) const fn group_of(place: usize) -> u32 {
    place as u32 + 1
}

/// How a namespace is reached by a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Way {
    state: AnaState,
    /// How often that has changed (CHGCNT).
    changes: u64,
}

/// Of each port how each namespace is reached by it, by its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Access {
    ports: Vec<Vec<Way>>,
}

impl Access {
    /// Every namespace is reached in the best way by every port; with no ports nothing is told of it.
    pub fn new(ports: u16, namespaces: usize) -> Self {
        let best = Way { state: AnaState::OPTIMIZED, changes: 0 };
        Self { ports: vec![vec![best; namespaces]; ports.into()] }
    }
    /// Whether hosts are told of it.
    #[inline]
    pub fn is_reported(&self) -> bool {
        !self.ports.is_empty()
    }
    /// Why what is asked of a namespace by this port is not carried out.
    pub fn barrier(&self, port: u16, place: usize) -> Option<Status> {
        match self.ports.get(usize::from(port))?.get(place)?.state {
            AnaState::PERSISTENT_LOSS => Some(Status::ASYMMETRIC_ACCESS_PERSISTENT_LOSS),
            AnaState::INACCESSIBLE => Some(Status::ASYMMETRIC_ACCESS_INACCESSIBLE),
            AnaState::CHANGE => Some(Status::ASYMMETRIC_ACCESS_TRANSITION),
            _ => None,
        }
    }
    /// Another state; whether it is one, none if there is no such port or namespace.
    pub fn set(&mut self, port: u16, place: usize, state: AnaState) -> Option<bool> {
        let way = self.ports.get_mut(usize::from(port))?.get_mut(place)?;
        if way.state == state {
            return Some(false);
        }
        *way = Way { state, changes: way.changes + 1 };
        Some(true)
    }
    /// Writes the log that a controller of this port gives; `listed` says which namespace is in the group of a place.
    pub fn write_log(&self, out: &mut Vec<u8>, port: u16, listed: impl Fn(usize) -> Option<Nsid>) {
        let ways = self.ports.get(usize::from(port)).map_or(&[][..], |ways| &ways[..]);
        let mut header = AnaHeader::ZERO;
        header.set_changes(ways.iter().map(|way| way.changes).sum());
        header.set_groups(ways.len() as u16);
        out.extend_from_slice(header.as_bytes());
        for (place, way) in ways.iter().enumerate() {
            let nsid = listed(place);
            let mut group = AnaGroup::ZERO;
            group.set_group(group_of(place));
            group.set_namespaces(nsid.is_some().into());
            group.set_changes(way.changes);
            group.set_state(AnaStateWord::from_raw(way.state.0 & 0xf));
            out.extend_from_slice(group.as_bytes());
            nsid.into_iter().for_each(|nsid| out.extend_from_slice(&nsid.0.to_le_bytes()));
        }
    }
}
