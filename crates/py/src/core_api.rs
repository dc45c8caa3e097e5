//! The functions of the engine that the binding calls: JSON text in, JSON text out, without Python.
//!
//! They are called with the interpreter lock released. A function that takes long gets a [`Monitor`], to which it
//! reports progress, and which it asks regularly whether to stop.
//!
//! Not here: the meaning of documents (`lanetwin-plan`, `lanetwin-world`, `lanetwin-validation`, `lanetwin-load`),
//! channels (`channels`), and Python (the crate root).

use lanetwin_document::Diagnostic;
use lanetwin_document::problem::Severity;
use lanetwin_document::spelling::Near;
use lanetwin_load::{fio, iometer};
use lanetwin_plan::{Assembly, Catalogue, Files, Grade, Number, Plan, hierarchy};
use lanetwin_stats::Margin;
use lanetwin_stats::results::{ReadError, Results};
use lanetwin_textfile::Limit;
use lanetwin_world::{self as world, Capsule, Granularity, Options, Progress, Stopping, Watcher};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc::Sender;

/// Why the engine refused.
#[derive(Debug)]
pub enum Failure {
    /// A document has errors: a JSON array of all diagnostics.
    Diagnostics(String),
    /// Anything else that is not a bug: a sentence that says what is wrong and what to do.
    Message(String),
    /// A bug of the engine: the message of the panic.
    Bug(String),
}

impl Failure {
    /// The failure for a panic of the engine, with its message if that is text.
    pub fn from_panic(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Self::Bug(text.unwrap_or_else(|| "a panic without a message".to_owned()))
    }
}

/// The result of a function of the engine: a JSON document, or why there is none.
pub type Answer = Result<String, Failure>;

/// Connects a running computation with the user who waits for it. Any thread may use it.
#[derive(Debug)]
pub struct Monitor {
    lines: Option<Sender<String>>,
    cancelled: Stopping,
}

impl Monitor {
    /// A monitor that sends its reports to `lines`, or drops them.
    pub fn new(lines: Option<Sender<String>>) -> Self {
        Self { lines, cancelled: Stopping::default() }
    }

    /// Reports progress: one JSON object. Never blocks; it is no error if the receiver is gone.
    pub fn report(&self, line: String) {
        if let Some(lines) = &self.lines {
            // sending only fails if nothing waits for the reports any more
            let _ = lines.send(line);
        }
    }

    /// Requests the computation to stop at the next safe point and return what it has.
    pub fn cancel(&self) {
        self.cancelled.ask();
    }

    /// Whether the computation was requested to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.is_asked()
    }
}

/// A document as JSON text.
pub fn json<T: Serialize + ?Sized>(document: &T) -> Answer {
    serde_json::to_string(document)
        .map_err(|error| Failure::Message(format!("the answer is no JSON: {error}")))
}

/// The failure for a document with errors.
pub fn refused(diagnostics: &[Diagnostic]) -> Failure {
    json(diagnostics).map_or_else(|failure| failure, Failure::Diagnostics)
}

/// The plan of a scenario; with `outside`, files that it names may be outside its folder.
pub fn plan_of(path: &str, sets: &[String], outside: bool) -> Result<Plan, Vec<Diagnostic>> {
    let path = Path::new(path);
    let files = Files::beside(path);
    lanetwin_plan::check_path_with(path, sets, &if outside { files.anywhere() } else { files })
}

/// Checks a scenario without running it: `{"diagnostics": […], "plan": … | null}`.
pub fn check(path: &str, sets: &[String], outside: bool) -> Answer {
    match plan_of(path, sets, outside) {
        Ok(plan) => json(&serde_json::json!({ "diagnostics": plan.warnings, "plan": plan })),
        Err(diagnostics) => json(&serde_json::json!({ "diagnostics": diagnostics, "plan": null })),
    }
}

