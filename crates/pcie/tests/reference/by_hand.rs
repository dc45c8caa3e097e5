//! The reference against cases worked out by hand. The wires are Gen1 x1: a byte takes exactly 4 ns.

use super::machine::{
    BitErrors, Credits, Direction, DllpMode, Drain, Endpoint, Kind, Link, Machine, Node, Switch, Tag, Train,
};
use super::route;
use super::simulator::{Departure, Outcome, TICKS_PER_PS, run, run_until, serialisation};
use super::world::{Event, Recital, Script, World};

const BYTE_PS: u64 = 4_000;
pub const NS: u64 = 1_000;
pub const INFINITE: Credits = Credits { header: None, data: None };

/// A wire and nothing else.
pub fn bare() -> Direction {
    Direction {
        generation: 1,
        lanes: 1,
        propagation_ps: 0,
        credits: [INFINITE; 3],
        credit_latency_ps: 0,
        ack_latency_ps: 0,
        replay_buffer_bytes: None,
        skp_period_ticks: 1 << 40,
        skp_ticks: None,
        tlps_per_ack: 0,
        tlps_per_update: 0,
        dllp_delay_ps: 0,
        nak_latency_ps: 0,
        retrain_ps: 0,
        errors: None,
    }
}

fn endpoint() -> Endpoint {
    let drain = Drain::ByLinks { drain_ps: 0, ingest_ps: 0, ingest_bytes_per_second: None };
    Endpoint { drain, lookahead_ps: 0 }
}

fn link(ends: [Node; 2], direction: &Direction) -> Link {
    Link {
        ends,
        directions: [direction.clone(), direction.clone()],
        dllp: DllpMode::Off,
        outages: Vec::new(),
        recoveries: None,
    }
}

/// Two endpoints, one link.
pub fn direct(direction: &Direction) -> Machine {
    Machine {
        endpoints: vec![endpoint(); 2],
        switches: Vec::new(),
        links: vec![link([Node::Endpoint(0), Node::Endpoint(1)], direction)],
    }
}

/// So many endpoints around one switch; link `n` leads from endpoint `n` to the switch.
pub fn star(endpoints: usize, switch: Switch, direction: &Direction) -> Machine {
    Machine {
        endpoints: vec![endpoint(); endpoints],
        switches: vec![switch],
        links: (0..endpoints).map(|n| link([Node::Endpoint(n), Node::Switch(0)], direction)).collect(),
    }
}

/// 100 B on the wire, 76 B of them payload.
pub fn writes(count: u32, destination: usize) -> Train {
    let (relaxed, notice, tag) = (false, false, Tag::default());
    Train { kind: Kind::Write, count, wire_bytes: 100, payload_bytes: 76, destination, relaxed, notice, tag }
}

/// What happens when endpoint `n` recites `parts[n]`.
pub fn recite(machine: &Machine, parts: Vec<Vec<(u64, Train)>>) -> Outcome {
    let mut scripts: Vec<Box<dyn Script>> = Vec::new();
    for part in parts {
        scripts.push(Box::new(Recital(part)));
    }
    scripts.resize_with(machine.endpoints.len(), || Box::new(Recital(Vec::new())));
    run(machine, World::new(scripts))
}

/// When TLPs left an egress \[ps\], first to last.
pub fn left_ps(outcome: &Outcome, egress: usize) -> Vec<u64> {
    let left = outcome.departures.iter().filter(|departure| departure.egress == egress);
    left.map(|departure| departure.tick / TICKS_PER_PS).collect()
}

#[test]
fn one_link_takes_serialisation_and_propagation() {
    let machine = direct(&Direction { propagation_ps: 7_001, ..bare() });
    let outcome = recite(&machine, vec![vec![(500, Train { notice: true, ..writes(2, 1) })]]);
    assert_eq!(left_ps(&outcome, 0), [500, 500 + 100 * BYTE_PS]);
    let seen: Vec<_> = outcome.seen.iter().map(|seen| (seen.endpoint, seen.at_ps)).collect();
    assert_eq!(seen, [(0, 500 + 200 * BYTE_PS), (1, 500 + 200 * BYTE_PS + 7_001)]);
}

