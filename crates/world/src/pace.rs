//! Course of a measurement: counters at many instants of it. Windows cut from them show whether it was steady;
//! batches show the uncertainty of the mean of a single repeat.

use super::batch::{Batch, mean_latencies};
use super::buffers::Rise;
use super::components::{Changed, Lasting, Reports, buffer_changed, changed, dies_changed, lasting};
use super::snapshot::Snapshot;
use super::world::World;
use lanetwin_kernel::ComponentId;
use lanetwin_load::{Answered, Tally};
use lanetwin_models::roles::drive::Buffered;
use lanetwin_ports::Operation;
use lanetwin_stats::results::Steadiness;
use lanetwin_stats::steady::{SNIA_ROUNDS, SniaRule, snia_rule};
use lanetwin_units::{Instant, Span};

/// A reserve that lasts less than this many times the time measured makes a measurement unsteady.
pub(super) const LASTS: f64 = 10.0;

/// Number of parts of a stretch; the first fifth of them is compared with the second half.
const PARTS: usize = 10;
/// A mean latency that starts off by more than this share of the mean it settles at …
const OFF: f64 = 0.1;
/// … and by more than this many standard errors has not started in balance: chance alone does that once in some
/// hundreds.
pub(super) const ERRORS: f64 = 5.0;

/// Latencies kept of a stretch: this many, or up to twice as many.
const KEPT: u64 = 1 << 17;

/// Counters at one instant.
#[derive(Clone, Debug)]
struct Look {
    at: Instant,
    tally: Tally,
    /// Level of each drive's write buffer.
    buffered: Vec<Buffered>,
    /// Latencies of reads and of writes since the previous look; empty for loads of memory.
    latencies: [Vec<Span>; 2],
}

/// Course of a measurement.
#[derive(Default)]
pub(super) struct Pace {
    looks: Vec<Look>,
    /// The drives that buffer writes.
    drives: Vec<ComponentId>,
    /// One latency of this many is kept; all if 0.
    every: usize,
    /// Index of the first look of each stretch.
    begins: Vec<usize>,
    /// Index of the first look that is judged.
    first: usize,
    /// Counters up to the last reset of the loads.
    before: Tally,
    /// Reports of the components halfway, if one of them reports a share.
    middle: Option<Reports>,
    /// Number of operations answered at which `middle` is taken.
    halfway: Option<u64>,
}

impl Pace {
    /// Starts now, at the instant from which the loads count.
    pub(super) fn begin(world: &mut World) -> Self {
        let mut pace = Self { begins: vec![0], drives: world.buffering(), ..Self::default() };
        world.note_latencies();
        pace.look(world);
        pace
    }
    /// Notes the counters.
    pub(super) fn look(&mut self, world: &mut World) {
        let at = world.kernel.now();
        let tally = self.before.and(&world.tally(at));
        let buffered = self.drives.iter().map(|id| world.buffered(*id)).collect();
        let step = self.every.max(1);
        let latencies = world
            .take_latencies()
            .map(|all| if step == 1 { all } else { all.into_iter().step_by(step).collect() });
        self.looks.push(Look { at, tally, buffered, latencies });
        if let Some(halfway) = self.halfway
            && world.progress().1 >= halfway
        {
            (self.middle, self.halfway) = (Some(world.reports()), None);
        }
    }
    /// If a component reports a share, takes the reports again once `answered` operations have been answered.
    pub(super) fn look_halfway(&mut self, before: &Snapshot, answered: u64) {
        self.halfway = before.reports.iter().any(|one| one.tells_share()).then_some(answered);
        self.middle = None;
    }
    /// Begins a stretch, after the loads have been reset.
    pub(super) fn reset(&mut self, world: &mut World) {
        self.before = self.looks.last().map_or_else(Tally::default, |look| look.tally);
        self.first = self.looks.len();
        self.begins.push(self.first);
        self.look(world);
    }
    /// Joins the last `stretches` stretches into one.
    pub(super) fn take_last(&mut self, stretches: usize) {
        self.first = self.begins[self.begins.len() - stretches];
    }

    /// The looks that are judged.
    fn looks(&self) -> &[Look] {
        &self.looks[self.first.min(self.looks.len())..]
    }

