//! Names the bottleneck: the supply that was used up while a case was measured.
//!
//! Whatever waits for the bottleneck fills up: queues, buffers, tags, the load's own depth. So supplies that *work*
//! (a wire, engines, cores) are checked first, the fullest of them; then supplies that are *held* while something
//! else works, from the innermost outwards: the credits of a receiver, tags, transfer slots, and last the load
//! itself.

use super::components::SupplyUse;
use super::measure::{DirectionUse, Measured};
use lanetwin_plan::{Case, Load, Offered};

/// A wire that is busy for this share of the time is the bottleneck.
const WIRE_FULL: f64 = 0.95;
/// Wires whose busy shares differ by less than this count as equally full.
const AS_FULL: f64 = 0.005;
/// If a wire idles for want of credits for this share of the time, the bottleneck is its receiver.
const CREDITS_SHORT: f64 = 0.10;
/// A supply of a component is the bottleneck if this share of it is in use.
const SUPPLY_USED: f64 = 0.95;
/// The names of the drivers of several drives begin with this.
const DRIVERS: &str = "driver/";

/// Shares below this would be told as 0.0 %.
const LEAST_TOLD: f64 = 0.0005;

/// A bottleneck.
pub(super) struct Limit {
    /// Its name.
    pub name: String,
    /// The evidence.
    pub why: String,
    /// If it is several supplies together: each of them, with its component.
    pub together: Vec<String>,
}

impl From<(String, String)> for Limit {
    fn from((name, why): (String, String)) -> Self {
        Self { name, why, together: Vec::new() }
    }
}

/// The bottleneck, and the reason for naming it.
pub(super) fn name(case: &Case, measured: &Measured) -> Limit {
    full_worker(measured)
        .or_else(|| short_credits(measured).map(Limit::from))
        .or_else(|| short_supply(measured).map(Limit::from))
        .unwrap_or_else(|| load(case, measured).into())
}

/// The fullest worker without time left; a wire, if nothing else is fuller.
fn full_worker(measured: &Measured) -> Option<Limit> {
    let servers = measured.limits.iter().filter(|l| l.waiting.is_none());
    let server = servers.max_by(|a, b| a.share.total_cmp(&b.share)).filter(|l| l.share >= SUPPLY_USED);
    let wire = busiest(measured).filter(|l| l.busy() >= WIRE_FULL);
    match (wire, server) {
        (Some(wire), Some(server)) if server.share > wire.busy() => Some(full_server(server, measured)),
        (Some(wire), _) => Some((of_wire(wire), full_wire(wire)).into()),
        (None, Some(server)) => Some(full_server(server, measured)),
        (None, None) => None,
    }
}

/// The fullest server, together with those of the same name that are as full: a faster one alone would change little.
fn full_server(server: &SupplyUse, measured: &Measured) -> Limit {
    let alike: Vec<&SupplyUse> =
        measured.limits.iter().filter(|l| l.waiting.is_none() && l.name == server.name).collect();
    let least = SUPPLY_USED.max(server.share - AS_FULL);
    let full: Vec<&SupplyUse> = alike.iter().copied().filter(|l| l.share >= least).collect();
    if full.len() < 2 {
        return (of_supply(server), in_use(server)).into();
    }
    let are_drivers = alike.iter().all(|l| l.component.starts_with(DRIVERS));
    let who = match (full.len(), &full[..]) {
        (n, _) if are_drivers && n == alike.len() => format!("all {n} drivers"),
        (n, _) if are_drivers => format!("{n} of {} drivers", alike.len()),
        (2, [one, other]) => format!("{}, {}", one.component, other.component),
        (n, _) => format!("{} and {} more", full[0].component, n - 1),
    };
    Limit {
        name: format!("{who}: {}", server.name),
        why: format!("of each {}", in_use(server)),
        together: full.into_iter().map(of_supply).collect(),
    }
}

fn full_wire(link: &DirectionUse) -> String {
    let parts = [
        ("TLPs", link.tlp),
        ("messages", link.message),
        ("DLLPs", link.dllp),
        ("SKP", link.skp),
        ("replays", link.replay),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|p| p.1 >= LEAST_TOLD)
        .map(|(what, share)| format!("{what} {}", percent(share)))
        .collect();
    format!("the wire is busy {} of the time ({})", percent(link.busy()), parts.join(", "))
}

