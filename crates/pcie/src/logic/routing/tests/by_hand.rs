//! A machine whose every number was worked out by hand: a host, a switch with three ports, two devices and a card.

use super::super::*;
use crate::spec::Bdf;
use crate::spec::config_words::AcsControl;
use crate::spec::header::CompletionStatus;
use crate::spec::header::{
    Completion, Content, Message, MessageCode, MessageRouting, Part, Request, Tag, TlpHeader,
};
use crate::spec::{ByteRange, Dwords, Traffic};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn bar(size: u64, kind: BarKind) -> Bar {
    Bar::new(size, kind).unwrap()
}

fn id(bus: u16, device: u16, function: u16) -> Bdf {
    Bdf::from_raw(bus << 8 | device << 3 | function)
}

struct Machine {
    builder: TreeBuilder,
    ports: [PortId; 3],
    ssd: NodeId,
    gpu: NodeId,
    nic: NodeId,
}

/// ```text
/// 00:00.0 host
/// 00:01.0 rp ─ 01:00.0 switch ┬ 02:00.0 p0 ─ 03:00.0 ssd   16 KiB, 64-bit
///                             ├ 02:01.0 p1 ─ 04:00.0 gpu   256 MiB + 32 MiB, 64-bit prefetchable; 16 MiB
///                             └ 02:02.0 p2 ─ 05            empty
/// 00:02.0 rp2 ─ 06:00.0, .1 nic   4 KiB and 2 MiB each; 8 MiB, 64-bit prefetchable, each
/// ```
fn machine() -> Machine {
    let mut builder = TreeBuilder::new();
    let (rp, rp2) = (builder.root_port("rp"), builder.root_port("rp2"));
    let switch = builder.switch("switch");
    builder.link(rp, switch);
    let ports = ["p0", "p1", "p2"].map(|name| builder.downstream_port(switch, name));
    let ssd = builder.endpoint("ssd", [[bar(16 * KIB, BarKind::Bits64)]]);
    let high = BarKind::Bits64Prefetchable;
    let gpu = builder
        .endpoint("gpu", [[bar(16 * MIB, BarKind::Bits32), bar(256 * MIB, high), bar(32 * MIB, high)]]);
    let function =
        [bar(4 * KIB, BarKind::Bits32), bar(2 * MIB, BarKind::Bits32Prefetchable), bar(8 * MIB, high)];
    let nic = builder.endpoint("nic", [function, function]);
    builder.link(ports[0], ssd);
    builder.link(ports[1], gpu);
    builder.link(rp2, nic);
    Machine { builder, ports, ssd, gpu, nic }
}

fn tree() -> Tree {
    machine().builder.enumerate(Host::default()).unwrap()
}

#[test]
fn the_drawing_is_that_of_lspci() {
    assert_eq!(
        tree().to_string(),
        "\
-[0000:00]-+-00.0  host
           +-01.0-[01-05]----00.0-[02-05]--+-00.0-[03]----00.0  ssd
           |                               +-01.0-[04]----00.0  gpu
           |                               \\-02.0-[05]--
           \\-02.0-[06]--+-00.0  nic
                        \\-00.1  nic
"
    );
}

