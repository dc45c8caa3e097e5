//! Measuring: warm-up, then so many operations, then one look at everything that was counted.

use super::actions::Acted;
use super::batch::Batch;
use super::buffers::Filling;
use super::capture::Captured;
use super::carried::{Carried, carried};
use super::components::{self, ComponentUse, SupplyUse};
use super::cxl::CxlDirectionUse;
use super::loads::Overload;
use super::memory::MemoryUse;
use super::pace::Pace;
use super::pts;
use super::rounds::{self, InRounds, Rounds, together};
use super::slices::slice;
use super::stages::{self, Spent};
use super::tails::{Clumped, PERCENTILES, clumped};
use super::transit::{self, Transit};
use super::window::{self, Length, Window};
use super::world::World;
use lanetwin_load::Results;
use lanetwin_models::roles::memory::{Advised, MemoryResults};
use lanetwin_plan::{Case, Load, PtsPlan, SteadyRule, WarmUp};
use lanetwin_ports::{CxlLinkUse, LinkReport};
use lanetwin_stats::results::{Condition, Steadiness};
use lanetwin_units::{Instant, Span};
use std::collections::BTreeSet;
use std::ops::Range;

/// While operations are followed no slice is longer: what is written down of a thirty-second of a long run would not
/// fit anywhere.
const SLICE_FOLLOWED: Span = Span::from_us(1_000);
/// For the transits of switches so many operations are followed …
const FOLLOWED: u64 = 101;
/// … or this part of those that are measured in all repeats …
const FOLLOWED_PART: u64 = 12;
/// … unless so many trains have arrived before.
const FOLLOWED_TRAINS: usize = 20_000;

/// Batches of a measurement: few enough to be all but independent (Schmeiser, Oper. Res. 30, 1982: 10 to 30).
const BATCHES: usize = 10;

/// What one world has shown.
#[derive(Clone, Debug)]
pub struct Measured {
    /// What the loads have counted, together.
    pub load: Results,
    /// What each has counted, with the name of its device; none if there is only one.
    pub devices: Vec<(String, Results)>,
    /// What each host has counted, with its name, where there are several and one of them asks more than one device.
    pub hosts: Vec<(String, Results)>,
    /// What programs on cores have shown, if they are the load or run beside it.
    pub memory: Option<MemoryUse>,
    /// What the components of the machine say that they have done meanwhile, of those that say anything.
    pub components: Vec<ComponentUse>,
    /// What every direction of every link has done meanwhile.
    pub links: Vec<DirectionUse>,
    /// What every direction of every CXL link has done meanwhile.
    pub cxl: Vec<CxlDirectionUse>,
    /// What each round has shown, if it went in rounds.
    pub rounds: Option<Rounds>,
    /// Where operations spent their time, kind by kind; of several devices, or nodes of memory, of each.
    pub spent: Vec<Spent>,
    /// How long TLPs were in the switches, if trains were followed.
    pub transits: Vec<Transit>,
    /// What was used of everything that components have only so many of.
    pub limits: Vec<SupplyUse>,
    /// What each cell of a test of the SNIA PTS has shown, as a case of its own.
    pub cells: Vec<(Case, Results)>,
    /// What became of what was asked of drives beside the loads.
    pub acted: Vec<Acted>,
    /// What links carried that were down, between their outages.
    pub carried: Vec<Carried>,
    /// The TLPs on the links up to the end of the measurement, if they were captured.
    pub captured: Option<Captured>,
    /// From when to when it was measured.
    pub window: Range<Instant>,
    /// Whether it was steady then.
    pub steadiness: Steadiness,
    /// The write buffer that was filled for it.
    pub(super) filling: Option<Filling>,
    /// Equal parts of it; none if it was too short for that, or went in rounds.
    pub batches: Vec<Batch>,
    /// How its slowest reads and writes lie together in time.
    pub(super) clumped: Clumped,
    /// Whether nobody has said how long it is.
    pub is_until_steady: bool,
    /// Of everything that happened up to the end of the measurement.
    pub digest: u64,
    /// Events handled.
    pub events: u64,
    /// TLPs times links.
    pub tlp_hops: u64,
}

