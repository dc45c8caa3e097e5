//! One input of a merge.

use super::egress::{Egress, Segment};
use super::run::Run;
use super::sentinels::NEVER;

/// One input of a merge: its first segment, and the run of departures formed so far.
#[derive(Clone, Copy)]
pub(super) struct Lane {
    pub(super) input: u8,
    pub(super) left: u16,
    pub(super) head: u64,
    pub(super) spacing: u64,
    pub(super) run: Run,
}

impl Lane {
    pub(super) const EMPTY: Self = Self { input: 0, left: 0, head: NEVER, spacing: 0, run: IDLE };

    /// The lane of an input, if its first segment equals the sample.
    #[inline]
    pub(super) fn new(input: usize, segment: &Segment, sample: &Segment) -> Option<Self> {
        let alike = segment.bytes == sample.bytes && segment.units == sample.units && !segment.singly;
        alike.then_some(Self {
            input: input as u8,
            left: segment.count,
            head: segment.eligible,
            spacing: segment.spacing,
            run: IDLE,
        })
    }

    /// Continues with the next segment of its input, if there is one. Returns false if that differs from the sample.
    #[inline]
    pub(super) fn reload(&mut self, egress: &Egress, sample: &Segment) -> bool {
        let input = usize::from(self.input);
        let Some(segment) = egress.inputs[input].front() else {
            (self.head, self.run) = (NEVER, IDLE);
            return true;
        };
        let lane = Self::new(input, segment, sample);
        *self = lane.unwrap_or(Self { input: self.input, ..Self::EMPTY });
        lane.is_some()
    }
}

/// The run of an empty input.
pub(super) const IDLE: Run = Run { start: 0, spacing: 0, count: 0, duration: 0 };
