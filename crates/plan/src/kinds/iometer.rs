//! `iometer:` – the access specifications of an Iometer configuration, one case each.

use crate::files::{FileOf, Source as File, Understood};
use crate::kind::{Asked, Kind, MOST_CASES, Place, Who};
use crate::plan::{Axis, Case, IometerCase, IometerFile, IometerWorker, Load};
use crate::problem::Problem;
use crate::values::{list, room, sample, size, span};
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

/// Size of targets that have none.
const ROOM: Bytes = Bytes(1 << 30);
/// Longer lists of names are truncated in messages.
const MOST_NAMES: usize = 8;
/// Maximum number of I/Os in flight on a target.
const MOST_OUTSTANDING: u32 = 65_536;
/// I/Os that a new Iometer worker has in flight on each target (`PageDisk.cpp`); used for libraries of specifications,
/// which do not give it.
const NO_WORKER: u32 = 1;

pub(crate) const KIND: Kind = Kind {
    name: "iometer",
    about: "reads and writes of blocks, as a file of Iometer has them",
    keys: KEYS,
    who: Who::HostsOrPeers,
    rounds: true,
    file: Some(FileOf { key: "file", read: understand, options: None }),
    read,
};

const KEYS: &[Field] = &[
    required("file", Holds::Text, "the configuration (`.icf`), as a path from the folder of the scenario"),
    optional(
        "spec",
        Holds::Names,
        "the access specification that all workers run, a case for each of a list; otherwise those that each is assigned, the first of every worker at once, then the second",
    ),
    optional(
        "worker",
        Holds::Names,
        "the workers that run, by name or as MANAGER/WORKER; otherwise all that have targets: disk workers, or network workers where `target` names hosts",
    ),
    optional(
        "outstanding",
        Holds::Many(whole(1, 65_536)),
        "I/Os that each worker has in flight on each of its targets; otherwise what the file says, or 1 without a worker",
    ),
    optional(
        "capacity",
        Holds::One(Dimension::Size),
        "the size of each target; otherwise that of the smallest, or 1GiB if they have none",
    ),
    field("sector", Holds::One(Dimension::Size), "512B", "the sector of each target"),
    optional(
        "requests",
        Holds::One(whole(1, 100_000_000)),
        "I/Os that are measured in a case, of all targets together; otherwise 10000, or more until it is steady; fewer if the run time of the file is over before",
    ),
    field(
        "opening",
        Holds::One(Dimension::Time),
        "50us",
        "how long it takes a worker to open a target and to close it, together, where the file has it test the connection rate; over a network, CPU time of each end",
    ),
    optional("understood", Holds::Ignored, "what the specifications of a complete plan say; not read"),
];

/// Parses a configuration: its content, and the findings.
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
    let workers = source.as_ref().and_then(|source| source.chosen(place.peers, fields, reports));
    let tests = source.as_ref().zip(workers.as_ref());
    let tests = tests.and_then(|(source, workers)| source.tests(workers, fields, reports));
    let outstanding = outstanding(workers.as_deref().unwrap_or_default(), fields, reports);
    let (capacity, sector) = (room(fields, "capacity", place, ROOM, reports), sector(fields, reports));
    let (requests, opening) = (sample(fields, "requests", reports), span(fields, "opening", reports));
    let (source, workers, tests) = (source?, workers?, tests?);
    let (outstanding, capacity, sector) = (outstanding?, capacity?, sector?);
    let (requests, opening) = (requests?, opening?);
    let cases = tests.len().saturating_mul(outstanding.len());
    if cases > MOST_CASES {
        fields.fault("outstanding", Problem::TooMuch { cases, most: MOST_CASES }, reports);
        return None;
    }
    let others = !source.workers(!place.peers).is_empty();
    let network = place.peers;
    let (from, alone, drives) = (source.told(), workers.len() <= 1, drives(&workers));
    let of_test = |test: &Test<'_>, outstanding: Option<u32>| {
        let worker = |(worker, spec): &(Option<ChosenWorker<'_>>, &AccessSpec)| running(*worker, spec, outstanding);
        let workers = test.iter().map(worker).collect();
        let drives = drives.clone();
        IometerCase {
            workers,
            drives,
            alone,
            capacity,
            sector,
            requests,
            opening,
            network,
            others,
            from: from.clone(),
        }
    };
    let refused = tests.iter().filter(|test| !can_run(&of_test(test, None), fields, reports)).count();
    if refused > 0 {
        return None;
    }
    let mut specs: Vec<&AccessSpec> = Vec::new();
    for (_, spec) in tests.iter().flatten() {
        if !specs.iter().any(|known| std::ptr::eq(*known, *spec)) {
            specs.push(spec);
        }
    }
    fields.record("understood", Node::list(specs.iter().flat_map(|spec| understood(spec))));
    Some(Asked::of(in_order(&tests, &outstanding, of_test)))
}

