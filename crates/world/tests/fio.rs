//! Does a workload of fio do what its job file says, say what is wrong with it, run without it, and tell fio's numbers?

use crate::tree::results;
use lanetwin_document::{Diagnostic, Severity};
use lanetwin_plan::{Blocks, Catalogue, Checked, Files, FioCase, Plan, check_with};
use lanetwin_stats::results::Results;
use lanetwin_world::Options;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Two drives of a host, and what `fio:` is given.
fn scenario(fio: &str, target: &str) -> String {
    format!(
        "
about: Does fio notice?
machine:
  host: {{part: generic-host-gen4}}
  one: {{part: generic-nvme-gen4}}
  two: {{part: generic-nvme-gen4, port.width: 1}}
links:
  a: {{from: host, to: one}}
  b: {{from: host, to: two}}
workloads:
  load: {{fio: {{{fio}}}, on: host, target: {target}}}
run: {{repeats: 2, warm-up: 8}}
"
    )
}
fn checked(job: &str, fio: &str) -> Checked {
    let log = "fio version 3 iolog\n1 f add\n11 f read 0 4096\n111 f write 8192 512\n131 f read 4096 4096\n";
    let texts = [("jobs/some.fio", job), ("jobs/all.inc", "iodepth=3\n"), ("jobs/some.log", log)];
    let files = Files::of(BTreeMap::from(texts.map(|(name, text)| (name.to_owned(), text.to_owned()))));
    check_with(Path::new("some.yaml"), &scenario(fio, "one"), &[], &Catalogue::built_in(), &files)
}
fn plan_of(job: &str, fio: &str) -> Plan {
    let checked = checked(job, fio);
    checked.plan.unwrap_or_else(|| panic!("{:#?}", checked.diagnostics))
}
fn codes(job: &str, fio: &str) -> Vec<String> {
    checked(job, fio).diagnostics.iter().map(|d| format!("{} {}", d.code, d.path)).collect()
}
fn cases(plan: &Plan) -> Vec<&FioCase> {
    let cases = &plan.variants[0].workloads[0].cases;
    cases.iter().map(|case| case.load.blocks().expect("a load of fio")).collect()
}
fn labels(plan: &Plan) -> Vec<&str> {
    plan.variants[0].workloads[0].cases.iter().map(|case| &*case.label).collect()
}

fn plan_on(target: &str, job: &str) -> Plan {
    let files = Files::of(BTreeMap::from([("some.fio".to_owned(), job.to_owned())]));
    let text = scenario("file: some.fio, requests: 400", target);
    let checked = check_with(Path::new("some.yaml"), &text, &[], &Catalogue::built_in(), &files);
    checked.plan.unwrap_or_else(|| panic!("{:#?}", checked.diagnostics))
}

#[test]
fn each_job_asks_the_drive_that_it_names() {
    const NAMED: &str = "[global]\ndirect=1\nsize=1g\nrw=randread\niodepth=4\n[a]\nfilename=/dev/nvme0n1\n\
        [b]\nstonewall\nfilename=/dev/nvme1n1\n[c]\nfilename=/dev/nvme0n1\n";
    let devices = |target: &str| {
        let found = results(&plan_on(target, NAMED), &Options::default());
        assert!(found.complete);
        let rows = found.rows.iter().filter(|row| row.metric == "IOPS" && row.value > 0.0);
        rows.filter_map(|row| row.device.clone()).collect::<std::collections::BTreeSet<_>>()
    };
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(devices("[one, two]"), set(&["b@two", "c@one"]), "`a` is alone in its phase");
    assert_eq!(devices("[two, one]"), set(&["b@one", "c@two"]), "the first that is named");
    let asked = |target: &str, case: usize| cases(&plan_on(target, NAMED))[case].asks(&[0, 0]);
    assert_eq!(asked("[one, two]", 0), Some(vec![vec![0]]));
    assert_eq!(asked("[one, two]", 1), Some(vec![vec![1], vec![0]]));
    let on_one = plan_on("one", NAMED);
    assert_eq!(cases(&on_one)[1].asks(&[0]), None, "one drive is all of them");
    let without = NAMED.replace("[c]\nfilename=/dev/nvme0n1\n", "[c]\n");
    assert_eq!(cases(&plan_on("[one, two]", &without))[0].asks(&[0, 0]), None, "one names no drive");
}

