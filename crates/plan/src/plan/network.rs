//! The network of a machine, and what is offered over it.

use super::end::End;
use super::link::Down;
use lanetwin_fabric::ethernet::logic::{Forwarding, Node, Station, Topology};
use lanetwin_fabric::ethernet::spec::Rate;
use lanetwin_fabric::roce::spec::PathMtu;
use lanetwin_models::roles::nvmeof::Access;
use lanetwin_units::Instant;
use std::collections::BTreeSet;

/// Cables of Ethernet between adapters and switches.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Network {
    /// The cables, in the order of writing.
    pub cables: Vec<CablePlan>,
    /// What is offered over it, in the order of writing.
    pub subsystems: Vec<SubsystemPlan>,
    /// Which hosts reach it.
    pub associations: Vec<AssociationPlan>,
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
    /// When it is down, each time after the one before.
    pub down: Vec<Down>,
}

/// Drives that a host offers over the network.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubsystemPlan {
    /// Its name in `subsystems:`.
    pub name: String,
    /// The host that runs the target: its place in [`super::Variant::machine`].
    pub host: usize,
    /// The adapters that it is reached by, at least one.
    pub ports: Vec<PortOffer>,
    /// From when on a port reaches the namespaces otherwise, in the order of time.
    pub access: Vec<AccessPlan>,
    /// When hosts leave it on purpose, in the order of time.
    pub leaves: Vec<LeavePlan>,
    /// The drives that its namespaces are, the first of which has the number 1.
    pub namespaces: Vec<usize>,
    /// The hosts that may connect; none if all may.
    pub hosts: Option<Vec<usize>>,
    /// How commands and data go.
    pub transport: TransportPlan,
    /// Whether its adapter is the target, in the place of the host's software.
    pub offload: bool,
    /// Whether data lie in the memory of the drives, between drive and adapter, and not in the host's.
    pub in_drives: bool,
}

/// An adapter that a subsystem is reached by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortOffer {
    /// The adapter: its place in [`super::Variant::machine`].
    pub adapter: usize,
    /// Whether its paths are optimized in the sense of asymmetric namespace access (NVM Express Base Specification
    /// 2.0, §8.1.1); those that are not are taken where no optimized one works.
    pub optimized: bool,
}

/// From when on a port of a subsystem has another state of asymmetric namespace access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessPlan {
    /// When.
    pub at: Instant,
    /// The adapter: its place in [`super::Variant::machine`].
    pub adapter: usize,
    /// The state.
    pub access: Access,
}

/// A host leaves a subsystem on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeavePlan {
    /// When.
    pub at: Instant,
    /// The host; every one if none.
    pub host: Option<usize>,
    /// The adapter that it is reached by; every path if none.
    pub adapter: Option<usize>,
    /// Whether what was asked is answered first.
    pub managed: bool,
    /// When it connects again; never if none.
    pub back: Option<Instant>,
}

impl LeavePlan {
    /// Whether it is about the path of a host to an adapter.
    #[must_use]
    pub fn is_of(&self, host: usize, adapter: usize) -> bool {
        self.host.is_none_or(|own| own == host) && self.adapter.is_none_or(|own| own == adapter)
    }
}

/// How commands and data of a subsystem go over the network.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum TransportPlan {
    /// By RDMA over RoCEv2.
    #[default]
    Rdma,
    /// By TCP.
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

/// How a connection goes over the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConnectionPlan {
    /// By RDMA, with the MTU of its path.
    Rdma(PathMtu),
    /// By TCP.
    Tcp {
        /// What the frames of both ends carry \[B\].
        frames: u32,
        /// The digests that are used.
        digests: Digests,
    },
}

/// A host that can connect to a subsystem by one of its ports: a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AssociationPlan {
    /// The host.
    pub host: usize,
    /// The adapter of it that leads there.
    pub adapter: usize,
    /// Which subsystem: its place in [`Network::subsystems`].
    pub subsystem: usize,
    /// The port that it leads to.
    pub port: PortOffer,
    /// How the connections go.
    pub connection: ConnectionPlan,
}

/// How a host asks a drive of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RemotePlan {
    /// The adapter of the host that asks.
    pub adapter: usize,
    /// The host that offers the drive.
    pub target: usize,
    /// The adapter of that host.
    pub port: usize,
    /// Whether the path is optimized.
    pub optimized: bool,
    /// Which subsystem: its place in [`Network::subsystems`].
    pub subsystem: usize,
    /// Which of its namespaces, counted from 0.
    pub namespace: usize,
    /// How the connection goes.
    pub connection: ConnectionPlan,
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
    /// How a host asks a drive of another, by the first path to it; none if the drive is not offered to it.
    #[must_use]
    pub fn remote(&self, host: usize, drive: usize) -> Option<RemotePlan> {
        self.remotes(host, drive).next()
    }
    /// Every path by which a host asks a drive of another, in the order of the ports of its subsystem.
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
    /// Whether a subsystem that offers a drive is not reached as it says: by a host that it names, or by one of its
    /// ports.
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
    /// The station that a port is; none if no cable ends there.
    #[must_use]
    pub fn station(&self, end: End) -> Option<Station> {
        self.stations.binary_search(&end).ok().map(|place| Station(place as u16))
    }
    /// Whether two stations are joined without a switch.
    #[must_use]
    pub fn are_joined(&self, a: Station, b: Station) -> bool {
        let ends = [Node::Station(a), Node::Station(b)];
        self.topology.cables().iter().any(|cable| *cable == ends || *cable == [ends[1], ends[0]])
    }
    /// The switch that a station is joined to.
    #[must_use]
    pub fn switch_at(&self, station: Station) -> Option<usize> {
        self.across().find_map(|(near, far)| match (near, far) {
            (Node::Station(own), Node::Switch { switch, .. }) if own == station => Some(switch),
            _ => None,
        })
    }
    /// The switches, as components, that frames between two stations may pass; none if there is no way.
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
    /// The switches that some of the ports of a switch lead to.
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
