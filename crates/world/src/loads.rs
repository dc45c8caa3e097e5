//! The loads of a world: one for each device that is measured, with a driver where the device needs one.
//!
//! ```text
//!  DMA     (load)/card1 ─ card1        (load)/card2 ─ card2
//!  blocks  (load)/ssd1 ─ (driver)/ssd1 ─┐
//!          (load)/ssd2 ─ (driver)/ssd2 ─┴─ (cpu) ─ host ═ … ═ ssd1, ssd2
//!  a DPU   (load) ─ (driver) ─ host ═ dpu.front ─ (queues) ─ (nvmeof)/dpu.nic ─ dpu.arm ═ dpu.nic ── … ═ ssd1
//! ```
//!
//! The device's model determines its driver ([`lanetwin_models::driver`]); a driver with a port for each load serves
//! all loads of its device.
//!
//! A single load is called `(load)`, its driver `(driver)`. Random streams derive from these names, so that the
//! requests to one device do not depend on the others. All loads begin at the same instant, so that loads with fixed
//! gaps issue requests at the same instants throughout.

mod adding;
mod driving;
mod forwarding;
mod network;
mod queues;
mod remote;
mod software;
mod transports;

use super::blueprint::{Blueprint, Ids};
use super::ethernet::Ethernet;
use super::hosts::Hosts;
use super::memory::as_results;
use super::names::{CPU, LOAD};
use super::pcie_links::Endpoints;
use super::world::{NvmeLoad, Opening, World, WorldLoad};
use adding::{Adding, NewLoad, is_shared, path};
pub(super) use adding::{port, settings};
use lanetwin_kernel::{Component, ComponentId, Port};
use lanetwin_load::{CountsOperations, DmaLoad, GaveUp, Handles, Results, Slot};
use lanetwin_models::shared_port::{self, SharedPort};
use lanetwin_models::{self as models, roles::RequestsByDma};
use lanetwin_pcie::link::EndpointId;
use lanetwin_plan::{Load, Pair};
use lanetwin_ports::{Builder, Message, Protocol};
use lanetwin_units::Instant;
use std::collections::{BTreeMap, BTreeSet};

/// The loads, and the components added for them.
pub(super) struct AddedLoad {
    pub(super) loads: Vec<WorldLoad>,
    pub(super) openings: Vec<Opening>,
    /// The components that join the paths to drives with several.
    pub(super) paths: Vec<(String, ComponentId)>,
}

/// A load that gave up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GivenUp {
    /// When.
    pub at: Instant,
    /// Why.
    pub why: GaveUp,
    /// Number of operations issued.
    pub asked: u64,
    /// Number of operations answered.
    pub answered: u64,
}

impl World {
    /// Number of operations issued and of operations answered, over all loads.
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
    /// What the run has cost so far, in events: those of the kernel, and lines that programs of a memory load have
    /// touched, most of which make no event if caches or the host's own memory serve them. A line costs about as much.
    pub(super) fn effort(&mut self) -> u64 {
        let lines = self.memory_host().map_or(0, |host| host.touched());
        self.kernel.events() + lines
    }
    /// The first load that has given up, if one has.
    pub fn given_up(&mut self) -> Option<GivenUp> {
        if self.memory.is_some() {
            return None;
        }
        self.load_ids().into_iter().find_map(|id| {
            let load = self.load(id);
            let ((at, why), (asked, answered)) = (load.gave_up()?, load.progress());
            Some(GivenUp { at, why, asked, answered })
        })
    }
    /// Resets the counters of all loads at `at`, the present.
    ///
    /// # Panics
    /// If something was counted after `at`.
    pub fn reset(&mut self, at: Instant) {
        if let Some(host) = self.host_with_programs() {
            host.reset(at);
        }
        self.load_ids().into_iter().for_each(|id| self.load(id).reset(at));
    }
    /// The counters of each load, or of each program of a memory load, up to `at`, the present.
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
    /// Stops all loads: they issue no more operations.
    pub fn stop(&mut self) {
        if let Some(host) = self.host_with_programs() {
            host.stop();
        }
        self.load_ids().into_iter().for_each(|id| self.load(id).stop());
    }
    /// The DMA requester that a load commands, if there is one; `load` is an index into [`World::loads`].
    pub fn requester(&mut self, load: usize) -> Option<&mut (dyn RequestsByDma + 'static)> {
        self.kernel.role::<dyn RequestsByDma>(self.loads[load].requester?)
    }

