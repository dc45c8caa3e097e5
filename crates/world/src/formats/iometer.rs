//! Results of a case in Iometer's terms: its metrics, and its results file.
//!
//! All repeats are reported together, as one test that ran as long as all of them.
//!
//! **CPU.** A driver's cores are busy only while they submit and complete I/Os. Utilisation is the busy time of all
//! cores of all drivers, divided by the time available on these cores: a driver works on cores of its own, and the
//! host's model does not count its cores. The split into modes is reported if drivers account for all of the busy
//! time.
//!
//! **Network.** The counters of the adapters through which the workload's hosts reach drives of other hosts: Iometer
//! reports the sum over all adapters of a computer.

use crate::format::{FinishedCase, Format, Writer};
use crate::measure::Measured;
use lanetwin_load::iometer::Version;
use lanetwin_load::iometer::metrics::{self, Counted, CpuModes, CpuTime, NetworkCounts, Reading};
use lanetwin_load::iometer::results_csv::{NO_TIME, Row, Running, Series, Settings, Test};
use lanetwin_kernel as kernel;
use lanetwin_load::{Results as Counts, Side};
use lanetwin_plan::{Blocks, IometerCase, IometerWorker, LinkPlan, Pair};
use lanetwin_ports::Capability;
use lanetwin_ports::usage::{adapter, cpu};
use lanetwin_stats::Histogram;
use lanetwin_stats::results::{Attachment, IometerMetric, Results};
use lanetwin_units::Span;

/// The name that drivers give their cores.
const CORES: &str = "cores";

pub(super) const FORMAT: Format = || Box::<IometerWriter>::default();

/// The metrics of Iometer, and its results files: one for each variant and each Iometer version of its
/// configurations.
#[derive(Default)]
struct IometerWriter {
    metrics: Vec<IometerMetric>,
    files: Vec<(String, Series)>,
}

/// A case as an Iometer run.
struct IometerRun<'a> {
    ran: FinishedCase<'a>,
    iometer: &'a IometerCase,
}

/// An entity that is reported separately: a manager, one of its workers, or a target of a worker, with its counters.
struct Part<'a> {
    /// Its name among all.
    name: String,
    /// The worker; `None` for a manager.
    worker: Option<&'a IometerWorker>,
    /// The target; `None` for a worker or a manager.
    target: Option<&'a Pair>,
    /// Name of the manager.
    manager: String,
    counted: Sum,
}

impl<'a> IometerRun<'a> {
    /// The metrics of Iometer: of all together, and of every manager, worker and target if there are several workers.
    fn metrics(&self) -> Vec<IometerMetric> {
        let sum = Sum::of(self.ran.repeats, |measured| Some(&measured.load));
        let mut told = self.metrics_of("", &sum.counted(self.cpu(), self.network()));
        if !self.iometer.alone {
            for part in self.parts() {
                let own = self.metrics_of(&part.name, &part.counted.counted(None, None));
                told.extend(own.into_iter().filter(|metric| metric.value.is_some()));
            }
        }
        told
    }
    fn metrics_of(&self, of: &str, counted: &Counted<'_>) -> Vec<IometerMetric> {
        let told = |metric: metrics::Metric| {
            let (value, not_modelled) = match metric.reading {
                Reading::Value(value) => (Some(value), String::new()),
                Reading::NotModelled { why } => (None, why.to_owned()),
            };
            IometerMetric {
                variant: self.ran.variant.name.clone(),
                workload: self.ran.workload.name.clone(),
                case: self.ran.case.label.clone(),
                of: of.to_owned(),
                family: metric.family.name().to_owned(),
                metric: metric.name.to_owned(),
                unit: metric.unit.to_owned(),
                value,
                not_modelled,
            }
        };
        metrics::metrics(counted).into_iter().map(told).collect()
    }

