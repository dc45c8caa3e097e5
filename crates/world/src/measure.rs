//! Measures a world: runs the warm-up, then the operations, then reads all counters.

use super::actions::Acted;
use super::batch::Batch;
use super::buffers::Filling;
use super::capture::Captured;
use super::carried::{Carried, carried};
use super::components::{self, ComponentUse, SupplyUse};
use super::cxl::CxlDirectionUse;
use super::loads::GivenUp;
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

/// Longest slice while operations are followed. The journeys recorded in a thirty-second of a long run would not fit
/// into memory.
const SLICE_FOLLOWED: Span = Span::from_us(1_000);
/// For transits of switches this many operations are followed, …
const FOLLOWED: u64 = 101;
/// … or 1/12 of those that are measured in all repeats, …
const FOLLOWED_PART: u64 = 12;
/// … or until this many trains have arrived.
const FOLLOWED_TRAINS: usize = 20_000;

/// Batches of a measurement: few enough to be all but independent (Schmeiser, Oper. Res. 30, 1982: 10 to 30).
const BATCHES: usize = 10;

/// Results of one world.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Results of all loads together.
    pub load: Results,
    /// Results of each device, with its name; empty if there is only one.
    pub devices: Vec<(String, Results)>,
    /// Results of each host, with its name, if there are several and one of them uses more than one device.
    pub hosts: Vec<(String, Results)>,
    /// Results of programs on cores, as the load or beside it.
    pub memory: Option<MemoryUse>,
    /// Metrics of the components that report any.
    pub components: Vec<ComponentUse>,
    /// Utilisation of each direction of each link.
    pub links: Vec<DirectionUse>,
    /// Utilisation of each direction of each CXL link.
    pub cxl: Vec<CxlDirectionUse>,
    /// The rounds, if the case ran in rounds.
    pub rounds: Option<Rounds>,
    /// Time in each stage, by kind of operation; also of each device, or node of memory, if there are several.
    pub spent: Vec<Spent>,
    /// Transit times of the switches, if trains were followed.
    pub transits: Vec<Transit>,
    /// Use of the components' finite supplies.
    pub limits: Vec<SupplyUse>,
    /// Results of each cell of a test of the SNIA PTS, each as a case.
    pub cells: Vec<(Case, Results)>,
    /// Results of the actions.
    pub acted: Vec<Acted>,
    /// Traffic between outages of the links that were down.
    pub carried: Vec<Carried>,
    /// The TLPs on the links up to the end of the measurement, if they were captured.
    pub captured: Option<Captured>,
    /// Begin and end of the measurement.
    pub window: Range<Instant>,
    /// Whether the measurement was steady.
    pub steadiness: Steadiness,
    /// The write buffer that was filled for the measurement.
    pub(super) filling: Option<Filling>,
    /// Equal parts of the measurement; empty if it was too short, or ran in rounds.
    pub batches: Vec<Batch>,
    /// How the slowest reads and writes cluster in time.
    pub(super) clumped: Clumped,
    /// Whether the length was chosen by steadiness, and not stated.
    pub is_until_steady: bool,
    /// Digest of all events up to the end of the measurement.
    pub digest: u64,
    /// Events handled.
    pub events: u64,
    /// What it cost, in events; see [`World::effort`].
    pub(super) effort: u64,
    /// TLPs times links.
    pub tlp_hops: u64,
}

/// The parts of each repeat, if they show the uncertainty of a mean: those of a single repeat, or those of repeats at
/// an arbitrary time of a steady load. Parts of a program, or of a stated time, may differ for other reasons.
pub(super) fn parts(repeats: &[Measured]) -> Vec<&[Batch]> {
    let tell = parts_tell(repeats);
    repeats.iter().filter(|_| tell).map(|measured| &measured.batches[..]).collect()
}

/// Whether parts of the repeats show the uncertainty of their means.
pub(super) fn parts_tell(repeats: &[Measured]) -> bool {
    repeats.len() == 1 || repeats.iter().all(Measured::is_any_time)
}

impl Measured {
    /// Whether the measurement was steady, of no stated length and without actions: then its parts are alike.
    pub(super) fn is_any_time(&self) -> bool {
        let is_steady = self.steadiness.condition == Condition::Steady;
        is_steady && self.is_until_steady && self.rounds.is_none() && self.acted.is_empty()
    }
}

/// The results of all actions, after they are completed.
fn acted_to_the_end(world: &mut World) -> Vec<Acted> {
    world.finish_actions();
    world.acted()
}

/// Utilisation of one direction of a link over a measurement, as shares of the time.
#[derive(Clone, PartialEq, Debug)]
pub struct DirectionUse {
    /// The link.
    pub link: String,
    /// Its two ends, `from → to`.
    pub direction: String,
    /// TLPs on the wire, except messages of ports.
    pub tlp: f64,
    /// Messages of ports on the wire: error messages, Set_Slot_Power_Limit.
    pub message: f64,
    /// DLLPs on the wire.
    pub dllp: f64,
    /// SKP ordered sets on the wire.
    pub skp: f64,
    /// Time lost to corrupted TLPs and their replay.
    pub replay: f64,
    /// Idle, although a TLP was waiting: for credits, or for room in the replay buffer.
    pub credit_stall: f64,
    /// Link down or in Recovery.
    pub down: f64,
    /// Mean number of waiting TLPs.
    pub mean_queue: f64,
    /// Bytes of TLPs on the wire \[B\].
    pub wire_bytes: u64,
}

impl DirectionUse {
    /// The share of the time in which the wire carries something.
    #[must_use]
    pub fn busy(&self) -> f64 {
        self.tlp + self.message + self.dllp + self.skp + self.replay
    }
    /// The remaining share.
    #[must_use]
    pub fn idle(&self) -> f64 {
        (1.0 - self.busy() - self.credit_stall - self.down).max(0.0)
    }
}

