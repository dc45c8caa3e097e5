//! Drives that move from one host to another during a run.
//!
//! ```text
//!  surprise  link of a ─────┤ at                         managed  new requests wait ┤ at
//!            link of b       after ├─────                         link of a ──────────────┤ at + after
//!                                                                 link of b                ├─────
//! ```
//!
//! A drive that moves is one drive with a port for each of two hosts; the links of the two are never up at the same
//! time.

use super::partitions::Move;
use crate::plan::{Absence, ComponentPlan, Down, End, LinkPlan, PortPlan};
use crate::problem::partitions::Problem;
use crate::resolve::components::Machine;
use crate::resolve::wiring::Wiring;
use lanetwin_document::problem::Reports;
use lanetwin_ports::{Protocol, Value};
use lanetwin_units::{Instant, Span};
use std::collections::BTreeMap;

/// Duration of an outage of a link that never comes up again: longer than any run.
const FOR_EVER: Span = Span::from_us(1_000_000_000);
/// The parameter that gives a drive its second port, and that port.
const DUAL_PORT: &str = "dual-port";
const SECOND_PORT: &str = "pcie2";

impl Move {
    fn arrives(&self) -> Instant {
        self.at + self.after
    }
    /// The time at which the link of the losing host goes down.
    fn parts(&self) -> Instant {
        if self.is_managed { self.arrives() } else { self.at }
    }
}

/// Gives every drive that moves a port for each of its hosts.
pub(in crate::resolve) fn attach(machine: &mut Machine, wiring: &mut Wiring, reports: &mut Reports) {
    if reports.has_errors() {
        return;
    }
    let mut moving: BTreeMap<usize, Vec<Move>> = BTreeMap::new();
    for (drive, next) in wiring.partitions.attached() {
        moving.entry(*drive).or_default().push(next.clone());
    }
    for (drive, mut moves) in moving {
        moves.sort_by_key(|next| next.at);
        if let Err((place, why)) = move_drive(drive, &moves, machine, wiring) {
            let Move { spot, path, .. } = &moves[place];
            let device = machine.label(drive);
            reports.add(Problem::CannotMove { device, why }, *spot, path);
        }
    }
}

/// Lets a drive move. Otherwise returns the place of the wrong move, and the reason.
fn move_drive(
    drive: usize,
    moves: &[Move],
    machine: &mut Machine,
    wiring: &mut Wiring,
) -> Result<(), (usize, String)> {
    let own = wiring.links.iter().position(|link| link.far().component == drive);
    let Some(link) = own else { return Err((0, "no host has it at first".into())) };
    let (host, switch) = (wiring.links[link].root_port.component, wiring.links[link].root.component);
    let next = moves.iter().find(|next| next.host != host);
    let Some(other) = next.map(|next| next.host) else { return Err((0, "it is there already".into())) };
    let is_up = |up: &&LinkPlan| {
        up.root_port.component == other && [up.from, up.to].iter().any(|end| end.component == switch)
    };
    let Some(up) = wiring.links.iter().find(is_up) else {
        return Err((0, "its switch is not that of the partition".into()));
    };
    let moving = Moving { drive, host, moves, other: (up.root_port, up.mps) };
    let name = format!("{}@{}", wiring.links[link].name, machine.label(other));
    let Some(plan) = machine.components[drive].plan.as_mut() else { return Ok(()) };
    if let Some(mistake) = mistake(plan, &wiring.links[link], &moving) {
        return Err(mistake);
    }
    let second = End { component: drive, port: plan.ports.len() };
    wiring.taken.insert(second, name.clone());
    wiring.absences.extend(carry_out(plan, (&mut wiring.links, link), &moving, name));
    Ok(())
}

/// A drive that moves, and its first place.
struct Moving<'a> {
    pub drive: usize,
    pub host: usize,
    /// In the order of time.
    pub moves: &'a [Move],
    /// The root port of the gaining host, and the Maximum Payload Size below it \[B\].
    pub other: (End, u16),
}

