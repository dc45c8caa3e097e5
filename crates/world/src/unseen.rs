//! Events of a scenario that fall outside every measurement: before it begins, or after it has ended.
//!
//! An author who has a cable pulled at 3 ms wants to see the effect. During the warm-up nothing is measured.

use super::problem::{Problem, at_path};
use super::repeats::Repeats;
use lanetwin_document::problem::Diagnostic;
use lanetwin_plan::{Down, Plan, Variant};
use lanetwin_units::{Instant, Span};
use std::collections::BTreeMap;
use std::ops::Range;

/// An event for which a variant states a time.
struct Happening {
    what: String,
    /// Path in the scenario where it is stated.
    path: String,
    /// The time during which it has an effect.
    during: Range<Instant>,
    /// Whether the results report its effect even if it happens before the measurement.
    is_told: bool,
}

/// Warnings for events that no measurement of their variant covers. If none of the events stated in one place was
/// covered, the warning names the first.
pub(super) fn warnings(plan: &Plan, cases: &[Repeats<'_>]) -> Vec<Diagnostic> {
    plan.variants.iter().flat_map(|variant| of_variant(plan, variant, cases)).collect()
}

fn of_variant(plan: &Plan, variant: &Variant, cases: &[Repeats<'_>]) -> Vec<Diagnostic> {
    let own = cases.iter().filter(|ran| ran.task.variant.name == variant.name);
    let windows: Vec<&Range<Instant>> =
        own.flat_map(|ran| &ran.done).map(|measured| &measured.window).collect();
    let bounds =
        (windows.iter().map(|window| window.start).min(), windows.iter().map(|window| window.end).max());
    let (Some(begins), Some(ends)) = bounds else { return Vec::new() };
    let is_seen = |happening: &Happening| {
        let during = &happening.during;
        let is_told = happening.is_told && during.start < ends;
        is_told || windows.iter().any(|window| window.start < during.end && during.start < window.end)
    };
    let told = |Happening { what, path, during, .. }: Happening| {
        let [at, begins, ends] = [during.start, begins, ends].map(|time| time.since(Instant::ZERO));
        let problem = Problem::Unseen { what, variant: variant.name.clone(), at, begins, ends };
        at_path(&problem, plan, &path)
    };
    let mut by_path: BTreeMap<String, Vec<Happening>> = BTreeMap::new();
    for happening in happenings(variant) {
        by_path.entry(happening.path.clone()).or_default().push(happening);
    }
    let unseen = by_path.into_values().filter(|all| !all.iter().any(is_seen));
    unseen.filter_map(|all| all.into_iter().next()).map(told).collect()
}

/// Outages of links, moves of drives, changes of the ANA state of ports.
fn happenings(variant: &Variant) -> Vec<Happening> {
    let name = |place: usize| &variant.machine[place].name;
    let links = variant.links.iter().map(|link| (&link.name, &link.down));
    let cables = variant.network.cables.iter().map(|cable| (&cable.name, &cable.down));
    let mut found: Vec<Happening> = links
        .chain(cables)
        .flat_map(|(link, down)| down.iter().map(move |down| outage(link, *down)))
        .collect();
    found.extend(variant.absences.iter().map(|absence| Happening {
        what: format!("`{}` leaves `{}`", name(absence.drive), name(absence.host)),
        path: "partitions".into(),
        during: absence.from..absence.until.unwrap_or(Instant::NEVER),
        is_told: false,
    }));
    for subsystem in &variant.network.subsystems {
        found.extend(subsystem.access.iter().map(|change| Happening {
            what: format!("`{}` of `{}` changes its state", name(change.adapter), subsystem.name),
            path: format!("subsystems.{}.ana", subsystem.name),
            during: change.at..change.at + Span::from_ps(1),
            is_told: false,
        }));
        found.extend(subsystem.leaves.iter().map(|leave| Happening {
            what: format!("`{}` is left", subsystem.name),
            path: format!("subsystems.{}.disconnect", subsystem.name),
            during: leave.at..leave.back.unwrap_or(leave.at + Span::from_ps(1)),
            is_told: false,
        }));
    }
    found
}

fn outage(link: &str, down: Down) -> Happening {
    let until = Instant::from_ps(down.at.as_ps().saturating_add(down.lasts.as_ps()));
    Happening {
        what: format!("`{link}` is down"),
        path: format!("links.{link}.down"),
        during: down.at..until,
        // the restart of a link and its traffic afterwards are reported in a table of their own
        is_told: down.by.is_some() || down.then.is_some(),
    }
}
