//! What the channels of the tree answer: budgets, eyes, places for retimers.

use lanetwin_link_lab::channel::{
    self, Channel, EyeReport, PlacementRequest, budget, check, check_path, elements, eye, place,
};
use lanetwin_phy::budget::Verdict;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

fn tree(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/link").join(name)
}

fn of(name: &str) -> Channel {
    check_path(&tree(name), &[]).unwrap_or_else(|found| panic!("{found:#?}"))
}

fn eyes(channel: &Channel) -> EyeReport {
    eye(channel, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|found| panic!("{found:#?}"))
}

const SHORT: &str = "about: Does it reach?\ngen: 5\nchain:\n  - package: root-gen5\n  - {board: low-loss, length: 8in}\n  - package: endpoint-gen5\n";

fn short(more: &str, sets: &[&str]) -> Result<Channel, Vec<&'static str>> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let checked = check(Path::new("link.yaml"), &format!("{SHORT}{more}"), &sets);
    checked.map_err(|found| found.into_iter().map(|diagnostic| diagnostic.code).collect())
}

fn refused(more: &str, sets: &[&str]) -> Vec<&'static str> {
    short(more, sets).err().unwrap_or_default()
}

#[test]
fn the_long_channel_exceeds_its_budget_and_fits_with_a_retimer() {
    let found = budget(&of("long-with-cable.yaml")).unwrap();
    let losses: Vec<Vec<f64>> = found
        .variants
        .iter()
        .map(|variant| variant.segments.iter().map(|segment| segment.margin.loss_db).collect())
        .collect();
    println!("{losses:?}");
    assert!((losses[0][0] - 41.1).abs() < 0.5, "{losses:?}");
    assert!((losses[1][0] - 29.2).abs() < 0.3 && (losses[1][1] - 18.4).abs() < 0.3, "{losses:?}");
    let verdicts: Vec<Verdict> = found.variants.iter().map(|variant| variant.verdict).collect();
    assert_eq!(verdicts, [Verdict::Exceeds, Verdict::Fits]);
    let segment = &found.variants[0].segments[0];
    assert!(segment.low_db < segment.margin.loss_db && segment.margin.loss_db < segment.high_db);
    assert!((segment.through_db - segment.margin.loss_db).abs() < 1.0, "{}", segment.through_db);
    assert!(found.numbers.iter().all(|used| !used.number.source.is_empty()) && !found.numbers.is_empty());
}

#[test]
fn the_long_channel_is_closed_and_both_halves_of_it_are_open() {
    let found = eyes(&of("long-with-cable.yaml"));
    for variant in &found.variants {
        for segment in &variant.segments {
            println!(
                "{} {}: {:.1} dB {:.2} mV {:.3} UI {:e} {}",
                variant.name,
                segment.segment,
                segment.loss_db,
                segment.height_v * 1e3,
                segment.width_ui,
                segment.ber,
                segment.preset
            );
        }
    }
    let passes: Vec<bool> = found.variants.iter().map(|variant| variant.passes).collect();
    assert_eq!(passes, [false, true]);
    assert!(
        found.complete && found.stress[0].calibrated && found.warnings.is_empty(),
        "{:?}",
        found.warnings
    );
    let height = found.stress[0].compliance_height_v.unwrap();
    assert!(
        (height / 15e-3 - 1.0).abs() < 0.02,
        "the channel of the budget has the height of the mask: {height}"
    );
    let loss = found.stress[0].compliance_loss_db.unwrap();
    assert!((loss - 36.0).abs() < 1e-6, "{loss}");
    // what is drawn is what was judged
    let open = &found.variants[1].segments[1];
    let contour = open.contours.iter().find(|contour| contour.ber == open.mask_ber).unwrap();
    let off = |point: &&(f64, f64)| (point.0 - open.centre_ui).abs();
    let (_, half) = contour.points.iter().min_by(|a, b| off(a).total_cmp(&off(b))).unwrap();
    assert!((2.0 * half / open.height_v - 1.0).abs() < 0.05, "{half} {}", open.height_v);
    assert!(found.variants[0].segments[0].contours.len() == 4);
}

