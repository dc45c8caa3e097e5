//! Drives that change hosts while a run goes on.
//!
//! ```text
//!  surprise  link of a ─────┤ at                         managed  new requests wait ┤ at
//!            link of b       after ├─────                         link of a ──────────────┤ at + after
//!                                                                 link of b                ├─────
//! ```
//!
//! A drive that moves is one drive with a port for each of two hosts, whose links are never up at the same time.

use crate::plan::{Absence, ComponentPlan, Down, End, LinkPlan, PortPlan};
use lanetwin_document::node::Spot;
use lanetwin_ports::{Protocol, Value};
use lanetwin_units::{Instant, Span};

/// A link that never comes up again is down for so long: no run gets this far.
const FOR_EVER: Span = Span::from_us(1_000_000_000);
/// The parameter that gives a drive its second port, and that port.
const DUAL_PORT: &str = "dual-port";
const SECOND_PORT: &str = "pcie2";

/// A drive is given to a host.
#[derive(Clone)]
pub(super) struct Move {
    pub host: usize,
    pub at: Instant,
    /// Until the host that gets it sees it.
    pub after: Span,
    /// Whether the host that loses it lets it end what it was asked.
    pub is_managed: bool,
    pub spot: Spot,
    pub path: String,
}

impl Move {
    fn arrives(&self) -> Instant {
        self.at + self.after
    }
    /// When the link of the host that loses the drive goes down.
    fn parts(&self) -> Instant {
        if self.is_managed { self.arrives() } else { self.at }
    }
}

/// A drive that moves, and where it is at first.
pub(super) struct Moving<'a> {
    pub drive: usize,
    pub host: usize,
    /// In the order of time.
    pub moves: &'a [Move],
    /// The root port of the host that gets it, and the Maximum Payload Size below that \[B\].
    pub other: (End, u16),
}

/// Why a drive cannot move like this: the place of the move, and what is wrong.
pub(super) fn mistake(
    drive: &ComponentPlan,
    link: &LinkPlan,
    moving: &Moving<'_>,
) -> Option<(usize, String)> {
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

/// Gives the drive a port for the other host, and the links of both the times when they are down; the times when each
/// host is without it.
pub(super) fn carry_out(
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

/// When the link of a host is down.
fn downs(moving: &Moving<'_>, host: usize) -> Vec<Down> {
    let down = |from: Instant, until: Option<Instant>| Down {
        at: from,
        lasts: until.map_or(FOR_EVER, |until| until.since(from)),
    };
    without(moving, host).map(|(from, until)| down(from.map_or(Instant::ZERO, Move::parts), until)).collect()
}

/// When a host is without the drive.
fn absences(moving: &Moving<'_>, host: usize) -> Vec<Absence> {
    let absence = |(from, until): (Option<&Move>, Option<Instant>)| Absence {
        drive: moving.drive,
        host,
        from: from.map_or(Instant::ZERO, |from| from.at),
        until,
    };
    without(moving, host).map(absence).collect()
}

/// The moves that take the drive from a host, none for the beginning; each with the time when it has it again.
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
