//! Topology: routes through a network, and loops of bridges.
//!
//! Routes are static. Of several shortest paths (equal-cost multipath, ECMP) a flow takes one, selected by a hash of
//! the flow's identifier; frames of one flow never overtake each other.

use super::train::{Station, Train};
use lanetwin_units::mix;
use std::collections::VecDeque;

/// One end of a cable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Node {
    /// A port of a machine.
    Station(Station),
    /// A port of the switch with this number.
    Switch {
        /// Index of the switch.
        switch: usize,
        /// Its port.
        port: u16,
    },
}

/// A network: cables between stations and switches.
#[derive(Clone, Default, Debug)]
pub struct Topology {
    cables: Vec<[Node; 2]>,
    switches: usize,
}

/// Forwarding table of a switch: for each station the ports on shortest paths.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Forwarding {
    ports: Vec<Vec<u16>>,
    /// Mixed into the hash of flows, so that switches decide differently.
    salt: u64,
}

impl Topology {
    /// An empty topology with this many switches.
    #[must_use]
    pub const fn new(switches: usize) -> Self {
        Self { cables: Vec::new(), switches }
    }
    /// Joins two ports by a cable.
    pub fn join(&mut self, a: Node, b: Node) {
        self.cables.push([a, b]);
    }
    /// The cables, in the order in which they were joined.
    #[must_use]
    pub fn cables(&self) -> &[[Node; 2]] {
        &self.cables
    }
    /// The nodes at the other ends of a switch's cables: (its port, the node).
    fn neighbours(&self, of: usize) -> impl Iterator<Item = (u16, Node)> {
        let ends = self.cables.iter().flat_map(|&[a, b]| [(a, b), (b, a)]);
        ends.filter_map(move |(near, far)| match near {
            Node::Switch { switch, port } if switch == of => Some((port, far)),
            _ => None,
        })
    }
    /// Number of cables from each switch to a station; `None` if there is no path.
    fn distances(&self, to: Station) -> Vec<Option<u32>> {
        let mut distances = vec![None; self.switches];
        let mut found = VecDeque::new();
        for (switch, distance) in distances.iter_mut().enumerate() {
            if self.neighbours(switch).any(|(_, node)| node == Node::Station(to)) {
                *distance = Some(1);
                found.push_back((switch, 1));
            }
        }
        while let Some((switch, distance)) = found.pop_front() {
            for (_, node) in self.neighbours(switch) {
                if let Node::Switch { switch: next, .. } = node
                    && distances[next].is_none()
                {
                    distances[next] = Some(distance + 1);
                    found.push_back((next, distance + 1));
                }
            }
        }
        distances
    }
    /// The forwarding table of each switch, for stations 0 to `stations` - 1. A table has no port for whom it does not
    /// reach. Ports of equal ways are in ascending order.
    #[must_use]
    pub fn forwarding(&self, stations: u16) -> Vec<Forwarding> {
        let salted = |switch| Forwarding { ports: Vec::new(), salt: mix(switch as u64) };
        let mut tables: Vec<_> = (0..self.switches).map(salted).collect();
        for station in (0..stations).map(Station) {
            let distances = self.distances(station);
            for (switch, table) in tables.iter_mut().enumerate() {
                let nearer = |node| match node {
                    Node::Station(there) => there == station,
                    Node::Switch { switch: next, .. } => {
                        distances[next].is_some_and(|d| distances[switch] == Some(d + 1))
                    }
                };
                let ways = self.neighbours(switch).filter(|(_, node)| nearer(*node));
                let mut ports: Vec<_> = ways.map(|(port, _)| port).collect();
                ports.sort_unstable();
                table.ports.push(ports);
            }
        }
        tables
    }
    /// A loop of switches that forward without routing, in its order. Returns `None` if there is none. A flooded
    /// frame would circulate in it for ever: a network of bridges must be a tree. `routes` says which switches route,
    /// and so may have several paths.
    #[must_use]
    pub fn bridge_loop(&self, routes: impl Fn(usize) -> bool) -> Option<Vec<usize>> {
        // the way from the root of its tree to each switch
        let mut from: Vec<Option<(usize, usize)>> = vec![None; self.switches];
        let mut seen = vec![false; self.switches];
        for root in (0..self.switches).filter(|&switch| !routes(switch)) {
            if std::mem::replace(&mut seen[root], true) {
                continue;
            }
            let mut open = vec![root];
            while let Some(switch) = open.pop() {
                for (cable, next) in self.bridged(switch).filter(|&(_, next)| !routes(next)) {
                    if from[switch].is_some_and(|(_, came)| came == cable) {
                        continue;
                    }
                    if std::mem::replace(&mut seen[next], true) {
                        return Some(circle(&from, switch, next));
                    }
                    from[next] = Some((switch, cable));
                    open.push(next);
                }
            }
        }
        None
    }
    /// The cables from a switch to other switches (or to itself), by number.
    fn bridged(&self, of: usize) -> impl Iterator<Item = (usize, usize)> {
        self.cables.iter().enumerate().filter_map(move |(cable, ends)| match *ends {
            [Node::Switch { switch: a, .. }, Node::Switch { switch: b, .. }] if a == of => Some((cable, b)),
            [Node::Switch { switch: a, .. }, Node::Switch { switch: b, .. }] if b == of => Some((cable, a)),
            _ => None,
        })
    }
}

