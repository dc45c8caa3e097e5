//! What does a retimer cost, and what do bit errors? One crossing of a link is longer by one latency, and nothing else
//! changes; what bits are lost costs replays and Recoveries, as often as arithmetic says.

use crate::tree::{plan, plan_of, results};
use lanetwin_plan::{Catalogue, Files, Plan, check_with};
use lanetwin_stats::Verdict;
use lanetwin_stats::results::{Results, VerdictRow};
use lanetwin_units::Span;
use lanetwin_world::{Options, World};
use std::path::{Path, PathBuf};

fn scenario() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/retimer.yaml")
}

/// The latency of what stands in the slot in each variant \[ns\].
const STAGES: [(&str, f64); 7] = [
    ("direct", 0.0),
    ("montage", 5.0),
    ("montage-twice", 10.0),
    ("low-latency", 10.0),
    ("low-latency-twice", 20.0),
    ("limit", 64.0),
    ("limit-twice", 128.0),
];

fn mean_ns(results: &Results, variant: &str, workload: &str, metric: &str) -> f64 {
    let is_it = |row: &&lanetwin_stats::results::Row| {
        row.variant == variant && row.workload == workload && row.metric == metric
    };
    results.rows.iter().find(is_it).unwrap_or_else(|| panic!("{variant} {workload} {metric}")).value
}

#[test]
fn the_latency_of_one_request_grows_by_the_latency_of_each_crossing() {
    // enough requests that where the window ends, and how SKPs fall, is no matter
    let only = [
        "workloads.seq-read=null",
        "workloads.seq-write=null",
        "workloads.rand-read=null",
        "workloads.qd1-read.block.requests=10000",
        "workloads.qd1-write.block.requests=10000",
        "variants.x2=null",
        "variants.ber=null",
        "run.repeats=1",
    ];
    let results = results(&plan_of(&scenario(), &only), &Options::default());
    // a doorbell and the answer; a write fetches its data besides
    for (workload, crossings) in [("qd1-read", 2.0), ("qd1-write", 4.0)] {
        let direct = mean_ns(&results, "direct", workload, "latency");
        for (variant, latency) in STAGES {
            let waterfall =
                results.waterfalls.iter().find(|w| w.variant == variant && w.workload == workload);
            let [counted] = &waterfall.expect("it was followed").crossings[..] else { panic!("one link") };
            assert_eq!((&*counted.link, counted.times), ("slot", crossings), "{variant} {workload}");
            let shift = mean_ns(&results, variant, workload, "latency") - direct;
            let expected = counted.times * latency;
            assert!(
                (shift - expected).abs() <= 1.0,
                "{variant} {workload}: {shift} ns, expected {expected} ns"
            );
        }
    }
}

/// The verdicts of a variant, by workload and metric.
fn verdict(results: &Results, variant: &str, workload: &str, metric: &str) -> Verdict {
    let is_it =
        |row: &&VerdictRow| row.variant == variant && row.workload == workload && row.metric == metric;
    results.verdicts.iter().find(is_it).unwrap_or_else(|| panic!("{variant} {workload} {metric}")).verdict
}

#[test]
fn no_legal_retimer_is_noticed_and_every_positive_control_is() {
    let results = results(&plan_of(&scenario(), &[]), &Options::default());
    let controls =
        [("limit-twice", "qd1-write"), ("x2", "seq-read"), ("x2", "seq-write"), ("ber", "seq-read")];
    for (variant, workload) in controls {
        for metric in ["throughput", "latency"] {
            assert_eq!(
                verdict(&results, variant, workload, metric),
                Verdict::Worse,
                "{variant} {workload} {metric}"
            );
        }
    }
    let retimers = STAGES.iter().skip(1).map(|(variant, _)| *variant);
    for variant in retimers {
        let rows = results.verdicts.iter().filter(|row| row.variant == variant);
        for row in rows.filter(|row| (variant, &*row.workload) != controls[0]) {
            assert_eq!(row.verdict, Verdict::Equivalent, "{row:?}");
            assert!(row.low.is_some() && row.high.is_some(), "{row:?}");
        }
    }
}