/// Enumerates the PCIe hierarchies below the hosts of a scenario:
/// `{"diagnostics": […], "trees": [{"variants": […], "hosts": […]}] | null}`, with one entry for all variants with the
/// same hierarchies.
pub fn tree(path: &str, sets: &[String], outside: bool) -> Answer {
    match plan_of(path, sets, outside) {
        Ok(plan) => {
            let trees = hierarchy::hierarchies(&plan.variants);
            json(&serde_json::json!({ "diagnostics": plan.warnings, "trees": trees }))
        }
        Err(diagnostics) => json(&serde_json::json!({ "diagnostics": diagnostics, "trees": null })),
    }
}

/// The options of a run.
#[derive(Deserialize)]
struct RunOptions {
    #[serde(default)]
    sets: Vec<String>,
    #[serde(default)]
    seed: Option<u64>,
    #[serde(default)]
    granularity: Granularity,
    #[serde(default)]
    threads: Option<usize>,
    #[serde(default)]
    outside: bool,
    #[serde(default)]
    exports: world::Exports,
}

impl Watcher for Monitor {
    fn progress(&self, progress: &Progress) {
        if let Ok(line) = serde_json::to_string(progress) {
            self.report(line);
        }
    }
    fn is_cancelled(&self) -> bool {
        Self::is_cancelled(self)
    }
    fn stopping(&self) -> Stopping {
        self.cancelled.clone()
    }
}

/// Simulates every variant and workload of a scenario: a results document.
///
/// `options`: `{"sets": […], "seed": n | null, "granularity": "train" | "tlp", "threads": n | null, "outside": false}`.
pub fn run(path: &str, options: &str, monitor: &Monitor) -> Answer {
    let options: RunOptions = parse(options, "the options of the run")?;
    let plan = plan_of(path, &options.sets, options.outside).map_err(|d| refused(&d))?;
    let RunOptions { sets, seed, granularity, threads, outside: _, exports } = options;
    let options = Options { seed, granularity, threads, sets, exports };
    match world::run(&plan, &options, monitor) {
        Ok(results) => Ok(results.to_json()),
        Err(crash) => Err(Failure::Bug(keep_capsule(&crash.capsule))),
    }
}

/// Writes a capsule to the current folder. Returns what happened, and how to replay it.
fn keep_capsule(capsule: &Capsule) -> String {
    let what = format!(
        "{} at {} ps in `{}` (variant `{}`, workload `{}`, case `{}`, seed {})",
        capsule.message,
        capsule.time_ps,
        capsule.component,
        capsule.variant,
        capsule.workload,
        capsule.case,
        capsule.seed
    );
    let file = format!("lanetwin-capsule-{:x}.json", capsule.time_ps ^ capsule.events);
    let text = serde_json::to_string_pretty(capsule).unwrap_or_default();
    match std::fs::write(&file, text) {
        Ok(()) => format!("{what}; `lanetwin replay {file}` stops one event before"),
        Err(error) => format!("{what}; the capsule could not be written to {file}: {error}"),
    }
}

pub fn parse<'a, T: Deserialize<'a>>(text: &'a str, what: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::Message(format!("{what} cannot be read: {error}")))
}

/// Compares two results documents: a results document whose variants are the two.
///
/// `options`: `{"margin": x | null, "names": [of a, of b] | null}`; the names stand for those of documents that have
/// the same.
pub fn compare(a: &str, b: &str, options: &str) -> Answer {
    #[derive(Deserialize)]
    struct Wanted {
        margin: Option<f64>,
        names: Option<(String, String)>,
    }
    let wanted: Wanted = parse(options, "the options of the comparison")?;
    let margin = wanted.margin.unwrap_or(DEFAULT_MARGIN);
    let margin =
        Margin::new(margin).ok_or_else(|| Failure::Message(format!("a margin is above 0, not {margin}")))?;
    let read = |text, name| Results::from_json(text, name).map_err(|e| read_failure(&e));
    let (mut a, mut b) = (read(a, "A")?, read(b, "B")?);
    if let Some(names) = wanted.names.filter(|_| a.name == b.name) {
        (a.name, b.name) = names;
    }
    let results = world::compare(&a, &b, margin);
    if !results.rows.is_empty() {
        return Ok(results.to_json());
    }
    let empty = [("A", &a), ("B", &b)].into_iter().find(|(_, results)| results.rows.is_empty());
    Err(nothing_to_compare(empty.map(|(name, _)| name)))
}

