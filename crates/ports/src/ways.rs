//! Stages of TLPs between their sender and their receiver, as links mark them.
//!
//! ```text
//!    … ─┼─ slot: queue ─┼─ slot: wire ─┼─ switch: forwarding to bay ─┼─ switch: queue for bay ─┼─ bay: wire ─┼─ …
//!     ready           start     header or all in                  eligible                  start       arrival
//! ```
//!
//! A wire is followed up to the point where a switch can forward a TLP. If the starts of a TLP that is not the last
//! of its train are unknown on the links before the last one, it is assumed to have waited only for the last link.

use crate::route::{Crossing, way};
use crate::wiring::Wiring;
use lanetwin_kernel::Stage;
use lanetwin_pcie::link::{EgressId, EndpointId, Starts};
use lanetwin_units::{Instant, Ticks};
use std::collections::BTreeMap;

/// Stages of each direction of a link, kind by kind: the numbers of consecutive kinds differ by the number of
/// directions.
#[derive(Clone, Copy)]
enum Kind {
    Queue,
    Wire,
    /// Behind the last link that is recorded.
    Beyond,
    /// In the switch in front of it.
    Forwarding,
    QueueInSwitch,
}

const KINDS: u16 = 5;

/// The paths between endpoints, each computed when it is first needed.
pub(crate) struct Ways {
    /// By the two ends: the only link between them, or `None` if unknown.
    direct: Vec<Option<EgressId>>,
    known: Vec<Option<Box<[EgressId]>>>,
    endpoints: usize,
    directions: u16,
    /// By the two links and the size of a TLP: they do not change.
    crossings: BTreeMap<(EgressId, EgressId, u16), Crossing>,
}

/// TLPs that were sent from one endpoint to another, with their size on the wire.
#[derive(Clone, Copy)]
pub(crate) struct Sent {
    pub(crate) from: EndpointId,
    pub(crate) to: EndpointId,
    pub(crate) bytes: u16,
}

impl Ways {
    pub(crate) fn new(wiring: &Wiring) -> Self {
        let endpoints = wiring.endpoints.len();
        let directions = 2 * wiring.links.len() as u16;
        let (direct, known) = (vec![None; endpoints * endpoints], vec![None; endpoints * endpoints]);
        Self { direct, known, endpoints, directions, crossings: BTreeMap::new() }
    }
    fn stage(&self, egress: EgressId, kind: Kind) -> Stage {
        Stage(kind as u16 * self.directions + egress.0)
    }
    /// The names of all stages; `name` gives those of a direction: link, from, to.
    pub(crate) fn stages<'n>(
        wiring: &Wiring,
        name: impl Fn(EgressId) -> (&'n str, &'n str, &'n str),
    ) -> Vec<String> {
        let directions = 2 * wiring.links.len() as u16;
        let all =
            (0..KINDS * directions).map(|stage| (stage / directions, name(EgressId(stage % directions))));
        let text = |(kind, (link, from, to)): (u16, (&str, &str, &str))| match kind {
            0 => format!("{link} {from} → {to}: queue"),
            1 => format!("{link} {from} → {to}: wire"),
            2 => format!("{link} {from} → {to}: wire and beyond"),
            3 => format!("{from}: forwarding to {link}"),
            _ => format!("{from}: queue for {link}"),
        };
        all.map(text).collect()
    }
    /// The direction of a link whose wire is this stage. Returns `None` if it is another stage.
    pub(crate) fn wire_of(&self, stage: Stage) -> Option<EgressId> {
        let number = stage.0.checked_sub(Kind::Wire as u16 * self.directions)?;
        (number < 2 * self.directions).then(|| EgressId(number % self.directions))
    }
    /// The stages of a TLP that started at these times and arrives at `arrival`: each with its end.
    #[inline]
    pub(crate) fn follow(
        &mut self,
        wiring: &Wiring,
        sent: Sent,
        (starts, arrival): (Starts<'_>, Instant),
        mut mark: impl FnMut(Instant, Stage),
    ) {
        let place = sent.from.index() * self.endpoints + sent.to.index();
        if let (Some(only), Starts::All(&[start])) = (self.direct[place], starts) {
            mark(Ticks(start).as_ps_ceil(), self.stage(only, Kind::Queue));
            mark(arrival, self.stage(only, Kind::Wire));
            return;
        }
        let hops = self.known[place].take().unwrap_or_else(|| way(wiring, sent.from, sent.to).into());
        if let [only] = *hops {
            self.direct[place] = Some(only);
        }
        self.follow_far(wiring, (sent, &hops), (starts, arrival), &mut mark);
        self.known[place] = Some(hops);
    }
    /// The stages of a TLP up to where it has left the device that sent it.
    pub(crate) fn leave(
        &mut self,
        wiring: &Wiring,
        (from, to): (EndpointId, EndpointId),
        (start, left): (u64, Instant),
        mut mark: impl FnMut(Instant, Stage),
    ) {
        let place = from.index() * self.endpoints + to.index();
        let hops = self.known[place].get_or_insert_with(|| way(wiring, from, to).into());
        if let Some(first) = hops.first().copied() {
            mark(Ticks(start).as_ps_ceil(), self.stage(first, Kind::Queue));
            mark(left, self.stage(first, Kind::Wire));
        }
    }
    #[inline(never)]
    fn follow_far(
        &mut self,
        wiring: &Wiring,
        (sent, hops): (Sent, &[EgressId]),
        (starts, arrival): (Starts<'_>, Instant),
        mark: &mut dyn FnMut(Instant, Stage),
    ) {
        let known = match starts {
            Starts::All(starts) => starts,
            Starts::Last(_) => &[],
        };
        let mut before: Option<(EgressId, Option<Ticks>)> = None;
        for (i, hop) in hops.iter().enumerate() {
            let start = match starts {
                Starts::All(_) if i >= known.len() => break,
                Starts::All(_) => Some(Ticks(known[i])),
                Starts::Last(start) => (i + 1 == hops.len()).then_some(Ticks(start)),
            };
            match before {
                None => {
                    if let Some(start) = start {
                        mark(start.as_ps_ceil(), self.stage(*hop, Kind::Queue));
                    }
                }
                Some((incoming, Some(began))) => {
                    let Some(start) = start else { break };
                    let crossing = self.crossing(wiring, (incoming, *hop), sent.bytes);
                    let next = start.as_ps_ceil();
                    let forwarded = Ticks(began.0 + crossing.wire.0).as_ps_ceil();
                    // the known start takes precedence over the computed time: a switch has done its work when the
                    // TLP starts
                    mark(forwarded.min(next), self.stage(incoming, Kind::Wire));
                    mark((forwarded + crossing.forwarding).min(next), self.stage(*hop, Kind::Forwarding));
                    mark(next, self.stage(*hop, Kind::QueueInSwitch));
                }
                Some((_, None)) => {
                    if let Some(start) = start {
                        mark(start.as_ps_ceil(), self.stage(*hop, Kind::QueueInSwitch));
                    }
                }
            }
            before = Some((*hop, start));
        }
        if let Some((last, _)) = before {
            let kind = if matches!(starts, Starts::All(_)) && known.len() < hops.len() {
                Kind::Beyond
            } else {
                Kind::Wire
            };
            mark(arrival, self.stage(last, kind));
        }
    }
    fn crossing(&mut self, wiring: &Wiring, (a, b): (EgressId, EgressId), bytes: u16) -> Crossing {
        *self.crossings.entry((a, b, bytes)).or_insert_with(|| {
            Crossing::new(wiring, a, b, bytes).expect("one hop begins where the one before ends")
        })
    }
}
