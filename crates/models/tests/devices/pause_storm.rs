//! A pause storm: an adapter that is broken asks its switch for a pause without end. Who sends to it is stopped, and
//! with it what it sends to others; a watchdog in the switch gives these their way back.

use crate::roce_nic::{Flow, Net, PLAIN, Spec, net};
use lanetwin_fabric::ethernet::spec::{Rate, Tagging};
use lanetwin_fabric::roce::logic::packet::Operation;
use lanetwin_fabric::roce::spec::PathMtu;
use lanetwin_fabric::roce::throughput::{Message as Moved, goodput};
use lanetwin_kernel::Reading;
use lanetwin_units::{Instant, Span};

const BYTES: u32 = 64 << 10;
const NIC: &[(&str, &str)] =
    &[("issue", "10ns"), ("roce.timeout", "2ms"), ("roce.retries", "7"), ("pause", "true")];
/// Broken from the first millisecond on: for ever, or for 3 ms.
const BROKEN: &[(&str, &str)] =
    &[("issue", "10ns"), ("roce.timeout", "2ms"), ("pause", "true"), ("pause.storm.at", "1ms")];
const BROKEN_FOR_A_WHILE: &[(&str, &str)] = &[
    ("issue", "10ns"),
    ("roce.timeout", "2ms"),
    ("pause", "true"),
    ("pause.storm.at", "1ms"),
    ("pause.storm.for", "3ms"),
];
const PFC: &[(&str, &str)] = &[("pause", "pfc"), ("pause.watchdog", "off")];
const DROP: &[(&str, &str)] = &[
    ("pause", "pfc"),
    ("pause.watchdog", "drop"),
    ("pause.watchdog.detection", "1ms"),
    ("pause.watchdog.restoration", "1ms"),
];
const FORWARD: &[(&str, &str)] = &[
    ("pause", "pfc"),
    ("pause.watchdog", "forward"),
    ("pause.watchdog.detection", "1ms"),
    ("pause.watchdog.restoration", "1ms"),
];
const ALERT: &[(&str, &str)] = &[
    ("pause", "pfc"),
    ("pause.watchdog", "alert"),
    ("pause.watchdog.detection", "1ms"),
    ("pause.watchdog.restoration", "1ms"),
];

fn at(us: u64) -> Instant {
    Instant::ZERO + Span::from_us(us)
}

/// What has come of 10 ms: rates \[B/s\] of the flow to the broken adapter, of the victim (from the same sender to
/// another) and of a bystander, in the first millisecond, from the second on and in the last two.
struct Outcome {
    rates: [[f64; 3]; 3],
    digest: u64,
    net: Net,
}

impl Outcome {
    fn of(
        switch: &'static [(&'static str, &'static str)],
        first: Option<&'static [(&'static str, &'static str)]>,
        frame_by_frame: bool,
    ) -> Self {
        let flow = Flow { operation: Operation::Write, bytes: BYTES, depth: 8, count: 1 << 20 };
        let flows = [(1, 0, flow), (1, 2, flow), (3, 4, flow)];
        let mut net = net(5, &flows, &Spec { switch, nic: NIC, first, frame_by_frame, ..PLAIN });
        net.kernel.run_until(at(10_000));
        let done = [net.done(1)[0].clone(), net.done(1)[1].clone(), net.done(3)[0].clone()];
        let windows = [(200, 1_000), (1_300, 1_900), (8_000, 10_000)];
        let rates = done.map(|done| {
            windows.map(|(from, to)| {
                let count = done.iter().filter(|(when, _)| (at(from)..at(to)).contains(when)).count();
                count as f64 * f64::from(BYTES) / (to - from) as f64 * 1e6
            })
        });
        Self { rates, digest: net.kernel.digest(), net }
    }
    fn told(&mut self, name: &str) -> f64 {
        let told = self.net.kernel.report().into_iter().flat_map(|(_, _, report)| report.metrics);
        let mut found = told.filter(|own| own.metric.name == name);
        match found.next().map(|own| own.reading) {
            Some(Reading::Level(value)) => value,
            Some(Reading::Count(count)) => count as f64,
            _ => panic!("nobody tells {name}"),
        }
    }
}