    /// Every manager, followed by its workers, each followed by its targets, in the order of the results file.
    fn parts(&self) -> Vec<Part<'a>> {
        let (pairs, iometer) = (&self.ran.workload.pairs, self.iometer);
        let hosts: Vec<usize> = pairs.iter().map(|pair| pair.on).collect();
        let asks = iometer.asks(&hosts);
        let mut parts: Vec<Part<'a>> = Vec::new();
        let mut manager: Option<(usize, usize)> = None;
        for (nth, worker) in iometer.workers.iter().enumerate() {
            let place = worker.manager.as_ref().map_or(0, |(place, _)| *place);
            if manager.is_none_or(|(known, _)| known != place) {
                manager = Some((place, parts.len()));
                let (name, counted) = (self.manager(worker), Sum::default());
                parts.push(Part { name: name.clone(), worker: None, target: None, manager: name, counted });
            }
            let its = |place: &usize| asks.as_ref().is_none_or(|asks| asks[nth].contains(place));
            let targets = (0..pairs.len()).filter(its).map(|place| self.target(worker, &pairs[place]));
            let targets: Vec<Part<'a>> = targets.collect();
            let mut counted = Sum::default();
            targets.iter().for_each(|target| counted.merge(&target.counted));
            if let Some((_, at)) = manager {
                parts[at].counted.merge(&counted);
            }
            let (name, manager) = (iometer.results_name(worker), self.manager(worker));
            parts.push(Part { name, worker: Some(worker), target: None, manager, counted });
            parts.extend(targets);
        }
        parts
    }
    fn target(&self, worker: &'a IometerWorker, pair: &'a Pair) -> Part<'a> {
        let several = self.ran.workload.pairs.len() > 1;
        let own = self.iometer.results_name(worker);
        let name = match (self.iometer.alone, several) {
            (true, _) => pair.device.clone(),
            (false, true) => format!("{own}@{}", pair.device),
            (false, false) => own,
        };
        let counted = Sum::of(self.ran.repeats, |measured| {
            if measured.devices.is_empty() {
                return Some(&measured.load);
            }
            measured.devices.iter().find(|(device, _)| *device == name).map(|(_, counts)| counts)
        });
        let name = if name.contains('@') { name } else { format!("{name}@{}", pair.device) };
        Part { name, worker: Some(worker), target: Some(pair), manager: self.manager(worker), counted }
    }
    /// The name of a worker's manager; the host's name if the configuration comes from a library without managers.
    fn manager(&self, worker: &IometerWorker) -> String {
        let Some((_, manager)) = &worker.manager else {
            let host = self.ran.workload.pairs.first().map(|pair| &self.ran.variant.machine[pair.on].name);
            return host.cloned().unwrap_or_default();
        };
        manager.clone()
    }

    /// Busy time of the drivers' cores. Returns `None` if no driver has cores.
    fn cpu(&self) -> Option<CpuTime> {
        let cores = self.cores();
        let count = u32::try_from(cores.len()).expect("a machine has fewer cores");
        let busy = cores.into_iter().fold(Span::ZERO, |sum, busy| sum + busy);
        let modes = self.modes().filter(|modes| is_all(modes.user + modes.privileged, busy));
        (count > 0).then_some(CpuTime { busy, cores: count, modes })
    }
    /// Busy time of the cores by mode, as drivers report it. Returns `None` if one of them accesses a drive over a
    /// network.
    fn modes(&self) -> Option<CpuModes> {
        let pairs = &self.ran.workload.pairs;
        let subsystems = &self.ran.variant.network.subsystems;
        let is_remote = |pair: &Pair| {
            subsystems.iter().any(|one| one.host != pair.on && one.namespaces.contains(&pair.target))
        };
        if pairs.iter().any(is_remote) || self.iometer.network {
            return None;
        }
        let time = |metric: &kernel::Metric| Some(Span::from_ps(self.count(metric, |_| true)?));
        let (deferred, interrupt) = (time(&cpu::DEFERRED)?, time(&cpu::INTERRUPT)?);
        Some(CpuModes {
            user: time(&cpu::USER)?,
            privileged: time(&cpu::KERNEL)? + deferred + interrupt,
            deferred,
            interrupt,
            interrupts: self.count(&cpu::INTERRUPTS, |_| true)?,
        })
    }
    /// Counters of the adapters of the initiating hosts. Returns `None` if they have none.
    fn network(&self) -> Option<NetworkCounts> {
        let variant = self.ran.variant;
        let asks = |host: usize| self.ran.workload.pairs.iter().any(|pair| pair.on == host);
        let own = variant.network.associations.iter().filter(|association| asks(association.host));
        let own = own.map(|own| own.adapter).chain(self.own_adapters());
        let adapters: Vec<&str> = own.map(|adapter| &*variant.machine[adapter].name).collect();
        let is_own = |component: &str| adapters.contains(&component.rsplit('/').next().unwrap_or(component));
        let is_programs = |component: &str| component == "network";
        let is_software =
            |component: &str| component.starts_with("nvmeof/") && is_own(component) || is_programs(component);
        Some(NetworkCounts {
            packets: self.count(&adapter::SENT, is_own)? + self.count(&adapter::RECEIVED, is_own)?,
            errors: self.count(&adapter::DAMAGED, is_own)?,
            resent: self.count(&adapter::RESENT, is_software).unwrap_or(0),
        })
    }
    /// The adapters below the hosts that send to other hosts.
    fn own_adapters(&self) -> impl Iterator<Item = usize> {
        let variant = self.ran.variant;
        let pairs = self.ran.workload.pairs.iter().filter(|_| self.iometer.network);
        pairs.flat_map(move |pair| {
            let is_own = move |link: &&LinkPlan| link.root_port.component == pair.on;
            let below = variant.links.iter().filter(is_own).map(|link| link.far().component);
            below.filter(|component| variant.machine[*component].model.can(Capability::Rdma))
        })
    }
    /// The sum of a metric over all repeats and over the components that `of` selects. Returns `None` if none reports
    /// it.
    fn count(&self, metric: &kernel::Metric, of: impl Fn(&str) -> bool) -> Option<u64> {
        let uses = self.ran.repeats.iter().flat_map(|measured| &measured.components);
        let told = uses.filter(|used| of(&used.component)).flat_map(|used| &used.metrics);
        let values = told.filter(|(own, _)| own.name == metric.name).filter_map(|(_, value)| *value);
        values.map(|value| value.round() as u64).reduce(|sum, value| sum + value)
    }
    /// Whether a component is an initiating host, or neither a host nor software of a target.
    fn is_own(&self, component: &str) -> bool {
        let place = self.ran.variant.machine.iter().position(|one| one.name == *component);
        let asks = |place| self.ran.workload.pairs.iter().any(|pair| pair.on == place);
        place.map_or(!component.starts_with("target/"), asks)
    }
    /// Busy time of each core of each driver; that of a driver with several cores is divided evenly.
    fn cores(&self) -> Vec<Span> {
        let mut all: Vec<Span> = Vec::new();
        for measured in self.ran.repeats {
            let elapsed = measured.load.time().as_ps() as f64;
            let busy = |share: f64| Span::from_ps((share * elapsed).round() as u64);
            let drivers = measured.limits.iter().filter(|used| used.name == CORES && self.is_own(&used.component));
            let cores = drivers.flat_map(|used| (0..used.supply).map(move |_| busy(used.share)));
            for (nth, busy) in cores.enumerate() {
                match all.get_mut(nth) {
                    Some(sum) => *sum += busy,
                    None => all.push(busy),
                }
            }
        }
        all
    }

    /// The rows that Iometer would write: for all, and for each manager, its processors, its workers, and their
    /// targets.
    ///
    /// A row for several workers has the specification and the settings that all of them share, and leaves out those
    /// that differ (`Manager.cpp`, `GetCommonAccessSpec`).
    fn test(&self) -> Test {
        let parts = self.parts();
        let sum = Sum::of(self.ran.repeats, |measured| Some(&measured.load));
        let counted = sum.counted(self.cpu(), self.network());
        let (workers, managers) = (&self.iometer.workers, parts.iter().filter(|part| part.worker.is_none()));
        let running = running(managers.count(), &parts);
        let mut rows = vec![Row::all(&common_spec(workers), &counted, running, common(workers))];
        let mut at = 0;
        while at < parts.len() {
            let own = &parts[at + 1..];
            let own = &own[..own.iter().position(|part| part.worker.is_none()).unwrap_or(own.len())];
            rows.extend(self.manager_rows(&parts[at], own));
            at += 1 + own.len();
        }
        let specs = self.iometer.specs().into_iter().cloned().collect();
        Test { specs, rows, ended: NO_TIME.to_owned() }
    }
    /// The rows of a manager, its processors, its workers and their targets.
    fn manager_rows(&self, manager: &Part<'_>, own: &[Part<'_>]) -> Vec<Row> {
        let only = own.iter().filter(|part| part.target.is_none());
        let workers: Vec<IometerWorker> = only.filter_map(|part| part.worker.cloned()).collect();
        let counted = manager.counted.counted(self.cpu(), self.network());
        let (spec, running) = (common_spec(&workers), running(1, own));
        let mut rows = vec![Row::manager(&manager.manager, &spec, &counted, running, common(&workers))];
        rows.extend((0..).zip(self.cores()).map(|(nth, busy)| {
            Row::processor(nth, &Counted { cpu: Some(CpuTime { busy, cores: 1, modes: None }), ..counted })
        }));
        for (place, part) in own.iter().enumerate() {
            let (counted, Some(worker)) = (part.counted.counted(None, None), part.worker) else { continue };
            let settings = settings(worker);
            rows.push(match part.target {
                Some(pair) if self.iometer.network => Row::network(&pair.device, &counted, settings),
                Some(pair) => Row::disk(&pair.device, &counted, settings),
                None => {
                    let disks = own[place + 1..].iter().take_while(|part| part.target.is_some()).count();
                    Row::worker(&worker.name.1, &worker.spec.name, &counted, few(disks), settings)
                }
            });
        }
        rows
    }
}

