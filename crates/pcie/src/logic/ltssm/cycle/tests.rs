use super::super::channel::{Channel, LaneEye};
use super::super::link::{LinkConfig, Size};
use super::super::state::State;
use super::*;
use lanetwin_units::{Generation, Width};

fn config(segments: usize) -> LinkConfig {
    let channel = Channel::uniform(Width::X4, segments, LaneEye::new(20.0, 3.0));
    LinkConfig::new("slot", Generation::Gen5, channel)
}

fn up(config: LinkConfig) -> SimulatedLink {
    let mut link = SimulatedLink::new(config, 1).unwrap();
    assert!(link.bring_up());
    link
}

#[test]
fn a_good_link_passes_every_test_with_and_without_retimers() {
    for segments in 1..=3 {
        let mut link = up(config(segments));
        for test in StabilityTest::ALL {
            for _ in 0..2 {
                let record = link.run_cycle(test);
                assert_eq!(record.outcome, Outcome::Ok, "{record:?}");
                assert!(record.codes.is_empty() && record.performed, "{record:?}");
            }
        }
    }
}

/// Orders of the design's table of times: retrain in microseconds, a change of rate in 0.1 to 2 ms for each step, equalisation
/// in 5 to 60 ms, a reset in 20 to 200 ms of link and at least 100 ms of software, power in at least 100 ms and a boot.
#[test]
fn cycles_take_the_time_that_real_ones_take() {
    let mut link = up(config(1));
    let mut ms = |test| {
        let record = link.run_cycle(test);
        (record.link_time.as_ps() as f64 * 1e-9, record.software_time.as_ps() as f64 * 1e-9)
    };
    assert!((0.001..0.074).contains(&ms(StabilityTest::Retrain).0));
    assert!((0.2..4.0).contains(&ms(StabilityTest::SpeedChangeMax).0));
    assert!((5.0..60.0).contains(&ms(StabilityTest::TxEqRedo).0));
    let (link_ms, software) = ms(StabilityTest::SecondaryBusReset);
    assert!((20.0..200.0).contains(&link_ms) && (100.0..3000.0).contains(&software), "{link_ms} {software}");
    assert!((0.001..0.1).contains(&ms(StabilityTest::D3Hot).0));
    assert!((20.0..40.0).contains(&ms(StabilityTest::D3Hot).1));
    assert!(ms(StabilityTest::PowerCycle).1 > 60_000.0);
}

/// What cannot be done is not said to be done.
#[test]
fn an_action_without_effect_is_not_performed() {
    let mut without_l1 = config(1);
    without_l1.upstream.l1 = false;
    assert_eq!(up(without_l1).run_cycle(StabilityTest::L1Aspm).outcome, Outcome::NotPerformed);
    let narrow = Channel::uniform(Width::X1, 1, LaneEye::new(20.0, 3.0));
    let mut x1 = up(LinkConfig::new("slot", Generation::Gen5, narrow));
    assert_eq!(x1.run_cycle(StabilityTest::DynamicWidth).outcome, Outcome::NotPerformed);
    let mut gen1 = up(LinkConfig::new("slot", Generation::Gen1, config(1).channel));
    for test in [StabilityTest::TxEqRedo, StabilityTest::SpeedChangeMax, StabilityTest::SpeedChangeRetrain] {
        let record = gen1.run_cycle(test);
        assert!(!record.performed && record.outcome == Outcome::NotPerformed, "{record:?}");
    }
    // traffic keeps a link awake
    let mut busy = config(1);
    busy.traffic.utilisation = 0.5;
    assert_eq!(up(busy).run_cycle(StabilityTest::L1Aspm).outcome, Outcome::NotPerformed);
}

/// Perform Equalization without a change of rate does nothing; nor does a target that is not retrained to.
#[test]
fn half_a_sequence_has_no_effect() {
    let mut link = up(config(1));
    let equalized = link.equalizations();
    link.write_config(Facing::Downstream, 0x154, Size::Dword, 1);
    link.write_config(Facing::Downstream, 0x80, Size::Word, 0x20);
    link.wait(Span::from_us(5_000));
    assert_eq!(link.equalizations(), equalized);
    link.write_config(Facing::Downstream, 0xa0, Size::Word, 1);
    link.wait(Span::from_us(5_000));
    assert_eq!(link.read_config(Facing::Downstream, 0x82, Size::Word) & 0xf, 5);
    // the device has no Retrain Link
    link.write_config(Facing::Upstream, 0x80, Size::Word, 0x20);
    link.wait(Span::from_us(1_000));
    assert_eq!(link.read_config(Facing::Downstream, 0x82, Size::Word) & 0xf, 5);
}

#[test]
fn a_target_left_at_the_slowest_rate_is_told_apart_from_a_failure() {
    let mut link = up(config(1));
    // what Linux does to a link that it takes for failed
    link.write_config(Facing::Downstream, 0xa0, Size::Word, 1);
    let record = link.run_cycle(StabilityTest::SecondaryBusReset);
    assert_eq!((record.outcome, record.generation), (Outcome::Slow, 1), "{record:?}");
    assert!(
        record.codes.contains(FailureCode::Stuck2_5Gt) && !record.codes.contains(FailureCode::SpeedFallback)
    );
}

