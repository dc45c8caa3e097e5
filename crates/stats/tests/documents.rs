//! Does a results document say exactly what the schema says, and does a bad one get an answer one can act on?

use std::path::{Path, PathBuf};

use lanetwin_stats::results::{
    Assumption, AssumptionKind, Bottleneck, Cost, Digest, Kind, Part, Repeat, Results, Row, ScenarioText,
    Spread, Steadiness, Utilisation, VerdictRow, Waterfall, X,
};
use lanetwin_stats::verdict::Verdict;
use lanetwin_units::Better;
use lanetwin_units::Span;
use serde_json::{Value, json};

/// A document in which nothing is left empty.
fn full() -> Results {
    let mut results = Results::new(Kind::Simulated, "slot", "0.1.0");
    results.about = "What does the slot give?".into();
    results.seed = Some(1);
    results.digest = Some(Digest(0x00c0_ffee));
    results.complete = true;
    results.options = json!({"sets": [], "granularity": "train"});
    results.scenario =
        ScenarioText { path: "slot.yaml".into(), text: "about: x\n".into(), ..ScenarioText::default() };
    results.plan = json!({"links": {"slot": {"gen": 3}}});
    results.rows = vec![Row {
        variant: "as-is".into(),
        workload: "read-sweep".into(),
        case: "64 B".into(),
        device: None,
        x: Some(X { name: "size".into(), value: 64.0, unit: "B".into(), curve: String::new() }),
        metric: "throughput".into(),
        unit: "Gb/s".into(),
        better: Better::Higher,
        restates: false,
        value: 31.9,
        low: Some(31.8),
        high: Some(32.0),
        n: 5,
        seconds: Some(0.002),
        operations: Some(50_000),
        steady: Some(Steadiness::unsteady("rate", Some(0.31), Some(0.24))),
        percentiles: vec![(50.0, 546.0), (99.9, 706.0)],
        percentile_intervals: vec![(50.0, 545.0, 547.5)],
        unsettled: vec![99.0],
        samples: vec![31.8, 31.9, 31.9, 31.9, 32.0],
    }];
    let stages = vec![("card: issue".to_owned(), Span::from_ns(80)), ("slot".to_owned(), Span::from_ns(466))];
    let one = Repeat::of_one(stages, Vec::new());
    results.waterfalls = vec![Waterfall::of("as-is", "read-sweep", "64 B", &[&one])];
    results.utilisation = vec![Utilisation { link: "slot".into(), tlp: 0.91, ..Utilisation::default() }];
    results.bottlenecks = vec![Bottleneck {
        name: "slot: card → host".into(),
        together: vec!["slot: card → host".into()],
        ..Bottleneck::default()
    }];
    results.verdicts = vec![VerdictRow {
        workload: "read-sweep".into(),
        case: "64 B".into(),
        metric: "throughput".into(),
        baseline: "as-is".into(),
        variant: "gen4".into(),
        change: 0.021,
        low: Some(0.019),
        high: None,
        verdict: Verdict::Better,
        margin: 0.02,
        not_steady: "gen4: rate: range 31 %, slope 24 %".into(),
        spread: Spread::Batches,
        judged_together: 2,
    }];
    results.assumptions = vec![Assumption {
        part: "nfp-6000".into(),
        parameter: "issue".into(),
        value: "80 ns".into(),
        kind: AssumptionKind::Calibrated,
        note: String::new(),
        source: "s".into(),
    }];
    results.not_modelled = vec!["power".into()];
    results.parts = vec![Part { name: "nfp-6000".into(), ..Part::default() }];
    results.cost = Cost { events: 123, tlp_hops: 456, cpu_seconds: 0.1, peak_memory_bytes: None };
    results
}

fn value(results: &Results) -> Value {
    serde_json::from_str(&results.to_json()).expect("a document is JSON")
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object has keys").keys().map(String::as_str).collect()
}

