//! What components can be asked to do beyond messages, as traits: whoever builds worlds and explains where time went
//! knows these, and no device.
//!
//! | trait | is for |
//! |---|---|
//! | [`RequestsByDma`] | who asks for transfers: what it has moved |
//! | [`KeepsLines`] | who has CXL memory: where a line was between request and answer |
//! | [`ForwardsLines`] | who passes lines on under another name |
//! | [`SendsFrames`] | who sends frames: whether each is a message of its own |
//! | [`nvme`] | both ends of NVMe queues |
//! | [`nvmeof`] | both ends of NVMe over Fabrics |
//! | [`memory`] | cores that run programs |
//!
//! A component says in its `impl Component` what it can do (`roles!`), and is found by
//! [`Kernel::role`](lanetwin_kernel::Kernel::role).

pub mod memory;
pub mod nvme;
pub mod nvmeof;

use crate::marks::Mark;
use lanetwin_ports::Operation;
use lanetwin_units::Instant;

/// Asks for transfers of the memory of a host or of a peer.
pub trait RequestsByDma {
    /// How many transfers of this direction are done, and their bytes.
    fn moved(&self, operation: Operation) -> (u64, u64);
}

/// Sends frames of Ethernet.
pub trait SendsFrames {
    /// Sends every frame as a message of its own from now on, or trains of them. It changes no result.
    fn set_frame_by_frame(&mut self, each: bool);
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
