//! Initial content of the cache of a device in front of a disk: that of a machine that has run for a long time.

use super::super::blueprint::Blueprint;
use super::programs;
use lanetwin_load::memory::placement::PAGE;
use lanetwin_load::memory::{ChaseOrder, Touch, TrafficOrder};
use lanetwin_media::page_cache::{dirty_after, dirty_share};
use lanetwin_models::used_frames;
use lanetwin_plan::{DeviceCache, MemoryCase, MemoryNode, MemoryProgram};
use lanetwin_ports::{Params, Value};
use lanetwin_units::Bytes;

/// Number of steps of a program that are sampled, over all its threads.
const SAMPLED: u64 = 1 << 16;
/// Number of regions into which a program's addresses are divided.
const REGIONS: u64 = 256;
/// The parameter of a device for the initial content of its cache.
const INITIAL: &str = "initial";

/// Part of the programs' memory that is on one device \[B\].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct OnDevice {
    all: u64,
    /// Page tables in it, at its end, if they are visited far more often than the pages they translate.
    tables: u64,
}

impl Blueprint<'_> {
    /// Sets the initial content of a device's cache: as visits to its part of the working set leave it, or empty.
    pub(in super::super) fn set_device_cache(&self, i: usize, params: &mut Params) {
        let Some((on, case)) = self.programs() else { return };
        let kept = !params.0.contains_key(INITIAL) || case.cache == DeviceCache::AsIs;
        let Some(OnDevice { all, tables }) = self.placed_on(i, (on, case)).filter(|_| !kept) else { return };
        let cleans = matches!(params.0.get("clean.at-once"), Some(Value::Count(at_once)) if *at_once > 0);
        let fits = match params.0.get("cache.usable") {
            Some(Value::Size(Bytes(usable))) if all > 0 => (*usable as f64 / all as f64).min(1.0),
            _ => 1.0,
        };
        let lived = if case.kinds().1 { dirty_share_of(case, self.seed, fits) } else { 0.0 };
        let dirty = match params.0.get("clean.low") {
            Some(Value::Ratio(low)) if cleans => lived.min(*low),
            _ => lived,
        };
        let is_warm = case.cache == DeviceCache::Warm && all > 0;
        let values = [
            (INITIAL, Value::Choice(if is_warm { "warm" } else { "empty" })),
            ("initial.first", Value::Size(Bytes(0))),
            ("initial.size", Value::Size(Bytes(all.max(PAGE)))),
            ("initial.dirty", Value::Ratio(dirty)),
            ("initial.tables", Value::Size(Bytes(tables))),
        ];
        for (name, value) in values {
            params.0.insert(name, value);
        }
    }

    /// Memory that all programs use on a device. Returns `None` if the device does not belong to the host.
    fn placed_on(&self, device: usize, (on, case): (usize, &MemoryCase)) -> Option<OnDevice> {
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

/// Share of cached pages that are dirty in the long run, if a share `fits` of all pages is cached.
///
/// A page that has been touched n times since it came, each time with a probability w of a store, is dirty with
/// probability 1 - (1 - w)^n. Steps of the programs are sampled; the number of touches in a row and the share of
/// stores are taken for each of [`REGIONS`] regions of their addresses. A page is still cached at its next visit with
/// probability `fits`, so that n is geometric in visits ([`dirty_share`]). Pages without stores stay clean.
fn dirty_share_of(case: &MemoryCase, seed: u64, fits: f64) -> f64 {
    let (mut dirty, mut all) = (0.0, 0.0);
    for (_, mut program) in programs(case, seed) {
        let mut regions = vec![Touched::default(); REGIONS as usize];
        let span = program.footprint().div_ceil(REGIONS).max(1);
        let threads = program.threads();
        let mut last = vec![u64::MAX; threads as usize];
        for step in 0..SAMPLED {
            let thread = (step % u64::from(threads)) as u32;
            let Some(step) = program.warm(thread) else { continue };
            let page = step.address / PAGE;
            let region = &mut regions[(step.address / span) as usize];
            region.touches += 1;
            region.stores += u64::from(step.touch != Touch::Load);
            region.visits += u64::from(std::mem::replace(&mut last[thread as usize], page) != page);
        }
        for region in regions.iter().filter(|region| region.touches > 0) {
            dirty += region.dirty(fits);
            all += 1.0;
        }
    }
    if all > 0.0 { dirty / all } else { 0.0 }
}

/// Samples of a region of addresses.
#[derive(Clone, Copy, Default, Debug)]
struct Touched {
    touches: u64,
    stores: u64,
    /// Touches of a page other than the thread's last.
    visits: u64,
}

impl Touched {
    /// Share of its cached pages that are dirty, if a page is still cached at its next visit with probability `fits`.
    fn dirty(self, fits: f64) -> f64 {
        let stores = self.stores as f64 / self.touches as f64;
        let in_a_row = self.touches as f64 / self.visits.max(1) as f64;
        dirty_share(dirty_after(stores, in_a_row), fits)
    }
}

/// Whether the last program visits each page of its page table far more often than each of its own pages, because it
/// does not go through these in order.
const fn goes_anywhere(case: &MemoryCase) -> bool {
    match case.program {
        MemoryProgram::Chase { order, .. } => matches!(order, ChaseOrder::Random | ChaseOrder::AcrossPages),
        MemoryProgram::Traffic(traffic) => traffic.chaser || matches!(traffic.order, TrafficOrder::Random),
        MemoryProgram::Kernel(_) | MemoryProgram::Recorded(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_load::memory::{Mapping, Policy, TrafficMix};
    use lanetwin_plan::TrafficCase;
    use lanetwin_units::Span;

    fn case(mix: TrafficMix, order: TrafficOrder) -> MemoryCase {
        let traffic = TrafficCase {
            mix,
            order,
            threads: 4,
            working_set: Bytes(1 << 30),
            delay: Span::ZERO,
            chaser: false,
        };
        MemoryCase {
            program: MemoryProgram::Traffic(traffic),
            mapping: Mapping::from(Policy::Bind(vec![0])),
            parts: Vec::new(),
            hints: None,
            against: None,
            cache: DeviceCache::Warm,
            steps: 1000,
        }
    }

    #[test]
    fn pages_are_dirty_by_how_often_they_are_touched_and_stored_to() {
        let share = |mix, order, fits| dirty_share_of(&case(mix, order), 1, fits);
        let close =
            |found: f64, expected: f64| assert!((found - expected).abs() < 0.01, "{found}, {expected}");
        use TrafficMix::{AllReads, R2W1, R3W1};
        use TrafficOrder::{Random, Sequential};
        // one touch of a page that is not there again when it is wanted next: the share of stores, a third of steps and
        // a half
        close(share(R3W1, Random, 0.0), 1.0 / 3.0);
        close(share(R2W1, Random, 0.0), 0.5);
        // n touches: w + (1 - w) h p, the mean over all n
        close(share(R3W1, Random, 0.5), 0.5);
        close(share(R3W1, Random, 1.0), 1.0);
        // 64 touches in a row
        close(share(R3W1, Sequential, 0.0), 1.0);
        close(share(AllReads, Random, 1.0), 0.0);
    }
}
