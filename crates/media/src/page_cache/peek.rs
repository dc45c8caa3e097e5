//! What a request would find if it came now, for those who see to several at a time.

use super::initial::Warm;
use super::set::register;
use super::{Access, PAGE, PageCache, Request};

impl PageCache {
    /// Prefetches, into the caches of the machine that simulates, the sets of addresses that will be asked for soon.
    /// The simulated state does not change.
    pub fn prefetch_sets(&mut self, addresses: impl Iterator<Item = u64>) {
        self.near.clear();
        self.near.extend(addresses.map(|address| self.directory.set_of((address / PAGE) as u32)));
        self.directory.prefetch(&self.near);
    }

    /// Whether a request that came now would be a hit that asks for an access of the cache's memory and nothing else,
    /// and would do so as long as nothing but such hits happens before it. It can say no of such a hit, too.
    #[must_use]
    pub fn is_plain_hit(&mut self, request: Request) -> bool {
        if self.cleaner.is_some() || self.streams.is_some() || !(self.waiting.is_empty() || self.hits_pass) {
            return false;
        }
        // pages that are drawn dirty are counted when their set is visited, not before
        let early = self.warm.as_ref().is_none_or(Warm::is_clean);
        if !early && self.directory.read(self.directory.set_of(request.page()), register::DRAWN) == 0 {
            return false;
        }
        self.needs_nothing(&request)
    }

    /// Whether a request reads a line that is on its way in.
    pub(super) fn joins(&mut self, request: &Request) -> bool {
        request.access == Access::Read && self.registers.find(request.page(), request.line()).is_some()
    }
    /// Whether a request neither needs a register nor a frame.
    pub(super) fn needs_nothing(&mut self, request: &Request) -> bool {
        let set = self.set_of(request.page());
        self.directory.find(set, request.page()).is_some_and(|at| {
            request.access == Access::Write || self.directory.lines(at) >> request.line() & 1 != 0
        })
    }
}
