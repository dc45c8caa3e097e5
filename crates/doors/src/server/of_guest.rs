//! The drive of a vfio-user guest: its requests in progress.

use crate::drive::Drive;
use crate::vfio_user::function::Function;
use crate::vfio_user::link::LinkSeen;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};

/// The function, its client, and its requests in progress.
pub(super) struct Guest {
    pub(super) function: Function,
    /// The connection that it belongs to.
    pub(super) peer: Option<u32>,
    /// The medium's tickets, by those of the engine.
    pub(super) tickets: BTreeMap<u64, u64>,
}

impl Guest {
    /// The function of a drive without a client.
    pub(super) fn new(drive: &Drive) -> io::Result<Self> {
        let invalid = |said: String| io::Error::new(ErrorKind::InvalidInput, said);
        let link =
            LinkSeen::of(drive).ok_or_else(|| invalid("the drive is on no link of PCI Express".into()))?;
        let function = Function::new(&drive.pair.device, drive.facts, &link).map_err(invalid)?;
        Ok(Self { function, peer: None, tickets: BTreeMap::new() })
    }
    /// Gives the function to a connection; false if another has it.
    pub(super) fn take(&mut self, peer: u32) -> bool {
        let is_free = self.peer.is_none();
        self.peer = self.peer.or(Some(peer));
        is_free
    }
    /// Whether no request to the drive is in progress.
    pub(super) fn is_idle(&self) -> bool {
        self.tickets.is_empty()
    }
}
