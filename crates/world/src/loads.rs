//! The loads of a world: one for each device that is measured, with a driver where the device needs one.
//!
//! ```text
//!  DMA     (load)/card1 ─ card1        (load)/card2 ─ card2
//!  blocks  (load)/ssd1 ─ (driver)/ssd1 ─┐
//!          (load)/ssd2 ─ (driver)/ssd2 ─┴─ (cpu) ─ host ═ … ═ ssd1, ssd2
//! ```
//!
//! Which driver a device has is its model's business ([`lanetwin_models::driver`]); one that has a port for each load
//! serves all loads of its device.
//!
//! A load that is alone is called `(load)`, its driver `(driver)`. Random streams derive from these names: what one
//! device is asked does not depend on which others are. All begin at the same instant, so that loads with fixed gaps
//! ask at the same instants throughout.

mod driving;

use super::drivers::{self, Drivers};
use super::fabric::Endpoints;
use super::hosts::Hosts;
use super::memory::as_results;
use super::wire::{Ids, Wiring, World};
use driving::{HostPath, SharedDriver, is_shared};
use lanetwin_document::fields;
use lanetwin_kernel::{Component, ComponentId, EntryId, ExitId, Port};
use lanetwin_load::{CountsOperations, DmaLoad, Handles, Results, Slot};
use lanetwin_models::{self as models, roles::RequestsByDma};
use lanetwin_pcie::link::EndpointId;
use lanetwin_plan::{ComponentPlan, End, Load, Pair, Thread};
use lanetwin_ports::{Builder, Message, Model, Params, Protocol, Value};
use lanetwin_units::Instant;
use std::collections::{BTreeMap, BTreeSet};

/// The paths of loads, drivers and what joins drivers to their host: names that no component of a scenario can have.
const LOAD: &str = "(load)";
pub(super) const DRIVER: &str = "(driver)";
const CPU: &str = "(cpu)";
/// A load, and what it asks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorldLoad {
    /// The name of the device that it measures: a card, a drive, a logical unit of one; or of the job of fio that it is
    /// told as.
    pub device: String,
    /// The component that asks, a host or a card: its place in the machine.
    pub host: usize,
    /// Its name.
    pub asker: String,
    /// The component that answers: its place in the machine.
    pub target: usize,
    /// Its own path in the kernel.
    pub path: String,
    /// The load: it counts operations.
    pub id: ComponentId,
    /// The DMA requester that it commands, if it does.
    pub requester: Option<ComponentId>,
    /// The name of what answers it: a card, a disk, or the driver of one.
    pub asked: String,
    /// The PCIe port of the device, if it has one.
    pub endpoint: Option<EndpointId>,
    /// The driver and the drive, if it is an NVMe drive.
    pub nvme: Option<NvmeLoad>,
    /// Behind the first, the paths to a drive that has several, in the order of its ports.
    pub further: Vec<NvmePath>,
    /// Which port of the drive the first path leads to.
    pub port: u16,
}

/// Where the outside can ask what a load could: messages that arrive through the entry are answered at the exit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Opening {
    /// Who asks whom: for DMA ([`lanetwin_ports::Message::Dma`]) if a card asks, for blocks
    /// ([`lanetwin_ports::Message::Block`]) if a host does.
    pub pair: Pair,
    /// The way in.
    pub entry: EntryId,
    /// The way out.
    pub exit: ExitId,
    /// What requests can be called: answers find their way back by these names.
    pub handles: Handles,
}

/// What asks, and what it needed.
pub(super) struct AddedLoad {
    pub(super) loads: Vec<WorldLoad>,
    pub(super) openings: Vec<Opening>,
    /// What joins the paths to drives that have several.
    pub(super) paths: Vec<(String, ComponentId)>,
}

/// An open loop that asked so much faster than it was answered that it gave up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overload {
    /// When it gave up.
    pub at: Instant,
    /// How many operations it had asked for.
    pub asked: u64,
    /// How many of them were answered.
    pub answered: u64,
}

