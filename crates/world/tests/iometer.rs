//! Does a workload of Iometer do what its file says, say what is wrong with it, run without it, and tell Iometer's
//! numbers?

use crate::tree::{options, results};
use lanetwin_load::iometer::results_csv::{self, Column, RowKind};
use lanetwin_load::iometer::{Version, config::Config, read};
use lanetwin_plan::{Blocks, Case, Catalogue, Checked, Files, IometerCase, Plan, check_path, check_with};
use lanetwin_stats::results::Results;
use lanetwin_world::Options;
use std::collections::BTreeMap;
use std::path::Path;

const IDT: &str = include_str!("../../../scenarios/iometer/idt-2004.07.30.icf");

/// Two drives of a host, and what `iometer:` is given.
fn scenario(iometer: &str) -> String {
    format!(
        "
about: Does Iometer notice?
machine:
  host: {{part: generic-host-gen4}}
  one: {{part: generic-nvme-gen4}}
  two: {{part: generic-nvme-gen4, port.width: 1}}
links:
  a: {{from: host, to: one}}
  b: {{from: host, to: two}}
workloads:
  load: {{iometer: {{file: some.icf, requests: 40, {iometer}}}, on: host, target: [one, two]}}
run: {{repeats: 2, warm-up: 8}}
"
    )
}

fn checked(icf: &str, iometer: &str) -> Checked {
    let files = Files::of(BTreeMap::from([("some.icf".to_owned(), icf.to_owned())]));
    check_with(Path::new("some.yaml"), &scenario(iometer), &[], &Catalogue::built_in(), &files)
}
fn plan(icf: &str, iometer: &str) -> Plan {
    let checked = checked(icf, iometer);
    checked.plan.unwrap_or_else(|| panic!("{:#?}", checked.diagnostics))
}
fn labels(plan: &Plan) -> Vec<&str> {
    plan.variants[0].workloads[0].cases.iter().map(|case| &*case.label).collect()
}
/// The sample as another says it.
fn changed(change: impl FnOnce(&mut Config)) -> String {
    let mut config = read(IDT, "idt.icf").expect("a sample").config;
    change(&mut config);
    config.to_icf()
}

fn iometer(case: &Case) -> &IometerCase {
    case.load.blocks().expect("a load of Iometer")
}

/// As Iometer, whose maximum disk size of 0 is the whole disk.
#[test]
fn workers_go_through_all_of_the_smallest_drive() {
    let capacity = |text: &str| {
        let files = Files::of(BTreeMap::from([("some.icf".to_owned(), IDT.to_owned())]));
        let checked = check_with(Path::new("some.yaml"), text, &[], &Catalogue::built_in(), &files);
        let plan = checked.plan.unwrap_or_else(|| panic!("{:#?}", checked.diagnostics));
        iometer(&plan.variants[0].workloads[0].cases[0]).capacity.0
    };
    let text = scenario("");
    assert_eq!(capacity(&text), 1 << 30, "drives without a medium");
    let drives = text
        .replace("one: {part: generic-nvme-gen4}", "one: {part: generic-tlc-gen4, capacity: 96GiB}")
        .replace("two: {part: generic-nvme-gen4,", "two: {part: generic-tlc-gen4,");
    assert_eq!(capacity(&drives), 96 << 30);
    assert_eq!(capacity(&drives.replace("requests: 40,", "requests: 40, capacity: 2GiB,")), 2 << 30);
}

#[test]
fn a_case_is_a_specification_with_what_its_worker_says() {
    let assigned = plan(IDT, "");
    let cases = &assigned.variants[0].workloads[0].cases;
    assert_eq!(labels(&assigned).len(), 4);
    assert!(labels(&assigned)[2].starts_with("67 % 2 MiB sequential reads"));
    let mixed = iometer(&cases[2]);
    assert_eq!((mixed.workers[0].outstanding, mixed.requests, mixed.kinds()), (1, 40, (true, true)));
    assert_eq!(mixed.spec().expect("one").lines.iter().map(|line| line.share).collect::<Vec<_>>(), [67, 33]);
    let reads = iometer(&cases[0]);
    assert_eq!((reads.kinds(), reads.largest()), ((true, false), 2 << 20));

    let two = plan(IDT, "spec: 2 mib SEQUENTIAL reads, outstanding: [1, 4]");
    assert_eq!(labels(&two), ["2 MiB sequential reads, 1 in flight", "2 MiB sequential reads, 4 in flight"]);
    let axes: Vec<_> =
        two.variants[0].workloads[0].cases.iter().map(|c| c.axis.as_ref().map(|a| a.value)).collect();
    assert_eq!(axes, [Some(1.0), Some(4.0)]);

    // a worker of its own: other settings, other specifications
    let other = changed(|config| {
        let mut worker = config.managers[0].workers[0].clone();
        (worker.name, worker.outstanding) = ("Worker 2".into(), 7);
        worker.specs = vec![config.specs[1].name.clone(), "Idle".into()];
        config.managers[0].workers.push(worker);
    });
    let plan_of_both = |icf: &str| plan(icf, "");
    let plan = plan(&other, "worker: Worker 2");
    assert_eq!(labels(&plan), ["2 MiB sequential writes"]);
    let case = iometer(&plan.variants[0].workloads[0].cases[0]);
    assert_eq!(case.workers[0].outstanding, 7);
    // without `worker` both run at once, as in Iometer: the second has one test, and is idle afterwards
    let both = plan_of_both(&other);
    assert_eq!(labels(&both)[0], "2 MiB sequential reads + 2 MiB sequential writes");
    assert_eq!(labels(&both)[1], "2 MiB sequential writes");
}

