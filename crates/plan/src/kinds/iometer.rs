//! `iometer:` – the access specifications of a configuration of Iometer, a case each.

use crate::files::{FileOf, Source as File, Understood};
use crate::kind::{Asked, Kind, MOST_CASES, Place, Who};
use crate::plan::{Axis, Case, IometerCase, IometerFile, Load};
use crate::problem::Problem;
use crate::values::{list, sample, size};
use crate::words::{Field, Holds, count as whole, field, optional, required};
use lanetwin_document::fields::Fields;
use lanetwin_document::node::{Node, Origin};
use lanetwin_document::problem::{Problem as Common, Reports, quoted};
use lanetwin_document::quantity;
use lanetwin_document::spelling::Near;
use lanetwin_load::iometer::{self, TestType};
use lanetwin_load::iometer::config::{
    AccessLine, AccessSpec, Config, DiskSettings, IDLE, Worker, WorkerKind,
};
use lanetwin_ports::{Dimension, Value};
use lanetwin_units::Bytes;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Longer lists of names are cut in messages.
const MOST_NAMES: usize = 8;
/// More than this are not in flight on a target.
const MOST_OUTSTANDING: u32 = 65_536;
/// What a new worker of Iometer has in flight on each target (`PageDisk.cpp`), and a library of specifications does not
/// say.
const NO_WORKER: u32 = 1;

pub(crate) const KIND: Kind = Kind {
    name: "iometer",
    about: "reads and writes of blocks, as a file of Iometer has them",
    keys: KEYS,
    who: Who::Hosts,
    rounds: true,
    file: Some(FileOf { key: "file", read: understand, options: None }),
    read,
};

const KEYS: &[Field] = &[
    required("file", Holds::Text, "the configuration (`.icf`), as a path from the folder of the scenario"),
    optional(
        "spec",
        Holds::Names,
        "the access specification, a case for each of a list; otherwise those that the worker is assigned, or all disk workers if none is named",
    ),
    optional(
        "worker",
        Holds::Text,
        "the worker whose outstanding I/Os, maximum disk size and starting sector are used; otherwise the first disk worker",
    ),
    optional(
        "outstanding",
        Holds::Many(whole(1, 65_536)),
        "I/Os in flight on each target; otherwise what the worker has, or 1 without a worker",
    ),
    field("capacity", Holds::One(Dimension::Size), "1GiB", "the size of each target"),
    field("sector", Holds::One(Dimension::Size), "512B", "the sector of each target"),
    optional(
        "requests",
        Holds::One(whole(1, 100_000_000)),
        "I/Os that are measured in a case, of all targets together; otherwise 10000, or more until it is steady; fewer if the run time of the file is over before",
    ),
    optional("understood", Holds::Ignored, "what the specifications of a complete plan say; not read"),
];

/// A configuration, and what is wrong with its text.
fn understand(file: &File<'_>) -> Understood {
    let read = match &file.text {
        Ok(text) => iometer::read(text, &file.shown),
        Err(said) => Err(vec![iometer::unreadable(said, &file.shown)]),
    };
    match read {
        Ok(iometer::Understood { config, warnings }) => (Some(Arc::new(config)), warnings),
        Err(findings) => (None, findings),
    }
}

fn read(fields: &mut Fields<'_>, place: Place<'_>, reports: &mut Reports) -> Option<Asked> {
    let file = fields.text("file", reports);
    let config: Option<Arc<Config>> =
        file.as_ref().and_then(|said| place.configurations.content(KIND.name, &said.value));
    let source = config.as_deref().zip(file).map(|(config, said)| Source { config, name: said.value });
    let worker = source.as_ref().and_then(|source| source.worker(fields, reports));
    let specs = source.as_ref().zip(worker.as_ref());
    let specs = specs.and_then(|(source, worker)| source.specs(*worker, fields, reports));
    let outstanding = outstanding(worker.flatten(), fields, reports);
    let (capacity, sector) = (size(fields, "capacity", reports), sector(fields, reports));
    let requests = sample(fields, "requests", reports);
    let (source, worker, specs) = (source?, worker?, specs?);
    let (outstanding, capacity, sector, requests) = (outstanding?, capacity?, sector?, requests?);
    let cases = specs.len().saturating_mul(outstanding.len());
    if cases > MOST_CASES {
        fields.fault("outstanding", Problem::TooMuch { cases, most: MOST_CASES }, reports);
        return None;
    }
    let disk = worker.map_or_else(DiskSettings::default, |worker| worker.disk);
    let from = source.told(worker);
    let of_spec = |spec: &AccessSpec, outstanding: u32| {
        let (spec, from) = (spec.clone(), from.clone());
        IometerCase { spec, disk, capacity, sector, outstanding, requests, from }
    };
    let refused = specs.iter().filter(|spec| !can_run(&of_spec(spec, NO_WORKER), fields, reports)).count();
    if refused > 0 {
        return None;
    }
    fields.record("understood", Node::list(specs.iter().flat_map(|spec| understood(spec))));
    let case = |spec: &AccessSpec, n: u32| Case {
        label: if outstanding.len() == 1 {
            spec.name.clone()
        } else {
            format!("{}, {n} in flight", spec.name)
        },
        // of several specifications each would have a curve of its own: they have no place on one axis
        axis: (specs.len() == 1 && outstanding.len() > 1).then(|| Axis {
            name: "outstanding",
            value: f64::from(n),
            unit: "",
            curve: String::new(),
        }),
        load: Load::of_blocks(of_spec(spec, n)),
    };
    let cases = specs.iter().flat_map(|spec| outstanding.iter().map(move |n| (*spec, *n)));
    Some(Asked::of(cases.map(|(spec, n)| case(spec, n)).collect()))
}