/// Below 4 GiB, from 0x8000_0000: the windows of rp (17 MiB at a multiple of 16 MiB: 16 MiB of gpu, then 1 MiB of ssd)
/// and of rp2 (5 MiB at a multiple of 2 MiB). Above, from 256 GiB: 288 MiB of gpu, then 16 MiB of nic.
#[test]
fn the_listing_has_every_number() {
    assert_eq!(
        tree().listing(),
        "\
00:01.0 PCI bridge: rp
\tBus: primary=00, secondary=01, subordinate=05, sec-latency=0
\tMemory behind bridge: 80000000-810fffff [size=17M] [32-bit]
\tPrefetchable memory behind bridge: 0000004000000000-0000004011ffffff [size=288M] [64-bit]
00:02.0 PCI bridge: rp2
\tBus: primary=00, secondary=06, subordinate=06, sec-latency=0
\tMemory behind bridge: 81200000-816fffff [size=5M] [32-bit]
\tPrefetchable memory behind bridge: 0000004012000000-0000004012ffffff [size=16M] [64-bit]
01:00.0 PCI bridge: switch
\tBus: primary=01, secondary=02, subordinate=05, sec-latency=0
\tMemory behind bridge: 80000000-810fffff [size=17M] [32-bit]
\tPrefetchable memory behind bridge: 0000004000000000-0000004011ffffff [size=288M] [64-bit]
02:00.0 PCI bridge: p0
\tBus: primary=02, secondary=03, subordinate=03, sec-latency=0
\tMemory behind bridge: 81000000-810fffff [size=1M] [32-bit]
\tPrefetchable memory behind bridge: [disabled] [64-bit]
02:01.0 PCI bridge: p1
\tBus: primary=02, secondary=04, subordinate=04, sec-latency=0
\tMemory behind bridge: 80000000-80ffffff [size=16M] [32-bit]
\tPrefetchable memory behind bridge: 0000004000000000-0000004011ffffff [size=288M] [64-bit]
02:02.0 PCI bridge: p2
\tBus: primary=02, secondary=05, subordinate=05, sec-latency=0
\tMemory behind bridge: [disabled] [32-bit]
\tPrefetchable memory behind bridge: [disabled] [64-bit]
03:00.0 Endpoint: ssd
\tRegion 0: Memory at 81000000 (64-bit, non-prefetchable) [size=16K]
04:00.0 Endpoint: gpu
\tRegion 0: Memory at 80000000 (32-bit, non-prefetchable) [size=16M]
\tRegion 1: Memory at 4000000000 (64-bit, prefetchable) [size=256M]
\tRegion 3: Memory at 4010000000 (64-bit, prefetchable) [size=32M]
06:00.0 Endpoint: nic
\tRegion 0: Memory at 81600000 (32-bit, non-prefetchable) [size=4K]
\tRegion 1: Memory at 81200000 (32-bit, prefetchable) [size=2M]
\tRegion 2: Memory at 4012000000 (64-bit, prefetchable) [size=8M]
06:00.1 Endpoint: nic
\tRegion 0: Memory at 81601000 (32-bit, non-prefetchable) [size=4K]
\tRegion 1: Memory at 81400000 (32-bit, prefetchable) [size=2M]
\tRegion 2: Memory at 4012800000 (64-bit, prefetchable) [size=8M]
"
    );
}

#[test]
fn a_write_from_drive_to_gpu_turns_round_in_the_switch_or_with_acs_at_the_root() {
    let Machine { mut builder, ports, ssd, gpu, .. } = machine();
    let (from, route_key) = (Source::Endpoint(ssd), RouteKey::Memory(0x40_0000_0000 + 100 * MIB));
    let up = |port| Crossing { port, direction: Direction::Up };
    let down = |port| Crossing { port, direction: Direction::Down };

    let tree = builder.clone().enumerate(Host::default()).unwrap();
    let rp = tree.ports_of(Router::RootComplex)[0];
    let end = End::Function(id(4, 0, 0));
    let direct = Path { crossings: vec![up(ports[0]), down(ports[1])], end };
    assert_eq!(tree.path(from, route_key), Ok(direct));

    builder.acs(ports[0], AcsControl::ZERO.with_request_redirect(true).unwrap());
    let tree = builder.clone().enumerate(Host::default()).unwrap();
    let refused = Refused { crossings: vec![up(ports[0]), up(rp)], why: Refusal::Returns(rp) };
    assert_eq!(tree.path(from, route_key), Err(refused), "the root port was not told to send it back");
    assert_eq!(
        tree.path(from, RouteKey::Completion(id(4, 0, 0))).map(|path| path.crossings.len()),
        Ok(2),
        "requests only"
    );
    assert_eq!(
        tree.path(Source::Endpoint(gpu), RouteKey::Memory(0x8100_0000)).map(|path| path.crossings.len()),
        Ok(2)
    );

    builder.acs(rp, AcsControl::ZERO.with_upstream_forwarding(true).unwrap());
    let tree = builder.enumerate(Host::default()).unwrap();
    let round = Path { crossings: vec![up(ports[0]), up(rp), down(rp), down(ports[1])], end };
    assert_eq!(tree.path(from, route_key), Ok(round));
}

