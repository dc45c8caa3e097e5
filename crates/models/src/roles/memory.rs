//! Cores that run programs of loads and stores: what they are told, and what they have counted.

use lanetwin_load::memory::{BadPlacement, Placement, Program};
use lanetwin_load::{Little, StageTimes, Tally};
use lanetwin_stats::Histogram;
use lanetwin_units::{Instant, Span};

/// Runs programs of loads and stores on cores, with NUMA nodes of memory.
pub trait RunsPrograms {
    /// Gives the cores a program, whose pages are placed like this. To be said before the run starts.
    ///
    /// # Errors
    /// Everything that is wrong with the placement.
    fn run(&mut self, program: Box<dyn Program>, placement: Placement) -> Result<(), Vec<BadPlacement>>;
    /// Lets the threads of a program say what they come to and what they leave. To be said before the run starts.
    fn advise(&mut self, program: usize, advice: PageAdvice);
    /// What devices were told of pages, and what they answered.
    fn advised(&self) -> Advised;
    /// After how many steps of each of its threads the caches hold what they will always hold of a program that is far
    /// larger than they are; none if they never hold anything of use to it.
    fn settles_after(&self, program: &dyn Program) -> Option<u64>;
    /// Counts from `at` on, the present.
    fn reset(&mut self, at: Instant);
    /// How many lines were asked of memory, and how many were answered.
    fn progress(&self) -> (u64, u64);
    /// Since when all threads have ended and nothing is under way; none if that is not so.
    fn ended(&self) -> Option<Instant>;
    /// No thread takes another step.
    fn stop(&mut self);
    /// What each program has counted up to `at`, the present.
    fn results(&self, at: Instant) -> Vec<MemoryResults>;
    /// What each program has counted so far, without distributions and without Little's law: cheap enough to be looked
    /// at often.
    fn tallies(&self) -> Vec<Tally>;
}

/// What was counted of a program from one instant to another.
#[derive(Clone, Debug)]
pub struct MemoryResults {
    /// The program.
    pub name: String,
    /// When counting began.
    pub since: Instant,
    /// When it ended.
    pub until: Instant,
    /// What went to and came from each NUMA node, in the order of their numbers. A write-back counts for the program
    /// that had the line's place.
    pub nodes: Vec<NodeTraffic>,
    /// From the issue of each load to its data: all loads, wherever they were served.
    pub loads: Histogram,
    /// Where those spent it.
    pub stages: StageTimes,
    /// From the issue of the first step of an operation to the completion of its last.
    pub operations: Histogram,
    /// The same of the operations that store what a client has sent (SETs), …
    pub sets: Histogram,
    /// … and of the others.
    pub gets: Histogram,
    /// Where loads and stores found their lines.
    pub found: Found,
    /// Lines that a prefetcher asked memory for.
    pub prefetches: u64,
    /// Translations that no TLB had.
    pub walks: u64,
    /// Little's law for lines asked of memory: reads, with those of prefetchers and page walks, and writes.
    pub little: Little,
    /// How many such lines are outstanding at the end.
    pub outstanding: u64,
}

/// What went to and came from a NUMA node.
#[derive(Clone, Default, Debug)]
pub struct NodeTraffic {
    /// Lines read, with those of prefetchers and page walks.
    pub lines_read: u64,
    /// Lines written.
    pub lines_written: u64,
    /// Lines that were answered with an error (poison).
    pub corrupt: u64,
    /// From the issue of each load to its data: of the loads that this node served.
    pub loads: Histogram,
    /// Where those spent it.
    pub stages: StageTimes,
}

/// Where loads and stores found their lines.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Found {
    /// In the first level.
    pub l1: u64,
    /// In the second level.
    pub l2: u64,
    /// In the last level.
    pub llc: u64,
    /// On its way already: asked for by a prefetcher, or by another step.
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
    /// How long was counted.
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

/// What threads that stream over buffers say of pages as they go on. The buffers of a program lie one behind the other,
/// one for each thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageAdvice {
    /// They announce the page so many ahead of the one that they come to; 0 for none.
    pub prefetch: u32,
    /// They dismiss the page so many behind the one that they come to; 0 for none.
    pub evict: u32,
    /// They ask whether the page so many ahead is cached; 0 for none.
    pub status: u32,
    /// They ask for the temperature of the page so many behind; 0 for none.
    pub temperature: u32,
    /// The pages of a buffer. Behind its last page comes its first.
    pub buffer: u64,
}

/// What devices were told of pages, and what they answered.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Advised {
    /// Pages that were announced.
    pub announced: u64,
    /// Of those, pages that were there, on their way or accepted.
    pub accepted: u64,
    /// Pages that were dismissed.
    pub dismissed: u64,
    /// Of those, pages that left.
    pub leaving: u64,
    /// Pages of which it was asked whether they are cached.
    pub asked: u64,
    /// Of those, pages that were.
    pub cached: u64,
    /// Pages whose temperature was asked for.
    pub felt: u64,
    /// Their temperatures, summed: accesses that the device counts.
    pub heat: u64,
}

impl Advised {
    /// What has happened since an earlier look. What was answered may have been said before that.
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
