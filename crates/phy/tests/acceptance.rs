//! The heavy half of the tests of eyes: many bits, every candidate, both unknowns. For a build with optimisation;
//! skipped without.

mod lines;
mod monte_carlo;

use lanetwin_phy::eye::{Channel, Constants, Jitter, Prepared, Receiver, Search, Stress};
use lanetwin_units::Generation;
use lines::{Line, cascade, smooth};

const SHARP: Jitter = Jitter { deterministic_s: 0.0, random_s: 0.0 };

fn gen5() -> Receiver {
    Receiver::new(Generation::Gen5, &Constants::built_in()).expect("it has an equaliser")
}

fn prepared(receiver: &Receiver, loss_db: f64) -> Prepared {
    receiver.prepare(&Channel::new(smooth(loss_db))).expect("it is a channel")
}

/// Errors of so many bits, and the ratio of the statistical eye at the same place.
fn decided(loss_db: f64, stress: &Stress, bits: u64) -> (u64, f64) {
    let receiver = gen5();
    let channel = prepared(&receiver, loss_db);
    let eye = receiver.search(&channel, stress, &Search::default());
    let errors = monte_carlo::Receiver::new(&channel, &eye, stress.jitter, 7).errors(bits);
    (errors, eye.statistical.ber(0.0, 0.0))
}

/// A channel without jitter whose bit error ratio so many bits can count.
fn assert_bits_err_as_the_statistical_eye_says(bits: u64) {
    let (errors, ber) = decided(36.0, &Stress { noise_v: 9.5e-3, jitter: SHARP }, bits);
    println!(
        "{errors} errors of {bits} bits are {:.3e}, the eye says {ber:.3e}",
        errors as f64 / bits as f64
    );
    assert!(ber > 1e-6 && ber < 1e-3, "{ber}");
    assert!(monte_carlo::within_three_sigma(errors, bits, ber), "{errors} {ber}");
}

#[test]
#[ignore = "takes minutes without optimisation: make test-rust"]
fn ten_million_bits_err_as_the_statistical_eye_says() {
    assert_bits_err_as_the_statistical_eye_says(10_000_000);
}

mod nightly {
    #[test]
    #[ignore = "takes half a minute with optimisation: make test-nightly"]
    fn fifty_million_bits_err_as_the_statistical_eye_says() {
        super::assert_bits_err_as_the_statistical_eye_says(50_000_000);
    }
}

#[test]
#[ignore = "takes minutes without optimisation: make test-rust"]
fn bits_with_jitter_err_as_the_statistical_eye_says() {
    const BITS: u64 = 5_000_000;
    for (deterministic_s, random_s) in [(6e-12, 0.0), (0.0, 1.5e-12), (6e-12, 1.0e-12)] {
        let jitter = Jitter { deterministic_s, random_s };
        let (errors, ber) = decided(36.0, &Stress { noise_v: 9e-3, jitter }, BITS);
        println!(
            "{jitter:?}: {errors} errors of {BITS} bits are {:.3e}, the eye says {ber:.3e}",
            errors as f64 / BITS as f64
        );
        assert!(monte_carlo::within_three_sigma(errors, BITS, ber), "{jitter:?}: {errors} {ber}");
    }
}

#[test]
#[ignore = "takes minutes without optimisation: make test-rust"]
fn three_eyes_find_the_verdict_of_all_121() {
    let receiver = gen5();
    let mask = receiver.mask();
    for stress in [receiver.stress(), Stress { noise_v: 0.8e-3, ..receiver.stress() }] {
        for loss in [8.0, 18.4, 24.0, 29.2, 33.0, 36.0, 39.0, 42.0] {
            let channel = prepared(&receiver, loss);
            let [few, all] = [3, 121].map(|full_eyes| {
                let found = receiver.search(&channel, &stress, &Search { full_eyes, ..Search::default() });
                mask.margin(found.opening)
            });
            println!("{loss} dB: margin {few:.3} of three, {all:.3} of all");
            assert_eq!(few >= 1.0, all >= 1.0, "{loss}");
            assert!(few >= all - 0.12 * all.abs() - 0.02, "{loss}: {few} {all}");
        }
    }
}

#[test]
#[ignore = "takes minutes without optimisation: make test-rust"]
fn a_compliance_channel_with_height_to_spare_is_calibrated_to_both_sides_of_the_mask() {
    let receiver = gen5();
    let mask = receiver.mask();
    for loss in [26.0, 29.0] {
        let found = receiver.calibrate(&prepared(&receiver, loss)).unwrap();
        println!("{loss} dB: {found:?}");
        assert!((found.opening.height_v / mask.height_v - 1.0).abs() < 5e-3, "{found:?}");
        assert!((found.opening.width_ui / mask.width_ui - 1.0).abs() < 5e-3, "{found:?}");
    }
}

/// The second order of all that is unconfirmed about the CTLE.
#[test]
#[ignore = "takes minutes without optimisation: make test-rust"]
fn another_form_of_the_ctle_changes_no_verdict_after_calibration() {
    let text = include_str!("../data/equalisation.yaml");
    let (start, end) = (text.rfind("  ctle:").unwrap(), text.rfind("  dfe:").unwrap());
    let form = "  ctle:
    form: one-zero-two-poles
    low-pole-hz: {value: 2e9, kind: assumed, source: a trial}
    high-pole-hz: {value: 16e9, kind: assumed, source: a trial}
    gains-db: {value: [-5, -6, -7, -8, -9, -10, -11, -12, -13, -14, -15], kind: assumed, source: a trial}
";
    let other = Constants::read(&format!("{}{form}{}", &text[..start], &text[end..])).unwrap();
    let verdicts = |constants: &Constants| {
        let receiver = Receiver::new(Generation::Gen5, constants).unwrap();
        let stress = receiver.calibrate(&prepared(&receiver, 36.0)).unwrap().stress;
        [&[9.0, 12.0, 1.5, 5.0, 3.5, 4.0, 6.1][..], &[9.0, 12.0, 1.5, 6.7], &[5.0, 3.5, 4.0, 5.9]].map(
            |losses| {
                let lines: Vec<Line> = losses.iter().map(|&loss| Line::new(loss)).collect();
                let channel = receiver.prepare(&Channel::new(cascade(&lines, 0.12))).unwrap();
                receiver.mask().passes(receiver.search(&channel, &stress, &Search::default()).opening)
            },
        )
    };
    assert_eq!(verdicts(&Constants::built_in()), [false, true, true]);
    assert_eq!(verdicts(&other), [false, true, true]);
}
