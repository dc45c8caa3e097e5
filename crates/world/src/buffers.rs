//! Write buffers that fill up while it is measured: they are filled, not waited for.
//!
//! A drive that is written to faster than its medium takes it fills its buffer, and is steady behind that. A buffer of
//! 256 MiB swallows some tenths of a second, which costs millions of events and says nothing of what comes behind. One
//! that was filled and becomes emptier all the time is emptied in the same way.

use super::world::World;
use lanetwin_kernel::ComponentId;
use lanetwin_models::roles::drive::{Buffered, BuffersWrites};
use lanetwin_stats::results::Steadiness;
use lanetwin_stats::steady::{Trend, trend};

/// The rest of a job is so many times as long as its buffers take to fill, or what they swallow is part of the answer.
pub(super) const LONG: f64 = 10.0;
/// A change by less than this part of what has passed is none: what a buffer takes in beyond what it gives is by how
/// much a rate is not the one that lasts, and rates are to be right within 3 %.
const FILLS: f64 = 0.02;
/// Rates are to be right within this part.
const CLOSE: f64 = 0.03;
/// A rise by fewer standard errors is none, either, …
const ERRORS: f64 = 3.0;
/// … nor one by so many programs: what waits for the rest of one is no more than that.
const LUMPS: f64 = 2.0;

/// By how much a write buffer filled up while it was measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rise {
    level: Trend,
    /// Of what is in the buffer, and what garbage collection has still to earn for what has left it: of writes that
    /// come faster than space is earned it rises from the first one on, of others it does not.
    backlog: Trend,
    /// What was written meanwhile, what there is room for, and what leaves at once \[B\].
    passed: f64,
    room: f64,
    lump: f64,
    /// A program on each die \[B\].
    round: f64,
    /// Whether the backlog rose half as much in the second half as in the first: what comes to rest rises ever more
    /// slowly.
    goes_on: bool,
    /// Whether dies mostly took no program in the end. What a drive in balance owes rises, too, when its load begins.
    awaits: bool,
}

impl Rise {
    /// Levels are means over so many parts of what was measured.
    pub(super) const PARTS: usize = 10;

    /// From looks in each of the parts; none if nothing was written.
    pub(super) fn new(parts: &[Vec<Buffered>]) -> Option<Self> {
        let means = |of: fn(&Buffered) -> u64| -> Vec<f64> {
            parts.iter().map(|part| part.iter().map(of).sum::<u64>() as f64 / part.len() as f64).collect()
        };
        let end = parts.last()?;
        let (first, last) = (parts.first()?.first()?, end.last()?);
        let (levels, backlogs) = (means(|look| look.level), means(|look| look.level + look.owed));
        let passed = (last.passed - first.passed) as f64;
        (passed > 0.0).then_some(Self {
            level: trend(&levels)?,
            backlog: trend(&backlogs)?,
            passed,
            room: last.room as f64,
            lump: last.lump as f64,
            round: last.round as f64,
            goes_on: goes_on(&backlogs),
            awaits: 2 * end.iter().filter(|look| look.awaits).count() > end.len(),
        })
    }

    /// By which part of what was written the backlog rose.
    pub(super) fn share(&self) -> f64 {
        self.backlog.rise / self.passed
    }

    /// Beside what is allowed: up to 1 it is in balance. A backlog that falls is that of a load that has begun.
    pub(super) fn excess(&self) -> f64 {
        self.beside(self.level).abs().max(self.beside(self.backlog))
    }

    /// Which part of what was written each die takes a program in.
    pub(super) fn round(&self) -> f64 {
        self.round / self.passed
    }

    /// Whether what waits becomes less.
    fn falls(&self) -> bool {
        self.beside(self.level) < -1.0
    }

    fn beside(&self, trend: Trend) -> f64 {
        trend.rise / (FILLS * self.passed).max(ERRORS * trend.error).max(LUMPS * self.lump)
    }

    /// How many times as long as was measured it takes to fill up; none if it does not fill up.
    fn times(&self) -> Option<f64> {
        let rises = self.awaits && self.goes_on && self.beside(self.backlog) > 1.0;
        rises.then(|| self.room / self.backlog.rise)
    }

    /// Whether it is full, and was not all the time.
    pub(super) fn has_filled(&self) -> bool {
        let lumps = LUMPS * self.lump;
        self.awaits && self.room <= lumps && self.level.rise > (FILLS * self.passed).max(lumps)
    }
}

/// A drive whose write buffer was filled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filled {
    pub(super) drive: ComponentId,
    /// How long it would have taken to fill \[s\], …
    pub(super) seconds: f64,
    /// … by which part of what is written meanwhile.
    pub(super) share: f64,
}

