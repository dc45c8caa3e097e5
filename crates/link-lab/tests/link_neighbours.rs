//! Redrivers, neighbours and coefficients in the description of a channel: what a document can say, and what comes of
//! it.

use lanetwin_link_lab::channel::{
    Channel, Equalisation, EyeReport, EyeSegment, budget, check, check_path, eye,
};
use lanetwin_units::NumberKind;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Gen3, whose eyes are quick to compute, and no calibration.
const HEAD: &str = "about: Do neighbours matter?\ngen: 3\nstress: constants\n";
const CHAIN: &str = "chain:\n  - {name: root, package: root-gen3}\n  - {name: board, board: low-loss, length: 20in}\n  - {name: slot, touchstone: two.s8p}\n  - {name: end, package: endpoint-gen4}\n";

/// Coupling files and two lanes, in a folder that goes with the test.
struct Data(PathBuf);

impl Data {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("lanetwin-neighbours-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("as it is written here");
        for (file, gain) in [("dark", 0.0), ("weak", 0.01), ("strong", 0.04)] {
            let lines = [(0, 1, gain), (2, 3, gain)];
            std::fs::write(folder.join(file).with_extension("s4p"), ports::<4>(&lines))
                .expect("as it is written here");
        }
        // lanes 1, 2 → 3, 4 and 5, 6 → 7, 8; P of one beside P of the other at the far end
        let lines =
            [(0, 2, 0.9), (1, 3, 0.9), (4, 6, 0.9), (5, 7, 0.9), (0, 6, 0.03), (4, 2, 0.03), (2, 6, 0.02)];
        std::fs::write(folder.join("two.s8p"), ports::<8>(&lines)).expect("as it is written here");
        Self(folder)
    }
    fn check(&self, text: &str, sets: &[&str]) -> Result<Channel, Vec<&'static str>> {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let found = check(&self.0.join("link.yaml"), &format!("{HEAD}{text}"), &sets);
        // that the two lanes of the file were paired in their order is no mistake
        let mistakes = |code: &&str| *code != "PH112";
        found.map_err(|found| found.into_iter().map(|diagnostic| diagnostic.code).filter(mistakes).collect())
    }
    fn refused(&self, text: &str, sets: &[&str]) -> Vec<&'static str> {
        self.check(text, sets).err().unwrap_or_default()
    }
    fn eyes(&self, text: &str) -> EyeReport {
        eyes(&self.check(text, &[]).unwrap_or_else(|found| panic!("{found:?} of {text}")))
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Data to 20 GHz of lines without reflections: from, to, gain, each of a delay of its own.
fn ports<const N: usize>(lines: &[(usize, usize, f64)]) -> String {
    let mut text = String::from("# GHz S MA R 50\n");
    for step in 0..=800 {
        let f = f64::from(step) * 0.025;
        write!(text, "{f}").expect("as it is written here");
        for row in 0..N {
            for column in 0..N {
                let joins = |&&(from, to, _): &&(usize, usize, f64)| {
                    (from, to) == (row, column) || (to, from) == (row, column)
                };
                let gain = lines.iter().find(joins).map_or(0.0, |(_, _, gain)| *gain);
                write!(text, " {gain} {:.3}", -360.0 * f * 0.5).expect("as it is written here");
            }
            text.push('\n');
        }
    }
    text
}

fn eyes(channel: &Channel) -> EyeReport {
    eye(channel, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|found| panic!("{found:#?}"))
}

fn segment(report: &EyeReport, variant: usize) -> &EyeSegment {
    &report.variants[variant].segments[0]
}

#[test]
fn neighbours_close_the_eye_by_what_they_couple_and_by_nothing_if_that_is_nothing() {
    let data = Data::new("eyes");
    let text = format!(
        "crosstalk:\n  - {{name: x, touchstone: strong.s4p, ports: [1, 3, 2, 4], at: board, kind: far}}\n{CHAIN}variants:\n  none: {{crosstalk: null}}\n  dark: {{crosstalk.x.touchstone: dark.s4p}}\n  weak: {{crosstalk.x.touchstone: weak.s4p}}\n  strong: {{}}\n"
    );
    let found = data.eyes(&text);
    let size = |at: usize| (segment(&found, at).height_v, segment(&found, at).width_ui);
    assert_eq!(size(0), size(1), "to the bit");
    assert_eq!(segment(&found, 1).aggressors[0].rms_v, 0.0);
    assert!(size(1).0 > size(2).0 && size(2).0 > size(3).0, "{:?}", [0, 1, 2, 3].map(size));
    assert!(segment(&found, 0).alone.is_none() && segment(&found, 0).aggressors.is_empty());
    let strong = segment(&found, 3);
    let alone = strong.alone.unwrap();
    assert_eq!((alone.height_v, alone.width_ui), size(0));
    let told = &strong.aggressors[0];
    assert_eq!((&*told.name, &*told.file, told.kind, &*told.at), ("x", "strong.s4p", "far", "board"));
    // four times the coupling; the equalisation need not be the same
    assert!((told.rms_v / segment(&found, 2).aggressors[0].rms_v / 4.0 - 1.0).abs() < 0.5);
    assert!(
        found
            .numbers
            .iter()
            .any(|number| number.place == "crosstalk.preset" && number.kind == NumberKind::Assumed)
    );
}

#[test]
fn other_lanes_of_a_file_are_neighbours_if_they_are_asked_for() {
    let data = Data::new("lanes");
    let text = format!(
        "{CHAIN}variants:\n  none: {{}}\n  far: {{chain.slot.neighbours: far}}\n  both: {{chain.slot.neighbours: both}}\n  other: {{chain.slot.neighbours: both, chain.slot.lane: 2}}\n"
    );
    let channel = data.check(&text, &[]).unwrap();
    let names = |at: usize| -> Vec<String> {
        let told = channel.variants[at].aggressors.iter();
        told.map(|aggressor| format!("{} {:?}", aggressor.name, aggressor.coupling.end)).collect()
    };
    assert_eq!(names(0), [""; 0]);
    assert_eq!(names(1), ["slot, lane 2 Far"]);
    assert_eq!(names(2), ["slot, lane 2 Far", "slot, lane 2 Near"]);
    assert_eq!(names(3), ["slot, lane 1 Far", "slot, lane 1 Near"]);
    // of a coupling of P to P alone, 0.03 and 0.02, half counts
    for (at, gain_db) in [(0, -36.478), (1, -40.0)] {
        let network = &channel.variants[2].aggressors[at].coupling.network;
        assert!((network.loss_db(1, 0, 4e9).unwrap() + gain_db).abs() < 0.01, "{at}");
    }
    assert!(channel.warnings.iter().any(|found| found.code == "PH112"), "the lanes were assumed");
    assert_eq!(
        data.refused(&format!("{CHAIN}variants: {{a: {{chain.slot.neighbours: some}}}}\n"), &[]),
        ["SC010"]
    );
    assert_eq!(
        data.refused(&CHAIN.replace("board: low-loss", "neighbours: far, board: low-loss"), &[]),
        ["CH003"]
    );
}

#[test]
fn mistakes_with_neighbours_and_redrivers_have_their_codes() {
    let data = Data::new("codes");
    let with = |item: &str| format!("crosstalk: [{{{item}}}]\n{CHAIN}");
    let good = "name: x, touchstone: weak.s4p, ports: [1, 3, 2, 4], at: board, kind: far";
    assert!(data.check(&with(good), &[]).is_ok());
    for (from, to, code) in [
        ("at: board", "at: bored", "CH005"),
        (", ports: [1, 3, 2, 4]", "", "SC006"),
        ("[1, 3, 2, 4]", "[1, 3, 2]", "CH011"),
        ("[1, 3, 2, 4]", "[1, 2, 3, 4, 5, 6, 7, 8]", "CH011"),
        ("[1, 3, 2, 4]", "[1, 3, 2, 9]", "PH016"),
        ("kind: far", "kind: beside", "SC010"),
        (", kind: far", "", "SC006"),
        ("weak.s4p", "gone.s4p", "PH001"),
        ("touchstone", "touch-stone", "SC005"),
    ] {
        assert!(data.refused(&with(&good.replace(from, to)), &[]).contains(&code), "{to}");
    }
    assert_eq!(data.refused(&format!("crosstalk: 7\n{CHAIN}"), &[]), ["SC007"]);
    assert_eq!(data.refused(&format!("crosstalk: [{{{good}}}, {{{good}}}]\n{CHAIN}"), &[]), ["CH004"]);
    assert_eq!(data.refused(CHAIN, &["crosstalk.x.kind=near"]), ["SC030"]);
    assert_eq!(data.refused(&with(good), &["crosstalk.y.kind=near"]), ["SC030"]);
    // an element that a variant takes out couples nothing
    assert_eq!(
        data.refused(&format!("{}variants: {{a: {{chain.board: null}}}}\n", with(good)), &[]),
        ["CH005"]
    );
    let twice = CHAIN.replace("  - {name: slot", "  - redriver: generic-gen5\n  - {name: slot")
        + "variants: {a: {insert: {after: slot, redriver: generic-gen5}}}\n";
    assert_eq!(data.refused(&twice, &[]), ["CH015"]);
}

#[test]
fn sets_and_variants_change_neighbours_and_equalisation() {
    let data = Data::new("sets");
    let text = format!(
        "crosstalk:\n  - {{touchstone: weak.s4p, ports: [1, 3, 2, 4], at: board, kind: far}}\n  - {{touchstone: weak.s4p, ports: [1, 3, 2, 4], at: slot, kind: near}}\n{CHAIN}variants:\n  as-is: {{}}\n  one: {{crosstalk.aggressor-1: null}}\n  free: {{equalisation: coefficients}}\n"
    );
    let channel = data.check(&text, &["crosstalk.aggressor-2.at=end"]).unwrap();
    let counts: Vec<usize> = channel.variants.iter().map(|variant| variant.aggressors.len()).collect();
    assert_eq!(counts, [2, 1, 2]);
    assert_eq!(channel.variants[0].aggressors[1].coupling.at, "end");
    assert_eq!(channel.variants[2].equalisation, Equalisation::Coefficients);
    assert_eq!(data.refused(&format!("{CHAIN}equalisation: both\n"), &[]), ["SC010"]);
}

#[test]
fn coefficients_are_told_where_they_are_better_and_are_never_worse() {
    let data = Data::new("coefficients");
    let text = format!(
        "{}variants:\n  presets: {{}}\n  coefficients: {{equalisation: coefficients}}\n",
        CHAIN.replace("20in", "45in")
    );
    let found = data.eyes(&text);
    let (presets, free) = (segment(&found, 0), segment(&found, 1));
    println!("{} {:.3}, {} {:.3}", presets.preset, presets.mask_ratio, free.preset, free.mask_ratio);
    assert!(free.mask_ratio >= presets.mask_ratio && presets.coefficients.is_none());
    if let Some(set) = free.coefficients {
        assert_eq!(set.before + set.main + set.after, set.full_swing);
        assert_eq!(free.preset, format!("{}/{}/{}", set.before, set.main, set.after));
        assert!((free.ffe.0 + f64::from(set.before) / f64::from(set.full_swing)).abs() < 1e-12);
    }
    assert!(
        found
            .numbers
            .iter()
            .any(|number| number.place == "transmitter.full-swing" && number.kind == NumberKind::Assumed)
    );
}

fn tree() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/link/redriver.yaml")
}