#[test]
fn what_lasts_a_fraction_of_a_picosecond_arrives_at_the_next() {
    // 76 B at Gen5 x16: 76 · 130/16 bits · 31.25 ps / 16 lanes = 1206.0546875 ps = 1 235 000 ticks
    assert_eq!(serialisation(5, 16, 76), 1_235_000);
    // at x12 it is a third more: 1 646 666 ⅔ ticks
    assert_eq!(serialisation(5, 12, 76), 1_646_667);
    let machine = direct(&Direction { generation: 5, lanes: 16, ..bare() });
    let outcome = recite(&machine, vec![vec![(0, Train { wire_bytes: 76, ..writes(1, 1) })]]);
    assert_eq!(outcome.seen[0].at_ps, 1_207);
}

#[test]
fn a_switch_stores_and_forwards_or_cuts_through() {
    let second_start = |cut_through, second_lanes| {
        let switch = Switch::plain(30 * NS, cut_through);
        let mut machine = star(2, switch, &Direction { propagation_ps: 5 * NS, ..bare() });
        machine.links[1].directions[1].lanes = second_lanes;
        left_ps(&recite(&machine, vec![vec![(0, writes(1, 1))]]), 3)[0]
    };
    assert_eq!(second_start(false, 1), 35 * NS + 100 * BYTE_PS);
    assert_eq!(second_start(true, 1), 35 * NS + 24 * BYTE_PS, "a header is enough");
    // Four times as fast: were it sooner than 75 B before the end, the faster wire would run dry.
    assert_eq!(second_start(true, 4), 35 * NS + 75 * BYTE_PS);
}

#[test]
fn reads_are_delivered_one_by_one_and_writes_together() {
    let machine = direct(&bare());
    let read = Train { kind: Kind::Read, payload_bytes: 0, ..writes(3, 1) };
    let parts = |train| {
        let outcome = recite(&machine, vec![vec![(0, train)]]);
        outcome.seen.iter().map(|seen| (seen.at_ps / BYTE_PS, part(seen.event))).collect::<Vec<_>>()
    };
    assert_eq!(parts(read), [(100, (0, 1)), (200, (1, 1)), (300, (2, 1))]);
    assert_eq!(parts(writes(3, 1)), [(300, (0, 3))]);
}

fn part(event: Event) -> (u32, u32) {
    match event {
        Event::Delivered { first, count, .. } => (first, count),
        _ => panic!("no delivery: {event:?}"),
    }
}

#[test]
fn credits_limit_throughput_to_a_window_in_a_round_trip() {
    // 5 data credits each and 14 in all: two TLPs in 400 + 50 + 60 + 490 ns.
    let credits = [Credits { header: Some(9), data: Some(14) }, INFINITE, INFINITE];
    let mut machine =
        direct(&Direction { propagation_ps: 50 * NS, credits, credit_latency_ps: 490 * NS, ..bare() });
    machine.endpoints[1].drain =
        Drain::ByLinks { drain_ps: 60 * NS, ingest_ps: 0, ingest_bytes_per_second: None };
    let left = left_ps(&recite(&machine, vec![vec![(0, writes(6, 1))]]), 0);
    let round_trip = (400 + 50 + 60 + 490) * NS;
    assert_eq!(left, [0, 400, 1_000, 1_400, 2_000, 2_400].map(|ns| ns * NS));
    assert_eq!(left[4] - left[2], round_trip);
}

#[test]
fn an_endpoint_that_takes_its_time_holds_up_the_wire() {
    // 76 B at 100 MB/s take 760 ns and each TLP 40 ns on top, one after another: 800 ns each.
    let credits = [Credits { header: Some(1), data: None }, INFINITE, INFINITE];
    let mut machine = direct(&Direction { credits, ..bare() });
    machine.endpoints[1].drain =
        Drain::ByLinks { drain_ps: 0, ingest_ps: 40 * NS, ingest_bytes_per_second: Some(100_000_000) };
    let left = left_ps(&recite(&machine, vec![vec![(0, writes(3, 1))]]), 0);
    assert_eq!(left, [0, 1_200, 2_400].map(|ns| ns * NS));
}

