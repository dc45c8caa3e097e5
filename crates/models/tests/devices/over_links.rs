//! A card and a root complex over real links: every time is a sum of parts, and trains change nothing.

use crate::rig::*;
use lanetwin_kernel::Port;
use lanetwin_models::root_complex::RootComplex;
use lanetwin_pcie::link::{Attach, Class, Credits, Direction, Drain, EgressId, EndpointSpec, LinkId};
use lanetwin_pcie::spec::AddressWidth;
use lanetwin_ports::{Builder, Done, Links, LinksBuilder, Message, Operation, Transfer};
use lanetwin_units::{Generation, Instant, LinkRate, Span, Ticks, Width};
use proptest::prelude::*;

const RATE: LinkRate = LinkRate::pcie(Generation::Gen3, Width::X8);
const FLIGHT: Span = Span::from_ns(5);
const ISSUE: Span = Span::from_ns(10);
/// What either receiver advertises: posted and non-posted headers and data.
const ADVERTISED: Credits =
    Credits { header: [Some(12), Some(9), None], data: [Some(40), None, None], latency: Span::from_ns(30) };

/// Joins root port (endpoint 0) and device (endpoint 1).
fn links(translates: bool, tlp_by_tlp: bool) -> Links {
    let mut builder = LinksBuilder::new();
    let by_link = Drain::ByLink { latency: Span::from_ns(20), per_tlp: Span::ZERO, payload_rate: None };
    let root_drain = if translates { Drain::ByDevice } else { by_link };
    let root = builder.endpoint(EndpointSpec { lookahead: ISSUE, drain: root_drain }, AddressWidth::Bits64);
    let card = builder.endpoint(EndpointSpec { lookahead: ISSUE, drain: by_link }, AddressWidth::Bits64);
    assert_eq!((root, card), (ROOT, DEVICE));
    let direction = Direction { propagation: FLIGHT, credits: ADVERTISED, ..Direction::bare(RATE) };
    let ends = (Attach::Endpoint(card), Attach::Endpoint(root));
    assert_eq!(builder.link(("slot", "card", "host"), ends, direction, direction), LinkId(0));
    let mut links = builder.build(1).unwrap();
    links.set_tlp_by_tlp(tlp_by_tlp);
    links
}

struct Outcome {
    /// When each transfer was done \[ps\], and its handle.
    done: Vec<(u64, u32)>,
    links: u64,
    written: u64,
    read: u64,
}

fn run(script: &[(u64, Transfer)], translates: bool, tlp_by_tlp: bool) -> Outcome {
    let mut builder = Builder::new();
    let flag = if translates { "true" } else { "false" };
    let host = [("issue", "10ns"), ("memory.dram", "100ns"), ("iommu", flag), ("iotlb.entries", "3")];
    let root = add(&mut builder, "root-complex", &host);
    let card = add(&mut builder, "dma-requester", &[("issue", "10ns"), ("outstanding", "8")]);
    let links = builder.add_foreseeing("links", Box::new(links(translates, tlp_by_tlp)));
    builder.join((links, Port(ROOT.0)), (root, Port(1)));
    builder.join((links, Port(DEVICE.0)), (card, Port(0)));
    let script =
        script.iter().map(|&(at, transfer)| (Instant::from_ps(at), Message::Dma(transfer))).collect();
    let log = peer(&mut builder, (card, Port(1)), script);
    let mut kernel = builder.seal();
    kernel.run_until(Instant::NEVER);

    let fabric = kernel.component::<Links>(links).unwrap().fabric();
    assert_eq!(fabric.under_way(), 0);
    for class in [Class::Posted, Class::NonPosted] {
        let c = class.index();
        let advertised = (ADVERTISED.header[c].unwrap(), ADVERTISED.data[c]);
        let (headers, data) = fabric.credits(EgressId(0), class).unwrap();
        assert_eq!(headers, u64::from(advertised.0), "{class:?} headers come back");
        assert!(
            advertised.1.is_none_or(|all| data == u64::from(all)),
            "{class:?} data credits come back: {data}"
        );
    }
    let links = fabric.digest();
    let traffic = kernel.component::<RootComplex>(root).unwrap().traffic(0);
    let done = |&(at, _, message): &(u64, Port, Message)| match message {
        Message::DmaDone(Done { handle, .. }) => (at, handle),
        other => panic!("{other:?}"),
    };
    let done = log.borrow().iter().map(done).collect();
    Outcome { done, links, written: traffic.write_bytes, read: traffic.completion_bytes }
}

fn transfer(operation: Operation, handle: u32, address: u64, bytes: u32) -> Transfer {
    Transfer { operation, bytes, handle, unit: 0, address }
}

/// The time of TLPs on the wire one after another: framing of 8 B, header and payload each.
fn wire_ps(tlps: &[u64]) -> u64 {
    let ticks: u64 = tlps.iter().map(|bytes| RATE.ticks_for(*bytes).0).sum();
    Ticks(ticks).as_ps_ceil().as_ps()
}

#[test]
fn a_read_is_issue_wire_memory_wire() {
    let outcome = run(&[(0, transfer(Operation::Read, 7, 0, 512))], false, false);
    let request = wire_ps(&[8 + 16]);
    let completions = wire_ps(&[8 + 12 + 256, 8 + 12 + 256]);
    let [issue, flight, memory] = [ISSUE.as_ps(), FLIGHT.as_ps(), 100_000];
    assert_eq!(outcome.done, [(issue + request + flight + memory + completions + flight, 7)]);
}

#[test]
fn a_write_is_done_when_its_last_byte_is_on_the_wire() {
    let outcome = run(&[(0, transfer(Operation::Write, 7, 0, 300))], false, false);
    assert_eq!(outcome.done, [(ISSUE.as_ps() + wire_ps(&[8 + 16 + 256, 8 + 16 + 44]), 7)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// With translation (buffers freed by the root complex) and without (by the links): the same times in trains and
    /// TLP by TLP, all bytes, all credits.
    #[test]
    fn trains_change_nothing(
        translates: bool,
        transfers in prop::collection::vec((0_u64..50_000, any::<bool>(), 0_u64..100_000, 1_u32..9_000), 1..25),
    ) {
        let mut at = 0;
        let script: Vec<_> = transfers.iter().enumerate().map(|(i, &(gap, reads, address, bytes))| {
            at += gap;
            let operation = if reads { Operation::Read } else { Operation::Write };
            (at, transfer(operation, i as u32, address, bytes))
        }).collect();
        let moved = |operation| {
            script.iter().filter(|(_, t)| t.operation == operation).map(|(_, t)| u64::from(t.bytes)).sum::<u64>()
        };
        let [trains, singly] = [false, true].map(|tlp_by_tlp| run(&script, translates, tlp_by_tlp));
        prop_assert_eq!(trains.done.len(), script.len());
        prop_assert_eq!((trains.read, trains.written), (moved(Operation::Read), moved(Operation::Write)));
        prop_assert_eq!(&trains.done, &singly.done);
        prop_assert_eq!(trains.links, singly.links);
    }
}