#[test]
fn what_is_wrong_with_the_file_is_told_with_its_place_in_it_and_once() {
    let line = 1 + IDT.lines().position(|line| line.trim() == "65536,33,0,0,0,1,0,0").expect("a line");
    let found = checked(&IDT.replace("65536,33,0", "65536,many,0"), "").diagnostics;
    let told: Vec<_> = found.iter().map(|d| (d.code, &*d.file, d.line as usize)).collect();
    assert_eq!(told, [("IO008", "some.icf", line)]);
    assert!(found[0].column > 1 && found[0].path.starts_with("ACCESS SPECIFICATIONS"), "{found:#?}");

    // a warning is kept, and there is a plan
    let replies = changed(|config| config.specs[0].lines[0].reply = 512);
    let plan = plan(&replies, "");
    assert_eq!(plan.warnings.iter().map(|d| d.code).collect::<Vec<_>>(), ["IO104"]);
    assert!(plan.not_modelled().iter().any(|text| text.starts_with("The replies of")));
}

#[test]
fn a_file_is_read_beside_the_scenario_and_a_missing_one_is_named() {
    let folder = std::env::temp_dir().join(format!("lanetwin-iometer-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("some.yaml");
    std::fs::write(&file, scenario("")).expect("a scenario");
    let missing = check_path(&file, &[]).expect_err("the file is missing");
    std::fs::write(folder.join("some.icf"), IDT).expect("the file");
    let plan = check_path(&file, &[]).expect("the file is there");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    assert_eq!(missing.len(), 1, "{missing:#?}");
    assert_eq!((missing[0].code, &*missing[0].path), ("IO001", "workloads.load.iometer.file"));
    assert_eq!(missing[0].file, folder.join("some.icf").display().to_string());
    assert_eq!(plan.files["some.icf"], IDT);
    let unheard = lanetwin_plan::check_text(&scenario(""));
    assert_eq!(unheard.iter().map(|d| d.code).collect::<Vec<_>>(), ["IO001"]);
}

#[test]
fn the_plan_is_a_scenario_that_runs_without_the_file() {
    let plan = plan(IDT, "spec: [2 MiB sequential writes, 2 MiB sequential reads]");
    let text = plan.document().to_yaml();
    let again = check_with(Path::new("some.yaml"), &text, &[], &Catalogue::built_in(), &Files::none());
    let again = again.plan.unwrap_or_else(|| panic!("{:#?}\n{text}", again.diagnostics));
    assert_eq!(again.variants[0].workloads, plan.variants[0].workloads);
    let digest = |plan: &Plan| results(plan, &Options::default()).digest;
    assert_eq!(digest(&again), digest(&plan));
    let understood = "{spec: \"2 MiB sequential writes\", size: 2MiB, share: 100%, reads: 0%, random: 0%";
    assert!(text.contains(understood), "{text}");
    assert_eq!(results(&plan, &Options::default()).scenario.files["some.icf"], IDT);
}

#[test]
fn bursts_of_several_targets_are_said_not_to_be_iometers() {
    let said = |burst: u32, delay_ms: u32| {
        let icf = changed(|config| {
            let line = &mut config.specs[0].lines[0];
            (line.burst, line.delay_ms) = (burst, delay_ms);
        });
        plan(&icf, "").not_modelled().iter().any(|text| text.starts_with("Bursts and delays"))
    };
    assert_eq!([said(1, 0), said(2, 0), said(1, 3)], [false, true, true]);
}

fn value(results: &Results, case: &str, metric: &str) -> f64 {
    let found = results.iometer.iter().find(|m| m.case == case && m.of.is_empty() && m.metric == metric);
    found.and_then(|m| m.value).unwrap_or_else(|| panic!("{metric} of {case}"))
}

#[test]
fn its_metrics_are_those_of_the_rows_in_both_megabytes() {
    let run = results(&plan(IDT, ""), &Options::default());
    let families: std::collections::BTreeSet<&str> = run.iometer.iter().map(|m| &*m.family).collect();
    assert_eq!(families.len(), 7);
    for metric in &run.iometer {
        assert_eq!(metric.value.is_none(), metric.not_modelled.ends_with('.'), "{metric:?}");
    }
    let reads = "2 MiB sequential reads";
    let row = |metric: &str| {
        let found = run.rows.iter().find(|r| r.case == reads && r.metric == metric && r.device.is_none());
        found.expect("a row").value
    };
    let close = |a: f64, b: f64| (a / b - 1.0).abs() < 0.02;
    let decimal = value(&run, reads, "Total MBs per Second (Decimal)");
    assert!(close(decimal, row("throughput")), "{decimal}");
    let binary = value(&run, reads, "Total MBs per Second (Binary)");
    assert!((decimal * 1e6 / (binary * 1_048_576.0) - 1.0).abs() < 1e-12);
    assert!(close(value(&run, reads, "Average I/O Response Time"), row("latency") / 1e6));
    assert_eq!(value(&run, reads, "Write I/Os per Second"), 0.0);
    // two drivers with a core each, 0.5 µs to submit and 0.5 µs to complete
    let percent = value(&run, reads, "Total I/Os per Second") * 1e-6 / 2.0 * 100.0;
    assert!(close(value(&run, reads, "% CPU Utilization (total)"), percent));
}

#[test]
fn its_results_file_is_of_the_version_of_the_configuration_and_the_same_each_time() {
    let newer = include_str!("../../../scenarios/iometer/idt-1.1.0.icf");
    for (icf, version, columns) in [(IDT, Version::V2004_07_30, 56), (newer, Version::V1_1_0, 80)] {
        let plan = plan(icf, "");
        let [one, two] = [1, 2].map(|threads| results(&plan, &options(threads, Default::default())));
        assert_eq!(one.attachments, two.attachments);
        let [file] = &one.attachments[..] else { panic!("{:#?}", one.attachments) };
        assert_eq!(file.name, "iometer.csv");
        let head = file.text.lines().find(|line| line.starts_with("'Target Type")).expect("a header");
        assert_eq!(head.split(',').count(), columns);
        let series = &results_csv::read(&file.text, "iometer.csv").expect("a results file")[0];
        assert_eq!((series.version, series.tests.len(), series.ended), (version, 4, true));
        let kinds: Vec<RowKind> = series.tests[0].rows.iter().map(|row| row.kind).collect();
        use RowKind::{All, Disk, Manager, Processor, Worker};
        assert_eq!(kinds, [All, Manager, Processor, Processor, Worker, Disk, Disk]);
        let iops = |row: &results_csv::Row| row.cells[&Column::Iops].number();
        let rows = &series.tests[2].rows;
        assert!((iops(&rows[5]) + iops(&rows[6]) - iops(&rows[0])).abs() < 1e-3);
        assert_eq!((&*rows[0].spec, &*rows[5].name), (&*one.iometer[34 * 2].case, "one"));
    }
}

/// Two managers of two workers each. The first two share the drive `E:` of their manager; the others have one each of
/// theirs.
fn four_workers() -> String {
    changed(|config| {
        let names: Vec<String> = config.specs.iter().map(|spec| spec.name.clone()).collect();
        let drive = |name: &str| {
            let mut target = config.managers[0].workers[0].targets[0].clone();
            target.name = name.to_owned();
            target
        };
        let worker = |name: &str, outstanding, specs: &[usize], targets: &[&str]| {
            let mut worker = config.managers[0].workers[0].clone();
            (worker.name, worker.outstanding) = (name.to_owned(), outstanding);
            worker.specs = specs.iter().map(|nth| names[*nth].clone()).collect();
            worker.targets = targets.iter().map(|name| drive(name)).collect();
            worker
        };
        let own = vec![worker("Worker 1", 1, &[0, 0], &["E:"]), worker("Worker 2", 2, &[1], &["E:"])];
        let others = vec![worker("Worker 1", 4, &[1, 1], &["E:"]), worker("Worker 2", 4, &[1, 1], &["F:"])];
        let mut second = config.managers[0].clone();
        (second.id, second.name, second.workers) = (1, "SECOND".into(), others);
        config.managers[0].workers = own;
        config.managers.push(second);
    })
}

/// Three drives of a host.
fn on_three_drives(icf: &str) -> Checked {
    let text = scenario("")
        .replace("links:", "  three: {part: generic-nvme-gen4}\nlinks:\n  c: {from: host, to: three}")
        .replace("[one, two]", "[one, two, three]")
        .replace("requests: 40", "requests: 200");
    let files = Files::of(BTreeMap::from([("some.icf".to_owned(), icf.to_owned())]));
    check_with(Path::new("some.yaml"), &text, &[], &Catalogue::built_in(), &files)
}

#[test]
fn workers_of_several_managers_run_at_once_each_on_its_targets() {
    let plan = on_three_drives(&four_workers()).plan.expect("a plan");
    let run = results(&plan, &Options::default());
    let file = &run.attachments[0].text;
    let series = &results_csv::read(file, "iometer.csv").expect("a results file")[0];
    assert_eq!(series.tests.len(), 2);
    let rows = &series.tests[0].rows;
    use RowKind::{All, Disk, Manager, Worker};
    let told: Vec<(RowKind, &str, &str)> = rows
        .iter()
        .filter(|row| row.kind != RowKind::Processor)
        .map(|row| (row.kind, &*row.name, &*row.spec))
        .collect();
    let (reads, writes) = ("2 MiB sequential reads", "2 MiB sequential writes");
    assert_eq!(
        told,
        [
            (All, "All", ""),
            (Manager, "HOST", ""),
            (Worker, "Worker 1", reads),
            (Disk, "one", ""),
            (Worker, "Worker 2", writes),
            (Disk, "one", ""),
            (Manager, "SECOND", writes),
            (Worker, "Worker 1", writes),
            (Disk, "two", ""),
            (Worker, "Worker 2", writes),
            (Disk, "three", ""),
        ]
    );
    let cell = |row: usize, column| {
        let row = rows.iter().filter(|row| row.kind != RowKind::Processor).nth(row).expect("a row");
        row.cells[&column].number()
    };
    let iops = |row| cell(row, Column::Iops);
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-6;
    assert!(near(iops(0), iops(1) + iops(6)), "all are their managers");
    assert!(near(iops(1), iops(2) + iops(4)), "a manager is its workers");
    assert!((2..11).all(|row| iops(row) > 0.0), "nobody stands still");
    assert_eq!((cell(2, Column::WriteIos), cell(4, Column::ReadIos)), (0.0, 0.0));
    let depths: Vec<f64> = [0, 1, 2, 4, 6].map(|row| cell(row, Column::QueueDepth)).to_vec();
    assert_eq!(depths, [-1.0, -1.0, 1.0, 2.0, 4.0], "what differs is no number");
    assert_eq!(
        [Column::Managers, Column::Workers, Column::Disks].map(|column| cell(0, column)),
        [2.0, 4.0, 4.0]
    );
    // in the second test the second worker has nothing to do
    assert_eq!(series.tests[1].rows.iter().filter(|row| row.kind == Worker).count(), 3);
    let of = |of: &str| {
        let own = run.iometer.iter().find(|m| m.of == of && m.metric == "Total I/Os per Second");
        own.and_then(|metric| metric.value).unwrap_or_else(|| panic!("{of}"))
    };
    assert!(near(of("SECOND"), of("SECOND/Worker 1@two") + of("SECOND/Worker 2")));
}

#[test]
fn targets_that_cannot_be_told_apart_are_said() {
    let codes = |checked: Checked| -> Vec<&str> {
        checked.plan.expect("a plan").warnings.iter().map(|found| found.code).collect()
    };
    assert_eq!(codes(checked(&four_workers(), "")), Vec::<&str>::new(), "two names, two drives");
    assert!(codes(on_three_drives(&four_workers())).is_empty(), "three drives of two managers");
    let one = changed(|config| {
        let mut other = config.managers[0].workers[0].clone();
        other.name = "Worker 2".into();
        config.managers[0].workers.push(other);
    });
    assert_eq!(codes(checked(&one, "")), ["SC115"], "five names, two drives");
    assert!(codes(checked(&one, "worker: Worker 2")).is_empty());
    // a worker that is idle in a test has its drives all the same
    let late = changed(|config| {
        let mut other = config.managers[0].workers[0].clone();
        let first = &mut config.managers[0].workers[0];
        (other.name, other.specs[0]) = ("Worker 2".into(), "Idle".into());
        first.targets.truncate(1);
        other.targets = other.targets.split_off(4);
        config.managers[0].workers.push(other);
    });
    let checked = checked(&late, "");
    let case = iometer(&checked.plan.as_ref().expect("a plan").variants[0].workloads[0].cases[0]).clone();
    assert_eq!((case.asks(&[0, 0]), codes(checked).len()), (Some(vec![vec![0]]), 0));
}

#[test]
fn the_shipped_scenario_of_two_managers_runs_without_a_doubt() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/iometer-managers.yaml");
    let plan = check_path(&file, &[]).expect("a plan");
    assert_eq!(plan.warnings, []);
    let cases = &plan.variants[0].workloads[0].cases;
    let workers: Vec<usize> = cases.iter().map(|case| iometer(case).workers.len()).collect();
    assert_eq!(workers, [2, 4]);
    assert_eq!(iometer(&cases[1]).asks(&[0; 4]), Some(vec![vec![0, 1], vec![0], vec![2], vec![3]]));
}