/// A card on one lane-bundle of Gen5, with nothing else in the way.
const SLOT: &str = "
about: What does this slot carry?
machine:
  host: {part: generic-host-gen5, port.mps: 256B}
  card: {part: generic-dma-gen5, port.width: x4}
links:
  slot: {from: host, to: card}
workloads:
  write: {dma: {operation: write, size: 1MiB, window: 4MiB, pattern: sequential, outstanding: 4, transfers: 100}, on: card, target: host}
run: {repeats: 1, warm-up: 8}
";

fn of_slot(sets: &[&str]) -> Plan {
    plan("slot.yaml", SLOT, sets)
}

fn throughput(plan: &Plan) -> f64 {
    mean_ns(&results(plan, &Options::default()), "as-is", "write", "throughput")
}

/// What the wires of the slot are told.
fn direction(sets: &[&str]) -> lanetwin_pcie::link::Direction {
    let plan = of_slot(sets);
    let variant = &plan.variants[0];
    let workload = &variant.workloads[0];
    let mut world = World::new(variant, workload, &workload.cases[0], 1);
    world.links().wiring().links[0].directions[1]
}

#[test]
fn flight_acknowledgements_and_credits_pass_through_every_retimer() {
    let direct = direction(&[]);
    let limit = Span::from_ns(64);
    for (via, added) in [
        ("links.slot.via=[spec-limit-retimer]", limit),
        ("links.slot.via=[spec-limit-retimer, spec-limit-retimer]", limit + limit),
        ("links.slot.via=64ns", limit),
        ("links.slot.via=[generic-redriver]", Span::from_ps(100)),
        ("links.slot.via=[low-latency-retimer, 1ns, generic-redriver]", Span::from_ps(11_100)),
    ] {
        let through = direction(&[via]);
        assert_eq!(through.propagation, direct.propagation + added, "{via}");
        assert_eq!(through.ack_latency, direct.ack_latency + added, "{via}");
        assert_eq!(through.credits.latency, direct.credits.latency + added, "{via}");
        assert_eq!(through.skp, direct.skp, "{via}: SKPs are the transmitter's");
    }
}

#[test]
fn a_generation_has_its_own_latency() {
    let flight = |generation: &str| {
        let set = format!("links.slot.gen={generation}");
        direction(&["links.slot.via=[spec-limit-retimer]", &set]).propagation.as_ps()
    };
    assert_eq!((flight("1"), flight("2"), flight("5")), (129_000, 65_000, 65_000));
}

/// Whoever sends keeps the wire full and has his own clock: SKPs that grow and shrink on the way are paid by nobody.
#[test]
fn a_retimer_costs_no_throughput_whatever_the_clocks() {
    for clocking in ["common", "srns", "sris"] {
        let clocks = format!("links.slot.clocking={clocking}");
        let direct = throughput(&of_slot(&[&clocks]));
        let through =
            throughput(&of_slot(&[&clocks, "links.slot.via=[montage-m88rt51632, montage-m88rt51632]"]));
        assert!((through / direct - 1.0).abs() < 1e-3, "{clocking}: {direct} {through}");
    }
}

/// A replay buffer that just covers the way there and back does not cover a longer one.
#[test]
fn a_retimer_lengthens_the_wait_for_acknowledgements() {
    let small = "machine.card.port.replay-buffer=2KiB";
    let direct = throughput(&of_slot(&[small]));
    let through = throughput(&of_slot(&[small, "links.slot.via=[spec-limit-retimer]"]));
    assert!(through < 0.7 * direct, "{direct} {through}");
}

#[test]
fn a_link_is_no_faster_and_no_wider_than_what_stands_in_it() {
    let plan = of_slot(&["links.slot.via=[generic-retimer-gen4]"]);
    assert_eq!(plan.variants[0].links[0].generation.number(), 4);
}

