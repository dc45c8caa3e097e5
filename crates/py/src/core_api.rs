//! The one door between the binding and the engine: JSON text in, JSON text out, no Python in sight.
//!
//! Every function here is called with the interpreter lock released. A long one is given a [`Monitor`]: it
//! reports progress to it and asks it, now and then, whether the user wants it to stop.
//!
//! Not here: what any of the documents mean (`lanetwin-plan`, `lanetwin-world`, `lanetwin-validation`,
//! `lanetwin-load`), channels (`channels`), and anything of Python (the crate root).

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
    /// The author of a document erred: a JSON array of diagnostics, all of them at once.
    Diagnostics(String),
    /// Anything else that is not a bug: one sentence that says what was attempted and the likely remedy.
    Message(String),
    /// The engine itself is wrong: what the panic said.
    Bug(String),
}

impl Failure {
    /// A panic of the engine, as far as it can be read.
    pub fn from_panic(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Self::Bug(text.unwrap_or_else(|| "a panic without a message".to_owned()))
    }
}

/// What a function of the engine gives back: a JSON document, or why not.
pub type Answer = Result<String, Failure>;

/// The line between a running computation and the person who waits for it. Any thread may hold it.
#[derive(Debug)]
pub struct Monitor {
    lines: Option<Sender<String>>,
    cancelled: Stopping,
}

impl Monitor {
    /// A monitor whose reports go down `lines`, or nowhere.
    pub fn new(lines: Option<Sender<String>>) -> Self {
        Self { lines, cancelled: Stopping::default() }
    }

    /// Reports progress: one JSON object. Never blocks; a reader that has gone away is no error.
    pub fn report(&self, line: String) {
        if let Some(lines) = &self.lines {
            // The receiver only goes away when nobody waits any more; then there is nobody to tell.
            let _ = lines.send(line);
        }
    }

    /// Asks the computation to stop at the next safe point and give back what it has.
    pub fn cancel(&self) {
        self.cancelled.ask();
    }

    /// Whether the computation was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.is_asked()
    }
}

/// A document as JSON text.
pub fn json<T: Serialize + ?Sized>(document: &T) -> Answer {
    serde_json::to_string(document)
        .map_err(|error| Failure::Message(format!("the answer is no JSON: {error}")))
}

/// What the author of a document did wrong.
pub fn refused(diagnostics: &[Diagnostic]) -> Failure {
    json(diagnostics).map_or_else(|failure| failure, Failure::Diagnostics)
}

/// The plan of a scenario; with `outside`, files that it names may lie out of its folder.
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

/// Numbers what is below the hosts of a scenario:
/// `{"diagnostics": […], "trees": [{"variants": […], "hosts": […]}] | null}`, with an entry for variants that are
/// alike.
pub fn tree(path: &str, sets: &[String], outside: bool) -> Answer {
    match plan_of(path, sets, outside) {
        Ok(plan) => {
            let trees = hierarchy::hierarchies(&plan.variants);
            json(&serde_json::json!({ "diagnostics": plan.warnings, "trees": trees }))
        }
        Err(diagnostics) => json(&serde_json::json!({ "diagnostics": diagnostics, "trees": null })),
    }
}

/// How a run is asked for.
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

/// Writes a capsule where the user can find it; says what happened and how to bring it back.
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
/// `options`: `{"margin": x | null}`.
pub fn compare(a: &str, b: &str, options: &str) -> Answer {
    #[derive(Deserialize)]
    struct Wanted {
        margin: Option<f64>,
    }
    let wanted: Wanted = parse(options, "the options of the comparison")?;
    let margin = wanted.margin.unwrap_or(DEFAULT_MARGIN);
    let margin =
        Margin::new(margin).ok_or_else(|| Failure::Message(format!("a margin is above 0, not {margin}")))?;
    let read = |text, name| Results::from_json(text, name).map_err(|e| read_failure(&e));
    let (a, b) = (read(a, "A")?, read(b, "B")?);
    let results = world::compare(&a, &b, margin);
    if !results.rows.is_empty() {
        return Ok(results.to_json());
    }
    let empty = [("A", &a), ("B", &b)].into_iter().find(|(_, results)| results.rows.is_empty());
    Err(nothing_to_compare(empty.map(|(name, _)| name)))
}

/// Why a comparison says nothing: the one of the two that has no rows, or that they have none in common.
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
    let diagnostic = serde_json::json!([{
        "code": "RS017", "severity": "error", "file": empty.unwrap_or_default(), "message": message, "help": help,
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

/// Reads a document that is understood elsewhere: every value with its place,
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

/// The margin of equivalence of a comparison that names none.
const DEFAULT_MARGIN: f64 = 0.02;

fn read_failure(error: &ReadError) -> Failure {
    let diagnostic = serde_json::json!([{
        "code": error.code, "severity": "error", "file": error.file, "line": error.line, "column": error.column,
        "path": error.path, "message": error.message, "help": error.help,
    }]);
    Failure::Diagnostics(diagnostic.to_string())
}

/// Sets predictions against published numbers, for the claims named or for all of them: rows, and a summary of each
/// claim.
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

/// The claims: what each is about and what has to hold.
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

/// The parts of the program, of the folders of the user and of `parts/` beside a scenario.
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

/// A number of a part, under the name by which it is said.
fn number_of(name: &str, number: &Number) -> serde_json::Value {
    serde_json::json!({
        "parameter": name, "value": lanetwin_document::quantity::label(number.value), "kind": number.kind,
        "source": number.source, "calibrated to": number.to.clone().unwrap_or_default(),
        "note": number.note.clone().unwrap_or_default(),
    })
}

/// A part that is made of parts.
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
        return Err(Failure::Message(format!(
            "there is no part `{name}`; {near}`lanetwin parts list` has them"
        )));
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
    page.map(str::to_owned)
        .ok_or_else(|| Failure::Message(format!("there is no code `{code}`; `lanetwin explain` lists them")))
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
        Failure::Message(format!("there is no template `{name}`; `lanetwin new --list` shows them"))
    })
}

/// The JSON Schema of scenarios.
pub fn schema() -> Answer {
    Ok(lanetwin_plan::schema())
}

/// Replays the capsule of a run that stopped on a bug, up to one event before it.
pub fn replay(capsule: &str) -> Answer {
    let text = lanetwin_textfile::read_text(Path::new(capsule), Limit::Data)
        .map_err(|error| Failure::Message(format!("the capsule {capsule} cannot be read: {error}")))?;
    let capsule: Capsule = parse(&text, "the capsule")?;
    let state = world::replay(&capsule).map_err(Failure::Message)?;
    let state: Vec<_> =
        state.into_iter().map(|(name, value)| serde_json::json!({ "name": name, "value": value })).collect();
    json(&serde_json::json!({
        "message": capsule.message, "component": capsule.component, "time_ps": capsule.time_ps,
        "recent": capsule.recent, "state": state,
    }))
}
