//! What a host can be asked to do beyond messages: it runs programs.

use super::MemoryHost;
use crate::marks::Mark;
use crate::roles::memory::{Advised, LoadRecord, MemoryResults, PageAdvice, RunsPrograms};
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
    fn stop(&mut self) {
        Self::stop(self);
    }
    fn results(&self, at: Instant) -> Vec<MemoryResults> {
        Self::results(self, at)
    }
    fn tallies(&self) -> Vec<Tally> {
        Self::tallies(self)
    }
    fn record(&mut self, on: bool) {
        Self::record(self, on);
    }
    fn recorded(&self) -> &[LoadRecord] {
        Self::recorded(self)
    }
    fn waits_since(&self, at: Instant) -> bool {
        Self::waits_since(self, at)
    }
    fn outbound_marks(&self, load: &LoadRecord, sent: Option<Instant>) -> Vec<Mark> {
        Self::outbound_marks(self, load, sent)
    }
    fn in_dram(&mut self, load: &LoadRecord) -> Vec<Mark> {
        Self::in_dram(self, load)
    }
    fn return_marks(&self, load: &LoadRecord) -> Vec<Mark> {
        Self::return_marks(self, load)
    }
    fn is_dram(&self, node: usize) -> bool {
        Self::is_dram(self, node)
    }
}
