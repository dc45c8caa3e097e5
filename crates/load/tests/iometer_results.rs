//! Tests that results files are those that Iometer writes, and that they are read back unchanged.

use lanetwin_load::Side;
use lanetwin_load::iometer::config::{AccessLine, AccessSpec};
use lanetwin_load::iometer::metrics::{Counted, CpuTime};
use lanetwin_load::iometer::results_csv::{
    Cell, Column, Form, Row, RowKind, Running, Series, Settings, Test, read,
};
use lanetwin_load::iometer::{Assignment, Dialect, TestType, Version};
use lanetwin_stats::Histogram;
use lanetwin_units::Span;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn side(count: u64, bytes: u64, us: u64) -> Side {
    let mut latency = Histogram::new();
    latency.record_n(Span::from_us(us), count);
    let mut side = Side::default();
    (side.completed, side.bytes, side.latency) = (count, count * bytes, latency);
    side
}

const LINE: AccessLine =
    AccessLine { size: 2 << 20, share: 67, reads: 100, random: 0, delay_ms: 0, burst: 1, align: 0, reply: 0 };

/// Ten seconds of 67 % reads of 2 MiB and 33 % writes of 64 KiB.
fn series(version: Version) -> Series {
    let (reads, writes) = (side(6700, 2 << 20, 1250), side(3300, 64 << 10, 400));
    let elapsed = Span::from_us(10_000_000);
    let cpu = Some(CpuTime { busy: Span::from_us(5_000_000), cores: 2, modes: None });
    let counted = Counted { reads: &reads, writes: &writes, elapsed, cpu, connections: None, network: None };
    let settings = Settings {
        starting_sector: Some(0),
        maximum_size: Some(0),
        outstanding: Some(1),
        transactions: None,
    };
    let running = Running { managers: 1, workers: 1, disks: 1 };
    let lines = vec![LINE, AccessLine { size: 64 << 10, share: 33, reads: 0, ..LINE }];
    let spec = AccessSpec { name: "mixed".into(), assignment: Assignment::None, lines };
    let rows = vec![
        Row::all("mixed", &counted, running, settings),
        Row::manager("HOST", "mixed", &counted, running, settings),
        Row::processor(0, &counted),
        Row::worker("Worker 1", "mixed", &counted, 1, settings),
        Row::disk("E: a,b", &counted, settings),
    ];
    Series {
        version,
        test_type: TestType::Normal,
        description: "mixed".into(),
        began: "2004-07-30 12:00:00:000".into(),
        tests: vec![Test { specs: vec![spec], rows, ended: "2004-07-30 12:00:10:000".into() }],
        ended: true,
    }
}

#[test]
fn a_file_has_the_lines_and_the_commas_of_its_version() {
    for (version, columns, before_cpu) in [(Version::V2004_07_30, 56, 43), (Version::V1_1_0, 80, 46)] {
        let text = series(version).to_csv();
        let lines: Vec<&str> = text.split_terminator("\r\n").collect();
        let end = if columns == 80 { "," } else { "" };
        let opens = [
            "'Test Type,Test Description".to_owned(),
            "0,mixed".into(),
            "'Version".into(),
            format!("{version} "),
            "'Time Stamp".into(),
            "2004-07-30 12:00:00:000".into(),
            "'Access specifications".into(),
            "'Access specification name,default assignment".into(),
            "mixed,0".into(),
            "'size,% of size,% reads,% random,delay,burst,align,reply".into(),
            format!("2097152,67,100,0,0,1,0,0{end}"),
            format!("65536,33,0,0,0,1,0,0{end}"),
            "'End access specifications".into(),
            "'Results".into(),
        ];
        assert_eq!(lines[..opens.len()], opens);
        let rows = &lines[opens.len()..];
        assert_eq!(rows[0].split(',').count(), columns);
        assert!(rows[1].starts_with("ALL,All,mixed,1,1,1,1000.000000,670.000000,330.000000,1360.625000,"));
        assert!(rows[2].starts_with("MANAGER,HOST,mixed,,1,1,1000.000000,"));
        // Iometer writes this number of commas here at once
        assert!(rows[3].starts_with(&format!("PROCESSOR,CPU 0{},25.000000,", ",".repeat(before_cpu))));
        assert_eq!(rows[3].split(',').count(), if columns == 80 { 59 } else { 56 });
        assert!(rows[4].starts_with("WORKER,Worker 1,mixed,,,1,1000.000000,"));
        assert!(rows[5].starts_with("DISK,E: a b,,,,,1000.000000,"));
        for row in [1, 2, 4, 5] {
            assert_eq!(rows[row].split(',').count(), columns, "{}", rows[row]);
        }
        assert_eq!(rows[6..], ["'Time Stamp", "2004-07-30 12:00:10:000", "'End Test"]);
    }
}

