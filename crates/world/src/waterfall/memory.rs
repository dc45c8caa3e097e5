//! The waterfall of a load of memory: host, links, switches and devices say when it was where.
//!
//! ```text
//!  host: translation ─ tracker ─ uncore ═ slot: port ─ slots ─ flit ─ wire ─ port ═ [switch ═ …] ═ device: ingress ─ … ─ egress ═ slot … ═ host
//!                    └ DRAM: queue ─ activate ─ CAS latency ─ burst ─ uncore                       └ look-up, DRAM, disk
//! ```
//!
//! Loads are told node by node: of each that served any, the mean of so many of them. A load that found its line under
//! way begins in the middle: what was over before it was issued is no part of it. What a link did follows from when a
//! message was handed to it and when it came out: a port before the first flit, a wait for the slots, the flit that
//! completes it, the flight, the port behind it.

use super::Followed;
use crate::names::shown;
use crate::world::{World, WorldMemory};
use lanetwin_kernel::{ComponentId, Tap};
use lanetwin_models::marks::Mark;
use lanetwin_models::roles::memory::{LoadRecord, RunsPrograms};
use lanetwin_models::roles::{ForwardsLines, KeepsLines};
use lanetwin_ports::{CarriesLines, Line, LineDone, Message, Operation};
use lanetwin_stats::results::{Repeat, StageOfRepeat};
use lanetwin_units::{Instant, Span, Ticks};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// So many loads of each node are followed …
const FOLLOWED: usize = 101;
/// … unless so many lines have been answered before. Then all loads that had been issued by then are waited for: were
/// those taken that are answered first, slow ones would be missing.
const MOST_LINES: u64 = 4_000;
/// Nothing is waited for longer.
const LONGEST: Span = Span::from_us(20_000);
/// How often it is looked whether there are enough of them.
const SLICE: Span = Span::from_ns(500);
/// Of programs that end, loads are followed when this part of them is over.
const BEFORE: u64 = 4;

/// A message between two components, at the time at which it is handed over.
#[derive(Clone, Copy, Debug)]
struct Passed {
    at: Instant,
    /// By their places in [`Seen::paths`].
    from: usize,
    to: usize,
    write: bool,
    handle: u32,
    /// Of a request.
    address: Option<u64>,
}

#[derive(Default)]
struct Seen {
    paths: Vec<String>,
    passed: Vec<Passed>,
}

impl Seen {
    fn place(&mut self, path: &str) -> usize {
        self.paths.iter().position(|known| known == path).unwrap_or_else(|| {
            self.paths.push(path.to_owned());
            self.paths.len() - 1
        })
    }
}

struct Listener(Rc<RefCell<Seen>>);

impl Tap<Message> for Listener {
    fn see(&mut self, at: Instant, from: &str, to: &str, message: &Message) {
        let (write, handle, address) = match *message {
            Message::Line(Line { operation, handle, address }) => {
                (operation == Operation::Write, handle, Some(address))
            }
            Message::LineDone(LineDone { operation, handle, .. }) => {
                (operation == Operation::Write, handle, None)
            }
            _ => return,
        };
        let mut seen = self.0.borrow_mut();
        let (from, to) = (seen.place(from), seen.place(to));
        seen.passed.push(Passed { at, from, to, write, handle, address });
    }
}

/// Since when loads are followed.
struct Begun {
    /// How many lines had been answered.
    answered: u64,
    at: Instant,
    /// Which nodes had served loads.
    serve: Vec<bool>,
    /// When there were enough of them: loads that were issued up to then are told.
    enough: Option<Instant>,
    seen: Rc<RefCell<Seen>>,
}

/// Loads that are followed, or will be.
pub(crate) struct Following {
    /// From so many answered lines on.
    from: u64,
    begun: Option<Begun>,
    found: Option<Vec<(String, Repeat)>>,
}

impl Following {
    /// Loads of a program that ends after about so many lines.
    pub(crate) const fn within(lines: u64) -> Self {
        Self { from: lines / BEFORE, begun: None, found: None }
    }

