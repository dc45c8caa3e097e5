//! TLPs that are captured on links: as many as the links count, at times that devices bear out, the first if not all.

use crate::tree::plan;
use lanetwin_kernel::Tap;
use lanetwin_pcie::link::Attach;
use lanetwin_ports::{Message, Tlps};
use lanetwin_units::{Instant, Span, Ticks};
use lanetwin_world::{Captured, TlpOnLink, World};
use proptest::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;

/// Two drives behind a switch with a core: reads and writes at random, so that queues and trains are cut everywhere.
const TWO: &str = "
about: What is on the links?
machine:
  host: {part: generic-host-gen4}
  sw: {part: generic-switch-gen4, port.width: x4}
  one: {part: generic-nvme-gen4}
  two: {part: generic-nvme-gen4}
links:
  up: {from: host, to: sw}
  left: {from: sw, to: one}
  right: {from: sw, to: two, ber: 1e-6}
workloads:
  mixed: {block: {size: 16KiB, depth: 8, read: 60%, span: 1GiB}, on: host, target: [one, two]}
run: {repeats: 1}
";
const LONG: Span = Span::from_us(2_000);
const ENOUGH: usize = 1 << 20;

fn world(one_by_one: bool) -> World {
    let plan = plan("two.yaml", TWO, &[]);
    let workload = &plan.variants[0].workloads[0];
    let mut world = World::new(&plan.variants[0], workload, &workload.cases[0], 3);
    world.decide_one_by_one(one_by_one);
    world
}

fn captured(most: usize, one_by_one: bool) -> Captured {
    let mut world = world(one_by_one);
    world.capture_tlps(most);
    world.kernel.run_until(Instant::ZERO + LONG);
    world.captured().expect("it was asked for")
}

#[test]
fn every_direction_has_the_tlps_and_bytes_that_the_links_count() {
    let mut world = world(false);
    world.capture_tlps(ENOUGH);
    world.kernel.run_until(Instant::ZERO + LONG);
    let (usage, captured) = (world.links().usage(), world.captured().expect("it was asked for"));
    assert!(usage.iter().any(|link| link.activity.replays > 0), "some are sent again, and captured once");
    for (e, (link, of)) in usage.iter().zip(&captured.directions).enumerate() {
        let tlps: Vec<&TlpOnLink> = captured.tlps.iter().filter(|tlp| tlp.egress.index() == e).collect();
        assert_eq!((&link.link, &link.from, &link.to), (&of.link, &of.from, &of.to));
        assert!(tlps.len() > 500, "{} {}: {} TLPs", link.link, link.from, tlps.len());
        assert_eq!([of.started, tlps.len() as u64], [link.activity.tlps; 2]);
        assert_eq!(tlps.iter().map(|tlp| u64::from(tlp.wire_bytes)).sum::<u64>(), link.activity.wire_bytes);
        let units = tlps.iter().map(|tlp| u64::from(tlp.payload.div_ceil(16))).sum::<u64>();
        assert_eq!(units, link.activity.data_units);
        assert!(tlps.iter().enumerate().all(|(n, tlp)| tlp.number == n as u64), "numbered in their order");
    }
}

type Told = Rc<RefCell<Vec<(Instant, Tlps)>>>;

struct Listener(Told);

impl Tap<Message> for Listener {
    fn see(&mut self, at: Instant, from: &str, _: &str, message: &Message) {
        if let (Message::Tlps(tlps), true) = (message, from == "(links)") {
            self.0.borrow_mut().push((at, *tlps));
        }
    }
}

/// What links tell a device is not what they show whoever captures: a train as a whole, when its last byte is there.
#[test]
fn devices_are_told_of_tlps_a_serialisation_and_a_flight_after_they_are_captured() {
    let mut world = world(false);
    let told = Told::default();
    world.kernel.set_tap(Some(Box::new(Listener(Rc::clone(&told)))));
    world.capture_tlps(ENOUGH);
    world.kernel.run_until(Instant::ZERO + LONG);
    let captured = world.captured().expect("it was asked for");
    let wiring = world.links().wiring().clone();
    let mut arrivals: Vec<(Instant, u16, u64)> = Vec::new();
    for tlp in &captured.tlps {
        let (link, d) = (&wiring.links[tlp.egress.index() / 2], tlp.egress.index() % 2);
        if link.ends[1 - d] == Attach::Endpoint(tlp.tlps.to) {
            let way = &link.directions[d];
            let flight = way.rate.ticks_for(tlp.wire_bytes.into()).0 + way.propagation.as_ticks().0;
            arrivals.push((Ticks(tlp.start.0 + flight).as_ps_ceil(), tlp.tlps.to.0, tlp.address()));
        }
    }
    arrivals.sort_unstable();
    let told = told.borrow();
    assert!(told.len() > 1000, "{} messages", told.len());
    let last = |tlps: &Tlps| tlps.address + u64::from(tlps.count - 1) * u64::from(tlps.bytes);
    let missing =
        told.iter().filter(|(at, tlps)| arrivals.binary_search(&(*at, tlps.to.0, last(tlps))).is_err());
    assert_eq!(missing.count(), 0, "whatever arrives was captured, to the picosecond");
}

/// Links decide further ahead in trains: there may be more at the end, but nothing else before it.
#[test]
fn trains_are_captured_as_their_tlps_are_one_by_one() {
    let (trains, each) = (captured(ENOUGH, false), captured(ENOUGH, true));
    let end = Ticks::from(Instant::ZERO + LONG);
    let before = |captured: Captured| captured.tlps.into_iter().filter(move |tlp| tlp.start < end);
    let (trains, each): (Vec<_>, Vec<_>) = (before(trains).collect(), before(each).collect());
    assert!(trains.len() > 5000);
    let differs = trains.iter().zip(&each).find(|(one, other)| one != other);
    assert_eq!((differs, trains.len()), (None, each.len()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn of_too_many_the_first_are_kept(most in 1_usize..3000) {
        let all = captured(ENOUGH, false);
        let some = captured(most, false);
        prop_assert_eq!(&some.tlps[..], &all.tlps[..most]);
        prop_assert_eq!(some.directions, all.directions);
    }
}
