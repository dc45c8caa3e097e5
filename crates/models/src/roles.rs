//! What components can be asked to do beyond messages, as traits: whoever builds worlds and explains where time went
//! knows these, and no device.
//!
//! | trait | is for |
//! |---|---|
//! | [`RequestsByDma`] | who asks for transfers: when each was where |
//! | [`ServesReads`] | who has memory behind a PCIe port: when each read was where |
//! | [`KeepsLines`] | who has CXL memory: where a line was between request and answer |
//! | [`ForwardsLines`] | who passes lines on under another name |
//! | [`nvme`] | both ends of NVMe queues |
//! | [`memory`] | cores that run programs |
//!
//! A component says in its `impl Component` what it can do (`roles!`), and is found by
//! [`Kernel::role`](lanetwin_kernel::Kernel::role).

pub mod memory;
pub mod nvme;

use crate::marks::Mark;
use lanetwin_pcie::link::EndpointId;
use lanetwin_ports::{Operation, Transfer};
use lanetwin_units::Instant;

/// Asks for transfers of the memory of a host or of a peer.
pub trait RequestsByDma {
    /// Records from now on when each transfer is where, or stops recording.
    fn record(&mut self, on: bool);
    /// The transfers that ended since recording began, in the order of their ends; forgets them.
    fn take_record(&mut self) -> Vec<TransferRecord>;
    /// How many transfers of this direction are done, and their bytes.
    fn moved(&self, operation: Operation) -> (u64, u64);
}

/// When a transfer was where, for a waterfall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TransferRecord {
    /// The card's name for it, on its TLPs.
    pub handle: u32,
    /// What was asked for, with the asker's name for it.
    pub transfer: Transfer,
    /// When it was asked for.
    pub asked: Instant,
    /// When it became one of those in flight.
    pub admitted: Instant,
    /// When it was ready for an engine.
    pub ready: Instant,
    /// When an engine took it up.
    pub begun: Instant,
    /// When its first TLP could be made: with a tag, if it needs one.
    pub tagged: Instant,
    /// When its first TLP was offered to the link.
    pub issued: Instant,
    /// When its last completion had arrived, or its last TLP had departed.
    pub last: Instant,
    /// When the copier took it up; `last`, if nothing is copied.
    pub copying: Instant,
    /// When it was copied; `last`, if nothing is copied.
    pub copied: Instant,
    /// When it was done.
    pub done: Instant,
    /// When the one who asked was told: the next tick.
    pub told: Instant,
}

/// Answers read requests with memory behind a PCIe port.
pub trait ServesReads {
    /// Records from now on when each read is where, or stops recording.
    fn record(&mut self, on: bool);
    /// The reads recorded so far; forgets them.
    fn take_record(&mut self) -> Vec<ServedRead>;
}

/// When a read request was where, for a waterfall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ServedRead {
    /// The requester.
    pub from: EndpointId,
    /// The requester's name for it.
    pub handle: u32,
    /// What it asked for.
    pub address: u64,
    /// The arrival of its last byte.
    pub arrived: Instant,
    /// When it was translated, and so were all writes before it.
    pub translated: Instant,
    /// When the completer took it up.
    pub taken: Instant,
    /// When its completions were offered to the link.
    pub answered: Instant,
}

/// Has memory behind a CXL port.
pub trait KeepsLines {
    /// Writes down from now on when requests are where, or stops.
    fn record(&mut self, on: bool);
    /// Where a read of this address was that came under this handle, between its coming and leaving.
    fn explain(&mut self, read: (u32, u64), came: Instant, left: Instant) -> Vec<Mark>;
}

/// Passes requests for lines on, under names of its own.
pub trait ForwardsLines {
    /// Writes down from now on which request was forwarded as which, or stops.
    fn record(&mut self, on: bool);
    /// The handle that a request was forwarded with that came under this handle at this time.
    fn forwarded_as(&self, asked: u32, at: Instant) -> Option<u32>;
}
