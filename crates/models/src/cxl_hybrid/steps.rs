//! The stages that a device marks of the reads that pass it.
//!
//! ```text
//!  ingress ─ queue for a look-up ─ look-up ─┬──────────────────── hit ──────────────┬─ DRAM … ─ controller ─ egress
//!                                           └─ queue for a miss register ─ disk ────┘
//! ```

use crate::marks;
use lanetwin_media::page_cache::Job;
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

/// The disk request of each miss register.
#[derive(Default)]
pub(super) struct Fetches {
    asked: Vec<Fetch>,
    /// That which is ending just now.
    pub(super) ending: Option<Fetch>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Fetch {
    pub(super) first: u64,
    pub(super) end: u64,
    pub(super) asked: Instant,
}

impl Fetches {
    /// Notes that a request is sent to the disk.
    pub(super) fn ask(&mut self, job: Job, address: u64, bytes: u32, now: Instant) {
        if let Some(register) = job.register() {
            let place = register as usize;
            self.asked.resize(self.asked.len().max(place + 1), Fetch::default());
            self.asked[place] = Fetch { first: address, end: address + u64::from(bytes), asked: now };
        }
    }
    /// Notes that the data of a request have come: requests answered until [`Fetches::end`] may have waited for it.
    pub(super) fn begin_end(&mut self, job: Job) {
        self.ending = job.register().and_then(|register| self.asked.get(register as usize)).copied();
    }
    pub(super) fn end(&mut self) {
        self.ending = None;
    }
}