/// Why a drive cannot move like this: the place of the move, and the reason.
fn mistake(drive: &ComponentPlan, link: &LinkPlan, moving: &Moving<'_>) -> Option<(usize, String)> {
    let Moving { host, moves, other: (root_port, mps), .. } = moving;
    let has_second = drive.ports.iter().any(|port| port.name == SECOND_PORT);
    if !drive.params.0.contains_key(DUAL_PORT) || has_second {
        return Some((0, "it is no NVMe drive with one port".into()));
    }
    if !link.down.is_empty() {
        return Some((0, format!("link `{}` is `down` at other times, too", link.name)));
    }
    if u64::from(*mps) > drive.params.size("port.mps").0 {
        return Some((0, format!("the other hierarchy has a Maximum Payload Size of {mps} B")));
    }
    let (mut owner, mut free) = (*host, Instant::ZERO);
    for (place, next) in moves.iter().enumerate() {
        if next.host == owner {
            return Some((place, "it is there already".into()));
        }
        if next.host != root_port.component && next.host != *host {
            return Some((place, "a drive moves between two hosts, and this is a third".into()));
        }
        if next.at < free || next.at == Instant::ZERO {
            return Some((place, "it is not there yet, when it is to move".into()));
        }
        (owner, free) = (next.host, next.arrives());
    }
    None
}

/// Gives the drive a port for the other host, and the links of both their outages. Returns the times during which each
/// host lacks it.
fn carry_out(
    drive: &mut ComponentPlan,
    (links, link): (&mut Vec<LinkPlan>, usize),
    moving: &Moving<'_>,
    name: String,
) -> Vec<Absence> {
    let (root_port, mps) = moving.other;
    drive.params.0.insert(DUAL_PORT, Value::Flag(true));
    let second = End { component: moving.drive, port: drive.ports.len() };
    drive.ports.push(PortPlan {
        name: SECOND_PORT.into(),
        group: SECOND_PORT,
        speaks: Protocol::Pcie,
        many: false,
    });
    let first = links[link].far();
    let mut other = LinkPlan { name, root_port, mps, ..links[link].clone() };
    for end in [&mut other.from, &mut other.to].into_iter().filter(|end| **end == first) {
        *end = second;
    }
    links[link].down = downs(moving, moving.host);
    other.down = downs(moving, root_port.component);
    links.insert(link + 1, other);
    [moving.host, root_port.component].into_iter().flat_map(|host| absences(moving, host)).collect()
}

/// The outages of the link of a host.
fn downs(moving: &Moving<'_>, host: usize) -> Vec<Down> {
    let down = |from: Instant, until: Option<Instant>| Down {
        at: from,
        lasts: until.map_or(FOR_EVER, |until| until.since(from)),
        by: None,
        then: None,
    };
    without(moving, host).map(|(from, until)| down(from.map_or(Instant::ZERO, Move::parts), until)).collect()
}

/// The times during which a host lacks the drive.
fn absences(moving: &Moving<'_>, host: usize) -> Vec<Absence> {
    let absence = |(from, until): (Option<&Move>, Option<Instant>)| Absence {
        drive: moving.drive,
        host,
        from: from.map_or(Instant::ZERO, |from| from.at),
        until,
    };
    without(moving, host).map(absence).collect()
}

/// The times during which a host lacks the drive: the move that takes it (`None` for the beginning), and the time at
/// which the host has it again.
fn without<'m>(
    moving: &Moving<'m>,
    host: usize,
) -> impl Iterator<Item = (Option<&'m Move>, Option<Instant>)> {
    let moves = moving.moves;
    let leaves = moves.iter().enumerate().filter(move |(_, next)| next.host != host);
    let leaves = leaves.map(|(place, next)| (Some(next), place + 1));
    let begins = (moving.host != host).then_some((None, 0));
    begins.into_iter().chain(leaves).map(move |(from, place)| {
        let back = moves[place..].iter().find(|next| next.host == host);
        (from, back.map(Move::arrives))
    })
}
