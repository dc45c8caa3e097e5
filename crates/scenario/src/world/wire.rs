//! Wiring: components, links and a load become a kernel that runs.

use super::fabric::{self, Endpoints};
use crate::fields;
use crate::plan::{
    Arrivals, BlockCase, Cache, Case, ComponentPlan, DmaCase, DmaOperation, End, Load, Offered, Pattern,
    Variant, WorkloadPlan,
};
use lanetwin_kernel::{ComponentId, Port};
use lanetwin_load::{self as load, BlockLoad, DmaLoad, Mix, Workload};
use lanetwin_models::block_driver;
use lanetwin_models::dma_requester::DmaRequester;
use lanetwin_models::memory_endpoint::MemoryEndpoint;
use lanetwin_models::root_complex::{RootComplex, ServedRead};
use lanetwin_pcie::link::EndpointId;
use lanetwin_ports::{Builder, Kernel, Links, Model, Params, PcieSite, Protocol, Site, Value};
use lanetwin_units::{Bytes, Span};

/// The path of the links, the load and the driver in a kernel: names that no component of a scenario can have.
const LINKS: &str = "(links)";
const LOAD: &str = "(load)";
const DRIVER: &str = "(driver)";
/// A machine that runs, with the load that is measured.
pub struct World {
    /// The kernel.
    pub kernel: Kernel,
    /// The links; see [`Links`].
    pub links: ComponentId,
    /// The load: a [`DmaLoad`] or a [`BlockLoad`].
    pub load: ComponentId,
    /// The DMA requester that the load commands, if it does.
    pub requester: Option<ComponentId>,
    /// The name of what answers the load: a card, a disk, or the driver of one.
    pub asked: String,
    /// The component that serves the load's operations: one with memory, if they go over links.
    pub server: ComponentId,
}

impl World {
    /// Wires a variant for one case of one of its workloads.
    ///
    /// # Panics
    /// If the plan is not what [`crate::check`] makes: its checks are what makes wiring possible.
    #[must_use]
    pub fn new(variant: &Variant, workload: &WorkloadPlan, case: &Case, seed: u64) -> Self {
        let wiring = Wiring { variant, workload, case, seed };
        wiring.build()
    }

    /// How many operations the load has asked for and how many were answered.
    pub fn progress(&mut self) -> (u64, u64) {
        if let Some(load) = self.kernel.component::<DmaLoad>(self.load) {
            return load.progress();
        }
        self.kernel.component::<BlockLoad>(self.load).expect("a load asks for DMA or blocks").progress()
    }

    /// The links.
    pub fn links(&mut self) -> &mut Links {
        self.kernel.component::<Links>(self.links).expect("the links are links")
    }

    /// Records from now on when each read of the memory that the load goes to is where, or stops recording.
    pub fn record_reads(&mut self, on: bool) {
        if let Some(host) = self.kernel.component::<RootComplex>(self.server) {
            host.record(on);
        } else if let Some(memory) = self.kernel.component::<MemoryEndpoint>(self.server) {
            memory.record(on);
        }
    }
    /// The reads recorded so far; forgets them.
    pub fn take_reads(&mut self) -> Vec<ServedRead> {
        if let Some(host) = self.kernel.component::<RootComplex>(self.server) {
            return host.take_record();
        }
        let memory = self.kernel.component::<MemoryEndpoint>(self.server);
        memory.map(MemoryEndpoint::take_record).unwrap_or_default()
    }

    /// The DMA requester, if the load commands one.
    pub fn requester(&mut self) -> Option<&mut DmaRequester> {
        self.kernel.component::<DmaRequester>(self.requester?)
    }
}

struct Wiring<'a> {
    variant: &'a Variant,
    workload: &'a WorkloadPlan,
    case: &'a Case,
    seed: u64,
}

/// What a component of the machine is in the kernel; nothing, for a switch.
type Ids = Vec<Option<ComponentId>>;

