//! The stages that a device marks of the reads that pass it.
//!
//! ```text
//!  ingress ─ queue for a look-up ─ look-up ─┬──────────────────── hit ──────────────┬─ DRAM … ─ controller ─ egress
//!                                           └─ queue for a miss register ─ disk ────┘
//! ```

use super::CxlHybrid;
use crate::marks;
use lanetwin_kernel::Trail;
use lanetwin_media::dram::Done;
use lanetwin_media::page_cache::Job;
use lanetwin_ports::Context;
use lanetwin_units::Instant;

lanetwin_kernel::stages! {
    after marks::STAGES;
    INGRESS = "ingress",
    LOOK_UP_QUEUE = "queue for a look-up",
    LOOK_UP = "look-up",
    REGISTER_QUEUE = "queue for a miss register",
    DISK = "disk",
    CONTROLLER_QUEUE = "queue in the controller",
    CONTROLLER = "controller",
    EGRESS = "egress",
}

/// What was asked of the disk for each miss register.
#[derive(Default)]
pub(super) struct Fetches {
    asked: Vec<Fetch>,
    /// That which is ending just now.
    ending: Option<Fetch>,
}

#[derive(Clone, Copy, Default)]
struct Fetch {
    first: u64,
    end: u64,
    asked: Instant,
}

impl Fetches {
    /// The disk is asked.
    pub(super) fn ask(&mut self, job: Job, address: u64, bytes: u32, now: Instant) {
        if let Some(register) = job.register() {
            let place = register as usize;
            self.asked.resize(self.asked.len().max(place + 1), Fetch::default());
            self.asked[place] = Fetch { first: address, end: address + u64::from(bytes), asked: now };
        }
    }
    /// What the disk was asked for has come: what is answered until [`Fetches::end`] may have waited for it.
    pub(super) fn begin_end(&mut self, job: Job) {
        self.ending = job.register().and_then(|register| self.asked.get(register as usize)).copied();
    }
    pub(super) fn end(&mut self) {
        self.ending = None;
    }
}

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