    /// Index of the first look of each of `count` parts of about equal length, and of the last look. Returns `None`
    /// if there are too few looks.
    fn edges(&self, count: usize) -> Option<Vec<usize>> {
        let looks = self.looks();
        let (first, last) = (looks.first()?, looks.last()?);
        let all = (last.at - first.at).as_ps();
        let mut edges = vec![0];
        for nth in 1..count {
            let target = first.at + Span::from_ps((u128::from(all) * nth as u128 / count as u128) as u64);
            let behind = looks.partition_point(|look| look.at < target);
            let nearer = behind > 0
                && looks.get(behind).is_none_or(|look| look.at - target > target - looks[behind - 1].at);
            edges.push(behind - usize::from(nearer));
        }
        edges.push(looks.len() - 1);
        edges.windows(2).all(|pair| pair[0] < pair[1]).then_some(edges)
    }

    /// `count` parts of about equal length. Returns `None` if there are too few looks.
    pub(super) fn batches(&self, count: usize) -> Option<Vec<Batch>> {
        let (looks, edges) = (self.looks(), self.edges(count)?);
        let batch = |pair: &[usize]| {
            let (from, to) = (&looks[pair[0]], &looks[pair[1]]);
            Batch { elapsed: to.at - from.at, tally: to.tally.since(&from.tally) }
        };
        Some(edges.windows(2).map(batch).collect())
    }

    /// From now on keeps only one latency of several, such that a stretch of `operations` keeps about [`KEPT`].
    pub(super) fn keep_some(&mut self, operations: u64) {
        self.every = (operations / KEPT + 1) as usize;
    }

    /// The kept latencies of reads or of writes, in `count` parts of about equal length \[ps\], and the number of
    /// operations that each latency stands for.
    pub(super) fn latencies(&self, of: Operation, count: usize) -> Option<(Vec<Vec<u64>>, f64)> {
        let (looks, edges) = (self.looks(), self.edges(count)?);
        let part = |pair: &[usize]| {
            let looks = &looks[pair[0] + 1..=pair[1]];
            looks.iter().flat_map(|look| &look.latencies[of as usize]).map(|one| one.as_ps()).collect()
        };
        Some((edges.windows(2).map(part).collect(), self.every.max(1) as f64))
    }

    /// Change of the write buffer of each drive that was written to.
    pub(super) fn rises(&self) -> Vec<(ComponentId, Rise)> {
        let (looks, Some(edges)) = (self.looks(), self.edges(Rise::PARTS)) else { return Vec::new() };
        let rise = |(place, id): (usize, &ComponentId)| {
            let part =
                |pair: &[usize]| looks[pair[0]..pair[1]].iter().map(|look| look.buffered[place]).collect();
            let parts: Vec<Vec<Buffered>> = edges.windows(2).map(part).collect();
            Some((*id, Rise::new(&parts)?))
        };
        self.drives.iter().enumerate().filter_map(rise).collect()
    }

    /// Time that requests wait for power while every die programs \[ps\], of the drive where it is longest. Returns
    /// `None` if in half of the looks or fewer (`assumed`) a limit of power held requests while most dies programmed.
    pub(super) fn bunched(&self) -> Option<u64> {
        let looks = self.looks();
        let of = |drive: usize| {
            let mut unpaid: Vec<u64> = looks.iter().map(|look| look.buffered[drive].unpaid).collect();
            unpaid.sort_unstable();
            unpaid.get(unpaid.len().saturating_sub(1) / 2).copied().filter(|unpaid| *unpaid > 0)
        };
        (0..self.drives.len()).filter_map(of).max()
    }

    /// Whether reads and writes had not yet found their balance when the measurement began. Until then the share of
    /// the slower kind among the requests in flight keeps growing, which changes the latencies of both while their
    /// rates stay.
    pub(super) fn begins_otherwise(&self) -> bool {
        let Some(parts) = self.batches(PARTS) else { return false };
        let sides: [fn(&Tally) -> &Answered; 2] = [|tally| &tally.reads, |tally| &tally.writes];
        let of = sides.map(|side| mean_latencies(&[&parts], side));
        of.iter().all(|means| !means.is_empty()) && of.iter().any(|means| is_off_first(means))
    }

    /// Whether no operation was answered in the looks that are judged.
    fn moved_nothing(&self) -> bool {
        let [first, .., last] = self.looks() else { return false };
        last.tally.completed() == first.tally.completed()
    }

