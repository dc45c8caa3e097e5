//! Chains of elements: budgets, what-if, placement, and the network that they make.

use lanetwin_phy::budget::{Chain, Change, Item, Share, Verdict, table};
use lanetwin_phy::element::{Axis, Capacitance, Confidence, Corner, Element, Length, Library};
use lanetwin_phy::network::Grid;
use lanetwin_phy::quality::{Grade, Quality};
use lanetwin_phy::{DataRate, decibels};
use std::sync::Arc;

fn inches(n: f64) -> Length {
    Length::inches(n).expect("a length, a name, a rate that is known")
}

/// Processor, board, slot, passive card, cable, backplane, drive: what a retimer card is bought for.
fn long() -> Chain {
    Chain::new(vec![
        Item::new("cpu", Element::Package("root-gen5".into())).in_share(Share::RootPackage),
        Item::new("board", Element::Trace("low-loss".into(), inches(13.0))).in_share(Share::SystemBoard),
        Item::new("board-via", Element::Via("via".into())).in_share(Share::SystemBoard),
        Item::new("slot", Element::Connector("cem".into())).in_share(Share::Connector),
        Item::new("card", Element::Trace("low-loss".into(), inches(3.0))),
        Item::new(
            "cable",
            Element::Cable(
                "twinax-30awg".into(),
                Length::metres(0.5).expect("a length, a name, a rate that is known"),
            ),
        ),
        Item::new("bay", Element::Connector("edsff".into())),
        Item::new("drive-board", Element::Trace("mid-loss".into(), inches(4.0))),
        Item::new("drive", Element::Package("endpoint-gen5".into())),
    ])
    .expect("the names differ")
}

fn margins(chain: &Chain, corner: Corner) -> Vec<(f64, Verdict)> {
    let margins = chain
        .margins(Library::standard(), corner, DataRate::Gen5)
        .expect("a length, a name, a rate that is known");
    margins.into_iter().map(|margin| (margin.loss_db, margin.verdict)).collect()
}

#[test]
fn the_long_link_exceeds_its_budget_and_a_retimer_makes_both_halves_fit() {
    let chain = long();
    let [(loss, Verdict::Exceeds)] = margins(&chain, Corner::Nominal)[..] else {
        panic!("one segment, too long")
    };
    // 9 + 13·0.75 + 0.7 + 1.5 + 3·0.75 + (0.5·8 + 2·0.9) + 1 + 4·1.15 + 4.5, to the fit of the materials' laws
    assert!((loss - 39.1).abs() < 0.3, "{loss}");
    let change = Change::Retimer { after: "card".into(), part: "generic-gen5".into() };
    let cut = chain.with(&change, Library::standard()).unwrap();
    let after = margins(&cut, Corner::Nominal);
    assert_eq!(after.iter().map(|(_, verdict)| *verdict).collect::<Vec<_>>(), [Verdict::Fits; 2]);
    // each side of the retimer adds its own package
    let both = after[0].0 + after[1].0;
    assert!((both - loss - 2.0 * 3.3).abs() < 1e-9, "{both}");
}

#[test]
fn what_if_moves_the_loss_by_what_was_changed() {
    let (library, chain) = (Library::standard(), long());
    let loss = |chain: &Chain| margins(chain, Corner::Nominal).iter().map(|(loss, _)| loss).sum::<f64>();
    let by = |change: Change| loss(&chain) - loss(&chain.with(&change, library).unwrap());
    let item = |name: &str| name.to_owned();
    let ultra = Change::Material { item: item("board"), material: "ultra-low-loss".into() };
    assert!((by(ultra) - 13.0 * 0.15).abs() < 0.15);
    let shorter = Change::Longer { item: item("cable"), metres: -0.2 };
    assert!((by(shorter) - 1.6).abs() < 0.06);
    assert!((by(Change::Remove { item: item("board-via") }) - 0.7).abs() < 1e-9);
    let via = Element::Via("via".into());
    assert!((by(Change::Replace { item: item("slot"), element: via }) - 0.8).abs() < 1e-9);
}

