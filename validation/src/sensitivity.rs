//! Sensitivity analysis: the assumed numbers that a prediction relies on. Each is moved to both ends of a range, and
//! counts as a free parameter if that moves a predicted row.
//!
//! ```text
//!   plan ──► every assumed or calibrated number, with two ends
//!        ──► all moved to one end at once: same traces? None acts. Otherwise half of them, and so on, down to one
//!        ──► one that acts: predictions with the number at that end, for the rows on which it can act
//!        ──► change clearly above a tenth of the bar and above chance? It counts. Clearly below? It does not
//!        ──► in between: these rows again, with longer runs
//! ```
//!
//! A range is half and double for quantities, the neighbours in the list for words, and the opposite for flags, unless
//! a claim sets another one with a reason ([`Range`](crate::spec::Range)). If half or double makes no valid drive, the
//! change is reduced until it does. A number that cannot be moved at all counts.
//!
//! Numbers that a scenario sets without confirmation ([`Chosen`](crate::spec::Chosen)) are moved like the others.
//!
//! Not here: numbers that the scenario sets because it asks about them; the constants of the phy crate, which
//! [`crate::link`] moves.

mod finding;
mod numbers;
#[cfg(test)]
mod tests;

pub(crate) use finding::Sensitivity;
pub(crate) use numbers::{Number, numbers};

use crate::watch::Watch;
use crate::work_pool::{self, Done};
use finding::Moved;
use lanetwin_stats::results::Digest;

/// A number counts if it moves a row by more than this share of the row's bar.
pub(crate) const SHARE: f64 = 0.1;

/// The length of the simulations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effort {
    /// Long enough to distinguish most differences from chance.
    Full,
    /// Long enough to distinguish a tenth of the bar from chance, for rows that a full run leaves undecided.
    Long,
}

/// A set of kinds of runs, such as all runs of one workload of one variant. A number acts on a row only if it acts on a
/// kind of run from which the row is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Kinds(u64);

impl Kinds {
    pub(crate) const NONE: Self = Self(0);
    /// The first `kinds` kinds.
    pub(crate) const fn first(kinds: usize) -> Self {
        Self((1 << kinds) - 1)
    }
    pub(crate) const fn has(self, kind: usize) -> bool {
        self.0 >> kind & 1 == 1
    }
    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }
    const fn and(self, kind: usize) -> Self {
        Self(self.0 | 1 << kind)
    }
}

/// A request for predictions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    /// The changes (`machine.ssd.buffer=32MiB`).
    pub(crate) sets: &'a [String],
    pub(crate) effort: Effort,
    /// The kinds of runs on which these changes act.
    pub(crate) touched: Kinds,
    /// The rows that are needed.
    pub(crate) wanted: &'a [bool],
}

impl Asked<'_> {
    /// Whether the machine is unchanged, apart from random numbers; nothing is then recalibrated.
    pub(crate) fn is_as_it_is(&self) -> bool {
        self.sets.iter().all(|set| set.starts_with("run."))
    }
}

/// Predicts rows under changes.
pub(crate) trait Predict: Sync {
    /// Number of kinds of runs, at most 63.
    fn kinds(&self) -> usize;
    /// The digest of a short run of a kind, long enough for every number that acts to show. `None` if the changes make
    /// no valid machine.
    fn trace(&self, sets: &[String], kind: usize) -> Option<Digest>;
    /// The predicted values. A row may be `None` if it is not wanted or not affected; its value is then unchanged.
    /// Returns `None` if the changes make no valid machine.
    fn rows(&self, asked: &Asked<'_>) -> Option<Vec<Option<f64>>>;
}

/// Seeds that show the effect of chance on a row, besides the first seed.
const SEEDS: std::ops::RangeInclusive<u32> = 2..=4;

/// Predictions without changes, and how much other seeds change them.
#[derive(Clone, PartialEq, Debug)]
struct Base {
    rows: Vec<f64>,
    /// The largest change of each row by another seed \[%\].
    chance: Vec<f64>,
}

struct Analysis<'a> {
    numbers: &'a [Number],
    predict: &'a dyn Predict,
    traces: Vec<Digest>,
    /// For each [`Effort`].
    bases: [Base; 2],
    /// The change of each row above which a number counts \[%\].
    floors: Vec<f64>,
}