    /// Judges whether the stretch that began with `before` was steady up to now; `drawn` if requests arrive at
    /// random.
    pub(super) fn judged(&self, before: &Snapshot, drawn: bool, world: &mut World) -> Steadiness {
        let after = world.reports();
        let mut states = changed(&before.reports, self.middle.as_ref(), &after);
        let rises = self.rises();
        states.extend(rises.iter().filter_map(|rise| buffer_changed(rise, &after)));
        states.extend(rises.iter().filter_map(|rise| dies_changed(rise, &after)));
        let windows = self.batches(SNIA_ROUNDS);
        if world.memory_host().is_some() && self.moved_nothing() {
            return Steadiness::steady(); // caches serve every load, and go on doing so
        }
        let limits =
            if drawn { limits_of_drawn(windows.as_deref().unwrap_or_default()) } else { SniaRule::default() };
        let lasting = lasting(&before.reports, &after, world.kernel.now() - before.at);
        judged(windows.as_deref(), limits, (states, lasting))
    }
}

/// The limits of the SNIA PTS, widened to what chance alone does to the rate if requests arrive at random and all are
/// answered. With m requests in a window, Poisson's standard deviation is m^-½ of the mean, the rise of the best line
/// over five windows has a deviation of √1.6 times that, and one range of five in some thousands is wider than six
/// times that.
fn limits_of_drawn(windows: &[Batch]) -> SniaRule {
    let answered: u64 = windows.iter().map(|window| window.tally.completed()).sum();
    let deviation = (SNIA_ROUNDS as f64 / answered.max(1) as f64).sqrt();
    let SniaRule { range, slope } = SniaRule::default();
    SniaRule { range: range.max(6.0 * deviation), slope: slope.max(3.0 * 1.6_f64.sqrt() * deviation) }
}

/// Judges by the rule of the SNIA PTS over five windows of the rate, by states that fill up or run empty, and by
/// reserves that are used up, unless they last far longer than the measurement.
fn judged(
    windows: Option<&[Batch]>,
    limits: SniaRule,
    (states, lasting): (Vec<Changed>, Option<Lasting>),
) -> Steadiness {
    let rates: Vec<f64> = windows.unwrap_or_default().iter().map(Batch::rate).collect();
    let Some(found) = snia_rule(&rates, limits) else {
        return Steadiness::unsteady("too few I/Os to tell", None, None);
    };
    let excess = (found.range / limits.range).max(found.slope / limits.slope);
    let gone = lasting.iter().map(|lasting| Changed {
        of: lasting.of.clone(),
        slope: 1.0 / lasting.times.max(1.0),
        excess: LASTS / lasting.times,
    });
    let worst = states.into_iter().chain(gone).max_by(|a, b| a.excess.total_cmp(&b.excess));
    match worst {
        Some(state) if state.excess > excess.max(1.0) => {
            Steadiness::unsteady(state.of, None, Some(state.slope))
        }
        _ if !found.attained => Steadiness::unsteady("rate", Some(found.range), Some(found.slope)),
        _ => lasting
            .map_or_else(Steadiness::steady, |lasting| Steadiness::lasting(lasting.of, lasting.seconds)),
    }
}

/// Whether the mean of the first fifth differs from that of the second half by more than chance.
fn is_off_first(parts: &[f64]) -> bool {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (first, rest) = (&parts[..parts.len() / 5], &parts[parts.len() / 2..]);
    let settled = mean(rest);
    let squares: f64 = rest.iter().map(|part| (part - settled) * (part - settled)).sum();
    let variance = squares / (rest.len() - 1) as f64;
    let error = (variance * (1.0 / first.len() as f64 + 1.0 / rest.len() as f64)).sqrt();
    (mean(first) - settled).abs() > (OFF * settled).max(ERRORS * error)
}

impl World {
    /// Sum of the counters of all loads up to `at`, the present, without distributions. Latencies of memory are those
    /// of the program whose latency is reported.
    fn tally(&mut self, at: Instant) -> Tally {
        if let Some(sum) = self.memory_tally() {
            return sum;
        }
        let ids: Vec<_> = self.loads.iter().map(|load| load.id).collect();
        ids.into_iter().fold(Tally::default(), |sum, id| sum.and(&self.load(id).tally(at)))
    }

    /// From now on all loads note the latency of each operation; programs do not.
    fn note_latencies(&mut self) {
        if self.memory.is_none() {
            self.load_ids().into_iter().for_each(|id| self.load(id).note_latencies());
        }
    }