/// The line of a sender is parted between two flows; a flow that goes alone has it all.
fn line() -> f64 {
    goodput(Rate::G100, Moved::Write, BYTES, PathMtu::B4096, Tagging::Untagged) as f64
}

#[test]
fn without_a_watchdog_a_storm_stops_who_sends_to_others() {
    let mut calm = Outcome::of(PFC, None, false);
    assert!(calm.rates[1].iter().all(|rate| *rate > 0.4 * line()), "{:?}", calm.rates);
    assert_eq!(calm.told("pause storms detected"), 0.0);
    let mut storm = Outcome::of(PFC, Some(BROKEN), false);
    let [broken, victim, bystander] = storm.rates;
    assert!(victim[0] > 0.4 * line() && victim[1] == 0.0 && victim[2] == 0.0, "{victim:?}");
    assert!(broken[2] == 0.0 && bystander[2] > 0.9 * line(), "{broken:?}, {bystander:?}");
    assert!(
        storm.told("pause storms detected") == 0.0 && storm.told("pause frames sent without need") > 50.0
    );
    // who only tells of it changes nothing of that
    let mut alert = Outcome::of(ALERT, Some(BROKEN), false);
    assert_eq!(alert.rates, storm.rates);
    assert_eq!(
        [alert.told("pause storms detected"), alert.told("frames dropped in pause storms")],
        [1.0, 0.0]
    );
}

#[test]
fn a_watchdog_gives_victims_their_way_back() {
    for (action, forwards) in [(DROP, false), (FORWARD, true)] {
        let mut ran = Outcome::of(action, Some(BROKEN), false);
        let [broken, victim, bystander] = ran.rates;
        assert!(victim[1] == 0.0 && victim[2] > 0.4 * line(), "{forwards}: {victim:?}");
        assert!(bystander[2] > 0.9 * line(), "{forwards}: {bystander:?}");
        // the adapter takes what comes: it is the pauses that are broken
        assert!((broken[2] > 0.4 * line()) == forwards, "{forwards}: {broken:?}");
        assert_eq!([ran.told("pause storms detected"), ran.told("pause storms over")], [1.0, 0.0]);
        assert!((ran.told("frames dropped in pause storms") > 0.0) != forwards, "{forwards}");
        // a millisecond behind the effect of the first pause, which is 2 us behind its last bit
        let detected = ran.told("pause storm detected at");
        assert!((2.002..2.003).contains(&detected), "{forwards}: {detected} ms");
        assert_eq!(Outcome::of(action, Some(BROKEN), true).digest, ran.digest, "frame by frame");
    }
}

#[test]
fn a_storm_that_is_over_is_obeyed_again_and_its_flow_goes_on() {
    let mut ran = Outcome::of(DROP, Some(BROKEN_FOR_A_WHILE), false);
    assert_eq!([ran.told("pause storms detected"), ran.told("pause storms over")], [1.0, 1.0]);
    // the last pause came up to 168 us before the end
    let over = ran.told("pause storm over at");
    assert!((4.8..5.003).contains(&over), "{over} ms");
    let [broken, victim, _] = ran.rates;
    assert!(broken[2] > 0.4 * line() && victim[2] > 0.4 * line(), "{broken:?}, {victim:?}");
    assert_eq!(Outcome::of(DROP, Some(BROKEN_FOR_A_WHILE), true).digest, ran.digest, "frame by frame");
}

/// A congested port is paused often, and no storm: each pause ends when there is room.
#[test]
fn congestion_is_no_storm() {
    let mut ran = Outcome::of(DROP, None, false);
    assert_eq!(ran.told("pause storms detected"), 0.0);
    assert_eq!(
        Outcome::of(PFC, None, false).digest,
        ran.digest,
        "a watchdog that finds nothing changes nothing"
    );
}