/// One case for each test and each number of I/Os in flight.
fn in_order(
    tests: &[Test<'_>],
    outstanding: &[Option<u32>],
    of_test: impl Fn(&Test<'_>, Option<u32>) -> IometerCase,
) -> Vec<Case> {
    let mut labels = BTreeSet::new();
    let mut cases = Vec::new();
    for (nth, test) in tests.iter().enumerate() {
        let mut name = label(test);
        if !labels.insert(name.clone()) {
            name = format!("{name} (test {})", nth + 1);
        }
        for n in outstanding {
            let load = Load::of_blocks(of_test(test, *n));
            let several = n.filter(|_| outstanding.len() > 1);
            // several specifications would each have a curve of its own, so they have no common axis
            let axis = several.filter(|_| tests.len() == 1).map(|n| Axis {
                name: "outstanding",
                value: f64::from(n),
                unit: "",
                curve: String::new(),
            });
            let label = several.map_or_else(|| name.clone(), |n| format!("{name}, {n} in flight"));
            cases.push(Case { label, axis, load });
        }
    }
    cases
}

/// The targets of workers, once for each manager: index of the manager, and name of the target.
fn drives(workers: &[ChosenWorker<'_>]) -> Vec<(usize, String)> {
    let mut drives: Vec<(usize, String)> = Vec::new();
    for worker in workers {
        for target in &worker.worker.targets {
            let drive = (worker.manager.0, target.name.clone());
            if !drives.contains(&drive) {
                drives.push(drive);
            }
        }
    }
    drives
}

/// The workers that run at the same time, each with its specification.
type Test<'c> = Vec<(Option<ChosenWorker<'c>>, &'c AccessSpec)>;

/// The label of a test: the names of its specifications, once each.
fn label(test: &Test<'_>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (_, spec) in test {
        if !names.contains(&&*spec.name) {
            names.push(&spec.name);
        }
    }
    names.join(" + ")
}

/// A worker with its specification, and its I/Os in flight unless the file gives them.
fn running(worker: Option<ChosenWorker<'_>>, spec: &AccessSpec, outstanding: Option<u32>) -> IometerWorker {
    let Some(ChosenWorker { manager, name, worker, disk }) = worker else {
        return IometerWorker {
            manager: None,
            name: (0, "Worker 1".to_owned()),
            spec: spec.clone(),
            disk: DiskSettings::default(),
            outstanding: outstanding.unwrap_or(NO_WORKER),
            targets: Vec::new(),
            connections: None,
        };
    };
    IometerWorker {
        manager: Some((manager.0, manager.1.to_owned())),
        name: (name, worker.name.clone()),
        spec: spec.clone(),
        disk,
        outstanding: outstanding.unwrap_or(worker.outstanding),
        targets: worker.targets.iter().map(|target| target.name.clone()).collect(),
        connections: worker.connections.tested.then_some(worker.connections.transactions),
    }
}

/// A parsed file.
struct Source<'c> {
    name: String,
    config: &'c Config,
}

/// A worker that may run.
#[derive(Clone, Copy)]
struct ChosenWorker<'c> {
    /// Index and name of its manager.
    manager: (usize, &'c str),
    /// Its index among the workers of the manager.
    name: usize,
    worker: &'c Worker,
    disk: DiskSettings,
}

impl ChosenWorker<'_> {
    fn is_called(&self, name: &str) -> bool {
        let own = &self.worker.name;
        own == name || name.strip_suffix(&**own).and_then(|rest| rest.strip_suffix('/')) == Some(self.manager.1)
    }
}