#[test]
fn a_complete_plan_with_retimers_and_segments_is_read_again_as_it_was() {
    let sets =
        ["links.slot.via=[low-latency-retimer, 5ns]", "links.slot.ber=[1e-9, 1e-7]", "links.slot.nak=400ns"];
    let one = of_slot(&sets);
    let link = &one.variants[0].links[0];
    assert_eq!(link.segments, [1e-9, 1e-7]);
    assert!((link.bit_error_ratio / 1.01e-7 - 1.0).abs() < 1e-6);
    assert_eq!((link.retimers(), link.via.len(), link.nak), (1, 2, Some(Span::from_ns(400))));
    let text = serde_json::to_string(&one).expect("a plan is a document");
    let again = plan("slot.yaml", &text, &[]);
    assert_eq!(again.variants[0].links, one.variants[0].links);
    assert!(again.parts.contains_key("low-latency-retimer"), "where its numbers come from is known");
    let rests_on = one.assumptions();
    assert!(rests_on.iter().any(|a| a.part == "low-latency-retimer" && a.parameter == "elasticity"));
    assert!(
        !rests_on.iter().any(|a| a.part == "low-latency-retimer" && a.parameter == "latency"),
        "it is not used"
    );
}

/// What a corrupted TLP and a Recovery cost, as reference/phy tables of throughput over the bit error ratio take it.
const REPLAY_US: f64 = 1.0;
const RECOVERY_US: f64 = 20.0;

/// The share of throughput that is left at a bit error ratio, and how many corrupted TLPs and Recoveries there are in a
/// second without any: Gen5 x4, writes of 256 B, 280 B on the wire.
fn left(ber: f64) -> (f64, f64, f64) {
    let tlp_us = 280.0 * 8.0 * 130.0 / 128.0 / (4.0 * 32e3);
    let lost = 1.0 - (1.0 - ber).powi(280 * 8);
    // each attempt that fails costs its time on the wire, the flight there and back, and the NAK
    let attempts = lost / (1.0 - lost);
    let replays = 1.0 / (1.0 + attempts * (tlp_us + 0.002 + REPLAY_US) / tlp_us);
    // four lanes, both directions, two bits of a sync header in 130
    let per_us = 2.0 * 4.0 * 32e3 / 130.0 * 2.0 * ber;
    (replays / (1.0 + per_us * RECOVERY_US), attempts / tlp_us * 1e6, per_us * 1e6)
}

#[test]
fn bit_errors_cost_the_throughput_that_arithmetic_says() {
    let costs = ["links.slot.nak=1us", "links.slot.recovery=20us"];
    let clean = throughput(&of_slot(&costs));
    // what a table of the field says, counting one direction and nothing twice
    for (ber, table, transfers) in
        [(1e-8, 0.002, 600), (1e-7, 0.017, 400), (1e-6, 0.17, 200), (1e-5, 1.0, 60)]
    {
        let (closed, errors, recoveries) = left(ber);
        let sets = [format!("links.slot.ber={ber:e}"), format!("workloads.write.dma.transfers={transfers}")];
        let plan = of_slot(&[costs[0], costs[1], &sets[0], &sets[1]]);
        let simulated = throughput(&plan) / clean;
        // what chance does to so many of them
        let seconds = f64::from(transfers) * 1048576.0 * 8.0 / (clean * 1e9);
        let chance = closed
            * closed
            * ((errors * seconds).sqrt() * REPLAY_US + (recoveries * seconds / closed).sqrt() * RECOVERY_US)
            * 1e-6
            / seconds;
        let off = (simulated - closed).abs();
        assert!(off < 4.0 * chance + 0.002, "{ber:e}: {simulated} left, expected {closed} ± {chance}");
        let loss = 1.0 - closed;
        assert!(loss / table > 0.5 && loss / table < 1.5, "{ber:e}: {loss} lost, {table} in the table");
    }
}

