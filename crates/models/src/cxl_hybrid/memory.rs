//! Accesses to the cache's memory, and the actions after them.

use super::CxlHybrid;
use super::inside::{After, GROUPS, Group, NOBODY};
use super::wakes::{LATER, MEMORY};
use lanetwin_media::page_cache::{LINE, LINES, Outcome, PAGE, Then};
use lanetwin_ports::{Context, Operation, Status};
use lanetwin_units::Instant;
use std::cmp::Reverse;

impl CxlHybrid {
    pub(super) fn read(&mut self, address: u64, lines: u32, then: Then, at: Instant) {
        let demand = matches!(then, Then::Answer(_));
        self.move_lines(Operation::Read, address, lines, then, at);
        if demand && self.extra.read > 0 {
            self.beside(Operation::Read, address, self.extra.read, NOBODY, at);
        }
    }
    pub(super) fn write(&mut self, address: u64, lines: u32, then: Then, at: Instant) {
        self.move_lines(Operation::Write, address, lines, then, at);
        if lines == 1 && self.extra.with_write > 0 {
            self.beside(Operation::Write, address, self.extra.with_write, NOBODY, at);
        }
    }

    /// Asks the cache's memory for lines at `at`.
    #[inline]
    pub(super) fn move_lines(
        &mut self,
        operation: Operation,
        address: u64,
        lines: u32,
        then: Then,
        at: Instant,
    ) {
        let Some(inside) = &mut self.inside else { return };
        let token = match then {
            Then::Nothing => NOBODY,
            Then::Answer(token) if lines == 1 => token,
            _ => GROUPS | inside.groups.put(Group { left: lines, last: at, then: After::Then(then) }),
        };
        for line in 0..u64::from(lines) {
            inside.offer(operation, address + line * LINE, token, at);
        }
    }
    /// Requests `lines` further lines of the same page after this one from the cache's memory at `at`.
    pub(super) fn beside(&mut self, operation: Operation, address: u64, lines: u32, token: u32, at: Instant) {
        let Some(inside) = &mut self.inside else { return };
        let (page, line) = (address / PAGE * PAGE, address % PAGE / LINE);
        for further in 1..=u64::from(lines) {
            let line = (line + further) % u64::from(LINES);
            inside.offer(operation, page + line * LINE, token, at);
        }
    }

    /// Takes the known results of the cache's memory, and asks for a wake for the next ones.
    #[inline]
    pub(super) fn poll_memory(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        loop {
            let Some(inside) = &mut self.inside else { return };
            let next = inside.memory.next().unwrap_or(Instant::NEVER);
            if next > now {
                if next < inside.next_poll {
                    inside.next_poll = next;
                    cx.wake_at(next, MEMORY);
                }
                return;
            }
            let mut done = std::mem::take(&mut self.done);
            inside.memory.advance(now, &mut done);
            for done in done.drain(..) {
                if done.token & GROUPS == 0 {
                    self.mark_read(&done, cx);
                }
                self.moved(done.token, done.at.max(now), cx);
            }
            self.done = done;
        }
    }

    /// An access of the cache's memory has ended, or will at `at`.
    #[inline]
    pub(super) fn moved(&mut self, token: u32, at: Instant, cx: &mut Context<'_>) {
        if token == NOBODY {
            return;
        }
        if token & GROUPS == 0 {
            return self.answer(token, at, Status::Ok, cx);
        }
        let Some(inside) = &mut self.inside else { return };
        let slot = token & !GROUPS;
        let Some(group) = inside.groups.get(slot) else { return };
        group.left -= 1;
        group.last = group.last.max(at);
        if group.left > 0 {
            return;
        }
        let Some(Group { last, then, .. }) = inside.groups.take(slot) else { return };
        match then {
            After::Then(Then::Nothing) => {}
            After::Then(Then::Answer(token)) => self.answer(token, last, Status::Ok, cx),
            After::Then(Then::End(job)) => {
                inside.later.push(Reverse((last, job)));
                cx.wake_at(last, LATER);
            }
            // the memory takes requests in the order of time, so that the write is requested when the end of the read
            // is known
            After::Write { address, then } => self.write(address, 1, then, cx.now()),
        }
    }

    /// Processes known ends that are due.
    pub(super) fn end_later(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        self.end_look_ups(now, cx);
        while let Some(inside) = &mut self.inside {
            let Some(Reverse((at, job))) = inside.later.peek().copied() else { break };
            if at > now {
                break;
            }
            inside.later.pop();
            self.with_cache(now, cx, |cache, effects| cache.ended(now, job, Outcome::Success, effects));
        }
        self.poll_memory(cx);
        self.look_ahead(cx);
    }
}