#[test]
fn a_device_that_never_gets_ready_is_lost() {
    let mut config = config(1);
    config.device.ready = Span::from_us(200_000_000);
    let mut link = SimulatedLink::new(config, 1).unwrap();
    link.wait(Span::from_us(250_000_000));
    let record = link.run_cycle(StabilityTest::SecondaryBusReset);
    assert!(record.codes.contains(FailureCode::CfgRrsTimeout), "{record:?}");
    assert_eq!(record.outcome, Outcome::Lost);
}

#[test]
fn a_link_that_does_not_come_back_is_down() {
    let mut config = config(1);
    for generation in Generation::ALL {
        config.channel.set_rate(generation, LaneEye::new(-60.0, 3.0));
    }
    config.numbers.host.boot = Span::from_us(1_000_000);
    let mut link = SimulatedLink::new(config, 1).unwrap();
    assert!(!link.bring_up());
    let record = link.run_cycle(StabilityTest::PowerCycle);
    assert_eq!(record.outcome, Outcome::DataLinkDown, "{record:?}");
    assert!(record.codes.contains(FailureCode::DllInactive1s));
    assert_eq!((record.generation, record.width), (0, 0));
}

/// ASPM at both ends: silence leads to L1 and on to its substates, a request back; L0s without retimers only.
#[test]
fn silence_leads_to_sleep_and_a_request_back() {
    let sleeps = |segments: usize, aspm: u32, substates: u32| {
        let mut config = config(segments);
        for port in [&mut config.downstream, &mut config.upstream] {
            (port.l0s, port.l1_substates) = (true, true);
        }
        let mut link = up(config);
        for at in Facing::BOTH {
            link.write_config(at, 0x1a8, Size::Dword, substates);
            link.write_config(at, 0x80, Size::Word, aspm);
        }
        link.wait(Span::from_us(500));
        let state = link.state(Facing::Downstream);
        let before = link.now();
        assert_ne!(link.read_config(Facing::Upstream, 0, Size::Dword), u32::MAX);
        (state, link.now().since(before).as_ps() / 1_000_000)
    };
    assert_eq!(sleeps(1, 0, 0).0, State::L0);
    assert_eq!(sleeps(1, 1, 0).0, State::L0s);
    assert_eq!(sleeps(2, 1, 0).0, State::L0, "no L0s with a retimer");
    let (l1, l1_1, l1_2) = (sleeps(2, 2, 0), sleeps(2, 2, 0b1000), sleeps(2, 2, 0b0100));
    assert_eq!([l1.0, l1_1.0, l1_2.0], [State::L1, State::L1_1, State::L1_2]);
    // 2 to 64 us, the clock's 20 and the power's 10 more
    assert!(
        (2..64).contains(&l1.1) && l1_1.1 >= l1.1 + 20 && l1_2.1 >= l1_1.1 + 10,
        "{l1:?} {l1_1:?} {l1_2:?}"
    );
}

#[test]
fn a_device_without_no_soft_reset_forgets_in_d3hot() {
    let mut config = config(1);
    config.device.no_soft_reset = false;
    let mut link = up(config);
    assert_eq!(link.read_config(Facing::Upstream, 0x04, Size::Word), 6);
    link.write_config(Facing::Upstream, 0x44, Size::Word, 3);
    link.wait(Span::from_us(10_000));
    assert_eq!(link.state(Facing::Upstream), State::L1);
    link.write_config(Facing::Upstream, 0x44, Size::Word, 0);
    link.wait(Span::from_us(10_100));
    assert_eq!(link.read_config(Facing::Upstream, 0x04, Size::Word), 0);
    // the test restores what was lost
    assert_eq!(link.run_cycle(StabilityTest::D3Hot).outcome, Outcome::Ok);
    assert_eq!(link.read_config(Facing::Upstream, 0x04, Size::Word), 6);
}

/// Errors in the dwell make a link that trains perfectly a bad one.
#[test]
fn errors_in_the_dwell_are_too_many() {
    let mut config = config(1);
    config.traffic.utilisation = 1.0;
    let eye = LaneEye::new(20.0, 3.0);
    config.channel.set_rate(Generation::Gen5, LaneEye::new(eye.height_for(1e-7), 3.0));
    let mut link = SimulatedLink::new(config, 1).unwrap();
    assert!(link.bring_up());
    let record = link.run_cycle(StabilityTest::Retrain);
    assert_eq!(record.outcome, Outcome::ErrorsExceeded, "{record:?}");
    assert_eq!((record.generation, record.width), (5, 4), "it still says 32 GT/s x4");
    assert!(record.codes.contains(FailureCode::AerCorExcess));
    // 1.28e4 errors a second each way, for 11 ms
    let errors = record.aer[0].total() + record.aer[1].total();
    assert!((200..400).contains(&errors), "{errors}");
    assert!(link.run_cycle_allowing(StabilityTest::Retrain, 1000).outcome == Outcome::Ok);
}
