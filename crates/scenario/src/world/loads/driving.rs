//! What answers loads that ask for blocks: the device itself, its driver, or the drivers of several paths to it.

use super::super::drivers::{self, Drivers};
use super::super::paths::{Paths, Policy};
use super::{Adding, Asker, DRIVER, NvmePath, path, port, settings, shown};
use crate::node::Origin;
use crate::plan::{End, FioJob, Pair};
use lanetwin_kernel::{ComponentId, Port};
use lanetwin_models as models;
use lanetwin_models::nvme_driver::{NvmeDriver, Outage, QueuePriority};
use lanetwin_pcie::link::EndpointId;
use lanetwin_ports::{Model, Params, Protocol, Site, Value};
use std::collections::BTreeMap;

/// The paths of what joins jobs, and of what joins paths: names that no component of a scenario can have.
const JOBS: &str = "(jobs)";
const PATHS: &str = "(paths)";
/// The port to its load of a driver that has one load, …
const DRIVEN: Port = Port(0);
/// … and the first to a load of one that has several.
const FIRST_LOAD: u16 = 1;

/// A driver that has a port for each load of its device.
pub(super) struct SharedDriver {
    /// What answers the loads: the driver, or what joins several.
    pub(super) id: ComponentId,
    /// The driver, or that of the first path.
    pub(super) driver: ComponentId,
    /// The drivers of further paths.
    pub(super) further: Vec<NvmePath>,
    path: String,
    /// Of its ports to loads, the next that is free.
    next: u16,
}