#[test]
fn a_redriver_takes_from_the_loss_of_a_budget_which_says_that_it_means_little() {
    let channel = check_path(&tree(), &[]).unwrap();
    let found = budget(&channel).unwrap();
    let loss = |variant: &str| {
        let variant = found.variants.iter().find(|other| other.name == variant).unwrap();
        assert_eq!(variant.segments.len(), 1);
        let segment = &variant.segments[0];
        assert!((segment.through_db - segment.margin.loss_db).abs() < 1.5, "{}", segment.through_db);
        segment.margin.loss_db
    };
    assert!(loss("redriver") < loss("as-is") - 5.0, "{} {}", loss("redriver"), loss("as-is"));
    let said: Vec<_> = found.warnings.iter().map(|found| (found.code, &*found.path)).collect();
    assert_eq!(said, [("CH103", "variants.redriver")]);
}

#[test]
fn a_redriver_opens_41_db_less_than_a_retimer_does_and_not_at_the_worst_corner() {
    let found = eyes(&check_path(&tree(), &[]).unwrap());
    for variant in &found.variants {
        for segment in &variant.segments {
            println!(
                "{} {}: {:.1} dB {:.2} mV {:.3} UI {} {:?}",
                variant.name,
                segment.segment,
                segment.loss_db,
                segment.height_v * 1e3,
                segment.width_ui,
                segment.preset,
                segment.redriver
            );
        }
    }
    let of = |name: &str| found.variants.iter().find(|variant| variant.name == name).unwrap();
    let least = |name: &str| of(name).segments.iter().map(|s| s.mask_ratio).fold(f64::INFINITY, f64::min);
    let passes = |name: &str| of(name).passes;
    assert!(least("as-is") < least("redriver") && least("redriver") < least("retimer"));
    assert!(least("redriver-worst") < least("retimer-worst"));
    assert_eq!(["as-is", "redriver", "redriver-worst", "retimer"].map(passes), [false, true, false, true]);
    assert!(least("redriver-and-coefficients") >= least("redriver"));
}