/// A file that was understood.
struct Source<'c> {
    name: String,
    config: &'c Config,
}

/// A disk worker.
#[derive(Clone, Copy)]
struct DiskWorker<'c> {
    manager: &'c str,
    worker: &'c Worker,
    disk: DiskSettings,
}

impl<'c> Source<'c> {
    fn workers(&self) -> Vec<DiskWorker<'c>> {
        let all = self.config.managers.iter().flat_map(|m| m.workers.iter().map(|worker| (&*m.name, worker)));
        let disk = |(manager, worker): (&'c str, &'c Worker)| match worker.kind {
            WorkerKind::Disk(disk) => Some(DiskWorker { manager, worker, disk }),
            WorkerKind::Network(_) => None,
        };
        all.filter_map(disk).collect()
    }
    /// The worker whose settings are used; inside, none if the file has no disk worker.
    #[expect(
        clippy::option_option,
        reason = "no worker in a library is in order, a worker that is not there is not"
    )]
    fn worker(&self, fields: &mut Fields<'_>, reports: &mut Reports) -> Option<Option<DiskWorker<'c>>> {
        let workers = self.workers();
        if fields.written("worker").is_none() {
            let first = workers.first().copied();
            if let Some(first) = first {
                fields.record("worker", Node::scalar(&first.worker.name));
            }
            return Some(first);
        }
        let name = fields.text("worker", reports)?.value;
        let found = workers.iter().find(|worker| worker.worker.name == name);
        if found.is_none() {
            let names = || workers.iter().map(|worker| &*worker.worker.name);
            let (near, known, file) = (Near::of(&name, names()), some_of(names()), self.name.clone());
            fields.fault("worker", Problem::UnknownWorker { name, file, known, near }, reports);
        }
        found.map(|worker| Some(*worker))
    }

    /// The specifications that run, in the order of writing.
    fn specs(
        &self,
        worker: Option<DiskWorker<'c>>,
        fields: &mut Fields<'_>,
        reports: &mut Reports,
    ) -> Option<Vec<&'c AccessSpec>> {
        if fields.written("spec").is_some() {
            return self.named(fields, reports);
        }
        let named = fields.written("worker").is_some();
        let workers = if named { worker.into_iter().collect() } else { self.workers() };
        let mut specs: Vec<&AccessSpec> = Vec::new();
        // who is assigned the one that does nothing does nothing
        let assigned = workers.iter().flat_map(|worker| &worker.worker.specs);
        for spec in
            assigned.filter(|name| !name.eq_ignore_ascii_case(IDLE)).filter_map(|n| self.config.spec(n))
        {
            if !specs.iter().any(|other| std::ptr::eq(*other, spec)) {
                specs.push(spec);
            }
        }
        if specs.is_empty() {
            let known = some_of(self.config.specs.iter().map(|spec| &*spec.name));
            fields.fault("file", Problem::NoSpec { file: self.name.clone(), known }, reports);
            return None;
        }
        record_specs(&specs, Origin::Default, fields);
        Some(specs)
    }
    /// The specifications that are named; all that are wrong are reported.
    fn named(&self, fields: &mut Fields<'_>, reports: &mut Reports) -> Option<Vec<&'c AccessSpec>> {
        let path = fields.at("spec");
        let (names, _) = fields.names("spec", "the name of an access specification", reports)?;
        if names.is_empty() {
            fields.fault("spec", Common::Empty { what: "the list is empty" }, reports);
            return None;
        }
        let (mut specs, mut seen) = (Vec::new(), BTreeSet::new());
        for said in &names {
            let name = said.value.clone();
            if !seen.insert(name.to_ascii_lowercase()) {
                reports.add(Problem::SpecTwice { name }, said.spot, &path);
            } else if let Some(spec) = self.config.spec(&name) {
                specs.push(spec);
            } else {
                let known = || self.config.specs.iter().map(|spec| &*spec.name);
                let (near, known, file) = (Near::of(&name, known()), some_of(known()), self.name.clone());
                reports.add(Problem::UnknownSpec { name, file, known, near }, said.spot, &path);
            }
        }
        (specs.len() == names.len()).then_some(specs)
    }

    /// What the file says beside its specifications.
    fn told(&self, worker: Option<DiskWorker<'_>>) -> IometerFile {
        let setup = self.config.setup.as_ref();
        let run_time = setup.map(|setup| setup.run_time).unwrap_or_default();
        let (hours, minutes) = (u64::from(run_time.hours), u64::from(run_time.minutes));
        IometerFile {
            name: self.name.clone(),
            version: self.config.version,
            description: setup.map_or_else(String::new, |setup| setup.description.clone()),
            test_type: setup.map_or(TestType::Normal, |setup| setup.test_type),
            run_time_s: (hours * 60 + minutes) * 60 + u64::from(run_time.seconds),
            worker: worker.map(|worker| (worker.manager.to_owned(), worker.worker.name.clone())),
        }
    }
}