#[test]
fn what_nobody_has_is_refused_where_it_is_noticed() {
    let Machine { builder, ports, ssd, nic, .. } = machine();
    let tree = builder.enumerate(Host::default()).unwrap();
    let switch = Router::Switch(tree.nodes().next().unwrap());
    let refused = |from, route_key| {
        tree.path(from, route_key).map_err(|refused| (refused.crossings.len(), refused.why))
    };
    use Refusal::{Returns, UnexpectedCompletion, UnsupportedRequest};

    // between the 16 KiB of the drive and the end of its window: its port takes it, the drive does not
    assert_eq!(refused(Source::Host, RouteKey::Memory(0x8100_4000)), Err((2, UnsupportedRequest)));
    // in the aperture, in no window
    assert_eq!(refused(Source::Host, RouteKey::Memory(0x9000_0000)), Err((0, UnsupportedRequest)));
    assert_eq!(refused(Source::Endpoint(ssd), RouteKey::Memory(0x9000_0000)), Err((2, UnsupportedRequest)));
    // a drive that writes to itself
    assert_eq!(refused(Source::Endpoint(ssd), RouteKey::Memory(0x8100_0000)), Err((1, Returns(ports[0]))));
    // the empty slot, a function that is not there, a bus that is not there
    assert_eq!(refused(Source::Host, RouteKey::Configuration(id(5, 0, 0))), Err((1, UnsupportedRequest)));
    assert_eq!(refused(Source::Host, RouteKey::Configuration(id(2, 3, 0))), Err((1, UnsupportedRequest)));
    assert_eq!(refused(Source::Host, RouteKey::Configuration(id(6, 0, 2))), Err((1, UnsupportedRequest)));
    assert_eq!(refused(Source::Host, RouteKey::Configuration(id(7, 0, 0))), Err((0, UnsupportedRequest)));
    assert_eq!(
        refused(Source::Endpoint(nic), RouteKey::Completion(id(7, 0, 0))),
        Err((1, UnexpectedCompletion))
    );
    // only the host configures
    assert_eq!(
        refused(Source::Endpoint(nic), RouteKey::Configuration(id(3, 0, 0))),
        Err((1, UnsupportedRequest))
    );
    // what went to another switch by mistake
    assert_eq!(tree.route(switch, Side::Up, RouteKey::Memory(0x8120_0000)), Err(UnsupportedRequest));
    assert_eq!(tree.route(switch, Side::Up, RouteKey::Completion(id(6, 0, 0))), Err(UnexpectedCompletion));
}

#[test]
fn root_ports_need_not_speak_to_each_other() {
    let Machine { builder, nic, .. } = machine();
    let host = Host { peer_to_peer: false, ..Host::default() };
    let tree = builder.enumerate(host).unwrap();
    let refused = tree.path(Source::Endpoint(nic), RouteKey::Memory(0x8100_0000)).unwrap_err();
    assert_eq!((refused.crossings.len(), refused.why), (1, Refusal::UnsupportedRequest));
    let memory = tree.path(Source::Endpoint(nic), RouteKey::Memory(GIB)).unwrap();
    assert_eq!((memory.crossings.len(), memory.end), (1, End::Host));
    let interrupt = tree.path(Source::Endpoint(nic), RouteKey::Memory(0xfee0_0000)).unwrap();
    assert_eq!(interrupt.end, End::Host);
}

