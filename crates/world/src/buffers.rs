//! Write buffers that fill up during a measurement: the run fills them at once instead of waiting until they are
//! full.
//!
//! If a drive is written to faster than its medium programs, its write buffer fills up, and the drive is steady only
//! with a full buffer. A buffer of 256 MiB takes in writes for some tenths of a second, which costs millions of
//! events and says nothing about the rate afterwards. A buffer that was filled and then keeps draining is emptied in
//! the same way.

use super::world::World;
use lanetwin_kernel::ComponentId;
use lanetwin_models::roles::drive::{Buffered, BuffersWrites};
use lanetwin_stats::results::Steadiness;
use lanetwin_stats::steady::{Trend, trend};

/// A buffer is filled only if the rest of the job lasts at least this many times as long as the buffer takes to fill.
/// In a shorter job, what the buffer takes in is part of the answer.
pub(super) const LONG: f64 = 10.0;
/// A level that changes by less than this share of the bytes written counts as constant. The share of the writes that
/// stays in the buffer is the error of a rate taken meanwhile, and rates have to be right within 3 %.
const FILLS: f64 = 0.02;
/// Rates have to be right within this share.
const CLOSE: f64 = 0.03;
/// A rise of fewer standard errors counts as none, …
const ERRORS: f64 = 3.0;
/// … and so does one of fewer than this many lumps: no more than that waits until a program (of NAND) is complete.
const LUMPS: f64 = 2.0;

/// By how much a write buffer filled up while it was measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rise {
    level: Trend,
    /// Trend of the bytes in the buffer plus the bytes for which garbage collection still has to free space. If
    /// writes come faster than space is freed, it rises from the first write on; otherwise it does not.
    backlog: Trend,
    /// Bytes written meanwhile, room left in the buffer, and bytes that leave it at once \[B\].
    passed: f64,
    room: f64,
    lump: f64,
    /// Bytes of one program on every die \[B\].
    round: f64,
    /// Whether the backlog rose in the second half by at least half of its rise in the first. A backlog that comes to
    /// rest rises ever more slowly.
    goes_on: bool,
    /// Whether in most looks of the last part dies took no program. The backlog of a drive in balance rises, too,
    /// while its load begins.
    awaits: bool,
    /// The share of die time by which programs and erases given to dies exceed it: idle dies take what comes until all
    /// of them are busy.
    overwork: f64,
}

impl Rise {
    /// Number of parts of the measurement; each level is the mean over one part.
    pub(super) const PARTS: usize = 10;

    /// From the looks in each of the parts. Returns `None` if nothing was written.
    pub(super) fn new(parts: &[Vec<Buffered>]) -> Option<Self> {
        let means = |of: fn(&Buffered) -> u64| -> Vec<f64> {
            parts.iter().map(|part| part.iter().map(of).sum::<u64>() as f64 / part.len() as f64).collect()
        };
        let end = parts.last()?;
        let (first, last) = (parts.first()?.first()?, end.last()?);
        let (levels, backlogs) = (means(|look| look.level), means(|look| look.level + look.owed));
        let passed = (last.passed - first.passed) as f64;
        let had = (last.had - first.had) as f64;
        // a program more or less is chance
        let beyond = (last.given - first.given) as f64 - had - LUMPS * last.program as f64;
        let overwork = if had > 0.0 { beyond.max(0.0) / had } else { 0.0 };
        (passed > 0.0).then_some(Self {
            level: trend(&levels)?,
            backlog: trend(&backlogs)?,
            passed,
            room: last.room as f64,
            lump: last.lump as f64,
            round: last.round as f64,
            goes_on: goes_on(&backlogs),
            awaits: 2 * end.iter().filter(|look| look.awaits).count() > end.len(),
            overwork,
        })
    }

    /// Rise of the backlog, as a share of the bytes written.
    pub(super) fn share(&self) -> f64 {
        self.backlog.rise / self.passed
    }

    /// Change beside what is allowed; up to 1 the buffer is in balance. A falling backlog is allowed: it belongs to a
    /// load that has just begun.
    pub(super) fn excess(&self) -> f64 {
        self.beside(self.level).abs().max(self.beside(self.backlog))
    }

    /// The share of die time by which programs and erases given to dies exceed it, and its ratio to the limit: above 1
    /// the rate cannot last.
    pub(super) fn overwork(&self) -> (f64, f64) {
        (self.overwork, self.overwork / FILLS)
    }

