//! The cache and its memory, and accesses that belong together.

use super::params;
use crate::gauge::Gauge;
use crate::slab::Slab;
use lanetwin_media::dram;
use lanetwin_media::page_cache::{CacheConfig, Job, PageCache, Then};
use lanetwin_ports::{Operation, Params, Site};
use lanetwin_units::{Instant, Span};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Token of an access without a waiting request.
pub(super) const NOBODY: u32 = u32::MAX;
/// Accesses that belong together are named from here on, requests of the host below.
pub(super) const GROUPS: u32 = 1 << 31;

/// The cache and its memory.
pub(super) struct Inside {
    pub(super) cache: PageCache,
    pub(super) memory: dram::Machine,
    pub(super) config: CacheConfig,
    /// Least time from the request of a memory access to its end.
    pub(super) least_access: Span,
    /// Accesses that belong together.
    pub(super) groups: Slab<Group>,
    /// When the memory is polled next; [`Instant::NEVER`] if no poll is pending.
    pub(super) next_poll: Instant,
    /// Known future ends.
    pub(super) later: BinaryHeap<Reverse<(Instant, Job)>>,
    pub(super) registers: Gauge,
    pub(super) write_backs: Gauge,
    pub(super) waiting: Gauge,
}

/// Accesses to the cache's memory that belong together, and the action after the last of them.
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
    /// Updates the gauges.
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
