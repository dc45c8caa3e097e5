//! The network of a machine, and the subsystems exported over it.

use super::end::End;
use super::link::Down;
use lanetwin_fabric::ethernet::logic::{Forwarding, Node, Station, Topology};
use lanetwin_fabric::ethernet::spec::Rate;
use lanetwin_fabric::roce::spec::PathMtu;
use lanetwin_models::roles::nvmeof::Access;
use lanetwin_units::Instant;
use std::collections::BTreeSet;

/// Ethernet cables between adapters and switches, and the subsystems behind them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Network {
    /// The cables, in the order of the scenario.
    pub cables: Vec<CablePlan>,
    /// The exported subsystems, in the order of the scenario.
    pub subsystems: Vec<SubsystemPlan>,
    /// The paths from hosts to subsystems.
    pub associations: Vec<AssociationPlan>,
}

/// An Ethernet cable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CablePlan {
    /// Its name in `links:`.
    pub name: String,
    /// The first end in the scenario.
    pub from: End,
    /// The other end.
    pub to: End,
    /// The rate of its ports.
    pub rate: Rate,
    /// Its length \[m\].
    pub metres: u64,
    /// Its outages, in the order of time.
    pub down: Vec<Down>,
}

/// A subsystem: drives that a host exports over the network.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubsystemPlan {
    /// Its name in `subsystems:`.
    pub name: String,
    /// Index in [`super::Variant::machine`] of the host that runs the target.
    pub host: usize,
    /// The adapters through which it is reached, at least one.
    pub ports: Vec<PortOffer>,
    /// Changes of the access state of ports, in the order of time.
    pub access: Vec<AccessPlan>,
    /// Times at which hosts disconnect from it on purpose, in order.
    pub leaves: Vec<LeavePlan>,
    /// The drives of its namespaces; the first has namespace ID 1.
    pub namespaces: Vec<usize>,
    /// The hosts that may connect; `None` if all may.
    pub hosts: Option<Vec<usize>>,
    /// The transport of commands and data.
    pub transport: TransportPlan,
    /// Whether the adapter is the target, instead of the host's software.
    pub offload: bool,
    /// Whether data are staged in the memory of the drives instead of the host's.
    pub in_drives: bool,
}

/// An adapter through which a subsystem is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortOffer {
    /// Index of the adapter in [`super::Variant::machine`].
    pub adapter: usize,
    /// Whether its paths are optimized in the sense of asymmetric namespace access (NVM Express Base Specification 2.0,
    /// §8.1.1). Other paths are used only if no optimized one works.
    pub optimized: bool,
}

/// A change of a port to another state of asymmetric namespace access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessPlan {
    /// Its time.
    pub at: Instant,
    /// Index of the adapter in [`super::Variant::machine`].
    pub adapter: usize,
    /// The state.
    pub access: Access,
}

/// A host disconnects from a subsystem on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeavePlan {
    /// Its time.
    pub at: Instant,
    /// The host; `None` for every host.
    pub host: Option<usize>,
    /// The adapter of the path; `None` for every path.
    pub adapter: Option<usize>,
    /// Whether outstanding commands are completed first.
    pub managed: bool,
    /// The time at which it connects again; `None` for never.
    pub back: Option<Instant>,
}

impl LeavePlan {
    /// Whether it concerns the path from a host to an adapter.
    #[must_use]
    pub fn is_of(&self, host: usize, adapter: usize) -> bool {
        self.host.is_none_or(|own| own == host) && self.adapter.is_none_or(|own| own == adapter)
    }
}

/// The transport of commands and data of a subsystem.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum TransportPlan {
    /// RDMA over RoCEv2.
    #[default]
    Rdma,
    /// TCP.
    Tcp(Digests),
}

impl TransportPlan {
    /// Whether it is TCP.
    #[must_use]
    pub const fn is_tcp(self) -> bool {
        matches!(self, Self::Tcp(_))
    }
}

/// The digests of NVMe/TCP that are used.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Digests {
    /// Of headers.
    pub header: bool,
    /// Of data.
    pub data: bool,
}

/// The transport of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConnectionPlan {
    /// RDMA, with the MTU of its path.
    Rdma(PathMtu),
    /// TCP.
    Tcp {
        /// Payload of the frames of both ends \[B\].
        frames: u32,
        /// The digests that are used.
        digests: Digests,
    },
}

/// A path: a host that can connect to a port of a subsystem.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AssociationPlan {
    /// The host.
    pub host: usize,
    /// The adapter of the host on this path.
    pub adapter: usize,
    /// Index of the subsystem in [`Network::subsystems`].
    pub subsystem: usize,
    /// The port at the subsystem.
    pub port: PortOffer,
    /// The transport of its connections.
    pub connection: ConnectionPlan,
}