fn record_specs(specs: &[&AccessSpec], origin: Origin, fields: &mut Fields<'_>) {
    let names = specs.iter().map(|spec| Node::scalar(&spec.name).by(origin));
    fields.record("spec", Node::list(names).by(origin));
}

/// The names of a list that may be long, for a message.
fn some_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let more = if names.len() > MOST_NAMES { ", …" } else { "" };
    quoted(names.into_iter().take(MOST_NAMES)) + more
}

/// I/Os in flight on each target: as written, or the worker's.
fn outstanding(
    worker: Option<DiskWorker<'_>>,
    fields: &mut Fields<'_>,
    reports: &mut Reports,
) -> Option<Vec<u32>> {
    if fields.written("outstanding").is_none() {
        let of_worker = worker.map_or(NO_WORKER, |worker| worker.worker.outstanding);
        if of_worker > MOST_OUTSTANDING {
            let (text, least, most) = (of_worker.to_string(), "1".into(), MOST_OUTSTANDING.to_string());
            fields.fault("outstanding", Common::OutOfRange { text, least, most }, reports);
            return None;
        }
        fields.record("outstanding", Node::scalar(of_worker.to_string()));
        return Some(vec![of_worker]);
    }
    let count = |value| match value {
        Value::Count(count) => u32::try_from(count).expect("declared as at most 65 536"),
        other => unreachable!("`outstanding` is declared as counts, read as {other:?}"),
    };
    Some(list(fields, "outstanding", reports)?.into_iter().map(|said| count(said.value)).collect())
}

/// The sector of the targets: at least a byte.
fn sector(fields: &mut Fields<'_>, reports: &mut Reports) -> Option<u32> {
    let size = size(fields, "sector", reports)?;
    let sector = u32::try_from(size.0).ok().filter(|sector| *sector > 0);
    if sector.is_none() {
        let text = quantity::written(Value::Size(size));
        let most = quantity::written(Value::Size(Bytes(u32::MAX.into())));
        fields.fault("sector", Common::OutOfRange { text, least: "1B".into(), most }, reports);
    }
    sector
}

/// Whether a specification can run on such targets; reports it if not.
fn can_run(case: &IometerCase, fields: &Fields<'_>, reports: &mut Reports) -> bool {
    let Err(why) = case.accesses().check() else { return true };
    let (spec, room) = (case.spec.name.clone(), quantity::written(Value::Size(case.capacity)));
    fields.fault("capacity", Problem::CannotAccess { spec, why: why.to_string(), room }, reports);
    false
}

/// What a specification says, a mapping for each of its lines.
fn understood(spec: &AccessSpec) -> impl Iterator<Item = Node> {
    let line = |line: &AccessLine| {
        let percent = |share: u8| Node::scalar(format!("{share}%"));
        let bytes = |bytes: u32| Node::scalar(quantity::written(Value::Size(Bytes(bytes.into()))));
        Node::map([
            ("spec", Node::scalar(&spec.name)),
            ("size", bytes(line.size)),
            ("share", percent(line.share)),
            ("reads", percent(line.reads)),
            ("random", percent(line.random)),
            ("delay", Node::scalar(format!("{}ms", line.delay_ms))),
            ("burst", Node::scalar(line.burst.to_string())),
            ("align", bytes(line.align)),
            ("reply", bytes(line.reply)),
        ])
    };
    spec.lines.iter().map(line)
}
