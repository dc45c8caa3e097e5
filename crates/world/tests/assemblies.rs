//! Is a part that is made of parts what it is made of? Its inside becomes components and links of the machine; what a
//! scenario says of it arrives where it belongs; it runs, and its plan gives the same run again.

use crate::tree::results;
use lanetwin_plan::{Catalogue, Files, Plan, check_with};
use lanetwin_world::Options;
use std::path::{Path, PathBuf};

/// A drive that answers late: a delay in front of a drive with a root complex of its own.
const LATE: &str = "
name: late-drive
about: A drive that answers late.
grade: datasheet-only
assembly:
  components:
    front: {model: delay}
    root: {part: generic-host-gen4}
    ssd: {part: samsung-pm9a3}
  links:
    disk: {from: front.down, to: ssd}
    bay: {from: root, to: ssd, gen: 4, width: x4}
  ports: {block: front.up}
  exposes: {answer: front.answer, capacity: ssd.capacity}
parameters:
  front.answer: {value: 3us, kind: assumed, source: a test}
  ssd.capacity: {value: 64GiB, kind: datasheet, source: a test}
";

const SCENARIO: &str = "
about: Is it late?
machine:
  host: {part: generic-host-gen4}
  late: {part: late-drive}
workloads:
  read: {block: {size: 4KiB, requests: 40}, on: host, target: late}
run: {repeats: 1, warm-up: 0}
";

/// A folder with parts of a test, gone at its end.
struct Parts(PathBuf);