fn sorted<const N: usize>(mut words: [&str; N]) -> [&str; N] {
    words.sort_unstable();
    words
}

/// The names a renderer relies on, one by one.
#[test]
fn every_name_of_the_schema_is_there_and_no_other() {
    let document = value(&full());
    let mut found = keys(&document);
    found.sort_unstable();
    assert_eq!(
        found,
        sorted([
            "schema",
            "kind",
            "name",
            "about",
            "version",
            "seed",
            "digest",
            "complete",
            "stopped",
            "scenario",
            "plan",
            "rows",
            "waterfalls",
            "utilisation",
            "bottlenecks",
            "verdicts",
            "assumptions",
            "not_modelled",
            "options",
            "parts",
            "cost",
        ])
    );
    assert_eq!(
        document["rows"][0],
        json!({"variant": "as-is", "workload": "read-sweep", "case": "64 B",
               "x": {"name": "size", "value": 64.0, "unit": "B"}, "metric": "throughput", "unit": "Gb/s", "better": "higher",
               "value": 31.9, "low": 31.8, "high": 32.0, "n": 5, "seconds": 0.002, "operations": 50000,
               "steady": {"condition": "not-steady", "of": "rate", "range": 0.31, "slope": 0.24},
               "percentiles": [[50.0, 546.0], [99.9, 706.0]],
               "percentile_intervals": [[50.0, 545.0, 547.5]], "unsettled": [99.0],
               "samples": [31.8, 31.9, 31.9, 31.9, 32.0]})
    );
    assert_eq!(
        document["waterfalls"][0],
        json!({"variant": "as-is", "workload": "read-sweep", "case": "64 B", "unit": "ns", "total": 546.0,
               "stages": [{"name": "card: issue", "value": 80.0, "sums_ps": [80_000]},
                          {"name": "slot", "value": 466.0, "sums_ps": [466_000]}],
               "operations": [1], "followed": [1], "totals_ps": [546_000]})
    );
    assert_eq!(
        document["utilisation"][0],
        json!({"variant": "", "workload": "", "case": "", "link": "slot", "direction": "", "tlp": 0.91, "dllp": 0.0,
               "skp": 0.0, "replay": 0.0, "idle": 0.0, "credit_stall": 0.0, "mean_queue": 0.0})
    );
    assert_eq!(
        document["bottlenecks"][0],
        json!({"variant": "", "workload": "", "case": "", "name": "slot: card → host", "why": "",
               "together": ["slot: card → host"]})
    );
    assert_eq!(
        document["verdicts"][0],
        json!({"workload": "read-sweep", "case": "64 B", "metric": "throughput", "baseline": "as-is",
               "variant": "gen4", "change": 0.021, "low": 0.019, "high": null, "verdict": "better", "margin": 0.02,
               "not_steady": "gen4: rate: range 31 %, slope 24 %", "spread": "batches", "judged_together": 2})
    );
    assert_eq!(
        document["assumptions"][0],
        json!({"part": "nfp-6000", "parameter": "issue", "value": "80 ns", "kind": "calibrated", "note": "",
               "source": "s"})
    );
    assert_eq!(document["parts"][0], json!({"name": "nfp-6000", "grade": "", "validated": ""}));
    assert_eq!(document["cost"], json!({"events": 123, "tlp_hops": 456, "cpu_seconds": 0.1}));
    assert_eq!(document["digest"], "0000000000c0ffee");
    assert_eq!((&document["kind"], &document["stopped"]), (&json!("simulated"), &Value::Null));
}

#[test]
fn a_document_of_a_later_minor_version_is_readable() {
    let mut later = value(&full());
    later["colour"] = json!("green");
    later["rows"][0]["colour"] = json!("green");
    assert_eq!(Results::from_json(&later.to_string(), "later.json"), Ok(full()));
}

