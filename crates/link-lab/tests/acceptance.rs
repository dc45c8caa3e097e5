//! What is too heavy without optimisation: a thousand cycles of every test, at night ten thousand, and what they cost.

use lanetwin_link_lab::channel;
use lanetwin_link_lab::stability::{DEVICE, LinkRequest, Options, PORT, Simulated, cycles, open_link};
use lanetwin_pcie::logic::ltssm::channel::LaneEye;
use lanetwin_pcie::logic::ltssm::link::SimulatedLink;
use lanetwin_probe::Function;
use lanetwin_probe::cycle::Test;
use lanetwin_probe::drive::{Request, cycle_known};
use lanetwin_units::{Generation, Span, Width};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

/// What this thread has had of a processor, where the system says so; else the time. For reading: no test hangs on it.
fn spent(started: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ns = told.and_then(|text| text.split(' ').next().and_then(|word| word.parse().ok()));
    ns.map_or_else(|| started.elapsed(), Duration::from_nanos)
}

#[test]
#[ignore = "takes minutes without optimisation: make test-rust"]
fn a_thousand_cycles_of_every_test_pass_on_a_good_channel() {
    cycles_of_every_test_pass_on_a_good_channel(1000);
}

mod nightly {
    /// The retimer paper's table.
    #[test]
    #[ignore = "takes half a minute: make test-nightly"]
    fn ten_thousand_cycles_of_every_test_pass_on_a_good_channel() {
        super::cycles_of_every_test_pass_on_a_good_channel(10_000);
    }
}

/// Every row so often, and a tenth as many power cycles, with and without a retimer, on a channel that holds. It prints
/// what a row takes.
fn cycles_of_every_test_pass_on_a_good_channel(count: u64) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/link/three-grades.yaml");
    let channel = channel::check_path(&path, &[]).expect("a channel");
    let variants = ["good", "good-retimer"].map(str::to_owned).to_vec();
    let options = Options { variants, ..Options::default() };
    let started = Instant::now();
    let mut costs: Vec<(String, Duration)> = Vec::new();
    let mut began = spent(started);
    let report =
        cycles(&channel, &options, &Request { count, ..Request::default() }, &mut |name, progress| {
            let now = spent(started);
            if progress.done == 0 {
                began = now;
            } else if progress.done + 1 == progress.total {
                costs.push((format!("{name} {}", progress.case), now.saturating_sub(began)));
            }
            ControlFlow::Continue(())
        });
    for (row, cost) in &costs {
        println!("{row}: {:.0} ms", cost.as_secs_f64() * 1e3);
    }
    for series in &report.expect("an answer").report.series {
        assert_eq!(series.tests.len(), Test::full().len());
        for row in &series.tests {
            println!("{} {}: {} of {}", series.name, row.title, row.passed, row.cycles);
            let first = row.failures.first();
            assert_eq!((row.verdict, row.passed), ("pass", row.wanted), "{}: {first:?}", row.title);
            // no failure in so many: the rule of three, which is a little above the bound at 95 %
            let bound = 3.0 / row.wanted as f64;
            assert!(row.bound.is_some_and(|found| found <= bound), "{:?}", row.bound);
        }
    }
    assert_eq!(costs.len(), 2 * Test::full().len());
}

/// Cycles of bad links come to an end, and fail as they should. It prints what each takes; that Recoveries are walked
/// through one by one only up to a bound is a law of training (`lanetwin-pcie`).
#[test]
#[ignore = "takes minutes without optimisation: make test-rust"]
fn cycles_of_a_bad_link_are_no_trap() {
    let wanted = LinkRequest { width: Width::X4, utilisation: 0.5, seed: 1 };
    let open = open_link("bad", Generation::Gen5, 1, wanted);
    let powered = |config| {
        let mut machine = Simulated { link: SimulatedLink::new(config, 1).expect("a link") };
        machine.link.wait(Span::from_us(1_500_000));
        machine
    };
    let mut twin = powered(open.clone());
    let tests = [
        // at -7 mV a reset of the bus does not reach the device
        (Test::BusReset, -4.0),
        (Test::Retrain, -7.0),
        (Test::SpeedChangeMax, -7.0),
        (Test::Width, -7.0),
        (Test::Disable, -7.0),
    ];
    for (test, height_mv) in tests {
        let mut bad = open.clone();
        bad.channel.set_rate(Generation::Gen5, LaneEye::new(height_mv, 3.0));
        bad.adaptation.sigma_mv = 2.0;
        let ends = [PORT, DEVICE].map(|at| Function::find(&mut twin, at).expect("a function"));
        let request = Request { tests: vec![test.name().to_owned()], count: 200, ..Request::default() };
        let wish = request.wish().expect("what can be asked");
        let [port, device] = ends;
        let started = Instant::now();
        let before = spent(started);
        let watch = &mut |_: &_| ControlFlow::Continue(());
        let (series, _) =
            cycle_known(&mut powered(bad), "bad", (port, device), &wish, None, &mut |_| Ok(()), watch)
                .expect("it can be cycled");
        let took = spent(started).saturating_sub(before);
        let row = &series.tests[0];
        println!(
            "{:<22} {} of {} bad  {:>6.0} ms",
            test.name(),
            row.failed,
            row.cycles,
            took.as_secs_f64() * 1e3
        );
        assert!(row.cycles == row.wanted && 2 * row.failed > row.cycles, "{row:?}");
    }
}