/// A further path to a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NvmePath {
    /// Its driver.
    pub driver: ComponentId,
    /// The place on the links of the port of the drive that it leads to.
    pub endpoint: EndpointId,
    /// The number of that port.
    pub port: u16,
}

/// What stands between a load and an NVMe medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NvmeLoad {
    /// The driver.
    pub driver: ComponentId,
    /// The drive.
    pub drive: ComponentId,
}

impl World {
    /// How many operations the loads have asked for and how many were answered, together.
    pub fn progress(&mut self) -> (u64, u64) {
        if let Some(host) = self.memory_host() {
            return host.progress();
        }
        let mut sum = (0, 0);
        for id in self.load_ids() {
            let (asked, answered) = self.load(id).progress();
            sum = (sum.0 + asked, sum.1 + answered);
        }
        sum
    }
    /// The load that has given up because it is answered too slowly, if one has.
    pub fn overload(&mut self) -> Option<Overload> {
        if self.memory.is_some() {
            return None;
        }
        self.load_ids().into_iter().find_map(|id| {
            let load = self.load(id);
            let (at, (asked, answered)) = (load.overloaded()?, load.progress());
            Some(Overload { at, asked, answered })
        })
    }
    /// All loads count from `at` on, the present.
    ///
    /// # Panics
    /// If something was counted after `at`.
    pub fn reset(&mut self, at: Instant) {
        if let Some(host) = self.memory_host() {
            host.reset(at);
        }
        self.load_ids().into_iter().for_each(|id| self.load(id).reset(at));
    }
    /// What each load has counted up to `at`, the present; each program, if the load is one of memory.
    ///
    /// # Panics
    /// If something was counted after `at`.
    #[must_use]
    pub fn results(&mut self, at: Instant) -> Vec<Results> {
        if self.memory.is_some() {
            return self.memory_results(at).iter().map(as_results).collect();
        }
        self.load_ids().into_iter().map(|id| self.load(id).results(at)).collect()
    }
    /// No load asks for anything more.
    pub fn stop(&mut self) {
        if let Some(host) = self.memory_host() {
            host.stop();
        }
        self.load_ids().into_iter().for_each(|id| self.load(id).stop());
    }
    /// The DMA requester that a load commands, if it does: by the load's place in [`World::loads`].
    pub fn requester(&mut self, load: usize) -> Option<&mut (dyn RequestsByDma + 'static)> {
        self.kernel.role::<dyn RequestsByDma>(self.loads[load].requester?)
    }

    /// A load, whatever it asks for.
    pub(crate) fn load(&mut self, id: ComponentId) -> &mut (dyn CountsOperations + 'static) {
        self.kernel.role::<dyn CountsOperations>(id).expect("a load counts operations")
    }
    fn load_ids(&self) -> Vec<ComponentId> {
        self.loads.iter().map(|load| load.id).collect()
    }
}

