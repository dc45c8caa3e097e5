//! Roles of components beyond messages, as traits: the code that builds worlds and explains times knows these, and no
//! device.
//!
//! | trait | is for |
//! |---|---|
//! | [`RequestsByDma`] | who asks for transfers: what it has moved |
//! | [`SendsFrames`] | who sends frames: whether each is a message of its own |
//! | [`drive`] | drives, and the state in which they stay |
//! | [`nvme`] | both ends of NVMe queues |
//! | [`nvmeof`] | both ends of NVMe over Fabrics |
//! | [`memory`] | cores that run programs |
//!
//! A component lists its roles in its `impl Component` (`roles!`), and
//! [`Kernel::role`](lanetwin_kernel::Kernel::role) finds it by them.

pub mod drive;
pub mod memory;
pub mod nvme;
pub mod nvmeof;

use lanetwin_ports::Operation;

/// Asks for transfers of the memory of a host or of a peer.
pub trait RequestsByDma {
    /// Number of completed transfers of this direction, and their bytes.
    fn moved(&self, operation: Operation) -> (u64, u64);
}

/// Sends frames of Ethernet.
pub trait SendsFrames {
    /// Sends every frame as a message of its own from now on, or trains of them. It changes no result.
    fn set_frame_by_frame(&mut self, each: bool);
}
