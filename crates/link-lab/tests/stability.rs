//! Links of channels and of dumps, cycled in simulation by the runner of real machines.

use lanetwin_link_lab::channel::{self, Benches, Channel, receivers};
use lanetwin_link_lab::stability::{
    DEVICE, LinkRequest, Options, PORT, Simulated, cycle_dump, cycles, link, open_link,
};
use lanetwin_pcie::logic::ltssm::channel::{Direction, LaneEye};
use lanetwin_pcie::logic::ltssm::link::{Facing, LinkConfig, SimulatedLink, Size};
use lanetwin_pcie::logic::ltssm::probability::over_adaptation;
use lanetwin_probe::cycle::{Bench, Series, Test, TestReport};
use lanetwin_probe::drive::{Request, cycle_known};
use lanetwin_probe::fake::{Sample, dump};
use lanetwin_probe::{Function, Host, Session, Width};
use lanetwin_units::{Generation, Span};
use std::ops::ControlFlow;
use std::path::Path;

const STEADY: &str = "stress: constants\nabout: Does it hold?\ngen: 5\nchain:\n  - package: root-gen5\n  - {name: board, board: low-loss, length: 6in}\n  - package: endpoint-gen5\n";

fn channel(length: &str) -> Channel {
    let sets = [format!("chain.board.length={length}")];
    channel::check(Path::new("link.yaml"), STEADY, &sets).expect("a channel")
}

fn request(tests: &[&str], count: u64) -> Request {
    let tests = tests.iter().map(|name| (*name).to_owned()).collect();
    Request { tests, count, power_count: Some(count), ..Request::default() }
}

fn cycled(channel: &Channel, request: &Request) -> Series {
    let mut report = cycles(channel, &Options::default(), request, &mut |_, _| ControlFlow::Continue(()))
        .expect("what can be asked");
    assert!(report.report.complete);
    report.report.series.remove(0)
}

/// A link with open eyes and four lanes, at most of this generation.
fn open(best: Generation) -> LinkConfig {
    let wanted = LinkRequest { width: lanetwin_units::Width::X4, utilisation: 0.0, seed: 1 };
    open_link("open", best, 0, wanted)
}

/// The link of this description after it had its time to come up.
fn powered(config: LinkConfig, seed: u64) -> Simulated {
    let mut machine = Simulated { link: SimulatedLink::new(config, seed).expect("a link") };
    machine.link.wait(Span::from_us(1_500_000));
    machine
}

/// The rows of a request on a link. Its registers are known from one that is up.
fn rows(machine: &mut Simulated, request: &Request) -> Vec<TestReport> {
    let mut twin = powered(open(Generation::Gen5), 1);
    let ends = [PORT, DEVICE].map(|at| Function::find(&mut twin, at).expect("a function"));
    let [port, device] = ends;
    let wish = request.wish().expect("what can be asked");
    let watch = &mut |_: &_| ControlFlow::Continue(());
    let (series, _) = cycle_known(machine, "link", (port, device), &wish, None, &mut |_| Ok(()), watch)
        .expect("it can be cycled");
    series.tests
}

fn row(machine: &mut Simulated, test: &str, count: u64) -> TestReport {
    rows(machine, &request(&[test], count)).remove(0)
}

#[test]
fn every_test_passes_on_a_short_board() {
    let channel = channel("6in");
    let series = cycled(&channel, &request(&["all"], 4));
    assert_eq!(series.tests.len(), 11);
    for test in &series.tests {
        assert_eq!(
            (test.verdict, test.passed),
            ("pass", 4),
            "{}: {:?} {:?}",
            test.title,
            test.reason,
            test.failures
        );
        assert!(test.time.mean_s > 0.0, "{}", test.title);
    }
    assert_eq!(series.not_restored, []);
}

#[test]
fn a_board_that_is_too_long_fails_with_codes() {
    let channel = channel("60in");
    let series = cycled(&channel, &request(&["sbr"], 3));
    let test = &series.tests[0];
    assert!(test.failed > 0 && test.failed == test.cycles, "{test:?}");
    assert!(test.codes.keys().any(|code| code.starts_with("EQ_P") || *code == "LOCK_FAIL"), "{test:?}");
}