impl Wiring<'_> {
    /// Adds the loads, each joined to what answers it; or the ways in and out for the outside, in their place.
    pub(super) fn add_loads(
        &self,
        ids: &Ids,
        endpoints: &Endpoints,
        hosts: &Hosts,
        builder: &mut Builder,
    ) -> AddedLoad {
        let askers = askers(self);
        let loads = u32::try_from(askers.len()).expect("a machine has fewer devices, and a phase fewer jobs");
        let (jobs, shared, paths) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let adding = Adding {
            wiring: self,
            ids,
            endpoints,
            hosts,
            builder,
            askers: &askers,
            loads,
            cpus: BTreeMap::new(),
            further: BTreeMap::new(),
            jobs,
            shared,
            common: BTreeMap::new(),
            paths,
        };
        adding.all()
    }

    /// The places on the links of all ports of a component, each with that of its root port.
    pub(super) fn device_ports(
        &self,
        component: usize,
        endpoints: &Endpoints,
    ) -> Vec<(EndpointId, EndpointId)> {
        self.linked_ports(component, endpoints).into_iter().map(|(_, place)| place).collect()
    }
    /// The linked ports of a component that are below a host.
    fn ports_below(&self, host: usize, component: usize, endpoints: &Endpoints) -> Vec<LinkedPort> {
        let is_below = |(end, _): &LinkedPort| {
            self.variant.link_of(*end).is_some_and(|link| link.root_port.component == host)
        };
        self.linked_ports(component, endpoints).into_iter().filter(is_below).collect()
    }
    /// The linked ports of a component, with their places on the links.
    fn linked_ports(&self, component: usize, endpoints: &Endpoints) -> Vec<LinkedPort> {
        let ports = 0..self.variant.machine[component].ports.len();
        let ends = ports.map(|port| End { component, port });
        ends.filter_map(|end| Some((end, *endpoints.get(&end)?))).collect()
    }

    /// A component's place on the links, and that of its root port.
    pub(super) fn device(&self, component: usize, endpoints: &Endpoints) -> Option<(EndpointId, EndpointId)> {
        let port = self.variant.machine[component].port(Protocol::Pcie)?;
        endpoints.get(&End { component, port }).copied()
    }
}

/// A port of a device, its place on the links, and that of its root port.
type LinkedPort = (End, (EndpointId, EndpointId));

/// A load to be added.
#[derive(Clone)]
struct NewLoad<'a> {
    /// Its number among all.
    place: u32,
    pair: &'a Pair,
    /// Its own part of the paths of what it has for itself; empty if it is alone.
    name: String,
    /// The name of its results.
    results_name: String,
    /// Which of the threads of its load it is, if that has several.
    thread: Option<(usize, Thread)>,
}

impl NewLoad<'_> {
    /// The unit of the device that is asked: that of the pair, or the namespace that the thread names, if the device
    /// has several.
    fn unit(&self, device: &ComponentPlan) -> u16 {
        let several = matches!(device.params.0.get("namespaces"), Some(Value::Count(2..)));
        let named = self
            .thread
            .as_ref()
            .filter(|_| several && self.pair.unit == 0)
            .and_then(|(_, thread)| thread.namespace);
        let there = |unit: &u16| u64::from(*unit) < device.params.count("namespaces");
        named.filter(there).unwrap_or(self.pair.unit)
    }
}

/// The machine while loads are added to it.
struct Adding<'a> {
    wiring: &'a Wiring<'a>,
    ids: &'a Ids,
    endpoints: &'a Endpoints,
    hosts: &'a Hosts,
    builder: &'a mut Builder,
    /// Every load.
    askers: &'a [NewLoad<'a>],
    /// How many loads there are.
    loads: u32,
    /// What joins several drivers to their host, by the host's place in the machine.
    cpus: BTreeMap<usize, ComponentId>,
    /// Its ports for the drivers of further paths, by the ports of the drives.
    further: BTreeMap<EndpointId, Port>,
    /// What joins several jobs to a device that takes their requests directly, by its place in the machine.
    jobs: BTreeMap<usize, ComponentId>,
    /// The drivers that serve all loads of a host on a device, by the places of both in the machine.
    shared: BTreeMap<(usize, usize), SharedDriver>,
    /// The drivers that serve all loads on a device, from whichever host, for each of its ports: where hosts take over
    /// from each other.
    common: BTreeMap<usize, Vec<HostPath>>,
    /// What joins the paths to drives that have several.
    paths: Vec<(String, ComponentId)>,
}

