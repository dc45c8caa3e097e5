//! Whether this machine keeps up: the delay of answers relative to their predicted times.

use lanetwin_stats::Histogram;
use lanetwin_units::Span;
use serde::Serialize;

/// An answer is late if it is later than this … `assumed`: a tenth of the fastest flash read, and more than a wake of
/// a thread takes.
pub const LATE: Span = Span::from_us(10);
/// … and than this share of its predicted latency: half a tenth, by which means may be off (the claim of doors).
pub const LATE_PERCENT: u64 = 5;
/// Share of late answers above which a measurement is no longer a prediction (DESIGN: the claim of doors).
pub const TOO_MANY: f64 = 0.01;

/// Lateness of answers.
#[derive(Clone, Debug)]
pub struct Lateness {
    by: Histogram,
    late: u64,
    /// Answers affected by faults, which are not predictions.
    faulted: u64,
    /// Predicted latencies.
    predicted: Histogram,
}

impl Default for Lateness {
    fn default() -> Self {
        Self { by: Histogram::new(), late: 0, faulted: 0, predicted: Histogram::new() }
    }
}

/// The same for people and programs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Told {
    /// Number of answers.
    pub answers: u64,
    /// Number of answers affected by faults.
    pub faulted: u64,
    /// The share of the others that were late, 0 to 1.
    pub late_share: f64,
    /// Late is what is later than this \[µs\] …
    pub late_beyond_us: f64,
    /// … and than this share of its predicted latency.
    pub late_beyond_share: f64,
    /// The mean lateness \[µs\].
    pub mean_us: f64,
    /// The lateness that half of them did not exceed \[µs\].
    pub p50_us: f64,
    /// … 99 % \[µs\].
    pub p99_us: f64,
    /// The worst \[µs\].
    pub worst_us: f64,
    /// The mean latency that was predicted \[µs\].
    pub predicted_mean_us: f64,
    /// The latency that 99 % were predicted not to exceed \[µs\].
    pub predicted_p99_us: f64,
    /// Whether the program saw the prediction, up to the lateness reported here.
    pub is_prediction: bool,
}

fn us(span: Option<Span>) -> f64 {
    span.map_or(0.0, |span| span.as_ps() as f64 * 1e-6)
}

impl Lateness {
    /// Records that an answer with latency `predicted` was delivered `late` too late.
    pub fn record(&mut self, predicted: Span, late: Span) {
        self.by.record(late);
        self.predicted.record(predicted);
        self.late += u64::from(late > LATE && late * 100 > predicted * LATE_PERCENT);
    }
    /// Records an answer affected by a fault.
    pub const fn record_faulted(&mut self) {
        self.faulted += 1;
    }
    /// In numbers.
    #[must_use]
    pub fn told(&self) -> Told {
        let timed = self.by.count();
        let late_share = if timed == 0 { 0.0 } else { self.late as f64 / timed as f64 };
        Told {
            answers: timed + self.faulted,
            faulted: self.faulted,
            late_share,
            late_beyond_us: us(Some(LATE)),
            late_beyond_share: LATE_PERCENT as f64 / 100.0,
            mean_us: self.by.mean_ps().unwrap_or(0.0) * 1e-6,
            p50_us: us(self.by.percentile(50.0)),
            p99_us: us(self.by.percentile(99.0)),
            worst_us: us(self.by.max()),
            predicted_mean_us: self.predicted.mean_ps().unwrap_or(0.0) * 1e-6,
            predicted_p99_us: us(self.predicted.percentile(99.0)),
            is_prediction: late_share <= TOO_MANY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_late_answer_in_a_hundred_is_a_prediction_and_two_are_none() {
        let mut lateness = Lateness::default();
        (0..99).for_each(|_| lateness.record(Span::from_us(100), Span::from_us(1)));
        lateness.record(Span::from_us(100), Span::from_us(300));
        let told = lateness.told();
        assert!(told.is_prediction && told.late_share == 0.01 && told.worst_us == 300.0, "{told:?}");
        lateness.record(Span::from_us(100), Span::from_us(11));
        assert!(!lateness.told().is_prediction);
        // a twentieth of a millisecond is more
        lateness = Lateness::default();
        lateness.record(Span::from_us(1000), Span::from_us(49));
        assert_eq!(lateness.told().late_share, 0.0);
        lateness.record(Span::from_us(1000), Span::from_us(51));
        assert_eq!(lateness.told().late_share, 0.5);
        (0..100).for_each(|_| lateness.record(Span::from_us(100), Span::from_us(1)));
        lateness.record_faulted();
        assert_eq!((lateness.told().answers, lateness.told().faulted), (103, 1));
    }
}
