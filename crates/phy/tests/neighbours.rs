//! Redrivers and neighbours: are their ways through a chain those of the signal, in direction, order and phase?

mod lines;

use lanetwin_phy::budget::{Chain, Change, Coupling, End, Item};
use lanetwin_phy::element::{Axis, Corner, Element, Length, Library};
use lanetwin_phy::eye::{Aggressor, Channel, Constants, Eye, PRESETS, Receiver, Search};
use lanetwin_phy::network::{Grid, Network};
use lanetwin_phy::{DataRate, Transfer};
use lanetwin_units::Generation;
use lines::{far_end, near_end, smooth};
use num_complex::Complex64;
use std::f64::consts::TAU;
use std::sync::Arc;

const STEP_HZ: f64 = 50e6;

fn axis() -> Axis {
    Axis::new(Grid::new(STEP_HZ, 20e9).expect("as it is written here"))
}

/// Between 100 Ω, without reflections: gain and delay \[s\] of either direction.
fn network((forward, back): ((f64, f64), (f64, f64))) -> Arc<Network> {
    let frequencies = Grid::new(STEP_HZ, 20e9).expect("as it is written here").frequencies();
    let wave = |(gain, delay): (f64, f64), f: f64| {
        let (sine, cosine) = libm::sincos(-TAU * f * delay);
        Complex64::new(cosine, sine) * gain
    };
    let zero = Complex64::new(0.0, 0.0);
    let cells = frequencies.iter().flat_map(|&f| [zero, wave(back, f), wave(forward, f), zero]).collect();
    Arc::new(Network::new(frequencies, vec![100.0; 2], cells).expect("as it is written here"))
}

fn item(name: &str, of: ((f64, f64), (f64, f64))) -> Item {
    Item::new(name, Element::Network(network(of)))
}

/// Three pieces, each with a gain and a delay of its own in either direction.
fn three() -> Chain {
    Chain::new(vec![
        item("a", ((0.9, 1.0e-10), (0.8, 2.0e-10))),
        item("b", ((0.7, 3.0e-10), (0.6, 4.0e-10))),
        item("c", ((0.5, 5.0e-10), (0.4, 6.0e-10))),
    ])
    .expect("as it is written here")
}

fn coupled(chain: &Chain, at: &str, end: End) -> Transfer {
    let network = network(((0.01, 7.0e-11), (0.02, 9.0e-11)));
    let coupling = Coupling { at: at.into(), end, network };
    let elements = (Library::standard(), Corner::Nominal);
    chain
        .coupled(0, &coupling, elements, &axis(), 100.0)
        .expect("as it is written here")
        .expect("it is in the only segment")
}

#[test]
fn neighbours_pass_what_lies_before_and_behind_their_coupling_in_the_right_direction() {
    let chain = three();
    for (at, end, gain, delay) in [
        ("a", End::Far, 0.01 * 0.7 * 0.5, 0.7e-10 + 3e-10 + 5e-10),
        ("b", End::Far, 0.9 * 0.01 * 0.5, 1e-10 + 0.7e-10 + 5e-10),
        ("c", End::Far, 0.9 * 0.7 * 0.01, 1e-10 + 3e-10 + 0.7e-10),
        // back through what is behind, then forward through it again
        ("a", End::Near, 0.4 * 0.6 * 0.01 * 0.7 * 0.5, 6e-10 + 4e-10 + 0.7e-10 + 3e-10 + 5e-10),
        ("b", End::Near, 0.4 * 0.01 * 0.5, 6e-10 + 0.7e-10 + 5e-10),
        ("c", End::Near, 0.01, 0.7e-10),
    ] {
        let found = coupled(&chain, at, end);
        for (index, value) in found.h.iter().enumerate() {
            let (sine, cosine) = libm::sincos(-TAU * STEP_HZ * index as f64 * delay);
            let off = (value - Complex64::new(cosine, sine) * gain).norm_sqr().sqrt();
            assert!(off < 1e-9 * gain, "{at} {end:?} {index}: {off:e}");
        }
    }
}

