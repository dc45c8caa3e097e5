//! How the programs of two hosts reach each other: by which adapters, in frames of which size.

use super::component::ComponentPlan;
use super::end::End;
use super::link::LinkPlan;
use super::network::{Network, Wires};
use lanetwin_ports::{Capability, Protocol, Value};
use std::collections::BTreeSet;

/// The most that a frame carries \[B\].
const MOST_MTU: u64 = 9216;
/// Frames that carry less have no room for a segment of TCP: IPv4 (RFC 791, §3.2).
const LEAST_MTU: u32 = 68;

/// The way between two hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PeerPath {
    /// The adapter of each.
    pub adapters: [usize; 2],
    /// What the frames of both carry \[B\].
    pub frames: u32,
    /// A switch on the way whose frames carry less, and what \[B\]: it drops full ones.
    pub narrow: Option<(usize, u32)>,
}

/// A machine, as far as it decides which way frames go.
#[derive(Clone, Copy)]
pub struct Peers<'a> {
    /// A component, if it was understood.
    pub plan: &'a dyn Fn(usize) -> Option<&'a ComponentPlan>,
    /// How many there are.
    pub components: usize,
    /// The links.
    pub links: &'a [LinkPlan],
    /// The cables.
    pub network: &'a Network,
}

impl Peers<'_> {
    /// The way between two hosts: by the first adapters, in the order of the machine, that cables join.
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
    fn mtu(&self, component: usize) -> u32 {
        match (self.plan)(component).and_then(|plan| plan.params.0.get("ethernet.mtu")) {
            Some(Value::Size(bytes)) => bytes.0.min(MOST_MTU) as u32,
            _ => 1500,
        }
    }
    /// The switches that frames between two adapters may pass; none if there is no way.
    fn passed(&self, adapters: [usize; 2], wires: &Wires) -> Option<BTreeSet<usize>> {
        let [from, to] = adapters.map(|component| {
            let port = (self.plan)(component)?.port(Protocol::Ethernet)?;
            wires.station(End { component, port })
        });
        wires.passed(from?, to?)
    }
}
