//! Incast: 32 hosts write to one through a switch, with and without pauses and congestion control; one of them writes
//! to an idle host, too, and is the victim.

use crate::roce_nic::{Flow, Net, PLAIN, Spec, net};
use lanetwin_fabric::ethernet::logic::switch::PortCounts;
use lanetwin_fabric::ethernet::spec::{Rate, Tagging};
use lanetwin_fabric::roce::logic::packet::Operation;
use lanetwin_fabric::roce::spec::PathMtu;
use lanetwin_fabric::roce::throughput::{Message as Moved, goodput};
use lanetwin_models::ethernet_switch::EthernetSwitch;
use lanetwin_models::roce_nic::RoceNic;
use lanetwin_units::{Instant, Span};

const SENDERS: u16 = 32;
const BYTES: u32 = 64 << 10;
const MARKS: &[(&str, &str)] = &[
    ("buffer", "16MiB"),
    ("ecn.threshold", "400kB"),
    ("ecn.threshold.most", "1600kB"),
    ("ecn.probability", "20%"),
];
const NIC: &[(&str, &str)] = &[("issue", "10ns"), ("roce.timeout", "1ms"), ("roce.window", "64")];
const DCQCN: &[(&str, &str)] =
    &[("issue", "10ns"), ("roce.timeout", "1ms"), ("roce.window", "64"), ("roce.congestion", "dcqcn")];

/// What has come of it.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Outcome {
    dropped: u64,
    marked: u64,
    notified: u64,
    notifications: u64,
    /// Payload that left the senders twice, as a part of what arrived.
    again: f64,
    /// Bytes done in the second half of the time, per second.
    goodput: f64,
    /// Jain's index of the same by sender.
    fairness: f64,
    /// The mean wait for the line to the receiver \[us\].
    wait_us: f64,
    /// Bytes done by the first sender in the second half of the time, per second: with all others to one host, and as
    /// the victim to another.
    first: [f64; 2],
    /// How long the line to the receiver was busy then \[ps\].
    busy_ps: u128,
    /// Pause frames that asked for a pause, in each half of the time.
    pauses: [u64; 2],
    digest: u64,
}

fn counts(net: &mut Net) -> (u64, [u64; 3]) {
    let nics = net.nics.clone();
    let all = nics.into_iter().map(|nic| net.kernel.component::<RoceNic>(nic).unwrap().counts());
    all.fold((0, [0; 3]), |(sent, [received, told, heard]), of| {
        (sent + of.sent, [received + of.received, told + of.notified, heard + of.notifications])
    })
}

/// With a victim, it is the second flow of the first sender.
fn incast(spec: &Spec, victim: bool) -> Outcome {
    let flow = Flow { operation: Operation::Write, bytes: BYTES, depth: 8, count: 4000 };
    let innocent = victim.then_some((1, SENDERS + 1, Flow { count: 1 << 20, ..flow }));
    let flows: Vec<_> = (1..=SENDERS).map(|from| (from, 0, flow)).chain(innocent).collect();
    let mut net = net(SENDERS + 1 + u16::from(victim), &flows, spec);
    let at = |ms: u64| Instant::ZERO + Span::from_us(1000 * ms);
    let ports = |net: &mut Net, now| net.kernel.component::<EthernetSwitch>(net.switch).unwrap().ports(now);
    let pauses = |net: &mut Net, now| ports(net, now).iter().map(|port| port.told[0]).sum::<u64>();
    let port = |net: &mut Net, now| ports(net, now)[0];
    let busy = |port: &PortCounts, ms| port.busy_ps(Rate::G100, at(ms).as_ps());
    net.kernel.run_until(at(4));
    let before = port(&mut net, at(4));
    let paused = pauses(&mut net, at(4));
    net.kernel.run_until(at(8));
    let after = port(&mut net, at(8));
    let (sent, [received, notified, notifications]) = counts(&mut net);
    let done = |net: &mut Net, host: u16, flow: usize| {
        let done = net.done(host.into());
        done[flow].iter().filter(|(when, _)| *when > at(4)).count() as f64 * f64::from(BYTES) / 4e-3
    };
    let rates: Vec<_> = (1..=SENDERS).map(|host| done(&mut net, host, 0)).collect();
    let (goodput, squares) = (rates.iter().sum::<f64>(), rates.iter().map(|rate| rate * rate).sum::<f64>());
    Outcome {
        dropped: after.dropped,
        marked: after.marked,
        notified,
        notifications,
        again: (sent - received) as f64 / received as f64,
        goodput,
        fairness: goodput * goodput / squares / f64::from(SENDERS),
        wait_us: (after.waited_ps - before.waited_ps) as f64 / (after.frames - before.frames) as f64 / 1e6,
        first: [rates[0], if victim { done(&mut net, 1, 1) } else { 0.0 }],
        busy_ps: busy(&after, 8) - busy(&before, 4),
        pauses: [paused, pauses(&mut net, at(8)) - paused],
        digest: net.kernel.digest(),
    }
}