#[test]
fn the_link_of_a_dump_is_simulated_behind_its_registers() {
    for retimers in 0..=2 {
        let text = dump::write(&Sample { retimers, ..Sample::default() }.spaces());
        let report = cycle_dump(&text, None, &Options::default(), &request(&["all", "flr"], 3), &mut |_| {
            ControlFlow::Continue(())
        })
        .expect("a dump");
        for test in &report.series[0].tests {
            assert_eq!(
                test.verdict, "pass",
                "{retimers} {}: {:?} {:?}",
                test.title, test.reason, test.failures
            );
        }
        assert_eq!(report.series[0].not_restored, []);
        assert_eq!(report.series[0].link.expect("a link").retimers, retimers);
        let again = cycle_dump(&text, None, &Options::default(), &request(&["all", "flr"], 3), &mut |_| {
            ControlFlow::Continue(())
        });
        assert_eq!(again.as_ref(), Ok(&report), "the same seed, the same cycles");
    }
}

/// A simulation that is stopped in the middle of whatever it does has every register as it was.
#[test]
fn a_simulated_link_is_put_back_wherever_it_stops() {
    let wanted =
        LinkRequest { width: lanetwin_units::Width::from_lanes(4).unwrap(), utilisation: 0.0, seed: 3 };
    for test in Test::full() {
        let config = open_link("put back", Generation::Gen5, 1, wanted);
        let mut machine = Simulated { link: SimulatedLink::new(config, 3).expect("a link") };
        machine.link.set_power(true);
        machine.link.wait(Span::from_us(1_500_000));
        let read = |machine: &mut Simulated| -> Vec<u32> {
            let port = Function::find(machine, PORT).expect("a port");
            let places = lanetwin_probe::registers::ALL.iter().filter(|place| place.keeps != 0);
            let offsets: Vec<(u16, u32)> =
                places.filter_map(|place| Some((port.offset(place)?, place.keeps))).collect();
            offsets
                .iter()
                .map(|(at, keeps)| {
                    machine.read(PORT, at & !3, Width::Dword).unwrap() >> (8 * (at & 3)) & keeps
                })
                .collect()
        };
        let before = read(&mut machine);
        {
            let (port, device) =
                (Function::find(&mut machine, PORT).unwrap(), Function::find(&mut machine, DEVICE).unwrap());
            let mut session = Session::new(&mut machine, PORT, DEVICE, None);
            let mut bench = Bench::new(&mut session, port, device).expect("a link");
            let wish = request(&[test.name()], 2).wish().unwrap();
            bench.run(&wish, &mut |_| ControlFlow::Continue(())).expect("it runs");
            assert_eq!(session.restore(), [], "{}", test.name());
        }
        assert_eq!(read(&mut machine), before, "{}", test.name());
    }
}

/// A cycle fails if a bit error is seen while the link is watched. Each lock draws the height of each of eight
/// receivers anew, so the chance is what the spread of heights makes of the bits of ten milliseconds.
#[test]
fn a_marginal_link_fails_at_the_rate_that_its_margin_implies() {
    const CYCLES: u64 = 3000;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/link/three-grades.yaml");
    let channel = channel::check_path(&path, &["stress=constants".into()]).expect("a channel");
    let marginal = channel.variants.iter().find(|variant| variant.name == "marginal").expect("the variant");
    let eyes = receivers(&channel, marginal, &Benches::of(&channel).expect("rates with eyes")).expect("eyes");
    let wanted = LinkRequest { width: lanetwin_units::Width::X4, utilisation: 0.0, seed: 1 };
    let config = link("marginal", marginal.rate, &eyes, wanted);
    let eye = config.channel.eye(Generation::Gen5, 0, Direction::Down, 0);
    let bits = 32e9 * 10e-3;
    let unseen = over_adaptation(eye.height_mv, config.adaptation.sigma_mv, |height| {
        (-bits * eye.ber_at(height)).exp()
    });
    let implied = 1.0 - unseen.powi(8);

    let options = Options { variants: vec!["marginal".into()], ..Options::default() };
    let report =
        cycles(&channel, &options, &request(&["retrain"], CYCLES), &mut |_, _| ControlFlow::Continue(()));
    let row = report.expect("what can be asked").report.series.remove(0).tests.remove(0);
    let (n, failed) = (CYCLES as f64, row.failed as f64);
    println!("{failed} of {n} cycles failed, {:.1} implied; {:?}", implied * n, row.codes);
    assert!(
        (failed - implied * n).abs() < 3.0 * (n * implied * (1.0 - implied)).sqrt(),
        "{failed} {}",
        implied * n
    );
    assert!(failed > 30.0 && row.codes.keys().eq(["AER_COR_EXCESS"].iter()), "{:?}", row.codes);
}