#[test]
fn a_full_replay_buffer_waits_for_the_ack() {
    let ack_latency_ps = 300 * NS;
    let machine = direct(&Direction { replay_buffer_bytes: Some(299), ack_latency_ps, ..bare() });
    let left = left_ps(&recite(&machine, vec![vec![(0, writes(4, 1))]]), 0);
    assert_eq!(left, [0, 400, 800, 1_200].map(|ns| ns * NS), "700 ns to the ACK: two are always enough");
    let machine = direct(&Direction { replay_buffer_bytes: Some(199), ack_latency_ps, ..bare() });
    let left = left_ps(&recite(&machine, vec![vec![(0, writes(3, 1))]]), 0);
    assert_eq!(left, [0, 700, 1_400].map(|ns| ns * NS));
}

#[test]
fn skps_cost_their_share_of_the_wire() {
    // Every 6 us 16 ns, after the TLP that is on the wire: 400 ns each, so that one TLP in 15 is late.
    let skp = Direction { skp_period_ticks: 6_000 * NS * 1024, skp_ticks: Some(16 * NS * 1024), ..bare() };
    let left = left_ps(&recite(&direct(&skp), vec![vec![(0, writes(100, 1))]]), 0);
    for (n, at) in (0..).zip(left) {
        let bare = n * 400 * NS;
        let skps = (1..).take_while(|k| k * 6_000 * NS <= bare + (k - 1) * 16 * NS).count() as u64;
        assert_eq!(at, bare + skps * 16 * NS, "TLP {n}");
    }
}

#[test]
fn dllps_cost_their_share_of_the_other_direction() {
    // Both directions are busy. Every TLP causes an ACK, every second an UpdateFC: 12 B to each 100 B.
    let mut machine = direct(&Direction { tlps_per_ack: 1, tlps_per_update: 2, ..bare() });
    let last = |machine: &Machine| {
        let outcome = recite(machine, vec![vec![(0, writes(1_000, 1))], vec![(0, writes(1_000, 0))]]);
        left_ps(&outcome, 0)[999]
    };
    assert_eq!(last(&machine), 999 * 400 * NS);
    machine.links[0].dllp = DllpMode::Each;
    // DLLPs caused by TLPs 1 … 998 precede TLP 1000; the one of TLP 999 ends at the same time as TLP 999 here.
    assert_eq!(last(&machine), (999 * 400 + 999 * 32 + 499 * 32) * NS);
    machine.links[0].dllp = DllpMode::Lump;
    for direction in &mut machine.links[0].directions {
        direction.skp_period_ticks = 10_000 * NS * 1024;
    }
    let lump = last(&machine);
    // Paid two periods later, but paid.
    let per_period = 10_000 / 448 * 48;
    let all = (999 * 400 + 999 * 32 + 499 * 32) * NS;
    assert!(lump < all && lump > all - 3 * per_period * NS, "{lump} {all}");
}

#[test]
fn competing_sources_take_turns() {
    let switch = Switch::plain(0, false);
    let machine = star(4, switch, &bare());
    let outcome = recite(
        &machine,
        vec![vec![], vec![(0, writes(10, 0))], vec![(0, writes(10, 0))], vec![(0, writes(10, 0))]],
    );
    let mut shared: Vec<&Departure> = outcome.departures.iter().filter(|d| d.egress == 1).collect();
    shared.sort_unstable();
    let order: Vec<usize> = shared.iter().map(|departure| departure.source).collect();
    assert_eq!(order, [1, 2, 3].repeat(10));
}

