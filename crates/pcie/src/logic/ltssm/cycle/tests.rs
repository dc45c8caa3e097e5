use super::super::channel::{Channel, LaneEye};
use super::super::link::LinkConfig;
use super::*;
use lanetwin_units::{Generation, Width};

fn good(segments: usize) -> SimulatedLink {
    let channel = Channel::uniform(Width::X4, segments, LaneEye::new(20.0, 3.0));
    let mut link = SimulatedLink::new(LinkConfig::new("slot", Generation::Gen5, channel), 1).unwrap();
    assert!(link.bring_up());
    link
}

#[test]
fn a_good_link_passes_every_test() {
    for segments in 1..=3 {
        let mut link = good(segments);
        for test in StabilityTest::ALL {
            for _ in 0..3 {
                let record = link.run_cycle(test);
                println!("{record:?}");
                assert_eq!(record.outcome, Outcome::Ok, "{record:?}");
                assert!(record.codes.is_empty(), "{record:?}");
            }
        }
    }
}