/// Orders of magnitude of real links, as the design has them: a retrain in microseconds and a poll, a change of rate in
/// 0.1 to 2 ms for each step, equalisation at two rates in 5 to 60 ms each, a reset in 20 to 200 ms of link and at
/// least 100 ms of software.
#[test]
fn cycles_take_the_time_that_real_ones_take() {
    let mut machine = powered(open(Generation::Gen5), 1);
    let mut ms = |test| {
        let row = row(&mut machine, test, 2);
        assert_eq!(row.verdict, "pass", "{row:?}");
        (row.link_time.mean_s * 1e3, row.time.mean_s * 1e3)
    };
    let within = |what: &str, found: f64, range: std::ops::Range<f64>| {
        assert!(range.contains(&found), "{what}: {found} ms, not {range:?}");
    };
    within("retrain", ms("retrain").0, 0.001..1.0);
    within("to 2.5 GT/s and back", ms("speed-change-max").0, 0.2..20.0);
    within("equalisation", ms("txeq-redo").0, 10.0..120.0);
    let (link, whole) = ms("sbr");
    within("reset, link", link, 20.0..200.0);
    within("reset", whole, 100.0..3000.0);
    within("D3hot", ms("d3hot").1, 20.0..40.0);
    within("power", ms("power-cycle").1, 1000.0..60_000.0);
}

/// What cannot be done is not said to be done.
#[test]
fn an_action_without_effect_is_not_performed() {
    let verdict = |config, test| row(&mut powered(config, 1), test, 2).verdict;
    let mut without_l1 = open(Generation::Gen5);
    without_l1.upstream.l1 = false;
    assert_eq!(verdict(without_l1, "l1-aspm"), "NOT PERFORMED");
    let wanted = LinkRequest { width: lanetwin_units::Width::X1, utilisation: 0.0, seed: 1 };
    let x1 = open_link("narrow", Generation::Gen5, 0, wanted);
    assert_eq!(verdict(x1, "dynamic-width"), "NOT PERFORMED");
    for test in ["txeq-redo", "speed-change-max", "speed-change-retrain"] {
        assert_eq!(verdict(open(Generation::Gen1), test), "NOT PERFORMED", "{test}");
    }
    // traffic keeps a link awake
    let mut busy = open(Generation::Gen5);
    busy.traffic.utilisation = 0.5;
    assert_eq!(verdict(busy, "l1-aspm"), "NOT PERFORMED");
}

#[test]
fn a_target_left_at_the_slowest_rate_is_told_apart_from_a_failure() {
    let mut machine = powered(open(Generation::Gen5), 1);
    // what Linux does to a link that it takes for failed: Target Link Speed, in Link Control 2 of the port
    machine.link.write_config(Facing::Downstream, 0xa0, Size::Word, 1);
    let failure = row(&mut machine, "sbr", 1).failures.remove(0);
    assert_eq!((failure.outcome.as_str(), failure.codes.as_slice()), ("slow", ["STUCK_2.5GT"].as_slice()));
}

#[test]
fn a_device_that_never_gets_ready_is_lost() {
    let mut config = open(Generation::Gen5);
    config.device.ready = Span::from_us(200_000_000);
    let mut machine = powered(config, 1);
    machine.link.wait(Span::from_us(250_000_000));
    let failure = row(&mut machine, "sbr", 1).failures.remove(0);
    assert_eq!(
        (failure.outcome.as_str(), failure.codes.as_slice()),
        ("lost", ["CFG_RRS_TIMEOUT"].as_slice())
    );
}