impl<'c> Source<'c> {
    /// The workers that load disks, or a network.
    fn workers(&self, network: bool) -> Vec<ChosenWorker<'c>> {
        let managers = self.config.managers.iter().enumerate();
        let all = managers.flat_map(|(place, manager)| {
            let workers = manager.workers.iter().enumerate();
            workers.map(move |(name, worker)| ((place, &*manager.name), name, worker))
        });
        let its = |(manager, name, worker): ((usize, &'c str), usize, &'c Worker)| match worker.kind {
            WorkerKind::Disk(disk) if !network => Some(ChosenWorker { manager, name, worker, disk }),
            WorkerKind::Network(_) if network => {
                Some(ChosenWorker { manager, name, worker, disk: DiskSettings::default() })
            }
            _ => None,
        };
        all.filter_map(its).collect()
    }
    /// The workers that run: the named ones, or all with targets. Returns `None` if the file has no such worker.
    fn chosen(
        &self,
        network: bool,
        fields: &mut Fields<'_>,
        reports: &mut Reports,
    ) -> Option<Vec<ChosenWorker<'c>>> {
        let workers = self.workers(network);
        if fields.written("worker").is_none() {
            let has_targets = |worker: &ChosenWorker<'_>| !worker.worker.targets.is_empty();
            if workers.iter().any(has_targets) {
                return Some(workers.into_iter().filter(has_targets).collect());
            }
            return Some(workers);
        }
        let path = fields.at("worker");
        let (named, _) = fields.names("worker", "the name of a worker", reports)?;
        let mut wrong = false;
        for said in &named {
            if !workers.iter().any(|worker| worker.is_called(&said.value)) {
                let names = || workers.iter().map(|worker| &*worker.worker.name);
                let (name, near, known) = (said.value.clone(), Near::of(&said.value, names()), some_of(names()));
                let problem = Problem::UnknownWorker { name, file: self.name.clone(), known, near };
                reports.add(problem, said.spot, &path);
                wrong = true;
            }
        }
        let is_named = |worker: &ChosenWorker<'_>| named.iter().any(|said| worker.is_called(&said.value));
        (!wrong).then(|| workers.into_iter().filter(is_named).collect())
    }

    /// The tests, in order: each named specification, run by all workers; or the first specification that every worker
    /// is assigned, then the second, and so on. A test that has run already is not repeated.
    fn tests(
        &self,
        workers: &[ChosenWorker<'c>],
        fields: &mut Fields<'_>,
        reports: &mut Reports,
    ) -> Option<Vec<Test<'c>>> {
        if fields.written("spec").is_some() {
            let by_all = |spec: &'c AccessSpec| -> Test<'c> {
                if workers.is_empty() {
                    return vec![(None, spec)];
                }
                workers.iter().map(|worker| (Some(*worker), spec)).collect()
            };
            return Some(self.named(fields, reports)?.into_iter().map(by_all).collect());
        }
        let most = workers.iter().map(|worker| worker.worker.specs.len()).max().unwrap_or(0);
        let mut tests: Vec<Test<'c>> = Vec::new();
        for nth in 0..most {
            let of = |worker: &ChosenWorker<'c>| {
                let name = worker.worker.specs.get(nth)?;
                // a worker that is assigned the idle specification does nothing
                let spec = self.config.spec(name).filter(|_| !name.eq_ignore_ascii_case(IDLE))?;
                Some((Some(*worker), spec))
            };
            let test: Test<'c> = workers.iter().filter_map(of).collect();
            if !test.is_empty() && !tests.iter().any(|other| is_same(other, &test)) {
                tests.push(test);
            }
        }
        if tests.is_empty() {
            let known = some_of(self.config.specs.iter().map(|spec| &*spec.name));
            fields.fault("file", Problem::NoSpec { file: self.name.clone(), known }, reports);
            return None;
        }
        if workers.len() == 1 {
            let specs: Vec<&AccessSpec> = tests.iter().flatten().map(|(_, spec)| *spec).collect();
            record_specs(&specs, Origin::Default, fields);
        }
        Some(tests)
    }
    /// The named specifications; reports all unknown names.
    fn named(&self, fields: &mut Fields<'_>, reports: &mut Reports) -> Option<Vec<&'c AccessSpec>> {
        let path = fields.at("spec");
        let (names, _) = fields.names("spec", "the name of an access specification", reports)?;
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

    /// The contents of the file besides its specifications and workers.
    fn told(&self) -> IometerFile {
        let setup = self.config.setup.as_ref();
        let run_time = setup.map(|setup| setup.run_time).unwrap_or_default();
        let (hours, minutes) = (u64::from(run_time.hours), u64::from(run_time.minutes));
        IometerFile {
            name: self.name.clone(),
            version: self.config.version,
            description: setup.map_or_else(String::new, |setup| setup.description.clone()),
            test_type: setup.map_or(TestType::Normal, |setup| setup.test_type),
            run_time_s: (hours * 60 + minutes) * 60 + u64::from(run_time.seconds),
            ramp_up_s: setup.map_or(0, |setup| setup.ramp_up_s.into()),
        }
    }
}

/// Whether both tests have the same workers with the same specifications.
fn is_same(one: &Test<'_>, other: &Test<'_>) -> bool {
    let key = |(worker, spec): &(Option<ChosenWorker<'_>>, &AccessSpec)| {
        (worker.map(|worker| (worker.manager.0, worker.name)), std::ptr::from_ref(*spec))
    };
    one.iter().map(key).eq(other.iter().map(key))
}

fn record_specs(specs: &[&AccessSpec], origin: Origin, fields: &mut Fields<'_>) {
    let names = specs.iter().map(|spec| Node::scalar(&spec.name).by(origin));
    fields.record("spec", Node::list(names).by(origin));
}

/// The names of a list, truncated for a message.
fn some_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let more = if names.len() > MOST_NAMES { ", …" } else { "" };
    quoted(names.into_iter().take(MOST_NAMES)) + more
}

