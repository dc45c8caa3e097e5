//! Hints that threads give devices while they run.

use super::MemoryHost;
use super::hints::{PAGE, Run, name_of, runs};
use super::ids::ThreadId;
use crate::roles::memory::PageAdvice;
use lanetwin_kernel::{Port, Trail};
use lanetwin_ports::{Context, Hint, HintKind, Message};

impl MemoryHost {
    /// After a step of a thread at this address: gives the program's hints if it has reached another page.
    pub(super) fn give_advice(&mut self, t: ThreadId, address: u64, cx: &mut Context<'_>) {
        let thread = &mut self.threads[t.index()];
        let (page, program, number) = (address / PAGE, thread.program as usize, u64::from(thread.number));
        let before = std::mem::replace(&mut thread.advised, page);
        let Some(PageAdvice { prefetch, evict, status, temperature, buffer }) =
            self.programs[program].advice.filter(|_| before != page)
        else {
            return;
        };
        let (base, ahead) = (number * buffer, u64::from(prefetch));
        let at = page - base;
        let behind = |pages: u32| base + (at + buffer - u64::from(pages) % buffer) % buffer;
        if status > 0 {
            // asked before the announcement: whether the page was cached anyway
            self.tell(program, HintKind::Status, &[base + (at + u64::from(status)) % buffer], cx);
        }
        if temperature > 0 && before != u64::MAX {
            self.tell(program, HintKind::Temperature, &[behind(temperature)], cx);
        }
        if prefetch > 0 {
            // the first time, everything up to there
            let from = if before == u64::MAX { 1 } else { ahead };
            let pages: Vec<u64> = (from..=ahead).map(|further| base + (at + further) % buffer).collect();
            self.tell(program, HintKind::Prefetch, &pages, cx);
        }
        if evict > 0 && before != u64::MAX {
            self.tell(program, HintKind::Evict, &[behind(evict)], cx);
        }
    }
    fn tell(&mut self, program: usize, what: HintKind, pages: &[u64], cx: &mut Context<'_>) {
        for page in pages {
            for Run { port, page, pages } in runs(&self.programs[program], &self.nodes, *page..page + 1) {
                self.sent = true;
                let hint = Hint { what, pages, handle: name_of(what, pages), address: page * PAGE };
                cx.resume(Trail::NONE);
                cx.send_at(Port(port), self.now, Message::Hint(hint));
            }
        }
    }
}
