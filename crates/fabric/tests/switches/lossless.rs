//! A switch that pauses its peer drops nothing with the headroom that the closed form says, and does with a little
//! less.

use lanetwin_fabric::ethernet::headroom::Lossless;
use lanetwin_fabric::ethernet::logic::switch::{
    BufferSpec, Departure, Horizon, Mode, PauseSpec, Scope, Switch, SwitchSpec,
};
use lanetwin_fabric::ethernet::logic::{Class, Forwarding, Gate, Pause, Station, Train};
use lanetwin_fabric::ethernet::spec::{Line, Rate, pause_frame_time, slowest_response, wire_bytes};
use lanetwin_units::Span;

const XOFF: u64 = 40_000;
const CELL: u32 = 256;

/// What is between the sender and the switch.
fn lossless(rate: Rate, metres: u64, frame: u32) -> Lossless {
    Lossless {
        line: Line::of(rate, metres, Span::from_ns(50)),
        latency: Span::from_ns(450),
        response: slowest_response(rate),
        longest_out: 0,
        frames_in: [frame, frame],
        cell: CELL,
    }
}

/// A sender at port 0 sends as much as it may to port 1, which another pause has closed. How many frames were dropped,
/// and how many the switch holds at the end.
fn flood(of: &Lossless, headroom: u64, backward: bool) -> (u64, u64) {
    let (rate, line) = (of.line.rate, of.line.delay().as_ps());
    let mut switch = Switch::new(SwitchSpec {
        ports: vec![Some(rate); 2],
        mode: Mode::CutThrough,
        latency_ps: of.latency.as_ps(),
        buffer: BufferSpec { bytes: 64 << 20, cell: CELL, alpha: (8, 1), marking: None },
        pause: Some(PauseSpec {
            scope: Scope::Priorities(1 << 3),
            xoff: XOFF,
            xon: 0,
            headroom: vec![headroom; 2],
            quanta: u16::MAX,
            response_ps: vec![of.response.as_ps(); 2],
            watchdog: None,
        }),
        forwarding: Forwarding::direct(&[0, 1]),
    });
    let [_, frame] = of.frames_in;
    let train = |from, priority: u8, bytes: u32| Train {
        from: Station(from),
        to: Station(1 - from),
        count: 1,
        bytes: bytes as u16,
        spacing_ps: 0,
        class: Class::of_priority(priority),
        entropy: 0,
        words: [0; 3],
    };
    switch.arrive(0, 1, Pause { priorities: 1 << 3, quanta: u16::MAX }.frame());
    let started = of.response.as_ps() + 1_000_000;
    if backward {
        // frames of another priority the other way, without a gap: one is in the way of the pause frame
        for i in 0..2_000 {
            let wire = rate.time_for(wire_bytes(of.longest_out)).as_ps();
            switch.arrive(started + i * wire, 1, train(1, 1, of.longest_out));
        }
    }
    let wire = rate.time_for(wire_bytes(frame)).as_ps();
    let mut gate = Gate::new(rate);
    let (mut at, mut out) = (started, Vec::new());
    let end = started + 1_000_000_000;
    while at < end {
        let start = gate.opens(3, at);
        if start > at {
            break;
        }
        switch.arrive(at + line, 0, train(0, 3, frame));
        at += wire;
        // nothing else arrives before the next frame does
        let told = out.len();
        switch.decide(Horizon { arrivals: at + line, answer: u64::MAX / 8, singly: false }, &mut out);
        for Departure { port, start, train } in &out[told..] {
            if let Some(pause) = Pause::of(train).filter(|_| *port == 0) {
                let last_bit = start + line + pause_frame_time(rate).as_ps();
                gate.hear(last_bit + of.response.as_ps(), pause);
            }
        }
    }
    assert!(at < end, "the sender was never paused: {of:?} {headroom} {:?}", switch.counts(at));
    let sent = (at - started) / wire;
    switch.decide(Horizon { arrivals: u64::MAX / 4, answer: u64::MAX / 8, singly: false }, &mut out);
    let dropped = switch.counts(u64::MAX / 8).ports[1].dropped;
    (dropped, sent - dropped)
}

/// For lines of every rate, short and long, with small and large frames: with the headroom of the closed form nothing
/// is dropped, and there is room for at most two frames too many. With a frame less room than came one is dropped.
#[test]
fn the_headroom_is_enough_and_hardly_more() {
    for rate in [Rate::G10, Rate::G25, Rate::G100, Rate::G400] {
        for metres in [3, 100, 2_000] {
            for frame in [64, 1082, 4178, 9216] {
                let of = lossless(rate, metres, frame);
                let headroom = of.headroom();
                let (dropped, held) = flood(&of, headroom, false);
                let room = u64::from(frame.next_multiple_of(CELL));
                assert_eq!(dropped, 0, "{rate}, {metres} m, {frame} B");
                let above = (held * room).saturating_sub(XOFF);
                // the closed form counts a frame in the way of the pause frame even if it has no bytes
                let idle =
                    rate.time_for(wire_bytes(0)).as_ps() * room / rate.time_for(wire_bytes(frame)).as_ps();
                assert!(
                    above <= headroom && headroom <= above + 2 * room + idle,
                    "{rate}, {metres} m, {frame} B"
                );
                let less = above.saturating_sub(room);
                if less >= room {
                    let (dropped, _) = flood(&of, less, false);
                    assert_eq!(dropped, 1, "{rate}, {metres} m, {frame} B: {above} B above, {headroom} B");
                }
            }
        }
    }
}

/// A frame of 9216 B that is in the way of the pause frame costs its time.
#[test]
fn a_frame_in_the_way_of_the_pause_frame_counts() {
    let of = Lossless { longest_out: 9216, ..lossless(Rate::G100, 3, 1082) };
    let held = |headroom, backward| flood(&of, headroom, backward);
    let ((none, free), (dropped, in_the_way)) = (held(of.headroom(), false), held(of.headroom(), true));
    assert_eq!((none, dropped), (0, 0));
    let most = wire_bytes(9216).div_ceil(wire_bytes(1082));
    assert!(in_the_way > free && in_the_way - free <= most.into(), "{in_the_way} instead of {free}");
}
