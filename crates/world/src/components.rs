//! Reports of components: the use of their finite supplies, and the change of their metrics, during a measurement.
//!
//! This module knows no kind of component: names, units and directions come from the reports.

use crate::buffers::Rise;
use crate::names::shown;
use crate::world::World;
use lanetwin_kernel::{self as kernel, ComponentId, Reading, Report, State, Supply, SupplyKind};
use lanetwin_units::Span;

/// Reports of all components at one time, in the order of their paths.
pub(super) type Reports = Vec<Reported>;

/// Report of one component.
pub(super) struct Reported {
    pub(super) id: ComponentId,
    component: String,
    report: Report,
}

/// Metrics of a component over a measurement.
#[derive(Clone, Debug)]
pub struct ComponentUse {
    /// Identifier; components are numbered in the order in which they were added.
    id: ComponentId,
    /// Name of the component, or of the one on whose behalf it reports.
    pub component: String,
    /// Metrics; `None` for a metric without a value in this time.
    pub metrics: Vec<(kernel::Metric, Option<f64>)>,
    /// Number of cached pages of each temperature at the end: 0, 1, 2 to 3, 4 to 7, …; empty if the component caches
    /// no pages.
    pub temperatures: Vec<u64>,
}

/// Use of a finite supply over a measurement.
#[derive(Clone, PartialEq, Debug)]
pub struct SupplyUse {
    /// The component that has the supply.
    pub component: String,
    /// Name of the supply.
    pub name: String,
    /// Number of units of it.
    pub supply: u64,
    /// Mean share of the units in use, of the time that is not lost.
    pub share: f64,
    /// Share of the time during which units were held up by their own rules although there was work.
    pub lost: f64,
    /// Mean number of requests that waited for a unit, if the supply is held while others work.
    pub waiting: Option<f64>,
}

impl World {
    /// Reports of all components now.
    pub(super) fn reports(&mut self) -> Reports {
        let reports = self.kernel.report().into_iter();
        reports.map(|(id, path, report)| Reported { id, component: shown(path), report }).collect()
    }
}

/// Use of all supplies between two reports, in the order of the components' paths.
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
    let lost = match (before.kind, kind) {
        (SupplyKind::HeldUp { lost_ps: before }, SupplyKind::HeldUp { lost_ps }) => {
            mean(before, lost_ps) / supply as f64
        }
        _ => 0.0,
    };
    let in_use = mean(before.in_use_ps, in_use_ps) / supply as f64;
    // a time lost is known once it ends, and so may reach back before the measurement
    let share = if lost > 0.0 { in_use / (1.0 - lost).max(in_use) } else { in_use };
    SupplyUse { component, name, supply, share, lost, waiting }
}

/// Metrics of all components between two reports, in the order in which components were added.
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

/// A share whose slope is less than this part of itself is in balance: the slope that the rule of the SNIA PTS
/// allows.
const BALANCE: f64 = 0.1;
/// A change of a share by fewer standard errors counts as none.
const ERRORS: f64 = 3.0;

/// Distance of a state from balance over a measurement.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Changed {
    /// Component and state, as `ssd: write buffer`.
    pub(super) of: String,
    /// Rise or fall, as a share of what passed through it, or of itself.
    pub(super) slope: f64,
    /// Rise or fall beside what is allowed; up to 1 the state is in balance.
    pub(super) excess: f64,
}

impl Reported {
    /// Whether the component reports a share, for which a report halfway is needed, too.
    pub(super) fn tells_share(&self) -> bool {
        self.report.states.iter().any(|(_, state)| matches!(state, State::Share { .. }))
    }
    /// Name of the component, or of the one on whose behalf it works.
    fn name(&self) -> &str {
        self.report.on_behalf_of.as_ref().unwrap_or(&self.component)
    }
    /// The reported state of this name, one that has to be in balance.
    fn state(&self, name: &str) -> Option<State> {
        self.report.states.iter().find(|(other, _)| *other == name).map(|(_, state)| *state)
    }
}

/// Distance from balance of every state that components report.
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

/// Distance from balance of a write buffer.
pub(super) fn buffer_changed((drive, rise): &(ComponentId, Rise), reports: &Reports) -> Option<Changed> {
    let of = write_buffer_of(reports, *drive)?;
    Some(Changed { of, slope: rise.share().abs(), excess: rise.excess() })
}

/// Whether the dies of a drive were given more programs and erases than there was die time for.
pub(super) fn dies_changed((drive, rise): &(ComponentId, Rise), reports: &Reports) -> Option<Changed> {
    let (slope, excess) = rise.overwork();
    let drive = reports.iter().find(|reported| reported.id == *drive)?;
    Some(Changed { of: format!("{}: dies of the medium", drive.name()), slope, excess })
}

/// Name of a drive's write buffer, as `ssd: write buffer`.
pub(super) fn write_buffer_of(reports: &Reports, drive: ComponentId) -> Option<String> {
    let drive = reports.iter().find(|reported| reported.id == drive)?;
    Some(format!("{}: write buffer", drive.name()))
}

/// A reserve that is being used up, and how long it lasts at the measured rate.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Lasting {
    /// Component and reserve, as `ssd: free blocks`.
    pub(super) of: String,
    /// Time that it lasts \[s\].
    pub(super) seconds: f64,
    /// Time that it lasts, in multiples of the time measured.
    pub(super) times: f64,
}

/// The reserve that lasts shortest of all that were drawn on.
pub(super) fn lasting(before: &Reports, after: &Reports, elapsed: Span) -> Option<Lasting> {
    let one = |(before, after): (&Reported, &Reported)| -> Vec<Lasting> {
        let component = after.report.on_behalf_of.as_ref().unwrap_or(&after.component);
        let state = |(name, state): &(&'static str, State)| {
            // a reserve that is used up is no longer reported
            let times = times_left(*state, after.state(name).unwrap_or(State::Reserve { left: 0 }))?;
            let seconds = times * elapsed.as_ps() as f64 * 1e-12;
            Some(Lasting { of: format!("{component}: {name}"), seconds, times })
        };
        before.report.states.iter().filter_map(state).collect()
    };
    let all = before.iter().zip(after).flat_map(one);
    all.min_by(|a, b| a.times.total_cmp(&b.times))
}

/// What is left, in multiples of what was used. Returns `None` if nothing was used.
fn times_left(before: State, after: State) -> Option<f64> {
    let (State::Reserve { left: from }, State::Reserve { left }) = (before, after) else { return None };
    let used = from.checked_sub(left).filter(|used| *used > 0)?;
    Some(left as f64 / used as f64)
}

/// Change of a state, and change beside what is allowed. Returns `None` if nothing passed through it.
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
            // a line fitted over both halves rises by twice the difference of their means
            let away = 2.0 * ((b - a) as f64 / first - (c - b) as f64 / second).abs();
            let error = 2.0 * (all * (1.0 - all) * (1.0 / first + 1.0 / second)).sqrt();
            Some((away / all, away / (BALANCE * all + ERRORS * error)))
        }
        _ => None,
    }
}

/// Increase of both parts of the ratios of this name, summed over all components, between two reports.
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
