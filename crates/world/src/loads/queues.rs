//! NVMe-oF queues, and the software that owns them, while loads are added.

use lanetwin_kernel::ComponentId;
use lanetwin_models::roles::nvmeof::{HostQueue, Leave};
use lanetwin_plan::{Network, RemotePlan};
use std::collections::BTreeSet;

/// A connected queue.
pub(super) struct Connected {
    /// The number of its load, and the number of its path among that load's paths.
    pub(super) place: (u32, u16),
    /// The connection that it uses.
    pub(super) plan: RemotePlan,
    pub(super) queue: HostQueue,
}

/// When the host of these queues disconnects; each entry covers the queues of one association.
pub(super) fn leaves(host: usize, queues: &[Connected], network: &Network) -> Vec<Leave> {
    let to = |plan: &RemotePlan| (plan.subsystem, plan.port);
    let paths: BTreeSet<(usize, usize)> = queues.iter().map(|one| to(&one.plan)).collect();
    let mut all = Vec::new();
    for (subsystem, port) in paths {
        let places = (0..queues.len()).filter(|place| to(&queues[*place].plan) == (subsystem, port));
        let own: Vec<usize> = places.collect();
        let leaves = network.subsystems[subsystem].leaves.iter().filter(|leave| leave.is_of(host, port));
        all.extend(leaves.map(|leave| Leave {
            at: leave.at,
            queues: own.clone(),
            managed: leave.managed,
            // `back` is only meaningful for a host with several paths; with one path there is none to wait on
            back: leave.back.filter(|_| queues[own[0]].queue.path.is_some()),
        }));
    }
    all
}

/// The NVMe-oF host software of one adapter, or the component that joins several of them.
pub(super) struct RemoteHost {
    pub(super) id: ComponentId,
    pub(super) path: String,
    /// The next free one of its ports to loads.
    pub(super) next: u16,
}
