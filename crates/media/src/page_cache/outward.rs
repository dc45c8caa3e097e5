//! Pages that leave a page cache: evictions, and cleaning of dirty pages before that.

use super::directory::{AHEAD, CLEANING, DIRTY, PARTIAL, QUEUED};
use super::set::At;
use super::write_backs::WriteBack;
use super::{Effect, Job, Outcome, PAGE, PageCache, Then, runs};

/// Number of attempts to write a page, or to fetch its missing lines, before it is given up (assumed).
const TRIES: u8 = 3;

impl PageCache {
    /// Starts the eviction of a page. Returns false if it is not possible yet.
    pub(super) fn send_away(&mut self, at: At, effects: &mut Vec<Effect>) -> bool {
        let dirty = self.directory.has(at, DIRTY);
        if dirty {
            let page = self.directory.page(at).expect("a page goes");
            if self.write_backs.is_full() || self.write_backs.has(page) {
                return false;
            }
            self.write_out(at, page, None, effects);
            self.counters.dirty_evictions += 1;
        } else {
            self.counters.clean_evictions += 1;
        }
        self.gone(at);
        true
    }
    /// Updates the counters for a page that is evicted.
    pub(super) fn gone(&mut self, at: At) {
        if self.directory.has(at, DIRTY) {
            self.counters.dirty_pages -= 1;
        }
        if self.directory.has(at, AHEAD) {
            self.counters.ahead_wasted += 1;
        }
    }
    /// Begins to write a dirty page back. Its missing lines are fetched first.
    fn write_out(&mut self, at: At, page: u32, cleans: Option<At>, effects: &mut Vec<Effect>) {
        let lines = self.directory.lines(at);
        let parts: Vec<(u32, u32)> = runs(lines).collect();
        let awaits = parts.len() as u8 + u8::from(lines != u64::MAX);
        let slot = self.write_backs.take(WriteBack { page, cleans, awaits, refused: 0 });
        for (first, lines) in parts {
            let then = Then::End(Job::read_out(slot));
            effects.push(Effect::ReadDram { address: self.address(at, first), lines, then });
        }
        if lines != u64::MAX {
            self.complete(slot, page, effects);
        }
    }
    fn complete(&mut self, slot: u32, page: u32, effects: &mut Vec<Effect>) {
        self.counters.fetches += 1;
        self.counters.fetched_bytes += PAGE;
        let address = u64::from(page) * PAGE;
        effects.push(Effect::Fetch { job: Job::complete(slot), address, bytes: PAGE as u32 });
    }
    /// Notes that part of a page to be written back has been gathered.
    pub(super) fn gathered(&mut self, slot: u32, job: Job, outcome: Outcome, effects: &mut Vec<Effect>) {
        let Some(write_back) = self.write_backs.get(slot) else { return };
        let page = write_back.page;
        if outcome == Outcome::Failed && job == Job::complete(slot) {
            self.counters.medium_errors += 1;
            write_back.refused += 1;
            if write_back.refused < TRIES {
                return self.complete(slot, page, effects);
            }
            // it is reported as lost when all outstanding parts have arrived
        }
        write_back.awaits -= 1;
        if write_back.awaits > 0 {
            return;
        }
        if write_back.refused >= TRIES {
            self.lose(slot, effects);
        } else {
            write_back.refused = 0;
            self.write_page(slot, page, effects);
        }
    }
    fn write_page(&mut self, slot: u32, page: u32, effects: &mut Vec<Effect>) {
        let cleans = self.write_backs.get(slot).is_some_and(|write_back| write_back.cleans.is_some());
        *(if cleans { &mut self.counters.cleanings } else { &mut self.counters.write_backs }) += 1;
        self.counters.written_bytes += PAGE;
        effects.push(Effect::WriteBack { job: Job::write_back(slot), address: u64::from(page) * PAGE });
    }
    /// Notes that a page has been written to the medium, or refused by it.
    pub(super) fn written(&mut self, slot: u32, outcome: Outcome, effects: &mut Vec<Effect>) {
        let Some(write_back) = self.write_backs.get(slot) else { return };
        let page = write_back.page;
        if outcome == Outcome::Failed {
            self.counters.medium_errors += 1;
            write_back.refused += 1;
            if write_back.refused < TRIES {
                return self.write_page(slot, page, effects);
            }
            return self.lose(slot, effects);
        }
        self.leave(slot, effects);
    }
    /// Gives up a page: a cleaned one is dirty again, an evicted one is lost.
    fn lose(&mut self, slot: u32, effects: &mut Vec<Effect>) {
        match self.write_backs.get(slot).and_then(|write_back| write_back.cleans) {
            Some(at) => self.mark_dirty(at),
            None => self.counters.lost_pages += 1,
        }
        self.leave(slot, effects);
    }
    /// Frees a slot; registers that waited for its page can fetch it.
    fn leave(&mut self, slot: u32, effects: &mut Vec<Effect>) {
        let Some(write_back) = self.write_backs.release(slot) else { return };
        if let Some(at) = write_back.cleans {
            self.directory.lower(at, CLEANING);
            self.queue_if_dirty(at);
            if let Some(cleaner) = &mut self.cleaner {
                cleaner.running -= 1;
            }
        }
        for register in self.registers.unblock(write_back.page) {
            self.ask(register, effects);
        }
    }