#[test]
fn the_short_channel_is_open_in_every_variant() {
    let channel = of("direct-drive.yaml");
    assert!(budget(&channel).unwrap().variants.iter().all(|variant| variant.verdict == Verdict::Fits));
    assert!(eyes(&channel).variants.iter().all(|variant| variant.passes));
}

#[test]
fn the_best_place_is_the_one_that_the_variant_has_or_better() {
    let channel = of("long-with-cable.yaml");
    let wish = PlacementRequest { retimers: 1, part: "generic-gen5".into(), after: Vec::new() };
    let found = place(&channel, &wish).unwrap();
    let ways = &found.variants[0].placements;
    assert_eq!(ways.len(), 8, "none, and behind each element but the last");
    assert!(ways[0].verdict == Verdict::Fits && ways[0].after.len() == 1);
    let none = ways.iter().find(|way| way.after.is_empty()).unwrap();
    assert_eq!(none.verdict, Verdict::Exceeds);
    // the variant with one has room for one more
    assert!(found.variants[1].placements.iter().all(|way| way.after.len() <= 1));
    let wrong =
        place(&channel, &PlacementRequest { after: vec!["riser".into()], ..wish.clone() }).unwrap_err();
    assert_eq!(wrong[0].code, "CH005");
    let wrong = place(&channel, &PlacementRequest { part: "none".into(), ..wish }).unwrap_err();
    assert_eq!((wrong[0].code, wrong[0].path.as_str()), ("PH020", "variants.as-is"));
}

#[test]
fn variants_and_sets_change_what_they_say() {
    let loss =
        |channel: &Channel, at: usize| budget(channel).unwrap().variants[at].segments[0].margin.loss_db;
    let channel = short("variants:\n  a: {}\n  b: {chain.board.length: 4in}\n  c: {chain.board: null}\n  d: {gen: 16GT/s}\n  e: {insert: [{after: board, via: via}, {after: board, via: via}]}\n", &[]).unwrap();
    let losses: Vec<f64> = (0..5).map(|at| loss(&channel, at)).collect();
    assert!(
        (losses[0] - losses[1] - 3.0).abs() < 0.1 && (losses[0] - losses[2] - 6.0).abs() < 0.1,
        "{losses:?}"
    );
    assert!(losses[3] < losses[0] && (losses[4] - losses[0] - 1.4).abs() < 1e-9, "{losses:?}");
    let names: Vec<&str> = channel.variants[4].chain.items().iter().map(|item| &*item.name).collect();
    assert_eq!(names, ["package-1", "board", "via-2", "via", "package-2"]);
    let set = short("", &["chain.board.length=4in"]).unwrap();
    assert!((loss(&set, 0) - losses[1]).abs() < 1e-12);
}

#[test]
fn kits_and_stated_losses_are_elements_like_others() {
    let sets = |sets: &[&str]| {
        let channel = short("", sets).unwrap_or_else(|found| panic!("{found:?}"));
        budget(&channel).unwrap().variants[0].segments[0].margin.losses.clone()
    };
    let loss = |found: &[(String, f64)], name: &str| {
        found.iter().find(|(of, _)| of == name).expect("it is in the chain").1
    };
    let stated = ["chain.board.board=null", "chain.board.length=null", "chain.board.loss=30dB"];
    assert!((loss(&sets(&stated), "board") - 30.0).abs() < 1e-9);
    // at the Nyquist frequency of the rate that it runs at
    let slower = [&stated[..], &["gen=4"]].concat();
    assert!((loss(&sets(&slower), "board") - 30.0).abs() < 1e-9);
    let kit = ["chain.board.board=null", "chain.board.length=null", "chain.board.kit=riser-2u"];
    assert!((loss(&sets(&kit), "board") - (1.5 + 4.0 * 0.75 + 1.5)).abs() < 0.05);
    assert_eq!(refused("", &[&kit[..2], &["chain.board.kit=riser-9u"]].concat()), ["PH020"]);
    assert_eq!(refused("", &[&stated[..2], &["chain.board.loss=-1dB"]].concat()), ["SC008"]);
    assert_eq!(refused("", &[&kit[..], &["chain.board.length=2in"]].concat()[1..]), ["CH001"]);
}

