//! Tests that the examples on the pages of errors of job files and logs are correct, and that no text causes a panic.

use lanetwin_load::Finding;
use lanetwin_load::fio::{CODES, Surroundings, iolog, read, read_path};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

/// Codes without an example: a missing file, and a log of many megabytes.
const WITHOUT_EXAMPLES: [&str; 2] = ["FI001", "FI020"];

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}
fn found(text: &str) -> Vec<Finding> {
    let files = |name: &str| match name {
        "options.inc" => Ok("bs=8k\n".to_owned()),
        "sections.inc" => Ok("[b]\nbs=8k\n".to_owned()),
        _ => Err("no such file".to_owned()),
    };
    match read(text, "job.fio", &Surroundings::nowhere(&files)) {
        Ok(understood) => understood.warnings,
        Err(findings) => findings,
    }
}
fn found_in_log(text: &str) -> Vec<Finding> {
    match iolog::read(text, "log") {
        Ok((_, warnings)) => warnings,
        Err(findings) => findings,
    }
}

#[test]
fn every_code_has_a_page_whose_examples_are_true() {
    for code in CODES {
        let page = std::fs::read_to_string(repository(&format!("docs/errors/{code}.md"))).expect("a page");
        assert!(page.starts_with(&format!("# {code}: ")), "{code}");
        if WITHOUT_EXAMPLES.contains(code) {
            continue;
        }
        let wrong: Vec<&str> = example(&page, "wrong").iter().map(|finding| finding.code).collect();
        // keywords that stand for numbers of the machine are reported as well
        let others = |found: &&&str| **found != *code && **found != "FI108";
        assert!(wrong.contains(code) && wrong.iter().filter(others).count() == 0, "{code}, wrong: {wrong:?}");
        assert_eq!(example(&page, "right"), [], "{code}, right");
    }
}
/// The findings in an example of a page, which is a job file or a log.
fn example(page: &str, which: &str) -> Vec<Finding> {
    let text = |kind: &str| -> Option<String> {
        let fence = format!("```{kind} {which}");
        let mut lines = page.lines().skip_while(|line| *line != fence);
        lines.next()?;
        Some(lines.take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect())
    };
    let job = text("fio").map(|text| found(&text));
    job.or_else(|| text("iolog").map(|text| found_in_log(&text))).expect("an example")
}

#[test]
fn what_has_no_end_is_not_read() {
    for (name, said) in [("/dev/zero", "it is a device"), ("/", "it is a folder")] {
        let refused = read_path(Path::new(name)).expect_err("no job file");
        assert_eq!(refused[0].code, "FI001", "{refused:?}");
        assert!(refused[0].message.contains(said), "{refused:?}");
        assert!(found(&format!("[a]\ninclude {name}\n")).iter().any(|finding| finding.code == "FI004"));
    }
}

#[test]
fn what_is_simulated_anyway_is_not_listed_as_left_out() {
    let codes = |option: &str| -> Vec<&str> {
        let job = format!("[a]\ndirect=1\nsize=1m\n{option}\n");
        found(&job).iter().map(|finding| finding.code).collect()
    };
    let turns = ["file_service_type=roundrobin", "file_service_type=roundrobin:8"];
    for same in turns.into_iter().chain(["fsync=0", "verify=0", "sync=none"]) {
        assert_eq!(codes(same), [""; 0], "{same}");
    }
    for other in
        ["file_service_type=random", "file_service_type=sequential", "fsync=8", "verify=md5", "sync=1"]
    {
        assert_eq!(codes(other), ["FI105"], "{other}");
    }
}

#[test]
fn a_number_of_the_machine_is_said_to_be_assumed() {
    let said = &found("[a]\ndirect=1\nsize=1m\niodepth=$ncpus\n")[0];
    assert!(said.code == "FI108" && said.message.contains("`$ncpus` is assumed to be 1"), "{said:?}");
}

#[test]
fn logs_need_no_names() {
    for log in ["bw", "lat", "iops", "hist"] {
        for end in ["", "=", "=run"] {
            assert_eq!(found(&format!("[a]\ndirect=1\nsize=1m\nwrite_{log}_log{end}\n")), [], "{log}{end}");
        }
    }
    assert_eq!(found("[a]\ndirect=1\nsize=1m\nverify_pattern\n")[0].code, "FI007");
}

