//! Input for building a world: a variant, a workload, and queries on them that several steps of building need.

use super::pcie_links::Endpoints;
use lanetwin_kernel::ComponentId;
use lanetwin_pcie::link::EndpointId;
use lanetwin_plan::{End, Load, Pair, PeerPath, Peers, Variant, WorkloadPlan};
use lanetwin_ports::Protocol;

/// Input for building a world.
pub(super) struct Blueprint<'a> {
    pub(super) variant: &'a Variant,
    pub(super) workload: &'a WorkloadPlan,
    /// The load; `None` if a program outside sends the requests.
    pub(super) load: Option<&'a Load>,
    pub(super) seed: u64,
}

/// Kernel identifiers of the machine's components; `None` for a switch, which is part of the links.
pub(super) struct Ids(pub(super) Vec<Option<ComponentId>>);

impl Ids {
    /// The kernel identifier of a component.
    pub(super) fn of(&self, component: usize) -> ComponentId {
        self.0[component].expect("switches have no part in a load, and links join none to the kernel")
    }
}

/// A port of a device, its endpoint on the links, and the endpoint of its root port.
pub(super) type LinkedPort = (End, (EndpointId, EndpointId));

impl Blueprint<'_> {
    /// Whether the load is DMA of a card; otherwise a host sends requests to a drive.
    pub(super) fn is_dma(&self, pair: &Pair) -> bool {
        self.load.map_or_else(|| self.variant.machine[pair.on].has(Protocol::Dma), Load::is_dma)
    }

    /// The path between two hosts whose programs send to each other.
    pub(super) fn peer_path(&self, pair: &Pair) -> PeerPath {
        let Variant { machine, links, network, .. } = self.variant;
        let plan = |component: usize| machine.get(component);
        let peers = Peers { plan: &plan, components: machine.len(), links, network };
        peers.path([pair.on, pair.target]).expect("the hosts of a checked plan reach each other")
    }
    /// The adapters through which a host sends to other hosts, if the load is between hosts.
    pub(super) fn peer_adapters(&self, host: usize) -> Vec<usize> {
        if self.load.and_then(Load::network).is_none() {
            return Vec::new();
        }
        let pairs = self.workload.pairs.iter().filter(|pair| pair.on == host || pair.target == host);
        let own = |pair: &Pair| self.peer_path(pair).adapters[usize::from(pair.target == host)];
        pairs.map(own).collect()
    }

    /// The endpoints of all ports of a component, each with that of its root port.
    pub(super) fn device_ports(
        &self,
        component: usize,
        endpoints: &Endpoints,
    ) -> Vec<(EndpointId, EndpointId)> {
        self.linked_ports(component, endpoints).into_iter().map(|(_, place)| place).collect()
    }
    /// The linked ports of a component that are below a host.
    pub(super) fn ports_below(
        &self,
        host: usize,
        component: usize,
        endpoints: &Endpoints,
    ) -> Vec<LinkedPort> {
        let is_below = |(end, _): &LinkedPort| {
            self.variant.link_of(*end).is_some_and(|link| link.root_port.component == host)
        };
        self.linked_ports(component, endpoints).into_iter().filter(is_below).collect()
    }
    /// The linked ports of a component, with their endpoints.
    pub(super) fn linked_ports(&self, component: usize, endpoints: &Endpoints) -> Vec<LinkedPort> {
        let ports = 0..self.variant.machine[component].ports.len();
        let ends = ports.map(|port| End { component, port });
        ends.filter_map(|end| Some((end, *endpoints.get(&end)?))).collect()
    }

    /// The endpoint of a component, and that of its root port.
    pub(super) fn device(&self, component: usize, endpoints: &Endpoints) -> Option<(EndpointId, EndpointId)> {
        let port = self.variant.machine[component].port(Protocol::Pcie)?;
        endpoints.get(&End { component, port }).copied()
    }
}
