//! One step of a TLP: at the root complex or a switch, where it goes.

use super::bridge::Bridge;
use super::declare::{NodeId, PortId};
use super::enumerate::Tree;
use super::pack::Space;
use crate::spec::Bdf;
use crate::spec::header::{Content, Message, MessageRouting, TlpHeader};
use core::fmt;

/// What a TLP is routed by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RouteKey {
    /// A memory request, or a message by address: to this address.
    Memory(u64),
    /// A completion: to the function that asked.
    Completion(Bdf),
    /// A configuration request: to this function.
    Configuration(Bdf),
    /// A message by ID: to this function.
    Id(Bdf),
    /// A message to the root complex.
    ToRootComplex,
    /// A message from the root complex to all.
    Broadcast,
    /// A message to the other end of the link.
    Local,
    /// A message to the root complex that a switch gathers from all its ports before it sends one.
    Gathered,
}

impl From<&TlpHeader> for RouteKey {
    fn from(header: &TlpHeader) -> Self {
        match header.content {
            Content::MemoryRead(request) | Content::MemoryWrite(request) => {
                Self::Memory(request.range.address())
            }
            Content::Completion(completion) => Self::Completion(completion.requester),
            Content::Message(message) => Self::of_message(message),
        }
    }
}

impl RouteKey {
    fn of_message(message: Message) -> Self {
        let [third, last] = message.words;
        match message.routing {
            MessageRouting::TO_ROOT_COMPLEX => Self::ToRootComplex,
            MessageRouting::BY_ADDRESS => Self::Memory(u64::from(third) << 32 | u64::from(last)),
            MessageRouting::BY_ID => Self::Id(Bdf::from_raw((third >> 16) as u16)),
            MessageRouting::BROADCAST => Self::Broadcast,
            MessageRouting::GATHERED => Self::Gathered,
            // local; what is reserved ends at the receiver too
            _ => Self::Local,
        }
    }
    /// The function that it goes to, if it is routed by ID.
    const fn id(self) -> Option<Bdf> {
        match self {
            Self::Completion(id) | Self::Configuration(id) | Self::Id(id) => Some(id),
            _ => None,
        }
    }
}

/// What routes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Router {
    /// The root complex; above it is the host.
    RootComplex,
    /// A switch; above it is what its upstream port is linked to.
    Switch(NodeId),
}

/// A side of a router.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Side {
    /// Towards the host.
    Up,
    /// Through a port that faces down.
    Down(PortId),
}

/// What a router does with a TLP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// It leaves on this side.
    Leave(Side),
    /// It leaves through every port that faces down.
    Broadcast,
    /// It ends here, at the host itself.
    Host,
    /// It ends here, at this function: a root port, or a port of the switch.
    Port(Bdf),
}

/// Why a router, or an endpoint, does not take a TLP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// Nobody claims its address or ID, or it may not come from there: a request is answered with Unsupported Request
    /// (UR), a posted one is dropped.
    UnsupportedRequest,
    /// A completion for a function that is not there.
    UnexpectedCompletion,
    /// It would leave through the port that it came in through.
    Returns(PortId),
    /// A broadcast that does not come from above.
    Malformed,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnsupportedRequest => "unsupported request",
            Self::UnexpectedCompletion => "unexpected completion",
            Self::Returns(_) => "it would leave through the port that it came in through",
            Self::Malformed => "malformed: a broadcast that does not come from the root complex",
        })
    }
}

/// Whom an address or an ID belongs to, as seen from a router.
enum Owner {
    /// What is below a port.
    Below(PortId),
    /// One of the router's own ports.
    Port(Bdf),
    /// The host, at the root complex.
    Host,
    /// Nobody that the router knows.
    Elsewhere,
    /// Nobody at all: it lies between the router's own windows or buses.
    Nobody,
}

impl Tree {
    /// Where a TLP goes that comes to a router from a side.
    ///
    /// # Errors
    /// If the router does not take it.
    pub fn route(&self, at: Router, from: Side, route_key: RouteKey) -> Result<Step, Refusal> {
        match route_key {
            RouteKey::Memory(address) => {
                self.forward(at, from, route_key, self.owner_of_address(at, address))
            }
            RouteKey::Completion(id) | RouteKey::Id(id) => {
                self.forward(at, from, route_key, self.owner_of_id(at, id))
            }
            RouteKey::Configuration(id) => match from {
                Side::Up => self.forward(at, from, route_key, self.owner_of_id(at, id)),
                Side::Down(_) => Err(Refusal::UnsupportedRequest),
            },
            RouteKey::ToRootComplex => match (at, from) {
                (_, Side::Up) => Err(Refusal::UnsupportedRequest),
                (Router::RootComplex, Side::Down(_)) => Ok(Step::Host),
                (Router::Switch(_), Side::Down(_)) => Ok(Step::Leave(Side::Up)),
            },
            RouteKey::Broadcast => match from {
                Side::Up => Ok(Step::Broadcast),
                Side::Down(_) => Err(Refusal::Malformed),
            },
            RouteKey::Local | RouteKey::Gathered => Ok(match (at, from) {
                (Router::RootComplex, Side::Up) => Step::Host,
                (Router::Switch(switch), Side::Up) => Step::Port(self.upstream_of(switch).bdf),
                (_, Side::Down(port)) => Step::Port(self.bridge(port).bdf),
            }),
        }
    }