    /// A load of any kind.
    pub(crate) fn load(&mut self, id: ComponentId) -> &mut (dyn CountsOperations + 'static) {
        self.kernel.role::<dyn CountsOperations>(id).expect("a load counts operations")
    }
    pub(super) fn load_ids(&self) -> Vec<ComponentId> {
        self.loads.iter().map(|load| load.id).collect()
    }
}

impl Blueprint<'_> {
    /// Adds the loads, each joined to the component that answers it; without a load, adds openings instead.
    pub(super) fn add_loads(
        &self,
        ids: &Ids,
        (endpoints, net): (&Endpoints, &Ethernet),
        hosts: &Hosts,
        builder: &mut Builder,
    ) -> AddedLoad {
        let mut askers = askers(self);
        let loads = u32::try_from(askers.len()).expect("a machine has fewer devices, and a phase fewer jobs");
        let forwarding = self.forwarding();
        askers.extend((loads..).zip(&forwarding).map(|(place, queue)| queue.asker(place)));
        let (jobs, shared, paths) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let adding = Adding {
            blueprint: self,
            ids,
            endpoints,
            net,
            hosts,
            builder,
            askers: &askers,
            loads,
            cpus: BTreeMap::new(),
            further: BTreeMap::new(),
            jobs,
            shared,
            common: BTreeMap::new(),
            connected: Vec::new(),
            remotes: BTreeMap::new(),
            joined: BTreeMap::new(),
            network: None,
            paths,
        };
        adding.all()
    }
}

