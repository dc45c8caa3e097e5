//! A test of Iometer: access specifications that workers run at the same time.

use crate::plan::blocks::{Blocks, LeftOut, Programs, Thread, Timing};
use crate::plan::offered::Offered;
use crate::plan::written::{AccessShape, of_kinds};
use lanetwin_kernel::Component;
use lanetwin_load::iometer::access::{AccessWorkload, Connections, Region};
use lanetwin_load::iometer::config::{AccessLine, AccessSpec, DiskSettings, SECTOR};
use lanetwin_load::iometer::{TestType, Version};
use lanetwin_load::{BlockLoad, Slot};
use lanetwin_models::network_workers::NetworkTest;
use lanetwin_models::roles::nvme::QueuePriority;
use lanetwin_ports::Message;
use lanetwin_units::{Bytes, Span, greatest_common_divisor};

/// Bytes that a socket of a network worker accepts before a send blocks: `tcp_wmem` of Linux. Iometer leaves it to the
/// system (`NetTCP.cpp`).
const SEND_BUFFER: u64 = 4 << 20;

/// A test: the specification of each worker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IometerCase {
    /// The active workers, in the order of the file; at least one.
    pub workers: Vec<IometerWorker>,
    /// The targets of all workers of the workload, active or not, once for each manager: index of the manager, and
    /// name.
    pub drives: Vec<(usize, String)>,
    /// Whether the workload has a single worker, which uses every target of the scenario.
    pub alone: bool,
    /// The size of each target.
    pub capacity: Bytes,
    /// The sector of each target \[B\].
    pub sector: u32,
    /// Number of I/Os measured, over all targets together.
    pub requests: u64,
    /// Time to open and close a target, together, if connections are tested.
    pub opening: Span,
    /// Whether its workers are network workers, and their targets hosts.
    pub network: bool,
    /// Whether the file also has workers of the other type, which do not run.
    pub others: bool,
    /// The file that it comes from.
    pub from: IometerFile,
}

/// A worker and its access specification.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IometerWorker {
    /// Index of its manager in the file, and the manager's name; `None` in a library.
    pub manager: Option<(usize, String)>,
    /// Its index among the workers of its manager, and its name.
    pub name: (usize, String),
    /// The specification.
    pub spec: AccessSpec,
    /// The part of each target that is used.
    pub disk: DiskSettings,
    /// I/Os in flight on each target.
    pub outstanding: u32,
    /// Its targets, by their names in the file.
    pub targets: Vec<String>,
    /// Transactions per connection, if targets are opened and closed repeatedly.
    pub connections: Option<u32>,
}

/// The contents of an Iometer configuration besides its specifications.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IometerFile {
    /// Its name in the scenario.
    pub name: String,
    /// The version that wrote it.
    pub version: Version,
    /// Its description.
    pub description: String,
    /// The quantities that it varies.
    pub test_type: TestType,
    /// Its recording time \[s\]; 0 for no limit.
    pub run_time_s: u64,
    /// Time of the load before recording starts \[s\].
    pub ramp_up_s: u64,
}

impl IometerFile {
    /// Its recording time; `None` for no limit.
    #[must_use]
    pub fn run_time(&self) -> Option<Span> {
        seconds(self.run_time_s)
    }
    /// Time of the load before recording starts, if any.
    #[must_use]
    pub fn ramp_up(&self) -> Option<Span> {
        seconds(self.ramp_up_s)
    }
}

/// This many seconds; `None` for 0.
fn seconds(seconds: u64) -> Option<Span> {
    (seconds > 0).then(|| Span::from_us(seconds.saturating_mul(1_000_000)))
}

impl IometerWorker {
    /// The lines with a non-zero probability.
    fn used(&self) -> impl Iterator<Item = &AccessLine> {
        self.spec.lines.iter().filter(|line| line.share > 0)
    }
    /// The index of its manager, to distinguish managers.
    fn manager_place(&self) -> usize {
        self.manager.as_ref().map_or(0, |(place, _)| *place)
    }
}