/// The circle that a cable between two switches of one tree closes.
fn circle(from: &[Option<(usize, usize)>], a: usize, b: usize) -> Vec<usize> {
    let way = |mut at: usize| {
        let mut way = vec![at];
        while let Some((before, _)) = from[at] {
            way.push(before);
            at = before;
        }
        way
    };
    let (of_a, of_b) = (way(a), way(b));
    let shared = |switch: &usize| of_b.contains(switch);
    let meet = of_a.iter().position(shared).unwrap_or(of_a.len() - 1);
    let back = of_b.iter().take_while(|switch| **switch != of_a[meet]);
    let mut circle = of_a[..=meet].to_vec();
    circle.extend(back.collect::<Vec<_>>().into_iter().rev());
    circle
}

impl Forwarding {
    /// A table that sends frames for the i-th station to the port `ports[i]`.
    #[must_use]
    pub fn direct(ports: &[u16]) -> Self {
        Self { ports: ports.iter().map(|port| vec![*port]).collect(), salt: 0 }
    }
    /// The egress port for frames of this train. Returns `None` if there is no path.
    #[must_use]
    pub fn port(&self, train: &Train) -> Option<u16> {
        let ports = self.ports.get(train.to.index())?;
        if let [one] = ports[..] {
            return Some(one);
        }
        let flow = u64::from(train.from.0) << 32 | u64::from(train.to.0) << 16 | u64::from(train.entropy);
        let hash = mix(flow ^ self.salt);
        ports.get(((u128::from(hash) * ports.len() as u128) >> 64) as usize).copied()
    }
    /// The ports on shortest ways to a station.
    #[must_use]
    pub fn ways(&self, to: Station) -> &[u16] {
        self.ports.get(to.index()).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::super::train::Class;
    use super::*;

    fn train(from: u16, to: u16, entropy: u8) -> Train {
        Train {
            from: Station(from),
            to: Station(to),
            count: 1,
            bytes: 64,
            spacing_ps: 0,
            class: Class::default(),
            entropy,
            words: [0; 3],
        }
    }

    /// Two leaves (0, 1) with two stations each, two spines (2, 3).
    fn leaf_spine() -> Topology {
        let mut topology = Topology::new(4);
        let switch = |switch, port| Node::Switch { switch, port };
        for station in 0..4 {
            let leaf = usize::from(station / 2);
            topology.join(Node::Station(Station(station)), switch(leaf, station % 2));
        }
        for leaf in 0..2_u16 {
            for spine in 0..2_u16 {
                topology.join(switch(leaf.into(), 2 + spine), switch(2 + usize::from(spine), leaf));
            }
        }
        topology
    }

    #[test]
    fn ways_are_the_shortest_and_flows_keep_to_theirs() {
        let tables = leaf_spine().forwarding(5);
        assert_eq!((tables[0].ways(Station(1)), tables[0].ways(Station(2))), (&[1][..], &[2, 3][..]));
        assert_eq!((tables[2].ways(Station(3)), tables[2].ways(Station(4))), (&[1][..], &[][..]));
        assert_eq!(tables[0].port(&train(0, 4, 0)), None);
        let port = |entropy| tables[0].port(&train(0, 3, entropy));
        let upper = (0..=255).filter(|&entropy| port(entropy) == Some(3)).count();
        assert!((96..160).contains(&upper), "{upper} of 256 flows take the second spine");
    }

    #[test]
    fn a_loop_is_found_where_bridges_make_one() {
        let net = leaf_spine();
        let mut found = net.bridge_loop(|_| false).expect("leaves and spines are a circle");
        found.sort_unstable();
        assert_eq!(found, [0, 1, 2, 3]);
        assert_eq!(net.bridge_loop(|switch| switch == 2), None);
        assert_eq!(net.bridge_loop(|_| true), None);
        let mut twice = Topology::new(2);
        for port in 0..2 {
            twice.join(Node::Switch { switch: 0, port }, Node::Switch { switch: 1, port });
        }
        assert_eq!(twice.bridge_loop(|_| false).map(|found| found.len()), Some(2));
        let mut itself = Topology::new(1);
        itself.join(Node::Switch { switch: 0, port: 0 }, Node::Switch { switch: 0, port: 1 });
        assert_eq!(itself.bridge_loop(|_| false), Some(vec![0]));
        let mut tree = Topology::new(3);
        for leaf in 1..3_u16 {
            tree.join(Node::Switch { switch: 0, port: leaf }, Node::Switch { switch: leaf.into(), port: 0 });
        }
        assert_eq!(tree.bridge_loop(|_| false), None);
    }
}