/// Every load of a case; none where cores load and store, which needs no other.
fn askers<'a>(wiring: &Wiring<'a>) -> Vec<NewLoad<'a>> {
    if let Some(Load::Memory(_)) = wiring.load {
        return Vec::new();
    }
    let pairs = &wiring.workload.pairs;
    let several = pairs.len() > 1;
    let threads = wiring.load.map(Load::threads).unwrap_or_default();
    let mut all = Vec::new();
    for pair in pairs {
        if threads.is_empty() {
            let (name, results_name) = (pair.device.clone(), pair.device.clone());
            all.push(NewLoad { place: 0, pair, name, results_name, thread: None });
        }
        let on = if several { format!("@{}", pair.device) } else { String::new() };
        for (nth, thread) in threads.iter().enumerate() {
            let [name, results_name] = [&thread.name, &thread.results_name].map(|name| format!("{name}{on}"));
            all.push(NewLoad { place: 0, pair, name, results_name, thread: Some((nth, thread.clone())) });
        }
    }
    if let [only] = &mut all[..] {
        only.name.clear();
    }
    (0..).zip(&mut all).for_each(|(place, asker)| asker.place = place);
    all
}

impl<'a> Adding<'a> {
    fn all(mut self) -> AddedLoad {
        let is_driven = |asker: &&NewLoad<'_>| !self.wiring.is_dma(asker.pair);
        let hosts: BTreeSet<usize> =
            self.askers.iter().filter(is_driven).map(|asker| asker.pair.on).collect();
        hosts.into_iter().for_each(|host| self.join_drivers(host));
        let (mut loads, mut openings) = (Vec::new(), Vec::new());
        for asker in self.askers {
            match self.wiring.load {
                Some(load) => loads.push(self.one(asker, load)),
                None => openings.push(self.open(asker)),
            }
        }
        AddedLoad { loads, openings, paths: self.paths }
    }

    /// A way in and out for the outside, where a load would be.
    fn open(&mut self, asker: &NewLoad<'a>) -> Opening {
        let (answers, _) =
            if self.wiring.is_dma(asker.pair) { self.dma_port(asker.pair) } else { self.block_port(asker) };
        let (entry, exit) = self.builder.open(answers);
        Opening { pair: asker.pair.clone(), entry, exit, handles: Handles::of(asker.place, self.loads) }
    }
    /// The port of a card that takes commands for DMA, and whose it is.
    fn dma_port(&self, pair: &Pair) -> ((ComponentId, Port), String) {
        let on = &self.wiring.variant.machine[pair.on];
        ((self.ids.of(pair.on), port(on, Protocol::Dma)), on.name.clone())
    }

    /// Adds what joins the drivers of a host to it, if there are several.
    fn join_drivers(&mut self, host: usize) {
        let is_driven =
            |asker: &&NewLoad<'_>| asker.pair.on == host && !self.disk(asker.pair).has(Protocol::Block);
        // the first load of each driver, with the driver's device if the driver has it for itself
        let mut drivers: BTreeMap<(usize, Option<u32>), (u32, Option<EndpointId>)> = BTreeMap::new();
        for NewLoad { place, pair, .. } in self.askers.iter().filter(is_driven) {
            let shares = is_shared(models::driver(self.disk(pair).model));
            let ports = self.wiring.ports_below(host, pair.target, self.endpoints);
            let device = ports.first().map(|(_, (device, _))| *device);
            let driver = (pair.target, (!shares).then_some(*place));
            drivers.entry(driver).or_insert((*place, device.filter(|_| shares)));
        }
        // the drivers of further paths have ports behind those of the loads
        let mut further = BTreeMap::new();
        for (target, _) in drivers.keys().filter(|(_, alone)| alone.is_none()) {
            let ports = self.wiring.ports_below(host, *target, self.endpoints);
            for (_, (device, _)) in ports.into_iter().skip(1) {
                further.insert(device, drivers::of_load(self.loads + further.len() as u32));
            }
        }
        let asker = self.askers.iter().find(|asker| asker.pair.on == host);
        if let (Some(asker), true) = (asker, drivers.len() + further.len() > 1) {
            let port =
                |(place, device): &(u32, Option<EndpointId>)| Some(((*device)?, drivers::of_load(*place)));
            let devices: BTreeMap<EndpointId, Port> =
                drivers.values().filter_map(port).chain(further.clone()).collect();
            self.further.extend(further);
            let path = match self.askers.iter().all(|asker| asker.pair.on == host) {
                true => CPU.to_owned(),
                false => format!("{CPU}/{}", self.wiring.variant.machine[host].name),
            };
            let cpu = self.builder.add(path, Box::new(Drivers { loads: self.loads, devices }));
            self.builder.join((cpu, drivers::HOST), self.host(asker.pair));
            self.cpus.insert(host, cpu);
        }
    }

