//! Wiring: components, links and loads become a kernel that runs.

use super::loads::WorldLoad;
use crate::plan::{Cache, Case, ComponentPlan, DmaCase, End, LinkPlan, Load, Variant, WorkloadPlan};
use lanetwin_kernel::{ComponentId, Port};
use lanetwin_models::root_complex::RootComplex;
use lanetwin_pcie::link::{
    Attach, Credits, Direction, DllpMode, Dllps, Drain, EndpointId, EndpointSpec, Errors, Skp,
};
use lanetwin_pcie::spec::constants::DLLP_BYTES;
use lanetwin_pcie::spec::timing::{SkpSchedule, ack_coalescing, ack_latency_limit, update_fc_coalescing};
use lanetwin_pcie::spec::{AddressWidth, Mps};
use lanetwin_ports::{Builder, Kernel, Links, LinksBuilder, Params, PcieSite, Protocol, Site, Value};
use lanetwin_units::{Bytes, LinkRate, Span, Ticks};
use std::collections::BTreeMap;

/// The path of the links in a kernel: a name that no component of a scenario can have.
const LINKS: &str = "(links)";
/// The time of a Recovery after REPLAY_NUM corruptions in a row.
///
/// `assumed`: Recovery without a change of speed or equalisation takes some microseconds.
const RETRAIN: Span = Span::from_us(5);

/// A machine that runs, with the loads that are measured.
pub struct World {
    /// The kernel.
    pub kernel: Kernel,
    /// The links; see [`Links`].
    pub links: ComponentId,
    /// The loads, in the order of the workload's pairs.
    pub loads: Vec<WorldLoad>,
    /// The component that hosts the loads' operations: a root complex, if they go over links.
    pub host: ComponentId,
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

    /// The links.
    pub fn links(&mut self) -> &mut Links {
        self.kernel.component::<Links>(self.links).expect("the links are links")
    }

    /// The host, if the loads' operations go through one.
    pub fn host(&mut self) -> Option<&mut RootComplex> {
        self.kernel.component::<RootComplex>(self.host)
    }
}

/// What a world is made from.
pub(super) struct Wiring<'a> {
    pub(super) variant: &'a Variant,
    pub(super) workload: &'a WorkloadPlan,
    pub(super) case: &'a Case,
    pub(super) seed: u64,
}

/// Where the PCIe ports of the machine are on the links.
pub(super) type Endpoints = BTreeMap<End, (EndpointId, EndpointId)>;

impl Wiring<'_> {
    fn build(&self) -> World {
        let (links, endpoints) = self.links();
        let mut builder = Builder::new();
        let links = builder.add_foreseeing(LINKS, Box::new(links));
        let ids: Vec<ComponentId> =
            (0..self.variant.machine.len()).map(|i| self.add(i, &endpoints, &mut builder)).collect();
        for (end, (endpoint, _)) in &endpoints {
            builder.join((ids[end.component], Port(end.port as u16)), (links, Port(endpoint.0)));
        }
        for join in &self.variant.joins {
            let port = |end: End| (ids[end.component], Port(end.port as u16));
            builder.join(port(join.from), port(join.to));
        }
        let loads = self.add_loads(&ids, &endpoints, &mut builder);
        let pair = self.workload.pairs.first().expect("a workload has a pair");
        let host = if let Load::Dma(_) = self.case.load { pair.target } else { pair.on };
        World { kernel: builder.seal(), links, loads, host: ids[host] }
    }

    fn links(&self) -> (Links, Endpoints) {
        let mut links = LinksBuilder::new();
        let mut endpoints = Endpoints::new();
        for link in &self.variant.links {
            let mut endpoint = |end: End| {
                let component = &self.variant.machine[end.component];
                let params = &component.params;
                let bits = params.choice("port.address-bits");
                let addresses = if bits == "32" { AddressWidth::Bits32 } else { AddressWidth::Bits64 };
                links.endpoint(endpoint_spec(component), addresses)
            };
            let (from, to) = (endpoint(link.from), endpoint(link.to));
            let root = if link.root == link.from { from } else { to };
            endpoints.insert(link.from, (from, root));
            endpoints.insert(link.to, (to, root));
            let name = |end: End| self.variant.machine[end.component].name.as_str();
            let params = |end: End| &self.variant.machine[end.component].params;
            links.link(
                (&link.name, name(link.from), name(link.to)),
                (Attach::Endpoint(from), Attach::Endpoint(to)),
                direction(link, params(link.from), params(link.to)),
                direction(link, params(link.to), params(link.from)),
            );
        }
        (links.build(self.seed).expect("a checked plan gives every port one link"), endpoints)
    }

    fn add(&self, i: usize, endpoints: &Endpoints, builder: &mut Builder) -> ComponentId {
        let component = &self.variant.machine[i];
        let pcie = component.ports.iter().enumerate().filter(|(_, port)| port.speaks == Protocol::Pcie);
        let pcie = pcie.map(|(port, _)| self.pcie_site(End { component: i, port }, endpoints)).collect();
        // A host that is told to ring a doorbell must know behind which of its root ports the device is.
        let driven = self.workload.pairs.iter().filter(|pair| pair.on == i);
        let routes = driven.filter_map(|pair| self.device(pair.target, endpoints)).collect();
        let site = Site { path: component.name.clone(), seed: self.seed, pcie, target: None, routes };
        let mut params = component.params.clone();
        if self.workload.pairs.iter().any(|pair| pair.target == i) {
            self.set_cache(&mut params);
        }
        builder.add(&component.name, (component.model.build)(&params, &site))
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
}

