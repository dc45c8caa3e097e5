//! Parts of a program elsewhere, devices that are mapped directly, hints about pages: do they what they say, and is
//! what is wrong told?

use crate::tree::{plan, results};
use lanetwin_plan::{Catalogue, check};
use lanetwin_stats::results::{Results, Row};
use lanetwin_world::Options;
use std::path::Path;

fn row<'r>(
    results: &'r Results,
    workload: &str,
    case: &str,
    device: Option<&str>,
    metric: &str,
) -> Option<&'r Row> {
    let is_it = |row: &&Row| {
        (&*row.workload, &*row.case, row.device.as_deref(), &*row.metric) == (workload, case, device, metric)
    };
    results.rows.iter().find(is_it)
}

const PARTS: &str = "
about: What if the matrix were on the expander?
machine:
  host: {model: memory-host, cores: 2, dram.size: 16GiB, dram: simple, l2.size: 0B, llc.size: 0B}
  exp: {model: cxl-expander, capacity: 16GiB}
links:
  slot: {from: host, to: exp}
workloads:
  cg:
    memory:
      program: {cg: {class: W}}
      threads: 2
      placement: [dram, {default: dram, parts: {a: exp}}, {parts: {a: {dax: exp}, colidx: exp}}, exp]
      lines: 4000
    on: host
run: {repeats: 2}
";

#[test]
fn a_part_of_a_program_lies_where_it_is_said() {
    let results = results(&plan("parts.yaml", PARTS, &[]), &Options::default());
    let far = |case| row(&results, "cg", case, Some("exp"), "throughput").map_or(0.0, |row| row.value);
    let near = |case| row(&results, "cg", case, Some("dram"), "throughput").map_or(0.0, |row| row.value);
    let [dram, one, two, all] =
        ["dram", "dram but a on exp", "dram but a on exp DAX and colidx on exp", "exp"];
    assert_eq!((far(dram), near(all)), (0.0, 0.0));
    // the columns are four bytes for each value's eight, and both are read once for each product
    let share = |case| far(case) / (far(case) + near(case));
    let more = share(two) / share(one);
    assert!(
        share(one) > 0.1 && share(two) < 1.0 && (1.4..1.6).contains(&more),
        "{} {}",
        share(one),
        share(two)
    );
    // every placement is held against the first, in speed
    let speeds: Vec<_> =
        results.relative.iter().map(|r| (&*r.case, &*r.baseline_case, &*r.metric, r.value < 1.0)).collect();
    assert_eq!(speeds, [one, two, all].map(|case| (case, dram, "program time", true)));
    let time = |case| row(&results, "cg", case, None, "program time").unwrap().value;
    let [.., last] = &results.relative[..] else { panic!("no speeds") };
    assert!((last.value - time(dram) / time(all)).abs() < 1e-3, "{last:?}");
}

/// A chase through more pages of 4 KiB than the TLB has, of which 2 MiB ones would be few.
const DAX: &str = "
about: What does mapping a device directly change?
machine:
  host: {model: memory-host, cores: 1, dram.size: 16GiB, l2.size: 0B, llc.size: 0B, tlb.entries: 64}
  exp: {model: cxl-expander, capacity: 16GiB}
links:
  slot: {from: host, to: exp}
workloads:
  chase: {memory: {pattern: chase, working-set: 64MiB, placement: [exp, {dax: exp}], lines: 300}, on: host}
run: {repeats: 1}
";

#[test]
fn pages_of_two_mebibytes_are_translated_once() {
    let results = results(&plan("dax.yaml", DAX, &[]), &Options::default());
    let latency = |case| row(&results, "chase", case, None, "latency").unwrap().value;
    assert!(latency("exp") > latency("exp DAX") + 50.0, "{} {}", latency("exp"), latency("exp DAX"));
    let walks = |case: &str| {
        let of = results.waterfalls.iter().find(|w| w.case == case).unwrap();
        of.stages.iter().find(|stage| stage.name == "host: translation").map_or(0.0, |stage| stage.value)
    };
    assert!(walks("exp") > 50.0 && walks("exp DAX") < 5.0, "{} {}", walks("exp"), walks("exp DAX"));
}

#[test]
fn large_pages_are_translated_once_and_policies_go_round_in_them() {
    let sets = [
        "workloads.chase.memory.placement=[exp, {bind: exp, pages: 2MiB}, {weighted: {dram: 3, exp: 1}}]",
        "workloads.chase.memory.lines=2000",
    ];
    let of = |size: &str| {
        let size = format!("workloads.chase.memory.pages={size}");
        results(&plan("large.yaml", DAX, &[&sets[..], &[&*size]].concat()), &Options::default())
    };
    let (small, large) = (of("4KiB"), of("2MiB"));
    let latency = |results, case| row(results, "chase", case, None, "latency").unwrap().value;
    assert!(latency(&small, "exp") > latency(&small, "exp in 2MiB") + 50.0);
    // of the load, or of the placement
    assert!((latency(&large, "exp") - latency(&large, "exp in 2MiB")).abs() < 5.0);
    assert!((latency(&large, "exp") - latency(&small, "exp in 2MiB")).abs() < 5.0);
    // of 32 pages of 2 MiB every fourth is on the expander, and so is every fourth line that is followed
    let of = |node| row(&large, "chase", "dram 3 : exp 1", Some(node), "throughput").unwrap().value;
    let share = of("exp") / (of("exp") + of("dram"));
    assert!((share - 0.25).abs() < 0.04, "{share}");
}

