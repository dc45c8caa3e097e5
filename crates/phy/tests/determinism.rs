//! Is an eye the same to the last bit, in debug and in release, on one thread and on two?
//!
//! The bits of some eyes are recorded in `golden/eyes.txt`. This file is run in debug and in release against the same record, so that
//! both are equal. After a change that is meant to change eyes, `ACCEPT=1` rewrites the record.

mod channels;

use channels::{Line, cascade, far_end, smooth};
use lanetwin_phy::eye::{Aggressor, Channel, Constants, Eye, PRESETS, Receiver, Search};
use lanetwin_units::Generation;
use std::path::Path;

fn cases() -> Vec<(String, Generation, Channel)> {
    let lines: Vec<Line> = [9.0, 12.0, 1.5, 6.7].into_iter().map(Line::new).collect();
    let echoing = cascade(&lines, 0.2);
    let neighbour = Aggressor { transfer: far_end(&echoing, 25.0), ffe: PRESETS[7] };
    let smooth = |generation: Generation| {
        (format!("gen{}-smooth-30", generation.number()), generation, Channel::new(smooth(30.0)))
    };
    let mut cases = [Generation::Gen3, Generation::Gen4, Generation::Gen5].map(smooth).to_vec();
    cases.push(("gen5-echoing".into(), Generation::Gen5, Channel::new(echoing.clone())));
    cases.push(("gen5-neighbour".into(), Generation::Gen5, Channel::new(echoing).with_aggressor(neighbour)));
    cases
}

fn judge(generation: Generation, channel: &Channel) -> Eye {
    let receiver = Receiver::new(generation, &Constants::built_in()).expect("it has an equaliser");
    receiver.search(
        &receiver.prepare(channel).expect("it is a channel"),
        &receiver.stress(),
        &Search::default(),
    )
}

#[test]
fn every_eye_has_the_bits_that_are_on_record() {
    let line = |(name, generation, channel): (String, Generation, Channel)| {
        let eye = judge(generation, &channel);
        let Eye { opening, ber, .. } = &eye;
        let bits =
            [opening.height_v, opening.width_ui, *ber].map(|value| format!("{:016x}", value.to_bits()));
        format!("{name} {} {:.3} mV {:.4} UI\n", bits.join(" "), opening.height_v * 1e3, opening.width_ui)
    };
    let found: String = cases().into_iter().map(line).collect();
    let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/eyes.txt");
    if std::env::var_os("ACCEPT").is_some() {
        std::fs::write(&record, &found).expect("the record can be written");
    }
    let recorded = std::fs::read_to_string(&record).unwrap_or_default();
    assert_eq!(
        found, recorded,
        "left: what eyes are now; right: the record. If the change is meant: make accept"
    );
}

#[test]
fn threads_do_not_change_an_eye() {
    let cases = cases();
    let alone: Vec<Eye> = cases.iter().map(|(_, generation, channel)| judge(*generation, channel)).collect();
    let together: Vec<Eye> = std::thread::scope(|scope| {
        let judges: Vec<_> = cases
            .iter()
            .map(|(_, generation, channel)| scope.spawn(move || judge(*generation, channel)))
            .collect();
        judges.into_iter().map(|judge| judge.join().expect("no judge panics")).collect()
    });
    assert!(alone == together);
}
