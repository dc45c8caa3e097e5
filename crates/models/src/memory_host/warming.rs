//! Contents of caches and TLBs when measuring begins: those that a program leaves that has run for a long time.

use super::MemoryHost;
use super::cache::{Cache, Replacement};
use super::ids::ThreadId;
use super::prefetch::Advice;
use super::stored::{SHARE, Share};
use lanetwin_load::memory::{Program, Touch};

impl MemoryHost {
    /// Number of touches after which the content of the caches is stationary, for a program that comes back to a line
    /// after `reuse` bytes. Under LRU all lines have then been touched once; random replacement takes some times as
    /// many (the content of a cache of C lines is forgotten at a rate of 1/C per miss). In either case not more than
    /// it takes to replace everything.
    pub(super) fn settled(&self, reuse: Option<u64>) -> u64 {
        // the first level holds lines, too; a line more for each set that is not filled evenly
        let all = self.capacity() + self.cores.first().map_or(0, |core| core.l1.capacity());
        reuse.map_or(0, |bytes| self.settling() * (bytes / 64).min(all + all / 4))
    }

    /// Number of times that the capacity of the caches has to be touched until their content is stationary.
    pub(super) fn settling(&self) -> u64 {
        if self.is_random() { 5 } else { 1 }
    }

    /// Number of steps of each thread after which the content of the caches is stationary, for a program far larger
    /// than the caches. It consists of data used often, such as its page table, and of lines that it will not hit but
    /// that take room. Returns `None` if the caches never hold anything useful to it.
    #[must_use]
    pub fn settles_after(&self, program: &dyn Program) -> Option<u64> {
        if program.reuse().is_some_and(|bytes| self.never_hits(bytes)) {
            return None;
        }
        let threads = u64::from(program.threads()).max(1);
        let cores = threads.min(self.cores.len() as u64);
        let of = |caches: &[Cache], shared_by: usize| {
            let reached = cores.div_ceil(shared_by as u64) as usize;
            caches.iter().take(reached).map(Cache::capacity).sum::<u64>()
        };
        let lines = of(&self.l2, self.rules.sharing as usize) + of(&self.llc, self.rules.cores as usize);
        // after twice the capacity, random replacement has kept one seventh of the previous content
        let times = if self.is_random() { 2 } else { 1 };
        Some((times * lines).div_ceil(threads))
    }

    /// Takes steps of each thread of a program in turn, in zero time: the state of caches and TLBs is then as after
    /// real steps.
    pub(super) fn warm(&mut self, number: u32, steps: u64) {
        let own = |thread: &ThreadId| self.threads[thread.index()].program == number;
        let threads: Vec<ThreadId> = (0..self.threads.len() as u32).map(ThreadId).filter(own).collect();
        for _ in 0..steps {
            for &t in &threads {
                self.warm_step(t);
            }
        }
        self.evicted.clear();
        self.advice = Advice::default();
    }

    fn warm_step(&mut self, t: ThreadId) {
        let thread = &mut self.threads[t.index()];
        let running = &mut self.programs[thread.program as usize];
        let Some(step) = running.program.warm(thread.number) else { return };
        let line = running.line(step.address, &mut thread.page);
        thread.steps += 1;
        if running.cold {
            thread.stored.let_go(thread.steps, running.share);
            if step.touch == Touch::Store {
                thread.stored.put(line, thread.steps);
            }
            return;
        }
        if step.touch == Touch::Stream {
            return;
        }
        let core = thread.core;
        self.warm_walk(t, step.address);
        self.look_up_line(core, line, step.touch == Touch::Store);
        self.evicted.clear();
    }

    /// The share of the caches of each of `threads` cold threads.
    pub(super) fn share(&self, threads: u32) -> Share {
        let lines = (self.capacity() / u64::from(threads.max(1))).clamp(1, SHARE);
        Share { lines, replacement: self.replacement() }
    }

    /// Number of lines of all caches behind the first level.
    pub(super) fn capacity(&self) -> u64 {
        self.l2.iter().chain(&self.llc).map(Cache::capacity).sum()
    }

    fn is_random(&self) -> bool {
        self.replacement() == Replacement::Random
    }
    /// Replacement of the last level.
    pub(super) fn replacement(&self) -> Replacement {
        self.llc.first().map_or(Replacement::Lru, Cache::replacement)
    }

    /// Whether no cache still has a line after this many further bytes have been touched. Under random replacement a
    /// line survives with a probability of exp(-bytes / capacity), which is neglected below one in a million.
    pub(super) fn never_hits(&self, bytes: u64) -> bool {
        let times = if self.is_random() { 14 } else { 2 };
        self.rules.translation.is_none() && bytes / 64 >= times * self.capacity()
    }
}