#[test]
fn what_is_wrong_with_sizes_of_pages_is_told() {
    let chase = "workloads.chase.memory";
    for (sets, expected) in [
        (&[".pages=2MB"][..], &["SC010 .pages"][..]),
        (&[".placement={bind: exp, pages: 3MiB}"], &["SC010 .placement.pages"]),
        (&[".placement={dax: exp, pages: 2MiB}"], &["SC033 .placement.pages"]),
        (&[".placement={bind: exp, pages: 1GiB}"], &["SC089 .placement"]),
        (&[".pages=2MiB", ".working-set=2MB"], &["SC089 .placement"]),
        (
            &[".placement=[{bind: exq, pages: 8KiB}, {dax: dram, pages: 2MiB}]"],
            &["SC010 .placement.pages", "SC095 .placement.bind", "SC098 .placement.dax"],
        ),
    ] {
        let sets: Vec<String> = sets.iter().map(|set| format!("{chase}{set}")).collect();
        let found = mistakes(DAX, &sets.iter().map(String::as_str).collect::<Vec<_>>());
        let expected: Vec<String> =
            expected.iter().map(|told| told.replacen(" ", &format!(" {chase}"), 1)).collect();
        assert_eq!(found, expected, "{sets:?}");
    }
}

const HINTS: &str = "
about: Are pages there when they are needed?
machine:
  host: {model: memory-host, cores: 2, ports: 2, dram: simple}
  cmmh: {part: samsung-cmm-h}
  exp: {model: cxl-expander}
links:
  slot: {from: host, to: cmmh}
  other: {from: host, to: exp}
workloads:
  stream: {memory: {working-set: 2GiB, placement: cmmh, cache: cold, hints: {prefetch: 0, evict: 0}, lines: 5000}, on: host}
variants: {none: {}, ahead: {workloads.stream.memory.hints: {prefetch: 16, evict: 4}}}
run: {repeats: 1}
";

#[test]
fn announced_pages_are_there_and_dismissed_ones_leave() {
    let results = results(&plan("hints.yaml", HINTS, &[]), &Options::default());
    let of = |variant: &str, metric: &str| {
        let is_it = |row: &&Row| row.variant == variant && row.metric == metric;
        results.rows.iter().find(is_it).map(|row| row.value)
    };
    assert!(of("ahead", "throughput") > Some(2.0 * of("none", "throughput").unwrap()), "{:?}", results.rows);
    assert!(of("ahead", "device cache hits") > of("none", "device cache hits"));
    let (announced, accepted) =
        (of("ahead", "pages announced").unwrap(), of("ahead", "announced pages accepted").unwrap());
    assert!(announced >= 60.0 && accepted > 0.9 * announced, "{announced} {accepted}");
    assert!(of("ahead", "of those used").unwrap() > 40.0);
    let (dismissed, left) =
        (of("ahead", "pages dismissed").unwrap(), of("ahead", "dismissed pages that left").unwrap());
    assert!(dismissed >= 60.0 && left > 0.0, "{dismissed} {left}");
    assert_eq!(of("none", "pages announced"), None);
    let pages = |variant: &str| {
        results.temperatures.iter().find(|t| t.variant == variant).unwrap().pages.iter().sum::<u64>()
    };
    assert!(pages("none") > 30, "{:?}", results.temperatures);
    // variants of one placement are held against the baseline
    let speeds: Vec<_> =
        results.relative.iter().map(|r| (&*r.variant, &*r.baseline_variant, r.value > 2.0)).collect();
    assert_eq!(speeds, [("ahead", "none", true)]);
}

#[test]
fn devices_tell_which_pages_are_cached_and_how_hot_they_are() {
    let ask = [
        "workloads.stream.memory.hints={status: 8, temperature: 2}",
        "variants.ahead={workloads.stream.memory.hints.prefetch: 16}",
    ];
    let results = results(&plan("hints.yaml", HINTS, &ask), &Options::default());
    let of = |variant: &str, metric: &str| {
        let is_it = |row: &&Row| row.variant == variant && row.metric == metric;
        results.rows.iter().find(is_it).map_or(0.0, |row| row.value)
    };
    for variant in ["none", "ahead"] {
        assert!(of(variant, "pages asked for") >= 60.0);
        // each line of a page that a thread has left was read once, a moment ago
        let (felt, heat) = (
            of(variant, "pages whose temperature was asked"),
            of(variant, "temperature of a page asked for"),
        );
        assert!(felt >= 60.0 && heat > 50.0 && heat < 70.0, "{felt} {heat}");
    }
    let share = |variant| of(variant, "pages asked for that are cached");
    assert!(share("none") < 1.0 && share("ahead") > 90.0, "{} {}", share("none"), share("ahead"));
}