/// A write buffer that was filled for a measurement.
#[derive(Clone, Debug)]
pub(super) struct Filling {
    /// `ssd: write buffer`
    pub(super) of: String,
    /// How long it would have taken to fill \[s\], …
    pub(super) seconds: f64,
    /// … by which part of what is written meanwhile.
    pub(super) share: f64,
}

/// What repeats of so many seconds each say of a buffer that was filled for them: not steady, if a run ten times as
/// long comes to another rate. That begins with an empty buffer, and has it filling for most of its time. One repeat
/// that was short does not decide it.
pub(super) fn behind_filling(repeats: &[&Filling], seconds: f64) -> Option<Steadiness> {
    let mean =
        |of: fn(&Filling) -> f64| repeats.iter().map(|one| of(one)).sum::<f64>() / repeats.len() as f64;
    let (takes, share) = (mean(|one| one.seconds), mean(|one| one.share));
    let found = repeats.first().filter(|_| differs(takes, share, seconds))?;
    Some(Steadiness::behind(found.of.as_str(), takes))
}

fn differs(seconds: f64, share: f64, measured: f64) -> bool {
    let part = (seconds / (LONG * measured)).min(1.0);
    part > 0.5 && share * part > CLOSE
}

/// Whether the second half rises by half as much as the first, at least.
fn goes_on(values: &[f64]) -> bool {
    let (from, to) = (values[0], values[values.len() - 1]);
    let middle = values[values.len() / 2].midpoint(values[(values.len() - 1) / 2]);
    3.0 * (middle - from) <= 2.0 * (to - from)
}

impl World {
    /// The drives that buffer writes.
    pub(super) fn buffering(&mut self) -> Vec<ComponentId> {
        self.kernel.with_role::<dyn BuffersWrites>()
    }

    /// How full the write buffer of a drive is.
    pub(super) fn buffered(&mut self, drive: ComponentId) -> Buffered {
        self.kernel.role::<dyn BuffersWrites>(drive).expect("it buffers writes").buffered()
    }

    /// Fills the buffers that have been filling up for so many seconds, each of them once; not those which the job,
    /// that goes on for so many seconds, will hardly have filled.
    pub(super) fn fill_buffers(
        &mut self,
        rises: &[(ComponentId, Rise)],
        seconds: f64,
        left: Option<f64>,
        filled: &mut Vec<ComponentId>,
    ) -> Vec<Filled> {
        let mut newly = Vec::new();
        for (drive, rise) in rises.iter().filter(|(_, rise)| rise.room > 0.0) {
            let takes = rise.times().map(|times| times * seconds);
            let soon = |takes: &f64| left.is_none_or(|left| takes * LONG <= left);
            if let Some(takes) = takes.filter(soon)
                && !filled.contains(drive)
            {
                let writes_to = self.kernel.role::<dyn BuffersWrites>(*drive).expect("it buffers writes");
                writes_to.await_collection();
                writes_to.fill_buffer();
                filled.push(*drive);
                newly.push(Filled { drive: *drive, seconds: takes, share: rise.share() });
            }
        }
        newly
    }