/// The parts of each repeat, if they say how sure a mean is: of the only repeat, or of those that are any time of a
/// steady load. Parts of a program, or of a time that somebody has chosen, may differ as they like.
pub(super) fn parts(repeats: &[Measured]) -> Vec<&[Batch]> {
    let tell = parts_tell(repeats);
    repeats.iter().filter(|_| tell).map(|measured| &measured.batches[..]).collect()
}

/// Whether parts of the repeats say how sure their means are.
pub(super) fn parts_tell(repeats: &[Measured]) -> bool {
    repeats.len() == 1 || repeats.iter().all(Measured::is_any_time)
}

impl Measured {
    /// Whether nobody has said how long it is or what happens meanwhile, and it was steady: its parts are alike then.
    pub(super) fn is_any_time(&self) -> bool {
        let is_steady = self.steadiness.condition == Condition::Steady;
        is_steady && self.is_until_steady && self.rounds.is_none() && self.acted.is_empty()
    }
}

/// What became of what was asked of drives, when all of it is over.
fn acted_to_the_end(world: &mut World) -> Vec<Acted> {
    world.finish_actions();
    world.acted()
}

/// What one direction of a link did while it was measured, as shares of the time.
#[derive(Clone, PartialEq, Debug)]
pub struct DirectionUse {
    /// The link.
    pub link: String,
    /// Where it comes from and goes to.
    pub direction: String,
    /// TLPs on the wire, but for messages of ports.
    pub tlp: f64,
    /// Messages of ports on the wire: of errors, of power for a slot.
    pub message: f64,
    /// DLLPs on the wire.
    pub dllp: f64,
    /// SKP ordered sets on the wire.
    pub skp: f64,
    /// Lost to corrupted TLPs and their replay.
    pub replay: f64,
    /// Idle, although a TLP was waiting: for credits, or for room in the replay buffer.
    pub credit_stall: f64,
    /// Neither, for the link was down or in Recovery.
    pub down: f64,
    /// TLPs waiting, on average.
    pub mean_queue: f64,
    /// What TLPs put on the wire \[B\].
    pub wire_bytes: u64,
}

impl DirectionUse {
    /// The share of the time in which the wire carries something.
    #[must_use]
    pub fn busy(&self) -> f64 {
        self.tlp + self.message + self.dllp + self.skp + self.replay
    }
    /// The rest.
    #[must_use]
    pub fn idle(&self) -> f64 {
        (1.0 - self.busy() - self.credit_stall - self.down).max(0.0)
    }
}

/// Whether both sides of Little's law are equal.
fn is_exact(results: &Results) -> bool {
    results.little.area_ps == results.little.residence_ps
}

/// Runs a world through warm-up and measurement, or through rounds until it is steady; afterwards follows some
/// operations, if asked to on behalf of so many repeats.
///
/// # Errors
/// If an open loop is overloaded: what it had counted until then is the rate at which it was answered, not that at
/// which it asked.
pub(super) fn measure(
    world: &mut World,
    (case, steady, pts): (&Case, Option<&SteadyRule>, Option<&PtsPlan>),
    length: Length,
    follow: Option<u32>,
) -> Result<Measured, Overload> {
    let (length, follow) = chosen(world, case, length, follow.filter(|_| pts.is_none()));
    let (window, cells) = match (steady, pts) {
        (Some(rule), Some(plan)) => run_pts(world, plan, rule),
        (Some(rule), None) => (in_rounds(rounds::run(world, rule), rule), Vec::new()),
        (None, _) => (window::run(world, case, length), Vec::new()),
    };
    let Window { before, end, results, ended, rounds, pace, steadiness, filling } = window;
    if let Some(overload) = world.overload() {
        return Err(overload);
    }
    let begin = before.at;
    assert!(results.iter().all(is_exact), "Little's law holds to the picosecond");
    let mut load = together(&results);
    let mut memory = memory_since(world, &before.advised, ended.then(|| end - begin));
    let mut devices = summed(world.loads.iter().map(|load| load.device.as_str()).zip(&results));
    let mut hosts = by_host(world, &results);
    let spent = spent(world, case, (&load, &devices, &mut memory), pts.is_some());
    load = load.packed();
    let kept = devices.iter_mut().chain(&mut hosts).map(|(_, own)| own);
    kept.chain(std::iter::once(&mut load)).for_each(Results::forget_stages);
    let (after, captured) = (world.links().usage(), world.captured());
    let reports = world.reports();
    let limits = components::supplies(&before.reports, &reports, end - begin);
    let components = components::uses(&before.reports, &reports, end - begin);
    let cxl = cxl_since(world, &before.cxl);
    let (digest, events) = (world.kernel.digest(), world.kernel.events());
    let transits = followed(world, follow, case.load.operations());
    Ok(Measured {
        cells,
        captured,
        is_until_steady: length.events.is_some(),
        acted: acted_to_the_end(world),
        carried: carried(&after),
        window: begin..end,
        steadiness,
        filling,
        batches: pace.batches(BATCHES).unwrap_or_default(),
        clumped: clumped(&pace, &PERCENTILES),
        load,
        devices,
        hosts,
        memory,
        components,
        links: before.links.iter().zip(&after).map(|(b, a)| usage(b, a, end - begin)).collect(),
        cxl,
        rounds,
        spent,
        transits,
        limits,
        digest,
        events,
        tlp_hops: after.iter().map(|r| r.activity.tlps).sum(),
    })
}