#[test]
fn engines_without_io_are_no_load_of_a_drive() {
    let codes = |engine: &str| -> Vec<&'static str> {
        let found = found(&format!("[a]\nioengine={engine}\ndirect=1\nsize=1m\n"));
        found.iter().map(|finding| finding.code).collect()
    };
    for engine in ["cpuio", "exec", "net", "netsplice", "rdma", "filecreate", "falloc", "e4defrag", "dev-dax"]
    {
        assert_eq!(codes(engine), ["FI021"], "{engine}");
    }
    assert_eq!((codes("rados"), codes("null")), (vec!["FI113"], vec!["FI113"]));
    assert_eq!((codes("libaio"), codes("spdk")), (vec![], vec![]));
    // `threads` is an option of a profile, which fio accepts in any job
    assert_eq!(found("[a]\ndirect=1\nsize=1m\nthreads=1\n")[0].code, "FI107");
    let without_value = found("[a]\nioengine=sg\ndirect=1\nhipri=\n");
    assert_eq!(without_value.iter().map(|finding| finding.code).collect::<Vec<_>>(), ["FI007"]);
}

#[test]
fn a_rate_of_ios_of_several_sizes_is_one_of_bytes() {
    let codes = |options: &str| -> Vec<&'static str> {
        let found = found(&format!("[a]\ndirect=1\nsize=1m\n{options}\n"));
        found.iter().map(|finding| finding.code).collect()
    };
    for sizes in ["bssplit=4k/60:64k/40", "bsrange=4k-64k", "bsrange=4k-4k,4k-8k"] {
        assert_eq!(codes(&format!("rw=randrw\nrate_iops=2000\n{sizes}")), ["FI114"], "{sizes}");
    }
    assert_eq!(codes("rw=randread\nrate_iops=2000\nbs=4k,64k"), [""; 0]);
    assert_eq!(
        codes("rw=randread\nrate_iops=2000\nbsrange=4k,4k-8k"),
        [""; 0],
        "of writes, which there are none of"
    );
    assert_eq!(codes("rw=randread\nrate=55m\nbssplit=4k/60:64k/40"), [""; 0]);
}

#[test]
fn several_files_are_told_to_be_one_here() {
    let codes = |options: &str| -> Vec<&'static str> {
        let found = found(&format!("[a]\ndirect=1\nsize=1m\nrw=randread\n{options}\n"));
        found.iter().map(|finding| finding.code).collect()
    };
    for several in ["filename=/dev/nvme0n1:/dev/nvme1n1", "filename=a:b:c", "nrfiles=8"] {
        assert_eq!(codes(several), ["FI115"], "{several}");
    }
    // a colon in a name is escaped with a backslash, and `nrfiles` does not matter if there is a name
    for one in [
        "filename=/dev/nvme0n1",
        "filename=/dev/disk/by-path/pci-0000\\:01",
        "nrfiles=1",
        "filename=a:",
        "filename=a\nnrfiles=4",
    ] {
        assert_eq!(codes(one), [""; 0], "{one}");
    }
}

#[test]
fn a_file_that_is_not_there_is_told() {
    let findings = read_path(Path::new("no such file.fio")).expect_err("no file");
    assert_eq!((findings[0].code, findings[0].line), ("FI001", 0));
}

#[test]
fn every_job_file_that_is_shipped_is_understood_without_a_doubt() {
    let files = std::fs::read_dir(repository("scenarios/fio")).expect("a folder");
    let mut count = 0;
    for file in files.map(|entry| entry.expect("an entry").path()) {
        let understood = read_path(&file).unwrap_or_else(|found| panic!("{found:#?}"));
        assert_eq!(understood.warnings, [], "{}", file.display());
        count += 1;
    }
    assert!(count >= 8, "{count}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Any text is either read or reported as wrong, with a place and help.
    #[test]
    fn no_text_panics(text in "(\\[[a-z]{0,4}\\]?\n)?((bs|rw|size|rate|bssplit|random_distribution|ss|x)[ =]{0,2}[-0-9a-z:/,.%${}#;]{0,12}\n){0,6}") {
        let lines = text.split('\n').count() as u32;
        for finding in found(&text).into_iter().chain(found_in_log(&text)) {
            prop_assert!(finding.line <= lines && !finding.help.is_empty());
        }
    }
}
