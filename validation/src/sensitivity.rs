//! Which assumed numbers a prediction rests on: each is moved to both ends of a range, and counts as a free parameter if that moves a predicted row.
//!
//! ```text
//!   plan ──► every assumed or calibrated number, with two ends
//!        ──► all moved to one end at once: same digest? none of them acts. Otherwise half of them, and so on, down to one
//!        ──► one that acts: the predictions at that end, beside those without
//!        ──► more than a tenth of the bar? once more, longer ──► and more than another seed does? it counts
//! ```
//!
//! A range is half and double for quantities, the neighbours in the list for words, the contrary for flags, unless a claim says something else with a
//! reason ([`Range`]). If half or double makes no drive, the change is made smaller until it does; what cannot be moved at all counts.
//!
//! A claim has numbers beside those of its plan, too: what its scenario sets although nobody confirms it ([`Chosen`]), and what no device has, such as how threads
//! write back ([`Number::of_claim`]). They are moved like the others.
//!
//! Not here: numbers that the scenario sets because they are the question; the constants of the phy crate ([`crate::claims::eye`] moves those).

mod numbers;
#[cfg(test)]
mod tests;

pub(crate) use numbers::{Chosen, Number, Range, numbers, numbers_and, of_claim, of_plan, seed};

use crate::report::{Effect, FreeParameter};
use lanetwin_stats::results::Digest;
use rayon::prelude::*;

/// A number counts if it moves a row by more than this share of the row's bar.
pub(crate) const SHARE: f64 = 0.1;

/// How much is simulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effort {
    /// Enough for everything that acts to act: only the digest matters.
    Short,
    /// Enough for a large difference to show.
    Full,
    /// Enough to tell a tenth of the bar from chance: for what a full run has shown to move a row.
    Long,
}

/// What a row comes to, and the digest of the run that it is from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Seen {
    pub(crate) value: f64,
    pub(crate) digest: Digest,
}

/// Predicts every row with these changes (`machine.ssd.buffer=32MiB`); none if they make no machine.
pub(crate) type Predict<'a> = dyn Fn(&[String], Effort) -> Option<Vec<Seen>> + Sync + 'a;

/// What moving every number has shown.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Weighed {
    /// The numbers that count.
    pub(crate) free: Vec<FreeParameter>,
    /// What those do, for each row that was predicted \[%\].
    effects: Vec<Effect>,
    /// How many numbers there are.
    all: usize,
    /// How many change no event of any run.
    inert: usize,
    /// The most that a number moves a row that does not count \[%\], and its name.
    most: Option<(f64, String)>,
    /// The most that another seed moves a row \[%\].
    chance: f64,
}

impl Weighed {
    /// What was found, in a sentence or two.
    pub(crate) fn told(&self) -> String {
        let Self { all, inert, free, .. } = self;
        let moved = all - inert - free.len();
        let most = self.most.as_ref();
        let most = most.map_or(String::new(), |(most, name)| {
            format!(
                ", {moved} move no row by more than a tenth of its bar and more than chance (at most {most:.2} %, {name}; another seed does {:.2} %)",
                self.chance
            )
        });
        let names: Vec<&str> = free.iter().map(|number| &*number.name).collect();
        let counted = if names.is_empty() {
            "none".to_owned()
        } else {
            format!("{}: {}", names.len(), names.join(", "))
        };
        format!(
            "Of {all} numbers that are assumed or calibrated, each moved to both ends of its range, {inert} change nothing{most}, and as free parameters count {counted}."
        )
    }

    /// The effects, for a claim with more predicted rows than were weighed: `weighed` says which were, the others are not known.
    pub(crate) fn effects_among(&self, weighed: &[bool]) -> Vec<Effect> {
        let spread = |effect: &Effect| {
            let mut known = effect.changes_pct.iter();
            let of = |was: &bool| if *was { *known.next().expect("a change for each row") } else { f64::NAN };
            Effect { changes_pct: weighed.iter().map(of).collect(), ..effect.clone() }
        };
        self.effects.iter().map(spread).collect()
    }
    /// What the numbers that count do to each row.
    pub(crate) fn effects(&self) -> Vec<Effect> {
        self.effects.clone()
    }
}

/// What one end does: the change of each row \[%\].
struct Moved {
    number: usize,
    end: String,
    /// None if the number cannot be moved to this side.
    changes: Option<Vec<f64>>,
}