fn endpoint_spec(component: &ComponentPlan) -> EndpointSpec {
    let params = &component.params;
    let rate = params.rate("port.ingest-rate");
    let drain = if (component.model.drains_itself)(params) {
        Drain::ByDevice
    } else {
        Drain::ByLink {
            latency: params.time("port.drain"),
            per_tlp: params.time("port.ingest"),
            payload_rate: (rate > 0).then(|| LinkRate::bytes_per_second(rate)),
        }
    };
    EndpointSpec { lookahead: params.time("issue"), drain }
}

/// One direction of a link, from the port that transmits to the port that receives.
fn direction(link: &LinkPlan, transmitter: &Params, receiver: &Params) -> Direction {
    let (generation, width) = (link.generation, link.width);
    let mps = Mps::from_bytes(link.mps.into()).expect("a checked plan has a legal MPS");
    let rate = LinkRate::pcie(generation, width);
    let dllp = span(rate.ticks_for(DLLP_BYTES));
    let ack = span(ack_latency_limit(generation, width, mps));
    let schedule = SkpSchedule::new(generation, link.clocking);
    let skp = Skp { period: schedule.period().0, duration: if link.skp { schedule.length().0 } else { 0 } };
    Direction {
        rate,
        payload_max: link.mps,
        propagation: link.flight(),
        credits: credits(receiver, dllp + link.flight()),
        replay_buffer: Some(transmitter.size("port.replay-buffer").0 as u32),
        ack_latency: ack + dllp + link.flight(),
        skp: (link.skp || link.dllp == DllpMode::Lump).then_some(skp),
        dllps: Dllps {
            mode: link.dllp,
            ack_every: ack_coalescing(generation, width, mps) as u32,
            update_every: update_fc_coalescing(generation, width, mps) as u32,
            delay: ack,
        },
        errors: Errors { bit_error_ratio: link.bit_error_ratio, nak_latency: ack + dllp, retrain: RETRAIN },
    }
}

/// What a port advertises as a receiver; the way back of a credit takes `flight` besides the port's own time.
fn credits(receiver: &Params, flight: Span) -> Credits {
    let finite = |name: &str| match receiver.count(name) {
        0 => None,
        n => Some(n as u32),
    };
    Credits {
        header: [
            finite("port.posted-header-credits"),
            finite("port.non-posted-header-credits"),
            finite("port.completion-header-credits"),
        ],
        data: [
            finite("port.posted-data-credits"),
            finite("port.non-posted-data-credits"),
            finite("port.completion-data-credits"),
        ],
        latency: receiver.time("port.credit-update") + flight,
    }
}

fn span(ticks: Ticks) -> Span {
    Span::from_ps(ticks.as_ps_ceil().as_ps())
}