impl Wiring<'_> {
    fn build(&self) -> World {
        let (links, endpoints) = self.links();
        let mut builder = Builder::new();
        let links = builder.add_foreseeing(LINKS, Box::new(links));
        let ids: Ids =
            (0..self.variant.machine.len()).map(|i| self.add(i, &endpoints, &mut builder)).collect();
        let port = |end: &End| (component(&ids, end.component), Port(end.port as u16));
        for (end, (endpoint, _)) in &endpoints {
            builder.join(port(end), (links, Port(endpoint.0)));
        }
        for join in &self.variant.joins {
            builder.join(port(&join.from), port(&join.to));
        }
        let load = self.add_load(&ids, &endpoints, &mut builder);
        let requester = matches!(self.case.load, Load::Dma(_)).then(|| component(&ids, self.workload.on));
        let server = if requester.is_some() { self.workload.target } else { self.workload.on };
        let server = component(&ids, server);
        World { kernel: builder.seal(), links, load, requester, asked: self.asked(), server }
    }

    fn links(&self) -> (Links, Endpoints) {
        let (links, endpoints) = fabric::links(self.variant);
        (links.build(self.seed).expect("the links of a checked plan fit together"), endpoints)
    }

    fn add(&self, i: usize, endpoints: &Endpoints, builder: &mut Builder) -> Option<ComponentId> {
        let component = &self.variant.machine[i];
        let pcie = component.ports.iter().enumerate().filter(|(_, port)| port.speaks == Protocol::Pcie);
        let pcie = pcie.map(|(port, _)| self.pcie_site(End { component: i, port }, endpoints)).collect();
        let target = self.told(endpoints).filter(|_| i == self.workload.on);
        let site = Site { path: component.name.clone(), seed: self.seed, pcie, target };
        let mut params = component.params.clone();
        if i == self.workload.target {
            self.set_cache(&mut params);
        }
        let device = component.model.component(&params, &site)?;
        Some(builder.add(&component.name, device))
    }

    /// Which port the one who asks must know: a requester that of a peer; a host that rings a doorbell the one of its root ports that the
    /// device is below.
    fn told(&self, endpoints: &Endpoints) -> Option<EndpointId> {
        match self.case.load {
            Load::Dma(_) if self.variant.machine[self.workload.target].is_host() => None,
            Load::Dma(_) => self.device(endpoints).map(|(device, _)| device),
            Load::Block(_) => self.device(endpoints).map(|(_, root)| root),
        }
    }

    fn pcie_site(&self, end: End, endpoints: &Endpoints) -> Option<PcieSite> {
        let &(endpoint, root) = endpoints.get(&end)?;
        let link = self.variant.links.iter().find(|l| l.from == end || l.to == end)?;
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

    /// The state of the host's cache is the workload's: warm up to what the cache holds, or cold.
    fn set_cache(&self, params: &mut Params) {
        let Load::Dma(DmaCase { cache, .. }) = self.case.load else { return };
        if let (Some(Value::Size(warm)), Cache::Cold) = (params.0.get_mut("memory.warm"), cache) {
            *warm = Bytes(0);
        }
    }

    fn add_load(&self, ids: &Ids, endpoints: &Endpoints, builder: &mut Builder) -> ComponentId {
        match self.case.load {
            Load::Dma(case) => {
                let load = DmaLoad::new(dma_workload(&case), self.seed, LOAD);
                let load = builder.add(LOAD, Box::new(load));
                let on = self.workload.on;
                let dma = port(&self.variant.machine[on], Protocol::Dma);
                builder.join((load, Port(0)), (component(ids, on), dma));
                load
            }
            Load::Block(case) => {
                let load = BlockLoad::new(block_workload(&case), self.seed, LOAD);
                let load = builder.add(LOAD, Box::new(load));
                let answers = self.block_port(ids, endpoints, builder);
                builder.join((load, Port(0)), answers);
                load
            }
        }
    }

    /// The name of what answers the load.
    fn asked(&self) -> String {
        let [on, target] = [self.workload.on, self.workload.target].map(|i| &self.variant.machine[i]);
        match self.case.load {
            Load::Dma(_) => on.name.clone(),
            Load::Block(_) if target.has(Protocol::Block) => target.name.clone(),
            Load::Block(_) => DRIVER.trim_matches(['(', ')']).to_owned(),
        }
    }

    /// The target's place on the links, and that of its root port.
    fn device(&self, endpoints: &Endpoints) -> Option<(EndpointId, EndpointId)> {
        let component = self.workload.target;
        let port = self.variant.machine[component].port(Protocol::Pcie)?;
        endpoints.get(&End { component, port }).copied()
    }

    /// The port that answers block requests: the target's own, or that of a driver on the host.
    fn block_port(&self, ids: &Ids, endpoints: &Endpoints, builder: &mut Builder) -> (ComponentId, Port) {
        let target = self.workload.target;
        let disk = &self.variant.machine[target];
        if disk.has(Protocol::Block) {
            return (component(ids, target), port(disk, Protocol::Block));
        }
        let device = self.device(endpoints).map(|(device, _)| device);
        let site = Site { path: DRIVER.into(), seed: self.seed, pcie: Vec::new(), target: device };
        let model = &block_driver::MODEL;
        let driver = model.component(&defaults(model), &site).expect("a driver is a component");
        let driver = builder.add(DRIVER, driver);
        let on = self.workload.on;
        let cpu = port(&self.variant.machine[on], Protocol::Cpu);
        builder.join((driver, Port(1)), (component(ids, on), cpu));
        (driver, Port(0))
    }
}

