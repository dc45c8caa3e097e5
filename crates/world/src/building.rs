//! Builds a world: a kernel that runs, from components, links and loads.

use super::blueprint::{Blueprint, Ids};
use super::ethernet::Ethernet;
use super::hosts::{Hosts, hosts};
use super::loads::AddedLoad;
use super::names::LINKS;
use super::pcie_links::{self, Endpoints};
use super::stopping::Stopping;
use super::world::World;
use lanetwin_kernel::{ComponentId, Port};
use lanetwin_models::roles::nvme::ScheduledCommand;
use lanetwin_pcie::link::EndpointId;
use lanetwin_plan::{
    Cache, Case, ComponentPlan, CxlRole, DmaCase, End, Load, Pair, PortPlan, RunLength, SubsystemPlan,
    Variant, WorkloadPlan,
};
use lanetwin_ports::{Builder, Capability, Links, Params, PcieSite, Protocol, SharedMemory, Site, Value};
use lanetwin_units::{Bytes, Instant};

impl World {
    /// Builds the world of a variant for one case of one of its workloads.
    ///
    /// # Panics
    /// If the plan does not come from [`lanetwin_plan::check`], whose checks building relies on.
    #[must_use]
    pub fn new(variant: &Variant, workload: &WorkloadPlan, case: &Case, seed: u64) -> Self {
        Blueprint { variant, workload, load: Some(&case.load), seed }.build()
    }
    /// Builds the world of a variant without a load. The caller sends requests through one opening for each of these
    /// pairs, of which there may be none.
    ///
    /// # Panics
    /// If the variant does not come from [`lanetwin_plan::check`], or one of a pair cannot send requests to the
    /// other.
    #[must_use]
    pub fn without_load(variant: &Variant, pairs: &[Pair], seed: u64) -> Self {
        let workload = WorkloadPlan {
            name: String::new(),
            pairs: pairs.to_vec(),
            cases: Vec::new(),
            length: RunLength::Stated,
            steady: None,
            takeover: None,
            programs: None,
            actions: Vec::new(),
        };
        Blueprint { variant, workload: &workload, load: None, seed }.build()
    }
}