#[test]
fn a_job_of_several_drives_has_a_share_on_each() {
    const SHARED: &str = "[a]\ndirect=1\nrw=randread\niodepth=5\nsize=1g\nnumber_ios=301\nrate_iops=900\n\
        filename=/dev/nvme0n1:/dev/nvme1n1\n";
    let plan = plan_on("[one, two]", SHARED);
    let [case] = cases(&plan)[..] else { panic!("one phase") };
    let s = &case.jobs[0].job.settings;
    assert_eq!((s.iodepth, s.number_ios, s.rate_iops[0], s.rate[0]), (3, 151, 450, 0));
    assert_eq!(case.jobs[0].workload(0, case.capacity).extent().bytes, 512 << 20);
    assert_eq!(case.asks(&[0, 0]), Some(vec![vec![0, 1]]));
    assert!(
        plan.not_modelled().iter().any(|said| said.starts_with("The turns of the job `a` over its 2 drives"))
    );

    let alone = plan_on("one", SHARED);
    let settings = &cases(&alone)[0].jobs[0].job.settings;
    assert_eq!((settings.iodepth, settings.number_ios), (5, 301), "one drive has all of it");
    let spaces = plan_on("[one, two]", &SHARED.replace("/dev/nvme1n1", "/dev/nvme0n2"));
    assert_eq!(cases(&spaces)[0].jobs[0].job.settings.iodepth, 5, "two namespaces are one drive");
}

const JOBS: &str = "[global]\ndirect=1\nsize=1g\ninclude all.inc\n[reads]\nrw=randread\nnumjobs=2\n\
    [writes]\nrw=write\nbs=16k\n[after]\nstonewall\nrw=randrw\nnumjobs=2\ngroup_reporting\n";

#[test]
fn a_case_is_a_phase_and_a_load_is_a_clone() {
    let plan = plan_of(JOBS, "file: jobs/some.fio, requests: 200");
    assert_eq!(labels(&plan), ["reads + writes", "after"]);
    let threads = |case: &FioCase| case.clones().into_iter().map(|(_, _, name)| name).collect::<Vec<_>>();
    let [first, second] = cases(&plan)[..] else { panic!("two phases") };
    assert_eq!(
        (threads(first), first.depth()),
        (vec!["reads#0".into(), "reads#1".into(), "writes".into()], 9)
    );
    assert_eq!((threads(second), second.kinds()), (vec!["after".into(), "after".into()], (true, true)));
    assert_eq!(labels(&plan_of(JOBS, "file: jobs/some.fio, section: after")), ["after"]);

    let found = results(&plan, &Options::default());
    assert!(found.complete);
    let rows = |device: Option<&str>, metric: &str| {
        let row = |row: &&lanetwin_stats::results::Row| {
            row.case == "reads + writes" && row.device.as_deref() == device && row.metric == metric
        };
        found.rows.iter().find(row).unwrap_or_else(|| panic!("{device:?} {metric}")).value
    };
    let sum = rows(Some("reads#0"), "read IOPS") + rows(Some("reads#1"), "read IOPS");
    // of few I/Os each has a time of its own (`Results::time`)
    assert!((rows(None, "read IOPS") - sum).abs() < 0.1 * sum);
    assert!(rows(Some("writes"), "write throughput") > 0.0);
}

#[test]
fn options_stand_in_the_scenario_too_and_mean_the_same() {
    let inline = plan_of(
        "",
        "rw: randread, bs: 8k, iodepth: 4, numjobs: 2, size: 1g, group_reporting: 1, requests: 100",
    );
    let job = "[load]\ndirect=1\nrw=randread\nbs=8k\niodepth=4\nnumjobs=2\nsize=1g\ngroup_reporting=1\n";
    let file = plan_of(job, "file: jobs/some.fio, requests: 100");
    assert_eq!(cases(&inline)[0].jobs[0].job.settings, cases(&file)[0].jobs[0].job.settings);
    let [one, two] = [&inline, &file].map(|plan| results(plan, &Options::default()).digest);
    assert_eq!(one, two);
}

