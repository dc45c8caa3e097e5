//! Tests that written files are read back, that errors are reported, and that the examples on the pages of errors are
//! correct.

use lanetwin_load::iometer::config::*;
use lanetwin_load::iometer::{
    Assignment, CODES, Finding, Protocol, Record, Step, TestType, UpdateType, Version, Word, read, read_path,
    results_csv,
};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}
/// The findings in a text.
fn found(text: &str) -> Vec<Finding> {
    match read(text, "test.icf") {
        Ok(understood) => understood.warnings,
        Err(findings) => findings,
    }
}
fn codes(text: &str) -> Vec<&'static str> {
    found(text).iter().map(|finding| finding.code).collect()
}

fn text() -> impl Strategy<Value = String> {
    "[A-Za-z0-9][A-Za-z0-9 %;:()\"é._-]{0,20}[A-Za-z0-9]"
}
fn word<W: Word + std::fmt::Debug>() -> impl Strategy<Value = W> {
    (0..W::WORDS.len()).prop_map(|nth| W::WORDS[nth].1)
}
fn named() -> impl Strategy<Value = Named> {
    (any::<u32>(), text()).prop_map(|(id, name)| Named { id, name })
}
fn setup() -> impl Strategy<Value = TestSetup> {
    let time = (0..=999_u32, 0..=999_u32, 0..=999_u32).prop_map(|(hours, minutes, seconds)| RunTime {
        hours,
        minutes,
        seconds,
    });
    let spawn = || prop_oneof![Just(Spawn::Cpus), any::<u32>().prop_map(Spawn::Count)];
    let cycling = || {
        (any::<u32>(), any::<u32>(), word::<Step>()).prop_map(|(start, step, kind)| Cycling {
            start,
            step,
            kind,
        })
    };
    let queue = (any::<[u32; 3]>(), word::<Step>()).prop_map(|([start, end, step], kind)| QueueCycling {
        start,
        end,
        step,
        kind,
    });
    let words = (word::<Record>(), word::<TestType>());
    (text(), time, any::<u32>(), [spawn(), spawn()], [cycling(), cycling()], queue, words).prop_map(
        |(description, run_time, ramp_up_s, spawn, cycling, queue_cycling, (record, test_type))| TestSetup {
            description,
            run_time,
            ramp_up_s,
            disk_workers: spawn[0],
            network_workers: spawn[1],
            record,
            worker_cycling: cycling[0],
            disk_cycling: cycling[1],
            queue_cycling,
            test_type,
        },
    )
}
fn display() -> impl Strategy<Value = Display> {
    let chart = (text(), proptest::option::of((named(), proptest::option::of(named())))).prop_map(
        |(statistic, manager)| {
            let (manager, worker) = manager.map_or((None, None), |(manager, worker)| (Some(manager), worker));
            BarChart { number: 0, statistic, manager, worker }
        },
    );
    let charts = prop::collection::vec(chart, 0..7);
    (any::<Option<bool>>(), any::<u32>(), word::<UpdateType>(), charts).prop_map(
        |(record_updates, update_s, update_type, mut charts)| {
            (1..).zip(&mut charts).for_each(|(number, chart)| chart.number = number);
            Display { record_updates, update_s, update_type, charts }
        },
    )
}
/// Shares that add up to 100, made by cutting 100 at random places.
fn shares() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(0..=100_u8, 0..6).prop_map(|mut cuts| {
        cuts.extend([0, 100]);
        cuts.sort_unstable();
        cuts.windows(2).map(|pair| pair[1] - pair[0]).collect()
    })
}
fn spec() -> impl Strategy<Value = AccessSpec> {
    let line =
        (1..=u32::MAX, 0..=100_u8, 0..=100_u8, 0..=i32::MAX as u32, 1..=i32::MAX as u32, any::<[u32; 2]>());
    let lines = shares().prop_flat_map(move |shares| {
        let count = shares.len();
        (Just(shares), prop::collection::vec(line.clone(), count..=count))
    });
    let lines =
        lines.prop_map(|(shares, lines)| {
            type Rest = (u32, u8, u8, u32, u32, [u32; 2]);
            let of = |(share, (size, reads, random, delay_ms, burst, [align, reply])): (u8, Rest)| {
                AccessLine { size, share, reads, random, delay_ms, burst, align, reply }
            };
            shares.into_iter().zip(lines).map(of).collect()
        });
    (text(), word::<Assignment>(), lines).prop_map(|(name, assignment, lines)| AccessSpec {
        name,
        assignment,
        lines,
    })
}
fn worker() -> impl Strategy<Value = Worker> {
    let disk =
        (any::<[u64; 2]>(), proptest::option::of(0..3_u32)).prop_map(|([size, start], data_pattern)| {
            WorkerKind::Disk(DiskSettings { maximum_size: size, starting_sector: start, data_pattern })
        });
    let network = (text(), any::<Option<u32>>(), any::<bool>()).prop_map(|(interface, sends, vi)| {
        let protocol = if vi { Protocol::Vi } else { Protocol::Tcp };
        WorkerKind::Network(NetworkSettings { protocol, interface, vi_outstanding: sends.filter(|_| vi) })
    });
    let seed = proptest::option::of(
        (any::<bool>(), any::<u64>()).prop_map(|(used, value)| FixedSeed { used, value }),
    );
    let connections =
        (any::<bool>(), any::<u32>()).prop_map(|(tested, transactions)| Connections { tested, transactions });
    let targets = prop::collection::vec((text(), word::<Protocol>(), named()), 0..3);
    (text(), prop_oneof![disk, network], 1..=u32::MAX, connections, seed, targets).prop_map(
        |(name, kind, outstanding, connections, seed, targets)| {
            let is_disk = matches!(kind, WorkerKind::Disk(_));
            let target = |(name, protocol, manager)| {
                let kind = if is_disk { TargetKind::Disk } else { TargetKind::Network { protocol, manager } };
                Target { name, kind }
            };
            let targets = targets.into_iter().map(target).collect();
            Worker { name, kind, outstanding, connections, seed, specs: Vec::new(), targets }
        },
    )
}
fn config() -> impl Strategy<Value = Config> {
    let version = prop_oneof![Just(Version::V2004_07_30), Just(Version::V1_1_0)];
    let manager = (named(), prop_oneof![Just(String::new()), text()], prop::collection::vec(worker(), 0..3))
        .prop_map(|(Named { id, name }, address, workers)| Manager { id, name, address, workers });
    let parts = (proptest::option::of(setup()), proptest::option::of(display()));
    let specs = prop::collection::vec(spec(), 0..4);
    (version, parts, specs, prop::collection::vec(manager, 0..3)).prop_map(
        |(version, (setup, display), mut specs, mut managers)| {
            // numbers make the names distinct; each worker has all specifications
            specs.iter_mut().enumerate().for_each(|(nth, spec)| spec.name.push_str(&nth.to_string()));
            let names: Vec<String> = specs.iter().map(|spec| spec.name.clone()).collect();
            for worker in managers.iter_mut().flat_map(|manager| &mut manager.workers) {
                worker.specs.clone_from(&names);
            }
            Config { version, setup, display, specs, managers }
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(config in config()) {
        let text = config.to_icf();
        let again = read(&text, "test.icf").map_err(|findings| TestCaseError::fail(format!("{findings:?}\n{text}")))?;
        prop_assert_eq!(&again.config, &config);
        for version in [Version::V2004_07_30, Version::V1_1_0] {
            let other = config.for_version(version);
            prop_assert_eq!(read(&other.to_icf(), "test.icf").expect("a configuration").config, other);
        }
    }
    #[test]
    fn names_that_would_break_the_file_do_not(name in any::<String>(), config in config()) {
        let mut config = config;
        for spec in &mut config.specs { spec.name = format!("x{name}{}", spec.name); }
        for worker in config.managers.iter_mut().flat_map(|manager| &mut manager.workers) {
            worker.name = format!("{name}x");
            worker.specs.clear();
        }
        let read = read(&config.to_icf(), "test.icf");
        let shape = |config: &Config| (config.specs.len(), config.managers.iter().map(|m| m.workers.len()).collect::<Vec<_>>());
        prop_assert_eq!(shape(&read.expect("a configuration").config), shape(&config));
    }
    #[test]
    fn a_file_that_is_cut_anywhere_is_understood_or_told_with_a_place(config in config(), cut in 0.0..1.0_f64) {
        let text = config.to_icf();
        let mut at = (text.len() as f64 * cut) as usize;
        while !text.is_char_boundary(at) { at -= 1; }
        let lines = text[..at].lines().count().max(1) as u32;
        for finding in found(&text[..at]) {
            prop_assert!(finding.line <= lines, "{}", finding);
        }
    }
}

#[test]
fn a_cut_file_says_what_is_cut_once() {
    let text = std::fs::read_to_string(repository("scenarios/iometer/idt-1.1.0.icf")).expect("a sample");
    let cut = text.find("'End assigned access specs").expect("a worker");
    assert_eq!(codes(&text[..cut]), ["IO004"]);
    let finding = &found(&text[..cut])[0];
    assert!(
        finding.message.contains("'Assigned access specs") && finding.path == "MANAGER LIST: Worker 1",
        "{finding}"
    );
}

#[test]
fn all_mistakes_are_told_at_once_with_their_places() {
    let text = "Version 1.1.0\n'TEST SETUP\n'Run Time\n\t0 x 15\n'Ramp Up Time (s)\n\t-1\n'Test Type\n\tODD\n'END test setup\n\
        'ACCESS SPECIFICATIONS\n'Access specification name,default assignment\n\tmixed,NONE\n'size\n\t512,60,101,0,0,1,0,0\n\
        \t512,40,100,0,0,0,0\n'END access specifications\n";
    let places: Vec<_> = found(text).into_iter().map(|f| (f.line, f.column, f.code)).collect();
    assert_eq!(
        places,
        [
            (4, 4, "IO008"),
            (6, 2, "IO009"),
            (8, 2, "IO010"),
            (14, 9, "IO009"),
            (15, 2, "IO007"),
            (16, 27, "IO102")
        ]
    );
}

#[test]
fn sections_and_keys_come_in_any_order_and_case() {
    let text = "version 1.1.0\r\n'access specifications\r\n'ACCESS SPECIFICATION NAME,DEFAULT ASSIGNMENT\r\n  a, net\r\n\
        'any size\r\n";
    assert!(codes(text).contains(&"IO006"), "the heads of an access specification open with its size");
    let text = text.replace("'any size", "'SIZE,...\r\n 4096, 100, 0, 100, 0, 1, 4096, 0,\r\n'end ACCESS specifications\r\n\
        'Test Setup ==\r\n'ramp up time\r\n 5\r\n'run time\r\n 1,2,3\r\n'end TEST setup\r\n'MANAGER LIST\r\n'END manager list\r\nVersion 1.1.0");
    let understood = read(&text, "test.icf").expect("a configuration");
    assert_eq!(understood.warnings, []);
    let setup = understood.config.setup.expect("a setup");
    assert_eq!((setup.ramp_up_s, setup.run_time), (5, RunTime { hours: 1, minutes: 2, seconds: 3 }));
    assert_eq!(understood.config.specs[0].lines[0].align, 4096);
    assert_eq!(understood.config.specs[0].assignment, Assignment::Network);
}

#[test]
fn the_samples_are_understood_without_a_doubt_and_say_the_same() {
    let [old, new] = ["2004.07.30", "1.1.0"].map(|version| {
        let path = repository(&format!("scenarios/iometer/idt-{version}.icf"));
        let understood = read_path(&path).expect("a configuration");
        assert_eq!(understood.warnings, []);
        // equal byte for byte, except for line ends, which Git may convert
        let text = std::fs::read_to_string(path).expect("a text");
        assert_eq!(text.replace("\r\n", "\n"), understood.config.to_icf().replace("\r\n", "\n"));
        understood.config
    });
    assert_eq!(old.for_version(Version::V1_1_0).specs, new.specs);
    assert_eq!(new.for_version(Version::V2004_07_30).managers, old.managers);
    assert_eq!((old.specs.len(), old.managers[0].workers.len()), (4, 1));
    assert_eq!(old.managers[0].workers[0].targets.len(), 5);
    let library = read_path(&repository("scenarios/iometer/specs.icf")).expect("a library");
    assert_eq!((library.warnings, library.config.specs), (Vec::new(), new.specs));
}

#[test]
fn every_code_has_a_page_whose_examples_are_true() {
    for code in CODES {
        let page = std::fs::read_to_string(repository(&format!("docs/errors/{code}.md"))).expect("a page");
        assert!(page.starts_with(&format!("# {code}: ")), "{code}");
        if *code == "IO001" {
            continue; // the absence of a file has no text
        }
        let wrong: Vec<&str> = example(&page, "wrong").iter().map(|finding| finding.code).collect();
        assert!(!wrong.is_empty() && wrong.iter().all(|found| found == code), "{code}, wrong: {wrong:?}");
        assert_eq!(example(&page, "right"), [], "{code}, right");
    }
}
/// The findings in an example of a page, which is a configuration or a results file.
fn example(page: &str, which: &str) -> Vec<Finding> {
    let text = |kind: &str| -> Option<String> {
        let fence = format!("```{kind} {which}");
        let mut lines = page.lines().skip_while(|line| *line != fence);
        lines.next()?;
        Some(lines.take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect())
    };
    let results = |text: String| results_csv::read(&text, "results.csv").err().unwrap_or_default();
    text("icf").map(|text| found(&text)).or_else(|| text("csv").map(results)).expect("an example")
}

#[test]
fn a_file_that_is_not_there_is_told() {
    let findings = read_path(Path::new("no such file.icf")).expect_err("no file");
    assert_eq!(findings[0].code, "IO001");
    assert_eq!((findings[0].line, findings[0].file.as_str()), (0, "no such file.icf"));
}
