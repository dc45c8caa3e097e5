//! What holds in any tree. The expected way of a TLP comes from the links as they were declared, not from any number.

use super::super::*;
use crate::spec::Bdf;
use crate::spec::config_words::{AcsControl, WINDOW_GRANULE};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use std::collections::BTreeSet;

/// What is below a port.
#[derive(Clone, Debug)]
enum Shape {
    Empty,
    Endpoint(Vec<Vec<Bar>>),
    Switch(Vec<Shape>),
}

fn bar() -> impl Strategy<Value = Bar> {
    (4_u32..28, prop::sample::select(BarKind::ALL.to_vec()))
        .prop_map(|(log, kind)| Bar::new(1 << log, kind).unwrap())
}

fn shape() -> impl Strategy<Value = Shape> {
    let endpoint = prop::collection::vec(prop::collection::vec(bar(), 0..=3), 1..4).prop_map(Shape::Endpoint);
    let leaf = prop_oneof![1 => Just(Shape::Empty), 5 => endpoint];
    leaf.prop_recursive(4, 24, 5, |inner| prop::collection::vec(inner, 0..5).prop_map(Shape::Switch))
}

fn shapes() -> impl Strategy<Value = Vec<Shape>> {
    prop::collection::vec(shape(), 1..4)
}

/// Declares a tree, with `acs` on all its ports.
fn declare(shapes: &[Shape], acs: AcsControl) -> TreeBuilder {
    fn below(builder: &mut TreeBuilder, port: PortId, shape: &Shape, acs: AcsControl) {
        builder.acs(port, acs);
        match shape {
            Shape::Empty => (),
            Shape::Endpoint(functions) => {
                let endpoint =
                    builder.endpoint("endpoint", functions.iter().map(|bars| bars.iter().copied()));
                builder.link(port, endpoint);
            }
            Shape::Switch(shapes) => {
                let switch = builder.switch("switch");
                builder.link(port, switch);
                for shape in shapes {
                    let port = builder.downstream_port(switch, "port");
                    below(builder, port, shape, acs);
                }
            }
        }
    }
    let mut builder = TreeBuilder::new();
    for shape in shapes {
        let port = builder.root_port("root port");
        below(&mut builder, port, shape, acs);
    }
    builder
}

fn tree(shapes: &[Shape], acs: AcsControl) -> Tree {
    declare(shapes, acs).enumerate(Host { peer_to_peer: true, ..Host::default() }).unwrap()
}

fn redirecting() -> AcsControl {
    let acs = AcsControl::ZERO.with_request_redirect(true).and_then(|acs| acs.with_completion_redirect(true));
    acs.and_then(|acs| acs.with_upstream_forwarding(true)).unwrap()
}

fn endpoints(tree: &Tree) -> Vec<NodeId> {
    tree.nodes().filter(|&node| tree.upstream(node).is_none()).collect()
}

fn sources(tree: &Tree) -> Vec<Source> {
    core::iter::once(Source::Host).chain(endpoints(tree).into_iter().map(Source::Endpoint)).collect()
}

/// The links from a device up to the root complex, from the declaration.
fn upward(tree: &Tree, node: NodeId) -> Vec<PortId> {
    let above = |node: &NodeId| Some(tree.above(*node));
    core::iter::successors(above(&node), |port| tree.owner(*port).map(|switch| tree.above(switch))).collect()
}

fn crossings(up: &[PortId], down: &[PortId]) -> Vec<Crossing> {
    let up = up.iter().map(|&port| Crossing { port, direction: Direction::Up });
    let down = down.iter().rev().map(|&port| Crossing { port, direction: Direction::Down });
    up.chain(down).collect()
}

/// The way in the tree: up to the first common port, and down.
fn shortest(tree: &Tree, from: Source, to: NodeId) -> Vec<Crossing> {
    let down = upward(tree, to);
    let Source::Endpoint(node) = from else { return crossings(&[], &down) };
    let up = upward(tree, node);
    let shared = up.iter().rev().zip(down.iter().rev()).take_while(|(a, b)| a == b).count();
    crossings(&up[..up.len() - shared], &down[..down.len() - shared])
}