/// I/Os in flight on each target: from the scenario, or from each worker.
fn outstanding(
    workers: &[ChosenWorker<'_>],
    fields: &mut Fields<'_>,
    reports: &mut Reports,
) -> Option<Vec<Option<u32>>> {
    if fields.written("outstanding").is_none() {
        let of_workers = workers.iter().map(|worker| worker.worker.outstanding).max().unwrap_or(NO_WORKER);
        if of_workers > MOST_OUTSTANDING {
            let (text, least, most) = (of_workers.to_string(), "1".into(), MOST_OUTSTANDING.to_string());
            fields.fault("outstanding", Common::OutOfRange { text, least, most }, reports);
            return None;
        }
        if workers.iter().all(|worker| worker.worker.outstanding == of_workers) {
            fields.record("outstanding", Node::scalar(of_workers.to_string()));
        }
        return Some(vec![None]);
    }
    let count = |value| match value {
        Value::Count(count) => u32::try_from(count).expect("declared as at most 65 536"),
        other => unreachable!("`outstanding` is declared as counts, read as {other:?}"),
    };
    Some(list(fields, "outstanding", reports)?.into_iter().map(|said| Some(count(said.value))).collect())
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

/// Whether the specifications of a test can run on such targets; reports the reason if not.
fn can_run(case: &IometerCase, fields: &Fields<'_>, reports: &mut Reports) -> bool {
    for worker in &case.workers {
        if let Err(why) = case.accesses(worker).check() {
            let (spec, room) = (worker.spec.name.clone(), quantity::written(Value::Size(case.capacity)));
            fields.fault("capacity", Problem::CannotAccess { spec, why: why.to_string(), room }, reports);
            return false;
        }
    }
    true
}

/// A specification as it was understood, as one mapping for each of its lines.
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
