//! Do routing by address and by ID, and the links, which route by destination, lead over the same links?

use super::*;
use lanetwin_pcie::link::{EgressId, EndpointId};
use lanetwin_pcie::logic::routing::{
    Crossing as Passed, Direction as Facing, NodeId, Path as Route, RouteKey, Source,
};
use lanetwin_pcie::spec::Bdf;
use lanetwin_plan::hierarchy::Hierarchy;
use lanetwin_plan::{Plan, Variant};
use lanetwin_ports::{Links, way};
use std::path::Path;

/// An address in the memory of every host: in none of the apertures of devices.
const IN_HOST_MEMORY: u64 = 0x1000;

/// A variant as its links and its bus numbers have it.
struct Both<'a> {
    variant: &'a Variant,
    links: Links,
    endpoints: Endpoints,
    hierarchy: &'a Hierarchy,
}

/// A device, or the host.
#[derive(Clone, Copy)]
enum Peer {
    Host,
    Device(NodeId),
}

impl Both<'_> {
    /// The links that a TLP passes, each with the end that it leaves from: is it that of the link's root?
    fn by_links(&self, from: EndpointId, to: EndpointId) -> Vec<(usize, bool)> {
        let way = way(self.links.wiring(), from, to);
        let passed = |egress: EgressId| {
            let link = &self.variant.links[egress.index() / 2];
            let start = if egress.index().is_multiple_of(2) { link.from } else { link.to };
            (egress.index() / 2, start == link.root)
        };
        way.into_iter().map(passed).collect()
    }
    fn by_numbers(&self, from: Peer, aim: RouteKey) -> Vec<(usize, bool)> {
        let source = match from {
            Peer::Host => Source::Host,
            Peer::Device(node) => Source::Endpoint(node),
        };
        let Route { crossings, .. } =
            self.hierarchy.tree.path(source, aim).expect("everybody can be reached");
        let passed = |Passed { port, direction }: Passed| {
            (self.hierarchy.links[port.index()], direction == Facing::Down)
        };
        crossings.into_iter().map(passed).collect()
    }
    /// An address of it, and its ID.
    fn numbers(&self, peer: Peer) -> (u64, Bdf) {
        match peer {
            Peer::Host => (IN_HOST_MEMORY, Bdf::ZERO),
            Peer::Device(node) => {
                let function = &self.hierarchy.tree.functions(node)[0];
                (function.bars[0].1, function.bdf)
            }
        }
    }
    /// Every peer below a root port, and what it is on the links.
    fn peers(&self, root: EndpointId) -> Vec<(Peer, EndpointId)> {
        let device = |&(end, node)| {
            let (endpoint, above) = self.endpoints[&end];
            (above == root).then_some((Peer::Device(node), endpoint))
        };
        let devices = self.hierarchy.devices.iter().filter_map(device);
        std::iter::once((Peer::Host, root)).chain(devices).collect()
    }
    /// Compares the ways between all peers of a root port, there by address and by ID: how many.
    fn compare(&self, root: EndpointId, what: &str) -> usize {
        let peers = self.peers(root);
        let mut compared = 0;
        for (from, start) in &peers {
            for (to, goal) in peers.iter().filter(|(_, goal)| goal != start) {
                let (address, id) = self.numbers(*to);
                let expected = self.by_links(*start, *goal);
                assert!(!expected.is_empty());
                assert_eq!(self.by_numbers(*from, RouteKey::Memory(address)), expected, "{what}: a request");
                assert_eq!(
                    self.by_numbers(*from, RouteKey::Completion(id)),
                    expected,
                    "{what}: a completion"
                );
                compared += 1;
            }
        }
        compared
    }
}

/// Compares the ways of every variant of a plan: how many pairs, and of how many links the longest.
fn compare(plan: &Plan) -> usize {
    let mut compared = 0;
    for variant in &plan.variants {
        for hierarchy in &Hierarchy::all(variant).expect("a checked plan has numbers") {
            let (builder, endpoints) = links(variant);
            let links = builder.build(1).expect("the links of a checked plan");
            let both = Both { variant, links, endpoints, hierarchy };
            let host = |(end, _): &(&End, &(EndpointId, EndpointId))| end.component == hierarchy.host;
            let roots: Vec<EndpointId> = both.endpoints.iter().filter(host).map(|(_, at)| at.0).collect();
            let what = format!("{} {}", plan.name, variant.name);
            compared += roots.into_iter().map(|root| both.compare(root, &what)).sum::<usize>();
        }
    }
    compared
}

fn plan(path: &Path) -> Plan {
    lanetwin_plan::check_path(path, &[]).unwrap_or_else(|found| panic!("{}: {found:#?}", path.display()))
}

#[test]
fn addresses_and_ids_lead_over_the_same_links_as_destinations_in_every_scenario() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = std::fs::read_dir(folder)
        .expect("the tree has scenarios")
        .map(|entry| entry.expect("an entry").path());
    let plans =
        files.filter(|path| path.extension().is_some_and(|ext| ext == "yaml")).map(|path| plan(&path));
    for plan in plans {
        let linked = plan.variants.iter().any(|variant| !variant.links.is_empty());
        assert_eq!(compare(&plan) > 0, linked, "{}", plan.name);
    }
}

#[test]
fn peers_far_apart_in_a_tree_of_switches_are_reached_by_the_same_links() {
    let text = "
about: Which way?
machine:
  host: {part: generic-host-gen4}
  top: {model: switch}
  left: {model: switch}
  right: {model: switch}
  card: {part: generic-dma-gen5}
  memory: {part: generic-memory-endpoint-gen5}
  ssd: {part: generic-nvme-gen4}
links:
  up: {from: top, to: host}
  l: {from: top.port3, to: left}
  r: {from: right, to: top.port1}
  a: {from: card, to: left}
  b: {from: right, to: memory}
  c: {from: ssd, to: left}
workloads:
  far: {dma: {size: 4KiB, window: 8MiB}, on: card, target: memory}
  near: {block: {size: 4KiB}, on: host, target: ssd}
";
    let checked =
        lanetwin_plan::check(Path::new("far.yaml"), text, &[], &lanetwin_plan::Catalogue::built_in());
    let plan = checked.plan.unwrap_or_else(|| panic!("{:#?}", checked.diagnostics));
    assert_eq!(compare(&plan), 4 * 3, "four peers");
    let hierarchy = &Hierarchy::all(&plan.variants[0]).expect("numbers")[0];
    assert_eq!(
        hierarchy.tree.to_string(),
        "\
-[0000:00]-+-00.0  host
           \\-01.0-[01-09]----00.0-[02-09]--+-00.0-[03-05]----00.0-[04-05]----00.0-[05]----00.0  memory
                                           \\-01.0-[06-09]----00.0-[07-09]--+-00.0-[08]----00.0  card
                                                                           \\-01.0-[09]----00.0  ssd
"
    );
}
