//! The network of a machine, and what is offered over it.

use super::end::End;
use lanetwin_fabric::ethernet::logic::{Forwarding, Node, Station, Topology};
use lanetwin_fabric::ethernet::spec::Rate;
use std::collections::BTreeSet;

/// Cables of Ethernet between adapters and switches.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Network {
    /// The cables, in the order of writing.
    pub cables: Vec<CablePlan>,
}

/// A cable of Ethernet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CablePlan {
    /// Its name in `links:`.
    pub name: String,
    /// The end that is written first.
    pub from: End,
    /// The other end.
    pub to: End,
    /// The rate of its ports.
    pub rate: Rate,
    /// Its length \[m\].
    pub metres: u64,
}

/// A network as frames see it: adapters have stations, switches forward.
#[derive(Debug)]
pub struct Wires {
    /// The ports of adapters; the place of each is its station.
    pub stations: Vec<End>,
    /// The switches: their places in the machine, in ascending order.
    pub switches: Vec<usize>,
    /// The cables between them.
    pub topology: Topology,
}

impl Network {
    /// Whether a cable ends at a component.
    #[must_use]
    pub fn is_at(&self, component: usize) -> bool {
        self.ends().any(|end| end.component == component)
    }
    /// The cable that ends at a port; none if none does.
    #[must_use]
    pub fn cable_of(&self, end: End) -> Option<&CablePlan> {
        self.cables.iter().find(|cable| cable.from == end || cable.to == end)
    }
    fn ends(&self) -> impl Iterator<Item = End> {
        self.cables.iter().flat_map(|cable| [cable.from, cable.to])
    }
    /// The network as frames see it; `is_switch` says which components forward.
    #[must_use]
    pub fn wires(&self, is_switch: impl Fn(usize) -> bool) -> Wires {
        let (of_switches, of_stations): (BTreeSet<End>, BTreeSet<End>) =
            self.ends().partition(|end| is_switch(end.component));
        let switches: BTreeSet<usize> = of_switches.iter().map(|end| end.component).collect();
        let (stations, switches): (Vec<End>, Vec<usize>) =
            (of_stations.into_iter().collect(), switches.into_iter().collect());
        let node = |end: End| match switches.binary_search(&end.component) {
            Ok(switch) => Node::Switch { switch, port: end.port as u16 },
            Err(_) => Node::Station(Station(stations.partition_point(|other| *other < end) as u16)),
        };
        let mut topology = Topology::new(switches.len());
        self.cables.iter().for_each(|cable| topology.join(node(cable.from), node(cable.to)));
        Wires { stations, switches, topology }
    }
}

impl Wires {
    /// The station that a port is; none if no cable ends there.
    #[must_use]
    pub fn station(&self, end: End) -> Option<Station> {
        self.stations.binary_search(&end).ok().map(|place| Station(place as u16))
    }
    /// The forwarding table of each switch.
    #[must_use]
    pub fn forwarding(&self) -> Vec<Forwarding> {
        self.topology.forwarding(self.stations.len() as u16)
    }
}
