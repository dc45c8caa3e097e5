//! Compares with fio 3.33 ("the judge"): it accepts the shipped job files, reads the same from job files as we do, and
//! its offsets have the same distributions.
//!
//! Without fio, these tests print a note and do nothing else; if the environment variable `REQUIRE` names it, they
//! fail.

use lanetwin_load::Severity;
use lanetwin_load::fio::{JobWorkload, Stream, Surroundings, read, read_path};
use lanetwin_units::Instant;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

const JUDGE: &str = "fio";

/// Whether fio is installed.
fn is_here() -> bool {
    let version = Command::new(JUDGE).arg("--version").output();
    let here = version.is_ok_and(|said| said.stdout.starts_with(b"fio-3.3"));
    let required = std::env::var("REQUIRE").unwrap_or_default();
    assert!(
        here || !required.split([' ', ',']).any(|tool| tool == JUDGE),
        "{JUDGE} is required here (REQUIRE names it) and is not installed"
    );
    if !here {
        eprintln!("{JUDGE} is not installed: nothing was compared");
    }
    here
}

/// A folder that is deleted when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("lanetwin-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }
    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a file");
        path
    }
    fn fio(&self, arguments: &[&str]) -> Output {
        Command::new(JUDGE).args(arguments).current_dir(&self.0).output().expect("fio runs")
    }
}
impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn ours(text: &str) -> Result<lanetwin_load::fio::Understood, Vec<lanetwin_load::Finding>> {
    read(text, "job.fio", &Surroundings::nowhere(&|_: &str| Err("no file".to_owned())))
}

#[test]
fn fio_accepts_every_job_file_that_is_shipped() {
    if !is_here() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/fio");
    for file in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        let said = Command::new(JUDGE).arg("--parse-only").arg(&file).output().expect("fio runs");
        let errors = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(said.status.success() && errors.is_empty(), "{}: {errors}", file.display());
    }
}

/// Tests job files of others, e.g. the folder `examples` of fio's sources. Files that fio accepts are accepted here or
/// cannot be simulated (FI021); files that fio rejects are rejected, unless this fio only lacks the engine.
#[test]
fn job_files_of_a_folder_are_judged_as_fio_judges_them() {
    const FOLDER: &str = "LANETWIN_FIO_EXAMPLES";
    let Some(folder) = std::env::var_os(FOLDER) else {
        return eprintln!("{FOLDER} names no folder of job files: nothing was compared");
    };
    if !is_here() {
        return;
    }
    let (mut files, mut judged) = (std::fs::read_dir(folder).expect("a folder"), Vec::new());
    while let Some(file) = files.next().map(|entry| entry.expect("an entry").path()) {
        if file.extension().is_none_or(|extension| extension != "fio") {
            continue;
        }
        let said = Command::new(JUDGE).arg("--parse-only").arg(&file).output().expect("fio runs");
        let found = read_path(&file).err().unwrap_or_default();
        let errors = || found.iter().filter(|finding| finding.severity == Severity::Error);
        let agreed = if said.status.success() {
            errors().all(|finding| finding.code == "FI021")
        } else {
            errors().count() > 0 || String::from_utf8_lossy(&said.stderr).contains("not loadable")
        };
        judged.push((agreed, file, found));
    }
    let differ: Vec<_> = judged.iter().filter(|(agreed, ..)| !agreed).collect();
    assert!(differ.is_empty() && !judged.is_empty(), "of {} files: {differ:#?}", judged.len());
    eprintln!("{} job files were judged as fio judges them", judged.len());
}

/// What fio has read, by its own debug output: the name of every section, and every option with its numbers.
type Trace = Vec<(String, Vec<(String, Vec<u64>)>)>;

