//! What the links of a machine were built from.

use lanetwin_pcie::link::{
    Attach, Direction, EgressId, EndpointId, EndpointSpec, Outage, PairLatency, PortWeight, SwitchSpec,
};

/// What links were built from: endpoints, switches and links, each at the place of its number.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Wiring {
    /// The ports of devices.
    pub endpoints: Vec<EndpointSpec>,
    /// The switches.
    pub switches: Vec<SwitchSpec>,
    /// The links.
    pub links: Vec<WiredLink>,
    /// What pairs of ports of switches have for a latency of their own.
    pub latencies: Vec<PairLatency>,
    /// The weights of ports of switches.
    pub weights: Vec<PortWeight>,
    /// When links are down.
    pub outages: Vec<Outage>,
}

/// What a link was built from. Direction `d` leads from `ends[d]` to `ends[1 - d]`, and is egress `2 × link + d`.
#[derive(Clone, PartialEq, Debug)]
pub struct WiredLink {
    /// Its name, which names the streams of its bit errors too.
    pub name: String,
    /// What it joins.
    pub ends: [Attach; 2],
    /// There and back.
    pub directions: [Direction; 2],
}

impl Wiring {
    /// Where a direction comes from and goes to.
    #[must_use]
    pub fn ends(&self, egress: EgressId) -> [Attach; 2] {
        let [a, b] = self.links[egress.index() / 2].ends;
        if egress.index().is_multiple_of(2) { [a, b] } else { [b, a] }
    }
    /// What the port is called that transmits on this egress: ports of switches have numbers behind those of devices.
    pub(crate) fn port_name(&self, egress: usize) -> EndpointId {
        match self.ends(EgressId(egress as u16))[0] {
            Attach::Endpoint(endpoint) => endpoint,
            Attach::Switch(_) => EndpointId((self.endpoints.len() + egress) as u16),
        }
    }
}
