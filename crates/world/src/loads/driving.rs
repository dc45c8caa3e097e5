//! The components that answer block loads: the device itself, its driver, or the drivers of several paths to it.

use super::super::names::{DRIVER, JOBS, PATHS, shown};
use super::super::world::NvmePath;
use super::adding::{Adding, HostPath, NewLoad, SharedDriver, is_shared, path, port, settings};
use lanetwin_document::node::Origin;
use lanetwin_kernel::{ComponentId, Port, role_of};
use lanetwin_models as models;
use lanetwin_models::multipath::{Multipath, MultipathSpec, Policy};
use lanetwin_models::roles::nvme::{NvmeHost, Outage, QueuePriority};
use lanetwin_models::shared_port::{self, SharedPort};
use lanetwin_pcie::link::EndpointId;
use lanetwin_plan::{ActionPlan, AllowedCores, End, Pair};
use lanetwin_ports::{Model, Params, Protocol, RunQueue, Site, Value};
use lanetwin_units::{Instant, Span};
use std::collections::{BTreeMap, BTreeSet};

/// The load port of a driver with a single load, …
const DRIVEN: Port = Port(0);
/// … and the first load port of a driver with several.
const FIRST_LOAD: u16 = 1;

/// A host and a device for which loads need a driver.
#[derive(Clone, Copy)]
struct Driving<'a> {
    model: &'static Model,
    /// The first of the loads.
    asker: &'a NewLoad<'a>,
    /// Number of loads for which the driver has ports.
    loads: u16,
}