#[test]
fn the_least_document_is_readable() {
    let least = json!({"schema": "lanetwin-results/1", "kind": "measured", "name": "lab", "version": "0.1.0",
                       "complete": true, "rows": [{"variant": "a", "workload": "w", "case": "c", "metric": "throughput",
                                                   "unit": "Gb/s", "value": 1.5, "n": 1}]});
    let read = Results::from_json(&least.to_string(), "lab.json").unwrap();
    assert_eq!((read.kind, read.seed, read.rows[0].low), (Kind::Measured, None, None));
}

/// Reads `text` and returns the code, the line and the path of what is wrong.
fn fault(text: &str) -> (&'static str, u32, String) {
    let error = Results::from_json(text, "a.json").expect_err("the document is bad");
    assert!(!error.help.is_empty() && error.to_string().contains(error.code));
    (error.code, error.line, error.path)
}

#[test]
fn what_is_not_ours_is_called_foreign() {
    assert_eq!(fault("").0, "RS002");
    assert_eq!(fault("{\"schema\": \"lanetwin-results/1\",\n").0, "RS002");
    assert_eq!(fault("[1, 2]"), ("RS003", 0, "schema".into()));
    assert_eq!(fault("{\"jobs\": []}"), ("RS003", 0, "schema".into()));
    assert_eq!(fault("{\"schema\": 7}").0, "RS003");
    assert_eq!(fault("{\"schema\": \"fio\"}").0, "RS003");
    assert_eq!(fault("{\"schema\": \"lanetwin-results/2\"}").0, "RS004");
}

#[test]
fn damage_is_found_where_it_is() {
    let damage = |change: fn(&mut Value)| {
        let mut document = value(&full());
        change(&mut document);
        fault(&serde_json::to_string_pretty(&document).unwrap())
    };
    assert_eq!(damage(|d| d["rows"][0]["value"] = Value::Null).2, "rows[0].value");
    assert_eq!(damage(|d| d["digest"] = json!("xyz")).2, "digest");
    assert_eq!(damage(|d| d["verdicts"][0]["verdict"] = json!("splendid")).2, "verdicts[0].verdict");
    assert_eq!(damage(|d| d["kind"] = json!("imagined")).2, "kind");
    // a number that is missing is not zero
    assert!(
        damage(|d| drop(d["rows"][0].as_object_mut().map(|row| row.remove("value"))))
            .2
            .starts_with("rows[0]")
    );
    assert!(
        damage(|d| drop(d["utilisation"][0].as_object_mut().map(|link| link.remove("tlp"))))
            .2
            .starts_with("utilisation[0]")
    );
    let (code, line, path) = damage(|d| drop(d.as_object_mut().unwrap().remove("complete")));
    assert_eq!((code, path.as_str()), ("RS005", ""));
    assert!(line > 1);
}

/// Documents from before there were several devices have no `device`, and mean all of them together.
#[test]
fn a_row_may_tell_of_one_device() {
    let mut results = full();
    let mut own = results.rows[0].clone();
    own.device = Some("card1".into());
    results.rows.push(own);
    let document = value(&results);
    assert_eq!(document["rows"][0].get("device"), None);
    assert_eq!(document["rows"][1]["device"], "card1");
    assert_eq!(Results::from_json(&results.to_json(), "here"), Ok(results));
}

/// A folder of this test's own, removed when it ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lanetwin-stats-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder can be made");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn saving_replaces_the_whole_file_and_leaves_nothing_else() {
    let folder = Folder::new("save");
    let path = folder.0.join("results.json");
    std::fs::write(&path, "old").unwrap();
    full().save(&path).unwrap();
    assert_eq!(Results::read(&path), Ok(full()));
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1);
}

#[test]
fn a_file_that_cannot_be_written_or_read_is_an_error() {
    let folder = Folder::new("absent");
    let nowhere = folder.0.join("nowhere").join("results.json");
    assert!(full().save(&nowhere).is_err());
    assert_eq!(Results::read(&nowhere).unwrap_err().code, "RS001");
    assert!(full().save(Path::new("/")).is_err());
}