/// Moves each number to both ends, and says which count. `bars` has the bar of each row \[%\].
///
/// # Panics
/// If the machine without any change is none.
pub(crate) fn weigh(numbers: Vec<Number>, bars: &[f64], predict: &Predict<'_>) -> Weighed {
    let base = |sets: &[String], effort| predict(sets, effort).expect("what is as it is can be predicted");
    let (short, full) = rayon::join(|| base(&[], Effort::Short), || base(&[], Effort::Full));
    let long = base(&[], Effort::Long);
    let another = |seed: u32| changes(&base(&[format!("run.seed={seed}")], Effort::Long), &long);
    let seeds: Vec<Vec<f64>> = (SEEDS).into_par_iter().map(another).collect();
    let chance = |row: usize| seeds.iter().map(|changes| changes[row].abs()).fold(0.0, f64::max);
    let chance: Vec<f64> = (0..bars.len()).map(chance).collect();
    let floors = bars.iter().zip(&chance).map(|(bar, chance)| chance.max(SHARE * bar)).collect();
    let weighing = Weighing { numbers: &numbers, short, full, long, floors, predict };
    let places: Vec<usize> = (0..numbers.len()).collect();
    let (low, high) = rayon::join(|| weighing.side(0, &places), || weighing.side(1, &places));
    let moved: Vec<Moved> = low.into_iter().chain(high).collect();
    weighing.summary(&moved, chance.into_iter().fold(0.0, f64::max))
}

/// What chance does to a row is seen with these instead of the first seed.
const SEEDS: std::ops::RangeInclusive<u32> = 2..=4;

struct Weighing<'a> {
    numbers: &'a [Number],
    short: Vec<Seen>,
    full: Vec<Seen>,
    long: Vec<Seen>,
    /// What a row has to move by for a number to count \[%\].
    floors: Vec<f64>,
    predict: &'a Predict<'a>,
}

impl Weighing<'_> {
    /// What the numbers at these places do when they are moved to one side: nothing for those that do not act.
    fn side(&self, side: usize, places: &[usize]) -> Vec<Moved> {
        let farthest = |place: &usize| self.numbers[*place].ends[side].first().cloned();
        let sets: Vec<String> = places.iter().filter_map(farthest).flatten().collect();
        if sets.is_empty() {
            return Vec::new();
        }
        if (self.predict)(&sets, Effort::Short).is_some_and(|seen| same(&seen, &self.short)) {
            return Vec::new();
        }
        if let [only] = places {
            return vec![self.alone(side, *only)];
        }
        let (left, right) = places.split_at(places.len() / 2);
        let (mut left, right) = rayon::join(|| self.side(side, left), || self.side(side, right));
        left.extend(right);
        left
    }

    /// What a number that acts does: at the farthest point of its side that makes a machine.
    fn alone(&self, side: usize, place: usize) -> Moved {
        let number = &self.numbers[place];
        for sets in &number.ends[side] {
            let Some(seen) = (self.predict)(sets, Effort::Full) else { continue };
            let mut moved = changes(&seen, &self.full);
            if self.counts(&moved) {
                let seen = (self.predict)(sets, Effort::Long).expect("what ran once runs longer");
                moved = changes(&seen, &self.long);
            }
            return Moved { number: place, end: number.told(sets), changes: Some(moved) };
        }
        Moved { number: place, end: "cannot be moved alone".into(), changes: None }
    }

    fn counts(&self, changes: &[f64]) -> bool {
        changes.iter().zip(&self.floors).any(|(change, floor)| change.abs() > *floor)
    }

    fn summary(&self, moved: &[Moved], chance: f64) -> Weighed {
        let (mut free, mut effects, mut inert, mut most) = (Vec::new(), Vec::new(), 0, None::<(f64, String)>);
        for (place, number) in self.numbers.iter().enumerate() {
            let ends: Vec<&Moved> = moved.iter().filter(|moved| moved.number == place).collect();
            let counts = |end: &&Moved| end.changes.as_ref().is_none_or(|changes| self.counts(changes));
            if ends.is_empty() {
                inert += 1;
            } else if ends.iter().any(counts) {
                free.push(number.free());
                effects.extend(ends.iter().filter_map(|end| {
                    let changes_pct = end.changes.clone()?;
                    Some(Effect { mechanism: number.shown(), end: end.end.clone(), changes_pct })
                }));
            } else {
                let changes = ends.iter().filter_map(|end| end.changes.as_ref()).flatten();
                let largest = changes.fold(0.0, |most: f64, change| most.max(change.abs()));
                if most.as_ref().is_none_or(|(most, _)| largest > *most) {
                    most = Some((largest, number.shown()));
                }
            }
        }
        Weighed { free, effects, all: self.numbers.len(), inert, most, chance }
    }
}

/// How far each row is from what it was \[%\].
fn changes(new: &[Seen], old: &[Seen]) -> Vec<f64> {
    new.iter().zip(old).map(|(new, old)| 100.0 * (new.value / old.value - 1.0)).collect()
}

fn same(a: &[Seen], b: &[Seen]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.digest == b.digest)
}
