//! Congestion control of an adapter: DCQCN, as in [`lanetwin_fabric::roce::logic::dcqcn`].
//!
//! ```text
//!  marked frame ──► of this queue pair no CNP for `dcqcn.cnp-interval`? ──► CNP, before all else, at its own priority
//!  CNP ──► its queue pair is slower: frames with payload leave one by one, as far apart as its rate says
//! ```
//!
//! A CNP can be lost like any frame and is not repeated. Acknowledgements are not slowed down.

use super::inside::{RoceNic, Task};
use super::lane::Outgoing;
use super::pair::{NOTIFICATIONS, Pair};
use super::points::Congestion;
use super::turns::Leaving;
use super::words::{Packet, What};
use lanetwin_fabric::ethernet::logic::{Class, Train};
use lanetwin_fabric::ethernet::spec::wire_bytes;
use lanetwin_fabric::roce::logic::dcqcn::Reaction;
use lanetwin_fabric::roce::spec::Kind;
use lanetwin_ports::Context;
use lanetwin_units::Instant;

/// The payload of a CNP: 16 B, all reserved (InfiniBand Architecture Specification, volume 1, annex A17.9.3).
const CNP_BYTES: u32 = 16;

impl Pair {
    /// Whether the first frame of a lane may be sent at `now`.
    pub(super) fn may_send(&self, lane: usize, now: Instant) -> bool {
        let lane = &self.lanes[lane];
        let paced = self.congestion.as_ref().filter(|_| lane.has_payload());
        lane.can_send(now) && paced.is_none_or(|own| own.reaction.may_send() <= now.as_ps())
    }
    /// How many of `most` bytes of a lane may be sent at once \[B\]: one frame, if it is slowed down.
    pub(super) fn burst(&mut self, lane: usize, now: Instant, most: u32) -> u32 {
        let paced = self.congestion.as_mut().filter(|_| self.lanes[lane].has_payload());
        if paced.is_some_and(|own| own.reaction.is_limited(now.as_ps())) { 1 } else { most }
    }
}

/// Whether a frame that leaves is a CNP.
fn is_cnp(leaving: Leaving, frame: &Outgoing) -> bool {
    let packet = || Packet::from_words(frame.words);
    matches!(leaving, Leaving::Pair(..)) && packet().is_some_and(|packet| packet.what == What::Congestion)
}

impl RoceNic {
    /// Initial congestion state of a queue pair.
    pub(super) fn congestion(&self) -> Option<Congestion> {
        let line = self.site?.line.rate.gbps() * 1_000_000_000;
        let reaction = Reaction::new(self.rules.dcqcn?, line);
        Some(Congestion { reaction, tells: Instant::ZERO })
    }

    /// The class of a frame that leaves.
    pub(super) fn class_of(&self, leaving: Leaving, frame: &Outgoing) -> Class {
        if is_cnp(leaving, frame) { Class::of_priority(self.rules.cnp_priority) } else { self.class }
    }

    /// Frames of a queue pair leave now: the next may later.
    pub(super) fn pace(&mut self, leaving: Leaving, (frame, count): (&Outgoing, u16), cx: &mut Context<'_>) {
        let Leaving::Pair(id, _) = leaving else { return };
        let now = cx.now();
        self.counts.notified += u64::from(is_cnp(leaving, frame));
        let Some(pair) = self.pairs.get_mut(id).filter(|_| frame.payload > 0) else { return };
        let Some(own) = &mut pair.congestion else { return };
        let bytes = u64::from(wire_bytes(frame.bytes.into())) * u64::from(count);
        own.reaction.sent(now.as_ps(), bytes);
        let next = Instant::from_ps(own.reaction.may_send());
        if next > now {
            self.agenda.put(next, Task::Line, cx);
        }
    }

    /// A packet of RoCE has come: whether it was a CNP. A marked one is answered with a CNP.
    pub(super) fn hear_of_congestion(
        &mut self,
        (packet, frame): (Packet, &Train),
        cx: &mut Context<'_>,
    ) -> bool {
        let (now, tells) = (cx.now(), packet.what == What::Congestion);
        self.counts.notifications += u64::from(tells);
        let Some(interval) = self.rules.dcqcn.map(|dcqcn| dcqcn.cnp_interval) else {
            return tells && self.pair(packet.to).is_some();
        };
        let rules = self.rules;
        let Some(pair) = self.pair(packet.to) else { return false };
        let Some(own) = &mut pair.congestion else { return tells };
        if tells {
            own.reaction.notified(now.as_ps());
        } else if frame.class.is_marked() && own.tells <= now {
            own.tells = Instant::from_ps(now.as_ps() + interval);
            let kind = (Kind::Plain, CNP_BYTES);
            let next = pair.frame(NOTIFICATIONS, (0, 0), What::Congestion, kind, &rules);
            let ready = now + rules.tx_latency;
            let frame = Outgoing { payload: 0, ready: Some(ready), trail: cx.trail(), ..next.frame };
            pair.lanes[NOTIFICATIONS].put(frame);
            self.pairs.wait(packet.to, NOTIFICATIONS);
            self.agenda.put(ready, Task::Line, cx);
        }
        tells
    }
}