/// Why a comparison is empty: `empty` names the document that has no rows; otherwise the two have no row in common.
fn nothing_to_compare(empty: Option<&str>) -> Failure {
    let (message, help) = match empty {
        Some(_) => (
            "it has no rows: nothing was finished before it was stopped",
            "run or measure it again, to the end",
        ),
        None => (
            "the two have no row in common: no variant, workload, case and metric are the same",
            "give workloads and cases the same names in both; of what is imported, `--workload` and `--variant` say them",
        ),
    };
    mistake("RS017", empty.unwrap_or_default(), message, help)
}

/// One mistake in what was asked, with its place and its remedy.
fn mistake(code: &str, place: &str, message: &str, help: &str) -> Failure {
    let diagnostic = serde_json::json!([{
        "code": code, "severity": "error", "file": place, "message": message, "help": help,
    }]);
    Failure::Diagnostics(diagnostic.to_string())
}

/// Reads a configuration of Iometer: `{"diagnostics": […], "config": … | null}`.
pub fn iometer_show(path: &str) -> Answer {
    match iometer::read_path(Path::new(path)) {
        Ok(iometer::Understood { config, warnings }) => {
            json(&serde_json::json!({ "diagnostics": warnings, "config": config }))
        }
        Err(findings) => json(&serde_json::json!({ "diagnostics": findings, "config": null })),
    }
}

/// Reads a YAML document whose meaning Python knows: every value with its place,
/// `{"line", "column", "text" | "items" | "entries"}`.
pub fn document(path: &str) -> Answer {
    let text = lanetwin_textfile::read_text(Path::new(path), Limit::Document)
        .map_err(|error| refused(&lanetwin_document::unreadable(Path::new(path), &error.to_string())))?;
    match lanetwin_document::outline::read(&text, path) {
        Ok(outline) => json(&outline),
        Err(diagnostics) => Err(refused(&diagnostics)),
    }
}

/// Reads a job file of fio: `{"diagnostics": […], "file": … | null}`.
pub fn fio_show(path: &str) -> Answer {
    match fio::read_path(Path::new(path)) {
        Ok(fio::Understood { file, warnings }) => {
            json(&serde_json::json!({ "diagnostics": warnings, "file": file.shown() }))
        }
        Err(findings) => json(&serde_json::json!({ "diagnostics": findings, "file": null })),
    }
}

/// The place of a mistake that is in no file.
const PLACE: &str = "command line";

/// The default margin of equivalence of a comparison.
const DEFAULT_MARGIN: f64 = 0.02;

fn read_failure(error: &ReadError) -> Failure {
    let diagnostic = serde_json::json!([{
        "code": error.code, "severity": "error", "file": error.file, "line": error.line, "column": error.column,
        "path": error.path, "message": error.message, "help": error.help,
    }]);
    Failure::Diagnostics(diagnostic.to_string())
}

/// Compares predictions with published numbers, for the named claims or for all: rows, and a summary of each claim.
pub fn validate(claims: &[String], monitor: &Monitor) -> Answer {
    let names: Vec<&str> = claims.iter().map(String::as_str).collect();
    let mut progress = |progress: &lanetwin_validation::Progress| {
        if let Ok(line) = serde_json::to_string(progress) {
            monitor.report(line);
        }
        if monitor.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let report = lanetwin_validation::run(&names, &mut progress).map_err(|problem| refused(&[*problem]))?;
    let claims: Vec<_> = report
        .claims
        .iter()
        .map(|claim| {
            serde_json::json!({
                "claim": claim.claim, "about": claim.about, "bar": claim.bar, "met": claim.met, "mape_pct": claim.mape,
                "baseline_mape_pct": claim.baseline_mape, "free_parameters": claim.free_parameters.len(),
                "predicted_rows": claim.predicted_rows, "text": claim.text, "parameters": claim.free_parameters,
                "effects": claim.effects,
            })
        })
        .collect();
    json(&serde_json::json!({ "complete": report.complete, "rows": report.rows, "claims": claims }))
}

/// The claims: what each is about, and its bar.
pub fn claims_list() -> Answer {
    let list: Vec<_> = lanetwin_validation::claims::claims()
        .iter()
        .map(|claim| {
            serde_json::json!({
                "claim": claim.name, "about": claim.about, "bar": claim.bar, "cpu_seconds": claim.cpu_seconds,
            })
        })
        .collect();
    json(&list)
}

/// The built-in parts, those in the user's folders, and those in `parts/` beside a scenario.
fn catalogue(beside: Option<&str>) -> Result<Catalogue, Failure> {
    let (catalogue, found) = Catalogue::beside(beside.map(Path::new));
    if found.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Err(refused(&found));
    }
    Ok(catalogue)
}

