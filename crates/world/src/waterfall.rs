//! Where one load of memory spent its time, summing exactly to the whole.

pub(super) mod memory;

use lanetwin_units::{Instant, Span};
use std::collections::BTreeMap;

/// What became of one operation.
#[derive(Clone, Default, Debug)]
pub struct Followed {
    /// Where its time went, in order; the stages sum to its latency.
    pub stages: Vec<(String, Span)>,
    /// How often it waited for something to cross each link, by the link's name.
    pub crossings: BTreeMap<String, u64>,
}

impl Followed {
    /// The time from the cursor to `until` was spent on this; what is over already, was not.
    pub(super) fn spend(&mut self, cursor: &mut Instant, until: Instant, what: String) {
        if until <= *cursor {
            return;
        }
        let span = until - *cursor;
        *cursor = until;
        match self.stages.iter_mut().find(|s| s.0 == what) {
            Some(stage) => stage.1 += span,
            None => self.stages.push((what, span)),
        }
    }
}
