//! Whose turn it is on the line: between lanes of queue pairs, between sockets, and between both.

use super::inside::{RoceNic, Task};
use super::lane::{Lane, Outgoing};
use super::pair::{ANSWERS, NOTIFICATIONS, Pair, REQUESTS};
use super::pairs::Lanes;
use lanetwin_fabric::ethernet::logic::Station;
use lanetwin_ports::{Context, QueuePairId, SocketId, socket_handle};
use lanetwin_units::Instant;

/// The lanes of requests and answers.
const OF_DATA: Lanes = Lanes::of(REQUESTS).and(Lanes::of(ANSWERS));

/// Whose frames leave, and for which station.
#[derive(Clone, Copy)]
pub(super) enum Leaving {
    Pair(QueuePairId, Station),
    Socket(SocketId, Station),
}

impl Leaving {
    /// Entropy, which selects the path through switches, and destination.
    pub(super) const fn ends(self) -> (u64, Station) {
        match self {
            Self::Pair(id, to) => (id.0 as u64, to),
            Self::Socket(id, to) => (socket_handle(id) as u64, to),
        }
    }
}

impl RoceNic {
    /// The next lane in turn of those that can send.
    pub(super) fn next_lane(&mut self, now: Instant) -> Option<(QueuePairId, usize)> {
        if self.rules.dcqcn.is_some() && self.is_open(self.rules.cnp_priority, now) {
            let before_all = (QueuePairId(0), 0);
            let can_send = |pair: &Pair, lane: usize| pair.lanes[lane].can_send(now);
            let notification = self.pairs.next(before_all, Lanes::of(NOTIFICATIONS), can_send);
            if notification.is_some() {
                return notification;
            }
        }
        if !self.is_open(self.class.priority(), now) {
            return None;
        }
        self.pairs.next(self.turn, OF_DATA, |pair, lane| pair.may_send(lane, now))
    }

    /// The next frames in turn: queue pairs and sockets alternate if both have some.
    pub(super) fn take_frames(&mut self, now: Instant) -> Option<(Leaving, Outgoing, u16)> {
        let (lane, flow) = (self.next_lane(now), self.next_flow(now));
        let (burst, priority) = (self.rules.burst, self.class.priority());
        if let Some(id) = flow.filter(|_| self.flows_next || lane.is_none()) {
            let bytes = self.flows.get(&id)?.lane.first_bytes();
            let burst = self.unstoppable((priority, bytes), now, burst);
            let flow = self.flows.get_mut(&id)?;
            let (frame, count) = flow.lane.take(now, burst)?;
            (self.flow_turn, self.flows_next) = (id, false);
            return Some((Leaving::Socket(id, flow.ends.peer_station), frame, count));
        }
        let (id, lane) = lane?;
        let own = if lane == NOTIFICATIONS { self.rules.cnp_priority } else { priority };
        let bytes = self.pairs.get(id)?.lanes[lane].first_bytes();
        let burst = self.unstoppable((own, bytes), now, burst);
        let pair = self.pairs.get_mut(id)?;
        let burst = pair.burst(lane, now, burst);
        let (frame, count) = pair.lanes[lane].take(now, burst)?;
        if lane != NOTIFICATIONS {
            (self.turn, self.flows_next) = ((id, lane), true);
        }
        Some((Leaving::Pair(id, pair.peer_station), frame, count))
    }

    /// The line is looked at when it is free: frames are there that it could not take. What is not ready yet has a look
    /// of its own.
    pub(super) fn plan_line(&mut self, cx: &mut Context<'_>) {
        if self.line_planned != self.line_free {
            self.line_planned = self.line_free;
            self.agenda.put(self.line_free, Task::Line, cx);
        }
    }

    /// The line is looked at when a frame is ready at `ready`, or as soon as it is free, if it is known not to be by
    /// then: nothing leaves before.
    pub(super) fn look_at_line(&mut self, ready: Instant, cx: &mut Context<'_>) {
        if self.line_free > ready {
            return self.plan_line(cx);
        }
        self.agenda.put(ready, Task::Line, cx);
    }

    /// All that waits for the line.
    pub(super) fn lanes(&self) -> impl Iterator<Item = &Lane> {
        let of_pairs = self.pairs.values().flat_map(|pair| &pair.lanes);
        of_pairs.chain(self.flows.values().map(|flow| &flow.lane))
    }
}
