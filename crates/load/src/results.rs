//! The counts of a load.

use crate::intervals::Intervals;
use crate::stages::StageTimes;
use crate::tally::{Answered, Tally};
use lanetwin_ports::{Operation, Status};
use lanetwin_stats::Histogram;
use lanetwin_units::{Instant, Span};

/// The counts between two instants.
#[derive(Clone, Debug)]
pub struct Results {
    /// Start of counting.
    pub since: Instant,
    /// End of counting.
    pub until: Instant,
    /// The reads.
    pub reads: Side,
    /// The writes.
    pub writes: Side,
    /// Both sides of Little's law.
    pub little: Little,
    /// Number of operations outstanding at the end.
    pub outstanding: u64,
    /// Bytes and operations over time; only for fio jobs.
    pub intervals: Option<Intervals>,
    /// Durations of closed connections, from opening to closing; only for the connection rate test of Iometer.
    pub connections: Option<Box<Histogram>>,
}

/// The counts of one kind of operation.
#[derive(Clone, Default, Debug)]
pub struct Side {
    /// Number of operations answered successfully.
    pub completed: u64,
    /// Bytes that they moved \[B\].
    pub bytes: u64,
    /// Their latencies.
    pub latency: Histogram,
    /// Their time by stage; the stages sum to the latencies.
    pub stages: StageTimes,
    /// Number of operations answered with corrupt data.
    pub corrupt: u64,
    /// Number of operations that the device did not answer.
    pub aborted: u64,
    /// Replies, if the device is a network; they travel in the opposite direction.
    pub replies: Replies,
}

/// Replies over a network.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Replies {
    /// Number of replies.
    pub number: u64,
    /// Their bytes \[B\].
    pub bytes: u64,
}

impl Replies {
    pub(crate) fn count(&mut self, bytes: u32) {
        self.number += 1;
        self.bytes += u64::from(bytes);
    }
}

/// Both sides of Little's law (the integral of the number outstanding is the sum of the times outstanding), measured
/// independently of each other.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Little {
    /// The integral of the number of outstanding operations over the window \[operations · ps\].
    pub area_ps: u128,
    /// The sum over all operations of the time that each was outstanding in the window \[ps\], from its own start and
    /// end.
    pub residence_ps: u128,
}

