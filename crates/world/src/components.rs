//! What components say of themselves: what they used of their finite supplies and what came of their metrics while it
//! was measured.
//!
//! Nothing here knows what a component is: names, units and directions are its own.

use crate::loads::shown;
use crate::wire::World;
use lanetwin_kernel::{self as kernel, ComponentId, Reading, Report, Supply, SupplyKind};
use lanetwin_units::Span;

/// What components said of themselves at one time, in the order of their paths.
pub(super) type Reports = Vec<Reported>;

/// What a component said of itself.
pub(super) struct Reported {
    id: ComponentId,
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
            let value = |told: &kernel::Told| {
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
