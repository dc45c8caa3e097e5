//! What an eye must do: close with loss, noise, jitter and neighbours, agree with other ways to compute it, and tell
//! channels that work from those that do not.

mod lines;
mod monte_carlo;

use lanetwin_phy::budget::{Chain, Item, Margin};
use lanetwin_phy::element::{Axis, Corner, Element, Length, Library};
use lanetwin_phy::eye::{
    Aggressor, Channel, Constants, Distribution, Eye, Jitter, PRESETS, Prepared, PulseError, Receiver,
    Redriver, Search, Stress, TooDeep, coefficients, tail_by_characteristic_function, tail_by_saddle_point,
};
use lanetwin_phy::network::Grid;
use lanetwin_phy::{DataRate, Transfer};
use lanetwin_units::Generation;
use lines::{Line, cascade, far_end, near_end, smooth};

const SHARP: Jitter = Jitter { deterministic_s: 0.0, random_s: 0.0 };

fn gen5() -> Receiver {
    Receiver::new(Generation::Gen5, &Constants::built_in()).expect("it has an equaliser")
}

fn prepared(receiver: &Receiver, through: Transfer) -> Prepared {
    receiver.prepare(&Channel::new(through)).expect("it is a channel")
}

fn eye(receiver: &Receiver, channel: &Prepared, stress: &Stress) -> Eye {
    receiver.search(channel, stress, &Search::default())
}

fn lines(losses: &[f64]) -> Vec<Line> {
    losses.iter().map(|&loss| Line::new(loss)).collect()
}

#[test]
fn the_eye_closes_with_loss() {
    let receiver = gen5();
    let openings: Vec<_> = [6.0, 12.0, 18.0, 24.0, 30.0, 36.0, 42.0, 48.0]
        .map(|loss| eye(&receiver, &prepared(&receiver, smooth(loss)), &receiver.stress()).opening)
        .to_vec();
    for pair in openings.windows(2) {
        assert!(pair[1].height_v < pair[0].height_v, "{openings:?}");
    }
    assert!(receiver.mask().passes(openings[2]) && openings[7].height_v < 0.0, "{openings:?}");
    assert_eq!(openings[7].width_ui, 0.0);
}

#[test]
fn a_smooth_line_at_the_budget_has_about_the_height_of_the_mask() {
    // 36 dB and 15 mV are both sourced and meet at 0.8 mV of noise, with nothing fitted
    let receiver = gen5();
    let stress = Stress { noise_v: 0.8e-3, ..receiver.stress() };
    let found = eye(&receiver, &prepared(&receiver, smooth(36.0)), &stress).opening;
    assert!((found.height_v - 15e-3).abs() < 1.5e-3, "{found:?}");
}

#[test]
fn every_generation_passes_a_good_channel_and_fails_a_hopeless_one() {
    // losses at 16 GHz; Gen3 and Gen4 see about a third and a half of it at their Nyquist frequencies
    for generation in [Generation::Gen3, Generation::Gen4, Generation::Gen5] {
        let receiver = Receiver::new(generation, &Constants::built_in()).expect("it has an equaliser");
        let passes = |loss| {
            let found = eye(&receiver, &prepared(&receiver, smooth(loss)), &receiver.stress());
            receiver.mask().passes(found.opening)
        };
        assert!(passes(15.0) && !passes(120.0), "{generation:?}");
    }
    assert!(Receiver::new(Generation::Gen2, &Constants::built_in()).is_none());
}

#[test]
fn noise_jitter_and_neighbours_each_close_the_eye() {
    let receiver = gen5();
    let through = smooth(28.0);
    let channel = prepared(&receiver, through.clone());
    let stress = receiver.stress();
    let plain = eye(&receiver, &channel, &stress);
    let noisy = eye(&receiver, &channel, &Stress { noise_v: 2.5e-3, ..stress });
    let jitter = Jitter { deterministic_s: 9.4e-12, random_s: 0.5e-12 };
    let jittery = eye(&receiver, &channel, &Stress { jitter, ..stress });
    let neighbour = Aggressor { transfer: far_end(&through, 18.0), ffe: PRESETS[7] };
    let beside = Aggressor { transfer: near_end(50.0), ffe: PRESETS[7] };
    let both = Channel::new(through).with_aggressor(neighbour).with_aggressor(beside);
    let disturbed = eye(&receiver, &receiver.prepare(&both).unwrap(), &stress);
    for worse in [&noisy, &jittery, &disturbed] {
        assert!(worse.opening.height_v < plain.opening.height_v - 1e-3, "{:?}", worse.opening);
        assert!(worse.opening.width_ui < plain.opening.width_ui - 0.02, "{:?}", worse.opening);
    }
    assert!(jittery.opening.width_ui < plain.opening.width_ui - 0.15, "6.3 ps are 0.2 UI");
}

