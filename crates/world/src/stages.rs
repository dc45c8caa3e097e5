//! Where the operations of a repeat spent their time: what loads have summed, with the names of the stages.
//!
//! Whoever has a stage has named and marked it. Nothing here knows what it is; only the wires of links are counted, as
//! crossings.

use super::names::shown;
use super::world::World;
use lanetwin_kernel::{ComponentId, LOST, Stage, UNMARKED};
use lanetwin_load::{Results, StageTimes};
use lanetwin_ports::{Links, Operation};
use lanetwin_stats::results::{Repeat, StageOfRepeat};
use std::collections::BTreeMap;

/// Where the operations of one kind spent their time, of all devices or of one of several.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spent {
    /// Which device; none of all.
    pub device: Option<String>,
    /// What they were.
    pub operation: Operation,
    /// What they spent.
    pub repeat: Repeat,
}

/// A stage of a world: its name, and the link whose wire it is.
struct Named {
    name: String,
    link: Option<String>,
}

/// What the operations of loads spent, those of each device by themselves; `devices` says which results are of which.
pub(super) fn spent(world: &mut World, devices: &[(Option<String>, &Results)]) -> Vec<Spent> {
    let names = names(world);
    let mut all = Vec::new();
    for (device, results) in devices {
        let asked = world.loads.iter().find(|load| device.as_ref().is_none_or(|name| *name == load.device));
        let rest = asked.map_or_else(|| "rest".to_owned(), |load| shown(&load.asked));
        for operation in [Operation::Read, Operation::Write] {
            let side = results.side(operation);
            let complete = side.stages.followed() == side.completed;
            let exact = side.stages.total_ps() == side.latency.sum_ps();
            assert!(!complete || exact, "stages sum to the latencies, exactly");
            if side.stages.operations() > 0 {
                let repeat = repeat(&side.stages, &names, &rest);
                all.push(Spent { device: device.clone(), operation, repeat });
            }
        }
    }
    all
}

fn repeat(times: &StageTimes, names: &[Named], rest: &str) -> Repeat {
    let only = times.sums().count() == 1;
    let name = |stage: u32| match stage {
        // a device that marks nothing is all of it
        UNMARKED if only => rest.to_owned(),
        UNMARKED => format!("{rest}: answer"),
        _ => names[stage as usize].name.clone(),
    };
    let mut stages: Vec<StageOfRepeat> = Vec::new();
    let mut crossings: BTreeMap<&str, u64> = BTreeMap::new();
    let mut of_name: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (stage, sum) in times.sums() {
        let text = name(stage);
        match stages.iter_mut().find(|known| known.name == text) {
            Some(known) => known.ps += sum.ps,
            None => stages.push(StageOfRepeat { name: text.clone(), ps: sum.ps, percentiles: None }),
        }
        of_name.entry(text).or_default().push(stage);
        if let Some(link) = &names[stage as usize].link {
            *crossings.entry(link).or_default() += sum.times;
        }
    }
    for stage in &mut stages {
        let its = &of_name[&stage.name];
        let percentile = |percent| times.percentile(percent, |stage| its.contains(&stage));
        stage.percentiles = percentile(50.0).zip(percentile(99.0));
    }
    let crossings = crossings.into_iter().map(|(link, times)| (link.to_owned(), times)).collect();
    Repeat { operations: times.operations(), followed: times.followed(), stages, crossings }
}

/// The stages of a world, each at the place of its number.
fn names(world: &mut World) -> Vec<Named> {
    let links = world.links;
    let mut first: BTreeMap<ComponentId, usize> = BTreeMap::new();
    let all = world.kernel.stage_names();
    let mut named = Vec::with_capacity(all.len());
    for (number, (owner, name)) in all.into_iter().enumerate() {
        let Some(owner) = owner else {
            debug_assert!([UNMARKED, LOST].contains(&(number as u32)), "nobody owns no other stages");
            named.push(Named { name, link: None });
            continue;
        };
        let base = *first.entry(owner).or_insert(number);
        named.push(if owner == links {
            let wire = Stage((number - base) as u16);
            let link = world.kernel.component::<Links>(links).and_then(|links| links.link_of_wire(wire));
            Named { name, link: link.map(Into::into) }
        } else {
            Named { name: format!("{}: {name}", shown(world.kernel.path(owner))), link: None }
        });
    }
    named
}
