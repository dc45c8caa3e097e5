//! `fio:` – the jobs of a job file of fio, or of its options here; a case for each phase.

use super::Cases;
use super::values::{count, size};
use crate::files::{Configurations, Fio};
use crate::language::{FIO, NO_OPTIONS};
use crate::plan::{Case, FioCase, FioJob, Load};
use crate::problem::Problem;
use lanetwin_document::fields::Fields;
use lanetwin_document::node::{Kind, Node};
use lanetwin_document::problem::{Problem as Common, Reports, quoted};
use lanetwin_document::quantity;
use lanetwin_document::spelling::Near;
use lanetwin_load::fio::{Job, JobFile};
use lanetwin_ports::Value;
use lanetwin_units::Bytes;
use std::collections::BTreeSet;
use std::sync::Arc;

/// More clones in a phase are a slip of the pen.
const MOST_THREADS: u64 = 4096;
/// More than this are not in flight on a target.
const MOST_DEPTH: u32 = 1 << 20;
/// Longer lists of names are cut in messages.
const MOST_NAMES: usize = 8;

/// Reads the section; its cases, and the section with every default filled in.
pub(super) fn read(node: &Node, path: &str, files: &Configurations, reports: &mut Reports) -> Cases {
    let mut fields = Fields::open(node, path, FIO, &[], reports)?;
    let fio = source(&mut fields, files, reports);
    let jobs = fio.and_then(|fio| jobs(fio, &mut fields, reports));
    let capacity = size(&mut fields, "capacity", reports);
    let requests = count(&mut fields, "requests", reports);
    let (fio, jobs, capacity, requests) = (fio?, jobs?, capacity?, requests?);
    let file = fields.written("file").and_then(Node::text).unwrap_or_default().to_owned();
    let mut phases: Vec<Vec<FioJob>> = Vec::new();
    let mut last = None;
    for job in &jobs {
        let log = fio.log(job, &file);
        let job = FioJob { job: Arc::clone(job), log };
        if last == Some(job.job.phase) {
            phases.last_mut().expect("a phase has begun").push(job);
        } else {
            last = Some(job.job.phase);
            phases.push(vec![job]);
        }
    }
    let globals = &fio.file.globals;
    let cases: Vec<FioCase> = phases
        .into_iter()
        .map(|jobs| FioCase { file: file.clone(), globals: globals.clone(), jobs, capacity, requests })
        .collect();
    let runs = cases.iter().filter(|case| can_run(case, &fields, reports)).count();
    if runs < cases.len() {
        return None;
    }
    fields.record("understood", Node::list(jobs.iter().map(|job| understood(job))));
    let mut labels = BTreeSet::new();
    let case = |(nth, case): (usize, FioCase)| {
        let mut label = label(&case);
        if !labels.insert(label.clone()) {
            label = format!("{label} (phase {})", nth + 1);
            labels.insert(label.clone());
        }
        Case { label, axis: None, load: Load::Fio(Box::new(case)) }
    };
    let cases = cases.into_iter().enumerate().map(case).collect();
    Some((cases, fields.finish()))
}

/// What is run: a file, or options; none if something is wrong with it, which is reported.
fn source<'c>(fields: &mut Fields<'_>, files: &'c Configurations, reports: &mut Reports) -> Option<&'c Fio> {
    let written = |node: &Node| node.kind != Kind::Null;
    let options: Vec<(String, Node)> = fields
        .node
        .entries()
        .iter()
        .filter(|entry| !NO_OPTIONS.contains(&&*entry.key) && written(&entry.value))
        .map(|entry| (entry.key.clone(), entry.value.clone()))
        .collect();
    let file = fields.written("file").is_some();
    if !file && options.is_empty() {
        let about = "the job file, or options such as `rw: randread`".into();
        fields.fault("file", Common::Missing { key: "file".into(), about }, reports);
        return None;
    }
    if let (true, Some((_, node))) = (file, options.first()) {
        let problem = Common::Exclusive { one: "file", other: "options" };
        reports.add(problem, node.spot, &fields.path.clone());
        return None;
    }
    for (key, node) in options {
        fields.record(&key, node);
    }
    if file { files.fio(&fields.text("file", reports)?.value) } else { files.inline(&fields.path) }
}