    fn one(&mut self, asker: &NewLoad<'a>, load: &Load) -> WorldLoad {
        let pair = asker.pair;
        let path = path(LOAD, asker);
        let handles = Handles::of(asker.place, self.loads);
        let slot = Slot { seed: self.wiring.seed, path: &path, handles, unit: asker.unit(self.disk(pair)) };
        let (component, device, (answers, asked)): (Box<dyn Component<Message>>, _, _) = match load {
            Load::Dma(case) => {
                let load = DmaLoad::new(case.workload(), slot.seed, &path).calling(handles);
                (Box::new(load), pair.on, self.dma_port(pair))
            }
            Load::Blocks(blocks) => (
                blocks.asker(asker.thread.as_ref().map_or(0, |(nth, _)| *nth), slot),
                pair.target,
                self.block_port(asker),
            ),
            Load::Memory(_) => unreachable!("programs run on cores, and need no load beside them"),
        };
        let id = self.builder.add(&path, component);
        self.builder.join((id, Port(0)), answers);
        let requester = load.is_dma().then(|| self.ids.of(pair.on));
        let shared = self.shared.get(&(pair.target, pair.on));
        let whole = self.wiring.device(device, self.endpoints).map(|(endpoint, _)| endpoint);
        let endpoint = shared.map(|shared| shared.endpoint).or(whole);
        let nvme = shared.map(|shared| NvmeLoad { driver: shared.driver, drive: self.ids.of(pair.target) });
        let further = shared.map(|shared| shared.further.clone()).unwrap_or_default();
        let port = shared.map_or(0, |shared| shared.port);
        let device = asker.results_name.clone();
        let (host, target) = (pair.on, pair.target);
        let asker = self.wiring.variant.machine[host].name.clone();
        WorldLoad { device, host, asker, target, path, id, requester, asked, endpoint, nvme, further, port }
    }

    fn disk(&self, pair: &Pair) -> &ComponentPlan {
        &self.wiring.variant.machine[pair.target]
    }
    /// The port of the host that a driver talks to.
    fn host(&self, pair: &Pair) -> (ComponentId, Port) {
        (self.ids.of(pair.on), port(&self.wiring.variant.machine[pair.on], Protocol::Cpu))
    }
}

/// The path of something that a load has for itself.
fn path(what: &str, asker: &NewLoad<'_>) -> String {
    if asker.name.is_empty() { what.to_owned() } else { format!("{what}/{}", asker.name) }
}

/// What a component is called before people: the path of what is not of the scenario has parentheses.
pub(super) fn shown(path: &str) -> String {
    path.replace(['(', ')'], "")
}

pub(super) fn port(component: &ComponentPlan, speaks: Protocol) -> Port {
    Port(component.port(speaks).expect("the plan was checked for this port") as u16)
}

/// The parameters of a device's driver on a host: as the device or the host has them; the others by default.
pub(super) fn settings(model: &Model, device: &ComponentPlan, host: &ComponentPlan) -> Params {
    let value = |param: &'static lanetwin_ports::Param| {
        let own = device.software(param.name, host).map(|(value, _)| value);
        let default =
            || fields::default(param.dimension, param.default.expect("a driver's parameters have defaults"));
        (param.name, own.unwrap_or_else(default))
    };
    Params(model.all_params().map(value).collect())
}
