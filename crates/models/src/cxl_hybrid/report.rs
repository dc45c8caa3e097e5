//! Metrics of a device: of its cache, and of the cache's memory.

use super::HybridTotals;
use crate::dram_params;
use lanetwin_kernel::{Metric, Report, State};
use lanetwin_units::Better;

const HITS: Metric = Metric::new("device cache hits", "%", Better::Higher);
const FETCHED: Metric = Metric::new("fetched", "MB/s", Better::Neither);
const WRITTEN_BACK: Metric = Metric::new("written back", "MB/s", Better::Neither);
/// Told where anything was fetched ahead or announced.
const AHEAD_GROUP: &str = "pages ahead";
const AHEAD: Metric = Metric::new("pages fetched ahead", "", Better::Neither).if_any(AHEAD_GROUP);
const USED: Metric = Metric::new("of those used", "", Better::Higher).if_any(AHEAD_GROUP);
const WASTED: Metric = Metric::new("of those wasted", "", Better::Lower).if_any(AHEAD_GROUP);
const FORGOTTEN: Metric = Metric::new("announced pages forgotten", "", Better::Lower).if_any(AHEAD_GROUP);

const MB: f64 = 1e6;

impl HybridTotals {
    /// Tells its metrics, and how warm its cached pages are.
    pub(super) fn report(&self, report: &mut Report) {
        dram_params::report(&self.memory, report);
        let cache = &self.cache;
        let hits = [cache.read_hits + cache.write_hits, cache.reads + cache.writes];
        report.ratio(HITS, hits, 100.0);
        let [part, whole] = hits;
        report.state("cache hits", State::Share { part, whole });
        report.rate(FETCHED, cache.fetched_bytes, MB);
        report.rate(WRITTEN_BACK, cache.written_bytes, MB);
        report.count(AHEAD, cache.ahead);
        report.count(USED, cache.ahead_used);
        report.count(WASTED, cache.ahead_wasted);
        report.count(FORGOTTEN, cache.announcements_dropped);
        report.temperatures = self.temperatures.to_vec();
    }
}
