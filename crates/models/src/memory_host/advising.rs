//! What threads tell devices of pages as they go on.

use super::MemoryHost;
use super::hints::{ANNOUNCES, DISMISSES, PAGE, Run, runs};
use super::ids::ThreadId;
use crate::roles::memory::PageAdvice;
use lanetwin_kernel::{Port, Trail};
use lanetwin_ports::{Context, Hint, HintKind, Message};

impl MemoryHost {
    /// A thread has taken a step at this address: if it has come to another page, it says what its program says.
    pub(super) fn give_advice(&mut self, t: ThreadId, address: u64, cx: &mut Context<'_>) {
        let thread = &mut self.threads[t.index()];
        let (page, program, number) = (address / PAGE, thread.program as usize, u64::from(thread.number));
        let before = std::mem::replace(&mut thread.advised, page);
        let Some(PageAdvice { prefetch, evict, buffer }) =
            self.programs[program].advice.filter(|_| before != page)
        else {
            return;
        };
        let (base, ahead, behind) = (number * buffer, u64::from(prefetch), u64::from(evict));
        let at = page - base;
        if prefetch > 0 {
            // the first time, everything up to there
            let from = if before == u64::MAX { 1 } else { ahead };
            let pages: Vec<u64> = (from..=ahead).map(|further| base + (at + further) % buffer).collect();
            self.tell(program, HintKind::Prefetch, &pages, cx);
        }
        if evict > 0 && before != u64::MAX {
            self.tell(program, HintKind::Evict, &[base + (at + buffer - behind % buffer) % buffer], cx);
        }
    }
    fn tell(&mut self, program: usize, what: HintKind, pages: &[u64], cx: &mut Context<'_>) {
        let is_prefetch = what == HintKind::Prefetch;
        for page in pages {
            for Run { port, page, pages } in runs(&self.programs[program], &self.nodes, *page..page + 1) {
                let told = &mut self.hints.told;
                *(if is_prefetch { &mut told.announced } else { &mut told.dismissed }) += u64::from(pages);
                let handle = if is_prefetch { ANNOUNCES } else { DISMISSES };
                self.sent = true;
                let hint = Hint { what, pages, handle, address: page * PAGE };
                cx.resume(Trail::NONE);
                cx.send_at(Port(port), self.now, Message::Hint(hint));
            }
        }
    }
}