/// First, middle and last address of every BAR, and whose it is.
fn addresses(tree: &Tree, endpoint: NodeId) -> Vec<(u64, Bdf)> {
    let functions = tree.functions(endpoint).iter();
    let bars = functions.flat_map(|of| of.bars.iter().map(move |(bar, first)| (of.bdf, bar.size(), *first)));
    bars.flat_map(|(bdf, size, first)| [0, size / 2, size - 1].map(|off| (first + off, bdf))).collect()
}

fn overlap(a: &core::ops::RangeInclusive<u64>, b: &core::ops::RangeInclusive<u64>) -> bool {
    a.start() <= b.end() && b.start() <= a.end()
}

/// Checks the path to every address and every ID of every endpoint from everywhere else.
fn every_way(tree: &Tree, expected: impl Fn(Source, NodeId) -> Vec<Crossing>) -> TestCaseResult {
    for from in sources(tree) {
        for to in endpoints(tree).into_iter().filter(|&to| from != Source::Endpoint(to)) {
            let way = |bdf| Ok(Path { crossings: expected(from, to), end: End::Function(bdf) });
            for (address, bdf) in addresses(tree, to) {
                prop_assert_eq!(
                    tree.path(from, RouteKey::Memory(address)),
                    way(bdf),
                    "{:#x}\n{}",
                    address,
                    tree
                );
            }
            for function in tree.functions(to) {
                let bdf = function.bdf;
                for route_key in [RouteKey::Completion(bdf), RouteKey::Id(bdf)] {
                    prop_assert_eq!(tree.path(from, route_key), way(bdf), "{:?}\n{}", route_key, tree);
                }
                if from == Source::Host {
                    prop_assert_eq!(tree.path(from, RouteKey::Configuration(bdf)), way(bdf));
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_address_and_every_id_is_reached_by_the_way_in_the_tree(shapes in shapes()) {
        let tree = tree(&shapes, AcsControl::ZERO);
        every_way(&tree, |from, to| shortest(&tree, from, to))?;
    }

    #[test]
    fn with_redirection_everything_between_peers_passes_the_root_complex(shapes in shapes()) {
        let tree = tree(&shapes, redirecting());
        every_way(&tree, |from, to| match from {
            Source::Host => crossings(&[], &upward(&tree, to)),
            Source::Endpoint(node) => crossings(&upward(&tree, node), &upward(&tree, to)),
        })?;
    }

    #[test]
    fn the_host_is_reached_from_everywhere_and_reaches_every_bridge(shapes in shapes()) {
        let tree = tree(&shapes, AcsControl::ZERO);
        for endpoint in endpoints(&tree) {
            let way = Path { crossings: crossings(&upward(&tree, endpoint), &[]), end: End::Host };
            for route_key in [RouteKey::Memory(0x1000), RouteKey::Memory(0x1_0000_0000), RouteKey::Completion(Bdf::ZERO), RouteKey::ToRootComplex] {
                prop_assert_eq!(tree.path(Source::Endpoint(endpoint), route_key), Ok(way.clone()));
            }
        }
        for port in tree.ports() {
            let way = tree.owner(port).map_or_else(Vec::new, |switch| upward(&tree, switch));
            let bdf = tree.bridge(port).bdf;
            let path = Path { crossings: crossings(&[], &way), end: End::Function(bdf) };
            prop_assert_eq!(tree.path(Source::Host, RouteKey::Configuration(bdf)), Ok(path));
        }
        for (node, bridge) in tree.nodes().filter_map(|node| Some((node, tree.upstream(node)?))) {
            let path = Path { crossings: crossings(&[], &upward(&tree, node)), end: End::Function(bridge.bdf) };
            prop_assert_eq!(tree.path(Source::Host, RouteKey::Configuration(bridge.bdf)), Ok(path));
        }
    }

    #[test]
    fn windows_are_whole_mib_disjoint_among_siblings_and_inside_their_parents(shapes in shapes()) {
        let tree = tree(&shapes, AcsControl::ZERO);
        for (router, space) in tree.routers().flat_map(|router| Space::ALL.map(|space| (router, space))) {
            let parent = match router {
                Router::RootComplex if space == Space::Low => Some(tree.host().low.clone()),
                Router::RootComplex => Some(tree.host().high.clone()),
                Router::Switch(switch) => {
                    let window = tree.upstream(switch).unwrap().window(space);
                    prop_assert_eq!(&window, &tree.bridge(tree.above(switch)).window(space), "both ends of a link");
                    window
                }
            };
            let windows: Vec<_> =
                tree.ports_of(router).iter().filter_map(|&port| tree.bridge(port).window(space)).collect();
            for (index, window) in windows.iter().enumerate() {
                prop_assert_eq!((window.start() % WINDOW_GRANULE, (window.end() + 1) % WINDOW_GRANULE), (0, 0));
                let parent = parent.as_ref().expect("what encloses a window is open");
                prop_assert!(parent.contains(window.start()) && parent.contains(window.end()));
                prop_assert!(windows[..index].iter().all(|other| !overlap(other, window)));
            }
        }
    }

    #[test]
    fn bars_are_aligned_disjoint_and_in_the_window_for_their_kind(shapes in shapes()) {
        let tree = tree(&shapes, AcsControl::ZERO);
        let mut taken: Vec<core::ops::RangeInclusive<u64>> = Vec::new();
        for endpoint in endpoints(&tree) {
            for (bar, first) in tree.functions(endpoint).iter().flat_map(|of| &of.bars) {
                let range = *first..=first + (bar.size() - 1);
                prop_assert_eq!(first % bar.size(), 0);
                prop_assert!(taken.iter().all(|other| !overlap(other, &range)));
                let window = tree.bridge(tree.above(endpoint)).window(bar.kind().space()).unwrap();
                prop_assert!(window.contains(range.start()) && window.contains(range.end()));
                taken.push(range);
            }
        }
    }

    /// A window holds its BARs and what rounding to whole MiB, or the alignment of a sibling, costs, and no more.
    #[test]
    fn a_window_of_an_endpoint_wastes_less_than_a_mib(shapes in shapes()) {
        let tree = tree(&shapes, AcsControl::ZERO);
        for (endpoint, space) in endpoints(&tree).into_iter().flat_map(|it| Space::ALL.map(|space| (it, space))) {
            let bars = tree.functions(endpoint).iter().flat_map(|of| &of.bars);
            let needed: u64 = bars.filter(|(bar, _)| bar.kind().space() == space).map(|(bar, _)| bar.size()).sum();
            let window = tree.bridge(tree.above(endpoint)).window(space);
            let size = window.map_or(0, |window| window.end() - window.start() + 1);
            prop_assert_eq!(size, needed.next_multiple_of(WINDOW_GRANULE));
        }
    }

    #[test]
    fn ids_are_unique_and_buses_nest(shapes in shapes()) {
        let tree = tree(&shapes, AcsControl::ZERO);
        let mut ids = BTreeSet::from([Bdf::ZERO.raw()]);
        let bridges = tree.ports().map(|port| tree.bridge(port).bdf).chain(tree.nodes().filter_map(|it| Some(tree.upstream(it)?.bdf)));
        for bdf in bridges.chain(tree.nodes().flat_map(|node| tree.functions(node)).map(|of| of.bdf)) {
            prop_assert!(ids.insert(bdf.raw()), "{} twice\n{}", bdf, tree);
        }
        for router in tree.routers() {
            let (mut next, last) = match router {
                Router::RootComplex => (1, None),
                Router::Switch(switch) => {
                    let buses = tree.upstream(switch).unwrap().buses;
                    prop_assert_eq!(buses.primary(), tree.bridge(tree.above(switch)).buses.secondary());
                    (buses.secondary() + 1, Some(buses.subordinate()))
                }
            };
            for &port in tree.ports_of(router) {
                let buses = tree.bridge(port).buses;
                prop_assert_eq!(buses.secondary(), next, "depth first");
                prop_assert!(buses.secondary() <= buses.subordinate());
                next = buses.subordinate() + 1;
            }
            prop_assert!(last.is_none_or(|last| last + 1 == next), "a parent ends where its last child does");
        }
    }

    /// At any router, from any side, with any aim: nothing leaves where it came in, but for what the root complex
    /// returns.
    #[test]
    fn nothing_bounces(shapes in shapes(), acs in any::<bool>(), any in any::<u64>()) {
        let tree = tree(&shapes, if acs { redirecting() } else { AcsControl::ZERO });
        let windows = tree.ports().flat_map(|port| Space::ALL.map(|space| tree.bridge(port).window(space))).flatten();
        let mut aims: Vec<RouteKey> = windows.flat_map(|window| [*window.start(), *window.end()]).map(RouteKey::Memory).collect();
        let ids = tree.ports().map(|port| tree.bridge(port)).flat_map(|it| [it.bdf, Bdf::from_raw(u16::from(it.buses.secondary()) << 8)]);
        aims.extend(ids.flat_map(|id| [RouteKey::Completion(id), RouteKey::Configuration(id), RouteKey::Id(id)]));
        aims.extend([RouteKey::Memory(any), RouteKey::Memory(any >> 32), RouteKey::Id(Bdf::from_raw(any as u16))]);
        aims.extend([RouteKey::ToRootComplex, RouteKey::Broadcast, RouteKey::Local, RouteKey::Gathered]);
        for at in tree.routers() {
            let below = tree.ports_of(at).iter().map(|&port| Side::Down(port));
            for (from, &route_key) in below.chain([Side::Up]).flat_map(|from| aims.iter().map(move |route_key| (from, route_key))) {
                let step = tree.route(at, from, route_key);
                let returned = at == Router::RootComplex && acs;
                prop_assert!(returned || step != Ok(Step::Leave(from)), "{:?} {:?} {:?}\n{}", at, from, route_key, tree);
                prop_assert!(at != Router::RootComplex || step != Ok(Step::Leave(Side::Up)));
            }
        }
    }

    /// What is in an aperture and in no BAR never ends at a function, or at the host.
    #[test]
    fn holes_are_refused(shapes in shapes(), offsets in prop::collection::vec(0_u64..1 << 30, 16)) {
        let tree = tree(&shapes, AcsControl::ZERO);
        let bars: Vec<_> = endpoints(&tree).into_iter().flat_map(|it| tree.functions(it)).collect();
        let starts = [*tree.host().low.start(), *tree.host().high.start()];
        for address in starts.into_iter().flat_map(|start| offsets.iter().map(move |offset| start + offset)) {
            let in_a_bar = bars.iter().any(|function| function.has(address));
            for from in sources(&tree) {
                let path = tree.path(from, RouteKey::Memory(address));
                prop_assert!(in_a_bar || path.is_err(), "{:#x} {:?}\n{}", address, path, tree);
            }
        }
    }

    #[test]
    fn a_drawing_has_a_line_for_each_function_that_ends_one(shapes in shapes()) {
        let tree = tree(&shapes, AcsControl::ZERO);
        let functions: usize = tree.nodes().map(|node| tree.functions(node).len()).sum();
        let bare = tree.ports().filter(|&port| tree.below(port).is_none()).count();
        let switches = tree.nodes().filter(|&node| tree.upstream(node).is_some() && tree.ports_of(Router::Switch(node)).is_empty()).count();
        prop_assert_eq!(tree.to_string().lines().count(), 1 + functions + bare + switches);
        prop_assert_eq!(tree.listing().lines().filter(|line| !line.starts_with('\t')).count(),
            functions + tree.ports().count() + tree.routers().count() - 1);
    }
}
