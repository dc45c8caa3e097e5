//! A saturated switch carries what the closed forms say.

use lanetwin_fabric::ethernet::logic::switch::{BufferSpec, Departure, Horizon, Mode, Switch, SwitchSpec};
use lanetwin_fabric::ethernet::logic::{Class, Forwarding, Station, Train};
use lanetwin_fabric::ethernet::spec::{Rate, Tagging, frame_bytes, wire_bytes};
use lanetwin_fabric::ethernet::throughput;

const FRAMES: u16 = 4000;

/// Two ports offer as much as they can to a third of the same rate.
fn saturated(rate: Rate, payload: u32) -> Vec<Departure> {
    let bytes = frame_bytes(payload, Tagging::Untagged);
    let mut switch = Switch::new(SwitchSpec {
        ports: vec![Some(rate); 3],
        mode: Mode::CutThrough,
        latency_ps: 300_000,
        buffer: BufferSpec { bytes: 64 << 20, cell: 256, alpha: (8, 1), marking: None },
        pause: None,
        forwarding: Forwarding::direct(&[0, 1, 2]),
    });
    for port in 0..2 {
        let spacing_ps = rate.time_for(wire_bytes(bytes)).as_ps() as u32;
        let train = Train {
            from: Station(port),
            to: Station(2),
            count: FRAMES,
            bytes: bytes as u16,
            spacing_ps,
            class: Class::default(),
            entropy: 0,
            words: [0; 3],
        };
        switch.arrive(0, port, train);
    }
    let mut out = Vec::new();
    switch.decide(Horizon { arrivals: u64::MAX / 4, answer: u64::MAX / 8, singly: false }, &mut out);
    out
}

/// Of every rate and many sizes, to a thousandth: what leaves from the first frame on to the last.
#[test]
fn goodput_is_what_the_closed_form_says() {
    for rate in Rate::ALL {
        for payload in [46, 256, 1500, 4200, 9000] {
            let out = saturated(rate, payload);
            let starts: Vec<_> = out.iter().map(|departure| departure.start).collect();
            assert_eq!(starts.len(), 2 * usize::from(FRAMES), "{rate}, {payload} B");
            let time = starts[starts.len() - 1] - starts[0];
            let carried =
                u128::from(payload) * (starts.len() - 1) as u128 * 1_000_000_000_000 / u128::from(time);
            let form = u128::from(throughput::frames(rate, payload, Tagging::Untagged));
            assert!(carried.abs_diff(form) * 1000 < form, "{rate}, {payload} B: {carried}, not {form}");
        }
    }
}
