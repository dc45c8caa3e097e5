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

/// The mean over the repeats of what each part has shown; none if a repeat has no parts, or a part shows nothing.
pub(super) fn across(repeats: &[&[Batch]], of: impl Fn(&Batch) -> Option<f64>) -> Vec<f64> {
    let parts = repeats.iter().map(|parts| parts.len()).min().unwrap_or(0);
    let mean = |nth: usize| {
        let all = repeats.iter().map(|parts| of(&parts[nth])).sum::<Option<f64>>();
        all.map(|all| all / repeats.len() as f64)
    };
    (0..parts).map(mean).collect::<Option<_>>().unwrap_or_default()
}

/// The mean latency in each part \[ns\]; none if a part has none.
pub(super) fn mean_latencies(repeats: &[&[Batch]], of: impl Fn(&Tally) -> &Answered) -> Vec<f64> {
    across(repeats, |batch| {
        let side = of(&batch.tally);
        (side.timed > 0).then(|| side.latency_ps as f64 / side.timed as f64 / PS_PER_NS)
    })
}