#[test]
fn a_link_that_does_not_come_back_is_down() {
    let mut config = open(Generation::Gen5);
    for generation in Generation::ALL {
        config.channel.set_rate(generation, LaneEye::new(-60.0, 3.0));
    }
    let row = row(&mut powered(config, 1), "power-cycle", 2);
    assert_eq!(row.failures[0].outcome, "DL down", "{row:?}");
    assert!(row.codes.contains_key("DLL_INACTIVE_1S") && row.stopped.is_some(), "{row:?}");
}

/// A reset of the device by D3hot is undone.
#[test]
fn what_d3hot_cost_a_device_is_given_back() {
    let mut config = open(Generation::Gen5);
    config.device.no_soft_reset = false;
    let mut machine = powered(config, 1);
    machine.link.write_config(Facing::Upstream, 0x04, Size::Word, 6);
    assert_eq!(row(&mut machine, "d3hot", 1).verdict, "pass");
    assert_eq!(machine.link.read_config(Facing::Upstream, 0x04, Size::Word), 6);
}

/// Errors while it is watched make a link that trains perfectly a bad one.
#[test]
fn errors_while_a_link_is_watched_are_too_many() {
    let mut config = open(Generation::Gen5);
    config.traffic.utilisation = 1.0;
    config.adaptation.sigma_mv = 0.0;
    config.channel.set_rate(Generation::Gen5, LaneEye::new(LaneEye::new(20.0, 3.0).height_for(1e-7), 3.0));
    let mut machine = powered(config, 1);
    let strict = row(&mut machine, "retrain", 1);
    assert_eq!((strict.failures[0].outcome.as_str(), strict.failed), ("AER exceeded", 1), "{strict:?}");
    assert!(strict.failures[0].codes.contains(&"AER_COR_EXCESS"), "{strict:?}");
    // 1.28e4 errors a second each way, for 10 ms
    let errors = strict.errors.iter().filter_map(|end| end.counted).map(|end| end.correctable).sum::<u64>();
    assert!((180..380).contains(&errors), "{errors}");
    let mild = Request { max_correctable: 1000, ..request(&["retrain"], 1) };
    assert_eq!(rows(&mut machine, &mild)[0].verdict, "pass");
}

/// A marginal link fails with codes, and a bad one more often.
#[test]
fn failures_have_codes_and_outcomes() {
    let run = |height: f64| {
        let mut config = open(Generation::Gen5);
        config.channel.set_rate(Generation::Gen5, LaneEye::new(height, 2.0));
        config.adaptation.sigma_mv = 3.0;
        let row = row(&mut powered(config, 3), "speed-change-max", 60);
        assert!(row.failures.iter().all(|failure| !failure.codes.is_empty() && failure.outcome != "ok"));
        row.failed
    };
    let (good, marginal, bad) = (run(20.0), run(4.0), run(-6.0));
    assert!(good == 0 && marginal > 0 && bad > marginal, "{good} {marginal} {bad}");
}

/// The cycles of a marginal link, to the last picosecond: on any machine.
#[test]
fn marginal_cycles_are_those_on_record() {
    let wanted = LinkRequest { width: lanetwin_units::Width::X4, utilisation: 0.3, seed: 11 };
    let mut config = open_link("marginal", Generation::Gen5, 1, wanted);
    config.channel.set_rate(Generation::Gen5, LaneEye::new(1.0, 2.0));
    config.adaptation.sigma_mv = 3.0;
    let wish = Request { max_correctable: 10, ..request(&["all"], 4) };
    let rows = rows(&mut powered(config, 11), &wish);
    let parts = rows.iter().flat_map(|row| {
        let times = [row.link_time.mean_s, row.link_time.max_s, row.time.mean_s].map(f64::to_bits);
        let counts = [row.passed, row.failed, row.not_performed];
        counts.into_iter().chain(times).chain(row.codes.values().copied())
    });
    let digest = parts.fold(0, |digest, part| lanetwin_units::mix(digest ^ part));
    assert_eq!(format!("{digest:016x}"), "ece30364e79ca5bb");
}