#[test]
fn what_a_channel_can_be_made_of_is_listed_for_a_rate() {
    let found = elements("gen5", None).unwrap();
    assert!(found.elements.iter().any(|one| one.element == "kit" && one.name == "slot"));
    let codes = |rate, own| {
        let refused: Vec<_> = elements(rate, own).unwrap_err().into_iter().map(|found| found.code).collect();
        refused
    };
    assert_eq!(codes("9", None), ["CH008"]);
    assert_eq!(codes("5", Some(Path::new("nowhere.yaml"))), ["SC002"]);
}

#[test]
fn mistakes_come_all_at_once_with_their_places() {
    let text = "about: x\ngen: 9\nchain:\n  - package: rooty\n  - {board: low-loss, length: 8}\n  - {cable: twinax-30awg}\n  - {via: via, lane: 1}\n  - 7\nvariants: {a: {chain.bord.length: 1in}, b: {stress: constants}}\n";
    let found = check(Path::new("link.yaml"), text, &[]).unwrap_err();
    let places: Vec<(&str, u32)> = found.iter().map(|found| (found.code, found.line)).collect();
    assert_eq!(
        places,
        [
            ("CH008", 2),
            ("PH020", 4),
            ("SC008", 5),
            ("CH002", 6),
            ("CH003", 7),
            ("SC007", 8),
            ("SC030", 9),
            ("CH006", 9)
        ]
    );
    assert!(found.iter().all(|found| found.file == "link.yaml" && !found.help.is_empty()));
    assert_eq!(refused("", &["chain.bord.length=4in"]), ["SC030"]);
    assert_eq!(refused("", &["chain.new={via: via}"]), ["SC030"]);
    assert_eq!(refused("corner: worst\n", &[]), ["SC010"]);
    assert_eq!(refused("variants: {a: {corner: worst}}\n", &[]), ["SC010"]);
    assert_eq!(refused("library: none.yaml\n", &[]), ["SC002"]);
    assert_eq!(refused("variants: {a: {insert: {retimer: generic-gen5}}}\n", &[]), ["SC006"]);
    assert_eq!(refused("", &["chain=null"]), ["SC006"]);
    assert_eq!(refused("", &["chain=7"]), ["SC007"]);
    assert_eq!(refused("", &["chain=[]"]), ["SC034"]);
}

#[test]
fn a_budget_that_no_receiver_can_meet_is_not_calibrated_to_and_says_so() {
    let folder = std::env::temp_dir().join(format!("lanetwin-links-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let library = "budgets:\n  gen5:\n    total: {value: 60dB, kind: assumed, confidence: unconfirmed, source: a trial}\n    bit-errors: {value: '1e-12', kind: assumed, confidence: unconfirmed, source: a trial}\n";
    std::fs::write(folder.join("own.yaml"), library).unwrap();
    let text = format!("{SHORT}library: own.yaml\n");
    let channel = check(&folder.join("link.yaml"), &text, &[]).unwrap();
    let found = eyes(&channel);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(found.warnings.iter().map(|found| found.code).collect::<Vec<_>>(), ["CH101"]);
    assert!(!found.stress[0].calibrated);
    assert_eq!(budget(&channel).unwrap().variants[0].segments[0].margin.budget_db, 60.0);
}

#[test]
fn every_template_is_right_asks_a_question_and_explains_itself() {
    assert!(!channel::templates().is_empty());
    for (name, text) in channel::templates() {
        assert_eq!(channel::check_text(text), [], "{name}");
        let about = text.lines().find_map(|line| line.strip_prefix("about:")).unwrap();
        assert!(about.ends_with('?') && text.matches('#').count() >= 5, "{name}");
    }
}