#[test]
fn changes_that_cannot_be_are_refused_with_their_reason() {
    let code = |change: Change| long().with(&change, Library::standard()).unwrap_err().code;
    let item = |name: &str| name.to_owned();
    assert_eq!(code(Change::Remove { item: item("riser") }), "PH024");
    assert_eq!(code(Change::Longer { item: item("slot"), metres: 1.0 }), "PH025");
    assert_eq!(code(Change::Longer { item: item("cable"), metres: -0.6 }), "PH021");
    assert_eq!(code(Change::Material { item: item("cable"), material: "fr4".into() }), "PH025");
    assert_eq!(code(Change::Material { item: item("board"), material: "fr5".into() }), "PH020");
    assert_eq!(code(Change::Retimer { after: item("drive"), part: "generic-gen5".into() }), "PH025");
    assert_eq!(code(Change::Retimer { after: item("card"), part: "none".into() }), "PH020");
    let twice = vec![Item::new("a", Element::Via("via".into())); 2];
    assert_eq!(Chain::new(twice).unwrap_err().code, "PH029");
    assert_eq!(Chain::new(vec![]).unwrap_err().code, "PH010");
}

#[test]
fn corners_widen_the_loss_by_the_spread_of_each_element() {
    let of = |corner| margins(&long(), corner)[0].0;
    let (low, nominal, high) = (of(Corner::Low), of(Corner::Nominal), of(Corner::High));
    // capacitances of the packages do not vary
    assert!(((nominal - low) - (high - nominal)).abs() < 1e-9);
    assert!((high / nominal - 1.15).abs() < 0.01 && high < 1.15 * nominal);
}

#[test]
fn the_best_place_for_a_retimer_is_found_by_trying_all() {
    let (library, chain) = (Library::standard(), long());
    let question = (library, Corner::Nominal, DataRate::Gen5);
    let found = chain.placements("generic-gen5", 1, &[], question).unwrap();
    assert_eq!(found.len(), 1 + 8);
    assert!(found.windows(2).all(|two| two[0].least_margin_db >= two[1].least_margin_db));
    let best = &found[0];
    for after in chain.items()[..8].iter().map(|item| &item.name) {
        let cut = chain
            .with(&Change::Retimer { after: after.clone(), part: "generic-gen5".into() }, library)
            .unwrap();
        let worst =
            margins(&cut, Corner::Nominal).iter().map(|(loss, _)| 36.0 - loss).fold(f64::INFINITY, f64::min);
        assert!(worst <= best.least_margin_db + 1e-12, "{after}");
    }
    // two retimers are never worse than one
    let two = chain.placements("generic-gen5", 2, &[], question).unwrap();
    assert_eq!(two.len(), 1 + 8 + 28);
    assert!(two[0].least_margin_db >= best.least_margin_db);
    // only where it is allowed
    let few = chain.placements("generic-gen5", 2, &["slot", "cable"], question).unwrap();
    assert!(
        few.iter().flat_map(|placement| &placement.after).all(|name| ["slot", "cable"].contains(&&**name))
    );
    assert_eq!(few.len(), 4);
    // a link has two at most
    let with_one =
        chain.with(&Change::Retimer { after: "slot".into(), part: "generic-gen5".into() }, library).unwrap();
    let more = with_one.placements("generic-gen5", 2, &["card", "slot", "board"], question).unwrap();
    assert!(more.iter().all(|placement| placement.margins.len() <= 3));
    // slot and retimer are neighbours: only board and card are left
    assert_eq!(more.len(), 1 + 2);
}

#[test]
fn the_table_shows_shares_and_their_budgets() {
    let rows = table(&long(), Library::standard(), Corner::Nominal, &DataRate::ALL).unwrap();
    assert_eq!(rows.len(), 7);
    let gen5 = rows.iter().find(|row| row.rate == DataRate::Gen5).unwrap();
    assert_eq!((gen5.from.as_str(), gen5.to.as_str(), gen5.losses.len()), ("cpu", "drive", 9));
    let shares: Vec<_> = gen5.shares.iter().map(|share| (share.share, share.budget_db)).collect();
    assert_eq!(
        shares,
        [(Share::RootPackage, Some(9.0)), (Share::SystemBoard, Some(16.0)), (Share::Connector, Some(1.5))]
    );
    assert!((gen5.margin_db - (gen5.budget_db - gen5.loss_db)).abs() < 1e-12);
    assert!((gen5.reserve_db - 5.4).abs() < 1e-12);
}

#[test]
fn an_answer_says_which_unconfirmed_numbers_it_rests_on() {
    let numbers = long().numbers(Library::standard()).unwrap();
    let unconfirmed = |used: &&lanetwin_phy::budget::Used| used.number.confidence == Confidence::Unconfirmed;
    let places: Vec<String> =
        numbers.iter().filter(unconfirmed).map(|used| format!("{}.{}", used.entry, used.place)).collect();
    assert!(places.contains(&"low-loss.loss.16GHz".to_owned()), "{places:?}");
    // the ends of the cable count, though the chain does not name them
    assert!(places.contains(&"mcio.loss.16GHz".to_owned()));
    // a sourced number does not, and none is there twice
    assert!(!places.contains(&"root-gen5.loss.16GHz".to_owned()));
    assert!((0..places.len()).all(|at| !places[..at].contains(&places[at])));
}

