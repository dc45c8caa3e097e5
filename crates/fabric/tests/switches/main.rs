//! A switch against a naive one, and against closed forms.

mod closed_form;
mod lossless;
mod reference;

use lanetwin_fabric::ethernet::logic::switch::{
    BufferSpec, Departure, Horizon, Marking, Mode, PauseSpec, Scope, StormAction, Switch, SwitchSpec,
    WatchdogSpec,
};
use lanetwin_fabric::ethernet::logic::{Class, Forwarding, Pause, Station, Train};
use lanetwin_fabric::ethernet::spec::{Rate, wire_bytes};
use proptest::prelude::*;
use reference::Frame;

/// How many random switches are tried: a few hundred, or what `LANETWIN_ETHERNET_CASES` says.
fn cases() -> u32 {
    std::env::var("LANETWIN_ETHERNET_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(300)
}

const PORTS: u16 = 4;

/// What is drawn with this target is a pause frame.
const PAUSES: u16 = 5;

/// What a train is drawn from: gap before it, frames, size, target, priority, slack between frames.
type Drawn = (u64, u16, u16, u16, u8, u32);

/// How a switch pauses: often enough that much comes of it, with little headroom and with much.
fn pauses() -> impl Strategy<Value = PauseSpec> {
    let scope = prop_oneof![Just(Scope::Port), any::<u8>().prop_map(Scope::Priorities)];
    let room = (0_u64..20_000, 0_u64..=100, prop::collection::vec(0_u64..30_000, usize::from(PORTS)));
    let quanta = prop::sample::select(vec![40_u16, 300, 2_000]);
    let response = prop::collection::vec(0_u64..2_000_000, usize::from(PORTS));
    let all = (scope, room, quanta, response, prop::option::of(watchdogs()));
    all.prop_map(|(scope, (xoff, part, headroom), quanta, response_ps, watchdog)| {
        let xon = xoff * part / 100;
        PauseSpec { scope, xoff, xon, headroom, quanta, response_ps, watchdog }
    })
}

/// How soon a storm is one, and over: soon enough that some are, of pauses of up to 20 quanta of 5 ns to 51 ns each.
fn watchdogs() -> impl Strategy<Value = WatchdogSpec> {
    let action = prop::sample::select(vec![StormAction::Drop, StormAction::Forward, StormAction::Alert]);
    let spec = |(detection_ps, restoration_ps, action)| WatchdogSpec { detection_ps, restoration_ps, action };
    (1_u64..600_000, 1_u64..3_000_000, action).prop_map(spec)
}

fn spec() -> impl Strategy<Value = SwitchSpec> {
    let rate = prop::sample::select(vec![Rate::G10, Rate::G25, Rate::G100]);
    let buffer = (prop::sample::select(vec![4_000, 20_000, 10_000_000]), 1_u32..300, 1_u32..5, 1_u32..5);
    let marks = prop::option::of((0_u64..10_000, 0_u64..10_000, 1_u32..=1_000_000));
    let rates = prop::collection::vec(rate, usize::from(PORTS));
    let latency = prop_oneof![Just(0_u64), Just(300_000), 1_u64..2_000_000];
    let all = (rates, any::<bool>(), latency, buffer, marks, prop::option::of(pauses()));
    all.prop_map(|(rates, stored, latency_ps, buffer, marks, pause)| {
        let (bytes, cell, part, of) = buffer;
        let marking = marks.map(|(from, more, most)| Marking { from, to: from + more, most });
        SwitchSpec {
            ports: rates.into_iter().map(Some).collect(),
            mode: if stored { Mode::StoreAndForward } else { Mode::CutThrough },
            latency_ps,
            buffer: BufferSpec { bytes, cell, alpha: (part, of), marking },
            pause,
            // one station at each port, and one that nobody has
            forwarding: Forwarding::direct(&[0, 1, 2, 3]),
        }
    })
}

/// The trains that arrive at a port, each as soon as it can behind the one before.
fn arrivals(rate: Rate, port: u16, drawn: &[Drawn]) -> Vec<(u64, Train)> {
    let mut at = 0;
    let mut number = 0;
    let trains = drawn.iter().map(|&(gap, count, bytes, to, priority, slack)| {
        at += gap;
        let spacing_ps = rate.time_for(wire_bytes(bytes.into())).as_ps() as u32 + slack;
        let class = Class::of_priority(priority % 8);
        let class = if priority < 4 { class.ecn_capable() } else { class };
        if to == PAUSES {
            // a pause of some priorities or of all, of up to 20 quanta, or none
            let pause = Pause { priorities: slack as u8 | 1 << (priority % 8), quanta: count - 1 };
            let first = (at, pause.frame());
            at += rate.time_for(wire_bytes(64)).as_ps();
            return first;
        }
        let train = Train {
            from: Station(port),
            to: Station(to),
            count,
            bytes,
            spacing_ps,
            class,
            entropy: 0,
            words: [number, port.into(), 0],
        };
        let first = (at, train);
        at += u64::from(count) * u64::from(spacing_ps);
        number += u32::from(count);
        first
    });
    trains.collect()
}

fn drawn() -> impl Strategy<Value = Vec<Drawn>> {
    let gap = prop_oneof![Just(0_u64), 1_u64..5_000_000];
    let slack = prop_oneof![4 => Just(0_u32), 1 => 1_u32..500_000];
    let bytes = prop_oneof![Just(64_u16), Just(1082), Just(4178), 64_u16..9018];
    let train = (gap, 1_u16..20, bytes, 0_u16..=PAUSES, 0_u8..8, slack);
    prop::collection::vec(train, 0..12)
}

/// Runs the engine, told of each train when all that comes before it is decided: what can pass at once does.
fn at_once(spec: &SwitchSpec, trains: &[Vec<(u64, Train)>]) -> (Vec<Frame>, u64) {
    let (mut switch, mut out) = (Switch::new(spec.clone()), Vec::new());
    let of_port = |(port, trains): (u16, &Vec<(u64, Train)>)| {
        trains.iter().map(move |&(at, train)| (at, port, train)).collect::<Vec<_>>()
    };
    let mut all: Vec<_> = (0..).zip(trains).flat_map(of_port).collect();
    all.sort_by_key(|&(at, port, _)| (at, port));
    let mut rest = all.iter().peekable();
    while let Some(&(at, port, train)) = rest.next() {
        switch.decide(Horizon { arrivals: at, answer: u64::MAX / 8, singly: false }, &mut out);
        let until = rest.peek().map_or(u64::MAX / 4, |(next, ..)| *next);
        match switch.pass_at_once(at, port, &train, until) {
            Some(departure) => out.push(departure),
            None => switch.arrive(at, port, train),
        }
    }
    switch.decide(Horizon { arrivals: u64::MAX / 4, answer: u64::MAX / 8, singly: false }, &mut out);
    (frames(&out), switch.counts(u64::MAX / 4).digest)
}

/// The frames of departures, in the order of ports and times.
fn frames(out: &[Departure]) -> Vec<Frame> {
    let frames = out.iter().flat_map(|departure| {
        (0..departure.train.count).map(|i| {
            let train = departure.train.after(i).first(1);
            let train = Train { spacing_ps: 0, ..train };
            Frame { at: departure.train.start_of(departure.start, i), port: departure.port, train }
        })
    });
    let mut frames: Vec<_> = frames.collect();
    frames.sort_by_key(|frame| (frame.port, frame.at));
    frames
}

/// Runs the engine, told of trains as late as the horizons allow; every frame that leaves.
fn engine(spec: &SwitchSpec, trains: &[Vec<(u64, Train)>], steps: &[u64], singly: bool) -> (Vec<Frame>, u64) {
    let mut switch = Switch::new(spec.clone());
    let mut left: Vec<_> = trains.iter().map(|trains| trains.iter().peekable()).collect();
    let (mut at, mut out) = (0, Vec::new());
    let mut steps = steps.iter().cycle();
    loop {
        let last = left.iter_mut().all(|trains| trains.peek().is_none());
        at = if last { u64::MAX / 4 } else { at + steps.next().expect("steps never end") };
        for (port, trains) in left.iter_mut().enumerate() {
            while let Some((first, train)) = trains.next_if(|(first, _)| *first < at) {
                switch.arrive(*first, port as u16, *train);
            }
        }
        switch.decide(Horizon { arrivals: at, answer: u64::MAX / 8, singly }, &mut out);
        switch.happen(at / 2);
        if last {
            break;
        }
    }
    assert_eq!(switch.next_decision(), None);
    let counts = switch.counts(u64::MAX / 4);
    assert_eq!(counts, {
        switch.happen(u64::MAX / 4);
        switch.counts(u64::MAX / 4)
    });
    (frames(&out), counts.digest)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    /// In trains or frame by frame, told early or late, passed at once or not, and by a naive reference: every frame
    /// leaves at the same picosecond from the same port with the same mark, and the same are dropped.
    #[test]
    fn engine_and_reference_agree_on_random_switches(
        spec in spec(),
        drawn in prop::collection::vec(drawn(), usize::from(PORTS)),
        steps in prop::collection::vec(1_u64..3_000_000, 1..6),
    ) {
        let rates = spec.ports.iter().flatten();
        let trains: Vec<_> = rates.zip(&drawn).zip(0..).map(|((rate, drawn), port)| arrivals(*rate, port, drawn)).collect();
        let naive = reference::departures(&spec, &trains);
        let (batched, digest) = engine(&spec, &trains, &[u64::MAX / 4], false);
        prop_assert_eq!(&batched, &naive);
        let (stepped, stepped_digest) = engine(&spec, &trains, &steps, false);
        prop_assert_eq!(&stepped, &naive);
        let (singly, singly_digest) = engine(&spec, &trains, &steps, true);
        prop_assert_eq!(&singly, &naive);
        let (passed, passed_digest) = at_once(&spec, &trains);
        prop_assert_eq!(&passed, &naive);
        prop_assert_eq!([digest; 3], [stepped_digest, singly_digest, passed_digest]);
    }
}
