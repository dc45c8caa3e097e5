//! Counters of a page cache.

/// Counters of a page cache since it was made. All of them only grow, except `dirty_pages`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counters {
    /// Reads of a line.
    pub reads: u64,
    /// Writes of a line.
    pub writes: u64,
    /// Reads that found their line in the cache.
    pub read_hits: u64,
    /// Writes that found their page in the cache.
    pub write_hits: u64,
    /// Reads that took a register: the first read of their sector.
    pub read_misses: u64,
    /// Reads that joined a register.
    pub merges: u64,
    /// Writes whose page was not in the cache.
    pub write_misses: u64,
    /// Requests that had to wait when they came: for a register, a target, a frame or a write-back.
    pub waited: u64,
    /// Reads that failed because the medium failed.
    pub failed_reads: u64,
    /// Pages that were given a frame.
    pub admissions: u64,
    /// Clean pages evicted.
    pub clean_evictions: u64,
    /// Dirty pages evicted.
    pub dirty_evictions: u64,
    /// Sectors fetched.
    pub fetches: u64,
    /// Bytes fetched.
    pub fetched_bytes: u64,
    /// Attempts to write back an evicted page.
    pub write_backs: u64,
    /// Attempts to clean a page.
    pub cleanings: u64,
    /// Bytes written back.
    pub written_bytes: u64,
    /// Pages fetched without a request, by the prefetcher or because the host announced them.
    pub ahead: u64,
    /// Those of them that were used.
    pub ahead_used: u64,
    /// Those of them that were evicted unused.
    pub ahead_wasted: u64,
    /// Announced pages that were dropped because too many were waiting.
    pub announcements_dropped: u64,
    /// Fetches and write-backs that failed in the medium.
    pub medium_errors: u64,
    /// Dirty pages lost because the medium refused them repeatedly.
    pub lost_pages: u64,
    /// Pages that are dirty now, in sets that have been visited.
    pub dirty_pages: u64,
}

impl Counters {
    /// The share of requests that hit. Returns `None` without requests.
    #[must_use]
    pub fn hit_rate(&self) -> Option<f64> {
        let all = self.reads + self.writes;
        (all > 0).then(|| (self.read_hits + self.write_hits) as f64 / all as f64)
    }
    /// Calls `see` for every counter, in the order of declaration.
    pub fn each(&self, see: &mut dyn FnMut(&'static str, u64)) {
        macro_rules! each {
            ($($name:ident),*) => { $(see(stringify!($name), self.$name);)* };
        }
        each!(
            reads,
            writes,
            read_hits,
            write_hits,
            read_misses,
            merges,
            write_misses,
            waited,
            failed_reads,
            admissions,
            clean_evictions,
            dirty_evictions,
            fetches,
            fetched_bytes,
            write_backs,
            cleanings,
            written_bytes,
            ahead,
            ahead_used,
            ahead_wasted,
            announcements_dropped,
            medium_errors,
            lost_pages,
            dirty_pages
        );
    }
}