/// Pages count with their answers: no more are cached than were asked for, wherever the run is cut.
#[test]
fn no_more_pages_are_cached_than_were_asked_for() {
    let sets = [
        "workloads.stream.memory.working-set=8GiB",
        "workloads.stream.memory.cache=warm",
        "workloads.stream.memory.hints={status: 16}",
        "workloads.stream.memory.lines=2000",
        "machine.host.ports=1",
        "machine.exp=null",
        "links.other=null",
        "variants=null",
    ];
    for seed in ["run.seed=6", "run.seed=10"] {
        let sets = [&sets[..], &[seed]].concat();
        let results = results(&plan("hints.yaml", HINTS, &sets), &Options::default());
        let cached = results.rows.iter().find(|row| row.metric == "pages asked for that are cached");
        assert_eq!(cached.expect("it asks").value, 100.0, "{seed}");
    }
}

fn mistakes(text: &str, sets: &[&str]) -> Vec<String> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let found = check(Path::new("memory.yaml"), text, &sets, &Catalogue::built_in()).diagnostics;
    let mut told: Vec<String> = found.iter().map(|found| format!("{} {}", found.code, found.path)).collect();
    told.sort();
    told.dedup();
    told
}

#[test]
fn what_is_wrong_with_parts_dax_and_hints_is_told() {
    let mut wrong = Vec::new();
    let placement = "workloads.cg.memory.placement";
    for (value, expected) in [
        ("{dax: dram}", &["SC098 .dax"][..]),
        ("{dax: [exp]}", &["SC007 .dax"]),
        ("{dax: far}", &["SC095 .dax"]),
        ("{dax: exp, bind: dram}", &["SC033 .dax"]),
        ("{parts: {b: exp}}", &["SC097 .parts.b"]),
        ("{default: exp}", &["SC006 .default"]),
        ("{parts: {}}", &["SC034 .parts"]),
        ("{parts: {a: exp}, bind: dram}", &["SC033 .bind"]),
        ("{parts: {a: {}}}", &["SC006 .parts.a"]),
        // all at once
        (
            "{default: exq, parts: {a: {dax: dram}, x: {weighted: {dram: 0, exp: 256}}, colidx: far}}",
            &[
                "SC009 .parts.x.weighted.dram",
                "SC009 .parts.x.weighted.exp",
                "SC095 .default",
                "SC095 .parts.colidx",
                "SC098 .parts.a.dax",
            ],
        ),
    ] {
        let found = mistakes(PARTS, &[&format!("{placement}={value}")]);
        let expected: Vec<String> =
            expected.iter().map(|told| told.replacen(" ", &format!(" {placement}"), 1)).collect();
        if found != expected {
            wrong.push((value.to_owned(), found, expected));
        }
    }
    let stream = "workloads.stream.memory";
    for (sets, expected) in [
        (&[".placement=exp", ".hints.prefetch=4"][..], &["SC099 .hints"][..]),
        (&[".hints.prefetch=-1"], &["SC009 .hints.prefetch"]),
        (&[".hints={prefetch: 4, ahead: 2}"], &["SC005 .hints.ahead"]),
        (&[".pattern=chase", ".hints.prefetch=4"], &["SC033 .hints"]),
        (
            &[".pattern=random", ".hints.evict=4", ".placement=[cmmh, dram]"],
            &["SC033 .hints", "SC099 .hints"],
        ),
    ] {
        let sets: Vec<String> =
            sets.iter().map(|set| format!("{stream}{set}")).chain(["variants=null".into()]).collect();
        let found = mistakes(HINTS, &sets.iter().map(String::as_str).collect::<Vec<_>>());
        let expected: Vec<String> =
            expected.iter().map(|told| told.replacen(" ", &format!(" {stream}"), 1)).collect();
        if found != expected {
            wrong.push((format!("{sets:?}"), found, expected));
        }
    }
    // too small is an error, and no other memory is taken
    let small = mistakes(
        DAX,
        &["workloads.chase.memory.working-set=16385MiB", "workloads.chase.memory.placement={dax: exp}"],
    );
    assert_eq!(small, ["SC096 workloads.chase.memory.placement"]);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_complete_plan_with_parts_and_hints_gives_the_same_plan_again() {
    for (text, sets) in
        [(PARTS, vec![]), (HINTS, vec!["workloads.stream.memory.hints={evict: 3}", "variants=null"])]
    {
        let one = plan("one.yaml", text, &sets);
        let other = plan("one.yaml", &serde_json::to_string(&one).expect("a document"), &[]);
        assert_eq!(one.variants[0].workloads, other.variants[0].workloads);
    }
}
