//! Numbers for a tree: buses, devices, windows, addresses.

use super::bridge::Bridge;
use super::declare::{Bar, Error, Host, Node, NodeId, NodeKind, Port, PortId, TreeBuilder};
use super::pack::{Need, Space, pack};
use crate::spec::Bdf;

/// The most devices on a bus.
const DEVICES_MAX: usize = 32;
/// The most functions of a device.
const FUNCTIONS_MAX: usize = 8;
/// The BARs of a type 0 header.
const BAR_REGISTERS: usize = 6;

/// A function of an endpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Where it is.
    pub bdf: Bdf,
    /// Its BARs with their addresses.
    pub bars: Vec<(Bar, u64)>,
}

impl Function {
    /// Whether `address` lies in one of its BARs.
    #[must_use]
    pub fn has(&self, address: u64) -> bool {
        self.bars.iter().any(|(bar, first)| address.checked_sub(*first).is_some_and(|off| off < bar.size()))
    }
}

/// A tree with numbers.
#[derive(Clone, Debug)]
pub struct Tree {
    pub(super) ports: Vec<Port>,
    pub(super) nodes: Vec<Node>,
    pub(super) host: Host,
    pub(super) root_ports: Vec<PortId>,
    /// For each port that faces down, the bridge that it is.
    pub(super) bridges: Vec<Bridge>,
    /// For each switch, the bridge that its upstream port is.
    pub(super) upstream: Vec<Option<Bridge>>,
    /// For each endpoint, its functions; none for a switch.
    pub(super) functions: Vec<Vec<Function>>,
}

/// What lies on a bus and needs room.
#[derive(Clone, Copy)]
enum Thing {
    Bar { function: usize, bar: usize },
    Port(PortId),
}

/// What lies below a port, packed: the window, and where in it each thing is.
type Packed = (Need, Vec<(Thing, u128)>);

impl TreeBuilder {
    /// Gives every function a bus number and every BAR an address.
    ///
    /// # Errors
    /// The first thing that is wrong with the tree, or for which there is no room.
    pub fn enumerate(self, host: Host) -> Result<Tree, Error> {
        match &self.wrong {
            Some(wrong) => Err(wrong.clone()),
            None => Tree::new(self, host),
        }
    }
}

impl Tree {
    pub(super) fn new(declared: TreeBuilder, host: Host) -> Result<Self, Error> {
        check(&declared, &host)?;
        let root_ports: Vec<PortId> = declared.root_ports().collect();
        let nowhere = Bridge::new(Bdf::ZERO);
        let mut tree = Self {
            bridges: vec![nowhere; declared.ports.len()],
            upstream: vec![None; declared.nodes.len()],
            functions: vec![Vec::new(); declared.nodes.len()],
            ports: declared.ports,
            nodes: declared.nodes,
            host,
            root_ports,
        };
        tree.number_buses()?;
        for space in Space::ALL {
            tree.assign(space)?;
        }
        Ok(tree)
    }

