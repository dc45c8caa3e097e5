//! What was counted without its distribution: little enough to be looked at often.

use lanetwin_units::Span;

/// With fewer operations than this it matters where between two answers counting begins and ends.
const FEW: u64 = 1000;

/// Operations of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Answered {
    /// How many were answered as asked.
    pub completed: u64,
    /// How many were not.
    pub failed: u64,
    /// What was moved \[B\].
    pub bytes: u64,
    /// How many latencies were counted: of block requests and transfers one each, of memory those of loads.
    pub timed: u64,
    /// Their sum \[ps\].
    pub latency_ps: u128,
}

/// What was counted up to some time; of two of them what came in between.
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
    /// What was counted here and there.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        self.with(other, |a, b| a + b)
    }
    /// What was counted since an earlier look.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        self.with(earlier, |a, b| a - b)
    }
    /// How many operations were answered as asked.
    #[must_use]
    pub const fn completed(&self) -> u64 {
        self.reads.completed + self.writes.completed
    }
    /// The time that rates are over. Of many operations it is the time that was counted. Of fewer than 1000 it matters
    /// where counting begins and ends between their answers; then it follows from Little's law: as many operations,
    /// each as long as they were, with as many outstanding as there were on average. More than those outstanding can
    /// neither have been cut off nor come in too early: where operations hang, as they do while a link is down, the
    /// ones that are answered are no measure of the others.
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
