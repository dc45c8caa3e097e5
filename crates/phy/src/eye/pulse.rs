//! The pulse response: the received voltage of one bit over time.

use super::grid::SAMPLES_PER_UI;
use super::pulse_error::PulseError;

/// UIs of a record before the highest sample.
pub const LEAD: usize = 32;

/// The received signal of a single 1, with no signal (neither 1 nor 0) before and after it.
#[derive(Clone, PartialEq, Debug)]
pub struct Pulse {
    /// Samples \[V\], 16 a UI; the record closes on itself.
    pub samples: Vec<f64>,
    /// The unit interval \[s\].
    pub ui_s: f64,
    /// Whether the channel inverted the signal; the pulse is then corrected, as links do in Polling.
    pub inverted: bool,
}

impl Pulse {
    /// Turns a record so that its highest sample lies [`LEAD`] UIs from the start, upright.
    pub(super) fn aligned(record: &[f64], ui_s: f64) -> Result<Self, PulseError> {
        let mut peak = 0;
        for (index, value) in record.iter().enumerate() {
            if value.abs() > record[peak].abs() {
                peak = index;
            }
        }
        if record[peak] == 0.0 {
            return Err(PulseError::Silent);
        }
        let inverted = record[peak] < 0.0;
        let start = (peak + record.len() - LEAD * SAMPLES_PER_UI) % record.len();
        let (tail, head) = record.split_at(start);
        let sign = if inverted { -1.0 } else { 1.0 };
        Ok(Self { samples: head.iter().chain(tail).map(|value| sign * value).collect(), ui_s, inverted })
    }

    /// The number of the highest sample.
    #[must_use]
    pub const fn peak(&self) -> usize {
        LEAD * SAMPLES_PER_UI
    }

    /// Samples at all whole numbers of UIs from sample `at`, in the order of the record \[V\].
    pub fn cursors(&self, at: usize) -> impl Iterator<Item = f64> {
        self.samples.iter().skip(at % SAMPLES_PER_UI).step_by(SAMPLES_PER_UI).copied()
    }

    /// The sum over all bits, worst of the 16 phases: the highest voltage that any bits can make \[V\].
    #[must_use]
    pub fn highest(&self) -> f64 {
        (0..SAMPLES_PER_UI).map(|phase| self.cursors(phase).map(f64::abs).sum::<f64>()).fold(0.0, f64::max)
    }
}
