//! Queues over the network, and the software that has them, while loads are added.

use lanetwin_kernel::ComponentId;
use lanetwin_models::roles::nvmeof::HostQueue;

/// A queue that is connected, for the load with this place.
pub(super) struct Connected {
    pub(super) place: u32,
    pub(super) queue: HostQueue,
}

/// The software of a host that connects, by way of one adapter.
pub(super) struct RemoteHost {
    pub(super) id: ComponentId,
    pub(super) path: String,
    /// Of its ports to loads, the next that is free.
    pub(super) next: u16,
}