/// The catalogue of parts.
pub fn parts_list(beside: Option<&str>) -> Answer {
    let catalogue = catalogue(beside)?;
    let entry = |name: &str, kind: &str, about: &str, grade: Grade, validated: Option<&String>| {
        serde_json::json!({
            "name": name, "kind": kind, "about": about, "grade": grade.to_string(),
            "validated": validated.cloned().unwrap_or_default(),
        })
    };
    let parts = catalogue.parts().map(|part| {
        let mut one = entry(&part.name, part.model.name, &part.about, part.grade, part.validated.as_ref());
        one["pci"] = serde_json::json!(part.pci);
        one["own"] = serde_json::json!(!part.built_in);
        (&part.name, one)
    });
    let assemblies = catalogue
        .assemblies()
        .map(|a| (&a.name, entry(&a.name, "assembly", &a.about, a.grade, a.validated.as_ref())));
    let all: BTreeMap<&String, serde_json::Value> = parts.chain(assemblies).collect();
    json(&all.into_values().collect::<Vec<_>>())
}

/// A number of a part, under this name.
fn number_of(name: &str, number: &Number) -> serde_json::Value {
    serde_json::json!({
        "parameter": name, "value": lanetwin_document::quantity::label(number.value), "kind": number.kind,
        "source": number.source, "calibrated to": number.to.clone().unwrap_or_default(),
        "note": number.note.clone().unwrap_or_default(),
    })
}

/// An assembly: a device that is made of other parts.
fn assembly_show(assembly: &Assembly) -> Answer {
    let of = |(outer, (inner, what)): (&String, &(String, String))| serde_json::json!({ "port": outer, "about": format!("{inner}.{what}") });
    let exposed = |(outer, (inner, what)): (&String, &(String, String))| serde_json::json!({ "name": outer, "means": format!("{inner}.{what}") });
    let components: Vec<_> = assembly
        .components
        .iter()
        .map(|(name, part)| {
            serde_json::json!({ "component": name, "model": part.model.name, "about": part.about })
        })
        .collect();
    let parameters: Vec<_> = assembly
        .components
        .iter()
        .flat_map(|(inner, part)| {
            part.parameters.iter().map(move |(name, number)| number_of(&format!("{inner}.{name}"), number))
        })
        .collect();
    let links: Vec<_> = assembly
        .joints()
        .map(|(name, mut said)| {
            said.insert("link", name);
            said
        })
        .collect();
    json(&serde_json::json!({
        "name": assembly.name, "about": assembly.about, "model": "assembly",
        "what it does": "It is made of other parts, which it joins.",
        "grade": assembly.grade.to_string(), "validated": assembly.validated.clone().unwrap_or_default(),
        "components": components, "links": links, "ports": assembly.ports.iter().map(of).collect::<Vec<_>>(),
        "exposes": assembly.parameters.iter().map(exposed).collect::<Vec<_>>(), "parameters": parameters,
    }))
}

