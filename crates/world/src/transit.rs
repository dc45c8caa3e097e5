//! Time that TLPs spend in a switch: from the first bit in to the first bit out.
//!
//! ```text
//!        incoming link                     switch                     outgoing link
//!  start ───────────────► first bit in ─────────────► first bit out = start
//!          propagation                    transit
//! ```
//!
//! Only the last TLP of each train is measured: of TLPs that arrive together it waits longest. A transit counts if it
//! began after the first instant of a stretch of time and its train arrived before the end; later departures are left
//! out, because how far links decide ahead depends on how many TLPs they decide at a time.

use lanetwin_pcie::link::{EgressId, EndpointId, RECORDED_HOPS};
use lanetwin_pcie::spec::TlpKind;
use lanetwin_ports::{Crossing, Journey, Links, Wiring, way};
use lanetwin_units::{Instant, Span, Ticks};
use std::collections::BTreeMap;
use std::ops::Range;

/// Time that TLPs of one kind and size spent in a switch between two of its links.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transit {
    /// The direction of a link through which they came in.
    pub incoming: EgressId,
    /// The direction of a link through which they left.
    pub outgoing: EgressId,
    /// Kind of TLP.
    pub kind: TlpKind,
    /// Size on the wire \[B\].
    pub bytes: u16,
    /// Transit time through an empty switch.
    pub idle: Span,
    /// Transit time of each of them, in ascending order.
    pub lasted: Vec<Span>,
}

impl Transit {
    /// The shortest time that at least `percent` % of them do not exceed.
    #[must_use]
    pub fn percentile(&self, percent: usize) -> Span {
        let rank = (self.lasted.len() * percent).div_ceil(100);
        self.lasted[rank.saturating_sub(1)]
    }
}

/// The transits of TLPs that were the last of their trains, in a stretch of time.
pub(super) fn transits(links: &Links, journeys: &[Journey], within: Range<Instant>) -> Vec<Transit> {
    let (begin, end) = (Ticks::from(within.start), Ticks::from(within.end));
    let wiring = links.wiring();
    let mut ways: BTreeMap<(EndpointId, EndpointId), Vec<EgressId>> = BTreeMap::new();
    let mut found: BTreeMap<Key, Vec<u64>> = BTreeMap::new();
    for journey in journeys {
        let known = usize::from(journey.hops).min(RECORDED_HOPS);
        let starts = &journey.starts[..known];
        if starts.last().is_none_or(|last| *last <= begin.0) || journey.arrival > end {
            continue;
        }
        let hops =
            ways.entry((journey.from, journey.to)).or_insert_with(|| way(wiring, journey.from, journey.to));
        let bytes = links.wire_bytes(journey.from, &journey.user.tlps);
        for (pair, starts) in hops.windows(2).zip(starts.windows(2)) {
            let key = Key { incoming: pair[0], outgoing: pair[1], kind: journey.user.tlps.kind, bytes };
            let came_in = starts[0] + key.flight(wiring);
            found.entry(key).or_default().push(starts[1] - came_in);
        }
    }
    found.into_iter().map(|(key, lasted)| key.transit(wiring, lasted)).collect()
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    incoming: EgressId,
    outgoing: EgressId,
    kind: TlpKind,
    bytes: u16,
}

impl Key {
    /// The time of flight on the incoming link \[ticks\].
    fn flight(&self, wiring: &Wiring) -> u64 {
        let link = &wiring.links[self.incoming.index() / 2];
        link.directions[self.incoming.index() % 2].propagation.as_ticks().0
    }
    fn transit(self, wiring: &Wiring, mut lasted: Vec<u64>) -> Transit {
        let Self { incoming, outgoing, kind, bytes } = self;
        let crossing = Crossing::new(wiring, incoming, outgoing, bytes);
        let idle = crossing.expect("one hop begins where the one before ends").transit;
        lasted.sort_unstable();
        let span = |ticks| Span::from_ps(Ticks(ticks).as_ps_ceil().as_ps());
        let lasted = lasted.into_iter().map(span).collect();
        Transit { incoming, outgoing, kind, bytes, idle: span(idle.0), lasted }
    }
}