    fn forward(&self, at: Router, from: Side, route_key: RouteKey, owner: Owner) -> Result<Step, Refusal> {
        let refused = match route_key {
            RouteKey::Completion(_) => Refusal::UnexpectedCompletion,
            _ => Refusal::UnsupportedRequest,
        };
        match (owner, from) {
            (Owner::Nobody, _) | (Owner::Elsewhere, Side::Up) => Err(refused),
            (Owner::Host, _) => Ok(Step::Host),
            (Owner::Port(bdf), _) => Ok(Step::Port(bdf)),
            (Owner::Elsewhere, Side::Down(_)) => Ok(Step::Leave(Side::Up)),
            (Owner::Below(port), _) if self.below(port).is_none() => Err(refused),
            (Owner::Below(port), Side::Up) => Ok(Step::Leave(Side::Down(port))),
            (Owner::Below(port), Side::Down(ingress)) if port == ingress => self.turn_back(at, port),
            (Owner::Below(port), Side::Down(ingress)) => {
                self.to_peer(at, ingress, port, route_key).ok_or(refused)
            }
        }
    }

    /// What aims at where it came from. That happens only to what a port further down has redirected.
    fn turn_back(&self, at: Router, port: PortId) -> Result<Step, Refusal> {
        match (at, self.ports[port.index()].acs.upstream_forwarding()) {
            (_, false) => Err(Refusal::Returns(port)),
            (Router::Switch(_), true) => Ok(Step::Leave(Side::Up)),
            // the root complex is as far up as it goes; it sends the TLP down again
            (Router::RootComplex, true) => Ok(Step::Leave(Side::Down(port))),
        }
    }

    /// From one port that faces down to another.
    fn to_peer(&self, at: Router, ingress: PortId, port: PortId, route_key: RouteKey) -> Option<Step> {
        let acs = self.ports[ingress.index()].acs;
        let redirected = match route_key {
            RouteKey::Completion(_) => acs.completion_redirect(),
            _ => acs.request_redirect(),
        };
        match at {
            Router::Switch(_) if redirected => Some(Step::Leave(Side::Up)),
            // a root complex has nowhere to redirect to but itself
            Router::RootComplex if !self.host.peer_to_peer && !redirected => None,
            _ => Some(Step::Leave(Side::Down(port))),
        }
    }

    fn owner_of_address(&self, at: Router, address: u64) -> Owner {
        let claims = |port: &&PortId| self.bridge(**port).claims(address);
        if let Some(&port) = self.ports_of(at).iter().find(claims) {
            return Owner::Below(port);
        }
        let own = match at {
            Router::RootComplex => {
                Space::ALL.iter().any(|&space| self.host.aperture(space).contains(&address))
            }
            Router::Switch(switch) => self.upstream_of(switch).claims(address),
        };
        match at {
            _ if own => Owner::Nobody,
            Router::RootComplex => Owner::Host,
            Router::Switch(_) => Owner::Elsewhere,
        }
    }

    fn owner_of_id(&self, at: Router, id: Bdf) -> Owner {
        let ports = self.ports_of(at);
        if let Some(&port) = ports.iter().find(|port| self.bridge(**port).leads_to(id)) {
            return Owner::Below(port);
        }
        if ports.iter().any(|port| self.bridge(*port).bdf == id) {
            return Owner::Port(id);
        }
        match at {
            Router::RootComplex if id == Bdf::ZERO => Owner::Host,
            Router::RootComplex => Owner::Nobody,
            Router::Switch(switch) => {
                let upstream = self.upstream_of(switch);
                match () {
                    () if upstream.bdf == id => Owner::Port(id),
                    () if upstream.leads_to(id) => Owner::Nobody,
                    () => Owner::Elsewhere,
                }
            }
        }
    }

    /// The ports of a router that face down.
    #[must_use]
    pub fn ports_of(&self, at: Router) -> &[PortId] {
        match at {
            Router::RootComplex => &self.root_ports,
            Router::Switch(switch) => self.downstream(switch),
        }
    }
    /// The router that a port facing down belongs to.
    #[must_use]
    pub fn router_of(&self, port: PortId) -> Router {
        self.owner(port).map_or(Router::RootComplex, Router::Switch)
    }
    /// Every router, from the root complex on.
    pub fn routers(&self) -> impl Iterator<Item = Router> {
        let switches = self.nodes().filter(|&node| self.upstream(node).is_some()).map(Router::Switch);
        core::iter::once(Router::RootComplex).chain(switches)
    }
    fn upstream_of(&self, switch: NodeId) -> &Bridge {
        self.upstream(switch).expect("only a switch routes")
    }
}

impl Tree {
    /// Whether an endpoint takes a TLP that its link brings: the function that does.
    ///
    /// # Errors
    /// If it does not.
    pub fn accept(&self, endpoint: NodeId, route_key: RouteKey) -> Result<Bdf, Refusal> {
        let functions = self.functions(endpoint);
        let taken = match (route_key, route_key.id()) {
            (RouteKey::Memory(address), _) => functions.iter().find(|function| function.has(address)),
            (_, Some(id)) => functions.iter().find(|function| function.bdf == id),
            // it speaks to the port, which function 0 stands for
            (RouteKey::Broadcast | RouteKey::Local, None) => functions.first(),
            _ => None,
        };
        taken.map(|function| function.bdf).ok_or(match route_key {
            RouteKey::Completion(_) => Refusal::UnexpectedCompletion,
            _ => Refusal::UnsupportedRequest,
        })
    }
}