    /// Latencies of reads and of writes noted since the last call.
    fn take_latencies(&mut self) -> [Vec<Span>; 2] {
        let mut all: [Vec<Span>; 2] = Default::default();
        if self.memory.is_none() {
            for id in self.load_ids() {
                let own = self.load(id).take_latencies();
                all.iter_mut().zip(own).for_each(|(all, own)| all.extend(own));
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: SniaRule = SniaRule { range: 0.2, slope: 0.1 };

    /// So many answers in each millisecond.
    fn pace(answers: &[u64]) -> Pace {
        let mut pace = Pace::default();
        let (mut at, mut done) = (Instant::ZERO, 0);
        let look = |at, completed| {
            let reads = Answered { completed, ..Answered::default() };
            let (buffered, latencies) = (Vec::new(), <[Vec<Span>; 2]>::default());
            Look { at, tally: Tally { reads, ..Tally::default() }, buffered, latencies }
        };
        pace.looks.push(look(at, done));
        for answers in answers {
            (at, done) = (at + Span::from_us(1000), done + answers);
            pace.looks.push(look(at, done));
        }
        pace
    }

    #[test]
    fn batches_tile_what_was_measured() {
        let pace = pace(&[5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25]);
        let batches = pace.batches(5).expect("there are eleven looks");
        assert_eq!(batches.iter().map(|b| b.tally.completed()).sum::<u64>(), 165);
        assert_eq!(batches.iter().map(|b| b.elapsed.as_ps()).sum::<u64>(), 11_000_000_000);
        assert!(batches.iter().all(|b| b.elapsed >= Span::from_us(2000)));
        assert_eq!(pace.batches(12), None);
    }

    #[test]
    fn a_rate_that_falls_is_not_steady_and_a_rate_that_stays_is() {
        let even = pace(&[1000; 20]);
        assert_eq!(judged(even.batches(5).as_deref(), LIMITS, (Vec::new(), None)), Steadiness::steady());
        let falling: Vec<u64> = (0..20).map(|n| 1000 - 20 * n).collect();
        let found = judged(pace(&falling).batches(5).as_deref(), LIMITS, (Vec::new(), None));
        // 970, 890, 810, 730 and 650 a millisecond: 320 of 810
        assert_eq!(found.why(), "rate: range 40 %, slope 40 %");
        let filling = Changed { of: "ssd: write buffer".into(), slope: 1.0, excess: 10.0 };
        let found = judged(even.batches(5).as_deref(), LIMITS, (vec![filling], None));
        assert_eq!(found.why(), "ssd: write buffer: slope 100 %");
        assert_eq!(
            judged(pace(&[1000; 3]).batches(5).as_deref(), LIMITS, (Vec::new(), None)).of,
            "too few I/Os to tell"
        );
    }

    /// Reads of 500 ns that come to 60 ns; a deviation of 5 ns by turns, of which a fifth is off by 4 alone.
    #[test]
    fn latencies_that_come_to_rest_have_begun_otherwise_and_those_that_jitter_have_not() {
        let jitter = |n: u32| if n.is_multiple_of(2) { 5.0 } else { -5.0 };
        let rests: Vec<f64> = (0..10).map(|n| 60.0 + 440.0 / f64::from(1 << n) + jitter(n)).collect();
        assert!(is_off_first(&rests));
        let jitters: Vec<f64> = (0..10).map(|n| 60.0 + 4.0 * jitter(n)).collect();
        assert!(!is_off_first(&jitters));
        let hardly: Vec<f64> = (0..10).map(|n| if n < 2 { 64.0 } else { 60.0 }).collect();
        assert!(!is_off_first(&hardly) && is_off_first(&hardly.iter().map(|x| x - 40.0).collect::<Vec<_>>()));
    }

    #[test]
    fn what_is_used_up_is_told_unless_it_is_soon_gone() {
        let even = pace(&[1000; 20]);
        let lasting = |times| Lasting { of: "ssd: free blocks".into(), seconds: 41.0, times };
        let found = |times| judged(even.batches(5).as_deref(), LIMITS, (Vec::new(), Some(lasting(times))));
        assert_eq!(found(11.0), Steadiness::lasting("ssd: free blocks", 41.0));
        assert_eq!(found(5.0).why(), "ssd: free blocks: slope 20 %");
    }

    /// By hand: 500 answers are 100 in a window, a deviation of 10 %: 60 % and 37.9 %; of 50 000 the rule's own
    /// limits.
    #[test]
    fn chance_is_allowed_what_it_does_where_requests_come_at_random() {
        let limits = |answers| limits_of_drawn(&pace(&[answers; 20]).batches(5).expect("twenty-one looks"));
        let few = limits(25);
        assert!((few.range - 0.6).abs() < 1e-12 && (few.slope - 0.379).abs() < 1e-3, "{few:?}");
        assert_eq!(limits(2500), LIMITS);
    }
}