/// Numbers of managers, workers and disks that run.
fn running(managers: usize, parts: &[Part<'_>]) -> Running {
    let workers = parts.iter().filter(|part| part.worker.is_some() && part.target.is_none()).count();
    let disks = parts.iter().filter(|part| part.target.is_some()).count();
    Running { managers: few(managers), workers: few(workers), disks: few(disks) }
}

fn few(count: usize) -> u32 {
    u32::try_from(count).expect("a file has fewer workers, and a machine fewer devices")
}

fn settings(worker: &IometerWorker) -> Settings {
    Settings {
        starting_sector: Some(worker.disk.starting_sector),
        maximum_size: Some(worker.disk.maximum_size),
        outstanding: Some(worker.outstanding),
        transactions: worker.connections,
    }
}

/// The settings that all workers share.
fn common(workers: &[IometerWorker]) -> Settings {
    let all = workers.iter().map(settings);
    all.reduce(Settings::common).expect("a test has a worker")
}

/// The specification that all workers run; empty if they differ.
fn common_spec(workers: &[IometerWorker]) -> String {
    let first = workers.first().map_or("", |worker| &*worker.spec.name);
    let same = workers.iter().all(|worker| worker.spec.name == first);
    if same { first.to_owned() } else { String::new() }
}

/// Counters of several windows.
#[derive(Default)]
struct Sum {
    reads: Side,
    writes: Side,
    elapsed: Span,
    /// Connections, of workers that test connections.
    connections: Option<Histogram>,
}

/// Whether parts of a time add up to it, apart from what the ends of a window cut off.
fn is_all(parts: Span, whole: Span) -> bool {
    const CUT: f64 = 0.05;
    let (parts, whole) = (parts.as_ps() as f64, whole.as_ps() as f64);
    (parts - whole).abs() <= CUT * whole
}

impl Sum {
    /// The counters of some loads in each repeat, over the run time of all repeats.
    fn of<'a>(repeats: &'a [Measured], counted: impl Fn(&'a Measured) -> Option<&'a Counts>) -> Self {
        let mut sum = Self::default();
        for measured in repeats {
            if let Some(results) = counted(measured) {
                sum.reads.merge(&results.reads);
                sum.writes.merge(&results.writes);
                sum.connect(results.connections.as_deref());
            }
            sum.elapsed += measured.load.time();
        }
        sum
    }
    /// Adds counters of the same time.
    fn merge(&mut self, other: &Self) {
        self.reads.merge(&other.reads);
        self.writes.merge(&other.writes);
        self.connect(other.connections.as_ref());
        self.elapsed = self.elapsed.max(other.elapsed);
    }
    fn connect(&mut self, more: Option<&Histogram>) {
        if let Some(more) = more {
            self.connections.get_or_insert_default().merge(more);
        }
    }
    const fn counted(&self, cpu: Option<CpuTime>, network: Option<NetworkCounts>) -> Counted<'_> {
        let (reads, writes, connections) = (&self.reads, &self.writes, self.connections.as_ref());
        Counted { reads, writes, elapsed: self.elapsed, cpu, connections, network }
    }
}

