//! `fio:` – the jobs of a fio job file, or of fio options in the scenario; one case for each phase.

mod files;

use crate::files::Configurations;
use crate::kind::{Asked, Kind as Workload, Place, Who};
use crate::plan::{Case, FioCase, FioJob, Load};
use crate::problem::Problem;
use crate::values::{room, sample};
use crate::words::{Field, Holds, count as whole, optional};
use files::{Fio, NO_OPTIONS};
use lanetwin_document::fields::Fields;
use lanetwin_document::node::{Kind, Node};
use lanetwin_document::problem::{Problem as Common, Reports, quoted};
use lanetwin_document::quantity;
use lanetwin_document::spelling::Near;
use lanetwin_load::fio::{Job, JobFile};
use lanetwin_ports::{Dimension, Value};
use lanetwin_units::Bytes;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Size of a target that has none: one that serves blocks without storing them.
const ROOM: Bytes = Bytes(64 << 30);
/// Maximum number of clones in a phase; more are taken for a typing error.
const MOST_THREADS: u64 = 4096;
/// Maximum number of requests in flight on a target.
const MOST_DEPTH: u32 = 1 << 20;
/// Longer lists of names are truncated in messages.
const MOST_NAMES: usize = 8;
/// What an option of fio has.
const ONE_VALUE: &str = "one value as fio reads it (others go into variants or a `sweep`)";

pub(crate) const KIND: Workload = Workload {
    name: "fio",
    about: "reads and writes of blocks, as a job file of fio has them, or as its options here say",
    keys: KEYS,
    who: Who::Hosts,
    rounds: true,
    file: Some(files::FILE),
    read,
};