#[test]
fn neighbours_are_where_the_channel_is() {
    let library = Library::standard();
    let cut = Chain::new(vec![
        item("a", ((0.9, 1e-10), (0.9, 1e-10))),
        Item::new("retimer", Element::Retimer("generic-gen5".into())),
        item("b", ((0.7, 1e-10), (0.7, 1e-10))),
        Item::new("redriver", Element::Redriver("generic-gen5".into())),
        item("c", ((0.7, 1e-10), (0.7, 1e-10))),
    ])
    .unwrap();
    let asked = |segment: usize, at: &str, end: End| {
        let network = network(((0.01, 0.0), (0.01, 0.0)));
        let coupling = Coupling { at: at.into(), end, network };
        cut.coupled(segment, &coupling, (library, Corner::Nominal), &axis(), 100.0)
    };
    let ask = |segment, at| asked(segment, at, End::Far);
    assert_eq!([ask(0, "a").unwrap().is_some(), ask(1, "a").unwrap().is_some()], [true, false]);
    assert_eq!([ask(0, "c").unwrap().is_some(), ask(1, "c").unwrap().is_some()], [false, true]);
    assert_eq!(ask(0, "d").unwrap_err().code, "PH024");
    assert_eq!(ask(0, "retimer").unwrap_err().code, "PH025");
    assert_eq!(ask(1, "redriver").unwrap_err().code, "PH025");
    // what comes from beside the receiver is amplified by its own redriver and by ours, if both are on the way
    let at_16_ghz = |at: &str| {
        let found = asked(1, at, End::Near).unwrap().unwrap();
        found.h[320].norm_sqr().sqrt()
    };
    assert!(at_16_ghz("b") > 1.8 * at_16_ghz("c"), "{} {}", at_16_ghz("b"), at_16_ghz("c"));
}

fn with_redriver() -> Chain {
    let board = |name: &str| {
        Item::new(
            name,
            Element::Trace("low-loss".into(), Length::inches(9.0).expect("as it is written here")),
        )
    };
    Chain::new(vec![
        Item::new("root", Element::Package("root-gen5".into())),
        board("first"),
        board("second"),
        Item::new("end", Element::Package("endpoint-gen5".into())),
    ])
    .expect("as it is written here")
    .with(&Change::Redriver { after: "first".into(), part: "generic-gen5".into() }, Library::standard())
    .expect("as it is written here")
}

#[test]
fn a_redriver_splits_a_segment_for_waves_and_not_for_the_budget() {
    let (library, chain) = (Library::standard(), with_redriver());
    assert_eq!(chain.segments().len(), 1);
    let axis = Axis::new(Grid::new(10e6, 64e9).unwrap());
    let (network, _) = chain.segment_network(0, library, Corner::Nominal, &axis, 100.0).unwrap();
    // nothing comes back through it, and what the whole lets through is what its parts let through
    assert!(network.term(0, 1).iter().all(|back| back.norm_sqr() == 0.0));
    // the parts one after another are the whole, if the stage neither adds noise nor compresses
    let text = include_str!("../../../parts/phy/elements.yaml");
    let ideal = text[text.find("redrivers:").unwrap()..]
        .replacen("noise: {value: 800uV", "noise: {value: 0uV", 1)
        .replacen("output-limit: {value: 500mV", "output-limit: {value: 5000V", 1);
    let mut changed = library.clone();
    changed.extend(Library::read(&ideal).unwrap());
    let receiver = gen5();
    let judge = |channel: &Channel| {
        let prepared = receiver.prepare(channel).unwrap();
        let eye = receiver.search(&prepared, &receiver.stress(), &Search::default());
        (eye.opening, prepared.compression_db)
    };
    let of = |library: &Library| judge(&chain.channel(0, library, Corner::Nominal, &axis, 100.0).unwrap());
    let whole = chain.transfer(0, library, Corner::Nominal, &axis, 100.0).unwrap();
    let ((whole, _), (split, nothing), (real, compression)) =
        (judge(&Channel::new(whole)), of(&changed), of(library));
    // each part is freed of its own delay, which is no whole number of samples: both are sampled elsewhere in a
    // sixteenth of a UI
    assert!((split.height_v / whole.height_v - 1.0).abs() < 0.02, "{split:?} {whole:?}");
    assert!(nothing.abs() < 1e-6 && compression < -0.01, "{nothing} {compression}");
    assert!(real.height_v < split.height_v, "{real:?} {split:?}");

    let losses = |corner| chain.margins(library, corner, DataRate::Gen5).unwrap().remove(0).losses;
    let (name, row) = losses(Corner::Nominal)[2].clone();
    assert!(name == "redriver-1" && row < -5.0, "{name} {row}");
    assert!(losses(Corner::High)[2].1 > row + 1.0 && losses(Corner::Low)[2].1 < row - 1.0);
    let used = chain.numbers(library).unwrap();
    assert!(used.iter().any(|used| used.entry == "generic-gen5" && used.place == "stage.noise"));
}