#[test]
fn posted_tlps_pass_and_are_not_passed() {
    // No posted credit comes back before 1000 ns: the second write waits, and what came behind it waits too.
    let credits = [Credits { header: Some(1), data: None }, INFINITE, INFINITE];
    let machine = direct(&Direction { credits, credit_latency_ps: 600 * NS, ..bare() });
    let completion = Train { kind: Kind::Completion, ..writes(1, 1) };
    let sequences = |relaxed| {
        let trains = vec![(0, writes(2, 1)), (0, Train { relaxed, ..completion })];
        let outcome = recite(&machine, vec![trains]);
        outcome.departures.iter().map(|d| (d.sequence, d.tick / TICKS_PER_PS / NS)).collect::<Vec<_>>()
    };
    assert_eq!(sequences(false), [(0, 0), (0, 1_000), (1, 1_400)]);
    assert_eq!(sequences(true), [(0, 0), (1, 400), (0, 1_000)]);
}

#[test]
fn a_corrupted_tlp_leaves_again_and_the_fourth_time_after_a_recovery() {
    let errors = BitErrors::Drawn { seed: 3, mean_distance_bits: 700 };
    let direction = Direction {
        propagation_ps: 50 * NS,
        nak_latency_ps: 100 * NS,
        retrain_ps: 9_000 * NS,
        errors: Some(errors.clone()),
        ..bare()
    };
    let left = left_ps(&recite(&direct(&direction), vec![vec![(0, writes(50, 1))]]), 0);
    // The same from the positions of the corrupted bits alone.
    let corrupted: Vec<u64> = (0..2_000)
        .scan(0, |at, n| {
            *at += errors.distance(n);
            Some(*at)
        })
        .collect();
    let (mut sent, mut free, mut recoveries) = (0, 0, 0);
    for at in left {
        let mut failed = 0;
        loop {
            let hit = corrupted.iter().any(|bit| (sent + 1..=sent + 800).contains(bit));
            sent += 800;
            if !hit {
                break;
            }
            failed += 1;
            free += (400 + 2 * 50 + 100) * NS;
            if failed % 4 == 0 {
                recoveries += 1;
                free += 9_000 * NS;
            }
        }
        assert_eq!(at, free);
        free += 400 * NS;
    }
    assert!(recoveries > 0, "the case must contain what it is about");
}

#[test]
fn a_run_is_stopped_at_the_end_of_an_instant() {
    // The first bit of the second TLP.
    let errors = Some(BitErrors::Listed([801, 1_000_000].into()));
    let machine = direct(&Direction { nak_latency_ps: 100 * NS, errors, ..bare() });
    let up_to = |end_ns: u64| {
        let world = World::new(vec![
            Box::new(Recital((0..3).map(|_| (0, writes(1, 1))).collect())),
            Box::new(Recital(Vec::new())),
        ]);
        let outcome = run_until(&machine, world, end_ns * NS);
        let deliveries = outcome.seen.iter().filter(|seen| seen.endpoint == 1).count();
        (left_ps(&outcome, 0).iter().map(|ps| ps / NS).collect::<Vec<_>>(), deliveries)
    };
    assert_eq!(up_to(399), (vec![0], 0));
    // The second has been sent once, in vain.
    assert_eq!(up_to(899), (vec![0], 1));
    assert_eq!(up_to(900), (vec![0, 900], 1));
    assert_eq!(up_to(1_700), (vec![0, 900, 1_300], 3));
}

#[test]
fn the_shortest_way_over_the_links_declared_first() {
    let (e, s) = (Node::Endpoint, Node::Switch);
    let ends = [
        [s(0), s(1)], // 0: the first step over this link …
        [s(0), s(2)], // 1
        [s(2), s(3)], // 2: … but from the destination backwards this one comes before link 3
        [s(1), s(3)], // 3
        [s(2), s(3)], // 4: as good as link 2, but later
        [e(0), s(0)], // 5
        [e(1), s(3)], // 6
    ];
    let machine = Machine {
        endpoints: vec![endpoint(); 2],
        switches: vec![Switch::plain(0, true); 4],
        links: ends.map(|ends| link(ends, &bare())).to_vec(),
    };
    assert_eq!(route::path(&machine, 0, 1), [10, 2, 4, 13]);
    assert_eq!(route::path(&machine, 1, 0), [12, 7, 1, 11]);
}
