//! Queues over the network, and the software that has them, while loads are added.

use lanetwin_kernel::ComponentId;
use lanetwin_models::roles::nvmeof::HostQueue;

/// A queue that is connected.
pub(super) struct Connected {
    /// The place of its load, and which of the paths of that it is.
    pub(super) place: (u32, u16),
    /// The adapter of the host that it leads over.
    pub(super) adapter: usize,
    pub(super) queue: HostQueue,
}

/// The software of a host that connects, by way of one adapter; or what joins several of them.
pub(super) struct RemoteHost {
    pub(super) id: ComponentId,
    pub(super) path: String,
    /// Of its ports to loads, the next that is free.
    pub(super) next: u16,
}