impl Adding<'_> {
    /// The port that answers block requests, and whose it is: the target's own, or that of a driver on the host.
    pub(super) fn block_port(&mut self, asker: &Asker<'_>) -> ((ComponentId, Port), String) {
        let pair = asker.pair;
        let disk = self.disk(pair);
        if disk.has(Protocol::Block) {
            let (own, name) = ((self.ids.of(pair.target), port(disk, Protocol::Block)), disk.name.clone());
            return (if asker.job.is_some() { self.job_port(asker, own) } else { own }, name);
        }
        let model = models::driver(disk.model);
        if !is_shared(model) {
            let path = path(DRIVER, asker);
            let driver = self.add_driver(model, 1, asker, &path, None);
            return ((driver, DRIVEN), shown(&path));
        }
        if !self.shared.contains_key(&pair.target) {
            let loads = self.askers.iter().filter(|other| other.pair.target == pair.target).count();
            let alone = loads == self.askers.len();
            let path = if alone { DRIVER.to_owned() } else { format!("{DRIVER}/{}", self.disk(pair).name) };
            let ports = self.wiring.linked_ports(pair.target, self.endpoints);
            let shared = match &ports[..] {
                [_, _, ..] => self.add_paths(model, loads as u16, asker, &path, &ports),
                _ => {
                    let driver = self.add_driver(model, loads as u64, asker, &path, None);
                    SharedDriver { id: driver, driver, further: Vec::new(), path, next: FIRST_LOAD }
                }
            };
            self.shared.insert(pair.target, shared);
        }
        let driver = self.shared.get_mut(&pair.target).expect("it has just been added, if it was not there");
        let port = Port(driver.next);
        driver.next += 1;
        ((driver.id, port), shown(&driver.path))
    }

    /// Adds a driver for each port of a drive that is linked, and what joins them.
    fn add_paths(
        &mut self,
        model: &'static Model,
        loads: u16,
        asker: &Asker<'_>,
        path: &str,
        ports: &[(End, (EndpointId, EndpointId))],
    ) -> SharedDriver {
        let disk = self.disk(asker.pair);
        let policy = Policy::of(disk.params.choice("driver.multipath"));
        let name = disk.name.clone();
        let paths = Paths::new(policy, loads, ports.len());
        let joined = self.builder.add(format!("{PATHS}/{name}"), Box::new(paths));
        let mut drivers = Vec::new();
        for (number, (end, (device, _))) in (0..).zip(ports) {
            let path = format!("{path}/path{number}");
            let driver = self.add_driver(model, loads.into(), asker, &path, Some((*end, *device)));
            for load in 0..loads {
                let port = Paths::of_path(number, load, loads);
                self.builder.join((joined, port), (driver, Port(FIRST_LOAD + load)));
            }
            drivers.push(NvmePath { driver, endpoint: *device });
        }
        self.paths.push((name, joined));
        let driver = drivers.remove(0).driver;
        let (path, next) = (path.to_owned(), Paths::of_load(0).0);
        SharedDriver { id: joined, driver, further: drivers, path, next }
    }

    /// Adds the driver of a device, with so many ports to loads, and joins it to the host; for one path of several, with the port of the device.
    fn add_driver(
        &mut self,
        model: &'static Model,
        loads: u64,
        asker: &Asker<'_>,
        path: &str,
        only: Option<(End, EndpointId)>,
    ) -> ComponentId {
        let pair = asker.pair;
        let whole = self.wiring.device(pair.target, self.endpoints).map(|(device, _)| device);
        let target = only.map(|(_, device)| device).or(whole);
        let seed = self.wiring.seed;
        let memory = self.memories.get(&pair.on).cloned();
        let pcie = Vec::new();
        let (routes, decoders) = (Vec::new(), Vec::new());
        let site = Site { path: path.to_owned(), seed, pcie, target, routes, memory, decoders };
        let mut params = settings(model, self.disk(pair));
        self.set_engine(pair, asker, &mut params);
        if let Some(ports) = params.0.get_mut("ports") {
            *ports = Value::Count(loads);
        }
        let mut driver = model.component(&params, &site).expect("a driver is a component");
        if let Some(driver) = driver.as_any().and_then(|any| any.downcast_mut::<NvmeDriver>()) {
            driver.prioritise(&self.priorities(pair));
            if let Some((end, _)) = only {
                let down = self.wiring.variant.link_of(end).into_iter().flat_map(|link| &link.down);
                let outages = down.map(|down| Outage { from: down.at, until: down.at + down.lasts });
                driver.be_path(outages.collect());
            }
        }
        let driver = self.builder.add(path, driver);
        let further = only.and_then(|(_, device)| self.further.get(&device).copied());
        let place = further.unwrap_or_else(|| drivers::of_load(asker.place));
        let host = self.cpu.map_or_else(|| self.host(pair), |cpu| (cpu, place));
        let cpu = model.ports.iter().position(|port| port.speaks == Protocol::Cpu);
        self.builder.join((driver, Port(cpu.expect("a driver has a port to a CPU") as u16)), host);
        driver
    }

    /// The class of the queue of each load on the same device, in the order of its driver's ports.
    fn priorities(&self, pair: &Pair) -> Vec<QueuePriority> {
        let on_device = self.askers.iter().filter(|other| other.pair.target == pair.target);
        on_device.map(|asker| asker.job.map_or(QueuePriority::MEDIUM, |(job, _)| priority(job))).collect()
    }

    /// The engine is the one of the job file, if there is one that is modelled and neither the part nor the scenario says another.
    fn set_engine(&self, pair: &Pair, asker: &Asker<'_>, params: &mut Params) {
        const ENGINE: &str = "driver.engine";
        let is_open = self.disk(pair).origins.get(ENGINE) == Some(&Origin::Default);
        let job = asker.job.map(|(job, _)| &job.job.settings);
        if let (true, Some(settings), Some(Value::Choice(engine))) = (is_open, job, params.0.get_mut(ENGINE))
        {
            *engine = match &*settings.ioengine {
                "io_uring" | "io_uring_cmd" => "io_uring",
                "spdk" => "spdk",
                _ => *engine,
            };
        }
    }

    /// The port of a job at a device whose own port this is: the device's, if the job is alone.
    fn job_port(&mut self, asker: &Asker<'_>, own: (ComponentId, Port)) -> (ComponentId, Port) {
        if self.loads == 1 {
            return own;
        }
        let target = asker.pair.target;
        let joined = self.jobs.get(&target).copied().unwrap_or_else(|| {
            let name = &self.wiring.variant.machine[target].name;
            let jobs = self.builder.add(
                format!("{JOBS}/{name}"),
                Box::new(Drivers { loads: self.loads, devices: BTreeMap::new() }),
            );
            self.builder.join((jobs, drivers::HOST), own);
            jobs
        });
        self.jobs.insert(target, joined);
        (joined, drivers::of_load(asker.place))
    }
}

/// Whether a driver has a port for each load of its device; if not, each load has a driver of its own.
pub(super) fn is_shared(driver: &Model) -> bool {
    driver.ports.iter().any(|port| port.speaks == Protocol::Block && port.many)
}

/// The class of the queue of a job, by its I/O priority: real time is urgent at its highest level and high below, best effort and none are
/// medium, idle is low. Which class a queue is of is the software's choice; NVM Express says nothing of it, and this one is `assumed`.
fn priority(job: &FioJob) -> QueuePriority {
    match (job.job.settings.prioclass, job.job.settings.prio) {
        (1, 0) => QueuePriority::URGENT,
        (1, _) => QueuePriority::HIGH,
        (3, _) => QueuePriority::LOW,
        _ => QueuePriority::MEDIUM,
    }
}