    /// Empties the buffers that have been filled and have less and less in them: the medium takes more than comes. Each
    /// of them once; whether there is one.
    pub(super) fn empty_buffers(
        &mut self,
        rises: &[(ComponentId, Rise)],
        filled: &[ComponentId],
        emptied: &mut Vec<ComponentId>,
    ) -> bool {
        let before = emptied.len();
        for (drive, _) in rises.iter().filter(|(drive, rise)| filled.contains(drive) && rise.falls()) {
            if !emptied.contains(drive) {
                self.kernel.role::<dyn BuffersWrites>(*drive).expect("it buffers writes").empty_buffer();
                emptied.push(*drive);
            }
        }
        emptied.len() > before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rise(levels: impl Iterator<Item = u64>) -> Rise {
        let look = |(n, level): (u64, u64)| Buffered {
            level,
            room: 4000,
            passed: 1000 * n,
            awaits: true,
            ..Buffered::default()
        };
        let looks: Vec<Buffered> = (0..).zip(levels).map(look).collect();
        let parts: Vec<Vec<Buffered>> = looks.chunks(2).map(<[Buffered]>::to_vec).collect();
        Rise::new(&parts).expect("something was written")
    }

    #[test]
    fn what_takes_in_a_tenth_of_what_is_written_fills_up() {
        let filling = rise((0..20).map(|n| 100 * n + [0, 30, 10][n as usize % 3]));
        assert!((filling.share() - 0.0947).abs() < 0.002 && filling.excess() > 1.0, "{filling:?}");
        // 4000 at 1800 a measurement
        assert!((filling.times().expect("it fills") - 2.2).abs() < 0.05, "{filling:?}");
    }

    /// What was nearly full before, and becomes so in the first part, has been filling; what was full all the time, and
    /// what has room in the end, has not.
    #[test]
    fn what_becomes_full_has_been_filling() {
        let full = 4000;
        let filled = |level: fn(u64) -> u64| {
            let look = |n| Buffered {
                level: level(n),
                room: full - level(n),
                passed: 1000 * n,
                awaits: true,
                ..Buffered::default()
            };
            let parts: Vec<Vec<Buffered>> = (0..10).map(|n| vec![look(2 * n), look(2 * n + 1)]).collect();
            Rise::new(&parts).expect("something was written").has_filled()
        };
        assert!(filled(|n| 4000.min(2500 + 500 * n)));
        assert!(!filled(|_| 4000) && !filled(|n| 2000 + 50 * n) && !filled(|n| 4000 - n % 2));
    }

    /// Dies that have earned a program each take them before the buffer fills.
    #[test]
    fn what_dies_have_yet_to_earn_counts_as_if_it_waited() {
        let look = |n: u64| Buffered {
            room: 4000,
            passed: 1000 * n,
            owed: 100 * n,
            awaits: true,
            ..Buffered::default()
        };
        let parts: Vec<Vec<Buffered>> = (0..10).map(|n| vec![look(2 * n), look(2 * n + 1)]).collect();
        let hidden = Rise::new(&parts).expect("something was written");
        assert!(hidden.excess() > 1.0 && hidden.times().is_some(), "{hidden:?}");
        let parts: Vec<Vec<Buffered>> =
            (0..10).map(|n| vec![Buffered { owed: 1000 - 100 * n, ..look(n) }]).collect();
        let earned = Rise::new(&parts).expect("something was written");
        assert!(earned.excess() <= 0.0 && earned.times().is_none(), "{earned:?}");
    }

    /// Dies owe more when a load begins, and still take what comes.
    #[test]
    fn what_dies_owe_fills_nothing_while_they_take_programs() {
        let look = |n: u64| Buffered { room: 4000, passed: 1000 * n, owed: 100 * n, ..Buffered::default() };
        let parts: Vec<Vec<Buffered>> = (0..10).map(|n| vec![look(2 * n), look(2 * n + 1)]).collect();
        let begins = Rise::new(&parts).expect("something was written");
        assert!(begins.excess() > 1.0 && begins.times().is_none() && !begins.falls(), "{begins:?}");
    }

    /// Writes one at a time that have not filled a program.
    #[test]
    fn what_waits_for_the_rest_of_a_program_fills_nothing() {
        let look = |n: u64| Buffered {
            level: 100 * n,
            room: 4000,
            passed: 100 * n,
            lump: 2500,
            ..Buffered::default()
        };
        let parts: Vec<Vec<Buffered>> = (0..10).map(|n| vec![look(2 * n), look(2 * n + 1)]).collect();
        let waits = Rise::new(&parts).expect("something was written");
        assert!(waits.excess() < 1.0 && waits.times().is_none(), "{waits:?}");
    }

    /// By hand: a tenth more while it fills for 4 s. Beside 0.5 s that is 8 % of ten times as long; beside 1 s it is
    /// full before half of as much has passed; and a fortieth more is always less than 3 %.
    #[test]
    fn what_takes_long_to_fill_differs_from_what_was_measured_with_it_full() {
        let filling = |seconds: f64| Filling { of: "ssd: write buffer".into(), seconds, share: 0.1 };
        let told = behind_filling(&[&filling(3.0), &filling(5.0)], 0.5).expect("it is not steady");
        assert_eq!(told.why(), "ssd: write buffer: full after 4.000 s");
        assert!(behind_filling(&[], 0.5).is_none() && behind_filling(&[&filling(4.0)], 1.0).is_none());
        assert!(differs(4.0, 0.1, 0.5) && !differs(4.0, 0.1, 1.0) && !differs(4.0, 0.025, 0.1));
    }

    #[test]
    fn what_jitters_and_what_comes_to_rest_does_not() {
        let jitter = rise((0..20).map(|n| 5000 + [0, 1900, 400, 900][n % 4]));
        assert!(jitter.excess() < 1.0 && !jitter.falls(), "{jitter:?}");
        let rests = rise((0..20).map(|n: u64| 10_000 - 10_000 / (n + 1)));
        assert!(rests.excess() > 1.0 && rests.times().is_none(), "{rests:?}");
        let falls = rise((0..20).map(|n| 10_000 - 100 * n));
        assert!(falls.excess() > 1.0 && falls.times().is_none() && falls.falls(), "{falls:?}");
    }
}