impl Adding<'_> {
    /// The port that answers block requests, and the name of its component: the target, or a driver on the host.
    pub(super) fn block_port(&mut self, asker: &NewLoad<'_>) -> ((ComponentId, Port), String) {
        if let Some(of_programs) = self.network_port(asker) {
            return of_programs;
        }
        let pair = asker.pair;
        match &self.remotes(pair)[..] {
            [] => {}
            [only] => return self.remote_port(asker, only),
            several => return self.remote_paths(asker, several),
        }
        let disk = self.disk(pair);
        if disk.answers_blocks() {
            let (own, name) = ((self.ids.of(pair.target), port(disk, Protocol::Block)), disk.name.clone());
            return (if asker.thread.is_some() { self.job_port(asker, own) } else { own }, name);
        }
        let model = models::driver(disk.model);
        if !is_shared(model) {
            let path = path(DRIVER, asker);
            let driver = self.add_driver(Driving { model, asker, loads: 1 }, &path, None);
            return ((driver, DRIVEN), shown(&path));
        }
        let key = (pair.target, pair.on);
        if !self.shared.contains_key(&key) {
            let shared = self.share(model, asker);
            self.shared.insert(key, shared);
        }
        let driver = self.shared.get_mut(&key).expect("it has just been added, if it was not there");
        let port = Port(driver.next);
        driver.next += 1;
        ((driver.id, port), shown(&driver.path))
    }

    /// Adds the driver that serves all loads of a host on a device.
    fn share(&mut self, model: &'static Model, asker: &NewLoad<'_>) -> SharedDriver {
        let pair = asker.pair;
        let is_its = |other: &&NewLoad<'_>| (other.pair.target, other.pair.on) == (pair.target, pair.on);
        let loads = self.askers.iter().filter(is_its).count();
        let alone = loads == self.askers.len();
        let path = if alone { DRIVER.to_owned() } else { format!("{DRIVER}/{}", self.shared_name(pair)) };
        let driving = Driving { model, asker, loads: loads as u16 };
        if self.blueprint.linked_ports(pair.target, self.endpoints).len() > 1 {
            return self.add_paths(driving, &path);
        }
        let driver = self.add_driver(driving, &path, None);
        let (endpoint, _) =
            self.blueprint.device(pair.target, self.endpoints).expect("a drive that is asked is linked");
        let (further, next) = (Vec::new(), FIRST_LOAD);
        SharedDriver { id: driver, driver, endpoint, port: 0, further, path, next }
    }

    /// The name of a device with the host's, if several hosts have loads on it.
    pub(super) fn shared_name(&self, pair: &Pair) -> String {
        let disk = self.disk(pair).name.clone();
        let is_other = |other: &NewLoad<'_>| other.pair.target == pair.target && other.pair.on != pair.on;
        let host = &self.blueprint.variant.machine[pair.on].name;
        if self.askers.iter().any(is_other) { format!("{disk}@{host}") } else { disk }
    }

    /// Adds the component that joins the paths of a host to a drive with several linked ports, and a driver for each
    /// port below the host. If hosts take over from each other, the drivers of the other hosts follow as further
    /// paths.
    fn add_paths(&mut self, driving: Driving<'_>, path: &str) -> SharedDriver {
        let Driving { asker, loads, .. } = driving;
        let pair = asker.pair;
        let policy = match self.software(pair, "driver.multipath") {
            Some((Value::Choice(policy), _)) => Policy::of(policy),
            _ => unreachable!("a drive with two ports says how its paths are chosen"),
        };
        let name = self.shared_name(pair);
        let takeover = self.blueprint.workload.takeover;
        let (own, paths) = self.count_paths(pair, takeover.is_some());
        let (drive, takeover_after) = (name.clone(), takeover.unwrap_or(Span::ZERO));
        let others = Vec::new();
        let spec = MultipathSpec { drive, policy, loads, own, paths, others, takeover: takeover_after };
        let mut paths = Multipath::new(spec);
        let absences = self.blueprint.variant.absences.iter();
        let absences = absences.filter(|absence| (absence.drive, absence.host) == (pair.target, pair.on));
        paths.be_without(absences.map(|absence| (absence.from, absence.until)).collect());
        let joined = self.builder.add(format!("{PATHS}/{name}"), Box::new(paths));
        // the drivers' first port for loads of this host, and the paths
        let (first, all) = match takeover {
            None => (0, self.host_paths(driving, path)),
            Some(_) => (self.before_on(pair), self.common_paths(driving)),
        };
        let (own, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|path| path.host == pair.on);
        for (number, HostPath { path, .. }) in (0..).zip(own.iter().chain(&others)) {
            for load in 0..loads {
                let port = Multipath::of_path(number, load, loads);
                self.builder.join((joined, port), (path.driver, Port(FIRST_LOAD + first + load)));
            }
        }
        self.paths.push((name, joined));
        let mut all = own.into_iter().chain(others).map(|path| path.path);
        let NvmePath { driver, endpoint, port } = all.next().expect("a host asks a drive below it");
        let (path, next) = (path.to_owned(), Multipath::of_load(0).0);
        SharedDriver { id: joined, driver, endpoint, port, further: all.collect(), path, next }
    }

    /// The number of paths from a host to its drive, and the number including those of standby hosts.
    fn count_paths(&self, pair: &Pair, others: bool) -> (usize, usize) {
        let on_drive = self.askers.iter().filter(|other| other.pair.target == pair.target);
        let hosts: BTreeSet<usize> = on_drive.map(|other| other.pair.on).collect();
        let of = |host: usize| self.blueprint.ports_below(host, pair.target, self.endpoints).len();
        let own = of(pair.on);
        (own, if others { hosts.into_iter().map(of).sum() } else { own })
    }

    /// The number of loads on the same drive that belong to earlier hosts: the index of this host's first load among
    /// all.
    fn before_on(&self, pair: &Pair) -> u16 {
        let on_drive = self.askers.iter().filter(|other| other.pair.target == pair.target);
        on_drive.take_while(|other| other.pair.on != pair.on).count() as u16
    }

    /// Adds a driver for each port of the drive below the load's host.
    fn host_paths(&mut self, driving: Driving<'_>, path: &str) -> Vec<HostPath> {
        let pair = driving.asker.pair;
        let numbered = self.blueprint.linked_ports(pair.target, self.endpoints);
        let below = self.blueprint.ports_below(pair.on, pair.target, self.endpoints);
        let mut paths = Vec::new();
        for (number, (end, (device, _))) in (0..).zip(below) {
            let path = format!("{path}/path{number}");
            let driver = self.add_driver(driving, &path, Some((end, device)));
            let port = numbered.iter().position(|(other, _)| *other == end).unwrap_or(0) as u16;
            paths.push(HostPath { host: pair.on, path: NvmePath { driver, endpoint: device, port } });
        }
        paths
    }

    /// The drivers of all hosts of a drive, each with a port for every load on it; they are added when the first host
    /// needs them.
    fn common_paths(&mut self, driving: Driving<'_>) -> Vec<HostPath> {
        let pair = driving.asker.pair;
        if !self.common.contains_key(&pair.target) {
            let askers = self.askers;
            let on_drive = || askers.iter().filter(|other| other.pair.target == pair.target);
            let loads = on_drive().count() as u16;
            let hosts: BTreeSet<usize> = on_drive().map(|other| other.pair.on).collect();
            let mut paths = Vec::new();
            for host in hosts {
                let asker = on_drive().find(|other| other.pair.on == host).expect("a host of a load");
                let path = format!("{DRIVER}/{}", self.shared_name(asker.pair));
                paths.extend(self.host_paths(Driving { asker, loads, ..driving }, &path));
            }
            self.common.insert(pair.target, paths);
        }
        self.common[&pair.target].clone()
    }

    /// Adds the driver of a device, with ports for `loads` loads, and joins it to the host. `only` is the device's
    /// port if the driver is for one path of several.
    fn add_driver(
        &mut self,
        Driving { model, asker, loads }: Driving<'_>,
        path: &str,
        only: Option<(End, EndpointId)>,
    ) -> ComponentId {
        let pair = asker.pair;
        let whole = self.blueprint.device(pair.target, self.endpoints).map(|(device, _)| device);
        let target = only.map(|(_, device)| device).or(whole);
        let seed = self.blueprint.seed;
        let memory = self.hosts.get(&pair.on).map(|host| host.memory.clone());
        let cores = self.cores(asker, model);
        let site = Site { target, memory, cores, ..Site::alone(path, seed) };
        let mut params = settings(model, self.disk(pair), &self.blueprint.variant.machine[pair.on]);
        self.set_engine(pair, asker, &mut params);
        if let Some(ports) = params.0.get_mut("ports") {
            *ports = Value::Count(loads.into());
        }
        let mut driver = model.component(&params, &site).expect("a driver is a component");
        if let Some(driver) = role_of::<_, dyn NvmeHost>(&mut *driver) {
            driver.prioritise(&self.priorities(pair));
            let first = self.blueprint.ports_below(pair.on, pair.target, self.endpoints).first().copied();
            if only.is_none() || first.map(|(end, _)| end) == only.map(|(end, _)| end) {
                let its = |plan: &&ActionPlan| (plan.host, plan.drive) == (pair.on, pair.target);
                for plan in self.blueprint.workload.actions.iter().filter(its) {
                    driver.schedule_command(Instant::ZERO + plan.at, plan.ask);
                }
            }
            if let Some((end, _)) = only {
                let down = self.blueprint.variant.link_of(end).into_iter().flat_map(|link| &link.down);
                let outages = down.map(|down| Outage { from: down.at, until: down.at + down.lasts });
                driver.become_path(outages.collect());
            }
        }
        let driver = self.builder.add(path, driver);
        let further = only.and_then(|(_, device)| self.further.get(&device).copied());
        let place = further.unwrap_or_else(|| shared_port::of_load(asker.place));
        let cpu = self.cpus.get(&pair.on).copied();
        let host = cpu.map_or_else(|| self.host(pair), |cpu| (cpu, place));
        let cpu = model.ports.iter().position(|port| port.speaks == Protocol::Cpu);
        self.builder.join((driver, Port(cpu.expect("a driver has a port to a CPU") as u16)), host);
        driver
    }

    /// The loads of a host on the same device, in the order of the driver's ports; those of all hosts if hosts take
    /// over from each other.
    fn on_driver(&self, pair: &Pair) -> impl Iterator<Item = &NewLoad<'_>> {
        let all = self.blueprint.workload.takeover.is_some();
        let (on, target) = (pair.on, pair.target);
        self.askers.iter().filter(move |other| other.pair.target == target && (all || other.pair.on == on))
    }
    /// The queue priority of each of them.
    fn priorities(&self, pair: &Pair) -> Vec<QueuePriority> {
        let class = |asker: &NewLoad<'_>| {
            asker.thread.as_ref().map_or(QueuePriority::MEDIUM, |(_, thread)| thread.priority)
        };
        self.on_driver(pair).map(class).collect()
    }
    /// The cores of a driver's loads, if the number of the host's cores is given.
    fn cores(&self, asker: &NewLoad<'_>, driver: &Model) -> Vec<RunQueue> {
        let host = asker.pair.on;
        let core = |load: &NewLoad<'_>| self.core(load, host);
        if is_shared(driver) {
            self.on_driver(asker.pair).filter_map(core).collect()
        } else {
            core(asker).into_iter().collect()
        }
    }
    /// The core of a load on a host, if the number of cores is given: one of those that the load may run on, or of
    /// all.
    pub(super) fn core(&self, load: &NewLoad<'_>, host: usize) -> Option<RunQueue> {
        let own = self.hosts.get(&host)?;
        let allowed = |load: &NewLoad<'_>| load.thread.as_ref().and_then(|(_, thread)| thread.cores.clone());
        let among =
            allowed(load).filter(|_| load.pair.on == host).and_then(|AllowedCores { numbers, nth }| {
                let is_alike = |other: &&NewLoad<'_>| {
                    other.pair.on == host && allowed(other).is_some_and(|other| other.numbers == numbers)
                };
                let before = || self.askers[..load.place as usize].iter().filter(is_alike).count();
                own.core_among(&numbers, nth.map_or_else(before, |nth| nth as usize))
            });
        among.or_else(|| own.core(self.thread(load, host)))
    }
    /// The index of a load among those that a host runs: the host's own loads precede those that it runs for other
    /// hosts.
    pub(super) fn thread(&self, load: &NewLoad<'_>, host: usize) -> usize {
        let is_own = |other: &&NewLoad<'_>| other.pair.on == host;
        let before = &self.askers[..load.place as usize];
        if load.pair.on == host {
            return before.iter().filter(is_own).count();
        }
        let own = self.askers.iter().filter(is_own).count();
        own + before.iter().filter(|other| other.pair.on != host).count()
    }

    /// A parameter of a host's software for a drive, and where it was set.
    fn software(&self, pair: &Pair, name: &str) -> Option<(Value, Origin)> {
        self.disk(pair).software(name, &self.blueprint.variant.machine[pair.on])
    }
    /// Sets the engine that the thread specifies, if there is one and neither a part nor the scenario sets another.
    pub(super) fn set_engine(&self, pair: &Pair, asker: &NewLoad<'_>, params: &mut Params) {
        const ENGINE: &str = "driver.engine";
        let is_open = self.software(pair, ENGINE).is_some_and(|(_, origin)| origin == Origin::Default);
        let said = asker.thread.as_ref().and_then(|(_, thread)| thread.engine);
        if let (true, Some(said), Some(Value::Choice(engine))) = (is_open, said, params.0.get_mut(ENGINE)) {
            *engine = said;
        }
    }

    /// The port of a job at a device with this port: the port itself if the job is alone.
    fn job_port(&mut self, asker: &NewLoad<'_>, own: (ComponentId, Port)) -> (ComponentId, Port) {
        if self.loads == 1 {
            return own;
        }
        let target = asker.pair.target;
        let joined = self.jobs.get(&target).copied().unwrap_or_else(|| {
            let name = &self.blueprint.variant.machine[target].name;
            let jobs = self.builder.add(
                format!("{JOBS}/{name}"),
                Box::new(SharedPort { loads: self.loads, devices: BTreeMap::new() }),
            );
            self.builder.join((jobs, shared_port::HOST), own);
            jobs
        });
        self.jobs.insert(target, joined);
        (joined, shared_port::of_load(asker.place))
    }
}