    /// Follows loads from now on until there are enough.
    pub(crate) fn follow(world: &mut World) -> Vec<(String, Repeat)> {
        let mut following = Self { from: 0, begun: None, found: None };
        while following.found.is_none() && world.kernel.next_event().is_some() {
            following.look(world);
            world.kernel.run_until(world.kernel.now() + SLICE);
        }
        following.finish(world)
    }

    /// Begins when it is time, and ends when there are enough. It changes nothing of the run.
    pub(crate) fn look(&mut self, world: &mut World) {
        let (answered, now) = (world.progress().1, world.kernel.now());
        match &self.begun {
            _ if self.found.is_some() => {}
            None if answered >= self.from => {
                let seen = Rc::new(RefCell::new(Seen::default()));
                world.kernel.set_tap(Some(Box::new(Listener(Rc::clone(&seen)))));
                set_recording(world, true);
                self.begun = Some(Begun { answered, at: now, serve: serve(world), enough: None, seen });
            }
            Some(begun) if now.since(begun.at) >= LONGEST => self.found = Some(self.explain(world)),
            Some(Begun { enough: Some(last), .. }) => {
                let last = *last;
                if !world.memory_host().is_some_and(|host| host.waits_since(last)) {
                    self.found = Some(self.explain(world));
                }
            }
            Some(begun) if answered - begun.answered >= MOST_LINES || has_enough(world, begun) => {
                self.begun.iter_mut().for_each(|begun| begun.enough = Some(now));
            }
            _ => {}
        }
    }

    /// What was found, by the names of nodes.
    pub(crate) fn finish(mut self, world: &mut World) -> Vec<(String, Repeat)> {
        self.found.take().unwrap_or_else(|| self.explain(world))
    }

    fn explain(&self, world: &mut World) -> Vec<(String, Repeat)> {
        let Some(begun) = &self.begun else { return Vec::new() };
        world.kernel.set_tap(None);
        let seen = begun.seen.take();
        let told = chosen(world, begun.at, begun.enough.unwrap_or(Instant::NEVER));
        let mut found = Vec::new();
        for (name, loads) in told {
            let followed: Vec<Followed> =
                loads.iter().filter_map(|load| follow(world, &seen, load)).collect();
            if !followed.is_empty() {
                found.push((name, together(&followed)));
            }
        }
        set_recording(world, false);
        found
    }
}

/// Lets hosts, switches and devices say when requests are where, or no longer.
fn set_recording(world: &mut World, on: bool) {
    if let Some(host) = world.memory_host() {
        host.record(on);
    }
    for (_, id) in world.switches.clone() {
        world.kernel.role::<dyn ForwardsLines>(id).into_iter().for_each(|switch| switch.record(on));
    }
    for (_, id) in world.devices.clone() {
        world.kernel.role::<dyn KeepsLines>(id).into_iter().for_each(|device| device.record(on));
    }
}

/// The loads of each node that were followed from their request on, of the program whose latency is told.
fn loads(world: &mut World, since: Instant) -> Vec<Vec<LoadRecord>> {
    let Some(WorldMemory { nodes, told, .. }) = world.memory.clone() else { return Vec::new() };
    let Some(host) = world.memory_host() else { return Vec::new() };
    let mut of = vec![Vec::new(); nodes.len()];
    for load in host.recorded().iter().filter(|load| load.program == told && load.asked >= since) {
        of[load.node].push(*load);
    }
    of
}

/// Which nodes have served loads of that program.
fn serve(world: &mut World) -> Vec<bool> {
    let (now, told) = (world.kernel.now(), world.memory.as_ref().map_or(0, |memory| memory.told));
    let results = world.memory_results(now);
    let told = results.get(told as usize);
    told.map_or_else(Vec::new, |program| program.nodes.iter().map(|node| !node.loads.is_empty()).collect())
}

/// Whether there are enough loads of every node that serves any.
fn has_enough(world: &mut World, begun: &Begun) -> bool {
    let (loads, serve) = (loads(world, begun.at), &begun.serve);
    let enough = loads.iter().zip(serve).all(|(loads, serves)| loads.len() >= FOLLOWED || !serves);
    let none = !serve.contains(&true);
    enough && (none || loads.iter().any(|loads| !loads.is_empty()))
}

