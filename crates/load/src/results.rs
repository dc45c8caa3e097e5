//! What a load has counted.

use lanetwin_ports::{Operation, Status};
use lanetwin_stats::Histogram;
use lanetwin_units::{Instant, Span};

/// What was counted from one instant to another.
#[derive(Clone, Debug)]
pub struct Results {
    /// When counting began.
    pub since: Instant,
    /// When it ended.
    pub until: Instant,
    /// The reads.
    pub reads: Side,
    /// The writes.
    pub writes: Side,
    /// Both sides of Little's law.
    pub little: Little,
    /// How many operations are outstanding at the end.
    pub outstanding: u64,
}

/// Operations of one kind.
#[derive(Clone, Default, Debug)]
pub struct Side {
    /// How many were answered as asked.
    pub completed: u64,
    /// What those moved \[B\].
    pub bytes: u64,
    /// From the question to the answer, of those.
    pub latency: Histogram,
    /// How many were answered with damaged data.
    pub corrupt: u64,
    /// How many were not answered by the device.
    pub aborted: u64,
}

/// Little's law, from two witnesses.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Little {
    /// The integral of the number outstanding over the time counted \[operations · ps\], kept from the clock.
    pub area_ps: u128,
    /// The time that each operation was outstanding while it was counted, summed \[ps\], kept from each one's own instants.
    pub residence_ps: u128,
}

impl Results {
    /// How long was counted.
    #[must_use]
    pub const fn elapsed(&self) -> Span {
        self.until.since(self.since)
    }
    /// The operations of this kind.
    #[must_use]
    pub const fn side(&self, operation: Operation) -> &Side {
        match operation {
            Operation::Read => &self.reads,
            Operation::Write => &self.writes,
        }
    }
    /// Takes in what another load counted in the same window: the sum of both, as of one load.
    ///
    /// # Panics
    /// If it was another window.
    pub fn merge(&mut self, other: &Self) {
        let windows = [&*self, other].map(|results| (results.since, results.until));
        assert_eq!(windows[0], windows[1], "only what was counted in one window can be summed");
        self.reads.merge(&other.reads);
        self.writes.merge(&other.writes);
        self.little.area_ps += other.little.area_ps;
        self.little.residence_ps += other.little.residence_ps;
        self.outstanding += other.outstanding;
    }
    /// Bits per second that were moved, both ways together; nothing if no time has passed.
    #[must_use]
    pub fn bits_per_second(&self) -> Option<f64> {
        per_second((self.reads.bytes + self.writes.bytes) as f64 * 8.0, self.elapsed())
    }
    /// The mean number outstanding; nothing if no time has passed.
    #[must_use]
    pub fn mean_outstanding(&self) -> Option<f64> {
        let elapsed = self.elapsed().as_ps();
        (elapsed > 0).then(|| self.little.area_ps as f64 / elapsed as f64)
    }
}

impl Side {
    pub(crate) fn count(&mut self, status: Status, bytes: u32, latency: Span) {
        match status {
            Status::Ok => {
                self.completed += 1;
                self.bytes += u64::from(bytes);
                self.latency.record(latency);
            }
            Status::Corrupt => self.corrupt += 1,
            Status::Aborted => self.aborted += 1,
        }
    }
    /// Takes in what was counted elsewhere: the sum of both.
    pub fn merge(&mut self, other: &Self) {
        self.completed += other.completed;
        self.bytes += other.bytes;
        self.latency.merge(&other.latency);
        self.corrupt += other.corrupt;
        self.aborted += other.aborted;
    }
    /// Bits per second that were moved in `elapsed`; nothing if no time has passed.
    #[must_use]
    pub fn bits_per_second(&self, elapsed: Span) -> Option<f64> {
        per_second(self.bytes as f64 * 8.0, elapsed)
    }
    /// Operations per second in `elapsed`; nothing if no time has passed.
    #[must_use]
    pub fn operations_per_second(&self, elapsed: Span) -> Option<f64> {
        per_second(self.completed as f64, elapsed)
    }
}

fn per_second(amount: f64, elapsed: Span) -> Option<f64> {
    const PS_PER_SECOND: f64 = 1e12;
    (elapsed > Span::ZERO).then(|| amount * PS_PER_SECOND / elapsed.as_ps() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_per_second_and_only_good_answers_count() {
        let mut side = Side::default();
        for status in [Status::Ok, Status::Corrupt, Status::Aborted, Status::Ok] {
            side.count(status, 64, Span::from_ns(500));
        }
        assert_eq!((side.completed, side.corrupt, side.aborted, side.bytes), (2, 1, 1, 128));
        assert_eq!((side.latency.count(), side.latency.sum_ps()), (2, 1_000_000));
        assert_eq!(side.bits_per_second(Span::from_ns(16)), Some(64e9));
        assert_eq!(side.operations_per_second(Span::from_us(1)), Some(2e6));
        assert_eq!(side.operations_per_second(Span::ZERO), None);
    }
}
