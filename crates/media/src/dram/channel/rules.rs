//! Thresholds, times and policies of a controller.

use crate::dram::config::{Config, PagePolicy, Turn, WriteAnswer};
use crate::dram::spec::Timings;

/// Thresholds, times and policies of a controller \[clocks\].
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub places: [u32; 2],
    pub high: u32,
    pub low: u32,
    pub idle: u64,
    pub age: u64,
    pub passes: u32,
    pub waiting: usize,
    pub closed: bool,
    /// `None` if rows are not closed after a time.
    pub patience: Option<u64>,
    pub queued: bool,
    /// Whether open rows are used while rows for the other direction are opened.
    pub prepared: bool,
}

impl Rules {
    pub fn new(config: &Config, t: &Timings) -> Self {
        let q = &config.queues;
        Self {
            places: [q.reads, q.writes],
            high: q.high,
            low: q.low,
            idle: t.clock.at_least(q.idle.as_ps()),
            age: t.clock.at_least(q.age.as_ps()),
            passes: q.passes,
            waiting: q.waiting as usize,
            closed: config.page == PagePolicy::Closed,
            patience: match config.page {
                PagePolicy::Adaptive(time) => Some(t.clock.at_least(time.as_ps()).max(8)),
                PagePolicy::Open | PagePolicy::Closed => None,
            },
            queued: config.answer == WriteAnswer::Queued,
            prepared: config.turn == Turn::Prepared,
        }
    }
}
