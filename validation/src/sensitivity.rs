//! Which assumed numbers a prediction rests on: each is moved to both ends of a range, and counts as a free parameter
//! if that moves a predicted row.
//!
//! ```text
//!   plan ──► every assumed or calibrated number, with two ends
//!        ──► all moved to one end at once: same traces? none of them acts. Otherwise half of them, and so on, down to one
//!        ──► one that acts: the predictions at that end, beside those without, of the rows that it can act on
//!        ──► clearly beyond a tenth of the bar and what another seed does? it counts. Clearly below? it does not
//!        ──► in between: those rows once more, longer
//! ```
//!
//! A range is half and double for quantities, the neighbours in the list for words, the contrary for flags, unless a
//! claim says something else with a reason ([`Range`](crate::spec::Range)). If half or double makes no drive, the
//! change is made smaller until it does; what cannot be moved at all counts.
//!
//! What a scenario sets although nobody confirms it ([`Chosen`](crate::spec::Chosen)) is moved like the others.
//!
//! Not here: numbers that the scenario sets because they are the question; the constants of the phy crate
//! ([`crate::claims::eye`] moves those).

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

/// How much is simulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effort {
    /// Enough for most differences to be told from chance.
    Full,
    /// Enough to tell a tenth of the bar from chance: for rows that a full run leaves open.
    Long,
}

/// Kinds of runs, as a set: row and run are of the same kind if what acts on one acts on the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Kinds(u64);

impl Kinds {
    pub(crate) const NONE: Self = Self(0);
    /// The first so many.
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

/// What is to be predicted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    /// What is changed (`machine.ssd.buffer=32MiB`).
    pub(crate) sets: &'a [String],
    pub(crate) effort: Effort,
    /// The kinds of runs that these changes act on.
    pub(crate) touched: Kinds,
    /// The rows that somebody wants to know.
    pub(crate) wanted: &'a [bool],
}

impl Asked<'_> {
    /// Whether nothing of the machine is changed, but perhaps random numbers: nothing is calibrated anew then.
    pub(crate) fn is_as_it_is(&self) -> bool {
        self.sets.iter().all(|set| set.starts_with("run."))
    }
}

/// Predicts rows with changes.
pub(crate) trait Predict: Sync {
    /// How many kinds of runs there are, 63 at most.
    fn kinds(&self) -> usize;
    /// The digest of a short run of a kind: long enough for everything that acts to act. None if the changes make no
    /// machine.
    fn trace(&self, sets: &[String], kind: usize) -> Option<Digest>;
    /// What rows come to. A row that is not wanted, or that what is touched does not act on, may be none: it is as it
    /// was. None at all if the changes make no machine.
    fn rows(&self, asked: &Asked<'_>) -> Option<Vec<Option<f64>>>;
}

/// What chance does to a row is seen with these instead of the first seed.
const SEEDS: std::ops::RangeInclusive<u32> = 2..=4;

/// What rows come to without any change, and how far another seed moves them.
#[derive(Clone, PartialEq, Debug)]
struct Base {
    rows: Vec<f64>,
    /// The most that another seed moves each row \[%\].
    chance: Vec<f64>,
}

struct Analysis<'a> {
    numbers: &'a [Number],
    predict: &'a dyn Predict,
    traces: Vec<Digest>,
    /// By effort.
    bases: [Base; 2],
    /// What a row has to move by for a number to count \[%\].
    floors: Vec<f64>,
}

/// Numbers that are moved to one side together.
struct Group {
    side: usize,
    places: Vec<usize>,
    /// What they may act on: what the group that they are from does.
    may_touch: Kinds,
}

/// What has been found of some numbers on one side.
struct Found {
    /// How many.
    settled: usize,
    /// Of the one that acts; none of those that do not.
    moved: Option<Moved>,
}

/// Moves each number to both ends, and says which count. `bars` has the bar of each row \[%\]. `watch` is told of each
/// number, and ends it: what is known then is that all of them may count.
///
/// # Panics
/// If the machine without any change is none.
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

/// How many steps of a claim the analysis of so many numbers takes.
pub(crate) const fn steps(numbers: usize) -> usize {
    AS_IT_IS + 2 * numbers
}

/// Runs without any change: of each effort one with each seed.
const AS_IT_IS: usize = 8;

/// The traces without any change, and the bases.
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
    /// Whether the numbers of a group act at all; the halves of the group if they do, and what a number does that is
    /// alone.
    fn bisect(&self, group: &Group) -> Done<Group, Found> {
        let none_acts = |settled| Done { results: vec![Found { settled, moved: None }], more: Vec::new() };
        let Group { side, places, may_touch } = group;
        let farthest = |place: &usize| self.numbers[*place].ends[*side].first().cloned();
        let sets: Vec<String> = places.iter().filter_map(farthest).flatten().collect();
        if sets.is_empty() {
            return none_acts(places.len());
        }
        // what makes no machine may act on everything
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

    /// Which kinds of runs changes act on; none if they make no machine.
    fn touched(&self, sets: &[String], may_touch: Kinds) -> Option<Kinds> {
        let kinds = (0..self.traces.len()).filter(|kind| may_touch.has(*kind));
        kinds.into_iter().try_fold(Kinds::NONE, |touched, kind| {
            let is_same = self.predict.trace(sets, kind)? == self.traces[kind];
            Some(if is_same { touched } else { touched.and(kind) })
        })
    }

    /// What a number that acts does: at the farthest point of its side that makes a machine.
    fn alone(&self, side: usize, place: usize, touched: Kinds) -> Moved {
        let number = &self.numbers[place];
        for sets in &number.ends[side] {
            // less far it may act on less, and on nothing that it does not act on farther
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

    /// How far each row is from what it was \[%\].
    fn changes(&self, sets: &[String], effort: Effort, touched: Kinds, wanted: &[bool]) -> Option<Vec<f64>> {
        let rows = self.predict.rows(&Asked { sets, effort, touched, wanted })?;
        let base = &self.bases[effort as usize].rows;
        Some(rows.iter().zip(base).map(|(row, base)| row.map_or(0.0, |row| change(row, *base))).collect())
    }

    /// What chance can do to a row in a full run \[%\].
    fn noise(&self, row: usize) -> f64 {
        self.bases[Effort::Full as usize].chance[row]
    }
    /// Whether a full run shows that a row moves.
    fn is_beyond(&self, row: usize, change: f64) -> bool {
        change.abs() > self.floors[row] + self.noise(row)
    }
    /// Whether a full run leaves open if a row moves.
    fn is_open(&self, row: usize, change: f64) -> bool {
        !self.is_beyond(row, change)
            && change.abs() > (self.floors[row] - self.noise(row)).max(self.floors[row] / 2.0)
    }
}

/// How far a row is from what it was \[%\].
fn change(new: f64, old: f64) -> f64 {
    100.0 * (new / old - 1.0)
}