#[test]
fn options_of_a_variant_are_its_own() {
    let changed = "
variants:
  as-is: {}
  deep: {workloads.load.fio.iodepth: 32}
  large: {workloads.load.fio.bs: 64k}
  writes: {workloads.load.fio: {rw: randwrite, bs: 8k, requests: 100}}
";
    let text =
        scenario("rw: randread, bs: 4k, requests: 100", "one").replace("run:", &format!("{changed}run:"));
    let plan = crate::tree::plan("variants.yaml", &text, &[]);
    let told: Vec<(u32, u64, &str)> = (0..4)
        .map(|variant| {
            let load = &plan.variants[variant].workloads[0].cases[0].load;
            let blocks: &FioCase = load.blocks().expect("a load of fio");
            let settings = &blocks.jobs[0].job.settings;
            (settings.iodepth, settings.bs[0], if settings.rw.writes { "writes" } else { "reads" })
        })
        .collect();
    assert_eq!(told, [(1, 4096, "reads"), (32, 4096, "reads"), (1, 65536, "reads"), (1, 8192, "writes")]);
    // what is wrong with one is told at its place
    let wrong = text.replace("iodepth: 32", "iodepth: many");
    let found = check_with(Path::new("variants.yaml"), &wrong, &[], &Catalogue::built_in(), &Files::none());
    let is_error = |found: &&Diagnostic| found.severity == Severity::Error;
    let places: Vec<(&str, u32)> =
        found.diagnostics.iter().filter(is_error).map(|found| (&*found.path, found.line)).collect();
    let line = wrong.lines().position(|line| line.contains("many")).expect("a line") as u32 + 1;
    assert_eq!(places, [("workloads.load.fio.iodepth", line)]);
}

#[test]
fn a_plan_runs_where_its_files_are_not() {
    let plan = plan_of(JOBS, "file: jobs/some.fio, requests: 100");
    let text = plan.document().to_yaml();
    let again = check_with(Path::new("some.yaml"), &text, &[], &Catalogue::built_in(), &Files::none());
    let again = again.plan.unwrap_or_else(|| panic!("{text}\n{:#?}", again.diagnostics));
    assert_eq!(cases(&again).len(), 2);
    assert_eq!(cases(&plan)[0].jobs[0].job.settings, cases(&again)[0].jobs[0].job.settings);
}

#[test]
fn a_log_is_replayed_from_its_first_io_to_its_last() {
    let plan = plan_of("[r]\ndirect=1\nread_iolog=some.log\niodepth=4\n", "file: jobs/some.fio");
    let found = results(&plan, &Options::default());
    let json = json(&found, "/r");
    assert_eq!(
        (&json["jobs"][0]["read"]["total_ios"], &json["jobs"][0]["write"]["total_ios"]),
        (&4.into(), &2.into())
    );
}

fn json(results: &Results, _: &str) -> Value {
    let file = results.attachments.iter().find(|file| !file.name.contains("/plus/")).expect("a file");
    serde_json::from_str(&file.text).expect("JSON")
}

#[test]
fn results_are_those_of_the_rows_in_the_form_of_fio() {
    let plan = plan_of(JOBS, "file: jobs/some.fio, section: after, requests: 400");
    let found = results(&plan, &Options::default());
    let names: Vec<&str> = found.attachments.iter().map(|file| &*file.name).collect();
    assert_eq!(names, ["fio/as-is/load/4k/randrw-3-2.json", "fio/as-is/load/4k/plus/randrw-3-2.json"]);
    let json = json(&found, "");
    let read = &json["jobs"][0]["read"];
    let row = found.rows.iter().find(|row| row.metric == "read IOPS" && row.device.is_none()).expect("a row");
    let iops = read["iops"].as_f64().expect("a number");
    assert!((iops - row.value * 1e3).abs() < 0.02 * iops, "{iops} {}", row.value);
    assert!(read["clat_ns"]["percentile"]["99.000000"].as_u64() > Some(70_000));
    assert!(read["iops_samples"].as_u64() > Some(10) && read["clat_ns"].get("bins").is_none());
    assert_eq!(json["jobs"][0]["job options"]["numjobs"], "2");
    assert_eq!(json["global options"]["size"], "1g");
    let plus: Value = serde_json::from_str(&found.attachments[1].text).expect("JSON");
    let bins = plus["jobs"][0]["read"]["clat_ns"]["bins"].as_object().expect("bins");
    let sum: u64 = bins.values().filter_map(Value::as_u64).sum();
    assert_eq!(Some(sum), read["total_ios"].as_u64());
}