impl IometerCase {
    /// The accesses of a worker to each of its targets.
    #[must_use]
    pub fn accesses(&self, worker: &IometerWorker) -> AccessWorkload {
        AccessWorkload {
            lines: worker.spec.lines.clone(),
            region: Region::of_disk(&worker.disk, self.capacity.0, self.sector),
            outstanding: worker.outstanding,
            count: None,
            connections: worker
                .connections
                .map(|transactions| Connections { transactions, opening: self.opening }),
            network: self.network,
        }
    }
    /// The specification of all workers, if it is the same for all.
    #[must_use]
    pub fn spec(&self) -> Option<&AccessSpec> {
        let first = &self.workers.first()?.spec;
        self.workers.iter().all(|worker| worker.spec.name == first.name).then_some(first)
    }
    /// The specifications that run, once each.
    #[must_use]
    pub fn specs(&self) -> Vec<&AccessSpec> {
        let mut specs: Vec<&AccessSpec> = Vec::new();
        for worker in &self.workers {
            if !specs.iter().any(|known| known.name == worker.spec.name) {
                specs.push(&worker.spec);
            }
        }
        specs
    }
    /// The indices of the managers of all workers of the workload, active or not.
    fn places(&self) -> Vec<usize> {
        let own = self.workers.iter().map(IometerWorker::manager_place);
        let mut places: Vec<usize> = self.drives.iter().map(|(place, _)| *place).chain(own).collect();
        places.sort_unstable();
        places.dedup();
        places
    }
    /// Name of a worker's results: its name, after that of its manager if there are several.
    #[must_use]
    pub fn results_name(&self, worker: &IometerWorker) -> String {
        let several = self.places().len() > 1;
        let own = |one: &IometerWorker| match &one.manager {
            Some((_, manager)) if several => format!("{manager}/{}", one.name.1),
            _ => one.name.1.clone(),
        };
        let name = own(worker);
        let before =
            self.workers.iter().take_while(|one| *one != worker).filter(|one| own(one) == name).count();
        if before == 0 { name } else { format!("{name}#{}", before + 1) }
    }
    /// The indices of the pairs that each worker uses, given the host of each pair. Returns `None` if the targets of
    /// the file cannot be matched with the pairs.
    ///
    /// If there are as many managers as hosts, each manager uses one host; otherwise all use all hosts. Their targets
    /// are the drives in the order of the file. The same name at two managers counts as two drives if there are that
    /// many.
    #[must_use]
    pub fn targets(&self, hosts: &[usize]) -> Option<Vec<Vec<usize>>> {
        let mut known = hosts.to_vec();
        known.dedup();
        let managers = self.places();
        if known.len() > 1 && known.len() == managers.len() {
            let of = |worker: &IometerWorker| -> Option<Vec<usize>> {
                let manager = worker.manager_place();
                let host = known[managers.iter().position(|place| *place == manager)?];
                let places = hosts.iter().enumerate().filter(|(_, on)| **on == host);
                let places: Vec<usize> = places.map(|(place, _)| place).collect();
                let names = self.drives.iter().filter(|(place, _)| *place == manager);
                let names: Vec<_> = names.map(|(_, name)| (None, &**name)).collect();
                among(worker, &names, &places)
            };
            return self.workers.iter().map(of).collect();
        }
        let places: Vec<usize> = (0..hosts.len()).collect();
        let names = self.names(places.len());
        self.workers.iter().map(|worker| among(worker, &names, &places)).collect()
    }
    /// The names of the targets: once for each manager if that makes `wanted` names, otherwise once.
    fn names(&self, wanted: usize) -> Vec<(Option<usize>, &str)> {
        if self.drives.len() == wanted {
            return self.drives.iter().map(|(manager, name)| (Some(*manager), &**name)).collect();
        }
        let mut names: Vec<(Option<usize>, &str)> = Vec::new();
        for (_, name) in &self.drives {
            if !names.contains(&(None, &**name)) {
                names.push((None, &**name));
            }
        }
        names
    }
    /// Whether requests to one target depend, in Iometer, on those to another: a worker has one burst at a time, and
    /// one delay.
    #[must_use]
    pub fn is_paced(&self) -> bool {
        self.used().any(|line| line.burst > 1 || line.delay_ms > 0)
    }
    /// Whether there are replies; disks send none.
    #[must_use]
    pub fn has_replies(&self) -> bool {
        self.used().any(|line| line.reply > 0)
    }
    /// The lines with a non-zero probability.
    fn used(&self) -> impl Iterator<Item = &AccessLine> {
        self.workers.iter().flat_map(IometerWorker::used)
    }
    /// The names of the specifications, for a sentence.
    fn spec_names(&self) -> String {
        self.specs().iter().map(|spec| format!("`{}`", spec.name)).collect::<Vec<_>>().join(", ")
    }
}

