//! All steps of a TLP, from where it begins to where it ends.

use super::declare::{NodeId, PortId};
use super::enumerate::Tree;
use super::route::{Refusal, RouteKey, Router, Side, Step};
use crate::spec::Bdf;

/// Where a TLP begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Source {
    /// The host: a processor, or the completer of its memory.
    Host,
    /// An endpoint.
    Endpoint(NodeId),
}

/// Which way a link is crossed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Direction {
    /// Towards the host.
    Up,
    /// Away from the host.
    Down,
}

/// A link that is crossed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Crossing {
    /// The link: the one below this port.
    pub port: PortId,
    /// Which way.
    pub direction: Direction,
}

/// Where a TLP ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// At the host.
    Host,
    /// At this function.
    Function(Bdf),
    /// At every device below the router that it has come to, which sends it through all its ports.
    Broadcast(Router),
}

/// How a TLP gets to its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    /// The links, in order.
    pub crossings: Vec<Crossing>,
    /// Where it ends.
    pub end: End,
}

/// How far a TLP came that does not get to an end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// The links, in order; what is at the end of the last one refuses it.
    pub crossings: Vec<Crossing>,
    /// Why.
    pub why: Refusal,
}

impl Tree {
    /// The way of a TLP that begins at `from`.
    ///
    /// # Errors
    /// If a router or an endpoint refuses it: how far it came.
    ///
    /// # Panics
    /// If it begins at a switch.
    pub fn path(&self, from: Source, route_key: RouteKey) -> Result<Path, Refused> {
        let mut crossings = Vec::new();
        let (mut at, mut side) = match from {
            Source::Host => (Router::RootComplex, Side::Up),
            Source::Endpoint(endpoint) => {
                assert!(self.upstream(endpoint).is_none(), "a TLP begins at an endpoint, not at a switch");
                self.climb(endpoint, &mut crossings)
            }
        };
        // Up, and then down: a link is crossed once in each direction at most, so this ends.
        loop {
            let port = match self.route(at, side, route_key) {
                Err(why) => return Err(Refused { crossings, why }),
                Ok(Step::Host) => return Ok(Path { crossings, end: End::Host }),
                Ok(Step::Port(bdf)) => return Ok(Path { crossings, end: End::Function(bdf) }),
                Ok(Step::Broadcast) => return Ok(Path { crossings, end: End::Broadcast(at) }),
                Ok(Step::Leave(Side::Down(port))) => port,
                Ok(Step::Leave(Side::Up)) => {
                    let Router::Switch(switch) = at else {
                        unreachable!("above the root complex is the host")
                    };
                    (at, side) = self.climb(switch, &mut crossings);
                    continue;
                }
            };
            crossings.push(Crossing { port, direction: Direction::Down });
            let below = self.below(port).expect("nothing is routed into an empty slot");
            if self.upstream(below).is_none() {
                return match self.accept(below, route_key) {
                    Ok(bdf) => Ok(Path { crossings, end: End::Function(bdf) }),
                    Err(why) => Err(Refused { crossings, why }),
                };
            }
            (at, side) = (Router::Switch(below), Side::Up);
        }
    }

    /// Crosses the link above a device.
    fn climb(&self, node: NodeId, crossings: &mut Vec<Crossing>) -> (Router, Side) {
        let port = self.above(node);
        crossings.push(Crossing { port, direction: Direction::Up });
        (self.router_of(port), Side::Down(port))
    }
}