/// How busy CXL links have been since then.
fn cxl_since(world: &mut World, before: &[[CxlLinkUse; 2]]) -> Vec<CxlDirectionUse> {
    let after = world.cxl_report(world.kernel.now());
    world.cxl_use(before, &after)
}

/// What programs on cores have shown since devices had been told so much, and how long they took if they have ended.
fn memory_since(world: &mut World, advised: &Advised, ended: Option<Span>) -> Option<MemoryUse> {
    let memory = world.memory_use(world.kernel.now())?;
    Some(MemoryUse { ended, advised: memory.advised.since(advised), ..memory })
}

/// How long it is measured, and for how many repeats operations are followed afterwards. Of a test of the PTS none
/// are: what it asks for changes all the time, and no operation of it stands for the others.
fn chosen(world: &World, case: &Case, length: Length, follow: Option<u32>) -> (Length, Option<u32>) {
    // a log has a beginning and an end, and all of it is measured
    let replays = case.load.timing().is_whole && world.memory.is_none();
    if replays {
        (Length { warm_up: WarmUp::Transfers(0), events: None, times: 1, ..length }, None)
    } else {
        (length, follow)
    }
}

/// Follows operations after the measurement: how long packets were in switches.
fn followed(world: &mut World, follow: Option<u32>, wanted: u64) -> Vec<Transit> {
    let follow = follow.filter(|_| world.memory.is_none());
    let most = follow.map(|repeats| u64::from(repeats) * wanted / FOLLOWED_PART);
    most.map_or_else(Vec::new, |most| follow_some(world, most))
}

/// Runs a performance test: its rounds, and the results of each of its cells.
fn run_pts(world: &mut World, plan: &PtsPlan, rule: &SteadyRule) -> (Window, Vec<(Case, Results)>) {
    let (window, found) = pts::run(world, plan, rule);
    let cells = plan.cells.iter().map(|cell| Case {
        label: cell.label.clone(),
        axis: None,
        load: Load::of_blocks(cell.asks),
    });
    (in_rounds(window, rule), cells.zip(found.into_iter().map(Results::packed)).collect())
}

/// The results of each host; none if each has one drive, as they are those of the drives then.
fn by_host(world: &World, results: &[Results]) -> Vec<(String, Results)> {
    let hosts = summed(world.loads.iter().map(|load| load.asker.as_str()).zip(results));
    let drives: BTreeSet<(usize, usize)> = world.loads.iter().map(|load| (load.host, load.target)).collect();
    if hosts.len() < drives.len() { hosts } else { Vec::new() }
}

/// Where operations spent their time: of each of several devices, but for jobs, which share what they go through;
/// loads of memory by node. Cells of a test of the SNIA PTS stand for nothing together.
fn spent(
    world: &mut World,
    case: &Case,
    (all, devices, memory): (&Results, &[(String, Results)], &mut Option<MemoryUse>),
    is_test: bool,
) -> Vec<Spent> {
    match (memory, &case.load) {
        (Some(memory), Load::Memory(_)) => return stages::spent_by_loads(world, memory),
        (Some(beside), _) => beside.programs.iter_mut().for_each(MemoryResults::forget_stages),
        (None, _) => {}
    }
    if is_test {
        return Vec::new();
    }
    if devices.is_empty() || !case.load.is_even() {
        return stages::spent(world, &[(None, all)]);
    }
    let of: Vec<_> = devices.iter().map(|(name, own)| (Some(name.clone()), own)).collect();
    stages::spent(world, &of)
}