/// The indices of a worker's targets, if there is one for each name.
fn among(worker: &IometerWorker, names: &[(Option<usize>, &str)], places: &[usize]) -> Option<Vec<usize>> {
    if names.len() != places.len() || worker.targets.is_empty() {
        return None;
    }
    let is_its = |(manager, name): &(Option<usize>, &str)| {
        manager.is_none_or(|manager| manager == worker.manager_place())
            && worker.targets.iter().any(|target| target == name)
    };
    Some(names.iter().zip(places).filter(|(name, _)| is_its(name)).map(|(_, place)| *place).collect())
}

impl Blocks for IometerCase {
    fn offered(&self) -> Offered {
        let all = self.workers.iter().map(|worker| worker.outstanding);
        Offered::Outstanding(all.fold(0, u32::saturating_add))
    }
    fn requests(&self) -> u64 {
        self.requests
    }
    fn kinds(&self) -> (bool, bool) {
        let has = |of: fn(&AccessLine) -> bool| self.used().any(of);
        (has(|line| line.reads > 0), has(|line| line.reads < 100))
    }
    fn is_paced(&self) -> bool {
        self.used().any(|line| line.delay_ms > 0)
    }
    fn network(&self) -> Option<Programs> {
        let (opening, replies) = (self.opening, self.has_replies());
        let test = NetworkTest { send_buffer: SEND_BUFFER, opening, replies };
        self.network.then_some(Programs::Sockets(test))
    }
    fn timing(&self) -> Timing {
        Timing { longest: self.from.run_time(), ramp: self.from.ramp_up(), ..Timing::default() }
    }
    fn is_sequential(&self) -> bool {
        self.used().all(|line| line.random == 0)
    }
    fn shapes(&self) -> Vec<AccessShape> {
        let of_line = |line: &AccessLine| {
            let align = line.alignment(SECTOR).into();
            let multiple_of = Bytes(greatest_common_divisor(align, line.size.into()));
            let is_random = line.random > 0;
            let shape = move |is_write| AccessShape { is_write, is_random, multiple_of };
            of_kinds((line.reads > 0, line.reads < 100), shape)
        };
        self.used().flat_map(of_line).collect()
    }
    fn largest(&self) -> u64 {
        self.used().map(|line| line.size).max().unwrap_or(0).into()
    }
    fn threads(&self) -> Vec<Thread> {
        let thread = |worker: &IometerWorker| Thread {
            name: format!("{}.{}", worker.manager_place(), worker.name.0),
            results_name: self.results_name(worker),
            namespace: None,
            priority: QueuePriority::MEDIUM,
            engine: None,
            cores: None,
        };
        if self.alone { Vec::new() } else { self.workers.iter().map(thread).collect() }
    }
    fn asks(&self, hosts: &[usize]) -> Option<Vec<Vec<usize>>> {
        if self.alone { None } else { self.targets(hosts) }
    }
    fn unmatched(&self, hosts: &[usize]) -> Option<String> {
        (!self.alone && self.targets(hosts).is_none()).then(|| self.from.name.clone())
    }
    fn asker(&self, thread: usize, slot: Slot<'_>) -> Box<dyn Component<Message>> {
        let accesses = self.accesses(&self.workers[thread]);
        Box::new(BlockLoad::of_accesses(accesses, slot.seed, slot.path).in_slot(slot))
    }
    /// Workers are meant to differ.
    fn is_even(&self) -> bool {
        self.alone
    }
    fn not_modelled(&self, of: LeftOut<'_>) -> Vec<String> {
        let name = self.spec_names();
        let time = match self.from.run_time_s {
            0 => "until it is stopped".to_owned(),
            seconds => format!("{seconds} s"),
        };
        let (file, when) = (&self.from.name, of.length.ends_after(self.requests));
        let mut list = vec![format!(
            "The run time of `{file}` ({time}) beyond a sample, and its ramp up: a case ends {when}."
        )];
        if self.is_paced() && of.pairs > 1 {
            list.push(format!(
                "Bursts and delays of {name} are of each target; in Iometer all targets of a worker share them."
            ));
        }
        if self.workers.iter().any(|worker| worker.connections.is_some()) && of.pairs > 1 {
            list.push(
                "Connections are of each target: while a worker of Iometer opens one, it asks none."
                    .to_owned(),
            );
        }
        if self.others {
            list.push(match self.network {
                false => format!("The network workers of `{file}`: they run where `target` names hosts."),
                true => format!("The disk workers of `{file}`: they run where `target` names drives."),
            });
        }
        if self.has_replies() && !self.network {
            list.push(format!("The replies of {name}: a disk makes none."));
        }
        list
    }
}
