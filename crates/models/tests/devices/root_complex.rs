//! The root complex without translation: latency, cutting, order, doorbells and signals.

use crate::rig::*;
use lanetwin_kernel::Port;
use lanetwin_models::root_complex::{RootComplex, Traffic};
use lanetwin_pcie::link::EndpointId;
use lanetwin_pcie::spec::TlpKind::{CplD, MRd, MWr};
use lanetwin_ports::{Attributes, Builder, Message, PcieSite, Tlps};
use lanetwin_units::Instant;

const CPU: Port = Port(0);
const SLOT: Port = Port(1);
const MEMORY: [(&str, &str); 4] =
    [("issue", "10ns"), ("memory.warm", "64KiB"), ("memory.llc-hit", "100ns"), ("memory.dram", "250ns")];
const WARM: u64 = 0x1000;
const COLD: u64 = 0x10_0000;

/// What comes back to a device that sends this script: nanoseconds, handle, address, bytes, count, whether the last.
fn answers(extra: &[(&str, &str)], script: &[(u64, Message)]) -> Vec<(u64, u32, u64, u16, u16, bool)> {
    let mut builder = Builder::new();
    let root = add(&mut builder, "root-complex", &[&MEMORY[..], extra].concat());
    let log =
        peer(&mut builder, (root, SLOT), script.iter().map(|&(at, message)| (ns(at), message)).collect());
    builder.seal().run_until(Instant::NEVER);
    let completion = |(at, t): (u64, Tlps)| {
        assert_eq!((t.kind, t.from, t.to), (CplD, ROOT, DEVICE));
        (at, t.handle, t.address, t.bytes, t.count, t.attributes.has(Attributes::LAST))
    };
    tlps(&log).into_iter().map(completion).collect()
}

#[test]
fn a_read_takes_what_its_memory_takes() {
    let script = [(1000, upstream(MRd, 7, WARM, 64)), (2000, upstream(MRd, 8, COLD, 64))];
    assert_eq!(answers(&[], &script), [(1100, 7, WARM, 64, 1, true), (2250, 8, COLD, 64, 1, true)]);
    let remote = [("memory.remote", "true"), ("memory.remote-extra", "70ns")];
    let times: Vec<_> = answers(&remote, &script).into_iter().map(|answer| answer.0).collect();
    assert_eq!(times, [1170, 2320]);
}

#[test]
fn completions_are_cut_as_the_policy_says() {
    let cut = |policy, address, bytes| {
        let all = answers(&[("completion.split", policy)], &[(0, upstream(MRd, 1, address, bytes))]);
        assert!(all.iter().rev().skip(1).all(|answer| !answer.5) && all.last().unwrap().5);
        all.into_iter().map(|answer| (answer.3, answer.4)).collect::<Vec<_>>()
    };
    assert_eq!(cut("mps", WARM, 512), [(256, 2)]);
    assert_eq!(cut("mps", WARM + 32, 512), [(224, 1), (256, 1), (32, 1)]);
    assert_eq!(cut("rcb", WARM + 32, 512), [(32, 1), (64, 7), (32, 1)]);
    assert_eq!(cut("rcb-then-mps", WARM + 32, 512), [(32, 1), (256, 1), (224, 1)]);
    assert_eq!(cut("rcb", WARM, 1), [(1, 1)]);
}

#[test]
fn completions_are_as_relaxed_as_their_request() {
    let relaxed = |attributes: Attributes| {
        let mut request = upstream(MRd, 1, WARM + 32, 512);
        if let Message::Tlps(tlps) = &mut request {
            tlps.attributes = attributes;
        }
        let mut builder = Builder::new();
        let root = add(&mut builder, "root-complex", &MEMORY);
        let log = peer(&mut builder, (root, SLOT), vec![(ns(0), request)]);
        builder.seal().run_until(Instant::NEVER);
        tlps(&log).iter().map(|(_, tlps)| tlps.attributes.has(Attributes::RELAXED)).collect::<Vec<_>>()
    };
    assert_eq!(relaxed(Attributes::RELAXED), [true; 3]);
    assert_eq!(relaxed(Attributes::NONE), [false; 3]);
}

#[test]
fn the_completer_takes_reads_up_at_its_interval() {
    let script = [0, 0, 0, 1000].map(|at| (at, upstream(MRd, at as u32, WARM, 64)));
    let times: Vec<_> =
        answers(&[("completer.interval", "30ns")], &script).into_iter().map(|answer| answer.0).collect();
    assert_eq!(times, [100, 130, 160, 1100]);
}

