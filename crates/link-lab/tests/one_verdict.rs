//! One channel, one verdict: eyes, runs, trainings and cycles tell the same two answers of channels drawn at random,
//! and what the simulated link does is what they say.

use lanetwin_link_lab::channel::{self, Answers, Channel, Judge, eye};
use lanetwin_link_lab::stability::{Options, cycles, train};
use lanetwin_probe::drive::Request;
use lanetwin_units::Generation;
use std::ops::ControlFlow;
use std::path::Path;

/// Above this nothing can be run: the limit of a run ([SC078]).
const NO_LINK: f64 = 1e-4;
/// Up to this a link operates.
const STANDARD: f64 = 1e-12;
/// Up to this it does so wherever an adaptation of its receivers ends, which is a little elsewhere each time.
const WITH_ROOM: f64 = 1e-17;

/// A channel of some 20 to 60 dB: boards of two materials, perhaps a connector, a cable and a retimer. The draws are of
/// the golden ratio, so that they lie evenly.
fn drawn(number: u32) -> Channel {
    let draw = |of: f64| (f64::from(number) * of).fract();
    let (board, length) =
        (["low-loss", "ultra-low-loss"][usize::from(draw(0.754_878) > 0.6)], 8.0 + 30.0 * draw(0.618_034));
    let cable = if draw(0.569_840) > 0.5 { "  - {cable: twinax-30awg, length: 0.4m}\n" } else { "" };
    let retimer = if draw(0.413_241) > 0.7 { "  - {retimer: generic-gen5}\n" } else { "" };
    let text = format!(
        "about: Does it hold?\ngen: 5\nstress: constants\nchain:\n  - package: root-gen5\n  - {{board: {board}, length: {length:.2}in}}\n\
         {cable}{retimer}  - {{connector: cem}}\n  - {{board: low-loss, length: 3in}}\n  - package: endpoint-gen5\n"
    );
    channel::check(Path::new("link.yaml"), &text, &[]).unwrap_or_else(|found| panic!("{text}{found:#?}"))
}

fn worst(all: impl Iterator<Item = (bool, bool, f64)>) -> (bool, bool, f64) {
    all.fold((true, true, 0.0), |(mask, operates, ber), one| {
        (mask && one.0, operates && one.1, one.2.max(ber))
    })
}

const fn told(answers: &Answers) -> (bool, bool, f64) {
    (answers.meets_mask, answers.operates, answers.ber)
}

/// Asks all four, and holds the simulated link to what they say. Gives the answers.
fn agree(number: u32) -> (bool, bool, f64) {
    let channel = drawn(number);
    let seen = eye(&channel, &mut |_| ControlFlow::Continue(())).expect("an eye");
    let of_eye = worst(seen.variants[0].segments.iter().map(|one| (one.passes, one.operates, one.ber)));

    let name = channel.variants[0].name.clone();
    let judged = Judge::default().eyes(&channel, &name, Generation::Gen5).expect("a verdict");
    assert_eq!(worst(judged.iter().map(|one| told(&one.answers))), of_eye, "channel {number}: a run");

    let trained = train(&channel, &Options::default()).expect("a training");
    assert_eq!(told(&trained.answers[0].answers), of_eye, "channel {number}: a training");

    let request = Request { tests: vec!["retrain".into()], count: 20, ..Request::default() };
    let cycled = cycles(&channel, &Options::default(), &request, &mut |_, _| ControlFlow::Continue(()));
    let cycled = cycled.expect("cycles");
    assert_eq!(told(&cycled.answers[0].answers), of_eye, "channel {number}: cycles");

    let best = trained.variants[0].up && trained.variants[0].generation == 5;
    let passed = cycled.report.series[0].tests[0].failed == 0;
    let (_, operates, ber) = of_eye;
    assert!(!operates || best, "channel {number} operates with {ber:e}, and its link does not come up");
    if ber <= WITH_ROOM {
        assert!(best && passed, "channel {number} operates with {ber:e}, and its link: {best}, {passed}");
    }
    if ber > NO_LINK {
        assert!(!best || !passed, "channel {number} has {ber:e}, and its link holds");
    }
    of_eye
}

/// Some of them give each pair of answers that there is.
#[test]
fn ten_drawn_channels_have_one_verdict_each() {
    let found: Vec<_> = (1..=10).map(agree).collect();
    println!("{found:?}");
    let some = |wanted: (bool, bool)| found.iter().any(|(mask, operates, _)| (*mask, *operates) == wanted);
    assert!(some((true, true)) && some((false, false)), "{found:?}");
    assert!(
        found.iter().all(|(mask, operates, ber)| (!mask || *operates) && (*ber <= STANDARD) == *operates),
        "{found:?}"
    );
}

mod nightly {
    #[test]
    #[ignore = "three hundred channels: some minutes"]
    fn three_hundred_drawn_channels_have_one_verdict_each() {
        (1..=300).for_each(|number| {
            super::agree(number);
        });
    }
}