impl Results {
    /// The length of the window.
    #[must_use]
    pub const fn elapsed(&self) -> Span {
        self.until.since(self.since)
    }
    /// The same without distributions.
    #[must_use]
    pub fn tally(&self) -> Tally {
        Tally { reads: self.reads.answered(), writes: self.writes.answered(), area_ps: self.little.area_ps }
    }
    /// The time by which counts are divided to get rates: see [`Tally::time`].
    #[must_use]
    pub fn time(&self) -> Span {
        self.tally().time(self.elapsed())
    }
    /// The counts of this kind of operation.
    #[must_use]
    pub const fn side(&self, operation: Operation) -> &Side {
        match operation {
            Operation::Read => &self.reads,
            Operation::Write => &self.writes,
        }
    }
    /// The same with packed histograms, which need less memory: see [`Histogram::packed`].
    #[must_use]
    pub fn packed(mut self) -> Self {
        for side in [&mut self.reads, &mut self.writes] {
            side.latency = std::mem::take(&mut side.latency).packed();
        }
        self
    }
    /// Deletes the times by stage.
    pub fn forget_stages(&mut self) {
        (self.reads.stages, self.writes.stages) = Default::default();
    }
    /// Adds the counts of another load in the same window, as if both were one load.
    ///
    /// # Panics
    /// If the windows differ.
    pub fn merge(&mut self, other: &Self) {
        let windows = [&*self, other].map(|results| (results.since, results.until));
        assert_eq!(windows[0], windows[1], "only what was counted in one window can be summed");
        self.reads.merge(&other.reads);
        self.writes.merge(&other.writes);
        self.little.area_ps += other.little.area_ps;
        self.little.residence_ps += other.little.residence_ps;
        self.outstanding += other.outstanding;
        match (&mut self.intervals, &other.intervals) {
            (Some(sum), Some(more)) => sum.merge(more),
            (sum, more) => *sum = sum.take().or_else(|| more.clone()),
        }
        self.merge_connections(other);
    }
    fn merge_connections(&mut self, other: &Self) {
        match (&mut self.connections, &other.connections) {
            (Some(sum), Some(more)) => sum.merge(more),
            (sum, more) => *sum = sum.take().or_else(|| more.clone()),
        }
    }
    /// Adds the counts of the same load in the window that follows this one, as if both were one window.
    ///
    /// # Panics
    /// If the other window does not begin where this one ends.
    pub fn append(&mut self, next: &Self) {
        assert_eq!(self.until, next.since, "windows are put together one behind the other");
        self.intervals = match (self.intervals.take(), &next.intervals) {
            (Some(mut own), Some(more)) => {
                own.append(self.until - self.since, more);
                Some(own)
            }
            _ => None,
        };
        self.until = next.until;
        self.reads.merge(&next.reads);
        self.writes.merge(&next.writes);
        self.little.area_ps += next.little.area_ps;
        self.little.residence_ps += next.little.residence_ps;
        self.outstanding = next.outstanding;
        self.merge_connections(next);
    }
    /// Adds the counts of any other window. The result is that of one window as long as both together, without
    /// intervals.
    pub fn join(&mut self, other: &Self) {
        let until = self.until + other.elapsed();
        self.until = other.since;
        self.intervals = None;
        self.append(other);
        self.until = until;
    }
    /// Bits per second read and written together; `None` if no time has passed.
    #[must_use]
    pub fn bits_per_second(&self) -> Option<f64> {
        per_second((self.reads.bytes + self.writes.bytes) as f64 * 8.0, self.time())
    }
    /// The mean number of outstanding operations; `None` if no time has passed.
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
    /// The same without the distribution of latencies.
    pub(crate) const fn answered(&self) -> Answered {
        Answered {
            completed: self.completed,
            failed: self.corrupt + self.aborted,
            bytes: self.bytes,
            timed: self.latency.count(),
            latency_ps: self.latency.sum_ps(),
        }
    }
    /// Adds other counts of the same kind of operation.
    pub fn merge(&mut self, other: &Self) {
        self.completed += other.completed;
        self.bytes += other.bytes;
        self.latency.merge(&other.latency);
        self.stages.merge(&other.stages);
        self.corrupt += other.corrupt;
        self.aborted += other.aborted;
        self.replies.number += other.replies.number;
        self.replies.bytes += other.replies.bytes;
    }
    /// Bits per second; `None` if `time` is zero.
    #[must_use]
    pub fn bits_per_second(&self, time: Span) -> Option<f64> {
        per_second(self.bytes as f64 * 8.0, time)
    }
    /// Successful operations per second; `None` if `time` is zero.
    #[must_use]
    pub fn operations_per_second(&self, time: Span) -> Option<f64> {
        per_second(self.completed as f64, time)
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

    /// Two windows of 1 ms with three and five reads make one of 2 ms with eight; the number outstanding at the end of
    /// the first is dropped.
    #[test]
    fn windows_behind_each_other_are_one() {
        let window = |ms: u64, answers: u64, outstanding| {
            let mut reads = Side::default();
            (0..answers).for_each(|_| reads.count(Status::Ok, 4096, Span::from_us(10 * answers)));
            let little = Little { area_ps: u128::from(answers), residence_ps: u128::from(answers) };
            let at = |ms: u64| Instant::ZERO + Span::from_us(ms * 1000);
            Results {
                since: at(ms),
                until: at(ms + 1),
                reads,
                writes: Side::default(),
                little,
                outstanding,
                intervals: Some(Intervals::default()),
                connections: None,
            }
        };
        let mut both = window(4, 3, 7);
        both.append(&window(5, 5, 2));
        assert_eq!((both.elapsed(), both.reads.completed, both.outstanding), (Span::from_us(2000), 8, 2));
        assert_eq!(both.reads.latency.sum_ps(), (3 * 30 + 5 * 50) * 1_000_000);
        assert_eq!(both.little.area_ps, 8);
    }

    /// By hand: with two operations outstanding all the time, 10 µs each, 200 000 are answered per second, wherever the
    /// window begins and ends. A window of 24 µs has four or five answers: divided by its length, they would be
    /// 167 000 or 208 000 per second.
    #[test]
    fn of_few_operations_the_time_follows_from_littles_law() {
        let results = |answers: u64, us: u64| {
            let mut reads = Side::default();
            (0..answers).for_each(|_| reads.count(Status::Ok, 64, Span::from_us(10)));
            let area_ps = 2 * u128::from(us) * 1_000_000;
            let little = Little { area_ps, residence_ps: area_ps };
            let (since, until) = (Instant::ZERO, Instant::ZERO + Span::from_us(us));
            Results {
                since,
                until,
                reads,
                writes: Side::default(),
                little,
                outstanding: 2,
                intervals: None,
                connections: None,
            }
        };
        for (answers, us) in [(4, 24), (5, 24), (4, 20), (5, 21)] {
            let results = results(answers, us);
            assert_eq!(results.reads.operations_per_second(results.time()), Some(2e5));
            assert_eq!(results.elapsed(), Span::from_us(us));
        }
        assert_eq!(results(1000, 4000).time(), Span::from_us(4000));
        assert_eq!(results(0, 10).time(), Span::from_us(10));
        // one operation hangs for 80 µs while the other is answered twice: the time is limited to that for as many
        // answers more or fewer as operations are outstanding
        assert_eq!(results(2, 80).time(), Span::from_us(40));
    }
}
