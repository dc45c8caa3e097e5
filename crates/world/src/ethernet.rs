//! The Ethernet network while a world is built: ports are joined directly; each knows its line and its station.

use lanetwin_fabric::ethernet::logic::Forwarding;
use lanetwin_plan::{CablePlan, End, Variant, Wires};
use lanetwin_ports::{CableOutages, EthernetLine, EthernetSite, Protocol, Rdma, Site, Sockets, Value};
use lanetwin_units::Span;

/// The network: the wiring of its ports, and the forwarding of its switches.
pub(super) struct Ethernet {
    pub(super) wires: Wires,
    forwarding: Vec<Forwarding>,
    /// The queue pairs of all adapters.
    pub(super) rdma: Rdma,
    /// The TCP connections of all hosts.
    pub(super) sockets: Sockets,
}

impl Ethernet {
    pub(super) fn new(variant: &Variant) -> Self {
        let is_switch = |component: usize| variant.machine[component].is_ethernet_switch();
        let wires = variant.network.wires(is_switch);
        Self { forwarding: wires.forwarding(), wires, rdma: Rdma::default(), sockets: Sockets::default() }
    }

    /// Fills in the Ethernet ports of a component.
    pub(super) fn tell(&self, component: usize, variant: &Variant, site: &mut Site) {
        let plan = &variant.machine[component];
        let ports = plan.ports.iter().enumerate().filter(|(_, port)| port.speaks == Protocol::Ethernet);
        let mtu = match plan.params.0.get("ethernet.mtu") {
            Some(Value::Size(bytes)) => bytes.0 as u32,
            _ => 0,
        };
        let line = |end: End| {
            let cable = variant.network.cable_of(end)?;
            // delays of MAC and PHY are part of the latencies of adapters and switches
            let line = EthernetLine::of(cable.rate, cable.metres, Span::ZERO);
            Some(EthernetSite { line, station: self.wires.station(end), mtu, frame_by_frame: false })
        };
        let ends: Vec<End> = ports.map(|(port, _)| End { component, port }).collect();
        site.ethernet = ends.iter().map(|end| line(*end)).collect();
        site.outages = ends.iter().map(|end| outages(variant.network.cable_of(*end))).collect();
        site.rdma = self.rdma.clone();
        site.sockets = self.sockets.clone();
        if let Ok(switch) = self.wires.switches.binary_search(&component) {
            site.forwarding = self.forwarding[switch].clone();
        }
    }
}

fn outages(cable: Option<&CablePlan>) -> CableOutages {
    let down = cable.into_iter().flat_map(|cable| &cable.down);
    CableOutages::new(down.map(|down| down.at..down.at + down.lasts).collect())
}