#[test]
fn messages_go_by_their_routing() {
    let Machine { builder, ports, ssd, .. } = machine();
    let tree = builder.enumerate(Host::default()).unwrap();
    let switch = Router::Switch(tree.nodes().next().unwrap());
    let below = Side::Down(ports[0]);
    let error = tree.path(Source::Endpoint(ssd), RouteKey::ToRootComplex).unwrap();
    assert_eq!((error.crossings.len(), error.end), (2, End::Host));
    assert_eq!(tree.route(switch, below, RouteKey::Local), Ok(Step::Port(id(2, 0, 0))));
    assert_eq!(tree.route(switch, below, RouteKey::Gathered), Ok(Step::Port(id(2, 0, 0))));
    assert_eq!(tree.route(switch, Side::Up, RouteKey::Local), Ok(Step::Port(id(1, 0, 0))));
    assert_eq!(tree.route(switch, Side::Up, RouteKey::Broadcast), Ok(Step::Broadcast));
    assert_eq!(tree.route(switch, below, RouteKey::Broadcast), Err(Refusal::Malformed));
    assert_eq!(tree.route(switch, below, RouteKey::Id(id(4, 0, 0))), Ok(Step::Leave(Side::Down(ports[1]))));
    assert_eq!(tree.route(Router::RootComplex, Side::Up, RouteKey::Broadcast), Ok(Step::Broadcast));
    assert_eq!(tree.route(switch, Side::Up, RouteKey::ToRootComplex), Err(Refusal::UnsupportedRequest));
    assert_eq!(tree.accept(ssd, RouteKey::Broadcast), Ok(id(3, 0, 0)));
}

#[test]
fn a_header_says_what_it_is_routed_by() {
    let header = |content| TlpHeader { traffic: Traffic::default(), ecrc: false, poisoned: false, content };
    let message = |routing, words| {
        let (requester, code) = (id(3, 0, 0), MessageCode::VENDOR_DEFINED_1);
        let payload = Dwords::ZERO;
        RouteKey::from(&header(Content::Message(Message {
            requester,
            tag: 0,
            code,
            routing,
            words,
            payload,
        })))
    };
    let range = ByteRange::new(0x40_0000_1000, 64).unwrap();
    let tag = Tag::new(1).unwrap();
    let request = Request { requester: id(3, 0, 0), tag, range };
    assert_eq!(RouteKey::from(&header(Content::MemoryWrite(request))), RouteKey::Memory(0x40_0000_1000));
    let completion = Completion {
        completer: id(4, 0, 0),
        requester: id(3, 0, 0),
        tag,
        status: CompletionStatus::SUCCESSFUL,
        part: Part::without_data(range),
    };
    assert_eq!(RouteKey::from(&header(Content::Completion(completion))), RouteKey::Completion(id(3, 0, 0)));
    assert_eq!(message(MessageRouting::TO_ROOT_COMPLEX, [0; 2]), RouteKey::ToRootComplex);
    assert_eq!(message(MessageRouting::BY_ADDRESS, [0x40, 0x1000]), RouteKey::Memory(0x40_0000_1000));
    assert_eq!(message(MessageRouting::BY_ID, [0x0400_0000, 0]), RouteKey::Id(id(4, 0, 0)));
    assert_eq!(message(MessageRouting::BROADCAST, [0; 2]), RouteKey::Broadcast);
    assert_eq!(message(MessageRouting::LOCAL, [0; 2]), RouteKey::Local);
    assert_eq!(message(MessageRouting::GATHERED, [0; 2]), RouteKey::Gathered);
    assert_eq!(message(MessageRouting(7), [0; 2]), RouteKey::Local);
}