    /// The bridge that a port facing down is.
    #[must_use]
    pub fn bridge(&self, port: PortId) -> &Bridge {
        &self.bridges[port.index()]
    }
    /// The bridge that a switch's upstream port is; none for an endpoint.
    #[must_use]
    pub fn upstream(&self, switch: NodeId) -> Option<&Bridge> {
        self.upstream[switch.index()].as_ref()
    }
    /// The functions of an endpoint; none for a switch.
    #[must_use]
    pub fn functions(&self, endpoint: NodeId) -> &[Function] {
        &self.functions[endpoint.index()]
    }
    /// What a device is linked to.
    ///
    /// # Panics
    /// If it is another tree's.
    #[must_use]
    pub fn above(&self, node: NodeId) -> PortId {
        self.nodes[node.index()].above.expect("every device of an enumerated tree has a link up")
    }
    /// What is linked to a port; none in an empty slot.
    #[must_use]
    pub fn below(&self, port: PortId) -> Option<NodeId> {
        self.ports[port.index()].below
    }
    /// The switch that a port belongs to; none for a root port.
    #[must_use]
    pub fn owner(&self, port: PortId) -> Option<NodeId> {
        self.ports[port.index()].owner
    }
    /// The host.
    #[must_use]
    pub const fn host(&self) -> &Host {
        &self.host
    }
    /// Every switch and endpoint, in the order of declaration.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> {
        (0..self.nodes.len() as u16).map(NodeId)
    }
    /// Every port that faces down, in the order of declaration.
    pub fn ports(&self) -> impl Iterator<Item = PortId> {
        (0..self.ports.len() as u16).map(PortId)
    }
    /// The ports of a switch that face down, in the order of their device numbers; none for an endpoint.
    pub(super) fn downstream(&self, node: NodeId) -> &[PortId] {
        match &self.nodes[node.index()].kind {
            NodeKind::Switch(ports) => ports,
            NodeKind::Endpoint(_) => &[],
        }
    }

    fn number_buses(&mut self) -> Result<(), Error> {
        let mut last = 0;
        for (index, port) in self.root_ports.clone().into_iter().enumerate() {
            // device 0 is the host's own
            self.number_below(port, bdf(0, index + 1, 0), &mut last)?;
        }
        Ok(())
    }

    /// Numbers a port at `bdf` and everything below it; `last` is the highest bus number given.
    fn number_below(&mut self, port: PortId, at: Bdf, last: &mut u8) -> Result<(), Error> {
        let secondary = self.next_bus(port, last)?;
        if let Some(node) = self.below(port) {
            match &self.nodes[node.index()].kind {
                NodeKind::Switch(ports) => {
                    let (ports, mut upstream) = (ports.clone(), Bridge::new(bdf(secondary, 0, 0)));
                    let inside = self.next_bus(port, last)?;
                    for (device, &port) in ports.iter().enumerate() {
                        self.number_below(port, bdf(inside, device, 0), last)?;
                    }
                    upstream.set_buses(inside, *last);
                    self.upstream[node.index()] = Some(upstream);
                }
                NodeKind::Endpoint(functions) => {
                    let function = |(number, bars): (usize, &Vec<Bar>)| Function {
                        bdf: bdf(secondary, 0, number),
                        bars: bars.iter().map(|&bar| (bar, 0)).collect(),
                    };
                    self.functions[node.index()] = functions.iter().enumerate().map(function).collect();
                }
            }
        }
        let mut bridge = Bridge::new(at);
        bridge.set_buses(secondary, *last);
        self.bridges[port.index()] = bridge;
        Ok(())
    }

    fn next_bus(&self, port: PortId, last: &mut u8) -> Result<u8, Error> {
        let next = last.checked_add(1);
        *last = next.ok_or_else(|| Error::BusNumbers(self.ports[port.index()].name.clone()))?;
        Ok(*last)
    }

    /// Opens every window of a space, and gives every BAR in it an address.
    fn assign(&mut self, space: Space) -> Result<(), Error> {
        let mut packed: Vec<Packed> = vec![(Need::NOTHING, Vec::new()); self.ports.len()];
        for port in self.root_ports.clone() {
            self.pack_below(port, space, &mut packed);
        }
        let (_, roots) = pack(self.root_ports.iter().map(|&port| (port, packed[port.index()].0)));
        let aperture = self.host.aperture(space);
        let (first, last) = (*aperture.start(), *aperture.end());
        let mut cursor = u128::from(first);
        for (port, _) in roots {
            let need = packed[port.index()].0;
            let base = cursor.next_multiple_of(need.align);
            cursor = base + need.size;
            if cursor <= u128::from(last) + 1 {
                self.place_below(port, base as u64, space, &packed);
            }
        }
        if cursor > u128::from(last) + 1 {
            let (needed, available) = (cursor - u128::from(first), last - first + 1);
            return Err(Error::Addresses { space, needed, available });
        }
        Ok(())
    }

    /// Packs what is below a port, and first what is below that.
    fn pack_below(&self, port: PortId, space: Space, packed: &mut [Packed]) {
        let Some(node) = self.below(port) else { return };
        let ports = self.downstream(node);
        for &port in ports {
            self.pack_below(port, space, packed);
        }
        let bridges = ports.iter().map(|&port| (Thing::Port(port), packed[port.index()].0));
        packed[port.index()] = pack(bridges.chain(self.bars(node, space)));
    }

    fn bars(&self, node: NodeId, space: Space) -> impl Iterator<Item = (Thing, Need)> {
        self.functions(node).iter().enumerate().flat_map(move |(function, of)| {
            let bars = of.bars.iter().enumerate().filter(move |(_, (bar, _))| bar.kind().space() == space);
            bars.map(move |(number, (bar, _))| {
                (Thing::Bar { function, bar: number }, Need::natural(bar.size()))
            })
        })
    }

    fn place_below(&mut self, port: PortId, base: u64, space: Space, packed: &[Packed]) {
        let (need, places) = &packed[port.index()];
        let Some(node) = self.below(port).filter(|_| need.size > 0) else { return };
        let window = base..=base + (need.size - 1) as u64;
        self.bridges[port.index()].open(space, &window);
        if let Some(upstream) = &mut self.upstream[node.index()] {
            upstream.open(space, &window);
        }
        for &(thing, place) in places {
            let address = base + place as u64;
            match thing {
                Thing::Port(port) => self.place_below(port, address, space, packed),
                Thing::Bar { function, bar } => self.functions[node.index()][function].bars[bar].1 = address,
            }
        }
    }
}

