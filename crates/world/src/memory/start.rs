//! What is in the cache of a device in front of a disk at the start: what a machine that has run for long would have there.

use super::super::wire::Wiring;
use super::programs;
use lanetwin_load::memory::placement::PAGE;
use lanetwin_load::memory::{ChaseOrder, TrafficOrder};
use lanetwin_models::used_frames;
use lanetwin_plan::{DeviceCache, Load, MemoryCase, MemoryNode, MemoryProgram};
use lanetwin_ports::{Params, Value};
use lanetwin_units::Bytes;

/// The parameter of a device that says what is in its cache at the start.
const INITIAL: &str = "initial";

/// What of all that programs use is on one device \[B\].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct OnDevice {
    all: u64,
    /// Of that, at its end: page tables that are visited far more often than what they translate.
    tables: u64,
}

impl Wiring<'_> {
    /// The cache of a device is at the start as visits to its part of the working set leave it, or empty.
    pub(in super::super) fn set_device_cache(&self, i: usize, params: &mut Params) {
        let Some(Load::Memory(case)) = self.load else { return };
        let kept = !params.0.contains_key(INITIAL) || case.cache == DeviceCache::AsIs;
        let Some(OnDevice { all, tables }) = self.placed_on(i, case).filter(|_| !kept) else { return };
        let cleans = matches!(params.0.get("clean.at-once"), Some(Value::Count(at_once)) if *at_once > 0);
        // whoever goes round a working set and stores, leaves every page dirty, but for what is cleaned before
        let dirty = match (case.kinds().1, cleans, params.0.get("clean.low")) {
            (false, ..) => Value::Ratio(0.0),
            (true, true, Some(low)) => *low,
            (true, ..) => Value::Ratio(1.0),
        };
        let is_warm = case.cache == DeviceCache::Warm && all > 0;
        let values = [
            (INITIAL, Value::Choice(if is_warm { "warm" } else { "empty" })),
            ("initial.first", Value::Size(Bytes(0))),
            ("initial.size", Value::Size(Bytes(all.max(PAGE)))),
            ("initial.dirty", dirty),
            ("initial.tables", Value::Size(Bytes(tables))),
        ];
        for (name, value) in values {
            params.0.insert(name, value);
        }
    }

    /// What all programs use on a device; none if it is no device of the host.
    fn placed_on(&self, device: usize, case: &MemoryCase) -> Option<OnDevice> {
        let on = self.workload.pairs.first()?.on;
        let own: Vec<&MemoryNode> = self.variant.nodes.iter().filter(|node| node.host == on).collect();
        let node = own.iter().position(|node| node.devices.contains(&device))?;
        let frames: Vec<u64> = own.iter().map(|node| node.size.0 / PAGE).collect();
        let host = &self.variant.machine[on].params;
        let (mut used, mut tables) = (vec![0; frames.len()], 0);
        for (_, program) in programs(case, self.seed) {
            let pages = program.footprint().div_ceil(PAGE);
            let now = used_frames(host, (&case.mapping, &case.parts), pages, &frames, &used)
                .expect("a checked plan places pages where there is room");
            tables = now.all[node] - now.own[node];
            used = now.all;
        }
        let each = |frames: u64| frames / own[node].devices.len() as u64 * PAGE;
        let often = if goes_anywhere(case) { tables } else { 0 };
        Some(OnDevice { all: used[node] * PAGE / own[node].devices.len() as u64, tables: each(often) })
    }
}

/// Whether the last program comes to each page of its page table far more often than to each of its own, since it does not go through these in order.
const fn goes_anywhere(case: &MemoryCase) -> bool {
    match case.program {
        MemoryProgram::Chase { order, .. } => matches!(order, ChaseOrder::Random | ChaseOrder::AcrossPages),
        MemoryProgram::Traffic(traffic) => traffic.chaser || matches!(traffic.order, TrafficOrder::Random),
        MemoryProgram::Kernel(_) => true,
    }
}
