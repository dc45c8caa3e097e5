//! Asymmetric Namespace Access (Base 2.0 §8.1): state of each namespace at each port. Each namespace is an ANA group of
//! its own.

use crate::spec::ana::{AnaGroup, AnaHeader, AnaState, AnaStateWord};
use crate::spec::{Nsid, Status};

/// ANA Group Identifier of the namespace with this index.
pub(super) const fn group_of(place: usize) -> u32 {
    place as u32 + 1
}

/// ANA state of a namespace at a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Way {
    state: AnaState,
    /// Number of changes (CHGCNT).
    changes: u64,
}

/// ANA states by port and index of the namespace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Access {
    ports: Vec<Vec<Way>>,
}

impl Access {
    /// All namespaces in the state Optimized at all ports; with no ports, ANA is not reported.
    pub fn new(ports: u16, namespaces: usize) -> Self {
        let best = Way { state: AnaState::OPTIMIZED, changes: 0 };
        Self { ports: vec![vec![best; namespaces]; ports.into()] }
    }
    /// Whether ANA is reported to hosts.
    #[inline]
    pub fn is_reported(&self) -> bool {
        !self.ports.is_empty()
    }
    /// Status with which commands for a namespace at this port are refused, if they are.
    pub fn barrier(&self, port: u16, place: usize) -> Option<Status> {
        match self.ports.get(usize::from(port))?.get(place)?.state {
            AnaState::PERSISTENT_LOSS => Some(Status::ASYMMETRIC_ACCESS_PERSISTENT_LOSS),
            AnaState::INACCESSIBLE => Some(Status::ASYMMETRIC_ACCESS_INACCESSIBLE),
            AnaState::CHANGE => Some(Status::ASYMMETRIC_ACCESS_TRANSITION),
            _ => None,
        }
    }
    /// Sets a state. Returns whether it changed, or `None` if there is no such port or namespace.
    pub fn set(&mut self, port: u16, place: usize, state: AnaState) -> Option<bool> {
        let way = self.ports.get_mut(usize::from(port))?.get_mut(place)?;
        if way.state == state {
            return Some(false);
        }
        *way = Way { state, changes: way.changes + 1 };
        Some(true)
    }
    /// Writes the log for a controller of this port; `listed` returns the namespace to be listed in the group of an
    /// index.
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