#[test]
fn a_file_reads_back_with_both_megabytes_where_it_has_them() {
    for version in [Version::V2004_07_30, Version::V1_1_0] {
        let written = series(version);
        let again = read(&written.to_csv(), "results.csv").expect("a results file");
        assert_eq!(again.len(), 1);
        let row = &again[0].tests[0].rows[0];
        let at = |column| row.cells.get(&column).map(|cell| cell.number());
        assert_eq!(at(Column::BinaryMbps), Some(1360.625));
        let decimal = (version == Version::V1_1_0).then_some(1426.7187);
        assert_eq!(at(Column::DecimalMbps).map(|v| (v * 1e4).round() / 1e4), decimal);
        assert_eq!(at(Column::Effectiveness), Some(40.0));
        assert_eq!((&again[0].tests[0].specs, again[0].ended), (&written.tests[0].specs, true));
        // written again, it is the same text
        assert_eq!(again[0].to_csv(), written.to_csv().replace("a,b", "a b"));
    }
}

#[test]
fn a_file_of_the_release_candidate_is_read_by_its_titles() {
    let text = series(Version::V1_1_0).to_csv().replace("MiBps (Binary)", "MBps (Binary)");
    let row = &read(&text, "results.csv").expect("a results file")[0].tests[0].rows[0];
    assert_eq!(row.cells.get(&Column::BinaryReadMbps), Some(&Cell::Real(1340.0)));
}

#[test]
fn series_that_follow_one_another_are_all_read() {
    let text = series(Version::V1_1_0).to_csv() + &series(Version::V2004_07_30).to_csv();
    let versions: Vec<Version> =
        read(&text, "x").expect("a results file").iter().map(|s| s.version).collect();
    assert_eq!(versions, [Version::V1_1_0, Version::V2004_07_30]);
}

#[test]
fn what_is_no_results_file_is_told_with_its_place() {
    let of = |text: &str| -> Vec<(u32, &str)> {
        read(text, "x").expect_err("no results").iter().map(|finding| (finding.line, finding.code)).collect()
    };
    assert_eq!(of(""), [(1, "IO020")]);
    assert_eq!(of("Version 1.1.0\n"), [(1, "IO020")]);
    let good = series(Version::V1_1_0).to_csv();
    assert_eq!(of(&good.replace("ALL,All,mixed,1", "ALL,All,mixed,one")), [(16, "IO021")]);
    assert_eq!(of(&good.replace("DISK,", "DISC,")), [(20, "IO021")]);
}

fn row(dialect: Dialect) -> impl Strategy<Value = Row> {
    let kind = prop::sample::select(vec![RowKind::All, RowKind::Manager, RowKind::Worker, RowKind::Disk]);
    let columns: Vec<Column> = Column::of(dialect).map(|(column, _)| column).collect();
    let cells = prop::collection::btree_map(prop::sample::select(columns), -1..1_000_000_000_000_i64, 0..40);
    (kind, "[A-Za-z][A-Za-z0-9: ]{0,8}x", "([a-z]{1,6})?", cells).prop_map(|(kind, name, spec, cells)| {
        let cell = |(column, value): (Column, i64)| {
            // six decimals, as in the file
            let real = Cell::Real(value as f64 / 1e6);
            (column, if column.form() == Form::Whole { Cell::Whole(value) } else { real })
        };
        let cells: BTreeMap<Column, Cell> = cells.into_iter().map(cell).collect();
        Row { kind, name, spec, cells }
    })
}

proptest! {
    #[test]
    fn any_rows_read_back(
        (version, rows) in prop::sample::select(vec![Version::V2004_07_30, Version::V1_1_0])
            .prop_flat_map(|version| (Just(version), prop::collection::vec(row(version.dialect()), 0..6)))
    ) {
        let mut series = series(version);
        series.tests[0].rows = rows;
        let again = read(&series.to_csv(), "results.csv").expect("a results file");
        prop_assert_eq!(&again, &[series]);
    }
    #[test]
    fn no_text_makes_the_reader_panic(text in "('Test Type|'Version|'size|'Target Type|[-0-9,.'\r\nA-Z ]){0,60}") {
        let _ = read(&text, "results.csv");
    }
}
