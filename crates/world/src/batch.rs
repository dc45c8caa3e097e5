//! Equal parts of a measurement.

use lanetwin_load::{Answered, Tally};
use lanetwin_units::Span;

const PS_PER_NS: f64 = 1e3;

/// Counters of one part of a measurement.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Batch {
    /// Length of the part.
    pub elapsed: Span,
    /// Counters of the part.
    pub tally: Tally,
}

impl Batch {
    /// The time over which rates are taken: see [`Tally::time`].
    #[must_use]
    pub fn time(&self) -> Span {
        self.tally.time(self.elapsed)
    }
    /// Operations answered per second; 0 if none was.
    pub(super) fn rate(&self) -> f64 {
        let ps = self.time().as_ps();
        if ps == 0 { 0.0 } else { self.tally.completed() as f64 * 1e12 / ps as f64 }
    }
}

/// A value of each part, averaged over the repeats. Empty if a repeat has no parts, or if a part has no value.
pub(super) fn across(repeats: &[&[Batch]], of: impl Fn(&Batch) -> Option<f64>) -> Vec<f64> {
    let parts = repeats.iter().map(|parts| parts.len()).min().unwrap_or(0);
    let mean = |nth: usize| {
        let all = repeats.iter().map(|parts| of(&parts[nth])).sum::<Option<f64>>();
        all.map(|all| all / repeats.len() as f64)
    };
    (0..parts).map(mean).collect::<Option<_>>().unwrap_or_default()
}

/// Mean latency of each part \[ns\]. Empty if a part has none.
pub(super) fn mean_latencies(repeats: &[&[Batch]], of: impl Fn(&Tally) -> &Answered) -> Vec<f64> {
    across(repeats, |batch| {
        let side = of(&batch.tally);
        (side.timed > 0).then(|| side.latency_ps as f64 / side.timed as f64 / PS_PER_NS)
    })
}