#[test]
fn reads_are_answered_as_they_become_ready_or_in_order() {
    let script =
        [(0, upstream(MRd, 1, COLD, 64)), (10, upstream(MRd, 2, WARM, 64)), (20, upstream(MRd, 3, WARM, 64))];
    let order = |policy| {
        let all = answers(&[("completion.order", policy)], &script);
        all.into_iter().map(|answer| (answer.0, answer.1)).collect::<Vec<_>>()
    };
    assert_eq!(order("readiness"), [(110, 2), (120, 3), (250, 1)]);
    assert_eq!(order("fifo"), [(250, 1), (250, 2), (250, 3)]);
}

#[test]
fn order_is_kept_for_each_requester_by_itself() {
    let mut other = upstream(MRd, 2, WARM, 64);
    if let Message::Tlps(tlps) = &mut other {
        tlps.from.0 = 9;
    }
    let mut builder = Builder::new();
    let root = add(&mut builder, "root-complex", &[&MEMORY[..], &[("completion.order", "fifo")]].concat());
    let log = peer(&mut builder, (root, SLOT), vec![(ns(0), upstream(MRd, 1, COLD, 64)), (ns(10), other)]);
    builder.seal().run_until(Instant::NEVER);
    let order: Vec<_> = tlps(&log).iter().map(|(at, t)| (*at, t.handle, t.to.0)).collect();
    assert_eq!(order, [(110, 2, 9), (250, 1, 1)]);
}