fn short_credits(measured: &Measured) -> Option<(String, String)> {
    let starved = measured.links.iter().max_by(|a, b| a.credit_stall.total_cmp(&b.credit_stall));
    let link = starved.filter(|l| l.credit_stall >= CREDITS_SHORT)?;
    let share = percent(link.credit_stall);
    let why = format!("TLPs wait for them, or for room in the replay buffer, {share} of the time");
    Some((format!("{}: credits", of_wire(link)), why))
}

/// The first supply that is held, used up and waited for; components report the innermost first.
fn short_supply(measured: &Measured) -> Option<(String, String)> {
    let is_short = |l: &&SupplyUse| l.share >= SUPPLY_USED && l.waiting.is_some_and(|waiting| waiting > 0.0);
    let supply = measured.limits.iter().find(is_short)?;
    Some((of_supply(supply), in_use(supply)))
}

/// The load itself, if no supply is used up.
fn load(case: &Case, measured: &Measured) -> (String, String) {
    let closest =
        closest(measured).map(|closest| format!("; closest to its limit: {closest}")).unwrap_or_default();
    let each = if measured.devices.is_empty() { "" } else { " for each device" };
    if let Load::Memory(memory) = &case.load {
        return match memory.threads() {
            1 => ("load: one thread".to_owned(), format!("it asks for no more at once{closest}")),
            threads => (format!("load: {threads} threads"), format!("they ask for no more at once{closest}")),
        };
    }
    let offered = match (case.load.offered(), case.load.most_in_flight()) {
        (Offered::Rate { .. }, Some(most)) if is_full(measured, most) => Offered::Outstanding(most),
        (offered, _) => offered,
    };
    match offered {
        Offered::Outstanding(most) if case.load.is_paced() && !is_full(measured, most) => (
            "load: its rate or pauses".to_owned(),
            format!("it asks for less than it may have in flight{closest}"),
        ),
        Offered::Outstanding(1) => {
            (format!("load: one at a time{each}"), format!("each waits for the one before{closest}"))
        }
        Offered::Outstanding(n) => {
            (format!("load: {n} in flight{each}"), format!("it asks for no more at once{closest}"))
        }
        Offered::Rate { .. } => {
            ("load: its rate".to_owned(), format!("it asks for less than the machine can do{closest}"))
        }
    }
}

/// Whether nearly all that may be in flight was so all the time. Then the depth is the limit, and not a rate.
fn is_full(measured: &Measured, most: u32) -> bool {
    const NEARLY: f64 = 0.9;
    let most = f64::from(most) * measured.devices.len().max(1) as f64;
    measured.load.mean_outstanding().is_some_and(|mean| mean >= NEARLY * most)
}

/// The supply that would be used up next.
fn closest(measured: &Measured) -> Option<String> {
    let wire = busiest(measured)
        .map(|l| (l.busy(), format!("{}, busy {} of the time", of_wire(l), percent(l.busy()))));
    let supply = measured.limits.iter().max_by(|a, b| a.share.total_cmp(&b.share));
    let supply = supply.map(|l| (l.share, format!("{}, {}", of_supply(l), in_use(l))));
    wire.into_iter().chain(supply).max_by(|a, b| a.0.total_cmp(&b.0)).map(|closest| closest.1)
}

/// The busiest wire. Of several that are full, the one that carries most bytes: faster other wires would not move
/// more of the traffic that has to cross this one, too.
fn busiest(measured: &Measured) -> Option<&DirectionUse> {
    let busiest = measured.links.iter().max_by(|a, b| a.busy().total_cmp(&b.busy()))?;
    let as_full = |link: &&DirectionUse| link.busy() >= WIRE_FULL.max(busiest.busy() - AS_FULL);
    let most = measured.links.iter().filter(as_full).max_by_key(|link| link.wire_bytes);
    Some(most.unwrap_or(busiest))
}

fn of_wire(link: &DirectionUse) -> String {
    format!("{}: {}", link.link, link.direction)
}

fn of_supply(supply: &SupplyUse) -> String {
    format!("{}: {}", supply.component, supply.name)
}

fn in_use(supply: &SupplyUse) -> String {
    let share = percent(supply.share);
    let in_use = match (supply.supply, supply.waiting) {
        (1, None) => format!("busy {share} of the time"),
        (1, Some(_)) => format!("in use {share} of the time"),
        (n, None) => format!("{share} of the {n} are busy"),
        (n, Some(_)) => format!("{share} of the {n} are in use"),
    };
    if supply.lost < LEAST_TOLD {
        return in_use;
    }
    let lost = percent(supply.lost);
    format!("{in_use}, not counting {lost} of the time lost to refreshes, row changes and turnarounds")
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
