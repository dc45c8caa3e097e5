//! Marks of the stages of a read.

use super::CxlHybrid;
use super::steps::{CONTROLLER_QUEUE, DISK, INGRESS, LOOK_UP, LOOK_UP_QUEUE, REGISTER_QUEUE};
use crate::marks;
use lanetwin_kernel::Trail;
use lanetwin_media::dram::Done;
use lanetwin_ports::Context;
use lanetwin_units::Instant;

impl CxlHybrid {
    /// The request that is being handled is looked up.
    pub(super) fn mark_look_up(&self, begin: Instant, end: Instant, cx: &mut Context<'_>) {
        cx.mark_until(cx.now() + self.ingress, INGRESS);
        cx.mark_until(begin, LOOK_UP_QUEUE);
        cx.mark_until(end, LOOK_UP);
    }
    /// A request has waited until `at` for its line to be in the cache.
    pub(super) fn mark_waited(&mut self, token: u32, at: Instant, cx: &mut Context<'_>) {
        let Some(open) = self.open.get(token).filter(|open| open.trail != Trail::NONE) else { return };
        cx.resume(open.trail);
        if let Some(fetch) = self.fetches.ending.filter(|its| (its.first..its.end).contains(&open.address)) {
            cx.mark_until(fetch.asked, REGISTER_QUEUE);
            cx.mark_until(at, DISK);
        }
        cx.mark_until(at, CONTROLLER_QUEUE);
        open.trail = cx.trail();
    }
    /// The line of a request has been read from the cache's memory.
    pub(super) fn mark_read(&mut self, done: &Done, cx: &mut Context<'_>) {
        let Some(inside) = &self.inside else { return };
        let Some(open) = self.open.get(done.token).filter(|open| open.trail != Trail::NONE) else { return };
        cx.resume(open.trail);
        marks::mark_read(&inside.memory, done, cx);
        open.trail = cx.trail();
    }
}