#[test]
fn a_short_job_and_a_short_runtime_end_the_measurement() {
    let plan = plan_of("[a]\ndirect=1\nrw=read\nsize=64k\n", "file: jobs/some.fio");
    assert_eq!(cases(&plan)[0].operations(), 16);
    let plan = plan_of(
        "[a]\ndirect=1\nrw=randread\nsize=1g\nruntime=5ms\ntime_based\n",
        "file: jobs/some.fio, requests: 100000",
    );
    let found = results(&plan, &Options::default());
    let json = json(&found, "");
    // one at a time, 70 µs each at least: in two times 5 ms some 140 at most
    let count = json["jobs"][0]["read"]["total_ios"].as_u64().expect("a count");
    assert!((60..=140).contains(&count), "{count}");
    assert!(found.not_modelled.iter().any(|text| text.contains("5 ms")), "{:?}", found.not_modelled);
}

/// What drives are preconditioned by.
#[test]
fn jobs_are_in_order_if_all_that_run_together_are() {
    let job = |rw| format!("[{rw}]\ndirect=1\nrw={rw}\nbs=4k\nsize=1m\n");
    for (rw, ordered) in
        [(["read", "write"], true), (["write", "randread"], false), (["randrw", "read"], false)]
    {
        let plan = plan_of(&rw.map(job).concat(), "file: jobs/some.fio");
        let case = &plan.variants[0].workloads[0].cases[0].load;
        assert_eq!(case.blocks::<FioCase>().expect("jobs of fio").is_sequential(), ordered, "{rw:?}");
    }
}

#[test]
fn what_is_wrong_is_told_where_it_stands() {
    for (job, fio, expected) in [
        ("[a]\ndirect=1\nrw=reed\n", "file: jobs/some.fio", "FI010 a"),
        ("[a]\ndirect=1\nsize=1t\n", "file: jobs/some.fio", "SC081 workloads.load.fio.capacity"),
        ("[a]\ndirect=1\nsize=1m\n", "file: jobs/some.fio, section: b", "SC080 workloads.load.fio.section"),
        ("[a]\ndirect=1\nsize=1m\n", "file: jobs/none.fio", "FI001 workloads.load.fio.file"),
        ("[a]\ndirect=1\nsize=1m\n", "file: jobs/some.fio, rw: read", "SC033 workloads.load.fio"),
        ("", "bs: huge", "FI008 workloads.load.fio.bs"),
        ("", "requests: 5", "SC006 workloads.load.fio.file"),
        ("", "rw: read, numjobs: 5000", "SC082 workloads.load.fio.numjobs"),
        ("[a]\ndirect=1\nread_iolog=none.log\n", "file: jobs/some.fio", "FI001 workloads.load.fio.file"),
    ] {
        let found = codes(job, fio);
        assert!(found.iter().any(|code| code == expected), "{fio}: {found:?}, not {expected}");
    }
}

#[test]
fn the_matrix_of_the_tree_is_understood_whole() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let plan = crate::tree::plan_of(&folder.join("fio.yaml"), &["run.repeats=1"]);
    assert_eq!(labels(&plan), ["readers + logger", "copy"]);
    let text = std::fs::read_to_string(folder.join("fio/odcc-like.fio")).expect("a job file");
    let matrix = plan_of(&text, "file: jobs/some.fio");
    let all: Vec<_> =
        cases(&matrix).iter().map(|case| (case.jobs[0].job.settings.numjobs, case.depth())).collect();
    assert_eq!(all, [vec![(1, 64); 6], vec![(16, 1024); 6]].concat());
}

#[test]
fn templates_have_the_job_files_of_the_tree() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/fio");
    let mut count = 0;
    for template in
        lanetwin_plan::templates().into_iter().filter(|template| template.text.contains("fio: {file:"))
    {
        let plan = crate::tree::plan(template.name, template.text, &[]);
        for (name, text) in &plan.files {
            assert_eq!(
                &std::fs::read_to_string(folder.join(name)).expect("a job file"),
                text,
                "{}",
                template.name
            );
            count += 1;
        }
    }
    assert_eq!(count, 6);
}
