//! What is in caches and TLBs when measuring begins: what a program that has run for long leaves there.

use super::MemoryHost;
use super::cache::{Cache, Replacement};
use super::ids::ThreadId;
use super::prefetch::Advice;
use super::stored::{SHARE, Share};
use lanetwin_load::memory::{Program, Touch};

impl MemoryHost {
    /// After how many touches the caches hold what they will always hold, for a program that comes back to a line after
    /// so many bytes: under LRU when all lines have been touched once, under random replacement (where what is in a
    /// cache of C lines is forgotten at a rate of 1/C a miss) after some times that, but in either case not more often
    /// than it takes to replace everything.
    pub(super) fn settled(&self, reuse: Option<u64>) -> u64 {
        // the first level holds lines, too; a line more for each set that is not filled evenly
        let all = self.capacity() + self.cores.first().map_or(0, |core| core.l1.capacity());
        reuse.map_or(0, |bytes| self.settling() * (bytes / 64).min(all + all / 4))
    }

    /// How many times what caches hold has to be touched until they hold what they will always hold.
    pub(super) fn settling(&self) -> u64 {
        if self.is_random() { 5 } else { 1 }
    }

    /// After how many steps of each of its threads the caches hold what they will always hold of a program that is far
    /// larger than they are: what it comes back to often, such as its page table, and lines that it will not find
    /// again, which take room; none if they never hold anything of use to it.
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
        // under random replacement what was there before has gone but for a seventh when as many lines again have come
        let times = if self.is_random() { 2 } else { 1 };
        Some((times * lines).div_ceil(threads))
    }

    /// Takes so many steps of each thread of a program, in turn, in no time: caches and TLBs are then as if they had
    /// been taken.
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

    /// What each of so many cold threads has of the caches.
    pub(super) fn share(&self, threads: u32) -> Share {
        let lines = (self.capacity() / u64::from(threads.max(1))).clamp(1, SHARE);
        Share { lines, replacement: self.replacement() }
    }

    /// The lines that all caches behind the first level hold together.
    pub(super) fn capacity(&self) -> u64 {
        self.l2.iter().chain(&self.llc).map(Cache::capacity).sum()
    }

    fn is_random(&self) -> bool {
        self.replacement() == Replacement::Random
    }
    /// Which of the lines of the last level goes.
    pub(super) fn replacement(&self) -> Replacement {
        self.llc.first().map_or(Replacement::Lru, Cache::replacement)
    }

    /// Whether no cache has a line any more when so many bytes have been touched after it. Under random replacement a
    /// line survives with a probability of exp(-bytes / capacity); that is neglected below one in a million.
    pub(super) fn never_hits(&self, bytes: u64) -> bool {
        let times = if self.is_random() { 14 } else { 2 };
        self.rules.translation.is_none() && bytes / 64 >= times * self.capacity()
    }
}
