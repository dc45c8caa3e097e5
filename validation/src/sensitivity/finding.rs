//! The result of a sensitivity analysis.

use super::Number;
use crate::claim::{Effect, FreeParameter};

/// The effect of moving a number to one end: the change of each row \[%\].
pub(super) struct Moved {
    pub(super) number: usize,
    pub(super) side: usize,
    pub(super) end: String,
    /// `None` if the number cannot be moved to this side.
    pub(super) changes: Option<Vec<f64>>,
}

impl Moved {
    fn counts(&self, floors: &[f64]) -> bool {
        let beyond = |(change, floor): (&f64, &f64)| change.abs() > *floor;
        self.changes.as_ref().is_none_or(|changes| changes.iter().zip(floors).any(beyond))
    }
}

/// The result of a sensitivity analysis.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Sensitivity {
    /// The numbers that count; all of them, if the analysis was stopped.
    pub(crate) free: Vec<FreeParameter>,
    /// Their effects on each predicted row \[%\].
    effects: Vec<Effect>,
    /// Number of numbers analysed.
    pub(super) all: usize,
    /// Number of numbers that change no event of any run; `None` if the analysis was stopped.
    pub(super) inert: Option<usize>,
    /// The largest change of a row by a number that does not count \[%\], and its name.
    most: Option<(f64, String)>,
    /// The largest change of a row by another seed \[%\].
    chance: f64,
}

impl Sensitivity {
    /// The result of an analysis that was stopped: every number counts.
    pub(super) fn unfinished(numbers: &[Number]) -> Self {
        let free = numbers.iter().map(Number::free).collect();
        Self { free, effects: Vec::new(), all: numbers.len(), inert: None, most: None, chance: f64::NAN }
    }

    /// The result of an analysis. `moved` is sorted by number and side; `floors` has the change of each row above which
    /// a number counts \[%\].
    pub(super) fn of(numbers: &[Number], moved: &[Moved], floors: &[f64], chance: f64) -> Self {
        let (mut free, mut effects, mut inert, mut most) = (Vec::new(), Vec::new(), 0, None::<(f64, String)>);
        for (place, number) in numbers.iter().enumerate() {
            let ends: Vec<&Moved> = moved.iter().filter(|moved| moved.number == place).collect();
            if ends.is_empty() {
                inert += 1;
            } else if ends.iter().any(|end| end.counts(floors)) {
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
        Self { free, effects, all: numbers.len(), inert: Some(inert), most, chance }
    }

    /// The result, in one or two sentences.
    pub(crate) fn told(&self) -> String {
        let Self { all, free, .. } = self;
        let Some(inert) = self.inert else {
            return format!(
                "It was stopped before it was known which of the {all} numbers that are assumed or calibrated matter: all of them are taken for free parameters."
            );
        };
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

    /// The effects on all predicted rows of a claim. `finding` marks those that were analysed; for others the effects
    /// are unknown (NaN).
    pub(crate) fn effects_among(&self, finding: &[bool]) -> Vec<Effect> {
        let spread = |effect: &Effect| {
            let mut known = effect.changes_pct.iter();
            let of = |was: &bool| if *was { *known.next().expect("a change for each row") } else { f64::NAN };
            Effect { changes_pct: finding.iter().map(of).collect(), ..effect.clone() }
        };
        self.effects.iter().map(spread).collect()
    }
}
