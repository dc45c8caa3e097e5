//! Ten thousand cycles of every stability test, as the tables of vendors have them. For the optimised build; skipped in debug.

use lanetwin_pcie::logic::ltssm::channel::{Channel, LaneEye};
use lanetwin_pcie::logic::ltssm::cycle::StabilityTest;
use lanetwin_pcie::logic::ltssm::failure::Outcome;
use lanetwin_pcie::logic::ltssm::link::{LinkConfig, SimulatedLink};
use lanetwin_units::{Generation, Width};
use std::time::{Duration, Instant};

/// What this thread has had of a processor, where the system says so: a loaded machine must not fail the bar. Else the time.
fn spent(started: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ns = told.and_then(|text| text.split(' ').next().and_then(|word| word.parse().ok()));
    ns.map_or_else(|| started.elapsed(), Duration::from_nanos)
}

const CYCLES: u32 = 10_000;

/// A link with open eyes that vary by a millivolt from one adaptation to the next.
fn good(segments: usize) -> SimulatedLink {
    let channel = Channel::uniform(Width::X4, segments, LaneEye::new(20.0, 3.0));
    let mut config = LinkConfig::new("slot", Generation::Gen5, channel);
    config.adaptation.sigma_mv = 1.0;
    config.traffic.utilisation = 0.0;
    let mut link = SimulatedLink::new(config, 1).expect("it is a link");
    assert!(link.bring_up());
    link
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes without optimisation")]
fn ten_thousand_cycles_of_every_test_pass_on_a_good_channel_in_less_than_five_seconds_each() {
    for segments in [1, 2] {
        let mut link = good(segments);
        // with a retimer, those that take little time: the states are the same
        let quick = |test: &StabilityTest| {
            use StabilityTest::{D3Hot, L1Aspm, Retrain, SpeedChangeMax};
            segments == 1 || matches!(test, D3Hot | L1Aspm | Retrain | SpeedChangeMax)
        };
        for test in StabilityTest::ALL.into_iter().filter(quick) {
            let started = Instant::now();
            let before = spent(started);
            let (mut passed, mut link_ps, mut software_ps) = (0, 0, 0);
            for _ in 0..CYCLES {
                let record = link.run_cycle(test);
                passed += u32::from(record.outcome == Outcome::Ok && record.codes.is_empty());
                link_ps += record.link_time.as_ps();
                software_ps += u128::from(record.software_time.as_ps());
            }
            let took = spent(started).saturating_sub(before);
            println!(
                "{} retimers  {:<22} {passed}/{CYCLES}  {:>6.0} ms  a cycle: link {:>10.3} ms, software {:>10.1} ms",
                segments - 1,
                test.name(),
                took.as_secs_f64() * 1e3,
                link_ps as f64 / f64::from(CYCLES) * 1e-9,
                software_ps as f64 / f64::from(CYCLES) * 1e-9,
            );
            assert_eq!(passed, CYCLES, "{}", test.name());
            assert!(took < Duration::from_secs(5), "{}: {took:?}", test.name());
        }
    }
}

/// The cost of bad links is bounded: Recoveries are walked through one by one only up to a point.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes without optimisation")]
fn cycles_of_a_bad_link_are_no_trap() {
    let channel = Channel::uniform(Width::X4, 2, LaneEye::new(20.0, 3.0));
    let mut config = LinkConfig::new("slot", Generation::Gen5, channel);
    config.channel.set_rate(Generation::Gen5, LaneEye::new(-7.0, 3.0));
    config.adaptation.sigma_mv = 2.0;
    config.traffic.utilisation = 0.5;
    let mut link = SimulatedLink::new(config, 1).expect("it is a link");
    for test in [StabilityTest::SecondaryBusReset, StabilityTest::Retrain, StabilityTest::SpeedChangeMax] {
        let started = Instant::now();
        let bad = (0..200).filter(|_| link.run_cycle(test).outcome != Outcome::Ok).count();
        println!("{:<22} {bad}/200 bad  {:>6.0} ms", test.name(), started.elapsed().as_secs_f64() * 1e3);
        assert!(bad > 100, "{}: {bad}", test.name());
    }
}