#[test]
fn recoveries_can_be_told_from_replays() {
    let lossy = |sets: &[&str]| throughput(&of_slot(&[&["links.slot.ber=1e-6"], sets].concat()));
    let (both, replays) = (lossy(&[]), lossy(&["links.slot.recovery=0us"]));
    assert!(both < 0.97 * replays, "{both} {replays}");
    // 8b/10b has no sync headers
    let gen2 = |recovery: &str| lossy(&["links.slot.gen=2", recovery]);
    assert_eq!(gen2("links.slot.recovery=0us"), gen2("links.slot.recovery=20us"));
}

#[test]
fn segments_add_up() {
    let of = |ber: &str| {
        throughput(&of_slot(&["links.slot.via=[low-latency-retimer]", &format!("links.slot.ber={ber}")]))
    };
    assert_eq!(of("[1e-6, 0]"), of("1e-6"));
    assert_eq!(of("[0, 1e-6]"), of("1e-6"));
    assert!(of("[1e-6, 1e-6]") < of("1e-6"));
}

/// A channel whose board is so long that the eye is no longer open enough.
fn channel(length: &str, retimer: bool) -> String {
    let middle = if retimer {
        "  - retimer: generic-gen5\n  - {name: rest, board: low-loss, length: 2in}\n"
    } else {
        ""
    };
    format!(
        "about: How well does it carry bits?\ngen: 5\nstress: constants\nchain:\n  - package: root-gen5\n  - {{name: board, board: low-loss, length: {length}}}\n{middle}  - package: endpoint-gen5\n"
    )
}

fn on_channel(length: &str, retimer: bool, sets: &[&str]) -> Result<Plan, Vec<&'static str>> {
    let files = Files::of([("slot.link.yaml".to_owned(), channel(length, retimer))].into());
    let sets: Vec<String> =
        ["links.slot.channel=slot.link.yaml"].iter().chain(sets).map(|s| (*s).to_owned()).collect();
    let checked = check_with(Path::new("slot.yaml"), SLOT, &sets, &Catalogue::built_in(), &files);
    let codes = checked.diagnostics.iter().map(|found| found.code).collect();
    checked.plan.ok_or(codes)
}

#[test]
fn a_good_channel_has_no_visible_effect_and_says_so() {
    let good = on_channel("5in", false, &[]).expect("a channel");
    let link = &good.variants[0].links[0];
    assert!(link.bit_error_ratio < 1e-20, "{link:?}");
    assert_eq!(throughput(&good), throughput(&of_slot(&[])));
    let told = good.assumptions();
    let eye = told.iter().find(|a| a.part.starts_with("link slot: slot.link.yaml")).expect("it is told");
    assert!(eye.note.contains("no effect") && eye.note.contains("times the mask"), "{eye:?}");
    assert!(!good.not_modelled().iter().any(|text| text.contains("whatever its channel")));
}

#[test]
fn a_bad_channel_costs_replays_and_a_hopeless_one_carries_no_link() {
    let marginal = on_channel("49in", false, &[]).expect("a channel");
    let ratio = marginal.variants[0].links[0].bit_error_ratio;
    assert!(ratio > 1e-9 && ratio < 1e-4, "{ratio:e}");
    let same = of_slot(&[&format!("links.slot.ber={ratio}")]);
    assert_eq!(throughput(&marginal), throughput(&same));
    assert_eq!(on_channel("80in", false, &[]).unwrap_err(), ["SC078"]);
}