#[test]
fn the_network_of_a_chain_is_what_its_losses_say_but_for_reflections() {
    let axis = Axis::new(Grid::new(10e6, 40e9).unwrap());
    let (library, chain) = (Library::standard(), long());
    let (network, found) = chain.segment_network(0, library, Corner::Nominal, &axis, 85.0).unwrap();
    assert_eq!(found, []);
    let quality = Quality::of(&network);
    assert_eq!((quality.passivity.grade, quality.reciprocity.grade), (Grade::Good, Grade::Good));
    assert!(quality.causality.grade >= Grade::Acceptable, "{quality:?}");
    let whole = network.loss_db(1, 0, 16e9).unwrap();
    let sum = margins(&chain, Corner::Nominal)[0].0;
    assert!((whole - sum).abs() < 2.0, "{whole} {sum}");
    let transfer = chain.transfer(0, library, Corner::Nominal, &axis, 85.0).unwrap();
    assert_eq!((transfer.step_hz, transfer.h.len()), (10e6, 4001));
    assert!((decibels(transfer.h[1600].norm_sqr().sqrt()) + whole).abs() < 1e-9);
}

#[test]
fn the_die_of_a_package_that_is_a_file_is_an_element_of_its_own() {
    let library = Library::standard();
    let die = Element::Die(Capacitance::femtofarads(100.0).unwrap());
    let chain = Chain::new(vec![Item::new("die", die)]).unwrap();
    // 10·log(1 + (π·f·C·Z)²) of 100 fF between 100 Ω at 16 GHz: (0.50265)² = 0.25266, 0.9783 dB
    let margin = &chain.margins(library, Corner::High, DataRate::Gen5).unwrap()[0];
    assert!((margin.loss_db - 0.9783).abs() < 1e-4, "{}", margin.loss_db);
    let axis = Axis::new(Grid::new(10e6, 40e9).unwrap());
    let (network, _) = chain.segment_network(0, library, Corner::High, &axis, 100.0).unwrap();
    assert!((network.loss_db(1, 0, 16e9).unwrap() - margin.loss_db).abs() < 1e-12);
    assert!(chain.numbers(library).unwrap().is_empty());
    assert_eq!(Capacitance::femtofarads(-1.0).unwrap_err().code, "PH021");
}

#[test]
fn a_network_of_data_stands_in_for_any_element() {
    let axis = Axis::new(Grid::new(10e6, 40e9).unwrap());
    let library = Library::standard();
    let board = |chain: &Chain| chain.segment_network(0, library, Corner::Nominal, &axis, 100.0).unwrap().0;
    let alone = Chain::new(vec![long().items()[1].clone()]).unwrap();
    let data = board(&alone);
    // exported and read again, as a file between other elements
    let text = lanetwin_phy::touchstone::write(&data);
    let read = lanetwin_phy::touchstone::read(&text, Some(2)).unwrap().network;
    let change = Change::Replace { item: "board".into(), element: Element::Network(Arc::new(read)) };
    let with_file = long().with(&change, library).unwrap();
    let (a, b) = (board(&long()), board(&with_file));
    let worst =
        a.term(1, 0).iter().zip(b.term(1, 0)).map(|(a, b)| (a - b).norm_sqr().sqrt()).fold(0.0, f64::max);
    assert!(worst < 1e-12, "{worst:e}");
    // a file that stops at 10 GHz says nothing about Gen5
    let short = axis_to(10e9, &alone);
    let change = Change::Replace { item: "board".into(), element: Element::Network(Arc::new(short)) };
    let chain = long().with(&change, library).unwrap();
    assert_eq!(chain.margins(library, Corner::Nominal, DataRate::Gen5).unwrap_err().code, "PH018");
    assert!(chain.margins(library, Corner::Nominal, DataRate::Gen4).is_ok());
}

fn axis_to(last: f64, chain: &Chain) -> lanetwin_phy::network::Network {
    let axis = Axis::new(Grid::new(10e6, last).expect("a length, a name, a rate that is known"));
    chain
        .segment_network(0, Library::standard(), Corner::Nominal, &axis, 100.0)
        .expect("a length, a name, a rate that is known")
        .0
}