/// Numbers that are moved to the same side together.
struct Group {
    side: usize,
    places: Vec<usize>,
    /// The kinds of runs on which they may act: those on which the group that they are a part of acts.
    may_touch: Kinds,
}

/// The result for some numbers on one side.
struct Found {
    /// Number of these numbers.
    settled: usize,
    /// The effect of the one that acts; `None` for numbers that do not act.
    moved: Option<Moved>,
}

/// Moves each number to both ends. Returns which of them count. `bars` has the bar of each row \[%\]. `watch` is called
/// for each number and can stop the analysis; then all numbers count.
///
/// # Panics
/// If the unchanged machine is not valid.
pub(crate) fn analyse(
    numbers: &[Number],
    bars: &[f64],
    predict: &dyn Predict,
    watch: &mut Watch<'_>,
) -> Sensitivity {
    let Some((traces, bases)) = as_it_is(bars.len(), predict, watch) else {
        return Sensitivity::unfinished(numbers);
    };
    let long = &bases[Effort::Long as usize];
    let floors: Vec<f64> =
        bars.iter().zip(&long.chance).map(|(bar, chance)| chance.max(SHARE * bar)).collect();
    let chance = long.chance.iter().copied().fold(0.0, f64::max);
    let analysis = Analysis { numbers, predict, traces, bases, floors };
    let all =
        |side| Group { side, places: (0..numbers.len()).collect(), may_touch: Kinds::first(predict.kinds()) };
    let mut moved = Vec::new();
    let told = &mut |found: Found| {
        moved.extend(found.moved);
        watch.settled(found.settled)
    };
    if work_pool::work(vec![all(0), all(1)], &|group| analysis.bisect(&group), told).is_none() {
        return Sensitivity::unfinished(numbers);
    }
    moved.sort_by_key(|moved| (moved.number, moved.side));
    Sensitivity::of(numbers, &moved, &analysis.floors, chance)
}

/// Number of steps that the analysis of `numbers` numbers takes.
pub(crate) const fn steps(numbers: usize) -> usize {
    AS_IT_IS + 2 * numbers
}

/// Number of predictions without changes: one for each seed and effort.
const AS_IT_IS: usize = 8;

/// The traces and predictions without changes.
fn as_it_is(rows: usize, predict: &dyn Predict, watch: &mut Watch<'_>) -> Option<(Vec<Digest>, [Base; 2])> {
    let touched = Kinds::first(predict.kinds());
    let known = "what is as it is can be predicted";
    let traces = (0..predict.kinds()).map(|kind| predict.trace(&[], kind).expect(known)).collect();
    let run = |(effort, seed): (Effort, u32)| {
        let sets: Vec<String> = (seed > 1).then(|| format!("run.seed={seed}")).into_iter().collect();
        let asked = Asked { sets: &sets, effort, touched, wanted: &vec![true; rows] };
        let rows = predict.rows(&asked).expect(known).into_iter().map(|row| row.expect("it is wanted"));
        Done { results: vec![(effort, seed, rows.collect::<Vec<f64>>())], more: Vec::new() }
    };
    let seeds = || std::iter::once(1).chain(SEEDS);
    let tasks =
        [Effort::Long, Effort::Full].into_iter().flat_map(|effort| seeds().map(move |seed| (effort, seed)));
    let mut ran = Vec::new();
    work_pool::work(tasks.collect(), &run, &mut |one| {
        ran.push(one);
        watch.settled(1)
    })?;
    let base = |effort| {
        let of = |seed| {
            let is_it = |(of, other, _): &&(Effort, u32, Vec<f64>)| (*of, *other) == (effort, seed);
            &ran.iter().find(is_it).expect("each was run").2
        };
        let rows = of(1);
        let moved = |row: usize| SEEDS.map(move |seed| change(of(seed)[row], rows[row]).abs());
        let chance = (0..rows.len()).map(|row| moved(row).fold(0.0, f64::max)).collect();
        Base { rows: rows.clone(), chance }
    };
    Some((traces, [base(Effort::Full), base(Effort::Long)]))
}