    /// Marks a page as dirty.
    pub(super) fn mark_dirty(&mut self, at: At) {
        if !self.directory.has(at, DIRTY) {
            self.directory.raise(at, DIRTY);
            self.counters.dirty_pages += 1;
            self.queue_if_dirty(at);
        }
    }
    /// Queues a dirty page for the cleaner, if it can be cleaned and is not queued.
    pub(super) fn queue_if_dirty(&mut self, at: At) {
        let Some(cleaner) = &mut self.cleaner else { return };
        if self.directory.has(at, DIRTY) && !self.directory.has(at, QUEUED | CLEANING | PARTIAL) {
            self.directory.raise(at, QUEUED);
            cleaner.queue.push_back(self.directory.page(at).expect("a dirty page"));
            if cleaner.queue.len() as u64 > 2 * self.counters.dirty_pages + 1024 {
                self.tidy_queue();
            }
        }
    }
    /// Drops pages from the cleaner's queue that have been evicted or are clean.
    fn tidy_queue(&mut self) {
        let Some(cleaner) = &mut self.cleaner else { return };
        let directory = &mut self.directory;
        let mut place = |page: u32| {
            let at = directory.find(directory.set_of(page), page).filter(|at| directory.has(*at, QUEUED))?;
            // once only: the flag is raised again below
            directory.lower(at, QUEUED);
            Some(at)
        };
        let mut kept = Vec::new();
        cleaner.queue.retain(|page| place(*page).map(|at| kept.push(at)).is_some());
        kept.into_iter().for_each(|at| directory.raise(at, QUEUED));
    }

    /// Cleans as many pages as the watermarks require.
    pub(super) fn clean(&mut self, effects: &mut Vec<Effect>) {
        loop {
            let dirty = self.counters.dirty_pages + self.dirty_elsewhere();
            let Some(cleaner) = &mut self.cleaner else { return };
            if !cleaner.wants(dirty) || self.write_backs.is_full() {
                return;
            }
            let Some(page) = cleaner.queue.pop_front() else {
                if !self.draw_next() {
                    return;
                }
                continue;
            };
            let set = self.set_of(page);
            let Some(at) = self.directory.find(set, page).filter(|at| self.directory.has(*at, QUEUED)) else {
                continue;
            };
            self.directory.lower(at, QUEUED);
            let stays = self.directory.has(at, DIRTY) && !self.directory.has(at, PARTIAL | CLEANING);
            if stays && !self.write_backs.has(page) {
                self.directory.lower(at, DIRTY);
                self.counters.dirty_pages -= 1;
                self.directory.raise(at, CLEANING);
                self.write_out(at, page, Some(at), effects);
                self.cleaner.iter_mut().for_each(|cleaner| cleaner.running += 1);
            }
        }
    }
}