/// The jobs that run, in the order of the file.
fn jobs(fio: &Fio, fields: &mut Fields<'_>, reports: &mut Reports) -> Option<Vec<Arc<Job>>> {
    if fields.written("section").is_none() {
        return Some(fio.file.jobs.iter().cloned().map(Arc::new).collect());
    }
    let path = fields.at("section");
    let (names, _) = fields.names("section", "the name of a section", reports)?;
    if names.is_empty() {
        fields.fault("section", Common::Empty { what: "the list is empty" }, reports);
        return None;
    }
    let mut wrong = false;
    for said in &names {
        let known = || fio.file.jobs.iter().map(|job| &*job.section);
        if known().any(|section| section == said.value) {
            continue;
        }
        let (name, near) = (said.value.clone(), Near::of(&said.value, known()));
        let problem =
            Problem::UnknownSection { name, file: fio.file.file.clone(), known: some(&fio.file), near };
        reports.add(problem, said.spot, &path);
        wrong = true;
    }
    let chosen = |job: &&Job| names.iter().any(|said| said.value == job.section);
    (!wrong).then(|| fio.file.jobs.iter().filter(chosen).cloned().map(Arc::new).collect())
}

fn some(file: &JobFile) -> String {
    let names: BTreeSet<&str> = file.jobs.iter().map(|job| &*job.section).collect();
    let more = if names.len() > MOST_NAMES { ", …" } else { "" };
    quoted(names.into_iter().take(MOST_NAMES)) + more
}

/// Whether a phase can run on such a target; reports why not.
fn can_run(case: &FioCase, fields: &Fields<'_>, reports: &mut Reports) -> bool {
    let threads: u64 = case.jobs.iter().map(|job| u64::from(job.job.settings.numjobs)).sum();
    let key = if fields.written("file").is_some() { "file" } else { "numjobs" };
    if threads > MOST_THREADS || case.depth() > MOST_DEPTH {
        let (most, depth) = (MOST_THREADS, case.depth());
        fields.fault(key, Problem::TooManyJobs { threads, depth, most, most_depth: MOST_DEPTH }, reports);
        return false;
    }
    let wrong = |job: &FioJob| {
        let check = |clone| job.workload(clone, case.capacity).check().err();
        (0..job.job.settings.numjobs).find_map(check).map(|why| (job.job.name().to_owned(), why))
    };
    let all: Vec<_> = case.jobs.iter().filter_map(wrong).collect();
    for (job, why) in &all {
        let room = quantity::written(Value::Size(case.capacity));
        let problem = Problem::CannotRunJob { job: job.clone(), why: why.to_string(), room };
        fields.fault("capacity", problem, reports);
    }
    all.is_empty()
}

/// What a phase is called: its jobs, once each.
fn label(case: &FioCase) -> String {
    let mut names: Vec<&str> = Vec::new();
    for job in &case.jobs {
        if !names.contains(&job.job.name()) {
            names.push(job.job.name());
        }
    }
    let more = if names.len() > MOST_NAMES { " + …" } else { "" };
    names.truncate(MOST_NAMES);
    names.join(" + ") + more
}

/// What a job says, as a mapping.
fn understood(job: &Job) -> Node {
    let s = &job.settings;
    let bytes = |bytes: u64| quantity::written(Value::Size(Bytes(bytes)));
    let blocks = |place: usize| {
        let (least, most) = job.blocks()[place];
        let more = if most > least { format!(" to {}", bytes(most)) } else { String::new() };
        Node::scalar(bytes(least) + &more)
    };
    let mut all = vec![
        ("job", Node::scalar(job.name())),
        ("rw", Node::scalar(s.rw.word)),
        ("iodepth", Node::scalar(s.iodepth.to_string())),
        ("numjobs", Node::scalar(s.numjobs.to_string())),
        ("phase", Node::scalar(job.phase.to_string())),
        ("group", Node::scalar(job.group.to_string())),
    ];
    if s.rw.reads {
        all.push(("reads", blocks(0)));
    }
    if s.rw.writes {
        all.push(("writes", blocks(1)));
    }
    if s.rw.random {
        all.push(("spread", Node::scalar(s.random_distribution.name())));
    }
    Node::map(all)
}

/// The text of a job file whose only job has the options that stand in a scenario, and each option's place: line 3 is
/// the first of them.
pub(crate) fn text_of(workload: &str, node: &Node) -> (String, Vec<(String, lanetwin_document::node::Spot)>) {
    let mut text = format!("[{workload}]\ndirect=1\n");
    let mut places = Vec::new();
    for entry in node.entries().iter().filter(|entry| !NO_OPTIONS.contains(&&*entry.key)) {
        let Some(value) = entry.value.text() else { continue };
        let value = match value {
            "true" => "1",
            "false" => "0",
            value => value,
        };
        // one option cannot become two
        let value: String = value.chars().filter(|c| !c.is_control()).collect();
        text.push_str(&format!("{}={value}\n", entry.key));
        places.push((entry.key.clone(), entry.value.spot));
    }
    (text, places)
}