#[test]
fn reflections_close_an_eye_of_the_same_loss() {
    let receiver = gen5();
    let height = |reflection| {
        let through = cascade(&lines(&[9.0, 2.0, 2.0, 1.5, 9.5]), reflection);
        let loss_db = -10.0 * libm::log10(through.h[1600].norm_sqr());
        (loss_db, eye(&receiver, &prepared(&receiver, through), &receiver.stress()).opening.height_v)
    };
    let ((loss, still), (loss_too, echoing)) = (height(0.0), height(0.35));
    assert!((loss - loss_too).abs() < 1.5, "{loss} {loss_too}");
    assert!(echoing < 0.9 * still, "{still} {echoing}");
}

#[test]
fn convolution_and_saddle_point_agree_on_a_channel_down_to_1e_12_and_beyond() {
    let receiver = gen5();
    let channel = prepared(&receiver, smooth(36.0));
    let found = eye(&receiver, &channel, &receiver.stress());
    let mut deepest = 1.0_f64;
    for noise in [6e-3, 3e-3, 1.5e-3, 0.8e-3, 0.5e-3] {
        let mut at = channel.interference(&found);
        at.sigma_v = noise;
        for share in [0.4, 0.7, 1.0] {
            let x = at.main_v * share;
            let (direct, saddle) = (Distribution::of(&at).tail(x), tail_by_saddle_point(&at, x));
            if saddle > 1e-38 {
                let allowed = if saddle > 1e-14 { 0.2 } else { 0.5 };
                println!("{noise} {x:.4}: {direct:.3e} {saddle:.3e} {:.3}", direct / saddle);
                assert!((direct / saddle - 1.0).abs() < allowed, "{noise} {x}: {direct} {saddle}");
                deepest = deepest.min(saddle);
            }
        }
    }
    assert!(deepest < 1e-20, "{deepest}");
}

#[test]
fn the_characteristic_function_is_refused_where_it_would_be_rounding() {
    let receiver = gen5();
    let channel = prepared(&receiver, smooth(36.0));
    let mut at = channel.interference(&eye(&receiver, &channel, &receiver.stress()));
    at.sigma_v = 5e-3;
    let shallow = tail_by_characteristic_function(&at, at.main_v).unwrap();
    assert!((shallow / Distribution::of(&at).tail(at.main_v) - 1.0).abs() < 0.03);
    at.sigma_v = 0.8e-3;
    assert_eq!(tail_by_characteristic_function(&at, at.main_v), Err(TooDeep));
}

#[test]
fn the_eye_is_what_a_receiver_that_decides_bit_by_bit_sees() {
    let receiver = gen5();
    let channel = prepared(&receiver, smooth(36.0));
    let stress = Stress { noise_v: 11e-3, jitter: SHARP };
    let found = eye(&receiver, &channel, &stress);
    let ber = found.statistical.ber(0.0, 0.0);
    assert!(ber > 1e-4 && ber < 3e-2, "{ber}");
    let bits = 400_000;
    let errors = monte_carlo::Receiver::new(&channel, &found, SHARP, 1).errors(bits);
    assert!(monte_carlo::within_three_sigma(errors, bits, ber), "{errors} of {bits}, {ber}");
    // the test can fail: a tenth less noise is seen
    let quieter = eye(&receiver, &channel, &Stress { noise_v: 9.9e-3, jitter: SHARP });
    assert!(!monte_carlo::within_three_sigma(errors, bits, quieter.statistical.ber(0.0, 0.0)));
}

#[test]
fn a_swapped_pair_is_turned_back_and_told() {
    let receiver = gen5();
    let mut swapped = smooth(30.0);
    swapped.h.iter_mut().for_each(|value| *value = -*value);
    let (plain, turned) = (prepared(&receiver, smooth(30.0)), prepared(&receiver, swapped));
    assert!(!plain.inverted() && turned.inverted());
    let openings = [plain, turned].map(|channel| eye(&receiver, &channel, &receiver.stress()).opening);
    assert_eq!(openings[0], openings[1]);
}

