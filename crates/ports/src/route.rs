//! The way of TLPs over the links: one direction after another, and the switches between them.

use crate::wiring::Wiring;
use lanetwin_pcie::link::{Attach, Direction, EgressId, EndpointId, Forwarding, LinkId, SwitchId};
use lanetwin_units::{Span, Ticks};

/// The most of a TLP that a switch has to have in to forward it, if it cuts through: framing and a header of 4 DW \[B\]
/// (docs/link-model.md, section 3).
const HEADER_BYTES: u64 = 24;

/// The directions of links from one endpoint to another, one after the other: below a root port there is one way.
#[must_use]
pub fn way(wiring: &Wiring, from: EndpointId, to: EndpointId) -> Vec<EgressId> {
    let mut way = Vec::new();
    lead(wiring, Attach::Endpoint(from), Attach::Endpoint(to), &mut way);
    way
}

/// Extends the path from `here` to `to`. Returns whether it got there.
pub(crate) fn lead(wiring: &Wiring, here: Attach, to: Attach, way: &mut Vec<EgressId>) -> bool {
    for e in (0..2 * wiring.links.len()).map(|e| EgressId(e as u16)) {
        let back = way.last().is_some_and(|last| last.0 == e.0 ^ 1);
        let [from, next] = wiring.ends(e);
        if from != here || back {
            continue;
        }
        way.push(e);
        if next == to || matches!(next, Attach::Switch(_)) && lead(wiring, next, to, way) {
            return true;
        }
        way.pop();
    }
    false
}

/// Time in the switch between a start on one link and eligibility for the next, without contention.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Crossing {
    /// Until as much of the TLP is in as the switch needs to forward it.
    pub wire: Ticks,
    /// Time from then on.
    pub forwarding: Span,
    /// The whole without the flight: from its first bit coming in to its first bit going out.
    pub transit: Ticks,
}

impl Crossing {
    /// The crossing of a TLP of this size on the wire. Returns `None` if no switch connects the two directions.
    #[must_use]
    pub fn new(wiring: &Wiring, incoming: EgressId, outgoing: EgressId, bytes: u16) -> Option<Self> {
        let (Attach::Switch(switch), true) =
            (wiring.ends(incoming)[1], wiring.ends(incoming)[1] == wiring.ends(outgoing)[0])
        else {
            return None;
        };
        let (a, b) = (direction(wiring, incoming), direction(wiring, outgoing));
        let ticks = |direction: &Direction, bytes| direction.rate.ticks_for(bytes).0;
        let (ser_a, ser_b) = (ticks(a, bytes.into()), ticks(b, bytes.into()));
        let needed = match wiring.switches[switch.index()].forwarding {
            Forwarding::StoreAndForward => ser_a,
            Forwarding::CutThrough => ticks(a, HEADER_BYTES).min(ser_a).max(ser_a.saturating_sub(ser_b)),
        };
        let forwarding = latency(wiring, switch, incoming, outgoing);
        let transit = Ticks(needed + forwarding.as_ticks().0);
        Some(Self { wire: Ticks(a.propagation.as_ticks().0 + needed), forwarding, transit })
    }
}

/// The latency of a switch from one of its links to another.
fn latency(wiring: &Wiring, switch: SwitchId, incoming: EgressId, outgoing: EgressId) -> Span {
    let link = |egress: EgressId| LinkId(egress.0 / 2);
    let is_it = |(s, from, to): (SwitchId, LinkId, LinkId)| {
        s == switch && from == link(incoming) && to == link(outgoing)
    };
    let own = wiring.latencies.iter().find(|pair| is_it((pair.switch, pair.from, pair.to)));
    own.map_or(wiring.switches[switch.index()].latency, |pair| pair.latency)
}

fn direction(wiring: &Wiring, egress: EgressId) -> &Direction {
    &wiring.links[egress.index() / 2].directions[egress.index() % 2]
}