fn theirs(text: &str, folder: &Folder) -> (bool, Trace) {
    let file = folder.file("judged.fio", text);
    let said = folder.fio(&["--debug=parse", "--parse-only", &file.display().to_string()]);
    let mut trace: Trace = Vec::new();
    for line in String::from_utf8_lossy(&said.stdout).lines() {
        // `parse    1234 Parsing section [a]`
        let Some((_, line)) = line.strip_prefix("parse").and_then(|rest| rest.trim_start().split_once(' '))
        else {
            continue;
        };
        // short process IDs are padded
        let line = line.trim_start();
        let number = || line.split_once("out=").and_then(|(_, out)| out.trim().parse().ok());
        if let Some(name) = line.strip_prefix("Parsing section [") {
            trace.push((name.trim_end_matches(']').to_owned(), Vec::new()));
        } else if let Some(name) = line.strip_prefix("handle_option=") {
            let name = name.split(',').next().unwrap_or_default().to_owned();
            trace.last_mut().expect("a section").1.push((name, Vec::new()));
        } else if let (true, Some(number)) = (line.starts_with("ret=0, out="), number()) {
            // defaults of an engine have numbers too, but belong to no option in the file
            if let Some(option) = trace.last_mut().and_then(|section| section.1.last_mut()) {
                option.1.push(number);
            }
        }
    }
    (said.status.success(), trace)
}

/// A number, valid or invalid.
fn number() -> impl Strategy<Value = String> {
    let digits = prop_oneof![1_u32..=5000, Just(1), 1_u32..=9].prop_map(|n| n.to_string());
    let unit = prop::sample::select(vec![
        "", "k", "K", "m", "M", "g", "kb", "KB", "ki", "KiB", "kib", "MiB", "mIb", "b", "t", "kilo", ".5k",
        " k", "x",
    ]);
    let before = prop::sample::select(vec!["", "", "", "", " ", "  ", "0x", "+"]);
    (before, digits, unit).prop_map(|(before, digits, unit)| format!("{before}{digits}{unit}"))
}
fn several() -> impl Strategy<Value = String> {
    let between = prop::sample::select(vec![",", ",", ":", "-"]);
    prop_oneof![
        4 => number(),
        1 => (number(), between, number()).prop_map(|(a, between, b)| format!("{a}{between}{b}")),
        1 => (number(), number(), number()).prop_map(|(a, b, c)| format!("{a},{b},{c}")),
        1 => number().prop_map(|a| format!(",{a}")),
        1 => number().prop_map(|a| format!("{a},")),
    ]
}
fn time() -> impl Strategy<Value = String> {
    let unit = prop::sample::select(vec![
        "", "s", "ms", "us", "m", "h", "d", "sec", "min", "usec", "msec", "S", "Ms", ".5s", "s:9s",
    ]);
    let before = prop::sample::select(vec!["", "", "", " ", "0x"]);
    (before, 0_u32..=500, unit).prop_map(|(before, digits, unit)| format!("{before}{digits}{unit}"))
}
fn option() -> impl Strategy<Value = String> {
    let sizes = prop::sample::select(vec![
        "size",
        "io_size",
        "bs",
        "blocksize",
        "ba",
        "rate",
        "rate_iops",
        "offset",
        "number_ios",
        "offset_increment",
        "iodepth",
        "fsync",
        "zonesize",
    ]);
    let times = prop::sample::select(vec![
        "runtime",
        "timeout",
        "ramp_time",
        "thinktime",
        "latency_target",
        "latency_window",
        "startdelay",
        "ss_dur",
        "max_latency",
        "thinktime_spin",
    ]);
    let equals = prop::sample::select(vec!["=", "=", "=", " =", "= "]);
    let tail = prop::sample::select(vec!["", "", "", "   ", " ; a comment", " # a comment"]);
    let plain = prop::sample::select(vec![
        "direct=1",
        "time_based",
        "time_based=0",
        "rw=randread",
        "readwrite=write:8k",
        "rw=randrw:4",
        "group_reporting",
        "stonewall",
        "norandommap=1",
        "random_distribution=zipf:1.2",
        "random_distribution=pareto",
        "bssplit=4k/60:64k/40",
        "bsrange=4k-8k,1k-2k",
        "rwmixread=70",
        "percentage_random=50,20",
        "kb_base=1000",
        "kb_base=1024",
        "ioengine=null",
        "; nothing",
        "",
        "description=a, b",
        "ss=iops:10%",
        "percentile_list=50:99.9",
        "size=50%",
        "offset=10%",
        "nice=-5",
        "cpus_allowed=0-1,5",
        "cpus_allowed=a",
        "cpumask=0x3",
        "cpumask=0",
        "cpus_allowed_policy=split",
        "cpus_allowed_policy=alone",
        "verify=md5",
        "unknown=1",
        "rw=sideways",
        "iodepth",
    ]);
    prop_oneof![
        4 => (sizes, equals.clone(), several(), tail.clone()).prop_map(|(a, b, c, d)| format!("{a}{b}{c}{d}")),
        3 => (times, equals, time(), tail.clone()).prop_map(|(a, b, c, d)| format!("{a}{b}{c}{d}")),
        3 => (plain, tail).prop_map(|(a, b)| format!("{a}{b}")),
    ]
}
fn section() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["global", "a", "b", "a", "global2", "a b", "job-1"]);
    (name, prop::collection::vec(option(), 0..5))
        .prop_map(|(name, options)| format!("[{name}]\n{}\n", options.join("\n")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, max_shrink_iters: 200, ..ProptestConfig::default() })]

    /// Files that we accept are read alike by fio: the same sections, the same options in the same order, the same
    /// numbers. Files that fio rejects are rejected.
    #[test]
    fn fio_reads_what_we_read(sections in prop::collection::vec(section(), 1..4)) {
        if !is_here() {
            return Ok(());
        }
        let text = format!("{}[last]\nsize=1g\n", sections.concat());
        let (accepted, trace) = theirs(&text, &Folder::new("judge"));
        match ours(&text) {
            Err(findings) => {
                // we reject more than `--parse-only` does: values far out of range, contradictions, and jobs that
                // cannot be simulated
                let told = findings.iter().map(|finding| finding.code).collect::<Vec<_>>();
                let stricter = ["FI009", "FI011", "FI013", "FI017", "FI021"];
                prop_assert!(!accepted || told.iter().any(|code| stricter.contains(code)), "{text}\n{told:?}");
            }
            Ok(understood) => {
                prop_assert!(accepted, "{text}");
                let jobs = understood.file.jobs.iter().map(|job| (job.section.clone(), &job.given));
                let theirs: Vec<_> = trace.iter().filter(|(name, _)| !name.starts_with("global")).collect();
                prop_assert_eq!(theirs.len(), understood.file.jobs.len(), "{}", text);
                for ((name, given), (section, options)) in jobs.zip(theirs) {
                    prop_assert_eq!(&name, section, "{}", text);
                    let given: Vec<_> = given.iter().map(|g| (g.name.clone(), g.numbers.clone())).collect();
                    prop_assert_eq!(&given, options, "{}", text);
                }
            }
        }
    }
}

