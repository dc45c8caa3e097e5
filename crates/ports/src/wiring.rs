//! Declarations of the links of a machine.

use lanetwin_pcie::link::{
    Attach, Direction, EgressId, EndpointId, EndpointSpec, Outage, PairLatency, PortWeight, SwitchSpec,
};

/// Declarations of links: endpoints, switches and links, each at the index of its number.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Wiring {
    /// The ports of devices.
    pub endpoints: Vec<EndpointSpec>,
    /// The switches.
    pub switches: Vec<SwitchSpec>,
    /// The links.
    pub links: Vec<WiredLink>,
    /// Latencies of single pairs of switch ports.
    pub latencies: Vec<PairLatency>,
    /// The weights of ports of switches.
    pub weights: Vec<PortWeight>,
    /// Outages of links.
    pub outages: Vec<Outage>,
}

/// Declaration of a link. Direction `d` leads from `ends[d]` to `ends[1 - d]`, and is egress `2 × link + d`.
#[derive(Clone, PartialEq, Debug)]
pub struct WiredLink {
    /// Its name, which names the streams of its bit errors too.
    pub name: String,
    /// Its two ends.
    pub ends: [Attach; 2],
    /// There and back.
    pub directions: [Direction; 2],
}

impl Wiring {
    /// Both ends of a direction: its transmitter's and its receiver's.
    #[must_use]
    pub fn ends(&self, egress: EgressId) -> [Attach; 2] {
        let [a, b] = self.links[egress.index() / 2].ends;
        if egress.index().is_multiple_of(2) { [a, b] } else { [b, a] }
    }
    /// Identifier of the port that transmits on this egress: ports of switches are numbered after those of devices.
    pub(crate) fn port_name(&self, egress: usize) -> EndpointId {
        match self.ends(EgressId(egress as u16))[0] {
            Attach::Endpoint(endpoint) => endpoint,
            Attach::Switch(_) => EndpointId((self.endpoints.len() + egress) as u16),
        }
    }
}
