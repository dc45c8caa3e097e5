//! Drivers between the block ports of devices and drives on PCIe, for devices that keep their pages on flash. Drivers
//! of drives over the network are [added with the loads](super::loads).
//!
//! ```text
//!  cmmh.controller ─ (driver)/cmmh.disk ─ cmmh.root ═ cmmh.ssd
//! ```

use super::blueprint::{Blueprint, Ids};
use super::hosts::{Host, Hosts};
use super::loads::{port, settings};
use super::names::{CPU, DRIVER};
use super::pcie_links::Endpoints;
use lanetwin_kernel::{ComponentId, Port};
use lanetwin_models as models;
use lanetwin_models::shared_port::{self, SharedPort};
use lanetwin_pcie::link::EndpointId;
use lanetwin_plan::Driven;
use lanetwin_ports::{Builder, Protocol, Site, Value};
use std::collections::BTreeMap;

impl Blueprint<'_> {
    /// Adds the driver of every block port that accesses a drive on PCIe.
    pub(super) fn add_driven(&self, ids: &Ids, endpoints: &Endpoints, hosts: &Hosts, builder: &mut Builder) {
        let mut by_host: BTreeMap<usize, Vec<&Driven>> = BTreeMap::new();
        for driven in self.variant.driven.iter().filter(|driven| !self.is_remote(driven)) {
            by_host.entry(driven.host).or_default().push(driven);
        }
        for (host, all) in by_host {
            let plan = &self.variant.machine[host];
            let cpu = (ids.of(host), port(plan, Protocol::Cpu));
            let device = |driven: &Driven| self.device(driven.drive, endpoints).map(|(device, _)| device);
            let mut ports = vec![cpu];
            if all.len() > 1 {
                let place =
                    |(place, driven): (u32, &&Driven)| Some((device(driven)?, shared_port::of_load(place)));
                let devices: BTreeMap<EndpointId, Port> = (0..).zip(&all).filter_map(place).collect();
                let mux =
                    builder.add(format!("{CPU}/{}", plan.name), Box::new(SharedPort { loads: 1, devices }));
                builder.join((mux, shared_port::HOST), cpu);
                ports = (0..all.len() as u32).map(|place| (mux, shared_port::of_load(place))).collect();
            }
            for (thread, (driven, cpu)) in all.iter().zip(ports).enumerate() {
                self.add_driver_of(driven, (ids, device(driven), &hosts[&host], thread), cpu, builder);
            }
        }
    }

    /// Whether a drive is reached over the network.
    pub(super) fn is_remote(&self, driven: &Driven) -> bool {
        self.variant.network.remote(driven.host, driven.drive).is_some()
    }

    fn add_driver_of(
        &self,
        driven: &Driven,
        (ids, target, host, thread): (&Ids, Option<EndpointId>, &Host, usize),
        cpu: (ComponentId, Port),
        builder: &mut Builder,
    ) {
        let drive = &self.variant.machine[driven.drive];
        let model = models::driver(drive.model);
        let path = format!("{DRIVER}/{}", driven.name);
        let mut params = settings(model, drive, &self.variant.machine[driven.host]);
        if let Some(ports) = params.0.get_mut("ports") {
            *ports = Value::Count(1);
        }
        let (memory, cores) = (Some(host.memory.clone()), host.core(thread).into_iter().collect());
        let site = Site { target, memory, cores, ..Site::alone(path.as_str(), self.seed) };
        let driver = model.component(&params, &site).expect("a driver is a component");
        let driver = builder.add(path, driver);
        let of = |protocol| {
            let place = model.ports.iter().position(|port| port.speaks == protocol);
            Port(place.expect("a driver has a port to a CPU, and one to who asks") as u16)
        };
        builder.join((driver, of(Protocol::Cpu)), cpu);
        let asks = (ids.of(driven.from.component), Port(driven.from.port as u16));
        builder.join((driver, of(Protocol::Block)), asks);
    }
}