/// A path from a host to a drive of another host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RemotePlan {
    /// The adapter of the initiating host.
    pub adapter: usize,
    /// The host that exports the drive.
    pub target: usize,
    /// The adapter of that host.
    pub port: usize,
    /// Whether the path is optimized.
    pub optimized: bool,
    /// Index of the subsystem in [`Network::subsystems`].
    pub subsystem: usize,
    /// Index of the namespace, from 0.
    pub namespace: usize,
    /// The transport of the connection.
    pub connection: ConnectionPlan,
}

/// The network as frames see it: adapters are stations, switches forward.
#[derive(Debug)]
pub struct Wires {
    /// The ports of adapters; the index of each is its station number.
    pub stations: Vec<End>,
    /// The indices in the machine of the switches, in ascending order.
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
    /// The cable at a port; `None` if there is none.
    #[must_use]
    pub fn cable_of(&self, end: End) -> Option<&CablePlan> {
        self.cables.iter().find(|cable| cable.from == end || cable.to == end)
    }
    /// The first path from a host to a drive of another; `None` if the drive is not exported to it.
    #[must_use]
    pub fn remote(&self, host: usize, drive: usize) -> Option<RemotePlan> {
        self.remotes(host, drive).next()
    }
    /// All paths from a host to a drive of another, in the order of the subsystem's ports.
    pub fn remotes(&self, host: usize, drive: usize) -> impl Iterator<Item = RemotePlan> {
        let found = self.associations.iter().filter(move |association| association.host == host);
        found.filter_map(move |association| {
            let &AssociationPlan { adapter, subsystem, port, connection, .. } = association;
            let SubsystemPlan { host: target, namespaces, .. } = &self.subsystems[subsystem];
            let namespace = namespaces.iter().position(|own| *own == drive)?;
            let PortOffer { adapter: port, optimized } = port;
            Some(RemotePlan { adapter, target: *target, port, optimized, subsystem, namespace, connection })
        })
    }
    /// Whether a subsystem that exports a drive lacks a path that the scenario asks for: from a host that it names, or
    /// to one of its ports.
    #[must_use]
    pub fn is_unreached(&self, drive: usize) -> bool {
        let mut offering =
            self.subsystems.iter().enumerate().filter(|(_, own)| own.namespaces.contains(&drive));
        offering.any(|(number, own)| {
            let mut hosts = own.hosts.iter().flatten();
            let reaching = || self.associations.iter().filter(|association| association.subsystem == number);
            hosts.any(|host| reaching().all(|own| own.host != *host))
                || own.ports.iter().any(|port| reaching().all(|own| own.port.adapter != port.adapter))
        })
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
    /// The station number of a port; `None` if it has no cable.
    #[must_use]
    pub fn station(&self, end: End) -> Option<Station> {
        self.stations.binary_search(&end).ok().map(|place| Station(place as u16))
    }
    /// Whether two stations are connected without a switch.
    #[must_use]
    pub fn are_joined(&self, a: Station, b: Station) -> bool {
        let ends = [Node::Station(a), Node::Station(b)];
        self.topology.cables().iter().any(|cable| *cable == ends || *cable == [ends[1], ends[0]])
    }
    /// The switch to which a station is connected.
    #[must_use]
    pub fn switch_at(&self, station: Station) -> Option<usize> {
        self.across().find_map(|(near, far)| match (near, far) {
            (Node::Station(own), Node::Switch { switch, .. }) if own == station => Some(switch),
            _ => None,
        })
    }
    /// The switches, as components, that frames between two stations may pass; `None` if there is no path.
    #[must_use]
    pub fn passed(&self, from: Station, to: Station) -> Option<BTreeSet<usize>> {
        let tables = self.forwarding();
        let mut passed = BTreeSet::new();
        let mut open: Vec<usize> = self.switch_at(from).into_iter().collect();
        while let Some(switch) = open.pop() {
            if tables[switch].ways(to).is_empty() || !passed.insert(switch) {
                continue;
            }
            open.extend(self.behind(switch, tables[switch].ways(to)));
        }
        let there = self.are_joined(from, to) || !passed.is_empty();
        there.then(|| passed.into_iter().map(|switch| self.switches[switch]).collect())
    }
    /// The switches behind some ports of a switch.
    pub fn behind<'a>(&'a self, switch: usize, ports: &'a [u16]) -> impl Iterator<Item = usize> + 'a {
        self.across().filter_map(move |(near, far)| match (near, far) {
            (Node::Switch { switch: own, port }, Node::Switch { switch: next, .. })
                if own == switch && ports.contains(&port) =>
            {
                Some(next)
            }
            _ => None,
        })
    }
    fn across(&self) -> impl Iterator<Item = (Node, Node)> {
        self.topology.cables().iter().flat_map(|&[a, b]| [(a, b), (b, a)])
    }
    /// The forwarding table of each switch.
    #[must_use]
    pub fn forwarding(&self) -> Vec<Forwarding> {
        self.topology.forwarding(self.stations.len() as u16)
    }
}