/// Every load of a case; empty for a memory load, which runs on cores.
fn askers<'a>(blueprint: &Blueprint<'a>) -> Vec<NewLoad<'a>> {
    if let Some(Load::Memory(_)) = blueprint.load {
        return Vec::new();
    }
    let pairs = &blueprint.workload.pairs;
    let several = pairs.len() > 1;
    let threads = blueprint.load.map(Load::threads).unwrap_or_default();
    let hosts: Vec<usize> = pairs.iter().map(|pair| pair.on).collect();
    let asks = blueprint.load.and_then(|load| load.asks(&hosts));
    let mut all = Vec::new();
    for (place, pair) in pairs.iter().enumerate() {
        if threads.is_empty() {
            let (name, results_name) = (pair.device.clone(), pair.device.clone());
            all.push(NewLoad { place: 0, pair, name, results_name, thread: None });
        }
        let on = if several { format!("@{}", pair.device) } else { String::new() };
        let is_its = |nth: usize| asks.as_ref().is_none_or(|asks| asks[nth].contains(&place));
        for (nth, thread) in threads.iter().enumerate().filter(|(nth, _)| is_its(*nth)) {
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
        match self.blueprint.load.and_then(Load::network) {
            Some(programs) => self.add_programs(programs),
            None => self.add_drivers(),
        }
        let (mut loads, mut openings) = (Vec::new(), Vec::new());
        for asker in &self.askers[..self.loads as usize] {
            match self.blueprint.load {
                Some(load) => loads.push(self.one(asker, load)),
                None => openings.push(self.open(asker)),
            }
        }
        self.join_forwarding();
        AddedLoad { loads, openings, paths: self.paths }
    }

    /// Adds targets, and the components that join the drivers of each host to it.
    fn add_drivers(&mut self) {
        self.add_targets();
        let is_driven = |asker: &&NewLoad<'_>| !self.blueprint.is_dma(asker.pair);
        let hosts: BTreeSet<usize> =
            self.askers.iter().filter(is_driven).map(|asker| asker.pair.on).collect();
        hosts.into_iter().for_each(|host| self.join_drivers(host));
    }

    /// Adds an opening instead of a load.
    fn open(&mut self, asker: &NewLoad<'a>) -> Opening {
        let (answers, _) = if self.blueprint.is_dma(asker.pair) {
            self.dma_port(asker.pair)
        } else {
            self.block_port(asker)
        };
        let (entry, exit) = self.builder.open(answers);
        Opening { pair: asker.pair.clone(), entry, exit, handles: Handles::of(asker.place, self.loads) }
    }
    /// The port of a card that takes DMA commands, and the name of the card.
    fn dma_port(&self, pair: &Pair) -> ((ComponentId, Port), String) {
        let on = &self.blueprint.variant.machine[pair.on];
        ((self.ids.of(pair.on), port(on, Protocol::Dma)), on.name.clone())
    }

    /// Adds the component that joins the drivers of a host to it, if there are several.
    fn join_drivers(&mut self, host: usize) {
        let is_driven =
            |asker: &&NewLoad<'_>| asker.pair.on == host && !self.disk(asker.pair).answers_blocks();
        // the first load of each driver, with the driver's device if several loads share the driver
        let mut drivers: BTreeMap<(usize, Option<u32>), (u32, Option<EndpointId>)> = BTreeMap::new();
        for NewLoad { place, pair, .. } in self.askers.iter().filter(is_driven) {
            let asked = self.asked(pair);
            let shares = asked != pair.target || is_shared(models::driver(self.disk(pair).model));
            let ports = self.blueprint.ports_below(host, asked, self.endpoints);
            let device = ports.first().map(|(_, (device, _))| *device);
            let driver = (asked, (!shares).then_some(*place));
            drivers.entry(driver).or_insert((*place, device.filter(|_| shares)));
        }
        // the drivers of further paths have ports after those of all loads
        let places = self.askers.len() as u32;
        let mut further = BTreeMap::new();
        for (target, _) in drivers.keys().filter(|(_, alone)| alone.is_none()) {
            let ports = self.blueprint.ports_below(host, *target, self.endpoints);
            for (_, (device, _)) in ports.into_iter().skip(1) {
                further.insert(device, shared_port::of_load(places + further.len() as u32));
            }
        }
        // and so do the adapters of further paths
        let remotes = self.askers.iter().filter(is_driven).flat_map(|asker| self.remotes(asker.pair));
        for adapter in remotes.map(|remote| remote.adapter) {
            let device = self.blueprint.device(adapter, self.endpoints).map(|(device, _)| device);
            if let Some(device) = device.filter(|_| !drivers.contains_key(&(adapter, None))) {
                let next = shared_port::of_load(places + further.len() as u32);
                further.entry(device).or_insert(next);
            }
        }
        let asker = self.askers.iter().find(|asker| asker.pair.on == host);
        if let (Some(asker), true) = (asker, drivers.len() + further.len() > 1) {
            let port = |(place, device): &(u32, Option<EndpointId>)| {
                Some(((*device)?, shared_port::of_load(*place)))
            };
            let devices: BTreeMap<EndpointId, Port> =
                drivers.values().filter_map(port).chain(further.clone()).collect();
            self.further.extend(further);
            let path = match self.askers.iter().all(|asker| asker.pair.on == host) {
                true => CPU.to_owned(),
                false => format!("{CPU}/{}", self.blueprint.variant.machine[host].name),
            };
            let cpu = self.builder.add(path, Box::new(SharedPort { loads: self.loads, devices }));
            self.builder.join((cpu, shared_port::HOST), self.host(asker.pair));
            self.cpus.insert(host, cpu);
        }
    }

    fn one(&mut self, asker: &NewLoad<'a>, load: &Load) -> WorldLoad {
        let pair = asker.pair;
        let path = path(LOAD, asker);
        let handles = Handles::of(asker.place, self.loads);
        let slot =
            Slot { seed: self.blueprint.seed, path: &path, handles, unit: asker.unit(self.disk(pair)) };
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
        let whole = self.blueprint.device(device, self.endpoints).map(|(endpoint, _)| endpoint);
        let whole = whole.filter(|_| self.network.is_none());
        let endpoint = shared.map(|shared| shared.endpoint).or(whole);
        let nvme = shared.map(|shared| NvmeLoad { driver: shared.driver, drive: self.ids.of(pair.target) });
        let further = shared.map(|shared| shared.further.clone()).unwrap_or_default();
        let port = shared.map_or(0, |shared| shared.port);
        let device = asker.results_name.clone();
        let (host, target) = (pair.on, pair.target);
        let asker = self.blueprint.variant.machine[host].name.clone();
        WorldLoad { device, host, asker, target, path, id, requester, asked, endpoint, nvme, further, port }
    }
}
