//! What a world is built from: a variant, a workload, and what of both every step of building asks.

use super::pcie_links::Endpoints;
use lanetwin_kernel::ComponentId;
use lanetwin_pcie::link::EndpointId;
use lanetwin_plan::{End, Load, Pair, PeerPath, Peers, Variant, WorkloadPlan};
use lanetwin_ports::Protocol;

/// What a world is built from.
pub(super) struct Blueprint<'a> {
    pub(super) variant: &'a Variant,
    pub(super) workload: &'a WorkloadPlan,
    /// What the loads ask for; none if the outside asks in their place.
    pub(super) load: Option<&'a Load>,
    pub(super) seed: u64,
}

/// What the components of the machine are in the kernel; nothing, for a switch.
pub(super) struct Ids(pub(super) Vec<Option<ComponentId>>);

impl Ids {
    /// What a component is in the kernel.
    pub(super) fn of(&self, component: usize) -> ComponentId {
        self.0[component].expect("switches have no part in a load, and links join none to the kernel")
    }
}

/// A port of a device, its place on the links, and that of its root port.
pub(super) type LinkedPort = (End, (EndpointId, EndpointId));

impl Blueprint<'_> {
    /// Whether a card is asked for DMA; if not, a host asks a drive.
    pub(super) fn is_dma(&self, pair: &Pair) -> bool {
        self.load.map_or_else(|| self.variant.machine[pair.on].has(Protocol::Dma), Load::is_dma)
    }

    /// The way between two hosts whose programs send to each other.
    pub(super) fn peer_path(&self, pair: &Pair) -> PeerPath {
        let Variant { machine, links, network, .. } = self.variant;
        let plan = |component: usize| machine.get(component);
        let peers = Peers { plan: &plan, components: machine.len(), links, network };
        peers.path([pair.on, pair.target]).expect("the hosts of a checked plan reach each other")
    }
    /// The adapters by which a host sends to others, if hosts send to hosts.
    pub(super) fn peer_adapters(&self, host: usize) -> Vec<usize> {
        if self.load.and_then(Load::network).is_none() {
            return Vec::new();
        }
        let pairs = self.workload.pairs.iter().filter(|pair| pair.on == host || pair.target == host);
        let own = |pair: &Pair| self.peer_path(pair).adapters[usize::from(pair.target == host)];
        pairs.map(own).collect()
    }

    /// The places on the links of all ports of a component, each with that of its root port.
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
    /// The linked ports of a component, with their places on the links.
    pub(super) fn linked_ports(&self, component: usize, endpoints: &Endpoints) -> Vec<LinkedPort> {
        let ports = 0..self.variant.machine[component].ports.len();
        let ends = ports.map(|port| End { component, port });
        ends.filter_map(|end| Some((end, *endpoints.get(&end)?))).collect()
    }

    /// A component's place on the links, and that of its root port.
    pub(super) fn device(&self, component: usize, endpoints: &Endpoints) -> Option<(EndpointId, EndpointId)> {
        let port = self.variant.machine[component].port(Protocol::Pcie)?;
        endpoints.get(&End { component, port }).copied()
    }
}