#[test]
fn a_segment_has_one_redriver_and_a_link_one_for_each_segment() {
    let (library, chain) = (Library::standard(), with_redriver());
    let another = Change::Redriver { after: "second".into(), part: "generic-gen5".into() };
    assert_eq!(chain.with(&another, library).unwrap_err().code, "PH025");
    let retimer = Change::Retimer { after: "redriver-1".into(), part: "generic-gen5".into() };
    let cut = chain.with(&retimer, library).unwrap().with(&another, library).unwrap();
    assert_eq!(cut.segments().len(), 2);
    let unknown = Change::Redriver { after: "first".into(), part: "none".into() };
    assert_eq!(chain.with(&unknown, library).unwrap_err().code, "PH020");
    // a retimer may stand behind a redriver
    let ways = chain.placements("generic-gen5", 1, &[], (library, Corner::Nominal, DataRate::Gen5)).unwrap();
    assert!(ways.iter().any(|way| way.after == ["redriver-1"]));
}

fn gen5() -> Receiver {
    Receiver::new(Generation::Gen5, &Constants::built_in()).expect("as it is written here")
}

fn judged(receiver: &Receiver, neighbours: &[Transfer]) -> (Eye, Vec<f64>) {
    let channel = neighbours.iter().fold(Channel::new(smooth(24.0)), |channel, transfer| {
        channel.with_aggressor(Aggressor { transfer: transfer.clone(), ffe: PRESETS[4] })
    });
    let channel = receiver.prepare(&channel).expect("as it is written here");
    let eye = receiver.search(&channel, &receiver.stress(), &Search::default());
    let rms = channel.crosstalk_v(&eye);
    (eye, rms)
}

#[test]
fn coupling_that_is_nothing_changes_nothing_and_more_of_it_closes_the_eye_step_by_step() {
    let receiver = gen5();
    let (plain, none) = judged(&receiver, &[]);
    assert!(none.is_empty());
    let scaled = |gain: f64| {
        let mut coupling = far_end(&smooth(24.0), 18.0);
        coupling.h.iter_mut().for_each(|value| *value *= gain);
        coupling
    };
    let (silent, rms) = judged(&receiver, &[scaled(0.0)]);
    assert_eq!((&silent, rms), (&plain, vec![0.0]));
    let mut last = plain.opening;
    for gain in [0.25, 0.5, 1.0, 2.0] {
        let (eye, rms) = judged(&receiver, &[scaled(gain)]);
        assert!(eye.opening.height_v < last.height_v, "{gain}: {:?} after {last:?}", eye.opening);
        assert!(eye.opening.width_ui <= last.width_ui, "{gain}: {:?} after {last:?}", eye.opening);
        assert!(rms.len() == 1 && rms[0] > 0.0);
        last = eye.opening;
    }
}

#[test]
fn a_neighbour_disturbs_alike_whenever_its_bits_come_and_whichever_way_round_it_is() {
    let receiver = gen5();
    let moved = |delay: f64, sign: f64| {
        let mut coupling = near_end(45.0);
        for (index, value) in coupling.h.iter_mut().enumerate() {
            let (sine, cosine) = libm::sincos(-TAU * coupling.step_hz * index as f64 * delay);
            *value *= Complex64::new(cosine, sine) * sign;
        }
        judged(&receiver, &[coupling])
    };
    let (eye, rms) = moved(0.0, 1.0);
    // a whole number of samples, others between samples, and P and N exchanged
    let ui = receiver.ui_s();
    for (delay, sign) in [(ui / 16.0, 1.0), (0.37 * ui, 1.0), (5.5 * ui, 1.0), (0.0, -1.0)] {
        let (other, other_rms) = moved(delay, sign);
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 0.02;
        assert!(near(other.opening.height_v, eye.opening.height_v), "{delay:e} {:?}", other.opening);
        assert!(near(other_rms[0], rms[0]), "{delay:e} {other_rms:?} {rms:?}");
    }
}