impl Parts {
    fn new(name: &str, parts: &[(&str, &str)]) -> Self {
        let folder = std::env::temp_dir().join(format!("lanetwin-assemblies-{}-{name}", std::process::id()));
        std::fs::create_dir_all(folder.join("parts")).expect("a folder for parts");
        for (part, text) in parts {
            std::fs::write(folder.join(format!("parts/{part}.yaml")), text).expect("a part");
        }
        Self(folder)
    }
    fn catalogue(&self) -> (Catalogue, Vec<String>) {
        let (catalogue, found) = Catalogue::beside(Some(&self.0.join("scenario.yaml")));
        (catalogue, found.iter().map(|found| format!("{} {}", found.code, found.path)).collect())
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn checked(text: &str, sets: &[&str], catalogue: &Catalogue) -> Result<Plan, Vec<String>> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let checked = check_with(Path::new("late.yaml"), text, &sets, catalogue, &Files::none());
    let found = checked.diagnostics.iter().map(|d| format!("{} {}: {}", d.code, d.path, d.message)).collect();
    checked.plan.ok_or(found)
}

fn latency(plan: &Plan) -> f64 {
    let results = results(plan, &Options::default());
    results.rows.iter().find(|row| row.metric == "latency").expect("a latency").value
}

#[test]
fn what_is_inside_is_there_and_runs() {
    let parts = Parts::new("runs", &[("late-drive", LATE)]);
    let (catalogue, found) = parts.catalogue();
    assert_eq!(found, [""; 0]);
    let plan = checked(SCENARIO, &[], &catalogue).expect("it is right");
    let variant = &plan.variants[0];
    let names: Vec<&str> = variant.machine.iter().map(|component| &*component.name).collect();
    assert_eq!(names, ["host", "late.front", "late.root", "late.ssd"]);
    assert_eq!(variant.links.iter().map(|link| &*link.name).collect::<Vec<_>>(), ["late.bay"]);
    assert_eq!(variant.driven.iter().map(|driven| &*driven.name).collect::<Vec<_>>(), ["late.disk"]);
    assert_eq!(
        plan.parts.keys().collect::<Vec<_>>(),
        ["generic-host-gen4", "late-drive.front", "late-drive.root", "late-drive.ssd"]
    );
    let usual = latency(&plan);
    // both numbers by name: the one outside, and the one inside
    for set in ["machine.late.answer=13us", "machine.late.front.answer=13us"] {
        let later = latency(&checked(SCENARIO, &[set], &catalogue).expect("it is right"));
        assert!((later - usual - 10_000.0).abs() < 200.0, "{set}: {usual} {later}");
    }
}

#[test]
fn a_plan_gives_the_same_plan_again() {
    let parts = Parts::new("again", &[("late-drive", LATE)]);
    let (catalogue, _) = parts.catalogue();
    let sets = [
        "machine.late.bay.gen=3",
        "machine.late.answer=5us",
        "variants={a: {}, b: {machine.late.bay.width: x2}}",
    ];
    let plan = checked(SCENARIO, &sets, &catalogue).expect("it is right");
    assert_eq!(plan.variants[0].links[0].generation.number(), 3);
    assert_eq!(plan.variants[1].links[0].width.lanes(), 2);
    let text = serde_json::to_string(&plan).expect("a document");
    let again = checked(&text, &[], &catalogue).expect("a complete plan is right");
    for (one, other) in again.variants.iter().zip(&plan.variants) {
        assert!(
            one.machine == other.machine && one.links == other.links && one.driven == other.driven,
            "{}",
            one.name
        );
    }
    let told = serde_json::to_string(&again).expect("a document");
    let machine = |text: &str| text.split("\"variants\"").next().map(str::to_owned);
    assert!(machine(&told) == machine(&text), "the plan of a plan says the same");
}

#[test]
fn assumptions_inside_are_told() {
    let parts = Parts::new("told", &[("late-drive", LATE)]);
    let plan = checked(SCENARIO, &[], &parts.catalogue().0).expect("it is right");
    let told = plan.assumptions();
    let of = |part: &str, parameter: &str| told.iter().any(|a| a.part == part && a.parameter == parameter);
    assert!(of("late-drive.front", "answer"));
    assert!(!of("late-drive.ssd", "capacity"), "a data sheet says so");
    assert!(
        told.iter().any(|a| a.part == "late-drive.ssd"),
        "the numbers of the drive's own part are carried"
    );
}

#[test]
fn mistakes_are_told_where_they_are() {
    let parts = Parts::new("mistakes", &[("late-drive", LATE)]);
    let (catalogue, _) = parts.catalogue();
    let codes = |sets: &[&str]| {
        let found = checked(SCENARIO, sets, &catalogue).expect_err("something is wrong");
        found.iter().map(|told| told.split(':').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(codes(&["machine.late.anwser=1us"]), ["SC005 machine.late.anwser"]);
    assert_eq!(codes(&["machine.late.front.anwser=1us"]), ["SC005 machine.late.front.anwser"]);
    assert_eq!(codes(&["machine.late.front.answer=fast"]), ["SC008 machine.late.front.answer"]);
    assert_eq!(codes(&["machine.late.bay.gen=9"]), ["SC022 machine.late.bay.gen"]);
    assert!(codes(&["workloads.read.target=late.ssd"]).contains(&"SC056 workloads.read.target".to_owned()));
    let twice = SCENARIO.replace("late-drive}", "late-drive, answer: 1us, front.answer: 2us}");
    assert!(checked(&twice, &[], &catalogue).expect_err("it is said twice")[0].starts_with("SC004 "));
    // names with a point are of assemblies alone
    let pointed = SCENARIO.replace("  late:", "  late.x: {model: null-disk}\n  late:");
    assert!(checked(&pointed, &[], &catalogue).expect_err("no name")[0].starts_with("SC032 "));
}

#[test]
fn a_file_that_makes_no_assembly_is_reported() {
    let wrong = |from: &str, to: &str| {
        let parts = Parts::new(
            &format!("wrong-{}", from.len() + to.len() * 100),
            &[("late-drive", &LATE.replace(from, to))],
        );
        parts.catalogue().1
    };
    assert_eq!(wrong("name: late-drive", "name: early-drive"), ["SC035 name"]);
    assert_eq!(wrong("{model: delay}", "{model: dealy}"), ["SC012 assembly.components.front.model"]);
    assert_eq!(
        wrong("{part: samsung-pm9a3}", "{part: samsung-pm9a4}"),
        ["SC011 assembly.components.ssd.part"]
    );
    assert_eq!(wrong("front.up", "front.side"), ["SC005 assembly.ports.block"]);
    assert_eq!(wrong("ssd.capacity}", "sdd.capacity}"), ["SC005 assembly.exposes.capacity"]);
    assert_eq!(wrong("kind: assumed, source: a test", "kind: assumed"), ["SC036 parameters.front.answer"]);
    assert_eq!(wrong("front.answer: {", "back.answer: {"), ["SC005 parameters"]);
    assert_eq!(wrong("grade: datasheet-only\n", ""), ["SC006 grade"]);
}