#[test]
fn coefficients_find_what_presets_find_or_better() {
    let receiver = gen5();
    let free = coefficients(48, 16);
    let ffes: Vec<_> = PRESETS.iter().copied().chain(free.iter().map(|setting| setting.taps())).collect();
    let quiet = Stress { noise_v: 0.8e-3, ..receiver.stress() };
    let margins = |loss| {
        let channel = prepared(&receiver, smooth(loss));
        let margin =
            |search: &Search| receiver.mask().margin(receiver.search(&channel, &quiet, search).opening);
        (
            margin(&Search { full_eyes: 8, ..Search::default() }),
            margin(&Search { ffes: ffes.clone(), full_eyes: 40, ..Search::default() }),
        )
    };
    let found = [34.0, 42.0, 45.0].map(margins);
    assert!(found.iter().all(|(presets, free)| free >= presets), "{found:?}");
    assert!(found.iter().any(|(presets, free)| *free > 1.02 * presets), "{found:?}");
}

#[test]
fn a_redriver_opens_a_lossy_channel_and_its_noise_and_its_limit_close_it() {
    let receiver = gen5();
    let stage = Redriver {
        dc_gain_db: 0.0,
        peaking_db: 12.0,
        low_pole_hz: 4e9,
        bandwidth_hz: 24e9,
        noise_v: 0.3e-3,
        output_limit_v: 2.0,
    };
    let judge = |stage: Option<Redriver>| {
        let channel = match stage {
            None => Channel::new(smooth(44.0)),
            Some(stage) => Channel::new(smooth(22.0)).with_redriver(stage, smooth(22.0)),
        };
        let channel = receiver.prepare(&channel).unwrap();
        (eye(&receiver, &channel, &receiver.stress()).opening.height_v, channel.compression_db)
    };
    let (without, nothing) = judge(None);
    let (with, little) = judge(Some(stage));
    let (noisy, _) = judge(Some(Redriver { noise_v: 3e-3, ..stage }));
    let (compressed, much) = judge(Some(Redriver { output_limit_v: 0.2, ..stage }));
    assert!(without < 0.0 && with > 5e-3, "{without} {with}");
    assert!(noisy < with - 2e-3 && compressed < with - 2e-3, "{noisy} {compressed}");
    assert_eq!(nothing, 0.0);
    assert!(little > -0.5 && much < -3.0, "{little} dB, {much} dB");
}

#[test]
fn what_is_lost_of_the_margin_is_paid_in_errors() {
    let receiver = gen5();
    let found = eye(&receiver, &prepared(&receiver, smooth(36.0)), &receiver.stress());
    let mask = receiver.mask();
    // a threshold that is off by half of what is lost, a sampling time by half of it to the worse side
    let off = |height_v: f64, width_ui: f64| {
        let at = |ui: f64| found.statistical.ones_lost(ui, 0.5 * height_v);
        at(found.centre_ui - 0.5 * width_ui).max(at(found.centre_ui + 0.5 * width_ui))
    };
    assert!(found.ber < 1e-20 && off(0.0, 0.0) == found.ber);
    // an eye that loses just its height or its width stands at the ratio at which they were taken
    let height = off(found.opening.height_v, 0.0);
    assert!((height / mask.ber - 1.0).abs() < 0.1, "{height}");
    let less = off(0.5 * found.opening.height_v, 0.0);
    assert!(found.ber < less && less < height);
    // the sides of an eye are not equally far: half the width to the worse side is too far
    let width = off(0.0, found.opening.width_ui);
    assert!(width >= 0.9 * mask.ber && width < 1e-3, "{width}");
    assert!(off(1.0, 0.0) > 0.4);
}

/// Items of the library: packages, connectors and a cable by name, boards of low loss by length \[in\].
fn chain(items: &[(&str, f64)]) -> Chain {
    let element = |name: &str, size: f64| match name {
        "root-gen5" | "endpoint-gen5" => Element::Package(name.into()),
        "cem" => Element::Connector(name.into()),
        "generic-gen5" => Element::Retimer(name.into()),
        "twinax-30awg" => Element::Cable(name.into(), Length::metres(size).expect("a length")),
        _ => Element::Trace(name.into(), Length::inches(size).expect("a length")),
    };
    let named =
        items.iter().enumerate().map(|(at, (name, size))| Item::new(&format!("{at}"), element(name, *size)));
    Chain::new(named.collect()).expect("names differ, and a retimer stands between others")
}