/// The offsets of a job in fio, in blocks of 4 KiB.
fn offsets_of_fio(options: &str, folder: &Folder) -> Vec<u64> {
    let _ = std::fs::remove_file(folder.0.join("log"));
    let job = folder.file("job.fio", &format!("[a]\nioengine=null\ndirect=1\nwrite_iolog=log\n{options}\n"));
    let said = folder.fio(&["--output=/dev/null", &job.display().to_string()]);
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let log = std::fs::read_to_string(folder.0.join("log")).expect("a log");
    let (log, _) = lanetwin_load::fio::iolog::read(&log, "log").expect("a log of fio is one");
    log.entries.iter().map(|entry| entry.offset / 4096).collect()
}
fn offsets_of_ours(options: &str, count: usize) -> Vec<u64> {
    let understood = ours(&format!("[a]\nioengine=null\ndirect=1\n{options}\n")).expect("a job");
    let job = Arc::new(understood.file.jobs[0].clone());
    let workload = JobWorkload { job, clone: 0, capacity: 1 << 40, log: None };
    let mut stream = Stream::new(workload, 7, "load");
    let io = || stream.next(Instant::ZERO).expect("no end").offset / 4096;
    std::iter::repeat_with(io).take(count).collect()
}

/// The statistic of the Kolmogorov–Smirnov test: the largest distance between the distributions of two samples, times
/// √(nm/(n+m)).
fn kolmogorov_smirnov(one: &[f64], other: &[f64]) -> f64 {
    let sorted = |sample: &[f64]| {
        let mut sample = sample.to_vec();
        sample.sort_by(f64::total_cmp);
        sample
    };
    let (one, other) = (sorted(one), sorted(other));
    let (n, m) = (one.len() as f64, other.len() as f64);
    let share = |sample: &[f64], x: f64| sample.partition_point(|y| *y <= x) as f64 / sample.len() as f64;
    let distance = |x: &f64| (share(&one, *x) - share(&other, *x)).abs();
    let most = one.iter().chain(&other).map(distance).fold(0.0, f64::max);
    most * (n * m / (n + m)).sqrt()
}
/// Two samples of the same distribution exceed this once in ten thousand times (√(−ln(α/2)/2), α = 10⁻⁴).
const LIMIT: f64 = 2.226;

