//! Counts without distributions, which are small enough to be read often.

use lanetwin_units::Span;

/// With fewer operations than this, a rate depends on where between two answers counting begins and ends.
const FEW: u64 = 1000;

/// Operations of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Answered {
    /// Number of operations answered successfully.
    pub completed: u64,
    /// Number of operations that failed.
    pub failed: u64,
    /// Bytes that they moved \[B\].
    pub bytes: u64,
    /// Number of latencies: one for each block request and DMA transfer; for memory, one for each load.
    pub timed: u64,
    /// The sum of these latencies \[ps\].
    pub latency_ps: u128,
}

/// The counts up to an instant; the difference of two tallies has the counts between their instants.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    /// The reads.
    pub reads: Answered,
    /// The writes.
    pub writes: Answered,
    /// The integral of the number outstanding \[operations · ps\].
    pub area_ps: u128,
}

impl Answered {
    fn with(&self, other: &Self, of: impl Fn(u128, u128) -> u128) -> Self {
        let of64 = |a: u64, b: u64| of(a.into(), b.into()) as u64;
        Self {
            completed: of64(self.completed, other.completed),
            failed: of64(self.failed, other.failed),
            bytes: of64(self.bytes, other.bytes),
            timed: of64(self.timed, other.timed),
            latency_ps: of(self.latency_ps, other.latency_ps),
        }
    }
}

impl Tally {
    fn with(&self, other: &Self, of: impl Fn(u128, u128) -> u128 + Copy) -> Self {
        Self {
            reads: self.reads.with(&other.reads, of),
            writes: self.writes.with(&other.writes, of),
            area_ps: of(self.area_ps, other.area_ps),
        }
    }
    /// The sum of two tallies.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        self.with(other, |a, b| a + b)
    }
    /// The counts since an earlier tally.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        self.with(earlier, |a, b| a - b)
    }
    /// Number of operations answered successfully.
    #[must_use]
    pub const fn completed(&self) -> u64 {
        self.reads.completed + self.writes.completed
    }
    /// The time by which counts are divided for rates. For 1000 operations or more, it is the elapsed time. With fewer,
    /// rates would depend on where between two answers counting begins and ends; the time then follows from Little's
    /// law: the sum of the latencies divided by the mean number outstanding. At most as many operations as were
    /// outstanding on average can be missing or too many at the ends of the interval, which limits the correction:
    /// while operations hang, because a link is down for instance, the latencies of the others do not represent them.
    #[must_use]
    pub fn time(&self, elapsed: Span) -> Span {
        let (r, w) = (&self.reads, &self.writes);
        let (done, timed, failed) = (self.completed(), r.timed + w.timed, r.failed + w.failed);
        if done == 0 || done >= FEW || failed > 0 || timed != done || self.area_ps == 0 {
            return elapsed;
        }
        let ps = u128::from(elapsed.as_ps());
        let outstanding = self.area_ps.div_ceil(ps.max(1));
        let done = u128::from(done);
        let least = ps * done / (done + outstanding);
        let most = ps * done / done.saturating_sub(outstanding).max(1);
        let time = ((r.latency_ps + w.latency_ps) * ps / self.area_ps).clamp(least, most);
        u64::try_from(time).map_or(elapsed, Span::from_ps)
    }
}