/// Whether both sides of Little's law are equal.
fn is_exact(results: &Results) -> bool {
    results.little.area_ps == results.little.residence_ps
}

/// Runs a world through warm-up and measurement, or through rounds until it is steady. If `follow` is given, the
/// number of repeats, then follows some more operations through switches.
///
/// # Errors
/// If a load gave up. An open loop that is overloaded: its counters would show the rate at which it was answered, not
/// the rate offered. A load that is answered without any time passing: it has no rate.
pub(super) fn measure(
    world: &mut World,
    (case, steady, pts): (&Case, Option<&SteadyRule>, Option<&PtsPlan>),
    length: Length,
    follow: Option<u32>,
) -> Result<Measured, GivenUp> {
    let (length, follow) = chosen(world, case, length, follow.filter(|_| pts.is_none()));
    let (window, cells) = match (steady, pts) {
        (Some(rule), Some(plan)) => run_pts(world, plan, rule),
        (Some(rule), None) => (in_rounds(rounds::run(world, rule), rule), Vec::new()),
        (None, _) => (window::run(world, case, length), Vec::new()),
    };
    let Window { before, end, results, ended, rounds, pace, steadiness, filling } = window;
    if let Some(given_up) = world.given_up() {
        return Err(given_up);
    }
    assert!(results.iter().all(is_exact), "Little's law holds to the picosecond");
    let (begin, mut load) = (before.at, together(&results));
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
    let (digest, events, effort) = (world.kernel.digest(), world.kernel.events(), world.effort());
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
        effort,
        tlp_hops: after.iter().map(|r| r.activity.tlps).sum(),
    })
}

/// Utilisation of the CXL links since `before`.
fn cxl_since(world: &mut World, before: &[[CxlLinkUse; 2]]) -> Vec<CxlDirectionUse> {
    let after = world.cxl_report(world.kernel.now());
    world.cxl_use(before, &after)
}

/// Results of programs on cores, with the hints since `advised`, and their run time if they have ended.
fn memory_since(world: &mut World, advised: &Advised, ended: Option<Span>) -> Option<MemoryUse> {
    let memory = world.memory_use(world.kernel.now())?;
    Some(MemoryUse { ended, advised: memory.advised.since(advised), ..memory })
}

/// The length of the measurement, and the number of repeats for which operations are followed afterwards. In a test
/// of the PTS none are followed: its load changes all the time, and no operation represents the others.
fn chosen(world: &World, case: &Case, length: Length, follow: Option<u32>) -> (Length, Option<u32>) {
    // a log, or a program that ends, has a beginning and an end, and all of it is measured
    let length = match case.load.timing().is_whole {
        true => Length { events: None, times: 1, ..length },
        false => length,
    };
    let replays = case.load.timing().is_whole && world.memory.is_none();
    if replays { (Length { warm_up: WarmUp::Transfers(0), ..length }, None) } else { (length, follow) }
}

/// Follows operations after the measurement, for the transit times of switches.
fn followed(world: &mut World, follow: Option<u32>, wanted: u64) -> Vec<Transit> {
    let follow = follow.filter(|_| world.memory.is_none());
    let most = follow.map(|repeats| u64::from(repeats) * wanted / FOLLOWED_PART);
    most.map_or_else(Vec::new, |most| follow_some(world, most))
}

/// Runs a PTS test: its rounds, and the results of each of its cells.
fn run_pts(world: &mut World, plan: &PtsPlan, rule: &SteadyRule) -> (Window, Vec<(Case, Results)>) {
    let (window, found) = pts::run(world, plan, rule);
    let cells = plan.cells.iter().map(|cell| Case {
        label: cell.label.clone(),
        axis: None,
        load: Load::of_blocks(cell.asks),
    });
    (in_rounds(window, rule), cells.zip(found.into_iter().map(Results::packed)).collect())
}

/// The results of each host; empty if each has one drive, since they are then the same as those of the drives.
fn by_host(world: &World, results: &[Results]) -> Vec<(String, Results)> {
    let hosts = summed(world.loads.iter().map(|load| load.asker.as_str()).zip(results));
    let drives: BTreeSet<(usize, usize)> = world.loads.iter().map(|load| (load.host, load.target)).collect();
    if hosts.len() < drives.len() { hosts } else { Vec::new() }
}

/// Time in each stage: of each device if there are several, except jobs, which share their path; for memory loads by
/// node. Cells of a test of the SNIA PTS are not summed.
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

/// Results of loads summed by name, in the order of their first appearance; empty if all have the same name.
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

/// Runs until `answered` operations have been answered, to the end of a slice.
fn run_to(world: &mut World, answered: u64) {
    while world.progress().1 < answered && world.given_up().is_none() {
        world.stopping.heed();
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
    // SKPs and DLLPs are also sent while TLPs wait for credits; that time counts as theirs.
    used.credit_stall = used.credit_stall.min((1.0 - used.busy()).max(0.0));
    // An outage is booked when it begins, and may end after the measurement.
    used.down = used.down.min((1.0 - used.busy() - used.credit_stall).max(0.0));
    used
}

/// Follows trains of further operations through switches, of up to `most` operations, and returns their transit
/// times.
fn follow_some(world: &mut World, most: u64) -> Vec<Transit> {
    if world.links().wiring().switches.is_empty() {
        return Vec::new();
    }
    let begin = world.kernel.now();
    world.links().fabric().record_journeys(true);
    // Operations in flight started before they could be followed.
    let (asked, answered) = world.progress();
    run_to(world, asked + FOLLOWED);
    if world.given_up().is_some() {
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
