//! Capsules: everything needed to bring a run back to one event before it panicked.

use super::granularity::Granularity;
use super::slices::run_slice;
use super::world::World;
use lanetwin_plan::Files;
use lanetwin_plan::Plan;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// A run that panicked, which is a bug in lanetwin, and the data to reproduce it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Capsule {
    /// The version of lanetwin that panicked.
    pub version: String,
    /// The panic message.
    pub message: String,
    /// The component that was handling an event.
    pub component: String,
    /// Simulated time \[ps\].
    pub time_ps: u64,
    /// Number of events begun.
    pub events: u64,
    /// Path of the scenario.
    pub path: String,
    /// Text of the scenario.
    pub text: String,
    /// Texts of the files that it names.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Changes by `--set`.
    pub sets: Vec<String>,
    /// The variant.
    pub variant: String,
    /// The workload.
    pub workload: String,
    /// The case.
    pub case: String,
    /// The seed of the repeat.
    pub seed: u64,
    /// The granularity.
    pub granularity: Granularity,
    /// The last messages, oldest first.
    pub recent: Vec<String>,
}

/// A run that panicked.
#[derive(Clone, Debug)]
pub struct Crash {
    /// The data to reproduce it.
    pub capsule: Box<Capsule>,
}

impl Crash {
    /// The crash of a world that has just panicked.
    pub(super) fn of(world: &World, message: String) -> Self {
        let recent =
            world.kernel.recent().map(|(at, from, to, message)| format!("{at}  {from} -> {to}  {message:?}"));
        let capsule = Capsule {
            version: env!("CARGO_PKG_VERSION").into(),
            message,
            component: world.kernel.handling().into(),
            time_ps: world.kernel.now().as_ps(),
            events: world.kernel.events(),
            path: String::new(),
            text: String::new(),
            files: BTreeMap::new(),
            sets: Vec::new(),
            variant: String::new(),
            workload: String::new(),
            case: String::new(),
            seed: 0,
            granularity: Granularity::Train,
            recent: recent.collect(),
        };
        Self { capsule: Box::new(capsule) }
    }
}

/// Replays a run up to one event before it panicked. Returns the state of every component then, as (path/name,
/// value).
///
/// # Errors
/// If the capsule is of another version, or its scenario does not check here.
pub fn replay(capsule: &Capsule) -> Result<Vec<(String, String)>, String> {
    let version = env!("CARGO_PKG_VERSION");
    if capsule.version != version {
        return Err(format!(
            "the capsule is of version {}, this is {version}: replay it with the version that made it",
            capsule.version
        ));
    }
    let (catalogue, _) = lanetwin_plan::Catalogue::beside(Some(Path::new(&capsule.path)));
    let (path, files) = (Path::new(&capsule.path), Files::of(capsule.files.clone()));
    let checked = lanetwin_plan::check_with(path, &capsule.text, &capsule.sets, &catalogue, &files);
    let plan = checked.plan.ok_or("the capsule's scenario does not check here: are its parts missing?")?;
    let mut world = find(&plan, capsule).ok_or("the capsule names a case that its scenario does not have")?;
    let events = capsule.events.saturating_sub(1);
    world.kernel.stop_after(events);
    // Uses the slices of the original run: how often a link looks at its wire depends on them, although its decisions
    // do not.
    while world.kernel.events() < events && world.kernel.next_event().is_some() {
        run_slice(&mut world);
    }
    let mut state = vec![
        ("kernel/now".into(), world.kernel.now().to_string()),
        ("kernel/events".into(), world.kernel.events().to_string()),
    ];
    world.kernel.inspect("", &mut |name, value| state.push((name.to_owned(), value)));
    Ok(state)
}

fn find(plan: &Plan, capsule: &Capsule) -> Option<World> {
    let variant = plan.variants.iter().find(|v| v.name == capsule.variant)?;
    let workload = variant.workloads.iter().find(|w| w.name == capsule.workload)?;
    let case = workload.cases.iter().find(|c| c.label == capsule.case)?;
    let mut world = World::new(variant, workload, case, capsule.seed);
    world.decide_one_by_one(capsule.granularity == Granularity::Tlp);
    Some(world)
}
