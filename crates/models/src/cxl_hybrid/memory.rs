//! The cache and its memory: accesses that are asked for, and what follows when they have been made.

use super::{CxlHybrid, LATER, MEMORY, params};
use crate::gauge::Gauge;
use crate::slab::Slab;
use lanetwin_media::dram;
use lanetwin_media::page_cache::{CacheConfig, Job, LINE, LINES, Outcome, PAGE, PageCache, Then};
use lanetwin_ports::{Context, Operation, Params, Site, Status};
use lanetwin_units::{Instant, Span};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An access that nobody waits for.
pub(super) const NOBODY: u32 = u32::MAX;
/// Accesses that belong together are named from here on, requests of the host below.
pub(super) const GROUPS: u32 = 1 << 31;

/// The cache and its memory.
pub(super) struct Inside {
    pub(super) cache: PageCache,
    pub(super) memory: dram::Machine,
    pub(super) config: CacheConfig,
    /// From an access of the memory being asked for to its end, at the least.
    pub(super) least_access: Span,
    /// Accesses that belong together.
    pub(super) groups: Slab<Group>,
    /// When the memory has been promised to be looked at; [`Instant::NEVER`] if not.
    pub(super) next_poll: Instant,
    /// What will end, and is known already.
    pub(super) later: BinaryHeap<Reverse<(Instant, Job)>>,
    pub(super) registers: Gauge,
    pub(super) write_backs: Gauge,
    pub(super) waiting: Gauge,
}

/// Accesses of the cache's memory that belong together, and what follows the last of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) left: u32,
    pub(super) last: Instant,
    pub(super) then: After,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum After {
    Then(Then),
    /// The write that the others were read for.
    Write {
        address: u64,
        then: Then,
    },
}

impl Inside {
    pub(super) fn new(params: &Params, site: &Site) -> Option<Self> {
        if !params::mistakes(params).is_empty() {
            return None;
        }
        let config = params::cache(params);
        let seed = lanetwin_units::stream_seed(site.seed, &site.path, "cache");
        let memory = crate::dram_params::config(params, params.size("cache.size"));
        let memory = dram::Machine::new(&memory).ok()?;
        Some(Self {
            cache: PageCache::new(&config, seed).ok()?,
            least_access: memory.least_access(),
            memory,
            config,
            groups: Slab::new(),
            next_poll: Instant::NEVER,
            later: BinaryHeap::new(),
            registers: Gauge::default(),
            write_backs: Gauge::default(),
            waiting: Gauge::default(),
        })
    }
    #[inline]
    pub(super) fn offer(&mut self, operation: Operation, address: u64, token: u32, now: Instant) {
        let operation = match operation {
            Operation::Read => dram::Operation::Read,
            Operation::Write => dram::Operation::Write,
        };
        let offer = self.memory.offer(now, dram::Request { token, operation, address });
        debug_assert_eq!(offer, dram::Offer::Accepted, "frames lie in the memory, and anybody can wait");
    }
    /// Notes what is in use.
    #[inline]
    pub(super) fn gauge(&mut self, now: Instant) {
        let is = [
            (&mut self.registers, self.cache.registers_taken() as u64),
            (&mut self.write_backs, self.cache.write_backs_under_way() as u64),
            (&mut self.waiting, self.cache.waiting() as u64),
        ];
        for (gauge, number) in is {
            let was = gauge.number();
            if number > was {
                gauge.add(number - was, now);
            } else if number < was {
                gauge.remove(was - number, now);
            }
        }
    }
}

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
    /// Asks the cache's memory at `at` for so many lines of the same page, behind this one.
    pub(super) fn beside(&mut self, operation: Operation, address: u64, lines: u32, token: u32, at: Instant) {
        let Some(inside) = &mut self.inside else { return };
        let (page, line) = (address / PAGE * PAGE, address % PAGE / LINE);
        for further in 1..=u64::from(lines) {
            let line = (line + further) % u64::from(LINES);
            inside.offer(operation, page + line * LINE, token, at);
        }
    }

    /// Takes from the cache's memory what is known, and asks to look again when something more will be.
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
            // the memory takes requests in the order of time: what is read is written when the rest is known
            After::Write { address, then } => self.write(address, 1, then, cx.now()),
        }
    }

    /// What was known to end has ended.
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
