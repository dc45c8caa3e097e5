//! What a load has counted.

use lanetwin_ports::{Operation, Status};
use lanetwin_stats::Histogram;
use lanetwin_units::{Instant, Span};
use std::cmp::Ordering;

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
    /// The first and the last answer as asked.
    pub(crate) ends: Option<Ends>,
}

/// The first and the last of some answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    first: Instant,
    last: Instant,
    /// How many came at the first instant, and what they moved \[B\].
    at_first: (u64, u64),
}

/// With fewer operations than this it matters where between two answers counting begins and ends.
const FEW: u64 = 1000;

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
        let mut all = self.reads.clone();
        all.merge(&self.writes);
        all.bits_per_second(self.elapsed())
    }
    /// The mean number outstanding; nothing if no time has passed.
    #[must_use]
    pub fn mean_outstanding(&self) -> Option<f64> {
        let elapsed = self.elapsed().as_ps();
        (elapsed > 0).then(|| self.little.area_ps as f64 / elapsed as f64)
    }
}

impl Side {
    pub(crate) fn count(&mut self, status: Status, bytes: u32, latency: Span, now: Instant) {
        match status {
            Status::Ok => {
                let ends = self.ends.get_or_insert(Ends { first: now, last: now, at_first: (0, 0) });
                ends.last = now;
                if ends.first == now {
                    ends.at_first = (ends.at_first.0 + 1, ends.at_first.1 + u64::from(bytes));
                }
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
        self.ends = match (self.ends, other.ends) {
            (Some(a), Some(b)) => Some(a.and(b)),
            (a, b) => a.or(b),
        };
    }
    /// Bits per second that were moved in `elapsed`; nothing if no time has passed. Of fewer than 1000 operations those behind the first
    /// answer count, from that to the last: large requests would otherwise come out too high or too low by up to one of them.
    #[must_use]
    pub fn bits_per_second(&self, elapsed: Span) -> Option<f64> {
        let (_, bytes, time) = self.between_answers(elapsed);
        per_second(bytes as f64 * 8.0, time)
    }
    /// Operations per second in `elapsed`; nothing if no time has passed. Few operations are counted as in [`Self::bits_per_second`].
    #[must_use]
    pub fn operations_per_second(&self, elapsed: Span) -> Option<f64> {
        let (operations, _, time) = self.between_answers(elapsed);
        per_second(operations as f64, time)
    }
    /// How many operations moved how many bytes in which time.
    fn between_answers(&self, elapsed: Span) -> (u64, u64, Span) {
        match self.ends {
            Some(Ends { first, last, at_first }) if self.completed < FEW && last > first => {
                (self.completed - at_first.0, self.bytes - at_first.1, last - first)
            }
            _ => (self.completed, self.bytes, elapsed),
        }
    }
}

impl Ends {
    /// The first and the last of all of them.
    fn and(self, other: Self) -> Self {
        let both = (self.at_first.0 + other.at_first.0, self.at_first.1 + other.at_first.1);
        let at_first = match self.first.cmp(&other.first) {
            Ordering::Less => self.at_first,
            Ordering::Equal => both,
            Ordering::Greater => other.at_first,
        };
        Self { first: self.first.min(other.first), last: self.last.max(other.last), at_first }
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
            side.count(status, 64, Span::from_ns(500), Instant::ZERO);
        }
        assert_eq!((side.completed, side.corrupt, side.aborted, side.bytes), (2, 1, 1, 128));
        assert_eq!((side.latency.count(), side.latency.sum_ps()), (2, 1_000_000));
        assert_eq!(side.bits_per_second(Span::from_ns(16)), Some(64e9));
        assert_eq!(side.operations_per_second(Span::from_us(1)), Some(2e6));
        assert_eq!(side.operations_per_second(Span::ZERO), None);
    }

    #[test]
    fn few_operations_are_counted_from_answer_to_answer() {
        let (mut one, mut other) = (Side::default(), Side::default());
        let at = |us| Instant::ZERO + Span::from_us(us);
        for us in [10, 20, 30] {
            one.count(Status::Ok, 64, Span::from_us(10), at(us));
        }
        let window = Span::from_us(39);
        assert_eq!(one.operations_per_second(window), Some(1e5));
        for us in [10, 10, 25, 50] {
            other.count(Status::Ok, 64, Span::from_us(10), at(us));
        }
        one.merge(&other);
        // seven in all, three of them at the first instant: four in 40 us
        assert_eq!(one.operations_per_second(window), Some(1e5));
        assert_eq!(one.bits_per_second(window), Some(4.0 * 512.0 * 1e5 / 4.0));
        for us in 51..1044 {
            one.count(Status::Ok, 64, Span::from_us(10), at(us));
        }
        assert_eq!(one.operations_per_second(Span::from_us(1000)), Some(1e6));
    }
}
