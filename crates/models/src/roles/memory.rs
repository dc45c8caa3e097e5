//! Roles of cores that run programs of loads and stores: their input and results.

use lanetwin_load::memory::{BadPlacement, Placement, Program};
use lanetwin_load::{Little, StageTimes, Tally};
use lanetwin_stats::Histogram;
use lanetwin_units::{Instant, Span};

/// Runs programs of loads and stores on cores, with NUMA nodes of memory.
pub trait RunsPrograms {
    /// Gives the cores a program with the placement of its pages. Must be called before the run starts.
    ///
    /// # Errors
    /// All mistakes in the placement.
    fn run(&mut self, program: Box<dyn Program>, placement: Placement) -> Result<(), Vec<BadPlacement>>;
    /// Makes the threads of a program give hints about pages. Must be called before the run starts.
    fn advise(&mut self, program: usize, advice: PageAdvice);
    /// Hints about pages given to devices so far, and the devices' answers.
    fn advised(&self) -> Advised;
    /// Number of steps of each thread after which the content of the caches is stationary, for a program far larger
    /// than the caches. Returns `None` if the caches never hold anything useful to it.
    fn settles_after(&self, program: &dyn Program) -> Option<u64>;
    /// Counts from `at` on, the present.
    fn reset(&mut self, at: Instant);
    /// Number of lines requested from memory, and of lines answered.
    fn progress(&self) -> (u64, u64);
    /// Number of lines that programs have touched, those included that they touched in no time before the start: what a
    /// run costs beside its events.
    fn touched(&self) -> u64;
    /// Time since which all threads have ended and nothing is in progress. Returns `None` before that.
    fn ended(&self) -> Option<Instant>;
    /// No thread takes another step.
    fn stop(&mut self);
    /// Results of each program up to `at`, the present.
    fn results(&self, at: Instant) -> Vec<MemoryResults>;
    /// Counters of each program so far, without distributions and Little's law: cheap enough for frequent calls.
    fn tallies(&self) -> Vec<Tally>;
}

/// Results of a program between two instants.
#[derive(Clone, Debug)]
pub struct MemoryResults {
    /// The program.
    pub name: String,
    /// When counting began.
    pub since: Instant,
    /// When it ended.
    pub until: Instant,
    /// Traffic of each NUMA node, in the order of their numbers. A write-back counts for the program that owned the
    /// line's place.
    pub nodes: Vec<NodeTraffic>,
    /// Latencies from the issue of each load to its data, over all loads.
    pub loads: Histogram,
    /// Time in each stage of these.
    pub stages: StageTimes,
    /// Latencies from the issue of the first step of an operation to the completion of its last.
    pub operations: Histogram,
    /// The same for operations that store data of a client (SETs), …
    pub sets: Histogram,
    /// … and of the others.
    pub gets: Histogram,
    /// Levels at which loads and stores found their lines.
    pub found: Found,
    /// Lines requested from memory by a prefetcher.
    pub prefetches: u64,
    /// Translations that no TLB had.
    pub walks: u64,
    /// Little's law for lines requested from memory: reads, including those of prefetchers and page walks, and
    /// writes.
    pub little: Little,
    /// Number of such lines outstanding at the end.
    pub outstanding: u64,
}

/// Traffic of a NUMA node.
#[derive(Clone, Default, Debug)]
pub struct NodeTraffic {
    /// Lines read, with those of prefetchers and page walks.
    pub lines_read: u64,
    /// Lines written.
    pub lines_written: u64,
    /// Lines that were answered with an error (poison).
    pub corrupt: u64,
    /// Latencies from the issue of each load to its data, for loads served by this node.
    pub loads: Histogram,
    /// Time in each stage of these.
    pub stages: StageTimes,
}

/// Levels at which loads and stores found their lines.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Found {
    /// In the first level.
    pub l1: u64,
    /// In the second level.
    pub l2: u64,
    /// In the last level.
    pub llc: u64,
    /// Already requested by a prefetcher, or by another step.
    pub under_way: u64,
    /// In memory.
    pub memory: u64,
}

impl Found {
    /// All of them.
    #[must_use]
    pub const fn all(&self) -> u64 {
        self.l1 + self.l2 + self.llc + self.under_way + self.memory
    }
}

impl NodeTraffic {
    /// Bytes read \[B\].
    #[must_use]
    pub const fn bytes_read(&self) -> u64 {
        self.lines_read * 64
    }
    /// Bytes written \[B\].
    #[must_use]
    pub const fn bytes_written(&self) -> u64 {
        self.lines_written * 64
    }
}

impl MemoryResults {
    /// Forgets where loads spent their time.
    pub fn forget_stages(&mut self) {
        let nodes = self.nodes.iter_mut().map(|node| &mut node.stages);
        nodes.chain([&mut self.stages]).for_each(|stages| *stages = StageTimes::default());
    }
    /// Time covered.
    #[must_use]
    pub const fn elapsed(&self) -> Span {
        self.until.since(self.since)
    }
    /// Bytes that went to and came from memory \[B\].
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.nodes.iter().map(|node| node.bytes_read() + node.bytes_written()).sum()
    }
    /// Bytes per second to and from memory; nothing if no time has passed.
    #[must_use]
    pub fn bytes_per_second(&self) -> Option<f64> {
        let ps = self.elapsed().as_ps();
        (ps > 0).then(|| self.bytes() as f64 * 1e12 / ps as f64)
    }
}

/// Hints about pages that threads streaming over buffers give while they run. The buffers of a program are
/// consecutive, one for each thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageAdvice {
    /// Announce the page this many ahead of the current one; 0 for none.
    pub prefetch: u32,
    /// Dismiss the page this many behind the current one; 0 for none.
    pub evict: u32,
    /// Query whether the page this many ahead is cached; 0 for none.
    pub status: u32,
    /// Query the temperature of the page this many behind; 0 for none.
    pub temperature: u32,
    /// The pages of a buffer. Behind its last page comes its first.
    pub buffer: u64,
}

/// Hints about pages given to devices, and the devices' answers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Advised {
    /// Pages that were announced, and answered for.
    pub announced: u64,
    /// Announced pages that were cached, being fetched, or accepted.
    pub accepted: u64,
    /// Pages that were dismissed, and answered for.
    pub dismissed: u64,
    /// Dismissed pages that were removed.
    pub leaving: u64,
    /// Pages whose status was queried, and answered for.
    pub asked: u64,
    /// Queried pages that were cached.
    pub cached: u64,
    /// Pages whose temperature was queried, and answered for.
    pub felt: u64,
    /// Their temperatures, summed: accesses that the device counts.
    pub heat: u64,
}

impl Advised {
    /// The difference from an earlier report.
    #[must_use]
    pub const fn since(&self, earlier: &Self) -> Self {
        Self {
            announced: self.announced - earlier.announced,
            accepted: self.accepted - earlier.accepted,
            dismissed: self.dismissed - earlier.dismissed,
            leaving: self.leaving - earlier.leaving,
            asked: self.asked - earlier.asked,
            cached: self.cached - earlier.cached,
            felt: self.felt - earlier.felt,
            heat: self.heat - earlier.heat,
        }
    }
}