impl Blueprint<'_> {
    fn build(&self) -> World {
        let (links, endpoints) = self.links();
        let mut builder = Builder::new();
        let links = builder.add_foreseeing(LINKS, Box::new(links));
        let hosts = hosts(self.variant, self.workload);
        let net = Ethernet::new(self.variant);
        let add = |i| self.add(i, (&endpoints, &net), &hosts, &mut builder);
        let ids = Ids((0..self.variant.machine.len()).map(add).collect());
        let port = |end: &End| (ids.of(end.component), Port(end.port as u16));
        for (end, (endpoint, _)) in &endpoints {
            builder.join(port(end), (links, Port(endpoint.0)));
        }
        for cable in &self.variant.network.cables {
            builder.join(port(&cable.from), port(&cable.to));
        }
        for join in &self.variant.joins {
            builder.join(port(&join.from), port(&join.to));
        }
        let cxl = self.add_cxl(&ids, &mut builder);
        self.add_driven(&ids, &endpoints, &hosts, &mut builder);
        let AddedLoad { loads, openings, paths } =
            self.add_loads(&ids, (&endpoints, &net), &hosts, &mut builder);
        let served = |pair: &Pair| if self.is_dma(pair) { pair.target } else { pair.on };
        let server = self.workload.pairs.first().map(|pair| ids.of(served(pair)));
        let is_drive = |(_, component): &(usize, &ComponentPlan)| component.model.can(Capability::NvmeQueues);
        let drives = self.variant.machine.iter().enumerate().filter(is_drive);
        let drives = drives.map(|(i, component)| (component.name.clone(), ids.of(i))).collect();
        let (memory, programs) = self.memory(&ids);
        let mut world = World {
            kernel: builder.seal(),
            links,
            cxl,
            ethernet: self.senders_of_frames(&ids),
            loads,
            openings,
            paths,
            memory,
            programs,
            devices: self.of_role(CxlRole::Device, &ids),
            switches: self.of_role(CxlRole::Switch, &ids),
            drives,
            server,
            actions: Vec::new(),
            keeps_operations: false,
            stopping: Stopping::default(),
            capture: None,
        };
        self.run_programs(&mut world);
        world.find_actions(self.workload);
        world
    }

    /// The devices that a host drives as a target, or sends through: adapters, and the drives that it exports.
    fn remote_devices(&self, host: usize) -> Vec<usize> {
        let network = &self.variant.network;
        let offered = network.subsystems.iter().filter(move |own| own.host == host);
        let ports = |own: &SubsystemPlan| own.ports.iter().map(|port| port.adapter).collect::<Vec<_>>();
        let offered = offered.flat_map(|own| own.namespaces.iter().copied().chain(ports(own)));
        let asked = network.associations.iter().filter(move |own| own.host == host).map(|own| own.adapter);
        offered.chain(asked).chain(self.peer_adapters(host)).collect()
    }

    /// The components that send Ethernet frames.
    fn senders_of_frames(&self, ids: &Ids) -> Vec<ComponentId> {
        let machine = 0..self.variant.machine.len();
        machine.filter(|component| self.variant.network.is_at(*component)).map(|i| ids.of(i)).collect()
    }

    fn links(&self) -> (Links, Endpoints) {
        let (links, endpoints) = pcie_links::links(self.variant);
        (links.build(self.seed).expect("the links of a checked plan fit together"), endpoints)
    }

    fn add(
        &self,
        i: usize,
        (endpoints, net): (&Endpoints, &Ethernet),
        hosts: &Hosts,
        builder: &mut Builder,
    ) -> Option<ComponentId> {
        let component = &self.variant.machine[i];
        let pcie = component.ports.iter().enumerate().filter(|(_, port)| port.speaks == Protocol::Pcie);
        let pcie = pcie.map(|(port, _)| self.pcie_site(End { component: i, port }, endpoints)).collect();
        // A host that rings doorbells must know behind which of its root ports the device is.
        let sends = self.load.and_then(Load::network).is_some();
        let asked = self.workload.pairs.iter().filter(|pair| !sends && pair.on == i).map(|pair| pair.target);
        let driven = self.variant.driven.iter().filter(|driven| driven.host == i && !self.is_remote(driven));
        let driven = driven.map(|driven| driven.drive);
        let remote = self.remote_devices(i);
        let routes =
            asked.chain(driven).chain(remote).flat_map(|drive| self.device_ports(drive, endpoints)).collect();
        let target = self.peer(i, endpoints);
        let memory = hosts.get(&self.host_of(i)).map(|host| host.memory.clone());
        let runs_on = self.variant.driven.iter().find(|driven| driven.from.component == i);
        let runs_on = runs_on.map_or(i, |driven| driven.host);
        let cores = hosts.get(&runs_on).map(|host| host.cores.clone()).unwrap_or_default();
        let path = component.name.clone();
        let decoding = self.variant.decoding.iter().find(|decoding| decoding.component == i);
        let decoders = decoding.map(|decoding| decoding.decoders.clone()).unwrap_or_default();
        let mut site = Site {
            pcie,
            target,
            routes,
            memory,
            cores,
            decoders,
            losses: self.losses(i),
            behind: self.behind(i, hosts),
            tells_busy_time: self.tells_busy_time(i),
            ..Site::alone(path, self.seed)
        };
        net.tell(i, self.variant, &mut site);
        let mut params = component.params.clone();
        if self.workload.pairs.iter().any(|pair| pair.target == i) {
            self.set_cache(&mut params);
            self.purge(&mut params);
        }
        self.precondition(&mut params);
        self.set_device_cache(i, &mut params);
        let device = component.model.component(&params, &site)?;
        let foresees = component.model.foresees;
        let add = if foresees { Builder::add_foreseeing } else { Builder::add };
        Some(add(builder, component.name.as_str(), device))
    }

    /// Whether the workload reads the drive's SMART log.
    fn tells_busy_time(&self, component: usize) -> bool {
        let actions = &self.workload.actions;
        actions.iter().any(|action| action.drive == component && action.ask == ScheduledCommand::SmartLog)
    }

    /// The times at which links of a device with several PCIe ports go down; each takes its controller with it. A
    /// device with one port is only delayed by an outage.
    fn losses(&self, component: usize) -> Vec<(usize, Instant)> {
        let linked = |(port, declared): (usize, &PortPlan)| {
            let link = self.variant.link_of(End { component, port });
            link.filter(|_| declared.speaks == Protocol::Pcie).map(|link| (port, link))
        };
        let ports: Vec<_> =
            self.variant.machine[component].ports.iter().enumerate().filter_map(linked).collect();
        if ports.len() < 2 {
            return Vec::new();
        }
        ports.iter().flat_map(|(port, link)| link.down.iter().map(|down| (*port, down.at))).collect()
    }

    /// The host memory behind each port of a component, whose ports may lead to several hosts.
    fn behind(&self, component: usize, hosts: &Hosts) -> Vec<(usize, SharedMemory)> {
        let behind = |port: usize| {
            let link = self.variant.link_of(End { component, port })?;
            hosts.get(&link.root_port.component).map(|host| (port, host.memory.clone()))
        };
        (0..self.variant.machine[component].ports.len()).filter_map(behind).collect()
    }

    /// The host above a component: the component itself, if it is one or has none.
    fn host_of(&self, component: usize) -> usize {
        let links = &self.variant.links;
        let link = links.iter().find(|l| l.from.component == component || l.to.component == component);
        link.map_or(component, |link| link.root_port.component)
    }

    /// The endpoint of the peer whose memory a requester reads and writes. Returns `None` if the component is not a
    /// requester, or if the memory is a host's.
    fn peer(&self, component: usize, endpoints: &Endpoints) -> Option<EndpointId> {
        let pair = self.workload.pairs.iter().find(|pair| pair.on == component && self.is_dma(pair))?;
        let is_host = self.variant.machine[pair.target].is_host();
        self.device(pair.target, endpoints).filter(|_| !is_host).map(|(device, _)| device)
    }

    fn pcie_site(&self, end: End, endpoints: &Endpoints) -> Option<PcieSite> {
        let &(endpoint, root) = endpoints.get(&end)?;
        let link = self.variant.link_of(end)?;
        let params = &self.variant.machine[end.component].params;
        Some(PcieSite {
            endpoint,
            root,
            mps: link.mps,
            mrrs: params.size("port.mrrs").0 as u16,
            rcb: link.rcb,
            tags: params.count("port.tags") as u16,
        })
    }

    /// A test of the SNIA PTS begins with a purge: no block of the drive is mapped.
    fn purge(&self, params: &mut Params) {
        if let (Some(Value::Choice(initial)), Some(_)) =
            (params.0.get_mut("ftl.initial"), self.workload.pts())
        {
            *initial = "empty";
        }
    }

    /// Workload dependent preconditioning: a drive whose initial state is not given has been written in the way in
    /// which the load accesses it.
    fn precondition(&self, params: &mut Params) {
        if let (Some(Value::Choice(initial @ "auto")), Some(Load::Blocks(blocks))) =
            (params.0.get_mut("ftl.initial"), self.load)
        {
            *initial = if blocks.is_sequential() { "sequential" } else { "steady-state" };
        }
        if let (Some(Value::Size(written @ Bytes(0))), Some(Load::Blocks(blocks))) =
            (params.0.get_mut("ftl.initial.write-size"), self.load)
        {
            *written = blocks.written_at_once().unwrap_or_default();
        }
    }

    /// The workload sets the state of the host's cache: warm up to the size of the cache, or cold.
    fn set_cache(&self, params: &mut Params) {
        let Some(Load::Dma(DmaCase { cache, .. })) = self.load else { return };
        if let (Some(Value::Size(warm)), Cache::Cold) = (params.0.get_mut("memory.warm"), cache) {
            *warm = Bytes(0);
        }
    }
}