/// So many loads of each node, with the name of the node: evenly spread over all that were issued up to `last`.
fn chosen(world: &mut World, since: Instant, last: Instant) -> Vec<(String, Vec<LoadRecord>)> {
    let names = world.memory.clone().map(|memory| memory.nodes).unwrap_or_default();
    let spread = |(name, mut loads): (String, Vec<LoadRecord>)| {
        loads.retain(|load| load.issued <= last);
        loads.sort_by_key(|load| (load.issued, load.told, load.handle));
        let chosen = loads.len().min(FOLLOWED);
        (name, (0..chosen).map(|i| loads[i * loads.len() / chosen]).collect())
    };
    names.into_iter().zip(loads(world, since)).map(spread).collect()
}

/// What several loads spent together: their stages, with median and 99th percentile.
fn together(loads: &[Followed]) -> Repeat {
    let mut stages: Vec<(String, Vec<u64>)> = Vec::new();
    let mut crossings: BTreeMap<String, u64> = BTreeMap::new();
    for (i, load) in loads.iter().enumerate() {
        let mut place = 0;
        for (name, length) in &load.stages {
            let known = stages.iter().position(|known| known.0 == *name);
            if known.is_none() {
                stages.insert(place, (name.clone(), vec![0; loads.len()]));
            }
            let own = known.unwrap_or(place);
            stages[own].1[i] += length.as_ps();
            place = own + 1;
        }
        load.crossings.iter().for_each(|(link, times)| *crossings.entry(link.clone()).or_default() += times);
    }
    let stage = |(name, mut spent): (String, Vec<u64>)| {
        let ps = spent.iter().sum();
        spent.sort_unstable();
        let percentile =
            |percent: usize| Span::from_ps(spent[(spent.len() * percent).div_ceil(100).saturating_sub(1)]);
        StageOfRepeat { name, ps, percentiles: Some((percentile(50), percentile(99))) }
    };
    let (number, stages) = (loads.len() as u64, stages.into_iter().map(stage).collect());
    Repeat { operations: number, followed: number, stages, crossings: crossings.into_iter().collect() }
}

/// Where a load spent its time; none if something of it was not recorded.
fn follow(world: &mut World, seen: &Seen, load: &LoadRecord) -> Option<Followed> {
    let WorldMemory { host: id, name, nodes, .. } = world.memory.clone()?;
    let host_name = shown(&name);
    let mut way = Way { world, seen, cursor: load.issued, followed: Followed::default() };
    if way.host(id)?.is_dram(load.node) {
        let out = way.host(id)?.outbound_marks(load, None);
        way.pass(&host_name, out);
        // one memory says little of its channels, several must be told apart
        let inside = way.host(id)?.in_dram(load);
        let place =
            if nodes.len() > 1 { format!("{host_name} {}", nodes[load.node]) } else { host_name.clone() };
        let (uncore, inside): (Vec<Mark>, Vec<Mark>) =
            inside.into_iter().partition(|mark| mark.1 == "uncore");
        way.pass(&place, inside);
        way.pass(&host_name, uncore);
    } else {
        let path = way.seen.paths.iter().position(|path| *path == name)?;
        let sent =
            way.next(|p| p.from == path && p.handle == load.handle && p.address.is_some(), load.arrives)?;
        let out = way.host(id)?.outbound_marks(load, Some(sent.at));
        way.pass(&host_name, out);
        let back = way.travel(sent)?;
        if back > load.told {
            return None;
        }
    }
    let back = way.host(id)?.return_marks(load);
    way.pass(&host_name, back);
    Some(way.followed)
}

/// The way of one load, as far as it has been followed.
struct Way<'a> {
    world: &'a mut World,
    seen: &'a Seen,
    cursor: Instant,
    followed: Followed,
}