/// The ID of a function.
fn bdf(bus: u8, device: usize, function: usize) -> Bdf {
    let id = Bdf::ZERO.with_bus(bus).and_then(|id| id.with_device(device as u8));
    id.and_then(|id| id.with_function(function as u8)).expect("devices and functions have been counted")
}

/// What is wrong with a declaration, whatever the numbers.
fn check(tree: &TreeBuilder, host: &Host) -> Result<(), Error> {
    if let Some(space) = Space::ALL.into_iter().find(|&space| !host.is_sound(space)) {
        return Err(Error::Aperture(space));
    }
    if tree.root_ports().count() >= DEVICES_MAX {
        return Err(Error::TooManyPorts("host".to_owned()));
    }
    for node in &tree.nodes {
        check_above(tree, node)?;
        check_kind(node)?;
    }
    Ok(())
}

fn check_kind(node: &Node) -> Result<(), Error> {
    let name = || node.name.clone();
    match &node.kind {
        NodeKind::Switch(ports) if ports.len() > DEVICES_MAX => Err(Error::TooManyPorts(name())),
        NodeKind::Endpoint(functions) if functions.is_empty() || functions.len() > FUNCTIONS_MAX => {
            Err(Error::Functions(name()))
        }
        NodeKind::Endpoint(functions) => {
            let registers = |bar: &Bar| if bar.kind().is_64_bit() { 2 } else { 1 };
            let too_many = |bars: &Vec<Bar>| bars.iter().map(registers).sum::<usize>() > BAR_REGISTERS;
            if functions.iter().any(too_many) { Err(Error::TooManyBars(name())) } else { Ok(()) }
        }
        NodeKind::Switch(_) => Ok(()),
    }
}

/// Follows the links up: they end at a root port, or nowhere, or never.
fn check_above(tree: &TreeBuilder, node: &Node) -> Result<(), Error> {
    let mut at = node;
    for _ in 0..=tree.nodes.len() {
        let Some(port) = at.above else { return Err(Error::NotConnected(at.name.clone())) };
        let Some(owner) = tree.ports[port.index()].owner else { return Ok(()) };
        at = &tree.nodes[owner.index()];
    }
    Err(Error::Loop(at.name.clone()))
}
