//! The machine while loads are added to it.

use super::queues::{Connected, RemoteHost};
use crate::blueprint::{Blueprint, Ids};
use crate::ethernet::Ethernet;
use crate::hosts::Hosts;
use crate::pcie_links::Endpoints;
use crate::world::NvmePath;
use lanetwin_document::fields;
use lanetwin_kernel::{ComponentId, Port};
use lanetwin_pcie::link::EndpointId;
use lanetwin_plan::{ComponentPlan, Pair, Thread};
use lanetwin_ports::{Builder, Model, Params, Protocol, Value};
use std::collections::BTreeMap;

/// A load to be added.
#[derive(Clone)]
pub(super) struct NewLoad<'a> {
    /// Its number among all loads.
    pub(super) place: u32,
    pub(super) pair: &'a Pair,
    /// Its component of the paths of what belongs to it alone; empty if it is the only load.
    pub(super) name: String,
    /// The name of its results.
    pub(super) results_name: String,
    /// The number and settings of its thread, if its load has several.
    pub(super) thread: Option<(usize, Thread)>,
}

impl NewLoad<'_> {
    /// The unit of the device that it accesses: that of the pair, or the thread's namespace if the device has
    /// several.
    pub(super) fn unit(&self, device: &ComponentPlan) -> u16 {
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
pub(super) struct Adding<'a> {
    pub(super) blueprint: &'a Blueprint<'a>,
    pub(super) ids: &'a Ids,
    pub(super) endpoints: &'a Endpoints,
    pub(super) net: &'a Ethernet,
    pub(super) hosts: &'a Hosts,
    pub(super) builder: &'a mut Builder,
    /// Every load.
    pub(super) askers: &'a [NewLoad<'a>],
    /// Number of loads.
    pub(super) loads: u32,
    /// Components that join several drivers to their host, by the host's index in the machine.
    pub(super) cpus: BTreeMap<usize, ComponentId>,
    /// Their ports for the drivers of further paths, by the ports of the drives.
    pub(super) further: BTreeMap<EndpointId, Port>,
    /// Components that join several jobs to a device that takes their requests directly, by its index in the machine.
    pub(super) jobs: BTreeMap<usize, ComponentId>,
    /// Drivers that serve all loads of a host on a device, by the indices of both in the machine.
    pub(super) shared: BTreeMap<(usize, usize), SharedDriver>,
    /// Drivers that serve the loads of all hosts on a device, for each of its ports: for drives that hosts take over
    /// from each other.
    pub(super) common: BTreeMap<usize, Vec<HostPath>>,
    /// Connected NVMe-oF queues that no software owns yet.
    pub(super) connected: Vec<Connected>,
    /// NVMe-oF host software, by the indices of its host and its adapter.
    pub(super) remotes: BTreeMap<(usize, usize), RemoteHost>,
    /// Components that join several such paths, by the indices of the drive and the host.
    pub(super) joined: BTreeMap<(usize, usize), RemoteHost>,
    /// The programs that send over the network, their port to the first load, and their path.
    pub(super) network: Option<(ComponentId, Port, &'static str)>,
    /// Components that join the paths to drives with several.
    pub(super) paths: Vec<(String, ComponentId)>,
}

impl Adding<'_> {
    pub(super) fn disk(&self, pair: &Pair) -> &ComponentPlan {
        &self.blueprint.variant.machine[pair.target]
    }
    /// The port of the host that a driver is connected to.
    pub(super) fn host(&self, pair: &Pair) -> (ComponentId, Port) {
        (self.ids.of(pair.on), port(&self.blueprint.variant.machine[pair.on], Protocol::Cpu))
    }
}

/// A driver that has a port for each load of its host on its device.
pub(super) struct SharedDriver {
    /// The component that answers the loads: the driver, or the one that joins several.
    pub(super) id: ComponentId,
    /// The driver, or that of the first path.
    pub(super) driver: ComponentId,
    /// The endpoint on the links of the device's port that it drives.
    pub(super) endpoint: EndpointId,
    /// The number of that port.
    pub(super) port: u16,
    /// The drivers of further paths.
    pub(super) further: Vec<NvmePath>,
    pub(super) path: String,
    /// The next free one of its ports to loads.
    pub(super) next: u16,
}

/// A path to a device, and the host from which it leads.
#[derive(Clone, Copy)]
pub(super) struct HostPath {
    pub(super) host: usize,
    pub(super) path: NvmePath,
}

/// The path of a component that belongs to one load.
pub(super) fn path(what: &str, asker: &NewLoad<'_>) -> String {
    if asker.name.is_empty() { what.to_owned() } else { format!("{what}/{}", asker.name) }
}

pub(crate) fn port(component: &ComponentPlan, speaks: Protocol) -> Port {
    Port(component.port(speaks).expect("the plan was checked for this port") as u16)
}

/// The parameters of a device's driver on a host: set by the device or the host, otherwise defaults.
pub(crate) fn settings(model: &Model, device: &ComponentPlan, host: &ComponentPlan) -> Params {
    let value = |param: &'static lanetwin_ports::Param| {
        let own = device.software(param.name, host).map(|(value, _)| value);
        let default =
            || fields::default(param.dimension, param.default.expect("a driver's parameters have defaults"));
        (param.name, own.unwrap_or_else(default))
    };
    Params(model.all_params().map(value).collect())
}

/// Whether a driver has a port for each load of its device; if not, each load has a driver of its own.
pub(super) fn is_shared(driver: &Model) -> bool {
    driver.ports.iter().any(|port| port.speaks == Protocol::Block && port.many)
}
