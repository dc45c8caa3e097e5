//! Equal parts of a measurement.

use lanetwin_load::{Answered, Tally};
use lanetwin_units::Span;

const PS_PER_NS: f64 = 1e3;

/// What was counted in a part of a measurement.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Batch {
    /// How long it was.
    pub elapsed: Span,
    /// What was counted in it.
    pub tally: Tally,
}

impl Batch {
    /// The time that rates are over: see [`Tally::time`].
    #[must_use]
    pub fn time(&self) -> Span {
        self.tally.time(self.elapsed)
    }
    /// How many operations were answered in a second; 0 if none was.
    pub(super) fn rate(&self) -> f64 {
        let ps = self.time().as_ps();
        if ps == 0 { 0.0 } else { self.tally.completed() as f64 * 1e12 / ps as f64 }
    }
}

/// The mean latency in each part \[ns\]; none if a part has none.
pub(super) fn mean_latencies(batches: &[Batch], of: impl Fn(&Tally) -> &Answered) -> Option<Vec<f64>> {
    let mean = |batch: &Batch| {
        let side = of(&batch.tally);
        (side.timed > 0).then(|| side.latency_ps as f64 / side.timed as f64 / PS_PER_NS)
    };
    batches.iter().map(mean).collect()
}