impl Writer for IometerWriter {
    fn add(&mut self, ran: &FinishedCase<'_>) {
        let Some(iometer) = ran.case.load.blocks::<IometerCase>() else { return };
        let run = IometerRun { ran: *ran, iometer };
        self.metrics.extend(run.metrics());
        let (variant, version) = (&ran.variant.name, iometer.from.version);
        let is_its = |file: &&mut (String, Series)| file.0 == *variant && file.1.version == version;
        if let Some((_, series)) = self.files.iter_mut().find(is_its) {
            series.tests.push(run.test());
            return;
        }
        let series = Series {
            version,
            test_type: iometer.from.test_type,
            description: iometer.from.description.clone(),
            began: NO_TIME.to_owned(),
            tests: vec![run.test()],
            ended: true,
        };
        self.files.push((variant.clone(), series));
    }

    /// The files are named `iometer.csv`, with the variant and the version in the name if there are several.
    fn finish(self: Box<Self>, variants: usize, results: &mut Results) {
        let first = self.files.first().map(|(_, series)| series.version);
        let versions = self.files.iter().any(|(_, series)| Some(series.version) != first);
        let name = |variant: &str, version: Version| {
            let variant = if variants > 1 { format!("-{variant}") } else { String::new() };
            let version = if versions { format!("-{version}") } else { String::new() };
            format!("iometer{variant}{version}.csv")
        };
        let ended = results.complete;
        let file = |(variant, series): (String, Series)| {
            let name = name(&variant, series.version);
            Attachment { name, text: Series { ended, ..series }.to_csv() }
        };
        results.iometer.extend(self.metrics);
        results.attachments.extend(self.files.into_iter().map(file));
    }
}