#[test]
fn what_is_wrong_with_a_tree_is_said() {
    let enumerate = |declare: &dyn Fn(&mut TreeBuilder)| {
        let mut builder = TreeBuilder::new();
        declare(&mut builder);
        builder.enumerate(Host::default()).map(|_| ()).map_err(|error| error.to_string())
    };
    let said = |declare: &dyn Fn(&mut TreeBuilder)| enumerate(declare).unwrap_err();
    let none: [[Bar; 0]; 1] = [[]];

    assert_eq!(enumerate(&|_| ()), Ok(()), "a host alone is a tree");
    assert_eq!(
        said(&|it| {
            it.endpoint("card", none);
        }),
        "`card` is below no port"
    );
    let twice = said(&|it| {
        let (a, b, card) = (it.root_port("a"), it.root_port("b"), it.endpoint("card", none));
        it.link(a, card);
        it.link(b, card);
    });
    assert_eq!(twice, "`card` is below two ports");
    let taken = said(&|it| {
        let (a, one, two) = (it.root_port("a"), it.endpoint("one", none), it.endpoint("two", none));
        it.link(a, one);
        it.link(a, two);
    });
    assert_eq!(taken, "port `a` has a link already, and cannot have one to `two`");
    let around = said(&|it| {
        let (one, two) = (it.switch("one"), it.switch("two"));
        let (p, q) = (it.downstream_port(one, "p"), it.downstream_port(two, "q"));
        it.link(p, two);
        it.link(q, one);
    });
    assert!(around.ends_with("is below itself"), "{around}");
    let ports = said(&|it| {
        (0..32).for_each(|_| {
            it.root_port("a");
        })
    });
    assert_eq!(ports, "`host` has more ports than a bus has devices");
    let functions = said(&|it| {
        let (a, card) = (it.root_port("a"), it.endpoint("card", [[]; 9]));
        it.link(a, card);
    });
    assert_eq!(functions, "`card` does not have 1 to 8 functions");
    let bars = said(&|it| {
        let (a, card) = (it.root_port("a"), it.endpoint("card", [[bar(16, BarKind::Bits64); 4]]));
        it.link(a, card);
    });
    assert_eq!(bars, "a function of `card` has more BARs than six registers hold");
}

#[test]
fn numbers_and_addresses_run_out() {
    let mut builder = TreeBuilder::new();
    let root = builder.root_port("root");
    let top = builder.switch("top");
    builder.link(root, top);
    // 1 and 2, then for each of eight switches 2 + 32: 274
    for number in 0..8 {
        let port = builder.downstream_port(top, &format!("p{number}"));
        let switch = builder.switch("wide");
        builder.link(port, switch);
        (0..32).for_each(|_| {
            builder.downstream_port(switch, "slot");
        });
    }
    // 2 + 7 × 34 = 240, and 15 of the last switch: its link, its inside, and 13 slots
    assert_eq!(builder.enumerate(Host::default()).unwrap_err(), Error::BusNumbers("slot".to_owned()));

    let full = |size, kind| {
        let mut builder = TreeBuilder::new();
        let root = builder.root_port("root");
        let card = builder.endpoint("card", [[bar(size, kind)], [bar(size, kind)]]);
        builder.link(root, card);
        builder.enumerate(Host::default()).map(|_| ()).unwrap_err()
    };
    let low = Error::Addresses { space: Space::Low, needed: 2 << 30, available: 0x7ec0_0000 };
    assert_eq!(full(GIB, BarKind::Bits64), low);
    assert_eq!(
        low.to_string(),
        "the devices need 2147483648 B of memory below 4 GiB, and there are 2126512128 B"
    );
    // at a multiple of 2^62, so that what lies before counts too
    let needed = 3_u128 * (1 << 62) - (1 << 38);
    let available = (1 << 46) - (1 << 38);
    let high = Error::Addresses { space: Space::High, needed, available };
    assert_eq!(full(1 << 62, BarKind::Bits64Prefetchable), high);

    let apertures = [(0x8000_0000..=0x1_0000_0000, Space::Low), (0x8000_0000..=0x8010_0000, Space::Low)];
    for (low, space) in apertures {
        let host = Host { low, ..Host::default() };
        assert_eq!(TreeBuilder::new().enumerate(host).unwrap_err(), Error::Aperture(space));
    }
    let host = Host { high: 0..=GIB - 1, ..Host::default() };
    assert_eq!(TreeBuilder::new().enumerate(host).unwrap_err(), Error::Aperture(Space::High));
}

#[test]
fn a_bar_is_a_power_of_two_that_leaves_bits_to_choose() {
    assert_eq!(Bar::new(8, BarKind::Bits32), None);
    assert_eq!(Bar::new(48, BarKind::Bits32), None);
    assert!(Bar::new(2 * GIB, BarKind::Bits32).is_some() && Bar::new(4 * GIB, BarKind::Bits32).is_none());
    assert!(Bar::new(1 << 62, BarKind::Bits64).is_some() && Bar::new(1 << 63, BarKind::Bits64).is_none());
}
