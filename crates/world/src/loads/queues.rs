//! Queues over the network, and the software that has them, while loads are added.

use lanetwin_kernel::ComponentId;
use lanetwin_models::roles::nvmeof::{HostQueue, Leave};
use lanetwin_plan::{Network, RemotePlan};
use std::collections::BTreeSet;

/// A queue that is connected.
pub(super) struct Connected {
    /// The place of its load, and which of the paths of that it is.
    pub(super) place: (u32, u16),
    /// The way that it leads.
    pub(super) plan: RemotePlan,
    pub(super) queue: HostQueue,
}

/// When the host of these queues leaves, each time with those of one association.
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
            // it is not said of a host that reaches one of several ports alone: that has no path to wait by
            back: leave.back.filter(|_| queues[own[0]].queue.path.is_some()),
        }));
    }
    all
}

/// The software of a host that connects, by way of one adapter; or what joins several of them.
pub(super) struct RemoteHost {
    pub(super) id: ComponentId,
    pub(super) path: String,
    /// Of its ports to loads, the next that is free.
    pub(super) next: u16,
}