#[test]
fn jitter_adds_at_most_what_it_says_and_is_seeded() {
    let script: Vec<_> = (0..200).map(|i| (i * 1000, upstream(MRd, i as u32, WARM, 64))).collect();
    let run = |seed| {
        let mut builder = Builder::new();
        let jitter = [&MEMORY[..], &[("memory.jitter", "40ns")]].concat();
        let root = add_at(&mut builder, "host", "root-complex", &jitter, |site| site.seed = seed);
        let script = script.iter().map(|&(at, message)| (ns(at), message)).collect();
        let log = peer(&mut builder, (root, SLOT), script);
        builder.seal().run_until(Instant::NEVER);
        let times: Vec<u64> = log.borrow().iter().map(|entry| entry.0).collect();
        times
    };
    let extra: Vec<u64> =
        run(1).iter().enumerate().map(|(i, at)| at - (i as u64 * 1000 + 100) * 1000).collect();
    assert!(extra.iter().all(|ps| *ps <= 40_000), "{extra:?}");
    let mean = extra.iter().sum::<u64>() / 200;
    assert!((16_000..24_000).contains(&mean), "{mean}");
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn some_reads_are_slower_and_some_are_in_a_tail() {
    let extra = |more: &[(&str, &str)]| {
        let mut builder = Builder::new();
        let root = add(&mut builder, "root-complex", &[&MEMORY[..], more].concat());
        let script = (0..4_000).map(|i| (ns(i * 100_000), upstream(MRd, i as u32, WARM, 64))).collect();
        let log = peer(&mut builder, (root, SLOT), script);
        builder.seal().run_until(Instant::NEVER);
        let times: Vec<u64> = log.borrow().iter().map(|entry| entry.0).collect();
        times.iter().enumerate().map(|(i, at)| at - (i as u64 * 100_000 + 100) * 1000).collect::<Vec<u64>>()
    };
    let slow = extra(&[("memory.slow", "10%"), ("memory.slow-extra", "500ns")]);
    assert!(slow.iter().all(|ps| [0, 500_000].contains(ps)));
    let share = slow.iter().filter(|ps| **ps > 0).count();
    assert!((340..460).contains(&share), "{share}");
    let tail = extra(&[("memory.tail", "5%"), ("memory.tail-extra", "2us")]);
    let in_tail: Vec<u64> = tail.into_iter().filter(|ps| *ps > 0).collect();
    let mean = in_tail.iter().sum::<u64>() / in_tail.len() as u64;
    assert!((150..250).contains(&in_tail.len()) && (1_600_000..2_400_000).contains(&mean), "{mean}");
    // an exponential distribution has 5 % beyond three times its mean
    assert!(in_tail.iter().filter(|ps| **ps > 6_000_000).count() < 25);
}

#[test]
fn a_latency_below_the_lookahead_counts_as_the_lookahead() {
    let extra = [("memory.llc-hit", "1ns"), ("issue", "10ns")];
    let mut builder = Builder::new();
    let root = add(&mut builder, "root-complex", &[("memory.warm", "1MiB"), extra[0], extra[1]]);
    let log = peer(&mut builder, (root, SLOT), vec![(ns(5), upstream(MRd, 1, 0, 64))]);
    builder.seal().run_until(Instant::NEVER);
    assert_eq!(tlps(&log)[0].0, 15);
}

#[test]
fn writes_are_counted_to_the_byte_and_signals_reach_the_cpu() {
    let mut train = upstream(MWr, 5, COLD, 256);
    let mut signal = upstream(MWr, 77, WARM, 16);
    if let (Message::Tlps(train), Message::Tlps(signal)) = (&mut train, &mut signal) {
        train.count = 16;
        signal.attributes = Attributes::SIGNAL;
    }
    let mut builder = Builder::new();
    let root = add(&mut builder, "root-complex", &[("signal", "3ns")]);
    let below = peer(&mut builder, (root, SLOT), vec![(ns(1), train), (ns(2), signal)]);
    let cpu = peer(&mut builder, (root, CPU), Vec::new());
    let mut kernel = builder.seal();
    kernel.run_until(Instant::NEVER);
    assert!(below.borrow().is_empty());
    assert_eq!(*cpu.borrow(), [(5_000, Port(0), Message::Signal { handle: 77, from: DEVICE })]);
    let root: &mut RootComplex = kernel.component(root).unwrap();
    let expected = Traffic { writes: 17, write_bytes: 16 * 256 + 16, signals: 1, ..Traffic::default() };
    assert_eq!((root.traffic(0), root.traffic(3)), (expected, Traffic::default()));
}

#[test]
fn a_doorbell_becomes_a_write_to_the_device() {
    let mut builder = Builder::new();
    let root = add(&mut builder, "root-complex", &[("issue", "10ns")]);
    let below = peer(&mut builder, (root, SLOT), Vec::new());
    let ring = Message::Mmio { to: DEVICE, bytes: 4, handle: 6, address: 99 };
    peer(&mut builder, (root, CPU), vec![(ns(1), ring)]);
    builder.seal().run_until(Instant::NEVER);
    let attributes = Attributes::LAST;
    let expected =
        Tlps { kind: MWr, attributes, count: 1, bytes: 4, from: ROOT, to: DEVICE, handle: 6, address: 99 };
    assert_eq!(tlps(&below), [(11, expected)]);
}

/// With several devices below, the place of the root complex says which root port leads to which of them.
#[test]
fn a_doorbell_takes_the_slot_of_the_device_that_it_is_for() {
    let [near, far] = [7, 9].map(EndpointId);
    let heard = |routes: &[(EndpointId, EndpointId)], rung: &[EndpointId]| {
        let mut builder = Builder::new();
        let root = add_at(&mut builder, "host", "root-complex", &[], |site| {
            let slot = |endpoint| Some(PcieSite { endpoint: EndpointId(endpoint), ..PLACE });
            site.pcie = vec![None, slot(4), slot(6)];
            site.routes = routes.to_vec();
        });
        let below = [2, 3].map(|port| peer(&mut builder, (root, Port(port)), Vec::new()));
        let ring = |&to: &EndpointId| (ns(1), Message::Mmio { to, bytes: 4, handle: 6, address: 99 });
        peer(&mut builder, (root, CPU), rung.iter().map(ring).collect());
        builder.seal().run_until(Instant::NEVER);
        below.map(|log| tlps(&log).into_iter().map(|(_, tlps)| (tlps.from.0, tlps.to)).collect::<Vec<_>>())
    };
    let [four, six] = [4, 6].map(EndpointId);
    assert_eq!(
        heard(&[(near, four), (far, six)], &[far, near, far]),
        [vec![(4, near)], vec![(6, far), (6, far)]]
    );
    assert_eq!(heard(&[(near, six), (far, six)], &[near, far]), [vec![], vec![(6, near), (6, far)]]);
    assert!(std::panic::catch_unwind(|| heard(&[(near, four)], &[far])).is_err());
}

#[test]
fn a_read_says_when_it_was_where() {
    let mut builder = Builder::new();
    let root = add(&mut builder, "root-complex", &[&MEMORY[..], &[("completer.interval", "30ns")]].concat());
    let script = vec![(ns(5), upstream(MRd, 1, WARM, 64)), (ns(10), upstream(MRd, 2, WARM, 64))];
    let (_, ways) = following_peer(&mut builder, (root, SLOT), script);
    let mut kernel = builder.seal();
    kernel.run_until(Instant::NEVER);
    let stages: Vec<_> = ways.borrow().iter().map(|way| ends(&kernel, way)).collect();
    let named = |stages: &[(&str, u64)]| {
        stages.iter().map(|(name, at)| ((*name).to_owned(), *at)).collect::<Vec<_>>()
    };
    let first = named(&[("not asked yet", 5), ("memory", 105)]);
    assert_eq!(
        stages,
        [first, named(&[("not asked yet", 10), ("queue for the completer", 35), ("memory", 135)])]
    );
}
