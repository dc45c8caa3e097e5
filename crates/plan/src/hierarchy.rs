//! The PCIe hierarchies of a variant as firmware sees them: bus numbers, windows, addresses.
//!
//! ```text
//!  Variant: hosts, links, switches, devices ─► Hierarchy, one for each host ─► text as `lspci` shows it, or JSON
//! ```
//!
//! Only ports with a link are enumerated. An empty slot would take a bus number, too, but no source says which ports of
//! a part a board leaves out. The ports of a host, and the downstream ports of a switch, are numbered in their order.
//!
//! `assumed`: a device has one function, with a 64-bit BAR of 16 KiB (the registers and doorbells of an NVMe controller
//! take two pages of it). A device with memory also has a prefetchable BAR of 1 MiB, or of the size that the workloads
//! use, rounded up to a power of two.
//!
//! Not here: routing of TLPs (`lanetwin_pcie::logic::routing`) and their timing (the links, which route by destination;
//! `world/route` tests that both take the same links).

use crate::plan::{DmaCase, End, Load, Variant};
use lanetwin_pcie::logic::routing::{
    Bar, BarKind, Bridge, Error, Host, NodeId, PortId, Space, Tree, TreeBuilder,
};
use lanetwin_ports::Protocol;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// The registers of a device \[B\]: `assumed`.
const REGISTERS_BYTES: u64 = 16 << 10;
/// Least size of the memory BAR \[B\]: `assumed`.
const MEMORY_BYTES: u64 = 1 << 20;
/// The largest BAR \[B\].
const BAR_MAX_BYTES: u64 = 1 << 62;

/// The PCIe hierarchy below one host, with bus numbers and addresses.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    /// Index of the host in [`Variant::machine`].
    pub host: usize,
    /// Name of the host.
    pub name: String,
    /// The enumerated tree.
    pub tree: Tree,
    /// The link below each downstream port, by [`PortId::index`], as index in [`Variant::links`].
    pub links: Vec<usize>,
    /// The devices: their ports in the machine, and their nodes in the tree.
    pub devices: Vec<(End, NodeId)>,
    /// The name of each downstream port, by [`PortId::index`].
    ports: Vec<String>,
    /// The name of each switch and device, by [`NodeId::index`].
    nodes: Vec<String>,
}

/// A host whose hierarchy cannot be enumerated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotEnumerated {
    /// Index of the host in [`Variant::machine`].
    pub host: usize,
    /// The reason.
    pub why: Error,
}

impl Hierarchy {
    /// The hierarchies of a variant, one for each host with a link.
    ///
    /// # Errors
    /// The hosts whose hierarchies cannot be enumerated.
    pub fn all(variant: &Variant) -> Result<Vec<Self>, Vec<NotEnumerated>> {
        let hosts = (0..variant.machine.len()).filter(|&component| {
            variant.machine[component].is_host() && !links_below(variant, component, component).is_empty()
        });
        let (mut found, mut wrong) = (Vec::new(), Vec::new());
        for host in hosts {
            match Planting::new(variant, host).finish() {
                Ok(hierarchy) => found.push(hierarchy),
                Err(why) => wrong.push(NotEnumerated { host, why }),
            }
        }
        if wrong.is_empty() { Ok(found) } else { Err(wrong) }
    }

    fn bridges(&self) -> Vec<Value> {
        let down = self.tree.ports().map(|port| (&self.ports[port.index()], self.tree.bridge(port)));
        let up = self
            .tree
            .nodes()
            .filter_map(|node| self.tree.upstream(node).map(|bridge| (&self.nodes[node.index()], bridge)));
        let mut all: Vec<(&String, &Bridge)> = down.chain(up).collect();
        all.sort_by_key(|(_, bridge)| bridge.bdf.raw());
        all.into_iter().map(|(name, bridge)| bridge_json(name, bridge)).collect()
    }

    fn functions(&self) -> Vec<Value> {
        let functions = self.tree.nodes().flat_map(|node| {
            let name = &self.nodes[node.index()];
            self.tree.functions(node).iter().map(move |function| (name, function))
        });
        let mut all: Vec<_> = functions.collect();
        all.sort_by_key(|(_, function)| function.bdf.raw());
        let bar = |(bar, address): &(Bar, u64)| {
            json!({
                "address": hex(*address), "bytes": bar.size(),
                "prefetchable": bar.kind().is_prefetchable(), "bits": if bar.kind().is_64_bit() { 64 } else { 32 },
            })
        };
        all.into_iter()
            .map(|(name, function)| {
                let bars: Vec<Value> = function.bars.iter().map(bar).collect();
                json!({ "name": name, "id": function.bdf.to_string(), "bars": bars })
            })
            .collect()
    }
}

/// With the drawing and the listing as text, and the contents by name.
impl Serialize for Hierarchy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Hierarchy", 5)?;
        fields.serialize_field("host", &self.name)?;
        fields.serialize_field("drawing", &self.tree.to_string())?;
        fields.serialize_field("listing", &self.tree.listing())?;
        fields.serialize_field("bridges", &self.bridges())?;
        fields.serialize_field("functions", &self.functions())?;
        fields.end()
    }
}