/// The rank of the block of each access, by the number of accesses to it. It does not depend on where the blocks lie.
fn frequencies(offsets: &[u64]) -> Vec<f64> {
    let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
    offsets.iter().for_each(|offset| *counts.entry(*offset).or_insert(0) += 1);
    let mut ranked: Vec<u32> = counts.values().copied().collect();
    ranked.sort_unstable_by(|a, b| b.cmp(a));
    // one rank for each access
    (0..).zip(ranked).flat_map(|(rank, count)| vec![f64::from(rank); count as usize]).collect()
}
fn as_floats(offsets: &[u64]) -> Vec<f64> {
    offsets.iter().map(|offset| *offset as f64).collect()
}

#[test]
fn our_offsets_are_spread_as_those_of_fio() {
    if !is_here() {
        return;
    }
    const COUNT: usize = 20_000;
    let folder = Folder::new("spread");
    let base = format!(
        "rw=randread\nbs=4k\nsize=400m\nnumber_ios={COUNT}\nio_size=400m\nrandrepeat=0\nnorandommap\n"
    );
    // offsets can be compared for distributions without a rotation or with a given one
    for spread in [
        "random",
        "zipf:1.2:0.3",
        "zipf:0.8:0.3",
        "pareto:0.2:0.5",
        "normal:20",
        "normal:5:0.2",
        "zoned:60/10:30/20:10/70",
        "zoned_abs:50/40m:50/360m",
    ] {
        let options = format!("{base}random_distribution={spread}");
        let ours = offsets_of_ours(&options, COUNT);
        // by place and by frequency; fio draws anew each time, and what exceeds the limit by chance does not twice
        let mut drawn = (0..2).map(|_| {
            let theirs = offsets_of_fio(&options, &folder);
            assert_eq!(theirs.len(), COUNT, "{spread}");
            let found = kolmogorov_smirnov(&as_floats(&theirs), &as_floats(&ours));
            (found, kolmogorov_smirnov(&frequencies(&theirs), &frequencies(&ours)))
        });
        assert!(drawn.any(|(found, ranked)| found < LIMIT && ranked < LIMIT), "{spread}");
    }
    // the test can tell similar distributions apart
    let other = offsets_of_ours(&format!("{base}random_distribution=zipf:1.2:0.3"), COUNT);
    let theirs = offsets_of_fio(&format!("{base}random_distribution=zipf:1.1:0.3"), &folder);
    assert!(kolmogorov_smirnov(&as_floats(&theirs), &as_floats(&other)) > LIMIT);
}

#[test]
fn sequences_without_chance_are_those_of_fio() {
    if !is_here() {
        return;
    }
    let folder = Folder::new("sequences");
    for options in [
        "rw=read\nbs=4k\nsize=64k",
        "rw=read:8k\nbs=4k\nsize=128k",
        "rw=read:8\nbs=4k\nsize=128k",
        "rw=write:4k\nbs=8k\nsize=256k",
        "rw=write\nbs=4k\noffset=16k\nsize=64k",
        "rw=read\nbs=4k\nsize=64k\nio_size=160k",
    ] {
        let theirs = offsets_of_fio(options, &folder);
        assert!(theirs.len() > 8, "{options}: {theirs:?}");
        assert_eq!(theirs, offsets_of_ours(options, theirs.len()), "{options}");
    }
    // with a map, every block comes once in a pass
    let options = "rw=randread\nbs=4k\nsize=4m";
    let sorted = |mut offsets: Vec<u64>| {
        offsets.sort_unstable();
        offsets
    };
    assert_eq!(sorted(offsets_of_fio(options, &folder)), sorted(offsets_of_ours(options, 1024)));
}
