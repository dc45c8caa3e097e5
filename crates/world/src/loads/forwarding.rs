//! Queues through which devices access drives over the network: those of a DPU that presents a drive to its host.
//!
//! They are added like loads of the DPU's processor, but are joined to the device instead of a load.

use super::super::blueprint::Blueprint;
use super::super::names::QUEUES;
use super::adding::{Adding, NewLoad};
use lanetwin_kernel::Port;
use lanetwin_models::shared_port::{self, SharedPort};
use lanetwin_plan::{Driven, Pair};
use lanetwin_ports::{Capability, Value};
use std::collections::BTreeMap;

/// A queue through which a device accesses a drive.
pub(super) struct ForwardingQueue {
    /// The host that sends on behalf of the device, and the drive.
    pair: Pair,
    name: String,
}

impl ForwardingQueue {
    /// The queue as a load with this number.
    pub(super) fn asker(&self, place: u32) -> NewLoad<'_> {
        let name = self.name.clone();
        NewLoad { place, pair: &self.pair, results_name: name.clone(), name, thread: None }
    }
}

impl Blueprint<'_> {
    /// The devices that access drives over the network, as far as any load uses them.
    fn forwarders(&self) -> impl Iterator<Item = &Driven> {
        let is_asked = |driven: &&Driven| {
            let device = driven.from.component;
            let is_drive = self.variant.machine[device].model.can(Capability::NvmeQueues);
            !is_drive || self.workload.pairs.iter().any(|pair| pair.target == device)
        };
        self.variant.driven.iter().filter(|driven| self.is_remote(driven)).filter(is_asked)
    }
    /// Number of queues of a device.
    fn queues_of(&self, driven: &Driven) -> u32 {
        match self.variant.machine[driven.from.component].params.0.get("threads") {
            Some(Value::Count(threads)) => *threads as u32,
            _ => 1,
        }
    }
    /// The queues of all such devices, device by device.
    pub(super) fn forwarding(&self) -> Vec<ForwardingQueue> {
        let queue = |driven: &Driven, thread: u32| {
            let device = self.variant.machine[driven.drive].name.clone();
            let pair = Pair { on: driven.host, target: driven.drive, unit: 0, device };
            let name = format!("{}/{thread}", self.variant.machine[driven.from.component].name);
            ForwardingQueue { pair, name }
        };
        let queues = |driven| (0..self.queues_of(driven)).map(move |thread| queue(driven, thread));
        self.forwarders().flat_map(queues).collect()
    }
}

impl<'a> Adding<'a> {
    /// Joins the queues of devices to the NVMe-oF host software.
    pub(super) fn join_forwarding(&mut self) {
        let blueprint = self.blueprint;
        let mut askers: &'a [NewLoad<'a>] = &self.askers[self.loads as usize..];
        for driven in blueprint.forwarders() {
            let loads = blueprint.queues_of(driven);
            let (own, others) = askers.split_at(loads as usize);
            askers = others;
            let path = format!("{QUEUES}/{}", blueprint.variant.machine[driven.from.component].name);
            let joined = self.builder.add(path, Box::new(SharedPort { loads, devices: BTreeMap::new() }));
            let device = (self.ids.of(driven.from.component), Port(driven.from.port as u16));
            self.builder.join((joined, shared_port::HOST), device);
            for (thread, asker) in (0..).zip(own) {
                let (queue, _) = self.block_port(asker);
                self.builder.join((joined, shared_port::of_load(thread)), queue);
            }
        }
    }
}
