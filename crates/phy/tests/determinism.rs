//! Are channels and eyes the same to the last bit, in debug and in release, on one thread and on two?
//!
//! The bits of some eyes are recorded in `golden/eyes.txt`. This file is run in debug and in release against the same
//! record, so that both are equal. After a change that is meant to change eyes, `ACCEPT=1` rewrites the record.

mod lines;

use lanetwin_phy::budget::{Chain, Item};
use lanetwin_phy::element::{Axis, Corner, Element, Length, Library};
use lanetwin_phy::eye::{Aggressor, Channel, Constants, Eye, PRESETS, Receiver, Search};
use lanetwin_phy::network::Grid;
use lanetwin_phy::{Transfer, touchstone};
use lanetwin_units::Generation;
use lines::{Line, cascade, far_end, smooth};
use std::path::Path;
use std::sync::Arc;

/// Data of its own: whoever corrects a number of the shipped library changes no result here.
const LIBRARY: &str = "
packages:
  p:
    about: a package
    loss: {16GHz: {value: 6dB, kind: assumed, confidence: unconfirmed, source: x}}
    delay: {value: 150ps, kind: assumed, confidence: unconfirmed, source: x}
    impedance: {value: 90Ohm, kind: assumed, confidence: unconfirmed, source: x}
    spread: {value: 15%, kind: assumed, confidence: unconfirmed, source: x}
    skin-share: {value: 40%, kind: assumed, confidence: unconfirmed, source: x}
    near-capacitance: {value: 60fF, kind: assumed, confidence: unconfirmed, source: x}
    far-capacitance: {value: 40fF, kind: assumed, confidence: unconfirmed, source: x}
materials:
  m:
    about: a board
    loss:
      4GHz: {value: 0.25dB/in, kind: assumed, confidence: unconfirmed, source: x}
      16GHz: {value: 0.75dB/in, kind: assumed, confidence: unconfirmed, source: x}
    delay: {value: 160ps/in, kind: assumed, confidence: unconfirmed, source: x}
    impedance: {value: 83Ohm, kind: assumed, confidence: unconfirmed, source: x}
    spread: {value: 15%, kind: assumed, confidence: unconfirmed, source: x}
";

/// FNV-1a over the bits.
fn digest(transfer: &Transfer) -> u64 {
    let bits = transfer.h.iter().flat_map(|z| [z.re.to_bits(), z.im.to_bits()]);
    bits.flat_map(u64::to_le_bytes).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[test]
fn a_channel_has_the_bits_that_are_on_record() {
    let library = Library::read(LIBRARY).unwrap();
    let board = Item::new("board", Element::Trace("m".into(), Length::inches(9.0).unwrap()));
    let ends = ["root", "end"].map(|name| Item::new(name, Element::Package("p".into())));
    let [root, end] = ends;
    let parametric = Chain::new(vec![root.clone(), board.clone(), end.clone()]).unwrap();
    let axis = Axis::new(Grid::new(10e6, 20e9).unwrap());
    let transfer = |chain: &Chain| chain.transfer(0, &library, Corner::High, &axis, 100.0).unwrap();
    assert_eq!(format!("{:016x}", digest(&transfer(&parametric))), "811ff0941ca26eae");

    // the same board as a file that is sampled elsewhere and begins late
    let other = Axis::new(Grid::new(17e6, 15e9).unwrap());
    let alone = Chain::new(vec![board]).unwrap();
    let (network, _) = alone.segment_network(0, &library, Corner::High, &other, 85.0).unwrap();
    let text = touchstone::write(&network);
    // the first record is that at 0 Hz
    let text: Vec<&str> = text.lines().enumerate().filter(|(at, _)| *at != 2).map(|(_, line)| line).collect();
    let file = touchstone::read(&text.join("\n"), Some(2)).unwrap().network;
    assert_eq!(file.frequencies()[0], 17e6);
    let board = Item::new("board", Element::Network(Arc::new(file)));
    let measured = Chain::new(vec![root, board, end]).unwrap();
    assert_eq!(format!("{:016x}", digest(&transfer(&measured))), "d668dfb2395d9f49");

    // and it is the same channel, where there are data
    let off = transfer(&parametric).h[..1500]
        .iter()
        .zip(&transfer(&measured).h)
        .fold(0.0, |worst: f64, (a, b)| worst.max((a - b).norm_sqr().sqrt()));
    assert!(off < 3e-3, "{off:e}");
}

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