#[test]
fn a_retimer_in_the_channel_is_one_in_the_link() {
    assert_eq!(on_channel("24in", true, &[]).unwrap_err(), ["SC077"]);
    let via = "links.slot.via=[montage-m88rt51632]";
    let both = on_channel("12in", true, &[via]).expect("a channel");
    let link = &both.variants[0].links[0];
    assert_eq!((link.segments.len(), link.retimers()), (2, 1));
    assert_eq!(on_channel("12in", false, &[via]).unwrap_err(), ["SC077"]);
    assert_eq!(on_channel("5in", false, &["links.slot.gen=2"]).unwrap_err(), ["CH009"]);
    assert_eq!(on_channel("5in", false, &["links.slot.ber=1e-9"]).unwrap_err(), ["SC033"]);
}

#[test]
fn a_complete_plan_with_a_channel_is_read_again_as_it_was() {
    let one = on_channel("24in", false, &[]).expect("a channel");
    let text = serde_json::to_string(&one).expect("a plan is a document");
    let again = plan("elsewhere.yaml", &text, &[]);
    assert_eq!(again.variants[0].links, one.variants[0].links);
    assert_eq!(again.files, one.files);
    assert!(text.contains("dB, 1.") && text.contains("of the mask"), "the margin is told: {text}");
}

/// The drive behind a card and 0.7 m of cable, 41 dB: without a retimer it misses the mask, and with one no errors
/// would be seen.
#[test]
fn a_topology_beyond_the_budget_needs_its_retimer() {
    let topology = scenario().with_file_name("link").join("long-with-cable.yaml");
    let topology = std::fs::read_to_string(topology).expect("the topology");
    // calibrated, it says the same and takes longer
    let files = Files::of([("long.yaml".to_owned(), topology + "stress: constants\n")].into());
    let checked = |variants: &str| {
        let sets = ["links.slot.channel=long.yaml".to_owned(), format!("variants={{{variants}}}")];
        check_with(Path::new("slot.yaml"), SLOT, &sets, &Catalogue::built_in(), &files)
    };
    let as_is = "as-is: {links.slot.channel-variant: as-is}";
    let retimer = "retimer: {links.slot.channel-variant: retimer, links.slot.via: [montage-m88rt51632]}";
    let both = checked(&format!("{as_is}, {retimer}"));
    let [found] = &both.diagnostics[..] else { panic!("{:#?}", both.diagnostics) };
    assert_eq!(found.code, "SC112");
    assert!(found.message.ends_with("(in variant `as-is`)"), "{found}");
    let retimed = checked(retimer).plan.expect("the retimer mends it");
    let link = &retimed.variants[0].links[0];
    let eyes = &link.channel.as_ref().expect("a channel").eyes;
    assert!(eyes.len() == 2 && eyes.iter().all(|eye| eye.answers.mask_ratio > 1.5), "{eyes:?}");
    assert!(link.bit_error_ratio < 1e-20);
}

/// Each machine of the page is one.
#[test]
fn the_first_example_of_the_page_is_right() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/retimers.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let example =
        page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let found = lanetwin_plan::check_text(&format!("about: What does it cost?\n{example}"));
    assert_eq!(found, []);
}

#[test]
fn what_a_link_cannot_have_is_told_all_at_once() {
    let codes = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let found = check_with(Path::new("slot.yaml"), SLOT, &sets, &Catalogue::built_in(), &Files::none());
        found.diagnostics.iter().map(|found| found.code).collect::<Vec<_>>()
    };
    for (key, value) in [("via", "[2s]"), ("recovery", "2s"), ("nak", "20000s"), ("propagation", "20000s")] {
        assert_eq!(codes(&[&format!("links.slot.{key}={value}")]), ["SC009"], "{key}");
    }
    assert_eq!(codes(&["links.slot.via=[spec-limit-retimr]"]), ["SC011"]);
    assert_eq!(codes(&["links.slot.channel=gone.yaml"]), ["SC002"]);
    assert_eq!(codes(&["links.slot.channel-variant=x"]), ["SC006"]);
    let many = ["links.slot.via=[nfp-6000]", "links.slot.nak=x", "links.slot.gen=7"];
    assert_eq!(codes(&many), ["SC070", "SC008", "SC022"]);
}
