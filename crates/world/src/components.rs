//! What components say of themselves: what they used of their finite supplies and what came of their metrics while it
//! was measured.
//!
//! Nothing here knows what a component is: names, units and directions are its own.

use crate::buffers::Rise;
use crate::names::shown;
use crate::world::World;
use lanetwin_kernel::{self as kernel, ComponentId, Reading, Report, State, Supply, SupplyKind};
use lanetwin_units::Span;

/// What components said of themselves at one time, in the order of their paths.
pub(super) type Reports = Vec<Reported>;

/// What a component said of itself.
pub(super) struct Reported {
    pub(super) id: ComponentId,
    component: String,
    report: Report,
}

/// What a component did while it was measured.
#[derive(Clone, Debug)]
pub struct ComponentUse {
    /// Which it is, in the order in which components were added.
    id: ComponentId,
    /// Its name, or of what it tells.
    pub component: String,
    /// Its metrics; none of one that says nothing of this time.
    pub metrics: Vec<(kernel::Metric, Option<f64>)>,
    /// How many of its cached pages have which temperature in the end: 0, 1, 2 to 3, 4 to 7, …; empty if it caches
    /// none.
    pub temperatures: Vec<u64>,
}

/// What was used of a finite supply while it was measured.
#[derive(Clone, PartialEq, Debug)]
pub struct SupplyUse {
    /// The component that has it.
    pub component: String,
    /// What it is.
    pub name: String,
    /// How many there are.
    pub supply: u64,
    /// The share of them in use, on average.
    pub share: f64,
    /// How many waited for one, on average, if it is held while others work.
    pub waiting: Option<f64>,
}

impl World {
    /// What every component says of itself now.
    pub(super) fn reports(&mut self) -> Reports {
        let reports = self.kernel.report().into_iter();
        reports.map(|(id, path, report)| Reported { id, component: shown(path), report }).collect()
    }
}

/// What was used between two looks of everything that components have only so many of, in the order of their paths.
pub(super) fn supplies(before: &Reports, after: &Reports, elapsed: Span) -> Vec<SupplyUse> {
    let of = |reported: &Reported| -> Vec<(String, String, Supply)> {
        let supplies = reported.report.supplies.iter();
        supplies.map(|(name, supply)| (reported.component.clone(), name.clone(), *supply)).collect()
    };
    let pairs = before.iter().flat_map(of).zip(after.iter().flat_map(of));
    pairs.map(|((.., before), after)| supply_use(&before, after, elapsed)).collect()
}

fn supply_use(before: &Supply, after: (String, String, Supply), elapsed: Span) -> SupplyUse {
    let (component, name, Supply { in_use_ps, supply, kind }) = after;
    let mean = |before: u128, after: u128| (after - before) as f64 / elapsed.as_ps() as f64;
    let waiting = match (before.kind, kind) {
        (SupplyKind::Held { waiting_ps: before }, SupplyKind::Held { waiting_ps }) => {
            Some(mean(before, waiting_ps))
        }
        _ => None,
    };
    let share = mean(before.in_use_ps, in_use_ps) / supply as f64;
    SupplyUse { component, name, supply, share, waiting }
}

/// What came of the metrics of all components between two looks, in the order in which components were added.
pub(super) fn uses(before: &Reports, after: &Reports, elapsed: Span) -> Vec<ComponentUse> {
    let mut uses: Vec<ComponentUse> = before
        .iter()
        .zip(after)
        .filter(|(_, after)| !(after.report.metrics.is_empty() && after.report.temperatures.is_empty()))
        .map(|(before, after)| {
            let value = |told: &kernel::ReportEntry| {
                let value = told.reading.since(before.report.reading(&told.metric), elapsed);
                (told.metric.clone(), value)
            };
            ComponentUse {
                id: after.id,
                component: after.report.on_behalf_of.clone().unwrap_or_else(|| after.component.clone()),
                metrics: after.report.metrics.iter().map(value).collect(),
                temperatures: after.report.temperatures.clone(),
            }
        })
        .collect();
    uses.sort_by_key(|one| one.id);
    uses
}

/// A share that rises by less than this part of itself does not: the slope that the rule of the SNIA PTS allows.
const BALANCE: f64 = 0.1;
/// So many standard errors of a share are no change of it.
const ERRORS: f64 = 3.0;

/// How far something was from balance while it was measured.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Changed {
    /// Of what, with its component: `ssd: write buffer`.
    pub(super) of: String,
    /// By which share of what passed through it, or of itself, it rose or fell.
    pub(super) slope: f64,
    /// That, beside what is allowed: up to 1 it is in balance.
    pub(super) excess: f64,
}

impl Reported {
    /// Whether it says a share, which has to be looked at halfway, too.
    pub(super) fn tells_share(&self) -> bool {
        self.report.states.iter().any(|(_, state)| matches!(state, State::Share { .. }))
    }
    /// Who it is, or on whose behalf it works.
    fn name(&self) -> &str {
        self.report.on_behalf_of.as_ref().unwrap_or(&self.component)
    }
    /// What it says of something that has to be in balance.
    fn state(&self, name: &str) -> Option<State> {
        self.report.states.iter().find(|(other, _)| *other == name).map(|(_, state)| *state)
    }
}

