//! What devices with CXL memory did while it was measured: their DRAM, and the cache in front of a disk.

use crate::measure::Measured;
use crate::rows::Metric;
use crate::wire::{Ids, Wiring, World};
use lanetwin_kernel::ComponentId;
use lanetwin_models::cxl_expander::CxlExpander;
use lanetwin_models::cxl_hybrid::{CacheCounters, CxlHybrid, DramCounters};
use lanetwin_plan::CxlRole;
use lanetwin_units::{Instant, Span};

const PS_PER_SECOND: f64 = 1e12;
const MB: f64 = 1e6;

/// What a device has done so far.
#[derive(Clone, Debug)]
pub(crate) struct Lived {
    memory: DramCounters,
    /// Its cache, if it has one.
    cache: Option<CacheCounters>,
    /// How many of its cached pages have which temperature.
    temperatures: Option<Vec<u64>>,
}

/// What a device did while it was measured.
#[derive(Clone, PartialEq, Debug)]
pub struct DeviceUse {
    /// The device.
    pub device: String,
    /// The share of accesses of its DRAM that found their row open; none if there were no accesses.
    pub row_hits: Option<f64>,
    /// What its cache did, if it has one.
    pub cache: Option<CacheUse>,
    /// How many of its cached pages have which temperature in the end: 0, 1, 2 to 3, 4 to 7, …; none if it has no cache.
    pub temperatures: Option<Vec<u64>>,
}

/// What the cache of a device did while it was measured.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CacheUse {
    /// The share of requests that found what they needed; none if there were none.
    pub hits: Option<f64>,
    /// What was fetched from the disk \[B/s\].
    pub fetched: f64,
    /// What was written back to the disk \[B/s\].
    pub written_back: f64,
    /// Pages that were fetched before anybody had asked for them.
    pub ahead: u64,
    /// Such pages that were used then.
    pub ahead_used: u64,
    /// Such pages that went unused.
    pub ahead_wasted: u64,
    /// Pages that the host had announced and that were forgotten.
    pub forgotten: u64,
}

impl Wiring<'_> {
    /// The components that are this to CXL: their names, and what they are in the kernel.
    pub(crate) fn of_role(&self, role: CxlRole, ids: &Ids) -> Vec<(String, ComponentId)> {
        let components = self.variant.machine.iter().enumerate();
        let own = components.filter(|(_, component)| component.cxl_role() == Some(role));
        own.map(|(i, component)| (component.name.clone(), ids.of(i))).collect()
    }
}

impl World {
    /// What each device has done up to `now`, the present; nothing of one that does not say.
    pub(crate) fn devices_lived(&mut self, now: Instant) -> Vec<Option<Lived>> {
        let devices = self.devices.clone();
        devices.into_iter().map(|(_, id)| self.device_lived(id, now)).collect()
    }

    fn device_lived(&mut self, id: ComponentId, now: Instant) -> Option<Lived> {
        if let Some(expander) = self.kernel.component::<CxlExpander>(id) {
            return Some(Lived { memory: expander.lived(now).dram, cache: None, temperatures: None });
        }
        let lived = self.kernel.component::<CxlHybrid>(id)?.lived(now)?;
        let temperatures = Some(lived.temperatures.to_vec());
        Some(Lived { memory: lived.memory, cache: Some(lived.cache), temperatures })
    }

    /// What happened between two looks at them.
    pub(crate) fn devices_use(
        &self,
        before: &[Option<Lived>],
        after: &[Option<Lived>],
        elapsed: Span,
    ) -> Vec<DeviceUse> {
        let both = self.devices.iter().zip(before.iter().zip(after));
        both.filter_map(|((name, _), (before, after))| {
            let (before, after) = (before.as_ref()?, after.as_ref()?);
            let rows = [0, 1, 2].map(|i| after.memory.rows[i] - before.memory.rows[i]);
            let cache = before.cache.zip(after.cache).map(|(b, a)| cache_use(&b, &a, elapsed));
            let temperatures = after.temperatures.clone();
            let row_hits = share(rows[0], rows.iter().sum());
            Some(DeviceUse { device: name.clone(), row_hits, cache, temperatures })
        })
        .collect()
    }
}

fn cache_use(b: &CacheCounters, a: &CacheCounters, elapsed: Span) -> CacheUse {
    let seconds = elapsed.as_ps() as f64 / PS_PER_SECOND;
    let hits = (a.read_hits + a.write_hits) - (b.read_hits + b.write_hits);
    CacheUse {
        hits: share(hits, (a.reads + a.writes) - (b.reads + b.writes)),
        fetched: (a.fetched_bytes - b.fetched_bytes) as f64 / seconds,
        written_back: (a.written_bytes - b.written_bytes) as f64 / seconds,
        ahead: a.ahead - b.ahead,
        ahead_used: a.ahead_used - b.ahead_used,
        ahead_wasted: a.ahead_wasted - b.ahead_wasted,
        forgotten: a.announcements_dropped - b.announcements_dropped,
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The metrics of each device, from what it did in each repeat.
pub(crate) fn metrics(repeats: &[Measured]) -> Vec<(String, Metric)> {
    let Some(first) = repeats.first() else { return Vec::new() };
    let mut list = Vec::new();
    for (place, device) in first.memories.iter().enumerate() {
        let mut add = |name: &str, unit, of: &dyn Fn(&DeviceUse) -> Option<f64>| {
            let samples = repeats.iter().map(|measured| of(measured.memories.get(place)?));
            if let Some(samples) = samples.collect::<Option<Vec<_>>>() {
                let metric = Metric { name: name.to_owned(), unit, samples, percentiles: Vec::new() };
                list.push((device.device.clone(), metric));
            }
        };
        add("row hits", "%", &|device| Some(100.0 * device.row_hits?));
        add("device cache hits", "%", &|device| Some(100.0 * device.cache?.hits?));
        add("fetched", "MB/s", &|device| Some(device.cache?.fetched / MB));
        add("written back", "MB/s", &|device| Some(device.cache?.written_back / MB));
        let is_ahead = |m: &Measured| {
            let cache = m.memories.get(place).and_then(|device| device.cache);
            cache.is_some_and(|cache| cache.ahead + cache.ahead_used + cache.forgotten > 0)
        };
        if repeats.iter().any(is_ahead) {
            add("pages fetched ahead", "", &|device| Some(device.cache?.ahead as f64));
            add("of those used", "", &|device| Some(device.cache?.ahead_used as f64));
            add("of those wasted", "", &|device| Some(device.cache?.ahead_wasted as f64));
            add("announced pages forgotten", "", &|device| Some(device.cache?.forgotten as f64));
        }
    }
    list
}