/// The segments of a chain, as channels between 100 Ω, with their losses at 16 GHz \[dB\].
fn segments(chain: &Chain) -> Vec<(f64, Transfer)> {
    let (library, corner) = (Library::standard(), Corner::Nominal);
    let axis = Axis::new(Grid::new(10e6, 64e9).expect("a grid"));
    let margins = chain.margins(library, corner, DataRate::Gen5).expect("all are in the library");
    let segment = |margin: &Margin| {
        let transfer = chain.transfer(margin.segment, library, corner, &axis, 100.0);
        (margin.loss_db, transfer.expect("all are in the library"))
    };
    margins.iter().map(segment).collect()
}

#[test]
fn calibrated_by_the_budget_the_long_topology_needs_its_retimer() {
    let receiver = gen5();
    let whole =
        [("root-gen5", 0.0), ("low-loss", 21.46), ("cem", 0.0), ("low-loss", 6.7), ("endpoint-gen5", 0.0)];
    let (loss, compliance) = segments(&chain(&whole)).remove(0);
    assert!((loss - 36.0).abs() < 0.05, "{loss}");
    let calibration = receiver.calibrate(&prepared(&receiver, compliance)).unwrap();
    let mask = receiver.mask();
    assert!((calibration.opening.height_v / mask.height_v - 1.0).abs() < 0.02, "{calibration:?}");
    assert!(calibration.opening.width_ui >= mask.width_ui, "{calibration:?}");
    let verdicts = |items: &[(&str, f64)]| -> Vec<(u32, bool)> {
        let judge = |(loss, transfer): (f64, Transfer)| {
            let found = eye(&receiver, &prepared(&receiver, transfer), &calibration.stress).opening;
            println!("{loss:.1} dB: {:.2} mV, {:.3} UI", found.height_v * 1e3, found.width_ui);
            (loss.round() as u32, mask.passes(found))
        };
        segments(&chain(items)).into_iter().map(judge).collect()
    };
    // CPU package, board, slot, passive card, cable with its ends, SSD; then with a retimer on the card
    let before = [("root-gen5", 0.0), ("low-loss", 16.0), ("cem", 0.0), ("low-loss", 4.5)];
    let after = [("low-loss", 2.1), ("twinax-30awg", 0.7), ("low-loss", 2.1), ("endpoint-gen5", 0.0)];
    assert_eq!(verdicts(&[&before[..], &after].concat()), [(41, false)]);
    let cut = [&before[..], &[("generic-gen5", 0.0)], &after].concat();
    assert_eq!(verdicts(&cut), [(29, true), (18, true)]);
    // an SSD in a slot on a short board
    let short = [("root-gen5", 0.0), ("low-loss", 4.0), ("cem", 0.0), ("endpoint-gen5", 0.0)];
    assert_eq!(verdicts(&short), [(18, true)]);
}

#[test]
fn lines_by_formula_are_judged_alike() {
    let receiver = gen5();
    let stress = receiver.calibrate(&prepared(&receiver, smooth(36.0))).unwrap().stress;
    let passes = |losses: &[f64]| {
        let channel = prepared(&receiver, cascade(&lines(losses), 0.12));
        receiver.mask().passes(eye(&receiver, &channel, &stress).opening)
    };
    assert!(!passes(&[9.0, 12.0, 1.5, 5.0, 3.5, 4.0, 6.1]));
    assert!(passes(&[9.0, 12.0, 1.5, 6.7]) && passes(&[5.0, 3.5, 4.0, 5.9]));
}

#[test]
fn what_is_no_channel_is_refused() {
    let receiver = gen5();
    let mut silent = smooth(20.0);
    silent.h.iter_mut().for_each(|value| *value *= 0.0);
    assert_eq!(receiver.prepare(&Channel::new(silent)), Err(PulseError::Silent));
    let mut short = smooth(20.0);
    short.h.truncate(1500);
    assert!(matches!(receiver.prepare(&Channel::new(short)), Err(PulseError::BandTooNarrow { .. })));
}
