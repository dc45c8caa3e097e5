//! What a page cache has done.

/// What a page cache has done since it was made. All of them only grow, `dirty_pages` aside.
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
    /// Reads that took a register: the first for their sector.
    pub read_misses: u64,
    /// Reads that joined others in a register.
    pub merges: u64,
    /// Writes that found their page absent.
    pub write_misses: u64,
    /// Requests that could not go on when they came: no register, no target, no frame, no write-back.
    pub waited: u64,
    /// Reads that failed because the medium failed.
    pub failed_reads: u64,
    /// Pages that got a frame.
    pub admissions: u64,
    /// Pages that had to go and were clean.
    pub clean_evictions: u64,
    /// Pages that had to go and were dirty.
    pub dirty_evictions: u64,
    /// Sectors that were fetched.
    pub fetches: u64,
    /// What was fetched, in bytes.
    pub fetched_bytes: u64,
    /// Pages that were written back because they had to go, each time that it was tried.
    pub write_backs: u64,
    /// Pages that were cleaned, each time that it was tried.
    pub cleanings: u64,
    /// What was written back, in bytes.
    pub written_bytes: u64,
    /// Pages that were fetched before anybody asked for them, by the prefetcher or because the host announced them.
    pub ahead: u64,
    /// Of those, pages that were then used.
    pub ahead_used: u64,
    /// Of those, pages that went without having been used.
    pub ahead_wasted: u64,
    /// Pages that the host announced and that were forgotten, because too many waited.
    pub announcements_dropped: u64,
    /// Fetches and write-backs that the medium failed.
    pub medium_errors: u64,
    /// Dirty pages that were lost because the medium refused them again and again.
    pub lost_pages: u64,
    /// Pages that are dirty now, of those that were visited.
    pub dirty_pages: u64,
}

impl Counters {
    /// The share of requests that found what they needed in the cache; none if there were no requests.
    #[must_use]
    pub fn hit_rate(&self) -> Option<f64> {
        let all = self.reads + self.writes;
        (all > 0).then(|| (self.read_hits + self.write_hits) as f64 / all as f64)
    }
    /// Every counter by its name, in the order of declaration.
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