impl Way<'_> {
    fn host(&mut self, id: ComponentId) -> Option<&mut (dyn RunsPrograms + 'static)> {
        self.world.kernel.role::<dyn RunsPrograms>(id)
    }
    /// The first message of a read, from `at` on.
    fn next(&self, is: impl Fn(&Passed) -> bool, at: Instant) -> Option<Passed> {
        let found = self.seen.passed.iter().filter(|p| !p.write && p.at >= at && is(p));
        found.min_by_key(|p| p.at).copied()
    }
    fn pass(&mut self, place: &str, marks: Vec<Mark>) {
        for (at, what) in marks {
            self.followed.spend(&mut self.cursor, at, format!("{place}: {what}"));
        }
    }

    /// From a link that a request was handed to, to its memory and back out of that link: when its answer came out of
    /// it.
    fn travel(&mut self, sent: Passed) -> Option<Instant> {
        let link = sent.to;
        let came =
            self.next(|p| p.from == link && p.handle == sent.handle && p.address.is_some(), sent.at)?;
        self.cross(link, came.to, (sent.at, came.at))?;
        let place = shown(&self.seen.paths[came.to]);
        let id = self.component(came.to)?;
        let left = match self.world.kernel.role::<dyn ForwardsLines>(id) {
            Some(switch) => {
                let forwarded = switch.forwarded_as(sent.handle, came.at)?;
                let on = self
                    .next(|p| p.from == came.to && p.handle == forwarded && p.address.is_some(), came.at)?;
                self.pass(&place, vec![(on.at, "forwarding")]);
                let back = self.travel(on)?;
                let left = self.answered(came.to, link, sent.handle, back)?;
                self.pass(&place, vec![(left.at, "forwarding the answer")]);
                left
            }
            None => {
                let left = self.answered(came.to, link, sent.handle, came.at)?;
                let marks = self.inside(id, (sent.handle, came.address?), came.at, left.at);
                self.pass(&place, marks);
                left
            }
        };
        let back = self.answered(link, sent.from, sent.handle, left.at)?;
        self.cross(link, sent.from, (left.at, back.at))?;
        Some(back.at)
    }
    /// What a switch or a device is in the kernel.
    fn component(&self, path: usize) -> Option<ComponentId> {
        let mut known = self.world.devices.iter().chain(&self.world.switches);
        known.find(|(name, _)| *name == self.seen.paths[path]).map(|(_, id)| *id)
    }
    fn answered(&self, from: usize, to: usize, handle: u32, at: Instant) -> Option<Passed> {
        self.next(|p| p.from == from && p.to == to && p.handle == handle && p.address.is_none(), at)
    }

    /// What a device did between a request and its answer.
    fn inside(
        &mut self,
        id: ComponentId,
        (handle, address): (u32, u64),
        came: Instant,
        left: Instant,
    ) -> Vec<Mark> {
        let kernel = &mut self.world.kernel;
        let device = kernel.role::<dyn KeepsLines>(id);
        let mut marks =
            device.map(|device| device.explain((handle, address), came, left)).unwrap_or_default();
        marks.push((left, "memory"));
        marks
    }

    /// Over a link, from being handed to it to coming out towards `to`.
    fn cross(&mut self, link: usize, to: usize, (given, out): (Instant, Instant)) -> Option<()> {
        let known = self.world.cxl.iter().find(|cxl| cxl.path() == self.seen.paths[link])?;
        let (id, name, [host, device]) = (known.id, known.link.clone(), known.ends.clone());
        // the end farther from the host is the one that requests come out of
        let down = shown(&self.seen.paths[to]) == shown(&device);
        let way =
            if down { format!("{name} {host} → {device}") } else { format!("{name} {device} → {host}") };
        *self.followed.crossings.entry(name).or_default() += 1;
        let kernel = &mut self.world.kernel;
        let (spec, part, correction) = kernel.role::<dyn CarriesLines>(id)?.timing();
        let (sender, receiver) = if down { (0, 1) } else { (1, 0) };
        let lag = part + (spec.flight + spec.receive[receiver] + correction).as_ticks().0;
        // what comes out is rounded up to a picosecond
        let start = Ticks(Ticks::from(out).0.saturating_sub(lag));
        let flit = Ticks(start.0 + part);
        let marks = vec![
            (given + spec.transmit[sender], "sending port"),
            (start.as_ps_ceil(), "queue for slots"),
            (flit.as_ps_ceil(), "flit"),
            (flit.as_ps_ceil() + spec.flight, "wire"),
            (out, "receiving port"),
        ];
        let first = marks[0].0.min(out);
        let marks = marks.into_iter().map(|(at, what)| (at.max(first).min(out), what)).collect();
        self.pass(&way, marks);
        Some(())
    }
}
