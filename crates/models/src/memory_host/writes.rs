//! Lines on their way to memory: write-backs and streaming stores, and those that wait for write buffers.

use super::MemoryHost;
use super::flights::{Cause, Flight};
use super::ids::{CoreId, ThreadId};
use lanetwin_load::memory::Touch;
use lanetwin_ports::Context;
use lanetwin_units::{Instant, Span};

impl MemoryHost {
    /// A streaming store: a write, if there is a place for it. Of the operation that it ends, when that began and
    /// whether it is a SET.
    pub(super) fn stream(
        &mut self,
        t: ThreadId,
        line: u64,
        operation: Option<(Instant, bool)>,
        cx: &mut Context<'_>,
    ) -> bool {
        let c = self.threads[t.index()].core;
        let core = &mut self.cores[c.index()];
        if !core.has_place(Touch::Stream, &self.rules) {
            return false;
        }
        core.l1.remove(line);
        self.l2[core.l2].remove(line);
        self.llc[core.socket as usize].remove(line);
        if let Some((began, sets)) = operation {
            let counted = &mut self.programs[self.threads[t.index()].program as usize].counted;
            counted.end(sets, self.now - began);
        }
        self.count_answer();
        self.write_back(c, t, line, cx);
        true
    }
    /// Writes back the dirty line that is evicted for a line that a thread fetches.
    pub(super) fn clean(&mut self, t: ThreadId, cx: &mut Context<'_>) {
        let thread = &mut self.threads[t.index()];
        let share = self.programs[thread.program as usize].share;
        if let Some(line) = thread.stored.let_go(thread.steps, share) {
            let core = thread.core;
            self.write_back(core, t, line, cx);
        }
    }

    /// Sends a line to memory, now or when there is a place.
    pub(super) fn write_back(&mut self, c: CoreId, t: ThreadId, line: u64, cx: &mut Context<'_>) {
        let core = &mut self.cores[c.index()];
        self.asked += 1;
        core.owed.push_back((line, t));
        self.write_owed(c, cx);
    }
    fn write(&mut self, c: CoreId, t: ThreadId, line: u64, cx: &mut Context<'_>) {
        let name = self.flights.begin(Flight::new(Cause::Write, t, c, line, self.now));
        self.ask(name, Span::ZERO, cx);
    }
    /// Writes waiting lines while there are write buffers; then waiting threads may try again.
    #[inline(always)]
    pub(super) fn write_owed(&mut self, c: CoreId, cx: &mut Context<'_>) {
        if !self.cores[c.index()].owed.is_empty() {
            self.write_some_owed(c, cx);
        }
    }
    #[inline(never)]
    fn write_some_owed(&mut self, c: CoreId, cx: &mut Context<'_>) {
        while let core = &mut self.cores[c.index()]
            && !core.owed.is_empty()
            && *core.write_places(&self.rules) > 0
            && let Some((line, thread)) = core.owed.pop_front()
        {
            *core.write_places(&self.rules) -= 1;
            self.write(c, thread, line, cx);
        }
    }
}