/// What loads of one name have counted, together, in the order of the names; none if all have one name.
fn summed<'a>(loads: impl Iterator<Item = (&'a str, &'a Results)>) -> Vec<(String, Results)> {
    let mut sums: Vec<(String, Results)> = Vec::new();
    for (name, own) in loads {
        match sums.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) => sum.merge(own),
            None => sums.push((name.to_owned(), own.clone())),
        }
    }
    if sums.len() == 1 {
        sums.clear();
    }
    sums.into_iter().map(|(name, sum)| (name, sum.packed())).collect()
}

/// Runs until so many operations that are followed have been answered, to the end of a slice.
fn run_to(world: &mut World, answered: u64) {
    while world.progress().1 < answered && world.overload().is_none() {
        assert!(
            world.kernel.next_event().is_some(),
            "nothing is answered any more: {answered} operations are wanted"
        );
        let until = world.kernel.now() + slice(world).min(SLICE_FOLLOWED);
        world.kernel.run_until(until);
    }
}

/// Rounds as a window of a measurement.
fn in_rounds(found: InRounds, rule: &SteadyRule) -> Window {
    let InRounds { before, end, results, rounds } = found;
    let (steadiness, pace) = (rounds.steadiness(rule.of), Pace::default());
    Window { before, end, results, ended: false, rounds: Some(rounds), pace, steadiness, filling: None }
}

fn usage(before: &LinkReport, after: &LinkReport, elapsed: Span) -> DirectionUse {
    let ticks = elapsed.as_ticks().0 as f64;
    let share = |before: u64, after: u64| (after - before) as f64 / ticks;
    let (b, a) = (&before.activity, &after.activity);
    let skp = after.overhead.skp_period.map_or(0.0, |period| after.overhead.skp as f64 / period as f64);
    let mut used = DirectionUse {
        link: after.link.clone(),
        direction: format!("{} → {}", after.from, after.to),
        tlp: share(b.tlp_time - b.message_time, a.tlp_time - a.message_time),
        message: share(b.message_time, a.message_time),
        dllp: share(before.overhead.dllps, after.overhead.dllps),
        skp,
        replay: share(b.replay_time, a.replay_time),
        credit_stall: share(b.stalled, a.stalled),
        down: share(b.down_time, a.down_time),
        mean_queue: (a.waited - b.waited) as f64 / ticks,
        wire_bytes: a.wire_bytes - b.wire_bytes,
    };
    // A TLP is booked when it starts: the last may end a little after the measurement.
    let over = used.busy().max(1.0);
    for part in [&mut used.tlp, &mut used.message, &mut used.dllp, &mut used.skp, &mut used.replay] {
        *part /= over;
    }
    // SKPs and DLLPs are sent while TLPs wait for credits: that time is theirs.
    used.credit_stall = used.credit_stall.min((1.0 - used.busy()).max(0.0));
    // An outage is booked when it begins, and may end after the measurement.
    used.down = used.down.min((1.0 - used.busy() - used.credit_stall).max(0.0));
    used
}

/// Follows trains of some more operations through switches, of up to `most` if there are that many: how long TLPs
/// were in them.
fn follow_some(world: &mut World, most: u64) -> Vec<Transit> {
    if world.links().wiring().switches.is_empty() {
        return Vec::new();
    }
    let begin = world.kernel.now();
    world.links().fabric().record_journeys(true);
    // Those in flight began before they could be followed.
    let (asked, answered) = world.progress();
    run_to(world, asked + FOLLOWED);
    if world.overload().is_some() {
        return Vec::new();
    }
    let mut journeys = world.links().fabric().take_journeys();
    while world.progress().1 < answered + most && journeys.len() < FOLLOWED_TRAINS {
        let done = world.progress().1;
        run_to(world, done + 1);
        journeys.extend(world.links().fabric().take_journeys());
    }
    world.links().fabric().record_journeys(false);
    let end = world.kernel.now();
    transit::transits(world.links(), &journeys, begin..end)
}