fn bridge_json(name: &str, bridge: &Bridge) -> Value {
    let window = |space| {
        bridge
            .window(space)
            .map(|window| json!({ "first": hex(*window.start()), "last": hex(*window.end()) }))
    };
    let buses = bridge.buses;
    json!({
        "name": name, "id": bridge.bdf.to_string(),
        "primary": buses.primary(), "secondary": buses.secondary(), "subordinate": buses.subordinate(),
        "memory": window(Space::Low), "prefetchable": window(Space::High),
    })
}

fn hex(address: u64) -> String {
    format!("{address:#x}")
}

/// The links below a host, or below a switch in the host's view, in the order of its ports.
fn links_below(variant: &Variant, host: usize, component: usize) -> Vec<usize> {
    let is_below = |link: &usize| {
        let link = &variant.links[*link];
        link.root.component == component && link.root_port.component == host
    };
    let mut links: Vec<usize> = (0..variant.links.len()).filter(is_below).collect();
    links.sort_by_key(|&link| variant.links[link].root.port);
    links
}

/// A tree under construction.
struct Planting<'a> {
    variant: &'a Variant,
    host: usize,
    builder: TreeBuilder,
    links: Vec<usize>,
    devices: Vec<(End, NodeId)>,
    ports: Vec<String>,
    nodes: Vec<String>,
}

impl<'a> Planting<'a> {
    fn new(variant: &'a Variant, host: usize) -> Self {
        let mut planting = Self {
            variant,
            host,
            builder: TreeBuilder::new(),
            links: Vec::new(),
            devices: Vec::new(),
            ports: Vec::new(),
            nodes: Vec::new(),
        };
        planting.grow();
        planting
    }

    /// Adds everything from the root ports down, switch by switch.
    fn grow(&mut self) {
        let mut above: Vec<(usize, Option<NodeId>)> = vec![(self.host, None)];
        while let Some((component, switch)) = above.pop() {
            for link in links_below(self.variant, self.host, component) {
                let name = self.variant.port_name(self.variant.links[link].root);
                let port = match switch {
                    None => self.builder.root_port(&name),
                    Some(switch) => self.builder.downstream_port(switch, &name),
                };
                self.ports.push(name);
                self.links.push(link);
                above.extend(self.plant(port, self.variant.links[link].far()));
            }
        }
    }

    /// Adds the component at the far end of a link. Returns it if it is a switch.
    fn plant(&mut self, above: PortId, end: End) -> Option<(usize, Option<NodeId>)> {
        let component = &self.variant.machine[end.component];
        let pcie = component.ports.iter().filter(|port| port.speaks == Protocol::Pcie).count();
        let is_one_of_several = !component.is_switch() && pcie > 1;
        let name = if is_one_of_several { self.variant.port_name(end) } else { component.name.clone() };
        let node = if component.is_switch() {
            self.builder.switch(&name)
        } else {
            self.builder.endpoint(&name, [[self.bar(end.component)]])
        };
        self.builder.link(above, node);
        self.nodes.push(name);
        if component.is_switch() {
            return Some((end.component, Some(node)));
        }
        self.devices.push((end, node));
        None
    }

    fn bar(&self, component: usize) -> Bar {
        let bar = if self.variant.machine[component].model.has_memory {
            let bytes = self.used(component).clamp(MEMORY_BYTES, BAR_MAX_BYTES).next_power_of_two();
            Bar::new(bytes, BarKind::Bits64Prefetchable)
        } else {
            Bar::new(REGISTERS_BYTES, BarKind::Bits64)
        };
        bar.expect("a power of two in its range")
    }

    /// Size of a device's memory that workloads use \[B\].
    fn used(&self, component: usize) -> u64 {
        let on_it = self
            .variant
            .workloads
            .iter()
            .filter(|workload| workload.pairs.iter().any(|pair| pair.target == component));
        let windows = on_it.flat_map(|workload| &workload.cases).map(|case| match case.load {
            Load::Dma(DmaCase { window, .. }) => window.0,
            Load::Blocks(_) | Load::Memory(_) => 0,
        });
        windows.max().unwrap_or(0)
    }

    fn finish(self) -> Result<Hierarchy, Error> {
        let Self { variant, host, builder, links, devices, ports, nodes } = self;
        let name = variant.machine[host].name.clone();
        let tree = builder.enumerate(Host::default())?;
        Ok(Hierarchy { host, name, tree, links, devices, ports, nodes })
    }
}

/// Variants with equal hierarchies, and those hierarchies.
#[derive(Clone, Debug, Serialize)]
pub struct Shared {
    /// The names of the variants.
    pub variants: Vec<String>,
    /// A hierarchy for each host.
    pub hosts: Vec<Hierarchy>,
}

/// The hierarchies of all variants, each with the variants that share it.
///
/// # Panics
/// If a variant does not come from [`crate::check`], which rejects hierarchies that cannot be enumerated.
#[must_use]
pub fn hierarchies(variants: &[Variant]) -> Vec<Shared> {
    let text = |hosts: &[Hierarchy]| -> Vec<String> {
        hosts.iter().flat_map(|of| [of.name.clone(), of.tree.to_string(), of.tree.listing()]).collect()
    };
    let mut found: Vec<Shared> = Vec::new();
    for variant in variants {
        let hosts = Hierarchy::all(variant).expect("a checked plan has numbers for everything");
        match found.iter_mut().find(|shared| text(&shared.hosts) == text(&hosts)) {
            Some(shared) => shared.variants.push(variant.name.clone()),
            None => found.push(Shared { variants: vec![variant.name.clone()], hosts }),
        }
    }
    found
}