/// How far from balance everything was that components report as having to be.
pub(super) fn changed(before: &Reports, middle: Option<&Reports>, after: &Reports) -> Vec<Changed> {
    let of = |place: usize, reported: &Reported| -> Vec<Changed> {
        let component = reported.name();
        let state = |(name, after): &(&'static str, State)| {
            let at = |reports: &Reports| reports[place].state(name);
            let (slope, excess) = change(at(before)?, middle.and_then(at), *after)?;
            Some(Changed { of: format!("{component}: {name}"), slope, excess })
        };
        reported.report.states.iter().filter_map(state).collect()
    };
    after.iter().enumerate().flat_map(|(place, reported)| of(place, reported)).collect()
}

/// How far a write buffer was from balance.
pub(super) fn buffer_changed((drive, rise): &(ComponentId, Rise), reports: &Reports) -> Option<Changed> {
    let of = write_buffer_of(reports, *drive)?;
    Some(Changed { of, slope: rise.share().abs(), excess: rise.excess() })
}

/// What the write buffer of a drive is called: `ssd: write buffer`.
pub(super) fn write_buffer_of(reports: &Reports, drive: ComponentId) -> Option<String> {
    let drive = reports.iter().find(|reported| reported.id == drive)?;
    Some(format!("{}: write buffer", drive.name()))
}

/// Something that is used up, and how long it lasts at the rate of what was measured.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Lasting {
    /// Of what, with its component: `ssd: free blocks`.
    pub(super) of: String,
    /// \[s\]
    pub(super) seconds: f64,
    /// How many times as long as was measured.
    pub(super) times: f64,
}

/// What lasts shortest of everything that was used up meanwhile.
pub(super) fn lasting(before: &Reports, after: &Reports, elapsed: Span) -> Option<Lasting> {
    let one = |(before, after): (&Reported, &Reported)| -> Vec<Lasting> {
        let component = after.report.on_behalf_of.as_ref().unwrap_or(&after.component);
        let state = |(name, state): &(&'static str, State)| {
            // what is gone is not reported any more
            let times = times_left(*state, after.state(name).unwrap_or(State::Reserve { left: 0 }))?;
            let seconds = times * elapsed.as_ps() as f64 * 1e-12;
            Some(Lasting { of: format!("{component}: {name}"), seconds, times })
        };
        before.report.states.iter().filter_map(state).collect()
    };
    let all = before.iter().zip(after).flat_map(one);
    all.min_by(|a, b| a.times.total_cmp(&b.times))
}

/// How many times as much as was used up is left; none if nothing was.
fn times_left(before: State, after: State) -> Option<f64> {
    let (State::Reserve { left: from }, State::Reserve { left }) = (before, after) else { return None };
    let used = from.checked_sub(left).filter(|used| *used > 0)?;
    Some(left as f64 / used as f64)
}

/// By how much a state changed, and that beside what is allowed; none if nothing passed through it.
fn change(before: State, middle: Option<State>, after: State) -> Option<(f64, f64)> {
    match (before, middle, after) {
        (
            State::Share { part: a, whole: of_a },
            Some(State::Share { part: b, whole: of_b }),
            State::Share { part: c, whole: of_c },
        ) => {
            let (first, second) = ((of_b - of_a) as f64, (of_c - of_b) as f64);
            let all = (c - a) as f64 / (of_c - of_a) as f64;
            if first == 0.0 || second == 0.0 || c == a {
                return None;
            }
            // the best line rises by twice as much as the halves differ by
            let away = 2.0 * ((b - a) as f64 / first - (c - b) as f64 / second).abs();
            let error = 2.0 * (all * (1.0 - all) * (1.0 / first + 1.0 / second)).sqrt();
            Some((away / all, away / (BALANCE * all + ERRORS * error)))
        }
        _ => None,
    }
}

/// What all components together added to both parts of a ratio of this name between two looks.
pub(super) fn added_to_ratio(name: &str, before: &Reports, after: &Reports) -> [u64; 2] {
    let sum = |reports: &Reports| {
        let told = reports.iter().flat_map(|reported| &reported.report.metrics);
        told.filter(|told| told.metric.name == name).fold([0; 2], |[parts, wholes], told| {
            match told.reading {
                Reading::Ratio { part, whole, .. } => [parts + part, wholes + whole],
                _ => [parts, wholes],
            }
        })
    };
    let (before, after) = (sum(before), sum(after));
    [after[0] - before[0], after[1] - before[1]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_up_lasts_as_long_as_there_is_some() {
        let reserve = |left| State::Reserve { left };
        assert_eq!(times_left(reserve(100), reserve(90)), Some(9.0));
        assert_eq!(times_left(reserve(100), reserve(0)), Some(0.0));
        assert_eq!(times_left(reserve(90), reserve(90)), None);
        assert_eq!(times_left(reserve(90), reserve(100)), None);
    }

    #[test]
    fn a_share_that_rises_is_not_in_balance_and_one_that_jitters_is() {
        let share = |part, whole| State::Share { part, whole };
        let excess = |a, b, c| change(a, Some(b), c).map(|(_, excess)| excess).unwrap();
        assert!(excess(share(0, 0), share(2_000, 10_000), share(8_000, 20_000)) > 1.0);
        assert!(excess(share(0, 0), share(5_050, 10_000), share(10_000, 20_000)) < 1.0);
        assert_eq!(change(share(0, 0), None, share(1, 2)), None);
    }
}