impl Analysis<'_> {
    /// Determines whether the numbers of a group act at all. If they do, continues with the halves of the group or, for
    /// a single number, measures its effect.
    fn bisect(&self, group: &Group) -> Done<Group, Found> {
        let none_acts = |settled| Done { results: vec![Found { settled, moved: None }], more: Vec::new() };
        let Group { side, places, may_touch } = group;
        let farthest = |place: &usize| self.numbers[*place].ends[*side].first().cloned();
        let sets: Vec<String> = places.iter().filter_map(farthest).flatten().collect();
        if sets.is_empty() {
            return none_acts(places.len());
        }
        // changes that make no valid machine may act on all kinds that are left
        let touched = self.touched(&sets, *may_touch).unwrap_or(*may_touch);
        if touched.is_empty() {
            return none_acts(places.len());
        }
        if let [only] = places[..] {
            let moved = Some(self.alone(*side, only, touched));
            return Done { results: vec![Found { settled: 1, moved }], more: Vec::new() };
        }
        let (left, right) = places.split_at(places.len() / 2);
        let half = |places: &[usize]| Group { side: *side, places: places.to_vec(), may_touch: touched };
        Done { results: Vec::new(), more: vec![half(left), half(right)] }
    }

    /// The kinds of runs on which changes act; `None` if they make no valid machine.
    fn touched(&self, sets: &[String], may_touch: Kinds) -> Option<Kinds> {
        let kinds = (0..self.traces.len()).filter(|kind| may_touch.has(*kind));
        kinds.into_iter().try_fold(Kinds::NONE, |touched, kind| {
            let is_same = self.predict.trace(sets, kind)? == self.traces[kind];
            Some(if is_same { touched } else { touched.and(kind) })
        })
    }

    /// The effect of a number that acts, at the farthest point of its side that makes a valid machine.
    fn alone(&self, side: usize, place: usize, touched: Kinds) -> Moved {
        let number = &self.numbers[place];
        for sets in &number.ends[side] {
            // a smaller change acts on the same kinds of runs as the larger one, or on fewer
            let Some(mut changes) = self.changes(sets, Effort::Full, touched, &vec![true; self.floors.len()])
            else {
                continue;
            };
            let open: Vec<bool> = (0..changes.len()).map(|row| self.is_open(row, changes[row])).collect();
            let is_clear = (0..changes.len()).any(|row| self.is_beyond(row, changes[row]));
            if !is_clear && open.contains(&true) {
                let longer =
                    self.changes(sets, Effort::Long, touched, &open).expect("what ran once runs longer");
                for row in (0..changes.len()).filter(|row| open[*row]) {
                    changes[row] = longer[row];
                }
            }
            return Moved { number: place, side, end: number.told(sets), changes: Some(changes) };
        }
        Moved { number: place, side, end: "cannot be moved alone".into(), changes: None }
    }

    /// The change of each row \[%\].
    fn changes(&self, sets: &[String], effort: Effort, touched: Kinds, wanted: &[bool]) -> Option<Vec<f64>> {
        let rows = self.predict.rows(&Asked { sets, effort, touched, wanted })?;
        let base = &self.bases[effort as usize].rows;
        Some(rows.iter().zip(base).map(|(row, base)| row.map_or(0.0, |row| change(row, *base))).collect())
    }

    /// The largest effect of chance on a row in a full run \[%\].
    fn noise(&self, row: usize) -> f64 {
        self.bases[Effort::Full as usize].chance[row]
    }
    /// Whether a full run shows that a row moves.
    fn is_beyond(&self, row: usize, change: f64) -> bool {
        change.abs() > self.floors[row] + self.noise(row)
    }
    /// Whether a full run leaves undecided whether a row moves.
    fn is_open(&self, row: usize, change: f64) -> bool {
        !self.is_beyond(row, change)
            && change.abs() > (self.floors[row] - self.noise(row)).max(self.floors[row] / 2.0)
    }
}

/// The change of a row \[%\].
fn change(new: f64, old: f64) -> f64 {
    100.0 * (new / old - 1.0)
}
