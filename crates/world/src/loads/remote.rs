//! Loads on drives of other hosts: the NVMe over Fabrics software of both sides, and the queues between them.
//!
//! ```text
//!  (load)/a ─┐                                                                   ┌─ (driver)/ssd1 ─┐
//!  (load)/b ─┴─ (nvmeof)/server ─ (cpu) ─ server ═ nic ── tor ── nic ═ box ─ (cpu)┴─ (target)/box  ─┴─ box ═ ssd1
//! ```
//!
//! Each load has a queue of its own for each namespace. One core of the target serves this queue and a queue of the
//! drive's driver behind it. If a subsystem has several ports, the load has a queue through each, joined by a
//! multipath component ([`lanetwin_models::multipath`]). Connections are made before the run starts.

use super::super::names::{CPU, DRIVER, NVMEOF, PATHS, TARGET, WITHIN, shown};
use super::adding::{Adding, NewLoad, port, settings};
use super::queues::{Connected, RemoteHost, leaves};
use super::software::{count, own_settings, set_engine, set_engine_within, size};
use super::transports;
use lanetwin_kernel::{ComponentId, Port, role_of};
use lanetwin_models as models;
use lanetwin_models::multipath::{Multipath, MultipathSpec, Policy};
use lanetwin_models::roles::nvmeof::{
    Access, AccessChange, FabricHost, FabricTarget, HostQueue, Meeting, TargetQueue, Way,
};
use lanetwin_models::shared_port::{self, SharedPort};
use lanetwin_nvme::spec::{ControllerId, SqId};
use lanetwin_nvmeof::logic::establish::establish;
use lanetwin_nvmeof::logic::host::{HostName, Queue, QueueConfig};
use lanetwin_nvmeof::logic::target::{ConnectionId, SubsystemId, Target};
use lanetwin_pcie::link::EndpointId;
use lanetwin_plan::{Pair, RemotePlan};
use lanetwin_ports::{Protocol, QueuePairId, RunQueue, Site, Value};
use lanetwin_units::Span;
use std::collections::{BTreeMap, BTreeSet};

/// One path of a load over the network.
struct Remote<'a> {
    asker: &'a NewLoad<'a>,
    /// Number of the path, if there are several.
    path: Option<u16>,
    plan: RemotePlan,
}

/// A target with its queues: one for each adapter through which drives are exported.
struct Serving {
    /// Whether the adapter itself is the target.
    offload: bool,
    target: Target,
    queues: Vec<TargetQueue>,
    /// The drive of each queue.
    drives: Vec<usize>,
}

impl<'a> Adding<'a> {
    /// The connection from a host to a drive that is not below it.
    pub(super) fn remote(&self, pair: &Pair) -> Option<RemotePlan> {
        self.blueprint.variant.network.remote(pair.on, pair.target)
    }
    /// All paths from a host to a drive that is not below it.
    pub(super) fn remotes(&self, pair: &Pair) -> Vec<RemotePlan> {
        self.blueprint.variant.network.remotes(pair.on, pair.target).collect()
    }
    /// The component below a host that its requests go to: the drive, or the adapter that leads to it.
    pub(super) fn asked(&self, pair: &Pair) -> usize {
        self.remote(pair).map_or(pair.target, |remote| remote.adapter)
    }

    /// Adds every target that loads use, with the drivers behind it, and connects the loads.
    pub(super) fn add_targets(&mut self) {
        let askers = self.askers;
        let mut by_port: BTreeMap<usize, Vec<Remote<'a>>> = BTreeMap::new();
        for asker in askers {
            let plans = self.remotes(asker.pair);
            let several = plans.len() > 1;
            for (path, plan) in (0..).zip(plans) {
                let path = several.then_some(path);
                by_port.entry(plan.port).or_default().push(Remote { asker, path, plan });
            }
        }
        let mut on_host: BTreeMap<usize, Vec<(usize, Serving)>> = BTreeMap::new();
        for (port, remotes) in by_port {
            let host = remotes[0].plan.target;
            let before =
                on_host.get(&host).map_or(0, |all| all.iter().map(|(_, own)| own.queues.len()).sum());
            let serving = self.connect(&remotes, before);
            on_host.entry(host).or_default().push((port, serving));
        }
        on_host.into_iter().for_each(|(host, servings)| self.serve(host, servings));
    }