/// One part, with every number's source.
pub fn parts_show(name: &str, beside: Option<&str>) -> Answer {
    let catalogue = catalogue(beside)?;
    if let Some(assembly) = catalogue.assembly(name) {
        return assembly_show(assembly);
    }
    let Some(part) = catalogue.find(name) else {
        let parts = catalogue.parts().map(|p| p.name.as_str());
        let known: Vec<&str> = parts.chain(catalogue.assemblies().map(|a| a.name.as_str())).collect();
        let near = Near::of(name, known.iter().copied());
        let message = format!("there is no part `{name}`");
        return Err(mistake("SC011", PLACE, &message, &format!("{near}`lanetwin parts list` has them")));
    };
    let parameters: Vec<_> = part.parameters.iter().map(|(name, number)| number_of(name, number)).collect();
    let ports: Vec<_> =
        part.model.ports.iter().map(|p| serde_json::json!({ "port": p.name, "about": p.about })).collect();
    json(&serde_json::json!({
        "name": part.name, "about": part.about, "model": part.model.name, "what it does": part.model.about,
        "grade": part.grade.to_string(), "validated": part.validated.clone().unwrap_or_default(),
        "ports": ports, "pci": part.pci, "parameters": parameters,
    }))
}

/// The closed forms and their parameters.
pub fn calc_list() -> Answer {
    json(lanetwin_plan::calc::FORMS)
}

/// Evaluates one closed form.
pub fn calc(name: &str, arguments: &str) -> Answer {
    let arguments: BTreeMap<String, String> = parse(arguments, "the arguments")?;
    let rows = lanetwin_plan::calc::calc(name, &arguments).map_err(|d| refused(&d))?;
    json(&serde_json::json!({ "rows": rows }))
}

/// The page of one diagnostic code, as Markdown.
pub fn explain(code: &str) -> Answer {
    let page = lanetwin_document::explain(code);
    page.map(str::to_owned).ok_or_else(|| {
        let near = Near::of(code, lanetwin_document::codes().map(|(code, _)| code));
        let message = format!("there is no code `{code}`");
        mistake("CL001", PLACE, &message, &format!("{near}`lanetwin explain` lists them"))
    })
}

/// Every diagnostic code with its title.
pub fn explain_list() -> Answer {
    let list: Vec<_> = lanetwin_document::codes()
        .map(|(code, title)| serde_json::json!({ "code": code, "title": title }))
        .collect();
    json(&list)
}

/// The templates a scenario can be started from.
pub fn templates() -> Answer {
    let list: Vec<_> = lanetwin_plan::templates()
        .iter()
        .map(|t| serde_json::json!({ "name": t.name, "about": t.about }))
        .collect();
    json(&list)
}

/// The text of one template.
pub fn template(name: &str) -> Answer {
    let template = lanetwin_plan::template(name);
    template.map(|t| t.text.to_owned()).ok_or_else(|| {
        let near = Near::of(name, lanetwin_plan::templates().iter().map(|t| t.name));
        let message = format!("there is no template `{name}`");
        mistake("CL002", PLACE, &message, &format!("{near}`lanetwin new --list` shows them"))
    })
}

/// The JSON Schema of scenarios.
pub fn schema() -> Answer {
    Ok(lanetwin_plan::schema())
}

/// Replays the capsule of a run that failed, up to the event before the failure.
pub fn replay(capsule: &str) -> Answer {
    let unreadable = |why: String| {
        let message = format!("this is no capsule that can be read: {why}");
        let help = "name a file lanetwin-capsule-….json that a run wrote when it met a bug of lanetwin";
        mistake("CL003", capsule, &message, help)
    };
    let text = lanetwin_textfile::read_text(Path::new(capsule), Limit::Data)
        .map_err(|error| unreadable(error.to_string()))?;
    let capsule: Capsule = serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
    let state = world::replay(&capsule).map_err(Failure::Message)?;
    let state: Vec<_> =
        state.into_iter().map(|(name, value)| serde_json::json!({ "name": name, "value": value })).collect();
    json(&serde_json::json!({
        "message": capsule.message, "component": capsule.component, "time_ps": capsule.time_ps,
        "recent": capsule.recent, "state": state,
    }))
}