/// Marks alone change nothing but a bit; with DCQCN the queue is short, the rates are fair and little is dropped but
/// before the first CNPs have had their effect. In trains and frame by frame it is the same.
#[test]
fn dcqcn_keeps_the_queue_of_an_incast_short() {
    let run = |switch, nic, frame_by_frame| incast(&Spec { switch, nic, frame_by_frame, ..PLAIN }, false);
    let plain = run(&[("buffer", "16MiB")], NIC, false);
    assert!(plain.dropped > 2000 && plain.marked == 0 && plain.notified == 0, "{plain:?}");
    assert!(plain.again > 0.3 && plain.goodput < 10e9 && plain.wait_us > 500.0, "{plain:?}");
    let marks = run(MARKS, NIC, false);
    assert!(marks.marked > 0, "{marks:?}");
    assert_eq!(Outcome { marked: 0, digest: plain.digest, ..marks }, plain);
    let dcqcn = run(MARKS, DCQCN, false);
    assert!(dcqcn.notified > 0 && dcqcn.notified == dcqcn.notifications, "{dcqcn:?}");
    assert!(dcqcn.dropped < plain.dropped / 20 && dcqcn.again < 0.1, "{dcqcn:?}");
    assert!(dcqcn.goodput > 11e9 && dcqcn.fairness > 0.99 && dcqcn.wait_us < 50.0, "{dcqcn:?}");
    assert_eq!(run(MARKS, DCQCN, true), dcqcn);
}

const PFC: &[(&str, &str)] = &[("buffer", "16MiB"), ("pause", "pfc")];
const PFC_MARKS: &[(&str, &str)] = &[
    ("buffer", "16MiB"),
    ("pause", "pfc"),
    ("ecn.threshold", "400kB"),
    ("ecn.threshold.most", "1600kB"),
    ("ecn.probability", "20%"),
];
const OBEDIENT: &[(&str, &str)] =
    &[("issue", "10ns"), ("roce.timeout", "1ms"), ("roce.window", "64"), ("pause", "true")];
const OBEDIENT_DCQCN: &[(&str, &str)] = &[
    ("issue", "10ns"),
    ("roce.timeout", "1ms"),
    ("roce.window", "64"),
    ("pause", "true"),
    ("roce.congestion", "dcqcn"),
];

/// What arithmetic says: with pauses nothing is dropped and the line to the receiver is never idle; each of 32 senders
/// has a 32nd of it. The victim takes turns with the flow that is paused, so that it has as much, though nothing is in
/// its own way. Congestion control takes the pauses away, and gives the victim its line back.
#[test]
fn pauses_lose_nothing_and_cost_the_victim() {
    let line = goodput(Rate::G100, Moved::Write, BYTES, PathMtu::B4096, Tagging::Untagged) as f64;
    let run = |switch, nic, frame_by_frame| incast(&Spec { switch, nic, frame_by_frame, ..PLAIN }, true);
    let lossy = run(&[("buffer", "16MiB")], NIC, false);
    assert!(lossy.dropped > 2000 && lossy.again > 0.2 && lossy.goodput < 0.9 * line, "{lossy:?}");
    assert!(lossy.first[1] > 0.9 * line, "{lossy:?}");

    let pfc = run(PFC, OBEDIENT, false);
    assert!(pfc.dropped == 0 && pfc.busy_ps == 4_000_000_000, "{pfc:?}");
    // whole messages are counted when they are done: some 2 % more or less of what is on its way
    assert!((pfc.goodput / line - 1.0).abs() < 0.04 && pfc.fairness > 0.99, "{pfc:?}");
    let [own, victim] = pfc.first.map(|rate| rate / (line / f64::from(SENDERS)));
    assert!((0.7..1.1).contains(&own) && (victim / own - 1.0).abs() < 0.2, "{own}, {victim}: {pfc:?}");
    assert!(pfc.pauses.iter().all(|pauses| *pauses > 500), "{pfc:?}");
    assert_eq!(run(PFC, OBEDIENT, true), pfc);

    let both = run(PFC_MARKS, OBEDIENT_DCQCN, false);
    assert!(both.dropped == 0 && both.pauses[0] > 0 && both.pauses[1] == 0, "{both:?}");
    assert!(both.goodput > 0.97 * line && both.first[1] > 0.9 * line && both.wait_us < 50.0, "{both:?}");
    assert_eq!(run(PFC_MARKS, OBEDIENT_DCQCN, true), both);
}

/// A switch that pauses adapters which take no notice drops as one that does not.
#[test]
fn who_takes_no_notice_of_pauses_is_dropped() {
    let deaf = incast(&Spec { switch: PFC, nic: NIC, ..PLAIN }, false);
    assert!(deaf.dropped > 1000 && deaf.pauses[0] > 0, "{deaf:?}");
}
