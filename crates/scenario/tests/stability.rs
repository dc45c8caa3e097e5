//! Links of channels and of dumps, cycled in simulation by the runner of real machines.

use lanetwin_pcie::logic::ltssm::channel::Direction;
use lanetwin_pcie::logic::ltssm::cycle::StabilityTest;
use lanetwin_pcie::logic::ltssm::link::SimulatedLink;
use lanetwin_pcie::logic::ltssm::probability::over_adaptation;
use lanetwin_probe::cycle::{Bench, Series, Test};
use lanetwin_probe::drive::Request;
use lanetwin_probe::fake::{Sample, dump};
use lanetwin_probe::{Function, Host, Session, Width};
use lanetwin_scenario::channel::{self, Benches, Channel, receivers};
use lanetwin_scenario::stability::{
    DEVICE, Options, PORT, Simulated, Wanted, cycle_dump, cycles, link, open_link,
};
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

#[test]
fn the_tests_are_those_of_the_simulation() {
    let ours: Vec<&str> = Test::full().iter().map(|test| test.name()).collect();
    assert_eq!(ours, StabilityTest::ALL.map(StabilityTest::name));
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
    let wanted = Wanted { width: lanetwin_units::Width::from_lanes(4).unwrap(), utilisation: 0.0, seed: 3 };
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

/// A cycle fails if a bit error is seen while the link is watched. Each lock draws the height of each of eight receivers anew, so the chance is
/// what the spread of heights makes of the bits of ten milliseconds.
#[test]
fn a_marginal_link_fails_at_the_rate_that_its_margin_implies() {
    const CYCLES: u64 = 3000;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/link/three-grades.yaml");
    let channel = channel::check_path(&path, &["stress=constants".into()]).expect("a channel");
    let marginal = channel.variants.iter().find(|variant| variant.name == "marginal").expect("the variant");
    let eyes = receivers(&channel, marginal, &Benches::of(&channel).expect("rates with eyes")).expect("eyes");
    let wanted = Wanted { width: lanetwin_units::Width::X4, utilisation: 0.0, seed: 1 };
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
