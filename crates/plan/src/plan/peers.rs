//! Paths between the programs of two hosts: their adapters, and the size of frames.

use super::component::ComponentPlan;
use super::end::End;
use super::link::LinkPlan;
use super::network::{Network, Wires};
use lanetwin_ports::{Capability, Protocol, Value};
use std::collections::BTreeSet;

/// Largest payload of a frame \[B\].
const MOST_MTU: u64 = 9216;
/// Smallest payload of a frame that has room for a TCP segment: IPv4 (RFC 791, §3.2).
const LEAST_MTU: u32 = 68;

/// The path between two hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PeerPath {
    /// The adapter of each.
    pub adapters: [usize; 2],
    /// Payload of the frames of both \[B\].
    pub frames: u32,
    /// A switch on the path with a smaller MTU, and that MTU \[B\]; it drops full frames.
    pub narrow: Option<(usize, u32)>,
}

/// The parts of a machine that determine the path of frames.
#[derive(Clone, Copy)]
pub struct Peers<'a> {
    /// A component, if it has no errors.
    pub plan: &'a dyn Fn(usize) -> Option<&'a ComponentPlan>,
    /// Number of components.
    pub components: usize,
    /// The links.
    pub links: &'a [LinkPlan],
    /// The cables.
    pub network: &'a Network,
}

impl Peers<'_> {
    /// The path between two hosts, through the first adapters, in the order of the machine, that are connected.
    #[must_use]
    pub fn path(&self, hosts: [usize; 2]) -> Option<PeerPath> {
        let is_switch =
            |component: usize| (self.plan)(component).is_some_and(ComponentPlan::is_ethernet_switch);
        let wires = self.network.wires(is_switch);
        let [own, others] = hosts.map(|host| self.adapters(host));
        let pairs = own.iter().flat_map(|own| others.iter().map(move |other| [*own, *other]));
        pairs.into_iter().find_map(|adapters| {
            let passed = self.passed(adapters, &wires)?;
            let frames = adapters.map(|adapter| self.mtu(adapter)).into_iter().min()?;
            let narrow = passed.into_iter().map(|switch| (switch, self.mtu(switch)));
            let narrow = narrow.filter(|(_, mtu)| *mtu < frames).min_by_key(|(_, mtu)| *mtu);
            (frames > LEAST_MTU).then_some(PeerPath { adapters, frames, narrow })
        })
    }
    /// The adapters below a host.
    fn adapters(&self, host: usize) -> Vec<usize> {
        let is_adapter = |component: &usize| {
            (self.plan)(*component).is_some_and(|plan| {
                plan.model.can(Capability::Rdma) && plan.has(Protocol::Pcie) && plan.has(Protocol::Ethernet)
            })
        };
        let above = |component: usize| {
            let link = self.links.iter().find(|link| link.far().component == component);
            link.map(|link| link.root_port.component)
        };
        (0..self.components).filter(is_adapter).filter(|adapter| above(*adapter) == Some(host)).collect()
    }
    /// The most payload of the frames of an adapter or a switch \[B\].
    #[must_use]
    pub fn mtu(&self, component: usize) -> u32 {
        match (self.plan)(component).and_then(|plan| plan.params.0.get("ethernet.mtu")) {
            Some(Value::Size(bytes)) => bytes.0.min(MOST_MTU) as u32,
            _ => 1500,
        }
    }
    /// The switches that frames between two adapters may pass; `None` if there is no path.
    fn passed(&self, adapters: [usize; 2], wires: &Wires) -> Option<BTreeSet<usize>> {
        let [from, to] = adapters.map(|component| {
            let port = (self.plan)(component)?.port(Protocol::Ethernet)?;
            wires.station(End { component, port })
        });
        wires.passed(from?, to?)
    }
}