    /// Connects loads to the target behind one adapter; `before` connections have been given cores of the host
    /// already.
    fn connect(&mut self, remotes: &[Remote<'a>], before: usize) -> Serving {
        let variant = self.blueprint.variant;
        let first = &remotes[0].plan;
        let host = &variant.machine[first.target];
        let capsule_data = size(host, "target.in-capsule-data") & !15;
        let entries = count(host, "target.queue-entries");
        let names = variant.network.subsystems.iter().map(|own| nqn(&own.name));
        let mut target = transports::target(names, first.connection, capsule_data);
        let (mut queues, mut drives, mut numbers) = (Vec::new(), Vec::new(), BTreeMap::new());
        for Remote { asker, path, plan } in remotes {
            let config = self.queue_config(asker.pair.on, plan, (entries, capsule_data));
            let association = (asker.pair.on, plan.subsystem);
            let known: usize = numbers.len();
            let (controller, number) = numbers.entry(association).or_insert_with(|| {
                let controller = ControllerId(known as u16 + 1);
                let admin = QueueConfig { controller: 0xffff, entries: 32, ..config.clone() };
                let connection = ConnectionId(1 << 20 | known as u32);
                let is_live = establish(&mut Queue::new(admin), &mut target, (connection, controller));
                assert!(is_live, "the admin queue of a checked plan connects");
                (controller, 0_u16)
            });
            *number += 1;
            let (controller, number) = (*controller, SqId(*number));
            let mut queue = Queue::new(QueueConfig { number, controller: controller.0, ..config });
            let connection = ConnectionId(queues.len() as u32);
            let is_live = establish(&mut queue, &mut target, (connection, controller));
            assert!(is_live, "a queue of a checked plan connects");
            let ([way, other], [manager, its_manager]) = self.ends(asker.pair.on, plan);
            let block =
                if variant.machine[asker.pair.target].params.choice("block") == "512B" { 512 } else { 4096 };
            let (nsid, entries) = (plan.namespace as u32 + 1, queue.config().entries);
            let core = self.core(asker, asker.pair.on).unwrap_or_else(|| RunQueue::new(1));
            // each path to a subsystem is a separate association
            let association = |path: u16| (plan.subsystem << 8 | usize::from(path)) as u32;
            let place = (asker.place, path.unwrap_or(0));
            let (path, meeting) = (path.map(association), Meeting::default());
            let host = HostQueue { queue, way, nsid, block, core, path, meeting: meeting.clone(), manager };
            self.connected.push(Connected { place, plan: *plan, queue: host });
            let core = self.core_of_target(plan, before + queues.len());
            let offered = &variant.network.subsystems[plan.subsystem];
            let staging = offered.in_drives.then(|| self.endpoint(asker.pair.target));
            queues.push(TargetQueue {
                connection,
                subsystem: SubsystemId(plan.subsystem as u16),
                controller,
                number,
                way: other,
                entries,
                block,
                core,
                staging,
                access: if plan.optimized { Access::Optimized } else { Access::NonOptimized },
                namespaces: offered.namespaces.len() as u32,
                meeting,
                manager: its_manager,
            });
            drives.push(asker.pair.target);
        }
        Serving { offload: self.is_offloaded(first.subsystem), target, queues, drives }
    }
    /// The core that serves a connection, `thread` being the number of connections before it.
    fn core_of_target(&self, plan: &RemotePlan, thread: usize) -> RunQueue {
        match self.is_offloaded(plan.subsystem) {
            true => self.core_of(plan.port, 0),
            false => self.core_of(plan.target, thread),
        }
    }
    /// Whether the adapter of a subsystem is itself the target.
    fn is_offloaded(&self, subsystem: usize) -> bool {
        self.blueprint.variant.network.subsystems[subsystem].offload
    }

    fn queue_config(&self, host: usize, plan: &RemotePlan, (most, capsule_data): (u32, u32)) -> QueueConfig {
        let machine = &self.blueprint.variant.machine;
        let wanted = match machine[host].params.0.get("driver.rdma.queue-entries") {
            Some(Value::Count(entries)) => *entries as u32,
            _ => most,
        };
        let mut id = [0; 16];
        id[0] = host as u8 + 1;
        QueueConfig {
            number: SqId::ADMIN,
            entries: wanted.min(most),
            flow_control: true,
            host: HostName { nqn: nqn(&machine[host].name), id },
            subsystem: nqn(&self.blueprint.variant.network.subsystems[plan.subsystem].name),
            controller: 0,
            keep_alive_ms: 0,
            transport: transports::of_host(plan.connection),
            buffer: 0,
            capsule_data,
        }
    }

    /// Both ends of a connection, the initiator's first, and the connection managers' queue pairs if the host
    /// disconnects.
    fn ends(&self, host: usize, plan: &RemotePlan) -> ([Way; 2], [Option<QueuePairId>; 2]) {
        let stations = [plan.adapter, plan.port].map(|adapter| self.station(adapter));
        let hosts = [host, plan.target].map(|host| &self.blueprint.variant.machine[host].params);
        let how = (plan.connection, hosts, self.is_offloaded(plan.subsystem));
        let ends = transports::connect(self.net, stations, how);
        let leaves = &self.blueprint.variant.network.subsystems[plan.subsystem].leaves;
        let leaves = leaves.iter().any(|leave| leave.is_of(host, plan.port));
        let managers = transports::managers(self.net, &ends, leaves);
        (ends, managers)
    }

    pub(super) fn station(&self, adapter: usize) -> lanetwin_fabric::ethernet::logic::Station {
        let plan = &self.blueprint.variant.machine[adapter];
        let port = plan.port(Protocol::Ethernet).expect("an adapter has a port");
        let end = lanetwin_plan::End { component: adapter, port };
        self.net.wires.station(end).expect("an adapter that is asked over has a cable")
    }
    /// The core of a host's thread, or a core of its own if the number of the host's cores is not given.
    fn core_of(&self, host: usize, thread: usize) -> RunQueue {
        let core = self.hosts.get(&host).and_then(|host| host.core(thread));
        core.unwrap_or_else(|| RunQueue::new(1))
    }
    /// Whether a host reports its cores itself.
    fn reports_cores(&self, host: usize) -> bool {
        self.hosts.get(&host).is_some_and(|host| !host.cores.is_empty())
    }

    /// Adds the software of a host that exports drives: targets, drivers, and the component that joins them to the
    /// host. If an adapter is the target, all of it is joined to the adapter, which receives the completion entries.
    fn serve(&mut self, host: usize, servings: Vec<(usize, Serving)>) {
        let plan = &self.blueprint.variant.machine[host];
        let is_within = |own: &Serving| own.offload;
        let own = servings.iter().filter(|(_, own)| !is_within(own));
        let drives: BTreeSet<usize> = own.clone().flat_map(|(_, own)| own.drives.clone()).collect();
        let endpoint = |component| self.endpoint(component);
        let all = drives.iter().copied().chain(own.map(|(port, _)| *port));
        let mut devices: BTreeMap<EndpointId, Port> =
            (0..).zip(all).map(|(place, device)| (endpoint(device), shared_port::of_load(place))).collect();
        let mut within = Vec::new();
        for (adapter, own) in servings.iter().filter(|(_, own)| is_within(own)) {
            let port = shared_port::of_load((devices.len() + within.len()) as u32);
            within.push((
                *adapter,
                port,
                own.drives.iter().map(|drive| endpoint(*drive)).collect::<Vec<_>>(),
            ));
        }
        for (_, port, drives) in &within {
            devices.extend(drives.iter().map(|drive| (*drive, *port)));
        }
        let mux = format!("{CPU}/{}", plan.name);
        let mux = self.builder.add(mux, Box::new(SharedPort { loads: 1, devices: devices.clone() }));
        self.builder.join((mux, shared_port::HOST), (self.ids.of(host), port(plan, Protocol::Cpu)));
        for (adapter, from, _) in within {
            let entries = self.blueprint.variant.machine[adapter].named_port("host");
            let entries = Port(entries.expect("an adapter that can be a target has this port") as u16);
            self.builder.join((mux, from), (self.ids.of(adapter), entries));
        }
        let (offloaded, own): (Vec<_>, Vec<_>) = servings.into_iter().partition(|(_, own)| is_within(own));
        self.run_targets((host, None), own, (mux, &devices));
        for (adapter, serving) in offloaded {
            self.serve_within(host, adapter, serving);
        }
    }
    /// Adds the target software inside an adapter.
    fn serve_within(&mut self, host: usize, adapter: usize, serving: Serving) {
        let plan = &self.blueprint.variant.machine[adapter];
        let drives: BTreeSet<usize> = serving.drives.iter().copied().collect();
        let all = drives.into_iter().chain([adapter]).map(|device| self.endpoint(device));
        let devices: BTreeMap<EndpointId, Port> =
            (0..).zip(all).map(|(place, device)| (device, shared_port::of_load(place))).collect();
        let mux = format!("{WITHIN}/{}", plan.name);
        let mux = self.builder.add(mux, Box::new(SharedPort { loads: 1, devices: devices.clone() }));
        let inside = plan.named_port("within").expect("an adapter that can be a target has this port");
        self.builder.join((mux, shared_port::HOST), (self.ids.of(adapter), Port(inside as u16)));
        self.run_targets((host, Some(adapter)), vec![(adapter, serving)], (mux, &devices));
    }
    /// Adds targets with the drivers behind them, joined to the component that takes their doorbells: the host, or
    /// the adapter that contains them.
    fn run_targets(
        &mut self,
        (host, within): (usize, Option<usize>),
        servings: Vec<(usize, Serving)>,
        (mux, devices): (ComponentId, &BTreeMap<EndpointId, Port>),
    ) {
        // the cores of each drive's queues, in the order of its driver's ports
        let mut cores: BTreeMap<usize, Vec<RunQueue>> = BTreeMap::new();
        let mut added = Vec::new();
        for (adapter, Serving { target, queues, drives, .. }) in servings {
            let own = queues.iter().map(|queue| queue.core.clone());
            let behind: Vec<(usize, u16)> = drives
                .iter()
                .zip(own)
                .map(|(drive, core)| {
                    let cores = cores.entry(*drive).or_default();
                    cores.push(core);
                    (*drive, cores.len() as u16)
                })
                .collect();
            let id = self.add_target((host, within), adapter, (target, queues));
            self.builder.join((id, Port(0)), (mux, devices[&self.endpoint(adapter)]));
            added.push((id, behind));
        }
        let drivers: BTreeMap<usize, ComponentId> = cores
            .into_iter()
            .map(|(drive, cores)| {
                let id = self.add_driver_of_target((host, within), drive, cores);
                self.builder.join((id, Port(0)), (mux, devices[&self.endpoint(drive)]));
                (drive, id)
            })
            .collect();
        for (id, behind) in added {
            for (connection, (drive, port)) in (0..).zip(behind) {
                self.builder.join((id, Port(1 + connection)), (drivers[&drive], Port(port)));
            }
        }
    }
    pub(super) fn endpoint(&self, component: usize) -> EndpointId {
        let (endpoint, _) =
            self.blueprint.device(component, self.endpoints).expect("a device that is asked is linked");
        endpoint
    }

    fn add_target(
        &mut self,
        (host, within): (usize, Option<usize>),
        adapter: usize,
        (target, queues): (Target, Vec<TargetQueue>),
    ) -> ComponentId {
        let machine = &self.blueprint.variant.machine;
        let model = models::find("nvmeof-target").expect("it is on the shelf");
        let mut params = own_settings(model, &machine[host]);
        params.0.insert("ports", Value::Count(queues.len() as u64));
        if let Some(adapter) = within {
            set_engine_within(&mut params, &machine[adapter]);
            params.0.insert("driver.poll", Value::Time(Span::ZERO));
        }
        let path = format!("{TARGET}/{}", machine[adapter].name);
        let cores = if self.reports_cores(within.unwrap_or(host)) {
            queues.iter().map(|queue| queue.core.clone()).collect()
        } else {
            Vec::new()
        };
        let (to, rdma) = (Some(self.endpoint(adapter)), self.net.rdma.clone());
        let site = Site { target: to, cores, rdma, ..Site::alone(path.as_str(), self.blueprint.seed) };
        let mut component = model.component(&params, &site).expect("software is a component");
        let role = role_of::<_, dyn FabricTarget>(&mut *component).expect("a target");
        role.serve(target, queues);
        role.change_access(self.access_changes(adapter));
        self.builder.add(path, component)
    }

    /// The changes over time of the ANA state of namespaces behind an adapter.
    fn access_changes(&self, adapter: usize) -> Vec<AccessChange> {
        let subsystems = (0..).zip(&self.blueprint.variant.network.subsystems);
        let changes = subsystems.flat_map(|(number, own)| {
            let of_it = own.access.iter().filter(|change| change.adapter == adapter);
            let change = move |at, access| AccessChange { at, subsystem: SubsystemId(number), access };
            of_it.map(move |plan| change(plan.at, plan.access))
        });
        changes.collect()
    }

    fn add_driver_of_target(
        &mut self,
        (host, within): (usize, Option<usize>),
        drive: usize,
        cores: Vec<RunQueue>,
    ) -> ComponentId {
        let machine = &self.blueprint.variant.machine;
        let model = models::driver(machine[drive].model);
        let mut params = settings(model, &machine[drive], &machine[host]);
        match within {
            Some(adapter) => set_engine_within(&mut params, &machine[adapter]),
            None => set_engine(&mut params, &machine[host]),
        }
        params.0.insert("ports", Value::Count(cores.len() as u64));
        let path = format!("{DRIVER}/{}", machine[drive].name);
        let (target, memory) =
            (Some(self.endpoint(drive)), self.hosts.get(&host).map(|host| host.memory.clone()));
        let mut subsystems = self.blueprint.variant.network.subsystems.iter();
        let in_drives = subsystems.any(|own| own.in_drives && own.namespaces.contains(&drive));
        let in_capsule = size(&machine[host], "target.in-capsule-data") & !15;
        let staging = target.filter(|_| in_drives).map(|drive| (drive, in_capsule));
        let site = Site { target, memory, cores, staging, ..Site::alone(path.as_str(), self.blueprint.seed) };
        let component = model.component(&params, &site).expect("a driver is a component");
        self.builder.add(path, component)
    }

    /// The port that answers a load over the network, and the name of its component.
    pub(super) fn remote_port(
        &mut self,
        asker: &NewLoad<'_>,
        remote: &RemotePlan,
    ) -> ((ComponentId, Port), String) {
        let key = (asker.pair.on, remote.adapter);
        if !self.remotes.contains_key(&key) {
            let added = self.add_remote_host(asker, remote);
            self.remotes.insert(key, added);
        }
        let host = self.remotes.get_mut(&key).expect("it has just been added, if it was not there");
        let port = Port(host.next);
        host.next += 1;
        ((host.id, port), shown(&host.path))
    }

    /// The port that answers a load over several paths, and the name of its component.
    pub(super) fn remote_paths(
        &mut self,
        asker: &NewLoad<'_>,
        remotes: &[RemotePlan],
    ) -> ((ComponentId, Port), String) {
        let key = (asker.pair.target, asker.pair.on);
        let loads =
            self.askers.iter().filter(|other| (other.pair.target, other.pair.on) == key).count() as u16;
        if !self.joined.contains_key(&key) {
            let joined = self.join_remotes(asker.pair, remotes, loads);
            self.joined.insert(key, joined);
        }
        let joined = self.joined.get_mut(&key).expect("it has just been added, if it was not there");
        let (id, load, name) = (joined.id, joined.next, shown(&joined.path));
        joined.next += 1;
        for (path, remote) in (0..).zip(remotes) {
            let (port, _) = self.remote_port(asker, remote);
            self.builder.join((id, Multipath::of_path(path, load, loads)), port);
        }
        ((id, Multipath::of_load(load)), name)
    }
    /// Adds the component that joins the paths of a host to a drive.
    fn join_remotes(&mut self, pair: &Pair, remotes: &[RemotePlan], loads: u16) -> RemoteHost {
        let host = &self.blueprint.variant.machine[pair.on];
        let policy = match self.disk(pair).software("driver.multipath", host) {
            Some((Value::Choice(policy), _)) => Policy::of(policy),
            _ => Policy::First,
        };
        let drive = self.shared_name(pair);
        let others = remotes.iter().enumerate().filter(|(_, remote)| !remote.optimized);
        let spec = MultipathSpec {
            drive: drive.clone(),
            policy,
            loads,
            own: remotes.len(),
            paths: remotes.len(),
            others: others.map(|(path, _)| path).collect(),
            takeover: Span::ZERO,
        };
        let path = format!("{PATHS}/{drive}");
        let id = self.builder.add(&path, Box::new(Multipath::new(spec)));
        self.paths.push((drive, id));
        RemoteHost { id, path, next: 0 }
    }

    fn add_remote_host(&mut self, asker: &NewLoad<'_>, remote: &RemotePlan) -> RemoteHost {
        let (pair, machine) = (asker.pair, &self.blueprint.variant.machine);
        let model = models::find("nvmeof-host").expect("it is on the shelf");
        let host = &machine[pair.on];
        let is_its = |other: &&NewLoad<'_>| {
            other.pair.on == pair.on
                && self.remotes(other.pair).iter().any(|own| own.adapter == remote.adapter)
        };
        let places: Vec<u32> = self.askers.iter().filter(is_its).map(|other| other.place).collect();
        let is_its = |one: &Connected| one.plan.adapter == remote.adapter && places.contains(&one.place.0);
        let (mut own, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.connected).into_iter().partition(is_its);
        self.connected = others;
        own.sort_by_key(|one| one.place);
        let mut params = settings(model, &machine[pair.target], host);
        self.set_engine(pair, asker, &mut params);
        params.0.insert("ports", Value::Count(own.len() as u64));
        let path = format!("{NVMEOF}/{}", machine[remote.adapter].name);
        let cores = if self.reports_cores(pair.on) {
            own.iter().map(|one| one.queue.core.clone()).collect()
        } else {
            Vec::new()
        };
        let (target, rdma) = (Some(self.endpoint(remote.adapter)), self.net.rdma.clone());
        let site = Site { target, cores, rdma, ..Site::alone(path.as_str(), self.blueprint.seed) };
        let mut component = model.component(&params, &site).expect("software is a component");
        let leaves = leaves(pair.on, &own, &self.blueprint.variant.network);
        let role = role_of::<_, dyn FabricHost>(&mut *component).expect("a host");
        role.connect(own.into_iter().map(|one| one.queue).collect());
        role.leave(leaves);
        let id = self.builder.add(&path, component);
        let is_first =
            |other: &&NewLoad<'_>| other.pair.on == pair.on && self.asked(other.pair) == remote.adapter;
        let first = self.askers.iter().find(is_first).map(|first| shared_port::of_load(first.place));
        let own = target.and_then(|device| self.further.get(&device).copied()).or(first);
        let cpu = self.cpus.get(&pair.on).copied().zip(own).unwrap_or_else(|| self.host(pair));
        self.builder.join((id, Port(0)), cpu);
        RemoteHost { id, path, next: 1 }
    }
}

/// The NVMe Qualified Name of an object of the scenario.
fn nqn(name: &str) -> String {
    format!("nqn.2026-01.org.lanetwin:{name}")
}