/// What a component is in the kernel.
fn component(ids: &Ids, component: usize) -> ComponentId {
    ids[component].expect("switches have no part in a load, and links join none to the kernel")
}

fn port(component: &ComponentPlan, speaks: Protocol) -> Port {
    Port(component.port(speaks).expect("the plan was checked for this port") as u16)
}

/// A model's own defaults.
fn defaults(model: &Model) -> Params {
    let value = |param: &'static lanetwin_ports::Param| {
        let text = param.default.expect("a driver's parameters have defaults");
        (param.name, fields::default(param.dimension, text))
    };
    Params(model.all_params().map(value).collect())
}

fn dma_workload(case: &DmaCase) -> Workload {
    let bytes = case.size.0 as u32;
    Workload {
        mix: match case.operation {
            DmaOperation::Read => Mix::Reads,
            DmaOperation::Write => Mix::Writes,
            DmaOperation::Mixed => Mix::Alternating,
        },
        bytes,
        unit: Workload::dma_unit(bytes),
        span: case.window.0,
        pattern: pattern(case.pattern),
        arrivals: arrivals(case.offered, bytes),
        count: None,
    }
}

fn block_workload(case: &BlockCase) -> Workload {
    let bytes = case.size.0 as u32;
    Workload {
        mix: Mix::Share { reads: case.read },
        bytes,
        unit: bytes,
        span: case.span.0,
        pattern: pattern(case.pattern),
        arrivals: arrivals(case.offered, bytes),
        count: None,
    }
}

const fn pattern(pattern: Pattern) -> load::Pattern {
    match pattern {
        Pattern::Random => load::Pattern::Random,
        Pattern::Sequential => load::Pattern::Sequential,
    }
}

fn arrivals(offered: Offered, bytes: u32) -> load::Arrivals {
    match offered {
        Offered::Outstanding(outstanding) => load::Arrivals::Closed { outstanding },
        Offered::Rate { bytes_per_second, arrivals } => {
            const PS_PER_SECOND: u128 = 1_000_000_000_000;
            let ps = u128::from(bytes) * PS_PER_SECOND / u128::from(bytes_per_second.max(1));
            let interval = Span::from_ps((ps as u64).max(1));
            match arrivals {
                Arrivals::Poisson => load::Arrivals::Poisson { mean: interval },
                Arrivals::Fixed => load::Arrivals::Fixed { interval },
            }
        }
    }
}
