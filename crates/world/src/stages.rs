//! Time that the operations of a repeat spent in each stage: sums of the loads, with the names of the stages.
//!
//! The component that has a stage names and marks it. This module knows no stage; it only counts the wires of links,
//! as crossings.

use super::memory::MemoryUse;
use super::names::shown;
use super::world::{World, WorldCxl};
use lanetwin_cxl::spec::Direction;
use lanetwin_kernel::{ComponentId, LOST, Stage, UNMARKED};
use lanetwin_load::{Results, StageTimes};
use lanetwin_models::roles::memory::MemoryResults;
use lanetwin_ports::{CarriesLines, Links, Operation};
use lanetwin_stats::Histogram;
use lanetwin_stats::results::{Repeat, StageOfRepeat};
use lanetwin_units::{Instant, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Time that operations of one kind spent in each stage, of all devices or of one of several.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spent {
    /// Name of the device; `None` for all.
    pub device: Option<String>,
    /// Kind of the operations.
    pub operation: Operation,
    /// Time in each stage.
    pub repeat: Repeat,
    /// A sample of the operations, if requested: all, or a number spread evenly over the measurement.
    pub followed: Vec<Followed>,
}

/// An operation that was followed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Followed {
    /// When it was issued.
    pub asked: Instant,
    /// Its stages in order, and the time it was in each.
    pub stages: Vec<(Arc<str>, Span)>,
}

/// A stage of a world: its name, and the link whose wire it is.
struct Named {
    name: String,
    link: Option<String>,
}

/// Times of the operations of loads, of each device separately; `devices` gives the device of each result.
pub(super) fn spent(world: &mut World, devices: &[(Option<String>, &Results)]) -> Vec<Spent> {
    let names = names(world);
    let mut all = Vec::new();
    for (device, results) in devices {
        let asked = world.loads.iter().find(|load| device.as_ref().is_none_or(|name| *name == load.device));
        let rest = asked.map_or_else(|| "rest".to_owned(), |load| shown(&load.asked));
        for operation in [Operation::Read, Operation::Write] {
            let side = results.side(operation);
            let repeat = repeat((&side.stages, &side.latency), &names, &rest);
            let followed =
                if world.keeps_operations { followed(&side.stages, &names, &rest) } else { Vec::new() };
            all.extend(repeat.map(|repeat| Spent { device: device.clone(), operation, repeat, followed }));
        }
    }
    all
}

/// Times of the loads of the program whose latency is reported, and also of each node if there are several. Removes
/// the times from the counters.
pub(super) fn spent_by_loads(world: &mut World, memory: &mut MemoryUse) -> Vec<Spent> {
    let names = names(world);
    let rest = memory.host.clone();
    let mut all = Vec::new();
    if let Some(program) = memory.told() {
        let of = |device: Option<&String>, repeat| Spent {
            device: device.cloned(),
            operation: Operation::Read,
            repeat,
            followed: Vec::new(),
        };
        all.extend(repeat((&program.stages, &program.loads), &names, &rest).map(|repeat| of(None, repeat)));
        let several = memory.nodes.len() > 1;
        for (name, node) in memory.nodes.iter().zip(&program.nodes).filter(|_| several) {
            let own = repeat((&node.stages, &node.loads), &names, &rest);
            all.extend(own.map(|repeat| of(Some(name), repeat)));
        }
    }
    memory.programs.iter_mut().for_each(MemoryResults::forget_stages);
    all
}

/// Times of the operations with these latencies. Returns `None` without operations. Unmarked time is called `rest`.
fn repeat((times, latency): (&StageTimes, &Histogram), names: &[Named], rest: &str) -> Option<Repeat> {
    if times.operations() == 0 {
        return None;
    }
    let times = &times.made_up_to(latency);
    assert!(times.total_ps() == latency.sum_ps(), "stages sum to the latencies, exactly");
    let only = times.sums().count() == 1;
    let name = |stage| shown_stage(stage, names, rest, only);
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
    Some(Repeat { operations: times.operations(), followed: times.followed(), stages, crossings })
}

/// Name of a stage; unmarked time is `rest`, and `only` says that no time was marked.
fn shown_stage(stage: u32, names: &[Named], rest: &str, only: bool) -> String {
    match stage {
        // a device that marks nothing accounts for all of the time
        UNMARKED if only => rest.to_owned(),
        UNMARKED => format!("{rest}: answer"),
        _ => names[stage as usize].name.clone(),
    }
}

/// The sampled operations, with their stages by name, in the order in which they were issued.
fn followed(times: &StageTimes, names: &[Named], rest: &str) -> Vec<Followed> {
    let only = times.sums().count() == 1;
    let mut known: BTreeMap<u32, Arc<str>> = BTreeMap::new();
    let mut name = |stage: u32| {
        let shown = || shown_stage(stage, names, rest, only).into();
        known.entry(stage).or_insert_with(shown).clone()
    };
    let mut all: Vec<Followed> = times
        .sample()
        .map(|(asked, stages)| {
            let stages = stages.iter().rev().map(|(stage, ps)| (name(*stage), Span::from_ps(*ps))).collect();
            Followed { asked, stages }
        })
        .collect();
    all.sort_by_key(|one| one.asked);
    all
}

/// The stages of a world, indexed by their numbers.
fn names(world: &mut World) -> Vec<Named> {
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
        named.push(named_by(world, owner, Stage((number - base) as u16), name));
    }
    named
}

/// A stage of a component, by the name that the component gave it.
fn named_by(world: &mut World, owner: ComponentId, stage: Stage, name: String) -> Named {
    if owner == world.links {
        let links = world.kernel.component::<Links>(owner);
        let link = links.and_then(|links| links.link_of_wire(stage)).map(Into::into);
        return Named { name, link };
    }
    if let Some(WorldCxl { link, ends: [host, device], .. }) = world.cxl.iter().find(|cxl| cxl.id == owner) {
        let carrier = world.kernel.role::<dyn CarriesLines>(owner).expect("a link carries lines");
        let (direction, once) = carrier.stage(stage);
        let (from, to) = if direction == Direction::M2s { (host, device) } else { (device, host) };
        return Named { name: format!("{link} {from} → {to}: {name}"), link: once.then(|| link.clone()) };
    }
    Named { name: format!("{}: {name}", shown(world.kernel.path(owner))), link: None }
}
