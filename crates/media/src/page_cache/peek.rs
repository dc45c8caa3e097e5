//! Look-ups in advance, for callers that handle several requests at a time.

use super::initial::Warm;
use super::set::register;
use super::{Access, PAGE, PageCache, Request};

impl PageCache {
    /// Loads the sets of addresses that will be accessed soon into the CPU's caches. The simulated state does not
    /// change.
    pub fn prefetch_sets(&mut self, addresses: impl Iterator<Item = u64>) {
        self.near.clear();
        self.near.extend(addresses.map(|address| self.directory.set_of((address / PAGE) as u32)));
        self.directory.prefetch(&self.near);
    }

    /// Whether a request now would be a hit that only needs an access to the cache's memory, and would remain one as
    /// long as only such hits come before it. It may return false for such a hit, too.
    #[must_use]
    pub fn is_plain_hit(&mut self, request: Request) -> bool {
        if self.cleaner.is_some() || self.streams.is_some() || !(self.waiting.is_empty() || self.hits_pass) {
            return false;
        }
        // pages drawn as dirty are counted when their set is first visited
        let early = self.warm.as_ref().is_none_or(Warm::is_clean);
        if !early && self.directory.read(self.directory.set_of(request.page()), register::DRAWN) == 0 {
            return false;
        }
        self.needs_nothing(&request)
    }

    /// Whether a request reads a line that is being fetched.
    pub(super) fn joins(&mut self, request: &Request) -> bool {
        request.access == Access::Read && self.registers.find(request.page(), request.line()).is_some()
    }
    /// Whether a request needs neither a register nor a frame.
    pub(super) fn needs_nothing(&mut self, request: &Request) -> bool {
        let set = self.set_of(request.page());
        self.directory.find(set, request.page()).is_some_and(|at| {
            request.access == Access::Write || self.directory.lines(at) >> request.line() & 1 != 0
        })
    }
}
