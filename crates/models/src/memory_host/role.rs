//! Role of a host: it runs programs.

use super::MemoryHost;
use super::cores::Waits;
use crate::roles::memory::{Advised, MemoryResults, PageAdvice, RunsPrograms};
use lanetwin_load::Tally;
use lanetwin_load::memory::{BadPlacement, Placement, Program};
use lanetwin_units::Instant;

impl RunsPrograms for MemoryHost {
    fn run(&mut self, program: Box<dyn Program>, placement: Placement) -> Result<(), Vec<BadPlacement>> {
        Self::run(self, program, placement)
    }
    fn advise(&mut self, program: usize, advice: PageAdvice) {
        Self::advise(self, program, advice);
    }
    fn advised(&self) -> Advised {
        Self::advised(self)
    }
    fn settles_after(&self, program: &dyn Program) -> Option<u64> {
        Self::settles_after(self, program)
    }
    fn reset(&mut self, at: Instant) {
        Self::reset(self, at);
    }
    fn progress(&self) -> (u64, u64) {
        Self::progress(self)
    }
    fn touched(&self) -> u64 {
        self.threads.iter().map(|thread| thread.steps).sum()
    }
    fn ended(&self) -> Option<Instant> {
        let have_ended = || self.threads.iter().all(|thread| matches!(thread.waits, Waits::Ended));
        (self.asked == self.answered && have_ended()).then_some(self.last)
    }
    fn stop(&mut self) {
        Self::stop(self);
    }
    fn results(&self, at: Instant) -> Vec<MemoryResults> {
        Self::results(self, at)
    }
    fn tallies(&self) -> Vec<Tally> {
        Self::tallies(self)
    }
}