    /// Bytes of one program on every die, as a share of the bytes written.
    pub(super) fn round(&self) -> f64 {
        self.round / self.passed
    }

    /// Whether the buffer drains.
    fn falls(&self) -> bool {
        self.beside(self.level) < -1.0
    }

    fn beside(&self, trend: Trend) -> f64 {
        trend.rise / (FILLS * self.passed).max(ERRORS * trend.error).max(LUMPS * self.lump)
    }

    /// Time until the buffer is full, in multiples of the time measured. Returns `None` if it does not fill up.
    fn times(&self) -> Option<f64> {
        let rises = self.awaits && self.goes_on && self.beside(self.backlog) > 1.0;
        rises.then(|| self.room / self.backlog.rise)
    }

    /// Whether the buffer is full now and became so during the measurement.
    pub(super) fn has_filled(&self) -> bool {
        let lumps = LUMPS * self.lump;
        self.awaits && self.room <= lumps && self.level.rise > (FILLS * self.passed).max(lumps)
    }
}

/// A drive whose write buffer was filled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filled {
    pub(super) drive: ComponentId,
    /// Time that the buffer would have taken to fill \[s\].
    pub(super) seconds: f64,
    /// Share of the bytes written meanwhile that would have stayed in the buffer.
    pub(super) share: f64,
}

/// A write buffer that was filled for a measurement.
#[derive(Clone, Debug)]
pub(super) struct Filling {
    /// Component and buffer, as `ssd: write buffer`.
    pub(super) of: String,
    /// Time that the buffer would have taken to fill \[s\].
    pub(super) seconds: f64,
    /// Share of the bytes written meanwhile that would have stayed in the buffer.
    pub(super) share: f64,
}

/// Judges repeats of `seconds` each whose write buffer was filled beforehand. They are not steady if a run ten times
/// as long, which starts with an empty buffer and fills it for most of its time, would show another rate. The mean
/// over the repeats decides, not a single short repeat.
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

/// Whether the second half rises at least half as much as the first.
fn goes_on(values: &[f64]) -> bool {
    let (from, to) = (values[0], values[values.len() - 1]);
    let middle = values[values.len() / 2].midpoint(values[(values.len() - 1) / 2]);
    3.0 * (middle - from) <= 2.0 * (to - from)
}

impl World {
    /// Drives that buffer writes.
    pub(super) fn buffering(&mut self) -> Vec<ComponentId> {
        self.kernel.with_role::<dyn BuffersWrites>()
    }

    /// How full the write buffer of a drive is.
    pub(super) fn buffered(&mut self, drive: ComponentId) -> Buffered {
        self.kernel.role::<dyn BuffersWrites>(drive).expect("it buffers writes").buffered()
    }

    /// Fills the buffers that have been filling up for `seconds`, each of them once per run. Leaves out buffers that
    /// would take more than a tenth of `left`, the rest of the job \[s\], to fill.
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

    /// Empties the buffers that were filled and keep draining, since the medium programs faster than writes come;
    /// each of them once. Returns whether it emptied any.
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

    /// By hand: 4 dies, parts of 250 ns, looks every 125 ns; a program takes 1 000 ns. 1.5 times what there is time for
    /// is given, less two programs in 10 000 ns of die time.
    #[test]
    fn dies_that_are_given_more_than_they_can_do_are_overworked() {
        let rise = |given: fn(u64) -> u64| {
            let look = |n| Buffered {
                passed: 1000 * n,
                given: given(n),
                had: 500 * n,
                program: 1000,
                ..Buffered::default()
            };
            let parts: Vec<Vec<Buffered>> = (0..10).map(|n| vec![look(2 * n), look(2 * n + 1)]).collect();
            Rise::new(&parts).expect("something was written")
        };
        let (overwork, excess) = rise(|n| 750 * n).overwork();
        assert!((overwork - (0.5 - 2000.0 / 9500.0)).abs() < 1e-9 && excess > 1.0, "{overwork} {excess}");
        let all_work = rise(|n| 4000 + 500 * n);
        assert_eq!(all_work.overwork(), (0.0, 0.0), "what they are at does not become more");
        assert_eq!(rise(|n| 300 * n).overwork(), (0.0, 0.0));
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