const KEYS: &[Field] = &[
    optional(
        "file",
        Holds::Text,
        "the job file, as a path from the folder of the scenario; instead of options here",
    ),
    optional("section", Holds::Names, "the sections of the file whose jobs run; otherwise all"),
    optional(
        "capacity",
        Holds::One(Dimension::Size),
        "the size of each target; otherwise that of the smallest, or 64GiB if they have none",
    ),
    optional(
        "requests",
        Holds::One(whole(1, 100_000_000)),
        "I/Os that are measured in a phase, of all its jobs together; otherwise 10000, or more until it is steady; fewer if its jobs end before",
    ),
    optional("ba", Holds::Text, "what random addresses are multiples of"),
    optional("bs", Holds::Text, "the sizes of its blocks, as fio reads them (`4k`, `4k,8k`)"),
    optional("bsrange", Holds::Text, "ranges of block sizes"),
    optional("bssplit", Holds::Text, "block sizes with their shares"),
    optional("cpumask", Holds::Text, "the cores of the host that it may run on, a bit for each"),
    optional("cpus_allowed", Holds::Text, "the cores of the host that it may run on: `0,2-3`"),
    optional(
        "cpus_allowed_policy",
        Holds::Text,
        "`split` if each clone has one of these cores; otherwise they take turns on all",
    ),
    optional("direct", Holds::Text, "whether it goes past the page cache; 1 if left out"),
    optional("group_reporting", Holds::Text, "1 to tell all its clones together"),
    optional("io_size", Holds::Text, "how many bytes it moves in all"),
    optional("iodepth", Holds::Text, "I/Os in flight of each clone"),
    optional("ioengine", Holds::Text, "the engine; not modelled"),
    optional(
        "latency_percentile",
        Holds::Text,
        "the share of I/Os that must keep `latency_target` in percent",
    ),
    optional("latency_target", Holds::Text, "the latency for which the largest depth is searched"),
    optional("latency_window", Holds::Text, "over which time it is looked at"),
    optional("norandommap", Holds::Text, "1 if random addresses may come again in a pass"),
    optional("number_ios", Holds::Text, "how many I/Os it makes in all"),
    optional("numjobs", Holds::Text, "how many clones of it run at once"),
    optional("offset", Holds::Text, "where it begins on the device"),
    optional("offset_increment", Holds::Text, "how far behind one clone the next begins"),
    optional("percentage_random", Holds::Text, "the share of random addresses in percent"),
    optional("percentile_list", Holds::Text, "the percentiles of its results"),
    optional("ramp_time", Holds::Text, "how long it runs before it is measured, at most"),
    optional(
        "random_distribution",
        Holds::Text,
        "how random addresses are spread: `zipf:1.2`, `pareto:0.2`, `normal`, `zoned:60/10:40/90`",
    ),
    optional("rate", Holds::Text, "bytes a second, at most"),
    optional("rate_iops", Holds::Text, "I/Os a second, at most"),
    optional("rate_process", Holds::Text, "`poisson` for random gaps"),
    optional("read_iolog", Holds::Text, "the log that it replays, as a path from the folder of the scenario"),
    optional("replay_no_stall", Holds::Text, "1 to replay as fast as possible"),
    optional("replay_time_scale", Holds::Text, "how fast time goes in a replay in percent"),
    optional("runtime", Holds::Text, "how long it is measured, at most"),
    optional("rw", Holds::Text, "which I/Os: `read`, `write`, `rw`, `randread`, `randwrite`, `randrw`"),
    optional("rwmixread", Holds::Text, "the share of reads in percent"),
    optional("rwmixwrite", Holds::Text, "the share of writes in percent"),
    optional("size", Holds::Text, "how much of the device it uses"),
    optional("ss", Holds::Text, "the rule of its steady state: `iops:10%`"),
    optional("ss_dur", Holds::Text, "over which time it must hold"),
    optional("thinktime", Holds::Text, "how long it waits after `thinktime_blocks`"),
    optional("thinktime_blocks", Holds::Text, "I/Os from one wait to the next"),
    optional("time_based", Holds::Text, "1 to run until `runtime` is over"),
    optional("understood", Holds::Ignored, "what the jobs of a complete plan say; not read"),
];
fn read(fields: &mut Fields<'_>, place: Place<'_>, reports: &mut Reports) -> Option<Asked> {
    let fio = source(fields, place.configurations, reports);
    let jobs = fio.as_ref().and_then(|fio| jobs(fio, fields, reports));
    let capacity = room(fields, "capacity", place, ROOM, reports);
    let requests = sample(fields, "requests", reports);
    let (fio, jobs, capacity, requests) = (fio?, jobs?, capacity?, requests?);
    let file = fields.written("file").and_then(Node::text).unwrap_or_default().to_owned();
    let mut phases: Vec<Vec<FioJob>> = Vec::new();
    let (mut last, mut clones) = (None, 0_u32);
    for job in &jobs {
        let log = fio.log(job, &file);
        let first_clone = clones;
        clones = clones.saturating_add(job.settings.numjobs);
        let job = FioJob { job: Arc::clone(job), log, first_clone, shares: 1 };
        if last == Some(job.job.phase) {
            phases.last_mut().expect("a phase has begun").push(job);
        } else {
            last = Some(job.job.phase);
            phases.push(vec![job]);
        }
    }
    let globals = &fio.file.globals;
    let drives = FioCase::drives_of(jobs.iter().map(Arc::as_ref));
    let cases: Vec<FioCase> = phases
        .into_iter()
        .map(|jobs| {
            let (file, globals, drives) = (file.clone(), globals.clone(), drives.clone());
            FioCase { file, globals, jobs, capacity, requests, drives }
        })
        .collect();
    let runs = cases.iter().filter(|case| can_run(case, fields, reports)).count();
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
        Case { label, axis: None, load: Load::of_blocks(case) }
    };
    Some(Asked::of(cases.into_iter().enumerate().map(case).collect()))
}

/// The job file or options to run; `None` after an error, which is reported.
fn source(fields: &mut Fields<'_>, files: &Configurations, reports: &mut Reports) -> Option<Arc<Fio>> {
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
    let mut wrong = false;
    for (key, node) in options {
        if node.text().is_none() {
            let problem = Common::WrongKind { found: node.what(), wanted: ONE_VALUE };
            reports.add(problem, node.spot, &fields.at(&key));
            wrong = true;
        }
        fields.record(&key, node);
    }
    if wrong {
        return None;
    }
    if file {
        files.content(KIND.name, &fields.text("file", reports)?.value)
    } else {
        files.content_of_section(KIND.name, (&fields.path, fields.node))
    }
}

/// The jobs that run, in the order of the file.
fn jobs(fio: &Fio, fields: &mut Fields<'_>, reports: &mut Reports) -> Option<Vec<Arc<Job>>> {
    if fields.written("section").is_none() {
        return Some(fio.file.jobs.iter().cloned().map(Arc::new).collect());
    }
    let path = fields.at("section");
    let (names, _) = fields.names("section", "the name of a section", reports)?;
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

/// Whether a phase can run on such a target; reports the reason if not.
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

/// The label of a phase: the names of its jobs, once each.
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

/// A job as it was understood, as a mapping.
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
